"""Isotonic curve: the share of positives as a rising function of the score, by pooling adjacent violators.

Ayer and others (1955), Annals of Mathematical Statistics 26, 641-647; as a reliability curve: Dimitriadis, Gneiting
and Jordan (2021), PNAS 118, e2016191118. Adjacent scores whose shares fall belong to one block of the answer, in
whatever order they are pooled, so all of them are pooled at once until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays.backend import backend_of, one_each, taken
from steelyard.tables.class_scores import MergedClasses, starting_at_zero

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.tables.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class IsotonicCurve:
    """The blocks of equal share, from the lowest scores up; of several draws of weights one after the other.

    `positives` and `weights` are running sums over the distinct scores, which start at 0, a draw each row of them;
    `ends` are the places among them, laid flat, at which blocks end.
    """

    scores: Array
    positives: Array
    weights: Array
    ends: Array

    @classmethod
    def of(cls, table: ScoreTable) -> IsotonicCurve:
        """The curve of a table's scores."""
        if backend_of(*(side.distinct[0] for side in table.classes)).is_device:
            return cls._there(table)
        weights, places = [side.distinct[1] for side in table.classes], [np.s_[:]] * 2
        if table.positive.scores is table.negative.scores:  # as in draws of one table
            descending = table.positive.distinct[0][::-1]
        else:
            descending, places = table.merged  # type: ignore[assignment]  # places in place of all
        sums = np.zeros((2, *weights[0].shape[:-1], len(descending) + 1))
        for running, of_class, at in zip(sums[..., 1:], weights, places, strict=True):
            running[..., ::-1][..., at] = of_class[..., ::-1]
            np.cumsum(running, axis=-1, out=running)
        sums[1] += sums[0]
        return cls.of_sums(descending[::-1], sums[0], sums[1])

    @classmethod
    def _there(cls, table: ScoreTable) -> IsotonicCurve:
        """The same of scores on a device."""
        merged = MergedClasses.of(table)
        positives, negatives = (starting_at_zero(np.cumsum(weights[::-1])) for weights in merged.weights)
        return cls.of_sums(merged.scores[::-1], positives, positives + negatives)

    @classmethod
    def of_sums(cls, scores: Array, positives: Array, weights: Array) -> IsotonicCurve:
        """The curve of running sums of the positives' weight and of all weight."""
        return cls(scores, positives, weights, _block_ends(positives, weights))

    @cached_property
    def _blocks(self) -> tuple[Array, Array, Array, Array]:
        """Of each block the share of positives, the weight, the number of scores, and the draw it belongs to."""
        size = self.weights.shape[-1]
        inside = self.ends[:-1] % size < size - 1
        ends = (taken(sums.ravel(), self.ends) for sums in (self.positives, self.weights))
        positives, weights, scores = (np.diff(part)[inside] for part in (*ends, self.ends))
        with np.errstate(invalid="ignore"):
            share = np.clip(positives / weights, 0, 1)
        return share, weights, scores, (self.ends[:-1] // size)[inside]

    @property
    def observed(self) -> Array:
        """The share of positives at each distinct score; of a score without weight that of its neighbours."""
        share, _, scores, _ = self._blocks
        if backend_of(self.scores).is_device:
            return taken(share, np.searchsorted(self.ends[1:], np.cumsum(one_each(self.scores)) - 1, side="right"))
        return np.asarray(np.repeat(share, scores).reshape(*self.weights.shape[:-1], self.weights.shape[-1] - 1))

    def mean_of(self, worth: Callable[[Array, Array], Array]) -> Array:
        """The mean over the rows of what a share of positives is worth, given those of the blocks and their draws."""
        share, _, _, draw = self._blocks
        return self._mean(worth(share, draw))

    def _mean(self, worth: Array) -> Array:
        """What each block is worth for each unit of weight, averaged over the weight of its draw."""
        _, weights, _, draw = self._blocks
        sums = np.bincount(draw, worth * weights, minlength=self.weights.size // self.weights.shape[-1])
        return np.asarray(sums.reshape(self.weights.shape[:-1]) / self.weights[..., -1])

    @property
    def brier(self) -> Array:
        """The Brier score that the curve leaves: the mean of share x (1 - share)."""
        share = self._blocks[0]
        return self._mean(share * (1 - share))

    @property
    def variance(self) -> Array:
        """The variance of the curve over the rows."""
        share, draw = self._blocks[0], self._blocks[3]
        prevalence = np.ravel(self.positives[..., -1] / self.weights[..., -1])
        return self._mean((share - taken(prevalence, draw)) ** 2)

    @property
    def mean_gap(self) -> Array:
        """The mean distance of the curve from the scores."""
        gaps = np.diff(self.weights, axis=-1) * np.abs(self.observed - self.scores)
        return np.asarray(gaps.sum(-1) / self.weights[..., -1])


def isotonic_shares(positives: Array, weights: Array) -> Array:
    """The isotonic share of positives at each of some ascending scores, given the weights there; draws come before."""
    start = np.zeros((*weights.shape[:-1], 1))
    sums = (np.concatenate([start, np.cumsum(part, axis=-1)], -1) for part in (positives, weights))
    return IsotonicCurve.of_sums(np.zeros(weights.shape[-1]), *sums).observed


def _block_ends(positives: Array, weights: Array) -> Array:
    """The places, laid flat, at which blocks end; the first and the last of each draw are among them."""
    size = weights.shape[-1]
    kept = (weights[..., 1:-1] > weights[..., :-2]) & (weights[..., 1:-1] < weights[..., -1:])
    edge = np.ones((*weights.shape[:-1], 1), dtype=bool)  # of places between two scores, where weight is on both sides
    ends = np.flatnonzero(np.concatenate([edge, kept, edge], -1))
    positives, weights = positives.ravel(), weights.ravel()
    gathered = (positives, weights) if len(ends) == len(weights) else (positives[ends], weights[ends])
    while True:
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.diff(gathered[0]) / np.diff(gathered[1])
        if len(weights) > size:
            share[ends[:-1] % size == size - 1] = np.nan  # from one draw to the next
        falls = share[1:] <= share[:-1]
        if not falls.any():
            return ends
        ends = ends[np.concatenate([[True], ~falls, [True]])]
        gathered = positives[ends], weights[ends]
