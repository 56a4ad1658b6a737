"""Planned calls: intervals that are asked of labels which a plan chose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.plan_draws import GivenLabels, labelled_by, refuse_beside_plan
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, CallOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval_rows import IntervalRows
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.metrics.spec import MetricSpec


def planned_estimands(
    design: SamplingDesign,
    specs: Sequence[MetricSpec],
    given: IntervalRows,
    options: Mapping[str, Any],
    inference: Inference,
) -> tuple[list[Estimand], Inference]:
    """The metrics on the tables of all rows, as the plan's labels show them, and the inference with the plan."""
    call = given.call
    refuse_beside_plan(
        labels=call.labels,
        sample_weight=call.sample_weight,
        frequency=call.frequency,
        average=None if call.average == NATIVE else call.average,
        cluster=given.cluster,
        prevalence=inference.prevalence,
    )
    labels = GivenLabels(given.y_true, given.y_pred, given.y_score, given.columns, call.pos_label)  # type: ignore[arg-type]  # no table
    rows = labelled_by(design, labels)
    scores, confusion = rows.score_table(), None if rows.flagged is None else rows.confusion()
    estimands = []
    for spec in specs:
        table = confusion if spec.metric.scores is None else scores
        if table is None:
            raise InputError(f"{spec.name} needs predicted labels; give y_pred, or make the plan with a threshold=.")
        parameters = {key: value for key, value in options.items() if key in spec.metric.parameters}
        call = CallOptions(pos_label=rows.labels[1]) if spec.metric.scores is None else CallOptions()
        estimands.append(Estimand(spec, table, {**spec.metric.parameters, **parameters}, spec.options(call)))
    return estimands, replace(inference, planned=rows)
