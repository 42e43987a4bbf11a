"""Bad input: each kind gets one clear error, or a behaviour that is defined."""

import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from quick_selectors import made
from sklearn.base import clone
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
from ufselect.evaluation import redundancy

NAMES = ["age", "mass", "height", "pulse", "sugar", "iron"]

INSTANCES = {name: made(method) for name, method in all_selectors().items()}
INSTANCES["SCFS-paper"] = made(SCFS, solver="paper")
INSTANCES["Consensus"] = made(Consensus)
INSTANCES["AutoSelect"] = made(AutoSelect)
INSTANCES["StabilitySelection"] = made(StabilitySelection, n_subsamples=4)


# One that has no iteration, one that has, and those around other selectors: checks of
# the input are done once, in the base class.
FEW = ["MaxVariance", "SCFS", "Consensus", "AutoSelect", "StabilitySelection"]


@pytest.fixture(params=FEW)
def selector(request):
    return clone(INSTANCES[request.param])


def spoiled(X, value, column=2):
    X = X.copy()
    X[[3, 7], column] = value
    return X


def refused(selector, X, message, kind=ValueError):
    with pytest.raises(kind, match=message):
        selector.fit(X)


# Values that are not numbers


def test_a_value_that_is_not_finite_is_refused_with_its_column(selector, X):
    kinds = (np.asarray, np.float32, np.asfortranarray, sp.csr_array, sp.csc_array)
    for value, kind in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        message = rf"contains {kind} in column 2 \(2 of 30 values .*impute or drop"
        for convert in (*kinds, sp.coo_array):
            refused(selector, convert(spoiled(X, value)), message)
    both = spoiled(spoiled(X, np.inf, column=4), np.nan, column=1)
    refused(selector, both, "NaN in column 1 ")


def test_a_column_of_a_frame_that_is_no_numbers_is_refused_by_name(selector, X):
    pl = pytest.importorskip("polars")
    bad, frame = spoiled(X, np.nan), pd.DataFrame(X, columns=NAMES)
    nullable = frame.convert_dtypes()
    nullable.loc[3, "pulse"] = pd.NA
    words = frame.assign(pulse=["fast", "slow"] * 15)
    dates = frame.assign(iron=pd.Timestamp("2020-01-01", tz="UTC"))

    refused(selector, pd.DataFrame(bad, columns=NAMES), "NaN in column 'height'")
    refused(selector, pl.DataFrame(bad, schema=NAMES), "NaN in column 'height'")
    refused(selector, nullable, "NaN in column 'pulse'")
    refused(selector, words, "Column 'pulse' of X holds the text 'fast'")
    refused(selector, dates, "Column 'iron' of X holds dates or times")
    refused(selector, X + 1j, "Complex data not supported")


# That shapes, fits and columns must agree is among the checks of scikit-learn.
def test_a_shape_that_cannot_be_ranked_and_a_wish_out_of_range_are_refused(selector, X):
    refused(selector, np.zeros((1, 6)), r"1 sample\(s\).*minimum of 2")
    refused(selector, np.zeros((2, 3, 4)), "array with dim 3")
    message = "n_features_to_select=7 but X has 6 features; ask for at most 6"
    refused(selector.set_params(n_features_to_select=7), X, message)
    for wanted in (0, -1, 0.0, -0.5, 1.5, np.nan, "half"):
        message = rf"'n_features_to_select'.*\[1, inf\).*\(0.0, 1.0\]. Got {wanted!r}"
        selector.set_params(n_features_to_select=wanted)
        refused(selector, X, message, InvalidParameterError)


@pytest.fixture(params=INSTANCES, ids=str)
def each_selector(request):
    return clone(INSTANCES[request.param])


@pytest.fixture(params=["exact", "paper"])
def scfs(request):
    return SCFS(n_clusters=3, solver=request.param, random_state=0)


@pytest.fixture
def X(planted):
    return planted(30, 6, n_informative=4).X


def test_a_sum_that_overflows_is_not_taken_for_infinity(X):
    large = 1e307 * (np.abs(X) + 1.0)

    order = made(RandomSelection).fit(large).order_

    assert len(order) == 6


IN_ANY_UNIT = {"MaxVariance", "RandomSelection"}


