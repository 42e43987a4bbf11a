"""Published results: complete, as printed, and compared fairly."""

import dataclasses

import numpy as np
import pytest

from ufselect import all_selectors
from ufselect.experiments.readings import Published, published, verdict

SETS = ["Lung", "Lymphoma", "Prostate-GE", "ORL", "Isolet", "BASEHOCK"]
METHODS = ["Baseline", "LS", "UDFS", "NDFS", "SPUFS", "LDSSL", "SCFS"]


@pytest.fixture(scope="module")
def paper():
    return published("scfs-2020")


# Read off the printed tables, apart from the file.
@pytest.mark.parametrize(
    ("table", "method", "name", "mean", "std"),
    [
        ("accuracy", "Baseline", "Prostate-GE", 58.82, 0.0),
        ("accuracy", "LS", "Lung", 61.46, 2.61),
        ("accuracy", "UDFS", "BASEHOCK", 51.57, 0.56),
        ("accuracy", "SPUFS", "Isolet", 63.65, 13.1),
        ("accuracy", "SCFS", "ORL", 59.19, 0.83),
        ("mutual_information", "Baseline", "BASEHOCK", 0.63, 0.0),
        ("mutual_information", "NDFS", "Lymphoma", 73.7, 0.71),
        ("mutual_information", "SPUFS", "Isolet", 72.81, 11.14),
        ("mutual_information", "LDSSL", "Prostate-GE", 5.66, 0.13),
        ("mutual_information", "SCFS", "Lung", 70.17, 0.9),
    ],
)
def test_cell_is_as_printed(paper, table, method, name, mean, std):
    assert getattr(paper, table)[method][name] == (mean, std)


@pytest.mark.parametrize("table", ["accuracy", "mutual_information"])
def test_no_cell_is_missing_and_all_are_percentages(paper, table):
    rows = getattr(paper, table)
    cells = [cell for row in rows.values() for cell in row.values()]

    assert list(rows) == METHODS
    assert all(list(row) == SETS for row in rows.values())
    assert all(0 < cell.mean < 100 and 0 <= cell.std < 15 for cell in cells)
    assert sum(cell.std == 0 for cell in cells) == 2


@pytest.mark.parametrize(
    ("table", "winners"),
    [
        ("accuracy", ["SCFS"] * 6),
        ("mutual_information", ["SCFS"] * 3 + ["Baseline"] + ["SCFS"] * 2),
    ],
)
def test_best_method_of_each_set_is_the_one_in_bold(paper, table, winners):
    rows = getattr(paper, table)
    best = [max(rows, key=lambda method: rows[method][name].mean) for name in SETS]

    assert best == winners


# Sums of a transcription that was made apart from the file: one wrong digit shows.
@pytest.mark.parametrize(
    ("table", "means", "deviations"),
    [("accuracy", 2505.15, 96.16), ("mutual_information", 1975.13, 86.05)],
)
def test_cells_add_up(paper, table, means, deviations):
    rows = getattr(paper, table).values()
    cells = np.array([cell for row in rows for cell in row.values()])

    np.testing.assert_allclose(cells.sum(axis=0), [means, deviations], atol=1e-6)


def test_data_sets_are_as_printed(paper):
    assert list(paper.sets) == SETS
    assert paper.sets["Lung"][:5] == (203, 3312, 5, "Continuous", "Biology")
    assert paper.sets["ORL"][:5] == (400, 1024, 40, "Discrete", "Image")
    assert sum(described.samples for described in paper.sets.values()) == 4354
    assert sum(described.features for described in paper.sets.values()) == 19807
    assert sum(described.classes for described in paper.sets.values()) == 84


def test_every_set_has_a_name_in_the_catalogue(paper):
    assert paper.catalogue_names == {
        "Lung": "lung",
        "Lymphoma": "lymphoma",
        "Prostate-GE": "Prostate-GE",
        "ORL": "ORL",
        "Isolet": "Isolet",
        "BASEHOCK": "BASEHOCK",
    }


def test_every_method_of_the_tables_but_the_baseline_is_a_class_here(paper):
    assert list(paper.methods) == METHODS[1:]
    assert set(paper.methods.values()) <= set(all_selectors())


