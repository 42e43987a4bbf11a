"""Plans: data sets, methods with their grids, and how to judge them.

A plan is a TOML file. The message for a mistake names the key and the allowed values.
"""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from ufselect._names import nearest_words
from ufselect.experiments.limits import NO_LIMITS, Limits, bytes_of
from ufselect.experiments.protocol import METRICS, PREPARATIONS
from ufselect.registry import all_selectors

Number = TypeVar("Number", int, float)


class PlanTable:
    """A table of a plan; error messages name its keys."""

    def __init__(
        self, content: Any, known: Iterable[str], where: str = "", what: str = "a table"
    ) -> None:
        if not isinstance(content, Mapping):
            raise ValueError(f"{where} is {content!r}; make it {what}")
        self.content = content
        self.where = f"{where}." if where else ""
        for key in content:
            if key not in known:
                raise ValueError(
                    f"unknown key {self.where}{key}; it could be "
                    f"{nearest_words(key, known)}"
                )

    def wrong(self, key: str, remedy: str) -> ValueError:
        """Return the error for the value at a key."""
        value = self.content.get(key)
        said = "is missing" if value is None else f"is {value!r}"
        return ValueError(f"{self.where}{key} {said}; {remedy}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text at a key."""
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "it must be a text")
        return value

    def integer(self, key: str, default: int, least: int) -> int:
        """Return the whole number at a key."""
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"it must be a whole number of at least {least}")
        return value

    def limit(self, key: str, example: str, read: Callable[[str], Number]) -> Any:
        """Return a positive size or time, or None if it is not given."""
        value = self.content.get(key)
        if value is None:
            return None
        with suppress(ValueError):
            if not isinstance(value, bool) and 0 < (limit := read(str(value))) < inf:
                return limit
        raise self.wrong(key, f"write it like {example}")

    def items(self, key: str, kind: type, default: Any = None) -> tuple[Any, ...]:
        """Return the list at a key, of at least one item, all of one type."""
        value = self.content.get(key, default)
        if not isinstance(value, list | tuple) or not value:
            raise self.wrong(key, "it must be a list with at least one item")
        for item in value:
            if not isinstance(item, kind) or isinstance(item, bool):
                raise ValueError(
                    f"{self.where}{key} has {item!r}, which is not of type "
                    f"{kind.__name__}"
                )
        return tuple(value)

    def choices(
        self, key: str, known: Iterable[str], default: Iterable[str]
    ) -> tuple[str, ...]:
        """Return the list at a key, of known items only."""
        value = self.items(key, str, tuple(default))
        for item in value:
            if item not in known:
                could = nearest_words(item, known)
                raise ValueError(f"{self.where}{key} has {item!r}; it could be {could}")
        return value


KEYS = (
    *("name", "description", "sets", "preparations", "features", "clusters", "seed"),
    *("cell_timeout", "cell_memory", "judge", "methods"),
)
METHOD_KEYS = (
    *("selector", "label", "parameters", "grid", "fixed", "seeds", "warm_start"),
)
# A wheel has the plans of the project in this folder, a source checkout at its root.
FOLDERS = (
    Path(__file__).parent / "plans",
    Path(__file__).resolve().parents[3] / "plans",
)
ALL_FEATURES = "all features"
# Baselines that are added to every plan.
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
    """A selector with a grid, from which labels choose, and one fixed setting."""

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
        """Return the paths of warm starts, as lists of points.

        On a path only the last parameter of the grid changes. Without warm starts
        every point is a path of its own.
        """
        points = self.grid_points()
        length = len(list(self.grid.values())[-1]) if self.warm_start else 1
        return [points[at : at + length] for at in range(0, len(points), length)]

    def fixed_point(self) -> dict[str, Any]:
        """Return the setting that is chosen without labels."""
        return {**self.parameters, **self.fixed}


