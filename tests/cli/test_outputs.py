"""No output replaces an input or another output, whatever names and links are given."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from one_sentence import refused
from real_command import COMMAND
from small_tables import small_frame, write_frame

from ufselect.cli.main import main

FAST = ("-k", "3", "--method", "MaxVariance", "--quiet")
LINKS = {
    "itself": lambda link: None,
    "hard link": lambda link: link.hardlink_to("genes.csv"),
    "symbolic link": lambda link: link.symlink_to("genes.csv"),
    "link to a link": lambda link: (
        Path("between").symlink_to("genes.csv"),
        link.symlink_to("between"),
    ),
    "folder by a link": lambda link: link.parent.symlink_to("."),
    "another way": lambda link: Path("folder").mkdir(),
}
OUTPUTS = {
    "itself": "genes.csv",
    "folder by a link": "here/genes.csv",
    "another way": "folder/../genes.csv",
}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_frame(Path("genes.csv"), small_frame())


def refused_and_kept(capsys, *arguments, code=2):
    """Return why a command is refused; all files are as before."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    sentence = refused(capsys, *arguments, code=code)
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert before == after
    return sentence


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("select", "-o"), id="select -o"),
        pytest.param(("select", "--scores"), id="select --scores"),
        pytest.param(("select", "--report"), id="select --report"),
        pytest.param(("select", "--save-clusters"), id="select --save-clusters"),
        pytest.param(("compare", "--report"), id="compare --report"),
        pytest.param(("compare", "--markdown"), id="compare --markdown"),
    ],
)
def test_no_link_leads_an_output_to_the_input(table, capsys, arguments, kind):
    command, option = arguments
    output = OUTPUTS.get(kind, "out.csv")
    LINKS[kind](Path(output))

    reason = refused_and_kept(capsys, command, "genes.csv", option, output)
    assert f"{output} is a file that this command reads; choose another" in reason


def test_a_link_made_while_the_command_runs_leads_to_no_input(
    table, capsys, monkeypatch
):
    import ufselect.data

    read, before = ufselect.data.read_table, table.read_bytes()

    def read_and_link(*arguments, **keywords):
        Path("out.csv").hardlink_to("genes.csv")
        Path("scores.csv").symlink_to("genes.csv")
        return read(*arguments, **keywords)

    monkeypatch.setattr(ufselect.data, "read_table", read_and_link)
    for option, output in [("-o", "out.csv"), ("--scores", "scores.csv")]:
        reason = refused(capsys, "select", "genes.csv", *FAST, option, output)
        assert f"{output} cannot be written (it is a file that this comm" in reason
        Path("out.csv").unlink()
        Path("scores.csv").unlink()
    assert table.read_bytes() == before


def test_another_command_in_the_same_process_may_write_what_the_last_one_read(table):
    before = table.read_bytes()
    assert main(["look", "genes.csv", "--quiet"]) == 0
    write_frame(Path("other.csv"), small_frame())
    assert main(["select", "other.csv", *FAST, "-o", "genes.csv"]) == 0
    assert table.read_bytes() != before


def test_names_beside_a_matrix_are_inputs_and_outputs(table, capsys):
    from scipy.io import mmwrite

    mmwrite("m.mtx", np.random.default_rng(0).random((12, 9)))
    for name, size in (("m_features.tsv", 9), ("m_barcodes.tsv", 12)):
        Path(name).write_text("".join(f"n{i}\n" for i in range(size)))
    for output in ("m_features.tsv", "m_barcodes.tsv"):
        refused_and_kept(capsys, "select", "m.mtx", "--scores", output)
    # It would write the names of its features over those of m.mtx.
    Path("folder").mkdir()
    Path("folder/m_features.tsv").hardlink_to("m_features.tsv")
    refused_and_kept(capsys, "select", "m.mtx", "-o", "folder/m.mtx")


@pytest.mark.parametrize(
    ("first", "second"),
    [("same.html", "same.html"), ("same.html", "SAME.html"), ("a.html", "b.csv")],
    ids=["one name", "names that differ in case", "hard links"],
)
def test_two_outputs_are_two_files(table, capsys, first, second):
    Path("a.html").write_text("mine")
    Path("b.csv").hardlink_to("a.html")
    reason = refused_and_kept(
        *(capsys, "select", "genes.csv", "--report", first, "--scores", second)
    )
    assert "are the same file; give each output its own" in reason


def test_experiments_replace_no_plan_and_no_store(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = "name = 'tiny'\nsets = ['a']\n"
    Path("plan.toml").write_text(plan)
    for command in (["run", "plan.toml"], ["report", "plan.toml"]):
        refused_and_kept(capsys, *command, "--html", "plan.toml")
        refused_and_kept(capsys, *command, "--markdown", "plan.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("select - -o genes.csv < genes.csv", "genes.csv is a file that this command"),
        ("select /dev/stdin -o genes.csv < genes.csv", "genes.csv is a file that"),
        ("select - -o /dev/stdin < genes.csv", "/dev/stdin is a file that this comm"),
        ("select genes.csv -o - >> genes.csv", "standard output goes into genes.csv"),
        ("select genes.csv -o /dev/stdout >> genes.csv", "standard output goes into"),
        ("look genes.csv >> genes.csv", "standard output goes into genes.csv"),
        ("look - < genes.csv >> genes.csv", "standard output goes into -"),
        ("compare - --report genes.csv < genes.csv", "genes.csv is a file that this"),
    ],
)
def test_no_redirection_leads_an_output_to_the_input(table, command, reason):
    before = table.read_bytes()
    line = f"{' '.join(COMMAND)} {command}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert table.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("structure", [True, False], ids=["table", "ranking"])
def test_runs_started_together_leave_all_their_results(table, structure):
    if not structure:
        noise = np.random.default_rng(0).normal(size=(12, 5))
        np.savetxt("genes.csv", noise, delimiter=",")
    arguments = ["select", "genes.csv", *(FAST if structure else ["--quiet"])]
    runs = [subprocess.Popen([*COMMAND, *arguments]) for _ in range(8)]
    assert [run.wait() for run in runs] == [0] * 8

    kind = "selected" if structure else "ranking"
    marks = ["", *(f"-{number}" for number in range(2, 9))]
    assert {path.name for path in Path().iterdir()} == {
        "genes.csv",
        *(f"genes.{kind}{mark}.csv" for mark in marks),
        *(f"genes.report{mark}.html" for mark in marks),
    }
