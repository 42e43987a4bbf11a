"""Part of `label_free`: rankings compared with random columns on labelled sets."""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from studies.rankings import (
    COSTLY,
    DOMAIN_OF,
    DOMAINS,
    MEMORY,
    METHODS,
    NUMBERS,
    SEEN,
    SETTINGS,
    Judge,
    Part,
    at_least,
    no_ranking,
    ranked,
)
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
        """Standard error of the mean gain over at least two sets."""
        return self.differences.std(axis=0, ddof=1) / np.sqrt(len(self.names))

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


def shown(values, form="{:+.1f}"):
    """Return one number for each metric as text, or a dash without numbers."""
    return "-" if values is None else " / ".join(map(form.format, values))


def shown_gain(found):
    """Return mean gains with their standard errors."""
    if len(found.names) < 2:
        return shown(found.mean)
    pairs = zip(found.mean, found.error, strict=True)
    return " / ".join(f"{mean:+.1f} ± {error:.1f}" for mean, error in pairs)


def shown_worst(found):
    """Return the smallest gains in both metrics of k-means, and on which set."""
    pairs = list(zip(found.worst, found.worst_names, strict=True))[:2]
    return " / ".join(f"{value:+.1f} {name}" for value, name in pairs)


# k-means on all features finds at least this NMI, in percent, on a set with structure.
STRUCTURE = 10

ALL = "all features"
OWN = "AutoSelect, own number"
OWN_RANDOM = "random, own number"

RANKINGS = (ALL, *METHODS, OWN)
# The table of every set has these.
SHOWN = ("random", ALL, "MaxVariance", "LaplacianScore", "MCFS", "SCFS", "AutoSelect")

EXPLAINED = f"""
{SEEN} They also tell k-means how many classes there are, and which sets have structure:
those where k-means on all features reaches an NMI of {STRUCTURE}. No method is told
the number of classes.

Figures are {" / ".join(METRICS)} in percent: accuracy and normalised mutual information
of k-means (3 seeds, 5 restarts, at most 2000 samples), and the accuracy of 5 nearest
neighbours in cross-validation, in raw units. They are means over the first
{", ".join(map(str, NUMBERS))} features. "{OWN}" has as many features as AutoSelect
decides, and is compared with as many random ones. Random is the mean of five draws. ±
is the standard error over sets; no difference is no win.

A fit may take {{seconds:g}} s of processor time with one thread, and
{MEMORY / 1e9:g} GB of memory; a method may refuse a table that needs more than its own
limit of memory. A method is compared on the sets that it finishes, so
rows differ in their sets; the column of AutoSelect has its gain over the method on just
these. Seconds are medians. CPFS is left out: it takes 32 s on colon, a set of 62 x
2000. Methods have their defaults, but for {{settings}}."""

NOT_TRIED = "not tried"
CAPPED = f"""
{", ".join(COSTLY)} are tried on tables of up to {{:g}} million values."""


def judged(path, folder, seconds, values):
    """Return the name of a set, scores by rankings, and the rankings themselves."""
    warnings.simplefilter("ignore")
    judge = Judge(path, folder)
    too_large = np.prod(judge.table.shape) > values
    scores = {
        "random": judge.random(NUMBERS),
        ALL: judge.score(np.arange(judge.n_features)),
    }
    rankings = {}
    for name in METHODS:
        if too_large and name in COSTLY:
            rankings[name] = no_ranking(NOT_TRIED)
        else:
            rankings[name] = ranked(folder, path, judge.table, name, seconds=seconds)
        if not rankings[name].stopped:
            scores[name] = judge.ranking(rankings[name].order, NUMBERS)
    own = rankings["AutoSelect"].chosen
    if len(own):
        scores[OWN] = judge.score(own)
        scores[OWN_RANDOM] = judge.random([len(own)])
    print(f"  {path.stem} judged", flush=True)
    return path.stem, scores, rankings


def quality(options):
    """Return the tables of all sets, by domain and by set."""
    halves = options.halves
    # The largest first, so that no worker ends long after the others.
    paths = [path for half in halves.values() for path in half]
    paths.sort(key=lambda path: -path.stat().st_size)
    found = Parallel(n_jobs=options.jobs)(
        delayed(judged)(path, options.cache, options.seconds, options.values)
        for path in paths
    )
    found.sort(key=lambda each: each[0].lower())
    results = {name: scores for name, scores, _ in found}
    rankings = {name: each for name, _, each in found}
    reporting = [path.stem for path in halves["reporting"]]
    return Part(
        text_of(results, rankings, options),
        answers_of(results, with_structure(results, reporting)),
    )


def with_structure(results, names):
    """Return the sets on which k-means finds the classes in all features."""
    return [name for name in names if results[name][ALL][1] >= STRUCTURE]


def text_of(results, rankings, options):
    """Return all tables of the part."""
    structured = with_structure(results, results)
    others = [name for name in results if name not in structured]
    words = EXPLAINED.strip().format(
        seconds=options.seconds, settings=described(SETTINGS)
    )
    if options.values < np.inf:
        words += " " + CAPPED.strip().format(options.values / 1e6)
    parts = ["## Quality", words]
    for words, group in (("with", structured), ("without", others)):
        if group:
            # Without structure all are near chance, and a few show it.
            which = RANKINGS if group is structured else (*SHOWN, OWN)
            parts += [f"### {len(group)} sets {words} structure"]
            parts += [table_of_gains(results, rankings, group, which)]
    parts += ["### The same sets for all methods", table_of_means(results, structured)]
    parts += ["### Gain over random by domain, on sets with structure"]
    parts += [table_of_domains(results, structured)]
    parts += ["### Every set", table_of_sets(results, rankings)]
    parts += ["Random wins against AutoSelect:", losses(results)]
    parts += ["Fits that did not finish:", unfinished(rankings)]
    return "\n\n".join(parts)


