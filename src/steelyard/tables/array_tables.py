"""Tables of arrays and tensors: labels and scores counted where they lie, and whole inputs that are refused."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from inspect import currentframe
from os.path import commonprefix
from traceback import walk_stack
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import NUMPY, Backend, backend_of
from steelyard.arrays.checks import category_order, check_order
from steelyard.arrays.label_codes import check_label_number
from steelyard.arrays.labels import CONVENTION, absent_sentence, chosen_label, sort_labels
from steelyard.arrays.numbers import is_masked_array
from steelyard.arrays.sorting import chunks
from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError, did_you_mean, file_hint, first_ten
from steelyard.tables.class_scores import ClassScores, LabelledClass, LabelledScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.paired_table import Paired, check_size
from steelyard.tables.probability_table import SUM_OFF, ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights


_FEW = 1_024  # rows of which copying both classes takes less time than what would put the copies off


class Weighed(NamedTuple):
    """The sample weight of each row, and how many rows it counts for; None where every row has the weight 1."""

    weight: Array | None
    rows: Array | None

    @classmethod
    def of(cls, there: Backend, sample_weight: Weights, frequency: Weights, **columns: Array) -> Weighed:
        """Those of columns of the same length, which are on the same backend."""
        if sample_weight is None and frequency is None:
            checks.check_lengths(**columns)
            return cls(None, None)
        weight = checks.weights(sample_weight, "sample_weight", there=there)
        rows = checks.weights(frequency, "frequency", whole=True, there=there)
        checks.check_lengths(**columns, sample_weight=weight, frequency=rows)
        return cls(weight, rows)

    @property
    def is_none(self) -> bool:
        """Whether every row has the weight 1."""
        return self.weight is None and self.rows is None

    def at(self, places: Array) -> Weighed:
        """Those of some rows."""
        return Weighed(*(None if column is None else column[places] for column in self))

    @property
    def above_zero(self) -> Array | None:
        """Which rows have weight; one of none is as good as absent. None where all have."""
        masks = [column > 0 for column in self if column is not None]
        return None if all(mask.all() for mask in masks) else masks[0] & masks[-1]


def confusion(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: LabelSet | None = None,
    pos_label: Label = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> Confusion:
    r"""Count true and predicted labels into a table.

    `labels` declares the whole label set and its order; `pos_label` the class that metrics take as positive.
    `sample_weight` is the sample weight; `frequency` the frequency weight, how many rows a row counts for.

    >>> confusion([0, 0, 1, 1], [0, 1, 1, 1])
    Confusion of 4 rows
    true \ predicted  0  1
    0                 1  1
    1                 0  2
    """
    check_order(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, frequency=frequency)
    there = checks.backend_for(y_true, y_pred)
    true, pred = checks.column(y_true, "y_true", there), checks.column(y_pred, "y_pred", there)
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true, y_pred=pred)
    declared = declared_labels(labels) if labels is not None else category_order(y_true, true, pred)
    if not len(true) and declared is None:
        raise InputError("y_true and y_pred are empty; give at least one row, or declare the labels with labels=.")
    table = None
    if weighed.is_none:
        table = None if declared else _small_integers(true, pred)
    elif (counted := weighed.above_zero) is not None:
        true, pred, weighed = true[counted], pred[counted], weighed.at(counted)
    table = _coded(true, pred, weighed, declared) if table is None else table
    return table if pos_label is None else table.with_positive(pos_label)


def _small_integers(true: Array, pred: Array) -> Confusion | None:
    """The table of small whole labels, counted before anyone asks which there are; None where others occur."""
    if true.dtype.kind not in "biu" or pred.dtype.kind not in "biu":
        return None
    counts = label_codes.binary_counts(true, pred)
    if counts is None and (counts := label_codes.small_counts(true, pred)) is None:
        return None
    present = np.flatnonzero(counts.sum(0) + counts.sum(1))
    kind = bool if true.dtype.kind == pred.dtype.kind == "b" else int
    return Confusion(tuple(map(kind, present)), counts[np.ix_(present, present)])


def _coded(true: Array, pred: Array, weighed: Weighed, declared: Labels | None) -> Confusion:
    """The table of labels of any kind, by their codes."""
    rows = weighed.rows
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred, declared)
    check_label_number(len(labels), len(true) if rows is None else int(rows.sum()), declared=declared is not None)
    return Confusion(labels, *label_codes.pair_counts(true_codes, pred_codes, len(labels), *weighed))


def declared_labels(labels: LabelSet | None) -> Labels | None:
    """The labels that a user declares, as plain Python values."""
    if labels is None:
        return None
    column = checks.column(labels, "labels")
    label_codes.distinct(column, "labels")  # refuses what cannot be a label
    declared = tuple(label_codes.python_labels(column))
    if len(set(declared)) != len(declared) or len(declared) < 2:
        raise InputError(argument="labels", expected="two or more labels, each once", given=declared[:5])
    return declared


def occurring_labels(y_true: ArrayLike) -> Labels:
    """The labels that occur in a column, in order."""
    return label_codes.distinct(checks.column(y_true, "y_true", checks.backend_for(y_true)), "y_true")[1]


# ---------------------------------------------------------------- scores


def score_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ScoreTable:
    """Count true labels and scores of the positive class into the ordered scores of each class.

    Other labels than `pos_label` are negative. Scores are ranked as they are given; higher means more positive.

    >>> score_table([0, 1, 1], [0.2, 0.9, 0.4])
    <ScoreTable of 3 rows, 2 of them 1>
    """
    table = single_use_table(
        y_true, y_score, pos_label=pos_label, labels=labels, sample_weight=sample_weight, frequency=frequency
    )
    return replace(table, positive=table.positive.detached(), negative=table.negative.detached())


def single_use_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> ScoreTable:
    """The table for a single question: the scores of a common class are read where they are."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    there = checks.backend_for(y_true, y_score)
    true, given = checks.column(y_true, "y_true", there), checks.column(y_score, "y_score", there)
    score, precision = checks.finite_scores(given, there), checks.precision_of(given)
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true, y_score=score)
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true and y_score are empty; give at least one row, or declare the labels with labels=.")
    positive, label = positive_rows(true, pos_label, declared, weighed.rows)
    if weighed.is_none:
        return ScoreTable(*_unweighted_classes(score, positive), label, precision=precision)
    mask = there.column(there.booleans(there.native(positive)))
    positives, negatives = (ClassScores.of_rows(score[rows], *weighed.at(rows)) for rows in (mask, ~mask))
    return ScoreTable(positives, negatives, label, precision=precision)


