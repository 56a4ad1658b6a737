"""Label tables: the distinct rows that a query brought back, as a Confusion or a Paired table for each group."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, did_you_mean
from steelyard.ingest import csv_values, label_codes
from steelyard.ingest.source import nested
from steelyard.statistics.confusion import MOST_LABELS, Confusion
from steelyard.statistics.paired import Paired, check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.ingest.queries import Keyed
    from steelyard.ingest.source import Wish


def label_tables(counted: Keyed, wish: Wish, textual: bool) -> dict[tuple[Any, ...], Any]:
    """The table of all rows, under no key, and those of each group."""
    by, columns = len(wish.columns.by), wish.columns
    names = (columns.true, *columns.pred)
    given = [values(key, name) for key, name in zip(counted.keys[by:], names, strict=True)]
    if not len(counted.rows) and wish.labels is None:
        raise InputError("There are no rows to weigh; give at least one, or declare the labels.")
    codes, known = _encoded(csv_values.labels(given, names) if textual else given, wish, names)
    if len(known) > MOST_LABELS:
        raise InputError(
            f"There are {len(known):,} different labels; at most {MOST_LABELS:,} are weighed. "
            "Are these labels, or columns of numbers or names?"
        )
    make = _confusion if len(columns.pred) == 1 else _paired
    positive = resolved(wish.pos_label, known)
    which = groups([key.tolist() for key in counted.keys[:by]], len(counted.rows), textual)
    return {key: make(codes, known, positive, picked(counted, held), held) for key, held in which.items()}


def values(key: Array, name: str) -> Array:
    """The labels of a key, whatever an engine calls a missing one."""
    if any(map(_is_missing, key.tolist())):
        raise InputError(f"The column {name!r} holds missing labels; drop those rows, or give them a label.")
    return key


def _encoded(values: list[Array], wish: Wish, names: Sequence[str]) -> tuple[list[Array], tuple[Any, ...]]:
    found = [label_codes.distinct(column, f"The column {name!r}") for column, name in zip(values, names, strict=True)]
    for name, (_, labels) in zip(names[1:], found[1:], strict=True):
        label_codes.check_alike(found[0][1], labels, f"The column {names[0]!r}", f"the column {name!r}")
    known = wish.labels or tuple(sorted({label for _, labels in found for label in labels}))
    codes = [
        label_codes.recode(code, labels, known, f"The column {name!r}")
        for (code, labels), name in zip(found, names, strict=True)
    ]
    return codes, known


def resolved(pos_label: Any, labels: Sequence[Any]) -> Any:
    """The label that was named positive: itself, or the one that reads like it, as "1" reads like 1."""
    if pos_label is None:
        return None
    read = csv_values.value(str(pos_label).strip())
    for same in (
        lambda label: label == pos_label,
        lambda label: str(label) == str(pos_label),
        lambda label: not isinstance(label, str) and label == read,
    ):
        for label in labels:
            if same(label):
                return label
    near = did_you_mean(str(pos_label), [str(label) for label in labels])
    shown = ", ".join(map(repr, labels[:10]))
    raise InputError(f"The positive class {pos_label!r} does not occur; there are {shown}.{near}")


def groups(keys: Sequence[Sequence[Any]], rows: int, textual: bool) -> dict[tuple[Any, ...], Array]:
    """Which rows belong to each group; all of them under no key."""
    everyone = np.arange(rows)
    if not keys:
        return {(): everyone}
    book, named = label_codes.Book(), label_codes.Book()
    try:
        codes = np.fromiter(map(book.__getitem__, zip(*keys, strict=True)), np.intp, rows)
    except TypeError:
        raise InputTypeError(nested("A column of groups holds lists or other objects")) from None
    # Engines bring a missing value back as None, NaN and others, each NaN another key: one group by what they mean.
    held = [[key[i] for key in book] for i in range(len(keys))]
    means = [map(_plain, csv_values.groups(values) if textual else values) for values in held]
    codes = np.array([named[key] for key in zip(*means, strict=True)], dtype=np.intp)[codes]
    order = np.argsort(codes, kind="stable")
    places = np.split(order, np.cumsum(np.bincount(codes, minlength=len(named)))[:-1])
    return {(): everyone, **dict(zip(named, places, strict=False))}


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )


def _plain(value: Any) -> Any:
    """A value of a group: None for a missing one, text for dates and the like, and for what JSON cannot tell."""
    if _is_missing(value):
        return None
    if isinstance(value, (float, Decimal)) and math.isfinite(value):
        return int(value) if value == int(value) else float(value)
    return value if isinstance(value, (str, int)) else str(value)


def picked(counted: Keyed, held: Array) -> tuple[Array, Array | None, Array | None]:
    """The rows, weights and squared weights of some rows of the small table."""
    parts = (counted.rows, counted.weights, counted.squares)
    rows, weights, squares = (None if part is None else part[held] for part in parts)
    assert rows is not None  # noqa: S101 - a query always counts rows
    return rows, weights, squares


def _confusion(codes: list[Array], known: tuple[Any, ...], positive: Any, mass: Any, held: Array) -> Confusion:
    k = len(known)
    place = codes[0][held].astype(np.intp) * k + codes[1][held]
    rows, weights, squares = (None if part is None else _summed(place, part, k * k).reshape(k, k) for part in mass)
    return Confusion(known, np.asarray(rows), weights, squares, positive)


def _paired(codes: list[Array], known: tuple[Any, ...], positive: Any, mass: Any, held: Array) -> Paired:
    check_size(known)
    k = len(known)
    place = (codes[0][held].astype(np.intp) * k + codes[1][held]) * k + codes[2][held]
    return Paired(known, _summed(place, mass[0], k**3).reshape(k, k, k), positive)


def _summed(place: Array, mass: Array, size: int) -> Array:
    total, order = np.zeros(size, dtype=mass.dtype), np.lexsort((mass, place))
    np.add.at(total, place[order], mass[order])  # in an order that does not depend on that of the rows
    return total