def test_property_table_is_as_printed(paper):
    rows = paper.properties
    words = {
        (method, key): value
        for method, row in rows.items()
        for key, value in row.items()
        if isinstance(value, str)
    }

    assert len(rows) == 12
    assert {len(row) for row in rows.values()} == {7}
    assert words["SCFS", "self_expression"] == "Sample"
    assert words["SCFS", "similarity"] == "Implicit"
    assert list(words.values()).count("Feature") == 5
    assert list(words.values()).count("Explicit") == 9
    assert [m for m, row in rows.items() if row["adaptive_graph"]] == ["FSASL", "SCFS"]
    assert [m for m, row in rows.items() if row["clustering"]] == ["NDFS", "SCFS"]


def test_property_table_has_the_columns_that_classes_declare(paper):
    declared = all_selectors()["SCFS"].PROPERTIES._fields

    assert {tuple(row) for row in paper.properties.values()} == {declared}


def test_curves_have_thirty_points_and_never_rise(paper):
    assert list(paper.convergence) == SETS
    for curve in paper.convergence.values():
        assert curve.shape == (30,)
        assert np.all(np.diff(curve) <= 0)
        assert curve[1] < curve[0]


def test_ends_of_the_curves_are_as_printed(paper):
    ends = {name: (curve[0], curve[-1]) for name, curve in paper.convergence.items()}

    assert ends["Lung"] == (60705.86284, 47560.93146)
    assert ends["Lymphoma"] == (685927.002, 683414.2795)
    assert ends["ORL"] == (1093680086, 169202389.1)
    assert ends["BASEHOCK"] == (635530.3631, 620287.0765)


def test_curves_add_up(paper):
    sums = {name: round(curve.sum(), 5) for name, curve in paper.convergence.items()}

    assert sums == {
        "Lung": 1447071.15606,
        "Lymphoma": 20511452.8566,
        "Prostate-GE": 900988.68478,
        "ORL": 6323456926.4,
        "Isolet": 3908066.8764,
        "BASEHOCK": 18624644.8336,
    }


def test_results_cannot_be_changed(paper):
    with pytest.raises(dataclasses.FrozenInstanceError):
        paper.name = "other"
    with pytest.raises(TypeError):
        paper.accuracy["SCFS"]["ORL"] = Published(100, 0)
    with pytest.raises(ValueError, match="read-only"):
        paper.convergence["ORL"][0] = 0


def test_unknown_paper_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match="'scfs-2021'; there are: scfs-2020"):
        published("scfs-2021")


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (64.87, "within"),
        (64.87 + 2 * 1.59, "within"),
        (64.87 - 2 * 1.59, "within"),
        (64.87 + 2 * 1.59 + 0.02, "above"),
        (64.87 - 2 * 1.59 - 0.02, "below"),
        (100, "above"),
        (0, "below"),
    ],
)
def test_verdict_is_drawn_at_two_standard_deviations(ours, expected):
    assert verdict(ours, Published(64.87, 1.59)) == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (100 * 60 / 102, "within"),
        (58.81, "within"),
        (58.84, "above"),
        (58.80, "below"),
    ],
)
def test_no_deviation_leaves_the_rounding_of_the_print(ours, expected):
    assert verdict(ours, Published(58.82, 0.0)) == expected


@pytest.mark.parametrize("ours", [np.nan, np.inf, -np.inf])
def test_no_verdict_without_a_number(ours):
    with pytest.raises(ValueError, match="cannot be compared"):
        verdict(ours, Published(58.82, 0.0))


def test_the_classes_declare_what_the_paper_prints_of_them(paper):
    words = {"Feature": "features", "Sample": "samples", False: "no"}
    for method, printed in paper.properties.items():
        name = paper.methods.get(method, method)
        declared = all_selectors()[name].PROPERTIES._asdict()
        for column in ("self_expression", "similarity"):
            word = printed[column]
            assert declared.pop(column) == words.get(word, str(word).lower())

        assert declared == {column: printed[column] for column in declared}