def positive_rows(
    true: Array, pos_label: Label, declared: Labels | None, frequency: Array | None = None
) -> tuple[Array, Label]:
    """Which rows are positive, as booleans or as 0 and 1, and the positive label."""
    there = backend_of(true)
    if (pos_label is None or pos_label is CONVENTION) and declared is None and there.is_zero_one(there.native(true)):
        return true, 1 if true.dtype.kind != "b" else True
    codes, labels = label_codes.encode(true, declared)
    label = chosen_label(pos_label, labels, lambda: label_codes.counts(codes, len(labels), frequency))
    return codes == (labels.index(label) if label in labels else -1), label


def _unweighted_classes(score: Array, positive: Array) -> tuple[ClassScores, ClassScores]:
    """The scores of both classes, where they are until the order of one is asked for."""
    there = backend_of(score)
    if len(score) < _FEW:
        mask = positive != 0
        positives, negatives = (ClassScores(score[rows], ascending=False, single_use=True) for rows in (mask, ~mask))
        return positives, negatives
    marks = there.marks(positive)
    both = LabelledScores(score, marks, there.count_ones(there.native(marks)))
    which = 2 * both.n_positive <= len(score)
    rare = ClassScores(LabelledClass(both, which), ascending=False, single_use=True)
    common = ClassScores(LabelledClass(both, not which), ascending=False, among=(score, rare), single_use=True)
    return (rare, common) if which else (common, rare)


# ---------------------------------------------------------------- class checks


def check_classes(table: Confusion) -> None:
    """Refuse a table whose truth holds one class, or not the positive one."""
    if not table.rows.sum():
        raise TooFewRowsError("y_true and y_pred are empty; a metric needs rows of at least two classes.")
    present = [label for label, rows in zip(table.labels, table.rows.sum(1), strict=True) if rows]
    if len(present) == 1:
        raise TooFewRowsError(f"The truth holds one class only, {present[0]!r}; a metric needs rows of at least two.")
    if table.positive is not None and table.positive not in present:
        what = f"The positive class {table.positive!r}"
        raise TooFewRowsError(
            absent_sentence(what, table.positive, present).replace("occur;", "occur in the truth;", 1)
        )


