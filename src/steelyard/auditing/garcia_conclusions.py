"""García's conclusions: which class each metric follows, and in how many seeds of a study that holds."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.rows import Flat
from steelyard.auditing.correlation_coefficients import by_metric, correlation
from steelyard.auditing.metric_values import metric_values
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """A conclusion on metrics: their correlations with recall and with specificity lie between bounds."""

    number: int
    words: str
    metrics: tuple[MetricLike, ...]
    bounds: RateBounds


CONCLUSIONS = (
    Conclusion(
        1,
        "accuracy falls with recall and follows specificity",
        ("accuracy",),
        RateBounds(recall=(-np.inf, 0), specificity=(STRONG, np.inf)),
    ),
    Conclusion(
        2,
        "AUC of one point, G-mean, IBA, weighted AUC and class-weighted accuracy rise with recall",
        ("balanced_accuracy", "g_mean", "iba", "weighted_auc", "class_weighted_accuracy"),
        RateBounds(recall=(0, np.inf)),
    ),
    Conclusion(
        3,
        "optimized precision, kappa, adjusted G-mean and F1 follow specificity",
        ("optimized_precision", "kappa", "adjusted_g_mean", "f1"),
        RateBounds(specificity=(STRONG, np.inf)),
    ),
)
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
    right = inside.all(-1)  # seed, imbalance, metric
    share = float(right.all((1, 2)).mean())
    failures = _failures(right.mean(0), metrics, positives)
    return ConclusionResult(conclusion.number, conclusion.words, share, failures)


def _failures(right: Array, metrics: Sequence[Metric], positives: Sequence[float]) -> str | None:
    """Which metrics fail in more than a tenth of the seeds, and at which imbalances."""
    failing = {
        m.name: [f"{100 * p:g} %" for p, ok in zip(positives, right[:, j], strict=True) if ok < USUALLY]
        for j, m in enumerate(metrics)
    }
    return "; ".join(f"{name} at {', '.join(at)}" for name, at in failing.items() if at) or None
