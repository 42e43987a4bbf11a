from types import SimpleNamespace

import pytest

from ufselect.cli.compare import compare_command
from ufselect.cli.look import look_command
from ufselect.cli.select import select_command
from ufselect.data.tables.detection import EXTENSIONS
from ufselect.serving.choices import (
    FIELDS,
    FORMATS,
    arguments_of,
    checked_choices,
    remedies_on_page,
    words_of_page,
)
from ufselect.serving.uploads import Refusal

COMMANDS = {"look": look_command, "select": select_command, "compare": compare_command}
ONE = """method=SCFS features=5 clusters=3 seed=7 effort=thorough format=.parquet
labels=kind id=sample groups=patient variable=X sheet=first skip_rows=2 fill=median
delimiter=; decimal=, transpose=yes header=no allow_large=yes only_features=yes
write_filled=yes"""
SEVERAL = {"methods": ["SCFS", "MCFS"], "use": ["target"], "na": ["?", "-"]}
ALL = dict(each.split("=") for each in ONE.split()) | SEVERAL | {"drop": ["a", " b"]}


def parsed(choices, action="select"):
    _, *arguments = arguments_of(action, checked_choices(choices), "table.csv")
    context = COMMANDS[action].make_context(action, ["table.csv", *arguments])
    return SimpleNamespace(**context.params)


@pytest.mark.parametrize("action", COMMANDS)
def test_each_command_understands_every_field_of_the_page(action):
    options = parsed(ALL, action)

    assert set(ALL) == FIELDS
    assert (options.labels, options.id, options.groups) == ("kind", "sample", "patient")
    assert (options.drop, options.na) == (("a", " b"), ("?", "-"))
    assert (options.use_column, options.skip_rows) == (("target",), 2)
    assert (options.variable, options.sheet) == ("X", "first")
    assert (options.transpose, options.header, options.allow_large) == (
        *(True, False),
        True,
    )
    assert (options.fill, options.delimiter, options.decimal) == ("median", ";", ",")
    if action != "look":
        assert (options.features, options.clusters, options.seed) == (5, 3, 7)
        assert str(options.report) == "report.html"
    if action == "select":
        assert (options.method, options.effort) == ("SCFS", "thorough")
        assert options.output == "selected.parquet"
        assert (options.only_features, options.write_filled) == (True, True)
        assert parsed({"fill": "rows"}).drop_incomplete == "rows"
    if action == "compare":
        assert options.methods == ["SCFS", "MCFS"]


def test_what_is_left_open_is_left_to_the_command_and_no_value_is_an_option():
    options = parsed({"method": "AutoSelect", "labels": "  ", "drop": []})

    assert (options.method, options.features, options.transpose) == (None, None, None)
    assert (options.output, options.labels) == ("selected.csv", None)
    assert parsed({"transpose": "no"}).transpose is False
    assert set(FORMATS) <= set(EXTENSIONS)
    hostile = "--report=/etc/passwd"
    options = parsed({"labels": hostile, "drop": [hostile], "sheet": hostile})
    assert str(options.report) == "report.html"
    assert [options.labels, *options.drop, options.sheet] == [hostile] * 3


def test_what_no_page_sends_is_refused():
    for choices in (
        *(None, ["method"], {"output": "/etc/passwd"}, {"file": "/etc/passwd"}),
        *({"labels": 1}, {"labels": ["a"]}, {"labels": "a\0b"}, {"labels": "\ud800"}),
        *({"labels": "x" * 1001}, {"format": ".exe"}, {"format": "/../../x.csv"}),
        *(
            {"transpose": "maybe"},
            {"drop": "a"},
            {"drop": [1]},
            {"drop": ["a"] * 20001},
        ),
    ):
        with pytest.raises(Refusal) as caught:
            arguments_of("select", checked_choices(choices), "table.csv")
        assert caught.value.status_code == 400
    with pytest.raises(Refusal, match="this action is unknown"):
        arguments_of("serve", {}, "table.csv")


def test_remedies_of_the_command_are_choices_of_the_page():
    options = [["--fill=median"], ["--drop=a=b", "--drop=c"], ["--transpose"]]
    options += [["--drop-incomplete=rows"], ["--report=/etc/passwd"], ["--sheet=S 2"]]
    found = remedies_on_page([{"label": "do", "options": each} for each in options])

    assert [each["choices"] for each in found] == [
        {"fill": "median"},
        {"drop": ["a=b", "c"]},
        {"transpose": "yes"},
        {"fill": "rows"},
        {"sheet": "S 2"},
    ]


def test_sentences_are_in_words_of_the_page():
    for said, shown in {
        "no; fill (--fill mean), or drop it (--drop 'a (b)')": "no; fill, or drop it",
        "-k 9 is more than the 5": "Number of features 9 is more than the 5",
        "it looks like labels; --use-column it": "it looks like labels; the role featu",
        "f (a) has no column x-k--id": "f (a) has no column x-k--id",
    }.items():
        assert words_of_page(said).startswith(shown)
