"""The command line: what it prints, writes and returns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ufselect import __version__, all_selectors
from ufselect.cli import demo, main
from ufselect.cli.main import NO_SPACE, build_parser


def test_demo_prints_the_table_and_writes_the_picture(tmp_path, capsys):
    output = tmp_path / "kept.svg"
    code = main(["demo", "--output", str(output)])
    printed = capsys.readouterr().out

    assert code == 0
    assert "SCFS keeps F3, F6, F9" in printed
    for method in ("SCFS", "highest variance", "random (mean of 3)", "all features"):
        assert f"\n{method} " in printed
    assert output.read_text(encoding="utf-8").startswith("<svg")


def test_demo_names_the_folder_that_is_missing(tmp_path, capsys):
    code = main(["demo", "--output", str(tmp_path / "absent" / "kept.svg")])
    message = capsys.readouterr().err

    assert code == 1
    assert message.count("\n") == 1
    assert "does not exist" in message


def test_an_output_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    code = main(["demo", "--output", str(tmp_path)])
    message = capsys.readouterr().err

    assert code == 1
    assert message.startswith("ufselect: ")
    assert "Traceback" not in message


def test_interruption_ends_cleanly(monkeypatch, capsys):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    code = main(["demo"])

    assert code == 130
    assert "interrupted" in capsys.readouterr().err


def test_methods_are_listed_with_one_line_each(capsys):
    code = main(["methods"])
    lines = capsys.readouterr().out.splitlines()

    assert code == 0
    assert [line.split()[0] for line in lines] == sorted(all_selectors())


def test_methods_are_listed_as_json(capsys):
    main(["methods", "--json"])

    assert json.loads(capsys.readouterr().out).keys() == all_selectors().keys()


def test_methods_page_is_printed_as_markdown(capsys):
    main(["methods", "--markdown"])

    assert capsys.readouterr().out.startswith("# Methods")


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["demo", "--seed", "x"]])
def test_wrong_usage_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)

    assert exit_info.value.code == 2
    assert "usage: ufselect" in capsys.readouterr().err


def test_version_is_printed_by_the_installed_command():
    command = [sys.executable, "-m", "ufselect", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)

    assert result.stdout.strip() == __version__


@pytest.mark.skipif(sys.platform == "win32", reason="has no head")
def test_a_reader_that_stops_reading_is_no_error():
    command = f"{sys.executable} -m ufselect methods --markdown | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)

    assert result.stdout == "# Methods\n"
    assert result.stderr == ""


def test_demo_as_json_has_the_numbers_of_the_table(tmp_path, capsys):
    code = main(["demo", "--json", "--quiet", "--output", str(tmp_path / "kept.svg")])
    said, noted = capsys.readouterr()
    data = json.loads(said)

    assert (code, noted) == (0, "")
    assert data["toy"] == ["F3", "F6", "F9"]
    assert data["digits"][0]["real_pixels"] == 32


def test_memory_that_is_not_enough_is_one_sentence(monkeypatch, capsys):
    def fail(options):
        raise MemoryError("Unable to allocate 3 TiB")

    monkeypatch.setattr(demo, "run", fail)
    code = main(["demo"])
    message = capsys.readouterr().err

    assert code == 1
    assert message.count("\n") == 1
    assert "not enough memory (Unable to allocate 3 TiB)" in message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ufselect", "completion", "zsh"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == f"ufselect: {NO_SPACE}\n".encode()


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    # One command is quick, and the other loads libraries that might write.
    "command",
    ["completion zsh <&-", "completion zsh >&-", "methods 2>&-"],
)
def test_a_closed_stream_is_no_error(command):
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m ufselect {command}', sys.executable],
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_every_command_takes_json_and_quiet():
    (commands,) = (each for each in build_parser()._actions if each.dest == "command")
    lacking = [
        (name, option)
        for name, command in commands.choices.items()
        for option in ("--json", "--quiet")
        if option not in command._option_string_actions
    ]

    assert lacking == []
