"""Wrong rows: the rows whose prediction is not their true label, found, sorted and counted where the data live."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.frames import conditions
from steelyard.frames.queries import as_number, collect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import narwhals as nw

    from steelyard._types import Label
    from steelyard.frames.conditions import Conjunction
    from steelyard.frames.source import Source


ROW_NUMBER, KIND, DISTANCE = "number of the row", "kind of error", "distance of the row"  # columns that are added
KINDS = {"fn": "false negative", "fp": "false positive"}
OTHER = "error"  # of several classes, of which none is the positive one
_MOST_CLASSES = 200  # that are compared one by one


@dataclass(frozen=True)
class WrongRows:
    """The query for wrong rows.

    `true_of` and `pred_of` hold the label of every value of their columns, which in a text file may have several
    spellings. Without a `positive` label the rows of several classes are wrong alike.
    """

    true: str
    pred: str | None
    score: str | None
    positive: Label
    threshold: float | None
    true_of: Mapping[Any, Label]
    pred_of: Mapping[Any, Label]
    kinds: tuple[str, ...] = tuple(KINDS)
    where: Conjunction | None = None
    keys: tuple[str, ...] = ()
    near: bool = False

    def counted(self, source: Source) -> dict[str, int]:
        """How many rows there are of the slice, and how many errors of each kind."""
        import narwhals as nw

        totals = dict.fromkeys(("rows", *KINDS), 0)
        for part in self._parts(source, numbered=False):
            wrong = [as_number(expression).sum().alias(kind) for kind, expression in self._errors().items()]
            counted = collect(part.select(nw.len().alias("rows"), *wrong))
            for name in counted.columns:
                totals[name] += int(counted.get_column(name).to_list()[0] or 0)
        return totals

    def first(self, source: Source, most: int | None) -> list[dict[str, Any]]:
        """The first wrong rows, sorted and limited in every part before they are brought here."""
        import narwhals as nw

        errors = {kind: error for kind, error in self._errors().items() if kind in self.kinds or len(self.kinds) > 1}
        found: list[dict[str, Any]] = []
        for part in self._parts(source, numbered=True):
            kind = nw.lit("fp" if "fp" in errors else "fn")
            if len(errors) > 1:
                kind = nw.when(errors["fp"]).then(nw.lit("fp")).otherwise(nw.lit("fn"))
            wrong = part.filter(functools.reduce(operator.or_, errors.values()))
            named = (ROW_NUMBER, self.true, self.pred, self.score, *self.keys)
            names = [name for name in named if name is not None and name in self._names(part)]
            wrong = wrong.select(*dict.fromkeys(names), kind.alias(KIND), self._far().alias(DISTANCE))
            rows = collect(self._limited(wrong, most))
            source.step()
            found += [dict(zip(rows.columns, row, strict=True)) for row in rows.rows()]
        found.sort(key=self._order)
        return found[:most]

    @staticmethod
    def _names(part: nw.LazyFrame[Any]) -> Sequence[str]:
        return part.collect_schema().names()

    def _limited(self, wrong: nw.LazyFrame[Any], most: int | None) -> nw.LazyFrame[Any]:
        present = [name for name in (DISTANCE, ROW_NUMBER) if name in self._names(wrong)]
        by = present if self.score is not None else [name for name in present if name != DISTANCE]
        descending = [name == DISTANCE and not self.near for name in by]
        ordered = wrong.sort(*by, descending=descending) if by else wrong
        return ordered if most is None else ordered.head(most)

    def _order(self, row: Mapping[str, Any]) -> tuple[float, int]:
        far = row[DISTANCE] if self.score is not None else 0.0
        return far if self.near else -far, row.get(ROW_NUMBER) or 0

    def _parts(self, source: Source, *, numbered: bool) -> Iterator[nw.LazyFrame[Any]]:
        """The parts, with the number of each row from 1 where rows have an order, and those of the slice alone."""
        import narwhals as nw

        before = 0
        for given in source.parts:
            part = given
            if numbered and (source.in_memory or part.implementation.is_polars()):
                rows = _numbered(part, source.in_memory)
                part = rows.with_columns((nw.col(ROW_NUMBER).cast(nw.Int64) + (before + 1)).alias(ROW_NUMBER))
                if len(source.parts) > 1:
                    before += int(collect(given.select(nw.len().alias("rows"))).get_column("rows").to_list()[0])
            yield part if self.where is None else conditions.filtered_part(part, self.where, source.textual)

    def _errors(self) -> dict[str, nw.Expr]:
        """Which rows are wrong, by the kind of error."""
        import narwhals as nw

        if self.positive is None:
            wrong = nw.col(self.true) != nw.col(str(self.pred))
            labels = dict.fromkeys(self.true_of.values())
            if len(labels) <= _MOST_CLASSES:
                right = (
                    self._is(self.true, self.true_of, k) & self._is(str(self.pred), self.pred_of, k) for k in labels
                )
                wrong = ~functools.reduce(operator.or_, right)
            return {"fn": wrong}
        positive = self._is(self.true, self.true_of, self.positive)
        flagged = self._flagged()
        return {"fn": positive & ~flagged, "fp": ~positive & flagged}

    def _flagged(self) -> nw.Expr:
        import narwhals as nw

        if self.pred is not None:
            return self._is(self.pred, self.pred_of, self.positive)
        return nw.col(str(self.score)).cast(nw.Float64) >= self.threshold

    @staticmethod
    def _is(name: str, label_of: Mapping[Any, Label], label: Label) -> nw.Expr:
        """Whether a column holds a label, however it is spelled."""
        import narwhals as nw

        values = [value for value, own in label_of.items() if own == label]
        return nw.col(name).is_in(values) if values else nw.lit(value=False)

    def _far(self) -> nw.Expr:
        """How far a score is beyond the threshold; of several classes the score of the prediction itself."""
        import narwhals as nw

        if self.score is None:
            return nw.lit(0)  # whole, since PostgreSQL takes 0.0 for a decimal
        score = nw.col(self.score).cast(nw.Float64)
        return score if self.positive is None else (score - self.threshold).abs()


def _numbered(part: nw.LazyFrame[Any], in_memory: bool) -> nw.LazyFrame[Any]:
    import narwhals as nw

    if in_memory:
        return part.collect().with_row_index(ROW_NUMBER).lazy()
    numbered: nw.LazyFrame[Any] = nw.from_native(part.to_native().lazy().with_row_index(ROW_NUMBER))
    return numbered
