"""Warnings that point at the line of the user who called."""

import sys
import warnings

# Packages between that line and the place that warns.
PASSED = {"ufselect", "sklearn", "joblib", "contextlib", "concurrent", "threading"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of ufselect and of the packages that call it.

    Parameters
    ----------
    message : str
    category : type of Warning
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in PASSED:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "__main__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
