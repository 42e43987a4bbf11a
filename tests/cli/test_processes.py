"""The real command in a process of its own: pipes, interruption, exit codes."""

import contextlib
import io
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from real_command import COMMAND, run
from signals import heed_signals
from small_tables import CHOSEN, small_frame, users_table, write_frame

import ufselect

SOURCE = str(Path(ufselect.__file__).parents[1])
# Moments at which the time goes by: the last module to have been loaded.
MOMENTS = ("click", "numpy", "ufselect.data.tables.detection")


def test_standard_input_becomes_standard_output(tmp_path):
    file = write_frame(tmp_path / "a.parquet", small_frame())
    done = run(["select", "-", "-k", "3", "-o", "-"], stdin=file.read_bytes())
    frame = pd.read_parquet(io.BytesIO(done.said))

    assert done.code == 0
    assert frame.columns.tolist() == ["id", *CHOSEN, "kind"]
    assert "\nstandard input: AutoSelect chose 3 of 12" in done.complaint


def on_a_terminal(arguments, folder):
    """Run the command on a terminal of 24 lines and 80 columns; return its text."""
    import fcntl
    import pty
    import termios

    terminal, other_end = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {name: os.environ[name] for name in os.environ if name != "COLUMNS"}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        cwd=folder,
        env={**variables, "TERM": "xterm", "PYTHONPATH": SOURCE},
    )
    os.close(other_end)
    text = b""
    # At its end there is nobody at the other end, which is an error on Linux.
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 4096):
            text += part
    os.close(terminal)
    assert process.wait() == 0
    return text.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminal")
@pytest.mark.parametrize(
    ("arguments", "style", "sentence"),
    [
        (
            ["select", "genes.csv", "--labels", "diagnosis", "--no-files"],
            "1;3[23]",
            "Use this selection",
        ),
        (["compare", "genes.csv", "--labels", "diagnosis"], "1", "By NMI, "),
        (["look", "genes.csv"], "1;32", "20 features of 30 samples to select from."),
        (["methods"], "", "AutoSelect"),
        (["demo"], "1;32", "AutoSelect found 20 of the 20 features that show groups."),
        (["demo", "--write", "new.csv"], "", "Wrote new.csv: 80 patients, 500 genes"),
    ],
)
def test_a_terminal_of_80_columns_and_24_lines_shows_it_all(
    tmp_path, arguments, style, sentence
):
    if arguments[0] in ("select", "compare", "look"):
        table = users_table()
        # Names as long as some are, and fewer of them.
        table = re.sub(r"gene_(\d+)", r"a_long_name_of_gene_number_\1", table)
        (tmp_path / "genes.csv").write_text(table)
    text = on_a_terminal(arguments, tmp_path)
    # What is left of a line that is rewritten.
    shown = [line.split("\r")[-1] for line in text.replace("\r\n", "\n").split("\n")]
    lines = [re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", line) for line in shown]
    # A bar of progress is erased in the end.
    lines = [line for line in lines if not re.match("[━╸╺]", line)]
    if style:
        assert re.search(rf"\x1b\[{style}m{re.escape(sentence)}", text)
    assert sentence in " ".join(" ".join(lines).split())
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_interruption_keeps_what_is_complete_and_says_so(tmp_path):
    table = np.random.RandomState(0).standard_normal((150, 600))
    np.save(tmp_path / "a.npy", table)
    output, scores = tmp_path / "o.npy", tmp_path / "scores.csv"
    files = ["-o", output, "--scores", scores, "--report", tmp_path / "page.html"]
    process = subprocess.Popen(
        [
            *(*COMMAND, "select", str(tmp_path / "a.npy"), "--method", "UDFS"),
            *("-k", "5", "--effort", "thorough", *map(str, files)),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    # Scores are there long before the many fits of a thorough page are.
    while not scores.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate()
    last = complaint.splitlines()[-1]

    assert process.returncode == 130
    assert said == ""
    assert last.startswith(f"ufselect: interrupted; {output}")
    assert last.endswith("complete, nothing else was written")
    assert "Traceback" not in complaint
    assert np.load(output).shape == (150, 5)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("a.npy", "o.npy", "scores.csv"),
    }


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
@pytest.mark.parametrize("module", MOMENTS)
def test_interruption_at_the_very_start_is_one_sentence(tmp_path, module):
    # However late the signal comes, the command still waits for the table.
    process = subprocess.Popen(
        [
            *(sys.executable, "-X", "importtime", "-m", "ufselect", "select", "-"),
            *("--report", str(tmp_path / "page.html"), "-o", str(tmp_path / "o.csv")),
        ],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    # Should the module never come, the test fails rather than waits.
    watch = threading.Timer(60, process.kill)
    watch.start()
    loaded = iter(process.stderr.readline, "")
    next(line for line in loaded if line.split("|")[-1].strip() == module)
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate()
    watch.cancel()
    words = [line for line in complaint.splitlines() if "import time:" not in line]

    assert (process.returncode, said) == (130, "")
    assert words == ["ufselect: interrupted; nothing was written"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_interruption_that_the_shell_ignores_is_ignored(tmp_path):
    np.save(tmp_path / "a.npy", np.random.RandomState(0).standard_normal((20, 30)))
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from ufselect.__main__ import program\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "raise SystemExit(program())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "select", "a.npy", "--quiet", "--no-files"],
        capture_output=True,
        cwd=tmp_path,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
