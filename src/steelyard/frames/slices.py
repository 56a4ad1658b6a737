"""Rows of slices: coded by their features in memory, or counted by them where the rows live."""

from __future__ import annotations

import functools
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import label_codes
from steelyard.arrays.backend import as_read
from steelyard.arrays.labels import CONVENTION, choice_sentences, chosen_label, sort_labels
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames import queries
from steelyard.frames.conditions import check_features, condition_expression, feature_values
from steelyard.frames.decoding import is_missing, match_label
from steelyard.frames.features import (
    MemoryColumns,
    RowPatterns,
    SliceRows,
    SliceTable,
    bin_edges,
    binned_feature,
    levels_feature,
)
from steelyard.frames.rows import count_keys, fetch_rows
from steelyard.frames.scores import score_range
from steelyard.frames.source import ColumnNames, Source, check_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from steelyard._types import Array, Label
    from steelyard.frames.features import CodedFeature, Codes
    from steelyard.frames.queries import KeyCounts


FETCHED_CELLS = 50_000_000  # rows x columns that are brought here from a file or a database on this machine
USUAL_THRESHOLD = 0.5
_FIRST = 1_000  # rows that show, as a rule, that a column holds many numbers


@dataclass(frozen=True)
class SliceColumns:
    """What is read of a frame: the columns, how numbers are binned, and the fewest rows that a slice has."""

    true: str
    pred: str | None
    score: str | None
    features: tuple[str, ...]
    threshold: float | None = None
    pos_label: Label = None
    frequency: str | None = None
    bins: int = 5
    least: int = 1
    any_class: bool = False  # whether rows are but right or wrong, so that more than two classes need no positive one

    @property
    def names(self) -> ColumnNames:
        """The columns of labels and scores."""
        pred = () if self.pred is None else (self.pred,)
        return ColumnNames(self.true, pred, self.score, None, self.frequency)

    def check(self, source: Source) -> None:
        """Refuse columns that are not there, and features that are the truth or the prediction."""
        check_columns(source, self.names)
        check_features(source, self.features)
        uses = {self.true: "the truth", self.pred: "the prediction", self.frequency: "the frequency"}
        for name in self.features:
            if name in uses:
                raise InputError(f"The feature {name!r} is {uses[name]} itself; leave it out of features=.")
        if len(set(self.features)) < len(self.features):
            raise InputError("A feature is named twice; name each once.")
        schema = source.parts[0].collect_schema()
        for name in self.features:
            if (kind := schema[name]).is_temporal() or kind.is_nested():
                raise InputTypeError(f"The feature {name!r} holds {kind} values; give numbers, text or booleans.")


# ---------------------------------------------------------------- what is no feature


_SAMPLED = 20_000  # rows at the beginning, by which columns that are no features are known
_ID_SHARE, _FEWEST_IDS = 0.9, 50  # distinct values among the rows of a column that names them
_FOLLOWS = 0.7  # the ROC AUC for the truth from which a column of probabilities or labels is another model's
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


def no_features(source: Source, true: str, names: Sequence[str]) -> dict[str, str]:
    """The columns that describe no rows, each with what it is: dates, identifiers, outputs of models."""
    schema, reasons = source.parts[0].collect_schema(), {}
    for name in names:
        if schema[name].is_temporal():
            reasons[name] = "dates"
        elif schema[name].is_nested():
            reasons[name] = "lists"
    rest = [name for name in names if name not in reasons]
    first = queries.collect(source.parts[0].select(true, *rest).head(_SAMPLED))
    truth, *columns = (
        feature_values(np.array(first.get_column(name).to_list(), dtype=object), source.textual)
        for name in (true, *rest)
    )
    for name, values in zip(rest, columns, strict=True):
        if reason := _no_feature(values, truth):
            reasons[name] = reason
    return {name: reasons[name] for name in names if name in reasons}


