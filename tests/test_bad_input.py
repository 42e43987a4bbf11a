"""Bad input: each kind gets one clear error, or a behaviour that is defined."""

import re
from copy import deepcopy

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from each_case import each
from quick_selectors import made
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import (
    SCFS,
    AutoSelect,
    Consensus,
    MaxVariance,
    RandomSelection,
    StabilitySelection,
    all_selectors,
)

NAMES = ["age", "mass", "height", "pulse", "sugar", "iron"]

INSTANCES = {name: made(method) for name, method in all_selectors().items()}
INSTANCES["SCFS-paper"] = made(SCFS, solver="paper")
INSTANCES["Consensus"] = made(Consensus)
INSTANCES["AutoSelect"] = made(AutoSelect)
INSTANCES["StabilitySelection"] = made(StabilitySelection, n_subsamples=4)

# What the base classes do is tried on these, what a method does on all.
FEW = ["SCFS", "MFFS", "LaplacianScore", "AutoSelect", "Consensus"]
FEW += ["StabilitySelection"]
PLUMBING = pytest.mark.parametrize("name", FEW, indirect=True)


@pytest.fixture(params=INSTANCES, ids=str)
def name(request):
    return request.param


@pytest.fixture
def selector(name):
    return clone(INSTANCES[name])


@pytest.fixture(params=["exact", "paper"])
def scfs(request):
    return SCFS(n_clusters=3, solver=request.param, random_state=0)


@pytest.fixture
def X(planted):
    return planted(30, 6, n_informative=4).X


@pytest.fixture(scope="module")
def fits():
    """Return fits by selector and table, each made once."""
    return {}


@pytest.fixture
def fitted(fits, name):
    """Return a function that fits the selector to a table, once for all tests."""

    def fit(table):
        key = name, joblib.hash(table)
        if key not in fits:
            fits[key] = clone(INSTANCES[name]).fit(table)
        return deepcopy(fits[key])

    return fit


def spoiled(X, value, column=2):
    X = X.copy()
    X[[3, 7], column] = value
    return X


# Values that are not numbers


@PLUMBING
@each("value", [np.nan, np.inf, -np.inf])
@each(
    "convert",
    [
        np.asarray,
        np.float32,
        np.asfortranarray,
        sp.csr_array,
        sp.csc_array,
        sp.coo_array,
    ],
)
def test_a_value_that_is_not_finite_is_refused_with_its_column(
    selector, X, value, convert
):
    kind = "NaN" if np.isnan(value) else "infinity"
    message = rf"contains {kind} in column 2 \(2 of 30 values .*impute or drop"

    with pytest.raises(ValueError, match=message):
        selector.fit(convert(spoiled(X, value)))


@PLUMBING
@each(
    "convert",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
    ],
)
def test_a_missing_value_in_a_frame_is_refused_with_its_name(selector, X, convert):
    with pytest.raises(ValueError, match="NaN in column 'height'"):
        selector.fit(convert(spoiled(X, np.nan)))


@PLUMBING
def test_missing_values_of_pandas_are_refused_with_their_name(selector, X):
    frame = pd.DataFrame(X, columns=NAMES).convert_dtypes()
    frame.loc[3, "pulse"] = pd.NA

    with pytest.raises(ValueError, match="NaN in column 'pulse'"):
        selector.fit(frame)


@PLUMBING
def test_the_first_of_several_bad_columns_is_named(selector, X):
    bad = spoiled(spoiled(X, np.inf, column=4), np.nan, column=1)

    with pytest.raises(ValueError, match="NaN in column 1 "):
        selector.fit(bad)


def test_a_sum_that_overflows_is_not_taken_for_infinity(X):
    large = 1e307 * (np.abs(X) + 1.0)

    order = made(RandomSelection).fit(large).order_

    assert len(order) == 6


def test_a_variance_that_underflows_is_not_taken_for_a_tie(X):
    order = MaxVariance().fit(X).order_
    tiny = MaxVariance()

    try:
        tiny.fit(1e-200 * X)
    except ValueError:
        return

    np.testing.assert_array_equal(tiny.order_, order)


