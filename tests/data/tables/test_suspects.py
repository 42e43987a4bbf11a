"""What is no feature by default, which way a table lies, and the preview of a file."""

import json
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from table_reading import check, noted, refused

from ufselect.data import TableError, preview, read_table, write_table
from ufselect.data.tables.missing import incomplete_error

GENES = ["TP53", "MYC", "KRAS", "EGFR", "BRCA1", "PTEN", "RB1", "CDH1", "ATM", "VHL"]


def stream(frame, **options):
    return BytesIO(frame.to_csv(**{"index": False} | options).encode())


def save(frame, path):
    writers = {"xlsx": "to_excel", "parquet": "to_parquet", "feather": "to_feather"}
    ending = path.suffix[1:]
    options = {"index": False} if ending in ("csv", "xlsx") else {}
    getattr(frame, writers.get(ending, "to_csv"))(path, **options)
    return path


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_digits])
def test_labels_of_well_known_sets_are_no_features(load):
    frame = load(as_frame=True).frame
    table = read_table(stream(frame))
    used = read_table(stream(frame), use=["target"])

    assert "target" not in table.feature_names
    assert table.shape[1] == frame.shape[1] - 1
    assert table.suspected_labels == ("target",)
    assert noted(table, "Column 'target' seems to hold labels and was left out; ")
    assert noted(table, "--labels target compares with it, --use-column target takes")
    assert "target" in used.feature_names
    assert used.suspected_labels == ()
    assert read_table(stream(frame), labels="target").suspected_labels == ()


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "feather"])
def test_counters_dates_labels_and_empty_columns_are_left_out(tmp_path, ending):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((40, 3)), columns=["a", "b", "c"])
    frame["visit"] = np.arange(40) + 7
    frame["taken"] = 1_600_000_000 + np.sort(random.integers(0, 10**6, 40))
    frame["day"] = 20_200_101 + np.sort(random.integers(0, 28, 40))
    frame["PatientId"] = random.permutation(40) * 3
    frame["time"] = np.arange(40) / 4
    frame["Diagnosis"] = np.arange(40) % 3
    frame["rare"] = np.where(np.arange(40) < 3, frame["a"], np.nan)
    frame["y"] = frame["a"] ** 2  # no classes
    frame["rank"] = frame["b"].rank()
    table = read_table(save(frame, tmp_path / f"a.{ending}"))
    use = ["visit", "rare"]
    used = read_table(tmp_path / f"a.{ending}", use=use)

    assert table.feature_names.tolist() == ["a", "b", "c", "y", "rank"]
    assert used.feature_names.tolist() == ["a", "b", "c", "visit", "rare", "y", "rank"]
    assert table.suspected_labels == ("Diagnosis",)
    assert {each.name: each.role for each in table.others} == {
        **dict.fromkeys(["visit", "taken", "day", "PatientId", "time"], "left out"),
        "Diagnosis": "label",
        "rare": "left out",
    }
    shown = "('visit', 'taken', 'day', 'PatientId' and 'time')"
    assert noted(table, f"5 columns {shown} count or date the samples and were left")
    hint = r"no column 'vist'; did you mean 'visit'\?"
    refused(hint, tmp_path / f"a.{ending}", use="vist")


def test_few_rows_coordinates_and_text_are_no_reason():
    assert read_table(BytesIO(b"n,b\n1,5\n2,7\n3,1\n")).shape == (3, 2)
    assert read_table(BytesIO(b"x,y\n1,0\n7,1\n4,1\n9,0\n")).shape == (4, 2)
    assert read_table(BytesIO(b"target\n1\n0\n1\n0\n")).shape == (4, 1)
    text = b"a,kind,class\n1,u,p\n2,v,q\n3,u,p\n4,w,q\n"
    assert read_table(BytesIO(text)).suspected_labels == ("class",)
    shown = {each.name: each.role for each in preview(BytesIO(text)).columns}
    assert shown["class"] == "label"
    refused("'kind' is text and cannot be a feature", text, use=["kind"])
    refused("'a' cannot be both a feature and labels", text, use=["a"], labels="a")
    assert read_table(BytesIO(b"id,a\n4,1\n9,2\n"), use=["id"]).shape == (2, 2)
    counted = "".join(f"{i},{i * i % 7},u{i % 3}\n" for i in range(20)).encode()
    assert read_table(BytesIO(counted)).feature_names.tolist() == ["x2"]
    assert read_table(BytesIO(counted), use=["1"]).shape == (20, 2)
    refused("'x3' is text and cannot be a feature", counted, use=["3"])


