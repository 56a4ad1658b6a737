"""Formatting: numbers, shares, intervals and p-values in the digits that stand everywhere, and filled text."""

from __future__ import annotations

import math
import re
import shutil
import textwrap
import unicodedata
from itertools import compress, zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


PLACES = 6  # digits after the point of a number beside 1
ROUNDING = 1e-12  # what floats leave of a difference that is 0
P_VALUES = ("p_value", "p_holm", "p_not_worse", "mid_p")
SMALLEST_BOUND = 0.001  # below this a lower bound is as good as 0
SMALLEST_END = 1e-9  # below this the digits of either bound mean nothing
SMALLEST_P = 0.001  # below this the digits of a p-value decide nothing
_FOUR_DIGITS = 9_999.5  # up to here
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


def printable(text: str) -> str:
    r"""Text without control codes, which a label may hold to move the cursor or to colour the terminal.

    >>> printable("a\x1b[31m\nb")
    'a�[31m b'
    """
    return "".join(" " if sign in "\n\t" else "�" if not sign.isprintable() and sign != " " else sign for sign in text)


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
    return _near_one(value) if shown in ("1.00", "-1.00") and abs(abs(value) - 1) > ROUNDING else shown


def p_digits(p: float) -> str:
    """A p-value with three significant digits; a small one is below 0.001, never 0.

    >>> p_digits(0.0312), p_digits(4e-9), p_text(0.0)
    ('0.0312', '< 0.001', 'p < 0.001')
    """
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else three_digits(p)


def p_text(p: float) -> str:
    """A p-value as a sentence holds it."""
    return f"p {p_digits(p)}" if p < SMALLEST_P else f"p = {p_digits(p)}"


def cell_text(column: str, value: object) -> str:
    """A value as a table shows it under this name."""
    return p_digits(value) if column in P_VALUES and isinstance(value, float) else three_digits(value)


def _near_one(value: float) -> str:
    """A number near 1 or -1 with as many digits as distinguish it, at most six after the point, and never as 1."""
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
    return f"{value_text(value, share=share)} ({bounds_text(low, high, share=share, value=value).removesuffix(' %')})"


def bounds_text(low: float, high: float, *, share: bool = False, value: float = math.inf) -> str:
    """The ends of an interval; a lower end too small to matter beside the value and the upper one is below 0.001.

    >>> bounds_text(0.582, 0.801), bounds_text(4.91e-248, 0.12), bounds_text(0.0002, 0.0008), bounds_text(0.0, 2e-5)
    ('0.582 to 0.801', '< 0.001 to 0.120', '0.000200 to 0.000800', '0 to < 0.001')
    >>> bounds_text(0.414, 0.68, share=True)
    '41.4 to 68.0 %'
    >>> interval_text(0.000712, 0.000445, 0.00112, share=True)
    '0.0712 % (0.0445 to 0.112)'
    """
    least = f"< {100 * SMALLEST_BOUND if share else SMALLEST_BOUND:g}"
    small = 0 < low < SMALLEST_BOUND <= min(value, high) or 0 < low < SMALLEST_END
    first = least if small else value_text(low, share=share).removesuffix(" %")
    last = value_text(high, share=share)
    if 0 < high < SMALLEST_END or (low == 0 and "e-" in last):
        last = f"{least}{' %' if share else ''}"
    return f"{first} to {last}"


def percent_interval(value: float, low: float, high: float) -> str:
    """A share with its interval, if there is one: 54.9 % (41.4 to 68.0)."""
    return interval_text(value, low, high, share=True) if low <= high else percent_text(value)


def count_text(value: float) -> str:
    """A count: whole, or of weights with four digits, or more before the point."""
    return (
        f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}" if value < _FOUR_DIGITS else f"{value:,.0f}"
    )


def number_of(n: int, noun: str) -> str:
    """A number and its noun, which takes an s beside all numbers but 1.

    >>> number_of(1, "table"), number_of(2_000, "row")
    ('1 table', '2,000 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(words: list[str], joint: str = "and") -> str:
    """Words in a row: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


