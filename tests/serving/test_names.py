import pytest

from ufselect.data.tables.detection import EXTENSIONS
from ufselect.serving.names import (
    selected_name,
    shown_name,
    stored_name,
    suggested_name,
)
from ufselect.serving.refusal import Refusal

HOSTILE = [
    "../../etc/passwd.csv",
    "/etc/cron.d/x.csv",
    "C:\\Windows\\x.csv",
    "x\0.csv",
    "x\n\r\t.csv",
    "a.csv/../../b.csv",
    "-o.csv",
    "CON.csv",
    "~root/.csv",
    "x" * 5000 + ".csv",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_name_only_its_end_is_kept(name):
    assert stored_name(name) == "table.csv"


@pytest.mark.parametrize("ending", EXTENSIONS)
def test_every_known_format_is_taken_in_upper_case_and_compressed(ending):
    assert stored_name(f"My table{ending.upper()}") == f"table{ending}"
    assert stored_name(f"a.b{ending}.gz") == f"table{ending}.gz"


@pytest.mark.parametrize("name", ["", "table", "table.exe", "csv", ".gz", "a.csv.zip"])
def test_other_names_are_refused_with_those_that_are_known(name):
    with pytest.raises(Refusal, match=r"one of \.csv, \.tsv") as caught:
        stored_name(name)

    assert caught.value.status == 415


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_in_one_line_without_folders(name):
    shown = shown_name(name)

    assert shown.isprintable()
    assert not set(shown) & set("/\\")
    assert 0 < len(shown) < 200


def test_results_are_called_after_their_table():
    assert suggested_name("dir/Männer & Frauen.TSV.gz", "selected.tsv.gz") == (
        "Männer & Frauen.selected.tsv.gz"
    )
    assert selected_name("macros.xlsm") == "selected.xlsx"
    assert selected_name("no ending") == "selected"
