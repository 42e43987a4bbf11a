"""Who descends from whom, from the files of Linux."""

from pathlib import Path


def parent_of(process: int) -> int:
    """Return the parent of a process, from the files of Linux; 0 if it has ended."""
    try:
        # After the name, which is in brackets and may have blanks in it.
        return int(
            Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        )
    except OSError:
        return 0


def command_of(process: int) -> str:
    """Return the command line of a process."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def children_of(process: int) -> list[int]:
    """Return the processes that another one has started and that still live."""
    everyone = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [each for each in everyone if parent_of(each) == process]
