"""Labels and scores weighed: arrays in, a Confusion or a ScoreTable out, in one pass."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, did_you_mean
from steelyard.ingest import arrays, code_counts, label_codes
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import MOST_LABELS, Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array


def confusion(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
) -> Confusion:
    r"""Weigh true and predicted labels into a table.

    `labels` declares the whole label set and its order; `pos_label` the class that metrics take as positive.
    `sample_weight` is the importance of a row; `frequency` how many rows it stands for.

    >>> confusion([0, 0, 1, 1], [0, 1, 1, 1])
    Confusion of 4 rows
    true \ predicted  0  1
    0                 1  1
    1                 0  2
    """
    true, pred = arrays.column(y_true, "y_true"), arrays.column(y_pred, "y_pred")
    weight = arrays.weights(sample_weight, "sample_weight")
    rows = arrays.weights(frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=true, y_pred=pred, sample_weight=weight, frequency=rows)
    declared = declared_labels(labels) if labels is not None else arrays.category_order(y_true, true, pred)
    if not len(true) and declared is None:
        raise InputError("y_true and y_pred are empty; give at least one row, or declare the labels with labels=.")
    true, pred, weight, rows = _weighty(true, pred, weight, rows)
    if weight is None and rows is None and declared is None and (plain := _small_integers(true, pred)) is not None:
        return plain if pos_label is None else plain.with_positive(pos_label)
    true_codes, pred_codes, known = label_codes.encode_pair(true, pred, declared)
    if len(known) > MOST_LABELS:
        raise InputError(
            f"There are {len(known):,} different labels; at most {MOST_LABELS:,} are weighed. "
            "Are these labels, or a column of numbers or names?"
        )
    table = _table(known, code_counts.pair_counts(true_codes, pred_codes, len(known), weight, rows))
    return table if pos_label is None else table.with_positive(pos_label)


def _small_integers(true: Array, pred: Array) -> Confusion | None:
    """The table of small whole labels, counted before anyone asks which there are; None where others occur."""
    if true.dtype.kind not in "biu" or pred.dtype.kind not in "biu":
        return None
    counts = code_counts.binary_counts(true, pred)
    if counts is None and (counts := code_counts.small_counts(true, pred)) is None:
        return None
    present = np.flatnonzero(counts.sum(0) + counts.sum(1))
    kind = bool if true.dtype.kind == pred.dtype.kind == "b" else int
    return Confusion.of_rows(tuple(map(kind, present)), counts[np.ix_(present, present)])


def _table(labels: tuple[Any, ...], counted: tuple[Array, Array | None, Array | None]) -> Confusion:
    rows, weights, squares = counted
    if weights is None or squares is None:
        return Confusion.of_rows(labels, rows)
    return Confusion(labels, rows, weights, squares)


def _weighty(true: Array, pred: Array, weight: Array | None, rows: Array | None) -> tuple[Any, ...]:
    """The rows that weigh anything; one of no weight is as good as absent."""
    held = np.ones(len(true), dtype=bool)
    for column in (weight, rows):
        held = held if column is None else held & (column > 0)
    if held.all():
        return true, pred, weight, rows
    return tuple(None if column is None else column[held] for column in (true, pred, weight, rows))


def declared_labels(labels: Any) -> tuple[Any, ...] | None:
    """The labels that a user declares, as plain Python values."""
    if labels is None:
        return None
    given = arrays.column(labels, "labels")
    label_codes.distinct(given, "labels")  # refuses what cannot be a label
    known = tuple(label_codes.plain(given))
    if len(set(known)) != len(known) or len(known) < 2:
        raise InputError(f"labels= lists two or more labels, each once; this lists {', '.join(map(repr, known[:5]))}.")
    return known


def check_whole(table: Confusion) -> None:
    """Refuse a whole input whose truth holds one class: no classifier can be judged on it."""
    if not table.rows.sum():
        raise InputError("y_true and y_pred are empty; a metric needs rows of at least two classes.")
    present = [label for label, rows in zip(table.labels, table.rows.sum(1), strict=True) if rows]
    if len(present) == 1:
        raise InputError(f"y_true holds one class only, {present[0]!r}; a metric needs rows of at least two.")
    if table.positive is not None and table.positive not in present:
        near = did_you_mean(str(table.positive), [str(label) for label in present])
        raise InputError(f"The positive class {table.positive!r} does not occur in y_true.{near}")


# ---------------------------------------------------------------- scores


def score_table(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
) -> ScoreTable:
    """Weigh true labels and scores of the positive class into the ordered scores of each class.

    Other labels than `pos_label` are negative. Scores are ranked as they are given; higher means more positive.

    >>> score_table([0, 1, 1], [0.2, 0.9, 0.4])
    <ScoreTable of 3 rows, 2 of them 1>
    """
    options = {"pos_label": pos_label, "labels": labels, "sample_weight": sample_weight, "frequency": frequency}
    table = single_use_table(y_true, y_score, **options)
    return ScoreTable(table.positive.detached(), table.negative.detached(), table.label)


def single_use_table(
    y_true: Any, y_score: Any, *, pos_label: Any, labels: Any, sample_weight: Any, frequency: Any
) -> ScoreTable:
    """The table for a single question: the scores of a common class are read where they are."""
    true, score = arrays.column(y_true, "y_true"), scores(y_score)
    weight = arrays.weights(sample_weight, "sample_weight")
    rows = arrays.weights(frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=true, y_score=score, sample_weight=weight, frequency=rows)
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true and y_score are empty; give at least one row, or declare the labels with labels=.")
    positive, label = is_positive(true, pos_label, declared)
    if weight is None and rows is None:
        held, rest = _sides(score, positive)
    else:
        held, rest = (_side(score, (positive != 0) == which, weight, rows) for which in (True, False))
    return ScoreTable(held, rest, label)


def scores(y_score: Any) -> Array:
    """The scores as float64, finite."""
    score = arrays.numbers(y_score, "y_score")
    with np.errstate(over="ignore"):
        total = score.sum()  # one sum finds both; the slow look is for the sentence
    if not np.isfinite(total) and not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise InputError(f"y_score holds {score[row]} in row {row}; a score is a finite number. Drop such rows first.")
    return score


def is_positive(true: Array, pos_label: Any, declared: tuple[Any, ...] | None) -> tuple[Array, Any]:
    """Which rows are positive, and the label that says so."""
    if pos_label is None and declared is None and code_counts.is_zero_one(true):
        return true, 1 if true.dtype.kind != "b" else True
    codes, known = label_codes.encode(true, declared)
    table = Confusion.of_rows(known, np.zeros((0, 0), dtype=np.int64))
    if pos_label is None:
        label = table.positive_label()
    else:
        label = next((known_label for known_label in known if known_label == pos_label), pos_label)
    return codes == (known.index(label) if label in known else -1), label


def _sides(score: Array, positive: Array) -> tuple[ClassScores, ClassScores]:
    n = code_counts.count(positive)
    rare, which = min((n, True), (len(score) - n, False))
    one = ClassScores(code_counts.select(score, positive, which, rare), ascending=False, single_use=True)
    rest = ClassScores(
        lambda: code_counts.select(score, positive, not which, len(score) - rare),
        ascending=False,
        among=(score, one),
        single_use=True,
    )
    return (one, rest) if which else (rest, one)


def _side(score: Array, held: Array, weight: Array | None, rows: Array | None) -> ClassScores:
    """The weighted rows of one class; a row of no weight makes no threshold."""
    for column in (weight, rows):
        held = held if column is None else held & (column > 0)
    picked = score[held]
    order = np.argsort(picked, kind="stable")
    n = np.ones(len(order), dtype=np.int64) if rows is None else rows[held][order]
    if weight is None:
        return ClassScores(picked[order], n)
    w = weight[held][order]
    return ClassScores(picked[order], n, w * n, w * w * n)


def check_both_classes(table: ScoreTable) -> None:
    """Refuse a whole input whose truth holds one class."""
    for side, words in ((table.positive, "no positives"), (table.negative, "no negatives")):
        if side.total == 0:
            raise InputError(
                f"y_true holds {words} ({table.label!r} is the positive class); give rows of both classes."
            )


def score_tables(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None, frequency: Any = None
) -> tuple[list[Any], list[ScoreTable], list[float]]:
    """One ScoreTable a column of scores, its class against the rest: the labels, the tables, the classes' weights."""
    codes, known, matrix = _score_columns(y_true, y_score, labels)
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    tables = [score_table(codes == i, matrix[:, i], **weights) for i in range(len(known))]
    return list(known), tables, [float(table.positive.total) for table in tables]


