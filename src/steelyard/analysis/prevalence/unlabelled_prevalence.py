"""Unlabelled prevalence: the class shares that the scores of unlabelled rows show, drawn together with the rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.levels import tails
from steelyard.analysis.prevalence.class_mixture import most_likely_shares, share_draws
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence, set_fields

if TYPE_CHECKING:
    from typing import Any

    from steelyard._types import Array, Labels
    from steelyard.analysis.prevalence.score_cells import ScoreCells

_DRAWS = 2_000
_MOST_CLASS_DRAWS = 1_000  # of many classes at a time


class UnlabelledPrevalence(Prevalence):
    """The prevalence of unlabelled rows by their scores, given how the scores of each class lie in labelled rows.

    Values are read at the most likely shares. Where a table is drawn, its draws of the rates give the draws of the
    prevalence, so that intervals carry the noise of both samples and what they have in common.
    """

    cells: ScoreCells
    unlabelled: Array
    likely: Array
    _drawn_shares: Array

    @classmethod
    def of(
        cls, cells: ScoreCells, unlabelled: Array, labels: Labels, rng: np.random.Generator, draws: int = _DRAWS
    ) -> UnlabelledPrevalence:
        """The prevalence of so many unlabelled rows in each range of the cells."""
        prevalence = cls.__new__(cls)
        likely = most_likely_shares(cells.shares, unlabelled)
        for name, value in {"cells": cells, "unlabelled": unlabelled, "likely": likely}.items():
            object.__setattr__(prevalence, name, value)
        drawn = prevalence.drawn_with(cells.drawn_rates(draws, rng), rng)
        object.__setattr__(prevalence, "_drawn_shares", drawn)
        if len(labels) == 2:
            set_fields(prevalence, None, None, None, tuple(drawn[:, 0].tolist()))
        else:
            rows = _worth(drawn, likely)
            set_fields(prevalence, None, None, tuple(zip(labels, (likely * rows).tolist(), strict=True)), None)
        return prevalence

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The most likely share of the positives, or of each class; where it is 0 or 1, the mean of the draws."""
        if self.counts is not None:
            return np.asarray(self.likely, dtype=dtype)
        inside = 1e-9 < self.likely[0] < 1 - 1e-9
        return np.asarray(self.likely[0] if inside else self._drawn_shares[:, 0].mean(), dtype=dtype)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Draws of the share of the positives, or of every class on a last axis."""
        drawn: Array = self._drawn_shares[rng.integers(0, len(self._drawn_shares), n)]
        return drawn[:, 0] if self.counts is None else drawn

    def draws_beside(self, cells: Array, rng: np.random.Generator) -> Array:
        """Draws of the same, each given a draw of a table's cells: true classes in order, then predicted ones."""
        if cells.shape[1:] != self.cells.decided.shape:
            return self.draws(len(cells), rng)
        drawn = self.drawn_with(cells / np.maximum(cells.sum(-1, keepdims=True), 1e-300), rng)
        return drawn[:, 0] if self.counts is None else drawn

    def drawn_with(self, rates: Array, rng: np.random.Generator) -> Array:
        """Draws of the shares of all classes, by draws of how much of each class is predicted as each."""
        size = len(rates) if len(self.likely) == 2 else _MOST_CLASS_DRAWS
        parts = (rates[i : i + size] for i in range(0, len(rates), size))
        return np.concatenate([share_draws(self.cells.drawn_shares(part, rng), self.unlabelled, rng) for part in parts])

    def class_ends(self, level: float) -> Array:
        """The ends of the interval of each class's share, a row each, which hold its most likely value."""
        low, high = np.quantile(self._drawn_shares, tails(level), axis=0)
        seen = self.likely if self.counts is not None else np.array([float(self), 1 - float(self)])
        return np.stack([np.minimum(low, seen), np.maximum(high, seen)], -1)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The ends of the interval of the share of the positives."""
        float(self)
        low, high = self.class_ends(level)[0].tolist()
        return low, high

    def __repr__(self) -> str:
        rows = f"{int(self.unlabelled.sum()):,} unlabelled rows"
        if self.counts is None:
            return f"<Prevalence by {rows}: {self.text()}>"
        shares = ", ".join(f"{label} {share:.3g}" for (label, _), share in zip(self.counts, self.likely, strict=True))
        return f"<Prevalence by {rows}: {shares}>"


def _worth(drawn: Array, likely: Array) -> float:
    """How many labelled rows would show the shares as precisely."""
    spread = np.maximum(drawn.var(0), 1e-12)
    return float(np.clip(np.median(np.maximum(likely * (1 - likely), 1e-6) / spread), 1.0, 1e9))
