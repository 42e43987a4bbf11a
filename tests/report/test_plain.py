from ufselect.report import Paragraph, Picture, Preformatted, Section, Table
from ufselect.report.plain import markdown, plain_text

SECTIONS = [
    Section("Data", [Paragraph("Two sets."), Picture("<svg/>", "not shown")]),
    Section("Scores", [Table(["method", "ACC"], [["a|b", "79.1"]], "In percent.")]),
    Section("Again", [Preformatted("one\ntwo")]),
]


def test_text_has_headings_tables_with_captions_and_no_pictures():
    assert plain_text(SECTIONS) == (
        "Data\n====\n\nTwo sets.\n\n"
        "Scores\n======\n\nIn percent.\n\nmethod   ACC\n------  ----\na|b     79.1\n\n"
        "Again\n=====\n\none\ntwo\n"
    )


def test_markdown_has_headings_tables_with_captions_and_no_pictures():
    assert markdown("Title", SECTIONS) == (
        "# Title\n\n## Data\n\nTwo sets.\n\n"
        "## Scores\n\nIn percent.\n\n| method | ACC |\n|:--|--:|\n| a\\|b | 79.1 |\n\n"
        "## Again\n\n    one\n    two\n"
    )
