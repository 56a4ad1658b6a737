"""Followed rules: what each rule of a monitor may spend of the error, its limit, and its track over all batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.monitoring.monitor_rule import COST_NAME
from steelyard.analysis.monitoring.monitoring import Monitoring
from steelyard.analysis.monitoring.reference_limit import reference_limit, reference_share
from steelyard.analysis.monitoring.rule_track import FollowedRule, RuleTrack
from steelyard.analysis.monitoring.watched_windows import watched_windows
from steelyard.analysis.sequential.cost_table import NODES, CostTable
from steelyard.analysis.sequential.metric_sequence import SEQUENCE_METHODS, MetricSequence
from steelyard.ingest.threshold_sentences import ASSUMED_HALF
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.monitoring.batch import Batch
    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.analysis.monitoring.monitor_rule import MonitorRule
    from steelyard.analysis.monitoring.watched_windows import Windows

_WHOLE = 0.5  # the part of the error that all rows together have where there are groups


def groups_seen(batches: Sequence[Batch]) -> list[str]:
    """The groups in the order in which they came."""
    return list(dict.fromkeys(group for batch in batches for group in batch.groups))


def group_shares(groups: Sequence[str], *, grouped: bool) -> dict[str | None, float]:
    """The part of the error of all rows and of each group, however many may come: they add up to 1 at most."""
    if not grouped:
        return {None: 1.0}
    parts: dict[str | None, float] = {
        group: (1 - _WHOLE) / ((place + 1) * (place + 2)) for place, group in enumerate(groups)
    }
    return {None: _WHOLE} | parts


def followed(monitor: Monitor) -> Monitoring:
    """The rules of a monitor after each batch."""
    shares = group_shares(groups_seen(monitor.batches), grouped=monitor.by is not None)
    windows = watched_windows(len(monitor.batches))
    tracks = tuple(
        _track(monitor, rule, group, share, windows) for group, share in shares.items() for rule in monitor.rules
    )
    rows = np.array([batch.rows for batch in monitor.batches], dtype=np.int64)
    pending = monitor.pending
    stated = [
        *_assumed(monitor),
        *monitor.labels.sentences(monitor.pos_label),
        *pending.delay.warnings,
        *pending.sentences,
    ]
    names = tuple(batch.name for batch in monitor.batches)
    return Monitoring(names, rows, tracks, monitor.level, pending.waiting, tuple(stated))


def _assumed(monitor: Monitor) -> list[str]:
    """What was taken for granted: the threshold, and whose limits groups have."""
    reference = monitor.reference if any(rule.of_reference for rule in monitor.rules) else None
    assumed = monitor.threshold_assumed or (reference is not None and reference.threshold_assumed)
    of_groups = [] if reference is None else reference.sentences(groups_seen(monitor.batches))
    return [*([ASSUMED_HALF] if assumed else []), *of_groups]


def _track(monitor: Monitor, rule: MonitorRule, group: str | None, share: float, windows: Windows) -> RuleTrack:
    alpha = (1 - monitor.level) * share / len(monitor.rules)
    sums = _sums(monitor.batches, rule.metric, group)
    one = _followed_rule(monitor, rule, alpha, group)
    low, high = one.ends(sums[1:])
    p_value, alarm, start = one.verdict(sums, windows)
    names = [batch.name for batch in monitor.batches]
    alarmed: dict[str, Any] = {}
    if alarm is not None:
        recent = float(one.values(sums[-1] - sums[start]))
        alarmed = {"alarm": names[alarm], "since": names[start], "recent": recent}
    return RuleTrack(
        rule=rule.text,
        metric=rule.metric,
        group=group,
        sign=rule.sign,
        limit=one.limit,
        alpha=alpha,
        value=one.values(sums[1:]),
        low=low,
        high=high,
        by_batch=one.values(np.diff(sums, axis=0)),
        p_value=min(p_value * alpha / one.alpha, 1.0),
        method=SEQUENCE_METHODS["betting" if one.sequence is None else one.sequence.method],
        **alarmed,
    )


def _followed_rule(monitor: Monitor, rule: MonitorRule, alpha: float, group: str | None) -> FollowedRule:
    if rule.metric == COST_NAME:
        between = monitor.cost_between or (0.0, 1.0)
        return FollowedRule(rule, rule.number, alpha, monitor.level, costs=CostTable(*between).ratio)
    sequence = MetricSequence.of(MetricSpec.of(rule.metric))
    if not rule.of_reference or monitor.reference is None:
        return FollowedRule(rule, rule.number, alpha, monitor.level, sequence)
    cells = monitor.reference.of_group(group)
    part = reference_share(cells)
    limit = reference_limit(rule, sequence.metric, cells, part * alpha)
    return FollowedRule(rule, limit, (1 - part) * alpha, monitor.level, sequence)


def _sums(batches: Sequence[Batch], metric: str, group: str | None) -> Array:
    """The cells, or the weights of costs, of all batches up to each: from none on."""
    size = NODES if metric == COST_NAME else 4
    none = np.zeros(size)
    parts: list[Array] = [none]
    for batch in batches:
        of_metric = (batch.costs, batch.group_costs) if metric == COST_NAME else (batch.cells, batch.groups)
        whole, groups = of_metric
        part = whole if group is None else groups.get(group)
        parts.append(none if part is None else np.asarray(part, dtype=np.float64))
    return np.cumsum(parts, axis=0)
