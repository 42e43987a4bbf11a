"""What a run asks of every family of abuse."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How much is tried, and from which seed."""

    quick: bool = False
    seed: int = 0

    def count(self, long: int, quick: int) -> int:
        """Return how often to try."""
        return quick if self.quick else long
