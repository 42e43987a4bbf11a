"""What several test modules share: planted data and the folder of public data."""

import re
import shutil
from typing import NamedTuple

import numpy as np
import pytest

import ufselect.data

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SLOW_FIXTURES = {"chromium", "page", "data_folder"}
# Files and folders whose tests start processes, or run documents and studies.
SLOW_PATHS = (
    "studies",
    "test_document_commands.py",
    "test_documents.py",
    "test_examples.py",
    "test_in_browser.py",
    "test_packaging.py",
    "test_processes.py",
    "test_reproduce.py",
    "test_scfs_cluster.py",
    "test_second_process.py",
    "test_site.py",
    "test_worker_pool.py",
)


def pytest_collection_modifyitems(items):
    """Mark tests as slow by their fixtures and files."""
    for item in items:
        fixtures = SLOW_FIXTURES & set(getattr(item, "fixturenames", ()))
        if fixtures or set(SLOW_PATHS) & set(item.path.parts):
            item.add_marker(pytest.mark.slow)


def pytest_make_parametrize_id(val):
    """Name a case by its value, (60, 12) or SCFS(), where pytest would number it."""
    is_estimator = hasattr(val, "get_params") and not isinstance(val, type)
    if isinstance(val, tuple | list | dict | range) or is_estimator:
        text = repr(val)
        return text if len(text) <= 80 and not re.search(r" at 0x|\n", text) else None
    return None


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


# Not of the session: while Playwright is open, no other test can run an event loop.
@pytest.fixture(scope="module")
def chromium():
    """Return Playwright's handle of a real browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium found; install the package chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=path,
            chromium_sandbox=False,  # tests may run as root
            args=["--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        launched.close()


@pytest.fixture
def page(chromium):
    """Return a new page; an error in it, or a refused script, fails the test."""
    context = chromium.new_context(accept_downloads=True)
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: said.type == "error" and problems.append(said.text))
    yield page
    context.close()
    assert not problems
