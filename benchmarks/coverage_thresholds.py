"""How often the range of a best threshold holds the population's, and how often new rows call a kept promise broken.

Scores are a distribution and the same one moved up: normal, heavy-tailed, rounded to ties, or with a plateau, where the
best thresholds of the population are many and the range is to hold one of them. Half of the settings are fixed, half
drawn at random by a seed that changes with the version.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from steelyard import Confusion, Counts, __version__, best_threshold, get_metric
from steelyard.analysis.thresholds.guarantees import limit_test
from steelyard.analysis.thresholds.limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

METRICS = ("ac_score", "f1", "informedness", "expected_cost[cost_fn=8]")
KINDS = ("normal", "heavy-tailed", "tied", "plateau")
BOUNDED = ("recall", "precision", "f1", "mcc", "balanced_accuracy")
_STEP = 0.5


class World(NamedTuple):
    """Where rows come from."""

    kind: str
    rows: int
    prevalence: float
    apart: float

    @classmethod
    def drawn(cls, kind: str, rng: np.random.Generator) -> World:
        """One at random."""
        rows, prevalence = (np.exp(rng.uniform(*np.log(ends))) for ends in ((150, 3_000), (0.05, 0.5)))
        return cls(kind, int(rows), float(prevalence), rng.uniform(1, 3))

    def sample(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Labels and scores."""
        y = (rng.random(self.rows) < self.prevalence).astype(int)
        y[:2] = 0, 1
        if self.kind == "plateau":  # both classes are alike in the middle third, so that a threshold there is as good
            high = rng.random(self.rows) < np.where(y == 1, 0.8, 0.2)
            return y, np.where(rng.random(self.rows) < 0.3, 1 + rng.random(self.rows), 2 * high + rng.random(self.rows))
        noise = rng.standard_t(3, self.rows) if self.kind == "heavy-tailed" else rng.standard_normal(self.rows)
        raw = noise + self.apart * y
        return y, np.round(raw / _STEP) * _STEP if self.kind == "tied" else raw

    def tables(self, thresholds: Array) -> Counts[Array]:
        """The population's table at each threshold."""
        if self.kind == "plateau":
            low, middle, high = (np.clip(start + 1 - thresholds, 0, 1) for start in (0, 1, 2))
            recall, fpr = (0.3 * middle + 0.7 * (share * high + (1 - share) * low) for share in (0.8, 0.2))
        else:
            noise = stats.t(3) if self.kind == "heavy-tailed" else stats.norm
            tied = _STEP * np.ceil(thresholds / _STEP - 1e-9) - _STEP / 2
            at = tied if self.kind == "tied" else thresholds
            recall, fpr = noise.sf(at - self.apart), noise.sf(at)
        p, n = self.prevalence, 1 - self.prevalence
        return Counts.trusted(p * recall, p * (1 - recall), n * fpr, n * (1 - fpr))

    def optima(self, metric: str) -> Array:
        """The thresholds of a fine grid that are best in the population."""
        grid, of = np.linspace(-4, self.apart + 4, 4_001), get_metric(metric)
        values = of.sign * np.asarray(of(self.tables(grid)))
        return grid[values >= np.nanmax(values) - 1e-9]


def range_rows(repeats: int = 200) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the range of the threshold holds one that is best in the population, by metric."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    worlds = [world for kind in KINDS for world in (World(kind, 400, 0.2, 2.0), World.drawn(kind, rng))]
    for world in worlds:
        held = dict.fromkeys(METRICS, 0)
        optima = {metric: world.optima(metric) for metric in METRICS}
        for run in range(repeats):
            y, s = world.sample(rng)
            for metric in METRICS:
                low, high = best_threshold(y, s, metric, rng=run).interval or (np.nan, np.nan)
                gap = 0.002  # between two points of the grid
                held[metric] += bool(((optima[metric] >= low - gap) & (optima[metric] <= high + gap)).any())
        text = f"{world.kind}, {world.rows:,} rows, prevalence {world.prevalence:.2f}"
        yield text, {metric: count / repeats for metric, count in held.items()}


def gate_rows(repeats: int = 400, settings: int = 6) -> Iterator[tuple[str, dict[str, float]]]:
    """How often new rows show a limit to be broken at 0.05 that holds exactly in the population."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for _ in range(settings):
        positives, prevalence = (float(np.exp(rng.uniform(*np.log(ends)))) for ends in ((20, 500), (0.02, 0.5)))
        n, recall, fpr = int(positives / prevalence), rng.uniform(0.4, 0.97), rng.uniform(0.002, 0.2)
        p, q = prevalence, 1 - prevalence
        whole = Counts(p * recall, p * (1 - recall), q * fpr, q * (1 - fpr))
        limits = [replace(read_limits(f"{name} >= 0.5")[0], bound=float(get_metric(name)(whole))) for name in BOUNDED]
        broken = np.zeros(len(limits))
        for run in range(repeats):
            tp, fn, fp, tn = rng.multinomial(n, [p * recall, p * (1 - recall), q * fpr, q * (1 - fpr)])
            table = Confusion.of_rows((0, 1), np.array([[tn, fp], [fn, tp]]), 1)
            broken += [limit_test([limit], table, 0.95, rng=run)[0].is_broken for limit in limits]
        text = f"{positives:.0f} positives of {n:,} rows, recall {recall:.2f}, false positive rate {fpr:.3f}"
        yield text, dict(zip(BOUNDED, broken / repeats, strict=True))
