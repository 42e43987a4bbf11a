"""The runner: what it finds, runs, prints and writes."""

import json
from types import SimpleNamespace

import pytest

from studies import runner
from studies.findings import Outcome, Row
from studies.measuring import Spread
from studies.runner import FOLDER, find_studies, minutes_of

STUDY = '''"""{question}"""

DURATION = "a moment"


def measure(settings):
    yield settings
'''
KEPT = Outcome("a kill", 1200, 1150, 50, 0, "20 moments")
LOST = Outcome("a flood", 3, 1, 0, 2)
SLOW = Row("a fit", "k-means", ratio=Spread(3.0, 3.0, 3.0), target=2.0)
FAST = Row("a fit", "k-means", ratio=Spread(1.5, 1.5, 1.5), target=2.0)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Offer two studies, a script and a helper; return what they find, to be set.

    What is found may be an exception. Settings and arguments are kept in ``given``.
    """
    for kind, name, text in (
        ("speed", "speed", STUDY.format(question="Is it fast?")),
        ("reliability", "storms", STUDY.format(question="Does it hold?")),
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


def test_every_file_of_this_project_is_a_study_or_imported_by_one():
    found = find_studies()
    paths = list(FOLDER.rglob("*.py"))
    text = "".join(path.read_text("utf-8") for path in paths)
    others = {path.stem for path in FOLDER.glob("*/*.py")} - set(found)

    assert {"guard", "label_free", "mutants", "security"} <= set(found)
    assert all(f"{name} import" in text or f"import {name}" in text for name in others)


def test_every_study_of_this_project_says_how_long_it_takes_and_its_command():
    for study in find_studies().values():
        text = study.path.read_text("utf-8")
        assert study.duration, study.name
        assert f"python -m studies {study.name}" in text, study.name
        assert study.measured or "def main(arguments" in text, study.name


@pytest.mark.parametrize(
    ("duration", "minutes"), [("3 minutes", 3.0), ("half a minute", 0.5), ("", 0.5)]
)
def test_durations_are_added_up(duration, minutes):
    assert minutes_of(duration) == minutes


def test_settings_reach_the_study(answers, capsys):
    options = ["--quick", "--repeats", "9", "--sets", "a,b", "--seed", "7"]

    runner.main(["speed", *options])
    runner.main(["speed"])

    quick, usual = answers.given
    assert (quick.repetitions(3), quick.count(500, 5), quick.seed) == (9, 5, 7)
    assert quick.names_of_sets(["c"], quick=["d"]) == ("a", "b")
    assert quick.options() == " ".join(options)
    assert (usual.repetitions(5), usual.count(500, 5)) == (5, 500)
    assert usual.options() == ""


def test_without_a_name_it_is_said_first_what_will_be_run(answers, capsys):
    assert runner.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("storms  a moment  Does it hold?\nspeed   a moment  Is ")
    assert "2 studies, about 1 minutes" in printed
    assert "script" not in printed


def test_a_kind_stands_for_its_studies(answers, capsys):
    assert runner.main(["reliability", "--check"]) == 0
    printed = capsys.readouterr().out
    assert "a kill: 1,200 tried, 1,150 answered, 50 refused, 0 lost; 20 mom" in printed
    assert "Is it fast?" not in printed


def test_a_script_gets_its_options_and_among_others_only_quick(answers, capsys):
    assert runner.main(["script", "--parts", "speed", "--sets", "a"]) == 0
    assert runner.main(["script", "speed", "--quick", "--repeats", "2"]) == 0
    own, quick, settings = answers.given
    assert own == ["--parts", "speed", "--sets", "a"]
    assert quick == ["--quick"]
    assert settings.repeats == 2


def test_an_unknown_name_is_answered_with_those_that_are_known(answers, capsys):
    assert runner.main(["sped"]) == 2
    assert capsys.readouterr().err == (
        "studies: nothing here is called 'sped'; use one of reliability, speed, "
        "script, storms.\n"
    )


def test_results_are_written_and_pages_are_made_from_what_was_written(answers, capsys):
    written, folder = answers.folder / "results.json", answers.folder / "pages"
    folder.mkdir()
    pages = [answers.folder / "a.md", answers.folder / "b.md"]

    runner.main(["--json", str(written), "--markdown", str(pages[0])])
    runner.main(["--read", str(written), "--markdown", str(pages[1])])
    runner.main(["--read", str(written), "--markdown", str(folder)])

    ratios, outcomes = (folder / f"{name}.md" for name in ("benchmarks", "reliability"))
    assert "| 1.50 |" in ratios.read_text()
    assert "| a kill | 1,200 |" in outcomes.read_text()
    assert pages[0].read_text() == ratios.read_text() + "\n" + outcomes.read_text()
    assert pages[1].read_text() == pages[0].read_text()


def test_what_was_found_is_written_before_the_next_trial(answers, capsys):
    written, seen = answers.folder / "results.json", []

    class Looking(list):
        def __iter__(self):
            for row in (KEPT, KEPT, KEPT):
                seen.append(len(json.loads(written.read_text())[0]["rows"]))
                yield row

    answers.storms = Looking()

    runner.main(["storms", "--json", str(written)])

    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "rows", "options", "message"),
    [
        ("speed", [SLOW], ["--check"], "speed: a fit took 3 times as long as k-means"),
        ("storms", [LOST], ["--check"], "storms: a flood: 2 of 3 lost."),
        ("speed", [SLOW], [], ""),
        ("storms", [LOST], [], ""),
        ("speed", [FAST], ["--check"], ""),
        ("storms", [KEPT], ["--check"], ""),
    ],
)
def test_a_missed_target_and_a_loss_fail_only_when_checked(
    answers, capsys, name, rows, options, message
):
    setattr(answers, name, rows)

    assert runner.main([name, *options]) == bool(message)
    complaint = capsys.readouterr().err
    assert complaint.startswith(message)
    assert bool(complaint) == bool(message)


def test_what_was_found_before_a_stop_is_kept(answers, capsys):
    answers.speed = [FAST, KeyboardInterrupt()]
    written = answers.folder / "results.json"

    assert runner.main(["speed", "storms", "--json", str(written)]) == 130
    (result,) = json.loads(written.read_text())
    assert [row["what"] for row in result["rows"]] == ["a fit"]
    assert "what was found is kept" in capsys.readouterr().err


def test_a_study_that_fails_says_why_and_does_not_stop_the_others(answers, capsys):
    answers.speed = [ValueError("no data: set UFSELECT_DATA")]

    assert runner.main(["speed", "storms"]) == 2
    printed = capsys.readouterr()
    assert printed.err == "studies: no data: set UFSELECT_DATA\n"
    assert "a kill: 1,200 tried" in printed.out


def test_a_trial_that_breaks_down_is_a_loss_and_what_it_found_is_kept(answers, capsys):
    answers.storms = [KEPT, RuntimeError("no such storm")]

    assert runner.main(["storms", "--check"]) == 1
    said = capsys.readouterr()
    assert "a kill: 1,200 tried, 1,150 answered, 50 refused, 0 lost" in said.out
    assert "the trial itself: 1 of 1 lost (RuntimeError: no such storm)." in said.err
