"""The version of ufselect: from the tags where it was built, or else the next one."""

try:
    from ufselect._built_version import __version__ as __version__
except ModuleNotFoundError:
    # A clone that was never installed. CITATION.cff and pyproject.toml say the same.
    __version__ = "0.1.0.dev0"

# Without the number of commits since: what one release computes may be kept together.
_number, _of_commits, _ = __version__.partition(".dev")
RELEASE = f"{_number}.dev0" if _of_commits else __version__
