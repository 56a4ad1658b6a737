"""RuleTrack: a rule over all batches: the metric with its confidence sequence, the evidence, and the first alarm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array
from steelyard.analysis.monitoring.monitor_rule import COST_NAME
from steelyard.analysis.results.formatting import interval_text, value_text
from steelyard.analysis.results.rows import Flat
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor_rule import MonitorRule
    from steelyard.analysis.monitoring.watched_windows import Windows
    from steelyard.analysis.sequential.linear_ratio import LinearRatio
    from steelyard.analysis.sequential.metric_sequence import MetricSequence


@dataclass(frozen=True, eq=False)
class RuleTrack(Flat):
    """A rule, of all rows or of one group, after each batch.

    `value`, `low` and `high` are of all rows so far, `by_batch` of each batch alone. `alarm` is the batch of the first
    alarm, `since` the one from which on the evidence says that the limit was broken, `recent` the value from there on.
    `alpha` is the part of the error that this track has, `p_value` what the alarm compares with it.
    """

    rule: str
    metric: str
    group: str | None
    sign: int
    limit: float
    alpha: float
    value: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    by_batch: Array = field(repr=False)
    p_value: float
    method: str
    alarm: str | None = None
    since: str | None = None
    recent: float | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of rows, shown in percent."""
        return self.metric != COST_NAME and MetricSpec.of(self.metric).is_share

    @property
    def title(self) -> str:
        """The metric in words, and the group."""
        name = "Mean cost" if self.metric == COST_NAME else MetricSpec.of(self.metric).title
        return name if self.group is None else f"{name}, {self.group}"

    def text(self) -> str:
        """The last value with its interval."""
        if not len(self.value):
            return "–"
        return interval_text(*(float(part[-1]) for part in (self.value, self.low, self.high)), share=self.is_share)

    def limit_text(self) -> str:
        """The limit with its sign."""
        return f"{'≥' if self.sign > 0 else '≤'} {value_text(self.limit, share=self.is_share)}"

    def row(self) -> dict[str, Any]:
        """The track as a row of a table: after the last batch."""
        last = {
            name: float(getattr(self, name)[-1]) if len(self.value) else np.nan for name in ("value", "low", "high")
        }
        head = {"rule": self.rule, "group": self.group, **last, "limit": self.limit}
        return {**head, "p_value": self.p_value, "alarm": self.alarm, "since": self.since, "recent": self.recent}

    def __repr__(self) -> str:
        of = "" if self.group is None else f" of {self.group}"
        state = "no alarm" if self.alarm is None else f"ALARM at {self.alarm}"
        return f"{self.metric}{of} {self.text()}, limit {self.limit_text()}: {state}"


@dataclass(frozen=True, eq=False)
class FollowedRule:
    """A rule with its limit, what it may spend, and what is followed: a metric of counts, or a mean of costs."""

    rule: MonitorRule
    limit: float
    alpha: float  # of the sequence alone: a reference has had its part
    level: float
    sequence: MetricSequence | None = None
    costs: LinearRatio | None = None

    def values(self, cells: Array) -> Array:
        """The metric of each table."""
        if self.sequence is not None:
            return self.sequence.value(cells)
        assert self.costs is not None  # noqa: S101 - one of the two
        return self.costs.value(cells)

    def ends(self, cells: Array) -> tuple[Array, Array]:
        """Both ends of the confidence sequence at each table."""
        each = (1 - self.level) / 2
        if self.sequence is not None:
            return self.sequence.ends(cells, each, each)
        assert self.costs is not None  # noqa: S101 - one of the two
        low, high = self.costs.anytime_ends(cells, each, each)
        return low, high

    def log_evidence(self, cells: Array) -> Array | None:
        """The logarithm of the evidence of each table that the limit is broken; None of a region, which has none."""
        if self.sequence is not None and self.sequence.ratio is None:
            return None
        if self.sequence is not None:
            return self.sequence.log_evidence(cells, self.limit, self.rule.sign)
        assert self.costs is not None  # noqa: S101 - one of the two
        below = self.costs.log_evidence_below if self.rule.sign > 0 else self.costs.log_evidence_above
        return below(cells, self.limit)

    def verdict(self, sums: Array, windows: Windows) -> tuple[float, int | None, int]:
        """The p-value, the first look with an alarm, and the start of the window that says most at it, or now."""
        if not len(windows.look):
            return 1.0, None, 0
        log_p = self._log_p(sums, windows)
        crossed = np.flatnonzero(log_p <= np.log(self.alpha) + 1e-12)
        alarm = int(crossed[0]) if len(crossed) else None
        evidence, start = self._clearest(sums, windows, len(log_p) if alarm is None else alarm + 1)
        return float(np.exp(min(log_p.min(), -evidence, 0.0))), alarm, start

    def _log_p(self, sums: Array, windows: Windows) -> Array:
        """The logarithm of the p-value at each look, over all windows that end there."""
        cells = sums[windows.look] - sums[windows.start]
        evidence = self.log_evidence(cells)
        if evidence is not None:
            return -np.logaddexp.reduceat(evidence + windows.log_weight, windows.first_places)
        assert self.sequence is not None  # noqa: S101 - a region
        some = self.sequence.excluded(cells, self.limit, self.rule.sign, self.alpha * np.exp(windows.log_weight))
        excluded = np.logical_or.reduceat(some, windows.first_places)
        return np.where(excluded, np.log(self.alpha), 0.0)

    def _clearest(self, sums: Array, windows: Windows, look: int) -> tuple[float, int]:
        """The most evidence of a window up to this look, for its weight, and the start of that window."""
        here = windows.look == look
        starts, cells = windows.start[here], sums[look] - sums[windows.start[here]]
        evidence = self.log_evidence(cells)
        if evidence is None:
            assert self.sequence is not None  # noqa: S101 - a region
            evidence = -self.sequence.log_p(cells, self.limit, self.rule.sign)
        weighted = evidence + windows.log_weight[here]
        return float(weighted.max()), int(starts[np.argmax(weighted)])
