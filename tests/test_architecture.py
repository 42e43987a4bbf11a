"""The shape of the package: who imports whom, what loads, what is documented."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import ufselect
from ufselect import UnsupervisedSelector

PACKAGE = Path(ufselect.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
MODULES = [
    "ufselect",
    *(
        module.name
        for module in pkgutil.walk_packages([str(PACKAGE)], "ufselect.")
        if not module.name.endswith("__main__")
    ),
]

# Each may import from those to its left; modules that begin with _ are left of all.
ROOMS = [
    *("matrix", "solvers", "selectors", "evaluation", "tuning", "registry", "plugin"),
    *("plotting", "pl", "data", "models", "report", "experiments"),
    *("tl", "serving", "cli"),
]
# Imports to the right that are meant, and why.
UPWARD = {
    ("selectors/base.py", "plotting"): "selector.plot() loads what draws when it draws",
}
# Files that import what a string names, and why.
BY_NAME = {
    "_names.py": "loads public names, which an __init__.py lists as imports",
    "data/tables/detection.py": "loads optional packages, or says how to install them",
}
# Only these rooms may import the package.
HOMES = {
    "click": {"cli"},
    "cloup": {"cli"},
    "jinja2": {"report", "serving"},
    "matplotlib": {"plotting"},
    "pooch": {"data"},
    "python_multipart": {"serving"},
    "requests": {"data"},
    "dask": {"matrix", "experiments"},
    "distributed": {"matrix", "experiments"},
    "starlette": {"serving"},
    "uvicorn": {"serving"},
}
# What rooms that treat all methods alike may know of the selectors.
SHARED_BY_SELECTORS = {"UnsupervisedSelector", "base"}
HEAVY = {
    *("anndata", "dask", "distributed", "h5py", "matplotlib", "openpyxl", "pandas"),
    *("polars", "pooch", "python_multipart", "requests", "starlette", "uvicorn"),
    "zarr",
}
SEAM = "_sklearn_compat"
OPTIONAL = HEAVY | {"pyarrow"}


def imports_of(path):
    """Yield (dotted module, imported name or None) for every import in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)


def imports_by_name(path):
    """Return the calls in a file that import what a string names."""
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    names = {"import_module", "__import__", "exec", "eval"}
    return [
        ast.unparse(call)
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", None)) in names
    ]


def public_origins(package):
    """Return the module from which the root imports each of its public names."""
    origins = {}
    for module, name in imports_of(package / "__init__.py"):
        if name == "*":
            folder = package.joinpath(*module.split(".")[1:])
            names = [name for _, name in imports_of(folder / "__init__.py")]
            origins |= dict.fromkeys(names, module)
        elif name is not None and module.startswith("ufselect."):
            origins[name] = module
    return origins


def broken_rules(package):
    """Return a sentence for every import in the package that breaks a rule."""
    origins, broken = public_origins(package), []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room, here = place.with_suffix("").parts[0], place.as_posix()
        problems = []
        for module, name in imports_of(path):
            if module == "ufselect" and name is not None:
                found = (origins[name], name) if name in origins else (module, name)
            else:
                found = (module, name)
            parts = [part for each in found if each for part in each.split(".")]
            if (here, *parts[1:2]) not in UPWARD:
                problems.append(problem_with(room, module, parts))
        if here not in BY_NAME:
            problems += [f"{call} hides an import" for call in imports_by_name(path)]
        broken += [f"{here}: {problem}" for problem in problems if problem]
    return broken


def problem_with(room, module, parts):
    if module.startswith("."):
        return f"relative import of {module}"
    if parts[0] == "sklearn" and room != SEAM and any(p[0] == "_" for p in parts):
        return f"{'.'.join(parts)} is private; import it in {SEAM}.py"
    if room not in HOMES.get(parts[0], {room}):
        return f"{parts[0]} belongs to {sorted(HOMES[parts[0]])}"
    if parts[0] == "ufselect" and len(parts) > 1 and parts[1] in ROOMS:
        return problem_between(room, parts[1], parts[2:])
    return None


