"""A fit of SCFS that was interrupted goes on from its checkpoint."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect import SCFS
from ufselect.matrix import as_matrix
from ufselect.solvers.scfs import Alternation

SHAPES = {"rows": (120, 30), "kernel": (40, 90), "columns": (60, 70)}


@pytest.fixture(params=SHAPES)
def X(request):
    n_samples, n_features = SHAPES[request.param]
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, n_features))
    X[: n_samples // 2, :6] += 1.5
    X[: n_samples // 3, 6:10] -= 1.5
    return X


def on_dask(X):
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(len(X) // 3, X.shape[1]))


class Stopped(Exception):
    """The power went out."""


def interrupted(fit, n_states):
    """Call fit, let it keep some states, and then let it fail."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, n_states)
        with pytest.raises(Stopped):
            fit()


def stop_after(monkeypatch, n_states):
    real, kept = Alternation.fit, []

    def fit(*arguments, keep, **options):
        def counting(state):
            keep(state)
            kept.append(state)
            if len(kept) == n_states:
                raise Stopped

        return real(*arguments, keep=counting, **options)

    monkeypatch.setattr(Alternation, "fit", fit)


def selector(path=None, **parameters):
    settings = {"n_clusters": 3, "tol": 0.0, "max_iter": 17, "random_state": 0}
    return SCFS(checkpoint=path, **(settings | parameters))


@pytest.mark.filterwarnings("ignore:SCFS stopped after")
class TestGoingOn:
    @pytest.mark.parametrize("n_states", [1, 3])
    @pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
    def test_it_ends_where_a_fit_without_interruption_does(
        self, X, n_states, convert, tmp_path
    ):
        self.check(convert(X), tmp_path / "fit.npz", n_states)

    def test_so_it_does_on_dask(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(90, 20))
        X[:45, :6] += 1.5

        with pytest.importorskip("dask").config.set(scheduler="synchronous"):
            self.check(on_dask(X), tmp_path / "fit.npz", 1, max_iter=7)

    def test_it_goes_on_where_the_same_data_are_cut_otherwise(self, tmp_path):
        X, path = np.random.default_rng(0).normal(size=(90, 20)), tmp_path / "fit.npz"
        X[:45, :6] += 1.5
        whole = selector(max_iter=7).fit(X)

        interrupted(lambda: selector(path, max_iter=7).fit(X), 1)
        with pytest.importorskip("dask").config.set(scheduler="synchronous"):
            rest = selector(path, max_iter=7).fit(on_dask(X))

        assert not path.exists()
        np.testing.assert_array_equal(rest.order_, whole.order_)

    def check(self, X, path, n_states, **parameters):
        whole = selector(**parameters).fit(X)

        interrupted(lambda: selector(path, **parameters).fit(X), n_states)
        rest = selector(path, **parameters).fit(X)

        np.testing.assert_array_equal(rest.order_, whole.order_)
        # Gram matrices that grew with the working set are made at once when going on.
        np.testing.assert_allclose(rest.scores_, whole.scores_, rtol=1e-5)
        memberships = np.asarray(rest.memberships_), np.asarray(whole.memberships_)
        np.testing.assert_allclose(*memberships, atol=1e-6)
        np.testing.assert_allclose(rest.objective_history_, whole.objective_history_)
        assert rest.beta_ == whole.beta_

    def test_no_iteration_is_done_twice_and_the_file_is_gone(self, X, tmp_path, capsys):
        path = tmp_path / "fit.npz"

        interrupted(lambda: selector(path).fit(X), 2)
        # More features may be asked for on the way.
        rest = selector(path, n_features_to_select=7, verbose=True).fit(X)
        first = capsys.readouterr().out.splitlines()[0]

        assert first.startswith("SCFS iteration 11:")
        assert rest.get_support().sum() == 7
        assert list(tmp_path.iterdir()) == []

    def test_another_fit_does_not_go_on_from_it(self, X, tmp_path):
        path, random = tmp_path / "fit.npz", np.random.default_rng(1)
        interrupted(lambda: selector(path).fit(X), 1)
        value, rows = X.copy(), X.copy()
        value[0, 0] += 1
        rows[[0, -1]] = X[[-1, 0]]
        fits = [(table, {}) for table in (value, rows, random.permuted(X, axis=0))]
        fits.append((X[random.permutation(len(X))], {}))
        changes = ({"alpha": 1.0}, {"init": "random"}, {"random_state": 1})
        fits += [(X, parameters) for parameters in changes]

        for table, parameters in fits:
            with pytest.raises(ValueError, match="belongs to a fit with another X"):
                selector(path, **parameters).fit(table)

    def test_a_state_without_an_entry_is_refused(self, X, tmp_path):
        path = tmp_path / "fit.npz"
        interrupted(lambda: selector(path).fit(X), 1)
        place = selector(path)._checkpoint(as_matrix(X))
        state = place.read()
        del state["history"], state["P"]
        place.write(state)

        with pytest.raises(ValueError, match=r"it has no P, history\); delete it"):
            selector(path).fit(X)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [({"solver": "paper"}, "'paper'"), ({"n_init": 2}, "n_init=2")],
)
def test_it_is_for_one_start_of_the_exact_solver(parameters, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        selector(tmp_path / "fit.npz", **parameters).fit(np.eye(5))


KILLED = """
import os, signal, sys
import numpy as np
from ufselect import SCFS
from ufselect.data.checkpoints import Checkpoint

write, written = Checkpoint.write, []

def write_and_die(self, arrays):
    write(self, arrays)
    written.append(1)
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.write = write_and_die
X = np.load(sys.argv[1], mmap_mode="r")
SCFS(n_clusters=3, tol=0.0, max_iter=17, random_state=0, checkpoint=sys.argv[2]).fit(X)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
@pytest.mark.filterwarnings("ignore:SCFS stopped after")
def test_a_killed_process_leaves_what_the_next_one_goes_on_from(X, tmp_path):
    path, data = tmp_path / "fit.npz", tmp_path / "X.npy"
    np.save(data, X)
    whole = selector().fit(X)

    died = subprocess.run([sys.executable, "-c", KILLED, data, path], check=False)
    rest = selector(path).fit(np.load(data, mmap_mode="r"))

    assert died.returncode == -signal.SIGKILL
    np.testing.assert_array_equal(rest.order_, whole.order_)