IN_ANY_UNIT = {"MaxVariance", "RandomSelection"}


def test_values_whose_squares_overflow_are_refused_with_their_column(selector, X):
    frame = pd.DataFrame(spoiled(X, 1e300), columns=NAMES)
    if type(selector).__name__ in IN_ANY_UNIT:
        assert len(selector.fit(frame).order_) == 6
        return

    with pytest.raises(ValueError, match=r"Column 'height' of X reaches 1e\+300"):
        selector.fit(frame)


def test_values_whose_squares_vanish_are_refused(selector, X):
    # A column of rounding errors does not count.
    tiny = np.column_stack([1e-200 * X, np.full(30, 0.1)])
    if type(selector).__name__ in IN_ANY_UNIT:
        assert len(selector.fit(tiny).order_) == 7
        return

    with pytest.raises(ValueError, match=r"whose square is zero.* rescale X"):
        selector.fit(tiny)


@PLUMBING
def test_strings_in_a_column_are_refused(selector, X):
    frame = pd.DataFrame(X, columns=NAMES).assign(pulse=["fast", "slow"] * 15)

    with pytest.raises(ValueError, match="Column 'pulse' of X holds the text 'fast'"):
        selector.fit(frame)


@PLUMBING
def test_complex_numbers_are_refused(selector, X):
    with pytest.raises(ValueError, match="Complex data not supported"):
        selector.fit(X + 1j)


@PLUMBING
@each("dtype", ["float16", "int8", "uint8", "int64", "longdouble", "object"])
def test_other_numbers_are_converted(selector, fitted, X, dtype):
    numbers = np.abs(np.round(20 * X)).astype(dtype)

    order = selector.fit(numbers).order_

    expected = fitted(numbers.astype(np.float64)).order_
    np.testing.assert_array_equal(order, expected)


@PLUMBING
def test_truth_values_are_numbers(selector, X):
    order = clone(selector).fit(X > 0).order_

    expected = clone(selector).fit(np.where(X > 0, 1.0, 0.0)).order_
    np.testing.assert_array_equal(order, expected)


# Shapes


