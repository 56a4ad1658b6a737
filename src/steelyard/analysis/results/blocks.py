"""Blocks: what is shown of a result, in order; every surface shows the same blocks.

A result says by `blocks()` which sentences, tables and pictures it consists of. What a terminal, Markdown, a page, CSV
or LaTeX makes of each block stands in `steelyard.report`, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.results.formatting import cell_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.analysis.results.result import Result

_CENTRES = ("threshold", "value", "difference", "mean", "gain")  # what an interval of low and high is around
_USUALLY = ("undefined_share", "undefined", "of_rows", "own")  # columns that are 0 or False unless something is amiss


@dataclass(frozen=True)
class Sentence:
    """A sentence: the headline, a heading of those that follow, one that leads to the tables, or a note below."""

    text: str
    role: Literal["headline", "heading", "lead", "note"] = "note"


@dataclass(frozen=True)
class Span:
    """An interval on a scale from `least` to `most`, the value in it, and where there is one the no-skill baseline."""

    value: float
    low: float
    high: float
    least: float = 0.0
    most: float = 1.0
    chance: float = math.nan

    def place(self, number: float) -> float:
        """Where a number lies on the scale, from 0 to 1."""
        return min(max((number - self.least) / ((self.most - self.least) or 1.0), 0.0), 1.0)


@dataclass(frozen=True)
class Table:
    """Rows of one table as people read them, and in `data` with all their digits, which are what CSV holds.

    A row that is a string stands as a heading above those that follow. The first `keys` columns name a row; those of
    `optional` are left out first where there is no room. Of many rows `most` are shown where nobody asked for all.
    """

    rows: Sequence[Mapping[str, Any] | str]
    title: str = ""
    data: Callable[[], list[dict[str, Any]]] | None = None
    keys: int = 1
    optional: tuple[str, ...] = ()
    most: int | None = None

    @classmethod
    def of(cls, result: Result[Any], title: str = "", **options: Any) -> Table:
        """The rows of a result, or of a part of one."""
        return cls(result.shown_rows(), title, result.to_dicts, **options)

    @property
    def heading(self) -> str:
        """The title as it stands above the table."""
        return f"{self.title[:1].upper()}{self.title[1:]}"

    def exact(self) -> list[dict[str, Any]]:
        """The rows with all their digits."""
        return [dict(row) for row in self.lines] if self.data is None else self.data()

    @property
    def lines(self) -> list[Mapping[str, Any]]:
        """The rows without the headings among them."""
        return [row for row in self.rows if not isinstance(row, str)]

    @property
    def names(self) -> list[str]:
        """The columns that say something: not those without a value, nor that all of it is defined."""
        every = dict.fromkeys(name for row in self.lines for name in row)
        names = [name for name in every if any(row.get(name) is not None for row in self.lines)]
        return [name for name in names if name not in _USUALLY or any(row.get(name) for row in self.lines)]

    def texts(self, most: int | None = None) -> list[list[str] | str]:
        """The cells of the rows in the digits that stand everywhere."""
        names = self.names
        return [
            row if isinstance(row, str) else [shown_text(name, row.get(name)) for name in names]
            for row in self.rows[:most]
        ]

    def numeric(self) -> list[bool]:
        """Of each column whether it holds numbers."""
        return [all(row.get(name) is None or is_number(row[name]) for row in self.lines) for name in self.names]

    def spans(self) -> list[Span | None]:
        """The interval of each row that has one, all on one scale: 0 to 1, or as wide as they are, 0 included."""
        spans = [None if isinstance(row, str) else _span(row) for row in self.rows]
        ends = [end for span in spans if span is not None for end in span]
        least, most = min([0.0, *ends]), max([1.0 if min(ends, default=0) >= 0 else 0.0, *ends])
        return [None if span is None else Span(*span, least, most) for span in spans]


class Point(NamedTuple):
    """A value at a place from 0 to 1 along an axis, and the ends of its interval; hollow where it is estimated."""

    place: float
    value: float
    low: float
    high: float
    hollow: bool = False


@dataclass(frozen=True)
class Track:
    """Points of one kind: dots with their intervals, or a curve with its band; the second is drawn apart."""

    name: str
    points: Sequence[Point]
    second: bool = False
    curve: bool = False


@dataclass(frozen=True)
class Figure:
    """A picture: its title, what its axis has at which place, its tracks, and the numbers that it must show."""

    title: str
    ticks: Sequence[tuple[float, str]]
    tracks: Sequence[Track]
    times: int = 1  # what values are multiplied by to be read in the unit
    unit: str = ""
    shows: tuple[float, ...] = ()
    x_title: str = ""


Block: TypeAlias = Sentence | Table | Figure


def is_number(value: object) -> bool:
    """Whether a cell is a number, which stands at the right."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def shown_text(name: str, value: Any) -> str:
    """A cell as people read it; several values by commas, an array by its size."""
    match value:
        case np.ndarray() if value.ndim:
            return f"{value.size:,} values"
        case np.generic() | np.ndarray():
            return shown_text(name, value.item())
        case dict():
            return ", ".join(f"{key} {shown_text(key, item)}" for key, item in value.items() if item is not None)
        case list() | tuple():
            return ", ".join(shown_text(name, item) for item in value)
        case bool():
            return "yes" if value else "no"
    return cell_text(name, value)


def _span(row: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """The value, the low and the high end of a row's interval; None where it has none."""
    centre = next((row[name] for name in _CENTRES if name in row), None)
    ends = [float(end) for end in (centre, row.get("low"), row.get("high")) if end is not None and is_number(end)]
    return (ends[0], ends[1], ends[2]) if len(ends) == 3 and all(map(math.isfinite, ends)) else None
