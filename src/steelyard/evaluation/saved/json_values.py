"""JSON values: labels, numbers and tables in strict JSON, each written so that it is read back as it was."""

from __future__ import annotations

import math
import zlib
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.confusions.confused_pairs import ConfusedPair
from steelyard.analysis.confusions.hierarchy import BoundedValue, Level, LevelErrors
from steelyard.arrays.backend import DOUBLE
from steelyard.exceptions import InputError
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.saved import SCHEMA
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard._types import Array, Label
    from steelyard.tables.saved import JsonValue, SavedField


_LISTED = 256  # numbers of a column that are written one by one; more are packed
_WIDTH = 8  # bytes of a packed number
_OTHER_LABELS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Label]]] = {
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),  # before date, which it is as well
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "float": (float, repr, float),  # those that are not finite
}


def label_json(label: Label) -> JsonValue:
    """A label or a group's key: text, numbers and booleans as they are, dates and the like with their kind.

    >>> from datetime import date
    >>> label_json("spam"), label_json(date(2024, 2, 29))
    ('spam', {'date': '2024-02-29'})
    """
    plain = label.item() if isinstance(label, np.generic) else label
    if plain is None or isinstance(plain, (str, bool, int)) or (isinstance(plain, float) and math.isfinite(plain)):
        return plain
    kinds = ((name, write) for name, (kind, write, _) in _OTHER_LABELS.items() if isinstance(plain, kind))
    name, write = next(kinds, ("", str))
    return {name: write(plain)} if name else str(plain)


def read_label(field: SavedField) -> Label:
    """The label that `label_json` wrote."""
    if not isinstance(field.value, dict):
        return field.scalar()
    (name, written), *others = field.entries().items() or [("", field)]
    if name not in _OTHER_LABELS or others:
        raise field.refused("a label")
    try:
        return _OTHER_LABELS[name][2](written.text())
    except (ValueError, InvalidOperation):
        raise written.refused(f"a {name}") from None


def numbers_json(**numbers: float) -> dict[str, Any]:
    """Numbers by name: null where one is not finite, and which of those are infinite.

    >>> numbers_json(low=0.5, high=float("inf"))
    {'low': 0.5, 'high': None, 'infinite': {'high': 1}}
    """
    infinite = {name: int(math.copysign(1, value)) for name, value in numbers.items() if math.isinf(value)}
    finite = {name: float(value) if math.isfinite(value) else None for name, value in numbers.items()}
    return finite | ({"infinite": infinite} if infinite else {})


def read_numbers(field: SavedField, *names: str) -> dict[str, float]:
    """The numbers that `numbers_json` wrote; NaN for null."""
    infinite = field.get("infinite")
    signs = {} if infinite.value is None else {name: sign.number() for name, sign in infinite.entries().items()}
    return {name: math.copysign(math.inf, signs[name]) if name in signs else field[name].number() for name in names}


# ---------------------------------------------------------------- columns of numbers


def column_json(values: Array) -> JsonValue:
    """A column of numbers: listed, or packed where there are many of them.

    Packed numbers are 64 bits wide, the lowest byte first; the first bytes of all numbers come first, then the second
    ones and so on, compressed by zlib and written in base64.
    """
    if len(values) <= _LISTED:
        listed: JsonValue = values.tolist()
        return listed
    kind = "<i8" if values.dtype.kind in "iu" else "<f8"
    by_place = np.ascontiguousarray(values, dtype=kind).view(np.uint8).reshape(-1, _WIDTH).T.tobytes()
    return {"dtype": kind, "count": len(values), "packed": b64encode(zlib.compress(by_place)).decode("ascii")}


def read_column(field: SavedField) -> Array:
    """The column that `column_json` wrote."""
    if isinstance(field.value, dict):
        return _unpacked(field)
    numbers = [each.scalar() for each in field.each()]
    if any(isinstance(number, (str, bool)) or number is None for number in numbers):
        raise field.refused("a list of numbers")
    return np.array(numbers, dtype=None if numbers else np.float64)


def _unpacked(field: SavedField) -> Array:
    kind, count = field["dtype"].text(), field["count"].whole()
    try:
        by_place = zlib.decompress(b64decode(field["packed"].text(), validate=True))
    except (Base64Error, zlib.error):
        raise field["packed"].refused("a packed column of numbers") from None
    if kind not in ("<i8", "<f8") or len(by_place) != _WIDTH * count:
        raise field.refused("a packed column of as many numbers as it counts")
    return np.frombuffer(by_place, np.uint8).reshape(_WIDTH, count).T.copy().view(kind).ravel().astype(kind[1:])


# ---------------------------------------------------------------- tables


def confusion_json(table: Confusion) -> dict[str, Any]:
    """A confusion matrix in full: the rows of each cell and, where there are any, weights and squared weights."""
    labels = [label_json(label) for label in table.labels]
    cells = {"rows": table.rows, "weights": table.given_weights, "squares": table.given_squares}
    written = {name: matrix.tolist() for name, matrix in cells.items() if matrix is not None}
    return {"labels": labels, "positive": label_json(table.positive), **written}


