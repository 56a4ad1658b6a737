"""Planned inputs: labels that were chosen by a plan, as the tables of all rows that evaluate reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.intervals.plan_draws import GivenLabels, labelled_by, refuse_beside_plan
from steelyard.evaluation.table_evaluation import evaluate_tables
from steelyard.statistics.positive_class import choice_sentences

if TYPE_CHECKING:
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.plan_draws import PlannedRows, SamplingDesign
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.given_rows import GivenRows


class PlannedInputs(NamedTuple):
    """The labelled rows of a plan, and what evaluate states of them."""

    rows: PlannedRows
    stated: dict[str, Any]  # the threshold, what was assumed, and the columns of a frame

    @classmethod
    def of(cls, design: SamplingDesign, given: GivenRows, threshold: Any, **others: object) -> PlannedInputs:
        """What the plan and its labels show; options that a plan has no place for are refused."""
        pos_label, labels, weight, frequency = given.rows
        refused = {"labels": labels, "sample_weight": weight, "weight": given.columns.weight, "frequency": frequency}
        refuse_beside_plan(**refused, by=given.by, cluster=given.cluster, **others)
        columns = (given.y_pred, given.y_score, given.columns, pos_label)
        rows = labelled_by(design, GivenLabels(given.data, *columns, threshold))  # type: ignore[arg-type]  # no table
        has_threshold = given.y_pred is None and given.columns.pred is None and rows.threshold is not None
        at = (f"Scores were thresholded at {rows.threshold:g}.",) if has_threshold else ()
        assumed = (*choice_sentences(pos_label, rows.labels[1], rows.labels), *at, *rows.stated)
        stated = {"threshold": rows.threshold if has_threshold else None, "assumed": assumed}
        return cls(rows, {**stated, "columns": given.columns.names()})

    def evaluated(self, inference: Inference, asked: dict[str, Any]) -> Evaluation:
        """The evaluation of the tables of all rows that the labels show."""
        rows = self.rows
        tables = None if rows.flagged is None else rows.confusion(), rows.score_table(), rows.labels[1]
        options: dict[str, Any] = {**self.stated, **asked, "inference": replace(inference, planned=rows)}
        return evaluate_tables(tables[0], tables[1], tables[2], **options)
