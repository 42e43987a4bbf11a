"""What is released: one version everywhere, complete archives, no overdue names."""

import re
import runpy
import sys
import tomllib
import types
from pathlib import Path

import pytest
from packaging.version import Version
from scripts_as_modules import module_at

import ufselect

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ufselect"
REMOVAL = re.compile(r"will be removed in ufselect (\d+\.\d+)")
DEPRECATION = re.compile(r"\bFutureWarning\b|@deprecated\(")


def cited_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    return re.search(r"^version: (.+)$", text, re.M)[1]


def version_with(built, monkeypatch):
    monkeypatch.setitem(sys.modules, "ufselect._built_version", built)
    return runpy.run_path(str(SOURCE / "_version.py"))["__version__"]


class TestVersion:
    def test_without_history_it_is_the_cited_one_everywhere(self, monkeypatch):
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        fallback = settings["tool"]["hatch"]["version"]["fallback-version"]

        assert version_with(None, monkeypatch) == fallback == cited_version()

    def test_what_was_built_says_its_own(self, monkeypatch):
        built = types.SimpleNamespace(__version__="9.8.7")

        assert version_with(built, monkeypatch) == "9.8.7"

    def test_the_citation_is_not_behind(self):
        here = Version(Version(ufselect.__version__).base_version)

        assert Version(Version(cited_version()).base_version) >= here


def overdue(source, version):
    """Return a sentence for what outlived its deprecation, or does not say when."""
    problems = []
    for path in sorted(source.rglob("*.py")):
        text = re.sub(r'"\s+"', "", path.read_text("utf-8"))
        removals = REMOVAL.findall(text)
        if DEPRECATION.search(text) and not removals:
            problems.append(f"{path.name} does not say when the old name goes")
        problems += [
            f"{path.name} was to go in {removal}"
            for removal in removals
            if Version(removal) <= Version(Version(version).base_version)
        ]
    return problems


class TestDeprecation:
    def test_nothing_outlives_its_deprecation(self):
        assert overdue(SOURCE, ufselect.__version__) == []

    @pytest.mark.parametrize(
        ("version", "expected"), [("0.4.2", []), ("0.5.0.dev3", ["was to go in 0.5"])]
    )
    def test_the_checker_knows_the_version(self, tmp_path, version, expected):
        text = 'warn("a will be "\n    "removed in ufselect 0.5.", FutureWarning)'
        (tmp_path / "a.py").write_text(text)

        assert overdue(tmp_path, version) == [f"a.py {each}" for each in expected]

    def test_the_checker_wants_a_version(self, tmp_path):
        (tmp_path / "a.py").write_text('@deprecated("use b")\ndef a(): ...')

        assert overdue(tmp_path, "0.1") == ["a.py does not say when the old name goes"]


@pytest.fixture(scope="module")
def archives():
    return module_at(ROOT / "scripts" / "check_distributions.py")


class TestArchives:
    def test_what_is_missing_and_what_is_too_much_is_named(self, archives):
        problems = archives.compare("a.whl", {"a", "stray"}, {"a", "b"})

        assert problems == ["a.whl lacks b", "a.whl should not hold stray"]

    @pytest.mark.parametrize(
        ("path", "sdist", "wheel"),
        [
            ("src/ufselect/tl/__init__.py", True, "ufselect/tl/__init__.py"),
            ("plans/quick.toml", True, "ufselect/experiments/plans/quick.toml"),
            ("tests/conftest.py", True, None),
            ("LICENSE", True, None),
            (".ci/run", False, None),
        ],
    )
    def test_where_a_file_belongs(self, archives, path, sdist, wheel):
        assert archives.belongs_to_sdist(path) == sdist
        assert archives.in_wheel(path) == wheel


@pytest.mark.parametrize("name", ["bug", "data", "method"])
def test_an_issue_form_asks_for_something(name):
    yaml = pytest.importorskip("yaml")
    path = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
    if not path.exists():
        pytest.skip("this is the source distribution, which has no issue forms")
    form = yaml.safe_load(path.read_text("utf-8"))
    required = [
        field["id"]
        for field in form["body"]
        if field.get("validations", {}).get("required")
    ]

    assert {"name", "description", "body"} <= set(form)
    assert len(required) >= 3
