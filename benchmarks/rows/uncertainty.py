"""Intervals and evaluations: beside a larger table, a loop over resampled rows, np.sort, and a peer's report."""

from __future__ import annotations

import numpy as np

from steelyard import Counts, evaluate, intervals, list_metrics, score_table
from steelyard.analysis import auc

SMALL = Counts(28, 23, 72, 877)
COUNT_MEASURES = [m for m in list_metrics() if m.function]


def rows(wanted):
    """What is measured, beside what, and the ratio aimed at."""
    for make in (growth, loop, delong, whole):
        yield from (row for row in make() if wanted in row[0])


def growth():
    large = SMALL.scaled(10**6)
    work = lambda table: (intervals(COUNT_MEASURES, table), 0)[1]
    yield "all intervals, 1e9 rows", "1e3 rows", lambda: work(large), lambda: work(SMALL), 1 / 1.5


def loop():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    y, pred = (rng.random(10**5) < 0.05).astype(int), (rng.random(10**5) < 0.05).astype(int)
    table = Counts(*(int(((y == a) & (pred == b)).sum()) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))))
    measures = len(COUNT_MEASURES)
    # One resample of the rows and one measure; 10,000 draws of all measures are that many times more.
    scale = 10_000 * measures

    def one_draw():
        i = rng.integers(0, len(y), len(y))
        f1_score(y[i], pred[i])
        return 0

    yield (
        f"{measures} intervals of 10,000 draws, 1e5 rows (theirs: one draw, x {scale:,})", "scikit-learn in a loop",
        lambda: (intervals(COUNT_MEASURES, table), 0)[1], one_draw, 10_000 / scale,
    )  # fmt: skip


def delong():
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 2, 10**6), rng.random(10**6)
    yield (
        "DeLong's variance, 1e6 rows", "np.sort",
        lambda: (auc.delong_variance(score_table(y, score)), 0)[1], lambda: (np.sort(score), 0)[1], 0.1,
    )  # fmt: skip


def whole():
    from sklearn.metrics import classification_report

    rng = np.random.default_rng(2)
    y, pred = (rng.integers(0, 2, 10**7) for _ in range(2))
    yield (
        "evaluate, 1e7 rows, all measures and intervals", "scikit-learn's classification_report",
        lambda: (evaluate(y, pred), 0)[1], lambda: (classification_report(y, pred), 0)[1], 1,
    )  # fmt: skip
