"""Reference results of tests/oracles, as arrays."""

import json
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "oracles"


def read(name):
    """Return the content of one file of reference results."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def inputs(letter):
    """Return data, graphs, kernel and starting points of matrix A or B, as arrays.

    Xc has centred columns, and Xu centred columns scaled to unit norm.
    """
    given = {
        key: np.array(value) if isinstance(value, list) else value
        for key, value in read(f"inputs_{letter}").items()
    }
    given["Xc"] = given["X"] - given["X"].mean(axis=0)
    given["Xu"] = given["Xc"] / np.linalg.norm(given["Xc"], axis=0)
    return given


def runs(method, letter):
    """Return the parameters and results of each run of a method on A or B."""
    content = read(f"{method}_{letter}")
    return [
        ({**content["parameters"], **run["parameters"]}, run["values"])
        for run in content["outputs"]["runs"]
    ]


def all_runs(method):
    """Yield the letter of the matrix and each stored run, as cases of a test."""
    for letter in "AB":
        for run in read(f"{method}_{letter}")["outputs"]["runs"]:
            chosen = (f"{name}={value}" for name, value in run["parameters"].items())
            yield pytest.param(letter, run, id=f"{method} {letter} {' '.join(chosen)}")
