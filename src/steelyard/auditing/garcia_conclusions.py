"""García's conclusions: which class each metric follows, and in how many seeds of a study that holds."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.analysis.results.rows import Flat
from steelyard.auditing.correlation_coefficients import by_metric, correlation
from steelyard.auditing.metric_values import metric_values
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.counts import Counts

STRONG = 0.5  # OP reaches 0.61 to 0.83 with specificity, so a higher bar would refute the paper by a word
USUALLY = 0.9  # the share of seeds in which a conclusion must hold; single seeds go astray with few positives
_ANYWHERE = (-np.inf, np.inf)


@dataclass(frozen=True)
class RateBounds:
    """Between which bounds a metric's correlation with each class's recall lies."""

    recall: tuple[float, float] = _ANYWHERE
    specificity: tuple[float, float] = _ANYWHERE


RATES = tuple(rate.name for rate in fields(RateBounds))


@dataclass(frozen=True)
class Conclusion:
    """A conclusion on metrics: their correlations with recall and with specificity lie between bounds.

    With `specificity_leads` the second is the larger as well: one that follows recall even more does not count.
    """

    number: int
    words: str
    metrics: tuple[MetricLike, ...]
    bounds: RateBounds
    specificity_leads: bool = False


@dataclass(frozen=True, eq=False)
class _Pattern:
    """What one of García's conclusions says of a metric and of several, and how it calls each of its metrics."""

    number: int
    of_single: str
    of_several: str
    bounds: RateBounds
    spoken: dict[str, str]
    specificity_leads: bool = False

    def conclusion(self, names: Sequence[str]) -> Conclusion:
        """The conclusion on these of its metrics."""
        says = self.of_single if len(names) == 1 else self.of_several
        words = f"{listed([self.spoken[name] for name in names])} {says}"
        return Conclusion(self.number, words, tuple(names), self.bounds, self.specificity_leads)


_PATTERNS = (
    _Pattern(
        1,
        "falls with recall and follows specificity",
        "fall with recall and follow specificity",
        RateBounds(recall=(-np.inf, 0), specificity=(STRONG, np.inf)),
        {"accuracy": "accuracy"},
    ),
    _Pattern(
        2,
        "rises with recall",
        "rise with recall",
        RateBounds(recall=(0, np.inf)),
        {
            "balanced_accuracy": "AUC of one point",
            "g_mean": "G-mean",
            "iba": "IBA",
            "weighted_auc": "weighted AUC",
            "class_weighted_accuracy": "class-weighted accuracy",
        },
    ),
    _Pattern(
        3,
        "follows specificity more than recall",
        "follow specificity more than recall",
        RateBounds(specificity=(STRONG, np.inf)),
        {
            "optimized_precision": "optimized precision",
            "kappa": "kappa",
            "adjusted_g_mean": "adjusted G-mean",
            "f1": "F1",
        },
        specificity_leads=True,
    ),
)
CONCLUSIONS = tuple(pattern.conclusion([*pattern.spoken]) for pattern in _PATTERNS)


def conclusions_on(metrics: Iterable[Metric]) -> list[Conclusion]:
    """García's conclusions as far as they speak of these metrics.

    >>> [conclusion.words for conclusion in conclusions_on([get_metric("mcc"), get_metric("kappa")])]
    ['kappa follows specificity more than recall']
    """
    asked = {(metric.name, metric.function) for metric in metrics}  # a parameter makes another function of a name
    parts = [
        (pattern, [name for name in pattern.spoken if (name, get_metric(name).function) in asked])
        for pattern in _PATTERNS
    ]
    return [pattern.conclusion(names) for pattern, names in parts if names]


# The paper's 13 metrics: it concludes nothing about precision.
GARCIA_METRICS = (*RATES, "precision", *(name for conclusion in CONCLUSIONS for name in conclusion.metrics))


@dataclass(frozen=True, eq=False)
class ConclusionResult(Flat):
    """A conclusion's result: the share of the seeds in which it holds for all its metrics at every imbalance."""

    number: int
    words: str
    share: float
    fails: str | None

    @property
    def holds(self) -> bool:
        """Whether the conclusion holds in nine of ten seeds or more."""
        return self.share >= USUALLY

    def row(self) -> dict[str, Any]:
        """The conclusion as a row of a table."""
        return {"conclusion": f"{self.number}: {self.words}", "share of seeds": self.share, "fails for": self.fails}


def conclusion_result(conclusion: Conclusion, counts: Counts[Any], positives: Sequence[float]) -> ConclusionResult:
    """The conclusion on every seed and imbalance of a study."""
    metrics = [get_metric(name) for name in conclusion.metrics]
    values = by_metric(metric_values([*map(get_metric, RATES), *metrics], counts))
    r = np.stack([correlation(values[..., i, None, :], values[..., 2:, :], rank=False) for i in (0, 1)], -1)
    bounds = np.array(astuple(conclusion.bounds))
    inside = ((r > bounds[:, 0]) & (r < bounds[:, 1])) | np.isinf(bounds).all(1)
    leads = r[..., 1] > r[..., 0] if conclusion.specificity_leads else True
    right = inside.all(-1) & leads  # seed, imbalance, metric
    share = float(right.all((1, 2)).mean())
    failures = _failures(right.mean(0), metrics, positives)
    return ConclusionResult(conclusion.number, conclusion.words, share, failures)


def _failures(right: Array, metrics: Sequence[Metric], positives: Sequence[float]) -> str | None:
    """Which metrics fail in more than a tenth of the seeds, and at which imbalances."""
    failing = {
        m.name: [f"{100 * p:.3g} %" for p, ok in zip(positives, right[:, j], strict=True) if ok < USUALLY]
        for j, m in enumerate(metrics)
    }
    return "; ".join(f"{name} at {', '.join(at)}" for name, at in failing.items() if at) or None
