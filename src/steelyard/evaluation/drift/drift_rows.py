"""Drift rows: a period with its prevalence and scores, and the change of a metric with its two parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._types import Label
from steelyard.analysis.results.formatting import bounds_text, percent_interval, three_digits, value_text
from steelyard.analysis.results.result import Flat
from steelyard.evaluation.unlabelled.unlabelled_result import FIT_LEVEL
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOT_KNOWN = "not known"
CHANGE_PARTS = ("change", "by_prevalence", "by_classifier")


@dataclass(frozen=True, eq=False)
class DriftPeriod(Flat):
    """A period: its rows, prevalence, share of flagged rows, and where its scores lie beside those of the reference.

    `score_shift` is the chance that a score of the period is above one of the reference period, one half where the
    scores have not moved. Of unlabelled rows the prevalence is that of their scores, and `p_value` tests whether label
    shift explains them.
    """

    period: Label
    rows: int
    labelled: bool
    prevalence: float
    prevalence_low: float
    prevalence_high: float
    flagged: float = math.nan
    flagged_low: float = math.nan
    flagged_high: float = math.nan
    score_shift: float = math.nan
    score_shift_low: float = math.nan
    score_shift_high: float = math.nan
    p_value: float | None = None

    @property
    def is_refused(self) -> bool:
        """Whether label shift does not explain the scores of unlabelled rows, so that their prevalence is not known."""
        return self.p_value is not None and self.p_value < FIT_LEVEL

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        shift = (self.score_shift, self.score_shift_low, self.score_shift_high)
        shares = {
            "prevalence": (self.prevalence, self.prevalence_low, self.prevalence_high),
            "flagged": (self.flagged, self.flagged_low, self.flagged_high),
        }
        texts = {name: percent_interval(*ends) if math.isfinite(ends[0]) else None for name, ends in shares.items()}
        if self.is_refused:
            texts["prevalence"] = f"not known; by label shift it would be {texts['prevalence']}"
        moved = f"{shift[0]:.3f} ({bounds_text(*shift[1:])})" if math.isfinite(shift[0]) else None
        kind = {} if self.labelled else {"labels": "none"}
        return {"period": str(self.period), "rows": self.rows, **kind, **texts, "above reference": moved}


@dataclass(frozen=True, eq=False)
class DriftChange(Flat):
    """The change of a metric from the reference period to another: all of it, by the prevalence, by the classifier."""

    period: Label
    spec: MetricSpec = field(metadata={"key": "metric"})
    before: float
    before_low: float
    before_high: float
    after: float
    after_low: float
    after_high: float
    change: float
    change_low: float
    change_high: float
    by_prevalence: float
    by_prevalence_low: float
    by_prevalence_high: float
    by_classifier: float
    by_classifier_low: float
    by_classifier_high: float
    undefined: str | None = None

    @classmethod
    def of(
        cls,
        period: Label,
        spec: MetricSpec,
        values: Sequence[Sequence[float]],
        parts: Sequence[Sequence[float]],
        undefined: str | None = None,
    ) -> DriftChange:
        """The change of a metric from one value to another: the value and the ends of both, the whole and its parts."""
        numbers = {
            f"{name}{end}": number
            for name, ends in zip(("before", "after", *CHANGE_PARTS), (*values, *parts), strict=True)
            for end, number in zip(("", "_low", "_high"), ends, strict=True)
        }
        return cls(period, spec, **numbers, undefined=undefined)

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def shows(self, part: str, widening: float = 1.0) -> bool:
        """Whether the interval of the change, or of one of its parts, so many times as wide, is on one side of 0."""
        value, low, high = (getattr(self, f"{part}{end}") for end in ("", "_low", "_high"))
        return bool(value - widening * (value - low) > 0 or value + widening * (high - value) < 0)

    @property
    def larger_part(self) -> str:
        """The part that changed the metric more."""
        return CHANGE_PARTS[1] if abs(self.by_prevalence) > abs(self.by_classifier) else CHANGE_PARTS[2]

    def row(self) -> dict[str, Any]:
        """The change as a row of a table."""
        return {
            ("metric" if key == "spec" else key): (self.metric if key == "spec" else value)
            for key, value in vars(self).items()
        }

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        share = self.spec.is_share
        values = {"before": self.before, "after": self.after}
        texts = {
            name: value_text(value, share=share) if math.isfinite(value) else "–" for name, value in values.items()
        }
        if self.undefined is not None and math.isnan(self.by_prevalence):
            return {"period": str(self.period), "metric": self.metric, **texts, "by prevalence": self.undefined}
        parts = {name: self._part(name) for name in CHANGE_PARTS}
        return {
            "period": str(self.period),
            "metric": self.metric,
            **texts,
            **{k.replace("_", " "): v for k, v in parts.items()},
        }

    def _part(self, name: str) -> str:
        value, low, high = (getattr(self, name + end) for end in ("", "_low", "_high"))
        if not math.isfinite(value):
            return _NOT_KNOWN
        numbers = [three_digits(100 * number if self.spec.is_share else number) for number in (value, low, high)]
        return f"{numbers[0]} ({numbers[1]} to {numbers[2]})" if math.isfinite(low) else numbers[0]
