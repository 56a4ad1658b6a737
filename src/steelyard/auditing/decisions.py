"""Decisions: whether a property holds for a metric, how that is known, and the smallest table where it fails."""

from __future__ import annotations

import builtins
from dataclasses import asdict, dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, SupportsInt

from steelyard.analysis.results.rows import Flat
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

FourCells = tuple[int, int, int, int]
PROVED = "proved"
REFUTED = "refuted"
UNDEFINED = "undefined everywhere"
DOES_NOT_APPLY = "does not apply"


@dataclass(frozen=True, eq=False)
class Decision(Flat):
    """Whether a property holds for a metric, how that is known, and the smallest table where it fails."""

    metric: str
    property: str
    verdict: str
    how: str
    counterexample: Counterexample | None = None

    @builtins.property
    def holds(self) -> bool | None:
        """True where proved, False where refuted, None where neither."""
        return {PROVED: True, REFUTED: False}.get(self.verdict)

    def row(self) -> dict[str, Any]:
        """The decision as a row of a table."""
        return asdict(self)

    def shown_row(self) -> dict[str, Any]:
        """The decision with its table in words."""
        table = None if self.counterexample is None else str(self.counterexample)
        return self.row() | {"counterexample": table}

    @builtins.property
    def headline(self) -> str:
        """The decision in one sentence."""
        fails = f": {self.counterexample}" if self.counterexample else ""
        return f"{self.metric}, {self.property}: {self.verdict} ({self.how}){fails}"

    @classmethod
    def headline_of(cls, rows: Sequence[Decision]) -> str:
        """How many properties hold, and how many do not."""
        proved, refuted = (sum(row.holds is holds for row in rows) for holds in (True, False))
        metrics = len({row.metric for row in rows})
        decided = f"{proved} proved, {refuted} refuted, {len(rows) - proved - refuted} open or not applicable"
        return f"{len(rows):,} properties of {metrics} metric{'s' * (metrics > 1)}: {decided}"


@dataclass(frozen=True)
class Counterexample:
    """A table, what it was held against (another table, or None for a number) and the two exact values, written out.

    The table may be the parent of the other: `before` with its change made is `after`.
    """

    before: FourCells
    after: FourCells | None
    value: str
    other: str

    @builtins.property
    def tables(self) -> list[tuple[str, FourCells]]:
        """The tables, each with its value: the one that refutes, and the other if there is one."""
        values = _distinct_texts(self.value, self.other)
        return [
            (text, table) for text, table in zip(values, (self.before, self.after), strict=True) if table is not None
        ]

    @builtins.property
    def asked(self) -> str:
        """The number that the value was held against; nothing where it was another table."""
        return _distinct_texts(self.value, self.other)[1] if self.after is None else ""

    def __str__(self) -> str:
        value, other = _distinct_texts(self.value, self.other)
        to = f"where {other} was asked" if self.after is None else f"{other} on {cells_text(self.after)}"
        return f"{value} on {cells_text(self.before)}, {to}"


Ruling = tuple[str, str, Counterexample | None]  # the verdict, how it was reached, and the table that refutes it


def unrefuted(tables: int) -> str:
    """The verdict on what was examined on so many tables and not proved."""
    return f"no counterexample among {tables:,} exact tables"


def four_cells(table: Iterable[SupportsInt]) -> FourCells:
    """The table with cells of type int."""
    tp, fn, fp, tn = map(int, table)
    return tp, fn, fp, tn


def cells_text(table: Iterable[int | Fraction]) -> str:
    """The table as a sentence names it."""
    return ", ".join(f"{name}={cell}" for name, cell in zip(CELLS, table, strict=True))


def _distinct_texts(*numbers: str) -> list[str]:
    """The numbers as they are where short, else as decimals with as many digits as distinguish them."""
    short = [number if len(number) <= 12 else "" for number in numbers]
    for digits in range(6, 60):
        texts = [text or _decimal(number, digits) for text, number in zip(short, numbers, strict=True)]
        if len({_decimal(number, digits) for number in numbers}) == len(numbers):
            break
    return texts


def _decimal(number: str, digits: int) -> str:
    above, _, below = number.partition("/")
    context = Context(prec=digits)
    value = context.divide(Decimal(above), Decimal(below or 1)).normalize(context)
    return f"{value:f}" if -7 < value.adjusted() < 15 else str(value)
