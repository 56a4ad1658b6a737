"""Class scores: a column of scores for each class, which a pattern names, evaluated row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.ingest.source import Source
    from steelyard.predictions import Predictions


def evaluated_class_scores(source: Source, inputs: Inputs, options: dict[str, Any]) -> tuple[Evaluation, list[str]]:
    """The evaluation of the rows, the columns of scores matched to the classes by name, and what was assumed."""
    from steelyard.evaluation.evaluate import evaluate

    named, assumed = _named(source, inputs)
    evaluation = evaluate(
        source,
        true=named.true,
        pred=named.pred if isinstance(named.pred, str) else None,
        score=inputs.class_scores,
        threshold=inputs.threshold,
        weight=inputs.weight,
        frequency=inputs.frequency,
        by=inputs.by or None,
        cluster=inputs.cluster,
        **options,
    )
    return evaluation, assumed


def named_class_scores(source: Source, inputs: Inputs) -> tuple[Predictions, Inputs, list[str]]:
    """The rows with a column of scores for each class, the columns as they are named, and what was assumed."""
    named, assumed = _named(source, inputs)
    return _rows(source, named), named, assumed


def _named(source: Source, inputs: Inputs) -> tuple[Inputs, list[str]]:
    """The columns as named, that of the truth found by its usual names; beside a pattern one score has no place."""
    from steelyard.ingest.rows import check_pattern

    for option in ("score", "exact"):
        if getattr(inputs, option) is not None:
            raise InputError(f"--scores names the scores of every class, so --{option} has no place beside it.")
    check_pattern(inputs.class_scores or "")
    return guess_columns(source, replace(inputs, score=inputs.class_scores))


def _rows(source: Source, inputs: Inputs) -> Predictions:
    from steelyard.predictions import Predictions

    return Predictions.read(
        source,
        true=inputs.true,
        pred=inputs.pred if isinstance(inputs.pred, str) else None,
        score=inputs.class_scores,
        weight=inputs.weight,
        frequency=inputs.frequency,
        cluster=inputs.cluster,
        by=inputs.by or None,
    )
