"""What all commands share: help, guesses, one-line errors, exit codes, start-up."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import pytest
from one_sentence import refused
from real_command import run
from signals import heeding_ctrl_c
from small_tables import small_frame, write_frame

from ufselect import __version__
from ufselect.cli import demo, main
from ufselect.cli.inputs import Invocation, loading
from ufselect.cli.main import NO_SPACE, program

HEAVY = {"joblib", "matplotlib", "numpy", "pandas", "rich", "scipy", "sklearn"}
COMMANDS = ["select", "look", "compare", "serve", "run", "report", "reproduce"]
COMMANDS += ["methods", "datasets", "demo"]
EXIT_CODES = "0 success, 1 the work failed, 2 wrong usage, 130 interrupted"


def test_without_a_command_the_first_ones_to_try_are_named(capsys):
    assert main([]) == 2
    said, noted = capsys.readouterr()

    assert said == ""
    assert re.findall(r"^  ufselect (\w+)", noted, re.M) == ["select", "look", "serve"]
    assert "ufselect demo --write genes.csv\n" in noted
    assert len(noted.splitlines()) <= 10


def test_help_lists_the_commands_under_headings(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out

    assert re.findall(r"^  ([a-z]+)  +[a-z]", text, re.M) == COMMANDS
    assert re.findall(r"^([A-Z]\w+.*):$", text, re.M) == [
        *("Options", "Start here", "Experiments", "More"),
    ]
    assert EXIT_CODES in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_examples_and_exit_codes_in_80_columns(name, capsys):
    assert main([name, "-h"]) == 0
    text = capsys.readouterr().out

    assert f"\n  ufselect {name}" in text.split("Examples:")[1]
    assert EXIT_CODES in text
    assert {"--json", "--quiet"} <= set(re.findall(r"--[a-z-]+", text))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("selct a.csv", "there is no command 'selct'; did you mean select? (see u"),
        ("zzz", "there is no command 'zzz' (see ufselect --help)"),
        ("--foo", "there is no option --foo (see ufselect --help)"),
        ("select a --lables=x", "no option --lables; did you mean --labels? ("),
        ("select", "FILE is missing (see ufselect select --help)"),
        ("select a b", "got unexpected extra argument (b) (see ufselect sel"),
        ("select a --labels", "option '--labels' requires an argument (see"),
        ("select a --fill max", "--fill: 'max' is not one of 'mean', 'med"),
        ("select a -k 0", "-k/--features: 0 is neither a whole number"),
        ("select a -k inf", "inf is neither a whole number"),
        ("select a -k some", "'some' is not a number of features"),
        ("select a --param alpha", "alpha is not of the form name=value"),
        ("select a --image-shape 32", "write it like 32x32"),
        ("select a --image-shape 0x5", "write it like 32x32"),
        ("select a --clusters 0", "--clusters: 0 is not in the range x>=1"),
        ("select a --seed -1", "--seed: -1 is not in the range 0<=x"),
        ("select a --time-budget 0", "0 is not a time; give a number of"),
        ("select a --time-budget nan", "nan is not a time"),
        ("select a --max-correlation 2", "2.0 is not in the range 0<=x<=1"),
        ("compare a --methods ,", "--methods: give the name of a method"),
        ("demo --seed x", "--seed: 'x' is not a valid integer"),
        ("demo --write a.xlsx", "--write: a.xlsx must end with .csv"),
        ("datasets --fetch", "--fetch needs names of data sets; ufselect data"),
        ("serve --port 65536", "--port: 65536 is not in the range"),
        ("serve --max-upload 2GB", "--max-upload: '2GB' is not a number of gigabytes"),
        (
            "serve --max-upload 0",
            "--max-upload: '0' is not a number of gigabytes",
        ),
        ("serve --jobs 0", "--jobs: 0 is not in the range"),
    ],
    ids=lambda text: text[:30].replace("/", ":"),
)
def test_wrong_usage_is_the_one_line_that_is_wrong(arguments, sentence, capsys):
    complaint = refused(capsys, *arguments.split(), code=2)

    assert sentence in complaint
    assert complaint.endswith(" --help)\n")


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("ufselect sel", "plain,select"),
        ("ufselect select --max", "plain,--max-correlation"),
        ("ufselect select --method La", "plain,LaplacianScore"),
        ("ufselect compare genes.csv --methods SCFS,La", "plain,SCFS,LaplacianScore"),
        ("ufselect select gen", "file,gen"),
    ],
)
def test_shells_complete_with_the_script_of_click(words, word):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "ufselect"],
        capture_output=True,
        text=True,
        env=os.environ | asked | {"_UFSELECT_COMPLETE": "bash_complete"},
    )

    assert (done.stdout.strip(), done.stderr) == (word, "")


def test_values_are_printed_without_control_characters_and_not_at_any_length(capsys):
    complaint = refused(capsys, "select", f"a{'b' * 100_000}c\x1b[31m.csv")

    assert r"c\x1b[31m" in complaint
    assert len(complaint) < 1100


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (KeyboardInterrupt("kept"), 130, "kept"),
        (MemoryError("3 TiB"), 1, "not enough memory (3 TiB); use a smaller"),
        (ValueError("two\nlines"), 1, "two lines"),
        (ImportError("no such package"), 1, "no such package"),
    ],
)
def test_errors_are_one_sentence(error, code, sentence, capsys, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(demo, "_compared", fail)

    complaint = refused(capsys, "demo", "--quiet", code=code)
    assert complaint.startswith(f"ufselect: {sentence}")


def test_demo_opens_with_the_answer(capsys):
    assert main(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["demo", "--json", "--quiet"]) == 0
    said, noted = capsys.readouterr()
    auto, *others = json.loads(said)["methods"]

    assert re.match(r"AutoSelect found \d\d of the 20 features that show", lines[0])
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert noted == ""
    assert auto["useful"] >= 15
    assert all(each["nmi"] < auto["nmi"] for each in others)


def test_the_sample_table_is_one_to_select_from_as_it_stands(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--write", "genes.csv"]) == 0
    first = capsys.readouterr().out
    again = refused(capsys, "demo", "--write", "genes.csv")
    assert main(["demo", "--write", "again.csv", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    text = Path("genes.csv").read_text(encoding="utf-8")
    assert main(["select", "genes.csv", "--json", "--labels", "diagnosis"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert first.endswith("\n  ufselect look genes.csv\n  ufselect select genes.csv\n")
    assert again == ("ufselect: genes.csv already exists; give --write another name\n")
    assert data == {"table": "again.csv", "n_samples": 80, "n_genes": 500}
    assert Path("again.csv").read_text(encoding="utf-8") == text
    assert text.startswith("patient,diagnosis,")
    assert ",," in text
    assert "6 columns" in " ".join(found["reading"])
    assert (found["n_samples"], found["n_features"]) == (80, 494)
    assert found["decision"]["level"] == "use"
    # Those that follow T, B and myeloid cells.
    assert 27 <= found["n_selected"] <= 33
    assert found["labels"]["scores"][0]["accuracy"] > 0.95


def loaded_by(*arguments, folder=None):
    """Return exit code, error and the packages that a command has imported."""
    code = (
        "import sys\n"
        "from ufselect.__main__ import program\n"
        "code = program()\n"
        "print(code, *{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    return int(code), done.stderr, set(modules)


@pytest.mark.parametrize(
    ("arguments", "expected", "sentence"),
    [
        (["--help"], 0, ""),
        (["--version"], 0, ""),
        (["select", "--help"], 0, ""),
        (["selct"], 2, "did you mean select?"),
        (["select", "absent.csv"], 1, "there is no file absent.csv; check the name"),
        (["select", "."], 1, ". is a folder; give the file in it"),
        (["select", "a.csv", "-o", "-", "--json"], 2, "both print to standard output"),
        (
            ["select", "a.csv", "-o", "a.csv"],
            2,
            "a.csv is a file that this command",
        ),
        (["look", "absent.csv"], 1, "there is no file absent.csv"),
        (["look", "a" * 9999], 1, "aaa cannot be opened (File name too long); "),
        (["compare", "absent.csv"], 1, "there is no file absent.csv"),
        (["compare", "a.csv", "--markdown", "no/a.md"], 1, "no does not exist"),
        (["serve", "absent.csv"], 1, "there is no file absent.csv"),
    ],
)
def test_arguments_and_the_file_are_checked_before_anything_heavy_is_loaded(
    tmp_path, arguments, expected, sentence
):
    (tmp_path / "a.csv").touch()
    code, complaint, loaded = loaded_by(*arguments, folder=tmp_path)

    assert code == expected
    assert sentence in complaint
    assert "click" in loaded
    assert not HEAVY & loaded


@pytest.mark.parametrize("command", ["select", "compare", "look"])
def test_a_table_is_read_before_anything_else_is_loaded(tmp_path, command):
    frame = small_frame().astype({"g4": object})
    frame.loc[5, "g4"] = "tall"
    write_frame(tmp_path / "a.csv", frame)
    code, complaint, loaded = loaded_by(command, "a.csv", folder=tmp_path)

    # To look is no error: it says what to do.
    assert code == (command != "look")
    assert ("'tall'" in complaint) == (command != "look")
    assert "matplotlib" not in loaded
    if command != "compare":
        assert not {"sklearn", "pandas", "joblib"} & loaded


def test_ctrl_c_during_an_import_waits_for_its_end(tmp_path, monkeypatch):
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhole = True\n"
    (tmp_path / "interrupting.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    told = []
    context = click.Context(program, obj=Invocation([], lambda: told.append("loaded")))
    with heeding_ctrl_c():
        with context, pytest.raises(KeyboardInterrupt), loading():
            import interrupting  # noqa: F401 - written above
        handler = signal.getsignal(signal.SIGINT)

    assert sys.modules.pop("interrupting").whole
    assert told == []
    assert handler is signal.default_int_handler


def test_version_is_printed_by_the_installed_command():
    assert run(["--version"]).said.decode().strip() == __version__


M = f"{sys.executable} -m ufselect"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        # A reader that stops reading is no error.
        (f"{{ {M} methods; echo code $? >&2; }} | head -c 1", "code 0\n"),
        (f"{{ {M} methods --json; echo code $? >&2; }} | head -c 1", "code 0\n"),
        (f"{{ {M} --help; echo code $? >&2; }} | head -c 1", "code 0\n"),
        # Nor is a closed stream. One command is quick, one loads what might write.
        (f"{M} --help <&-; echo code $? >&2", "code 0\n"),
        (f"{M} --help >&-; echo code $? >&2", "code 0\n"),
        (f"{M} methods 2>&-; echo code $? >&2", "code 0\n"),
        # A full disk is one sentence.
        (f"{M} --help >/dev/full", f"ufselect: {NO_SPACE}\n"),
        (
            f"{M} methods >/dev/full; echo code $? >&2",
            f"ufselect: {NO_SPACE}\ncode 1\n",
        ),
    ],
)
def test_streams_that_are_closed_full_or_not_read(line, complaint):
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)

    assert done.stderr == complaint
    assert len(done.stdout) == 1 or "head" not in line


def test_a_command_runs_in_any_thread(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x,y\n1,2\n2,4\n3,5\n")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(main, ["look", str(file), "--quiet"]).result() == 0
