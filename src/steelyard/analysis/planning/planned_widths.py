"""Planned widths: how wide the interval of a metric is on test sets of n rows, on the expected one and on simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.auc_intervals import auc_score_ends, score_variance
from steelyard.analysis.intervals.intervals import interval
from steelyard.metrics.registry import get_metric
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.counts import Cells

_DRAWS = 4_000  # for the expected test set; half as many for each of many


class Plan(Protocol):
    """A planned classifier and its test sets."""

    @property
    def value(self) -> float:
        """The metric that it is planned with."""

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of each class in the test set, of two the positives first."""

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself, and where it is another test set that of which half is of each class."""

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on simulated test sets."""


@dataclass(frozen=True)
class CountsPlan:
    """Two classes: recall and specificity, the prevalence of the test set and the one that it is read at."""

    metric: Metric
    recall: float
    specificity: float
    sampled: float
    used: float
    level: float

    @property
    def value(self) -> float:
        """The metric that it is planned with."""
        return float(self._shifted(self._table(10**6)))

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of the positives and of the negatives in the test set."""
        return self.sampled, 1 - self.sampled

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself, and the test set of which half is of each class."""
        return (self,) if self.sampled == 0.5 else (self, replace(self, sampled=0.5))

    def _table(self, rows: float) -> Counts:
        p, q = rows * self.sampled, rows * (1 - self.sampled)
        return Counts(p * self.recall, p * (1 - self.recall), q * (1 - self.specificity), q * self.specificity)

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        ends = interval(self._shifted, self._table(rows), level=self.level, draws=_DRAWS)
        return float(ends.high - ends.low)

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 400 simulated test sets; one of half of each class is labelled so, another as it comes."""
        positives = rng.binomial(rows, self.sampled, 400) if self.sampled == self.used else np.full(400, rows // 2)
        tp, tn = rng.binomial(positives, self.recall), rng.binomial(rows - positives, self.specificity)
        tables = Counts(tp, positives - tp, rows - positives - tn, tn)
        ends = interval(self._shifted, tables, level=self.level, draws=_DRAWS // 2, rng=rng)
        return _unbounded(np.asarray(ends.high - ends.low))

    @property
    def _shifted(self) -> Metric:
        """The metric read at another prevalence than the sampled one: each class weighted accordingly."""
        if self.sampled == self.used:
            return self.metric
        p, q = self.used / self.sampled, (1 - self.used) / (1 - self.sampled)
        form = self.metric.function
        assert form is not None  # noqa: S101 - a metric of labels, as sample_size checks

        def shifted(c: Cells) -> Any:
            return form(type(c)(c.tp * p, c.fn * p, c.fp * q, c.tn * q), **self.metric.parameters)

        return get_metric(shifted)


@dataclass(frozen=True)
class ClassesPlan:
    """Many classes: the share of each cell of the expected confusion matrix."""

    spec: MetricSpec
    labels: tuple[Any, ...]
    shares: tuple[tuple[float, ...], ...]
    level: float

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of each class in the test set."""
        return tuple(np.sum(self.shares, axis=1).tolist())

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself."""
        return (self,)

    def _width(self, rows: Array, draws: int, rng: np.random.Generator | None = None) -> float:
        table = Confusion.of_rows(self.labels, rows)
        ends = interval(self.spec, table, level=self.level, draws=draws, rng=rng)
        return float(np.max(ends.high - ends.low))  # of one value per class the widest

    @property
    def value(self) -> float:
        """The metric that it is planned with."""
        table = Confusion.of_rows(self.labels, np.round(10**6 * np.array(self.shares)).astype(np.int64))
        return float(np.mean(interval(self.spec, table, draws=20).value))

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        return self._width(np.round(rows * np.array(self.shares)).astype(np.int64), _DRAWS)

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 100 simulated test sets."""
        tables = rng.multinomial(rows, np.ravel(self.shares), size=100).reshape(-1, *np.shape(self.shares))
        return _unbounded(np.array([self._width(table, _DRAWS // 4, rng) for table in tables]))


def _unbounded(widths: Array) -> Array:
    """The widths, without bound where there is no interval: a class that has no row shows nothing of it."""
    return np.where(np.isnan(widths), np.inf, widths)


@dataclass(frozen=True)
class AucPlan:
    """Scores: the AUC, with Hanley and McNeil's variance, and the prevalence of the test set."""

    value: float
    sampled: float
    level: float

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of the positives and of the negatives in the test set."""
        return self.sampled, 1 - self.sampled

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself, and the test set of which half is of each class."""
        return (self,) if self.sampled == 0.5 else (self, replace(self, sampled=0.5))

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        return self._width(self.value, rows * self.sampled, rows * (1 - self.sampled))

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 400 simulated test sets, by the AUC and the positives that they would show."""
        drawn = rng.binomial(rows, self.sampled, 400)
        positives = np.clip(drawn, 1, max(rows - 1, 1))
        spread = np.array([score_variance(self.value, m, max(rows - m, 1)) ** 0.5 for m in positives])
        seen = np.clip(rng.normal(self.value, spread), 0, 1)
        widths = [self._width(auc, m, max(rows - m, 1)) for auc, m in zip(seen, positives, strict=True)]
        return np.where((drawn == 0) | (drawn == rows), np.inf, widths)

    def _width(self, auc: float, positives: float, negatives: float) -> float:
        low, high = auc_score_ends(auc, normal_reach(self.level), positives, negatives)
        return high - low
