"""Planned calls: intervals that are asked of labels which a plan chose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.plan_draws import GivenLabels, labelled_by, refuse_beside_plan
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, CallOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.interval_rows import IntervalRows
    from steelyard.analysis.intervals.plan_draws import PlannedRows, SamplingDesign
    from steelyard.metrics.spec import MetricSpec


def planned_estimands(
    design: SamplingDesign,
    specs: Sequence[MetricSpec],
    asked: IntervalRows,
    options: Mapping[str, Any],
    inference: Inference,
) -> tuple[list[Estimand], Inference]:
    """The metrics on the tables of all rows that the plan's labels show, and the inference that knows of the plan."""
    call = asked.call
    given = {name: getattr(call, name) for name in ("labels", "sample_weight", "frequency")}
    average = None if call.average == NATIVE else call.average
    refuse_beside_plan(**given, average=average, cluster=asked.cluster, prevalence=inference.prevalence)
    labels = GivenLabels(asked.y_true, asked.y_pred, asked.y_score, asked.columns, call.pos_label)  # type: ignore[arg-type]  # no table
    rows = labelled_by(design, labels)
    return [*_estimands(specs, rows, options)], replace(inference, planned=rows)


def _estimands(specs: Sequence[MetricSpec], rows: PlannedRows, options: Mapping[str, Any]) -> Iterator[Estimand]:
    tables = {True: rows.score_table(), False: None if rows.flagged is None else rows.confusion()}
    for spec in specs:
        of_scores = spec.metric.scores is not None
        table = tables[of_scores]
        if table is None:
            raise InputError(f"{spec.name} needs predicted labels; give y_pred, or make the plan with a threshold=.")
        own = {key: value for key, value in options.items() if key in spec.metric.parameters}
        call = CallOptions() if of_scores else CallOptions(pos_label=rows.labels[1])
        yield Estimand(spec, table, {**spec.metric.parameters, **own}, spec.options(call))
