"""Strict JSON: values without NaN or Infinity, and the text of them."""

from __future__ import annotations

import json
import math
from typing import Any

from steelyard.statistics.saved_json import with_digest


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
