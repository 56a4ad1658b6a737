"""Saved monitors: the whole state of a monitor as strict JSON, written and read again, every part checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from steelyard._names import __version__
from steelyard.analysis.intervals.metric_sequence import counted_cells
from steelyard.analysis.monitoring.batches import BY_CHANCE, Batch, SeenLabels
from steelyard.analysis.monitoring.pending_labels import REMEMBERED, Cohort, LabelDelay, PendingLabels, checked_age
from steelyard.analysis.monitoring.reference import MonitorReference
from steelyard.exceptions import InputError
from steelyard.tables.counts import Counts
from steelyard.tables.saved import SCHEMA, is_as_written, read_table, to_strict_json
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.tables.saved import Saved


_LARGEST = sys.float_info.max
_OPTIONS = ("level", "pos_label", "threshold", "by", "cost_between")


def saved_monitor(monitor: Monitor) -> str:
    """The state as strict JSON, with the number of its schema."""
    options = {name: getattr(monitor, name) for name in _OPTIONS}
    label = options["pos_label"]
    options["pos_label"] = label.item() if isinstance(label, np.generic) else label
    options["threshold"] = None if monitor.threshold is None else float(monitor.threshold)
    state = {
        "schema": SCHEMA,
        "kind": "monitor",
        "version": __version__,
        "rules": [rule.text for rule in monitor.rules],
        **options,
        "threshold_assumed": monitor.threshold_assumed,
        "reference": saved_reference(monitor.reference),
        "batches": [batch.saved() for batch in monitor.batches],
        "pending": _saved_pending(monitor.pending),
        "labels": monitor.labels.saved(),
    }
    return to_strict_json(state)


def check_digest(state: dict[str, Any]) -> None:
    """Refuse a state that is not as it was written; one of an earlier version has no digest."""
    if not is_as_written(state):
        raise _changed("its digest is of another state")


def _changed(fault: str) -> InputError:
    return InputError(f"This saved monitor was changed: {fault}. Go on from an older copy.")


_Kind = TypeVar("_Kind")
_ENDLESS = 2**53


def _of_kind(value: object, kind: type[_Kind], what: str) -> _Kind:
    """A value of exactly this kind: True is no number, 1.0 no whole one."""
    if type(value) is not kind:
        raise _changed(f"{what} is {_shown(value)}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _whole(value: object, what: str) -> int:
    number = _of_kind(value, int, what)
    if not 0 <= number < _ENDLESS:
        raise _changed(f"{what} is {_shown(number)}")
    return number


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_LARGEST <= value <= _LARGEST:
        raise _changed(f"{what} is {_shown(value)}")
    return float(value)


def _text(value: object, what: str) -> str:
    return _of_kind(value, str, what)


def _list(value: object, what: str, size: int | None = None) -> list[Any]:
    listed = _of_kind(value, list, what)
    if size is not None and len(listed) != size:
        raise _changed(f"{what} has {len(listed)} parts instead of {size}")
    return listed


def _or_none(check: Callable[[object, str], _Kind], value: object, what: str) -> _Kind | None:
    return None if value is None else check(value, what)


def _cells(value: object, what: str) -> list[int]:
    return [_whole(cell, what) for cell in _list(value, what, 4)]


def _label(value: object, what: str) -> Any:
    if type(value) not in (str, bool, int, float):
        raise _changed(f"{what} is {_shown(value)}")
    return _number(value, what) if type(value) is float else value


def _fields(value: object, names: Sequence[str], what: str) -> dict[str, Any]:
    fields: dict[str, Any] = _of_kind(value, dict, what)
    missing = next((name for name in names if name not in fields), None)
    if missing is not None:
        raise _changed(f"{what} lacks {missing!r}")
    return fields


def saved_reference(reference: MonitorReference | None) -> dict[str, Any] | None:
    """The cells of a reference and the threshold they are at; its scores are not kept."""
    if reference is None:
        return None
    groups = {group: cells.astype(int).tolist() for group, cells in reference.groups.items()}
    return {"cells": reference.cells.astype(int).tolist(), "groups": groups, "threshold": reference.threshold}


def _read_reference(saved: object) -> MonitorReference | None:
    if saved is None:
        return None
    data = _fields(saved, ("cells", "groups", "threshold"), "the reference")
    cells = _cells(data["cells"], "a count of the reference")
    named = _fields(data["groups"], (), "the groups of the reference")
    groups = {group: _cells(part, "a count of the reference") for group, part in named.items()}
    total = [sum(part[place] for part in groups.values()) for place in range(4)]
    if not sum(cells) or any(part > whole for part, whole in zip(total, cells, strict=True)):
        raise _changed("its reference has groups of more rows than all, or no rows")
    at = _or_none(_number, data["threshold"], "the threshold of the reference")
    counted = {group: counted_cells(Counts(*part)) for group, part in groups.items()}
    return MonitorReference(counted_cells(Counts(*cells)), counted, at)


def read_monitor(kind: type[Monitor], text: Saved) -> Monitor:
    """The monitor that was saved, each field checked and all of them against each other."""
    names = ("rules", "batches", "pending", "reference", "threshold_assumed", *_OPTIONS)
    data = read_table(text, "monitor", names, ("labels",))
    between = _or_none(lambda value, what: _list(value, what, 2), data["cost_between"], "cost_between")
    costs = (
        None if between is None else (_number(between[0], "an end of costs"), _number(between[1], "an end of costs"))
    )
    monitor = kind(
        [_text(rule, "a rule") for rule in _list(data["rules"], "rules")],
        level=_number(data["level"], "level"),
        pos_label=_or_none(_label, data["pos_label"], "pos_label"),
        threshold=_or_none(_number, data["threshold"], "threshold"),
        by=_or_none(_text, data["by"], "by"),
        cost_between=costs,
        reference=_read_reference(data["reference"]),
    )
    monitor.threshold_assumed = _of_kind(data["threshold_assumed"], bool, "threshold_assumed")
    if monitor.threshold_assumed and monitor.threshold != HALF:
        raise _changed(f"its threshold {monitor.threshold} is called the usual one")
    monitor.pending = _read_pending(data["pending"], costs=costs is not None)
    monitor.labels = _read_labels(data["labels"])
    monitor.batches = [Batch.from_saved(batch) for batch in _list(data["batches"], "batches")]
    for batch in monitor.batches:
        if bool(batch.groups) != (monitor.by is not None) or (batch.costs is None) != (costs is None):
            raise _changed(f"the batch {batch.name!r} has other groups or costs than the monitor follows")
    return monitor


def _read_labels(saved: object) -> SeenLabels:
    """The labels that were seen; none of a state that was written before they were kept."""
    if saved is None:
        return SeenLabels()
    data = _fields(saved, ("labels", "late", "started"), "labels")
    labels = [_label(label, "a label") for label in _list(data["labels"], "labels")]
    late = [_list(pair, "a late label", 2) for pair in _list(data["late"], "late labels")]
    named = [(_label(label, "a late label"), _text(batch, "the batch of a late label")) for label, batch in late]
    started = _of_kind(data["started"], bool, "started")
    if len(labels) != len({*labels}) or not {label for label, _ in named} <= {*labels} or (named and not started):
        raise _changed("the labels that it has seen contradict each other")
    return SeenLabels(labels, named, started)


def _saved_pending(pending: PendingLabels) -> dict[str, Any]:
    """Cohorts with the keys that wait: of each group those predicted positive and the others."""
    cohorts = []
    for cohort in pending.cohorts:
        waiting = []
        for group in dict.fromkeys(group for _, group in cohort.waiting.values()):
            for predicted in (True, False):
                keys = [key for key, row in cohort.waiting.items() if row == (predicted, group)]
                if keys:
                    waiting.append({"group": group, "predicted": predicted, "keys": keys})
        saved = {
            "name": cohort.name,
            "size": cohort.size,
            "waiting": waiting,
            "labelled": [[key for key, truth in cohort.labelled.items() if truth is label] for label in (True, False)],
            "arrivals": {str(age): cells.tolist() for age, cells in cohort.arrivals.items()},
            "held": [list(row) for row in cohort.held],
            "compared": cohort.compared,
            "released": cohort.released,
            "digest": cohort.digest,
        }
        cohorts.append(saved)
    early = [[key, truth, cost] for key, (truth, cost) in pending.early.items()]
    counts = {"duplicate": pending.duplicate, "unknown": pending.unknown, "contradicted": pending.contradicted}
    counts |= {"late": pending.late}
    return {"mature": pending.mature, **counts, "delay": pending.delay.saved(), "cohorts": cohorts, "early": early}


def _read_pending(saved: object, *, costs: bool) -> PendingLabels:
    names = ("mature", "cohorts", "delay", "duplicate", "unknown", "contradicted")
    data = _fields(saved, names, "pending")
    mature = checked_age(data["mature"])
    listed = _list(data["cohorts"], "cohorts")
    cohorts = [_read_cohort(place, len(listed), cohort, mature, costs=costs) for place, cohort in enumerate(listed)]
    keys = [key for cohort in cohorts for key in cohort.waiting]
    if len(keys) != len({*keys}):
        raise InputError("A key of this saved monitor waits twice; it was changed. Go on from an older copy.")
    early = {}
    for kept in _list(data.get("early", []), "early labels"):
        key, truth, cost = _list(kept, "an early label", 3)
        early[_keys([key], "an early key")[0]] = _of_kind(truth, bool, "an early label"), _cost(cost, costs=costs)
    if len(early) != len(data.get("early", [])) or not early.keys().isdisjoint(keys):
        raise _changed("a key has an early label and waits, or has two")
    return PendingLabels(
        mature,
        cohorts,
        LabelDelay.from_saved(data["delay"]),
        _whole(data["duplicate"], "duplicate"),
        _whole(data["unknown"], "unknown"),
        early,
        _keys(data["contradicted"], "contradicted"),
        _whole(data.get("late", 0), "late"),
    )


def _keys(saved: object, what: str) -> list[Any]:
    keys = _list(saved, what)
    if not all(type(key) in (str, int) for key in keys):
        raise _changed(f"{what} holds a key that is neither text nor a whole number")
    return keys


def _cost(saved: object, *, costs: bool) -> float | None:
    if (saved is not None) != costs:
        raise _changed(f"the cost of a row is {_shown(saved)}")
    return _or_none(_number, saved, "the cost of a row")


def _read_cohort(place: int, number: int, saved: object, mature: int | None, *, costs: bool) -> Cohort:
    names = ("name", "size", "waiting", "labelled", "arrivals", "held", "compared", "released")
    data = _fields(saved, names, "a cohort")
    waiting: dict[Any, tuple[bool, str | None]] = {}
    listed = 0
    for part in _list(data["waiting"], "waiting"):
        rows = _fields(part, ("predicted", "group", "keys"), "the rows that wait")
        row = _of_kind(rows["predicted"], bool, "predicted"), _or_none(_text, rows["group"], "a group")
        keys = _keys(rows["keys"], "keys")
        listed += len(keys)
        waiting |= dict.fromkeys(keys, row)
    both = [_keys(keys, "labelled") for keys in _list(data["labelled"], "labelled", 2)]
    labelled = {key: label for label, keys in zip((True, False), both, strict=True) for key in keys}
    if listed != len(waiting) or len(labelled) != sum(map(len, both)) or not labelled.keys().isdisjoint(waiting):
        raise _changed("a key of a cohort stands twice")
    ages = _fields(data["arrivals"], (), "arrivals")
    if not {*ages} <= {str(age) for age in range(number - place)}:
        raise _changed("labels came at an age that their cohort has not reached")
    arrivals = {int(age): np.array(_cells(cells, "arrivals"), dtype=np.int64) for age, cells in ages.items()}
    held = [_read_held(row, costs=costs) for row in _list(data["held"], "held")]
    size, came = _whole(data["size"], "the size of a cohort"), sum(int(cells.sum()) for cells in arrivals.values())
    most = size - len(waiting)  # rows that have a label; old cohorts have forgotten their keys
    compared, released = (_of_kind(data[name], bool, name) for name in ("compared", "released"))
    used = mature is not None and number - 1 - place >= mature
    recent = place >= number - REMEMBERED
    if (
        (recent and len(labelled) != most)
        or max(len(labelled), came, len(held)) > most
        or released != used
        or (held and (used or mature is None))
    ):
        raise _changed("the rows of a cohort are more or fewer than its keys")
    if not compared and came != most:
        raise _changed("the labels of a cohort are more or fewer than its keys")
    if mature is not None and not used and len(held) != most:
        raise _changed("the rows that a cohort holds are more or fewer than its labels")
    name, digest = _text(data["name"], "the name of a cohort"), _text(data.get("digest", ""), "the digest of a cohort")
    return Cohort(name, place, waiting, labelled, arrivals, held, size, compared, released, digest)


def _read_held(saved: object, *, costs: bool) -> tuple[bool, bool, str | None, float | None]:
    truth, predicted, group, cost = _list(saved, "a row that is held", 4)
    return (
        _of_kind(truth, bool, "a label that is held"),
        _of_kind(predicted, bool, "a prediction that is held"),
        _or_none(_text, group, "a group"),
        _cost(cost, costs=costs),
    )


# ---------------------------------------------------------------- merged monitors
# The batches of two monitors of the same rules as one.


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
    if pair := _shared_batches(first.batches, second.batches):
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
    indices = {batch.name: i for i, batch in enumerate(first.batches)}
    for batch in second.batches:
        if batch.name in indices:
            merged.batches[indices[batch.name]] += batch
        else:
            merged.batches.append(batch)
    merged.labels = first.labels + second.labels
    merged.pos_label = first.pos_label if first.pos_label is not None else second.pos_label
    return merged


def _shared_batches(first: Sequence[Batch], second: Sequence[Batch]) -> tuple[Batch, Batch] | None:
    """A batch of each that has rows of the other: beyond chance, alone or together with the others that look alike.

    Monitors that were grown from one saved state share its batches, each of which may be too small to be known again.
    """
    holders: dict[str, list[int]] = {}  # the batches of the first with each digest
    for i, batch in enumerate(first):
        for digest in batch.digests:
            holders.setdefault(digest.rows, []).append(i)
    pairs = [(i, j) for j, new in enumerate(second) for digest in new.digests for i in holders.get(digest.rows, ())]
    alike = []
    for i, j in pairs:
        if first[i].repeats(second[j]):
            return first[i], second[j]
        if first[i].is_alike(second[j]):
            alike.append((i, j))
    if not alike:
        return None
    fewest = min(len(first), len(second))
    are_all_alike = fewest in (len({i for i, _ in alike}), len({j for _, j in alike}))
    log_chance = sum(first[i].log_chance for i, j in alike if first[i].digests == second[j].digests)
    return (first[alike[0][0]], second[alike[0][1]]) if are_all_alike or log_chance < BY_CHANCE else None


def _options(monitor: Monitor) -> dict[str, Any]:
    reference = saved_reference(monitor.reference)
    options = {"rules": monitor.rules, "level": monitor.level, "threshold": monitor.threshold, "by": monitor.by}
    return options | {"cost": monitor.cost_between, "mature": monitor.pending.mature, "reference": reference}
