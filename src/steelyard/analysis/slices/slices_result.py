"""Slices result: for which rows a metric is worse than elsewhere, in statements, and what could have been found."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from steelyard._types import Label
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import interval_text, listed, percent_text, value_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.frames.conditions import Conjunction

if TYPE_CHECKING:
    from collections.abc import Iterator

POWER = 0.8  # the chance with which what is called findable is found
_METHODS = {"bh": "Benjamini and Hochberg", "by": "Benjamini and Yekutieli"}


@dataclass(frozen=True, eq=False)
class FoundSlice(Flat):
    """A slice in which the metric is worse: its value there and elsewhere, its rows, and its share of the errors.

    `count` is of what the metric is a share of, such as positives; `p_adjusted` the least false discovery rate at which
    it is found; `explained_by` the slice whose statement explains it, None where it stands for itself. `joined` is how
    many discoveries in neighbouring bins it joins, 0 where it is one itself; joined ones were not tested as such, and
    `p_adjusted` is the largest of theirs.
    """

    slice: str
    value: float
    low: float
    high: float
    elsewhere: float
    count: int
    rows: int
    row_share: float
    error_share: float
    p_value: float
    p_adjusted: float
    explained_by: str | None = None
    joined: int = 0

    @property
    def conditions(self) -> Conjunction:
        """The conditions of the slice."""
        return Conjunction.parse(self.slice)


@dataclass(frozen=True, eq=False)
class Findable(Flat):
    """How bad the metric must be in a slice of so many rows of its denominator to be found in 4 of 5 test sets."""

    count: int
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Result[FoundSlice]):
    """The slices in which a metric is worse than elsewhere, with false discoveries controlled.

    The rows are the statements that explain the others; `found` holds every discovery that is kept, `discoveries` how
    many there are. `level` is that of each interval, high enough that few of all of them miss.
    """

    metric: str
    value: float
    found: Rows[FoundSlice]
    findable: Rows[Findable]
    discoveries: int
    tested: int
    candidates: int
    rows: int
    rate: float
    method: str
    level: float
    counted: str  # what the metric is a share of, such as positives
    errors: str  # what makes it worse, such as misses
    least_of: str  # what a slice has at least so many of
    is_share: bool
    positive: Label
    conditions: int
    least: int
    features: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    more: int = 0  # discoveries that no statement explains, as no more are shown
    assumed: tuple[str, ...] = ()

    also_saved = ("sentences",)

    def __iter__(self) -> Iterator[FoundSlice]:
        return (each for each in self.found if each.explained_by is None)

    def statement(self, found: FoundSlice) -> str:
        """One slice in a sentence."""
        value = interval_text(found.value, found.low, found.high, share=self.is_share)
        elsewhere = value_text(found.elsewhere, share=self.is_share)
        share = f"{percent_text(found.row_share)} of rows"
        if self.errors:
            share = f"{share}, {percent_text(found.error_share)} of the {self.errors}"
        return f"{found.slice}: {self.metric} {value}, elsewhere {elsewhere}; {found.count:,} {self.counted}; {share}"

    @property
    def sentences(self) -> list[str]:
        """What was found, slice by slice, or what could have been."""
        return [self.headline, *map(self.statement, self), *self.notes]

    @property
    def headline(self) -> str:
        """How many slices are worse, of how many that were tested."""
        if not self.tested:
            why = "all are so small that none could be significant whatever it shows"
            if not self.candidates:
                why = f"no level or bin has at least {self.least} {self.least_of} in it, and as many outside"
            return f"No slice could be tested by {self.metric}: {why}."
        shown = sum(1 for _ in self)
        among = f"among {self.tested:,} tested at a false discovery rate of {100 * self.rate:g} %"
        if not shown:
            return f"No slice is shown to be worse by {self.metric}, {among}."
        what = "slice is" if shown == 1 else "slices are"
        explained = self.discoveries - sum(max(each.joined, 1) for each in self)
        others = f"; {explained:,} more overlap {'it' if shown == 1 else 'them'} and are explained" if explained else ""
        return f"{shown} {what} worse by {self.metric}, {among}{others}."

    @property
    def notes(self) -> list[str]:
        """What could have been found, how the tests are corrected, and what was left out."""
        sentences = []
        if self.more:
            sentences.append(f"{self.more:,} of the others are not explained by these; first= shows more.")
        sentences += [
            f"{each.slice} joins {each.joined} slices in neighbouring bins, each of them found; it was counted after "
            "the tests, and its interval is at their level."
            for each in self
            if each.joined
        ]
        known = [each for each in self.findable if not isnan(each.value)]
        if known:
            texts = [value_text(each.value, share=self.is_share) for each in known]
            parts = [f"{text} in {each.count:,}" for text, each in zip(texts, known, strict=True)]
            parts[0] = f"{texts[0]} or worse in {known[0].count:,} {self.counted}"
            sentences.append(
                f"Findable: of all rows {self.metric} is {value_text(self.value, share=self.is_share)}; among so many "
                f"tests a slice is found in 4 of 5 test sets where it is {listed(parts)}."
            )
        if self.candidates:
            sentences.append(self._method_sentence())
        if self.left_out:
            sentences.append(f"Left out, as no level or bin has {self.least} rows: {', '.join(self.left_out)}.")
        return [*sentences, *self.assumed]

    def _method_sentence(self) -> str:
        conditions = "1 condition" if self.conditions == 1 else f"up to {self.conditions} conditions"
        text = f"{_METHODS[self.method]}, {self.candidates:,} {'slice' if self.candidates == 1 else 'slices'} of "
        text += f"{conditions} with at least {self.least} {self.least_of}"
        if self.tested != self.candidates:
            text += f", of which {self.tested:,} could be significant at all"
        if len(self.found):
            text += (
                f"; intervals at {percent_text(self.level)} each, so that at most {100 * self.rate:g} % of those shown "
                "miss"
            )
        return f"{text}."

    def shown_tables(self) -> list[Table]:
        """The statements in columns; every discovery that is kept with all its digits."""
        return [Table(self.shown_rows(), "", self.found.to_dicts)]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The statements in columns."""
        return [
            {
                "slice": each.slice,
                self.metric: interval_text(each.value, each.low, each.high, share=self.is_share),
                "elsewhere": value_text(each.elsewhere, share=self.is_share),
                self.counted: each.count,
                "of rows": percent_text(each.row_share),
                **({f"of {self.errors}": percent_text(each.error_share)} if self.errors else {}),
                "p_value": each.p_value,
            }
            for each in self
        ]