def pair_tables(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None, frequency: Any = None
) -> tuple[list[Any], list[ScoreTable], list[float]]:
    """One ScoreTable an ordered pair of classes, by the column of the first (Hand and Till)."""
    codes, known, matrix = _score_columns(y_true, y_score, labels)
    names, tables, shares = [], [], []
    for a, b in permutations(range(len(known)), 2):
        rows = (codes == a) | (codes == b)
        weights = {
            key: None if column is None else arrays.column(column, key)[rows]
            for key, column in (("sample_weight", sample_weight), ("frequency", frequency))
        }
        tables.append(score_table(codes[rows] == a, matrix[rows, a], **weights))
        names.append((known[a], known[b]))
        shares.append(float(tables[-1].positive.total + tables[-1].negative.total))
    return names, tables, shares


def _score_columns(y_true: Any, y_score: Any, labels: Any) -> tuple[Array, tuple[Any, ...], Array]:
    if isinstance(y_score, np.ma.MaskedArray) and np.ma.is_masked(y_score):
        raise InputError("y_score holds masked values; a score is a finite number. Fill or drop such rows first.")
    true, matrix = arrays.column(y_true, "y_true"), np.asarray(y_score)
    arrays.check_lengths(y_true=true, y_score=matrix)
    codes, known = label_codes.encode(true, declared_labels(labels))
    if matrix.ndim != 2 or matrix.shape[1] != len(known):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(known)} classes it needs a column for each, in the order "
            f"{', '.join(map(repr, known[:5]))}{' ...' if len(known) > 5 else ''}. labels= declares another."
        )
    return codes, known, matrix
