"""Planned scores: the scores of all rows by class, as the labels that a plan chose show them, to search a threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.intervals.plan_draws import GivenLabels, labelled_by, refuse_beside_plan
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.call_options import CallOptions
from steelyard.statistics.positive_class import choice_sentences

if TYPE_CHECKING:
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.analysis.thresholds.threshold_rows import ThresholdRows


def planned_scores(design: SamplingDesign, rows: ThresholdRows, confidence: float | None) -> ThresholdRows:
    """The same as a table of scores; a promise with a confidence, which plans were not tried with, is refused."""
    options = {name: getattr(rows.options, name) for name in ("labels", "sample_weight", "frequency")}
    refuse_beside_plan(confidence=confidence, weight=rows.columns.weight, cluster=rows.cluster, **options)
    given = GivenLabels(rows.data, None, rows.y_score, rows.columns, rows.options.pos_label)  # type: ignore[arg-type]  # no table
    planned = labelled_by(design, given)
    table = planned.score_table(planned.entries.first(len(planned.positive)))
    stated = (*choice_sentences(rows.options.pos_label, planned.labels[1], planned.labels), *planned.stated)
    return replace(rows, data=table, y_score=None, options=CallOptions(), columns=FrameColumns(), stated=stated)
