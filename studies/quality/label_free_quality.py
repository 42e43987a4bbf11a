"""Part of label_free.py: rankings compared with random columns on labelled sets."""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from studies.quality.label_free_sets import (
    CANDIDATES,
    DOMAIN_OF,
    DOMAINS,
    FIRST_VERSION,
    SEEN,
    Judge,
    Part,
    at_least,
    first_version,
    ranked,
)
from studies.settings import paths_of_halves
from ufselect.report import markdown_table

# Of the three percentages of a score; targets are about the first two.
METRICS = ("ACC", "NMI", "5-NN")


class Gains(NamedTuple):
    """How much better one ranking is than another on the same sets.

    Every array has one number for each of the metrics.
    """

    names: tuple[str, ...]
    differences: np.ndarray

    @property
    def mean(self):
        """Mean gain."""
        return self.differences.mean(axis=0)

    @property
    def error(self):
        """Standard error of the mean gain; not a number for one set."""
        n_sets = len(self.differences)
        if n_sets < 2:
            return np.full(self.differences.shape[1], np.nan)
        return self.differences.std(axis=0, ddof=1) / np.sqrt(n_sets)

    @property
    def wins(self):
        """Percentage of sets with a gain; no difference is none."""
        return 100 * (self.differences > 0).mean(axis=0)

    @property
    def worst(self):
        """Smallest gain."""
        return self.differences.min(axis=0)

    @property
    def worst_names(self):
        """The sets of the smallest gains."""
        return [self.names[place] for place in self.differences.argmin(axis=0)]


def gains(results, names, better, worse):
    """Return the gains of one ranking over another on those of the sets that have both.

    ``results`` has a dictionary of scores for each set. Without such a set, and for a
    ranking against itself, there is None.
    """
    names = tuple(
        name for name in names if better in results[name] and worse in results[name]
    )
    if not names or better == worse:
        return None
    differences = [results[name][better] - results[name][worse] for name in names]
    return Gains(names, np.array(differences))


def shown_gain(found):
    """Return mean gains with their standard errors."""
    if found is None:
        return "-"
    return " / ".join(
        f"{mean:+.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")
        for mean, error in zip(found.mean, found.error, strict=True)
    )


def shown_wins(found):
    """Return percentages of sets that are won."""
    return "-" if found is None else " / ".join(f"{value:.0f}" for value in found.wins)


def shown_worst(found):
    """Return the smallest gains in both metrics of k-means, and on which set."""
    if found is None:
        return "-"
    pairs = list(zip(found.worst, found.worst_names, strict=True))[:2]
    return " / ".join(f"{value:+.1f} {name}" for value, name in pairs)


def shown_score(score):
    """Return a score as text."""
    return "-" if score is None else "/".join(f"{value:.0f}" for value in score)


NUMBERS = (50, 100, 200)

# Those that decide how many columns to keep.
DECIDING = ("AutoSelect", FIRST_VERSION)
OWN = "{}, own number"
OWN_RANDOM = "random, own number of {}"

# k-means on all columns finds at least this NMI, in percent, on a set with structure.
STRUCTURE = 10

EXPLAINED = f"""
{SEEN} They also tell k-means how many classes there are, and which sets have structure:
those where k-means on all columns reaches an NMI of {STRUCTURE}.

Figures are {" / ".join(METRICS)} in percent: k-means (3 seeds, 5 restarts, at most 2000
samples) and 5 neighbours in cross-validation, in raw units. Means over the first
{", ".join(map(str, NUMBERS))} columns, or at the own number of a selector against
random columns of the same number. Random is the mean of five draws. Standard errors are
over sets; no difference is no win."""


def judged(path, folder):
    """Return the name of a set, and the scores and numbers of columns on it."""
    warnings.simplefilter("ignore")
    judge = Judge(path, folder)
    rankings = {
        name: ranked(folder, path, judge.table, make())
        for name, make in CANDIDATES.items()
    }
    kept = first_version(path.stem, judge.n_features)
    if kept is not None:
        rankings[FIRST_VERSION] = kept
    scores = {
        "random": judge.random(NUMBERS),
        "all columns": judge.score(np.arange(judge.n_features)),
    }
    numbers = {}
    for name, ranking in rankings.items():
        scores[name] = judge.ranking(ranking.order, NUMBERS)
        if name in DECIDING:
            numbers[name] = len(ranking.chosen)
            scores[OWN.format(name)] = judge.score(ranking.chosen)
            scores[OWN_RANDOM.format(name)] = judge.random([len(ranking.chosen)])
    judge.save()
    print(f"  {path.stem} judged", flush=True)
    return path.stem, scores, numbers


def quality(options):
    """Return the tables of both halves, by domain and by set."""
    halves = paths_of_halves(options.sets)
    # The largest first, so that no worker ends long after the others.
    paths = [path for half in halves.values() for path in half]
    paths.sort(key=lambda path: -path.stat().st_size)
    found = Parallel(n_jobs=options.jobs)(
        delayed(judged)(path, options.cache) for path in paths
    )
    results = {name: scores for name, scores, _ in found}
    numbers = {name: decided for name, _, decided in found}
    names = {half: [path.stem for path in paths] for half, paths in halves.items()}
    names["both halves"] = sorted(results, key=str.lower)
    return Part(text_of(results, numbers, names), answers_of(results, names))


def with_structure(results, names):
    """Return the sets on which k-means finds the classes in all columns."""
    return [name for name in names if results[name]["all columns"][1] >= STRUCTURE]


