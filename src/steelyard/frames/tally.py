"""Tallies of frames: a frame of any engine, or files, counted where they are into a Tally."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames import decoding, rows
from steelyard.frames.decoding import label_tables, sorted_groups
from steelyard.frames.rows import check_counted
from steelyard.frames.scores import counted_score_tables, score_tables
from steelyard.frames.source import (
    ColumnNames,
    Source,
    TallyRequest,
    check_choices,
    check_columns,
    check_name,
    named_columns,
)
from steelyard.tables.array_tables import declared_labels
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Frame, Label, Labels, LabelSet
    from steelyard.tables.score_table import ScoreTable


def tally(
    data: Frame | Source,
    *,
    true: str,
    pred: str | Sequence[str] | None = None,
    score: str | None = None,
    weight: str | None = None,
    frequency: str | None = None,
    by: str | Sequence[str] | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    threshold: float | None = None,
    exact: bool | None = None,
    cost: str | Sequence[str] | None = None,
) -> Tally:
    """Count the named columns of a frame into tables, where the frame lives; only the tables come back."""
    preds, groups = named_columns("pred", pred), named_columns("by", by)
    for use, name in {"true": true, "score": score, "weight": weight, "frequency": frequency}.items():
        if name is not None or use == "true":
            check_name(use, name)
    check_choices(threshold, exact)
    columns = ColumnNames(true, preds, score, weight, frequency, groups, named_columns("cost", cost))
    if not preds and score is None:
        raise InputTypeError("There is nothing to count: name a column of labels (pred=) or of scores (score=).")
    if len(preds) > 2:
        raise InputError(f"One model is counted, or two side by side; {len(preds)} columns of labels were named.")
    if len(preds) == 2 and (weight is not None or score is not None):
        raise InputError("Two models side by side are counted by their labels alone, without weights or scores.")
    if columns.cost and (score is None or weight is not None):
        raise InputError("cost= is of scores, without weights; name their column with score=, and leave out weight=.")
    source = Source.of(data, counts=True)
    there = _check_source(source, columns)
    with decoding.naming_bad_numbers(source, there.score, there.weight, frequency, *columns.cost):
        return _tally(source, TallyRequest(columns, pos_label, declared_labels(labels), threshold, exact))


def _check_source(source: Source, columns: ColumnNames) -> ColumnNames:
    """The columns that must be there, and are: those of bins and sums are in the lines of a counting query."""
    if not source.holds_counts:
        check_columns(source, columns)
        return columns
    check_counted(source, columns)
    there = replace(columns, score=None, weight=None)
    check_columns(source, there)
    return there


def _tally(source: Source, request: TallyRequest) -> Tally:
    columns = request.columns
    parts: dict[str, dict[Labels, Any]] = {}
    labels: Labels = ()
    if columns.pred:
        counted = rows.count_keys(
            source,
            true=columns.true,
            pred=columns.pred,
            weight=columns.weight,
            frequency=columns.frequency,
            by=columns.by,
            labels=request.labels,
        )
        parts["confusion" if len(columns.pred) == 1 else "paired"] = dict(label_tables(counted, request))
    if columns.score is not None:
        counted_scores = counted_score_tables if source.holds_counts else score_tables
        parts["scores"], labels = counted_scores(source, request)
    origin: dict[str, Any] = {"models": columns.pred if len(columns.pred) == 2 else (), "columns": columns.by_use()}
    whole: dict[str, Any] = {name: tables.pop(()) for name, tables in parts.items()}
    if columns.cost:
        origin["costs"] = {name: _costs(source, request, name, whole["scores"].label) for name in columns.cost}
    groups = {
        key: Tally(**{name: tables[key] for name, tables in parts.items()})
        for key in sorted_groups(next(iter(parts.values())))
    }
    return Tally(**whole, labels=_labels(whole) or labels, by=columns.by, groups=groups, **origin).checked()


def _costs(source: Source, request: TallyRequest, name: str, positive: Label) -> ScoreTable:
    """The scores of all rows weighted by a column of costs."""
    columns = replace(request.columns, weight=name, by=(), cost=())
    with decoding.naming_costs(name):
        return score_tables(source, replace(request, columns=columns, pos_label=positive))[0][()]


def _labels(tables: dict[str, Any]) -> Labels:
    """The labels of a table of labels."""
    return next((tuple(tables[name].labels) for name in ("confusion", "paired") if name in tables), ())
