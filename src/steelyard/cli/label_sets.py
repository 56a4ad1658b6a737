"""Label sets: columns that a pattern names, one for each label, lists of labels, or text that a sign divides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.thresholds.label_thresholds import LabelThresholds
    from steelyard.cli.inputs import Inputs
    from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.ingest.label_set_input import LabelSetInput
    from steelyard.ingest.source import Source
    from steelyard.statistics.multilabel_table import MultilabelTable

_TYPED = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson")  # files that may hold lists

_LONG_NOTE = (
    "Rows without a line are not counted; give a row that has no labels, true or predicted, a line with any label "
    "and 0 in its columns."
)


def evaluated_label_sets(inputs: Inputs, asked: dict[str, Any]) -> MultilabelEvaluation | None:
    """The evaluation of rows that may have several labels each; None where the command line names others."""
    if not _may_be_sets(inputs):
        return None
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.cli.inputs import open_files
    from steelyard.evaluation.evaluate_label_sets import evaluate_label_sets
    from steelyard.ingest.label_set_input import refuse_of_one_label

    with open_files(inputs) as source:
        given = _read(source, inputs)
    if given is None:
        return None
    refuse_of_one_label(hierarchy=asked["hierarchy"])
    options: dict[str, Any] = {"threshold": inputs.threshold, "metrics": asked["metrics"], "mute": None}
    inference = Inference(asked["level"], prevalence=asked["prevalence"], design=asked["design"])
    evaluation = evaluate_label_sets(given, inference=inference, columns=_used(inputs), **options)
    assumed = (*evaluation.assumed, *([_LONG_NOTE] if inputs.row else []))
    return replace(evaluation, source=inputs.name, assumed=assumed)


def label_thresholds(inputs: Inputs, asked: dict[str, Any]) -> LabelThresholds | None:
    """The threshold of each label; None where the command line names rows of one label each."""
    if not _may_be_sets(inputs):
        return None
    from steelyard.analysis.thresholds.best_threshold import best_threshold
    from steelyard.cli.inputs import open_files

    with open_files(inputs) as source:
        given = _read(source, inputs)
    if given is None:
        return None
    for name, value in asked.items():
        if value and name not in ("metric", "level"):
            option = "cost-fn" if name == "cost" else name.replace("_", "-")
            raise InputError(f"--{option} is of rows with one label each; labels take --metric alone.")
    options = {name: asked[name] for name in ("metric", "level")}
    return cast("LabelThresholds", best_threshold(given.data, cluster=given.cluster, **options))


def _read(source: Source, inputs: Inputs) -> LabelSetInput | None:
    """The rows with their groups and clusters; None where each has one label."""
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.ingest.label_frames import label_frame, names_label_sets
    from steelyard.ingest.label_set_input import LabelSetInput

    columns = FrameColumns(inputs.true, inputs.pred, inputs.class_scores or inputs.score, inputs.weight)  # type: ignore[arg-type]  # one model
    if _is_long(inputs):
        return LabelSetInput(_long(source, columns, inputs), None, None, FrameColumns())
    if inputs.label_sep is None and not names_label_sets(source, columns):
        return None
    _check_options(inputs)
    table, rows = label_frame(
        source, columns, inputs.frequency, by=inputs.by, cluster=inputs.cluster, label_sep=inputs.label_sep
    )
    return LabelSetInput(table, None, None, FrameColumns(), by=rows.by or None, cluster=rows.clusters)


def _is_long(inputs: Inputs) -> bool:
    """Whether the file has a line for each row and label."""
    if (inputs.row is None) != (inputs.label is None):
        raise InputError("Of a file with a line for each row and label name both columns: --row and --label.")
    return inputs.row is not None


def _long(source: Any, columns: FrameColumns, inputs: Inputs) -> MultilabelTable:
    from steelyard.ingest.label_frames import long_table

    _check_options(inputs)
    for option in ("weight", "frequency", "cluster", "by", "label_sep"):
        if getattr(inputs, option):
            name = option.replace("_", "-")
            raise InputError(f"--{name} has no place where a row has several lines; give a column for each label.")
    return long_table(source, None, columns, str(inputs.row), str(inputs.label))


def _may_be_sets(inputs: Inputs) -> bool:
    """Whether it may be about label sets, as far as the command line shows."""
    if inputs.label_sep == "":
        raise InputError("--label-sep is empty; give the sign between the labels of a row, such as ';'.")
    if _is_long(inputs):
        return True
    if not inputs.files or inputs.true is None:
        return inputs.label_sep is not None and bool(inputs.files)
    patterned = "*" in inputs.true or inputs.label_sep is not None
    return patterned or Path(inputs.files[0]).suffix.lower() in _TYPED


def _check_options(inputs: Inputs) -> None:
    if inputs.true is None or not (inputs.pred or inputs.class_scores or inputs.score):
        if inputs.row is not None:
            raise InputError(
                "A file with a line for each row and label needs two columns of 0 and 1 or scores beside them, named "
                "by --true with --pred or --scores; a plain list of true labels beside one of predicted labels is read "
                "in Python: multilabel(true, predicted, row=, label=)."
            )
        raise InputError("Name the columns of label sets: --true with --pred or --scores, such as 'y_*' and 'p_*'.")
    for option in ("positive", "labels", "exact"):
        if getattr(inputs, option) is not None:
            raise InputError(f"--{option} has no place where rows may have several labels each; leave it out.")


def _used(inputs: Inputs) -> dict[str, Any]:
    """The columns by the options that name them."""
    scores = inputs.class_scores or inputs.score
    used = {"true": inputs.true, "pred": inputs.pred, "scores": scores, "label_sep": inputs.label_sep}
    used |= {"row": inputs.row, "label": inputs.label, "weight": inputs.weight, "frequency": inputs.frequency}
    used |= {"by": inputs.by, "cluster": inputs.cluster}
    return {use: name for use, name in used.items() if name}
