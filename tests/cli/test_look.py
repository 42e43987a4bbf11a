"""``ufselect look``, and the options that say how a table is read."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from small_tables import NAMES, small_frame, write_frame

from ufselect.cli import main

FAST = ["--method", "MaxVariance", "-k", "2", "--no-files"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def looked_at(file, capsys, *options):
    assert main(["look", str(file), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def awkward_frame():
    """Return a table with all that can be in one beside features."""
    frame = small_frame(40)
    random = np.random.default_rng(0)
    frame["target"] = np.arange(40) % 3
    frame["patient"] = [f"p{number // 2}" for number in range(40)]
    frame["rare"] = np.where(np.arange(40) < 30, np.nan, random.normal(size=40))
    frame.loc[3, "g4"] = np.nan
    return frame


def test_it_shows_what_select_would_do_and_the_command_to_run(folder, capsys):
    write_frame(folder / "study.csv", awkward_frame())
    assert main(["look", "study.csv"]) == 0
    said, noted = capsys.readouterr()
    lines = said.splitlines()
    data = looked_at("study.csv", capsys)
    roles = {each["name"]: each["role"] for each in data["columns"]}
    (command,) = (line.strip() for line in lines if "ufselect select" in line)

    assert noted == ""
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0] == "study.csv: text, 40 rows, 17 columns."
    assert lines[1].startswith("Not yet: study.csv has missing or infinite values in")
    assert "4 more notes: see them with -v." in lines
    assert lines[-1].strip() == command == data["command"]
    assert (data["n_rows"], data["n_columns"], data["n_features"]) == (40, 17, 12)
    assert roles["id"] == "sample names"
    assert roles["target"] == "label"
    assert roles["rare"] == roles["patient"] == "left out"
    assert {roles[name] for name in NAMES} == {"feature"}
    assert list(folder.iterdir()) == [folder / "study.csv"]
    # The command works as it is printed.
    program, *words = shlex.split(command)
    assert program == "ufselect"
    assert main([*words, *FAST]) == 0
    capsys.readouterr()
    # What is asked for settles the missing values, and is in the command.
    for asked in ("--fill=zero", "--drop-incomplete=rows"):
        settled = looked_at("study.csv", capsys, asked)
        assert (settled["problem"], settled["remedies"]) == (None, [])
        assert settled["command"].endswith(f" {asked}")


def test_verbose_has_every_column_and_its_reason(folder, capsys):
    write_frame(folder / "study.csv", awkward_frame())
    asked = ["--groups", "patient", "--use-column", "target", "--drop", "kind"]
    assert main(["look", "study.csv", "-v", *asked]) == 0
    said = capsys.readouterr().out
    rows = {
        line.split()[0]: line for line in said.splitlines() if line and line[0] != " "
    }

    assert all(name in rows for name in [*NAMES, "id", "kind", "rare", "patient"])
    assert " group " in rows["patient"]
    assert " feature " in rows["target"]
    assert " left out " in rows["kind"]
    assert rows["rare"].endswith("It is mostly missing.")
    assert "more notes" not in said
    for option in ("--groups=patient", "--use-column=target", "--drop=kind"):
        assert option in said.splitlines()[-1]


def test_a_transposed_table_is_shown_as_it_would_be_read(folder, capsys):
    frame = small_frame()[NAMES].T
    frame.columns = [f"patient {number}" for number in range(24)]
    frame.to_csv("genes.csv", index_label="gene")
    data = looked_at("genes.csv", capsys, "--transpose")
    main(["look", "genes.csv", "--transpose"])
    said = capsys.readouterr().out
    # A name that looks like an option is not one.
    write_frame(folder / "a.npy", small_frame())
    main(["look", "a.npy", "--name=-my genes.npy"])
    named = capsys.readouterr().out

    assert data["transposed"]
    assert (data["n_samples"], data["n_features"]) == (24, 12)
    assert data["command"] == "ufselect select genes.csv --transpose"
    assert said.startswith("genes.csv: text, 12 rows, 25 columns; features are in its")
    assert "12 features of 24 samples to select from." in named
    assert named.endswith("\n  ufselect select './-my genes.npy'\n")


def test_each_sentence_names_the_option_that_helps(folder, capsys):
    rows = np.random.default_rng(0).normal(size=(20, 6)).round(3).astype(str)
    rows[3, 2], rows[5, 1] = "", "?"
    header = ["A study, of mine", "a,b,c,d,e,f"]
    (folder / "study.csv").write_text("\n".join([*header, *map(",".join, rows)]))
    asked = ["select", "study.csv", *FAST]
    for sentence, option in [
        ("--skip-rows 1", ["--skip-rows", "1"]),
        ("--na '?'", ["--na", "?"]),
        ("fill them in (--fill median), leave the rows out (--drop-inc", []),
    ]:
        assert main(asked) == 1
        assert sentence in capsys.readouterr().err
        asked += option
    assert main([*asked, "--fill", "median"]) == 0
    assert "2 missing or infinite values, in 2 of 6 columns" in capsys.readouterr().err
    assert main([*asked, "--drop-incomplete", "rows"]) == 0
    assert "2 rows were left out for missing" in capsys.readouterr().err


@pytest.mark.parametrize("progress", [["--progress=json"], ["--progress", "json"]])
def test_programs_get_an_error_with_its_remedies(folder, capsys, progress):
    frame = small_frame()
    frame.loc[2, "g4"] = np.nan
    write_frame(folder / "a.csv", frame)
    for command in ("select", "compare"):
        assert main([command, "a.csv", "--json", *progress]) == 1
        said, noted = capsys.readouterr()
        *_, sentence, last = noted.splitlines()
        content = json.loads(last)
        options = [each["options"] for each in content["remedies"]]

        assert said == ""
        assert sentence == f"ufselect: {content['error']}"
        assert ["--fill=median"] in options
        assert ["--drop=g4"] in options
        assert all(each["label"] for each in content["remedies"])
    # Each of them works.
    for remedy in options:
        assert main(["select", "a.csv", *FAST, *remedy, "--quiet"]) == 0
    assert main(["select", "absent.csv", *progress]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert json.loads(last)["remedies"] == []


def test_other_columns_and_gaps_stay_in_the_table_unless_asked_otherwise(
    folder, capsys
):
    frame = awkward_frame()
    write_frame(folder / "study.csv", frame)
    asked = ["select", "study.csv", "--method", "MaxVariance", "-k", "11", "--quiet"]
    written = {}
    for option in ("", "--only-features", "--write-filled"):
        output = f"out{option}.csv"
        options = [*filter(None, [option]), "--fill", "median", "-o", output]
        assert main([*asked, *options]) == 0
        written[option] = pd.read_csv(output)
    plain = written[""]

    assert [name for name in frame.columns if name not in [*NAMES, "rare"]] == [
        name for name in plain.columns if name not in NAMES
    ]
    assert plain["target"].tolist() == frame["target"].tolist()
    assert np.isnan(plain.loc[3, "g4"])
    assert set(written["--only-features"].columns) <= {"id", *NAMES}
    assert written["--write-filled"].loc[3, "g4"] == pytest.approx(frame["g4"].median())
    assert main([*asked, "--write-filled", "--no-files"]) == 2
    assert "add --fill median" in capsys.readouterr().err


def test_groups_and_columns_that_look_like_labels(folder, capsys):
    write_frame(folder / "study.csv", awkward_frame())
    read = ["select", "study.csv", "--fill", "median", "--json", *FAST[:-1]]
    assert main([*read, "--groups", "patient", "--labels", "target"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main([*read, "--labels", "target"]) == 0
    split = json.loads(capsys.readouterr().out)
    assert main([*read, "--use-column", "target", "--use-column", "rare"]) == 0
    used = json.loads(capsys.readouterr().out)

    assert (plain["n_features"], used["n_features"]) == (12, 14)
    assert plain["labels"]["column"] == "target"
    # Halves of the samples that split no patient are other halves.
    assert plain["features"] == split["features"]
    assert plain["against_random"] != split["against_random"]
    assert main([*read, "--groups", "patent"]) == 1
    assert "did you mean 'patient'?" in capsys.readouterr().err


def test_every_sample_gets_its_cluster(folder, capsys):
    write_frame(folder / "a.csv", small_frame())
    assert main(["select", "a.csv", "--save-clusters", "c.csv"]) == 0
    clusters = pd.read_csv("c.csv")
    table = pd.crosstab(clusters["cluster"], small_frame()["kind"])
    np.save("noise.npy", np.random.default_rng(0).normal(size=(40, 30)))
    capsys.readouterr()
    assert main(["select", "noise.npy", "--save-clusters", "n.csv"]) == 0

    assert clusters["sample"].tolist() == small_frame()["id"].tolist()
    assert sorted(table.to_numpy().ravel()) == [0, 0, 12, 12]
    assert {"a.selected.csv", "a.report.html"} <= {
        path.name for path in folder.iterdir()
    }
    assert "No clusters were found; n.csv is not written." in capsys.readouterr().err
    assert not (folder / "n.csv").exists()
