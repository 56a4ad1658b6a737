"""Rows: the named columns of a frame or of files, brought here, checked and decoded, and the rows that a text keeps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import checks
from steelyard.exceptions import InputError, first_ten
from steelyard.frames import decoding, queries
from steelyard.frames.conditions import (
    as_conjunction,
    check_features,
    check_names,
    expression,
    feature_values,
    filtered_part,
)
from steelyard.frames.decoding import present_labels, rows_of_groups
from steelyard.frames.queries import KeyCounts, key_column
from steelyard.frames.source import COUNT_COLUMN, ColumnNames, Source, check_kinds, check_uses, named_columns
from steelyard.tables.array_tables import without_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    import polars as pl
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels
    from steelyard.frames.queries import Counted


LOW_COLUMN, HIGH_COLUMN = "steelyard_low", "steelyard_high"  # of the query
_MOST = 2.0**62  # rows, which a sum of lines may double
WEIGHT_COLUMN, SQUARE_COLUMN, REFUSED_COLUMN = "steelyard_weight", "steelyard_square", "steelyard_refused"


def check_counted(source: Source, columns: ColumnNames) -> None:
    """Refuse what such lines do not hold."""
    for name in (name for name, given in {"frequency": columns.frequency, "cost": columns.cost}.items() if given):
        raise InputError(f"{name}= is of rows, and these lines are counts without a {name}; leave it out.")
    schema = source.parts[0].collect_schema()
    if columns.weight is not None and WEIGHT_COLUMN not in schema:
        raise InputError(
            "weight= is of rows, and these lines are counts without weights; leave it out, or print the query with "
            "`steelyard sql --weight`."
        )
    if columns.weight is None and WEIGHT_COLUMN in schema:
        raise InputError("These lines are counts with weights; name the column of the weights with weight=.")
    if columns.score is not None and columns.pred:
        raise InputError("A counting query is of labels or of scores; name one of pred= and score=.")
    if columns.score is not None and LOW_COLUMN not in schema:
        raise InputError(
            "These lines count labels, not scores; print a query of scores with `steelyard sql --score`, or name the "
            "column of labels with pred=."
        )


def counted_keys(source: Source, keys: Sequence[str], columns: ColumnNames) -> KeyCounts:
    """How many rows each combination of keys has: the lines of a counting query are added, all others counted."""
    return read_counts(source, keys) if source.holds_counts else queries.sum_by_key(source, keys, columns)


def read_counts(source: Source, keys: Sequence[str], *, bins: bool = False) -> KeyCounts:
    """The keys of each line with its rows, its weight and, of scores, the lowest and highest of its bin."""
    weighted = WEIGHT_COLUMN in source.parts[0].collect_schema()
    ends = (LOW_COLUMN, HIGH_COLUMN) if bins else ()
    sums = (WEIGHT_COLUMN, SQUARE_COLUMN, REFUSED_COLUMN) if weighted else ()
    columns = queries.fetch_columns(source, [*keys, COUNT_COLUMN, *ends, *sums])
    rows = _whole(columns[COUNT_COLUMN])
    numbers = {name: _numbers(columns[name]) for name in (*ends, *sums)}
    if weighted:
        _check_weights(numbers, rows)
    bad = ~np.all([np.isfinite(numbers[name]) for name in ends], axis=0) if ends else np.zeros(len(rows), dtype=bool)
    if bad.any():
        raise InputError(
            f"The query met scores that are not numbers (null, NaN or infinite) in bins of {int(rows[bad].sum()):,} "
            "rows; a score is a finite number. Leave such rows out of the table that is counted."
        )
    if bins and (numbers[LOW_COLUMN] > numbers[HIGH_COLUMN]).any():
        raise InputError(
            "A line has a lowest score that is above its highest; give the result of the query as it came."
        )
    made = tuple(key_column(columns[name].to_list()) for name in keys)
    return KeyCounts(made, rows, *map(numbers.get, (WEIGHT_COLUMN, SQUARE_COLUMN, LOW_COLUMN, HIGH_COLUMN)))


def _check_weights(sums: dict[str, Array], rows: Array) -> None:
    """Refuse weights that were missing, negative or no numbers in the database."""
    bad = ~(np.isfinite(sums[WEIGHT_COLUMN]) & np.isfinite(sums[SQUARE_COLUMN]) & (sums[REFUSED_COLUMN] == 0))
    if bad.any():
        raise InputError(
            f"The query met weights that are missing, negative or not finite among {int(rows[bad].sum()):,} rows; a "
            "weight is a finite number, 0 or more. Leave such rows out of the table that is counted."
        )
    # By Cauchy and Schwarz, to the rounding of the database's sums; infinite squares were refused above.
    if (sums[SQUARE_COLUMN] * rows < sums[WEIGHT_COLUMN] ** 2 * (1 - 1e-9)).any():
        raise InputError(
            "A line has squares of weights that sum to less than its rows and weights allow; give the result of the "
            "query as it came."
        )
    if not len(rows):
        raise InputError("The query counted no row that has a weight; count a table with rows whose weight is above 0.")


def _whole(column: nw.Series[Any]) -> Array:
    """Numbers of rows, exact beyond 2**53 where they are whole numbers in the column or its text."""
    import narwhals as nw

    numbers = _numbers(column)
    bad = ~((numbers >= 0) & (numbers <= _MOST) & (numbers == np.floor(numbers)))
    if bad.any():
        value = column.to_list()[int(np.argmax(bad))]
        raise InputError(f"The column {COUNT_COLUMN!r} holds {value!r}; a number of rows is a whole number, 0 or more.")
    if column.dtype.is_integer() or column.dtype.is_decimal():
        return column.cast(nw.Int64).to_numpy()
    if column.dtype == nw.String:
        digits = _polars(column).cast(int, strict=False)  # nothing where it is spelled 3.0
        return np.where(digits.is_null(), numbers.astype(np.int64), digits.fill_null(0))
    return numbers.astype(np.int64)


def _numbers(column: nw.Series[Any]) -> Array:
    """The numbers of a column, of whatever kind the client of a database gives them; NaN where there are none."""
    import narwhals as nw

    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if column.dtype == nw.String:
        return _polars(column).cast(float, strict=False).fill_null(np.nan).to_numpy()
    return np.array([_number(value) for value in column.to_list()], dtype=np.float64)


def _polars(column: nw.Series[Any]) -> pl.Series:
    return column.to_polars().str.strip_chars()


def _number(value: Any) -> float:
    """The number of an object, such as a decimal of Python."""
    try:
        return float("nan" if value is None else value)
    except (ValueError, TypeError):
        return float("nan")


# ---------------------------------------------------------------- rows


EXACT_ROWS = 10_000_000  # rows of two columns that a machine can be expected to hold
ROWS_OF_SCORES = (
    "Comparing scores needs every row in memory (DeLong's test is paired)",
    "compare columns of labels instead",
)


@dataclass(frozen=True)
class FetchedRows:
    """Columns of a frame as arrays, one value per row; None, or no entry, of those that were not named.

    Labels and groups of text files are the numbers or truth values that all of them are. Scores keep the precision of
    their column. `numbers` may hold NaN; `features` are numbers too where all are, else levels, None where one is
    missing; `others` are as the frame has them.
    """

    truth: Array | None = None
    predicted: dict[str, Array] = field(default_factory=dict)
    scores: dict[str, Array] = field(default_factory=dict)
    weights: Array | None = None
    frequency: Array | None = None
    clusters: Array | None = None
    by: dict[str, Array] = field(default_factory=dict)
    numbers: dict[str, Array] = field(default_factory=dict)
    features: dict[str, Array] = field(default_factory=dict)
    others: dict[str, Array] = field(default_factory=dict)

    @property
    def labels(self) -> list[Array]:
        """The truth, where there is one, and each model's predictions."""
        return [*([] if self.truth is None else [self.truth]), *self.predicted.values()]


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
    features: Sequence[str] = (),
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
    check_kinds(source, values=[*of_labels, *members], numbers=of_numbers, others=[*features, *others])
    fetched = queries.fetch_columns(source, [*of_labels, *of_numbers, *members, *features, *others])
    with decoding.naming_bad_numbers(source, *of_numbers):
        values = {name: number_column(fetched[name], name) for name in of_numbers}
    for name in score:
        _check_scores(source, fetched[name], values[name], name)
    weights = None if weight is None else checks.weights(values[weight], f"The column {weight!r}")
    times = None if frequency is None else _times(fetched[frequency], values[frequency], frequency)
    decoded = dict(
        zip(of_labels, _labels(source, [fetched[name] for name in of_labels], of_labels, labels), strict=True)
    )
    return FetchedRows(
        None if true is None else decoded[true],
        {name: decoded[name] for name in pred},
        {name: values[name].astype(queries.column_precision(source, name)) for name in score},
        weights,
        times,
        None if cluster is None else _groups(source, fetched[cluster], cluster),
        {name: _groups(source, fetched[name], name) for name in by},
        {name: values[name] for name in numbers},
        {name: _feature(source, fetched[name], name) for name in features},
        {name: _raw(fetched[name], name) for name in others},
    )


