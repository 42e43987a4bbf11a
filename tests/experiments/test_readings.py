import numpy as np
import pytest

from ufselect.experiments.cells import FIXED, GRID, Cell, Role
from ufselect.experiments.protocol import Score
from ufselect.experiments.readings import ORACLE, Place, Results

PLACE = Place("lung", "none", "SCFS")


def role(reading, seed, label="SCFS"):
    return Role(label, reading, Cell("lung", "abc", "none", "SCFS", "{}", seed))


def scores(role, values, metric="accuracy"):
    """Return scores at 10, 20, .. features; each value is a list over repetitions."""
    return [
        (role.cell.key, Score(10 * (place + 1), metric, repetition, value))
        for place, repetitions in enumerate(values)
        for repetition, value in enumerate(repetitions)
    ]


def test_the_oracle_takes_the_best_point_at_every_number_of_features():
    first, second = role(GRID, 0), role(GRID, 1)
    results = Results(
        [first, second],
        [
            *scores(first, [[0.1, 0.3], [0.9, 0.9]]),
            *scores(second, [[0.6, 0.4], [0.2, 0.4]]),
        ],
    )

    reading = results.reading(PLACE, ORACLE, "accuracy")

    assert reading == pytest.approx((0.7, 0.2, 2))


def test_the_oracle_takes_the_lowest_where_lower_is_better():
    first, second = role(GRID, 0), role(GRID, 1)
    results = Results(
        [first, second],
        [
            *scores(first, [[0.1], [0.9]], "redundancy"),
            *scores(second, [[0.6], [0.3]], "redundancy"),
        ],
    )

    assert results.reading(PLACE, ORACLE, "redundancy").mean == pytest.approx(0.2)


def test_the_fixed_reading_is_the_mean_over_seeds():
    first, second = role(FIXED, 0), role(FIXED, 1)
    results = Results(
        [first, second],
        [*scores(first, [[0.1], [0.5]]), *scores(second, [[0.3], [0.9]])],
    )

    assert results.reading(PLACE, FIXED, "accuracy") == pytest.approx((0.45, 0.25, 2))


def test_a_method_without_a_grid_reads_the_same_both_ways():
    only = role(FIXED, 0)
    results = Results([only], scores(only, [[0.1], [0.5]]))

    oracle = results.reading(PLACE, ORACLE, "accuracy")

    assert oracle == results.reading(PLACE, FIXED, "accuracy")


def test_one_number_of_features_is_read_over_its_repetitions():
    only = role(FIXED, 0)
    results = Results([only], scores(only, [[0.2, 0.4]]))

    assert results.reading(PLACE, FIXED, "accuracy") == pytest.approx((0.3, 0.1, 1))


def test_rankings_that_failed_are_left_out():
    good, bad = role(GRID, 0), role(GRID, 1)
    results = Results([good, bad], scores(good, [[0.1], [0.5]]))

    assert results.curves(PLACE, GRID, "accuracy").tolist() == [[0.1, 0.5]]
    assert results.reading(PLACE, ORACLE, "accuracy").n_rankings == 1


def test_a_place_without_a_score_has_no_reading():
    results = Results([role(FIXED, 0)], [])

    assert results.reading(PLACE, FIXED, "accuracy") is None
    assert np.size(results.curves(PLACE, FIXED, "accuracy")) == 0
