"""The version of ufselect: from the tags where it was built, or else the next one."""

try:
    from ufselect._built_version import __version__ as __version__
except ModuleNotFoundError:
    # A clone that was never installed. CITATION.cff and pyproject.toml say the same.
    __version__ = "0.1.0.dev0"

# Without the number of commits since: what one release computes may be kept together.
_number, _of_commits, _ = __version__.partition(".dev")
RELEASE = f"{_number}.dev0" if _of_commits else __version__


def versions_here() -> dict[str, str]:
    """Return the versions of what computes, and where.

    Examples
    --------
    >>> list(versions_here())
    ['ufselect', 'python', 'numpy', 'scipy', 'scikit-learn', 'system']
    """
    import platform
    from importlib.metadata import version

    return {
        "ufselect": RELEASE,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "system": f"{platform.system()} {platform.machine()}",
    }