def read_confusion(field: SavedField) -> Confusion:
    """The matrix that `confusion_json` wrote."""
    labels = tuple(read_label(label) for label in field["labels"].each())
    positive = read_label(field["positive"])
    if positive is not None and positive not in labels:
        raise field["positive"].refused(f"one of the labels in {field['labels'].path}")
    saved = {name: field.get(name).value for name in ("rows", "weights", "squares")}
    try:
        numbered = Confusion.from_json(
            {"schema": SCHEMA, "kind": "confusion", "labels": list(range(len(labels))), "positive": None, **saved}
        )
    except InputError as error:
        raise InputError(f"{field.path}: {error}") from None
    return replace(numbered, labels=labels, positive=positive)


def plain_scores(table: ScoreTable) -> ScoreTable:
    """The table as it is saved: one entry for each distinct score of a class, and no column of ones."""
    positive, negative = map(_plain_class, table.classes)
    return replace(table, positive=positive, negative=negative)


def _plain_class(scores: ClassScores) -> ClassScores:
    compact = scores.compact()
    if compact.given_weights is not None or compact.given_rows is None or (compact.given_rows != 1).any():
        return compact
    return ClassScores(compact.scores)


def scores_json(table: ScoreTable) -> dict[str, Any]:
    """A score table in full, as columns."""
    plain = plain_scores(table)
    classes = {"positive": _class_json(plain.positive), "negative": _class_json(plain.negative)}
    bins = {"bins": column_json(table.bins.ravel())} if len(table.bins) else {}
    precision = {"precision": table.precision} if table.precision != DOUBLE else {}
    return {"positive_label": label_json(table.label), **classes, **bins, **precision}


def _class_json(scores: ClassScores) -> dict[str, Any]:
    columns = {"rows": scores.given_rows, "weights": scores.given_weights, "squares": scores.given_squares}
    return {
        "scores": column_json(scores.scores),
        **{name: column_json(column) for name, column in columns.items() if column is not None},
    }


def read_scores(field: SavedField) -> ScoreTable:
    """The table that `scores_json` wrote."""
    classes = {name: _read_columns(field[name]) for name in ("positive", "negative")}
    bins = field.get("bins")
    saved: dict[str, Any] = {"schema": SCHEMA, "kind": "scores", "positive_label": None}
    saved |= {"precision": field.get("precision").value}
    try:
        table = ScoreTable.from_json(
            saved | classes | {"blurs": None if bins.value is None else read_column(bins).reshape(-1, 2)}
        )
    except (InputError, ValueError) as error:
        raise InputError(f"{field.path}: {error}") from None
    return plain_scores(replace(table, label=read_label(field["positive_label"])))


def _read_columns(field: SavedField) -> Mapping[str, Array]:
    columns = {name: read_column(column) for name, column in field.entries().items()}
    return {"rows": np.ones(len(columns.get("scores", ())), dtype=np.int64), **columns}


# ---------------------------------------------------------------- hierarchy json
# The errors by level of a hierarchy, and the pairs of classes, as the values of JSON.


_PAIR_NUMBERS = ("weight", "share", "low", "high", "expected", "p_value")
_BOUNDED_NUMBERS = ("value", "low", "high")


def levels_json(errors: LevelErrors) -> dict[str, Any]:
    """The levels, and the metrics over all of them."""
    return {
        "levels": [
            {
                "level": level.level,
                "classes": level.classes,
                "accuracy": _value_json(level.accuracy),
                "errors": level.errors,
                "inside_parent": _value_json(level.inside),
                "pairs": [pair_json(pair) for pair in level.pairs],
            }
            for level in errors.levels
        ],
        "metrics": {name: _value_json(value) for name, value in errors.metrics.items()},
    }


def read_levels(field: SavedField) -> LevelErrors:
    """What `levels_json` wrote."""
    levels = tuple(
        Level(
            level["level"].whole(),
            level["classes"].whole(),
            _read_value(level["accuracy"]),
            level["errors"].number(),
            _read_value(level["inside_parent"]),
            tuple(_read_pair(pair) for pair in level["pairs"].each()),
        )
        for level in field["levels"].each()
    )
    return LevelErrors(levels, {name: _read_value(value) for name, value in field["metrics"].entries().items()})


def pair_json(pair: ConfusedPair) -> dict[str, Any]:
    """A pair of classes that are confused, with its share, what is expected, and the adjusted p-value."""
    numbers = numbers_json(**{name: getattr(pair, name) for name in _PAIR_NUMBERS})
    return {"true": label_json(pair.true), "predicted": label_json(pair.predicted), "rows": pair.rows, **numbers}


def _read_pair(field: SavedField) -> ConfusedPair:
    numbers = read_numbers(field, *_PAIR_NUMBERS)
    return ConfusedPair(
        read_label(field["true"]), read_label(field["predicted"]), rows=field["rows"].whole(), **numbers
    )


def _value_json(value: BoundedValue) -> dict[str, Any]:
    return numbers_json(**{name: getattr(value, name) for name in _BOUNDED_NUMBERS})


def _read_value(field: SavedField) -> BoundedValue:
    return BoundedValue(**read_numbers(field, *_BOUNDED_NUMBERS))
