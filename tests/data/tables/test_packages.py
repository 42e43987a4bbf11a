"""Formats whose package is not installed say how to install it; others need none."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io

from ufselect.data import read_table, write_table

OPTIONAL = ["h5py", "openpyxl", "pandas", "polars", "pyarrow"]
FOLDER = Path(__file__).with_name("written_by_anndata")


@pytest.mark.parametrize(
    ("name", "package"),
    [("a.parquet", "pyarrow"), ("a.feather", "pyarrow"), ("a.xlsx", "openpyxl")],
)
def test_missing_package_is_named_with_the_remedy(tmp_path, monkeypatch, name, package):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    writers = {".parquet": "to_parquet", ".feather": "to_feather", ".xlsx": "to_excel"}
    getattr(frame, writers[Path(name).suffix])(tmp_path / name)
    table = read_table(tmp_path / name)
    for module in [each for each in sys.modules if each.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)

    remedy = rf'{package}; pip install "ufselect\[(parquet|excel)\]" installs it'
    with pytest.raises(ImportError, match=remedy):
        read_table(tmp_path / name)
    with pytest.raises(ImportError, match=remedy):
        write_table(table, [0], tmp_path / f"b{Path(name).suffix}")


def test_anndata_without_h5py(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)

    with pytest.raises(ImportError, match=r"h5py; pip install"):
        read_table(FOLDER / "dense.h5ad")


def test_other_formats_need_only_the_base_install(tmp_path):
    values = np.eye(3)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n")
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", X=values)
    scipy.io.savemat(tmp_path / "a.mat", {"X": values})
    scipy.io.mmwrite(tmp_path / "a.mtx", values)
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({OPTIONAL}))\n"
        "from ufselect.data import read_table, write_table\n"
        "for path in sys.argv[1:]:\n"
        "    write_table(read_table(path), [0], path)\n"
    )
    paths = sorted(map(str, tmp_path.iterdir()))
    subprocess.run([sys.executable, "-c", code, *paths], check=True)

    assert [read_table(path).shape for path in paths] == [(2, 1), *[(3, 1)] * 4]
