"""Unlabelled rows in words and numbers: the share of each class, and each metric, under label and covariate shift."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from steelyard._types import Label
from steelyard.analysis.results.formatting import interval_text, percent_interval, percent_text, value_text
from steelyard.analysis.results.result import Flat
from steelyard.metrics.spec import MetricSpec

LABEL_SHIFT, COVARIATE_SHIFT, IF_IT_HELD = "label shift", "covariate shift", "label shift, if it held"


@dataclass(frozen=True, eq=False)
class ClassShare(Flat):
    """The share of a class: in the reference, and among the unlabelled rows with its interval.

    `likely` is the maximum of the likelihood; `value` is the same unless that is 0 or 1. `covariate` is the share under
    covariate shift.
    """

    label: Label
    reference: float
    value: float
    low: float
    high: float
    likely: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan

    def text(self) -> str:
        """The share with its interval, in percent."""
        return percent_interval(self.value, self.low, self.high)

    def covariate_text(self) -> str:
        """The share under covariate shift with its interval, in percent."""
        return percent_interval(self.covariate, self.covariate_low, self.covariate_high)

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        both = {LABEL_SHIFT: self.text(), COVARIATE_SHIFT: self.covariate_text()}
        return {"class": str(self.label), "reference": percent_text(self.reference), **ordered_estimates(both, refused)}


@dataclass(frozen=True, eq=False)
class CurvePoint(Flat):
    """A threshold with both rates there, the precision in the reference, and that among the unlabelled rows."""

    threshold: float
    false_positive_rate: float
    recall: float
    reference: float
    value: float
    low: float
    high: float


def ordered_estimates(both: dict[str, str], refused: bool) -> dict[str, str]:
    """Both estimates; the covariate one first, and the other as what would be, where label shift is refused."""
    return {COVARIATE_SHIFT: both[COVARIATE_SHIFT], IF_IT_HELD: both[LABEL_SHIFT]} if refused else both


@dataclass(frozen=True, eq=False)
class UnlabelledMetric(Flat):
    """A metric: in the reference, among the unlabelled rows under label shift, and under covariate shift beside it."""

    spec: MetricSpec = field(metadata={"key": "metric"})
    reference: float
    value: float
    low: float
    high: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan
    undefined: str | None = None
    is_first: bool = True  # whether it is shown without being asked for

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def parts(self) -> bool:
        """Whether the two estimates exclude each other: neither value lies in the interval of the other."""
        ends = (self.low, self.high, self.covariate_low, self.covariate_high)
        if not all(map(math.isfinite, ends)):
            return False
        return not (self.low <= self.covariate <= self.high or self.covariate_low <= self.value <= self.covariate_high)

    def row(self) -> dict[str, Any]:
        """The metric as a row of a table."""
        numbers = {key: value for key, value in vars(self).items() if key not in ("spec", "is_first")}
        return {"metric": self.metric, **numbers, "parts": self.parts}

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        share = self.spec.is_share
        both = ((self.value, self.low, self.high), (self.covariate, self.covariate_low, self.covariate_high))
        label, covariate = (_estimate_text(*numbers, share=share) for numbers in both)
        return {
            "metric": self.metric,
            "reference": value_text(self.reference, share=share) if math.isfinite(self.reference) else "–",
            **ordered_estimates({LABEL_SHIFT: self.undefined or label, COVARIATE_SHIFT: covariate}, refused),
            "they part": "yes" if self.parts else "",
        }


def _estimate_text(value: float, low: float, high: float, *, share: bool) -> str:
    if not math.isfinite(value):
        return "–"
    return interval_text(value, low, high, share=share) if math.isfinite(low) else value_text(value, share=share)
