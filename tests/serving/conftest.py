"""A server for all tests of the room, which takes tables of up to two megabytes."""

import io

import numpy as np
import pytest
from page_server import MOST_BYTES, PageServer


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    for package in ("starlette", "uvicorn"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("server")
    with PageServer(folder, "--max-upload", MOST_BYTES) as server:
        yield server


@pytest.fixture(scope="session")
def endless():
    """Return a table and choices that keep a run busy for longer than any test."""
    stream = io.BytesIO()
    np.save(stream, np.random.RandomState(0).standard_normal((150, 600)))
    return stream.getvalue(), {"method": "UDFS", "features": "5", "effort": "thorough"}
