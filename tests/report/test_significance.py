import numpy as np
import pytest

from ufselect.evaluation import nemenyi_critical_difference
from ufselect.report.metric_tables import Column, MetricTable
from ufselect.report.significance import significance_of

LABELS = ["good", "random", "all features"]
RANDOM = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]


def significance(means, metric="accuracy", labels=LABELS):
    means = np.array(means, dtype=float)
    columns = [Column(f"set {i}", "none") for i in range(means.shape[1])]
    table = MetricTable(metric, "fixed", labels, columns, means, np.zeros_like(means))
    return significance_of(table)


def test_methods_are_ranked_and_tested_against_random():
    compared = significance([[0.9] * 6, RANDOM, [1.0] * 6])

    # Six differences of one sign: the least p value of an exact test, 2 / 2^6.
    assert compared.table().rows == [
        ["good", "1.00", "6", "+37.5", "0.031"],
        ["random", "2.00", "", "", ""],
    ]


def test_all_features_are_not_compared():
    compared = significance([[0.9] * 6, RANDOM, [1.0] * 6])

    assert compared.labels == ["good", "random"]
    assert "all features" not in compared.sentence()


def test_low_is_good_where_lower_is_better():
    compared = significance([[0.1] * 6, RANDOM, [1.0] * 6], "redundancy")

    assert compared.table().rows[0][0] == "good"


@pytest.mark.parametrize("n_sets", [2, 4])
def test_few_sets_have_no_statistics(n_sets):
    compared = significance(np.zeros((3, n_sets)))

    assert compared.average_ranks() is None
    assert [block.text for block in compared.blocks()] == [
        f"No statistics: {n_sets} sets have a score of every method, and at least 5 "
        "are needed."
    ]


def test_sets_with_a_missing_score_are_left_out_for_all():
    means = np.random.default_rng(0).uniform(size=(3, 8))
    means[0, 2] = np.nan

    assert significance(means).sentence().startswith("7 sets. ")


def test_a_method_without_any_score_is_named_and_left_out():
    means = np.random.default_rng(0).uniform(size=(4, 6))
    means[1] = np.nan
    compared = significance(means, labels=["good", "slow", "random", "all features"])

    assert compared.labels == ["good", "random"]
    assert compared.sentence().endswith("Without slow, of which there is no score.")


def test_methods_that_are_all_told_apart_form_no_group():
    compared = significance([[0.9] * 6, RANDOM, [1.0] * 6])

    assert compared.critical_difference() == nemenyi_critical_difference(2, 6) < 1
    assert "(Nemenyi, 5 %) do not occur." in compared.sentence()


def test_the_diagram_is_of_the_ranks():
    pytest.importorskip("matplotlib")
    ranks = significance([[0.9] * 6, RANDOM, [1.0] * 6]).average_ranks()

    assert "average ranks: good 1.00, random 2.00" in ranks.plot().svg
