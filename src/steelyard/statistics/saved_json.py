"""Saved tables: strict JSON with the number of its schema, written and read again."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard._types import Label

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
