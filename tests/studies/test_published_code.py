"""The tests of reasons why cells of the SCFS paper differ."""

import numpy as np
import pytest
import scipy.io

from studies import published_code
from studies.published_code import Change, Found

ROW = Found(
    "Lymphoma", "LS", "weights of one", 5, 1, {"ACC": (50.0, 1.0), "NMI": (9, 1)}
)


def test_rows_are_kept_and_the_page_has_them_once(tmp_path):
    file, page = tmp_path / "rows.json", tmp_path / "page.md"
    page.write_text("# Paper\n\nCells.\n", "utf-8")
    published_code.write_rows(file, [ROW])
    for _ in range(2):
        asked = ["--read", "--json", str(file), "--page", str(page)]
        assert published_code.main(asked) == 0
    text = page.read_text("utf-8")

    assert text.startswith("# Paper\n\nCells.\n\n## Tests of reasons\n")
    assert text.count("## Tests of reasons") == 1
    assert "5 repetitions of k-means" in text
    assert (
        "| Lymphoma | LS | weights of one | 1 | 50.12 ±2.26 | 50.00 ±1.00 | within | "
        "55.88 ±2.52 | 9.00 ±1.00 | below |"
    ) in text


def test_a_fit_beyond_the_budget_has_no_cell():
    late = Found("ORL", "UDFS", "public code", 5, 0, {}, "a fit takes more than 60 s")

    assert published_code.words_of(late, "ACC") == ("49.30 ±3.90", "-", "-")


@pytest.mark.parametrize(
    ("change", "n_rankings"),
    [
        (Change("LS", "weights of one", (), {"weights": "binary"}), 1),
        (Change("SPUFS", "no graph", (), {"beta": 0.0, "alpha": 1e-4}), 1),
        (
            Change(
                *("SCFS", "another start", (), {"solver": "paper", "beta": 1e-4}),
                preparation=published_code.PLUS,
                start=1.2,
            ),
            5,
        ),
    ],
)
def test_labels_choose_from_the_grid_of_our_methods(
    change, n_rankings, tmp_path, monkeypatch
):
    random = np.random.default_rng(0)
    classes = np.arange(30) % 9
    table = random.normal(size=(30, 12)) + 4 * np.eye(12)[classes]
    path = tmp_path / "lymphoma.mat"
    scipy.io.savemat(path, {"X": table, "Y": classes[:, np.newaxis] + 1})
    monkeypatch.setattr(published_code, "find_set", lambda name: path)
    monkeypatch.setattr(published_code, "SIZES", (6, 9))
    found = published_code.found_of(change, "Lymphoma", "", 2)

    assert found.n_rankings == n_rankings
    assert 50 < found.scores["ACC"][0] <= 100
