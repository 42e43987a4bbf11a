"""What docs/add-a-method.md says about a method in one file is so."""

import inspect
import re
import tomllib

import numpy as np
import pytest
from documented_method import documented_code, documented_method
from small_tables import small_frame, write_frame

from ufselect import SCFS, all_selectors, plugin
from ufselect.cli import main
from ufselect.experiments.plan import read_plan
from ufselect.registry import GROUP, installed_selectors


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what puts a package with one module and its announcement on the path."""

    def put(module, code, entry):
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        about = tmp_path / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {module}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
        monkeypatch.syspath_prepend(tmp_path)
        installed_selectors.cache_clear()

    yield put
    installed_selectors.cache_clear()


@pytest.fixture
def company(install):
    """Install the method as the page says."""
    project = tomllib.loads(documented_code("toml"))["project"]
    ((name, value),) = project["entry-points"][GROUP].items()
    documented_method()
    install(project["name"], documented_code(), f"{name} = {value}")


def test_the_method_is_listed_and_may_be_in_a_plan(company, capsys, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        'name = "own"\nsets = ["lymphoma"]\nfeatures = [5]\n'
        '[[methods]]\nselector = "Company"\n'
    )

    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert any(line.startswith("Company ") and "correlate" in line for line in lines)
    assert list(all_selectors()) == sorted(all_selectors())
    assert "Company" in {method.selector for method in read_plan(path).methods}


def test_the_method_selects_from_a_file(company, tmp_path, monkeypatch, capsys):
    write_frame(tmp_path / "genes.csv", small_frame())
    monkeypatch.chdir(tmp_path)

    code = main(["select", "genes.csv", "--method", "company", "-k", "3", "-o", "3"])

    assert code == 0
    assert (tmp_path / "3").exists()
    assert "Company" in capsys.readouterr().out


def test_its_scores_are_those_of_numpy(planted):
    X = planted(30, 12).X
    expected = np.sum(np.corrcoef(X, rowvar=False) ** 2, axis=1)

    np.testing.assert_allclose(documented_method()().fit(X).scores_, expected)


def test_the_method_imports_what_is_public():
    modules = set(re.findall(r"^(?:from|import) (\S+)", documented_code(), re.M))

    assert modules == {"numpy", "ufselect.plugin"}


def test_what_a_method_needs_is_explained():
    for name in plugin.__all__:
        value = getattr(plugin, name)
        ours = getattr(value, "__module__", "").startswith("ufselect.")
        words = inspect.getdoc(value) if ours else plugin.__doc__

        assert ours or f"``{name}``" in words, name
        assert len(words or "") > 20, name


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("raise OSError('no disk')", "OSError: no disk"),
        ("Method = 3", "3 is not a selector; derive it from UnsupervisedSelector"),
        ("", "has no attribute 'Method'"),
    ],
)
def test_a_method_that_cannot_be_had_is_left_out(install, code, complaint):
    module = f"left_out_{abs(hash(code))}"
    install(module, code, f"Method = {module}:Method")

    with pytest.warns(RuntimeWarning, match="'Method' .* was left out") as warned:
        found = all_selectors()

    assert complaint in str(warned[0].message)
    assert "SCFS" in found
    assert "Method" not in found


def test_no_package_takes_the_place_of_our_method_or_needs_one_half_loaded(install):
    code = "from ufselect import MaxVariance\nclass SCFS(MaxVariance): pass"
    install("taking_the_place", code, "SCFS = taking_the_place:SCFS")
    # A module may ask for its base class while it is loaded.
    code = "import ufselect\nclass Late(ufselect.MaxVariance): pass"
    install("late", code, "Late = late:Late")

    assert all_selectors()["SCFS"] is SCFS
    assert "Late" in all_selectors()