@dataclass(frozen=True)
class Plan:
    """An experiment."""

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
    table = PlanTable(content, KEYS)
    features = table.items("features", int)
    if min(features) < 1:
        raise table.wrong("features", "list numbers of at least 1")
    seed = table.integer("seed", 0, least=0)
    judge = PlanTable(
        content.get("judge", {}),
        ["repetitions", "restarts", "metrics"],
        "judge",
        "a table, [judge]",
    )
    return Plan(
        name=table.text("name"),
        description=table.text("description", ""),
        sets=table.items("sets", str),
        preparations=table.choices("preparations", PREPARATIONS, ["none"]),
        methods=_methods(table),
        judge=Judge(
            features=tuple(sorted(set(features))),
            repetitions=judge.integer("repetitions", 20, least=1),
            restarts=judge.integer("restarts", 10, least=1),
            metrics=judge.choices("metrics", METRICS, Judge.metrics),
            seed=seed,
        ),
        seed=seed,
        limits=Limits(
            table.limit("cell_timeout", "600", float),
            table.limit("cell_memory", '"2GB"', bytes_of),
        ),
    )


def _methods(plan: PlanTable) -> tuple[Method, ...]:
    tables, clusters = plan.content.get("methods"), plan.content.get("clusters")
    if not isinstance(tables, list) or not tables:
        raise ValueError("methods is missing; add at least one [[methods]] table")
    is_number = isinstance(clusters, int) and not isinstance(clusters, bool)
    if clusters not in (None, "classes") and not (is_number and clusters > 0):
        raise plan.wrong(
            "clusters",
            "it could be 'classes' (the number of classes is told to the methods, as "
            "papers do), a number, or left out",
        )
    methods = [
        _method(PlanTable(each, METHOD_KEYS, f"methods[{place}]"), clusters)
        for place, each in enumerate(tables)
    ]
    labels = [method.label for method in methods]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"two methods have the label {label!r}; give one another label"
            )
    added = [
        Method(label, **each)
        for label, each in BASELINES.items()
        if label not in labels
    ]
    return (*methods, *added)


def _method(table: PlanTable, clusters: Any) -> Method:
    selectors = all_selectors()
    name = table.text("selector")
    if name not in selectors:
        could = nearest_words(name, selectors)
        raise table.wrong("selector", f"it could be {could}")
    accepted = list(inspect.signature(selectors[name]).parameters)
    parameters, fixed = (
        dict(
            PlanTable(
                table.content.get(key, {}),
                accepted,
                f"{table.where}{key}",
                "a table of parameters",
            ).content
        )
        for key in ("parameters", "fixed")
    )
    if clusters is not None and "n_clusters" in accepted:
        parameters = {"n_clusters": clusters, **parameters}
    grid = table.content.get("grid", {})
    if grid == "published":
        grid = getattr(selectors[name], "PARAM_GRID", {})
    if not isinstance(grid, Mapping):
        raise table.wrong("grid", "it could be 'published' or a table of lists")
    checked = PlanTable(grid, accepted, f"{table.where}grid")
    for each, values in grid.items():
        if not isinstance(values, list) or not values:
            raise checked.wrong(each, "make it a list of values")
    warm_start = table.content.get("warm_start", False)
    if not isinstance(warm_start, bool):
        raise table.wrong("warm_start", "it could be true or false")
    if warm_start and "init" not in accepted:
        raise ValueError(
            f"{table.where}warm_start is true, but {name} takes no start; leave it out"
        )
    seeds = table.integer("seeds", 1, least=1)
    return Method(
        label=table.text("label", name),
        selector=name,
        parameters=parameters,
        grid=dict(grid),
        fixed=fixed,
        # A deterministic method gives the same ranking for every seed.
        seeds=seeds if "random_state" in accepted else 1,
        warm_start=warm_start,
    )


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
    paths = [folder / f"{name}.toml" for folder in FOLDERS]
    for path in paths:
        if path.is_file():
            return path
    raise ValueError(
        f"no plan is called {name!r}; there are: {', '.join(plan_names())}"
    )


def find_plan(given: Path) -> Path:
    """Return the path of a plan: a file, or a plan of the project by its name.

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
