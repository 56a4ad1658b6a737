"""Score counterexamples: score tables that refute, for a metric of scores, that balancing or swapping leaves it as is.

What a metric of counts does is decided by proof; of scores a table against it is looked for among a fixed few. One is a
refutation; that none is found proves nothing, and stays undecided.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.auditing.metric_values import value_change
from steelyard.exceptions import SteelyardError
from steelyard.ingest.array_tables import score_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_TABLES, _ROWS = 40, 24


def swapped_scores(table: ScoreTable) -> ScoreTable:
    """The same rows with the negative class called positive: of probabilities p becomes 1 - p, of scores -s."""
    other = table.swapped()
    if not table.has_probabilities or table.bins.size:
        return other
    positive, negative = (scores.moved(1 + scores.scores) for scores in other.classes)
    return replace(other, positive=positive, negative=negative)


@cache
def score_refutations(metric: Metric) -> tuple[bool | None, bool | None]:
    """False where a table refutes that balancing, and that swapping, leaves the metric as it is; None where none does.

    >>> from steelyard import get_metric
    >>> score_refutations(get_metric("average_precision")), score_refutations(get_metric("roc_auc"))
    ((False, False), (None, None))
    """
    return _refuted(metric, lambda table: scores_at(table, 0.5)), _refuted(metric, swapped_scores)


def is_constant(metric: Metric) -> bool:
    """Whether a metric has one value on all these tables, as one that no model of two classes can fail."""
    try:
        return len({float(metric(table)) for table in _tables()}) == 1
    except SteelyardError:  # what it needs is not in such tables
        return False


def _refuted(metric: Metric, change: Callable[[ScoreTable], ScoreTable]) -> bool | None:
    for table in _tables():
        try:
            before, after = (np.asarray(float(metric(part))) for part in (table, change(table)))
        except SteelyardError:  # what it needs is not in such tables
            return None
        if np.isfinite(before) and np.isfinite(after) and value_change(before, after):
            return False
    return None


@cache
def _tables() -> tuple[ScoreTable, ...]:
    """Probabilities of a few rows, better than none at all, with every third table as whole tenths that tie."""
    rng = np.random.default_rng(0)
    tables = []
    for i in range(_TABLES):
        positive = np.arange(_ROWS) < rng.integers(3, _ROWS // 2)
        scores = np.clip(rng.beta(1, 2, _ROWS) + 0.4 * positive * rng.random(_ROWS), 0.01, 0.99)
        tables.append(score_table(positive, scores.round(1).clip(0.1, 0.9) if i % 3 == 0 else scores))
    return tuple(tables)
