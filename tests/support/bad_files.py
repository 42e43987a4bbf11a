"""Files that must be refused, each written to a folder and named by its fault."""

import pickle

import h5py
import numpy as np
import scipy.io
from matlab_files import save_73
from small_tables import NAMES, small_frame, write_frame

VERSION_73 = "version-7.3.mat"
WITH_NAMES = ["a.csv", "a.tsv", "a.parquet", "a.feather", "a.xlsx"]
COMPRESSED = ["a.csv.gz", "a.csv.bz2", "a.csv.xz"]
WITHOUT_NAMES = ["a.npy", "a.npz", "a.mat", VERSION_73, "a.mtx", "a.h5ad"]
FORMATS = [*WITH_NAMES, *COMPRESSED, *WITHOUT_NAMES]


def whole(path, frame=None):
    """Write a valid table, or the given frame."""
    frame = small_frame() if frame is None else frame
    if path.name == VERSION_73:
        save_73(path, X=frame[NAMES].to_numpy())
        return path
    return write_frame(path, frame)


def cut_off(path):
    content = whole(path).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def damaged_inside(path):
    """Overwrite the middle of a file, so that checksums or lengths are wrong."""
    content = bytearray(whole(path).read_bytes())
    middle = len(content) // 2
    content[middle : middle + 40] = b"\xa5" * 40
    path.write_bytes(content)


def empty(path):
    path.touch()


def text_of_a_letter(path):
    path.write_text("Dear colleague,\nthe table is attached.\nYours\n")


def with_a_gap(path):
    frame = small_frame()
    frame.loc[5, "g4"] = np.nan
    whole(path, frame)


def with_one_row(path):
    whole(path, small_frame().iloc[:1])


def with_text_in_numbers(path):
    frame = small_frame().astype({"g4": object})
    frame["g4"] = frame["g4"].astype(str)
    frame.loc[5, "g4"] = "tall"
    whole(path, frame)


def with_text_only(path):
    frame = small_frame()
    frame[NAMES] = "tall"
    whole(path, frame)


def with_a_short_row(path):
    content = whole(path).read_text()
    path.write_text(content.rstrip()[: -len(",3.5,tall")])


def of_objects(path):
    values = np.array([[1, None], ["a", 2]], dtype=object)
    if path.suffix == ".npy":
        np.save(path, values, allow_pickle=True)
    else:
        np.savez(path, X=values)


def of_three_dimensions(path):
    np.save(path, np.zeros((4, 3, 2)))


def pickled(path):
    path.write_bytes(pickle.dumps(np.eye(3)))


def of_cells_only(path):
    scipy.io.savemat(path, {"names": np.array(["a", "b"], dtype=object)})


def without_x(path):
    whole(path)
    with h5py.File(path, "r+") as file:
        del file["X"]


def beginning(start):
    """Return a function that writes a file with the first bytes of another format."""

    def write(path):
        path.write_bytes(start + bytes(200))

    return write
