"""Published results: complete, as printed, and compared fairly."""

import numpy as np
import pytest

from ufselect import all_selectors
from ufselect.data import read_labelled
from ufselect.experiments.plan import plan_path, read_plan
from ufselect.experiments.scfs_2020 import (
    Published,
    curve_verdict,
    published,
    published_curve,
    verdict,
)

SETS = ["Lung", "Lymphoma", "Prostate-GE", "ORL", "Isolet", "BASEHOCK"]
METHODS = ["Baseline", "LS", "UDFS", "NDFS", "SPUFS", "LDSSL", "SCFS"]


@pytest.fixture(scope="module")
def paper():
    return published()


# Sums of a transcription that was made apart from the file: one wrong digit shows.
def test_tables_are_as_printed(paper):
    assert paper.accuracy["SCFS"]["ORL"] == (59.19, 0.83)
    assert paper.mutual_information["SPUFS"]["Isolet"] == (72.81, 11.14)
    for rows, sums, winners in [
        (paper.accuracy, [2505.15, 96.16], ["SCFS"] * 6),
        (
            paper.mutual_information,
            [1975.13, 86.05],
            ["SCFS"] * 3 + ["Baseline"] + ["SCFS"] * 2,
        ),
    ]:
        cells = np.array([cell for row in rows.values() for cell in row.values()])
        best = [max(rows, key=lambda m, n=name: rows[m][n].mean) for name in SETS]
        assert list(rows) == METHODS
        assert all(list(row) == SETS for row in rows.values())
        np.testing.assert_allclose(cells.sum(axis=0), sums, atol=1e-6)
        assert best == winners


def test_data_sets_and_properties_are_as_printed(paper):
    rows = paper.properties
    words = [word for row in rows.values() for word in row.values()]
    declared = all_selectors()["SCFS"].PROPERTIES._fields
    renamed = {"Lung": "lung", "Lymphoma": "lymphoma"}

    assert list(paper.sets) == SETS
    assert paper.sets["Lung"][:5] == (203, 3312, 5, "Continuous", "Biology")
    assert paper.sets["ORL"][:5] == (400, 1024, 40, "Discrete", "Image")
    sums = np.sum([described[:3] for described in paper.sets.values()], axis=0)
    assert sums.tolist() == [4354, 19807, 84]
    for name, described in paper.sets.items():
        assert described.catalogue_name == renamed.get(name, name)
    assert list(paper.methods) == METHODS[1:]
    assert set(paper.methods.values()) <= set(all_selectors())
    assert len(rows) == 12
    assert {tuple(row) for row in rows.values()} == {declared}
    assert rows["SCFS"]["self_expression"] == "Sample"
    assert rows["SCFS"]["similarity"] == "Implicit"
    assert (words.count("Feature"), words.count("Explicit")) == (5, 9)
    assert [m for m, row in rows.items() if row["adaptive_graph"]] == ["FSASL", "SCFS"]
    assert [m for m, row in rows.items() if row["clustering"]] == ["NDFS", "SCFS"]


def test_curves_are_as_printed(paper):
    curves = paper.convergence
    assert list(curves) == SETS
    for curve in curves.values():
        assert curve.shape == (30,)
        assert np.all(np.diff(curve) <= 0)
    assert {name: round(curve.sum(), 5) for name, curve in curves.items()} == {
        "Lung": 1447071.15606,
        "Lymphoma": 20511452.8566,
        "Prostate-GE": 900988.68478,
        "ORL": 6323456926.4,
        "Isolet": 3908066.8764,
        "BASEHOCK": 18624644.8336,
    }


def test_verdict_is_drawn_at_two_standard_deviations_and_the_rounding_of_the_print():
    spread, none = Published(64.87, 1.59), Published(58.82, 0.0)
    for cell, ours, expected in [
        (spread, 64.87, "within"),
        (spread, 64.87 + 2 * 1.59, "within"),
        (spread, 64.87 - 2 * 1.59, "within"),
        (spread, 64.87 + 2 * 1.59 + 0.02, "above"),
        (spread, 64.87 - 2 * 1.59 - 0.02, "below"),
        (none, 100 * 60 / 102, "within"),
        (none, 58.81, "within"),
        (none, 58.84, "above"),
        (none, 58.80, "below"),
    ]:
        assert verdict(ours, cell) == expected
    for ours in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="cannot be compared"):
            verdict(ours, none)


def test_verdicts_on_curves_are_drawn_at_shares_of_the_way():
    shares = {0.02: "met", 0.021: "near", 0.2: "near", 0.21: "not met"}
    for residual, expected in shares.items():
        assert curve_verdict(residual) == expected


@pytest.mark.slow
def test_one_setting_draws_a_published_curve(paper, data_folder):
    data = read_labelled(data_folder / "Prostate-GE.mat")
    ours = published_curve(data, 0, 30)

    np.testing.assert_allclose(ours, paper.convergence["Prostate-GE"], rtol=1e-5)


def test_reasons_are_by_row_and_set(paper):
    labels = {method.label for method in read_plan(plan_path("scfs-2020")).methods}

    assert set(paper.reasons) <= labels
    for by_set in paper.reasons.values():
        assert set(by_set) <= {*SETS, "all sets"}
    assert paper.reason("LS", "Lung") == paper.reason("LS", "ORL")
    assert paper.reason("UDFS", "Prostate-GE") != paper.reason("UDFS", "BASEHOCK")
    assert paper.reason("MCFS", "ORL") == "Why is not known."


def test_the_classes_declare_what_the_paper_prints_of_them(paper):
    words = {"Feature": "features", "Sample": "samples", False: "no"}
    for method, printed in paper.properties.items():
        name = paper.methods.get(method, method)
        declared = all_selectors()[name].PROPERTIES._asdict()
        for column in ("self_expression", "similarity"):
            word = printed[column]
            assert declared.pop(column) == words.get(word, str(word).lower())

        assert declared == {column: printed[column] for column in declared}