@dataclass(frozen=True)
class CountedKeys:
    """The distinct combinations of labels, cluster and groups, and what each counts for; labels are read as of rows.

    `rows` has the number of rows of each, `weights` and `squares` the sums of their weights and of the squares.
    Clusters are text. `given` has the labels as the frame has them, which of a text file may be spelled in several
    ways.
    """

    truth: Array | None
    predicted: dict[str, Array]
    clusters: Array | None
    by: dict[str, Array]
    rows: Array
    weights: Array | None
    squares: Array | None
    given: dict[str, Array]

    @property
    def labels(self) -> list[Array]:
        """The truth, where there is one, and each model's predictions."""
        return [*([] if self.truth is None else [self.truth]), *self.predicted.values()]

    def at(self, places: Array) -> Counted:
        """The rows, weights and squared weights of some keys."""
        weights, squares = (None if part is None else part[places] for part in (self.weights, self.squares))
        return self.rows[places], weights, squares

    def groups(self) -> dict[Labels, Array]:
        """The places of the keys of each group; all of them under no key."""
        return rows_of_groups(list(self.by.values()), len(self.rows))


def count_keys(
    source: Source,
    *,
    true: str | None,
    pred: Sequence[str] = (),
    weight: str | None = None,
    frequency: str | None = None,
    cluster: str | None = None,
    by: Sequence[str] = (),
    labels: Labels | None = None,
) -> CountedKeys:
    """Count each combination of the named columns where the rows live, or add the lines of a counting query.

    `labels` are those that were declared; without them columns of as good as no row a label are refused.
    """
    of_labels = [name for name in (true, *pred) if name is not None]
    members = [*([] if cluster is None else [cluster]), *by]
    columns = ColumnNames(true or "", tuple(pred), None, weight, frequency, tuple(by))
    check_uses(true, pred, (), weight, frequency)
    numbers = [name for name in (weight, frequency) if name is not None]
    if counted_already := source.holds_counts:
        check_counted(source, columns)
    check_kinds(source, values=[*of_labels, *members], numbers=[] if counted_already else numbers)
    declared = labels is not None or frequency is not None or counted_already
    queries.check_sample(source, of_labels, by, declared=declared)
    with decoding.naming_bad_numbers(source, *([] if counted_already else numbers)):
        counted = counted_keys(source, [*of_labels, *members], columns)
    given = dict(zip([*of_labels, *members], counted.keys, strict=True))
    read = read_labels(source, [given[name] for name in of_labels], of_labels, labels)
    decoded = dict(zip(of_labels, read, strict=True))
    names = None if cluster is None else present_labels(given[cluster], cluster)
    return CountedKeys(
        None if true is None else decoded[true],
        {name: decoded[name] for name in pred},
        None if names is None else read_groups(source, names),
        {name: read_groups(source, given[name]) for name in by},
        counted.rows,
        counted.weights,
        counted.squares,
        {name: given[name] for name in of_labels},
    )


