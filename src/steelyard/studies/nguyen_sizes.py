"""Nguyen's test sets, found again: which numbers of texts can give the printed accuracies at all."""

from __future__ import annotations

from functools import cache

import numpy as np

from steelyard.studies.published_values import published

RUNS = 10  # pooled in the tables
MOST = 1_600  # texts of a topic's test set, all runs together: more than any reading of the paper gives
PRINTING = 0.0051  # how far a number may be from one printed with two decimals
SHARES = (0.2, 0.5, 0.8)  # of positives, by the heads of Tables II and III


def _columns(column: int) -> list[tuple[float, float]]:
    """The accuracies of each topic, without and with the factor."""
    plain, factored = published("nguyen")["table_II"]["accuracy"], published("nguyen")["table_III"]["alpha_accuracy"]
    return [(plain[topic][column], factored[topic][column]) for topic in plain if topic != "Average"]


@cache
def totals(column: int) -> tuple[int, ...]:
    """The numbers of texts, 50 to 1,600, of which whole numbers of right answers give all accuracies of a column.

    >>> totals(0), totals(1), totals(2)
    ((1150,), (), (990,))
    """
    printed = np.array([plain for plain, _ in _columns(column)])
    return tuple(
        n for n in range(50, MOST + 1) if np.abs(100 * np.rint(printed * n / 100) / n - printed).max() <= PRINTING
    )


@cache
def divisions(column: int, factor: float | None = None) -> tuple[tuple[int, int], ...]:
    """The positives and negatives of such a number that give the accuracies with the factor too.

    The factor is that of the two, or the one given; the two exchanged give the same, so that nearer to the head comes
    first.

    >>> divisions(0), divisions(0, factor=0.25)
    (((200, 950), (950, 200)), ())
    """
    found = [(p, n - p) for n in totals(column) for p in range(1, n) if _fits(column, p, n - p, factor or p / (n - p))]
    return tuple(sorted(found, key=lambda one: abs(one[0] / sum(one) - SHARES[column])))


def fitting() -> str:
    """The sets of the two unbalanced columns that can give the printed numbers.

    >>> fitting()
    '200 + 950 or 950 + 200, and 800 + 190 or 190 + 800'
    """
    return ", and ".join(" or ".join(f"{p} + {n}" for p, n in divisions(column)) for column in (0, 2))


def _fits(column: int, positives: int, negatives: int, factor: float) -> bool:
    return all(_fitting(*pair, positives, negatives, factor) for pair in _columns(column))


def _fitting(plain: float, factored: float, positives: int, negatives: int, factor: float) -> bool:
    """Whether the right answers of one topic can be shared between the classes so that both accuracies come out."""
    right = round(plain * (positives + negatives) / 100)
    tp = np.arange(max(0, right - negatives), min(positives, right) + 1)
    values = 100 * (tp + factor * (right - tp)) / (positives + factor * negatives)
    return bool((np.abs(values - factored) <= PRINTING).any())
