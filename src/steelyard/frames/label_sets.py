"""Label frames: frames and files whose rows have several labels each, by columns, lists, text or long rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import label_codes
from steelyard.exceptions import InputError, first_ten
from steelyard.frames import queries
from steelyard.frames.decoding import is_missing
from steelyard.frames.rows import fetch_rows, matched_columns
from steelyard.frames.source import Source
from steelyard.tables.array_tables import without_prefix
from steelyard.tables.label_sets import label_set_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Frame
    from steelyard.frames.rows import FetchedRows
    from steelyard.frames.source import FrameColumns
    from steelyard.tables.multilabel_table import MultilabelTable


_SETS = (list, tuple, set, frozenset, np.ndarray)


def names_label_sets(frame: Frame | Source, columns: FrameColumns) -> bool:
    """Whether the truth is several columns, by a pattern or a list, or one column of lists."""
    true: Any = columns.true
    if not isinstance(true, str) or "*" in true:
        return True
    part = Source.of(frame, counts=True).parts[0]
    schema = part.collect_schema()
    if true not in schema or not str(schema[true]).startswith(("Object", "List", "Array", "Unknown")):
        return False
    first = queries.collect(part.select(true).head(1)).get_column(true)
    return bool(first.dtype.is_nested()) or _are_lists(first.to_list())


def _are_lists(values: Sequence[Any]) -> bool:
    """Whether each value is a list of labels, as far as the first one shows."""
    return len(values) > 0 and isinstance(values[0], _SETS)


def label_frame(
    frame: Frame | Source,
    columns: FrameColumns,
    frequency: str | None = None,
    *,
    by: Sequence[str] = (),
    cluster: str | None = None,
    label_sep: str | None = None,
    others: Sequence[str] = (),
) -> tuple[MultilabelTable, FetchedRows]:
    """The table of a frame, and its rows with their groups, clusters and other columns.

    `true`, `pred` and `score` are patterns with one star, which stands for the label, or lists of columns; or, without
    scores, one column each of lists, or of text that `label_sep` divides.
    """
    source = Source.of(frame)
    given = {"true": columns.true, "pred": columns.pred, "score": columns.score}
    wide = {use: _columns(source, name) for use, name in given.items() if name is not None and _is_wide(name)}
    labels = _labels(wide)
    single = {use: str(name) for use, name in given.items() if name is not None and use not in wide}
    if "score" in single:
        raise InputError(f"The scores are a column for each label, such as score='s_*', not {single['score']!r} alone.")
    rows = fetch_rows(
        source,
        true=None,
        score=[*wide.get("score", {}).values()],
        weight=columns.weight,
        frequency=frequency,
        cluster=cluster,
        by=by,
        numbers=[name for use in ("true", "pred") for name in wide.get(use, {}).values()],
        others=[*single.values(), *others],
    )
    parts: dict[str, Any] = {use: _matrix(rows, each, use) for use, each in wide.items()}
    schema = source.parts[0].collect_schema()
    for use, name in single.items():
        listed = rows.others[name].tolist()
        are_lists = schema[name].is_nested() or _are_lists(listed)
        parts[use] = _sets_of_lists(listed) if are_lists else _divided(listed, name, label_sep)
    weights = {"sample_weight": rows.weights, "frequency": rows.frequency}
    table = label_set_table(parts["true"], parts.get("pred"), y_score=parts.get("score"), labels=labels, **weights)
    return table, rows


def long_table(
    truth: Frame | Source,
    predicted: Frame | Source | None,
    columns: FrameColumns,
    row: str,
    label: str,
) -> MultilabelTable:
    """The table of long frames: a line for each row and label.

    Two frames list what is true and what is predicted; of one frame `true`, with `pred` or `score`, are columns.
    """
    if predicted is not None:
        pairs = [_pairs(frame, row, label) for frame in (truth, predicted)]
        if {*pairs[0][0]}.isdisjoint(pairs[1][0]):
            raise InputError(f"The two long frames have no {row!r} in common; give those of the same rows.")
        every = dict.fromkeys(key for each in pairs for key in each[0])
        return label_set_table(*(_sets(each, every) for each in pairs))
    if columns.true is None or (columns.pred is None and columns.score is None):
        raise InputError("Of one long frame name the columns: true= with pred= or score=, each a number per line.")
    named = {use: name for use in ("true", "pred", "score") if (name := getattr(columns, use))}
    fetched = fetch_rows(Source.of(truth), true=None, numbers=[*named.values()], others=[row, label])
    (rows, keys), (places, names) = (_coded(fetched.others[name]) for name in (row, label))
    if columns.score is not None and len(rows) < len(keys) * len(names):
        raise InputError(
            f"The long frame has {len(rows):,} lines, and {len(keys):,} rows of {len(names):,} labels have "
            f"{len(keys) * len(names):,}; a score is needed for each row and label."
        )
    shape = (len(keys), len(names))
    given = {use: _filled(fetched.numbers[name], rows, places, shape) for use, name in named.items()}
    return label_set_table(given["true"], given.get("pred"), y_score=given.get("score"), labels=names)


def _coded(values: Array) -> tuple[Array, list[Any]]:
    """The number of each value, and the values."""
    book: label_codes.CodeBook[Any] = label_codes.CodeBook()
    codes = np.array([book[value] for value in values.tolist()], dtype=np.intp)
    return codes, list(book)


def _filled(values: Array, rows: Array, places: Array, shape: tuple[int, int]) -> Array:
    """A column of a long frame as a matrix, 0 where there is no line."""
    if len(np.unique(rows * shape[1] + places)) < len(rows):
        raise InputError("A row and label stand in several lines of the long frame; give one line for each pair.")
    matrix = np.zeros(shape)
    matrix[rows, places] = values
    return matrix


def _pairs(frame: Frame | Source, row: str, label: str) -> tuple[list[Any], list[Any]]:
    fetched = fetch_rows(Source.of(frame), true=None, others=[row, label]).others
    return fetched[row].tolist(), fetched[label].tolist()


def _sets(pairs: tuple[list[Any], list[Any]], keys: dict[Any, None]) -> list[set[Any]]:
    """The labels of each row; a line without a label is a row that has none."""
    sets: dict[Any, set[Any]] = {key: set() for key in keys}
    for key, label in zip(*pairs, strict=True):
        if label is not None and label == label:  # noqa: PLR0124 - not NaN
            sets[key].add(label)
    return [*sets.values()]


# ---------------------------------------------------------------- columns


def _is_wide(name: Any) -> bool:
    return not isinstance(name, str) or "*" in name


def _columns(source: Source, name: Any) -> dict[str, str]:
    """The columns of one use, by label."""
    return matched_columns(source, name) if isinstance(name, str) else {str(each): str(each) for each in name}


def _labels(wide: Mapping[str, dict[str, str]]) -> list[str] | None:
    """The labels, which the patterns of all uses must name alike; lists of columns go by their order."""
    if "true" not in wide:
        return next(([*each] for each in wide.values()), None)
    labels = [*wide["true"]]
    for use, each in wide.items():
        if len(each) != len(labels):
            counts = f"The columns of {use}= are {len(each)}, and those of true= {len(labels)}"
            raise InputError(f"{counts}; name one for each label{_lacking(wide['true'], each)}.")
        if not _is_pattern(each):
            _in_order_of(each, wide["true"])
        elif [*each] != labels:
            if {*each} != {*labels}:
                other = [*({*each} - {*labels} or {*labels} - {*each})]
                raise InputError(f"The columns of true= and {use}= are of different labels: {first_ten(other)}.")
            ordered = {label: each[label] for label in labels}
            each.clear()
            each.update(ordered)
    return labels


def _lacking(true: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The labels that one of them lacks, where both are named by patterns or end alike."""
    own, theirs = (
        dict.fromkeys(each if _is_pattern(each) else without_prefix([*each.values()])) for each in (true, other)
    )
    if {*own}.isdisjoint(theirs):
        return ""
    lacks = [label for label in own if label not in theirs] or [label for label in theirs if label not in own]
    return f", also {first_ten(lacks)}" if len(other) < len(true) else f", and not {first_ten(lacks)}"


