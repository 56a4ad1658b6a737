"""Probability maps: ways to turn the probabilities of a classifier into better ones, each fitted to outcomes.

Logistic: Cox (1958), Platt (1999); isotonic: Zadrozny and Elkan (2002); temperature: Guo and others (2017). A map takes
and gives a column for each class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from steelyard.analysis.prevalence.prior_correction import with_shares
from steelyard.exceptions import InputError
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.given_probabilities import both_columns
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.logistic_recalibration import recalibrated, why_no_recalibration

if TYPE_CHECKING:
    from steelyard._types import Array

_MOST = 10.0  # of the logarithm of a temperature, either way, beyond which nothing changes


class ProbabilityMap(Protocol):
    """Probabilities in, probabilities out: a column for each class."""

    def __call__(self, columns: Array) -> Array:
        """The mapped probabilities."""


def _away_from_ends(columns: Array) -> float:
    """What a probability of exactly 0 is read as: less than any other seen, and than one row in twice as many."""
    return float(min(columns[columns > 0].min(), 1 / (2 * len(columns))))


@dataclass(frozen=True)
class Unchanged:
    """The probabilities as they are."""

    def __call__(self, columns: Array) -> Array:
        """The same."""
        return columns


@dataclass(frozen=True)
class PriorMap:
    """Other class shares than those of the training rows."""

    trained: tuple[float, ...]
    deployed: tuple[float, ...]

    def __call__(self, columns: Array) -> Array:
        """By the odds of the shares."""
        return with_shares(columns, np.array(self.trained), np.array(self.deployed))


@dataclass(frozen=True)
class TemperatureMap:
    """The logarithms of the probabilities divided by a temperature; above 1 it makes them less extreme."""

    temperature: float
    least: float = field(repr=False)

    @classmethod
    def fitted(cls, columns: Array, codes: Array) -> Self:
        """Where the log loss is least, which is where the mean logarithm of the true class is the expected one."""
        from scipy.optimize import brentq

        least = _away_from_ends(columns)
        logs = _logs(columns, least)
        own = logs[codes, np.arange(len(codes))].mean()

        def rise(cooling: float) -> float:
            return float((_softmax(exp(cooling) * logs) * logs).sum(0).mean() - own)

        if rise(-_MOST) >= 0 or rise(_MOST) <= 0:
            return cls(exp(_MOST if rise(-_MOST) >= 0 else -_MOST), least)
        return cls(exp(-float(brentq(rise, -_MOST, _MOST, xtol=1e-12))), least)

    def __call__(self, columns: Array) -> Array:
        """By the softmax of the cooled or heated logarithms."""
        return np.ascontiguousarray(_softmax(_logs(columns, self.least) / self.temperature).T)


def _logs(columns: Array, least: float) -> Array:
    """The logarithms with the classes on the first axis, over which many rows are summed quickly."""
    return np.asarray(np.log(np.maximum(np.ascontiguousarray(columns.T), least)))


def _softmax(logs: Array) -> Array:
    powers = np.exp(logs - logs.max(0))
    return np.asarray(powers / powers.sum(0))


@dataclass(frozen=True)
class LogisticMap:
    """The logits of two classes times a slope, plus an intercept."""

    intercept: float
    slope: float
    least: float = field(repr=False)

    @classmethod
    def fitted(cls, columns: Array, codes: Array) -> Self:
        """By logistic regression of the outcomes on the logits, without a penalty."""
        least = _away_from_ends(columns)
        table = score_table(codes, np.clip(columns[:, 1], least, 1 - least), pos_label=1)
        intercept, slope = map(float, recalibrated(table))
        if (why := why_no_recalibration(table, slope=True)) or np.isnan(slope):
            raise InputError(f"Logistic recalibration has no finite fit: {why or 'its slope is too steep'}.")
        return cls(intercept, slope, least)

    def __call__(self, columns: Array) -> Array:
        """By the logit of the second class."""
        p = np.clip(columns[:, 1], self.least, 1 - self.least)
        return both_columns(1 / (1 + np.exp(-self.intercept - self.slope * (np.log(p) - np.log1p(-p)))))


@dataclass(frozen=True, eq=False)
class IsotonicMap:
    """A rising curve through the shares observed, in straight lines between its steps.

    A step of nothing but one class counts as half a row of the other more, so that no probability is 0 or 1.
    """

    probabilities: Array
    shares: Array

    @classmethod
    def fitted(cls, columns: Array, codes: Array) -> Self:
        """By pooling adjacent violators."""
        curve = isotonic_curve(score_table(codes, columns[:, 1], pos_label=1))
        weights, shares = np.diff(curve.weights), curve.observed
        between = shares[(shares > 0) & (shares < 1)]
        for end in (0, 1):
            at = shares == end
            nearest = np.abs(end - between).min() if len(between) else 0.5
            shares = np.where(at, abs(end - min(0.5 / (weights[at].sum() + 1), nearest)), shares)
        step = np.diff(shares) != 0
        kept = np.append(True, step) | np.append(step, True)
        return cls(curve.scores[kept], shares[kept])

    def __call__(self, columns: Array) -> Array:
        """By the second class."""
        return both_columns(np.interp(columns[:, 1], self.probabilities, self.shares))
