"""Check that a failing command prints one sentence to standard error, nothing else."""

from ufselect.cli import main


def refused(capsys, *arguments, code=1):
    """Run a command that must fail; return its error message."""
    assert main([*map(str, arguments)]) == code
    said, complaint = capsys.readouterr()
    assert said == ""
    assert complaint.startswith("ufselect: ")
    assert complaint.count("\n") == 1
    assert "\x1b" not in complaint
    return complaint
