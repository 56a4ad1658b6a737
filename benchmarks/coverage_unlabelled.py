"""How often what unlabelled scores show holds the truth: prevalence and metrics under label shift, simulated and real.

Real sets are resampled: a classifier is fitted on a third of the rows, and the others are the population that both
samples come from.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.unlabelled_data import populations
from benchmarks.unlabelled_worlds import DRAWS, ENOUGH, ROWS, SHARES, World, sampled, simulated
from steelyard import get_metric, interval, score_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    # each setting, the positives that are expected in it, and its shares
    Settings = tuple[tuple[str, float, dict[str, float]], ...]

RATES = ("precision", "negative_predictive_value", "accuracy", "recall", "specificity")
SUMMARIES = ("f1", "mcc", "ac_score")
REAL_ROWS = 1_000


def covered(world: World, share: float, rows: int, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The share of intervals that hold the truth, by metric."""
    names = (*RATES, *SUMMARIES)
    true = {name: float(get_metric(name)(world.table(share))) for name in names}
    held = dict.fromkeys(("prevalence", *names), 0)
    for _ in range(repeats):
        sample = sampled(world, share, rows, rng)
        low, high = sample.prevalence.interval()
        held["prevalence"] += low <= share <= high
        table = score_table(sample.truth, sample.scores).at(world.threshold)
        for found in interval(names, table, prevalence=sample.prevalence, draws=DRAWS, rng=rng):
            held[found.metric] += found.low <= true[found.metric] <= found.high
    return {name: count / repeats for name, count in held.items()}


@cache
def _every(repeats: int) -> Settings:
    """Each setting, the positives that are expected in it, and its shares."""
    rng, found = np.random.default_rng(24), []
    for calibrated in (True, False):
        world = simulated(calibrated)
        for share in SHARES:
            for rows in ROWS:
                text = f"{'calibrated' if calibrated else 'not calibrated'}, 5 % to {100 * share:g} %, {rows:,} rows"
                found.append((text, share * rows, covered(world, share, rows, repeats, rng)))
    return tuple(found)


def _of(every: Settings, names: tuple[str, ...], enough: bool | None) -> Iterator[tuple[str, dict[str, float]]]:
    for text, expected, shares in every:
        if enough is None or (expected >= ENOUGH) == enough:
            yield text, {name: shares[name] for name in names}


def rate_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates where five positives or more are expected."""
    yield from _of(_every(repeats), ("prevalence", *RATES), enough=True)


def few_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates where fewer are expected."""
    yield from _of(_every(repeats), ("prevalence", *RATES), enough=False)


def summary_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """F1, MCC and the AC-score everywhere."""
    yield from _of(_every(repeats), SUMMARIES, enough=None)


@cache
def _real(repeats: int) -> Settings:
    """Real sets, resampled to other prevalences; one that is not there is left out."""
    rng, found = np.random.default_rng(28), []
    for name, truth, scores in populations():
        positives, negatives = scores[truth == 1], scores[truth == 0]
        rates = (float((positives >= 0.5).mean()), float((negatives >= 0.5).mean()))
        world = World(lambda rng, p, n, a=positives, b=negatives: (rng.choice(a, p), rng.choice(b, n)), rates, 0.5)  # type: ignore[misc]  # bound
        for share in SHARES:
            text = f"{name}, 5 % to {100 * share:g} %, {REAL_ROWS:,} rows"
            found.append((text, share * REAL_ROWS, covered(world, share, REAL_ROWS, repeats, rng)))
    return tuple(found)


def real_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates of real sets."""
    yield from _of(_real(repeats), ("prevalence", *RATES), enough=True)


def real_summary_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """F1, MCC and the AC-score of real sets."""
    yield from _of(_real(repeats), SUMMARIES, enough=None)
