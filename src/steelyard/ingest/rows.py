"""Rows: the named columns of a frame or of files, brought here, checked and decoded, and the rows that a text keeps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays, bad_rows, condition_rows, csv_values, label_codes, queries
from steelyard.ingest.score_matrix import without_prefix
from steelyard.ingest.score_queries import column_precision
from steelyard.ingest.source import Source, check_kinds, check_uses, named_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels

EXACT_ROWS = 10_000_000  # rows of two columns that a machine can be expected to hold
ROWS_OF_SCORES = (
    "Comparing scores needs every row in memory (DeLong's test is paired)",
    "compare columns of labels instead",
)


@dataclass(frozen=True)
class FetchedRows:
    """Columns of a frame as arrays, one value a row; None, or no entry, of those that were not named.

    Labels and groups of text files are the numbers or truth values that all of them are. Scores keep the precision of
    their column. `numbers` may hold NaN, and `others` are as the frame has them.
    """

    truth: Array | None = None
    predicted: dict[str, Array] = field(default_factory=dict)
    scores: dict[str, Array] = field(default_factory=dict)
    weights: Array | None = None
    frequency: Array | None = None
    clusters: Array | None = None
    by: dict[str, Array] = field(default_factory=dict)
    numbers: dict[str, Array] = field(default_factory=dict)
    others: dict[str, Array] = field(default_factory=dict)


def fetch_rows(
    source: Source,
    *,
    true: str | None,
    pred: Sequence[str] = (),
    score: Sequence[str] = (),
    weight: str | None = None,
    frequency: str | None = None,
    cluster: str | None = None,
    by: Sequence[str] = (),
    numbers: Sequence[str] = (),
    others: Sequence[str] = (),
    labels: Labels | None = None,
) -> FetchedRows:
    """The named columns of all rows, brought here in one query a part.

    Missing labels are refused, scores that are no finite numbers, and weights that are none; `labels` are those that
    were declared, among which text keeps text files from being read as numbers.
    """
    source = Source.of(source)
    counts = [name for name in (weight, frequency) if name is not None]
    members = [*([] if cluster is None else [cluster]), *by]
    of_labels = [name for name in (true, *pred) if name is not None]
    check_uses(true, pred, score, weight, frequency)
    of_numbers = [*score, *counts, *numbers]
    check_kinds(source, values=[*of_labels, *members], numbers=of_numbers, others=others)
    fetched = queries.fetch_columns(source, [*of_labels, *of_numbers, *members, *others])
    with bad_rows.naming_bad_numbers(source, *of_numbers):
        values = {name: number_column(fetched[name], name) for name in of_numbers}
    for name in score:
        _check_scores(source, values[name], name)
    weights, times = (
        None if name is None else arrays.weights(values[name], f"The column {name!r}", whole=name == frequency)
        for name in (weight, frequency)
    )
    given = {name: arrays.column(fetched[name].to_native(), f"The column {name!r}") for name in (*of_labels, *members)}
    decoded = dict(zip(of_labels, _labels(source, fetched, given, of_labels, labels), strict=True))
    return FetchedRows(
        None if true is None else decoded[true],
        {name: decoded[name] for name in pred},
        {name: values[name].astype(column_precision(source, name)) for name in score},
        weights,
        times,
        None if cluster is None else given[cluster],
        {name: _groups(given[name]) if source.textual else _raw(fetched[name], name) for name in by},
        {name: values[name] for name in numbers},
        {name: _raw(fetched[name], name) for name in others},
    )


def check_row_number(source: Source, why: str, instead: str) -> None:
    """Refuse more rows than are fetched one by one from a file or an engine."""
    if not source.in_memory and (rows := queries.count_rows(source)) > EXACT_ROWS:
        raise InputError(f"{why}, and there are {rows:,}; {instead}, or a sample of at most {EXACT_ROWS:,} rows.")


def number_column(series: nw.Series[Any], name: str) -> Array:
    """A column of numbers, read from text where a file has nothing else."""
    import narwhals as nw

    text = series.dtype == nw.String
    given = arrays.column(series.to_native(), f"The column {name!r}")
    numbers = arrays.numbers(series.cast(nw.Float64).to_native() if text else given, f"The column {name!r}")
    if np.isfinite(numbers).all():
        arrays.check_apart(given, numbers, f"The column {name!r}")
    return numbers


def not_numbers_sentence(name: str, missing: int, infinite: int, first: str) -> str:
    """The refusal of scores that are missing or infinite, and where the first is."""
    kinds = {"missing (null or NaN)": missing, "infinite": infinite}
    bad = " and ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    return (
        f"The column {name!r} holds scores that are not numbers: {bad}{first}; a score is a finite number. Drop such "
        "rows first."
    )


def _check_scores(source: Source, scores: Array, name: str) -> None:
    bad = ~np.isfinite(scores)
    if bad.any():
        missing = int(np.isnan(scores).sum())
        ordered = source.in_memory or source.parts[0].implementation.is_polars()
        first = f", the first in row {int(np.argmax(bad)) + 1:,}" if ordered else ""
        raise InputError(not_numbers_sentence(name, missing, int(bad.sum()) - missing, first))


def _raw(series: nw.Series[Any], name: str) -> Array:
    """A column as it is; lists, times and what has missing values as objects, since NumPy would turn 1 into 1.0."""
    if series.dtype.is_nested() or series.dtype.is_temporal() or series.null_count():
        return queries.key_column(series.to_list())
    return arrays.column(series.to_native(), f"The column {name!r}")


def _labels(
    source: Source,
    fetched: Mapping[str, nw.Series[Any]],
    given: Mapping[str, Array],
    names: Sequence[str],
    declared: Labels | None,
) -> list[Array]:
    """Columns of labels, those of a text file read as what all of them are."""
    if source.textual:
        coded = [_coded(given[name]) for name in names]
        read = csv_values.labels([texts for _, texts in coded], names, declared)
        return [labels[codes] for labels, (codes, _) in zip(read, coded, strict=True)]
    for name in names:
        column = given[name]
        if fetched[name].null_count() or (column.dtype.kind == "f" and np.isnan(column).any()):
            raise InputError(f"The column {name!r} holds missing labels; drop those rows, or give them a label.")
    return [given[name] for name in names]


def _coded(texts: Array) -> tuple[Array, Array]:
    """The code of each text, and the texts that are coded."""
    if texts.dtype.kind == "U":
        codes, distinct = label_codes.distinct(texts, "")
        return codes, queries.key_column(list(distinct))
    book: label_codes.CodeBook[Any] = label_codes.CodeBook()
    codes = np.fromiter(map(book.__getitem__, texts.tolist()), np.intp, len(texts))
    return codes, queries.key_column(list(book))


def _groups(texts: Array) -> Array:
    """Groups of a text file: numbers or truth values where all are, None where one is missing."""
    codes, distinct = _coded(texts)
    return queries.key_column(csv_values.group_values(distinct.tolist()))[codes]


# ---------------------------------------------------------------- names of columns


def matched_columns(source: Source, columns: str | Sequence[str]) -> dict[str, str]:
    """The columns that a pattern such as "p_*" or a list names, by the class or label that each stands for.

    Of a list these are what is left of the names without what all of them begin with.
    """
    if not isinstance(columns, str):
        listed = named_columns("score", columns)
        if len(listed) < 2:
            raise InputError(f"score= lists a column for each class, two or more, each once; not {first_ten(listed)}.")
        return dict(zip(without_prefix(listed), listed, strict=True))
    check_pattern(columns)
    before, after = columns.split("*")
    names = list(source.parts[0].collect_schema())
    inside = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
    }
    if len(inside) < 2:
        raise InputError(f"{len(inside)} columns are named like {columns!r}; there are {first_ten(names)}.")
    return inside


def check_pattern(pattern: str) -> None:
    """Refuse what is no pattern of the columns of all classes."""
    if pattern.count("*") != 1:
        raise InputError(f"The columns of the scores are a pattern with one *, such as 'p_*', not {pattern!r}.")


# ---------------------------------------------------------------- conditions


def filtered(source: Source, text: str) -> Source:
    """The rows that meet conditions such as "age >= 60 and site = B", left where they are until they are asked for."""
    conditions = condition_rows.as_conjunction(text)
    condition_rows.check_features(source, conditions.features)
    parts = tuple(condition_rows.filtered_part(part, conditions, source.textual) for part in source.parts)
    return replace(source, parts=parts)


def kept_rows(columns: Mapping[str, ArrayLike], text: str) -> Array:
    """Which rows of columns that are here meet the same conditions."""
    import narwhals as nw
    import polars as pl

    conditions = condition_rows.as_conjunction(text)
    condition_rows.check_names(conditions.features, columns)
    read = {name: arrays.column(columns[name], f"columns[{name!r}]") for name in conditions.features}
    series = {name: values.tolist() if values.dtype.kind in "OUS" else values for name, values in read.items()}
    frame = nw.from_native(pl.DataFrame(series, strict=False).lazy())
    held = frame.select(condition_rows.expression(conditions, frame.collect_schema()).alias("held"))
    return np.asarray(queries.collect(held).get_column("held").to_numpy(), dtype=bool)
