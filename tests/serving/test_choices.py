from pathlib import Path
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
    # The command keeps the first names of --help that it is asked with.
    context = COMMANDS[action].make_context(
        action, ["table.csv", *arguments], help_option_names=["-h", "--help"]
    )
    return SimpleNamespace(**context.params)


@pytest.mark.parametrize("action", COMMANDS)
def test_each_command_understands_every_field_of_the_page(action):
    options = parsed(ALL, action)
    expected = {"labels": "kind", "id_column": "sample", "groups": "patient"}
    expected |= {"drop": ("a", " b"), "na_values": ("?", "-"), "use": ("target",)}
    expected |= {"skip_rows": 2, "variable": "X", "sheet": "first", "fill": "median"}
    expected |= {"transpose": True, "header": False, "allow_large": True}
    expected |= {"delimiter": ";", "decimal": ","}
    if action != "look":
        expected |= {"features": 5, "clusters": 3, "seed": 7}
        expected |= {"report": Path("report.html")}
    if action == "select":
        expected |= {"method": "SCFS", "effort": "thorough", "only_features": True}
        expected |= {"write_filled": True, "output": "selected.parquet"}
        assert parsed({"fill": "rows"}).drop_incomplete == "rows"
    if action == "compare":
        expected |= {"methods": ["SCFS", "MCFS"]}

    assert set(ALL) == FIELDS
    assert {name: getattr(options, name) for name in expected} == expected


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


@pytest.mark.parametrize(
    "choices",
    [
        *(None, ["method"], {"output": "/etc/passwd"}, {"file": "/etc/passwd"}),
        *({"labels": 1}, {"labels": ["a"]}, {"labels": "a\0b"}, {"labels": "\ud800"}),
        *({"labels": "x" * 1001}, {"format": ".exe"}, {"format": "/../../x.csv"}),
        *({"transpose": "maybe"}, {"drop": "a"}, {"drop": [1]}),
    ],
    ids=lambda choices: ascii(choices)[:30].replace("/", ":"),
)
def test_what_no_page_sends_is_refused(choices):
    with pytest.raises(Refusal) as caught:
        arguments_of("select", checked_choices(choices), "table.csv")
    assert caught.value.status_code == 400


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


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no; fill (--fill mean), or drop it (--drop 'a (b)')", "no; fill, or drop it"),
        ("-k 9 is more than the 5", "Number of features 9 is more than the 5"),
        (
            "left out; --use-column 'my age' takes it as a feature.",
            "left out; give 'my age' the role feature to use it.",
        ),
        ("f (a) has no column x-k--id", "f (a) has no column x-k--id"),
    ],
    ids=["brackets", "option", "role", "names"],
)
def test_sentences_are_in_words_of_the_page(said, shown):
    assert words_of_page(said) == shown
