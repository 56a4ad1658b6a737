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
_SAMPLES, _DOUBLINGS = 40, 7
_QUICK = {"draws": 200, "most": 128}


def needed_rows_sentence(promise: Promise, sample: ThresholdSample, rng: np.random.Generator) -> str:
    """How many rows would do, found by resampling these rows to larger samples; or that no number would."""
    texts = " and ".join(limit.text for limit in promise.limits)
    least = promise.least_rows(sample)
    short = [f"{rows:,} {name}" for name, rows, there in least if rows > there]
    if short:
        here = " and ".join(f"{there:,}" for _, rows, there in least if rows > there)
        sure = f"with {100 * promise.confidence:g} % confidence"
        return f"{texts} {sure} needs at least {' and '.join(short)}; here are {here}."
    for doubling in range(1, _DOUBLINGS + 1):
        if _share_kept(promise, sample, 2.0**doubling, rng) >= ENOUGH:
            times = _refined(promise, sample, 2.0**doubling, rng)
            positives, rows = round(times * sample.table.positive.n), round(times * sample.table.n)
            return (
                f"About {positives:,} positives among {rows:,} rows would let a threshold be promised in "
                f"{100 * ENOUGH:g} % of such samples; here are {sample.table.positive.n:,} among {sample.table.n:,}."
            )
    return f"More rows like these would hardly help: the scores do not reach {texts} by enough."


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
        kept += bool(promise.kept(question, rng, **_QUICK)[:, 1:-1].any())
    return kept / _SAMPLES
