"""Saved tables: strict JSON with the number of its schema, and the checks of what was read again."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from steelyard.arrays.numbers import LARGEST
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix
from steelyard.exceptions import CountOverflowError, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard._types import Array, Label


SCHEMA = 1
DIGEST, ENTRY = "digest", "entry"  # of what is saved, and of the ledger that holds it
_WHOLE = 2**53  # below it a number is the same as a whole one and as a float
_MOST_DIGITS = 300  # of a whole number; a float holds no more than 308
_LARGEST = sys.float_info.max
Saved = str | bytes | dict[str, Any]  # the text of a saved table, or what was read from it already


def read_table(given: Saved, kind: str, fields: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The named fields of a saved table, its kind and schema checked; an optional one that is not there is None."""
    data = given if isinstance(given, dict) else _parsed(given)
    if not isinstance(data, dict) or data.get("kind") != kind:
        msg = f'This JSON holds no saved {kind}: its "kind" must be {kind!r}. Give the text that to_json() wrote.'
        raise InputError(msg)
    if data.get("schema") != SCHEMA or isinstance(data.get("schema"), bool):
        msg = f"This {kind} has schema {data.get('schema')!r}; this version reads {SCHEMA}. Save it again with it."
        raise InputError(msg)
    held = _fields(data, kind, fields) | {name: data.get(name) for name in optional}
    if not is_as_written(data):
        raise InputError(f"This {kind} was changed after it was saved: its digest is another one.")
    return held


def read_json(text: str | bytes) -> Any:
    """What JSON text that was saved holds; a field that is there twice, NaN and endless numbers are refused.

    >>> read_json('{"rows": 5, "rows": 7}')
    Traceback (most recent call last):
    steelyard.exceptions.InputError: This JSON has the field 'rows' twice in one object; give what to_json() wrote.
    """
    return json.loads(text, object_pairs_hook=_fields_once, parse_int=_whole, parse_constant=_not_finite)


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"This JSON has the field {twice!r} twice in one object; give what to_json() wrote.")
    return held


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise InputError(f"This JSON holds a number of {len(digits):,} digits, beyond any; give what to_json() wrote.")
    return int(digits)


def _not_finite(name: str) -> NoReturn:
    raise InputError(f"This JSON holds {name}, which strict JSON does not; give what to_json() wrote.")


def _parsed(text: str | bytes) -> Any:
    try:
        return read_json(text)
    except InputError:
        raise
    except (ValueError, TypeError, RecursionError):
        raise InputError("This is not a saved table, nor JSON at all; give the text that to_json() wrote.") from None


def to_strict_json(table: dict[str, Any]) -> str:
    """A saved table as strict JSON with its digest, without blanks: a table of scores may have millions of numbers."""
    return json.dumps(with_digest(table), allow_nan=False, separators=(",", ":"))


def with_digest(saved: dict[str, Any]) -> dict[str, Any]:
    """What is saved with the digest of all that it holds, by which a later change is noticed."""
    return saved | {DIGEST: _digest(saved)}


def is_as_written(saved: dict[str, Any]) -> bool:
    """Whether it is what its digest is of, or has none."""
    try:
        return DIGEST not in saved or saved[DIGEST] == _digest(saved)
    except (TypeError, ValueError, RecursionError):  # it holds what JSON does not
        return False


def _digest(saved: dict[str, Any]) -> str:
    """Whatever the order of keys and the blanks are, and whether 1 is written 1.0; the ledger's entry has its own."""
    held = {name: value for name, value in saved.items() if name not in (DIGEST, ENTRY)}
    text = json.dumps(held, allow_nan=False, ensure_ascii=False, default=str)
    content = _plain_numbers(json.loads(text.encode("utf-8", "replace")))  # as it will be read back
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and abs(value) < _WHOLE and value == int(value) else value


def is_saved_label(label: object) -> bool:
    """Whether JSON can hold it as a label: text, a boolean or a finite number."""
    return isinstance(label, str) or (isinstance(label, (int, float)) and abs(label) <= _LARGEST)


def check_labels(labels: Iterable[Label]) -> list[Label]:
    """Labels that JSON can hold, as a list; others are refused."""
    for label in labels:
        if not is_saved_label(label):
            kind = type(label).__name__
            raise InputTypeError(f"JSON cannot hold labels such as {label!r} ({kind}); use text or finite numbers.")
    return list(labels)


def _fields(data: Mapping[str, Any], kind: str, fields: tuple[str, ...]) -> dict[str, Any]:
    missing = [name for name in fields if name not in data]
    if missing:
        msg = f"This saved {kind} lacks {', '.join(missing)}; it needs {', '.join(fields)}."
        raise InputError(msg)
    return {name: data[name] for name in fields}


# ---------------------------------------------------------------- saved field


JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
_SHOWN = 40  # characters of a wrong value that a sentence quotes


