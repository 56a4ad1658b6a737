"""Worlds to choose thresholds in: where scores come from, and what any threshold is worth there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from steelyard.analysis.thresholds.asked_sample import asked_sample
from steelyard.predictions import Predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

_STEP = 0.5  # between tied scores


@dataclass(frozen=True, eq=False)
class Sample:
    """Labels, scores between 0 and 1, and clusters and weights where there are any; sorted once for all searches."""

    y: Array
    s: Array
    clusters: Array | None = None
    weights: Array | None = None

    @cached_property
    def searched(self) -> ThresholdSample:
        """What a search for a threshold is made on."""
        rows = {"sample_weight": self.weights, "cluster": self.clusters, "pos_label": 1}
        return asked_sample(Predictions(self.y, y_score=self.s, **rows))[0]

    @property
    def has_equal_rows(self) -> bool:
        """Whether rows are independent and count alike, as the peers assume."""
        return self.clusters is None and self.weights is None


@dataclass(frozen=True)
class World:
    """Rows of two classes whose scores are a distribution and the same one moved up."""

    prevalence: float
    positives: int
    kind: str  # normal, heavy-tailed, tied, near-perfect, clustered, weighted
    apart: float

    @property
    def text(self) -> str:
        """The world in words."""
        return f"{self.kind}, {self.positives:,} positives of {self.n:,} rows, {self.apart:g} apart"

    @property
    def n(self) -> int:
        """The rows of a sample."""
        return round(self.positives / self.prevalence)

    @property
    def _noise(self) -> Any:
        return stats.t(3) if self.kind == "heavy-tailed" else stats.norm

    def sample(self, rng: np.random.Generator) -> Sample:
        """New rows."""
        y = rng.random(self.n) < self.prevalence
        y[:2] = True, False
        noise, clusters, weights = self._noise.rvs(size=self.n, random_state=rng), None, None
        if self.kind == "clustered":  # half of the variance is a cluster's own
            clusters = rng.integers(0, max(self.n // 10, 20), self.n)
            noise = np.sqrt(0.5) * (noise + rng.standard_normal(clusters.max() + 1)[clusters])
        if self.kind == "weighted":  # as survey weights are; 61 % of the rows are worth as much as all
            weights = rng.lognormal(0, 0.7, self.n)
        raw = noise + self.apart * y
        score = expit(np.round(raw / _STEP) * _STEP if self.kind == "tied" else raw)
        return Sample(y.astype(int), score, clusters, weights)

    def rates(self, threshold: float) -> tuple[float, float]:
        """Recall and false positive rate in the population where scores of at least the threshold are flagged."""
        at = np.inf if threshold >= 1 else -np.inf if threshold <= 0 else float(logit(threshold))
        if self.kind == "tied" and np.isfinite(at):
            at = _STEP * np.ceil(at / _STEP - 1e-9) - _STEP / 2
        return float(self._noise.sf(at - self.apart)), float(self._noise.sf(at))


def worlds() -> Iterator[World]:
    """From balanced to very rare, few positives to many."""
    for prevalence, positives in (
        (0.5, 100),
        (0.2, 50),
        (0.05, 20),
        (0.05, 100),
        (0.01, 50),
        (0.01, 500),
        (0.005, 100),
    ):
        yield World(prevalence, positives, "normal", 2.5)
    yield World(0.05, 100, "normal", 1.5)
    yield World(0.1, 2000, "normal", 1.5)
    for prevalence, positives in ((0.2, 100), (0.02, 100)):
        yield World(prevalence, positives, "heavy-tailed", 3.0)
        yield World(prevalence, positives, "tied", 2.5)
        yield World(prevalence, positives, "near-perfect", 5.0)
        yield World(prevalence, positives, "clustered", 2.5)
        yield World(prevalence, positives, "weighted", 2.5)
