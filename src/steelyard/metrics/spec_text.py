"""Written forms: f_beta[beta=2, average=macro] and recall[class="a, b]"], read and printed by the same rules."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.exceptions import InputError
from steelyard.metrics.notation import plain_number

if TYPE_CHECKING:
    from collections.abc import Mapping

Setting: TypeAlias = "str | int | float | bool | None"
_WORDS: dict[str, Setting] = {"None": None, "True": True, "False": False}


def write_form(name: str, settings: Mapping[str, object]) -> str:
    """The written form of a name with settings.

    >>> write_form("f_beta", {"beta": 2.0, "average": "macro"}), write_form("recall", {"class": "a, b]"})
    ('f_beta[beta=2, average=macro]', 'recall[class="a, b]"]')
    """
    # A label keeps its kind, 1 or 1.0; a parameter is a number either way.
    inside = ", ".join(f"{key}={_written(value, is_label=key == 'class')}" for key, value in settings.items())
    return f"{name}[{inside}]" if inside else name


def parse_form(form: str) -> tuple[str, dict[str, Setting]]:
    """The name and the settings of a written form; a setting may be a written form itself, or quoted.

    >>> parse_form('recall[class="a, b]"]'), parse_form("iba[of=f_beta[beta=2], alpha=0.1]")
    (('recall', {'class': 'a, b]'}), ('iba', {'of': 'f_beta[beta=2]', 'alpha': 0.1}))
    """
    joined = form if '"' in form else form.replace("][", ", ")  # an older spelling: f_beta[beta=2][average=macro]
    name, bracket, inside = joined.strip().partition("[")
    if not bracket:
        return name, {}
    parts = [part.partition("=") for part in split_outside_brackets(inside[:-1])]
    if not inside.endswith("]") or not all(key.strip() and sign and value.strip() for key, sign, value in parts):
        raise InputError(f"{form!r} is not a metric with parameters; write it like f_beta[beta=2].")
    settings = {key.strip(): _read(value.strip(), form) for key, _, value in parts}
    if len(settings) < len(parts):
        raise InputError(f"{form!r} gives a parameter twice.")
    return name.strip(), settings


def split_outside_brackets(inside: str) -> list[str]:
    """The parts between commas that stand in no brackets and no quotes."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for sign in inside:
        if not escaped and sign == '"':
            quoted = not quoted
        escaped = quoted and sign == "\\" and not escaped
        depth += 0 if quoted else (sign == "[") - (sign == "]")
        if sign == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _written(value: object, *, is_label: bool) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return plain_number(value) if math.isfinite(value) and not is_label else repr(value)
    if isinstance(value, (bool, int)) or value is None:
        return str(value)
    text = str(getattr(value, "name", value))
    return text if _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether the text reads back as it stands, without quotes."""
    if not text or text != text.strip() or any(sign in text for sign in '"\n') or "][" in text:
        return False
    depths = np.cumsum([(sign == "[") - (sign == "]") for sign in text])
    return (
        depths[-1] == 0 and depths.min() >= 0 and split_outside_brackets(text) == [text] and _read(text, text) == text
    )


def _read(text: str, form: str) -> Setting:
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            raise InputError(f'{form!r} has quotes that do not close; write it like recall[class="a, b"].') from None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _WORDS.get(text, text)
