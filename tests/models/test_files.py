"""Selectors in files: the same when they come back, and nothing else comes in."""

import io
import json
import pickle
import zipfile
from pathlib import Path

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
from ufselect.models import ModelError
from ufselect.models.files import DESCRIPTION
from ufselect.models.known import known_selectors

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
    assert set(all_selectors()) < set(known_selectors())
    assert set(known_selectors()) == {
        name
        for name in ufselect.__all__
        if isinstance(getattr(ufselect, name), type) and name != "UnsupervisedSelector"
    }


def test_one_that_was_not_fitted_stays_so(tmp_path):
    again = through_a_file(SCFS(alpha=np.float32(0.5)), tmp_path)

    assert again.get_params() == SCFS(alpha=np.float32(0.5)).get_params()
    assert not hasattr(again, "scores_")


def test_a_generator_goes_on_where_it_was(tmp_path):
    state = np.random.RandomState(3)
    state.standard_normal(5)
    again = through_a_file(RandomSelection(random_state=state), tmp_path)

    assert again.random_state.randint(10**6) == state.randint(10**6)


def test_the_kind_of_output_is_kept(tmp_path):
    fitted = MaxVariance(2).set_output(transform="pandas").fit(FRAME)
    again = through_a_file(fitted, tmp_path)

    assert isinstance(again.transform(FRAME), pd.DataFrame)


def test_a_checkpoint_is_not_kept_for_it_names_a_file_to_write(tmp_path):
    again = through_a_file(SCFS(checkpoint=tmp_path / "a.npz"), tmp_path)

    assert again.checkpoint is None


def test_a_selector_of_somebody_else_is_refused(tmp_path):
    class Foreign(MaxVariance):
        pass

    with pytest.raises(ModelError, match="Foreign is none of ufselect's own selectors"):
        save_selector(Foreign(), tmp_path / "a.selector")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [b"x", {1, 2}, max, 1j, np.array([1j])])
def test_values_of_other_types_are_refused_when_they_are_saved(tmp_path, value):
    with pytest.raises(ModelError, match="a file of a selector cannot hold"):
        save_selector(MaxVariance(value), tmp_path / "a.selector")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(ModelError, match=r"cannot be written .* choose another place"):
        save_selector(MaxVariance(), tmp_path / "none" / "a.selector")


# Files that somebody made.


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """Save a selector, and write its file again with a change to the description."""
    save_selector(AutoSelect(MaxVariance(), random_state=0).fit(FRAME), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    description = json.loads(members[DESCRIPTION])
    change(description, members)
    members[DESCRIPTION] = json.dumps(description).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def put(section, name, value):
    def change(description, members):
        content = dict(description["selector"][section])
        content[name] = value
        description["selector"][section] = list(content.items())

    return change


def left_out(section, name):
    def change(description, members):
        content = dict(description["selector"][section])
        del content[name]
        description["selector"][section] = list(content.items())

    return change


def described(**entries):
    return lambda description, members: description.update(entries)


def array_of(array):
    def change(description, members):
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=True)
        name = next(name for name in members if name.startswith("arrays/"))
        members[name] = stream.getvalue()

    return change


class Program:
    def __reduce__(self):
        return Path.touch, (Path("executed"),)