def check_both_classes(table: ScoreTable) -> None:
    """Refuse scores whose truth holds one class."""
    for scores, words in zip(table.classes, ("no positives", "no negatives"), strict=True):
        if scores.total == 0:
            raise TooFewRowsError(_needs_both(words, table.label))


def rows_of_both_classes(true: Array, pos_label: Label, declared: Labels | None = None) -> tuple[Array, Label]:
    """Which rows are positive, and the label that says so; refused where all are, or none."""
    rows, label = positive_rows(true, pos_label, declared)
    positive: Array = np.asarray(rows) != 0
    if positive.all() or not positive.any():
        raise TooFewRowsError(_needs_both("one class only", label))
    return positive, label


def _needs_both(classes: str, label: Label) -> str:
    return f"The truth holds {classes} ({label!r} is the positive class); give rows of both classes."


# ---------------------------------------------------------------- label overlap


def check_label_overlap(table: Confusion, what: str = "the predictions") -> None:
    """Refuse a whole input in which no predicted label occurs in the truth."""
    for sentence in overlap_problems(table, what):
        raise InputError(sentence)


def overlap_problems(table: Confusion | None, what: str = "the predictions") -> list[str]:
    """That no prediction of this table could be right, in a sentence; nothing where one could."""
    if table is None:
        return []
    true, pred = ([label for label, n in zip(table.labels, table.rows.sum(axis), strict=True) if n] for axis in (1, 0))
    return disjoint_problems(true, pred, what)


def lookalike_hints(labels: Sequence[Label]) -> list[str]:
    """The labels that differ in blanks or in case alone, each pair in a sentence."""
    firsts: dict[str, str] = {}
    texts = [label for label in labels if isinstance(label, str)]
    pairs = ((firsts.setdefault(text.strip().casefold(), text), text) for text in texts)
    sentence = "The labels {!r} and {!r} differ in blanks or case alone; are they one class?"
    return [sentence.format(*pair) for pair in pairs if pair[0] != pair[1]]


def check_predicted(table: Confusion) -> None:
    """Refuse predictions none of which occurs in the truth; warn where one does but for blanks or case.

    A number alone cannot say so.
    """
    occurs = table.rows.sum(1) > 0
    if occurs.all():
        return
    check_label_overlap(table)
    meant = lookalike_hints([label for label, there in zip(table.labels, occurs, strict=True) if there])
    for sentence in (hint for hint in lookalike_hints(table.labels) if hint not in meant):
        warnings.warn(sentence, UserWarning, stacklevel=_frames_inside())


