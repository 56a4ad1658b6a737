"""Needed rows: how many rows would let a threshold be promised that these rows cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    import numpy as np

    from steelyard.analysis.promised_limits import Promise
    from steelyard.analysis.threshold_sample import ThresholdSample

ENOUGH = 0.8  # of the samples of that size have such a threshold
_SAMPLES, _DOUBLINGS = 20, 7


def needed_rows_sentence(promise: Promise, sample: ThresholdSample, rng: np.random.Generator) -> str:
    """How many rows would do, found by resampling these rows to larger samples; or that no number would."""
    texts = " and ".join(limit.text for limit in promise.limits)
    least = promise.least_rows(sample)
    sure = f"with {100 * promise.confidence:g} % confidence"
    if any(rows is None for _, rows, _ in least):
        return f"No number of rows shows {texts} {sure}: the limit leaves no room for a single error."
    short = [(name, rows, there) for name, rows, there in least if rows is not None and rows > there]
    if short and len(promise.limits) == 1:
        needed, here = (
            " and ".join(part) for part in zip(*((f"{r:,} {c}", f"{n:,}") for c, r, n in short), strict=True)
        )
        return f"{texts} {sure} needs at least {needed}; here are {here}."
    first = max([2.0, *(rows / there for _, rows, there in short)])
    for step in range(_DOUBLINGS):
        if _share_kept(promise, sample, first * 2.0**step, rng) >= ENOUGH:
            times = _refined(promise, sample, first * 2.0**step, rng)
            positives, rows = round(times * sample.table.positive.n), round(times * sample.table.n)
            return (
                f"About {positives:,} positives among {rows:,} rows would let a threshold be promised in "
                f"{100 * ENOUGH:g} % of such samples; here are {sample.table.positive.n:,} among {sample.table.n:,}."
            )
    return f"Many more rows like these would not be enough either: the scores do not reach {texts} by enough."


def _refined(promise: Promise, sample: ThresholdSample, times: float, rng: np.random.Generator) -> float:
    """A number of times between the last that is too few and the first that is enough."""
    between = times / 2**0.5
    return between if _share_kept(promise, sample, between, rng) >= ENOUGH else times


def _share_kept(promise: Promise, sample: ThresholdSample, times: float, rng: np.random.Generator) -> float:
    """In how many samples of so many times the rows a threshold between everybody and nobody keeps the promise."""
    kept = 0
    for _ in range(_SAMPLES):
        sides = [
            ClassScores(side.scores[some], rows[some])
            for side in (side.compact() for side in sample.table.classes)
            for rows in (rng.poisson(times * side.rows),)
            for some in (rows > 0,)
        ]
        larger = ScoreTable(sides[0], sides[1], sample.table.label, sample.table.bins, sample.table.precision)
        question = replace(sample, table=larger, costs=None, clusters=None)
        kept += bool(promise.kept(question, rng, quick=True)[:, 1:-1].any())
    return kept / _SAMPLES
