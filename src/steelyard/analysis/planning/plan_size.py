"""Plan size: how many labels a plan needs where so many at random would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.planning.label_plan import label_plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard.metrics.spec import MetricSpec

_STEPS = 4  # a gain changes little with the number of labels


def labels_by_plan(
    spec: MetricSpec, y_score: ArrayLike, threshold: float | None, prevalence: float | None, rows: int
) -> int:
    """The labels by a plan of rows with these scores that show the metric as well as so many at random."""
    labels = rows
    for _ in range(_STEPS):
        plan = label_plan(y_score, labels, spec, threshold=threshold, prevalence=prevalence)
        labels = max(1, math.ceil(rows / plan.gain))
    return min(labels, rows)