def read_labels(
    source: Source, keys: Sequence[Array], names: Sequence[str], declared: Labels | None = None
) -> list[Array]:
    """Distinct labels as a query brought them, refused where one is missing, and read where they are text of a file."""
    present = [present_labels(key, name) for key, name in zip(keys, names, strict=True)]
    return decoding.labels(present, names, declared) if source.textual else present


def read_groups(source: Source, key: Array) -> Array:
    """Groups as a query brought them, of a text file numbers or truth values where all of them are."""
    return queries.key_column(decoding.group_values(key.tolist())) if source.textual else key


def check_row_number(source: Source, why: str, instead: str) -> None:
    """Refuse more rows than are fetched one by one from a file or an engine."""
    if not source.in_memory and (rows := queries.count_rows(source)) > EXACT_ROWS:
        raise InputError(f"{why}, and there are {rows:,}; {instead}, or a sample of at most {EXACT_ROWS:,} rows.")


def number_column(series: nw.Series[Any], name: str) -> Array:
    """A column of numbers as float64, NaN where one is missing, read from text where a file has nothing else."""
    import narwhals as nw

    if series.dtype == nw.String or (series.dtype.is_numeric() and series.null_count()):
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return checks.numbers(series.to_native(), f"The column {name!r}")


def _check_scores(source: Source, series: nw.Series[Any], scores: Array, name: str) -> None:
    bad = ~np.isfinite(scores)
    if bad.any():
        missing = int(np.isnan(scores).sum())
        ordered = source.in_memory or source.parts[0].implementation.is_polars()
        first = f", the first in row {int(np.argmax(bad)) + 1:,}" if ordered else ""
        raise InputError(decoding.not_finite_sentence(name, missing, int(bad.sum()) - missing, first))
    if not series.dtype.is_float():
        checks.check_apart(checks.column(series.to_native(), name), scores, f"The column {name!r}")


