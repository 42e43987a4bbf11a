"""Features of an AnnData: what is written to it, batch by batch or all at once."""

import numpy as np
import pytest
import scipy.sparse as sp
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


def test_the_answer_is_that_of_the_selector(adata):
    select(adata, "scfs", 5, n_clusters=3, random_state=0)

    expected = SCFS(5, n_clusters=3, random_state=0).fit(adata.X)

    np.testing.assert_array_equal(adata.var["ufselect"], expected.get_support())
    np.testing.assert_array_equal(adata.var["ufselect_score"], expected.scores_)
    np.testing.assert_array_equal(
        np.argsort(adata.var["ufselect_rank"]), expected.order_
    )


def test_nothing_else_is_written(adata):
    before = adata.copy()
    returned = select(adata, "maxvariance", 5)

    assert returned is None
    assert columns(adata) == ["ufselect", "ufselect_rank", "ufselect_score"]
    assert [*adata.var] == [*before.var, *columns(adata)]
    assert adata.obs.equals(before.obs)
    np.testing.assert_array_equal(adata.X, before.X)


def test_the_chosen_columns_can_be_cut_out(adata):
    select(adata, "MaxVariance", 5)

    part = adata[:, adata.var.ufselect]

    assert part.shape == (adata.n_obs, 5)
    assert sorted(part.var["ufselect_rank"]) == [1, 2, 3, 4, 5]


def test_a_copy_has_the_answer_and_the_original_stays(adata):
    result = select(adata, "maxvariance", 5, copy=True)

    assert columns(result)
    assert not columns(adata)
    assert "ufselect" not in adata.uns


def test_the_key_names_all_that_is_added(adata):
    select(adata, "maxvariance", 5, key_added="wide", batch_key="batch")

    added = ["wide", "wide_rank", "wide_score", "wide_n_batches"]
    assert [name for name in adata.var if name.startswith("wide")] == added
    assert "wide" in adata.uns


def test_a_selection_replaces_the_one_before(adata):
    select(adata, "maxvariance", 5, batch_key="batch")
    select(adata, "maxvariance", 3)

    assert columns(adata) == ["ufselect", "ufselect_rank", "ufselect_score"]
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


def test_a_selector_is_left_as_it_was(adata):
    selector = MaxVariance()
    select(adata, selector, 5)

    assert selector.n_features_to_select is None
    assert not hasattr(selector, "scores_")


def test_without_a_number_that_of_the_selector_holds(adata):
    select(adata, MaxVariance(0.25))

    assert adata.var["ufselect"].sum() == 3


def test_a_layer_is_ranked_instead_of_x(adata):
    adata.layers["other"] = adata.X[:, ::-1].copy()
    select(adata, "maxvariance", 5, layer="other")

    expected = MaxVariance(5).fit(adata.X).get_support()[::-1]
    np.testing.assert_array_equal(adata.var["ufselect"], expected)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_sparse_data_give_the_same(adata, container, batch_key):
    sparse = adata.copy()
    sparse.X = container(adata.X)
    for each in (adata, sparse):
        select(each, "maxvariance", 5, batch_key=batch_key)

    np.testing.assert_array_equal(sparse.var["ufselect"], adata.var["ufselect"])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_backed_data_give_the_same(adata, container, batch_key, tmp_path):
    stored = adata.copy()
    stored.X = container(adata.X)
    stored.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    for each in (adata, backed):
        select(each, "maxvariance", 5, batch_key=batch_key)
    backed.file.close()

    np.testing.assert_array_equal(backed.var["ufselect"], adata.var["ufselect"])


def test_a_view_becomes_an_anndata_of_its_own(adata):
    view = adata[:20]
    select(view, "maxvariance", 5)

    assert columns(view) == ["ufselect", "ufselect_rank", "ufselect_score"]
    assert not view.is_view
    assert not columns(adata)


class TestBatches:
    def test_more_batches_come_first_and_the_geometric_mean_tells_equals_apart(
        self, adata
    ):
        select(adata, "maxvariance", 5, batch_key="batch")

        names = adata.obs["batch"].to_numpy()
        fits = [MaxVariance(5).fit(adata.X[names == name]) for name in "abc"]
        times = np.sum([fit.get_support() for fit in fits], axis=0)
        ranks = ranks_of(np.array([fit.scores_ for fit in fits]))
        means = np.prod(ranks, axis=0) ** (1 / 3)
        order = np.lexsort([means, -times])
        np.testing.assert_array_equal(np.argsort(adata.var["ufselect_rank"]), order)
        np.testing.assert_array_equal(adata.var["ufselect_n_batches"], times)
        assert adata.var["ufselect"].sum() == 5

    def test_a_shift_between_batches_is_not_what_is_selected(self, adata):
        shifted = 7
        adata.X[:, shifted] += 50 * (adata.obs["batch"] == "a").to_numpy()
        select(adata, "maxvariance", 5)
        blind = adata.var["ufselect_rank"].iloc[shifted]
        select(adata, "maxvariance", 5, batch_key="batch")

        assert blind == 1
        assert not adata.var["ufselect"].iloc[shifted]

    def test_a_single_batch_is_ranked_as_the_whole(self, adata):
        adata.obs["one"] = "same"
        select(adata, "maxvariance", 5, batch_key="one", key_added="batch")
        select(adata, "maxvariance", 5)

        np.testing.assert_array_equal(
            adata.var["batch_rank"], adata.var["ufselect_rank"]
        )

    def test_categories_without_cells_are_no_batches(self, adata):
        batch = adata.obs["batch"].astype("category")
        adata.obs["batch"] = batch.cat.add_categories(["empty"])
        select(adata, "maxvariance", 5, batch_key="batch")

        assert adata.var["ufselect_n_batches"].max() == 3

    def test_a_number_decided_for_every_batch_becomes_their_median(self, adata):
        selector = AutoSelect(MaxVariance(), random_state=0)
        select(adata, selector, batch_key="batch")

        names = adata.obs["batch"].to_numpy()
        numbers = [
            AutoSelect(MaxVariance(), random_state=0)
            .fit(adata.X[names == name])
            .n_selected_
            for name in "abc"
        ]
        assert adata.var["ufselect"].sum() == int(np.median(numbers))


