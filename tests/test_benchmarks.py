"""The guard measures, and the page shows what asv wrote."""

import pytest

from benchmarks import guard, page

RESULTS = {
    "result_columns": ["result", "params"],
    "params": {"num_cpu": "2", "cpu": "", "arch": "x86_64", "os": "Linux"},
    "results": {
        "scfs.Memory.peakmem_scfs": [[2e8, 3e8], [["'a'", "'b'"]]],
        "scfs.Path.time_one_fit": [[0.25], []],
        "graphs.Neighbours.track_share_found": [[0.96, None], [["1", "2"]]],
    },
}


@pytest.mark.slow
def test_the_guard_says_what_is_slow_and_fails_only_if_asked(monkeypatch, capsys):
    comparisons = {
        "slow": (lambda folder: (lambda _: sum(range(10**6)), lambda _: 1), 0.1),
    }
    monkeypatch.setattr(guard, "COMPARISONS", comparisons)
    monkeypatch.setattr(guard, "used", iter(range(100)).__next__)

    assert guard.main(["--repeats", "1"]) == 0
    assert guard.main(["--repeats", "1", "--check"]) == 1
    assert "much slower than usual: slow" in capsys.readouterr().err


@pytest.mark.slow
def test_each_comparison_of_the_guard_runs(tmp_path):
    for prepare, usual in guard.COMPARISONS.values():
        ours, theirs = prepare(tmp_path)
        ours(0)
        theirs(0)
        assert usual > 0


def test_the_page_shows_times_memory_and_shares():
    text = page.page(RESULTS)

    assert "| a | 200 MB |" in text
    assert "| 250 ms |" in text
    assert "| 1 | 96.0% |" in text
    assert "| 2 | - |" in text
    assert "2 cores, x86_64, Linux" in text
