"""Data in a page: read back by pandas, harmless to spreadsheets."""

import io
import math

import numpy as np
import pytest

from ufselect.report.downloads import MOST_ROWS, csv_text, download_html


def test_pandas_reads_back_what_was_written():
    pandas = pytest.importorskip("pandas")
    columns = {
        'a "quoted", name': ["x,y", 'say "a"', "two\nlines"],
        "number": [0.1 + 0.2, -1e-300, 12345678901234567],
        "array": np.array([1.5, np.nan, -np.inf]),
    }
    found = pandas.read_csv(io.StringIO(csv_text(columns)))

    assert list(found) == list(columns)
    assert found.iloc[:, 0].tolist() == columns['a "quoted", name']
    assert found["number"].tolist() == pytest.approx(columns["number"], rel=1e-15)
    assert found["array"].tolist() == pytest.approx(columns["array"], nan_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1+cmd",
        "@SUM(A1)",
        " =1",
        "\t=1",
        "\rx",
        "\nx",
        "\uff1d1",
        "\uff0b1",
    ],
)
def test_text_that_could_be_a_formula_is_made_text(text):
    cell = csv_text({text: [text]})

    assert cell.lstrip('"').startswith("'")
    assert cell.count("'") == 2


@pytest.mark.parametrize("value", [-0.5, np.float32(-2), -3, np.int64(-4)])
def test_negative_numbers_stay_numbers(value):
    assert csv_text({"a": [value]}) == f"a\n{value}\n"


def test_nothing_is_left_empty_and_truth_is_said_in_words():
    text = csv_text({"a": [None, math.nan], "b": [True, np.False_]})

    assert text == "a,b\n,yes\n,no\n"


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        csv_text({"a": [1], "b": [1, 2]})


def test_of_very_long_columns_the_first_rows_are_saved_and_the_button_says_so():
    columns = {"a": range(MOST_ROWS + 5)}
    html = download_html(columns, "name")

    assert csv_text(columns).count("\n") == MOST_ROWS + 1
    assert f"first {MOST_ROWS} of {MOST_ROWS + 5} rows" in html
    assert "rows" not in download_html({"a": [1]}, "name")


def test_name_and_data_cannot_leave_their_place():
    html = download_html({"</template><script>": ["</template><b>"]}, '"><i>')

    assert "<script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("</template>") == 1
