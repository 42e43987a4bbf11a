"""Does an experiment lose anything when it is killed, starved or damaged?

Real runs of ``ufselect run`` on two small sets (38 cells, two processes), disturbed in
many ways. What was finished before a fault must still be there after it; nothing may
differ from what an undisturbed run finds; no process may stay behind; and the same
command, or the one that the message names, must complete the rest.

    python -m reliability experiments_under_faults
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from reliability.faults_from_signals import helpers, signals, undisturbed
from reliability.faults_of_machines import full_disks, jumping_clocks
from reliability.faults_of_methods import methods
from reliability.outcomes import Outcome
from reliability.settings import Settings

DURATION = "20 minutes"


def outcomes(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of an experiment under every kind of fault."""
    with tempfile.TemporaryDirectory() as name:
        bench = undisturbed(Path(name))
        for family in (signals, helpers, methods, full_disks, jumping_clocks):
            yield from family(bench, settings)
