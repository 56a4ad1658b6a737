"""Payload: everything the page's script reads, as strict JSON values: tables, cuts, metrics, never rows of data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard import __version__
from steelyard.analysis import draws as drawing
from steelyard.analysis.kinks import NEAR_KINK, deviance_limit
from steelyard.analysis.prevalence import scores_at
from steelyard.analysis.rows import PLACES, ROUNDING
from steelyard.analysis.sampler import against_rest
from steelyard.metrics.registry import get_metric
from steelyard.report import curve_data, html_tables, metric_facts, prevalence_grid, threshold_grid
from steelyard.report.document import clipped

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.threshold_grid import Kept
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

_DRAWS = 2_000  # of the tables for an interval at a moved slider: a few milliseconds of a browser
LABEL = 100  # characters of a label that are kept for the copied numbers


def payload(
    evaluation: Evaluation, source: str, *, others: tuple[Any, ...] = (), known: dict[Any, Any] | None = None
) -> dict[str, Any]:
    """What the page of a two-class evaluation, or of one class against the rest, computes with.

    `known` holds intervals of single classes that the page shows elsewhere as well, and so takes from there.
    """
    table, scores = evaluation.confusion, evaluation.scores
    assert table is not None  # noqa: S101 - pages are of tables
    first = view(table, evaluation.positive)
    views = [view(table, label) | {"known": (known or {}).get(label, {})} for label in others]
    start = _prevalence(evaluation)
    held = [start or first["share"], *(part["share"] for part in (first, *views))]
    shares = prevalence_grid.stops(*(float(share) for share in held if 0 < share < 1))
    rows = [metric_facts.fact(row) for row in evaluation.metrics]
    usual = {row.name for row in evaluation.shown()}
    for row in rows:
        row["first"] = row["name"] in usual
    data = {
        "version": __version__,
        "source": clipped(source, LABEL),
        "rows": evaluation.rows,
        "level": evaluation.level,
        "seed": evaluation.seed,
        "labels": [typed(label) for label in table.labels],
        "method": evaluation.method,
        "assumed": list(evaluation.assumed),
        "sides": [row.label == evaluation.positive for row in evaluation.per_class],
        "weighted": table.weighted,
        "view": first,
        "views": views,
        "stops": shares.tolist(),
        "stop": _nearest(shares, start or first["share"]),
        "draws": _DRAWS,
        "prior": drawing.PRIOR_MASS / 4,
        "near_kink": NEAR_KINK,
        "limit": deviance_limit(evaluation.level),
        "digits": {"places": PLACES, "rounding": ROUNDING},
        "verdict": evaluation.verdict,
        "metrics": rows,
        "families": html_tables.FAMILIES,
        "sources": metric_facts.sources(rows),
        "properties": metric_facts.properties(),
    }
    return data if scores is None else {**data, **_of_scores(evaluation, scores, rows, shares, data["stop"])}


def view(table: Confusion, label: Any) -> dict[str, Any]:
    """One class against the rest: the four cells, what a row of each class weighs, and the share of the class."""
    counts = table.counts(label)
    _, one = drawing.effective(against_rest(table, label))
    cells = [cell.item() for cell in map(np.asarray, counts)]
    share = float(counts.positives / counts.total) if float(counts.total) else 0.0
    return {
        "label": clipped(label, LABEL),
        "typed": typed(label),
        "cells": cells,
        "one": np.asarray(one).ravel().tolist(),
        "share": share,
    }


def typed(label: Any) -> Any:
    """A label as JSON writes it: numbers stay numbers, as in the JSON of the evaluation; long words are shortened."""
    return label if isinstance(label, (int, float)) and math.isfinite(label) else clipped(label, LABEL)


def _prevalence(evaluation: Evaluation) -> float | None:
    """The prevalence that the evaluation is read at, if not the sample's."""
    if evaluation.prevalence is None:
        return None
    given = np.asarray(evaluation.prevalence, dtype=np.float64)
    return float(given) if given.ndim == 0 else float(given[evaluation.labels.index(evaluation.positive)])


