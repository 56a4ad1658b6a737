"""Planned calls: intervals that are asked of labels which a plan chose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.plan_draws import labelled_by, refuse_beside_plan
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import CallOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.spec import MetricSpec
    from steelyard.predictions import Predictions


def planned_estimands(
    specs: Sequence[MetricSpec], p: Predictions, inference: Inference
) -> tuple[list[Estimand], Inference]:
    """The metrics on the tables of all rows, as the plan's labels show them, and the inference with the plan."""
    refuse_beside_plan(p, prevalence=inference.prevalence)
    rows = labelled_by(p)
    scores, confusion = rows.score_table(), None if rows.flagged is None else rows.confusion()
    estimands = []
    for spec in specs:
        table = confusion if spec.metric.scores is None else scores
        if table is None:
            raise InputError(f"{spec.name} needs predicted labels; give y_pred, or make the plan with a threshold=.")
        call = CallOptions(pos_label=rows.labels[1]) if spec.metric.scores is None else CallOptions()
        estimands.append(Estimand(spec, table, spec.metric.parameters, spec.options(call)))
    return estimands, replace(inference, planned=rows)
