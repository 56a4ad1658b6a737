"""Anytime intervals: intervals of a metric that hold at every look at once, however often and whenever one looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.levels import check_level
from steelyard.analysis.sequential.metric_sequence import SEQUENCE_METHODS, MetricSequence
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.array_tables import confusion
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.metrics.spec import SpecLike

SIDES = {"both": (0.5, 0.5), "low": (1.0, 0.0), "high": (0.0, 1.0)}  # the part of the error that each end has


@refuses_other_keywords
def anytime_interval(
    metric: SpecLike,
    y_true: Counts[Any] | Confusion | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    pos_label: Label = None,
    level: float = 0.95,
    side: str = "both",
) -> Interval[Any]:
    """The interval of a metric that may be looked at after every row: a confidence sequence.

    With the given probability all intervals of a growing table hold together, so that one may look daily and stop when
    one likes; one for a sample of a fixed size (`interval`) is shorter, and fails in time where one looks often. Give
    the table of all rows so far, or their labels and predictions.
    `side` is "low" or "high" where one end is asked for. A rate is bounded by beta-binomial mixtures, F1 and other
    ratios of sums by betting, MCC, the AC-score and all others over the region of the rates behind them. The interval
    depends on the counts alone: tables of other days, files or machines are added before. Rows are taken as
    independent, each counted once.

    >>> anytime_interval("recall", Counts(tp=80, fn=20, fp=30, tn=870))
    recall 80.0 % (65.2 to 90.7), 95 % anytime (beta-binomial mixture)
    >>> anytime_interval("mcc", Counts(tp=80, fn=20, fp=30, tn=870))
    mcc 0.735 (0.482 to 0.896), 95 % anytime (region of the rates behind it)
    """
    check_level(level)
    if side not in SIDES:
        raise InputError(f"side is one of {', '.join(map(repr, SIDES))}, not {side!r}.")
    spec = MetricSpec.of(metric)
    sequence = MetricSequence.of(spec)
    cells = counted_cells(_table(y_true, y_pred, pos_label))
    value: Any = sequence.value(cells)
    low, high = sequence.ends(cells, *((1 - level) * share for share in SIDES[side]))
    why = spec.metric.why(Counts.trusted(*np.moveaxis(cells, -1, 0)))
    method = f"anytime ({SEQUENCE_METHODS[sequence.method]})"
    value, low, high = (part if part.ndim else part.item() for part in (value, low, high))
    return Interval(spec, value, low, high, level, method, why=why)


def _table(
    y_true: Counts[Any] | Confusion | ArrayLike, y_pred: ArrayLike | None, pos_label: Label
) -> Counts[Any] | Confusion:
    """A table as it is given, or labels and predictions counted."""
    if not isinstance(y_true, (Counts, Confusion)):
        if y_pred is None:
            raise InputTypeError(
                f"A table, or y_true and y_pred were expected, not {type(y_true).__name__} alone; give the predictions."
            )
        return confusion(y_true, y_pred, pos_label=pos_label)
    if y_pred is not None:
        raise InputTypeError("A table and predictions are two inputs; give one of them.")
    return y_true.with_positive(pos_label) if isinstance(y_true, Confusion) and pos_label is not None else y_true


def counted_cells(counts: Counts[Any] | Confusion) -> Array:
    """The four cells as whole numbers on a last axis; weighted rows are refused."""
    if isinstance(counts, Confusion):
        if counts.weighted:
            raise InputError("These rows have sample weights; an anytime interval counts each row once.")
        counts = counts.counts()
    if not isinstance(counts, Counts):
        raise InputTypeError(f"Counts or a Confusion was expected, not {type(counts).__name__}; count the rows first.")
    cells = np.stack([np.asarray(cell, dtype=np.float64) for cell in counts], -1)
    if (cells % 1).any():
        raise InputError("These counts are not whole; an anytime interval counts each row once.")
    return cells
