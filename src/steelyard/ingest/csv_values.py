"""Values of text files: what cells mean as labels and as groups, where numbers and truth values are but text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest.label_codes import fraction_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from steelyard._types import Array, Label

    Parser = Callable[[str], Label]

# Without leading zeros, which belong to names such as 007; not longer than any number is.
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,99})(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][+-]?\d{1,3})?")
_DIGITS = re.compile(r"[+-]?\d+")
TRUTH = {"true": True, "false": False}
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"}


def labels(columns: Sequence[Array], names: Sequence[str]) -> list[Array]:
    """Labels of a text file: whole numbers or truth values where all of them are, else the text without its blanks.

    Missing values, however they are spelled, and fractions are refused, as in files that know numbers.
    """
    cells = [[text.strip() for text in column.tolist()] for column in columns]
    parsers = [_label_parser(set(texts), name) for texts, name in zip(cells, names, strict=True)]
    if None in parsers and _share(cells, parsers):
        parsers = [None] * len(cells)
    return [
        _objects(texts if parse is None else map(parse, texts)) for texts, parse in zip(cells, parsers, strict=True)
    ]


def _label_parser(texts: Collection[str], name: str) -> Parser | None:
    """How to read the texts of one column; None where they are just text."""
    missing = min((text for text in texts if text.lower() in MISSING), default=None)
    others = [text for text in texts if text.lower() != "none"]
    parse = parser(others)
    if missing is None and parse is not None and len(others) < len(texts):  # a class may be called none, not a number
        missing = next(text for text in texts if text.lower() == "none")
    if missing is not None:
        shown = f" ({missing})" if missing else ""
        raise InputError(f"The column {name!r} holds missing labels{shown}; drop those rows, or give them a label.")
    fractions = [] if parse is not parse_number else [t for t in texts if not isinstance(parse_number(t), int)]
    if fractions:
        raise InputError(fraction_sentence(f"The column {name!r}", parse_number(min(fractions))))
    return parse


def _share(cells: Sequence[Sequence[str]], parsers: Sequence[Parser | None]) -> bool:
    """Whether columns of text hold the numbers or truth values of the others, which then are text as well."""
    text, others = (
        {label for texts, parse in zip(cells, parsers, strict=True) if (parse is None) == which for label in texts}
        for which in (True, False)
    )
    return not text.isdisjoint(others)


def parser(texts: Collection[str]) -> Parser | None:
    """How to read texts that are all numbers, or all truth values; None for any others."""
    if texts and all(_NUMBER.fullmatch(text) for text in texts):
        return parse_number
    if texts and all(text.lower() in TRUTH for text in texts):
        return lambda text: TRUTH[text.lower()]
    return None


def parse_number(text: str) -> float:
    """The number that a text is, an integer where it is whole."""
    if _DIGITS.fullmatch(text):
        return int(text)
    value = float(text)
    return int(value) if value.is_integer() else value


def parse_value(text: str) -> Label:
    """The number or truth value that a text is; None where it is neither."""
    parse = parser([text])
    return None if parse is None else parse(text)


def group_values(values: Sequence[str | None]) -> list[Label]:
    """The groups of a column of a text file: numbers or truth values where all of them are, else text."""
    texts = {value for value in values if value is not None and value.strip().lower() not in MISSING}
    parse = parser({text.strip() for text in texts})
    if parse is None:
        return list(values)
    return [parse(value.strip()) if value in texts else None for value in values]


def _objects(values: Iterable[Label]) -> Array:
    listed = list(values)
    objects = np.empty(len(listed), dtype=object)
    objects[:] = listed
    return objects
