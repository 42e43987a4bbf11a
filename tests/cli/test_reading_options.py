"""Options that say how a table is read, by the command itself."""

import numpy as np

from ufselect.cli import main


def write(path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(20, 6)).round(3).astype(str)
    rows[3, 2], rows[5, 1] = "", "?"
    header = ["A study, of mine", "a,b,c,d,e,f"]
    path.write_text("\n".join([*header, *map(",".join, rows)]))
    return str(path)


def test_each_sentence_names_the_option_that_helps(tmp_path, capsys):
    path = write(tmp_path / "patients.csv")
    asked = ["select", path, "--method", "MaxVariance", "-k", "2", "-o", "-"]

    assert main(asked) == 1
    assert "--skip-rows 1" in capsys.readouterr().err
    asked += ["--skip-rows", "1"]
    assert main(asked) == 1
    assert "--na '?'" in capsys.readouterr().err
    asked += ["--na", "?"]
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert "fill them in (--fill median)" in said
    assert "leave the rows out (--drop-incomplete rows)" in said
    assert main([*asked, "--fill", "median"]) == 0
    assert "2 missing or infinite values, in 2 of 6 columns" in capsys.readouterr().err
    assert main([*asked, "--drop-incomplete", "rows"]) == 0
    done = capsys.readouterr()
    assert "2 rows were left out for missing or infinite values." in done.err