HOSTILE = {
    "another class": described(selector={"selector": "Popen", "parameters": []}),
    "a class by its module": described(selector={"selector": "os.system"}),
    "no selector": described(selector={"tuple": [1]}),
    "nothing": described(selector=None),
    "another kind": described(format="pickle"),
    "no version": described(version="1"),
    "what means nothing": described(selector={"call": "os.system"}),
    "deeper than the stack": described(selector=None, nest="["),
    "a method": put("learned", "transform", 1),
    "a private name": put("learned", "__class__", "x"),
    "what is in the class": put("learned", "_parameter_constraints", {"dict": []}),
    "a part that is missing": left_out("learned", "order_"),
    "a parameter that is missing": left_out("parameters", "selector"),
    "a parameter too many": put("parameters", "command", "rm"),
    "a parameter that is none": put("parameters", "n_jobs", "many"),
    "too many selected": put("learned", "n_selected_", 8),
    "fewer than none selected": put("learned", "n_selected_", -1),
    "truth for a number": put("learned", "n_selected_", True),
    "other names": put("learned", "feature_names_in_", {"names": ["a"], "objects": 1}),
    "names of numbers": put(
        "learned", "feature_names_in_", {"names": [1], "objects": 1}
    ),
    "an order that is none": put("learned", "order_", {"names": ["a"], "objects": 0}),
    "an output that is none": put("learned", "_sklearn_output_config", {"dict": []}),
    "an array that is not there": put("learned", "scores_", {"array": 99}),
    "an array by its path": put("learned", "scores_", {"array": "../../x"}),
    "a random state that is none": put(
        "parameters", "random_state", {"random state": {"dict": []}}
    ),
    "an unknown record": put("learned", "x_", {"record": "Popen", "values": ["ls"]}),
    "a pickle": array_of(np.array([Program()], dtype=object)),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_what_somebody_made_up_is_refused_in_one_sentence(
    tmp_path, monkeypatch, change
):
    monkeypatch.chdir(tmp_path)
    rewritten(tmp_path / "a.selector", change)
    if "nest" in zipfile.ZipFile("a.selector").read(DESCRIPTION).decode():
        deep = b'{"format": "ufselect selector", "version": 1, "selector": '
        with zipfile.ZipFile("a.selector", "w") as archive:
            archive.writestr(DESCRIPTION, deep + b"[" * 10**5 + b"]" * 10**5 + b"}")
    with pytest.raises(ModelError) as caught:
        load_selector("a.selector")
    said = str(caught.value)

    assert said.endswith("save the selector again")
    assert len(said) < 500
    assert not Path("executed").exists()


def test_nothing_was_wrong_with_the_file_but_the_change(tmp_path):
    rewritten(tmp_path / "a.selector", lambda description, members: None)

    assert repr(load_selector(tmp_path / "a.selector").selector) == "MaxVariance()"


def test_what_is_compressed_is_refused_before_it_is_unpacked(tmp_path):
    rewritten(
        tmp_path / "a.selector", lambda *parts: None, compression=zipfile.ZIP_DEFLATED
    )
    with pytest.raises(ModelError, match=r"'selector\.json' is compressed"):
        load_selector(tmp_path / "a.selector")


def test_an_array_that_declares_more_than_there_is_takes_no_memory(tmp_path):
    def change(description, members):
        name = next(name for name in members if name.startswith("arrays/"))
        members[name] = members[name].replace(b"(7,)", b"(7" + b"0" * 15 + b",)", 1)

    rewritten(tmp_path / "a.selector", change)
    with pytest.raises(ModelError):
        load_selector(tmp_path / "a.selector")


def test_a_newer_format_says_what_to_do(tmp_path):
    rewritten(tmp_path / "a.selector", described(version=2))
    with pytest.raises(ModelError, match=r"version 2 .* install a newer one"):
        load_selector(tmp_path / "a.selector")


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps([1]), b"PK\3\4" * 9])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "a.selector").write_bytes(content)
    with pytest.raises(ModelError, match="is no file of a selector, or is damaged"):
        load_selector(tmp_path / "a.selector")


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(ModelError, match="is not a file; name one"):
        load_selector(tmp_path)


def test_every_flipped_byte_and_every_cut_is_refused_or_harmless(tmp_path):
    fitted = MaxVariance(2).fit(FRAME)
    path = tmp_path / "a.selector"
    save_selector(fitted, path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    answered = 0
    for place in random.integers(len(whole), size=120):
        changed = bytearray(whole)
        changed[place] ^= 1 << random.integers(8)
        path.write_bytes(changed if place % 3 else whole[:place])
        try:
            again = load_selector(path)
        except ModelError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017 - or nothing is raised
            continue
        # Such as the date of a part, which nobody looks at.
        answered += 1
        assert_same(fitted, again)

    assert answered < 60
