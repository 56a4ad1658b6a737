"""Calibration: metrics with intervals, curve, band and test, beside a sort and scikit-learn's bins alone."""

from __future__ import annotations

import numpy as np

from benchmarks.row import Row, needed
from steelyard import calibration

TITLE = "Calibration"


def rows():
    """Beside np.argsort of the same probabilities, and beside the points of a binned curve without band or interval."""
    what = "calibration with intervals, band and test, 1e6 rows"
    yield Row(what, "np.argsort", beside_sort, 10**6, 0.25, part=True)
    yield Row(what, "scikit-learn, calibration_curve alone", beside_bins, 10**6, part=True)


def outcomes(n):
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.5, 5, n)
    return (rng.random(n) < probabilities).astype(int), probabilities


def beside_sort(n):
    y, given = outcomes(n)
    return lambda: done(calibration(y, given)), lambda: done(np.argsort(given))


def beside_bins(n):
    curve = needed("sklearn.calibration").calibration_curve
    y, given = outcomes(n)
    return lambda: done(calibration(y, given)), lambda: done(curve(y, given, n_bins=10))


def done(_):
    """An answer that says only that the work was done: what stands beside it is a part of it."""
    return 0
