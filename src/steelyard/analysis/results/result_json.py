"""Result JSON: what a result holds as strict JSON values, and the same read back by the types of its fields."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from steelyard.exceptions import InputError, SteelyardError
from steelyard.metrics.measure import Metric
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import CELLS, Counts
from steelyard.tables.saved import read_json, with_digest
from steelyard.tables.score_table import ScoreTable

RESULT_SCHEMA = 2
KEY = "key"  # in a field's metadata: its name in JSON; None where it is not saved
SavedResult: TypeAlias = "str | bytes | Path | dict[str, Any]"  # its text, its file, or what was read of it
_LONGEST_NAME = 200  # characters of a file's name in a sentence
_TYPES: dict[type, dict[str, Any]] = {}  # of each dataclass that was written or read


# ---------------------------------------------------------------- writing


class Writer:
    """Values as strict JSON takes them, and in `not_finite` where null stands for something else than its type says."""

    def __init__(self) -> None:
        self.not_finite: dict[str, str] = {}

    def written(self, value: object, pointer: str = "", *, optional: bool = False) -> Any:
        """One value: infinities are null and listed by their JSON pointer, and so is NaN where None may stand."""
        match value:
            case np.generic() | np.ndarray():
                return self.written(value.tolist(), pointer, optional=optional)
            case float() if not math.isfinite(value):
                if optional or math.isinf(value):
                    self.not_finite[pointer] = str(value)
                return None
            case None | bool() | int() | float() | str():
                return value
            case MetricSpec() | Metric():
                return value.name
            case Mapping():
                parts = {str(key): (_below(pointer, key), item) for key, item in value.items()}
                return {key: self.written(item, below, optional=optional) for key, (below, item) in parts.items()}
            case Counts():
                return self.written(value.to_dict(), pointer)
            case Confusion() | ScoreTable():
                return value.saved()
            case list() | tuple():
                return [self.written(item, _below(pointer, i), optional=optional) for i, item in enumerate(value)]
        if hasattr(value, "saved"):
            return self.written(value.saved(), pointer)
        return self.of_fields(value, pointer) if is_dataclass(value) else str(value)

    def of_fields(self, holder: object, pointer: str = "") -> dict[str, Any]:
        """The fields of a dataclass by their keys."""
        hints = field_types(holder.__class__)
        return {
            key: self.written(getattr(holder, field.name), _below(pointer, key), optional=_optional(hints[field.name]))
            for key, field in saved_fields(type(holder)).items()
        }


def _below(pointer: str, key: object) -> str:
    """The JSON pointer (RFC 6901) of what lies under this key."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def saved_fields(cls: type) -> dict[str, Field[Any]]:
    """The fields of a dataclass that are saved, by their names in JSON."""
    keys = {field: field.metadata.get(KEY, field.name) for field in fields(cls) if field.init}
    return {key: field for field, key in keys.items() if key is not None}


def field_types(cls: type) -> dict[str, Any]:
    """The types of the fields that are saved, by their names; those of others need not be there when it runs."""
    if cls not in _TYPES:
        names = {field.name for field in saved_fields(cls).values()}
        _TYPES[cls] = {}
        for base in reversed(cls.__mro__):
            own = {name: text for name, text in vars(base).get("__annotations__", {}).items() if name in names}
            there = vars(sys.modules[base.__module__])
            _TYPES[cls] |= get_type_hints(SimpleNamespace(__annotations__=own), there, include_extras=True)
    return _TYPES[cls]


def _optional(hint: Any) -> bool:
    """Whether null may stand there for something else than an undefined number."""
    if get_origin(hint) is np.ndarray:
        return False
    return hint in (Any, NoneType) or any(map(_optional, get_args(hint)))


# ---------------------------------------------------------------- reading


def parsed(given: SavedResult) -> dict[str, Any]:
    """The object that JSON text, or a file of it, holds."""
    if isinstance(given, Path) or (isinstance(given, str) and not given.lstrip().startswith(("{", "["))):
        try:
            given = Path(given).read_text(encoding="utf-8")
        except (OSError, ValueError):
            name = str(given)
            shown = name if len(name) <= _LONGEST_NAME else f"…{name[-_LONGEST_NAME:]}"
            raise InputError(f"{shown!r} is neither JSON that to_json() wrote nor a file of it.") from None
    try:
        data = given if isinstance(given, dict) else read_json(given)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError("This is no JSON; give the text that to_json() wrote, or the path of a file of it.") from None
    if not isinstance(data, dict):
        raise InputError("This JSON is no object; give the text that to_json() wrote.")
    return data


