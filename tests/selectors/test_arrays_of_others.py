"""Tensors and other arrays that are not NumPy's: read by conversion, or refused."""

import numpy as np
import pytest
from sklearn import config_context

from ufselect import SCFS, LaplacianScore

MESSAGE = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first."


class Tensor:
    """What a PyTorch tensor is for NumPy: its own data type, and ``__array__``."""

    def __init__(self, values, device="cpu"):
        self.values, self.device, self.shape = values, device, values.shape
        self.dtype, self.ndim = f"torch.{values.dtype}", values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu":
            raise TypeError(MESSAGE)
        return np.asarray(self.values, dtype)

    def __array_namespace__(self, api_version=None):
        raise AssertionError("nobody computes with tensors here")


@pytest.fixture
def X(planted):
    return planted(30, 12).X


@pytest.fixture(params=[SCFS(4, n_clusters=3, random_state=0), LaplacianScore(4)])
def selector(request):
    return request.param


def test_a_tensor_in_memory_is_read_as_the_array_it_holds(selector, X):
    expected = selector.fit(X).scores_
    scores = selector.fit(Tensor(X)).scores_

    np.testing.assert_array_equal(scores, expected)


def test_a_tensor_elsewhere_is_refused_with_the_remedy(selector, X):
    with pytest.raises(TypeError, match=r"Use Tensor\.cpu\(\)"):
        selector.fit(Tensor(X, "cuda:0"))


def test_dispatch_to_other_libraries_does_not_reach_a_fit(X, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    selector = SCFS(4, n_clusters=3, random_state=0)
    expected = selector.fit(X).scores_
    try:
        dispatch = config_context(array_api_dispatch=True)
        dispatch.__enter__()
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"scikit-learn does not dispatch here: {error}")
    try:
        scores = SCFS(4, n_clusters=3, random_state=0).fit(Tensor(X)).scores_
    finally:
        dispatch.__exit__(None, None, None)

    np.testing.assert_array_equal(scores, expected)
