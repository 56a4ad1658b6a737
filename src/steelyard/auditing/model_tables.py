"""Model tables: the confusion tables of one or more models, from whatever they are given as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.arrays.labels import RARER, choice_sentences, chosen_label, conventional_label
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.metrics.registry import get_metric, get_metrics, is_builtin, list_metrics
from steelyard.tables import array_tables
from steelyard.tables.array_tables import check_classes
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Weights
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike


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
        else array_tables.score_table(rows, scores, pos_label=pos_label, sample_weight=sample_weight)
        for name, scores in by_model.items()
    }


def stated_positive(y_true: ArrayLike, pos_label: Label) -> tuple[Label, tuple[str, ...]]:
    """The positive class as it is named, the rarer one or that of a convention, and the sentence that states it.

    >>> stated_positive(["no", "yes", "no"], None)
    ('yes', ("The positive class is 'yes' by convention; pos_label='no' would take the other one.",))
    """
    if pos_label is RARER:
        codes, labels = label_codes.encode(checks.column(y_true, "y_true"))
        positive = chosen_label(RARER, labels, lambda: label_codes.counts(codes, len(labels), None))
    else:
        labels = array_tables.occurring_labels(y_true)
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
    y_true: ArrayLike,
    y_pred: ArrayLike,
    pos_label: Label = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> Confusion:
    """The table of one model's predictions."""
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    table = array_tables.confusion(y_true, y_pred, pos_label=pos_label, **weights)
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


# ---------------------------------------------------------------- metric values
# Many metrics on an array of tables at once, and how two such arrays differ.


_ROUNDING = 1e-12  # values that differ by less, relative to their size, are equal


def named_metrics(metrics: Iterable[MetricLike] | None) -> list[Metric]:
    """The metrics that are named, or all of counts that say what is better."""
    if metrics is None:
        return [m for m in list_metrics() if m.function is not None and m.direction is not None]
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    if not (named := [get_metric(name) for name in metrics]):
        raise InputError("metrics= is empty; name at least one metric, or leave it out.")
    return named


def chosen_metrics(
    metrics: Iterable[MetricLike] | None, tables: Mapping[str, Counts], scores: Mapping[str, ScoreTable]
) -> tuple[list[Metric], list[Metric]]:
    """The metrics of counts and those of scores alone, as named; where none is, all that the models can be tried by."""
    if metrics is None:
        return named_metrics(None) if tables else [], get_metrics(["roc_auc", "average_precision"]) if scores else []
    chosen = named_metrics(metrics)
    of_counts, of_scores = ([m for m in chosen if (m.function is None) is ranks] for ranks in (False, True))
    if of_scores and not scores:
        raise InputError(
            f"{of_scores[0].name} reads scores, which are not there for every model; give y_score={{model: scores}} "
            "(an estimator needs predict_proba or decision_function), or leave it out."
        )
    if of_counts and not tables:
        raise InputError(
            f"{of_counts[0].name} reads predicted labels, and the scores are no probabilities; give y_pred= as well."
        )
    if of_counts and of_scores and set(tables) != set(scores):
        raise InputError(
            f"The scores are of {', '.join(scores)}, the predictions of {', '.join(tables)}; give both of each model."
        )
    return of_counts, of_scores


def score_metrics(*, probabilities: bool) -> list[Metric]:
    """Every metric of the scores of two classes that says what is better; with those that read probabilities or not."""
    families = ("ranking", "calibration") if probabilities else ("ranking",)
    return [m for family in families for m in list_metrics(family) if m.function is None and m.direction is not None]


def metric_values(metrics: Iterable[Metric], counts: Counts[Any]) -> Array:
    """The values of all metrics on the tables, metrics on the last axis; a metric that fails gets one sentence."""
    return np.stack([_values(metric, counts) for metric in metrics], -1)


def _values(metric: Metric, counts: Counts[Any]) -> Array:
    try:
        return np.asarray(metric(counts))
    except SteelyardError:
        raise
    except Exception as error:
        if is_builtin(metric):
            raise
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(
            f"{metric.name} failed on an array of tables ({reason}); "
            "it must take cells that are arrays and give one number for each table."
        ) from error


def value_change(before: Array, after: Array) -> Array:
    """Before less after; 0 where they differ by rounding alone."""
    with np.errstate(invalid="ignore"):  # infinite before and after has no change
        gap = before - after
        return np.asarray(np.where(np.abs(gap) <= _ROUNDING * np.maximum(1, np.abs(before)), 0 * gap, gap))


def directed_difference(first: Array, second: Array, metrics: Sequence[Metric]) -> Array:
    """First less second, metrics on the last axis, turned so that positive is better; 0 where they are equal."""
    turn = np.array([-1.0 if m.direction == "lower" else 1.0 for m in metrics])
    with np.errstate(invalid="ignore"):
        return np.asarray(value_change(first, second) * turn)
