"""The runner: what it finds, runs, prints and writes."""

import json
from types import SimpleNamespace

import pytest

from studies import findings, runner
from studies.findings import Outcome, Row
from studies.measuring import Spread
from studies.runner import FOLDER, find_studies, minutes_of

STUDY = '"""{}"""\nDURATION = "a moment"\ndef measure(settings): yield settings\n'
KEPT = Outcome("a kill", 1200, 1150, 50, 0, "20 moments")
LOST = Outcome("a flood", 3, 1, 0, 2)
SLOW = Row("a fit", "k-means", ratio=Spread(3.0, 3.0, 3.0), target=2.0)
FAST = Row("a fit", "k-means", ratio=Spread(1.5, 1.5, 1.5), target=2.0)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Offer two studies, a script and a helper; return what they find, to be set."""
    for kind, name, text in (
        ("speed", "speed", STUDY.format("Is it fast?")),
        ("reliability", "storms", STUDY.format("Does it hold?")),
        ("quality", "script", '"""What does\nit print?"""\n'),
        ("quality", "helper", '"""Helps."""\n'),
    ):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / f"{name}.py").write_text(text)
    found = find_studies(tmp_path)
    answers = SimpleNamespace(speed=[FAST], storms=[KEPT], given=[], folder=tmp_path)

    def load(study):
        def measure(settings):
            answers.given.append(settings)
            for row in getattr(answers, study.name):
                if isinstance(row, BaseException):
                    raise row
                yield row

        return SimpleNamespace(measure=measure, main=answers.given.append)

    monkeypatch.setattr(runner, "find_studies", lambda: found)
    monkeypatch.setattr(runner, "load", load)
    monkeypatch.setattr(runner, "describe_machine", dict)
    monkeypatch.setattr(runner, "sentence", lambda machine: "a machine")
    monkeypatch.setattr("studies.findings.sentence", lambda machine: "a machine")
    return answers


def test_studies_are_files_that_begin_with_a_question(answers, capsys):
    found = find_studies(answers.folder)

    assert list(found) == ["script", "storms", "speed"]
    assert found["script"].question == "What does it print?"
    assert found["speed"].duration == "a moment"
    assert [each.measured for each in found.values()] == [False, True, True]
    assert runner.main(["--list"]) == 0
    assert "speed   a moment  Is it fast?" in capsys.readouterr().out
    assert [minutes_of(each) for each in ("3 minutes", "half a minute")] == [3.0, 0.5]


def test_every_file_is_a_study_or_imported_by_one_and_says_how_to_run_it():
    found = find_studies()
    text = "".join(path.read_text("utf-8") for path in FOLDER.rglob("*.py"))
    others = {path.stem for path in FOLDER.glob("*/*.py")} - set(found)

    assert {"guard", "label_free", "mutants", "security"} <= set(found)
    assert all(f"{name} import" in text or f"import {name}" in text for name in others)
    for study in found.values():
        text = study.path.read_text("utf-8")
        assert study.duration, study.name
        assert f"python -m studies {study.name}" in text, study.name
        assert study.measured or "def main(arguments" in text, study.name


def test_settings_reach_the_study_and_scripts_get_options_of_their_own(answers, capsys):
    options = ["--quick", "--repeats", "9", "--sets", "a,b", "--seed", "7"]

    others = (
        "speed",
        "script --parts speed --sets a",
        "script speed --quick --repeats 2",
    )
    for arguments in (["speed", *options], *map(str.split, others)):
        assert runner.main(arguments) == 0

    quick, usual, own, among_others, settings = answers.given
    assert (quick.repetitions(3), quick.count(500, 5), quick.seed) == (9, 5, 7)
    assert quick.names_of_sets(["c"], quick=["d"]) == ("a", "b")
    assert quick.options() == " ".join(options)
    assert (usual.repetitions(5), usual.count(500, 5)) == (5, 500)
    assert usual.options() == ""
    assert own == ["--parts", "speed", "--sets", "a"]
    assert among_others == ["--quick"]
    assert settings.repeats == 2


def test_names_are_of_studies_or_kinds_and_all_are_run_without(answers, capsys):
    assert runner.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("storms  a moment  Does it hold?\nspeed   a moment  Is ")
    assert "2 studies, about 1 minutes" in printed
    assert "script" not in printed
    assert runner.main(["reliability", "--check"]) == 0
    printed = capsys.readouterr().out
    assert "a kill: 1,200 tried, 1,150 right result, 50 one sentence, 0 cr" in printed
    assert "Is it fast?" not in printed
    assert runner.main(["sped"]) == 2
    assert capsys.readouterr().err == (
        "studies: nothing here is called 'sped'; use one of reliability, speed, "
        "script, storms.\n"
    )


def test_results_are_written_row_by_row_and_pages_are_made_from_them(
    answers, capsys, monkeypatch
):
    monkeypatch.setitem(findings.PROMISES, "storms", ("It holds.", "Storms."))
    written, folder = answers.folder / "results.json", answers.folder / "pages"
    folder.mkdir()
    pages, seen = [answers.folder / "a.md", answers.folder / "b.md"], []

    class Looking(list):
        def __iter__(self):
            for row in (KEPT, KEPT):
                seen.append(len(json.loads(written.read_text())[0]["rows"]))
                yield row

    answers.storms = Looking()
    runner.main(["--json", str(written), "--markdown", str(pages[0])])
    runner.main(["--read", str(written), "--markdown", str(pages[1])])
    runner.main(["--read", str(written), "--markdown", str(folder)])

    ratios, outcomes = (folder / f"{name}.md" for name in ("benchmarks", "reliability"))
    assert seen == [0, 1]
    assert "| 1.50 |" in ratios.read_text()
    assert "| `storms` | 2,400 |" in outcomes.read_text()
    assert pages[0].read_text() == ratios.read_text() + "\n" + outcomes.read_text()
    assert pages[1].read_text() == pages[0].read_text()


@pytest.mark.parametrize(
    ("name", "rows", "options", "code", "message"),
    [
        ("speed", [SLOW], ["--check"], 1, "speed: a fit took 3 times as long as k-mea"),
        ("storms", [LOST], ["--check"], 1, "storms: a flood: 2 of 3 lost."),
        ("storms", [KEPT, RuntimeError("no such storm")], ["--check"], 1, "Traceback"),
        ("speed", [SLOW], [], 0, ""),
        ("storms", [KEPT], ["--check"], 0, ""),
        ("speed", [ValueError("no data")], [], 2, "studies: no data\n"),
        ("speed", [FAST, KeyboardInterrupt()], [], 130, "studies: stopped; what was"),
    ],
)
def test_misses_and_losses_fail_when_checked_and_what_was_found_is_kept(
    answers, capsys, name, rows, options, code, message
):
    setattr(answers, name, rows)
    written = answers.folder / "results.json"

    # What fails does not stop the others, but for Ctrl-C.
    assert runner.main([name, "storms", "--json", str(written), *options]) == code
    said = capsys.readouterr()
    assert said.err.startswith(message)
    assert bool(said.err) == bool(message)
    assert ("a kill: 1,200 tried" in said.out) == (code != 130 and LOST not in rows)
    found = json.loads(written.read_text())[0]["rows"]
    assert code == 2 or found[0]["what"] == rows[0].what
