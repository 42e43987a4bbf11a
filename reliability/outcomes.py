"""What became of an input or of a fault."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """One kind of input or fault, tried so often, and how it ended."""

    what: str  # the input or the fault, as a reader would say it
    tried: int  # how many times
    answered: int  # ended with the right answer; nothing lost
    refused: int  # ended with the documented one-sentence error
    lost: int  # anything else; must be 0
    note: str = ""  # such as the peak of memory, or the limit


def broken_down(error: Exception) -> Outcome:
    """Return the loss that an exception is which nobody has expected."""
    said = f"{type(error).__name__}: {error}"
    return Outcome("the trial itself", 1, 0, 0, 1, said)