def _no_feature(values: Array, truth: Array) -> str:
    """What a column is that is no feature; nothing where it may be one."""
    is_number = values.dtype.kind == "f"
    there = ~np.isnan(values) if is_number else np.array([value is not None for value in values], dtype=bool)
    values, truth = values[there], truth[there]
    distinct = set(values.tolist())
    is_whole = is_number and bool((values == np.round(values)).all())
    if not is_number and distinct and all(isinstance(each, str) and _DATE.fullmatch(each) for each in distinct):
        return "dates"
    if len(values) >= _FEWEST_IDS and len(distinct) >= _ID_SHARE * len(values) and (is_whole or not is_number):
        return "identifiers"
    labels = sort_labels(dict.fromkeys(truth.tolist()))
    is_label = len(distinct) > 1 and distinct <= set(labels)
    if len(labels) > 2:
        return "labels of the truth" if is_label else ""
    is_probability = is_number and not is_whole and bool(((values >= 0) & (values <= 1)).all())
    if len(labels) < 2 or not (is_label or is_probability):
        return ""
    order = values if is_number else np.array([value == labels[1] for value in values], dtype=np.float64)
    area = _area(order, truth == labels[1])
    return "follows the truth as a model does" if max(area, 1 - area) >= _FOLLOWS else ""


def _area(scores: Array, positive: Array) -> float:
    """The area under the ROC curve, by ranks."""
    from scipy.stats import rankdata

    positives = int(positive.sum())
    pairs = positives * (len(positive) - positives)
    return float((rankdata(scores)[positive].sum() - positives * (positives + 1) / 2) / pairs)


def fits_memory(source: Source, columns: SliceColumns) -> bool:
    """Whether the columns are brought here: what is in memory or a file, and not what other machines hold."""
    if source.in_memory or source.textual:
        return True
    return not source.is_remote and queries.count_rows(source) * len(columns.features) <= FETCHED_CELLS


def rows_in_memory(
    source: Source, columns: SliceColumns, *, thresholded: bool = True
) -> tuple[SliceRows, Array, Array | None]:
    """The coded rows, which of them are positive, and their scores where there are any; the outcome is the cell."""
    pred, score = (tuple(name for name in (one,) if name is not None) for one in (columns.pred, columns.score))
    fetched = fetch_rows(
        source, true=columns.true, pred=pred, score=score, frequency=columns.frequency, features=columns.features
    )
    times = fetched.frequency
    named = zip(fetched.labels, (columns.true, *pred), strict=True)
    encoded = [label_codes.distinct(each, f"The column {name!r}") for each, name in named]
    codes, values = [codes for codes, _ in encoded], [queries.key_column(list(labels)) for _, labels in encoded]
    label, stated = positive_label(values, label_codes.counts(codes[0], len(values[0]), times), columns)
    positive = equal_labels(values[0], label)[codes[0]]
    scores = fetched.scores[score[0]] if score else None
    if pred:
        flagged = equal_labels(values[1], label)[codes[1]]
    else:
        flagged = _flagged(source, columns, fetched.scores[score[0]]) if thresholded else positive
    features = fetched.features
    coded = tuple(_coded(name, features[name], times, columns) for name in columns.features)
    feature_codes = tuple(each.codes(features[each.name]) for each in coded)
    if label is None:
        flagged = ~np.array([equal_labels(values[1], each) for each in values[0]])[codes[0], codes[1]]
    outcome = np.where(positive, np.where(flagged, 0, 1), np.where(flagged, 2, 3)).astype(np.uint8)
    scores = None if scores is None else scores.astype(np.float64, copy=False)
    return SliceRows(coded, feature_codes, outcome, 4, label, times, assumed=stated), positive, scores


def equal_labels(values: Array, label: Label) -> Array:
    """Which of the labels are this one."""
    return np.array([bool(value == label) for value in values.tolist()], dtype=bool)


