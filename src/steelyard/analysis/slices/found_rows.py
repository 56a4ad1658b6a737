"""Found rows: the discoveries as rows of the result, the statements that explain the others first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.rows import Rows
from steelyard.analysis.slices.rate_test import RateTest
from steelyard.analysis.slices.slices_result import FoundSlice
from steelyard.analysis.slices.statements import Merger

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.slices.candidates import Candidates
    from steelyard.analysis.slices.estimates import SliceTest
    from steelyard.analysis.slices.false_discoveries import Discoveries
    from steelyard.analysis.slices.statements import SliceStatement
    from steelyard.ingest.slice_rows import SliceCounter

MOST_KEPT = 1_000  # discoveries that are kept as rows
MOST_MERGED = 120  # of which statements are made


def found_rows(
    counter: SliceCounter, test: SliceTest, candidates: Candidates, p_values: Array, found: Discoveries, most: int
) -> tuple[Rows[FoundSlice], int]:
    """The discoveries as rows, at most so many statements first, and how many discoveries no statement explains."""
    if not len(found.places):
        return Rows(), 0
    kept = candidates.take(found.places[: MOST_KEPT if isinstance(test, RateTest) else MOST_MERGED])
    strengths = p_values[found.places[: len(kept)]]
    conditions = [kept.conditions(place) for place in range(min(len(kept), MOST_MERGED))]
    patterns = counter.patterns(conditions)
    merger = Merger(test, counter.features, conditions, strengths[: len(conditions)], patterns, found.unit)
    statements, more = merger.statements(most)
    rows = _rows(counter, test, kept, strengths, found.adjusted, found.level)
    stated = [_statement(each, counter, test, kept, rows, found.level) for each in statements]
    explained = {
        i: row.slice for row, each in zip(stated, statements, strict=True) for i in (*each.places, *each.explained)
    }
    alone = {each.places[0] for each in statements if len(each.places) == 1}
    others = [i for i in range(len(kept)) if i not in alone]
    explainer = stated[0].slice
    return Rows([*stated, *(replace(rows[i], explained_by=explained.get(i, explainer)) for i in others)]), more


def _statement(
    statement: SliceStatement,
    counter: SliceCounter,
    test: SliceTest,
    kept: Candidates,
    rows: list[FoundSlice],
    level: float,
) -> FoundSlice:
    """The row of a statement: that of its slice, or of neighbouring bins counted together."""
    if len(statement.places) == 1:
        return rows[statement.places[0]]
    joined = kept.joined([statement.places])
    p_values = test.p_values(joined.table, joined.whole)
    adjusted = np.array([max(rows[i].p_adjusted for i in statement.places)])
    (row,) = _rows(counter, test, joined, p_values, adjusted, level)
    return replace(row, joined=len(statement.places))


def _rows(
    counter: SliceCounter, test: SliceTest, kept: Candidates, p_values: Array, adjusted: Array, level: float
) -> list[FoundSlice]:
    """Slices as rows."""
    estimates = test.estimates(kept, level)
    sizes = kept.table.counts.sum(-1)
    shares = sizes / kept.whole.counts.sum()
    return [
        FoundSlice(
            str(kept.written(i, counter)),
            float(estimates.values[i]),
            float(estimates.low[i]),
            float(estimates.high[i]),
            float(estimates.elsewhere[i]),
            int(estimates.counts[i]),
            int(sizes[i]),
            float(shares[i]),
            float(estimates.errors[i]),
            float(p_values[i]),
            float(adjusted[i]),
        )
        for i in range(len(kept))
    ]
