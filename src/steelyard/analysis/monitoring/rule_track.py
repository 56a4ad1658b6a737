"""RuleTrack: a rule over all batches: the metric with its confidence sequence, the evidence, and the first alarm."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array
from steelyard.analysis.monitoring.joint_windows import joint_log_p
from steelyard.analysis.monitoring.monitor_rule import COST_NAME
from steelyard.analysis.results.formatting import interval_text, value_text
from steelyard.analysis.results.rows import Flat
from steelyard.analysis.sequential.linear_ratio import log_returns, mean_wealth
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor_rule import MonitorRule
    from steelyard.analysis.monitoring.watched_windows import Windows
    from steelyard.analysis.sequential.joint_evidence import JointEvidence
    from steelyard.analysis.sequential.linear_ratio import LinearRatio
    from steelyard.analysis.sequential.metric_sequence import MetricSequence

_WINDOWS = 16_384  # windows whose tables are in memory at once


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
        if not self.has_evidence:
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
        if self.joint is not None:
            return joint_log_p(self.joint, sums, windows, self.alpha)
        of_part = self._bets if self._is_bet else self._window_evidence
        if self._is_bet:
            sums = sums @ log_returns(self._payoffs()).T  # a bet's logarithm adds up, so that it is taken once a batch
        parts = [of_part(sums, windows, part) for part in chunks(len(windows.look), _WINDOWS)]
        together = np.logaddexp if self.has_evidence else np.maximum  # evidence adds up, what is excluded does not
        return -together.reduceat(np.concatenate(parts) + windows.log_weight, windows.first_places)

    @cached_property
    def joint(self) -> JointEvidence | None:
        """Evidence on all rates behind the metric together; None of a ratio, which has its own."""
        return None if self.sequence is None else self.sequence.joint_evidence(self.limit, self.rule.sign)

    @property
    def _is_bet(self) -> bool:
        """Whether the evidence is by bets that can be lost."""
        by_bets = self.sequence is None or self.sequence.method == "betting"
        return by_bets and bool(self._payoffs().min() < 0)

    def _payoffs(self) -> Array:
        ratio = self.costs if self.sequence is None else self.sequence.ratio
        assert ratio is not None  # noqa: S101 - of costs, or of a metric that is one
        return ratio.payoffs(self.limit) if self.rule.sign > 0 else ratio.turned.payoffs(-self.limit)

    def _bets(self, logs: Array, windows: Windows, part: slice) -> Array:
        return mean_wealth(logs[windows.look[part]] - logs[windows.start[part]])

    @property
    def has_evidence(self) -> bool:
        """Whether each table has evidence; a region excludes values, or does not."""
        return self.sequence is None or self.sequence.ratio is not None

    def _window_evidence(self, sums: Array, windows: Windows, part: slice) -> Array:
        """The logarithm of the evidence of some windows; of a region all or none: what its weight asks for."""
        cells, weight = sums[windows.look[part]] - sums[windows.start[part]], windows.log_weight[part]
        evidence = self.log_evidence(cells)
        if evidence is not None:
            return evidence
        assert self.sequence is not None  # noqa: S101 - a region
        excluded = self.sequence.excluded(cells, self.limit, self.rule.sign, self.alpha * np.exp(weight))
        return np.where(excluded, -np.log(self.alpha) - weight, -np.inf)

    def _clearest(self, sums: Array, windows: Windows, look: int) -> tuple[float, int]:
        """The most evidence of a window up to this look, for its weight, and the start of that window."""
        here = windows.look == look
        starts, cells = windows.start[here], sums[look] - sums[windows.start[here]]
        evidence = self.log_evidence(cells) if self.joint is None else self.joint.least(cells)
        if evidence is None:
            assert self.sequence is not None  # noqa: S101 - a region
            evidence = -self.sequence.log_p(cells, self.limit, self.rule.sign)
        weighted = evidence + windows.log_weight[here]
        return float(weighted.max()), int(starts[np.argmax(weighted)])
