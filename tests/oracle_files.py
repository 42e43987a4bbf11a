"""Reference numbers kept in tests/oracles, as arrays."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "oracles"


def read(name):
    """Return the content of one file of reference numbers."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def inputs(letter):
    """Return data, graphs, kernel and starts of matrix A or B, as arrays."""
    return {
        key: np.array(value) if isinstance(value, list) else value
        for key, value in read(f"inputs_{letter}").items()
    }


def runs(method, letter):
    """Return parameters and values of each run of a method on A or B."""
    content = read(f"{method}_{letter}")
    return [
        ({**content["parameters"], **run["parameters"]}, run["values"])
        for run in content["outputs"]["runs"]
    ]
