"""Asked sample: the rows that a question searches for a threshold, with their clusters, costs and planned labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.inference import Inference, clustered_rows
from steelyard.analysis.intervals.plan_draws import labelled_by, refuse_beside_plan
from steelyard.analysis.prevalence.prevalence import checked_prevalence
from steelyard.analysis.thresholds.threshold_sample import ClusterRows, ThresholdSample, cost_table
from steelyard.arrays.labels import choice_sentences
from steelyard.exceptions import InputError, InputTypeError
from steelyard.predictions import Predictions
from steelyard.tables import score_table
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.threshold_sample import CostAim, CostsLike, ErrorCost
    from steelyard.tables.score_table import ScoreTable

COSTS_AND_WEIGHTS = (
    "Costs by row and weights cannot be given together; give every cost as a column, a number too (cost_fp= is 1 where "
    "it is not given), each times the row's weight over the mean weight, and no weights: limits are then of rows that "
    "count alike."
)


def asked_sample(
    p: Predictions, prevalence: PrevalenceLike | None = None, costs: CostsLike | None = None
) -> tuple[ThresholdSample, CostAim | None]:
    """The sample to search, and with costs by row the aim that reads them."""
    if prevalence is not None and np.ndim(checked_prevalence(prevalence)):
        raise InputError("A threshold is chosen at one prevalence; give one share of positives.")
    table, clusters = p.scores_of_both(), None
    if p.given.cluster is not None:
        clusters = _clusters(p, table)
    if costs is None:
        return ThresholdSample(table, prevalence, None, clusters), None
    if p.given.sample_weight is not None or table.weighted:
        raise InputError(COSTS_AND_WEIGHTS)
    names = tuple(dict.fromkeys(cost for cost in costs.values() if isinstance(cost, str)))
    source = _costed(p, names)
    weighted, aim = cost_table(costs, table, lambda cost: _weighted_by(source, cost), prevalence)
    return ThresholdSample(table, prevalence, weighted, clusters), aim


def _clusters(p: Predictions, table: ScoreTable) -> ClusterRows:
    clustered = clustered_rows(p)
    assert clustered is not None  # noqa: S101 - asked of rows in clusters
    rows = ClusterScores.of(clustered, table, Inference())
    mass = rows.mass.mass
    weights = np.ones(len(rows.scores)) if mass is None else np.asarray(mass, dtype=np.float64)
    clusters = np.asarray(rows.mass.clusters, dtype=np.int64)
    _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
    # Numbered as they appear, so that draws do not depend on what they are called.
    return ClusterRows(rows.positive, rows.scores, weights, np.argsort(np.argsort(first))[codes])


def _costed(p: Predictions, names: tuple[str, ...]) -> Predictions:
    """The rows with the columns of costs, fetched where clusters need rows, else counted where the frame lives."""
    if not p.given.is_frame or not names:
        return p
    if p.given.cluster is not None:
        return p.collect(*names)
    return Predictions.of(p.with_options(by=None, threshold=None).tally(names))


def _weighted_by(p: Predictions, cost: ErrorCost) -> ScoreTable:
    """The scores weighted by a cost of each row, which may be 0 for a whole class, as amounts that only fraud has."""
    data = p.given.data
    if isinstance(data, Tally):
        return _table_of(data, cost)
    if p.given.is_table:
        raise InputTypeError("A ScoreTable holds no costs; give the rows, or a tally that counted cost= with them.")
    if p.given.is_frame:
        raise InputTypeError("Costs by row of a frame are the name of a column, not its values.")
    if isinstance(cost, str):
        p = p.collect()
        cost = p.column(cost)
    return p.with_options(sample_weight=cost).score_table()


def _table_of(counted: Tally, cost: ErrorCost) -> ScoreTable:
    """The scores of a tally, weighted by a column of costs."""
    if counted.scores is None or not isinstance(cost, str) or cost not in counted.costs:
        there = f"it has those of {', '.join(counted.costs)}" if counted.costs else "it has none"
        raise InputError(f"The tally has no costs {cost!r}: {there}. Count them too, with tally(cost={cost!r}).")
    positive, negative = (score_table.lowered(side, counted.scores.bins) for side in counted.costs[cost].classes)
    return replace(counted.scores, positive=positive, negative=negative)


def between_bins(p: Predictions) -> tuple[str, ...]:
    """Which thresholds are searched of scores that were counted in bins; nothing of others."""
    is_counted = (p.given.is_frame or p.given.is_table) and p.given.cluster is None
    if is_counted and len(p.score_table().bins):
        return ("Scores were counted in bins: only thresholds between bins were searched.",)
    return ()


def planned_scores(p: Predictions, confidence: float | None) -> tuple[Predictions, tuple[str, ...]]:
    """The scores of all rows by class, as the labels that a plan chose show them, and what is stated of them.

    A guarantee with a confidence, which plans were not tried with, is refused.
    """
    refuse_beside_plan(p, confidence=confidence)
    planned = labelled_by(p)
    table = planned.score_table(planned.entries.first(len(planned.positive)))
    stated = choice_sentences(p.given.pos_label, planned.labels[1], planned.labels)
    return Predictions.of(table), (*stated, *planned.stated)
