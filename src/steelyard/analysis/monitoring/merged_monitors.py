"""Merged monitors: the batches of two monitors of the same rules as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.monitoring.saved_monitor import read_monitor, saved_monitor, saved_reference
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor import Monitor


def merged_monitors(first: Monitor, second: Monitor) -> Monitor:
    """The batches of the first, those of one name added, then the others of the second; the labels it waits for."""
    if _options(first) != _options(second):
        raise InputError("These monitors have other rules or options; give both the same.")
    if all(part.pending.waiting or part.pending.early for part in (first, second)):
        raise InputError("Both monitors wait for labels by key; keep predictions that wait in one of them.")
    merged = read_monitor(type(first), saved_monitor(first if first.pending.cohorts or first.pending.early else second))
    merged.batches = [*first.batches]
    places = {batch.name: place for place, batch in enumerate(first.batches)}
    for batch in second.batches:
        if batch.name in places:
            merged.batches[places[batch.name]] += batch
        else:
            merged.batches.append(batch)
    merged.labels = first.labels + second.labels
    merged.pos_label = first.pos_label if first.pos_label is not None else second.pos_label
    return merged


def _options(monitor: Monitor) -> dict[str, Any]:
    reference = saved_reference(monitor.reference)
    options = {"rules": monitor.rules, "level": monitor.level, "threshold": monitor.threshold, "by": monitor.by}
    return options | {"cost": monitor.cost_between, "mature": monitor.pending.mature, "reference": reference}
