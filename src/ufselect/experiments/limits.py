"""How long a cell may take, and how much memory."""

from dataclasses import dataclass

SIZES = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Limits:
    """What a cell may take: seconds, and bytes of its process; None is all it wants."""

    seconds: float | None = None
    memory: int | None = None

    def but(self, other: "Limits") -> "Limits":
        """Return these limits, except where the other ones say something.

        Examples
        --------
        >>> Limits(seconds=60).but(Limits(memory=10**9))
        Limits(seconds=60, memory=1000000000)
        """
        return Limits(
            self.seconds if other.seconds is None else other.seconds,
            self.memory if other.memory is None else other.memory,
        )

    def __bool__(self) -> bool:
        """Say whether there is any limit."""
        return self != NO_LIMITS


NO_LIMITS = Limits()


def bytes_of(text: str) -> int:
    """Return a size as people write it in bytes.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 mb"), bytes_of("100")
    (2000000000, 1500000, 100)
    """
    plain = text.upper().removesuffix("B").rstrip()
    unit = plain[-1:] if plain[-1:] in SIZES else ""
    try:
        value = float(plain.removesuffix(unit)) * SIZES.get(unit, 1)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a size; write it like 500MB or 2GB"
        ) from None
    if not 1 <= value < 2**63:
        raise ValueError(f"{text} is not a size that a file can have")
    return int(value)
