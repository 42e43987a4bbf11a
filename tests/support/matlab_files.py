"""MATLAB files of version 7.3, in the HDF5 layout of MATLAB."""

import numpy as np
import scipy.sparse as sp

HEADER = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon".ljust(124)


def save_73(path, **variables):
    """Write variables as MATLAB does, in column order with classes as attributes."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in variables.items():
            if sp.issparse(values):
                columns = sp.csc_array(values)
                group = file.create_group(name)
                group["data"], group["ir"] = columns.data, columns.indices
                group["jc"] = columns.indptr
                group.attrs["MATLAB_sparse"] = np.uint64(values.shape[0])
                group.attrs["MATLAB_class"] = np.bytes_("double")
            elif isinstance(values, list):
                save_cells(file, name, values)
            else:
                file[name] = np.asarray(values).T
                file[name].attrs["MATLAB_class"] = np.bytes_("double")
    add_header(path)


def add_header(path):
    with path.open("r+b") as stream:
        stream.write(HEADER + b"\0\x02IM")


def save_cells(file, name, texts):
    import h5py

    references = []
    for number, text in enumerate(texts):
        characters = np.array([[ord(letter)] for letter in text], dtype=np.uint16)
        file[f"#refs#/{name}{number}"] = characters
        references.append([file[f"#refs#/{name}{number}"].ref])
    dataset = file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
    dataset.attrs["MATLAB_class"] = np.bytes_("cell")
