from dataclasses import replace

import numpy as np
import pytest
from small_experiments import small_plan

from ufselect.experiments.cells import roles_of
from ufselect.experiments.readings import Results
from ufselect.experiments.records import Record
from ufselect.experiments.store import DONE, FAILED
from ufselect.experiments.stored import Experiment, Fit
from ufselect.report.costs import cost_blocks, cost_ranges, costs_of
from ufselect.report.experiment_figures import convergence_blocks, convergence_curves

HISTORY = np.array([3.0, 2.0, 1.0])


def experiment():
    """Return one whose fits of SCFS take 1, 2, .. seconds and 100, 200, .. MB."""
    plan = small_plan()
    record = Record(plan, {"one": "a"}, {}, {"ufselect": "0"})
    roles = list(roles_of(plan, record.fingerprints))
    found = [role.cell.key for role in roles if role.label == "SCFS"]
    fits = {
        key: Fit(DONE, None, 1.0 + i, int(1e8) * (1 + i), HISTORY)
        for i, key in enumerate(found[:5])
    }
    fits[found[5]] = Fit(FAILED, "ValueError: W = 0", None, None, None)
    return Experiment(
        record, roles, Results(roles, []), fits, frozenset(), [record.versions], []
    )


def without_measures():
    known = experiment()
    fits = {
        key: fit._replace(seconds=None, peak_memory=None, history=None)
        for key, fit in known.fits.items()
    }
    return replace(known, fits=fits)


def test_a_method_has_median_and_largest_and_what_failed():
    _, table, by_set = cost_blocks(experiment())
    rows = {row[0]: row[1:] for row in table.rows}

    assert rows["SCFS"] == ["5", "1", "3.00", "5.00", "300", "500"]
    assert rows["LaplacianScore"] == ["0", "0", "-", "-", "-", "-"]
    assert "all features" not in rows
    assert by_set.header == ["method", "one"]
    assert by_set.rows[0] == ["SCFS", "3.00"]


def test_costs_for_scripts_are_numbers_or_nothing():
    costs = costs_of(experiment())

    assert costs["SCFS"].summary() == {
        "fits": 5,
        "failed": 1,
        "median_seconds": 3.0,
        "largest_seconds": 5.0,
        "median_megabytes": 300.0,
        "largest_megabytes": 500.0,
    }
    assert costs["variance"].summary()["median_seconds"] is None


def test_costs_are_drawn_with_a_panel_for_each_measure():
    pytest.importorskip("matplotlib")
    svg = cost_ranges(experiment()).plot().svg

    assert "seconds of a fit" in svg
    assert "peak memory (MB)" in svg


def test_a_store_without_measures_has_dashes_and_no_picture():
    known = without_measures()
    _, table, _ = cost_blocks(known)

    assert table.rows[0] == ["SCFS", "0", "1", "-", "-", "-", "-"]
    assert cost_ranges(known) is None


def test_lengths_of_objectives_are_told():
    (table,) = convergence_blocks(experiment())

    assert table.rows == [["SCFS", "5", "3", "3"]]


def test_a_store_without_objectives_says_so():
    known = without_measures()
    (paragraph,) = convergence_blocks(known)

    assert paragraph.text.startswith("The store has no objective of any fit")
    assert convergence_curves(known) is None
