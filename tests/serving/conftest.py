"""A server for all tests of the room, which takes tables of up to two megabytes."""

import pytest
from page_server import MAX_BYTES, PageServer


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    for package in ("starlette", "uvicorn"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("server")
    with PageServer(folder, "--max-upload", MAX_BYTES / 1e9) as server:
        yield server
