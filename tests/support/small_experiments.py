"""A small experiment on planted sets, and its store."""

import sqlite3
from contextlib import closing

import numpy as np
from scipy.io import savemat

from ufselect.experiments.plan import parse_plan
from ufselect.experiments.run import run_plan
from ufselect.experiments.runs import Located


def small_plan(**changes):
    content = {
        "name": "small",
        "sets": ["one", "two"],
        "features": [3, 6],
        "judge": {"repetitions": 2, "restarts": 2},
        "methods": [
            {
                "selector": "SCFS",
                "parameters": {"n_clusters": 3, "max_iter": 20},
                "grid": {"alpha": [1.0, 10.0], "beta": [0.01, 0.1]},
                "seeds": 2,
            },
            {"selector": "LaplacianScore"},
        ],
    }
    return parse_plan({**content, **changes})


def planted_sets(folder, names=("one", "two"), n_columns=12, n_useful=4):
    """Write data sets with three groups in the first columns, under these names."""
    paths = {}
    for seed, name in enumerate(names):
        random = np.random.default_rng(seed)
        classes = np.repeat([1, 2, 3], 10)
        table = random.normal(size=(30, n_columns))
        table[:, :n_useful] += 4 * random.normal(size=(3, n_useful))[classes - 1]
        paths[name] = folder / f"{name}.mat"
        savemat(paths[name], {"X": table, "Y": classes[:, np.newaxis]})
    return Located(paths, {})


def query(path, statement):
    """Return rows of a store."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def change(path, *statements):
    """Change a store directly, without ufselect."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def content(path):
    """Return the content of a store that must not change, without times and memory."""
    runs = query(
        path,
        "SELECT key, judge, set_name, selector, parameters, seed, status, reason, "
        "feature_order, history FROM runs ORDER BY key, judge",
    )
    return runs, query(path, "SELECT * FROM scores ORDER BY 1, 2, 3, 4, 5")


def run_in_process(path, located, plan_changes):
    run_plan(small_plan(**plan_changes), path, located, n_jobs=2)
