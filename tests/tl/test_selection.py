"""Features of an AnnData: what is written to it, batch by batch or all at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from small_cells import cells

import ufselect
from ufselect import SCFS, AutoSelect, Consensus, LaplacianScore, MaxVariance
from ufselect.cli import main
from ufselect.solvers.rankings import ranks_of

anndata = pytest.importorskip("anndata")
select = ufselect.tl.select


@pytest.fixture
def adata():
    return cells()


def columns(adata):
    return [name for name in adata.var if name.startswith("ufselect")]


def test_a_name_selects_as_the_command_line_does_and_an_instance_as_it_is(adata):
    before = adata.copy()
    returned = select(adata, "scfs", 5, n_clusters=3, alpha=0.5)
    select(adata, SCFS(5, n_clusters=3, random_state=0), key_added="own")
    expected = AutoSelect(
        SCFS(alpha=0.5), n_features_to_select=5, n_clusters=3, random_state=0
    ).fit(adata.X)
    own = SCFS(5, n_clusters=3, random_state=0).fit(adata.X)

    assert returned is None
    assert columns(adata) == ["ufselect", "ufselect_rank", "ufselect_score"]
    np.testing.assert_array_equal(adata.var["ufselect"], expected.get_support())
    np.testing.assert_array_equal(adata.var["ufselect_score"], expected.scores_)
    order = np.argsort(adata.var["ufselect_rank"])
    np.testing.assert_array_equal(order, expected.order_)
    np.testing.assert_array_equal(adata.var["own_score"], own.scores_)
    asked = adata.uns["ufselect"]
    assert (asked["method"], asked["parameters"]["alpha"]) == ("SCFS", 0.5)
    # Nothing else is written.
    added = [f"own{each}" for each in ("", "_rank", "_score")]
    assert [*adata.var] == [*before.var, *columns(adata), *added]
    assert adata.obs.equals(before.obs)
    np.testing.assert_array_equal(adata.X, before.X)


def test_the_answer_goes_where_scanpy_would_put_it(adata):
    copied = select(adata, "maxvariance", n_top_genes=5, copy=True)
    frame = select(adata, "maxvariance", 5, inplace=False)
    best = select(adata, "maxvariance", 5, inplace=False, subset=True)
    cut = select(adata, "maxvariance", 5, copy=True, subset=True)

    assert not columns(adata)
    assert "ufselect" not in adata.uns
    assert columns(copied) == frame.columns.tolist()
    assert frame.equals(copied.var[frame.columns])
    assert best.equals(frame[frame["ufselect"]])
    assert cut.shape == (adata.n_obs, 5)
    assert sorted(cut.var["ufselect_rank"]) == [1, 2, 3, 4, 5]
    assert cut.var_names.equals(best.index)
    select(adata, "maxvariance", 5, subset=True)
    assert adata.var_names.equals(best.index)


def test_raw_values_take_the_place_of_x(adata):
    adata.raw = adata
    part = adata[:, :8].copy()
    part.X[:] = 1.0
    select(part, "maxvariance", 3, use_raw=True)

    expected = MaxVariance(3).fit(adata.X[:, :8]).get_support()
    np.testing.assert_array_equal(part.var["ufselect"], expected)
    assert part.uns["ufselect"]["layer"] == "raw"


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_raw_counts_are_warned_of_and_their_logarithms_are_not(adata, container):
    counts = np.random.default_rng(0).poisson(3, size=adata.shape).astype(float)
    adata.layers["counts"] = container(counts)
    adata.layers["log"] = container(np.log1p(counts))
    adata.layers["binary"] = container((counts > 3).astype(float))

    with pytest.warns(UserWarning, match=r"look like raw counts.*normalize_total"):
        select(adata, "maxvariance", 3, layer="counts")
    for layer in ("log", "binary", None):
        select(adata, "maxvariance", 3, layer=layer)


def test_the_key_names_what_is_added_in_the_place_of_what_was_there(adata):
    select(adata, "maxvariance", 5, key_added="wide", batch_key="batch")
    select(adata, "maxvariance", 5, batch_key="batch")
    select(adata, MaxVariance(0.25))

    added = ["wide", "wide_rank", "wide_score", "wide_n_batches"]
    assert [name for name in adata.var if name.startswith("wide")] == added
    assert "wide" in adata.uns
    assert columns(adata) == ["ufselect", "ufselect_rank", "ufselect_score"]
    # Without a number that of the selector holds.
    assert adata.var["ufselect"].sum() == 3


def test_what_was_asked_survives_a_file(adata, tmp_path):
    selector = Consensus([MaxVariance(), LaplacianScore()], random_state=0)
    select(adata, selector, 5, batch_key="batch", layer="half")
    adata.write_h5ad(tmp_path / "a.h5ad")
    asked = anndata.read_h5ad(tmp_path / "a.h5ad").uns["ufselect"]

    assert asked["method"] == "Consensus"
    assert asked["parameters"]["n_features_to_select"] == 5
    assert asked["parameters"]["selectors"] == "[MaxVariance(), LaplacianScore()]"
    assert asked["batch_key"] == "batch"
    assert asked["layer"] == "half"
    assert asked["version"] == ufselect.__version__


def test_a_layer_is_ranked_instead_of_x_and_the_selector_left_as_it_was(adata):
    adata.layers["other"] = adata.X[:, ::-1].copy()
    selector = MaxVariance()
    select(adata, selector, 5, layer="other")

    expected = MaxVariance(5).fit(adata.X).get_support()[::-1]
    np.testing.assert_array_equal(adata.var["ufselect"], expected)
    assert selector.n_features_to_select is None
    assert not hasattr(selector, "scores_")


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_sparse_and_backed_data_give_the_same(adata, container, batch_key, tmp_path):
    other = adata.copy()
    other.X = container(adata.X)
    other.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    by_rows = container is not sp.csc_matrix
    for each in (adata, other, backed) if by_rows else (adata, other):
        select(each, "maxvariance", 5, batch_key=batch_key)
        np.testing.assert_array_equal(each.var["ufselect"], adata.var["ufselect"])
    if not by_rows:
        with pytest.raises(ValueError, match="cannot be read by rows; write it in CSR"):
            select(backed, "maxvariance", 5, batch_key=batch_key)
    backed.file.close()


def test_a_view_becomes_an_anndata_of_its_own(adata):
    view = adata[:20]
    select(view, "maxvariance", 5)

    assert columns(view) == ["ufselect", "ufselect_rank", "ufselect_score"]
    assert not view.is_view
    assert not columns(adata)


def test_more_batches_come_first_and_the_geometric_mean_tells_equals_apart(adata):
    # Categories without cells are no batches.
    batch = adata.obs["batch"].astype("category")
    adata.obs["batch"] = batch.cat.add_categories(["empty"])
    select(adata, "maxvariance", 5, batch_key="batch")
    batches = [adata.X[(batch == name).to_numpy()] for name in "abc"]
    fits = [MaxVariance(5).fit(each) for each in batches]
    times = np.sum([fit.get_support() for fit in fits], axis=0)
    ranks = ranks_of(np.array([fit.scores_ for fit in fits]))
    order = np.lexsort([np.prod(ranks, axis=0) ** (1 / 3), -times])

    np.testing.assert_array_equal(np.argsort(adata.var["ufselect_rank"]), order)
    np.testing.assert_array_equal(adata.var["ufselect_n_batches"], times)
    assert adata.var["ufselect"].sum() == 5
    # A number that is decided for every batch becomes their median.
    selector = AutoSelect(MaxVariance(), random_state=0)
    select(adata, selector, batch_key="batch")
    numbers = [clone(selector).fit(each).n_selected_ for each in batches]
    assert adata.var["ufselect"].sum() == int(np.median(numbers))


def test_a_shift_between_batches_is_not_what_is_selected(adata):
    adata.obs["one"] = "same"
    select(adata, "maxvariance", 5, batch_key="one", key_added="single")
    select(adata, "maxvariance", 5)
    single, whole = adata.var["single_rank"], adata.var["ufselect_rank"]
    np.testing.assert_array_equal(single, whole)

    shifted = 7
    adata.X[:, shifted] += 50 * (adata.obs["batch"] == "a").to_numpy()
    select(adata, "maxvariance", 5)
    blind = adata.var["ufselect_rank"].iloc[shifted]
    select(adata, "maxvariance", 5, batch_key="batch")

    assert blind == 1
    assert not adata.var["ufselect"].iloc[shifted]


def test_a_batch_that_ranks_nothing_is_refused(adata):
    adata.obs["gap"] = adata.obs["batch"].where(np.arange(45) > 1)
    adata.obs["lone"] = adata.obs["batch"].where(np.arange(45) > 0, "z")
    for options, reason in [
        ({"batch_key": "bacth"}, r"'bacth' is not a column .* could be batch"),
        ({"batch_key": "gap"}, r"^2 of 45 cells have no value in"),
        ({"batch_key": "lone"}, r"^Batch 'z' of .* has a single cell"),
        (
            {"batch_key": "batch", "method": "scfs", "n_clusters": 20},
            r"^Batch 'a': n_clusters=20 but X has",
        ),
    ]:
        with pytest.raises(ValueError, match=reason):
            select(adata, **options)
    assert not columns(adata)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_a_value_that_is_not_finite_is_refused_by_its_feature(
    adata, container, batch_key
):
    adata.X[4, 2] = np.nan
    adata.X = container(adata.X)

    with pytest.raises(ValueError, match=r"contains NaN in column 'gene 2'"):
        select(adata, batch_key=batch_key)
    assert not columns(adata)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": "scsf"}, r"no method 'scsf'; it could be SCFS"),
        ({"method": 3}, r"tl.select got 3, which is not a selector"),
        ({"clusters": 3}, r"AutoSelect has no parameter 'clusters'; .* n_clusters"),
        ({"n_top_gene": 3}, r"no parameter 'n_top_gene'; it could be n_top_genes\."),
        ({"flavor": "seurat"}, r"no parameter 'flavor'; it could be .*batch_key"),
        ({"method": SCFS(), "alhpa": 1}, r"SCFS has no .*'alhpa'; it could be alpha"),
        ({"method": "maxvariance", "n_features": 99}, r"=99 but X has 12 features"),
        ({"n_features": 3, "n_top_genes": 3}, r"mean the same; give one of them"),
        ({"layer": "haf"}, r"layer='haf' .* it could be half"),
        ({"use_raw": True}, r"adata.raw is empty; leave it out"),
        ({"use_raw": True, "layer": "half"}, r"give one"),
        ({"copy": True, "inplace": False}, r"copy=True returns an AnnData, inplace"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(adata, options, reason):
    with pytest.raises((TypeError, ValueError), match=reason):
        select(adata, **options)
    assert not columns(adata)


def test_what_is_no_anndata_or_has_no_numbers_is_refused(adata, tmp_path):
    with pytest.raises(TypeError, match=r"needs an AnnData but was given ndarray"):
        select(adata.X)
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    for option in ("copy", "subset"):
        with pytest.raises(ValueError, match=f"{option}=True would need a second file"):
            select(backed, **{option: True})
    backed.file.close()
    adata.raw = adata[:, :4].copy()
    with pytest.raises(ValueError, match=r"8 of 12 genes are not in adata.raw"):
        select(adata, use_raw=True)
    adata.X = None
    with pytest.raises(ValueError, match=r"adata.X is empty; .* name a layer"):
        select(adata)


def selected_by_command(path, *options):
    """Return what the command line makes of a file."""
    output = path.with_name("out.h5ad")
    assert main(["select", str(path), *options, "-o", str(output), "--quiet"]) == 0
    return anndata.read_h5ad(output)


@pytest.mark.parametrize("asked", [{}, {"method": "MCFS"}, {"method": "MCFS", "k": 4}])
def test_the_command_line_selects_the_same_genes(asked, tmp_path):
    adata = cells()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = [f"--method={asked['method']}"] if "method" in asked else []
    options += ["-k", str(asked["k"])] if "k" in asked else []
    found = selected_by_command(tmp_path / "cells.h5ad", *options)
    select(adata, asked.get("method", "autoselect"), n_top_genes=asked.get("k"))

    chosen = adata.var_names[adata.var["ufselect"]]
    assert 0 < len(chosen) < adata.n_vars
    assert columns(found) == columns(adata)
    assert chosen.tolist() == found.var_names[found.var["ufselect"]].tolist()
    for name in columns(adata):
        values = adata.var.loc[found.var_names, name]
        np.testing.assert_allclose(found.var[name], values)


def test_what_the_command_line_writes_replaces_an_earlier_selection(tmp_path):
    adata = cells()
    select(adata, "MaxVariance", 4, batch_key="batch")
    adata.var["ufselect_selected"] = True  # as ufselect 0.1 called it
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = ["--method=MaxVariance", "-k", "3"]
    found = selected_by_command(tmp_path / "cells.h5ad", *options)

    assert columns(found) == ["ufselect", "ufselect_rank", "ufselect_score"]
    assert found.var["ufselect"].sum() == 3
    assert "ufselect" not in found.uns