# ---------------------------------------------------------------- text tables
# Columns no wider than the terminal, numbers aligned on the point and never truncated.
#
# A table that does not fit loses, in this order: the width of its words, which wrap; the columns that may be left out;
# then it is broken into parts, and the columns that name a row are repeated in each part.


LABEL_WIDTH = 24  # cells of a label, and of the longest word that keeps a column of words from wrapping
_LEAST_WORDS = 16  # cells of a column that wraps
_GAP, _NO_BREAK = "  ", "\u00a0"
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_NUMBER = re.compile(r"(?:[<>] )?[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?(?:inf|∞)|–")
_NUMERIC = re.compile(r"#(?: %)?|# to #\*?|# \(# to #\)|")  # shapes whose numbers stand below each other


def text_width(text: str) -> int:
    """The cells that a text takes on a terminal: two for wide letters, none for styles and combining signs."""
    plain = _STYLE.sub("", text)
    if plain.isascii():
        return len(plain)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in plain)


def clipped_text(text: str, most: int = LABEL_WIDTH) -> str:
    """A text of at most so many cells, with an ellipsis where something was left out.

    >>> clipped_text("a label that says more than it must")
    'a label that says more …'
    """
    if text_width(text) <= most:
        return text
    return f"{_fitting(text, most - 1)}…"


def text_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str] | str],
    *,
    wrap: Sequence[int] = (),
    optional: Sequence[int] = (),
    keys: int = 1,
    emphasis: Callable[[str], str] = str,
) -> str:
    """A table no wider than the terminal; columns of `wrap` hold words, those of `optional` are left out first.

    A row that is one string is a light rule above those that follow. The first `keys` columns stand in every part.

    >>> print(text_table(["class", "rows", "recall"], [["no", "1,200", "0.9312"], ["yes", "12", "0.25"]]))
    class   rows  recall
    no     1,200  0.9312
    yes       12  0.25
    """
    whole = [row for row in rows if not isinstance(row, str)]
    columns = {i: _column(title, [row[i] for row in whole], i in wrap) for i, title in enumerate(head)}
    for i in optional:
        if sum(column.least + len(_GAP) for column in columns.values()) - len(_GAP) > terminal_width():
            del columns[i]
    parts = [_part_lines(part, rows, emphasis) for part in _parts(list(columns.values()), keys)]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _parts(columns: list[_Column], keys: int) -> list[list[_Column]]:
    """The columns in as few parts as fit, about equally wide, the first ones in each."""
    width = terminal_width()
    parts = _parts_within(columns, keys, width)
    while width > 1 and len(closer := _parts_within(columns, keys, width - 1)) == len(parts):
        parts, width = closer, width - 1
    return parts


def _parts_within(columns: list[_Column], keys: int, width: int) -> list[list[_Column]]:
    named = columns[:keys]
    least = sum(column.least + len(_GAP) for column in named) - len(_GAP)
    parts, used = [[*named]], least
    for column in columns[keys:]:
        size = len(_GAP) + column.least
        if used + size > width and len(parts[-1]) > keys:
            parts.append([*named])
            used = least
        parts[-1].append(column)
        used += size
    return parts


# ---------------------------------------------------------------- columns


class _Column(NamedTuple):
    """A column: its title, its cells, whether they wrap or are numbers, and the least width that shortens no number."""

    title: str
    cells: list[str]
    wraps: bool
    numeric: bool
    least: int

    @property
    def natural(self) -> int:
        """The width at which nothing wraps."""
        return max(map(text_width, (self.title, *self.cells)))

    def lines(self, cell: str, width: int) -> list[str]:
        """A cell as lines of this width."""
        lines = wrapped_lines(cell, width) if self.wraps else [cell]
        blanks = (" " * (width - text_width(line)) for line in lines)
        return [blank + line if self.numeric else line + blank for line, blank in zip(lines, blanks, strict=True)]


