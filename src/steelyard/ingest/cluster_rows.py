"""Cluster rows: the columns of a frame brought here row by row, where scores or weights belong to clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import arrays, bad_rows, csv_values, label_codes, queries
from steelyard.ingest.score_queries import column_precision
from steelyard.ingest.score_tables import EXACT_ROWS, number_column
from steelyard.ingest.source import Source, check_columns

if TYPE_CHECKING:
    from steelyard._types import Array, Frame
    from steelyard.ingest.source import ColumnNames


class RowArrays(NamedTuple):
    """The columns of a frame as arrays; None of those that are not named."""

    truth: Array
    predicted: Array | None
    scores: Array | None
    weights: Array | None
    frequency: Array | None
    clusters: Array
    groups: dict[str, Array]


def cluster_rows(data: Frame | Source, columns: ColumnNames, cluster: str) -> RowArrays:
    """The named columns row by row; refused where they are too many for that."""
    source = Source.of(data)
    check_columns(source, replace(columns, by=(cluster, *columns.by)))
    rows = queries.count_rows(source)
    if not source.in_memory and rows > EXACT_ROWS:
        raise InputError(
            f"Scores or weights in clusters need every row in memory, and there are {rows:,}; evaluate predicted "
            f"labels without weights, or a sample of at most {EXACT_ROWS:,} rows."
        )
    names = [columns.true, *columns.pred]
    numbers = [name for name in (columns.score, columns.weight, columns.frequency) if name is not None]
    fetched = queries.fetch_columns(source, [*names, *numbers, cluster, *columns.by])
    given = {
        name: arrays.column(fetched[name].to_native(), f"The column {name!r}")
        for name in (*names, cluster, *columns.by)
    }
    labels = _labels(given, names) if source.textual else [given[name] for name in names]
    with bad_rows.naming_bad_numbers(source, *numbers):
        numeric = {name: number_column(fetched[name], name) for name in numbers}
    scores = None if columns.score is None else numeric[columns.score].astype(column_precision(source, columns.score))
    weights, frequency = (None if name is None else numeric[name] for name in (columns.weight, columns.frequency))
    groups = {name: given[name] for name in columns.by}
    return RowArrays(labels[0], labels[1] if columns.pred else None, scores, weights, frequency, given[cluster], groups)


def _labels(columns: dict[str, Array], names: list[str]) -> list[Array]:
    """Labels of a text file, read as what all of them are."""
    coded = [label_codes.distinct(columns[name], f"The column {name!r}") for name in names]
    texts = [np.array([*labels, None], dtype=object)[:-1] for _, labels in coded]
    return [labels[codes] for labels, (codes, _) in zip(csv_values.labels(texts, names), coded, strict=True)]
