"""Anytime comparisons: two models on the same rows, with differences and p-values that hold whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.levels import check_level
from steelyard.analysis.results.formatting import interval_text, p_text
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.analysis.sequential.beta_mixture import log_evidence_uneven
from steelyard.analysis.sequential.linear_ratio import LinearRatio
from steelyard.analysis.sequential.metric_sequence import MetricSequence
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputTypeError
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.paired import Paired

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array, Label
    from steelyard.metrics.spec import SpecLike

_DIFFERENCE = LinearRatio(np.array([1.0, -1.0, 0.0]), np.ones(3))  # over rows where A alone has a hit, B alone, or both
_SMALLEST = 1e-12
_STEPS = 24


@dataclass(frozen=True, eq=False)
class DifferenceSequence(Flat):
    """A metric of two models on the same rows: the difference, its confidence sequence, and a p-value.

    `only_a` and `only_b` are the rows in which one alone has a hit, of rates whose trials are the same for both.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    level: float
    only_a: int | None = None
    only_b: int | None = None

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def row(self) -> dict[str, object]:
        """The difference as a row of a table."""
        return {"metric": self.metric, **{name: value for name, value in vars(self).items() if name != "spec"}}

    def __repr__(self) -> str:
        interval = interval_text(self.difference, self.low, self.high)
        return f"{self.metric}: A less B {interval}, {100 * self.level:g} % anytime; {p_text(self.p_value)}"


@names_wrong_arguments
def anytime_compare(
    table: Paired, *, metrics: Iterable[SpecLike] | None = None, level: float = 0.95, pos_label: Label = None
) -> Rows[DifferenceSequence]:
    """Two models on the same rows, compared after every batch: stop as soon as the answer is clear.

    The table is that of `paired`, and those of all batches so far are added: the result depends on the counts alone.
    With the given probability the intervals of a metric hold at all looks together, and a p-value may be read at any
    time and whenever one stops: under equal models it ever falls below 0.05 with probability 5 % at most. Rates whose
    trials are the same for both models, such as recall and accuracy, are compared by the rows in which one alone is
    right: by betting the interval, by a beta-binomial mixture the p-value. Any other metric is compared by both
    models' sequences, each with half of the error, as if the rows were not the same, which is wider.

    >>> from steelyard import paired
    >>> truth = [1] * 60 + [0] * 140
    >>> a, b = [1] * 55 + [0] * 145, [1] * 30 + [0] * 170
    >>> for row in anytime_compare(paired(truth, a, b), metrics=["recall", "f1"]):
    ...     print(f"{row.difference:.3f} ({row.low:.3f} to {row.high:.3f})")
    0.417 (0.199 to 0.634)
    0.290 (0.002 to 0.559)
    """
    check_level(level)
    if not isinstance(table, Paired):
        raise InputTypeError(f"A paired table was expected, not {type(table).__name__}; make one with paired().")
    rows = table.collapsed(pos_label).rows.astype(np.float64)
    specs = _usual() if metrics is None else MetricSpec.all_of(metrics)
    return Rows([_difference(spec, rows, level) for spec in specs])


def _usual() -> list[MetricSpec]:
    """Metrics of the same trials for both models, the higher the better."""
    specs = [MetricSpec(metric) for metric in list_metrics() if metric.function is not None and metric.sign > 0]
    return [spec for spec in specs if spec.is_share and _fixed_trials(MetricSequence.of(spec))]


def _fixed_trials(sequence: MetricSequence) -> bool:
    """Whether it is a rate whose trials are all rows of a class, or all rows, whatever was predicted."""
    ratio = sequence.ratio
    return sequence.method == "mixture" and ratio is not None and bool((ratio.below[::2] == ratio.below[1::2]).all())


def _difference(spec: MetricSpec, rows: Array, level: float) -> DifferenceSequence:
    sequence = MetricSequence.of(spec)
    tables = np.stack([_cells(rows.sum(axis=2)), _cells(rows.sum(axis=1))])
    a, b = (float(value) for value in sequence.value(tables))
    if np.isnan(a - b):
        least, most = spec.metric.range
        return DifferenceSequence(spec, a, b, np.nan, least - most, most - least, 1.0, level)
    if not _fixed_trials(sequence):
        low, high = _apart(sequence, tables, 1 - level)
        return DifferenceSequence(spec, a, b, a - b, low, high, _p_apart(sequence, tables), level)
    only = _discordant(sequence, rows)
    low, high = (float(end) for end in _DIFFERENCE.anytime_ends(only, (1 - level) / 2, (1 - level) / 2))
    p_value = min(1.0, float(np.exp(-log_evidence_uneven(only[0], only[1]))))
    return DifferenceSequence(spec, a, b, a - b, low, high, p_value, level, int(only[0]), int(only[1]))


def _cells(matrix: Array) -> Array:
    """The four cells of truth x prediction, the negative class first."""
    return np.array([matrix[1, 1], matrix[1, 0], matrix[0, 1], matrix[0, 0]])


def _discordant(sequence: MetricSequence, rows: Array) -> Array:
    """The trials in which A alone has a hit, B alone, and all others."""
    assert sequence.ratio is not None  # noqa: S101 - a rate is one
    above, below = sequence.ratio.above, sequence.ratio.below
    hit = above[[3, 2, 1, 0]].reshape(2, 2)  # truth x prediction, the negative class first
    trial = below[[3, 0]][:, None, None]
    gain = (hit[:, :, None] - hit[:, None, :]) * np.ones_like(rows)
    trials = rows * trial
    first, second = ((trials * (sign * gain > 0)).sum() for sign in (1, -1))
    return np.array([first, second, trials.sum() - first - second])


def _apart(sequence: MetricSequence, tables: Array, alpha: float) -> tuple[float, float]:
    """The ends of the difference of two sequences that hold together."""
    low, high = sequence.ends(tables, alpha / 4, alpha / 4)
    return float(low[0] - high[1]), float(high[0] - low[1])


def _p_apart(sequence: MetricSequence, tables: Array) -> float:
    """The least error with which the two sequences do not overlap."""
    low, high = np.log(_SMALLEST), 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        ends = _apart(sequence, tables, float(np.exp(middle)))
        low, high = (low, middle) if ends[0] > 0 or ends[1] < 0 else (middle, high)
    return float(np.exp(high))
