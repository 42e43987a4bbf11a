"""Where the plans are that come with the project."""

from pathlib import Path

# In a wheel the plans lie in this room, in a source checkout at the root.
FOLDERS = (
    Path(__file__).parent / "plans",
    Path(__file__).resolve().parents[3] / "plans",
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
