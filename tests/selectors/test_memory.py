"""What fits need beside X: said before they start, and refused beyond a limit."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from memory import traced_memory
from method_pages import sections_of
from sklearn.base import clone

from ufselect import MCFS, all_selectors

LIMITED = {
    name: method
    for name, method in all_selectors().items()
    if "max_memory" in method().get_params()
}
# CPFS states the least it needs; what it takes in the end depends on the path.
ESTIMATED = sorted(set(LIMITED) - {"CPFS"})

# Methods in which the samples of any X become a dense n x n matrix.
SQUARE_IN_SAMPLES = ["FSASL", "GLSPFS", "JELSR", "SPFS"]
LINEAR_IN_SAMPLES = ["LDSSL", "LaplacianScore", "MCFS", "MFFS", "NDFS", "REFS"]
LINEAR_IN_SAMPLES += ["SCFS", "SGFS", "SPEC", "SPUFS", "UDFS"]


def made(name, **parameters):
    method = all_selectors()[name]
    known = {"n_features_to_select": 10, "max_iter": 2, "random_state": 0}
    accepted = method().get_params()
    known = {key: value for key, value in known.items() if key in accepted}
    return method(**{**known, **parameters})


def blobs(n_samples, n_features, density=1.0):
    random = np.random.RandomState(0)
    centres = 3 * random.standard_normal((8, n_features))
    X = random.standard_normal((n_samples, n_features))
    X += centres[np.arange(n_samples) % 8]
    if density == 1.0:
        return X
    return sp.csr_array(X * (random.uniform(size=X.shape) < density))


def needed_bytes(selector, X):
    """Return what the selector says it needs when nothing is allowed."""
    with pytest.raises(ValueError, match=r"needs about .* bytes for") as caught:
        clone(selector).set_params(max_memory=1.0).fit(X)
    return float(re.search(r"needs about (\S+) bytes", str(caught.value)).group(1))


@pytest.mark.parametrize("name", sorted(LIMITED))
@pytest.mark.parametrize("shape", [(600, 300), (300, 600)])
def test_a_fit_beyond_the_limit_is_refused_in_one_sentence(name, shape):
    expected = rf"^{name} needs about .* but max_memory=1e\+04; raise max_memory, .*\.$"

    X, selector = blobs(*shape), made(name, max_memory=1e4)
    needed_bytes(selector, X)
    with traced_memory() as memory, pytest.raises(ValueError, match=expected) as caught:
        selector.fit(X)

    assert "\n" not in str(caught.value)
    assert memory.peak < X.nbytes / 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATED)
@pytest.mark.parametrize(
    ("shape", "density"), [((500, 200), 1.0), ((250, 1000), 1.0), ((500, 200), 0.1)]
)
def test_what_is_said_to_be_needed_is_what_is_taken(name, shape, density):
    X, selector = blobs(*shape, density), made(name)
    said = needed_bytes(selector, X)
    # The first fit imports and compiles.
    made(name).fit(blobs(40, 30))

    # The sentence has three digits, and the limit it names is enough.
    with traced_memory() as memory:
        selector.set_params(max_memory=1.01 * said).fit(X)
    assert 0.4 * said < memory.peak < 2.2 * said


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LINEAR_IN_SAMPLES)
def test_no_dense_matrix_of_all_pairs_of_samples(name):
    n_samples = 2500
    X = blobs(n_samples, 12)
    with traced_memory() as memory:
        made(name, n_features_to_select=4).fit(X)

    assert memory.peak < 8 * n_samples**2 / 2


@pytest.mark.parametrize("name", SQUARE_IN_SAMPLES)
def test_methods_defined_by_all_pairs_of_samples_say_so(name):
    cost = sections_of(name)["Cost"]

    assert re.search(r"defined by|the method is defined|defines? the method", cost)
    assert "`max_memory`" in cost


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_matrix_of_all_pairs_of_features_where_x_stores_less():
    n_features = 1500
    X = sp.random(1600, n_features, density=0.002, format="csr", random_state=0)
    with traced_memory() as memory:
        made("MFFS", n_components=2).fit(X)

    assert memory.peak < 8 * n_features**2


# Methods for large sparse data


def test_mcfs_says_what_it_needs_before_it_starts(capsys):
    MCFS(3, n_clusters=2, verbose=True).fit(blobs(60, 8))

    said = capsys.readouterr().out
    assert re.fullmatch(
        r"MCFS needs about \S+ bytes for a graph of 60 samples and 3 dense columns "
        r"of X\.\n",
        said,
    )


def test_mcfs_refuses_many_columns_of_many_samples_and_takes_few():
    X = sp.random(3000, 1000, density=0.01, format="csr", random_state=0)

    with pytest.raises(ValueError, match=r"3000 samples and 500 dense columns"):
        MCFS(max_memory=1.7e8).fit(X)
    assert MCFS(3, n_clusters=2, max_memory=1.7e8).fit(X).n_selected_ == 3
