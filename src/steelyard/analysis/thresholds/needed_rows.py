"""Needed rows: how many rows would let a threshold be promised that these rows cannot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_below, normal_quantile
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard.analysis.thresholds.promised_limits import Promise
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

ENOUGH = 0.8  # of the samples of that size have such a threshold
_SAMPLES, _MORE, _DOUBLINGS = 10, 30, 8
_NO_MOST = "how many at most, these rows do not show"
_RANGE = 1.2816  # standard errors to either side that hold the needed rows in 80 % of samples


def needed_rows_sentence(promise: Promise, sample: ThresholdSample, rng: np.random.Generator) -> str:
    """How many rows would do, found by resampling these rows to larger samples; or that no number would."""
    texts = " and ".join(limit.text for limit in promise.limits)
    least = promise.least_rows(sample)
    sure = f"with {100 * promise.confidence:g} % confidence"
    if any(rows is None for _, rows, _ in least):
        return f"No number of rows shows {texts} {sure}: the limit leaves no room for a single error."
    short = [(name, rows, there) for name, rows, there in least if rows is not None and rows > there]
    if short and len(promise.limits) == 1:
        ((name, rows, there),) = short
        like = "" if sample.has_equal_rows else " like these"
        return f"{texts} {sure} needs at least {rows:,} {name}{like}; {_here(there)}."
    times = _times_needed(promise, sample, max([2.0, *(rows / there for _, rows, there in short)]), rng)
    if times is None:
        return f"Many more rows like these would not be enough either: {_why_none(promise, sample, texts)}."
    positives, n = sample.table.positive.n, sample.table.n
    low, middle, high = (f"{_two_digits(part * n):,}" if math.isfinite(part) else "" for part in times)
    between = f"{low} to {high} rows, as far as these rows show" if high else f"{low} rows at least; {_NO_MOST}"
    clusters = 0 if sample.clusters is None else len(sample.clusters.sizes)
    more, those = (f" in {_two_digits(times[1] * clusters):,} clusters", f" in {clusters:,}") if clusters else ("", "")
    return (
        f"About {_two_digits(times[1] * positives):,} positives among {middle} rows{more} would let a threshold be "
        f"promised in {100 * ENOUGH:g} % of such samples ({between}); {_here(positives)} "
        f"among {n:,}{those}."
    )


def _why_none(promise: Promise, sample: ThresholdSample, texts: str) -> str:
    scores = f"the scores do not reach {texts} by enough"
    if not isinstance(sample.prevalence, Prevalence):
        return scores
    at = sample.prevalence.text(promise.confidence)
    return f"{scores}, or the prevalence, {at}, is not known well enough, and is to be estimated from more rows"


def _here(rows: int) -> str:
    return f"here {'is' if rows == 1 else 'are'} {rows:,}"


def _two_digits(number: float) -> int:
    return int(float(f"{number:.2g}"))


def _times_needed(
    promise: Promise, sample: ThresholdSample, first: float, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """How many times the rows would do, with the ends of its range; None where many times as many do not.

    How far the limit is exceeded, in standard errors of all rows, grows with their root: one number, by which larger
    samples keep the promise as often as they do. These rows show it to one standard error, so the range is wide: at
    four settings (precision, F1, MCC, two rates; 120 to 400 rows) it held the truth, itself known to a factor of
    1.4, for 65 of 79 samples; the median sample gave 0.3 to 0.9 times it, as the surest threshold flatters a sample.
    """
    sizes, kept = [], []
    for step in range(_DOUBLINGS):
        sizes.append(first * 2.0**step)
        kept.append(_share_kept(promise, sample, sizes[-1], _SAMPLES, rng))
        if kept[-1] >= ENOUGH:
            break
    else:
        return None
    allowed, more = float(normal_quantile(promise.confidence)), float(normal_quantile(ENOUGH))
    excess = _excess(sizes, kept, [_SAMPLES] * len(sizes), allowed)
    sizes.append(((allowed + more) / excess) ** 2)
    kept.append(_share_kept(promise, sample, sizes[-1], _MORE, rng))
    excess = _excess(sizes, kept, [*[_SAMPLES] * (len(sizes) - 1), _MORE], allowed)
    low, middle, high = (max(((allowed + more) / max(excess + far, 1e-9)) ** 2, 1.0) for far in (_RANGE, 0, -_RANGE))
    return low, middle, high if excess > 1.5 * _RANGE else math.inf  # nearly endless


def _excess(sizes: list[float], kept: list[float], samples: list[int], allowed: float) -> float:
    """The number of standard errors by which such shares of samples of these sizes keep the promise most likely."""
    some = np.linspace(0.02, 6, 600)
    chance = np.clip(normal_below(some[:, None] * np.sqrt(sizes) - allowed), 1e-4, 1 - 1e-4)
    hits, n = np.asarray(kept) * samples, np.asarray(samples)
    return float(some[(hits * np.log(chance) + (n - hits) * np.log(1 - chance)).sum(1).argmax()])


def _share_kept(
    promise: Promise, sample: ThresholdSample, times: float, samples: int, rng: np.random.Generator
) -> float:
    """In how many samples of so many times the rows a threshold between everybody and nobody keeps the promise."""
    kept = 0
    for _ in range(samples):
        larger = _resampled(sample.table, times, rng)
        if not all(side.n for side in larger.classes):
            continue
        kept += bool(promise.kept(sample.larger(larger), rng, quick=True)[:, 1:-1].any())
    return kept / samples


def _resampled(table: ScoreTable, times: float, rng: np.random.Generator) -> ScoreTable:
    """So many times the rows, drawn from those of a table."""
    sides = []
    for side in (side.compact() for side in table.classes):
        rows = rng.poisson(times * side.rows)
        drawn = rows > 0
        sums = (side.given_weights, side.given_squares)
        weights, squares = (None if some is None else (some * rows / np.maximum(side.rows, 1))[drawn] for some in sums)
        sides.append(ClassScores(side.scores[drawn], rows[drawn], weights, squares))
    return ScoreTable(sides[0], sides[1], table.label, table.bins, table.precision)
