"""The code in the README and in the documents runs, and says what is said of it.

Commands are run by test_document_commands.py.
"""

import re
import tomllib
from importlib.util import find_spec

import pytest
from document_blocks import CODE, FENCE, PAGES, ROOT, fenced
from small_experiments import planted_sets, small_plan
from small_tables import genes_table

from ufselect.experiments.plan import parse_plan
from ufselect.experiments.run import run_plan

# Packages that are in no extra of ours: half a gigabyte, or methods of others. At its
# end .ci/run installs them and runs the pages that need them.
NOT_OURS = {"scanpy", "skfeature", "ITMO_FS", "fastcan"}
CLUSTER = "tcp://127.0.0.1:8786"


@pytest.fixture
def users_folder(tmp_path, monkeypatch):
    """Work in a folder with the files of which documents speak."""
    (tmp_path / "genes.csv").write_text(genes_table(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cluster():
    """Return the address of a Dask cluster in this process, made when asked for."""
    started = []

    def address():
        distributed = pytest.importorskip("distributed")
        started.append(
            distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=1,
                processes=False,
                dashboard_address=None,
            )
        )
        return started[0].scheduler_address

    yield address
    for each in started:
        each.close()


def packages_of(code):
    """Return the packages that a block imports."""
    return set(re.findall(r"^(?:import|from) (\w+)", code, re.M))


def absent():
    """Return the packages of others that are not installed."""
    return {package for package in NOT_OURS if find_spec(package) is None}


def last_comments(code):
    """Return the comments after the last statement: what the block prints."""
    lines = code.rstrip().splitlines()
    while lines and lines[-1].startswith("# "):
        yield lines.pop()[2:]


@pytest.mark.parametrize("page", [page for page, blocks in CODE.items() if blocks])
def test_the_code_of_a_page_runs_from_top_to_bottom(
    page, users_folder, cluster, capsys
):
    here = [code for code in CODE[page] if not packages_of(code) & NOT_OURS & absent()]
    for package in set().union(*map(packages_of, here)):
        pytest.importorskip(package)
    if any("quick.sqlite" in code for code in here):
        run_plan(
            small_plan(), users_folder / "quick.sqlite", planted_sets(users_folder)
        )
    namespace, printed = {}, ""
    for code in here:
        if CLUSTER in code:
            code = code.replace(CLUSTER, cluster())
        exec(compile(code, page, "exec"), namespace)
        said = capsys.readouterr().out
        printed += said
        assert all(line in said for line in last_comments(code))

    assert printed


def test_every_block_is_of_a_kind_that_is_tested_and_none_hides_elsewhere():
    blocks = [code for found in CODE.values() for code in found]
    kinds = {
        (page.name, kind)
        for page in PAGES
        for kind, _ in FENCE.findall(page.read_text("utf-8"))
        if kind not in {"python", "sh", "text", "{image}", "{include}", "{toctree}"}
    }
    hidden = [
        (page.name, line)
        for page in PAGES
        for block in fenced(page, "text")
        for line in block.splitlines()
        if re.match(r"\$ |ufselect |python |pip |\./scripts/|import |from ", line)
    ]

    assert CODE["README.md"]
    assert CODE["auto.md"]
    assert set().union(*map(packages_of, blocks)) >= NOT_OURS
    assert kinds <= {
        ("experiments.md", "toml"),
        ("add-a-method.md", "toml"),
    }
    assert hidden == []


def test_the_plan_in_the_documents_can_be_read():
    # Keys that are added later belong before the tables.
    blocks = fenced(ROOT / "docs" / "experiments.md", "toml")
    plan = tomllib.loads("\n".join(reversed(blocks)))

    assert parse_plan(plan).methods
