"""Distributions: the quantiles and tails that intervals and tests need, one function each.

They are those behind scipy.stats, to the last bit; that module itself takes a second to import, this one a quarter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array


def normal_quantile(share: Array | float) -> Array:
    """The value below which that share of a standard normal distribution lies."""
    from scipy.special import ndtri

    return np.asarray(ndtri(share))


def normal_below(value: Array | float) -> Array:
    """The share of a standard normal distribution below the value."""
    from scipy.special import ndtr

    return np.asarray(ndtr(value))


def normal_reach(level: float) -> float:
    """The two-sided quantile: how many standard deviations around its mean hold that share of a normal distribution."""
    return float(normal_quantile((1 + level) / 2))


def student_quantile(share: Array | float, degrees: Array | float) -> Array:
    """The value below which that share of Student's t distribution lies."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, share))


def student_below(value: Array | float, degrees: float) -> Array:
    """The share of Student's t distribution below the value."""
    from scipy.special import stdtr

    return np.asarray(stdtr(degrees, value))


def student_reach(level: float, degrees: float) -> float:
    """The two-sided quantile: how many standard errors around its mean hold that share of Student's t distribution."""
    return float(student_quantile((1 + level) / 2, degrees))


def chi_square_quantile(share: Array | float) -> Array:
    """The value below which that share of the squares of a standard normal value lies."""
    from scipy.special import gammaincinv

    return np.asarray(2 * gammaincinv(0.5, share))


def f_above(statistic: float, numerator: float, denominator: float) -> float:
    """The share of Fisher's F distribution above the statistic; of chi-square's where the denominator is infinite."""
    from scipy.special import chdtrc, fdtrc

    if denominator == np.inf:
        return float(chdtrc(numerator, numerator * statistic))
    return float(fdtrc(numerator, denominator, statistic))


def logistic(value: Array) -> Array:
    """The logistic function 1 / (1 + exp(-value)), which leads from a logit to its share."""
    from scipy.special import expit

    return np.asarray(expit(value))


def beta_below(value: Array | float, a: Array, b: Array) -> Array:
    """The share of a beta distribution below the value."""
    from scipy.special import betainc

    return np.asarray(betainc(a, b, value))


def beta_quantile(share: Array | float, a: Array, b: Array) -> Array:
    """The value below which that share of a beta distribution lies."""
    from scipy.special import betaincinv

    return np.asarray(betaincinv(a, b, share))


def poisson_above(count: Array, mean: Array) -> Array:
    """The probability of so many events or more, where so many are expected; a bit too high for few among many.

    >>> round(float(poisson_above(np.array(3), np.array(1.0))), 4)
    0.0803
    """
    from scipy.special import gammainc

    return np.asarray(gammainc(count, mean))
