"""What a part of label_free.py hands back: text, and answers to the targets."""

from typing import NamedTuple

from ufselect.report import markdown_table

SEEN = "Labels: every figure of these tables was computed with them, and no ranking."
UNSEEN = "Labels: none were used."


class Answer(NamedTuple):
    """A target, what was measured, and whether it is met."""

    what: str
    target: str
    measured: str
    met: bool | None


class Part(NamedTuple):
    """A part of the study."""

    text: str
    answers: list[Answer]


def at_least(what, least, values, form="{:.0f} %"):
    """Return the answer to a target that no value may fall below."""
    return _answer(what, "at least", least, values, form, lambda a, b: a >= b)


def at_most(what, most, values, form="{:.1f} %"):
    """Return the answer to a target that no value may exceed."""
    return _answer(what, "at most", most, values, form, lambda a, b: a <= b)


def _answer(what, words, bounds, values, form, holds):
    target = words + " " + " / ".join(map(form.format, bounds))
    if values is None:
        return Answer(what, target, "not measured", None)
    pairs = list(zip(values, bounds, strict=False))
    shown = " / ".join(form.format(value) for value, _ in pairs)
    return Answer(what, target, shown, all(holds(*pair) for pair in pairs))


def table_of_answers(answers):
    """Return the table of all targets."""
    words = {True: "yes", False: "**no**", None: "-"}
    rows = [
        [each.what, each.target, each.measured, words[each.met]] for each in answers
    ]
    return markdown_table(["AutoSelect", "target", "measured", "met"], rows)
