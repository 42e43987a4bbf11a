"""``ufselect serve`` as a command: what it prints, and how it ends."""

import json
import signal
import socket
import sys
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from one_sentence import refused
from page_server import PageServer
from small_tables import small_frame, write_frame

import ufselect.serving.server
from ufselect.cli import main
from ufselect.cli.serve import serve_command
from ufselect.serving import Settings
from ufselect.serving.server import MAX_RUNS


@pytest.fixture
def needed():
    for package in ("matplotlib", "starlette", "uvicorn"):
        pytest.importorskip(package)


@pytest.fixture
def served(monkeypatch):
    """Serve nothing; return what would have been served, and what was opened."""
    seen = {"opened": []}

    def serve(settings, announce):
        seen["settings"] = settings
        announce("http://127.0.0.1:8000/token/")
        return seen.get("n_runs", 0)

    monkeypatch.setattr(ufselect.serving.server, "serve", serve)
    monkeypatch.setattr(webbrowser, "open", seen["opened"].append)
    return seen


def test_the_address_is_printed_and_opened(served, capsys):
    code = main(["serve"])
    said = capsys.readouterr().out

    assert code == 0
    assert served["opened"] == ["http://127.0.0.1:8000/token/"]
    assert said.startswith("The web page is http://127.0.0.1:8000/token/\n")
    assert said.endswith("Ended; uploads and results were deleted.\n")
    # Scripts get one line, and no browser.
    (address,) = served["opened"]
    assert main(["serve", "--json", "--no-browser"]) == 0
    assert json.loads(capsys.readouterr().out) == {"address": address}
    assert main(["serve", "--quiet", "--no-browser"]) == 0
    assert capsys.readouterr().out == f"{address}\n"
    assert served["opened"] == [address]


def test_options_are_what_the_server_is_told(served, tmp_path, capsys):
    file = write_frame(tmp_path / "a.csv", small_frame())
    served["n_runs"] = 1
    options = ["--port", "8000", "--max-upload", "0.0015", "--jobs", "3"]
    code = main(["serve", str(file), *options])
    settings = served["settings"]

    assert code == 0
    assert settings.file == file
    assert (settings.port, settings.max_upload, settings.n_jobs) == (8000, 1_500_000, 3)
    assert "one run was cut short" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "code", "sentence"),
    [
        ("-", 2, "the web page reads files, not standard input; save the table"),
        ("empty.csv", 1, "empty.csv is empty; export"),
    ],
    ids=["standard input", "empty"],
)
def test_a_file_that_cannot_be_read_is_refused_at_once(
    file, code, sentence, served, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").touch()
    said = refused(capsys, "serve", file, code=code)

    assert said.startswith(f"ufselect: {sentence}")
    assert "settings" not in served


def test_a_port_that_is_taken_is_one_sentence(needed, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = refused(capsys, "serve", "--no-browser", "--port", port)

    assert said.startswith(f"ufselect: port {port} is in use or not allowed; choose")


@pytest.mark.parametrize("package", ["python_multipart", "starlette", "uvicorn"])
def test_what_is_missing_is_named_with_the_remedy(package, monkeypatch, capsys, needed):
    monkeypatch.setitem(sys.modules, package, None)

    assert refused(capsys, "serve", "--no-browser") == (
        f"ufselect: the web page needs {package}; "
        "pip install 'ufselect[serve]' installs it\n"
    )


@pytest.mark.slow
def test_a_file_is_offered_and_read_where_it_is(needed, tmp_path):
    file = write_frame(tmp_path / "my genes.csv", small_frame())
    folder = tmp_path / "server"
    folder.mkdir()
    with PageServer(folder, file, "--jobs", 1) as server:
        given = server.api("settings")["given"]
        run = server.start("given", method="MaxVariance", features="3")
        state = server.wait_for(run, "done", "failed")
        result = server.api(f"runs/{run}/result")
        uploads = list(folder.glob("*/uploads/*"))

    assert given == {"file": "given", "name": str(file), "size": file.stat().st_size}
    assert state["state"] == "done"
    assert result["command"].startswith(
        f"ufselect select '{file}' --method=MaxVariance"
    )
    assert uploads == []
    assert file.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_server_that_is_ended_leaves_no_process_and_no_file(needed, tmp_path, name):
    psutil = pytest.importorskip("psutil")
    table = tmp_path / "a.npy"
    np.save(table, np.random.RandomState(0).standard_normal((150, 600)))
    folder = tmp_path / "server"
    folder.mkdir()
    server = PageServer(folder, table)
    server.upload("a.csv", b"a,b\n1,2\n")
    run = server.start("given", method="UDFS", effort="thorough")
    server.wait_for(run, "running")
    workers = psutil.Process(server.process.pid).children(recursive=True)
    code, _, complaint = server.end(signal.Signals[name])
    _, alive = psutil.wait_procs(workers, timeout=60)

    assert len(workers) >= 1
    assert alive == []
    assert list(folder.iterdir()) == []
    assert complaint == ""
    assert code == (0 if name == "SIGINT" else 128 + signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_files_are_private_and_a_killed_server_leaves_them_to_the_next(
    needed, tmp_path
):
    (tmp_path / "ufselect-serve-link").symlink_to(tmp_path / "precious")
    (tmp_path / "precious").mkdir()
    killed, living = PageServer(tmp_path), PageServer(tmp_path)
    for server in (killed, living):
        file = server.upload("a.csv", small_frame().to_csv(index=False).encode())
        run = server.start(file, method="MaxVariance", features="3")
        assert server.wait_for(run, "done", "failed")["state"] == "done"
    folders = set(tmp_path.glob("ufselect-serve-*/"))
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.rglob("ufselect-*/**/*")}
    killed.end(signal.SIGKILL)
    with PageServer(tmp_path):
        left = set(tmp_path.glob("ufselect-serve-*/"))
    living.end()

    assert len(folders) == 3
    assert modes == {0o600, 0o700}
    assert len(left & folders) == 2  # that of the living one, and what is no folder
    assert sorted(path.name for path in tmp_path.iterdir()) == (
        ["precious", "ufselect-serve-link"]
    )


def test_the_document_has_every_option_and_its_default():
    page = Path(__file__).resolve().parents[2] / "docs" / "serve.md"
    described = page.read_text(encoding="utf-8")
    options = [name for each in serve_command.params for name in each.opts]
    rows = [line for line in described.splitlines() if line.startswith("| `--")]

    assert [name for name in options if name.startswith("--")] == [
        row.split("`")[1].split()[0] for row in rows
    ]
    assert "2 GB without it" in described
    assert "parallel runs, 2 without it" in described
    assert f"The last {MAX_RUNS} looks" in " ".join(described.split())
    assert (Settings().max_upload, Settings().n_jobs) == (2 * 10**9, 2)
