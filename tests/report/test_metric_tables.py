import numpy as np

from ufselect.report import text_table
from ufselect.report.metric_tables import Column, MetricTable

LABELS = ["good", "random", "all features"]


def table(means):
    means = np.array(means, dtype=float)
    columns = [Column(f"set {i}", "none") for i in range(means.shape[1])]
    return MetricTable(
        "accuracy", "fixed", LABELS, columns, means, np.zeros_like(means)
    )


def lines_of(means):
    return [line.split() for line in table(means).render(text_table).splitlines()]


def test_a_table_shows_percent_and_the_mean_over_sets():
    header, _, good, *_ = lines_of([[0.5, 0.7], [0.4, 0.4], [0.1, 0.2]])

    assert header[-1] == "mean"
    assert good == ["good", "50.0", "±0.0", "70.0", "±0.0", "60.0"]


def test_the_mean_leaves_out_sets_that_lack_a_score_for_all_methods_alike():
    nan = np.nan
    header, _, good, random, _ = lines_of(
        [[0.5, 0.7, 0.9, nan], [0.4, nan, 0.6, nan], [0.1, 0.2, 0.3, nan]]
    )

    assert header[-3:] == ["mean", "of", "2"]
    assert good[-1] == "70.0"
    assert random[-1] == "50.0"


def test_a_method_without_any_score_does_not_spoil_the_mean():
    _, _, good, random, _ = lines_of([[0.5, 0.7], [np.nan, np.nan], [0.1, 0.2]])

    assert good[-1] == "60.0"
    assert random == ["random", "-", "-", "-"]


def test_there_is_no_mean_where_no_set_is_complete():
    header, *_ = lines_of([[0.5, np.nan], [np.nan, 0.4], [0.1, 0.2]])

    assert "mean" not in header


def test_a_preparation_is_named_in_the_head_of_a_column():
    assert Column("lung", "none").title == "lung"
    assert Column("lung", "log").title == "lung (log)"
