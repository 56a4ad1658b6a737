"""Class mixture: the class shares of unlabelled rows, whose scores are a mixture of what the classes' scores are.

Saerens, Latinne and Decaestecker (2002), Neural Computation 14, 21-41, by expectation maximisation; here over ranges of
scores, so that no score needs to be a calibrated probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

_STEPS, _CLOSE = 2_000, 1e-10  # of the maximisation, and when it stops
_FARTHEST = 16.0  # the logit of the smallest share that is looked at
_COARSE, _FINE = 49, 65  # shares looked at for each draw: everywhere, and where they are likely
_UNLIKELY = 14.0  # the log-likelihood below the highest from which on a share is not looked at closely
_AT_ONCE = 2_000_000  # terms in memory together
_BOOTSTRAP_STEPS, _SWEEPS = 100, 12
_TINY = 1e-300


def most_likely_shares(rates: Array, counts: Array, steps: int = _STEPS) -> Array:
    """The class shares at which the counts of each range are most likely, where a class has these rates there.

    Axes before the last of the counts, and before the last two of the rates, are draws.

    >>> rates = np.array([[0.8, 0.2], [0.1, 0.9]])  # of two classes in two ranges
    >>> most_likely_shares(rates, np.array([24, 76])).round(3).tolist()
    [0.2, 0.8]
    """
    rows = counts.sum(-1, keepdims=True)
    shares = np.full((*np.broadcast_shapes(rates.shape[:-2], counts.shape[:-1]), rates.shape[-2]), 1 / rates.shape[-2])
    for _ in range(steps):
        joint = shares[..., None] * rates
        parts = counts / np.maximum(joint.sum(-2), _TINY)
        moved = (joint * parts[..., None, :]).sum(-1) / rows
        change, shares = np.abs(moved - shares).max(initial=0), moved / np.maximum(moved.sum(-1, keepdims=True), _TINY)
        if change < _CLOSE:
            break
    return np.asarray(shares)


def share_draws(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """Draws of the class shares of the rows, one for each draw of the rates: draws first, classes last."""
    if rates.shape[1] > 2:
        return _sampled_shares(rates, counts, rng)
    size = max(_AT_ONCE // (_FINE * rates.shape[-1]), 1)
    parts = [_two_class_draws(rates[i : i + size], counts, rng) for i in range(0, len(rates), size)]
    first = np.concatenate(parts)
    return np.stack([first, 1 - first], -1)


def _two_class_draws(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """A draw from the posterior of the first class's share under Jeffreys' prior, by each draw of the rates."""
    coarse = np.broadcast_to(np.linspace(-_FARTHEST, _FARTHEST, _COARSE), (len(rates), _COARSE))
    chances = _log_chances(coarse, rates, counts)
    likely = chances > chances.max(1, keepdims=True) - _UNLIKELY
    step = coarse[0, 1] - coarse[0, 0]
    low = coarse[0, likely.argmax(1)] - step
    high = coarse[0, _COARSE - 1 - likely[:, ::-1].argmax(1)] + step
    fine = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _FINE)
    chances = _log_chances(fine, rates, counts)
    weights = np.exp(chances - chances.max(1, keepdims=True))
    running = np.cumsum((weights[:, 1:] + weights[:, :-1]) / 2, axis=1)
    wanted = rng.random(len(rates)) * running[:, -1]
    place = np.minimum((running < wanted[:, None]).sum(1), _FINE - 2)
    logits = fine[np.arange(len(rates)), place] + (high - low) / (_FINE - 1) * rng.random(len(rates))
    return np.asarray(1 / (1 + np.exp(-logits)))


def _log_chances(logits: Array, rates: Array, counts: Array) -> Array:
    """The logarithm of the posterior density of each logit of the first class's share, up to a constant."""
    share = 1 / (1 + np.exp(-logits))
    mixed = share[..., None] * rates[:, None, 0] + (1 / (1 + np.exp(logits)))[..., None] * rates[:, None, 1]
    prior = -0.5 * (np.logaddexp(0, logits) + np.logaddexp(0, -logits))
    return np.asarray(np.log(np.maximum(mixed, _TINY)) @ counts + prior)


def _sampled_shares(rates: Array, counts: Array, rng: np.random.Generator) -> Array:
    """The same of many classes: the most likely shares of weighted rows, then sweeps of a Gibbs sampler.

    The rows of each range are given to the classes at random by how likely each is, and the shares are drawn by how
    many each class got, with a row of prior in all, so that no share is exactly 0.
    """
    weighted = rng.standard_gamma(np.maximum(counts, _TINY), (len(rates), len(counts)))
    shares, k = most_likely_shares(rates, weighted, _BOOTSTRAP_STEPS), rates.shape[1]
    rows = counts.astype(np.int64)
    for _ in range(_SWEEPS):
        joint = np.moveaxis(shares[..., None] * rates, 1, -1)
        joint = joint + _TINY
        given = rng.multinomial(rows, joint / joint.sum(-1, keepdims=True))
        drawn = rng.standard_gamma(given.sum(1) + 1 / k)
        shares = np.maximum(drawn, _TINY) / np.maximum(drawn, _TINY).sum(-1, keepdims=True)
    return np.asarray(shares)
