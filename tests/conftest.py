"""What several test modules share: planted data and the folder of public data."""

from typing import NamedTuple

import numpy as np
import pytest
from browser import Browser, find_chromium

import ufselect.data

# Files and folders whose tests start processes, or run documents and studies.
SLOW_PATHS = (
    "studies",
    "test_completion.py",
    "test_document_commands.py",
    "test_documents.py",
    "test_examples.py",
    "test_packaging.py",
    "test_processes.py",
    "test_scfs_cluster.py",
    "test_site.py",
    "test_worker_pool.py",
)


def pytest_collection_modifyitems(items):
    """Mark what only ``scripts/test --all`` runs."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"browser", "data_folder"} or set(SLOW_PATHS) & set(
            item.path.parts
        ):
            item.add_marker(pytest.mark.slow)


class Planted(NamedTuple):
    """Samples of three clusters that only the informative columns tell apart."""

    X: np.ndarray
    labels: np.ndarray
    informative: np.ndarray


def plant(n_samples, n_features, *, n_informative=10, distance=3.0, seed=0):
    random = np.random.RandomState(seed)
    labels = np.arange(n_samples) % 3
    X = random.standard_normal((n_samples, n_features))
    informative = np.sort(random.permutation(n_features)[:n_informative])
    turns = np.arange(n_informative)
    levels = distance * np.array([-1.0, 0.0, 1.0])
    X[:, informative] += levels[(labels[:, np.newaxis] + turns) % 3]
    return Planted(X, labels, informative)


@pytest.fixture(scope="session")
def data_folder():
    folder = ufselect.data.data_folder()
    if folder is None or not folder.is_dir():
        pytest.skip("no research data; set UFSELECT_DATA to the folder that has it")
    return folder


@pytest.fixture(scope="session")
def planted():
    """Return the function that plants three clusters in a few columns."""
    return plant


@pytest.fixture(scope="session")
def browser():
    """Return a real browser, which opens one page after the other."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium found; install the package chromium")
    browser = Browser(path)
    yield browser
    browser.close()
