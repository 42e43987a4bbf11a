"""The page of a report about one selection: its sections, in the order of reading."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ufselect.evaluation import Verdict
from ufselect.evaluation.tables import UNITS
from ufselect.evaluation.verdict_words import SIGNIFICANT
from ufselect.report.page import (
    Block,
    Paragraph,
    Preformatted,
    Section,
    Table,
)
from ufselect.report.plots import picture_of
from ufselect.report.selection_words import (
    ABOUT,
    CRITERIA,
    HEADINGS,
    NO_STRUCTURE,
    answer,
    caption_of_planes,
    chance_sentence,
    sensitivity_sentence,
    stability_sentence,
    summary_of,
)

if TYPE_CHECKING:
    from ufselect.report.selection import SelectionReport

# Features in the table of the page; all of the chosen are in the file it offers.
MOST_LISTED = 300


def selection_sections(report: "SelectionReport") -> list[Section]:
    """Return the sections of the page."""
    if not len(report.features.columns):
        return [
            Section("In short", _summary(report)),
            Section("How to repeat it", _repeat(report)),
        ]
    sections = [
        Section("In short", _summary(report)),
        Section("The chosen features", _features(report)),
        _section(report, "curve", _curve),
        _section(report, "against_random", _against_random),
        _section(report, "by_chance", _by_chance),
        _section(report, "stability", _stability),
        _section(report, "sensitivity", _sensitivity),
        _section(report, "planes", _planes),
        _section(report, "labels", _labels),
        _section(report, "repetition", _repetition),
        _section(report, "pixels", _pixels),
        _section(report, "convergence", _convergence),
        Section("How to repeat it", _repeat(report)),
    ]
    return [section for section in sections if section.blocks]


def _section(
    report: "SelectionReport",
    name: str,
    blocks: Callable[["SelectionReport"], list[Block]],
) -> Section:
    """Return what there is of a part, or why there is nothing."""
    found: list[Block] = []
    if getattr(report, name) is not None:
        found = [Paragraph(ABOUT[name]), *blocks(report)]
    elif name in report.left_out:
        found = [Paragraph(f"This part is left out: {report.left_out[name]}.")]
    found += [Paragraph(f"Note: {note}") for note in report.notes.get(name, ())]
    return Section(HEADINGS[name], found)


def _summary(report: "SelectionReport") -> list[Block]:
    blocks: list[Block] = [Paragraph(summary_of(report))]
    if report.structure is not None and not report.structure.found:
        blocks.insert(0, Paragraph(NO_STRUCTURE))
    if report.decisions:
        reasons = " ".join(report.decisions)
        blocks.append(Paragraph(f"Decided from the table alone: {reasons}"))
    return blocks


def _features(report: "SelectionReport") -> list[Block]:
    features = report.features
    header, rows = features.rows(MOST_LISTED)
    count = len(features.columns)
    caption = f"{count} chosen features, the best first."
    if count > len(rows):
        caption = f"The first {len(rows)} of {caption} The file has all of them."
    words = [ABOUT["features"]]
    if features.frequency is not None:
        words.append(ABOUT["frequency"])
    if features.stand_ins is not None:
        words.append(ABOUT["stand-ins"])
    elif "stand-ins" in report.left_out:
        reason = report.left_out["stand-ins"]
        words.append(f"What features stand for was left out: {reason}.")
    return [
        Paragraph(" ".join(words)),
        Table(header, rows, caption, True, features.frame(), "features"),
    ]


def _curve(report: "SelectionReport") -> list[Block]:
    count, every = report.curve.n_selected, len(report.curve.names)
    caption = f"Scores of all {every} features by rank; {count} were chosen."
    return [picture_of(report.curve, caption, "scores")]


def _against_random(report: "SelectionReport") -> list[Block]:
    part: Any = report.against_random
    first = part.verdicts[0]
    header = ["criterion", "question", "chosen", "random sets", "p value", "answer"]
    rows = [_verdict_row(each) for each in part.verdicts]
    caption = (
        f"{first.n_features} features chosen on one half of the samples, beside "
        f"{len(first.random_values)} random sets of as many. Judged on "
        f"{first.n_samples} samples that the selection did not see, "
        f"{UNITS[first.standardize]}. Random sets: nine in ten lie in this range."
    )
    return [
        Table(header, rows, caption),
        picture_of(part, "The same as a figure.", "against-random"),
        Paragraph(ABOUT["criteria"]),
    ]


def _verdict_row(found: Verdict) -> list[str]:
    low, high = found.band
    return [
        found.criterion,
        CRITERIA[found.criterion],
        f"{found.value:.3f}",
        f"{low:.3f} to {high:.3f}",
        "" if found.p_value is None else f"{found.p_value:.3f}",
        answer(found.p_value, SIGNIFICANT),
    ]


def _by_chance(report: "SelectionReport") -> list[Block]:
    part: Any = report.by_chance
    caption = f"With {part.found.n_repeats} fits; the band holds nine of ten cases."
    return [
        Paragraph(chance_sentence(part)),
        picture_of(part, caption, "by-chance"),
    ]


def _stability(report: "SelectionReport") -> list[Block]:
    part: Any = report.stability
    caption = (
        "Left: how often each chosen feature is chosen again; the dashed line is "
        "chance. Right: the stability of the whole choice, with its interval of 95 %."
    )
    return [
        Paragraph(stability_sentence(part)),
        picture_of(part, caption, "stability"),
    ]


def _sensitivity(report: "SelectionReport") -> list[Block]:
    part: Any = report.sensitivity
    caption = "Agreement of the rankings for each pair of numbers of clusters."
    return [
        Paragraph(sensitivity_sentence(part, report.curve)),
        picture_of(part, caption, "sensitivity"),
    ]


def _planes(report: "SelectionReport") -> list[Block]:
    part: Any = report.planes
    return [picture_of(part, caption_of_planes(part, report.shape[0]), "samples")]


def _labels(report: "SelectionReport") -> list[Block]:
    part: Any = report.labels
    frame = part.frame()
    rows = [
        [name, f"{accuracy:.1%}", f"{information:.1%}"]
        for name, accuracy, information in zip(*frame.values(), strict=True)
    ]
    caption = f"k-means {part.units}, mean over seeds."
    return [
        Table(list(frame), rows, caption, False, frame, "labels"),
    ]


def _repetition(report: "SelectionReport") -> list[Block]:
    part: Any = report.repetition
    shown, count = len(part.names), report.curve.n_selected
    which = "all" if shown == count else f"the first {shown}"
    caption = (
        f"Absolute correlations between {which} of the {count} chosen features, like "
        f"beside like. The mean over all pairs of chosen features is {part.mean:.2f}."
    )
    return [picture_of(part, caption, "redundancy")]


def _pixels(report: "SelectionReport") -> list[Block]:
    part: Any = report.pixels
    return [picture_of(part, "The mean image; chosen pixels in red.", "pixels")]


def _convergence(report: "SelectionReport") -> list[Block]:
    part: Any = report.convergence
    caption = "The objective after each iteration."
    return [picture_of(part, caption, "convergence")]


def _repeat(report: "SelectionReport") -> list[Block]:
    rows = [[name, *values] for name, values in report.parameters.items()]
    caption = f"Parameters of {report.method}."
    facts = [[name, value] for name, value in report.surroundings.items()]
    return [
        Preformatted(report.command),
        Table(["parameter", "value", "default"], rows, caption),
        Table(["what", "version or value"], facts, "What it was made with."),
    ]