def text_of(results, numbers, names):
    """Return all tables of the part."""
    parts = ["## Quality", EXPLAINED.strip()]
    for half, some in names.items():
        structured = with_structure(results, some)
        others = [name for name in some if name not in structured]
        for words, group in (("with", structured), ("without", others)):
            if group:
                parts += [f"### {half}: {len(group)} sets {words} structure"]
                parts += [table_of_gains(results, group)]
    structured = with_structure(results, names["both halves"])
    parts += ["### By domain, gain over random on sets with structure"]
    parts += [table_of_domains(results, structured)]
    half_of = {name: half for half in list(names)[:2] for name in names[half]}
    parts += ["### Every set", table_of_sets(results, numbers, half_of)]
    parts += ["Random wins against AutoSelect", losses(results, names["both halves"])]
    return "\n\n".join(parts)


def rows_of_rankings():
    """Return the rankings with what is random, and what was first, for each."""
    fixed = ["all columns", *CANDIDATES, FIRST_VERSION]
    rows = [(name, "random", FIRST_VERSION) for name in fixed]
    return rows + [
        (OWN.format(name), OWN_RANDOM.format(name), OWN.format(FIRST_VERSION))
        for name in DECIDING
    ]


def table_of_gains(results, names):
    """Return gains over random, all columns and the first version on some sets."""
    rows = []
    for name, random, first in rows_of_rankings():
        over_random = gains(results, names, name, random)
        over_all = gains(results, names, name, "all columns")
        over_first = gains(results, names, name, first)
        rows.append(
            [
                *(name, shown_gain(over_random), shown_wins(over_random)),
                *(shown_worst(over_random), shown_gain(over_all)),
                *(shown_wins(over_all), shown_gain(over_first)),
            ]
        )
    header = ["ranking", "over random", "wins %", "worst set"]
    header += ["over all columns", "wins %", "over the first version"]
    return markdown_table(header, rows)


def table_of_domains(results, names):
    """Return gains over random by domain."""
    groups = {
        domain: [name for name in names if DOMAIN_OF.get(name) == domain]
        for domain in DOMAINS
    }
    rows = []
    for name, random, _ in rows_of_rankings():
        found = [gains(results, group, name, random) for group in groups.values()]
        rows.append([name, *map(shown_gain, found)])
        rows.append(["wins %", *map(shown_wins, found)])
    header = [f"{domain} ({len(group)})" for domain, group in groups.items()]
    return markdown_table(["ranking", *header], rows)


def table_of_sets(results, numbers, half_of):
    """Return the scores on every set."""
    columns = [OWN.format("AutoSelect"), OWN_RANDOM.format("AutoSelect")]
    columns = ["random", "all columns", *CANDIDATES, FIRST_VERSION, *columns]
    rows = []
    for name in sorted(results, key=str.lower):
        scores = results[name]
        rows.append(
            [
                *(name, DOMAIN_OF.get(name, ""), half_of[name]),
                "yes" if with_structure(results, [name]) else "no",
                *(shown_score(scores.get(column)) for column in columns),
                str(numbers[name]["AutoSelect"]),
            ]
        )
    header = ["set", "domain", "half", "structure", *columns, "own number"]
    return markdown_table(header, rows)


def losses(results, names):
    """Return a list of the sets where random columns are better."""
    lines = []
    readings = {
        "first 50, 100, 200": ("AutoSelect", "random"),
        "own number": (OWN.format("AutoSelect"), OWN_RANDOM.format("AutoSelect")),
    }
    for words, (mine, random) in readings.items():
        for place, metric in enumerate(METRICS):
            lost = [
                f"{name} {gain:+.1f}"
                for name in names
                if (gain := (results[name][mine] - results[name][random])[place]) < 0
            ]
            lines.append(f"- {words}, {metric}: {', '.join(lost) or 'on no set'}")
    return "\n".join(lines)


def answers_of(results, names):
    """Return the targets for sets with structure of the half for reporting."""
    some = with_structure(results, names["reporting"])
    found = []
    readings = (
        ("first 50, 100, 200 columns", "AutoSelect", "random", (90, 92)),
        (
            *("own number of columns", OWN.format("AutoSelect")),
            *(OWN_RANDOM.format("AutoSelect"), (88, 90)),
        ),
    )
    points = "{:+.1f}"
    for words, mine, random, wins in readings:
        over = gains(results, some, mine, random)
        over_all = gains(results, some, mine, "all columns")
        found += [
            at_least(f"{words}: wins against random", wins, over and over.wins),
            at_least(
                f"{words}: gain over all columns",
                *((1.5, 3.0), over_all and over_all.mean, points),
            ),
            at_least(
                f"{words}: worst set, against random",
                *((-6, -6), over and over.worst, points),
            ),
        ]
    return found + answers_about_the_first_version(results, names)


def answers_about_the_first_version(results, names):
    """Return the targets for the gain over the first version in both halves."""
    found = []
    readings = {"first 50, 100, 200 columns": "{}", "own number of columns": OWN}
    for (words, form), least in zip(readings.items(), [(1, 2), (2, 3)], strict=True):
        for half in ("development", "reporting"):
            some = with_structure(results, names[half])
            mine, first = form.format("AutoSelect"), form.format(FIRST_VERSION)
            over = gains(results, some, mine, first)
            what = f"{words}: gain over the first version, half for {half}"
            found.append(at_least(what, least, over and over.mean, "{:+.1f}"))
    return found
