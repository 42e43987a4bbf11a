"""What to run: data sets, methods with their grids, and how to judge them.

A plan is a TOML file. Every mistake in it is answered with the key at fault and with
what could stand there.
"""

import difflib
import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from ufselect.experiments.limits import NO_LIMITS, Limits, bytes_of
from ufselect.experiments.protocol import METRICS, PREPARATIONS
from ufselect.selectors import all_selectors

Number = TypeVar("Number", int, float)


def refuse_unknown_keys(
    content: Mapping[str, Any], known: Iterable[str], where: str
) -> None:
    """Refuse a key that means nothing, with the one that was probably meant."""
    for key in content:
        if key not in known:
            raise ValueError(
                f"unknown key {where}{key}; it could be {nearest_words(key, known)}"
            )


def nearest_words(word: str, known: Iterable[str]) -> str:
    """Return the likely meanings of a word, or all that there are."""
    choices = list(known)
    return ", ".join(difflib.get_close_matches(word, choices) or sorted(choices))


def text_at(
    content: Mapping[str, Any], key: str, default: str | None = None, where: str = ""
) -> str:
    """Return the text at a key."""
    value = content.get(key, default)
    if value is None:
        raise ValueError(f"{where}{key} is missing; it must be a text")
    if not isinstance(value, str):
        raise ValueError(f"{where}{key} is {value!r}; it must be a text")
    return value


def integer_at(
    content: Mapping[str, Any], key: str, default: int, *, least: int, where: str = ""
) -> int:
    """Return the whole number at a key."""
    value = content.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{where}{key} is {value!r}; it must be a whole number of at least {least}"
        )
    return value


def limit_at(
    content: Mapping[str, Any], key: str, example: str, read: Callable[[str], Number]
) -> Number | None:
    """Return a size or a time above 0, or None where none is given."""
    value = content.get(key)
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not 0 < (limit := read(str(value))) < inf:
            raise ValueError
    except ValueError:
        raise ValueError(f"{key} is {value!r}; write it like {example}") from None
    return limit


def list_at(content: Mapping[str, Any], key: str, kind: type) -> list[Any]:
    """Return the list at a key, which has at least one item, all of a kind."""
    value = content.get(key)
    if value is None:
        raise ValueError(f"{key} is missing; it must be a list with at least one item")
    if not isinstance(value, list) or not value:
        raise ValueError(
            f"{key} is {value!r}; it must be a list with at least one item"
        )
    for item in value:
        if not isinstance(item, kind) or isinstance(item, bool):
            raise ValueError(
                f"{key} has {item!r}, which is not of type {kind.__name__}"
            )
    return value


def choices_at(
    content: Mapping[str, Any],
    key: str,
    known: list[str],
    default: list[str],
    where: str = "",
) -> list[str]:
    """Return the list at a key, all of whose items are known."""
    value = list_at({key: default, **content}, key, str)
    for item in value:
        if item not in known:
            raise ValueError(
                f"{where}{key} has {item!r}; it could be {nearest_words(item, known)}"
            )
    return value


KEYS = (
    "name description sets preparations features clusters seed cell_timeout "
    "cell_memory judge methods"
)
# In a wheel the plans that come with the project lie in this folder, in a source
# checkout at the root.
FOLDERS = (
    Path(__file__).parent / "plans",
    Path(__file__).resolve().parents[3] / "plans",
)
ALL_FEATURES = "all features"
# What every comparison shows beside its methods, whether the plan says so or not.
BASELINES: dict[str, dict[str, Any]] = {
    "random": {"selector": "RandomSelection", "seeds": 10},
    "variance": {"selector": "MaxVariance"},
    ALL_FEATURES: {"selector": ALL_FEATURES},
}


@dataclass(frozen=True)
class Judge:
    """How a ranking is judged: k-means on the first k features, for every k."""

    features: tuple[int, ...]
    repetitions: int = 20
    restarts: int = 10
    metrics: tuple[str, ...] = ("accuracy", "nmi_geometric", "nmi_max")
    seed: int = 0


@dataclass(frozen=True)
class Method:
    """A selector with a grid that labels may choose from, and one fixed setting."""

    label: str
    selector: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1
    warm_start: bool = False

    def grid_points(self) -> list[dict[str, Any]]:
        """Return the parameters of every point of the grid."""
        if not self.grid:
            return []
        return [
            {**self.parameters, **dict(zip(self.grid, values, strict=True))}
            for values in product(*self.grid.values())
        ]

    def grid_paths(self) -> list[list[dict[str, Any]]]:
        """Return the points along which a start is handed on.

        On a path only the last parameter of the grid changes. Without warm starts
        every point is a path of its own.
        """
        points = self.grid_points()
        length = len(list(self.grid.values())[-1]) if self.warm_start else 1
        return [points[at : at + length] for at in range(0, len(points), length)]

    def fixed_point(self) -> dict[str, Any]:
        """Return the one setting that is chosen before any label is seen."""
        return {**self.parameters, **self.fixed}


@dataclass(frozen=True)
class Plan:
    """A whole experiment."""

    name: str
    description: str
    sets: tuple[str, ...]
    preparations: tuple[str, ...]
    methods: tuple[Method, ...]
    judge: Judge
    seed: int
    limits: Limits = NO_LIMITS


