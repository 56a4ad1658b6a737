"""The catalogue of calibration: whether probabilities agree with outcomes, and the parts of the Brier score."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.declaration import metric
from steelyard.metrics.expression import ratio, undefined
from steelyard.metrics.isotonic_curve import IsotonicCurve
from steelyard.metrics.logistic_recalibration import (
    intercept_in_the_large,
    recalibrated,
    undefined_or,
    why_no_recalibration,
)
from steelyard.metrics.ranking import check_probabilities, mean_over_rows, missing, once

if TYPE_CHECKING:
    from steelyard.tables.score_table import ScoreTable


@metric("Calibration slope", on="probabilities", family="calibration", best=1, cite="cox1958")
def calibration_slope(t):
    """Slope of the outcomes on the logits of the probabilities, by logistic regression; below 1 is overconfident."""
    check_probabilities("calibration_slope", t)
    if why := missing(t) or why_no_recalibration(t, slope=True):
        return undefined(why)
    return undefined_or(recalibrated(t)[1])


@metric(
    "Calibration intercept",
    on="probabilities",
    family="calibration",
    best=0,
    aliases=("calibration_in_the_large",),
    cite="cox1958",
)
def calibration_intercept(t):
    """Shift of the logits that makes the mean probability the prevalence (in the large): below 0 is too high."""
    check_probabilities("calibration_intercept", t)
    if why := missing(t) or why_no_recalibration(t, slope=False):
        return undefined(why)
    return undefined_or(intercept_in_the_large(t))


@metric(
    "Observed-to-expected ratio",
    on="probabilities",
    family="calibration",
    range=(0, inf),
    best=1,
    aliases=("o_to_e",),
    cite="vancalster2019",
)
def observed_to_expected(t):
    """Observed positives over those expected, which is the sum of the probabilities."""
    check_probabilities("observed_to_expected", t)
    if not np.any(t.total):
        return undefined("no rows")
    expected = mean_over_rows(t, t.positive.scores, t.negative.scores)
    if not np.any(expected):
        return undefined("all probabilities are 0")
    return ratio(t.positive.total / np.where(t.total > 0, t.total, 1), expected)


@metric(
    "Integrated calibration index",
    on="probabilities",
    family="calibration",
    range=(0, 1),
    best=0,
    aliases=("ici",),
    cite="austin2019",
)
def integrated_calibration_index(t):
    """Mean distance between the probabilities and the isotonic reliability curve.

    Austin and Steyerberg smooth by loess, and rms's val.prob by lowess (its Eavg); the isotonic curve has no
    setting to choose.
    """
    curve = _curve("integrated_calibration_index", t)
    return undefined("no rows") if curve is None else curve.mean_gap


@metric(
    "Brier miscalibration",
    on="probabilities",
    family="calibration",
    has_proper_title=True,
    range=(0, 1),
    best=0,
    aliases=("mcb",),
    cite="dimitriadis2021",
)
def brier_miscalibration(t):
    """What recalibrating by the isotonic reliability curve takes off the Brier score.

    The Brier score is this less brier_discrimination plus brier_uncertainty.
    """
    curve = _curve("brier_miscalibration", t)
    return undefined("no rows") if curve is None else np.maximum(_brier(t) - curve.brier, 0)


@metric(
    "Brier discrimination",
    on="probabilities",
    family="calibration",
    has_proper_title=True,
    range=(0, 0.25),
    best=None,
    direction="higher",
    aliases=("dsc",),
    cite="dimitriadis2021",
)
def brier_discrimination(t):
    """Variance of the isotonic reliability curve: what order takes off the Brier score of predicting the prevalence."""
    curve = _curve("brier_discrimination", t)
    return undefined("no rows") if curve is None else curve.variance


@metric(
    "Brier uncertainty",
    on="probabilities",
    family="calibration",
    has_proper_title=True,
    range=(0, 0.25),
    best=None,
    aliases=("unc",),
    cite="dimitriadis2021",
)
def brier_uncertainty(t):
    """Brier score of predicting the prevalence for every row: prevalence times one minus it."""
    check_probabilities("brier_uncertainty", t)
    if not np.any(t.total):
        return undefined("no rows")
    return t.positive.total / t.total * (t.negative.total / t.total)


@metric(
    "Brier skill score",
    on="probabilities",
    family="calibration",
    has_proper_title=True,
    range=(-inf, 1),
    aliases=("scaled_brier", "bss"),
    cite="murphy1973",
    sklearn="d2_brier_score",
)
def brier_skill_score(t):
    """Share of the Brier score of predicting the prevalence for every row that the probabilities remove."""
    check_probabilities("brier_skill_score", t)
    if why := missing(t):
        return undefined(why)
    return 1 - _brier(t) / (t.positive.total / t.total * (t.negative.total / t.total))


@once
def _brier(t: ScoreTable) -> Any:
    return mean_over_rows(t, (1 - t.positive.scores) ** 2, t.negative.scores**2)


def _curve(name: str, t: ScoreTable) -> IsotonicCurve | None:
    check_probabilities(name, t)
    return isotonic_curve(t) if np.any(t.total) else None


@once
def isotonic_curve(t: ScoreTable) -> IsotonicCurve:
    """The isotonic reliability curve of a table's scores."""
    return IsotonicCurve.of(t)