def positive_label(values: Sequence[Array], rows: Array, columns: SliceColumns) -> tuple[Label, tuple[str, ...]]:
    """The positive class among the labels of both columns, None where none is needed; and in words who chose it."""
    if not len(rows):
        raise InputError(queries.NO_ROWS)
    labels = sort_labels(dict.fromkeys(label for column in values for label in column.tolist()))
    if columns.any_class and columns.pos_label is None and columns.pred is not None and len(labels) > 2:
        return None, ()
    label = match_label(CONVENTION if columns.pos_label is None else columns.pos_label, labels)
    counts = dict(zip(values[0].tolist(), rows.tolist(), strict=True))
    where = f" of the column {columns.true!r}"
    chosen = chosen_label(label, labels, lambda: np.array([counts.get(each, 0) for each in labels]), where)
    return chosen, choice_sentences(columns.pos_label, chosen, labels)


def _flagged(source: Source, columns: SliceColumns, scores: Array) -> Array:
    if columns.threshold is None and (scores.min(initial=0) < 0 or scores.max(initial=0) > 1):
        raise InputError("The scores are no probabilities; give a threshold, from which on rows are positive.")
    threshold = USUAL_THRESHOLD if columns.threshold is None else columns.threshold
    return np.asarray(scores >= as_read(threshold, queries.column_precision(source, str(columns.score))))


def _coded(name: str, values: Array, times: Array | None, columns: SliceColumns) -> CodedFeature:
    """A feature in bins where it holds many numbers, else by its levels."""
    if values.dtype.kind != "f":
        codes = label_codes.CodeBook[Any]()
        places = np.fromiter(map(codes.__getitem__, values.tolist()), np.intp, len(values))
        rows = np.bincount(places, times, minlength=len(codes))
        return levels_feature(name, {level: int(n) for level, n in zip(codes, rows, strict=True)}, columns.least)
    there = ~np.isnan(values)
    counted = None if times is None else times[there]
    return numbers_feature(name, values[there], counted, _rows(times, ~there), columns)


def _rows(times: Array | None, which: Array) -> int:
    return int(np.count_nonzero(which) if times is None else times[which].sum())


def numbers_feature(name: str, values: Array, times: Array | None, missing: int, columns: SliceColumns) -> CodedFeature:
    """A feature of numbers, by its levels where there are no more of them than bins."""
    if len(np.unique(values[:_FIRST])) <= columns.bins:
        levels, places = np.unique(values, return_inverse=True)
        if len(levels) <= columns.bins:
            rows = np.bincount(places, times, minlength=len(levels))
            counts: Mapping[Label, int] = {_whole(level): int(n) for level, n in zip(levels, rows, strict=True)}
            return levels_feature(name, {**counts, None: missing}, columns.least)
    finite = np.isfinite(values)
    inner = MemoryColumns([values[finite]], [None if times is None else times[finite]])
    return binned_feature(name, bin_edges(inner, columns.bins)[0], missing, columns.least)


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else float(value)


# ---------------------------------------------------------------- slice queries


REMOTE_CELLS = 400_000  # of a block's table: a query is dear, and its answer small
MOST_DISTINCT = 20_000  # of a column that is grouped by its values


@dataclass(frozen=True)
class RemoteNumbers:
    """Columns of numbers that are asked by queries, all of them in one."""

    source: Source
    names: tuple[str, ...]
    rows: Array
    ends: tuple[Array, Array]

    def below(self, values: Array) -> Array:
        """How many numbers of each column lie below its values."""
        import narwhals as nw

        asked = [
            queries.as_number(_finite(name) & (nw.col(name).cast(nw.Float64) < value))
            for name, line in zip(self.names, values.tolist(), strict=True)
            for value in line
        ]
        return _aggregated(self.source, asked, "sum").reshape(values.shape)

    def least_from(self, values: Array) -> Array:
        """The least number of each column that is not below its values."""
        import narwhals as nw

        asked = []
        for name, line in zip(self.names, values.tolist(), strict=True):
            number = nw.col(name).cast(nw.Float64)
            asked += [nw.when(_finite(name) & (number >= value)).then(number) for value in line]
        least = _aggregated(self.source, asked, "min").reshape(values.shape)
        return np.where(np.isnan(least), self.ends[1][:, None], least)


