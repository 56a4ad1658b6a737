"""Kinds of labels: text, bytes or numbers, what a text means, and the one rule by which numbers and text become one."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from steelyard._types import Label

    Parser = Callable[[str], Label]

TEXT, RAW, NUMBER = "text", "bytes", "numbers"
# Without leading zeros, which belong to names such as 007; not longer than any number is.
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,99})(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][+-]?\d{1,3})?")
_DIGITS = re.compile(r"[+-]?\d+")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_SPELLINGS: tuple[Callable[[Label], str], ...] = (
    str,
    lambda value: str(value).lower(),
    lambda value: str(value).upper(),
    lambda value: f"{value}.0",
)


def label_kind(label: Label) -> str:
    """Whether a label is text, bytes or a number."""
    return TEXT if isinstance(label, str) else RAW if isinstance(label, bytes) else NUMBER


def kinds_sentence(name: str, labels: Iterable[Label]) -> str | None:
    """That labels are of several kinds, with an example of each; None where they are of one."""
    kinds = {label_kind(label): label for label in labels}
    mix = " and ".join(f"{kind} such as {label!r}" for kind, label in kinds.items())
    return f"{name} mixes {mix}; give all labels as one kind." if len(kinds) > 1 else None


# ---------------------------------------------------------------- what a text means


def parser(texts: Collection[str]) -> Parser | None:
    """How to read texts that are all numbers, or all truth values, 0 and 1 among them; None for any others."""
    if texts and all(_NUMBER.fullmatch(text) for text in texts):
        return parse_number
    if texts and all(text.lower() in _TRUTH for text in texts):
        return lambda text: _TRUTH[text.lower()]
    return None


def parse_number(text: str) -> float:
    """The number that a text is, an integer where it is whole."""
    if _DIGITS.fullmatch(text):
        return int(text)
    value = float(text)
    if not value.is_integer():
        return value
    exact = Decimal(text)  # beyond 2**53 a float would be another number
    return int(exact) if exact == exact.to_integral_value() else value


def parse_value(text: str) -> Label:
    """The number or truth value that a text is; None where it is neither."""
    parse = parser([text])
    return None if parse is None else parse(text)


# ---------------------------------------------------------------- numbers that meet text


def number_texts(values: Iterable[Label]) -> dict[Label, str]:
    """Where numbers meet texts that read like some of them, the text that each number is; nothing where none does.

    Numbers among text are text, as in a text file: one takes the text that reads like it, or is spelled as the others.

    >>> number_texts([0, 1, "0", "unknown"]), number_texts([0, 1, "0.0"]), number_texts([0, 1, "unknown"])
    ({0: '0', 1: '1'}, {0: '0.0', 1: '1.0'}, {})
    """
    present = list(dict.fromkeys(values))
    numbers = [value for value in present if isinstance(value, (int, float))]
    twins = _texts_by_value(value for value in present if isinstance(value, str)) if numbers else {}
    matched = [(number, twins[_key(number)]) for number in numbers if _key(number) in twins]
    if not matched:
        return {}
    spell = next((f for f in _SPELLINGS if all(f(number) == text for number, text in matched)), str)
    return {number: twins.get(_key(number), spell(number)) for number in numbers}


def label_texts(*tables: Collection[Label]) -> dict[Label, str]:
    """The same for the labels of tables that are added up; refused where no number reads like any of the texts."""
    labels = [label for table in tables for label in table]
    texts = number_texts(labels)
    problem = kinds_sentence("What is added up", [texts.get(label, label) for label in labels])
    if problem is not None:
        raise InputTypeError(f"{problem} labels= declares those of every part.")
    return texts


def _texts_by_value(texts: Iterable[str]) -> dict[tuple[bool, Label], str]:
    """The texts that read as numbers or truth values, by what they read as; two for one value are refused."""
    by_value: dict[tuple[bool, Label], str] = {}
    for text in texts:
        value = parse_value(text.strip())
        if value is not None and (twin := by_value.setdefault(_key(value), text)) != text:
            raise InputError(
                f"The number {value!r} meets the texts {twin!r} and {text!r}, which both read like it; write all of "
                "them alike."
            )
    return by_value


def _key(value: Label) -> tuple[bool, Label]:
    """A key that differs for True and 1, which are equal."""
    return isinstance(value, bool), value
