"""Peers that promise a threshold: MAPIE's controller, and the umbrella rule of R's nproc as its paper states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable

CONFIDENCE = 0.95


def umbrella(y: Any, s: Any, limit: str, metric: str, clusters: Any = None) -> Any:  # noqa: ARG001 - as all have them
    """The order statistic of Tong, Feng and Li (2018), algorithm 1, for a limit on one class."""
    from benchmarks.promises import Found

    bounds = {"recall >= 0.9": (1, 0.1), "specificity >= 0.95": (0, 0.05)}
    if limit not in bounds or clusters is not None:
        return NotImplemented
    of_class, most = bounds[limit]
    scores = np.sort(s[y == of_class] if of_class else -s[y == of_class])
    n = len(scores)
    # The largest k such that a threshold at the k-th lowest score of the class errs too often in at most 5 % of samples.
    allowed = np.flatnonzero(stats.binom.cdf(np.arange(n), n, most) <= 1 - CONFIDENCE)
    if not len(allowed):
        return Found(0.0 if of_class else 1.0, trivial=True)
    at = scores[allowed[-1]]
    return Found(float(at) if of_class else float(np.nextafter(-at, np.inf)))


def _mapie(method: str, thresholds: int) -> Callable[..., Any]:
    def controlled(y: Any, s: Any, limit: str, metric: str, clusters: Any = None) -> Any:  # noqa: ARG001 - as all have them
        from benchmarks.promises import Found

        try:
            from mapie.risk_control import BinaryClassificationController
            from mapie.risk_control.fwer_control import FWERFixedSequenceTesting
        except ImportError:
            return NotImplemented
        known = {
            "recall >= 0.9": ("recall", 0.9, "fpr"),
            "specificity >= 0.95": ("fpr", 0.05, "recall"),
            "precision >= 0.5": ("precision", 0.5, "recall"),
        }
        if limit not in known or clusters is not None:
            return NotImplemented
        risk, target, choice = known[limit]
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
            controller.calibrate(s[:, None], y)
        except Exception:  # noqa: BLE001 - whatever it says of rows without a threshold
            return Found(None)
        best = controller.best_predict_param
        return Found(None) if best is None else Found(float(best), trivial=float(best) <= float(s.min()))

    return controlled


PEERS = {
    "umbrella": umbrella,
    "MAPIE": _mapie("bonferroni_holm", 100),
    "MAPIE, sequence": _mapie("fixed_sequence", 1_000),
}
