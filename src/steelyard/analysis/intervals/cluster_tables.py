"""Cluster tables: the confusion matrix of each cluster of rows, such as a patient's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import LEAST_DRAWS
from steelyard.arrays import checks, label_codes
from steelyard.arrays.checks import check_order
from steelyard.exceptions import InputError, TooFewRowsError
from steelyard.tables.array_tables import declared_labels

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import ClusteredRows
    from steelyard.metrics.call_options import CallOptions

_MOST_CELLS = 50_000_000  # of the tables of all clusters, which are in memory together


def has_several_clusters(rows: ClusteredRows) -> bool:
    """Whether rows that count are of two clusters or more, without which nothing shows how clusters vary."""
    member, times = checks.column(rows.clusters, "cluster"), checks.weights(rows.frequency, "frequency", whole=True)
    counted = member if times is None else member[times > 0]
    return bool((counted != counted[:1]).any())


def cluster_tables(rows: ClusteredRows, options: CallOptions) -> Array:
    """The table of each cluster that has any weight, clusters on a first axis; the mean row has weight 1."""
    check_order(y_true=rows.y_true, y_pred=rows.y_pred, cluster=rows.clusters, frequency=rows.frequency)
    true, pred = checks.column(rows.y_true, "y_true"), checks.column(rows.y_pred, "y_pred")
    member = checks.column(rows.clusters, "cluster")
    weight = checks.weights(rows.sample_weight, "sample_weight")
    times = checks.weights(rows.frequency, "frequency", whole=True)
    checks.check_lengths(y_true=true, y_pred=pred, cluster=member, sample_weight=weight, frequency=times)
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred, declared_labels(options.labels))
    which, clusters = label_codes.encode(member, None, "cluster")
    k, total = len(labels), np.ones(len(true))
    if max(len(clusters), LEAST_DRAWS) * k**2 > _MOST_CELLS:
        raise InputError(
            f"{len(clusters):,} clusters of {k:,} labels have tables of more than {_MOST_CELLS:,} cells; merge rare "
            "labels, or leave cluster= out."
        )
    for column in (weight, times):
        total = total if column is None else total * column
    code = (which.astype(np.int64) * k + true_codes.astype(np.int64)) * k + pred_codes.astype(np.int64)
    tables = np.bincount(code, total, minlength=len(clusters) * k * k).reshape(-1, k, k)
    weighted = tables[tables.sum((1, 2)) > 0]
    if len(weighted) < 2:
        raise TooFewRowsError(
            "cluster= names one cluster only; with no second one the variation between clusters is unknown."
        )
    # The prior adds rows, so a row must have weight 1 on average, whatever the scale of the weights.
    row_weight = 1.0 if weight is None else (weight * total).sum() / total.sum()
    return np.asarray(weighted / row_weight)