def _times(series: nw.Series[Any], values: Array, name: str) -> Array | None:
    """The frequency weight of each row; whole numbers as they are, which beyond 2**53 a float would round."""
    whole = series.dtype.is_integer() and not series.null_count()
    return checks.weights(series.to_native() if whole else values, f"The column {name!r}", whole=True)


def _feature(source: Source, series: nw.Series[Any], name: str) -> Array:
    if series.dtype.is_numeric():
        return number_column(series, name)
    return feature_values(_raw(series, name), source.textual)


def _values(series: nw.Series[Any], name: str) -> Array:
    """A column as NumPy has it."""
    return checks.column(series.to_native(), f"The column {name!r}")


def _raw(series: nw.Series[Any], name: str) -> Array:
    """A column as it is; numbers as NumPy has them where none is missing, since it would turn 1 into 1.0."""
    plain = series.dtype.is_numeric() and not series.null_count()
    return _values(series, name) if plain else queries.key_column(series.to_list())


def _labels(
    source: Source, columns: Sequence[nw.Series[Any]], names: Sequence[str], declared: Labels | None
) -> list[Array]:
    """Columns of labels, those of a text file read as what all of them are."""
    if source.textual:
        coded = [_coded(series) for series in columns]
        read = decoding.labels([queries.key_column(texts) for _, texts in coded], names, declared)
        return [_of_one_kind(labels)[codes] for labels, (codes, _) in zip(read, coded, strict=True)]
    given = [_values(series, name) for series, name in zip(columns, names, strict=True)]
    for series, values, name in zip(columns, given, names, strict=True):
        if series.null_count() or (values.dtype.kind == "f" and np.isnan(values).any()):
            raise InputError(decoding.missing_sentence(name))
    return given


def _groups(source: Source, series: nw.Series[Any], name: str) -> Array:
    """A column of groups, of a text file numbers or truth values where all of them are."""
    if not source.textual:
        return _raw(series, name)
    codes, texts = _coded(series)
    return _of_one_kind(queries.key_column(decoding.group_values(texts)))[codes]


def _coded(series: nw.Series[Any]) -> tuple[Array, list[str | None]]:
    """The code of each text of a file, and the texts that are coded, None last where one is missing."""
    import polars as pl

    column = series.to_native()
    texts = column.drop_nulls().unique(maintain_order=True)
    codes = column.cast(pl.Enum(texts)).to_physical().cast(pl.UInt32)
    return codes.fill_null(len(texts)).to_numpy(), [*texts.to_list(), *([None] if column.null_count() else [])]


def _of_one_kind(values: Array) -> Array:
    """Whole numbers and truth values as NumPy counts them fastest."""
    kinds = set(map(type, values.tolist()))
    small = kinds == {int} and min(values) > -(2**62) and max(values) < 2**62
    return values.astype(np.int64) if small else values.astype(bool) if kinds == {bool} else values


# ---------------------------------------------------------------- names of columns


def matched_columns(source: Source, columns: str | Sequence[str]) -> dict[str, str]:
    """The columns that a pattern such as "p_*" or a list names, by the class or label that each stands for.

    Of a list these are what is left of the names without what all of them begin with.
    """
    if not isinstance(columns, str):
        listed = named_columns("score", columns)
        if len(listed) < 2:
            raise InputError(argument="score", expected="a column for each class, two or more, each once", given=listed)
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
    """Refuse what is no pattern of the columns of all classes or labels."""
    if pattern.count("*") != 1:
        raise InputError(f"Columns are named by a pattern with one *, such as 'p_*', not {pattern!r}.")


# ---------------------------------------------------------------- conditions


def filtered(source: Source, text: str) -> Source:
    """The rows that meet conditions such as "age >= 60 and site = B", left where they are until they are asked for."""
    conditions = as_conjunction(text)
    check_features(source, conditions.features)
    parts = tuple(filtered_part(part, conditions, source.textual) for part in source.parts)
    return replace(source, parts=parts)


def kept_rows(columns: Mapping[str, ArrayLike], text: str) -> Array:
    """Which rows of columns that are here meet the same conditions."""
    import narwhals as nw
    import polars as pl

    conditions = as_conjunction(text)
    check_names(conditions.features, columns)
    read = {name: checks.column(columns[name], f"columns[{name!r}]") for name in conditions.features}
    series = {name: values.tolist() if values.dtype.kind in "OUS" else values for name, values in read.items()}
    frame = nw.from_native(pl.DataFrame(series, strict=False).lazy())
    held = frame.select(expression(conditions, frame.collect_schema()).alias("held"))
    return np.asarray(queries.collect(held).get_column("held").to_numpy(), dtype=bool)
