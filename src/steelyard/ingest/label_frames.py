"""Label frames: frames and files whose rows have several labels each, by columns, lists, text or long rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, did_you_mean, first_ten
from steelyard.ingest import arrays, queries
from steelyard.ingest.multilabel_tables import label_set_table
from steelyard.ingest.rows import number_column
from steelyard.ingest.score_matrix import without_prefix
from steelyard.ingest.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Frame
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.statistics.multilabel_table import MultilabelTable

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
    return _are_lists(queries.collect(part.select(true).head(1)).get_column(true))


def _are_lists(series: Any) -> bool:
    """Whether each value is a list of labels."""
    return bool(series.dtype.is_nested()) or (len(series) > 0 and isinstance(series.to_list()[0], _SETS))


def label_frame(
    frame: Frame | Source,
    columns: FrameColumns,
    frequency: str | None = None,
    others: Sequence[str] = (),
    label_sep: str | None = None,
) -> tuple[MultilabelTable, dict[str, Array]]:
    """The table of a frame, and other columns of it.

    `true`, `pred` and `score` are patterns with one star, which stands for the label, or lists of columns; or, without
    scores, one column each of lists, or of text that `label_sep` divides.
    """
    source = Source.of(frame)
    given = {"true": columns.true, "pred": columns.pred, "score": columns.score}
    wide = {use: _columns(source, use, name) for use, name in given.items() if name is not None and _is_wide(name)}
    labels = _labels(wide)
    single = {use: str(name) for use, name in given.items() if name is not None and use not in wide}
    weights = {"sample_weight": columns.weight, "frequency": frequency}
    names = [*(name for each in wide.values() for name in each.values()), *single.values()]
    _check_there(source, names := [*names, *(name for name in weights.values() if name), *others])
    if "score" in single:
        raise InputError(f"The scores are a column for each label, such as score='s_*', not {single['score']!r} alone.")
    fetched = queries.fetch_columns(source, names)
    parts: dict[str, Any] = {use: _matrix(fetched, each, use) for use, each in wide.items()}
    parts |= {use: _lists(fetched[name], name, label_sep) for use, name in single.items()}
    numbers = {use: number_column(fetched[name], name) for use, name in weights.items() if name}
    if "frequency" in numbers:
        numbers["frequency"] = numbers["frequency"].astype(np.int64)
    brought = {name: arrays.column(fetched[name].to_native(), f"The column {name!r}") for name in others}
    return label_set_table(
        parts["true"], parts.get("pred"), y_score=parts.get("score"), labels=labels, **numbers
    ), brought


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
    fetched = _fetched(truth, [row, label, *(name for name in columns[:3] if name)])
    if columns.true is None or (columns.pred is None and columns.score is None):
        raise InputError("Of one long frame name the columns: true= with pred= or score=, each a number per line.")
    keys, names = (list(dict.fromkeys(fetched[name].to_list())) for name in (row, label))
    indices = []
    for name, known in ((row, keys), (label, names)):
        index = {key: place for place, key in enumerate(known)}
        indices.append(np.array([index[key] for key in fetched[name].to_list()]))
    rows, places = indices
    if columns.score is not None and len(rows) < len(keys) * len(names):
        raise InputError(
            f"The long frame has {len(rows):,} lines, and {len(keys):,} rows of {len(names):,} labels have "
            f"{len(keys) * len(names):,}; a score is needed for each row and label."
        )
    cells = [_filled(fetched[name], rows, places, (len(keys), len(names))) for name in columns[:3] if name]
    given = dict(zip((use for use in ("true", "pred", "score") if getattr(columns, use)), cells, strict=True))
    return label_set_table(given["true"], given.get("pred"), y_score=given.get("score"), labels=names)


def _filled(series: Any, rows: Array, places: Array, shape: tuple[int, int]) -> Array:
    """A column of a long frame as a matrix, 0 where there is no line."""
    if len(np.unique(rows * shape[1] + places)) < len(rows):
        raise InputError("A row and label stand in several lines of the long frame; give one line for each pair.")
    matrix = np.zeros(shape)
    matrix[rows, places] = number_column(series, series.name)
    return matrix


def _fetched(frame: Frame | Source, names: Sequence[str]) -> Mapping[str, Any]:
    source = Source.of(frame)
    _check_there(source, names)
    return queries.fetch_columns(source, names)


def _pairs(frame: Frame | Source, row: str, label: str) -> tuple[list[Any], list[Any]]:
    fetched = _fetched(frame, [row, label])
    return fetched[row].to_list(), fetched[label].to_list()


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


def _columns(source: Source, use: str, name: Any) -> dict[str, str]:
    """The columns of one use, by label."""
    if not isinstance(name, str):
        return {str(each): str(each) for each in name}
    if name.count("*") != 1:
        raise InputError(f"{use}={name!r} is a pattern with one *, which stands for the label, such as 'y_*'.")
    before, after = name.split("*")
    there = list(source.parts[0].collect_schema())
    inside = {
        each[len(before) : len(each) - len(after)]: each
        for each in there
        if each.startswith(before) and each.endswith(after) and len(each) > len(before) + len(after)
    }
    if len(inside) < 2:
        raise InputError(f"{len(inside)} columns are named like {name!r}; there are {first_ten(there)}.")
    return inside


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


def _matrix(fetched: Mapping[str, Any], columns: dict[str, str], use: str) -> Array:
    numbers = [number_column(fetched[name], name) for name in columns.values()]
    matrix = np.column_stack(numbers)
    return matrix if use == "score" or not np.isin(matrix, (0, 1)).all() else matrix.astype(np.uint8)


def _lists(series: Any, name: str, label_sep: str | None) -> list[list[Any]]:
    """The labels of each row: those of a list, or of text that is divided; nothing is no label."""
    if _are_lists(series):
        return [[] if each is None else list(each) for each in series.to_list()]
    if label_sep is None:
        raise InputError(
            f"The column {name!r} holds one value per row; where that is several labels in a text, name what divides "
            "them with label_sep=."
        )
    texts = ("" if missing else str(each) for each, missing in zip(series.to_list(), series.is_null(), strict=True))
    if not isinstance(label_sep, str) or not label_sep:
        raise InputError(
            argument="label_sep", expected="what stands between the labels of a row, such as ';'", given=label_sep
        )
    return [[part.strip() for part in text.split(label_sep) if part.strip()] for text in texts]


def _check_there(source: Source, names: Sequence[str]) -> None:
    schema = source.parts[0].collect_schema()
    for name in names:
        if name not in schema:
            raise InputError(
                f"There is no column {name!r}; there are {first_ten(list(schema))}.{did_you_mean(name, schema)}"
            )
