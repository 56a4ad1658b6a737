"""Label sets: columns that a pattern names, one for each label, lists of labels, or text that a sign divides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.thresholds.label_thresholds import LabelThresholds
    from steelyard.cli.inputs import Inputs
    from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
    from steelyard.ingest.source import Source
    from steelyard.predictions import Predictions

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
    from steelyard.ingest.label_sets import refuse_of_one_label

    with open_files(inputs) as source:
        given = _read(source, inputs)
        if given is None:
            return None
        refuse_of_one_label(hierarchy=asked["hierarchy"])
        inference = Inference(asked["level"], prevalence=asked["prevalence"], design=asked["design"])
        evaluation = evaluate_label_sets(given, inference=inference, metrics=asked["metrics"], mute=None)
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
        best: Any = best_threshold(given, metric=asked["metric"], level=asked["level"])  # of labels
    return best  # type: ignore[no-any-return]  # as they are sets


def _read(source: Source, inputs: Inputs) -> Predictions | None:
    """The rows of the files; None where each has one label."""
    from steelyard.predictions import Predictions

    scores = inputs.class_scores or inputs.score
    names: dict[str, Any] = {"true": inputs.true, "pred": inputs.pred, "score": scores}
    if _is_long(inputs):
        _check_long(inputs)
        return Predictions.read(source, **names, long=(str(inputs.row), str(inputs.label)), threshold=inputs.threshold)
    options: dict[str, Any] = {"weight": inputs.weight, "frequency": inputs.frequency, "cluster": inputs.cluster}
    options |= {"by": inputs.by or None, "label_sep": inputs.label_sep, "threshold": inputs.threshold}
    p = Predictions.read(source, **names, **options)
    if not p.are_sets:
        return None
    _check_options(inputs)
    return p


def _is_long(inputs: Inputs) -> bool:
    """Whether the file has a line for each row and label."""
    if (inputs.row is None) != (inputs.label is None):
        raise InputError("Of a file with a line for each row and label name both columns: --row and --label.")
    return inputs.row is not None


def _check_long(inputs: Inputs) -> None:
    _check_options(inputs)
    for option in ("weight", "frequency", "cluster", "by", "label_sep"):
        if getattr(inputs, option):
            name = option.replace("_", "-")
            raise InputError(f"--{name} has no place where a row has several lines; give a column for each label.")


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
                "in Python: multilabel(true, predicted, long=(row, label))."
            )
        raise InputError("Name the columns of label sets: --true with --pred or --scores, such as 'y_*' and 'p_*'.")
    for option in ("positive", "labels", "exact"):
        if getattr(inputs, option) is not None:
            raise InputError(f"--{option} has no place where rows may have several labels each; leave it out.")
