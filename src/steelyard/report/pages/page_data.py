"""Page data: everything the page's script reads, as strict JSON values: tables, thresholds, metrics, never rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.calibration.calibration import ReliabilityBin, reliability
from steelyard.analysis.intervals.score_draws import ScoreHistogram, score_histogram
from steelyard.evaluation.class_views import ClassView, class_view
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.evaluation.prevalence_grid import (
    OverPrevalence,
    grouped_scores,
    grouping_error,
    nearest_place,
    over_prevalence,
    prevalence_grid,
)
from steelyard.evaluation.score_dots import DOTS
from steelyard.evaluation.threshold_grid import threshold_grid
from steelyard.evaluation.verdict.moved_sentences import moved_sentences
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.metrics.families import FAMILIES
from steelyard.metrics.registry import default_metric, get_metric
from steelyard.report.metric_blocks import top_metrics
from steelyard.report.pages import metric_facts
from steelyard.report.pages.copied_json import LABEL, beside_metrics, typed_label
from steelyard.report.pages.document import clipped
from steelyard.report.pages.page_bands import page_bands
from steelyard.report.pages.page_numbers import finite_or_none, interval_constants, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.threshold_grid import ThresholdGrid
    from steelyard.metrics.measure import Metric
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable

_SIDES = 2  # classes whose rows follow the sliders, where there are two of them


def payload(evaluation: Evaluation, source: str) -> dict[str, Any]:
    """What the page of a two-class evaluation, or of one class against the rest, computes with."""
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - pages are of tables
    own = class_view(table, evaluation.positive)
    start = given_prevalence(evaluation) or own.share
    shares = prevalence_grid(*(share for share in (start, own.share) if 0 < share < 1))
    place = nearest_place(shares, start)
    rows = _metric_rows(evaluation)
    data = _identity(evaluation, source, table) | _constants(evaluation) | {"metrics": rows}
    data |= {"view": view_numbers(own), "views": [], "stops": shares.tolist(), "stop": place}
    data["explained"] = metric_facts.explained(evaluation.metrics)
    return data if evaluation.scores is None else data | _of_scores(evaluation, evaluation.scores, rows, shares, place)


def _identity(evaluation: Evaluation, source: str, table: Confusion) -> dict[str, Any]:
    return {
        "source": clipped(source, LABEL),
        "rows": evaluation.rows,
        "level": evaluation.level,
        "seed": evaluation.seed,
        "labels": [typed_label(label) for label in table.labels],
        "method": evaluation.method,
        "assumed": list(evaluation.assumed),
        "assumed_moved": [sentence for sentence in evaluation.assumed if "threshold" not in sentence],
        "written": beside_metrics(evaluation, table),
        "sides": [row.label == evaluation.positive for row in evaluation.per_class[:_SIDES]],
        "weighted": table.weighted,
        "planned": evaluation.is_planned,
        "clustered": evaluation.is_clustered,
    }


def page_sentences(evaluation: Evaluation, *, live: bool = False) -> dict[str, Any]:
    """The verdict, and the phrases of its headline, which the script fills again where a slider was moved."""
    moved = {code: Sentence("", code).row() for code in ("outcomes", "rates") if code not in evaluation.muted}
    is_live = live or any(sentence.code == "outcomes" for sentence in evaluation.verdict)
    verdict = [sentence.row() for sentence in evaluation.verdict]
    return {"verdict": verdict, "moved": moved, "headline": moved_sentences(evaluation), "is_live": is_live}


def _constants(evaluation: Evaluation) -> dict[str, Any]:
    """What the script draws by, as Python does."""
    return {
        **interval_constants(evaluation),
        "families": {name: family.title for name, family in FAMILIES.items()},
        "class_metrics": [{"name": n, "range": [0, 1], "share": get_metric(n).is_share} for n in CLASS_METRICS],
        "tops": list(dict.fromkeys(top_metrics(evaluation).values())),
        "dots": DOTS,
        "drawn": [*CLASS_METRICS, default_metric().name],
    }


def _metric_rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    top = top_metrics(evaluation)
    return [metric_facts.fact(row) | {"top": top.get(row.name)} for row in evaluation.metrics]


def view_numbers(view: ClassView) -> dict[str, Any]:
    """One class against the rest, in numbers."""
    return {
        "label": clipped(view.label, LABEL),
        "typed": typed_label(view.label),
        "cells": [cell.item() for cell in map(np.asarray, view.counts)],
        "one": np.asarray(view.row_weights).ravel().tolist(),
        "share": view.share,
    }


def given_prevalence(evaluation: Evaluation) -> float | None:
    """The prevalence that the evaluation is read at, if not the sample's."""
    if evaluation.prevalence is None:
        return None
    given = np.asarray(evaluation.prevalence, dtype=np.float64)
    return float(given) if given.ndim == 0 else float(given[evaluation.labels.index(evaluation.positive)])


