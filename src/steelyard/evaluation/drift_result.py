"""Drift result: the periods with their prevalence and scores, and each metric's change with its two parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._types import Label
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.results.formatting import (
    bounds_text,
    filled,
    p_text,
    percent_interval,
    three_digits,
    value_text,
)
from steelyard.analysis.results.result import Flat, Result, Rows, table_text
from steelyard.evaluation.unlabelled_result import FIT_LEVEL
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# ---------------------------------------------------------------- drift rows
# A period with its prevalence and scores, and the change of a metric with its two parts.


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


# ---------------------------------------------------------------- drift result


_POINTS = "Changes of metrics that are shares of rows are in percentage points."
_MOST_NAMED = 4


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result[DriftChange]):
    """What changed between a reference period and the others; the rows are the changes of metrics.

    Each change is the sum of a part by the prevalence and one by the classifier, what it does to the rows of each
    class: the mean of moving the one first and of moving the other first, which adds up exactly.
    """

    periods: Rows[DriftPeriod]
    changes: Rows[DriftChange]
    reference: Label
    level: float
    assumed: tuple[str, ...] = ()

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[DriftChange]:
        return iter(self.changes)

    def of(self, period: Label) -> Rows[DriftChange]:
        """The changes up to one period."""
        return Rows(change for change in self.changes if change.period == period)

    @property
    def verdict(self) -> list[str]:
        """What changed in each period and by what, in sentences."""
        return [self._sentence(period) for period in self.periods if period.period != self.reference]

    def _sentence(self, period: DriftPeriod) -> str:
        changes = self.of(period.period)
        if not period.labelled:
            return self._unlabelled_sentence(period)
        shown = {part: [each for each in changes if each.shows(part, self._widening)] for part in CHANGE_PARTS[1:]}
        both = [each for each in shown["by_prevalence"] if each in shown["by_classifier"]]
        larger = {
            part: [each.metric for each in shown[part] if each not in both or each.larger_part == part]
            for part in shown
        }
        start, other = f"{period.period} against {self.reference}:", "the {} shows no change"
        words = [
            f"the {part.removeprefix('by_')} changed {_named(metrics)}" for part, metrics in larger.items() if metrics
        ]
        words += [other.format("classifier")] if shown["by_prevalence"] and not shown["by_classifier"] else []
        words += [f"the other part is shown too of {_named([each.metric for each in both])}"] if both else []
        return f"{start} {'; '.join(words) or 'no change is shown'}."

    @property
    def _widening(self) -> float:
        """How many times as wide intervals are that hold for all changes together (Bonferroni, as of a normal)."""
        together = 1 - (1 - self.level) / max(len(self.changes), 1)
        return normal_reach(together) / normal_reach(self.level)

    def _unlabelled_sentence(self, period: DriftPeriod) -> str:
        share = percent_interval(period.prevalence, period.prevalence_low, period.prevalence_high)
        if period.is_refused:
            return (
                f"{period.period} has no labels, and its prevalence is not known: label shift does not explain its "
                f"scores ({p_text(period.p_value or 0.0)}). If it held the prevalence would be {share}. Label some "
                "rows."
            )
        untested = period.p_value is not None and math.isnan(period.p_value)
        rest = " No test of that applies: the reference has no more ranges of scores than classes." if untested else ""
        return (
            f"{period.period} has no labels, and by its scores a prevalence of {share}; what the classifier does to "
            f"each class is taken as in {self.reference}.{rest}"
        )

    @property
    def headline(self) -> str:
        """How many periods are read against which."""
        periods = len(self.periods) - 1
        return f"{periods:,} period{'' if periods == 1 else 's'} against {self.reference}"

    @property
    def lead(self) -> list[str]:
        """Each period in words."""
        return self.verdict

    @property
    def notes(self) -> list[str]:
        """What the numbers are, and what was assumed."""
        each = (
            f"What is shown holds for all {len(self.changes):,} changes together; each interval is of its change alone."
        )
        return [_POINTS, *([each] if len(self.changes) > 1 else []), *self.assumed]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The changes as people see them."""
        return [change.shown_row() for change in self.changes]

    def other_tables(self) -> dict[str, Rows[Any]]:
        """The periods."""
        return {"periods": self.periods}

    def shown_tables(self) -> dict[str, list[dict[str, Any]]]:
        """The periods as people see them."""
        return {"periods": self.periods.shown_rows()}

    def __repr__(self) -> str:
        tables = [table_text([period.shown_row() for period in self.periods])]
        for period in dict.fromkeys(change.period for change in self.changes):
            rows = [change.shown_row() for change in self.of(period)]
            narrow = [{key: cell for key, cell in row.items() if key not in ("period", "change")} for row in rows]
            tables += [f"\n{period} against {self.reference}", table_text(narrow)]
        return "\n".join([f"Drift: {self.headline}", *tables, "", *map(filled, (*self.lead, *self.notes))])


def _named(metrics: list[str]) -> str:
    return f"{', '.join(metrics[:_MOST_NAMED])}{' and others' * (len(metrics) > _MOST_NAMED)}"