def described(settings):
    """Return settings as text, methods with the same together."""
    methods = {}
    for name, values in settings.items():
        words = ", ".join(f"{key}={value!r}" for key, value in values.items())
        methods.setdefault(f"`{words}`", []).append(name)
    return "; ".join(f"{words} of {', '.join(them)}" for words, them in methods.items())


def by_gain(results, names, which=RANKINGS):
    """Return the gains over random of some rankings, the largest first."""
    found = {
        name: gains(results, names, name, OWN_RANDOM if name == OWN else "random")
        for name in which
    }
    found = {name: each for name, each in found.items() if each is not None}
    return dict(sorted(found.items(), key=lambda each: -each[1].mean[:2].sum()))


def table_of_gains(results, rankings, names, which=RANKINGS):
    """Return gains over random and all features, and the cost, on some sets."""
    rows = []
    for name, over_random in by_gain(results, names, which).items():
        same = over_random.names
        over_all = gains(results, same, name, ALL)
        of_auto = gains(results, same, "AutoSelect", name)
        seconds = [rankings[each][name].seconds for each in same if name in METHODS]
        rows.append(
            [
                *(name, str(len(same)), shown_gain(over_random)),
                *(shown(over_random.wins, "{:.0f}"), shown_worst(over_random)),
                shown(over_all and over_all.mean),
                shown(of_auto and of_auto.mean),
                f"{np.median(seconds):.2f}" if seconds else "-",
            ]
        )
    header = ["ranking", "finished on", "over random", "wins %", "worst set"]
    header += ["over all features", "AutoSelect over it", "seconds"]
    return markdown_table(header, rows)


def table_of_means(results, names):
    """Return mean scores on the sets that most methods finish."""
    often = [
        method
        for method in METHODS
        if 2 * sum(method in results[name] for name in names) >= len(names)
    ]
    common = [name for name in names if set(often) <= set(results[name])]
    others = ", ".join(method for method in METHODS if method not in often)
    words = (
        f"Means over the {len(common)} sets with structure that all methods finish, "
        f"without those that finish on less than half: {others or 'none'}."
    )
    if not common:
        return words
    means = {
        ranking: np.mean([results[name][ranking] for name in common], axis=0)
        for ranking in ("random", ALL, *often)
    }
    rows = [
        [ranking, *(f"{value:.1f}" for value in mean)]
        for ranking, mean in sorted(means.items(), key=lambda each: -each[1][:2].sum())
    ]
    return f"{words}\n\n{markdown_table(['ranking', *METRICS], rows)}"


def table_of_domains(results, names):
    """Return gains over random by domain."""
    groups = {
        domain: [name for name in names if DOMAIN_OF.get(name) == domain]
        for domain in DOMAINS
    }
    found = [by_gain(results, group) for group in groups.values()]
    rows = []
    for ranking in by_gain(results, names):
        cells = (
            shown(each[ranking].mean) if ranking in each else "-" for each in found
        )
        rows.append([ranking, *cells])
    header = [f"{domain} ({len(group)})" for domain, group in groups.items()]
    return markdown_table(["ranking", *header], rows)


def table_of_sets(results, rankings):
    """Return the scores on every set."""
    rows = []
    for name, scores in results.items():
        cells = (shown(scores.get(each), "{:.0f}") for each in (*SHOWN, OWN))
        structure = "yes" if with_structure(results, [name]) else "no"
        number = str(len(rankings[name]["AutoSelect"].chosen))
        rows.append([name, DOMAIN_OF.get(name, ""), structure, *cells, number])
    header = ["set", "domain", "structure", *SHOWN, OWN, "own number"]
    return markdown_table(header, rows)


def unfinished(rankings):
    """Return a list of the methods with sets that they do not finish, and why."""
    lines = []
    for method in METHODS:
        stopped = {}
        for name, each in rankings.items():
            if each[method].stopped not in ("", NOT_TRIED):
                why = str(each[method].stopped).partition(":")[0]
                stopped.setdefault(why, []).append(name)
        lines += [f"- {method}, {why}: {', '.join(on)}" for why, on in stopped.items()]
    return "\n".join(lines) or "- none"


def losses(results):
    """Return a list of the sets where random features are better."""
    lines = []
    for mine, random in (("AutoSelect", "random"), (OWN, OWN_RANDOM)):
        over = gains(results, results, mine, random)
        for place, metric in enumerate(METRICS if over else ()):
            differences = zip(over.names, over.differences[:, place], strict=True)
            lost = [f"{name} {gain:+.1f}" for name, gain in differences if gain < 0]
            lines.append(f"- {mine}, {metric}: {', '.join(lost) or 'on no set'}")
    return "\n".join(lines)


def answers_of(results, names):
    """Return the targets for some sets."""
    found = []
    readings = (
        ("first 50, 100, 200 features", "AutoSelect", "random", (90, 92)),
        ("own number of features", OWN, OWN_RANDOM, (88, 90)),
    )
    points = "{:+.1f}"
    for words, mine, random, wins in readings:
        over = gains(results, names, mine, random)
        over_all = gains(results, names, mine, ALL)
        found += [
            at_least(f"{words}: wins against random", wins, over and over.wins),
            at_least(
                f"{words}: gain over all features",
                *((1.5, 3.0), over_all and over_all.mean, points),
            ),
            at_least(
                f"{words}: worst set, against random",
                *((-6, -6), over and over.worst, points),
            ),
        ]
    return found
