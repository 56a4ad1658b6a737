"""Texts: what the cells of a text file mean as labels and as groups, where numbers and truth values are but text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest.label_codes import continuous

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from steelyard._types import Array

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
    readers = [_label_reader(set(texts), name) for texts, name in zip(cells, names, strict=True)]
    if None in readers and _share(cells, readers):
        readers = [None] * len(cells)
    return [_objects(texts if read is None else map(read, texts)) for texts, read in zip(cells, readers, strict=True)]


def _label_reader(texts: Collection[str], name: str) -> Callable[[str], Any] | None:
    """How to read the texts of one column; None where they are just text."""
    spelled = min((text for text in texts if text.lower() in MISSING), default=None)
    known = [text for text in texts if text.lower() != "none"]
    read = reader(known)
    if spelled is None and read is not None and len(known) < len(texts):  # a class may be called none, not a number
        spelled = next(text for text in texts if text.lower() == "none")
    if spelled is not None:
        told = f" ({spelled})" if spelled else ""
        raise InputError(f"The column {name!r} holds missing labels{told}; drop those rows, or give them a label.")
    broken = [] if read is not number else [text for text in texts if not isinstance(number(text), int)]
    if broken:
        raise InputError(continuous(f"The column {name!r}", number(min(broken))))
    return read


def _share(cells: Sequence[Sequence[str]], readers: Sequence[Any]) -> bool:
    """Whether columns of text hold the numbers or truth values of the others, which then are text as well."""
    text, others = (
        {label for some, read in zip(cells, readers, strict=True) if (read is None) == which for label in some}
        for which in (True, False)
    )
    return not text.isdisjoint(others)


def reader(texts: Collection[str]) -> Callable[[str], Any] | None:
    """How to read texts that are all numbers, or all truth values; None for any others."""
    if texts and all(_NUMBER.fullmatch(text) for text in texts):
        return number
    if texts and all(text.lower() in TRUTH for text in texts):
        return lambda text: TRUTH[text.lower()]
    return None


def number(text: str) -> float:
    """The number that a text is, an integer where it is whole."""
    if _DIGITS.fullmatch(text):
        return int(text)
    value = float(text)
    return int(value) if value.is_integer() else value


def value(text: str) -> Any:
    """The number or truth value that a text is; None where it is neither."""
    read = reader([text])
    return None if read is None else read(text)


def groups(values: Sequence[Any]) -> list[Any]:
    """The groups that a column of a text file tells: numbers or truth values where all of them are, else text."""
    texts = {value for value in values if value is not None and value.strip().lower() not in MISSING}
    read = reader({text.strip() for text in texts})
    if read is None:
        return list(values)
    return [read(value.strip()) if value in texts else None for value in values]


def _objects(values: Any) -> Array:
    held = list(values)
    made = np.empty(len(held), dtype=object)
    made[:] = held
    return made
