"""What a run asks of every benchmark, and where the data are."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ufselect.data import data_folder


@dataclass(frozen=True)
class Settings:
    """What the command line asks of a benchmark."""

    quick: bool = False
    repeats: int | None = None
    sets: tuple[str, ...] | None = None
    # The interpreter of an environment with other packages.
    peers: str | None = None

    def options(self) -> str:
        """Return what else was said on the command line, as far as it matters."""
        parts = ["--quick"] if self.quick else []
        parts += [f"--repeats {self.repeats}"] if self.repeats else []
        parts += [f"--sets {','.join(self.sets)}"] if self.sets else []
        return " ".join(parts)

    def repetitions(self, usual: int) -> int:
        """Return how often to repeat."""
        return self.repeats or (min(usual, 3) if self.quick else usual)

    def names_of_sets(
        self, usual: Sequence[str], quick: Sequence[str]
    ) -> Sequence[str]:
        """Return the data sets to measure on."""
        return self.sets or (quick if self.quick else usual)


def find_set(name: str) -> Path:
    """Return the file of a labelled data set."""
    folder = data_folder()
    if folder is None:
        raise ValueError("no data: set UFSELECT_DATA to the folder of the .mat files")
    return folder / f"{name}.mat"
