"""Distributions: the quantiles and tails that intervals and tests need, one function each.

They are those behind scipy.stats, to the last bit; that module itself takes a second to import, this one a quarter.
"""

from __future__ import annotations

from typing import Any


def normal_quantile(share: Any) -> Any:
    """The value below which that share of a standard normal distribution lies."""
    from scipy.special import ndtri

    return ndtri(share)


def normal_below(value: Any) -> Any:
    """The share of a standard normal distribution below the value."""
    from scipy.special import ndtr

    return ndtr(value)


def student_quantile(share: Any, degrees: float) -> Any:
    """The value below which that share of Student's t distribution lies."""
    from scipy.special import stdtrit

    return stdtrit(degrees, share)


def student_below(value: Any, degrees: float) -> Any:
    """The share of Student's t distribution below the value."""
    from scipy.special import stdtr

    return stdtr(degrees, value)


def chi_square_quantile(share: Any) -> Any:
    """The value below which that share of the squares of a standard normal value lies."""
    from scipy.special import gammaincinv

    return 2 * gammaincinv(0.5, share)
