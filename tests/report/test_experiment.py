import numpy as np
import pytest

from ufselect.report import text_table
from ufselect.report.experiment import Column, MetricTable, comparison_of

LABELS = ["good", "random", "all features"]


def table(means, metric="accuracy"):
    means = np.array(means, dtype=float)
    columns = [Column(f"set {i}", "none") for i in range(means.shape[1])]
    return MetricTable(metric, "fixed", LABELS, columns, means, np.zeros_like(means))


def test_a_table_shows_percent_and_the_mean_over_sets():
    text = table([[0.5, 0.7], [0.4, np.nan], [0.1, 0.2]]).render(text_table)

    assert text.splitlines()[2].split() == [
        "good",
        "50.0",
        "±0.0",
        "70.0",
        "±0.0",
        "60.0",
    ]
    assert text.splitlines()[3].split() == ["random", "40.0", "±0.0", "-", "-"]


def test_methods_are_ranked_and_tested_against_random():
    better = [[0.9] * 6, [0.5, 0.51, 0.52, 0.53, 0.54, 0.55], [1.0] * 6]

    text = comparison_of(table(better), text_table)
    good = next(line for line in text.splitlines() if line.startswith("good"))

    # Six differences of one sign: the least p value of an exact test, 2 / 2^6.
    assert good.split() == ["good", "1.00", "6", "+37.5", "0.031"]
    assert "all features" not in text


def test_low_is_good_where_lower_is_better():
    lower = [[0.1] * 6, [0.5, 0.51, 0.52, 0.53, 0.54, 0.55], [1.0] * 6]

    text = comparison_of(table(lower, "redundancy"), text_table)

    assert text.splitlines()[2].startswith("good")


@pytest.mark.parametrize("n_sets", [2, 4])
def test_few_sets_have_no_statistics(n_sets):
    text = comparison_of(table(np.zeros((3, n_sets))), text_table)

    assert text == (
        f"No statistics: {n_sets} sets have a score of every method, and at least 5 "
        "are needed."
    )


def test_sets_with_a_missing_score_are_left_out_for_all():
    means = np.random.default_rng(0).uniform(size=(3, 8))
    means[0, 2] = np.nan

    text = comparison_of(table(means), text_table)

    assert "7 sets." in text
