"""The labelled sets in two halves: one to develop criteria on, one to report."""

from ufselect.data import data_folder

# One of either half.
SMALL = "lung_small,lymphoma"

# Judged on so many samples at most.
MOST_SAMPLES = 2000


def paths_of_halves(names=None):
    """Return the files of either half: every other one in alphabetical order.

    With names, those of them; which half a set belongs to stays the same.
    """
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    paths = sorted(folder.glob("*.mat"), key=lambda path: path.stem.lower())
    return {
        half: [path for path in some if names is None or path.stem in names]
        for half, some in {"development": paths[0::2], "reporting": paths[1::2]}.items()
    }