def problem_between(room, other, names):
    """Say what is wrong when a room imports names from another room."""
    if room in {"__init__", "__main__"} or room == other:
        return None
    if room not in ROOMS:
        return f"{room} imports the room {other}"
    if ROOMS.index(other) > ROOMS.index(room):
        return f"{room} imports {other}, which is to its right"
    if other != "selectors":
        return None
    if room == "evaluation":
        return "evaluation imports selectors, of which it must not know"
    if room == "experiments" and not set(names) & SHARED_BY_SELECTORS:
        return f"{room} imports {'.'.join(names)}, not the registry"
    return None


def write_package(folder, files):
    package = folder / "ufselect"
    for name, text in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return package


def test_every_import_keeps_to_the_rules_and_every_folder_is_known():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}

    assert broken_rules(PACKAGE) == []
    assert folders <= set(ROOMS)


# Public names of a small package.
ROOT = {
    "__init__.py": (
        "from ufselect._version import __version__\n"
        "from ufselect.registry import all_selectors\n"
        "from ufselect.selectors import *"
    ),
    "selectors/__init__.py": "from ufselect.selectors.scfs import SCFS",
}


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("matrix/a.py", "from ufselect.solvers.ridge import solve", "to its right"),
        ("matrix/a.py", "from ufselect import solvers", "to its right"),
        ("solvers/a.py", "def f():\n    import ufselect.selectors", "to its right"),
        ("solvers/a.py", "from ufselect import SCFS", "to its right"),
        ("report/a.py", "import ufselect.cli", "to its right"),
        ("report/a.py", "import ufselect.serving", "to its right"),
        ("serving/a.py", "import ufselect.cli", "to its right"),
        ("report/a.py", "from ufselect import tl", "to its right"),
        ("evaluation/a.py", "from ufselect.selectors import SCFS", "must not know"),
        ("experiments/a.py", "from ufselect import SCFS", "not the registry"),
        ("tuning/a.py", "from ufselect import all_selectors", "to its right"),
        ("tuning/a.py", "from ufselect.registry import selector", "to its right"),
        ("selectors/base.py", "def f():\n    from ufselect import pl", "to its right"),
        ("plotting/a.py", "from ufselect.report import Effort", "to its right"),
        ("cli/a.py", "import_module('ufselect.pl')", "hides an import"),
        ("cli/a.py", "importlib.import_module(name)", "hides an import"),
        ("_names.py", "import ufselect.matrix", "imports the room"),
        ("_sklearn_compat.py", "import ufselect.matrix", "imports the room"),
        ("cli/a.py", "from sklearn.utils._mask import indices", "private"),
        ("cli/a.py", "from sklearn.base import _fit_context", "private"),
        ("cli/a.py", "import matplotlib.pyplot", "belongs to ['plotting']"),
        ("cli/a.py", "import uvicorn", "belongs to ['serving']"),
        ("solvers/a.py", "import dask.array as da", "belongs to ['experiments'"),
        ("matrix/a.py", "from . import base", "relative"),
        ("matrix/a.py", "from .base import Float", "relative"),
    ],
)
def test_the_checker_notices(tmp_path, path, line, complaint):
    package = write_package(tmp_path, {**ROOT, path: line})

    (sentence,) = broken_rules(package)

    assert complaint in sentence


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("selectors/a.py", "from ufselect.selectors.base import UnsupervisedSelector"),
        ("selectors/a.py", "from ufselect.solvers import ridge"),
        ("tuning/a.py", "from ufselect import SCFS"),
        ("experiments/a.py", "from ufselect import all_selectors"),
        ("selectors/base.py", "def f():\n    import ufselect.plotting.curves"),
        ("_names.py", "import_module(name)"),
        ("tuning/a.py", "from ufselect.selectors.base import UnsupervisedSelector"),
        ("cli/a.py", "from ufselect import SCFS, __version__"),
        ("matrix/a.py", "import dask.array as da"),
        ("plotting/a.py", "from matplotlib import pyplot"),
        ("_sklearn_compat.py", "from sklearn.base import _fit_context"),
        ("data/a.py", "from ufselect._version import __version__"),
    ],
)
def test_the_checker_lets_pass(tmp_path, path, line):
    package = write_package(tmp_path, {**ROOT, path: line})

    assert broken_rules(package) == []


