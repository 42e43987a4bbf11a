"""Attacks that need no server; those that do are among the tests of serving."""

import pytest

pytest.importorskip("matplotlib")

from studies.reliability import security


def careless_page(name):
    return f"<p title='{name}'>{name}</p><script>{name}</script>"


def test_names_are_text_wherever_they_are_on_a_page():
    results = list(security.shown(security.plain_page))

    assert len(results) == len(security.HOSTILE)
    assert all(results)


def test_a_page_that_is_careless_is_noticed():
    assert not all(security.shown(careless_page))


def test_names_run_in_no_spreadsheet_and_come_back():
    results = dict(zip(security.FORMULAS, security.formulas(), strict=True))

    assert [name for name, safe in results.items() if not safe] == []


def test_only_https_is_fetched():
    results = dict(zip(security.ELSEWHERE, security.addresses(), strict=True))

    assert [name for name, safe in results.items() if not safe] == []
