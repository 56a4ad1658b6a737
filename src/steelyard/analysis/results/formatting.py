"""Formatting: numbers, shares, intervals and p-values in the digits that stand everywhere, and filled text."""

from __future__ import annotations

import math
import shutil
import textwrap

PLACES = 6  # digits after the point of a number beside 1
ROUNDING = 1e-12  # what floats leave of a difference that is 0
P_VALUES = ("p_value", "p_holm", "p_not_worse", "mid_p")
SMALLEST_BOUND = 0.001  # below this a lower bound is as good as 0
SMALLEST_END = 1e-9  # below this the digits of either bound mean nothing
SMALLEST_P = 1e-20  # below this a p-value is a tail of the approximation, no more a probability
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # text that begins so is run by spreadsheets


def terminal_width() -> int:
    """Columns to fill: the terminal's, at most 100; 100 where there is none."""
    return min(shutil.get_terminal_size((100, 24)).columns, 100)


def unbroken(text: str) -> str:
    """The text with a no-break space before each percent sign, which so does not begin a line."""
    return text.replace(" %", "\u00a0%")


def filled(text: str, indent: str = "") -> str:
    """The text filled to that width, words with hyphens kept whole; a percent sign does not begin a line."""
    lines = textwrap.fill(
        unbroken(text),
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return lines.replace("\u00a0%", " %")


def three_digits(value: object) -> str:
    """A number with three significant digits, a dash where it is undefined; what is not 1 never reads as 1.

    >>> three_digits(0.70249), three_digits(0.9996), three_digits(1.0)
    ('0.702', '0.9996', '1.00')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if value == 0 or math.isinf(value) or isinstance(value, int):
        return f"{value:,}" if isinstance(value, int) else f"{value + 0.0:g}"  # + 0.0: no -0
    size = math.floor(math.log10(abs(float(f"{value:.2e}"))))
    shown = f"{value:,.{max(2 - size, 0)}f}" if -4 <= size < 6 else f"{value:.2e}"
    return _beside_one(value) if shown in ("1.00", "-1.00") and abs(abs(value) - 1) > ROUNDING else shown


def p_digits(p: float) -> str:
    """A p-value with three significant digits; one too small to mean its digits is below 1e-20, never 0.

    >>> p_digits(0.0312), p_digits(0.0), p_text(0.0)
    ('0.0312', '< 1e-20', 'p < 1e-20')
    """
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else three_digits(p)


def p_text(p: float) -> str:
    """A p-value as a sentence holds it."""
    return f"p {p_digits(p)}" if p < SMALLEST_P else f"p = {p_digits(p)}"


def cell_text(column: str, value: object) -> str:
    """A value as a table shows it under this name."""
    return p_digits(value) if column in P_VALUES and isinstance(value, float) else three_digits(value)


def _beside_one(value: float) -> str:
    """A number near 1 or -1 with as many digits as distinguish it, at most six after the point; there never the 1."""
    for places in range(3, PLACES + 1):
        shown = f"{value:.{places}f}"
        if abs(float(shown)) != 1:
            return shown
    return f"{math.copysign(1 + math.copysign(10**-PLACES, abs(value) - 1), value):.{PLACES}f}"


def percent_text(share: float) -> str:
    """A share of cases with three significant digits; never rounded to all or none."""
    if math.isnan(share):
        return "–"
    if share == 0 or abs(share - 1) <= ROUNDING:
        return "100 %" if share else "0 %"
    shown = three_digits(100 * share)
    if shown == "100":  # three digits would say all of them
        shown = f"{math.floor(1e4 * share) / 100:.2f}" if share < 0.9999 else "above 99.99"
    return f"{shown} %"


def value_text(value: float, *, share: bool) -> str:
    """A metric's value: a share of rows in percent, any other as a number."""
    return percent_text(value) if share else three_digits(value)


def difference_text(difference: float, *, share: bool) -> str:
    """A difference of two values of a metric: of shares of rows in points, of any other as a number.

    >>> difference_text(0.171, share=True), difference_text(0.171, share=False)
    ('17.1 points', '0.171')
    """
    return f"{three_digits(100 * difference)} points" if share else three_digits(difference)


def interval_text(value: float, low: float, high: float, *, share: bool = False) -> str:
    """A value with its interval: 0.702 (0.582 to 0.801), or of a share of rows 54.9 % (41.4 to 68.0)."""
    if math.isnan(value):
        return "–"
    return f"{value_text(value, share=share)} ({bounds_text(low, high, share=share).removesuffix(' %')})"


def bounds_text(low: float, high: float, *, share: bool = False) -> str:
    """The ends of an interval; a lower end too small to matter beside the upper one is below 0.001.

    >>> bounds_text(0.582, 0.801), bounds_text(4.91e-248, 0.12), bounds_text(0.0002, 0.0008), bounds_text(0.0, 2e-5)
    ('0.582 to 0.801', '< 0.001 to 0.120', '0.000200 to 0.000800', '0 to < 0.001')
    >>> bounds_text(0.414, 0.68, share=True)
    '41.4 to 68.0 %'
    """
    least = f"< {100 * SMALLEST_BOUND if share else SMALLEST_BOUND:g}"
    small = 0 < low < SMALLEST_BOUND <= high or 0 < low < SMALLEST_END
    first = least if small else value_text(low, share=share).removesuffix(" %")
    last = value_text(high, share=share)
    if 0 < high < SMALLEST_END or (low == 0 and "e-" in last):
        last = f"{least}{' %' if share else ''}"
    return f"{first} to {last}"


def percent_interval(value: float, low: float, high: float) -> str:
    """A share with its interval, if there is one: 54.9 % (41.4 to 68.0)."""
    return interval_text(value, low, high, share=True) if low <= high else percent_text(value)


def number_of(n: int, noun: str) -> str:
    """A number and its noun, which takes an s beside all numbers but 1.

    >>> number_of(1, "table"), number_of(2_000, "row")
    ('1 table', '2,000 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(words: list[str], joint: str = "and") -> str:
    """Words in a row: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"
