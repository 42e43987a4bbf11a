"""The table itself: its names, and the features that are not complete."""

from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ufselect.data import read_table
from ufselect.data.tables.table import Origin, Table


def table_of(values, names=None):
    origin = Origin("nowhere", "nothing")
    return Table(values, names, None, None, None, None, "npy", (), origin)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_incomplete_features_are_named(monkeypatch, kind):
    monkeypatch.setattr("ufselect.data.tables.table.BLOCK_CELLS", 6)
    values = np.ones((5, 4))
    values[4, 2], values[1, 0] = np.nan, np.inf

    assert table_of(kind(values)).incomplete().tolist() == ["x1", "x3"]


def test_complete_table_has_no_incomplete_feature():
    assert table_of(np.ones((5, 4))).incomplete().tolist() == []


def test_feature_that_may_be_the_labels_is_noted():
    text = b"a,b,Class\n1,2,0\n3,4,1\n"

    assert any("--labels Class" in note for note in read_table(BytesIO(text)).notes)
    labelled = read_table(BytesIO(text), labels="Class")
    assert not any("--labels" in note for note in labelled.notes)


@pytest.mark.parametrize("source", [StringIO("a,b\n1,2\n"), pd.DataFrame(), 3])
def test_other_sources_are_refused(source):
    with pytest.raises(TypeError, match="give a path, or a file that was opened in"):
        read_table(source)
