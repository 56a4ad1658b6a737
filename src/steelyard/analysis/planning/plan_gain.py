"""Plan gain: how many labels at random would show a metric as well as those that were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.planning.label_influence import label_influence
from steelyard.analysis.planning.score_strata import StratumMoments
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.intervals.planned_rows import PlannedRows
    from steelyard.metrics.spec import MetricSpec


def labelled_moments(spec: MetricSpec, rows: PlannedRows) -> StratumMoments:
    """What labels of each stratum move the metric by, as the labels so far show it."""
    entries, flagged = rows.entries, None if rows.flagged is None else rows.parts.flagged[rows.entries.part]
    influence = label_influence(spec, entries.score, flagged, entries.positive.astype(np.float64), entries.weight)
    own = np.where(entries.positive, influence.positive, influence.negative)
    return StratumMoments.of(rows.parts.stratum[entries.part], len(rows.sizes), own, own**2, entries.weight)


def gain_sentences(spec: MetricSpec, rows: PlannedRows) -> tuple[str, ...]:
    """What the labels were worth for the metric that they were planned for; nothing where that is not known."""
    labels = np.bincount(rows.strata, minlength=len(rows.sizes))
    try:
        gain = labelled_moments(spec, rows).gain(labels)
    except InputError:
        return ()
    return (
        f"The {labels.sum():,} labels show {spec.name} as well as about {gain * labels.sum():,.0f} labels at random "
        f"would; all values are of the population that the {int(rows.sizes.sum()):,} rows came from.",
    )
