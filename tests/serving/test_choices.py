from types import SimpleNamespace

import pytest

from ufselect.cli.select import select_command
from ufselect.serving.choices import FIELDS, FORMATS, arguments_of, checked_choices
from ufselect.serving.uploads import Refusal

ALL = {
    "method": "SCFS",
    "features": "5",
    "clusters": "3",
    "labels": "kind",
    "id": "sample",
    "variable": "X",
    "sheet": "first",
    "fill": "median",
    "seed": "7",
    "effort": "thorough",
    "drop": "a\n b \n\nc,d",
    "transpose": "yes",
    "format": ".parquet",
}


def parsed(choices):
    arguments = arguments_of(checked_choices(choices), "table.csv")
    context = select_command.make_context("select", ["table.csv", *arguments])
    return SimpleNamespace(**context.params)


def test_the_command_understands_every_field_of_the_page():
    options = parsed(ALL)

    assert sorted(ALL) == sorted(FIELDS)
    assert (options.method, options.features, options.clusters) == ("SCFS", 5, 3)
    assert (options.labels, options.id, options.drop) == (
        *("kind", "sample"),
        ("a", "b", "c,d"),
    )
    assert (options.variable, options.sheet, options.seed) == ("X", "first", 7)
    assert (options.effort, options.transpose) == ("thorough", True)
    assert options.fill == "median"
    assert options.output == "selected.parquet"


def test_what_is_left_open_is_left_to_the_command():
    options = parsed({"method": "", "labels": "  "})

    assert (options.method, options.features, options.transpose) == (None, None, None)
    assert options.output == "selected.csv"
    assert parsed({"transpose": "no"}).transpose is False


@pytest.mark.parametrize("field", ["labels", "id", "drop", "variable", "sheet"])
def test_a_value_that_looks_like_an_option_is_a_value(field):
    options = parsed({field: "--report=/etc/passwd"})

    assert str(options.report) == "report.html"
    assert getattr(options, field) in (
        "--report=/etc/passwd",
        ("--report=/etc/passwd",),
    )


def test_what_no_page_sends_is_refused():
    for choices in (
        *(None, ["method"], {"output": "/etc/passwd"}, {"file": "/etc/passwd"}),
        *({"labels": 1}, {"labels": ["a"]}, {"labels": "a\0b"}, {"labels": "\ud800"}),
        *({"labels": "x" * 1001}, {"format": ".exe"}, {"format": "/../../x.csv"}),
        {"transpose": "maybe"},
    ):
        with pytest.raises(Refusal) as caught:
            arguments_of(checked_choices(choices), "table.csv")
        assert caught.value.status == 400


def test_formats_are_endings_that_tables_are_written_in():
    from ufselect.data.tables.detection import EXTENSIONS

    assert set(FORMATS) <= set(EXTENSIONS)
