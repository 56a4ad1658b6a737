"""Mixture test: whether any class shares explain the scores of unlabelled rows, with both samples' noise carried."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.prevalence.class_mixture import most_likely_shares

if TYPE_CHECKING:
    from steelyard._types import Array

_STEPS, _FIRST_STEPS, _SIMULATED = 60, 30, 499


class MixtureTest(NamedTuple):
    """The likelihood ratio of the unlabelled rows alone against the mixture, and how often chance alone exceeds it."""

    statistic: float
    p_value: float


def mixture_test(labelled: Array, counts: Array, rng: np.random.Generator, simulated: int = _SIMULATED) -> MixtureTest:
    """The test by a parametric bootstrap: both samples are drawn again as if the mixture were right.

    `labelled` has the rows of each class, first axis, in each range; `counts` the unlabelled ones.
    """
    rates, shares = _fitted(labelled[None], counts[None])
    seen = _statistic(labelled[None], counts[None], rates, shares)[0]
    again = np.stack(
        [
            rng.multinomial(max(round(rows.sum()), 1), _shares(rate), simulated)
            for rows, rate in zip(labelled, rates[0], strict=True)
        ],
        axis=1,
    ).astype(np.float64)
    mixed = rng.multinomial(round(counts.sum()), _shares(shares[0] @ rates[0]), simulated).astype(np.float64)
    statistics = _statistic(again, mixed, *_fitted(again, mixed))
    above = (statistics >= seen - 1e-9).sum()
    return MixtureTest(float(seen), float((1 + above) / (1 + simulated)))


def _shares(rates: Array) -> Array:
    """Shares that sum to 1, to rounding."""
    return np.asarray(rates / rates.sum())


def _fitted(labelled: Array, counts: Array) -> tuple[Array, Array]:
    """The rates and shares at which both samples are together most likely, by expectation maximisation."""
    rates = labelled / np.maximum(labelled.sum(-1, keepdims=True), 1e-300)
    seen = (counts / counts.sum(-1, keepdims=True))[..., None, :]
    # A range that a class was not seen in is possible, also where it holds unlabelled rows alone.
    mixed = 0.96 * rates + 0.02 * rates.mean(-2, keepdims=True) + 0.02 * seen
    shares = most_likely_shares(mixed, counts, _FIRST_STEPS)
    rates = mixed
    for _ in range(_STEPS):
        joint = shares[..., None] * rates
        given = joint * (counts / np.maximum(joint.sum(-2), 1e-300))[..., None, :]
        shares = given.sum(-1) / counts.sum(-1, keepdims=True)
        together = labelled + given
        rates = together / np.maximum(together.sum(-1, keepdims=True), 1e-300)
    return rates, shares


def _statistic(labelled: Array, counts: Array, rates: Array, shares: Array) -> Array:
    """Twice the log-likelihood that is lost to the mixture, by the rows of both samples."""
    mixed = (shares[..., None] * rates).sum(-2)
    lost = _deviance(counts, mixed) + _deviance(labelled, rates).sum(-1)
    return np.asarray(2 * lost)


def _deviance(counts: Array, rates: Array) -> Array:
    seen = counts / np.maximum(counts.sum(-1, keepdims=True), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(seen / np.maximum(rates, 1e-300)), 0.0)
    return np.asarray(terms.sum(-1))
