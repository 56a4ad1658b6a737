"""Perturbation: true probabilities disturbed more or less for each class, and the tables of what is then predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array, Rng

LIST_KINDS = ("class_linear", "class_uniform", "global_linear", "extreme")


def generators(seeds: int, rng: Rng) -> list[np.random.Generator]:
    """One generator a seed, so that a seed is the same study however many there are."""
    return list(map(np.random.default_rng, range(seeds))) if rng is None else generator(rng).spawn(seeds)


def collection(
    n: int, p: int, widths: Array, tuples: int, threshold: float | str, kind: str, rng: np.random.Generator
) -> Counts:
    """The tables of p positives among n rows by distortion and tuple, for one seed."""
    true = true_probabilities(kind, n, p, rng)
    return collection_of(true[: n - p], true[n - p :], widths, tuples, threshold, rng)


def collection_of(
    negatives: Array, positives: Array, widths: Array, tuples: int, threshold: float | str, rng: np.random.Generator
) -> Counts:
    """The tables of rows with these probabilities by distortion and tuple."""
    true, (n, p) = np.concatenate([negatives, positives]), (len(negatives), len(positives))
    cutoff = np.quantile(true, 1 - p / len(true)) if threshold == "prior" else float(threshold)
    width = np.repeat(widths, [n, p], axis=1)
    low, high = np.maximum(0, true - width)[:, None], np.minimum(1, true + width)[:, None]
    flagged = low + rng.random((len(width), tuples, len(true))) * (high - low) >= cutoff
    alarms, hits = flagged[..., :n].sum(-1), flagged[..., n:].sum(-1)
    return Counts.trusted(hits, p - hits, alarms, n - alarms)


def widths_of(total: float, steps: int) -> Array:
    """The distortion of the negatives and of the positives that share a range, a row a step."""
    k = np.arange(steps)  # whole numbers, so that the last width is 0 and not -1e-17
    return np.stack([total * k[::-1] / k[-1], total * k / k[-1]], 1)


def true_probabilities(kind: str, n: int, p: int, rng: np.random.Generator) -> Array:
    """The probabilities of the rows before they are disturbed, the p positives last."""
    if kind == "global_linear":
        return np.linspace(0, 1, n)
    if kind == "class_uniform":
        return np.concatenate([np.sort(rng.uniform(0, 0.5, n - p)), np.sort(rng.uniform(0.5, 1, p))])
    if kind == "class_linear":
        return np.concatenate([np.linspace(0, 0.5, n - p, endpoint=False), np.linspace(0.5, 1, p)])
    return np.repeat([0.0, 1.0], [n - p, p])
