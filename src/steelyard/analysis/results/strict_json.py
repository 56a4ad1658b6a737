"""Strict JSON: values without NaN or Infinity, and the text of them."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

DIGEST, ENTRY = "digest", "entry"  # of a result, and of the ledger that holds it, which has a digest of its own
_WHOLE = 2**53  # below it a number is the same as a whole one and as a float


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
    return json_text(data | {DIGEST: content_digest(data)}, indent)


def content_digest(data: dict[str, Any]) -> str:
    """The digest of all else that JSON holds, whatever the order of keys, the blanks, and whether 1 is written 1.0."""
    text = json_text({key: value for key, value in data.items() if key not in (DIGEST, ENTRY)})
    content = json.loads(text.encode("utf-8", "replace"))  # as it will be read back
    text = json.dumps(_plain_numbers(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and abs(value) < _WHOLE and value == int(value) else value