def test_every_method_ranks_or_refuses_values_of_extreme_units(each_selector, X):
    large = pd.DataFrame(spoiled(X, 1e300), columns=NAMES)
    # A column of rounding errors does not count.
    tiny = np.column_stack([1e-200 * X, np.full(30, 0.1)])
    if type(each_selector).__name__ in IN_ANY_UNIT:
        assert len(each_selector.fit(large).order_) == 6
        assert len(each_selector.fit(tiny).order_) == 7
        return

    refused(each_selector, large, r"Column 'height' of X reaches 1e\+300")
    refused(each_selector, tiny, r"whose square underflows.* rescale X")


def test_every_method_ranks_the_least_that_can_be_ranked(each_selector, X):
    equal = np.tile(X[0], (10, 1))
    for convert in (np.asarray, sp.csr_array):
        message = r"All 6 columns .* constant.*samples are in"
        refused(each_selector, convert(equal), message)
    truth = clone(each_selector).fit(X > 0).order_
    ones = clone(each_selector).fit(np.where(X > 0, 1.0, 0.0)).order_
    np.testing.assert_array_equal(truth, ones)
    assert each_selector.fit(np.column_stack([np.ones(30), X])).order_[-1] == 0
    np.testing.assert_array_equal(each_selector.fit(X[:, :1]).order_, [0])
    if "n_clusters" in each_selector.get_params():
        each_selector.set_params(n_clusters=2)
    assert np.isfinite(each_selector.fit(X[:2]).scores_).all()


@pytest.mark.parametrize(
    ("form", "part", "value"),
    [("csr", "indices", -1), ("csc", "indptr", -1), ("bsr", "indices", 50)],
)
def test_a_damaged_sparse_matrix_is_refused_wherever_it_is_given(X, form, part, value):
    selector = MaxVariance(2).fit(X)
    matrix = sp.csr_matrix(X).asformat(form)
    getattr(matrix, part)[1] = value

    for use in (selector.transform, selector.fit, redundancy):
        with pytest.raises(ValueError, match="is a damaged sparse matrix"):
            use(matrix)


def cell(X, value):
    table = X.astype(object)
    table[3, 1] = value
    return table


def frame(X, mass):
    return pd.DataFrame(X, columns=NAMES).assign(mass=mass)


NO_DATE = pd.to_datetime(["2020-01-01"] * 29 + [None])
DATE, DAYS = date(2020, 1, 1), pd.to_timedelta(range(30), "D")
DISGUISED = {
    "no table": (lambda X: "abc", "Expected 2D array, got 0D|has 0 dimension"),
    "a list": (lambda X: ["a", "b"], "Expected 2D array, got 1D|has 1 dimension"),
    "integer": (lambda X: cell(X, 10**400), "Column 1 .* number of 1329 bits"),
    "masked": (
        lambda X: np.ma.array(X, mask=np.eye(30, 6)),
        "masked value in column 0",
    ),
    "NaT": (lambda X: frame(X, NO_DATE), "Column 'mass' .* dates"),
    "days": (lambda X: frame(X, DAYS), "Column 'mass' .* dates"),
    "dates of NumPy": (lambda X: X.astype("M8[D]"), "Column 0 .* dates"),
    "a date in a cell": (lambda X: cell(X, np.datetime64(DATE)), "Column 1 .* dates"),
    "dates as objects": (lambda X: frame(X, [DATE] * 30), "Column 'mass' .* dates"),
    "dates of Polars": (
        lambda X: pytest.importorskip("polars").from_pandas(frame(X, NO_DATE)),
        "Column 'mass' .* dates",
    ),
    "NA in a cell": (lambda X: cell(X, pd.NA), r"NaN in column 1 \(1 of 30"),
    "NaT in a cell": (lambda X: cell(X, pd.NaT), r"NaN in column 1 \(1 of 30"),
    "None in a cell": (lambda X: cell(X, None), r"NaN in column 1 \(1 of 30"),
    "integers with NA": (
        lambda X: frame(X, pd.array([1] * 29 + [pd.NA], dtype="Int64")),
        "NaN in column 'mass'",
    ),
    "categories with NA": (
        lambda X: frame(X, pd.Categorical([1, None] * 15)),
        "NaN in column 'mass'",
    ),
    "categories": (
        lambda X: frame(X, pd.Categorical(["low", "high"] * 15)),
        "Column 'mass' .* text 'low'",
    ),
}


@pytest.mark.parametrize("case", DISGUISED)
def test_what_only_looks_like_numbers_is_refused_by_its_column(X, case):
    disguise, message = DISGUISED[case]
    for use in (MaxVariance(2).fit, AutoSelect().fit, redundancy):
        with pytest.raises(ValueError, match=message):
            use(disguise(X))


