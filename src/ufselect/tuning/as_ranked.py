"""AsRanked: the numbers are decided, the ranking stays that of the selector."""

from ufselect.matrix import Float
from ufselect.tuning.auto_select import AutoSelect
from ufselect.tuning.deciding import Following


class AsRanked(AutoSelect):
    """AutoSelect for a method that was asked for by name.

    Decides numbers of clusters and of features as ``AutoSelect`` does, but puts no
    feature before others that its selector ranks higher, except for
    ``max_correlation``.

    Examples
    --------
    >>> from ufselect import RandomSelection
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> selector = AsRanked(RandomSelection(random_state=1), n_features_to_select=5)
    >>> bool((selector.fit(X).order_ == selector.selector_.order_).all())
    True
    """

    def _group_first(self, scores: Float, following: Following) -> Float:
        return scores
