"""Look into the built archives: they hold what they should, and nothing else.

``python scripts/check_distributions.py dist`` ends with an error that names what is
missing or does not belong there.
"""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What the build adds to files of the repository.
WRITTEN_BY_THE_BUILD = {"PKG-INFO"}
ALWAYS = {".gitignore", "LICENSE", "README.md", "pyproject.toml"}
WRITTEN_INTO_THE_WHEEL = {"ufselect/_built_version.py"}


def main(folder: Path) -> None:
    """Check the only source distribution and the only wheel of a folder."""
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    tracked = tracked_files()
    expected_in_sdist = {path for path in tracked if belongs_to_sdist(path)}
    expected_in_wheel = {in_wheel(path) for path in tracked} - {None}
    problems = [
        *compare(sdist.name, files_of_sdist(sdist), expected_in_sdist),
        *compare(wheel.name, files_of_wheel(wheel), expected_in_wheel),
        *citation_problems(wheel),
    ]
    if problems:
        sys.exit("\n".join(problems))


def tracked_files() -> set[str]:
    """Return the files that belong to the repository."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return {path for path in listed.stdout.split("\0") if (ROOT / path).is_file()}


def belongs_to_sdist(path: str) -> bool:
    """Tell whether a file is one of those that pyproject.toml includes."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    include = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    roots = {each.strip("/") for each in include}
    return path in ALWAYS or path in roots or path.split("/")[0] in roots


def in_wheel(path: str) -> str | None:
    """Return where a file of the repository is in the wheel, if it is."""
    if path.startswith("src/ufselect/"):
        return path.removeprefix("src/")
    return f"ufselect/experiments/{path}" if path.startswith("plans/") else None


def files_of_sdist(archive: Path) -> set[str]:
    """Return the files of a source distribution that come from the repository."""
    with tarfile.open(archive) as opened:
        names = [each.name for each in opened.getmembers() if each.isfile()]
    return {name.split("/", 1)[1] for name in names} - WRITTEN_BY_THE_BUILD


def files_of_wheel(archive: Path) -> set[str]:
    """Return the files of a wheel that come from the repository."""
    names = set(zipfile.ZipFile(archive).namelist())
    missing = WRITTEN_INTO_THE_WHEEL - names
    if missing:
        sys.exit(f"{archive.name} lacks {', '.join(missing)}")
    own = {name for name in names if ".dist-info/" not in name}
    return own - WRITTEN_INTO_THE_WHEEL


def compare(name: str, found: set[str], expected: set[str | None]) -> list[str]:
    """Return a sentence for each file too many or too few."""
    return [
        *(f"{name} lacks {path}" for path in sorted(expected - found, key=str)),
        *(f"{name} should not hold {path}" for path in sorted(found - expected)),
    ]


def citation_problems(wheel: Path) -> list[str]:
    """Return what is wrong if a release is not the version that is to be cited."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (n for n in opened.namelist() if n.endswith(".dist-info/METADATA"))
        text = opened.read(name).decode()
    version = HeaderParser().parsestr(text)["Version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    if "dev" in version or f"version: {version}" in citation:
        return []
    return [f"CITATION.cff does not say version: {version}"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
