"""Groups: the rows of arrays and frames by what they are grouped by, and columns of numbers as a few groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import CONVENTION
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.frames import conditions, queries
from steelyard.frames.conditions import Condition, Conjunction
from steelyard.frames.decoding import rows_of_groups, sorted_groups
from steelyard.frames.rows import fetch_rows
from steelyard.frames.source import Source, named_columns, refuse_name
from steelyard.tables import array_tables
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import narwhals as nw
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet, Weights
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable

    By: TypeAlias = str | Sequence[str] | ArrayLike | Mapping[str, ArrayLike]
    Bins: TypeAlias = int | Mapping[str, int | Sequence[float]]


def grouped_tally(
    y_true: ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    by: By,
    *,
    pos_label: Label,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> Tally:
    """The tables of all rows and of each group: `by` is one value per row, or several such columns by name."""
    columns = group_columns(by)
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    check_order(y_true=y_true, y_pred=y_pred, y_score=y_score, **weights, **_named_groups(by))
    true = checks.column(y_true, "y_true")
    parts = {
        "y_pred": None if y_pred is None else checks.column(y_pred, "y_pred"),
        "y_score": None if y_score is None else checks.column(y_score, "y_score"),
        "sample_weight": checks.weights(sample_weight, "sample_weight"),
        "frequency": checks.weights(frequency, "frequency", whole=True),
    }
    checks.check_lengths(y_true=true, **parts, **columns)
    whole = _tables(true, parts, pos_label, labels)
    places = group_places(columns)
    label = pos_label if whole.scores is None else whole.scores.label
    groups = {
        key: replace(
            _tables(true[rows], {name: _at(part, rows) for name, part in parts.items()}, label, whole.labels), labels=()
        )
        for key in sorted_groups(key for key in places if key)
        for rows in [places[key]]
    }
    return Tally(whole.confusion, whole.scores, labels=whole.labels, by=tuple(columns), groups=groups)


def group_places(columns: Mapping[str, Array]) -> dict[Labels, Array]:
    """The places of the rows of each group; all of them under no key."""
    listed = list(columns.values())
    return rows_of_groups(listed, len(listed[0]) if listed else 0)


def group_columns(by: By) -> dict[str, Array]:
    """The columns of groups by name: a series is called as it is, and a plain array "group"."""
    refuse_name("by", by)
    if isinstance(by, Mapping):
        return {str(name): checks.column(values, f"by[{name!r}]") for name, values in by.items()}
    if np.ndim(by) > 1 or hasattr(by, "columns"):
        raise InputTypeError(
            argument="by",
            expected="one value per row",
            do='several columns are given by name: by={"site": ..., "year": ...}',
        )
    name = getattr(by, "name", None)
    return {str(name or "group"): checks.column(by, "by")}


def _named_groups(by: By) -> dict[str, object]:
    """The columns of groups as given, by what to call them in a refusal."""
    return {f"by[{name!r}]": values for name, values in by.items()} if isinstance(by, Mapping) else {"by": by}


def _at(column: Array | None, rows: Array) -> Array | None:
    return None if column is None else column[rows]


def _tables(true: Array, parts: Mapping[str, Array | None], pos_label: Label, labels: LabelSet | None) -> Tally:
    """The tables of some rows, in which rows without weight are left out."""
    weights = {name: parts[name] for name in ("sample_weight", "frequency")}
    table: Confusion | None = None
    scores: ScoreTable | None = None
    if (pred := parts["y_pred"]) is not None:
        table = array_tables.confusion(true, pred, pos_label=pos_label, labels=labels, **weights)
    if (score := parts["y_score"]) is not None:
        chosen = CONVENTION if pos_label is None else pos_label
        scores = array_tables.score_table(true, score, pos_label=chosen, labels=labels, **weights)
    present: Labels = tuple(table.labels) if table is not None else array_tables.declared_labels(labels) or ()
    if not present:
        present = label_codes.encode(true)[1]
    return Tally(table, scores, labels=present)


# ---------------------------------------------------------------- group bins


_DIGITS = 3  # of an edge between numbers that are not whole


def binned_groups(
    data: Source | Frame | Any, by: By | None, bins: Bins | None, *, frame: bool, **uses: Any
) -> tuple[Any, By | None]:
    """The rows and their groups, of which columns of numbers are bins where that is asked for.

    `uses` are the other columns of a frame by what they are for, none of which bins may take the place of.
    """
    if bins is None:
        return data, by
    if by is None:
        raise InputTypeError("bins= divides a column of by=; name the groups with by=.")
    if not frame:
        columns = group_columns(by)
        asked = _asked(bins, tuple(columns))
        return data, {name: _binned_array(name, column, asked.get(name)) for name, column in columns.items()}
    names = named_columns("by", by)  # type: ignore[arg-type]  # refused there where it is no name
    asked = _asked(bins, names)
    source = binned_source(Source.of(data, counts=True), asked)
    _check_unused(asked, uses)
    return source, names


def _check_unused(asked: Collection[str], uses: Mapping[str, Any]) -> None:
    """Refuse bins of a column that is read as numbers too, such as the clusters, which would then be those of bins."""
    for use, named in uses.items():
        patterns = [named] if isinstance(named, str) else named if isinstance(named, (list, tuple)) else []
        for name in asked:
            if any(name == pattern or fnmatchcase(name, str(pattern)) for pattern in patterns):
                raise InputError(
                    f"{use}= and by= both name the column {name!r}, and bins would take the place of its values; give "
                    "by= a copy of it under another name."
                )


def binned_source(source: Source, asked: Mapping[str, int | Sequence[float]]) -> Source:
    """The source with bins in the place of columns of numbers, divided where the rows live."""
    conditions.check_features(source, tuple(asked))
    for name, given in asked.items():
        if (edges := _frame_edges(source, name, given)) is not None:
            source = _with_bins(source, name, bins_between(name, edges))
    return source


def _asked(bins: Bins, names: tuple[str, ...]) -> dict[str, int | Sequence[float]]:
    """Into how many bins, or at which edges, each column is divided."""
    if isinstance(bins, Mapping):
        for name in bins:
            if name not in names:
                raise InputError(f"bins= names {name!r}, which is no column of by=.{did_you_mean(name, names)}")
        return {name: _checked(name, given) for name, given in bins.items()}
    return {name: _checked(name, bins) for name in names}


def _checked(name: str, given: int | Sequence[float]) -> int | Sequence[float]:
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if given < 2:
            raise InputError(f"Into {given} bins {name!r} cannot be divided; give 2 or more, or the edges.")
        return int(given)
    edges = np.asarray(given, dtype=np.float64) if np.ndim(given) == 1 else np.array([math.nan])
    if not len(edges) or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise InputError(f"The bins of {name!r} are a number of them, or edges that increase, not {given!r}.")
    return [float(edge) for edge in edges]


def bins_between(name: str, edges: Sequence[float]) -> list[Condition]:
    """The bins that edges divide a column into.

    >>> bins_between("age", [34.0, 51.5])
    [age < 34, 34 <= age < 51.5, age >= 51.5]
    """
    ends = zip([None, *edges], [*edges, None], strict=True)
    return [Condition(name, low=low, high=high) for low, high in ends]


def quantile_edges(values: Array, bins: int) -> list[float]:
    """Edges at the quantiles of numbers, whole where the numbers are, else of three digits; fewer where they tie."""
    inner = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    whole = bool((values == np.rint(values)).all())
    return _readable(inner.tolist(), float(values.min()), whole=whole)


def _readable(edges: Sequence[float], least: float, *, whole: bool) -> list[float]:
    shown = [math.floor(edge) + 1.0 if whole else float(f"{edge:.{_DIGITS}g}") for edge in edges]
    return sorted({edge for edge in shown if edge > least})


def _binned_array(name: str, column: Array, given: int | Sequence[float] | None) -> Array:
    """The bins of a column, None where a number is missing; the column itself where it holds few values, or text."""
    if given is None:
        return column
    numbers = _numbers(column)
    if numbers is None:
        if isinstance(given, int):
            return column
        raise InputTypeError(f"by[{name!r}] holds no numbers; edges divide numbers.")
    there = numbers[np.isfinite(numbers)]
    if isinstance(given, int) and len(np.unique(there)) <= given:
        return column
    edges = quantile_edges(there, given) if isinstance(given, int) else given
    texts = np.array([*map(repr, bins_between(name, edges)), None], dtype=object)
    places = np.where(np.isnan(numbers), len(texts) - 1, np.searchsorted(edges, numbers, side="right"))
    return np.asarray(texts[places])


def _numbers(column: Array) -> Array | None:
    """The column as numbers, NaN where one is missing; None where it holds anything else."""
    listed = column.tolist() if column.dtype.kind == "O" else []
    if listed and {type(value) for value in listed} <= {int, float, type(None)}:
        return np.array([math.nan if value is None else value for value in listed], dtype=np.float64)
    return column.astype(np.float64) if column.dtype.kind in "iuf" else None


# ---------------------------------------------------------------- frames


def _frame_edges(source: Source, name: str, given: int | Sequence[float]) -> Sequence[float] | None:
    """The edges of a column of a frame; None where it holds no numbers, or no more values than bins."""
    numeric = source.textual or source.parts[0].collect_schema()[name].is_numeric()
    if not isinstance(given, int):
        if not numeric:
            raise InputTypeError(f"The column {name!r} holds no numbers; edges divide numbers.")
        return given
    if not numeric:
        return None
    source = Source.of(source)  # quantiles are those of rows, not of counts
    if source.in_memory or source.textual or len(source.parts) > 1:
        values = fetch_rows(source, true=None, features=[name]).features[name]
        there = values[np.isfinite(values)] if values.dtype.kind == "f" else np.array([])
        return quantile_edges(there, given) if len(np.unique(there)) > given else None
    return _query_edges(source, name, given)


def _query_edges(source: Source, name: str, bins: int) -> Sequence[float]:
    """The quantiles by a query of the engine, where it has one."""
    import narwhals as nw

    number = nw.col(name).cast(nw.Float64)
    parts = [number.quantile(place / bins, "linear").alias(f"edge{place}") for place in range(1, bins)]
    try:
        whole = (number == number.round(0)).all().alias("whole")
        found = queries.collect(source.parts[0].select(*parts, number.min().alias("least"), whole))
    except (NotImplementedError, TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        raise InputError(
            f"The engine of this frame has no quantiles of {name!r} ({type(error).__name__}); give the edges, such as "
            f"bins={{{name!r}: [40, 60]}}."
        ) from None
    edges = [float(found.get_column(f"edge{place}").to_list()[0]) for place in range(1, bins)]
    least, is_whole = (found.get_column(column).to_list()[0] for column in ("least", "whole"))
    return _readable(edges, float(least), whole=bool(is_whole))


def _with_bins(source: Source, name: str, bins: Sequence[Condition]) -> Source:
    """The source with the bin of each row in the place of its number; a missing number stays missing."""
    parts = []
    for given in source.parts:
        part = conditions.with_numbers(given, Conjunction(tuple(bins))) if source.textual else given
        parts.append(part.with_columns(_bin_expression(bins, part.collect_schema()).alias(name)))
    return replace(source, parts=tuple(parts))


def _bin_expression(bins: Sequence[Condition], schema: nw.Schema) -> nw.Expr:
    import narwhals as nw

    expression = nw.lit(None, dtype=nw.String())
    for condition in bins:
        holds = conditions.condition_expression(condition, schema)
        expression = nw.when(holds).then(nw.lit(repr(condition))).otherwise(expression)
    return expression
