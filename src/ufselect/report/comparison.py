"""What is needed to set our results beside published ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ufselect.experiments.plan import ALL_FEATURES, Plan
from ufselect.experiments.published import PublishedResults
from ufselect.experiments.readings import Results
from ufselect.experiments.records import Located
from ufselect.experiments.store import Float
from ufselect.experiments.stored import read_experiment
from ufselect.report.failures import failure_list

BASELINE = "Baseline"
# The metrics of the published tables, with what is shown beside them.
TABLES = {
    "accuracy": ("Table 3: clustering accuracy", ()),
    "nmi_geometric": ("Table 4: normalised mutual information", ("nmi_max",)),
}


class Comparison(NamedTuple):
    """The published results, ours, and what is needed to set one beside the other."""

    plan: Plan
    published: PublishedResults
    results: Results
    located: Located
    histories: Mapping[str, Float]
    failures: list[str]

    def paper_name(self, set_name: str) -> str:
        """Return what the paper calls a set, or its own name."""
        names = {here: paper for paper, here in self.published.catalogue_names.items()}
        return names.get(set_name, set_name)

    def paper_method(self, label: str) -> str | None:
        """Return what the paper calls a method of the plan, if it has it."""
        if label == ALL_FEATURES:
            return BASELINE
        selectors = {method.label: method.selector for method in self.plan.methods}
        names = {here: paper for paper, here in self.published.methods.items()}
        return names.get(selectors[label])


def read_comparison(
    plan: Plan, published: PublishedResults, store: Path, located: Located
) -> Comparison:
    """Read from the store what was computed."""
    experiment = read_experiment(store, plan)
    return Comparison(
        plan,
        published,
        experiment.results,
        located,
        {
            key: fit.history
            for key, fit in experiment.fits.items()
            if fit.history is not None
        },
        failure_list(experiment.results, experiment.reasons()),
    )
