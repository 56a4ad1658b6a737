"""Probability maps: ways to turn the probabilities of a classifier into better ones, each fitted to outcomes.

Logistic: Cox (1958), Platt (1999); isotonic: Zadrozny and Elkan (2002); temperature: Guo and others (2017). A map takes
and gives a column for each class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, sqrt
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from steelyard.analysis.distributions import student_reach
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import with_shares
from steelyard.analysis.results.formatting import interval_text
from steelyard.analysis.results.result import Flat
from steelyard.exceptions import InputError
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.logistic_recalibration import recalibrated, why_no_recalibration
from steelyard.tables.array_tables import both_columns, score_table

if TYPE_CHECKING:
    from steelyard._types import Array


_MOST = 10.0  # of the logarithm of a temperature, either way, beyond which nothing changes


class ProbabilityMap(Protocol):
    """Probabilities in, probabilities out: a column for each class."""

    def __call__(self, columns: Array) -> Array:
        """The mapped probabilities."""


def _least_probability(columns: Array) -> float:
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

        least = _least_probability(columns)
        logs = _logs(columns, least)
        observed = logs[codes, np.arange(len(codes))].mean()

        def rise(cooling: float) -> float:
            return float((_softmax(exp(cooling) * logs) * logs).sum(0).mean() - observed)

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
        least = _least_probability(columns)
        table = score_table(codes, np.clip(columns[:, 1], least, 1 - least), pos_label=1)
        intercept, slope = map(float, recalibrated(table))
        if (why := why_no_recalibration(table, slope=True)) or np.isnan(slope):
            raise InputError(f"Logistic recalibration has no finite fit: {why or 'its slope is too steep'}.")
        return cls(intercept, slope, least)

    def __call__(self, columns: Array) -> Array:
        """By the logit of the second class."""
        from scipy.special import expit, logit

        p = np.clip(columns[:, 1], self.least, 1 - self.least)
        return both_columns(expit(self.intercept + self.slope * logit(p)))


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
        for extreme in (0, 1):
            pure = shares == extreme
            nearest = np.abs(extreme - between).min() if len(between) else 0.5
            shares = np.where(pure, abs(extreme - min(0.5 / (weights[pure].sum() + 1), nearest)), shares)
        steps = np.diff(shares) != 0
        is_end = np.append(True, steps) | np.append(steps, True)  # of a step, between which the curve is flat
        return cls(curve.scores[is_end], shares[is_end])

    def __call__(self, columns: Array) -> Array:
        """By the second class."""
        return both_columns(np.interp(columns[:, 1], self.probabilities, self.shares))


# ---------------------------------------------------------------- unseen loss
# The log loss of recalibrated probabilities on rows that did not fit them, and what is gained.


def log_losses(columns: Array, codes: Array) -> Array:
    """The log loss of each row."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(columns[np.arange(len(codes)), codes]))


@dataclass(frozen=True, eq=False, repr=False)
class UnseenLoss(Flat):
    """The log loss on unseen rows with its interval, and how much lower it is than that of the probabilities before.

    The gain is of the same rows, so its interval is that of their differences, by Student's t; the folds share the rows
    that they fit, for which its variance is corrected (Nadeau and Bengio 2003, Machine Learning 52, 239-281).
    """

    rows: int
    log_loss: float
    low: float
    high: float
    before: float
    gain: float
    gain_low: float
    gain_high: float
    level: float = 0.95

    @classmethod
    def of(cls, codes: Array, before: Array, after: Array, *, level: float, shared: float) -> Self:
        """Of the classes of the rows, and of their probabilities before and after.

        `shared` is the sum over the folds of the rows left out over those fitted. In 120 runs each of 300 and 1,500
        rows, logistic and isotonic, with and without a gain, the interval held it in .95 to 1.00; without the
        correction in .83 to .93.
        """
        check_level(level)
        truth = codes == 1 if after.shape[1] == 2 else codes
        loss = interval("log_loss", truth, y_score=after[:, 1] if after.shape[1] == 2 else after, level=level)
        losses = log_losses(before, codes)
        differences = losses - log_losses(after, codes)
        gain = float(differences.mean())
        deviation = float(differences.std(ddof=1)) if np.isfinite(gain) else np.nan
        standard_error = deviation * sqrt((1 + shared) / len(codes))
        half_width = student_reach(level, len(codes) - 1) * standard_error
        return cls(
            len(codes),
            float(loss.value),
            float(loss.low),
            float(loss.high),
            before=float(losses.mean()),
            gain=gain,
            gain_low=gain - half_width,
            gain_high=gain + half_width,
            level=level,
        )

    def __repr__(self) -> str:
        loss = interval_text(self.log_loss, self.low, self.high, share=False)
        gain = interval_text(self.gain, self.gain_low, self.gain_high, share=False)
        return f"log loss {loss} on {self.rows:,} unseen rows, a gain of {gain} over before ({100 * self.level:g} %)"
