"""Systems with columns that come and go, against systems solved afresh."""

import numpy as np

from ufselect.solvers.lars import ActiveColumns


def test_systems_are_solved_while_columns_come_and_go():
    random = np.random.RandomState(0)
    model = ActiveColumns(6, 0.1)
    for step in range(30):
        # Grows past the number of samples, shrinks below it, and grows again.
        grow = step < 10 or step >= 18
        if grow:
            model.append(random.standard_normal(6))
        else:
            model.delete(random.randint(model.columns.shape[1]))
        Z = model.columns
        right = random.standard_normal(Z.shape[1])
        expected = np.linalg.solve(Z.T @ Z + 0.1 * np.eye(Z.shape[1]), right)

        np.testing.assert_allclose(model.solve(right), expected, atol=1e-9)


def test_equal_columns_leave_the_ridge():
    column = np.random.RandomState(0).standard_normal(40)
    model = ActiveColumns(40, 1e-3)
    for _ in range(12):
        model.append(column)
    model.delete(5)

    found = model.solve(np.ones(11))

    expected = 1 / (11 * column @ column + 1e-3)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_solution_for_ones_is_kept_while_columns_come_and_go():
    random = np.random.RandomState(1)
    model = ActiveColumns(40, 1e-3)
    for step in range(150):
        # Past the first buffer, and past a root.
        if step < 70 or step % 2:
            model.append(random.standard_normal(40) / 6)
        else:
            model.delete(random.randint(model.columns.shape[1]))
        Z = model.columns
        ones = np.ones(Z.shape[1])
        expected = np.linalg.solve(Z.T @ Z + 1e-3 * np.diag(ones), ones)

        np.testing.assert_allclose(model.even, expected, rtol=1e-8, atol=1e-9)


def test_a_copy_keeps_its_columns():
    random = np.random.RandomState(2)
    model = ActiveColumns(8, 0.1)
    for _ in range(6):
        model.append(random.standard_normal(8))
    kept = model.copy()
    before = kept.columns.copy(), kept.even.copy(), kept.solve(np.arange(6.0))

    model.delete(2)
    model.append(random.standard_normal(8))

    after = kept.columns, kept.even, kept.solve(np.arange(6.0))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
