"""Merged monitors: the batches of two monitors of the same rules as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.monitoring.batch_rows import BY_CHANCE
from steelyard.analysis.monitoring.saved_monitor import read_monitor, saved_monitor, saved_reference
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.monitoring.batch import Batch
    from steelyard.analysis.monitoring.monitor import Monitor


def merged_monitors(first: Monitor, second: Monitor) -> Monitor:
    """The batches of the first, those of one name added, then the others of the second; the labels it waits for."""
    if _options(first) != _options(second):
        raise InputError("These monitors have other rules or options; give both the same.")
    if first.pending.is_open and second.pending.is_open:
        raise InputError(
            "Both monitors wait for labels by key, or for cohorts to be mature; keep what waits in one of them."
        )
    if first is second:
        raise InputError("This monitor would be merged with itself, so that every row counts twice; give another one.")
    if pair := _shared(first.batches, second.batches):
        names = " and ".join(dict.fromkeys(repr(batch.name) for batch in pair))
        raise InputError(
            f"Both monitors hold the rows of {names}; merge monitors of other rows, and give rows that only look alike "
            "another period."
        )
    known = {cohort.digest: cohort.name for cohort in first.pending.cohorts if cohort.size}
    twice = next((cohort for cohort in second.pending.cohorts if cohort.size and cohort.digest in known), None)
    if twice is not None:
        raise InputError(f"Both monitors hold the predictions of {twice.name!r}; merge monitors of other rows.")
    if both := first.pending.keys & second.pending.keys:
        raise InputError(
            f"Both monitors hold predictions of the key {min(both, key=str)!r}; merge monitors of other rows."
        )
    keeps_first = first.pending.is_open or (first.pending.cohorts and not second.pending.is_open)
    merged = read_monitor(type(first), saved_monitor(first if keeps_first else second))
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


def _shared(first: Sequence[Batch], second: Sequence[Batch]) -> tuple[Batch, Batch] | None:
    """A batch of each that has rows of the other: beyond chance, alone or together with the others that look alike.

    Monitors that were grown from one saved state share its batches, each of which may be too small to be known again.
    """
    holders: dict[str, list[Batch]] = {}
    for batch in first:
        for digest in batch.digests:
            holders.setdefault(digest.rows, []).append(batch)
    pairs = [(old, new) for new in second for digest in new.digests for old in holders.get(digest.rows, ())]
    repeated = next((pair for pair in pairs if pair[0].repeats(pair[1])), None)
    alike = [pair for pair in pairs if pair[0].is_alike(pair[1])]
    fewest = min(len(first), len(second))
    whole = fewest and fewest in ({len({id(pair[place]) for pair in alike}) for place in (0, 1)})
    together = sum(pair[0].log_chance for pair in alike if pair[0].digests == pair[1].digests) < BY_CHANCE
    return repeated or (alike[0] if whole or together else None)


def _options(monitor: Monitor) -> dict[str, Any]:
    reference = saved_reference(monitor.reference)
    options = {"rules": monitor.rules, "level": monitor.level, "threshold": monitor.threshold, "by": monitor.by}
    return options | {"cost": monitor.cost_between, "mature": monitor.pending.mature, "reference": reference}