def run_python(code):
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    # scikit-learn itself may load pandas, which is not ours to prevent.
    loaded = run_python(
        "import sys, sklearn.cluster, sklearn.feature_selection\n"
        "before = set(sys.modules)\n"
        "from ufselect import *\n"
        "print(*set(sys.modules) - before)"
    )

    assert "ufselect.selectors.scfs" in loaded
    assert not HEAVY & set(loaded)
    # Nor is anything heavy needed.
    run_python(
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({sorted(HEAVY)}))\n"
        "from ufselect import *"
    )


def test_names_are_loaded_when_they_are_asked_for():
    loaded = run_python(
        "import sys, ufselect\n"
        "listed = dir(ufselect)\n"
        "print('numpy' in sys.modules, 'report' in listed, 'selector' in listed)\n"
        "from ufselect import SCFS\n"
        "print(*(name for name in sys.modules if 'ufselect' in name))"
    )

    assert loaded[:3] == ["False", "True", "True"]
    assert "ufselect.selectors.scfs" in loaded
    # Another method, and packages that SCFS does without.
    unused = ("selectors.mcfs", "report", "evaluation", "tuning", "experiments", "cli")
    assert not {f"ufselect.{name}" for name in unused} & set(loaded)


def test_what_is_public_is_listed_and_what_is_not_there_is_said():
    packages = {"data", "evaluation", "pl", "report", "tl", "tuning"}

    assert {*ufselect.__all__, *packages, "selector"} <= set(dir(ufselect))
    assert packages.isdisjoint(ufselect.__all__)
    with pytest.raises(AttributeError, match="'ufselect' has no attribute 'SCSF'"):
        ufselect.SCSF  # noqa: B018 - asking is the test


def test_no_name_is_hidden_by_a_module():
    # Once such a module is imported, Python puts it in the place of the name.
    for path in PACKAGE.rglob("__init__.py"):
        folder = path.parent.relative_to(PACKAGE.parent)
        package = importlib.import_module(".".join(folder.parts))
        modules = {module.name for module in pkgutil.iter_modules([str(path.parent)])}

        if hasattr(package, "__getattr__"):
            assert modules.isdisjoint(package.__all__), folder


def test_every_module_has_a_docstring_and_the_name_of_a_class_is_unique():
    places, bare = defaultdict(list), []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree):
            bare.append(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)

    assert bare == []
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_every_name_in_all_exists():
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] not in OPTIONAL:
                raise
            continue
        for public in getattr(module, "__all__", []):
            assert hasattr(module, public), f"{name}.{public}"


def test_public_names_are_documented_with_an_example():
    values = {name: getattr(ufselect, name) for name in ufselect.__all__}
    for name, value in values.items():
        if not callable(value):
            continue
        method = inspect.isclass(value) and issubclass(value, UnsupervisedSelector)
        needs_example = inspect.isfunction(value) or (
            method and not inspect.isabstract(value)
        )

        assert value.__doc__, name
        assert not needs_example or "Examples\n    ----" in value.__doc__, name


# Runs the command in this process, and prints the modules of ufselect after it.
SELECTING = """
import sys
from ufselect.__main__ import program
sys.argv = ["ufselect", "select", sys.argv[1], "--no-files", "--quiet"]
program()
print()
print(*(name for name, module in sys.modules.items()
        if name.split(".")[0] == "ufselect" and getattr(module, "__file__", None)))
"""


@pytest.mark.slow
def test_a_selection_loads_the_methods_that_it_uses(tmp_path):
    table = tmp_path / "tiny.csv"
    table.write_text("a,b,c\n" + "1,2.5,3\n4,5.5,1\n2,0.5,7\n3,1.5,2\n" * 5)
    command = [sys.executable, "-c", SELECTING, str(table)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()

    assert "ufselect.selectors.scfs" in loaded
    assert not {"ufselect.selectors.mcfs", "ufselect.experiments"} & set(loaded)
    assert len(loaded) <= 80
