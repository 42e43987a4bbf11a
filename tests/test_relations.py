"""What changes of X do to the ranking of each method: nothing, or what is listed.

``relations.py`` has the changes and, for each that a method does not hold, the reason.
A reason that is no longer true fails, too.
"""

import re
from functools import cache, partial

import numpy as np
import pytest
import relations
from documented_method import documented_method
from method_pages import sections_of
from quick_selectors import made
from relations import ARRAY_TYPES, RELATIONS, counts, measurements
from scipy.stats import spearmanr
from sklearn.base import clone

from ufselect import MCFS, all_selectors, evaluation

# The documented method is held to what its page promises.
SELECTORS = relations.selectors() | {"documented": made(documented_method())}
MODULES = {"Dask": "dask", "HDF5": "h5py", "polars": "polars"}

# Few iterations are enough, and noise has no clusters.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:No feature:UserWarning"),
    pytest.mark.filterwarnings("ignore:This table shows no groups:UserWarning"),
]


@cache
def scores_before(method, table):
    return clone(SELECTORS[method]).fit(table()).scores_


def agree(before, after, same_scores):
    if same_scores:
        return np.abs(after - before).max() <= relations.ROUNDING * np.ptp(before)
    return spearmanr(before, after)[0] > relations.SAME_ORDER


def holds(method, relation, table):
    """Return whether a method keeps its scores, or their order, of this table."""
    what, selector = RELATIONS[relation], clone(SELECTORS[method])
    known = selector.get_params()
    if known["n_features_to_select"] == "auto":
        del known["n_features_to_select"]
    selector.set_params(
        **{key: what.parameters[key] for key in what.parameters if key in known}
    )
    after = what.back(selector.fit(what.change(table())).scores_)
    return agree(scores_before(method, table), after, what.same_scores)


def cases():
    for method, selector in SELECTORS.items():
        for relation in filter(partial(relations.applies, selector), RELATIONS):
            reason = relations.why_not(method, relation)
            fails = pytest.mark.xfail(
                reason is not None,
                reason=str(reason),
                raises=AssertionError,
                strict=True,
            )
            yield pytest.param(method, relation, marks=fails, id=f"{method}-{relation}")


@pytest.mark.parametrize(("method", "relation"), list(cases()))
def test_a_change_of_the_table_does_not_change_the_ranking(method, relation):
    for table in RELATIONS[relation].tables:
        assert holds(method, relation, table), table.__name__


@pytest.mark.parametrize("kind", ARRAY_TYPES)
@pytest.mark.parametrize("method", SELECTORS)
def test_the_type_of_array_does_not_change_the_ranking(method, kind, tmp_path):
    what, selector = ARRAY_TYPES[kind], clone(SELECTORS[method])
    if kind in MODULES:
        pytest.importorskip(MODULES[kind])
    for table in what.tables:
        X = what.convert(table(), tmp_path)
        if what.out_of_core and not selector.READS_OUT_OF_CORE:
            with pytest.raises(TypeError, match="needs X in memory"):
                selector.fit(X)
        else:
            before, after = scores_before(method, table), selector.fit(X).scores_
            assert agree(before, after, what.same_scores), table.__name__


def test_every_reason_is_given_to_methods_that_exist():
    for relation, reasons in relations.DEPENDS_ON.items():
        named = [method for methods in reasons.values() for method in methods]

        assert relation in RELATIONS
        assert set(named) <= set(SELECTORS)
        assert len(named) == len(set(named)), relation


def test_the_page_is_up_to_date():
    written = relations.FILE.read_text(encoding="utf-8")

    assert written == relations.page(), "run python tests/relations.py"


@pytest.mark.parametrize("method", all_selectors())
def test_the_page_of_a_method_lists_what_its_ranking_depends_on(method):
    section = sections_of(method)["What its ranking depends on"]

    for title, names in relations.lists(method).items():
        item = re.search(rf"\* {title}: ([^.]*)\.", section)
        written = item[1].split(", ") if item else []
        assert written == names, "run python tests/relations.py"


# Constant columns and evaluation

SELECTED = np.array([0, 3, 7])
LABELS = np.arange(len(measurements())) % 3


def numbers_of_verdicts(X, selected):
    found = evaluation.verdicts(X, MCFS(5, n_clusters=3), n_random=19, random_state=0)
    return [(each.value, each.random_mean, each.p_value) for each in found]


def numbers_of_structure(X, selected):
    found = evaluation.structure_test(X, random_state=0)
    return [found.p_value, found.n_directions, *found.evidence.values()]


EVALUATIONS = {
    "redundancy": lambda X, selected: evaluation.redundancy(X),
    "structure_test": numbers_of_structure,
    "verdicts": numbers_of_verdicts,
    "reconstruction_error": evaluation.reconstruction_error,
    "held_out_reconstruction_error": evaluation.held_out_reconstruction_error,
    "neighbourhood_agreement": evaluation.neighbourhood_agreement,
    "judge_by_classification": lambda X, selected: evaluation.judge_by_classification(
        X, LABELS, n_splits=2, seeds=[0], standardize="auto"
    ),
    "sample_view": lambda X, selected: evaluation.sample_view(X, selected).points,
}


@pytest.mark.parametrize("table", [measurements, counts])
@pytest.mark.parametrize("name", EVALUATIONS)
def test_constant_columns_take_no_part_in_an_evaluation(name, table):
    X, evaluate = table(), EVALUATIONS[name]

    before = evaluate(X, SELECTED)
    after = evaluate(relations.with_constants(X), 1 + SELECTED)

    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-9)