def _nearest(shares: Array, share: float) -> int:
    return int(np.abs(shares - share).argmin())


# ---------------------------------------------------------------- scores


def _of_scores(
    evaluation: Evaluation, scores: ScoreTable, rows: list[dict[str, Any]], shares: Array, start: int
) -> dict[str, Any]:
    held = threshold_grid.kept(
        scores, [m for m in (get_metric(row["name"]) for row in rows) if m.scores is None], evaluation.threshold
    )
    small = prevalence_grid.grouped(scores)
    for row in rows:
        if get_metric(row["name"]).scores is None:
            row["best"] = held.best.get(row["name"])
        else:
            row.update(_over_stops(row, small, shares, start))
    probable = scores.has_probabilities
    return {
        "cuts": _cut_columns(held),
        "cut": held.current,
        "all_cuts": held.total,
        "near": 0 if evaluation.counts is None else held.nearest(evaluation.counts),
        "threshold": metric_facts.finite(evaluation.threshold),
        "histogram": curve_data.histogram(scores),
        "band": curve_data.band(scores, evaluation.level),
        "reliability": curve_data.reliability(scores, evaluation.level) if probable else None,
        "grouped": None if small is scores else _grouping(scores, small, [r for r in rows if "at" in r], shares),
    }


def _grouping(scores: ScoreTable, small: ScoreTable, rows: list[dict[str, Any]], shares: Array) -> dict[str, Any]:
    """How many groups of scores stand for all of them at a moved prevalence, and how far that was off where tried."""
    gaps = [0.0]
    for place in (0, len(shares) // 2, len(shares) - 1):
        there = scores_at(scores, float(shares[place]))
        known = [row for row in rows if row["at"][place] is not None]
        gaps += [abs(row["at"][place] - float(get_metric(row["name"])(there))) for row in known]
    return {"groups": len(np.union1d(small.positive.scores, small.negative.scores)), "off": max(gaps)}


def _cut_columns(held: Kept) -> dict[str, list[Any]]:
    """The columns of the cuts; the threshold that flags nobody is null."""
    return {
        "threshold": [metric_facts.finite(cut) for cut in held.thresholds],
        "tp": _weights(held.tp),
        "fp": _weights(held.fp),
    }


def _weights(column: Any) -> list[Any]:
    values = np.asarray(column)
    return values.tolist() if values.dtype.kind == "i" else [metric_facts.short(value, 13) for value in values]


def _over_stops(row: dict[str, Any], scores: ScoreTable, shares: Array, start: int) -> dict[str, Any]:
    """A metric of scores at every prevalence; the value of the evaluation where it does not depend on it."""
    metric = get_metric(row["name"])
    values = prevalence_grid.over_stops(metric, scores, shares)
    if _is_constant(values):
        return {"ranks": True}
    at = [metric_facts.short(value) for value in values]
    at[start] = row["value"]
    whys = {i: prevalence_grid.why_at(metric, scores, float(shares[i])) for i, value in enumerate(at) if value is None}
    guesses = prevalence_grid.guesses_over_stops(metric, scores, shares)
    shown = [metric_facts.short(guess, 6) for guess in guesses]
    return {"ranks": True, "at": at, "whys": whys, "guesses": shown[:1] if len(set(shown)) == 1 else shown}


def _is_constant(values: Array) -> bool:
    held = values[np.isfinite(values)]
    if len(held) < len(values):
        return not len(held)  # undefined at some prevalences and not at others is no constant
    return bool(np.ptp(held) <= 1e-12 * max(1.0, float(np.abs(held).max())))


def packed(data: dict[str, Any]) -> dict[str, Any]:
    """The payload with the facts of the metrics as columns, which takes half the room; rarer ones come last."""
    keys = list(metric_facts.KEYS)
    rows = [[*(row[key] for key in keys), {k: v for k, v in row.items() if k not in keys}] for row in data["metrics"]]
    return {**data, "keys": keys, "metrics": rows}
