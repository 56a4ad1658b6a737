"""Score comparison: how far models lie apart by the metrics that read their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.auc_intervals import is_whole_auc
from steelyard.analysis.delong_test import PairedAuc, paired_delong
from steelyard.analysis.distributions import student_reach
from steelyard.analysis.draws import MOST_ENTRIES, student_spread
from steelyard.analysis.paired_draws import FEWEST, judge_beside, normal_tail, steps
from steelyard.analysis.rows import Flat, Rows
from steelyard.errors import InputError
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import declared_labels
from steelyard.ingest.class_checks import rows_of_both_classes
from steelyard.metrics import application
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.positive_class import CONVENTION
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.inference import Inference
    from steelyard.analysis.model_columns import Thresholds
    from steelyard.analysis.paired_difference import Difference, ModelTables
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric

_MOST_WORK, _DRAWS = 100_000_000, 2_000  # weights of rows drawn in all, and draws, unless more are asked for
LARGE = 10_000  # rows of a class from which Student's t is the normal distribution


@dataclass(frozen=True, eq=False)
class DeLong(Flat):
    """DeLong's paired test that two models have the same ROC AUC."""

    a: str
    b: str
    auc_a: float
    auc_b: float
    difference: float
    z: float
    p_value: float
    degrees: float = math.inf


# ---------------------------------------------------------------- what is given


def finite(name: str, values: Array) -> Array:
    """The scores of one model as numbers."""
    score = arrays.numbers(values, f"the model {name!r}")
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        where = arrays.row_of_array(row)
        raise InputError(f"The model {name!r} scores {where} as {score[row]}; give finite numbers, or drop that row.")
    arrays.check_apart(values, score, f"The model {name!r}")
    return score


def positives(true: Array, options: CallOptions) -> tuple[Array, Label]:
    """Which rows are positive, some but not all, and the label that says so, which a convention may take."""
    pos_label = CONVENTION if options.pos_label is None else options.pos_label
    return rows_of_both_classes(true, pos_label, declared_labels(options.labels))


def thresholds(threshold: Thresholds, names: list[str]) -> dict[str, float]:
    """The threshold of each model; none where none is given."""
    if threshold is None:
        return {}
    given = threshold if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    for name in names:
        value = given.get(name)
        if not isinstance(value, (int, float, np.number)) or math.isnan(value):
            raise InputError(f"threshold= is a number, or one for each model; for {name!r} it is {value!r}.")
    return {name: float(given[name]) for name in names}


# ---------------------------------------------------------------- differences


def score_differences(
    values: dict[str, Array], positive: Array, tables: ModelTables, inference: Inference
) -> tuple[list[Difference], Rows[DeLong]]:
    """The differences of every pair of models by every metric of scores, judged, and DeLong's tests beside them."""
    ranked = [spec for spec in tables.specs if tables.reads_scores(spec)]
    areas = {spec for spec in ranked if is_whole_auc(spec.metric, spec.metric.parameters)}
    moved = _deviations([spec.metric for spec in ranked if spec not in areas], values, positive, inference)
    rows, tests = [], []
    for a, b in combinations(values, 2):
        tested = paired_delong(positive, values[a], values[b])
        tests.append(
            DeLong(a, b, tested.auc_a, tested.auc_b, tested.difference, tested.z, tested.p_value, tested.degrees)
        )
        for spec in ranked:
            row = tables.difference(spec, a, b)
            if spec in areas:
                rows.append(_by_delong(row, tested, inference))
            else:
                rows.append(_by_draws(row, moved[a][spec.name] - moved[b][spec.name], inference))
    return rows, Rows(tests)


def _by_delong(row: Difference, tested: PairedAuc, inference: Inference) -> Difference:
    reach = student_reach(inference.level, tested.degrees) * math.sqrt(tested.variance)
    low, high = max(tested.difference - reach, -1.0), min(tested.difference + reach, 1.0)
    return replace(row, low=low, high=high, p_value=tested.p_value, method="delong")


