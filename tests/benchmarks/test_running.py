"""The runner: what it finds, runs, prints and writes."""

import importlib
import json
from types import SimpleNamespace

import pytest
import running
from finding import find_benchmarks, minutes_of
from measuring import Spread
from outcomes import Result, Row

BENCHMARK = '''"""Is it fast?"""

DURATION = "a moment"


def measure(settings):
    yield settings
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Offer one measured benchmark, a script and a helper, and no real machine."""
    (tmp_path / "speed.py").write_text(BENCHMARK)
    (tmp_path / "script.py").write_text('"""What does\nit print?"""\nprint("ran")\n')
    (tmp_path / "helper.py").write_text('"""Helps."""\n')
    found = find_benchmarks(tmp_path)
    monkeypatch.setattr(running, "find_benchmarks", lambda: found)
    monkeypatch.setattr(running, "describe_machine", dict)
    monkeypatch.setattr(running, "sentence", lambda machine: "a machine")
    monkeypatch.setattr("outcomes.sentence", lambda machine: "a machine")
    return tmp_path


def answer_with(monkeypatch, ratio):
    """Let the benchmark find this ratio, and return the settings it is given."""
    given = []

    def measure(settings):
        given.append(settings)
        spread = Spread(ratio, ratio, ratio)
        yield Row("a fit", "k-means", ratio=spread, target=2.0)

    module = SimpleNamespace(measure=measure)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    return given


def test_benchmarks_are_files_that_begin_with_a_question(folder):
    found = find_benchmarks(folder)

    assert list(found) == ["script", "speed"]
    assert found["speed"].question == "Is it fast?"
    assert found["script"].question == "What does it print?"
    assert found["speed"].duration == "a moment"
    assert [each.measured for each in found.values()] == [False, True]


def test_the_list_has_names_durations_and_questions(folder, capsys):
    assert running.main(["--list"]) == 0
    assert "speed   a moment  Is it fast?" in capsys.readouterr().out


def test_every_file_of_this_project_is_a_benchmark_or_imported_by_one():
    folder = running.Path(running.__file__).parent
    found = find_benchmarks()
    texts = [path.read_text("utf-8") for path in folder.glob("*.py")]
    others = {path.stem for path in folder.glob("*.py")} - set(found)
    others -= {"__init__", "__main__"}

    assert {"guard", "scfs_speed", "planted"} <= set(found)
    assert all(any(f"from {name} import" in text for text in texts) for name in others)


def test_settings_reach_the_benchmark(folder, monkeypatch, capsys):
    given = answer_with(monkeypatch, 1.0)

    running.main(["speed", "--quick", "--repeats", "9", "--sets", "a,b"])

    (settings,) = given
    assert (settings.quick, settings.repetitions(3)) == (True, 9)
    assert settings.names_of_sets(["c"], quick=["d"]) == ("a", "b")
    assert settings.options() == "--quick --repeats 9 --sets a,b"


def test_results_are_written_and_a_page_is_made_from_what_was_written(
    folder, monkeypatch, capsys
):
    answer_with(monkeypatch, 1.5)
    written, pages = folder / "results.json", [folder / "a.md", folder / "b.md"]

    running.main(["speed", "--json", str(written), "--markdown", str(pages[0])])
    running.main(["--read", str(written), "--markdown", str(pages[1])])

    assert json.loads(written.read_text())[0]["rows"][0]["ratio"]["median"] == 1.5
    assert "| 1.50 |" in pages[0].read_text()
    assert pages[1].read_text() == pages[0].read_text()


@pytest.mark.parametrize(
    ("ratio", "options", "code"),
    [(3.0, ["--check"], 1), (3.0, [], 0), (1.0, ["--check"], 0)],
)
def test_a_missed_target_fails_only_when_checked(
    folder, monkeypatch, capsys, ratio, options, code
):
    answer_with(monkeypatch, ratio)

    assert running.main(["speed", *options]) == code
    complaint = capsys.readouterr().err
    assert complaint.count("speed: a fit took 3 times as long as k-means") == code


def test_a_script_prints_its_own_tables(folder, capfd):
    assert running.main(["script"]) == 0
    assert capfd.readouterr().out == "ran\n"


def test_an_unknown_name_is_answered_with_those_that_are_known(folder, capsys):
    assert running.main(["sped"]) == 2
    message = "benchmarks: nothing here is called 'sped'; use one of script, speed.\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(("load", "warned"), [(7.4, True), (1.5, False), (None, False)])
def test_a_page_from_a_busy_machine_says_so(load, warned, monkeypatch):
    monkeypatch.setattr("outcomes.sentence", lambda machine: "a machine")
    machine = {"cores": 2, "load_before": load}
    result = Result("speed", "Is it fast?", "", machine, (Row("a fit", "k-means"),))

    assert ("was busy**: up to 7.4 processes" in running.page([result])) is warned


def test_without_a_name_it_is_said_first_what_will_be_run(folder, monkeypatch, capsys):
    answer_with(monkeypatch, 1.0)

    assert running.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("speed  a moment  Is it fast?\n\n1 benchmarks, about ")
    assert "script" not in printed


@pytest.mark.parametrize(
    ("duration", "minutes"), [("3 minutes", 3.0), ("half a minute", 0.5), ("", 0.5)]
)
def test_durations_are_added_up(duration, minutes):
    assert minutes_of(duration) == minutes


def test_what_was_measured_before_a_stop_is_kept(folder, monkeypatch, capsys):
    def measure(settings):
        yield Row("a fit", "k-means")
        raise KeyboardInterrupt

    module = SimpleNamespace(measure=measure)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    written = folder / "results.json"

    assert running.main(["speed", "--json", str(written)]) == 130
    (result,) = json.loads(written.read_text())
    assert [row["what"] for row in result["rows"]] == ["a fit"]
    assert "what was measured is kept" in capsys.readouterr().err


def test_a_benchmark_that_fails_does_not_stop_the_others(folder, monkeypatch, capfd):
    def measure(settings):
        raise ValueError("no data: set UFSELECT_DATA")

    module = SimpleNamespace(measure=measure)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)

    assert running.main(["speed", "script"]) == 2
    printed = capfd.readouterr()
    assert printed.err == "benchmarks: no data: set UFSELECT_DATA\n"
    assert "ran\n" in printed.out


def test_a_script_is_told_to_be_quick(folder, capfd):
    (folder / "script.py").write_text("import sys; print(sys.argv[1:])")

    assert running.main(["script", "--quick"]) == 0
    assert capfd.readouterr().out == "['--quick']\n"


def test_every_benchmark_of_this_project_says_how_long_it_takes():
    found = find_benchmarks().values()

    assert [each.name for each in found if not each.duration] == []