def _finite(name: str) -> nw.Expr:
    import narwhals as nw

    return ~nw.col(name).is_null() & queries.is_finite(nw.col(name).cast(nw.Float64))


def _aggregated(source: Source, asked: Sequence[nw.Expr], how: str) -> Array:
    """One number for each expression over all rows; expressions come first, as not every engine nests them."""
    import narwhals as nw

    parts = []
    for frame in source.parts:
        rows = frame.select(*(each.alias(f"a{i}") for i, each in enumerate(asked)))
        one = queries.collect(rows.select(*(getattr(nw.col(f"a{i}"), how)() for i in range(len(asked)))))
        values = [one.get_column(f"a{i}").to_list()[0] for i in range(len(asked))]
        parts.append([np.nan if value is None else float(value) for value in values])
    table = np.array(parts)
    return np.asarray(np.nansum(table, axis=0) if how == "sum" else getattr(np, f"f{how}").reduce(table, axis=0))


def remote_features(source: Source, columns: SliceColumns) -> tuple[CodedFeature, ...]:
    """The features with their levels or bins, found by queries."""
    schema = source.parts[0].collect_schema()
    coded, numbers = {}, []
    for name in columns.features:
        numeric, counts = schema[name].is_numeric(), _levels(source, name, MOST_DISTINCT)
        if counts is not None and numeric:
            coded[name] = _counted_numbers(name, counts, columns)
        elif counts is not None:
            coded[name] = levels_feature(name, counts, columns.least)
        elif numeric:
            numbers.append(name)
        else:
            coded[name] = levels_feature(name, {}, columns.least)  # a column of names: no level has rows enough
    if numbers:
        coded |= _binned(source, tuple(numbers), columns)
    return tuple(coded[name] for name in columns.features)


def _counted_numbers(name: str, counts: dict[Label, int], columns: SliceColumns) -> CodedFeature:
    """A feature of numbers of which every distinct one was counted."""
    missing = counts.pop(None, 0)
    values, times = (np.array(part, dtype=kind) for part, kind in ((list(counts), float), (list(counts.values()), int)))
    return numbers_feature(name, values, times, missing, columns)


def _levels(source: Source, name: str, most: int) -> dict[Label, int] | None:
    """The rows of each level of a column, that of missing values under None; nothing where there are too many."""
    import narwhals as nw

    counts: dict[Label, int] = {}
    for frame in source.parts:
        grouped = frame.select(nw.col(name).alias("level")).group_by("level").agg(nw.len().alias("rows"))
        found = queries.collect(grouped.head(most + 3))  # a null and a NaN are no levels
        for level, rows in zip(found.get_column("level").to_list(), found.get_column("rows").to_list(), strict=True):
            key = None if is_missing(level) else _plain(level)
            counts[key] = counts.get(key, 0) + int(rows)
        if len(counts) - (None in counts) > most:
            return None
    return counts


def _plain(level: Any) -> Label:
    value: Any = level.item() if isinstance(level, np.generic) else level
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _binned(source: Source, names: tuple[str, ...], columns: SliceColumns) -> dict[str, CodedFeature]:
    import narwhals as nw

    finite = [queries.as_number(_finite(name)) for name in names]
    there = [queries.as_number(queries.is_number(nw.col(name))) for name in names]
    numbers = [nw.when(_finite(name)).then(nw.col(name).cast(nw.Float64)) for name in names]
    sums = _aggregated(source, [*finite, *there], "sum").reshape(2, -1)
    ends = (_aggregated(source, numbers, "min"), _aggregated(source, numbers, "max"))
    edges = bin_edges(RemoteNumbers(source, names, sums[0], ends), columns.bins)
    missing = queries.count_rows(source) - sums[1]
    return {
        name: binned_feature(name, edge, int(gone), columns.least)
        for name, edge, gone in zip(names, edges, missing, strict=True)
    }