@PLUMBING
@each(
    ("shape", "message"),
    [
        ((1, 6), r"1 sample\(s\).*minimum of 2"),
        ((0, 6), r"0 sample\(s\).*minimum of 2"),
        ((6, 0), r"0 feature\(s\).*minimum of 1"),
        ((6,), "Expected 2D array, got 1D array"),
        ((), "Expected 2D array, got scalar array"),
        ((2, 3, 4), "array with dim 3"),
    ],
)
def test_a_shape_that_cannot_be_ranked_is_refused(selector, shape, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(np.zeros(shape))


def test_one_column_is_ranked(selector, X):
    np.testing.assert_array_equal(selector.fit(X[:, :1]).order_, [0])


def test_two_rows_are_enough(selector, X):
    if "n_clusters" in selector.get_params():
        selector.set_params(n_clusters=2)

    assert np.isfinite(selector.fit(X[:2]).scores_).all()


@each(
    "view",
    [
        np.asfortranarray,
        lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        lambda X: np.lib.stride_tricks.as_strided(X, writeable=False),
        lambda X: X.tolist(),
        lambda X: X.astype(">f8"),
    ],
)
def test_the_layout_does_not_matter(selector, fitted, X, view):
    order = selector.fit(view(X)).order_

    np.testing.assert_array_equal(order, fitted(X).order_)


@PLUMBING
@each("kind", ["coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_formats_are_converted(selector, fitted, X, kind):
    order = selector.fit(sp.csr_array(X).asformat(kind)).order_

    expected = fitted(sp.csr_array(X)).order_
    np.testing.assert_array_equal(order, expected)


# Rows and columns that say nothing


@PLUMBING
def test_constant_columns_are_ranked_last(selector, X):
    order = selector.fit(np.column_stack([np.ones(30), X])).order_

    assert order[-1] == 0


@PLUMBING
@each("convert", [np.asarray, sp.csr_array])
def test_equal_rows_are_refused(selector, X, convert):
    equal = np.tile(X[0], (10, 1))

    with pytest.raises(ValueError, match=r"All 6 columns .* constant.*samples are in"):
        selector.fit(convert(equal))


@each("init", ["k-means", "fuzzy", "random"])
@each("convert", [np.asarray, sp.csr_array])
def test_fewer_distinct_rows_than_clusters_are_refused(scfs, X, init, convert):
    repeated = convert(np.repeat(X[:2], 15, axis=0))
    message = "X has 2 distinct rows, .*n_clusters=3; ask for at most 2"

    with pytest.raises(ValueError, match=message):
        scfs.set_params(init=init).fit(repeated)


def test_rows_that_scaling_makes_equal_are_refused(scfs):
    proportional = np.outer(np.arange(1.0, 31.0), np.arange(1.0, 7.0))

    with pytest.raises(ValueError, match="standardize"):
        scfs.set_params(standardize="samples").fit(proportional)


def test_as_many_distinct_rows_as_clusters_are_enough(scfs, X):
    repeated = np.repeat(X[:3], 10, axis=0)

    labels = scfs.fit(repeated).labels_

    assert len(set(labels)) == 3


def test_more_clusters_than_samples_are_refused(scfs, X):
    message = "n_clusters=31 but X has n_samples=30; ask for at most 30"

    with pytest.raises(ValueError, match=message):
        scfs.set_params(n_clusters=31).fit(X)


# Parameters


@PLUMBING
def test_more_features_than_there_are_are_refused(selector, X):
    message = "n_features_to_select=7 but X has 6 features; ask for at most 6"

    with pytest.raises(ValueError, match=message):
        selector.set_params(n_features_to_select=7).fit(X)


@PLUMBING
@each("wanted", [0, -1, 0.0, -0.5, 1.5, np.nan, "half"])
def test_a_number_of_features_out_of_range_is_refused(selector, X, wanted):
    message = rf"'n_features_to_select'.*\[1, inf\).*\(0.0, 1.0\]. Got {wanted!r}"

    with pytest.raises(InvalidParameterError, match=message):
        selector.set_params(n_features_to_select=wanted).fit(X)


@each(
    ("name", "value"),
    [
        ("alpha", -1.0),
        ("alpha", 0.0),
        ("alpha", np.inf),
        ("beta", -1.0),
        ("beta", np.nan),
        ("gamma", 0.0),
        ("n_clusters", 0),
        ("n_clusters", 2.5),
        ("n_init", 0),
        ("max_iter", 0),
        ("tol", -1e-3),
    ],
)
def test_a_parameter_out_of_range_is_refused_with_the_range(X, name, value):
    message = rf"'{name}' parameter of SCFS .*in the range .* Got {value!r}"

    with pytest.raises(InvalidParameterError, match=message):
        SCFS(**{name: value}).fit(X)


@each(
    ("name", "options"),
    [
        ("solver", {"exact", "paper"}),
        ("init", {"k-means", "fuzzy", "random"}),
        ("standardize", {"auto", "features", "samples"}),
        ("alpha", {"auto"}),
        ("beta", {"auto"}),
    ],
)
def test_an_unknown_word_is_refused_with_those_known(X, name, options):
    with pytest.raises(InvalidParameterError, match="Got 'best'") as caught:
        SCFS(**{name: "best"}).fit(X)

    message = str(caught.value)
    assert f"'{name}' parameter" in message
    assert all(f"'{option}'" in message for option in options)


@each("factor", [1e8, 1e300])
def test_a_beta_that_leaves_nothing_is_refused_with_the_largest_useful(scfs, X, factor):
    beta = factor * scfs.fit(X).beta_

    with pytest.raises(ValueError, match=r"beta=.*W = 0.*lower beta below") as caught:
        scfs.set_params(beta=beta).fit(X)

    largest = float(re.search(r"below ([\d.e+-]+\d)", str(caught.value))[1])
    assert np.isfinite(scfs.set_params(beta=largest / 2).fit(X).scores_).all()
    assert scfs.coef_.any()


def test_exact_solver_refuses_a_beta_just_past_the_useful_ones(X):
    scfs = SCFS(n_clusters=3, random_state=0).fit(X)

    with pytest.raises(ValueError, match="W = 0"):
        scfs.set_params(beta=30 * scfs.beta_).fit(X)
    assert scfs.objective_history_[-1] > 0


# The start


@each(
    ("start", "message"),
    [
        (np.full((5, 3), 1 / 3), r"init has shape \(5, 3\).*\(30, 3\)"),
        (np.full((30, 2), 1 / 2), r"init has shape \(30, 2\).*\(30, 3\)"),
        (np.full(30, 1.0), "Expected 2D array, got 1D array"),
        (np.tile([-0.5, 0.5, 1.0], (30, 1)), "entries >= 0 .* down to -0.5"),
        (np.full((30, 3), 1.0), "rows that sum to 1.* from 3 to 3"),
        (np.tile([1.0, 0.0, 0.0], (30, 1)), "init leaves cluster 1 empty; give"),
        (np.full((30, 3), np.nan), "init contains NaN"),
    ],
)
def test_a_start_that_is_no_soft_partition_is_refused(scfs, X, start, message):
    with pytest.raises(ValueError, match=message):
        scfs.set_params(init=start).fit(X)


def test_a_start_without_clusters_is_refused_as_such(X):
    # All clusters alike: G is the same for all samples, and W has nothing to fit.
    scfs = SCFS(n_clusters=3, init=np.full((30, 3), 1 / 3))

    with pytest.raises(ValueError, match="init"):
        scfs.fit(X)


def test_a_single_cluster_of_centred_data_is_refused_as_such(X):
    # G is constant and X has mean zero: what W could fit is rounding.
    scfs = SCFS(n_clusters=1, random_state=0)

    with pytest.raises(ValueError, match="n_clusters"):
        scfs.fit(X - X.mean(axis=0))


# After the fit


@PLUMBING
def test_transform_before_fit_is_refused(selector, X):
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call 'fit'"):
        selector.transform(X)


@PLUMBING
@each("n_features", [5, 7])
def test_another_number_of_columns_is_refused(fitted, X, n_features):
    message = f"X has {n_features} features, but .* is expecting 6 features"

    with pytest.raises(ValueError, match=message):
        fitted(X).transform(np.ones((4, n_features)))


@PLUMBING
def test_changed_columns_are_refused(selector, X):
    selector.fit(pd.DataFrame(X, columns=NAMES))

    for names in (["years", *NAMES[1:]], NAMES[::-1]):
        with pytest.raises(ValueError, match="feature names should match"):
            selector.transform(pd.DataFrame(X, columns=names))


@PLUMBING
def test_one_new_row_can_be_transformed(fitted, X):
    selector = fitted(X)

    np.testing.assert_array_equal(
        selector.transform(X[:1]), X[:1, selector.get_support()]
    )


@pytest.mark.parametrize(
    ("solver", "unit"), [("exact", 1e-20), ("exact", 1e20), ("paper", 1e20)]
)
def test_single_precision_in_extreme_units_is_ranked_as_in_double(
    planted, solver, unit
):
    X = (planted(20, 12).X * unit).astype(np.float32)
    selector = SCFS(n_clusters=2, solver=solver, max_iter=5, tol=1e-2, random_state=0)

    single = selector.fit(X).order_
    double = selector.fit(X.astype(np.float64)).order_

    np.testing.assert_array_equal(single, double)


def test_weights_that_vanish_in_the_units_of_X_are_refused(planted):
    X = 1e-120 * planted(20, 12).X

    with pytest.raises(ValueError, match="third power"):
        SCFS(n_clusters=2, solver="paper", random_state=0).fit(X)
