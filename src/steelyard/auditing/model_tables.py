"""Model tables: the confusion tables of one or more models, from whatever they are given as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.class_checks import check_classes
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.positive_class import RARER, choice_sentences, chosen_label, conventional_label
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Weights

CountsByModel: TypeAlias = dict[str, Counts]
ScoresByModel: TypeAlias = dict[str, ScoreTable]
# One model or more, already counted.
Models: TypeAlias = "Counts[Any] | Confusion | ScoreTable | Mapping[str, Counts | Confusion | ScoreTable]"
Scores: TypeAlias = "ArrayLike | ScoreTable | Mapping[str, ArrayLike | ScoreTable]"


def counts_of_models(models: Models | ArrayLike, pos_label: Label = None) -> CountsByModel:
    """One table a model, by its name."""
    if isinstance(models, Mapping):
        return _nonempty({str(name): _counts(table, pos_label) for name, table in models.items()})
    if isinstance(models, Counts) and len(models.shape) == 1:
        return _nonempty({str(i): models[i] for i in range(models.shape[0])})
    return {"model": _counts(models, pos_label)}


def counts_of_predictions(
    y_true: ArrayLike,
    predictions: ArrayLike | Mapping[str, ArrayLike],
    pos_label: Label = None,
    sample_weight: Weights = None,
) -> CountsByModel:
    """One table a model, counted from its predictions."""
    by_model = predictions if isinstance(predictions, Mapping) else {"model": predictions}
    tables = {str(name): model_confusion(y_true, y, pos_label, sample_weight) for name, y in by_model.items()}
    return _nonempty({name: table.counts() for name, table in tables.items()})


def scores_of_models(
    y_true: Models | ArrayLike, y_score: Scores | None, pos_label: Label = None, sample_weight: Weights = None
) -> ScoresByModel:
    """One table of scores a model, by its name, of tables or of rows; none where no scores were given."""
    given: Any = y_true if y_score is None else y_score
    by_model: Mapping[str, Any] = given if isinstance(given, Mapping) else {"model": given}
    if y_score is None and not all(isinstance(table, ScoreTable) for table in by_model.values()):
        return {}
    rows: Any = y_true  # beside columns of scores it is the truth
    return {
        str(name): scores
        if isinstance(scores, ScoreTable)
        else ingest.score_table(rows, scores, pos_label=pos_label, sample_weight=sample_weight)
        for name, scores in by_model.items()
    }


def stated_positive(y_true: ArrayLike, pos_label: Label) -> tuple[Label, tuple[str, ...]]:
    """The positive class as it is named, the rarer one or that of a convention, and the sentence that states it.

    >>> stated_positive(["no", "yes", "no"], None)
    ('yes', ("The positive class is 'yes' by convention; pos_label='no' would take the other one.",))
    """
    if pos_label is RARER:
        codes, labels = label_codes.encode(arrays.column(y_true, "y_true"))
        positive = chosen_label(RARER, labels, lambda: label_codes.counts(codes, len(labels), None))
    else:
        labels = ingest.occurring_labels(y_true)
        positive = conventional_label(labels) if pos_label is None else pos_label
    return positive, choice_sentences(pos_label, positive, labels)


def is_counted(models: Models | Scores) -> bool:
    """Whether these are tables already, not rows."""
    tables = models.values() if isinstance(models, Mapping) else [models]
    return all(isinstance(table, (Counts, Confusion, ScoreTable)) for table in tables)


def counts_at_half(scores: ScoresByModel) -> CountsByModel:
    """The tables of probabilities thresholded at 0.5; none where some are no probabilities."""
    if not all(table.has_probabilities for table in scores.values()):
        return {}
    return {name: table.at(0.5) for name, table in scores.items()}


def _nonempty(tables: CountsByModel) -> CountsByModel:
    if not tables:
        raise InputError("There is no model to try; give {model: y_pred} or {model: Counts} of one or more.")
    return tables


def model_confusion(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Label = None, sample_weight: Weights = None
) -> Confusion:
    """The table of one model's predictions."""
    table = ingest.confusion(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    check_classes(table)
    if len(table.labels) == 2:
        _check_positive(table)
    return table


def _check_positive(table: Confusion) -> None:
    try:
        table.positive_label()
    except InputError as error:
        raise InputError(f"{str(error).partition(';')[0]}; name it with pos_label=.") from None


def _counts(table: object, pos_label: Label) -> Counts:
    if isinstance(table, Confusion):
        return table.counts(pos_label)
    if not isinstance(table, Counts):
        raise InputTypeError(
            f"A model is given by Counts, a Confusion, or y_true and its predictions, not by {type(table).__name__}."
        )
    if table.shape:
        raise InputError(f"Each model is one table, not an array of {table.shape}; give {{model: Counts}}.")
    return table


def counts_of_same_models(models: Models, expected: Mapping[str, Counts], what: str) -> Counts[Array]:
    """The tables of the same models, in their order, as one array."""
    tables = counts_of_models(models)
    if set(tables) != set(expected):
        raise InputError(f"{what} holds {', '.join(tables)}; it needs what the first holds: {', '.join(expected)}.")
    return Counts.stack(tables[name] for name in expected)


def at_rates(tpr: float | Array, tnr: float | Array, pi: float | Array) -> Counts[Any]:
    """The table, of one row in all, of a classifier with these rates where a share `pi` is positive.

    >>> at_rates(0.8, 0.9, 0.5)
    Counts(tp=0.4, fn=0.09999999999999998, fp=0.04999999999999999, tn=0.45)
    """
    return Counts(pi * tpr, pi * (1 - tpr), (1 - pi) * (1 - tnr), (1 - pi) * tnr)
