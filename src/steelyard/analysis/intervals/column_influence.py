"""Column influence: how much each row moves a metric of a column of probabilities for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.score_values import averaged_columns, on_scores, row_losses, share_losses
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.placed_values import taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.probability_table import ColumnTable, ProbabilityTable


def column_influence(
    metric: Metric, table: ProbabilityTable, options: CallOptions, parameters: Mapping[str, Any]
) -> Array | None:
    """The influence of each row for each unit of its weight; None of a metric of which it is not known."""
    if options.average == NATIVE:
        losses = centred_losses(metric, table, parameters)
        influence: Array = (losses - np.average(losses, weights=table.weights)) / table.weights.sum()
        return influence
    parts = list(averaged_columns(metric, table, options, parameters))
    by_part = [part_influence(metric, part, parameters) for part in parts]
    if any(influence is None for influence in by_part):
        return None
    if options.average == "micro":
        return by_row_of_cells(parts[0], by_part[0], len(table.codes))  # type: ignore[arg-type]  # not None
    return _of_average(metric, table, parts, by_part, options, parameters)  # type: ignore[arg-type]  # none is None


def _of_average(
    metric: Metric,
    table: ProbabilityTable,
    parts: list[ColumnTable],
    by_part: list[Array],
    options: CallOptions,
    parameters: Mapping[str, Any],
) -> Array:
    """The influence on the mean of the parts, and where they count by their shares on these."""
    influence, total = np.zeros(len(table.codes)), sum(part.share for part in parts)
    values = np.array([float(on_scores(metric, part.table, parameters).value) for part in parts])
    by_share = options.average == "weighted"
    mean = float(np.average(values, weights=[part.share for part in parts])) if by_share else 0.0
    for part, own, value in zip(parts, by_part, values, strict=True):
        influence[np.concatenate(part.rows)] += own * (part.share / total if by_share else 1 / len(parts))
        if by_share:
            influence[np.concatenate(part.sharing)] += (value - mean) / total
    return influence


def centred_losses(metric: Metric, table: ProbabilityTable, parameters: Mapping[str, Any]) -> Array:
    """What each row adds to a mean loss, or to a skill: its loss beside that of the class shares, as a part of it.

    The shares of the classes have the least expected loss, so that what they move themselves is of second order.
    """
    losses = row_losses(metric, table, parameters)
    if not metric.is_skill_of_columns:
        return losses
    reference = taken(share_losses(metric, table, parameters), table.codes)
    loss, without_skill = (float(np.average(column, weights=table.weights)) for column in (losses, reference))
    beside: Array = (loss / without_skill * reference - losses) / without_skill
    return beside


def part_influence(metric: Metric, part: ColumnTable, parameters: Mapping[str, Any]) -> Array | None:
    """The influence of each row of the part, the positives first; None where it is not known."""
    influences = score_influence(metric, part.table, parameters)
    if influences is None:
        return None
    sides = zip(part.rows, part.table.classes, influences, strict=True)
    return np.concatenate([_at_scores(part.scores[members], side, by_score) for members, side, by_score in sides])


def with_share_influence(influence: Array, part: ColumnTable, by: float) -> Array:
    """The influence of a part's rows, the first of which also move its share: the classes' shares are a sample's."""
    first = sum(len(members) for members in part.sharing)
    return np.concatenate([influence[:first] + by, influence[first:]])


def by_row_of_cells(pooled: ColumnTable, influence: Array, rows: int) -> Array:
    """What all columns of a row do together, where each is a row of the pooled table."""
    return np.bincount(row_of_cells(pooled, rows), influence, minlength=rows)


def row_of_cells(pooled: ColumnTable, rows: int) -> Array:
    """The row of each cell of a pooled table, the positive cells first."""
    return np.concatenate(pooled.rows) // (len(pooled.scores) // rows)


def _at_scores(scores: Array, side: ClassScores, by_score: Array) -> Array:
    if isinstance(scores, DeviceArray):
        return taken(by_score, np.minimum(np.searchsorted(side.distinct[0], scores), len(by_score) - 1))
    order = np.argsort(scores)  # looked up in order, they are near to each other in memory
    places = np.searchsorted(side.distinct[0], scores[order])
    found = np.empty(len(scores))
    found[order] = by_score[np.minimum(places, len(by_score) - 1)]  # a row of no weight may lie beyond
    return found
