"""Counts trials of one kind: every one is answered, refused or lost."""

from reliability.outcomes import Outcome


class Count:
    """How trials of one kind have ended so far.

    Parameters
    ----------
    what : str
        The input or the fault, as a reader would say it.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.answered = self.refused = 0
        self.losses: list[str] = []

    @property
    def tried(self) -> int:
        """Return how many trials there were."""
        return self.answered + self.refused + len(self.losses)

    def answer(self, *problems: str | bool) -> None:
        """Count an answer, or a loss if there is any problem with it."""
        self._count("answered", problems)

    def refuse(self, *problems: str | bool) -> None:
        """Count a refusal, or a loss if there is any problem with it."""
        self._count("refused", problems)

    def _count(self, how: str, problems: tuple[str | bool, ...]) -> None:
        found = [str(problem) for problem in problems if problem]
        if found:
            self.losses.append("; ".join(found))
        else:
            setattr(self, how, getattr(self, how) + 1)

    def outcome(self, note: str = "") -> Outcome:
        """Return the sums; a loss speaks for itself in the note."""
        lost = len(self.losses)
        said = f"lost: {self.losses[0]}"[:200] if lost else note
        return Outcome(self.what, self.tried, self.answered, self.refused, lost, said)
