"""Notes on a table: labels that look alike or hardly overlap, so many rows of each class, odds of another threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.ingest.label_overlap import lookalike_hints, overlap_problems
from steelyard.metrics.spec_text import parse_form, write_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

_FEWEST = 20  # rows of each class, below which equal sizes may be chance


def table_notes(table: Confusion | None, design: str) -> tuple[str, ...]:
    """What a result states of its table and of how the test set was drawn.

    >>> from steelyard import confusion
    >>> table_notes(confusion([0, 1] * 30, [0, 1] * 30), "random")[0]
    'Each class has 30 rows; if so many of each were chosen, design="stratified" gives narrower intervals.'
    """
    stated = () if design == "random" else (STRATIFIED,)
    if table is None:
        return stated
    equal = _equal_classes(table) if design == "random" else ()
    return (*overlap_problems(table), *lookalike_hints(table.labels), *stated, *equal)


def _equal_classes(table: Confusion) -> tuple[str, ...]:
    sizes = table.rows.sum(1)
    if len(sizes) < 2 or sizes.min() < _FEWEST or sizes.min() < sizes.max():
        return ()
    chosen = "if so many of each were chosen"
    return (f'Each class has {sizes[0]:,} rows; {chosen}, design="stratified" gives narrower intervals.',)


def odds_notes(specs: Iterable[MetricSpec], scores: ScoreTable | None, threshold: float | None) -> Iterator[str]:
    """Which metrics count false positives by the odds of another threshold than that at which rows are flagged.

    >>> from steelyard import score_table
    >>> from steelyard.metrics.spec import MetricSpec
    >>> next(odds_notes([MetricSpec.of("net_benefit")], score_table([0, 1], [0.1, 0.9]), 0.2)).partition(";")[0]
    'net_benefit counts false positives by the odds of 0.5, while rows are flagged at 0.2'
    """
    if scores is None or not scores.has_probabilities or threshold is None or not 0 < threshold < 1:
        return
    for spec in specs:
        odds = spec.metric.parameters.get("threshold")
        if "set threshold" in spec.metric.roles and odds != threshold:
            same = write_form(parse_form(spec.metric.name)[0], {"threshold": threshold})
            yield (
                f"{spec.name} counts false positives by the odds of {odds:g}, while rows are flagged at {threshold:g}; "
                f"ask for {same}, or flag them at {odds:g}."
            )