def _is_pattern(columns: Mapping[str, str]) -> bool:
    return all(name != label for label, name in columns.items())


def _in_order_of(listed: dict[str, str], true: dict[str, str]) -> None:
    """Bring columns that are listed into the order of the truth's, where both end in the same names."""
    own, other = (dict(zip(without_prefix([*each.values()]), each.values(), strict=True)) for each in (true, listed))
    if {*own} == {*other}:
        listed.clear()
        listed.update({other[name]: other[name] for name in own})


def _matrix(rows: FetchedRows, columns: dict[str, str], use: str) -> Array:
    of_use = rows.scores if use == "score" else rows.numbers
    matrix = np.column_stack([of_use[name].astype(np.float64) for name in columns.values()])
    return matrix if use == "score" or not np.isin(matrix, (0, 1)).all() else matrix.astype(np.uint8)


def _sets_of_lists(values: Sequence[Any]) -> list[list[Any]]:
    """The labels of each row; nothing is no label."""
    return [[] if each is None else list(each) for each in values]


def _divided(values: Sequence[Any], name: str, label_sep: str | None) -> list[list[str]]:
    """The labels of each row in a text that is divided; nothing is no label."""
    if label_sep is None:
        raise InputError(
            f"The column {name!r} holds one value per row; where that is several labels in a text, name what divides "
            "them with label_sep=."
        )
    if not isinstance(label_sep, str) or not label_sep:
        raise InputError(
            argument="label_sep", expected="what stands between the labels of a row, such as ';'", given=label_sep
        )
    texts = ("" if is_missing(each) else str(each) for each in values)
    return [[part.strip() for part in text.split(label_sep) if part.strip()] for text in texts]
