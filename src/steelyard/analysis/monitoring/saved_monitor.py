"""Saved monitors: the whole state of a monitor as strict JSON, written and read again, every part checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._names import __version__
from steelyard.analysis.monitoring.batch import Batch
from steelyard.analysis.monitoring.label_delay import LabelDelay
from steelyard.analysis.monitoring.monitor_reference import MonitorReference
from steelyard.analysis.monitoring.pending_labels import Cohort, PendingLabels, checked_keys
from steelyard.analysis.monitoring.seen_labels import SeenLabels
from steelyard.analysis.sequential.anytime_interval import counted_cells
from steelyard.exceptions import InputError, SteelyardError
from steelyard.statistics.counts import Counts
from steelyard.statistics.saved_json import SCHEMA, read_table, to_strict_json

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.statistics.saved_json import Saved

_OPTIONS = ("level", "pos_label", "threshold", "by", "cost_between")


def saved_monitor(monitor: Monitor) -> str:
    """The state as strict JSON, with the number of its schema."""
    options = {name: getattr(monitor, name) for name in _OPTIONS}
    label = options["pos_label"]
    options["pos_label"] = label.item() if isinstance(label, np.generic) else label
    return to_strict_json(
        {
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
    )


def saved_reference(reference: MonitorReference | None) -> dict[str, Any] | None:
    """The cells of a reference and the threshold they are at; its scores are not kept."""
    if reference is None:
        return None
    groups = {group: cells.astype(int).tolist() for group, cells in reference.groups.items()}
    return {"cells": reference.cells.astype(int).tolist(), "groups": groups, "threshold": reference.threshold}


def _read_reference(data: dict[str, Any] | None) -> MonitorReference | None:
    if data is None:
        return None
    groups = {str(group): counted_cells(Counts(*cells)) for group, cells in data["groups"].items()}
    at = data["threshold"]
    return MonitorReference(counted_cells(Counts(*data["cells"])), groups, None if at is None else float(at))


def read_monitor(kind: type[Monitor], text: Saved) -> Monitor:
    """The monitor that was saved."""
    data = read_table(text, "monitor", ("rules", "batches", "pending", "reference", "threshold_assumed", *_OPTIONS))
    between = data["cost_between"]
    if not isinstance(data["batches"], list) or not isinstance(data["pending"], dict):
        raise InputError("A saved monitor lists its batches and the labels it waits for; this one does not.")
    options = {name: data[name] for name in _OPTIONS if name != "cost_between"}
    try:
        monitor = kind(
            data["rules"],
            **options,
            reference=_read_reference(data["reference"]),
            cost_between=None if between is None else tuple(between),
        )
        monitor.threshold_assumed = bool(data["threshold_assumed"])
        monitor.pending = _read_pending(data["pending"])
        monitor.labels = SeenLabels.from_saved(data.get("labels", {}))
    except SteelyardError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InputError("This saved monitor cannot be read: it was changed. Go on from an older copy.") from None
    monitor.batches = [Batch.from_saved(batch) for batch in data["batches"]]
    return monitor


def _saved_pending(pending: PendingLabels) -> dict[str, Any]:
    """Cohorts with the keys that wait: of each group those predicted positive and the others."""
    cohorts = [
        {
            "name": cohort.name,
            "size": cohort.size,
            "waiting": _by_prediction(cohort),
            "labelled": [[key for key, truth in cohort.labelled.items() if truth is label] for label in (True, False)],
            "arrivals": {str(age): cells.tolist() for age, cells in cohort.arrivals.items()},
            "held": [list(row) for row in cohort.held],
            "compared": cohort.compared,
            "released": cohort.released,
        }
        for cohort in pending.cohorts
    ]
    early = [[key, truth, cost] for key, (truth, cost) in pending.early.items()]
    counts = {"duplicate": pending.duplicate, "unknown": pending.unknown, "contradicted": pending.contradicted}
    counts |= {"late": pending.late}
    return {"mature": pending.mature, **counts, "delay": pending.delay.saved(), "cohorts": cohorts, "early": early}


def _by_prediction(cohort: Cohort) -> list[dict[str, Any]]:
    groups = dict.fromkeys(group for _, group in cohort.waiting.values())
    parts = [(group, predicted) for group in groups for predicted in (True, False)]
    return [
        {"group": group, "predicted": predicted, "keys": keys}
        for group, predicted in parts
        if (keys := [key for key, row in cohort.waiting.items() if row == (predicted, group)])
    ]


def _read_pending(data: dict[str, Any]) -> PendingLabels:
    cohorts = [_read_cohort(place, cohort) for place, cohort in enumerate(data["cohorts"])]
    keys = [key for cohort in cohorts for key in cohort.waiting]
    if len(keys) != len({*keys}):
        raise InputError("A key of this saved monitor waits twice; it was changed. Go on from an older copy.")
    delay = LabelDelay.from_saved(data["delay"])
    early = {checked_keys([key])[0]: (bool(truth), cost) for key, truth, cost in data.get("early", [])}
    contradicted = checked_keys(data["contradicted"])
    return PendingLabels(
        data["mature"],
        cohorts,
        delay,
        int(data["duplicate"]),
        int(data["unknown"]),
        early,
        contradicted,
        int(data.get("late", 0)),
    )


def _read_cohort(place: int, data: dict[str, Any]) -> Cohort:
    waiting = {
        key: (bool(part["predicted"]), part["group"]) for part in data["waiting"] for key in checked_keys(part["keys"])
    }
    return Cohort(
        str(data["name"]),
        place,
        waiting,
        {key: label for label, keys in zip((True, False), data["labelled"], strict=True) for key in checked_keys(keys)},
        {int(age): np.array(cells, dtype=np.int64) for age, cells in data["arrivals"].items()},
        [(bool(truth), bool(predicted), group, cost) for truth, predicted, group, cost in data["held"]],
        int(data["size"]),
        bool(data["compared"]),
        bool(data["released"]),
    )
