"""Values of text files: what cells mean as labels and as groups, where numbers and truth values are but text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest.label_codes import fraction_sentence
from steelyard.statistics.label_kinds import number_texts, parse_number, parser

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.statistics.label_kinds import Parser

MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"}
MISSING_CELLS = {*MISSING, "?"}  # of tables that models learn from: UCI and KEEL mark it so; a class may be called ?


def labels(columns: Sequence[Array], names: Sequence[str], declared: Labels | None = None) -> list[Array]:
    """Labels of a text file: whole numbers or truth values where all of them are, else the text without its blanks.

    Where text is among the declared labels all are text. Missing values, however they are spelled, and fractions are
    refused, as in files that know numbers.
    """
    cells = [["" if text is None else text.strip() for text in column.tolist()] for column in columns]
    parsers = [_label_parser(set(texts), name) for texts, name in zip(cells, names, strict=True)]
    if any(isinstance(label, str) for label in declared or ()):
        return [_objects(texts) for texts in cells]
    read = [texts if parse is None else list(map(parse, texts)) for texts, parse in zip(cells, parsers, strict=True)]
    texts = number_texts(label for column in read for label in column)
    if not {*texts.values()}.isdisjoint(label for column in read for label in column):
        read = [[texts.get(label, label) for label in column] for column in read]
    return [_objects(column) for column in read]


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
