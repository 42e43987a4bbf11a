"""Numbers in short, and axes on which only their powers of ten are marked."""

from typing import Any

from ufselect.report.drawing import printable

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(value: float) -> str:
    """Return a power of ten as such and any other value in short.

    Examples
    --------
    >>> from ufselect.report.scales import power_of_ten
    >>> [power_of_ten(value) for value in (0.0001, 1, 10, 100, 0.5, 0)]
    ['10⁻⁴', '1', '10', '10²', '0.5', '0']
    """
    mantissa, exponent = f"{value:e}".split("e")
    if float(mantissa) != 1 or int(exponent) in (0, 1):
        return f"{value:g}"
    return "10" + str(int(exponent)).translate(SUPERSCRIPTS)


def short_value(value: Any) -> str:
    """Return the value of a parameter in short, whatever its type.

    Examples
    --------
    >>> from ufselect.report.scales import short_value
    >>> [short_value(value) for value in (100.0, 5, "heat", True, None)]
    ['10²', '5', 'heat', 'True', 'None']
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return power_of_ten(value) if number else printable(str(value))


def make_logarithmic(axes: Any, *names: str) -> None:
    """Make the axes ("x", "y") logarithmic, marked with text, not formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for name in names:
        axes.set(**{f"{name}scale": "log"})
        axis = getattr(axes, f"{name}axis")
        axis.set_major_formatter(FuncFormatter(lambda value, place: _mark(value)))
        axis.set_minor_formatter(NullFormatter())


def _mark(value: float) -> str:
    return f"{value:g}" if 0.01 <= value <= 1000 else power_of_ten(value)
