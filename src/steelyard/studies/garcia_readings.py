"""Readings: what García's paper leaves unsaid, and what is tried for it. Used by the study garcia and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.garcia_conclusions import Conclusion
from steelyard.metrics.registry import get_metric
from steelyard.studies.published_values import published

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy

PAPER = published("garcia")
METRICS: dict[str, str] = PAPER["metrics"]
ROWS = 1000  # the paper does not say how long its list is; 100 and 5,000 are tried as well
READINGS: dict[str, dict[str, Any]] = {
    "each class evenly spaced, on its side of 0.5; 1,000 rows": {},
    "the same, 100 rows": {"n": 100},
    "the same, 5,000 rows": {"n": 5000},
    "each class at random on its side of 0.5": {"list_kind": "class_uniform"},
    "one ramp from 0 to 1 for all rows": {"list_kind": "global_linear"},
    "one ramp, cut at the prior": {"list_kind": "global_linear", "threshold": "prior"},
    "true probabilities 0 and 1": {"list_kind": "extreme"},
}
WEIGHTS = (0.5, 0.6, 0.7, 0.8, 0.9)
SIZES = (100, 300, 1000, 3000, 10_000)
LATER = ("ac_score", "tpnr", "informedness", "mcc", "alpha_f1")  # metrics that the other four papers argue for
WORDS = {"-": "stays", "+": "changes", "?": "undecided"}


def one_edge(c: Any, *, rho: float = 0.1) -> Any:
    """Equation (1) on two areas, below and above the single ROC point: the other reading of the unsaid bands."""
    tpr, tnr = get_metric("recall")(c), get_metric("specificity")(c)
    return (1 - rho) * tpr * (1 + tnr) / 2 + (1 + rho) * (1 - tpr) * tnr / 2


ONE_EDGE = Conclusion(2, "weighted AUC with the ROC point as the only edge rises with recall", (one_edge,), (0, np.inf))


def correlations(study: CorrelationStudy, short: str, rate: str) -> Array:
    """Pearson's correlation of a metric with TPr or TNr by seed and imbalance."""
    return between(study, METRICS[short], METRICS[rate])


def between(study: CorrelationStudy, name: str, rate: str) -> Array:
    """Pearson's correlation of two metrics by seed and imbalance."""
    names = study.names
    return study.pearson[:, :, names.index(get_metric(name).name), names.index(rate)]