def test_groups_are_no_feature(tmp_path):
    text = b"id,patient,a,b\nx,1,1,2\ny,1,3,4\nz,2,5,6\n"
    table = read_table(BytesIO(text), groups="patient")
    np.savez(tmp_path / "a.npz", X=np.eye(3), who=np.array(["p", "p", "q"]))
    np.save(tmp_path / "a.npy", np.eye(3))
    rows = read_table(BytesIO(b"gene,s1,s2\npatient,1,2\nA,3,4\n"), groups="patient")

    check(table, feature_names=["a", "b"], groups=["1", "1", "2"])
    assert table.group_column == "patient"
    archive = read_table(tmp_path / "a.npz", groups="who")
    assert archive.groups.tolist() == ["p", "p", "q"]
    assert read_table(tmp_path / "a.npy", groups="2").groups.tolist() == ["0", "1", "0"]
    assert rows.groups.tolist() == ["1", "2"]
    refused("both dropped and used", text, groups="patient", drop=["patient"])
    both = preview(BytesIO(text), groups="patient", labels="patient")
    assert (both.n_columns, len(both.columns)) == (4, 4)


# Which way a table lies.


def lying(names, columns, title=""):
    values = np.random.default_rng(0).standard_normal((len(names), len(columns)))
    return pd.DataFrame(values, index=pd.Index(names, name=title), columns=columns)


