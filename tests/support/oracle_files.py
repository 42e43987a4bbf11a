"""Reference numbers kept in tests/oracles, as arrays."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "oracles"


def read(name):
    """Return the content of one file of reference numbers."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def inputs(letter):
    """Return data, graphs, kernel and starts of matrix A or B, as arrays.

    Xc is X with its columns centred, Xu has them scaled to unit norm as well.
    """
    given = {
        key: np.array(value) if isinstance(value, list) else value
        for key, value in read(f"inputs_{letter}").items()
    }
    given["Xc"] = given["X"] - given["X"].mean(axis=0)
    given["Xu"] = given["Xc"] / np.linalg.norm(given["Xc"], axis=0)
    return given


def runs(method, letter):
    """Return parameters and values of each run of a method on A or B."""
    content = read(f"{method}_{letter}")
    return [
        ({**content["parameters"], **run["parameters"]}, run["values"])
        for run in content["outputs"]["runs"]
    ]


def all_runs(method):
    """Yield the letter of the matrix and the run as stored, for both matrices."""
    for letter in "AB":
        for run in read(f"{method}_{letter}")["outputs"]["runs"]:
            yield letter, run
