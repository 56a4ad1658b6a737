"""How often equal groups are called different by one test, and how often differences and gaps of groups are covered."""

from __future__ import annotations

import itertools

import numpy as np

from steelyard import Counts, interval
from steelyard.analysis.comparison.groups import (
    RateDraws,
    difference_ends,
    interval_equality,
    largest_difference,
    level_of_each,
    smallest_ratio,
)
from steelyard.analysis.intervals.rate_intervals import wilson

SIZES = (("10 positives", 10, 10), ("100 positives", 100, 100), ("10 to 1,000 positives", 10, 1_000))
SPECIFICITY, RATIO = 0.9, 3  # negatives for each positive


def counts(groups, least, most, recalls, repeats, rng):
    """Tables of groups, runs first."""
    positives = np.round(np.geomspace(least, most, groups)).astype(np.int64)
    tp, tn = (
        rng.binomial(sizes, rates, size=(repeats, groups))
        for sizes, rates in ((positives, recalls), (RATIO * positives, SPECIFICITY))
    )
    return Counts(tp, positives - tp, RATIO * positives - tn, tn)


def ends_of(name, table, level, draws):
    """The value, low and high of a metric in each group."""
    found = interval(name, table, level=level, draws=draws, rng=np.random.default_rng(1))
    return np.stack([found.value, found.low, found.high], -1)


def equal_rows(repeats):
    """Equal groups: how often the test of each metric rejects that they are."""
    rng = np.random.default_rng(23)
    for groups, (words, least, most) in itertools.product((2, 3, 8), SIZES):
        table = counts(groups, least, most, np.full(groups, 0.8), repeats, rng)
        flagged = table.tp + table.fp
        exact = {"recall": (table.tp, table.positives), "precision": (table.tp, flagged)}
        shares = {
            f"{name}, exact": np.mean(
                [RateDraws(h, t, rng, 999).equality()[1] <= 0.05 for h, t in zip(hits, trials, strict=True)]
            )
            for name, (hits, trials) in exact.items()
        }
        for name in ("recall", "f1", "mcc"):
            ends = ends_of(name, table, 0.95, 2_000)
            shares[f"{name}, by intervals"] = np.mean([interval_equality(each, 0.95)[1] <= 0.05 for each in ends])
        yield f"{groups} groups of {words}", {name: float(share) for name, share in shares.items()}


def held(ends, true):
    """The share of runs in which all true values lie between their ends."""
    within = (ends[..., 1] <= true + 1e-9) & (ends[..., 2] >= true - 1e-9)
    return float(within.reshape(len(within), -1).all(1).mean())


def wilson_ends(hits, trials, level):
    return np.stack([hits / trials, *wilson(hits, trials, level)], -1)


def cover_rows(repeats):
    """Differences that hold together, and gaps, of groups with equal and with other recalls."""
    rng = np.random.default_rng(29)
    for groups, (words, least, most), (kind, low, high) in itertools.product(
        (2, 3, 8), SIZES, (("equal", 0.8, 0.8), ("recall .65 to .85", 0.65, 0.85))
    ):
        recalls, pairs = np.linspace(low, high, groups), np.array([*itertools.combinations(range(groups), 2)]).T
        table = counts(groups, least, most, recalls, repeats, rng)
        each = level_of_each(0.95, pairs.shape[1])
        recall = wilson_ends(table.tp, table.positives, each)
        both = [
            wilson_ends(hits, trials, level_of_each(0.95, 2 * pairs.shape[1]))
            for hits, trials in ((table.tp, table.positives), (table.fp, table.negatives))
        ]
        accuracy = ends_of("balanced_accuracy", table, each, 8_000 if groups > 3 else 4_000)
        true = (recalls[pairs[0]] - recalls[pairs[1]])[None]
        odds = np.maximum(*map(largest_difference, both))
        yield (
            f"{groups} groups of {words}, {kind}",
            {
                "differences of recall": held(difference_ends(recall[:, pairs[0]], recall[:, pairs[1]]), true),
                "of balanced accuracy": held(difference_ends(accuracy[:, pairs[0]], accuracy[:, pairs[1]]), true / 2),
                "equal opportunity difference": held(largest_difference(recall), high - low),
                "equal opportunity ratio": held(smallest_ratio(recall), low / high),
                "equalized odds difference": held(odds, high - low),
            },
        )
