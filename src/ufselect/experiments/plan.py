"""Plans: data sets, methods with their grids, and how to judge them.

A plan is a TOML file. The message for a mistake names the key and the allowed values.
"""

import inspect
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from ufselect._names import nearest_words
from ufselect.experiments.protocol import METRICS, PREPARATIONS
from ufselect.registry import META_SELECTORS, all_selectors, own_selector
from ufselect.selectors import UnsupervisedSelector


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

    def choice(self, key: str, known: Iterable[str]) -> str:
        """Return the text at a key, one of the known."""
        value = self.text(key)
        if value not in known:
            raise self.wrong(key, f"it could be {nearest_words(value, known)}")
        return value

    def integer(self, key: str, default: int, least: int) -> int:
        """Return the whole number at a key."""
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"it must be a whole number of at least {least}")
        return value

    def limit(self, key: str, unit: str) -> float | None:
        """Return the positive number at a key, or None if it is not given."""
        value = self.content.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 < value < inf):
            raise self.wrong(key, f"it must be a number of {unit} above 0")
        return value

    def items(self, key: str, kind: type, default: Any = None) -> tuple[Any, ...]:
        """Return the different items of the list at a key, all of one type."""
        value = self.content.get(key, default)
        if not isinstance(value, list | tuple) or not value:
            raise self.wrong(key, "it must be a list with at least one item")
        for item in value:
            if not isinstance(item, kind) or isinstance(item, bool):
                raise ValueError(
                    f"{self.where}{key} has {item!r}, which is not of type "
                    f"{kind.__name__}"
                )
        return tuple(dict.fromkeys(value))

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
    *("run_timeout", "run_memory", "judge", "methods"),
)
METHOD_KEYS = ("selector", "label", "parameters", "grid", "fixed", "seeds")
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

    def grid_points(self) -> list[dict[str, Any]]:
        """Return the parameters of every point of the grid."""
        if not self.grid:
            return []
        return [
            {**self.parameters, **dict(zip(self.grid, values, strict=True))}
            for values in product(*self.grid.values())
        ]

    def fixed_point(self) -> dict[str, Any]:
        """Return the setting that is chosen without labels."""
        return {**self.parameters, **self.fixed}


@dataclass(frozen=True)
class Plan:
    """An experiment.

    A run may take ``timeout`` seconds and ``memory`` gigabytes; None is no limit.
    """

    name: str
    description: str
    sets: tuple[str, ...]
    preparations: tuple[str, ...]
    methods: tuple[Method, ...]
    judge: Judge
    seed: int
    timeout: float | None = None
    memory: float | None = None


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
        timeout=table.limit("run_timeout", "seconds"),
        memory=table.limit("run_memory", "gigabytes"),
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


def known_methods() -> dict[str, type[UnsupervisedSelector]]:
    """Return every selector that a plan may name, also those that fit others."""
    return all_selectors() | {name: own_selector(name) for name in META_SELECTORS}


def _method(table: PlanTable, clusters: Any) -> Method:
    selectors = known_methods()
    name = table.choice("selector", selectors)
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
    for key, value in [*parameters.items(), *fixed.items()]:
        _check_members(table.where, key, value, selectors)
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
    seeds = table.integer("seeds", 1, least=1)
    return Method(
        label=table.text("label", name),
        selector=name,
        parameters=parameters,
        grid=dict(grid),
        fixed=fixed,
        # A deterministic method gives the same ranking for every seed.
        seeds=seeds if "random_state" in accepted else 1,
    )


def _check_members(
    where: str, key: str, value: Any, selectors: Mapping[str, Any]
) -> None:
    """Check the names of the selectors that a selector fits."""
    if key == "selector":
        PlanTable({key: value}, [key], where.rstrip(".")).choice(key, selectors)
    elif key == "selectors":
        PlanTable({key: value}, [key], where.rstrip(".")).choices(key, selectors, ())


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
        f"{name} does not exist; name a plan in TOML, or one that comes with the "
        f"project: {', '.join(plan_names())}"
    )


def find_plan(given: Path) -> Path:
    """Return the path of a plan: a file, or a plan of the project by its name.

    Examples
    --------
    >>> find_plan(Path("quick")).name
    'quick.toml'
    """
    return given if given.is_file() else plan_path(str(given))