def with_not_finite(data: dict[str, Any]) -> dict[str, Any]:
    """A copy with the infinities at the places where they are listed."""
    try:
        whole: dict[str, Any] = read_json(json.dumps(data))
    except InputError:
        raise
    except (ValueError, TypeError, RecursionError):
        raise InputError("This saved result holds what JSON does not; give the text that to_json() wrote.") from None
    try:
        for pointer, number in whole.pop("not_finite", {}).items():
            *above, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
            holder: Any = whole
            for part in above:
                holder = holder[int(part) if isinstance(holder, list) else part]
            holder[int(last) if isinstance(holder, list) else last] = float(number)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise InputError(
            'In this JSON "not_finite" names no infinite numbers that it holds; give the text that to_json() wrote.'
        ) from None
    return whole


def from_fields(cls: type, data: dict[str, Any], **given: object) -> Any:
    """A dataclass of what is saved of its fields, or given; those that are not there keep their defaults."""
    hints, values = field_types(cls), given
    for key, field in saved_fields(cls).items():
        if key in data:
            values[field.name] = read(hints[field.name], data[key])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"This saved {cls.__name__} lacks {key!r}; give the text that to_json() wrote.")
    return cls(**values)


def read(hint: Any, value: Any) -> Any:
    """A value of that type."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or hint is float or isinstance(hint, TypeVar) or hint is np.ndarray or origin is np.ndarray:
        return value if hint is Any else _numbers(value)
    if origin in (Union, UnionType):
        return None if value is None else read(_matching([arg for arg in args if arg is not NoneType], value), value)
    if origin is tuple:
        each = args[:1] * len(value) if args[1:] == (...,) else args
        return tuple(read(arg, item) for arg, item in zip(each, value, strict=True))
    if not isinstance(origin or hint, type):
        return value  # such as a Literal
    if origin is not None and issubclass(origin, list):
        return origin(read(args[0], item) for item in value)
    if origin is not None and issubclass(origin, Mapping):
        return {key: read(args[1], item) for key, item in value.items()}
    return _object(origin or hint, value)


def _numbers(value: Any) -> Any:
    """A number, or an array where a list of them was saved; null is NaN in either."""
    if not isinstance(value, list):
        return math.nan if value is None else value
    array = np.array(value)
    return array.astype(np.float64) if array.dtype == object and _all_numbers(value) else array


def _all_numbers(value: Any) -> bool:
    return all(map(_all_numbers, value)) if isinstance(value, list) else value is None or isinstance(value, float | int)


def _matching(hints: list[Any], value: Any) -> Any:
    """The one of several types that such a value has."""
    if len(hints) == 1:
        return hints[0]
    kinds = (str,) if isinstance(value, str) else (np.ndarray,) if isinstance(value, list) else (float, int)
    return next((hint for hint in hints if (get_origin(hint) or hint) in kinds), Any)


def _object(cls: type, value: Any) -> Any:
    if cls in (MetricSpec, Metric):
        return read_metric(value) if cls is MetricSpec else read_metric(value).metric
    if cls is Counts:
        return Counts(**value)
    if cls in (Confusion, ScoreTable):
        return cls.from_json(value)
    for reader in ("from_saved", "from_held"):
        if hasattr(cls, reader):
            return getattr(cls, reader)(value)
    return from_fields(cls, value) if is_dataclass(cls) else value


def read_metric(name: str) -> MetricSpec:
    """The metric of a written form; one that somebody declared has to be declared here as well."""
    try:
        return MetricSpec.of(name)
    except SteelyardError:
        raise InputError(f"There is no metric {name!r} here; declare it with @metric, then read this again.") from None


# ---------------------------------------------------------------- equality


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, NaN to NaN, whatever holds them."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        first, second = np.asarray(a), np.asarray(b)
        return first.shape == second.shape and all(map(same, first.ravel().tolist(), second.ravel().tolist()))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(item, b[key]) for key, item in a.items())
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    if is_dataclass(a) and type(a) is type(b) and (_compares_fields(a) or type(a).__eq__ is object.__eq__):
        return same_fields(a, b)
    return bool(a == b)


def _compares_fields(holder: Any) -> bool:
    return bool(holder.__dataclass_params__.eq)  # false where eq=False was given


def same_fields(a: Any, b: Any) -> bool:
    """Whether two of one dataclass hold the same."""
    return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)


# ---------------------------------------------------------------- strict JSON
# Values without NaN or Infinity, and the text of them.


def strict(value: object) -> Any:
    """The value as strict JSON takes it: null for what is not finite, plain numbers for NumPy's.

    >>> strict({"low": float("nan"), "all": (1, float("inf"))})
    {'low': None, 'all': [1, None]}
    """
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def json_text(value: object, indent: int | None = None) -> str:
    """Strict JSON in readable letters; labels of other kinds, such as dates, as their text."""
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False, default=str)


def saved_text(data: dict[str, Any], indent: int | None = None) -> str:
    """A saved result as strict JSON text, with a digest by which a later change of it is noticed."""
    return json_text(with_digest(data), indent)


# ---------------------------------------------------------------- result schema
# The JSON Schema of a kind of result, from the types of its fields.


Schema = dict[str, Any]
_NUMBER: Schema = {"type": ["number", "null"]}  # null is undefined or infinite
_SIMPLE: dict[Any, Schema] = {
    float: _NUMBER,
    int: {"type": "integer"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    MetricSpec: {"type": "string", "description": "the written form of a metric"},
    Metric: {"type": "string", "description": "the name of a metric"},
}
_MARKS: Schema = {"type": "object", "additionalProperties": {"enum": [str(math.inf), str(-math.inf), str(math.nan)]}}


def envelope_schema(kind: str, content: Schema) -> Schema:
    """The schema of a whole result: what it is, then what it holds."""
    named = {"schema": {"const": RESULT_SCHEMA}, "kind": {"const": kind}, "version": {"type": "string"}}
    digest: Schema = {"type": "string", "description": "of all else: a text whose digest is another one is refused"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Steelyard's {kind.replace('_', ' ')}, schema {RESULT_SCHEMA}",
        "type": "object",
        "properties": {**named, **content.get("properties", {}), "not_finite": _MARKS, "digest": digest},
        "required": [*named, *content.get("required", [])],
    }


def fields_schema(cls: type) -> Schema:
    """The schema of what is saved of a dataclass."""
    hints, saved = field_types(cls), saved_fields(cls)
    needed = [key for key, f in saved.items() if f.default is MISSING and f.default_factory is MISSING]
    types = {key: hints[field.name] for key, field in saved.items()}
    # Parts of a result that are results of its kind, as those of groups, are not described once more.
    properties = {key: {} if cls in get_args(hint) else type_schema(hint) for key, hint in types.items()}
    return {"type": "object", "properties": properties, "required": needed}


def type_schema(hint: Any) -> Schema:
    """The schema of a value of that type; what is not described may be anything."""
    origin, args = get_origin(hint), get_args(hint)
    cls = origin or hint
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (Union, UnionType):
        return {"anyOf": [type_schema(arg) for arg in args]}
    if origin is Literal:
        return {"enum": list(args)}
    if origin is Annotated or cls is np.ndarray:
        return {"type": ["number", "null", "array", "string", "boolean"]}
    if origin is tuple and args[1:] != (...,):
        return {"type": "array", "prefixItems": [type_schema(arg) for arg in args]}
    if not isinstance(cls, type):
        return {}
    if issubclass(cls, list | tuple) and args:
        return {"type": "array", "items": type_schema(args[0])}
    if issubclass(cls, Mapping):
        return {"type": "object", "additionalProperties": type_schema(args[1]) if args else {}}
    if issubclass(cls, Counts):
        return {"type": "object", "required": list(CELLS)}
    return fields_schema(cls) if is_dataclass(cls) and not hasattr(cls, "from_saved") else {}