def _column(title: str, raw: Sequence[str], wraps: bool) -> _Column:
    """The cells, numbers below each other; words that neither wrap nor fit are shortened."""
    shapes = [_NUMBER.sub("#", cell) for cell in raw]
    numeric = [_NUMERIC.fullmatch(shape) is not None for shape in shapes]
    cells = _aligned(raw, shapes)
    if not wraps:
        most = max(terminal_width() // 2, LABEL_WIDTH)
        cells = [cell if number else clipped_text(cell, most) for cell, number in zip(cells, numeric, strict=True)]
    words = [word for text in (title, *cells) for word in (text.split(" ") if wraps else [text])]
    least = max(map(text_width, words))
    if wraps:
        natural = max(map(text_width, (title, *cells)))
        least = max(min(least, LABEL_WIDTH), min(natural, _LEAST_WORDS), *map(text_width, compress(cells, numeric)), 0)
    return _Column(title, cells, wraps, all(numeric) and any(shapes), least)


def _aligned(cells: Sequence[str], shapes: Sequence[str]) -> list[str]:
    """The cells, those of one shape with their first numbers aligned on the point, and no blank to break them at."""
    aligned = list(cells)
    for shape in {shape for shape in shapes if shape and _NUMERIC.fullmatch(shape)}:
        numbers = {}  # by the index of the cell: where its first number starts, has its point, and ends
        for i, cell in enumerate(cells):
            if shapes[i] == shape and (found := _NUMBER.search(cell)):
                point = min((found[0].find(sign) for sign in ".e" if sign in found[0]), default=len(found[0]))
                numbers[i] = found.start(), found.start() + point, found.end()
        most_before = max(point - start for start, point, _ in numbers.values())
        most_after = max(end - point for _, point, end in numbers.values())
        for i, (start, point, end) in numbers.items():
            before, after = " " * (most_before - (point - start)), " " * (most_after - (end - point))
            head, number, tail = cells[i][:start], cells[i][start:end], cells[i][end:]
            # Blanks on the right stand behind a percent sign.
            aligned[i] = head + before + number + (tail + after if tail.endswith(" %") else after + tail)
        width = max(len(aligned[i]) for i in numbers)
        for i in numbers:
            aligned[i] = aligned[i].ljust(width).replace(" ", _NO_BREAK)
    return aligned


# ---------------------------------------------------------------- lines


def _part_lines(
    columns: list[_Column], rows: Sequence[Sequence[str] | str], emphasis: Callable[[str], str]
) -> list[str]:
    """Some columns of the table as lines; the widest columns become narrower until all fit."""
    widths = [column.natural for column in columns]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > terminal_width():
        shrinkable = [width if width > column.least else 0 for width, column in zip(widths, columns, strict=True)]
        if not any(shrinkable):
            break
        widths[shrinkable.index(max(shrinkable))] -= 1
    lines = [emphasis(line) for line in _row_lines(columns, [column.title for column in columns], widths)]
    index = 0
    for row in rows:
        if isinstance(row, str):
            lines.append(f"── {row}")
        else:
            lines += _row_lines(columns, [column.cells[index] for column in columns], widths)
            index += 1
    return lines


def _row_lines(columns: list[_Column], cells: list[str], widths: list[int]) -> list[str]:
    blocks = [column.lines(cell, width) for column, cell, width in zip(columns, cells, widths, strict=True)]
    blanks = [" " * width for width in widths]
    lines = zip_longest(*blocks)
    return [
        _GAP.join(blank if cell is None else cell for cell, blank in zip(line, blanks, strict=True))
        .replace(_NO_BREAK, " ")
        .rstrip()
        for line in lines
    ]


def wrapped_lines(text: str, width: int) -> list[str]:
    """The text in lines of this width, broken at blanks; a word that is longer is broken where the line ends."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip(" ")
        if text_width(longer) <= width:
            lines[-1] = longer
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = lines[-1] or word
        while text_width(lines[-1]) > width:
            head = _fitting(lines[-1], width)
            lines[-1:] = [head, lines[-1][len(head) :]]
    return lines


def _fitting(text: str, width: int) -> str:
    """As much of the text as fits."""
    while text_width(text) > width:
        text = text[:-1]
    return text
