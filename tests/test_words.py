"""The checker of the documents' words finds what it should, and nothing else."""

from pathlib import Path

import pytest
from scripts_as_modules import module_at

PATH = Path(__file__).resolve().parents[1] / "docs" / "check_words.py"


@pytest.fixture
def with_spelling():
    """Return the script as a module."""
    return module_at(PATH)


@pytest.fixture
def checker(with_spelling, monkeypatch):
    """Return the script as a module that does not need codespell."""
    monkeypatch.setattr(with_spelling, "misspellings", lambda pages: [])
    return with_spelling


@pytest.fixture
def page(tmp_path):
    """Return what writes a page and returns its path as text."""

    def written(text, name="page.md"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


@pytest.mark.parametrize(
    ("sentence", "say"),
    [
        ("The table is turned.", "transpose"),
        ("It streams the rows.", "out-of-core"),
        ("The slack is small.", "ridge weight"),
        ("Then W follows G.", "fitted values"),
        ("A crew of processes.", "worker pool"),
        ("One of them is there\nby chance.", "null distribution"),
        ("Columns that are no features.", "sample names"),
        ("See the local page.", "web page"),
        ("| Whoever | asks |", "If you"),
        ("The rooms of the package.", "memory limit"),
        ("The cliques of all samples.", "neighbourhoods"),
        ("It loses patience.", "timeout"),
        ("How many fits at once?", "parallel jobs"),
        ("A confirmed feature stands for it.", "representative"),
        ("A search for neighbours in cells.", "partition"),
        ("A callback hears of it.", "progress"),
    ],
)
def test_a_phrase_that_the_glossary_replaces_fails(
    checker, page, capsys, sentence, say
):
    assert checker.main([page(f"# Title\n\n{sentence}\n")]) == 1
    assert say in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Each fit in turn follows the last.",
        "The identity matrix. How many features are there? No feature is selected.",
        "```text\nslack, by chance\n```",
        "Use `slack` here.",
        "    ufselect select rooms.csv",
        "[The packages](rooms.svg)",
        "A mushroom is in no table.",
    ],
)
def test_good_words_code_and_addresses_pass(checker, page, text):
    assert checker.main([page(f"{text}\n")]) == 0


def test_words_are_those_written_by_hand(checker, page):
    text = """# A title

Two words, 12 and 3.5. Let $x + y$ be `some code`.

<!-- printed by python -m studies speed -->

| what | measured |
|:--|--:|
| many | words |

| kept | cells |
|:--|--:|
| four | words |
"""
    path = Path(page(text))

    assert checker.n_words(checker.prose(path)) == 2 + 3 + 3 + 4


def test_the_longest_sentences_are_printed_and_cells_are_sentences(
    checker, page, capsys
):
    long = "One " + "very " * 30 + "long sentence."
    checker.main([page(f"Short one. {long} Another.\n\n| cell one | cell two |\n")])
    longest = capsys.readouterr().out.partition("longest sentences:\n")[2].splitlines()

    assert longest[0] == f"  33  page.md: {long}"
    assert {line.split(": ")[1] for line in longest[1:5]} == {
        *("Short one.", "cell one", "cell two", "Another."),
    }


def test_too_many_words_fail_unless_a_command_wrote_them_and_a_long_readme(
    checker, page
):
    text = "word " * (checker.LIMIT + 1)

    assert checker.main([page(text)]) == 1
    assert checker.main([page(text, "label-free.md")]) == 0
    assert checker.main([page("line\n" * 120, "README.md")]) == 0
    assert checker.main([page("line\n" * 121, "README.md")]) == 1
    assert all(any(PATH.parent.rglob(name)) for name in checker.GENERATED)


def test_a_spelling_mistake_fails(with_spelling, page, capsys):
    pytest.importorskip("codespell_lib")

    assert with_spelling.main([page("This is teh mistake.\n")]) == 1
    assert "teh ==> the" in capsys.readouterr().out
    assert with_spelling.main([page("This is no mistake.\n")]) == 0
