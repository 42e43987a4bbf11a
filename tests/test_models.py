"""Selectors in files: the same when they come back, and nothing else comes in."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import ufselect
from ufselect import (
    SCFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
    StabilitySelection,
    all_selectors,
    load_selector,
    save_selector,
)
from ufselect.models import DESCRIPTION, ModelError, known_selectors

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 7)) + 4 * (np.arange(24) % 2)[:, np.newaxis] * (
    np.arange(7) < 3
)
FRAME = pd.DataFrame(X, columns=[f"=gene {place}" for place in range(7)])


def instance(selector):
    """Return a selector that computes the same whenever it is asked, and little."""
    few = {"random_state": 0, "max_iter": 3, "n_subsamples": 3}
    return selector(**{n: few[n] for n in few if n in selector().get_params()})


AROUND = [
    Consensus([LaplacianScore(), SCFS(n_clusters=2)], 3, random_state=0),
    Consensus([("one", MaxVariance()), ("other", RandomSelection(random_state=1))], 2),
    StabilitySelection(MaxVariance(), 2, n_subsamples=3, random_state=0),
    AutoSelect(Consensus([LaplacianScore(), MaxVariance()]), random_state=0),
    AutoSelect(SCFS(), n_clusters=2, random_state=0),
]


def through_a_file(selector, folder):
    save_selector(selector, folder / "a.selector")
    return load_selector(folder / "a.selector")


def assert_same(one, other):
    """Compare values of whatever selectors hold, selectors included."""
    assert type(one) is type(other)
    if isinstance(one, ufselect.UnsupervisedSelector):
        kept = [name for name in vars(one) if not name.startswith("_skl")]
        assert_same({name: vars(one)[name] for name in kept}, vars(other))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other or one != one


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "selector",
    [*map(instance, known_selectors().values()), *AROUND],
    ids=lambda selector: type(selector).__name__,
)
def test_every_selector_comes_back_as_it_was(tmp_path, selector):
    fitted = clone(selector).fit(FRAME)
    again = through_a_file(fitted, tmp_path)

    assert_same(fitted, again)
    assert repr(again) == repr(fitted)
    assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(again.transform(FRAME), fitted.transform(FRAME))


def test_all_selectors_are_known():
    classes = {n for n in ufselect.__all__ if isinstance(getattr(ufselect, n), type)}

    assert set(all_selectors()) < set(known_selectors())
    assert set(known_selectors()) == classes - {"UnsupervisedSelector"}


def test_outputs_and_parameters_are_kept(tmp_path):
    fitted = MaxVariance(2).set_output(transform="pandas").fit(FRAME)
    again = through_a_file(fitted, tmp_path)
    assert isinstance(again.transform(FRAME), pd.DataFrame)

    again = through_a_file(SCFS(alpha=np.float32(0.5)), tmp_path)
    assert again.get_params() == SCFS(alpha=np.float32(0.5)).get_params()
    assert not hasattr(again, "scores_")


class Foreign(MaxVariance):
    pass


def test_what_cannot_be_kept_is_refused_when_it_is_saved(tmp_path):
    path = tmp_path / "a.selector"
    with pytest.raises(ModelError, match="Foreign is not a selector of ufselect"):
        save_selector(Foreign(), path)
    for value in (b"x", {1, 2}, max, 1j, np.array([1j]), np.random.RandomState(3)):
        with pytest.raises(ModelError, match="a selector file cannot hold"):
            save_selector(MaxVariance(value), path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ModelError, match=r"cannot be written .* choose another place"):
        save_selector(MaxVariance(), tmp_path / "none" / "a.selector")


# Files that somebody made.


def write(path, save=np.savez, **arrays):
    with path.open("wb") as stream:
        save(stream, **arrays)


def rewritten(path, change):
    """Save a selector, and write its file again with a change to what is in it."""
    save_selector(AutoSelect(MaxVariance(), random_state=0).fit(FRAME), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    description = json.loads(arrays[DESCRIPTION].tobytes())
    change(description, arrays)
    text = json.dumps(description).encode()
    write(path, **{**arrays, DESCRIPTION: np.frombuffer(text, np.uint8)})


def put(section, name, value):
    def change(description, arrays):
        description["selector"][section][name] = value

    return change


def left_out(section, name):
    return lambda description, arrays: description["selector"][section].pop(name)


def described(**entries):
    return lambda description, arrays: description.update(entries)


def learned_array(name, values):
    def change(description, arrays):
        arrays["forged"] = np.asarray(values)
        description["selector"]["learned"][name] = {"is": "array", "name": "forged"}

    return change


def names(*values):
    return {"is": "names", "names": values, "objects": True}


HOSTILE = {
    "another class": lambda d, _: d["selector"].update({"class": "Popen"}),
    "no selector": described(selector=[1]),
    "a deep list": described(selector=json.loads("[" * 500 + "]" * 500)),
    "nothing": described(selector=None),
    "no version": described(version="1"),
    "what means nothing": described(selector={"is": "os.system"}),
    "a method": put("learned", "transform", 1),
    "a private name": put("learned", "__class__", "x"),
    "what is in the class": put("learned", "_parameter_constraints", {}),
    "a part that is missing": left_out("learned", "order_"),
    "a parameter that is missing": left_out("parameters", "selector"),
    "a parameter too many": put("parameters", "command", "rm"),
    "a parameter that is none": put("parameters", "n_jobs", "many"),
    "too many selected": put("learned", "n_selected_", 8),
    "fewer than none selected": put("learned", "n_selected_", -1),
    "truth for a number": put("learned", "n_selected_", True),
    "other names": put("learned", "feature_names_in_", names("a")),
    "names of numbers": put("learned", "feature_names_in_", names(1)),
    "an order that is none": learned_array("order_", np.zeros(7, dtype=int)),
    "scores of text": put("learned", "scores_", names(*"abcdefg")),
    "scores that are no numbers": learned_array("scores_", np.full(7, np.nan)),
    "complex scores": learned_array("scores_", np.full(7, 1j)),
    "scores that are an array of dates": learned_array("scores_", np.zeros(7, "M8[s]")),
    "an output that is none": lambda d, _: d["selector"].update(output="word"),
    "no such array": put("learned", "scores_", {"is": "array", "name": "x"}),
    "a record that is too long": put("learned", "structure_", [1] * 99),
}


def refusal(path):
    with pytest.raises(ModelError) as caught:
        load_selector(path)
    (said,) = str(caught.value).splitlines()
    assert len(said) < 500
    return said


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_what_somebody_made_up_is_refused_in_one_sentence(tmp_path, change):
    rewritten(tmp_path / "a.selector", change)

    assert refusal(tmp_path / "a.selector").endswith("save the selector again")


def test_nothing_was_wrong_with_the_file_but_the_change(tmp_path):
    path = tmp_path / "a.selector"
    rewritten(path, described())

    assert repr(load_selector(path).selector) == "MaxVariance()"
    rewritten(path, described(version=3))
    assert "version 3 of the format" in refusal(path)
    assert "install a newer one" in refusal(path)


def more_than_there_is(stream, **arrays):
    inner = io.BytesIO()
    np.save(inner, np.zeros(7))
    wide = inner.getvalue().replace(b"(7,), }" + b" " * 10, b"(70000000000,), }")
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", wide)


class Program:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_a_changed_byte_is_refused_or_means_nothing(tmp_path):
    path = tmp_path / "a.selector"
    fitted = MaxVariance(2).fit(FRAME)
    save_selector(fitted, path)
    whole, n_refused = path.read_bytes(), 0
    for where in range(0, len(whole), 7):
        content = bytearray(whole)
        content[where] ^= 1 << where % 8
        path.write_bytes(content)
        try:
            assert_same(fitted, load_selector(path))
        except ModelError as error:
            n_refused += "is not a selector file, or is damaged" in str(error)
    assert n_refused > 0.8 * len(whole) / 7


@pytest.mark.parametrize(
    ("save", "arrays", "said"),
    [
        (np.savez, {"a": np.array([Program()], dtype=object)}, "Python objects"),
        (np.savez_compressed, {"a": np.zeros(10**6)}, "is compressed"),
        (more_than_there_is, {}, "which is more than it holds"),
    ],
    ids=["a pickle", "compressed", "a bomb"],
)
def test_no_pickle_and_no_bomb_is_accepted(tmp_path, save, arrays, said):
    write(tmp_path / "a.selector", save, **arrays)
    assert said in refusal(tmp_path / "a.selector")


def test_other_files_folders_and_pipes_are_refused(tmp_path):
    path = tmp_path / "a.selector"
    save_selector(MaxVariance(2).fit(FRAME), path)
    whole = path.read_bytes()
    for content in (b"", b"text", pickle.dumps([1]), b"PK\3\4" * 9, whole[:-9]):
        path.write_bytes(content)
        assert "is not a selector file, or is damaged" in refusal(path)
    assert "is not a file; name one" in refusal(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "is not a file; name one" in refusal(tmp_path / "pipe")
