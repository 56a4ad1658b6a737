"""The threshold grid: the few thresholds of a score table that a slider can hold, with the exact counts at each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.threshold_sample import Criterion, ThresholdCounts, read_aim, threshold_of
from steelyard.auditing.decisions import recalled_decisions
from steelyard.evaluation.evaluate import evaluate
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.registry import default_metric
from steelyard.statistics.counts import CELLS
from steelyard.statistics.precision import DOUBLE, as_read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable


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
    places: Array  # of these thresholds among all

    def nearest(self, counts: Counts) -> int:
        """The threshold whose counts come nearest to those of predictions that were made otherwise."""
        p, n = max(float(self.tp[-1]), 1e-300), max(float(self.fp[-1]), 1e-300)
        return int(np.argmin(np.abs(self.tp - counts.tp) / p + np.abs(self.fp - counts.fp) / n))


def threshold_grid(
    table: ScoreTable, metrics: Iterable[Metric], threshold: float | None, most: int | None = None
) -> ThresholdGrid:
    """All thresholds where they are few; else the one in use, the best of every metric and cost, and an even rest.

    Whatever errors cost and whatever the prevalence, one of the ROC convex hull costs least. The rest is spread evenly
    along the ROC curve, half of it by the share of each class and half by the logarithm of what is flagged, so that the
    few highest scores, where rare positives are looked for, are resolved.
    """
    thresholds, tp, fp = table.thresholds, np.asarray(table.counts.tp), np.asarray(table.counts.fp)
    current = None if threshold is None else _in_use(thresholds, as_read(threshold, table.precision))
    best = _best_places(table, metrics, tp, fp)
    needed = {0, len(thresholds) - 1, *best.values(), *([] if current is None else [current])}
    most = most or (_MOST_WEIGHTED if table.weighted else MOST_THRESHOLDS)
    few = len(thresholds) <= most
    needed |= set() if few else set(_hull(table, most // 2).tolist())
    places = np.arange(len(thresholds)) if few else _thinned(tp, fp, np.array(sorted(needed)), most)
    where = {int(place): i for i, place in enumerate(places)}
    exact = {0, *best.values()}
    shown = np.array([_shown(table, int(place), exact=int(place) in exact) for place in places])
    if current is not None and threshold is not None and threshold > -np.inf:
        shown[where[current]] = threshold  # the one in use, where the nearest score above it flags the same rows
    best_here = {name: where[place] for name, place in best.items()}
    start = None if current is None else where[current]
    return ThresholdGrid(shown, tp[places], fp[places], best_here, start, len(thresholds), places)


def _best_places(table: ScoreTable, metrics: Iterable[Metric], tp: Array, fp: Array) -> dict[str, int]:
    """Where each metric of one table is best, if it is defined anywhere."""
    counts, corners = ThresholdCounts.of(table, both=False).counts, None
    if len(tp) > _MOST_SEARCHED:
        corners = _corners(tp, fp)
        at_corners = counts[..., corners]
    rated = [m for m in metrics if m.function is not None and m.direction is not None]
    places = {
        metric.name: _best(counts, metric)
        if corners is None or not _is_monotone(metric)
        else _best(at_corners, metric, corners)
        for metric in rated
    }
    return {name: place for name, place in places.items() if place is not None}


def _shown(table: ScoreTable, place: int, *, exact: bool) -> float:
    """The threshold to show: as best_threshold gives it, to nine digits unless all are asked for; everybody's short."""
    thresholds = table.thresholds
    middle = threshold_of(table, float(thresholds[place]))
    if middle == -np.inf:
        return shortest_threshold(thresholds, place)
    return middle if exact else shortest_threshold(thresholds, place, middle, 5e-10, table.precision)


def shortest_threshold(
    thresholds: Array, place: int, near: float | None = None, off: float = np.inf, precision: str = DOUBLE
) -> float:
    """The number with the fewest digits near another, the score itself if none, that flags the same rows as it."""
    score, below = float(thresholds[place]), float(thresholds[place + 1]) if place + 1 < len(thresholds) else -np.inf
    near = score if near is None else near
    tries = (float(f"{near:.{digits}g}") for digits in range(2, 17))
    flags_same = (cut for cut in tries if below < cut <= score and below < as_read(cut, precision) <= score)
    return next((cut for cut in flags_same if abs(cut - near) <= off * max(1, abs(near))), near)


def _hull(table: ScoreTable, most: int) -> Array:
    """The thresholds at the corners of the ROC convex hull, or as many of them."""
    places = len(table.thresholds) - 1 - np.unique(isotonic_curve(table).ends)
    return places if len(places) <= most else places[np.linspace(0, len(places) - 1, most).astype(np.int64)]


def _in_use(thresholds: Array, threshold: float) -> int:
    """The place of the lowest threshold at or above the threshold, which flags the same rows."""
    return int(np.searchsorted(-thresholds, -threshold, side="right")) - 1


def _best(counts: Counts[Array], metric: Metric, places: Array | None = None) -> int | None:
    """The place of the highest of the best thresholds, as best_threshold finds it; the counts may be at some places."""
    criterion = Criterion(read_aim(metric, {}))
    merits = criterion.merits(counts)
    place = int(criterion.chosen(merits))
    if np.isnan(merits.flat[place]):
        return None
    return place if places is None else int(places[place])


def _is_monotone(metric: Metric) -> bool:
    """Whether it is proved that no right row more makes the value worse, and no wrong row more better."""
    decisions = recalled_decisions(metric)
    return all((decision := decisions.get(f"monotone_{cell}")) and decision.holds for cell in CELLS)


def _corners(tp: Array, fp: Array) -> Array:
    """The thresholds at which a monotone metric can be best: each gains positives before the next costs negatives.

    So can those around which a cell becomes 0, where some are undefined; and the first score, since of equal ones the
    highest is the best one.
    """
    gained, cost = np.diff(tp) > 0, np.diff(fp) > 0
    inside = np.flatnonzero(gained[:-1] & cost[1:]) + 1
    edges = [edge for cell in (tp, fp) for edge in (np.argmax(cell > 0), np.argmax(cell >= cell[-1]))]
    beside = np.clip(np.concatenate([np.array(edges) + step for step in (-1, 0, 1)]), 0, len(tp) - 1)
    return np.unique(np.concatenate([[0, 1, len(tp) - 1], inside, beside]))


def _thinned(tp: Array, fp: Array, needed: Array, most: int) -> Array:
    p, n = float(tp[-1]) or 1.0, float(fp[-1]) or 1.0
    along = [tp / p + fp / n, np.log1p((tp + fp) * (len(tp) / (p + n)))]
    places, count = needed, (most - len(needed)) // 2
    # Steps of the two ways often meet in one threshold, so more of them are taken until the page is full.
    for _ in range(12):
        finer = np.unique(np.concatenate([needed, *(_evenly(track / track[-1], count) for track in along)]))
        if len(finer) > most:
            break
        places, count = finer, int(count * 1.25)
    return places


def _evenly(track: Array, count: int) -> Array:
    """The places nearest to equal steps of something that never falls."""
    return np.minimum(np.searchsorted(track, np.linspace(0, 1, count)), len(track) - 1)


# ---------------------------------------------------------------- the threshold at which a page opens


def at_opening_threshold(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its table at the threshold where the default metric is best; its rows stay."""
    best, scores = evaluation.best_threshold(resamples=0), evaluation.scores
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
