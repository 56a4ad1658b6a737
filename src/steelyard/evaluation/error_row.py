"""ErrorRows: the rows that a classifier has wrong, each with its number, labels, score and keys."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - saved fields are read back by their types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._types import Label
from steelyard.analysis.results.formatting import filled, three_digits
from steelyard.analysis.results.result import Result, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_PRINTED = 20


@dataclass(frozen=True)
class ErrorRow:
    """One row that is wrong: its number counted from 1, the kind of error, both labels, and its key columns.

    `distance` is how far the score lies beyond the threshold. `row` is None where rows have no order, as in a database.
    """

    row_number: int | None = field(metadata={"key": "row"})
    kind: str
    true: Label
    pred: Label
    score: float | None = None
    distance: float | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The row as a row of a table, its keys last; a key that is called as a column of the table is marked."""
        own = {"row": self.row_number, "error": self.kind, "true": self.true, "predicted": self.pred}
        own |= {"score": self.score, "distance": self.distance}
        return own | {f"{name} (key)" if name in own else name: value for name, value in self.keys.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRows(Result[ErrorRow]):
    """The wrong rows in their order, and how many there are of each kind, of which some are listed."""

    each: tuple[ErrorRow, ...]
    rows: int
    false_negatives: int
    false_positives: int
    errors: int
    kind_listed: str = "both"
    positive: Label = None
    threshold: float | None = None
    where: str | None = None
    near: bool = False
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ErrorRow]:
        return iter(self.each)

    @property
    def headline(self) -> str:
        """How many rows are wrong, and which are listed."""
        within = "" if self.where is None else f" with {self.where}"
        verb = "is" if self.errors == 1 else "are"
        return f"{self.errors:,} of {self.rows:,} rows{within} {verb} {self._wrong()}{self._listed()}."

    def _listed(self) -> str:
        """Which of the wrong rows are listed, and in which order."""
        if not self.each or self.errors == 1:
            return ""
        if len(self.each) == 1:
            return f"; the first is listed, {self._order()}"
        listed = f"; the {len(self.each):,} listed are" if len(self.each) < self.errors else "; they are listed"
        return f"{listed} {self._order()}"

    def _wrong(self) -> str:
        """What is wrong with the rows counted."""
        counts = {"false negative": self.false_negatives, "false positive": self.false_positives}
        if self.kind_listed != "both":
            return f"a {self.kind_listed}" if self.errors == 1 else f"{self.kind_listed}s"
        kinds = " and ".join(f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items())
        return "wrong" if self.positive is None else f"wrong: {kinds}"

    def _order(self) -> str:
        if all(row.score is None for row in self.each):
            return "in their order"
        if self.positive is None:
            return "the least certain first" if self.near else "the most certain first"
        at = "" if self.threshold is None else f" {three_digits(self.threshold)}"
        return f"nearest to the threshold{at} first" if self.near else f"farthest beyond the threshold{at} first"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and that rows without an order have no number."""
        unordered = self.each and self.each[0].row_number is None
        number = ("The rows of this frame have no order, and so no number; name columns that identify them by keys=.",)
        return (*self.assumed, *(number if unordered else ()))

    def __repr__(self) -> str:
        table = table_text([row.row() for row in self.each[:_MOST_PRINTED]])
        left = len(self.each) - _MOST_PRINTED
        more = f"and {left:,} more; to_frame() has them all" if left > 0 else ""
        parts = [filled(self.headline), table, more, "\n".join(map(filled, self.notes))]
        return "\n\n".join(filter(None, parts))
