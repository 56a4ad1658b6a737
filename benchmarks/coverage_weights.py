"""How often intervals of weighted rows hold the true value: weights unrelated to errors, and those of hard rows.

Some rows are hard and have a larger weight, as inverse probability weights may; half of the settings are drawn at random
by a seed that changes with the version. Where hard rows are as easy as the others, the weights are unrelated to errors.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm

from steelyard import __version__, interval

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS, SCORES = ("recall", "accuracy"), ("brier", "roc_auc")
KNOWN_BY = 400_000  # rows that the true values are read from


class Setting(NamedTuple):
    """Rows, prevalence, the share of hard rows, their weight, and how far apart the classes are in these and in others."""

    rows: int
    prevalence: float
    hard: float
    weight: float
    hard_apart: float
    apart: float


FIXED = [Setting(1_000, 0.2, 0.1, 10, 0.6, 2.4), Setting(400, 0.1, 0.1, 10, 0.6, 2.4), Setting(400, 0.1, 0.1, 10, 2, 2)]


def settings(rng: np.random.Generator, how_many: int = 3) -> list[Setting]:
    """The fixed settings, and as many drawn at random."""
    drawn = [
        Setting(int(rng.integers(200, 2_000)), *rng.uniform((0.1, 0.05, 2, 0.3, 1.5), (0.5, 0.3, 10, 1.5, 3)))
        for _ in range(how_many)
    ]
    return [*FIXED, *drawn]


def _drawn(setting: Setting, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    y, hard = rng.random(rows) < setting.prevalence, rng.random(rows) < setting.hard
    scores = rng.normal(size=rows) + y * np.where(hard, setting.hard_apart, setting.apart) - setting.apart / 2
    return y, norm.cdf(scores), np.where(hard, setting.weight, 1.0)


def _found(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> dict[str, tuple[float, float, float]]:
    labelled = interval(LABELS, y, scores >= 0.5, sample_weight=weights, draws=1_000)
    ranked = interval(SCORES, y, y_score=scores, sample_weight=weights)
    return {found.metric: (found.low, found.value, found.high) for found in (*labelled, *ranked)}


def shares(setting: Setting, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The share of intervals that hold the truth, by metric."""
    truth = {name: ends[1] for name, ends in _found(*_drawn(setting, KNOWN_BY, rng)).items()}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(repeats):
        for name, (low, _, high) in _found(*_drawn(setting, setting.rows, rng)).items():
            held[name].append(low <= truth[name] <= high)
    return {name: float(np.mean(inside)) for name, inside in held.items()}


def rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting in words, with the share of intervals that hold the truth by metric."""
    rng = np.random.default_rng(zlib.crc32(f"weights {__version__}".encode()))
    for setting in settings(rng):
        related = "unrelated" if setting.hard_apart == setting.apart else "related"
        words = f"{setting.rows:,} rows, prevalence {setting.prevalence:.2f}, {setting.hard:.0%} of weight "
        yield f"{words}{setting.weight:.1f}, {related} to errors", shares(setting, repeats, rng)