def read_plan(path: Path) -> Plan:
    """Read and check a plan.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... name = "example"
    ... sets = ["lung_small"]
    ... features = [50, 100]
    ... [[methods]]
    ... selector = "LaplacianScore"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plan.toml")
    ...     _ = path.write_text(text)
    ...     plan = read_plan(path)
    >>> [method.label for method in plan.methods]
    ['LaplacianScore', 'random', 'variance', 'all features']
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; name a plan in TOML") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from error
    try:
        return parse_plan(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parse_plan(content: Mapping[str, Any]) -> Plan:
    """Check the content of a plan and return it with the baselines added."""
    refuse_unknown_keys(content, KEYS.split(), "")
    seed = integer_at(content, "seed", 0, least=0)
    features = list_at(content, "features", int)
    if not features or min(features) < 1:
        raise ValueError(f"features is {features}; list numbers of at least 1")
    methods = _methods(content)
    return Plan(
        name=text_at(content, "name"),
        description=text_at(content, "description", ""),
        sets=tuple(list_at(content, "sets", str)),
        preparations=tuple(
            choices_at(content, "preparations", list(PREPARATIONS), ["none"])
        ),
        methods=methods,
        judge=_judge(content.get("judge", {}), features, seed),
        seed=seed,
        limits=Limits(
            limit_at(content, "cell_timeout", "600", float),
            limit_at(content, "cell_memory", '"2GB"', bytes_of),
        ),
    )


def _judge(content: Any, features: list[int], seed: int) -> Judge:
    if not isinstance(content, Mapping):
        raise ValueError(f"judge is {content!r}; make it a table, [judge]")
    refuse_unknown_keys(content, ["repetitions", "restarts", "metrics"], "judge.")
    metrics = choices_at(
        content, "metrics", list(METRICS), list(Judge.metrics), "judge."
    )
    return Judge(
        features=tuple(sorted(set(features))),
        repetitions=integer_at(content, "repetitions", 20, least=1, where="judge."),
        restarts=integer_at(content, "restarts", 10, least=1, where="judge."),
        metrics=tuple(metrics),
        seed=seed,
    )


def _methods(content: Mapping[str, Any]) -> tuple[Method, ...]:
    tables = content.get("methods")
    if not isinstance(tables, list) or not tables:
        raise ValueError("methods is missing; add at least one [[methods]] table")
    clusters = content.get("clusters")
    is_number = isinstance(clusters, int) and not isinstance(clusters, bool)
    if clusters not in (None, "classes") and not (is_number and clusters > 0):
        raise ValueError(
            f"clusters is {clusters!r}; it could be 'classes' (the number of classes "
            "is told to the methods, as papers do), a number, or left out"
        )
    methods = [
        _method(table, clusters, f"methods[{place}].")
        for place, table in enumerate(tables)
    ]
    labels = [method.label for method in methods]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"two methods have the label {label!r}; give one another label"
            )
    added = [
        Method(label, **table)
        for label, table in BASELINES.items()
        if label not in labels
    ]
    return (*methods, *added)


def _method(table: Any, clusters: Any, where: str) -> Method:
    if not isinstance(table, Mapping):
        raise ValueError(f"{where[:-1]} is {table!r}; make it a table")
    known = ["selector", "label", "parameters", "grid", "fixed", "seeds", "warm_start"]
    refuse_unknown_keys(table, known, where)
    selectors = all_selectors()
    name = text_at(table, "selector", where=where)
    if name not in selectors:
        raise ValueError(
            f"{where}selector is {name!r}; it could be {nearest_words(name, selectors)}"
        )
    accepted = list(inspect.signature(selectors[name]).parameters)
    grid = table.get("grid", {})
    if grid == "published":
        grid = getattr(selectors[name], "PARAM_GRID", {})
    parameters = _parameters(
        table.get("parameters", {}), accepted, f"{where}parameters"
    )
    if clusters is not None and "n_clusters" in accepted:
        parameters = {"n_clusters": clusters, **parameters}
    warm_start = table.get("warm_start", False)
    if not isinstance(warm_start, bool):
        raise ValueError(
            f"{where}warm_start is {warm_start!r}; it could be true or false"
        )
    if warm_start and "init" not in accepted:
        raise ValueError(
            f"{where}warm_start is true, but {name} takes no start; leave it out"
        )
    return Method(
        label=text_at(table, "label", name, where=where),
        selector=name,
        parameters=parameters,
        grid=_grid(grid, accepted, f"{where}grid"),
        fixed=_parameters(table.get("fixed", {}), accepted, f"{where}fixed"),
        # Without chance in the method, another seed gives the same ranking.
        seeds=integer_at(table, "seeds", 1, least=1, where=where)
        if "random_state" in accepted
        else 1,
        warm_start=warm_start,
    )


def _parameters(value: Any, accepted: list[str], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is {value!r}; make it a table of parameters")
    refuse_unknown_keys(value, accepted, f"{where}.")
    return dict(value)


def _grid(value: Any, accepted: list[str], where: str) -> dict[str, list[Any]]:
    if not isinstance(value, Mapping):
        raise ValueError(
            f"{where} is {value!r}; it could be 'published' or a table of lists"
        )
    for name, values in _parameters(value, accepted, where).items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"{where}.{name} is {values!r}; make it a list of values")
    return dict(value)


def plan_names() -> list[str]:
    """Return the names of the plans that come with the project.

    Examples
    --------
    >>> "quick" in plan_names()
    True
    """
    return sorted(path.stem for folder in FOLDERS for path in folder.glob("*.toml"))


def plan_path(name: str) -> Path:
    """Return the file of a plan that comes with the project."""
    for folder in FOLDERS:
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    raise ValueError(
        f"no plan is called {name!r}; there are: {', '.join(plan_names())}"
    )


def find_plan(given: Path) -> Path:
    """Return a file, or else the plan of that name that comes with the project.

    Examples
    --------
    >>> find_plan(Path("quick")).name
    'quick.toml'
    """
    if given.is_file():
        return given
    if str(given) in plan_names():
        return plan_path(str(given))
    raise ValueError(
        f"{given} does not exist; name a plan in TOML, or one that comes with the "
        f"project: {', '.join(plan_names())}"
    )
