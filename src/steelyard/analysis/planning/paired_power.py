"""Paired power: the rows that distinguish two classifiers on the same rows, by how often their predictions differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.planning.planned_widths import CountsPlan, Plan
from steelyard.exceptions import InputError, InputTypeError
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

_STEP = 1e-5


def paired_rows(plans: Sequence[Plan], disagreement: float | tuple[float, float], apart: float, reach: float) -> int:
    """The rows at which a difference is so many standard errors, by the influence of each row on both metrics."""
    a, b = plans
    if not isinstance(a, CountsPlan) or not isinstance(b, CountsPlan):
        raise InputTypeError("disagreement= is of two classes and metrics of labels; leave it out here.")
    differs = disagreement if isinstance(disagreement, tuple) else (disagreement, disagreement)
    classes = ((a.sampled, a.recall, b.recall), (1 - a.sampled, 1 - a.specificity, 1 - b.specificity))
    influences, moments = (_influence(a), _influence(b)), np.zeros(2)
    for place, ((share, first, second), rate) in enumerate(zip(classes, differs, strict=True)):
        for flag_a, flag_b, probability in _joint(first, second, rate):
            change = influences[0][2 * place + 1 - flag_a] - influences[1][2 * place + 1 - flag_b]
            moments += share * probability * np.array([change, change**2])
    variance = moments[1] - moments[0] ** 2
    return math.ceil(float(variance) * (reach / apart) ** 2)


def _joint(first: float, second: float, differs: float) -> list[tuple[int, int, float]]:
    """How often both, one or neither of two classifiers flags a row of a class."""
    only_a, only_b = (differs + first - second) / 2, (differs - first + second) / 2
    both, neither = first - only_a, 1 - first - only_b
    if min(only_a, only_b, both, neither) < -1e-9:
        least, most = abs(first - second), min(first + second, 2 - first - second)
        raise InputError(
            f"Classifiers that flag {first:g} and {second:g} of a class differ on {least:.3g} to {most:.3g} of its "
            f"rows, not {differs:g}; give disagreement= of the positives and of the negatives within these."
        )
    return [(1, 1, both), (1, 0, only_a), (0, 1, only_b), (0, 0, neither)]


def _influence(plan: CountsPlan) -> Array:
    """How the metric changes with the share of rows in each cell: tp, fn, fp and tn."""
    p, q = plan.sampled, 1 - plan.sampled
    cells = np.array([p * plan.recall, p * (1 - plan.recall), q * (1 - plan.specificity), q * plan.specificity])
    steps = np.eye(4) * _STEP
    up, down = (plan.metric(Counts(*np.maximum(cells[:, None] + side * steps, 0))) for side in (1, -1))
    return np.asarray((up - down) / (2 * _STEP))