def _frames_inside() -> int:
    """How many calls there are between the warning and the line of the user that led to it."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(currentframe()))
    outside = (i for i, name in enumerate(names) if name.partition(".")[0] != "steelyard")
    return next(outside, 1)


def disjoint_problems(true: Sequence[Label], pred: Sequence[Label], what: str) -> list[str]:
    """That two lists of labels have none in common, in a sentence; nothing where they have or one is empty."""
    if not true or not pred or not {*true}.isdisjoint(pred):
        return []
    problem = f"None of the labels of {what}, {first_ten(pred)}, occurs in the truth, which holds {first_ten(true)}"
    near = next(filter(None, (did_you_mean(str(label), map(str, true)) for label in pred[:10])), "")
    return [f"{problem}; name the column of the predicted labels, or write both alike.{near}"]


# ---------------------------------------------------------------- paired tables


def paired(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    labels: LabelSet | None = None,
    pos_label: Label = None,
    frequency: Weights = None,
    sample_weight: Weights = None,
) -> Paired:
    """Count the truth and the labels that two models predicted into one table, truth x A x B.

    `frequency` is the frequency weight, how many rows a row counts for; sample weights are refused.

    >>> paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    <Paired table of 4 rows, 2 labels: A alone is right in 1, B alone in 1>
    """
    if sample_weight is not None:
        raise InputError(
            "sample_weight= is not taken by paired(), whose table counts rows; give compare() the rows and their "
            "weights, or paired() frequency weights by frequency=."
        )
    check_order(y_true=y_true, pred_a=pred_a, pred_b=pred_b, frequency=frequency)
    times = checks.weights(frequency, "frequency", whole=True)
    true = checks.column(y_true, "y_true")
    models = {name: checks.column(values, name) for name, values in (("pred_a", pred_a), ("pred_b", pred_b))}
    checks.check_lengths(y_true=true, **models, frequency=times)
    declared = category_order(y_true, true, *models.values()) if labels is None else labels
    (truth, a, b), shared = encoded(true, models, declared)
    return counted_pair(truth, a, b, shared, positive(shared, pos_label, truth, times), times)


def encoded(true: Array, models: Mapping[str, Array], labels: LabelSet | None) -> tuple[list[Array], Labels]:
    """The codes of the truth and of each model, and the labels they share."""
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true is empty; give at least one row, or declare the labels with labels=.")
    columns = {name: label_codes.distinct(column, name) for name, column in {"y_true": true, **models}.items()}
    truth = columns["y_true"][1]
    for name, (_, present) in columns.items():
        if truth and present and isinstance(truth[0], str) != isinstance(present[0], str):
            examples = f"y_true holds labels such as {truth[0]!r} and {name} such as {present[0]!r}"
            raise InputTypeError(f"{examples}; give both the same labels.")
    shared = declared
    if shared is None:
        shared = sort_labels(label for _, present in columns.values() for label in present)
    return [label_codes.recode(codes, present, shared, name) for name, (codes, present) in columns.items()], shared


def positive(labels: Labels, pos_label: Label, true: Array | None = None, times: Array | None = None) -> Label:
    """The label that was named positive, as it stands among the labels, or the rarer one; None where none was named.

    `true` are the codes of the true labels, each of which stands for `times` rows.
    """
    if pos_label is None:
        return None
    codes = np.zeros(0) if true is None else true
    label = chosen_label(pos_label, labels, lambda: label_codes.counts(codes, len(labels), times))
    if label not in labels:
        raise InputError(absent_sentence(f"The label {label!r}", label, labels))
    return label


def counted_pair(
    true: Array, a: Array, b: Array, labels: Labels, positive: Label, times: Array | None = None
) -> Paired:
    """The table of the codes of the truth and of two models, each row as often as `times` says."""
    check_size(labels)
    k = len(labels)
    rows = np.zeros(k**3, dtype=np.int64)
    for part in chunks(len(true)):
        code = true[part].astype(np.intp)
        for model in (a, b):
            code *= k
            code += model[part].astype(np.intp, copy=False)
        if times is None:
            rows += np.bincount(code, minlength=k**3)
        else:
            np.add.at(rows, code, times[part])
    return Paired(labels, rows.reshape(k, k, k), positive)


def check_met(codes: list[Array], labels: Labels, models: Iterable[str]) -> None:
    """Refuse a model none of whose labels occurs in the truth."""
    true, *predicted = ([labels[place] for place in np.flatnonzero(np.bincount(code))] for code in codes)
    for name, pred in zip(models, predicted, strict=True):
        for sentence in disjoint_problems(true, pred, f"the model {name!r}"):
            raise InputError(sentence)


# ---------------------------------------------------------------- score matrix


HIGHEST_TAKEN = "The class with the highest score of a row was taken as its predicted label."


def probability_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ProbabilityTable:
    """The rows with a column of scores for each class: by the names of a frame's columns, else in the labels' order."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    return _table(NUMPY, y_true, y_score, labels, sample_weight, frequency)


