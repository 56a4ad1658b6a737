"""Rows of several labels each, beside scikit-learn and torchmetrics: matrices, sparse ones, and columns of scores."""

from __future__ import annotations

import functools

import numpy as np

import steelyard
from benchmarks.row import Row, needed

TITLE = "Several labels"
LABELS, MANY = 20, 10_000
SINGLE = 1e-5  # torchmetrics counts in single precision
RANKED = {
    "label_ranking_loss": "label_ranking_loss", "label_ranking_average_precision_score": "label_ranking_average_precision",
    "coverage_error": "coverage_error",
}  # fmt: skip


def rows():
    """Predicted labels, then scores, then a sparse matrix of many labels."""
    for kind, aim in (("int64", 20), ("bool", 12)):
        what = f"f1, macro over labels, 1e6 x {LABELS} {kind}"
        yield Row(what, "scikit-learn", functools.partial(matrices, kind), 10**6, aim)
    yield Row(f"f1, macro over labels, 1e6 x {LABELS} int64", "torchmetrics, tensors", tensors, 10**6, 1, within=SINGLE)
    yield Row(
        f"f1, samples, 1e5 x {LABELS} int64", "scikit-learn", functools.partial(matrices, "int64", "samples"), 10**5, 1
    )
    for share in (0.01, 0.1, 0.5):
        what = f"roc_auc, macro over labels, 1e6 x {LABELS}, {share:.0%} positive"
        yield Row(what, "scikit-learn", functools.partial(areas, share), 10**6, 5 if share < 0.5 else 1)
    for theirs, ours in RANKED.items():
        yield Row(f"{ours}, 1e5 x {LABELS}", "scikit-learn", functools.partial(orders, ours, theirs), 10**5, 1)
    yield Row(f"f1, micro, sparse, 1e6 rows of {MANY:,} labels", "scikit-learn", thin, 10**6, 1)


def given(n, share=0.1):
    """The labels of rows, and predictions of which some are wrong."""
    rng = np.random.default_rng(0)
    true = rng.random((n, LABELS)) < share
    return true, true ^ (rng.random((n, LABELS)) < share / 2)


def matrices(kind, average, n=None):
    """Labels predicted, as a matrix of a type."""
    average, n = ("macro", average) if n is None else (average, n)
    pair = [matrix.astype(kind) for matrix in given(n)]
    options = {"average": average, "zero_division": 0}
    theirs = functools.partial(needed("sklearn.metrics").f1_score, *pair, **options)
    return functools.partial(steelyard.f1, *pair, **options), theirs


def tensors(n):
    torch, metrics = needed("torch"), needed("torchmetrics.functional.classification")
    pair = [matrix.astype("int64") for matrix in given(n)]
    true, predicted = (torch.from_numpy(matrix) for matrix in pair)
    theirs = functools.partial(metrics.multilabel_f1_score, predicted, true, num_labels=LABELS, average="macro")
    return functools.partial(steelyard.f1, *pair, average="macro"), lambda: theirs().item()


def scored(n, share):
    rng = np.random.default_rng(0)
    true = (rng.random((n, LABELS)) < share).astype("int64")
    return true, rng.standard_normal((n, LABELS)) + true


def areas(share, n):
    pair = scored(n, share)
    theirs = functools.partial(needed("sklearn.metrics").roc_auc_score, *pair, average="macro")
    return functools.partial(steelyard.roc_auc, *pair, average="macro"), theirs


def orders(ours, theirs, n):
    """A metric of the order of each row's labels."""
    pair = scored(n, 0.1)
    peer = functools.partial(getattr(needed("sklearn.metrics"), theirs), *pair)
    return functools.partial(steelyard.get_metric(ours), *pair), peer


def thin(n):
    """Five labels a row, of which four are found."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    columns = (rng.integers(0, MANY // 5, (n, 5)) + np.arange(5) * (MANY // 5)).astype(np.int32)
    moved = np.where(rng.random(columns.shape) < 0.2, (columns + 1) % MANY, columns)
    starts = np.arange(0, 5 * n + 1, 5, dtype=np.int32)
    pair = [_ones(csr_array, each, starts, n) for each in (columns, moved)]
    theirs = functools.partial(needed("sklearn.metrics").f1_score, *pair, average="micro")
    return functools.partial(steelyard.f1, *pair, average="micro"), theirs


def _ones(kind, columns, starts, n):
    matrix = kind((np.ones(columns.size, np.int8), columns.reshape(-1), starts), shape=(n, MANY))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
