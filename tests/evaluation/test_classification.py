"""Accuracy of simple classifiers on the selected columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from ufselect.evaluation import judge_by_classification


def naive_scores(columns, classes, n_splits, seed):
    """Scale, fit and count fold by fold; the nearest neighbour by hand."""
    right = np.zeros(2)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    for train, test in folds.split(columns, classes):
        mean, deviation = columns[train].mean(axis=0), columns[train].std(axis=0)
        known, new = (columns[train] - mean) / deviation, (columns[test] - mean)
        new = new / deviation
        nearest = np.linalg.norm(new[:, np.newaxis] - known, axis=2).argmin(axis=1)
        model = LogisticRegression(max_iter=1000).fit(known, classes[train])
        right += [
            np.sum(classes[train][nearest] == classes[test]),
            np.sum(model.predict(new) == classes[test]),
        ]
    return right / len(classes)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_scores_are_those_of_the_naive_folds(planted, convert):
    X, labels, _ = planted(60, 8, n_informative=3, distance=1.0)
    X = X * np.arange(1, 9) + 3
    found = judge_by_classification(convert(X), labels, n_splits=4, seeds=[0, 7])

    assert found == pytest.approx(
        np.array([naive_scores(X, labels, 4, seed) for seed in (0, 7)])
    )
    assert 0.4 < found.min() <= found.max() < 1.0


def test_units_of_columns_do_not_matter(planted):
    X, labels, _ = planted(60, 5, n_informative=3, distance=1.0)
    scores = judge_by_classification(X, labels, seeds=[0])

    # Powers of two change no digit.
    np.testing.assert_array_equal(
        judge_by_classification(X * 2.0 ** np.arange(-2, 3), labels, seeds=[0]), scores
    )


def test_noise_gives_what_chance_gives():
    random = np.random.RandomState(0)
    noise, classes = random.standard_normal((300, 4)), np.arange(300) % 3
    scores = judge_by_classification(noise, classes, seeds=range(2))

    assert scores == pytest.approx(1 / 3, abs=0.08)


def test_classes_smaller_than_the_folds_are_left_out(planted):
    X, labels, _ = planted(60, 6, distance=1.0, n_informative=3)
    names = np.array(["a", "b", "c"])[labels]
    rare = np.concatenate([names, ["d"] * 4])
    padded = np.vstack([X, X[:4] + 9])
    found = judge_by_classification(padded, rare, seeds=[0])

    np.testing.assert_array_equal(found, judge_by_classification(X, names, seeds=[0]))


@pytest.mark.parametrize(
    ("classes", "options", "message"),
    [
        ([0, 0, 1], {}, r"classes has shape \(3,\) but there are 10 samples"),
        ([0] * 8 + [1] * 2, {}, "1 class.* have n_splits=5 members or more"),
        ([0] * 5 + [1] * 5, {"n_splits": 1}, "n_splits=1; ask for at least two"),
    ],
)
def test_bad_input_is_refused(classes, options, message):
    columns = np.arange(20.0).reshape(10, 2)

    with pytest.raises(ValueError, match=message):
        judge_by_classification(columns, classes, **options)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_large_values_in_single_precision_are_judged(convert):
    table = np.repeat([[1e30], [3e30]], 6, axis=0).astype(np.float32)

    scores = judge_by_classification(convert(table), [0] * 6 + [1] * 6, seeds=[0])

    assert scores[0, 0] == 1.0


def test_values_too_large_to_square_are_refused():
    columns = 1e200 * np.arange(20.0).reshape(10, 2)

    with pytest.raises(ValueError, match="whose square is no finite number"):
        judge_by_classification(columns, [0] * 5 + [1] * 5)


def test_samples_are_scaled_before_they_are_classified_if_asked_for():
    random = np.random.default_rng(0)
    columns = random.uniform(1, 2, (40, 5))
    classes = np.repeat([0, 1], 20)
    depth = np.geomspace(1, 100, 40)[random.permutation(40), np.newaxis]
    lengths = np.linalg.norm(columns, axis=1, keepdims=True)
    expected = judge_by_classification(columns / lengths, classes, seeds=[0])
    found = judge_by_classification(
        columns * depth, classes, seeds=[0], standardize="samples"
    )

    assert found == pytest.approx(expected)