def _by_draws(row: Difference, moved: Array, inference: Inference) -> Difference:
    drawn = row.difference + moved
    tail = np.minimum(normal_tail(row.difference, float(np.nanstd(drawn))), 2 * FEWEST / len(drawn))
    low, high, p = map(float, judge_beside(row.difference, drawn, tail, inference.tails))
    undefined = float(np.isnan(drawn).mean())
    return replace(row, low=low, high=high, p_value=p, method="bayesian-bootstrap", undefined_share=undefined)


# ---------------------------------------------------------------- the Bayesian bootstrap


def _deviations(
    metrics: list[Metric], values: dict[str, Array], positive: Array, inference: Inference
) -> dict[str, dict[str, Array]]:
    """How far each metric of each model moves under random weights of the rows, the same for all models.

    Scores are binned where there are many. With 40 positives weights of the plain gamma shape, 1, would leave 95 %
    intervals of average precision at a coverage of 92 %.
    """
    n, rng = len(positive), inference.generator
    draws = inference.draws or int(np.clip(_MOST_WORK // n, 100, _DRAWS))
    models = {name: _entries(score, positive) for name, score in values.items()}
    unmoved = {name: _metric_values(metrics, entries, np.ones((1, n))) for name, entries in models.items()}
    spread = np.where(positive, *(_spread(int(rows.sum()), inference.level) for rows in (positive, ~positive)))
    parts: dict[str, list[Array]] = {name: [] for name in values}
    for step in steps(draws, n) if metrics else ():
        weights = rng.standard_gamma(spread, (step, n)) / spread
        for name, entries in models.items():
            parts[name].append(_metric_values(metrics, entries, weights) - unmoved[name])
    moved = {name: np.concatenate(changes, axis=-1) for name, changes in parts.items() if changes}
    return {name: {m.name: row for m, row in zip(metrics, rows, strict=True)} for name, rows in moved.items()}


def _spread(rows: int, level: float) -> float:
    """The gamma shape of the weights of a class; of a large one 1, which is drawn eight times as fast.

    Student's t widens the interval of 10,000 rows by 1 in 8,000.
    """
    return 1.0 if rows >= LARGE else student_spread(rows, level)


class Entries(NamedTuple):
    """The cell of each row, in which the bins of the negatives follow those of the positives, and the bins' scores."""

    cells: Array
    scores: Array
    occupied: list[Array]  # the bins in which each class has rows


def _entries(score: Array, positive: Array) -> Entries:
    """The entries of the positives and of the negatives: distinct scores, or the bins of `draws.binned`."""
    edges, common = sorted((np.unique(score[rows]) for rows in (positive, ~positive)), key=len)
    if len(common) <= MOST_ENTRIES:
        bins, which = np.unique(score, return_inverse=True)
    else:
        edges = edges[np.linspace(0, len(edges) - 1, min(len(edges), MOST_ENTRIES)).astype(np.int64)]
        below = np.searchsorted(edges, score)
        which = 2 * below + (edges.take(below, mode="clip") == score)
        bins = np.bincount(which, score) / np.maximum(np.bincount(which), 1)
    occupied = [np.flatnonzero(np.bincount(which[rows], minlength=len(bins))) for rows in (positive, ~positive)]
    return Entries(np.where(positive, which, which + len(bins)), bins, occupied)


def _metric_values(metrics: list[Metric], entries: Entries, weights: Array) -> Array:
    """The metrics, one a row, under each draw of the rows' weights."""
    table = _table(entries, weights)
    values = [application.score_values(m, table, m.parameters) for m in metrics]
    return np.array([np.broadcast_to(value, len(weights)) for value in values])


def _table(entries: Entries, weights: Array) -> ScoreTable:
    # A loop, as a draw of many rows is longer than its call, and bins summed in place need no rows in order: 1.5 ns a
    # row, where sorting the weights of two draws at a time into bins took 33.
    size = len(entries.scores)
    drawn = np.array([np.bincount(entries.cells, row, minlength=2 * size) for row in weights])
    masses = (drawn[:, entries.occupied[0]], drawn[:, size + entries.occupied[1]])
    both = zip(entries.occupied, masses, strict=True)
    positives, negatives = (ClassScores(entries.scores[at], mass, mass, mass) for at, mass in both)
    return ScoreTable(positives, negatives)
