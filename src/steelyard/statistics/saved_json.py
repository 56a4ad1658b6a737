"""Saved tables: strict JSON with the number of its schema, written and read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard._types import Label

SCHEMA = 1
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
    return _fields(data, kind, fields) | {name: data.get(name) for name in optional}


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise InputError("This is not a saved table, nor JSON at all; give the text that to_json() wrote.") from None


def to_strict_json(table: dict[str, Any]) -> str:
    """A saved table as strict JSON, without blanks: a table of scores may have millions of numbers."""
    return json.dumps(table, allow_nan=False, separators=(",", ":"))


def check_labels(labels: Iterable[Label]) -> list[Label]:
    """Labels that JSON can hold, as a list; others are refused."""
    for label in labels:
        if not isinstance(label, (str, int, float, bool)):
            kind = type(label).__name__
            raise InputTypeError(f"JSON cannot hold labels such as {label!r} ({kind}); use text or numbers.")
    return list(labels)


def _fields(data: Mapping[str, Any], kind: str, fields: tuple[str, ...]) -> dict[str, Any]:
    missing = [name for name in fields if name not in data]
    if missing:
        msg = f"This saved {kind} lacks {', '.join(missing)}; it needs {', '.join(fields)}."
        raise InputError(msg)
    return {name: data[name] for name in fields}
