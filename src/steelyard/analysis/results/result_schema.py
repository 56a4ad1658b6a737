"""Result schema: the JSON Schema of a kind of result, from the types of its fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from steelyard.analysis.results.result_json import RESULT_SCHEMA, field_types, saved_fields
from steelyard.metrics.metric import Metric
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import CELLS, Counts

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
    hints, kept = field_types(cls), saved_fields(cls)
    needed = [key for key, f in kept.items() if f.default is MISSING and f.default_factory is MISSING]
    types = {key: hints[field.name] for key, field in kept.items()}
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
    return _object_schema(cls)


def _object_schema(cls: type) -> Schema:
    if issubclass(cls, Counts):
        return {"type": "object", "required": list(CELLS)}
    described = is_dataclass(cls) and not hasattr(cls, "from_saved")
    return fields_schema(cls) if described else {}