def counted_where_they_are(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ProbabilityTable:
    """The same, of which columns on a device stay there."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    return _table(checks.backend_for(y_score, y_true), y_true, y_score, labels, sample_weight, frequency)


def _table(
    there: Backend,
    y_true: ArrayLike,
    y_score: ArrayLike,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> ProbabilityTable:
    if is_masked_array(y_score) and np.ma.is_masked(y_score):
        raise InputError("y_score holds masked values; a score is a finite number. Fill or drop such rows first.")
    true, matrix = checks.column(y_true, "y_true", there), checks.matrix(y_score, "y_score", there)
    checks.check_lengths(y_true=true, y_score=matrix)
    codes, classes = label_codes.encode(true, declared_labels(labels))
    if matrix.ndim != 2 or matrix.shape[1] != len(classes):
        _refuse_absent_class(y_score, classes)
        raise InputError(_other_columns(matrix.shape, classes))
    scores = checks.finite_columns(columns_by_name(matrix, y_score, classes))
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true)
    table = ProbabilityTable(classes, codes, scores, *weighed)
    order = None if labels is not None else category_order(y_true, true)
    return table if order is None else table.in_order(order)


def needed_probabilities(table: ProbabilityTable, who: str) -> Array:
    """The probabilities of the classes; anything else is refused, with the row that shows it."""
    if (why := improper_row(table)) is not None:
        raise InputError(f"{who} needs probabilities: numbers from 0 to 1 that sum to 1 in each row; {why}.")
    return table.probabilities


def improper_row(table: ProbabilityTable) -> str | None:
    """What the first row that holds no probabilities sums to, and lies between; None where there is none."""
    if (row := table.first_improper) is None:
        return None
    given = np.asarray(table.probabilities[row], np.float64)
    return f"row {row + 1} sums to {given.sum():.6g} and lies between {given.min():.6g} and {given.max():.6g}"


def _other_columns(shape: tuple[int, ...], classes: Labels) -> str:
    return (
        f"y_score has shape {shape}; with {len(classes)} classes it needs a column for each, in the order "
        f"{', '.join(map(repr, classes[:5]))}{' ...' if len(classes) > 5 else ''}. labels= declares another."
    )


def _refuse_absent_class(y_score: ArrayLike, classes: Labels) -> None:
    """Refuse named columns of which one is of a class without rows."""
    texts, names = {str(label) for label in classes}, [str(name) for name in getattr(y_score, "columns", ())]
    names = without_prefix(names) if texts.isdisjoint(names) else names
    if texts < {*names} and (absent := [name for name in names if name not in texts]):
        raise InputError(
            f"y_score has a column for {first_ten(absent)}, and y_true no such row; labels= declares classes without "
            "rows."
        )


def columns_by_name(matrix: Array, y_score: ArrayLike, classes: Labels) -> Array:
    """The columns of a matrix in the order of the classes, as they lie where that is theirs: a copy costs as a sort."""
    places = _places_by_name(y_score, classes)
    return matrix if places == list(range(matrix.shape[1])) else matrix[:, places]


def _places_by_name(y_score: ArrayLike, classes: Labels) -> list[int]:
    """The place of each class among the columns: by the names of a frame's columns where they are classes.

    What all names begin with, such as `p_` or `proba_`, is no part of a class.
    """
    names = [str(name) for name in getattr(y_score, "columns", ())]
    texts = [str(label) for label in classes]
    if {*names}.isdisjoint(texts):
        names = without_prefix(names)
    if names == [str(place) for place in range(len(names))] and {*names}.isdisjoint(texts):  # counted, not named
        return list(range(len(classes)))
    if sorted(names) != sorted(texts):
        raise InputError(
            f"The columns of y_score are called {first_ten(names)} and the classes {first_ten(classes)}; name a column "
            "for each class, or give y_score.to_numpy() in the order of the classes."
        )
    return [names.index(text) for text in texts]


def without_prefix(names: Sequence[str]) -> list[str]:
    """The names of columns without what all begin with, such as `p_` or `proba_`."""
    shared = re.match(r".*[^0-9A-Za-z]|", commonprefix(names), re.DOTALL)  # noqa: RUF071 - letters are meant
    return [name.removeprefix(shared[0]) for name in names] if shared else list(names)


# ---------------------------------------------------------------- given probabilities


def given_probabilities(p: ArrayLike, name: str = "y_score") -> Array:
    """The probabilities of the positive class, or a column for each class, from 0 to 1 with the sum 1 in each row."""
    try:
        given = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} holds probabilities, not {_kind(p)}{file_hint(p)}.") from None
    if given.ndim not in (1, 2) or not given.size or (given.ndim == 2 and given.shape[1] < 2):
        raise InputError(
            f"{name} is one column of probabilities, or one for each of two classes or more, "
            f"not of shape {given.shape}."
        )
    if not ((given >= 0) & (given <= 1)).all():
        row = int(np.argmin(((given >= 0) & (given <= 1)).reshape(len(given), -1).all(1)))
        raise InputError(f"{name} holds probabilities from 0 to 1, not {given[row].tolist()} as in row {row + 1}.")
    if given.ndim == 2 and (off := np.abs(given.sum(1) - 1)).max() > SUM_OFF:
        row = int(off.argmax())
        raise InputError(
            f"The probabilities of a row sum to 1, and those of row {row + 1} to {given[row].sum():.4g}; divide by the "
            "sum, or give the column of one class."
        )
    return given


def _kind(p: object) -> str:
    return f"the {type(p).__name__} {p!r}"[:60] if isinstance(p, (str, bytes)) else f"a {type(p).__name__}"


def both_columns(given: Array) -> Array:
    """A column for each class; beside that of the positive class the one of the negative class."""
    return np.column_stack([1 - given, given]) if given.ndim == 1 else given
