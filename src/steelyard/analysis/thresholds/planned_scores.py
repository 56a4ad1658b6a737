"""Planned scores: the scores of all rows by class, as the labels that a plan chose show them, to search a threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.intervals.plan_draws import labelled_by, refuse_beside_plan
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.call_options import CallOptions
from steelyard.predictions import Predictions
from steelyard.statistics.positive_class import choice_sentences

if TYPE_CHECKING:
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.analysis.thresholds.threshold_rows import ThresholdRows


def planned_scores(design: SamplingDesign, rows: ThresholdRows, confidence: float | None) -> ThresholdRows:
    """The same as a table of scores; a promise with a confidence, which plans were not tried with, is refused."""
    options = {name: getattr(rows.options, name) for name in ("pos_label", "labels", "sample_weight", "frequency")}
    p = Predictions.of(
        rows.data,
        rows.y_score,
        second_is="y_score",
        design=design,
        cluster=rows.cluster,
        **rows.columns._asdict(),
        **options,
    )
    refuse_beside_plan(p, confidence=confidence)
    planned = labelled_by(p)
    table = planned.score_table(planned.entries.first(len(planned.positive)))
    stated = (*choice_sentences(rows.options.pos_label, planned.labels[1], planned.labels), *planned.stated)
    return replace(rows, data=table, y_score=None, options=CallOptions(), columns=FrameColumns(), stated=stated)
