"""The threshold grid: the few thresholds of a score table that a slider can hold, with the exact counts at each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.threshold_sample import Criterion, read_aim, threshold_of
from steelyard.arrays.backend import DOUBLE, as_read
from steelyard.auditing.decisions import recalled_decisions
from steelyard.evaluation.evaluate import evaluate
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.registry import default_metric
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric
    from steelyard.tables.counts import Counts
    from steelyard.tables.score_table import ScoreTable


MOST_THRESHOLDS = 360  # more would be finer than the pixels of a slider
_MOST_WEIGHTED = 240  # sums of weights take twice the room of counts
_MOST_SEARCHED = 10_000  # thresholds among which a monotone metric looks for its best one; beyond, only at the corners


@dataclass(frozen=True)
class ThresholdGrid:
    """Some thresholds, the highest first, with the weight of each class at or above; the best of each metric."""

    thresholds: Array
    tp: Array
    fp: Array
    best: dict[str, int]
    current: int | None
    total: int
    indices: Array  # of these thresholds among all

    def nearest(self, counts: Counts) -> int:
        """The threshold whose counts come nearest to those of predictions that were made otherwise."""
        p, n = max(float(self.tp[-1]), 1e-300), max(float(self.fp[-1]), 1e-300)
        return int(np.argmin(np.abs(self.tp - counts.tp) / p + np.abs(self.fp - counts.fp) / n))


def threshold_grid(
    table: ScoreTable, metrics: Iterable[Metric], threshold: float | None, most: int | None = None
) -> ThresholdGrid:
    """All thresholds where they are few; else the one in use, the best of every metric and cost, and an even rest.

    Whatever errors cost and whatever the prevalence, one of the ROC convex hull costs least. The rest is even along the
    ROC curve, half of it by the share of each class and half by the logarithm of what is flagged, so that the few
    highest scores, where rare positives are looked for, are resolved.
    """
    thresholds, tp, fp = table.thresholds, np.asarray(table.counts.tp), np.asarray(table.counts.fp)
    best = _best_indices(table, metrics, tp, fp)
    needed = {0, len(thresholds) - 1, *best.values()}
    current = None
    if threshold is not None:  # the lowest at or above the threshold in use, which flags the same rows
        current = int(np.searchsorted(-thresholds, -as_read(threshold, table.precision), side="right")) - 1
        needed.add(current)
    most = most or (_MOST_WEIGHTED if table.weighted else MOST_THRESHOLDS)
    if len(thresholds) <= most:
        indices = np.arange(len(thresholds))
    else:
        corners = len(thresholds) - 1 - np.unique(isotonic_curve(table).ends)  # of the ROC convex hull
        if len(corners) > most // 2:
            corners = corners[np.linspace(0, len(corners) - 1, most // 2).astype(np.int64)]
        indices = _thinned(tp, fp, np.array(sorted(needed | set(corners.tolist()))), most)
    in_grid = {int(index): i for i, index in enumerate(indices)}
    exact = {0, *best.values()}
    shown = np.array([_shown(table, int(i), exact=int(i) in exact) for i in indices])
    if current is not None and threshold is not None and threshold > -np.inf:
        shown[in_grid[current]] = threshold  # the one in use, where the nearest score above it flags the same rows
    best_in_grid = {name: in_grid[index] for name, index in best.items()}
    start = None if current is None else in_grid[current]
    return ThresholdGrid(shown, tp[indices], fp[indices], best_in_grid, start, len(thresholds), indices)


def _best_indices(table: ScoreTable, metrics: Iterable[Metric], tp: Array, fp: Array) -> dict[str, int]:
    """Where each metric of one table is best, as best_threshold finds it; the highest threshold of the best ones."""
    counts = table.counts
    corners = _corners(tp, fp) if len(tp) > _MOST_SEARCHED else None
    at_corners = None if corners is None else counts[..., corners]
    best = {}
    for metric in metrics:
        if metric.function is None or metric.direction is None:
            continue
        criterion = Criterion(read_aim(metric))
        at_some = corners is not None and _is_monotone(metric)
        merits = criterion.merits(at_corners if at_corners is not None and at_some else counts)
        chosen = int(criterion.chosen(merits))
        if not np.isnan(merits[chosen]):
            best[metric.name] = int(corners[chosen]) if corners is not None and at_some else chosen
    return best


def _shown(table: ScoreTable, index: int, *, exact: bool) -> float:
    """The threshold to show: as best_threshold gives it, to nine digits unless exact; that of everybody short."""
    thresholds = table.thresholds
    middle = threshold_of(table, float(thresholds[index]))
    if middle == -np.inf:
        return shortest_threshold(thresholds, index)
    return middle if exact else shortest_threshold(thresholds, index, middle, 5e-10, table.precision)


def shortest_threshold(
    thresholds: Array, index: int, near: float | None = None, tolerance: float = np.inf, precision: str = DOUBLE
) -> float:
    """The number with the fewest digits near another, the score itself if none, that flags the same rows as it."""
    score, below = float(thresholds[index]), float(thresholds[index + 1]) if index + 1 < len(thresholds) else -np.inf
    near = score if near is None else near
    for digits in range(2, 17):
        short = float(f"{near:.{digits}g}")
        flags_same = below < short <= score and below < as_read(short, precision) <= score
        if flags_same and abs(short - near) <= tolerance * max(1, abs(near)):
            return short
    return near


def _is_monotone(metric: Metric) -> bool:
    """Whether it is proved that no right row more makes the value worse, and no wrong row more better."""
    decisions = recalled_decisions(metric)
    for cell in CELLS:
        decision = decisions.get(f"monotone_{cell}")
        if decision is None or not decision.holds:
            return False
    return True


def _corners(tp: Array, fp: Array) -> Array:
    """The thresholds at which a monotone metric can be best: each gains positives before the next costs negatives.

    So can those around which a cell becomes 0, where some are undefined; and the first score, since of equal ones the
    highest is the best one.
    """
    gained, cost = np.diff(tp) > 0, np.diff(fp) > 0
    inside = np.flatnonzero(gained[:-1] & cost[1:]) + 1
    edges = np.array([np.argmax(tp > 0), np.argmax(tp >= tp[-1]), np.argmax(fp > 0), np.argmax(fp >= fp[-1])])
    beside = np.clip(np.concatenate([edges - 1, edges, edges + 1]), 0, len(tp) - 1)
    return np.unique(np.concatenate([[0, 1, len(tp) - 1], inside, beside]))


def _thinned(tp: Array, fp: Array, needed: Array, most: int) -> Array:
    """The needed thresholds and an even rest along the ROC curve, at most so many."""
    p, n = float(tp[-1]) or 1.0, float(fp[-1]) or 1.0
    tracks = [tp / p + fp / n, np.log1p((tp + fp) * (len(tp) / (p + n)))]  # neither ever falls
    indices, count = needed, (most - len(needed)) // 2
    # Equal steps along the two often meet in one threshold, so more of them are taken until the page is full.
    for _ in range(12):
        steps = [np.searchsorted(track / track[-1], np.linspace(0, 1, count)) for track in tracks]
        finer = np.unique(np.concatenate([needed, *(np.minimum(each, len(tp) - 1) for each in steps)]))
        if len(finer) > most:
            break
        indices, count = finer, int(count * 1.25)
    return indices


# ---------------------------------------------------------------- the threshold at which a page opens


def at_opening_threshold(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its table at the threshold where the default metric is best; its rows stay."""
    best, scores = evaluation.best_threshold(default_metric(), draws=0), evaluation.scores
    assert scores is not None  # noqa: S101 - their best threshold was found above
    metrics = [row.spec for row in evaluation.metrics] if evaluation.metrics_named else None
    title = default_metric().title
    sentence = f"No threshold was given: the page opens at the threshold where {title} is best on these rows."
    thresholded = evaluate(
        scores,
        threshold=best.threshold,
        level=evaluation.level,
        prevalence=evaluation.prevalence,
        metrics=metrics,
    )
    rows = {row.name: row for row in evaluation.metrics}
    return replace(
        thresholded,
        metrics=Rows(rows.get(row.name, row) for row in thresholded.metrics),
        groups=evaluation.groups,
        metrics_named=evaluation.metrics_named,
        seed=evaluation.seed,
        source=evaluation.source,
        columns=evaluation.columns,
        assumed=(*evaluation.assumed, sentence),
    )
