"""The loop that all alternating solvers share."""

from ufselect.solvers.iterations import Iterations


def run(values, **options):
    """Record values until the loop ends; return it."""
    loop = Iterations(**{"max_iter": len(values), "tol": 0.0} | options)
    for iteration in loop:
        loop.record(values[iteration])
    return loop


def test_it_ends_when_little_changes():
    assert run([8.0, 4.0, 2.0, 1.9, 1.0], tol=0.1).history == [8.0, 4.0, 2.0, 1.9]
    assert run([8.0, 4.0, 4.0, 2.0]).converged
    assert not run([8.0, 4.0, 2.0]).converged
    # The first value has none before it, unless the start is known.
    assert len(run([5.0, 3.0], tol=0.1).history) == 2
    assert len(run([5.0, 3.0], tol=0.1, start=5.1).history) == 1


def test_a_change_is_small_beside_the_objective_its_scale_and_rounding():
    values = [1.0, 0.5, 0.4, 0.3]

    assert len(run(values, tol=0.1, scale=4.6).history) == 2
    assert len(run(values, rounding=0.11).history) == 3
    assert len(run([-1.0, -1.05, -2.0], tol=0.1).history) == 2


def test_iterations_of_another_objective_are_not_compared():
    values = [1.0, 1.0, 1.0, 1.0]

    assert len(run(values).history) == 2
    assert len(run(values, n_incomparable=1).history) == 3
    assert len(run(values, n_incomparable=3).history) == 4


def test_a_report_hears_every_iteration_and_may_end_the_loop():
    heard = []

    def report(iteration, value):
        heard.append((iteration, value))
        return iteration == 2

    loop = run([9.0, 7.0, 5.0, 3.0], report=report)

    assert heard == [(0, 9.0), (1, 7.0), (2, 5.0)]
    assert loop.history == [9.0, 7.0, 5.0]
    assert not loop.converged