@dataclass(frozen=True)
class RemoteRows:
    """Rows that stay where they live: each table is a query, grouped by codes, truth and prediction."""

    source: Source
    columns: SliceColumns
    features: tuple[CodedFeature, ...]
    label: Label
    kinds: int = 4
    most_cells: int = REMOTE_CELLS
    assumed: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, columns: SliceColumns) -> RemoteRows:
        """The rows with their features and positive class."""
        if columns.pred is None:
            summary = score_range(source, str(columns.score))
            if columns.threshold is None and not 0 <= summary.low <= summary.high <= 1:
                raise InputError("The scores are no probabilities; give a threshold, from which on rows are positive.")
        counted = count_keys(
            source,
            true=columns.true,
            pred=() if columns.pred is None else (columns.pred,),
            frequency=columns.frequency,
        )
        label, stated = positive_label(counted.labels, counted.rows, columns)
        return cls(source, columns, remote_features(source, columns), label, assumed=stated)

    def table(self, block: Sequence[int]) -> SliceTable:
        """The rows of every combination of codes of these features, by a query."""
        schema = self.source.parts[0].collect_schema()
        counted = self._counted([_code(self.features[i], schema) for i in block])
        table = np.zeros((*(self.features[i].size for i in block), self.kinds), dtype=np.int64)
        places = [key.astype(np.intp) for key in counted.keys[: len(block)]]
        np.add.at(table, (*places, self._outcome(counted, len(block))), counted.rows)
        return SliceTable(table)

    def patterns(self, slices: Sequence[Codes]) -> RowPatterns:
        """Which of these slices the rows lie in, by a query."""
        import narwhals as nw

        schema = self.source.parts[0].collect_schema()
        keys = []
        for conditions in slices:
            held = [condition_expression(self.features[i].conditions[code], schema) for i, code in conditions]
            keys.append(nw.when(functools.reduce(operator.and_, held)).then(nw.lit(1)).otherwise(nw.lit(0)))
        counted = self._counted(keys)
        inside = np.array([[bool(bit) for bit in key] for key in counted.keys[: len(slices)]])
        counts = np.zeros((inside.shape[1], self.kinds), dtype=np.int64)
        counts[np.arange(len(counts)), self._outcome(counted, len(slices))] = counted.rows
        return RowPatterns(inside, counts)

    def _counted(self, keys: Sequence[nw.Expr]) -> KeyCounts:
        import narwhals as nw

        columns = self.columns.names
        if self.columns.pred is not None:
            predicted = nw.col(self.columns.pred)
        else:
            threshold = USUAL_THRESHOLD if self.columns.threshold is None else self.columns.threshold
            read = as_read(threshold, queries.column_precision(self.source, str(self.columns.score)))
            at_least = nw.col(str(self.columns.score)).cast(nw.Float64) >= read
            predicted = nw.when(at_least).then(nw.lit(1)).otherwise(nw.lit(0))
        return queries.sum_by_key(self.source, [*keys, nw.col(self.columns.true), predicted], columns)

    def _outcome(self, counted: KeyCounts, place: int) -> Array:
        """The cell of each key; of many classes a false positive stands for a wrong row."""
        if self.label is None:
            return np.where(np.equal(*counted.keys[place : place + 2]).astype(bool), 3, 2)
        positive, predicted = equal_labels(counted.keys[place], self.label), counted.keys[place + 1]
        flagged = equal_labels(predicted, self.label) if self.columns.pred is not None else predicted.astype(bool)
        return np.where(positive, np.where(flagged, 0, 1), np.where(flagged, 2, 3))


def _code(feature: CodedFeature, schema: nw.Schema) -> nw.Expr:
    """The code of each row as an expression."""
    import narwhals as nw

    code: nw.Expr = nw.lit(len(feature.conditions))
    for place, condition in reversed(list(enumerate(feature.conditions))):
        code = nw.when(condition_expression(condition, schema)).then(nw.lit(place)).otherwise(code)
    return code
