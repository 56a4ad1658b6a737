"""How often the intervals of many classes, of few errors and of chosen class sizes hold the true value.

Half of the settings are named here; the other half are drawn at random by a seed that changes with the version, so that
nothing can be tuned to them: K from 3, 5, 10 and 20; the rarest class with 3 to 30 rows, the most common 1 to 300 times
as many, sizes geometric; recalls uniform from 0.3 to 0.99, in half of the settings one for all; misses fall on other
classes in part by their size. Test sets that lack a class are counted apart.
"""

from __future__ import annotations

import itertools
import zlib
from typing import NamedTuple

import numpy as np

import steelyard
from steelyard import Confusion, Counts, get_metric, interval

METRICS = ("accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa", "f1[average=macro]", "precision[average=macro]")  # fmt: skip
OF_TWO = ("accuracy", "recall", "precision", "f1", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa")
DRAWS = 400
SEED = zlib.crc32(steelyard.__version__.encode())


class Setting(NamedTuple):
    """The expected rows of each cell, and whether the number of rows of each class is chosen."""

    text: str
    expected: np.ndarray
    chosen: bool = False


def expected(sizes, recalls, by_size):
    """The expected rows of each cell: misses fall on other classes by their size, and evenly."""
    k = len(sizes)
    wrong = np.tile(by_size * sizes / sizes.sum() + (1 - by_size) / k, (k, 1)) * (1 - np.eye(k))
    wrong *= ((1 - recalls) * sizes / wrong.sum(1))[:, None]
    return wrong + np.diag(sizes * recalls)


def named_settings():
    """Rare classes beside a common one, one rare class apart from the others, and few errors."""
    for k, rows in itertools.product((3, 5, 10, 20), (3, 10)):
        sizes = np.array([100.0 * k, *[rows] * (k - 1)])
        yield Setting(f"K = {k}, {k - 1} of {rows} rows, recall .5", expected(sizes, np.array([0.9, *[0.5] * (k - 1)]), 0.5))  # fmt: skip
    for k in (3, 10):
        sizes, recalls = np.array([*[100.0] * (k - 1), 5.0]), np.array([*[0.9] * (k - 1), 0.3])
        yield Setting(f"K = {k}, the last of 5 rows, recall .9 and .3", expected(sizes, recalls, 0.5))
        yield Setting(f"the same, sizes chosen, K = {k}", expected(sizes, recalls, 0.5), chosen=True)
    for k, errors in itertools.product((3, 10), (0.5, 3)):
        sizes = np.full(k, 1000.0 / k)
        yield Setting(f"K = {k}, {errors:g} errors of 1,000 rows", expected(sizes, np.full(k, 1 - errors / 1000), 0.0))


def drawn_settings(count=12):
    """Settings drawn at random by the version's seed."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        k, least, ratio = int(rng.choice([3, 5, 10, 20])), np.exp(rng.uniform(*np.log([3, 30]))), np.exp(rng.uniform(0, np.log(300)))  # fmt: skip
        recalls = rng.uniform(0.3, 0.99, k) if rng.random() < 0.5 else np.full(k, rng.uniform(0.3, 0.99))
        text = f"drawn {i + 1}: K = {k}, {least:.0f} to {least * ratio:,.0f} rows, recall {recalls.min():.2f} to {recalls.max():.2f}"
        yield Setting(text, expected(least * np.geomspace(ratio, 1, k), recalls, rng.random()), chosen=i % 4 == 3)


def test_sets(setting, count, rng):
    """Simulated tables of one setting: of so many rows, or of so many rows of each class."""
    k, cells = len(setting.expected), setting.expected
    if not setting.chosen:
        return rng.multinomial(round(cells.sum()), (cells / cells.sum()).ravel(), size=count).reshape(-1, k, k)
    drawn = [rng.multinomial(max(round(row.sum()), 1), row / row.sum(), size=count) for row in cells]
    return np.stack(drawn, axis=1)


def coverage(setting, count, rng, **how):
    """The share of the intervals that hold each metric's true value, and their mean width."""
    labels = (*range(10, 10 + len(setting.expected)),)
    exact = Confusion(labels, (setting.expected * 1e6).round().astype(np.int64), setting.expected, setting.expected)
    truth = [found.value for found in interval(METRICS, exact, draws=20)]
    held, width = [[] for _ in METRICS], [[] for _ in METRICS]
    for cells in test_sets(setting, count, rng):
        if not cells.sum(1).all():
            continue
        for i, found in enumerate(interval(METRICS, Confusion.of_rows(labels, cells), draws=DRAWS, rng=rng, **how)):
            if not np.isnan(found.low):
                held[i].append(found.low <= truth[i] + 1e-12 and found.high >= truth[i] - 1e-12)
                width[i].append(found.high - found.low)
    return [float(np.mean(h)) if h else np.nan for h in held], [float(np.mean(w)) if w else np.nan for w in width]


def rows(repeats):
    """Each setting with the coverage of ours and of the percentile bootstrap, and the ratio of the widths."""
    rng = np.random.default_rng(2)
    for setting in (*named_settings(), *drawn_settings()):
        design = "stratified" if setting.chosen else "random"
        ours, width = coverage(setting, repeats, rng, design=design)
        method = "stratified-bootstrap" if setting.chosen else "bootstrap"
        peers, theirs = coverage(setting, max(repeats // 8, 50), rng, method=method)
        yield (
            setting.text,
            {
                name: (share, peer, wide / other if other else np.inf)
                for name, share, peer, wide, other in zip(METRICS, ours, peers, width, theirs, strict=True)
            },
        )


def near_perfect_rows(repeats):
    """Two classes with next to no errors: the coverage of the metrics of labels."""
    rng, metrics = np.random.default_rng(3), [get_metric(name) for name in OF_TWO]
    for n, prevalence, errors in itertools.product((50, 500, 5_000), (0.5, 0.1), (0.1, 0.5, 1.0, 3.0)):
        if errors * 2 > n * prevalence:
            continue
        positives, negatives = n * prevalence, n * (1 - prevalence)
        cells = np.array([positives - errors, errors, errors, negatives - errors])
        drawn = rng.multinomial(n, cells / n, size=repeats)
        drawn = drawn[(drawn[:, 0] + drawn[:, 1] > 0) & (drawn[:, 2] + drawn[:, 3] > 0)]
        found = interval(metrics, Counts(*drawn.T), draws=1_000, rng=rng)
        truth = Counts(*cells)
        yield (
            f"n = {n:,}, prevalence {prevalence}, {errors:g} errors of each kind",
            {name: _held(one, metric(truth)) for name, metric, one in zip(OF_TWO, metrics, found, strict=True)},
        )


def _held(found, truth):
    inside = (found.low <= truth + 1e-12) & (found.high >= truth - 1e-12)
    return float(np.mean(inside[~np.isnan(found.value)]))
