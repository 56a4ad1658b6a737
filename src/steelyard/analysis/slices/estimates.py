"""Estimates: the metric of each slice with its interval and elsewhere, its rows, and its share of the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.results.rows import Rows
    from steelyard.analysis.slices.candidates import Candidates
    from steelyard.analysis.slices.slices_result import Findable
    from steelyard.ingest.slice_rows import SliceTable


class Estimates(NamedTuple):
    """Of each slice: the value, the ends of its interval, the value elsewhere, what is counted, its share of errors."""

    values: Array
    low: Array
    high: Array
    elsewhere: Array
    counts: Array
    errors: Array


class SliceTest(Protocol):
    """How a metric is tested in a slice against the rows outside it; the words are what its result is put in."""

    @property
    def counted(self) -> str:
        """What a slice has so many of, such as positives."""

    @property
    def errors(self) -> str:
        """What makes the metric worse."""

    @property
    def least_of(self) -> str:
        """What a slice has the least number of."""

    @property
    def denominators(self) -> Sequence[Sequence[int]]:
        """The sets of outcomes of each of which a slice has the least rows."""

    def value(self, whole: SliceTable) -> float:
        """The metric of all rows."""

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """How probable values as bad or worse are."""

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The same within rows that are left, of one slice or of several."""

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> Array | None:
        """What each p-value can be at the least, where that is known beforehand."""

    def estimates(self, kept: Candidates, level: float) -> Estimates:
        """What is stated of the discoveries."""

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be to be found where a single p-value may be this high."""
