"""Slice source: the truth, the predictions and the features of a frame as coded rows, in memory or where they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import label_codes, queries
from steelyard.ingest.condition_rows import check_features
from steelyard.ingest.feature_codes import MemoryColumns, bin_edges, binned_feature, levels_feature
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.rows import fetch_rows
from steelyard.ingest.slice_rows import SliceRows
from steelyard.ingest.source import ColumnNames, Source, check_columns
from steelyard.statistics.confusion import sort_labels
from steelyard.statistics.positive_class import CONVENTION, choice_sentences, chosen_label
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label
    from steelyard.ingest.feature_codes import CodedFeature

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