class TestRefusals:
    def test_an_unknown_batch_key(self, adata):
        with pytest.raises(ValueError, match=r"'bacth' is no column .* could be batch"):
            select(adata, batch_key="bacth")

    def test_cells_without_a_batch(self, adata):
        adata.obs.loc[adata.obs_names[:2], "batch"] = None

        with pytest.raises(ValueError, match=r"^2 of 45 cells have no value in"):
            select(adata, batch_key="batch")

    def test_a_batch_of_one_cell(self, adata):
        adata.obs.loc[adata.obs_names[0], "batch"] = "z"

        with pytest.raises(ValueError, match=r"^Batch 'z' of .* has a single cell"):
            select(adata, batch_key="batch")

    def test_a_batch_with_fewer_cells_than_clusters(self, adata):
        with pytest.raises(ValueError, match=r"^Batch 'a': n_clusters=20 but X has"):
            select(adata, "scfs", 5, batch_key="batch", n_clusters=20)

    @pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("batch_key", [None, "batch"])
    def test_a_value_that_is_not_finite_with_the_name_of_its_feature(
        self, adata, container, batch_key
    ):
        adata.X[4, 2] = np.nan
        adata.X = container(adata.X)

        with pytest.raises(ValueError, match=r"contains NaN in column 'gene 2'"):
            select(adata, batch_key=batch_key)
        assert not columns(adata)

    def test_an_unknown_method(self, adata):
        with pytest.raises(ValueError, match=r"no method 'scsf'; it could be .*scfs"):
            select(adata, "scsf")

    def test_what_is_no_method(self, adata):
        with pytest.raises(TypeError, match=r"tl.select was given 3, which is no"):
            select(adata, 3)

    def test_an_unknown_parameter(self, adata):
        with pytest.raises(
            TypeError, match=r"AutoSelect has no .*'clusters'; .* n_clusters"
        ):
            select(adata, clusters=3)

    def test_more_features_than_there_are(self, adata):
        with pytest.raises(ValueError, match=r"=99 but X has 12 features; ask for at"):
            select(adata, "maxvariance", 99)

    def test_an_unknown_layer(self, adata):
        with pytest.raises(ValueError, match=r"layer='haf' .* it could be half"):
            select(adata, layer="haf")

    def test_no_numbers(self, adata):
        adata.X = None

        with pytest.raises(ValueError, match=r"adata.X is empty; .* name a layer"):
            select(adata)

    def test_a_table(self, adata):
        with pytest.raises(TypeError, match=r"needs an AnnData but was given ndarray"):
            select(adata.X)

    def test_a_copy_of_a_backed_one(self, adata, tmp_path):
        adata.write_h5ad(tmp_path / "a.h5ad")
        backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")

        with pytest.raises(ValueError, match=r"copy=True would need a second file"):
            select(backed, copy=True)
        backed.file.close()


def selected_by_command(path, number):
    """Return what the command line makes of a file."""
    output = path.with_name("out.h5ad")
    asked = ["--method", "MaxVariance", "-k", str(number), "-o", str(output)]

    assert main(["select", str(path), *asked]) == 0
    return anndata.read_h5ad(output)


def test_the_command_line_writes_the_same_columns(tmp_path):
    asked = cells()
    asked.write_h5ad(tmp_path / "cells.h5ad")
    select(asked, "MaxVariance", 4)
    found = selected_by_command(tmp_path / "cells.h5ad", 4)

    assert columns(found) == columns(asked)
    for name in columns(asked):
        np.testing.assert_allclose(found.var[name], asked.var[name])


def test_what_the_command_line_writes_replaces_an_earlier_selection(tmp_path):
    adata = cells()
    select(adata, "MaxVariance", 4, batch_key="batch")
    adata.var["ufselect_selected"] = True  # as ufselect 0.1 called it
    adata.write_h5ad(tmp_path / "cells.h5ad")
    found = selected_by_command(tmp_path / "cells.h5ad", 3)

    assert columns(found) == ["ufselect", "ufselect_rank", "ufselect_score"]
    assert found.var["ufselect"].sum() == 3
    assert "ufselect" not in found.uns
