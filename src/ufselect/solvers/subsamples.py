"""Random subsamples of the samples, over which rankings are averaged."""

import numpy as np

from ufselect.matrix import Index

# Fewer samples than this are not divided any further.
FEWEST_SAMPLES = 15


def draw_subsamples(
    n_samples: int, n_subsamples: int, largest: int, random: np.random.RandomState
) -> list[Index]:
    """Return rows of random subsamples of two thirds, of at most ``largest`` samples.

    Examples
    --------
    >>> import numpy as np
    >>> [len(rows) for rows in draw_subsamples(90, 2, 50, np.random.RandomState(0))]
    [50, 50]
    """
    size = min(max(round(2 * n_samples / 3), FEWEST_SAMPLES), largest, n_samples)
    if size == n_samples:
        return [np.arange(n_samples)]
    return [np.sort(random.permutation(n_samples)[:size]) for _ in range(n_subsamples)]
