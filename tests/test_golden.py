"""Every method finds what it found when ``golden.json`` was written."""

import json

import golden
import numpy as np
import pytest

REFERENCES = json.loads(golden.FILE.read_text(encoding="utf-8"))

# Relative tolerance of the final objective, tolerance of scores as a share of the
# largest, and how many of the best 50 features (of half, if that is fewer) may differ.
USUAL = (1e-6, 1e-5, 0)
TOLERANCES = {
    # Stops at a relative decrease of 1e-5: another way down ends a little elsewhere.
    "SCFS": (1e-4, 5e-2, 1),
    "SCFS random": (1e-4, 5e-2, 1),
    "SCFS no intercept": (1e-4, 5e-2, 1),
}


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in golden.RESEARCH]


@pytest.mark.parametrize("name", [*golden.PLANTED, *SLOW])
def test_results_are_those_of_the_golden_file(name):
    X = golden.table(name)
    if X is None:
        pytest.skip(f"no {name}.mat; set UFSELECT_DATA to the folder that has it")
    if name in golden.PLANTED:
        pytest.importorskip("dask.array")

    differences = [
        difference
        for key in golden.cases([name])
        for difference in differences_of(X, key)
    ]

    assert differences == []


def differences_of(X, key):
    """Yield a sentence for everything that is not as it was."""
    label = " / ".join(key)
    if label not in REFERENCES:
        yield f"{label}: is not in the golden file; run python tests/golden.py"
        return
    old, new = REFERENCES[label], golden.result(X, *key[1:])
    of_objective, of_scores, n_different = TOLERANCES.get(key[2], USUAL)
    if old["objective"] is not None:
        change = new["objective"] / old["objective"] - 1 if old["objective"] else 0.0
        if abs(change) > of_objective:
            yield f"{label}: the objective changed by {100 * change:.3g} %"
    before, after = np.array(old["scores"]), np.array(new["scores"])
    change = np.abs(after - before).max() / np.abs(before).max()
    if change > of_scores:
        yield f"{label}: a score changed by {change:.3g} of the largest"
    n_best = min(50, len(before) // 2)
    missing = set(old["order"][:n_best]) - set(new["order"][:n_best])
    if len(missing) > n_different:
        yield f"{label}: {len(missing)} of the best {n_best} features are others"


def test_every_method_is_in_the_golden_file():
    names = {key.split(" / ")[2] for key in REFERENCES}

    assert names == set(golden.selectors())