def test_objects_and_categories_that_are_numbers_and_empty_masks_are_taken(X):
    order = MaxVariance().fit(X).order_.tolist()
    for same in (X.astype(object), np.ma.array(X), pd.DataFrame(X).astype("Float64")):
        assert MaxVariance().fit(same).order_.tolist() == order
    assert len(MaxVariance().fit(frame(X, pd.Categorical([1, 2] * 15))).order_) == 6


def test_an_AnnData_is_taken_by_its_matrix_and_names(X, tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X, var=pd.DataFrame(index=NAMES))
    expected = SCFS(2, n_clusters=2, random_state=0).fit(pd.DataFrame(X, columns=NAMES))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for source in (adata, adata[:], backed):
        selector = clone(expected).fit(source)

        pd.testing.assert_frame_equal(selector.ranking(), expected.ranking())
        kept = selector.get_support()
        np.testing.assert_array_equal(selector.transform(source), X[:, kept])
    backed.file.close()
    assert redundancy(adata) == redundancy(X)
    with pytest.raises(ValueError, match="names of X should match"):
        expected.transform(anndata.AnnData(X))
    with pytest.raises(ValueError, match="NaN in column 'height'"):
        MaxVariance().fit(anndata.AnnData(spoiled(X, np.nan), var=adata.var))
    with pytest.raises(ValueError, match="an AnnData without a matrix X"):
        MaxVariance().fit(anndata.AnnData(obs=adata.obs, var=adata.var))


def test_types_layouts_and_sparse_formats_do_not_matter(selector, X):
    numbers = np.abs(np.round(20 * X))
    order = clone(selector).fit(numbers).order_.tolist()
    for dtype in ("float16", "int8", "uint8", "int64", "longdouble", "object", ">f8"):
        assert selector.fit(numbers.astype(dtype)).order_.tolist() == order, dtype
    for view in (
        np.asfortranarray(numbers),
        np.repeat(np.repeat(numbers, 2, axis=0), 3, axis=1)[::2, ::3],
        np.ascontiguousarray(numbers[::-1, ::-1])[::-1, ::-1],
        np.lib.stride_tricks.as_strided(numbers, writeable=False),
        numbers.tolist(),
    ):
        assert selector.fit(view).order_.tolist() == order
    sparse = clone(selector).fit(sp.csr_array(X)).order_.tolist()
    for kind in ("coo", "lil", "dok", "bsr", "dia"):
        found = selector.fit(sp.csr_array(X).asformat(kind)).order_.tolist()
        assert found == sparse, kind


def test_too_few_distinct_rows_for_the_clusters_are_refused(scfs, X):
    message = "X has 2 distinct rows, .*n_clusters=3; ask for at most 2"
    for init in ("random", "fuzzy", "k-means"):
        for convert in (np.asarray, sp.csr_array):
            refused(
                scfs.set_params(init=init),
                convert(np.repeat(X[:2], 15, axis=0)),
                message,
            )
    assert len(set(scfs.fit(np.repeat(X[:3], 10, axis=0)).labels_)) == 3
    message = "n_clusters=31 but X has n_samples=30; ask for at most 30"
    refused(clone(scfs).set_params(n_clusters=31), X, message)
    proportional = np.outer(np.arange(1.0, 31.0), np.arange(1.0, 7.0))
    refused(scfs.set_params(standardize="samples"), proportional, "standardize")


@pytest.mark.parametrize("factor", [1e8, 1e300])
def test_a_beta_that_leaves_nothing_is_refused_with_the_largest_useful(scfs, X, factor):
    beta = factor * scfs.fit(X).beta_

    with pytest.raises(ValueError, match=r"beta=.*W = 0.*lower beta below") as caught:
        scfs.set_params(beta=beta).fit(X)

    largest = float(re.search(r"below ([\d.e+-]+\d)", str(caught.value))[1])
    assert np.isfinite(scfs.set_params(beta=largest / 2).fit(X).scores_).all()
    assert scfs.coef_.any()
    if scfs.solver == "exact":
        with pytest.raises(ValueError, match="W = 0"):
            scfs.set_params(beta=1.001 * largest).fit(X)
        assert scfs.objective_history_[-1] > 0


def test_nothing_that_W_could_fit_is_refused_as_such(X):
    # All clusters alike, or G constant and X with mean zero: the rest is rounding.
    alike = SCFS(n_clusters=3, init=np.full((30, 3), 1 / 3))
    refused(alike, X, "init")
    refused(SCFS(n_clusters=1, random_state=0), X - X.mean(axis=0), "n_clusters")


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
