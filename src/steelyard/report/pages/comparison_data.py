"""Comparison data: what the script of a comparison's page computes with: differences, thresholds, curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.calibration.calibration import reliability
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.evaluation.threshold_grid import shortest_threshold, threshold_grid
from steelyard.metrics.registry import default_metric, get_metric, get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import COMPARED
from steelyard.report.pages import metric_facts
from steelyard.report.pages.document import clipped
from steelyard.report.pages.page_data import reliability_bin, threshold_columns
from steelyard.report.pages.page_numbers import finite_or_none, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.analysis.comparison.comparison import Comparison, Difference
    from steelyard.analysis.comparison.leaderboard import Leaderboard
    from steelyard.evaluation.threshold_grid import ThresholdGrid
    from steelyard.report.pages.compared_marks import ModelMark

_MOST_THRESHOLDS = ((3, 360), (6, 240))  # of each model, where there are so many models at most
_FEWEST_THRESHOLDS = 160


def comparison_data(
    comparison: Comparison, marks: Mapping[str, ModelMark], boards: Sequence[Leaderboard], source: str
) -> dict[str, Any]:
    """Everything under one key."""
    specs = list(comparison.tables.specs)
    data: dict[str, Any] = {
        "source": clipped(source),
        "rows": comparison.n,
        "level": comparison.level,
        "models": [_model(marks[name]) for name in comparison.models],
        "metrics": [_metric(spec) for spec in specs],
        "boards": {board.metric: _board(board, comparison.models) for board in boards},
        "pairs": _pairs(comparison, specs),
    }
    return {"comparison": data | (_curves(comparison) if comparison.tables.scores else {})}


def _model(mark: ModelMark) -> dict[str, Any]:
    return {"name": clipped(mark.name), "number": mark.number, "kind": mark.kind}


def _metric(spec: MetricSpec) -> dict[str, Any]:
    ends = [finite_or_none(end) for end in spec.metric.range]
    return {"name": spec.name, "title": spec.title, "range": ends, "sign": spec.sign, "share": spec.is_share}


def _board(board: Leaderboard, models: Sequence[str]) -> list[list[Any]]:
    """Of each model its place in the order, value, interval and letters."""
    return [
        [
            models.index(row.model),
            row.place,
            finite_or_none(row.value),
            rounded(row.low),
            rounded(row.high),
            row.letters,
        ]
        for row in board
    ]


def _pairs(comparison: Comparison, specs: Sequence[MetricSpec]) -> list[dict[str, Any]]:
    pairs: dict[tuple[int, int], list[list[Any]]] = {}
    places = {name: place for place, name in enumerate(comparison.models)}
    for row in comparison.rows:
        pairs.setdefault((places[row.a], places[row.b]), []).append([specs.index(row.spec), *_numbers(row)])
    return [{"a": a, "b": b, "rows": rows} for (a, b), rows in pairs.items()]


def _numbers(row: Difference) -> list[Any]:
    """The values of both, their difference and its interval, the p-values, and why one of them is missing."""
    values = map(finite_or_none, (row.value_a, row.value_b, row.difference))
    rest = map(rounded, (row.low, row.high, row.p_value, row.p_holm))
    return [*values, *rest, *([row.why] if row.why else [])]


# ---------------------------------------------------------------- scores


def slider_specs(comparison: Comparison) -> list[MetricSpec]:
    """The metrics of a table that the sliders can show: the usual ones and those compared."""
    usual = [*map(get_metric, CLASS_METRICS), default_metric()]
    usual += [metric for metric in get_metrics(COMPARED) if metric.function is not None]
    named = [spec for spec in comparison.tables.specs if spec.is_native and spec.metric.function is not None]
    return list(dict.fromkeys([*map(MetricSpec, usual), *named]))


def slider_formulas(comparison: Comparison) -> str:
    """Their formulas for the script."""
    return metric_facts.formulas(slider_specs(comparison) if comparison.tables.scores else (), positive=True)


def _curves(comparison: Comparison) -> dict[str, Any]:
    tables, specs = comparison.tables, slider_specs(comparison)
    most = next((most for models, most in _MOST_THRESHOLDS if len(tables.scores) <= models), _FEWEST_THRESHOLDS)
    grids = [_grid(comparison, name, specs, most) for name in comparison.models]
    probable = all(table.has_probabilities for table in tables.scores.values())
    return {
        "curves": [threshold_columns(grid) for grid in grids],
        "whole": [len(grid.indices) == grid.total for grid in grids],
        "start": [_start(grid) for grid in grids],
        "shown": [_metric(spec) for spec in specs],
        "chosen": list(dict.fromkeys([*CLASS_METRICS, default_metric().name])),
        "areas": {"roc": _areas(comparison, "roc_auc"), "pr": _areas(comparison, "average_precision")},
        "reliability": [
            [reliability_bin(part) for part in reliability(tables.scores[name], comparison.level)]
            for name in comparison.models
        ]
        if probable
        else None,
    }


def _areas(comparison: Comparison, name: str) -> list[float | None]:
    """The area under a curve of each model."""
    metric = get_metric(name)
    return [finite_or_none(float(metric(comparison.tables.scores[model]))) for model in comparison.models]


def _grid(comparison: Comparison, model: str, specs: Sequence[MetricSpec], most: int) -> ThresholdGrid:
    """The thresholds of one model, that of its labels among them."""
    table, threshold = comparison.tables.scores[model], comparison.tables.thresholds.get(model)
    if threshold is None and (labelled := comparison.tables.labels.get(model)) is not None:
        counts = labelled.counts()
        away = np.abs(np.asarray(table.counts.tp) - counts.tp) + np.abs(np.asarray(table.counts.fp) - counts.fp)
        threshold = shortest_threshold(table.thresholds, int(np.argmin(away)))
    return threshold_grid(table, [spec.metric for spec in specs], threshold, most)


def _start(grid: ThresholdGrid) -> int:
    """Where the slider stands at first: at the threshold of the labels, else where the default metric is best."""
    return grid.best.get(default_metric().name, 0) if grid.current is None else grid.current