@dataclass(frozen=True)
class SavedField:
    """A value and its place.

    >>> SavedField({"metrics": [{"value": "high"}]})["metrics"].each()[0]["value"].number()
    Traceback (most recent call last):
    steelyard.exceptions.InputError: In this JSON metrics[0].value is 'high', not a number; it was changed or truncated.
    """

    value: JsonValue
    path: str = ""

    def refused(self, expected: str) -> InputError:
        """The refusal of this value."""
        shown = repr(self.value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        place = self.path or "the text"
        return InputError(f"In this JSON {place} is {shown}, not {expected}; it was changed or truncated.")

    def entries(self) -> dict[str, SavedField]:
        """The fields of an object."""
        if not isinstance(self.value, dict):
            raise self.refused("an object with fields")
        return {name: SavedField(value, self._below(name)) for name, value in self.value.items()}

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def __getitem__(self, name: str) -> SavedField:
        fields = self.entries()
        if name not in fields:
            raise InputError(f"This JSON lacks the field {self._below(name)}; it was changed or truncated.")
        return fields[name]

    def get(self, name: str) -> SavedField:
        """The field of an object, null where it is not there."""
        return self[name] if name in self.entries() else SavedField(None, self._below(name))

    def each(self) -> list[SavedField]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return [SavedField(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def each_or_none(self) -> list[SavedField]:
        """The values of a list; none for null."""
        return [] if self.value is None else self.each()

    def scalar(self) -> str | float | bool | None:
        """A text, a number, a boolean or null."""
        if isinstance(self.value, (list, dict)):
            raise self.refused("a single value")
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.refused("a text")
        return self.value

    def text_or_none(self) -> str | None:
        """A text, or None for null."""
        return None if self.value is None else self.text()

    def whole(self) -> int:
        """A whole number of 0 or more."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            raise self.refused("a whole number of 0 or more")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def number(self) -> float:
        """A number, NaN for null."""
        if self.value is None:
            return math.nan
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            raise self.refused("a number")
        return float(self.value)

    def number_as_written(self) -> int | float:
        """A number, whole where it is written so."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else self.number()


# ---------------------------------------------------------------- saved checks


def check_saved_rows(rows: Array, what: str) -> None:
    """Refuse numbers of rows that are not whole, are negative, or exceed what 64 bits hold together."""
    if rows.size and rows.dtype.kind != "i":
        raise InputError(f"The rows of a saved {what} are whole numbers.")
    if rows.size and rows.min() < 0:
        raise InputError(f"The rows of a saved {what} are finite and not negative.")
    if rows.size and (int(rows.max()) * rows.size > LARGEST) and sum(rows.ravel().tolist()) > LARGEST:
        raise CountOverflowError(f"The saved {what} holds more than {LARGEST} rows, the largest whole count.")


def check_saved_weights(rows: Array, weights: Array, squares: Array, what: str) -> None:
    """Refuse weights without rows, rows without weight, and squares that no weights of that sum have.

    Rows may be rounded from counts that are not whole, so the least of squares, weights**2 / rows, is taken by half.
    """
    least = weights / 2 * (weights / np.maximum(rows, 1))
    if (weights[rows > 0] <= 0).any() or (squares < least).any() or (squares[weights == 0] > 0).any():
        raise InputError(
            f"The weights and squares of a saved {what} are sums over its rows, above 0 where there are rows; some of "
            "these cannot be. Tally the rows again."
        )


# ---------------------------------------------------------------- saved matrix


def read_matrices(saved: Mapping[str, Any], size: int) -> tuple[Any, Any, Any]:
    """The rows of a saved confusion of so many labels, its weights and its squares; None where it has no weights."""
    rows = read_matrix(saved["rows"], size, "rows")
    check_saved_rows(_values(rows), "confusion")
    if saved["weights"] is None and saved["squares"] is None:
        return rows, None, None
    if saved["weights"] is None or saved["squares"] is None:
        raise InputError("A saved confusion has weights and squares together, or neither; tally the rows again.")
    weights, squares = (read_matrix(saved[key], size, key).astype(np.float64) for key in ("weights", "squares"))
    if isinstance(rows, SparseMatrix) and not all(
        np.array_equal(part.places, rows.places) for part in (weights, squares)
    ):
        raise InputError(
            "The rows, weights and squares of a saved confusion are of the same cells; tally the rows again."
        )
    check_saved_weights(_values(rows), _values(weights), _values(squares), "confusion")
    return rows, weights, squares


def read_matrix(cells: Any, size: int, name: str) -> Any:
    """A saved matrix: a list of rows, or of very many labels an object of the cells that exist."""
    matrix = _sparse(cells, size, name) if isinstance(cells, dict) else _square(cells, size, name)
    numbers = _values(matrix)
    if numbers.size and not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise InputError(f"The {name} of a saved confusion are finite and not negative.")
    return matrix


def _values(matrix: Any) -> Array:
    return matrix.values if isinstance(matrix, SparseMatrix) else np.asarray(matrix)


def _square(cells: Any, size: int, name: str) -> Array:
    try:
        matrix = np.asarray(cells)
    except ValueError:
        matrix = np.zeros(0)
    if (matrix.shape != (size, size) or matrix.dtype.kind not in "if") and (matrix.size or size):
        raise InputError(f"The {name} of a saved confusion are {size} x {size} numbers, a row and a column a label.")
    kind = np.int64 if matrix.dtype.kind == "i" or not size else np.float64
    return np.asarray(matrix).reshape(size, size).astype(kind)


def _sparse(cells: Mapping[str, Any], size: int, name: str) -> Any:
    try:
        true, predicted, values = (np.asarray(cells[key]) for key in ("true", "predicted", "values"))
    except (KeyError, ValueError):
        true = predicted = values = np.array([None])
    alike = true.ndim == 1 and true.shape == predicted.shape == values.shape
    places = np.concatenate([true.ravel(), predicted.ravel()])
    if not alike or (places.size and (places.dtype.kind != "i" or values.dtype.kind not in "if")):
        raise InputError(
            f"The {name} of a saved confusion of many labels list true, predicted and values of each cell."
        )
    if places.size and not (places.min() >= 0 and places.max() < size):
        raise InputError(f"The {name} of a saved confusion name places below {size:,}, the number of its labels.")
    if size <= MOST_DENSE_LABELS:
        raise InputError(f"The {name} of a saved confusion of {size:,} labels are a list of rows, not of cells.")
    matrix = SparseMatrix.of(true.astype(np.int64), predicted.astype(np.int64), values, size)
    if len(matrix.places) < len(true):
        raise InputError(f"The {name} of a saved confusion list each cell once.")
    return matrix