def genes(count):
    return [
        f"{GENES[i % 10].rstrip('0123456789')}{chr(65 + i // 10)}{i % 7}"
        for i in range(count)
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_genes_in_rows_are_asked_for(tmp_path, ending):
    patients = [f"patient_{number}" for number in range(4)]
    cases = {
        "many genes": lying(genes(60), patients),
        "few genes": lying(GENES[:6], patients),
        "names": lying(GENES, ["ann", "bob", "eve"]),
        "metabolites": lying([f"{g.lower()} acid" for g in genes(60)], patients),
    }
    for frame in cases.values():
        path = tmp_path / f"a.{ending}"
        write = frame.to_csv if ending == "csv" else frame.rename_axis(None).to_parquet
        write(path)
        with pytest.raises(TableError, match="say which with --transpose") as caught:
            read_table(path)
        options = [remedy.options for remedy in caught.value.remedies]
        assert options == [("--transpose",), ("--no-transpose",)]
        assert read_table(path, transpose=True).shape == frame.T.shape
        assert read_table(path, transpose=False).shape == frame.shape
    one = lying(GENES, ["value"]).rename_axis(None)
    (one.to_csv if ending == "csv" else one.to_parquet)(path)
    assert read_table(path).shape == (10, 1)


@pytest.mark.parametrize(
    ("names", "columns", "title", "hint"),
    [
        ([f"q{i}" for i in range(20)], ["GSM1", "GSM2"], "name", False),
        ([f"TP{i}" for i in range(20)], ["ann", "bob"], "", True),
        ([f"TP{i}" for i in range(20)], ["ann", "bob"], "patient", False),
        ([str(i) for i in range(20)], ["ann", "bob"], "", False),
        (["Alabama", "Alaska", "Ohio"] * 7, ["murder", "assault"], "", True),
        ([f"P{i}" for i in range(30)], ["x1", "x2", "x3"], "", True),
    ],
)
def test_samples_in_rows_stay_there(names, columns, title, hint):
    frame = lying(names, columns, title)
    table = read_table(stream(frame, index=True))

    assert table.shape == frame.shape
    assert noted(table, "--transpose") == hint


# Preview.


def test_preview_describes_every_column():
    text = (
        "id;day;ok;a;b;kind;target;who\n"
        "x;2020-01-02;true;1,5;;u;0;p\ny;2020-01-03;false;2,5;7;v;1;p\n"
        "z;2020-01-04;true;-1;;;1;q\nw;2020-01-05;true;4;;v;0;q\n"
    )
    found = preview(BytesIO(text.encode()), groups="who", name="a.csv", drop=["ok"])
    columns = {column.name: column for column in found.columns}

    assert [(c.name, c.type, c.role) for c in found.columns] == [
        ("id", "text", "sample names"),
        ("day", "date", "left out"),
        ("ok", "number", "left out"),
        ("a", "number", "feature"),
        ("b", "number", "left out"),
        ("kind", "text", "left out"),
        ("target", "number", "label"),
        ("who", "text", "group"),
    ]
    assert columns["b"].why == "It is mostly missing."
    assert (columns["b"].n_missing, columns["b"].n_distinct) == (3, 1)
    assert (columns["a"].minimum, columns["a"].maximum) == (-1, 4)
    assert columns["kind"].examples == ["u", "v"]
    assert columns["kind"].n_missing == 1
    assert (found.file, found.format, found.transposed) == ("a.csv", "text", False)
    assert (found.n_rows, found.n_columns) == (4, 8)
    assert (found.n_samples, found.n_features) == (4, 1)
    assert found.problem is None
    assert found.options == ["--groups=who", "--drop=ok", "--labels=target"]
    assert json.loads(json.dumps(found.to_dict()))["n_described"] == 8


@pytest.mark.parametrize(
    ("text", "words", "options"),
    [
        ("a,b\n1,?\n2,3\n4,5\n", "numeric except for '?'", [["--na=?"], ["--drop=b"]]),
        (
            "a,b\n1,\n2,3\n4,5\n",
            "missing or infinite values in column 'b'",
            [["--fill=median"], ["--drop-incomplete=rows"], ["--drop=b"]],
        ),
        (
            "A study, of 2020\nid,a,b\nx,1,2\ny,3,4\n",
            "skip",
            [["--skip-rows=1"], ["--na=a"], ["--drop=A study"]],
        ),
        ("a,b,c\n1,2,3\n", "1 row of data", [["--transpose"]]),
    ],
)
def test_preview_says_what_is_wrong_and_what_helps(text, words, options):
    found = preview(BytesIO(text.encode()))

    assert words in found.problem
    assert [list(remedy.options) for remedy in found.remedies] == options
    assert found.options == options[0]
    assert found.to_dict()["remedies"][0]["options"] == options[0]


def test_preview_of_streams_on_hdf5_and_of_sparse_matrices(tmp_path):
    anndata = pytest.importorskip("anndata")
    values = sp.random(30, 20, 0.2, "csr", random_state=0)
    kinds = pd.Categorical(["T", "B"] * 15)
    obs = pd.DataFrame({"cell_type": kinds, "depth": np.arange(30) ** 2.5})
    obs.index = obs.index.astype(str)
    anndata.AnnData(values, obs).write_h5ad(tmp_path / "a.h5ad")
    for isolate in (True, False):
        with (tmp_path / "a.h5ad").open("rb") as file:
            found = preview(file, isolate=isolate)
        assert (found.n_rows, found.n_described) == (30, 23)
        assert [(c.name, c.type) for c in found.columns[:3]] == [
            *(("obs_names", "number"), ("cell_type", "text"), ("depth", "number"))
        ]
        assert found.options == ["--labels=cell_type"]
        column = found.columns[3]
        assert column.maximum == pytest.approx(values.toarray()[:, 0].max())
    table = read_table(tmp_path / "a.h5ad")
    write_table(table, [1], tmp_path / "b.csv")
    header = (tmp_path / "b.csv").read_text().split("\n")[0]
    assert header == f"obs_names,cell_type,depth,{table.feature_names[1]}"


def test_preview_of_what_cannot_be_read_and_of_wide_tables(tmp_path):
    with pytest.raises(TableError, match="no numeric column"):
        preview(BytesIO(b"a,b\nx,y\nx,z\n"))
    frame = lying(genes(2500), [f"s{i}" for i in range(4)])
    found = preview(stream(frame, index=True), transpose=True)
    counts = pd.DataFrame(np.random.default_rng(0).poisson(0.5, (50, 6)) * 60)

    assert found.transposed
    assert (found.n_rows, found.n_columns) == (2500, 5)
    assert (found.n_described, len(found.columns)) == (2000, 2000)
    assert found.columns[0].name == frame.index[0]
    assert "z-scores" in preview(stream(lying(range(500), ["a", "b"]))).scale
    assert "raw counts" in preview(stream(counts.add_prefix("g"))).scale
    counts[0] *= 1e6
    assert "different units" in preview(stream(counts.add_prefix("g") + 0.5)).scale


def test_every_missing_column_is_a_remedy():
    text = "id,-a,b c,d,e\nx,,,,\ny,1,2,3,\nz,1,2,3,4\nw,1,2,3,4\n"
    error = incomplete_error(read_table(BytesIO(text.encode())))

    assert "columns '-a', 'b c', 'd' and 1 more; fill them in" in str(error)
    assert "(--drop=-a --drop 'b c' --drop d ...)" in str(error)
    drop = ("--drop=-a", "--drop=b c", "--drop=d", "--drop=e")
    assert error.remedies[2].options == drop
    assert incomplete_error(read_table(BytesIO(b"a,b\n1,2\n3,4\n"))) is None
