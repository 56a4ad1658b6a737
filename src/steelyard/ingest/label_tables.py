"""Tables of labels: the distinct rows that a query brought back, as a Confusion or a Paired table for each group."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError
from steelyard.ingest import label_codes, text_cells
from steelyard.ingest.label_number import check_label_number
from steelyard.ingest.queries import MOST_GROUP_KEYS, NO_ROWS
from steelyard.ingest.source import nested_sentence
from steelyard.statistics.confusion import Confusion, sort_labels
from steelyard.statistics.group_keys import group_order
from steelyard.statistics.label_kinds import label_kind, number_texts, parse_value
from steelyard.statistics.paired import Paired, check_size
from steelyard.statistics.positive_class import ClassRule, absent_sentence, chosen_label
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.ingest.queries import Counted
    from steelyard.ingest.rows import CountedKeys
    from steelyard.ingest.source import TallyRequest


def label_tables(counted: CountedKeys, request: TallyRequest) -> dict[Labels, Confusion | Paired]:
    """The table of all rows, under no key, and those of each group."""
    columns = request.columns
    names = (columns.true, *columns.pred)
    if not len(counted.rows) and request.labels is None:
        raise InputError(NO_ROWS)
    codes, labels = _encoded(counted.labels, request.labels, names)
    check_label_number(len(labels), int(counted.rows.sum()), declared=request.labels is not None)
    make = _confusion if len(columns.pred) == 1 else _paired
    positive = match_label(request.pos_label, labels)
    if isinstance(positive, ClassRule):
        positive = chosen_label(positive, labels, lambda: label_codes.counts(codes[0], len(labels), counted.rows))
    return {
        group: make([code[places] for code in codes], labels, positive, counted.at(places))
        for group, places in counted.groups().items()
    }


def present_labels(key: Array, name: str) -> Array:
    """The labels of a key; missing ones, whatever an engine calls them, are refused."""
    if any(map(is_missing, key.tolist())):
        raise InputError(text_cells.missing_sentence(name))
    return key


def _encoded(values: list[Array], declared: Labels | None, names: Sequence[str]) -> tuple[list[Array], Labels]:
    encoded = [label_codes.distinct(column, f"The column {name!r}") for column, name in zip(values, names, strict=True)]
    for name, (_, present) in zip(names[1:], encoded[1:], strict=True):
        label_codes.check_alike(encoded[0][1], present, f"The column {names[0]!r}", f"the column {name!r}")
    labels = declared or sort_labels(label for _, present in encoded for label in present)
    codes = [
        label_codes.recode(code, present, labels, f"The column {name!r}")
        for (code, present), name in zip(encoded, names, strict=True)
    ]
    return codes, labels


def match_label(pos_label: Label, labels: Sequence[Label]) -> Label:
    """The label that was named positive: itself, or the one that reads like it, as "1" reads like 1."""
    if pos_label is None or isinstance(pos_label, ClassRule):
        return pos_label
    parsed = parse_value(str(pos_label).strip())
    for same in (
        lambda label: label == pos_label,
        lambda label: str(label) == str(pos_label),
        lambda label: not isinstance(label, str) and label == parsed,
    ):
        for label in labels:
            if same(label):
                return label
    alike = not labels or label_kind(pos_label) == label_kind(labels[0])
    refusal = TooFewRowsError if alike else InputError
    raise refusal(absent_sentence(f"The positive class {pos_label!r}", pos_label, labels))


def rows_of_groups(columns: Sequence[Array], rows: int) -> dict[Labels, Array]:
    """Which rows belong to each group; all of them under no key."""
    everyone = np.arange(rows)
    if not columns:
        return {(): everyone}
    book: label_codes.CodeBook[Labels] = label_codes.CodeBook()
    groups: label_codes.CodeBook[Labels] = label_codes.CodeBook()
    try:
        keys = zip(*(column.tolist() for column in columns), strict=True)
        codes = np.fromiter(map(book.__getitem__, keys), np.intp, rows)
    except TypeError:
        raise InputTypeError(nested_sentence("A column of groups holds lists or other objects")) from None
    # Engines bring a missing value back as None, NaN and others, each NaN another key: one group by what they mean.
    meanings = [_group_values(values) for values in zip(*book, strict=True)] or [[] for _ in columns]
    codes = np.array([groups[key] for key in zip(*meanings, strict=True)], dtype=np.intp)[codes]
    order = np.argsort(codes, kind="stable")
    places = np.split(order, np.cumsum(np.bincount(codes, minlength=len(groups)))[:-1])
    return {(): everyone, **dict(zip(groups, places, strict=False))}


def sorted_groups(keys: Iterable[Labels]) -> list[Labels]:
    """The keys of groups in order, those that miss a value last; too many are refused."""
    listed = list(keys)
    if len(listed) > MOST_GROUP_KEYS:
        raise InputError(
            f"There are {len(listed):,} groups; at most {MOST_GROUP_KEYS:,} are told apart. Group by fewer values."
        )
    return sorted(listed, key=group_order)


def is_missing(value: object) -> bool:
    """Whether a value is missing, whatever an engine calls it."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )


def _group_values(values: Iterable[Label]) -> list[Label]:
    """The values of a column of groups; numbers that meet text are text."""
    listed = list(map(_group_value, values))
    texts = number_texts(listed)
    return [texts.get(value, value) for value in listed] if texts else listed


def _group_value(value: Label) -> Label:
    """A value of a group: None for a missing one, text for dates and the like, and for what JSON cannot hold."""
    if is_missing(value):
        return None
    if isinstance(value, (float, Decimal)) and math.isfinite(value):
        return int(value) if value == int(value) else float(value)
    return value if isinstance(value, (str, int)) else str(value)


def _confusion(codes: list[Array], labels: Labels, positive: Label, counts: Counted) -> Confusion:
    k = len(labels)
    if k > MOST_DENSE_LABELS:
        cells: list[Any] = [None if part is None else SparseMatrix.of(codes[0], codes[1], part, k) for part in counts]
        return Confusion(labels, cells[0], cells[1], cells[2], positive)
    places = codes[0].astype(np.intp) * k + codes[1]
    rows, weights, squares = (None if part is None else _summed(places, part, k * k).reshape(k, k) for part in counts)
    return Confusion(labels, np.asarray(rows), weights, squares, positive)


def _paired(codes: list[Array], labels: Labels, positive: Label, counts: Counted) -> Paired:
    check_size(labels)
    k = len(labels)
    places = (codes[0].astype(np.intp) * k + codes[1]) * k + codes[2]
    return Paired(labels, _summed(places, counts[0], k**3).reshape(k, k, k), positive)


def _summed(places: Array, values: Array, size: int) -> Array:
    total, order = np.zeros(size, dtype=values.dtype), np.lexsort((values, places))
    np.add.at(total, places[order], values[order])  # in an order that does not depend on that of the rows
    return total
