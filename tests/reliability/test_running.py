"""The runner: what it finds, tries, counts and writes."""

import importlib
import json
from types import SimpleNamespace

import pytest

from benchmarks.finding import find_benchmarks
from reliability import running
from reliability.outcomes import Outcome
from reliability.results import Result, losses, page

FAMILY = '''"""Does it hold?"""


def outcomes(settings):
    yield settings
'''
KEPT = Outcome("a kill", 1200, 1150, 50, 0, "20 moments")
LOST = Outcome("a flood", 3, 1, 0, 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Offer one family of abuse and a helper."""
    (tmp_path / "storms.py").write_text(FAMILY)
    (tmp_path / "helper.py").write_text('"""Helps."""\n')
    monkeypatch.setattr(running, "FOLDER", tmp_path)
    return tmp_path


def answer_with(monkeypatch, *outcomes):
    """Let the family end so, and return the settings it is given."""
    given = []

    def answer(settings):
        given.append(settings)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
            yield outcome

    module = SimpleNamespace(outcomes=answer)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    return given


def result_of(*outcomes):
    versions = {"ufselect": "1", "python": "3.11"}
    return Result("storms", "Does it hold?", "--quick", 12.3, versions, outcomes)


def test_a_family_of_abuse_is_a_file_that_begins_with_a_question(folder, capsys):
    assert running.main(["--list"]) == 0
    assert capsys.readouterr().out.split() == ["storms", "Does", "it", "hold?"]


def test_every_family_of_this_project_has_outcomes_and_its_command():
    found = find_benchmarks(running.FOLDER, "outcomes").values()
    texts = {each.name: each.path.read_text("utf-8") for each in found}

    assert all(each.measured for each in found)
    assert all(f"python -m reliability {name}\n" in texts[name] for name in texts)


@pytest.mark.parametrize(("options", "count"), [([], 500), (["--quick"], 5)])
def test_the_profile_says_how_often_to_try(folder, monkeypatch, capsys, options, count):
    given = answer_with(monkeypatch, KEPT)

    running.main(["--seed", "7", *options])

    assert given[0].seed == 7
    assert given[0].count(500, 5) == count


def test_outcomes_are_written_and_a_page_is_made_from_what_was_written(
    folder, monkeypatch, capsys
):
    answer_with(monkeypatch, KEPT)
    written, pages = folder / "results.json", [folder / "a.md", folder / "b.md"]

    running.main(["--json", str(written), "--markdown", str(pages[0])])
    running.main(["--read", str(written), "--markdown", str(pages[1])])

    (content,) = json.loads(written.read_text())
    assert {"python", "numpy", "ufselect"} <= set(content["versions"])
    assert content["outcomes"][0]["answered"] == 1150
    assert pages[1].read_text() == pages[0].read_text()


def test_what_was_found_is_written_before_the_next_trial(folder, monkeypatch, capsys):
    written, seen = folder / "results.json", []

    def answer(settings):
        for _ in range(3):
            seen.append(len(json.loads(written.read_text())[0]["outcomes"]))
            yield KEPT

    module = SimpleNamespace(outcomes=answer)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)

    running.main(["--json", str(written)])

    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    ("outcome", "options", "code"),
    [(LOST, ["--check"], 1), (LOST, [], 0), (KEPT, ["--check"], 0)],
)
def test_a_loss_fails_only_when_checked(
    folder, monkeypatch, capsys, outcome, options, code
):
    answer_with(monkeypatch, outcome)

    assert running.main(options) == code
    assert capsys.readouterr().err.count("storms: a flood: 2 of 3 lost.") == code


def test_a_trial_that_breaks_down_is_a_loss_and_what_it_found_is_kept(
    folder, monkeypatch, capsys
):
    answer_with(monkeypatch, KEPT, RuntimeError("no such storm"))

    assert running.main(["--check"]) == 1
    said = capsys.readouterr()
    assert "a kill: 1,200 tried, 1,150 answered, 50 refused, 0 lost" in said.out
    assert "the trial itself: 1 of 1 lost (RuntimeError: no such storm)." in said.err


def test_a_trial_that_ended_in_no_way_is_a_loss():
    vanished = Outcome("a fog", 10, 8, 1, 0)

    assert losses([result_of(vanished)]) == ["storms: a fog: 1 of 10 lost."]


def test_the_page_says_from_the_numbers_whether_anything_was_lost():
    calm, stormy = page([result_of(KEPT)]), page([result_of(KEPT, LOST)])

    assert "Of 1,200 trials, **none was lost**." in calm
    assert "| a kill | 1,200 | 1,150 | 50 | 0 | 20 moments |" in calm
    assert "    python -m reliability storms --quick\n" in calm
    assert "Of 1,203 trials, **2 were lost**." in stormy
    assert "| **in all** | 1,203 | 1,151 | 50 | 2 |" in stormy