# ---------------------------------------------------------------- scores


def _of_scores(
    evaluation: Evaluation, scores: ScoreTable, rows: list[dict[str, Any]], shares: Array, start: int
) -> dict[str, Any]:
    metrics = [row.spec.metric for row in evaluation.metrics]
    grid = threshold_grid(scores, [metric for metric in metrics if metric.scores is None], evaluation.threshold)
    small = grouped_scores(scores)
    over = over_prevalence([metric for metric in metrics if metric.scores is not None], small, shares)
    for row, metric in zip(rows, metrics, strict=True):
        row.update({"best": grid.best.get(row["name"])} if metric.scores is None else _over(row, over[metric], start))
    shown = {metric: row["at"] for row, metric in zip(rows, metrics, strict=True) if "at" in row}
    return {
        "thresholds": threshold_columns(grid),
        "index": grid.current,
        "all_thresholds": grid.total,
        "near": 0 if evaluation.counts is None else grid.nearest(evaluation.counts),
        "threshold": finite_or_none(evaluation.threshold),
        "histogram": _histogram(score_histogram(scores)),
        **({"band": None} if evaluation.is_clustered else page_bands(evaluation, scores, grid.indices)),
        "reliability": [reliability_bin(part) for part in reliability(scores, evaluation.level)]
        if scores.has_probabilities
        else None,
        "grouped": None if small is scores else _grouping(scores, small, shown, shares),
    }


def _grouping(
    scores: ScoreTable, small: ScoreTable, shown: Mapping[Metric, Sequence[float | None]], shares: Array
) -> dict[str, float]:
    """How many groups of scores stand for all of them at a moved prevalence, and how far that was off where tried."""
    values = {metric: np.array(at, dtype=np.float64) for metric, at in shown.items()}
    groups = len(np.union1d(small.positive.scores, small.negative.scores))
    return {"groups": groups, "off": grouping_error(scores, values, shares)}


def threshold_columns(grid: ThresholdGrid) -> dict[str, list[float | None]]:
    """The columns of the thresholds; the one that flags nobody is null."""
    return {
        "threshold": [finite_or_none(value) for value in grid.thresholds],
        "tp": _weights(grid.tp),
        "fp": _weights(grid.fp),
    }


def _weights(column: Array) -> list[float | None]:
    whole = column.dtype.kind == "i"
    return column.tolist() if whole else [rounded(value, 13) for value in column]


def _over(row: Mapping[str, Any], over: OverPrevalence | None, start: int) -> dict[str, Any]:
    """A metric of scores at every prevalence; the value of the evaluation where it does not depend on it."""
    if over is None:
        return {"ranks": True}
    at = [rounded(value, 10) for value in over.values]
    at[start] = row["value"]
    chances = [rounded(value, 6) for value in over.chance]
    return {
        "ranks": True,
        "at": at,
        "whys": dict(over.reasons),
        "baselines": chances[:1] if len(set(chances)) == 1 else chances,
    }


def _histogram(histogram: ScoreHistogram) -> dict[str, list[float]]:
    ends = [histogram.low, histogram.high]
    return {"ends": ends, "positive": _drawn(histogram.positive), "negative": _drawn(histogram.negative)}


def reliability_bin(part: ReliabilityBin) -> dict[str, float]:
    """A bin of the reliability curve in numbers."""
    keys = ("p", "n", "sp", "sn", "low", "high")
    return {key: float(f"{value:.10g}") for key, value in zip(keys, part.row().values(), strict=True)}


def _drawn(values: Iterable[float]) -> list[float]:
    """Digits that a picture can show."""
    return [float(f"{value:.4g}") for value in values]
