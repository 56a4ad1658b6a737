"""Drift result: the periods with their prevalence and scores, and each metric's change with its two parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard._types import Label
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.results.formatting import filled, p_text, percent_interval
from steelyard.analysis.results.result import Result, Rows, table_text
from steelyard.evaluation.drift.drift_rows import CHANGE_PARTS, DriftChange, DriftPeriod

if TYPE_CHECKING:
    from collections.abc import Iterator

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
