"""`--versus`: another model on the same rows, compared in all rows and in each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.cli.inputs import Inputs, labels_of, predictions
from steelyard.cli.option_words import of_shell
from steelyard.exceptions import InputError, TooFewRowsError
from steelyard.tables.thresholding import ASSUMED_HALF, HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.frames.source import Source
    from steelyard.predictions import Predictions


def compare_versus(
    inputs: Inputs, versus: str, level: float, metrics: Sequence[str] | None
) -> tuple[dict[str, Comparison | str], list[str]]:
    """The comparison of the model with the other one, of all rows and of each group, or why there is none."""
    from steelyard.frames.conditions import group_sources
    from steelyard.tables.tally import group_label

    if inputs.counts is not None or inputs.long is not None:
        raise InputError("--versus names a column of a file of predictions; leave out --counts and --long.")
    rows, stated = predictions(inputs)
    if rows.given.is_table:
        raise InputError("--versus names a column of rows, which a saved table does not keep; give the predictions.")
    question = _question(rows, versus, level, metrics)
    with rows.binned_frame() as (source, by):
        whole, question = _thresholded(source, question, rows.threshold)
        compared: dict[str, Comparison | str] = {"": whole}
        groups = group_sources(source, rows.given.true, by) if by else {}
        classes = _classes(whole) | _classes_of_columns(source, rows)
        for key, part in groups.items():
            label = group_label(by, key)
            compared[label] = compare_group(part, {**question, **classes}, label)
    half = [of_shell(ASSUMED_HALF)] if rows.threshold is None and whole.tables.thresholds else []
    return compared, [*stated, *half, *map(of_shell, whole.assumed)]


def _question(rows: Predictions, versus: str, level: float, metrics: Sequence[str] | None) -> dict[str, Any]:
    """What compare is asked, of all rows and of each group."""
    given, model = rows.given, rows.given.model
    own = model.score if model.pred is None else model.pred
    if own == versus:
        raise InputError(f"--versus {versus!r} is the model itself; name the column of the other one.")
    threshold = given.threshold
    if threshold is None and model.pred is None and rows.kind == "scores" and not _ranks_alone(metrics):
        threshold = HALF
    return {
        "score" if model.pred is None else "pred": [own, versus],
        "true": given.true,
        "threshold": threshold,
        "pos_label": given.pos_label,
        "labels": given.labels,
        "weight": given.sample_weight,
        "frequency": given.frequency,
        "cluster": given.cluster,
        "label_sep": given.label_sep,
        "level": level,
        "metrics": metrics,
    }


def _thresholded(source: Source, question: dict[str, Any], given: float | None) -> tuple[Comparison, dict[str, Any]]:
    """The comparison, and what was asked: scores that are no probabilities have no threshold but one that is given."""
    whole = _compared(source, question)
    if given is not None or question["threshold"] is None or _are_probabilities(whole):
        return whole, question
    if question["metrics"] is not None:
        raise InputError(
            "These scores are no probabilities, and a metric of labels needs a threshold; give --threshold."
        )
    question = {**question, "threshold": None}
    return _compared(source, question), question


def _are_probabilities(whole: Comparison) -> bool:
    return all(table.has_probabilities for table in whole.tables.scores.values())


def _ranks_alone(metrics: Sequence[str] | None) -> bool:
    """Whether no metric needs a threshold."""
    from steelyard.metrics.spec import MetricSpec

    specs = [] if metrics is None else MetricSpec.all_of(metrics)
    return bool(specs) and all(spec.is_native and spec.metric.scores is not None for spec in specs)


def _compared(source: Source, question: dict[str, Any]) -> Comparison:
    from steelyard.analysis.comparison.compare import compare

    return compare(source, **question)


def compare_group(source: Source, question: dict[str, Any], label: str) -> Comparison | str:
    """The comparison of a group; where its rows lack a class, that they do."""
    try:
        return _compared(source, question)
    except TooFewRowsError as error:
        return of_shell(str(error))
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def _classes(whole: Comparison) -> dict[str, Any]:
    """The positive class of all rows, and all classes: a group may lack some of them."""
    tables = whole.tables
    columns = tables.columns.get(whole.models[0])
    classes = tables.classes if columns is None else columns.labels
    positive = {} if tables.positive is None else {"pos_label": tables.positive}
    return {**positive, "labels": list(classes)} if classes else positive


def _classes_of_columns(source: Source, rows: Predictions) -> dict[str, Any]:
    """All classes by the names of their columns of scores."""
    from steelyard.frames.rows import matched_columns

    given = rows.given
    if rows.kind != "class scores" or given.model.pred is not None:
        return {}
    names = ",".join(matched_columns(source, given.model.score))
    return {"labels": given.labels or labels_of(source, Inputs(true=given.true, labels=names))}
