"""Frame tables: the table that a metric is asked of, where a frame and the names of its columns are given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, file_hint
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import confusion, score_table, single_use_table
from steelyard.ingest.class_checks import check_both_classes, check_classes
from steelyard.ingest.label_overlap import check_label_overlap, warn_of_lookalikes
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.score_values import class_of_columns
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.positive_class import CONVENTION, clear_label, unclear_sentence
from steelyard.statistics.probability_table import ProbabilityTable
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.predictions import Predictions
    from steelyard.statistics.statistic import AnyTable, Statistic
    from steelyard.statistics.tally import Tally


def counted_frame(frame: Frame | Source, columns: FrameColumns, options: CallOptions) -> tuple[Tally, CallOptions]:
    """The frame as tables, checked as rows are, and what is left to say of them: the class as they name it."""
    tally = columns.tally(frame, pos_label=options.pos_label, labels=options.labels, frequency=options.frequency)
    if tally.confusion is not None:
        check_classes(tally.confusion)
        if options.labels is None:
            check_label_overlap(tally.confusion)
    if tally.scores is not None:
        check_both_classes(tally.scores)
    named: Label = None
    if options.pos_label is not None:
        named = tally.scores.label if tally.scores is not None else getattr(tally.confusion, "positive", None)
    return tally, replace(options, pos_label=named, labels=None, sample_weight=None, frequency=None)


def table_for(metric: Metric, tally: Tally, options: CallOptions) -> Confusion | ScoreTable:
    """The table of a frame that a metric reads; where nothing states the positive class, no convention takes it."""
    if metric.scores is None:
        if tally.confusion is None:
            raise InputTypeError(f"{metric.name} is of predicted labels; name their column with pred=.")
        return tally.confusion
    if tally.scores is None:
        raise InputTypeError(f"{metric.name} is of scores; name their column with score=.")
    return _of_clear_class(tally, options)


def _of_clear_class(tally: Tally, options: CallOptions) -> ScoreTable:
    """The scores, refused where a convention took the positive class and nothing states it."""
    scores = tally.scores
    if scores is None:
        raise InputTypeError("A frame needs the name of its column of scores; give score=.")
    if options.pos_label is None and clear_label(tally.labels) is None:
        rows = [scores.positive.n if label == scores.label else scores.negative.n for label in tally.labels]
        raise InputError(unclear_sentence(tally.labels, np.array(rows)))
    return scores


def frame_table(
    frame: Frame | Source, columns: FrameColumns, options: CallOptions
) -> tuple[Confusion | ScoreTable, CallOptions]:
    """The one table of a frame: that of its scores where they are named, else that of its labels."""
    tally, left = counted_frame(frame, columns, options)
    return tally.confusion if tally.confusion is not None else _of_clear_class(tally, options), left


def given_table(
    data: Statistic | Frame | Source | ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    call: CallOptions,
    columns: FrameColumns,
) -> tuple[Statistic, CallOptions]:
    """The table that was given, or that rows or a frame are counted into, and what is left to say of it."""
    if (y_pred is not None and y_score is not None) or (columns.pred is not None and columns.score is not None):
        raise InputError("Predictions and scores were given together, and one of them is asked of; give one.")
    if columns.are_named(y_pred=y_pred, y_score=y_score, sample_weight=call.sample_weight):
        return frame_table(data, columns, call)  # type: ignore[arg-type]  # a frame
    options = {name: getattr(call, name) for name in ("pos_label", "labels", "sample_weight", "frequency")}
    if y_score is not None:
        return score_table(data, y_score, **options), call  # type: ignore[arg-type]  # refuses a table
    if y_pred is not None:
        return confusion(data, y_pred, **options), call  # type: ignore[arg-type]  # refuses a table
    if isinstance(data, (Counts, Confusion, ScoreTable)):
        return data, call
    named = "; of a frame name the columns with true= and pred= or score=" if hasattr(data, "columns") else ""
    frame = named or file_hint(data)
    kind = type(data).__name__
    raise InputTypeError(f"Counts, a Confusion, a ScoreTable or two arrays were expected, not {kind} alone{frame}.")


def given_scores(
    data: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None,
    options: CallOptions,
    columns: FrameColumns,
    *,
    single_use: bool = False,
) -> ScoreTable:
    """The scores that a curve or a threshold is asked of: a table, rows, or columns of a frame; of both classes.

    A convention may take the positive class only where the options ask for it.
    """
    if columns.are_named(y_score=y_score, sample_weight=options.sample_weight):
        return _of_clear_class(counted_frame(data, columns, options)[0], options)  # type: ignore[arg-type]  # a frame
    if isinstance(data, ScoreTable):
        return _checked_table(data, y_score, options)
    if y_score is None:
        kind = type(data).__name__
        named = "; of a frame name the columns with true= and score=" if hasattr(data, "columns") else ""
        frame = named or file_hint(data)
        raise InputTypeError(f"(y_true, y_score) or a ScoreTable was expected, not {kind} alone{frame}.")
    arrays.check_one_column(y_score)
    rows = {name: getattr(options, name) for name in ("pos_label", "labels", "sample_weight", "frequency")}
    table = (single_use_table if single_use else score_table)(data, y_score, **rows)  # type: ignore[arg-type]  # rows
    check_both_classes(table)
    return table


def _checked_table(table: ScoreTable, y_score: ArrayLike | None, options: CallOptions) -> ScoreTable:
    rows = ("labels", "sample_weight", "frequency")
    given = [f"{name}=" for name in rows if getattr(options, name) is not None]
    given += ["pos_label="] * (options.pos_label is not None and options.pos_label is not CONVENTION)
    if y_score is not None or given:
        extra = "y_score" if y_score is not None else given[0]
        raise InputTypeError(f"A ScoreTable holds its rows already, so {extra} has no place beside it.")
    return table


# ---------------------------------------------------------------- of Predictions


def asked_table(spec: MetricSpec, p: Predictions) -> tuple[AnyTable, CallOptions]:
    """The table of the rows that a metric reads, counted once for all metrics, and the options that are left.

    The positive class that a convention takes is named in the options, as the question states it.
    """
    call = CallOptions(pos_label=p.given.pos_label)
    metric = spec.metric
    if p.are_sets:
        table = p.multilabel_table(to_host=False)
        return table, spec.options(CallOptions())
    if isinstance(p.given.data, ProbabilityTable):
        return p.given.data, spec.options(call)
    counted = p.collect() if not p.given.is_frame else p.on_host()
    if metric.function is None and not counted.has_scores:
        check_label_sets(metric)
        raise InputTypeError(f"{spec.name} is of scores; give y_score=, or of a frame score=.")
    if metric.scores is not None and counted.has_scores:
        options = spec.options(call)
        if counted.kind == "class scores":
            columns = counted.probability_table(to_host=False)
            if options.average != NATIVE or options.pos_label is None:
                return columns, options
            return class_of_columns(columns, options.pos_label), replace(options, pos_label=None)
        if options.average != NATIVE:
            raise InputError(f"{spec.name} needs one column of scores for each class, and there is one of one class.")
        if spec.label is not None and p.given.pos_label is None:  # whose scores these are then
            counted = counted.with_options(pos_label=options.pos_label)
        scores = counted.score_table()
        if spec.label is not None and str(scores.label) != str(options.pos_label):
            raise InputError(f"{spec.name} is of another class than these scores, which are of {scores.label!r}.")
        check_both_classes(scores)
        return scores, CallOptions()
    if counted.kind == "class scores" and counted.given.model.pred is None:
        raise InputTypeError(
            f"{spec.name} is of predicted labels; give the class of the highest column of each row as y_pred."
        )
    rows = counted.counted()
    if rows.table is None:
        raise InputError(f"{spec.name} is of predicted labels, and the scores are no probabilities; give threshold=.")
    if p.given.labels is None and not p.given.is_table:
        check_label_overlap(rows.table)
        warn_of_lookalikes(rows.table)
    if spec.is_native and call.pos_label is None:
        call = replace(call, pos_label=rows.positive_class(None, is_stated=p.given.is_stated)[0])
    return rows.table, spec.options(call)


def assumed_choices(p: Predictions, tables: Sequence[tuple[AnyTable, CallOptions]]) -> tuple[str, ...]:
    """Which class was taken as positive, and at which threshold, where nobody said so."""
    is_of_two = any(isinstance(table, (Confusion, ScoreTable)) for table, _ in tables)
    rows = p.on_host() if p.given.is_frame else p.collect()
    if not is_of_two or isinstance(p.given.data, ProbabilityTable) or rows.kind == "class scores":
        return ()
    counted = rows.counted()
    stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)[1]
    return (*stated, *counted.assumed) if any(isinstance(table, Confusion) for table, _ in tables) else stated
