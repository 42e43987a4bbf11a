"""Settings that all studies have in common, and the folder of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ufselect.data import data_folder

# Two labelled sets, one of either half.
SMALL = "lung_small,lymphoma"


@dataclass(frozen=True)
class Settings:
    """What the command line asks of a study."""

    quick: bool = False
    repeats: int | None = None
    sets: tuple[str, ...] | None = None
    seed: int = 0
    # The interpreter of an environment with other packages.
    peers: str | None = None

    def options(self) -> str:
        """Return what else was said on the command line, as far as it matters."""
        parts = ["--quick"] if self.quick else []
        parts += [f"--repeats {self.repeats}"] if self.repeats else []
        parts += [f"--sets {','.join(self.sets)}"] if self.sets else []
        parts += [f"--seed {self.seed}"] if self.seed else []
        return " ".join(parts)

    def repetitions(self, usual: int) -> int:
        """Return how often to repeat what is timed."""
        return self.repeats or (min(usual, 3) if self.quick else usual)

    def count(self, long: int, quick: int) -> int:
        """Return how often to try what may fail."""
        return quick if self.quick else long

    def names_of_sets(
        self, usual: Sequence[str], quick: Sequence[str]
    ) -> Sequence[str]:
        """Return the data sets to measure on."""
        return self.sets or (quick if self.quick else usual)


def research_data() -> Path:
    """Return the folder of the labelled data sets."""
    folder = data_folder()
    if folder is None:
        raise ValueError("no data: set UFSELECT_DATA to the folder of the .mat files")
    return folder


def find_set(name: str) -> Path:
    """Return the file of a labelled data set."""
    return research_data() / f"{name}.mat"


def paths_of_halves(names: Sequence[str] | None = None) -> dict[str, list[Path]]:
    """Return the files of two halves, one to develop criteria on, one to report.

    Every other one in alphabetical order belongs to the same half. With names, those of
    them; which half a set belongs to stays the same.
    """
    found = research_data().glob("*.mat")
    paths = sorted(found, key=lambda path: path.stem.lower())
    return {
        half: [path for path in some if names is None or path.stem in names]
        for half, some in {"development": paths[0::2], "reporting": paths[1::2]}.items()
    }
