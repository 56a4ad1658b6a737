"""Searches that promise a threshold: ours, MAPIE's controller, and the umbrella rule of R's nproc as its paper states it.

The naive search, the best threshold that meets the limit on the rows it is chosen on, promises nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from steelyard import SteelyardError
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.thresholds.best_threshold import Search
from steelyard.analysis.thresholds.limits import read_limits
from steelyard.analysis.thresholds.threshold_sample import Criterion, read_aim, threshold_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.promise_worlds import Sample

CONFIDENCE = 0.95


class Found(NamedTuple):
    """What one search gave: a threshold that means something, a trivial one, or none."""

    threshold: float | None
    trivial: bool = False


def ours(sample: Sample, limit: str, metric: str) -> Found:
    """Ours, with the promise."""
    return _searched(sample, limit, metric, CONFIDENCE)


def naive(sample: Sample, limit: str, metric: str) -> Found:
    """The best threshold that meets the limit on the rows it is chosen on."""
    return _searched(sample, limit, metric, None)


def _searched(sample: Sample, limit: str, metric: str, confidence: float | None) -> Found:
    """What best_threshold chooses, without what it says of it beside: rows needed, intervals, regret."""
    aim, rows = read_aim(metric), sample.searched
    try:
        choice = Search(Criterion(aim, read_limits(limit)), aim, confidence=confidence).choice(rows, generator(None))
    except SteelyardError:
        return Found(None)
    if choice.is_empty:
        return Found(None)
    observed = rows.every.observed[0]
    return Found(threshold_of(rows.table, float(observed[choice.place])), choice.place in (0, len(observed) - 1))


def umbrella(sample: Sample, limit: str, metric: str) -> Any:  # noqa: ARG001 - as all have them
    """The order statistic of Tong, Feng and Li (2018), algorithm 1, for a limit on one class."""
    bounds = {"recall >= 0.9": (1, 0.1), "specificity >= 0.95": (0, 0.05)}
    if limit not in bounds or not sample.has_equal_rows:
        return NotImplemented
    of_class, most = bounds[limit]
    of_all = sample.s[sample.y == of_class]
    scores = np.sort(of_all if of_class else -of_all)
    n = len(scores)
    # The largest k such that a threshold at the k-th lowest score of the class errs too often in at most 5 % of samples.
    allowed = np.flatnonzero(stats.binom.cdf(np.arange(n), n, most) <= 1 - CONFIDENCE)
    if not len(allowed):
        return Found(0.0 if of_class else 1.0, trivial=True)
    at = scores[allowed[-1]]
    return Found(float(at) if of_class else float(np.nextafter(-at, np.inf)))


_MAPIE = {
    "recall >= 0.9": ("recall", 0.9, "fpr"),
    "specificity >= 0.95": ("fpr", 0.05, "recall"),
    "precision >= 0.5": ("precision", 0.5, "recall"),
}


def _mapie(method: str, thresholds: int) -> Callable[..., Any]:
    def controlled(sample: Sample, limit: str, metric: str) -> Any:  # noqa: ARG001 - as all have them
        try:
            from mapie.risk_control import BinaryClassificationController
            from mapie.risk_control.fwer_control import FWERFixedSequenceTesting
        except ImportError:
            return NotImplemented
        if limit not in _MAPIE or not sample.has_equal_rows:
            return NotImplemented
        risk, target, choice = _MAPIE[limit]
        grid = np.linspace(0, 1, thresholds, endpoint=False)
        # A sequence starts where the limit is surest: at low thresholds for recall, at high ones else.
        grid = grid if risk == "recall" else grid[::-1]
        several = (
            FWERFixedSequenceTesting(n_starts=10) if method == "fixed_sequence" and risk == "precision" else method
        )
        controller = BinaryClassificationController(
            lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), risk, target, CONFIDENCE, choice, grid, several
        )
        try:
            controller.calibrate(sample.s[:, None], sample.y)
        except Exception:  # noqa: BLE001 - whatever it says of rows without a threshold
            return Found(None)
        best = controller.best_predict_param
        return Found(None) if best is None else Found(float(best), trivial=float(best) <= float(sample.s.min()))

    return controlled


METHODS: dict[str, Callable[..., Any]] = {
    "ours": ours,
    "naive": naive,
    "umbrella": umbrella,
    "MAPIE": _mapie("bonferroni_holm", 100),
    "MAPIE, sequence": _mapie("fixed_sequence", 1_000),
}
