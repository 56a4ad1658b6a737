"""Decoding: what cells of text mean, and the distinct rows that a query brought back as tables of labels."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import label_codes
from steelyard.arrays.label_codes import check_label_number, fraction_sentence
from steelyard.arrays.labels import (
    ClassRule,
    absent_sentence,
    chosen_label,
    label_kind,
    number_texts,
    parse_number,
    parse_value,
    parser,
    sort_labels,
)
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix
from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError
from steelyard.frames import queries
from steelyard.frames.queries import MOST_GROUP_KEYS, NO_ROWS
from steelyard.frames.source import nested_sentence
from steelyard.tables.confusion import Confusion
from steelyard.tables.paired_table import Paired, check_size
from steelyard.tables.tally import group_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from steelyard._types import Array, Label, Labels
    from steelyard.arrays.labels import Parser
    from steelyard.frames.queries import Counted
    from steelyard.frames.rows import CountedKeys
    from steelyard.frames.source import Source, TallyRequest


MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"}
MISSING_CELLS = {*MISSING, "?"}  # of tables that models learn from: UCI and KEEL mark it so; a class may be called ?
MOST = 0.9  # of the cells that are not missing; categories and codes that mix digits and letters have fewer numbers
_NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|infinity)\s*", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:\d+(?:\.\d{3})*)?,\d+(?:[eE][+-]?\d+)?\s*")


def labels(columns: Sequence[Array], names: Sequence[str], declared: Labels | None = None) -> list[Array]:
    """Labels of a text file: whole numbers or truth values where all of them are, else the text without its blanks.

    Where text is among the declared labels all are text. Missing values, however they are spelled, and fractions are
    refused, as in files that know numbers.
    """
    cells = [["" if text is None else text.strip() for text in column.tolist()] for column in columns]
    parsers = [_label_parser(set(texts), name) for texts, name in zip(cells, names, strict=True)]
    if any(isinstance(label, str) for label in declared or ()):
        return [queries.key_column(texts) for texts in cells]
    read = [texts if parse is None else list(map(parse, texts)) for texts, parse in zip(cells, parsers, strict=True)]
    texts = number_texts(label for column in read for label in column)
    if not {*texts.values()}.isdisjoint(label for column in read for label in column):
        read = [[texts.get(label, label) for label in column] for column in read]
    return [queries.key_column(column) for column in read]


def _label_parser(texts: Collection[str], name: str) -> Parser | None:
    """How to read the texts of one column; None where they are just text."""
    missing = min((text for text in texts if text.lower() in MISSING), default=None)
    others = [text for text in texts if text.lower() != "none"]
    parse = parser(others)
    if missing is None and parse is not None and len(others) < len(texts):  # a class may be called none, not a number
        missing = next(text for text in texts if text.lower() == "none")
    if missing is not None:
        shown = f" ({missing})" if missing else ""
        raise InputError(missing_sentence(name, shown))
    fractions = [] if parse is not parse_number else [t for t in texts if not isinstance(parse_number(t), int)]
    if fractions:
        raise InputError(fraction_sentence(f"The column {name!r}", parse_number(min(fractions))))
    return parse


def missing_sentence(name: str, shown: str = "") -> str:
    """The refusal of a column of labels of which some are missing."""
    return f"The column {name!r} holds missing labels{shown}; drop those rows, or give them a label."


def group_values(values: Sequence[str | None]) -> list[Label]:
    """The groups of a column of a text file: numbers or truth values where all of them are, else text."""
    texts = {value for value in values if value is not None and value.strip().lower() not in MISSING}
    parse = parser({text.strip() for text in texts})
    if parse is None:
        return list(values)
    return [parse(value.strip()) if value in texts else None for value in values]


# ---------------------------------------------------------------- columns of numbers but for some cells


def check_numeric_text(columns: Mapping[str, Array]) -> None:
    """Refuse columns of text that are numbers but for some cells: as text they would change what a model learns."""
    for name, column in columns.items():
        if column.dtype.kind in "UOT":
            _check_cells(column.tolist(), name)


def _check_cells(cells: Sequence[Label], name: str) -> None:
    present = [(row, cell) for row, cell in enumerate(cells, 1) if cell is not None and cell == cell]  # noqa: PLR0124 - NaN
    others = [(row, cell) for row, cell in present if not _is_number(cell)]
    words = sum(not _DECIMAL_COMMA.fullmatch(str(cell)) for _, cell in others)
    if others and len(present) - words >= MOST * len(present):
        way = "Mend the cell or leave it empty; where these are categories, give all of them a letter."
        raise InputTypeError(cell_sentence(name, *others[0], way))


def first_other_text(column: Array) -> tuple[int, str] | None:
    """The first row, counted from 1, whose cell is text and no number, and that cell; None where there is none."""
    cells = enumerate(column.tolist() if column.dtype.kind in "UOT" else (), 1)
    return next(((row, cell) for row, cell in cells if isinstance(cell, str) and not _is_number(cell)), None)


def cell_sentence(name: str, row: int, cell: Label, way: str) -> str:
    """The refusal of a cell in a column of numbers, with the way out."""
    given = f"The column {name!r} holds {cell!r} in row {row:,}"
    if _DECIMAL_COMMA.fullmatch(str(cell)):
        return f"{given}, a number with a decimal comma; write numbers with a point, such as 1.5."
    return f"{given}; a number was expected. {way}"


def _is_number(cell: Label) -> bool:
    return _NUMBER.fullmatch(cell) is not None if isinstance(cell, str) else isinstance(cell, (int, float))


# ---------------------------------------------------------------- the first row that cannot be read


def not_finite_sentence(name: str, missing: int, infinite: int, first: str) -> str:
    """The refusal of scores that are missing or infinite, and where the first is."""
    kinds = {"missing (null or NaN)": missing, "infinite": infinite}
    bad = " and ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    return (
        f"The column {name!r} holds scores that are not numbers: {bad}{first}; a score is a finite number. Drop such "
        "rows first."
    )


def first_not_finite(source: Source, column: str) -> str:
    """The number of the first row whose score is not a finite number, where rows have an order."""
    import narwhals as nw
    import polars as pl

    if source.in_memory:
        scores = queries.fetch_columns(source, [column])[column].cast(nw.Float64).to_numpy()
        return f", the first in row {int(np.argmin(np.isfinite(scores))) + 1:,}"
    if not source.parts[0].implementation.is_polars():
        return ""
    first = _first(source, column, ~pl.col(column).cast(pl.Float64, strict=False).is_finite().fill_null(value=False))
    return "" if first is None else f", the first in row {first[0]:,}"


def _first(source: Source, column: str, bad: pl.Expr) -> tuple[int, Any] | None:
    """The first row, counted from 1, for which an expression of Polars holds, and its value."""
    import polars as pl

    offset, number = 0, f"row of {column}"
    for part in source.parts:
        rows = part.to_native().lazy().select(column)
        first = rows.with_row_index(number).filter(bad).head(1).collect(engine="streaming")
        if len(first):
            return offset + first[number].item() + 1, first[column].item()
        offset += rows.select(pl.len()).collect(engine="streaming").item()
    return None


@contextmanager
def naming_costs(name: str) -> Iterator[None]:
    """What is wrong with costs, which are counted as weights, is stated of costs, of arrays by this name."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        said = str(error).replace("sample_weight", name).replace("a weight", "a cost")
        raise type(error)(said) from None


@contextmanager
def naming_bad_numbers(source: Source, *names: str | None) -> Iterator[None]:
    """Text where a text file should have numbers is refused by its row; engines name the value alone."""
    try:
        yield
    except Exception:
        if source.textual:
            for name in names:
                if name is not None:
                    _refuse_text(source, name)
        raise


def _refuse_text(source: Source, name: str) -> None:
    import polars as pl

    first = _first(source, name, pl.col(name).is_not_null() & pl.col(name).cast(pl.Float64, strict=False).is_null())
    if first is not None:
        row, value = first
        raise InputTypeError(f"The column {name!r} holds {value!r} in row {row:,}; a number was expected.") from None


# ---------------------------------------------------------------- label tables


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
        raise InputError(missing_sentence(name))
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
