"""The corrected t-test of two models over the folds of repeated cross-validation.

Nadeau and Bengio (2003), Machine Learning 52.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.model_columns import finite_values
from steelyard.analysis.distributions import student_below, student_quantile
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.rows import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ROUNDING = 1e-15  # of the largest value: a mean of no more is what rounding leaves of 0


@dataclass(frozen=True, eq=False)
class CorrectedT(Flat):
    """The mean difference over folds, its interval, and the test that it is 0, corrected for shared training rows."""

    difference: float
    low: float
    high: float
    level: float
    t: float
    degrees: int
    p_value: float


@names_wrong_arguments
def corrected_t_test(
    differences: ArrayLike,
    *,
    test_share: float | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    worth: float | None = None,
    level: float = 0.95,
) -> CorrectedT:
    """Nadeau and Bengio's corrected resampled t-test, two-sided, of the differences of two models fold by fold.

    Folds share training rows, so the plain t-test finds differences where there are none. Give the share of the rows
    that is tested in a fold (0.1 for ten folds), or the rows trained and tested on. Where rows are tested again,
    `worth` says as how many folds that share no test row they count; the test as published counts them all.

    >>> round(corrected_t_test([0.02, 0.01, 0.03, 0.02, 0.00], test_share=0.2).p_value, 4)
    0.1046
    """
    values = finite_values(arrays.numbers(differences, "differences"), "differences")
    if len(values) < 2:
        raise InputError(f"The corrected t-test needs the differences of two or more folds, not {len(values)}.")
    check_level(level)
    if worth is not None and not 0 < worth <= len(values):
        raise InputError(f"worth is above 0 and at most the number of folds, {len(values)}, not {worth!r}.")
    mean, degrees = float(values.mean()), len(values) - 1
    mean = 0.0 if abs(mean) <= _ROUNDING * float(np.abs(values).max()) else mean
    alike = bool((values == values[0]).all())  # their rounded mean may differ from each of them
    variance = 0.0 if alike else values.var(ddof=1)
    factor = 1 / (worth or len(values)) + (0.0 if alike else _tested_to_trained(test_share, n_train, n_test))
    error = math.sqrt(factor * variance)
    return _t_test(mean, error, degrees, level)


def _t_test(mean: float, error: float, degrees: int, level: float) -> CorrectedT:
    statistic = mean / error if error else (math.copysign(math.inf, mean) if mean else 0.0)
    reach = float(student_quantile((1 + level) / 2, degrees)) * error
    p_value = float(2 * student_below(-abs(statistic), degrees))
    return CorrectedT(mean, mean - reach, mean + reach, level, statistic, degrees, p_value)


def _tested_to_trained(test_share: float | None, n_train: float | None, n_test: float | None) -> float:
    if (test_share is None) == (n_train is None or n_test is None):
        raise InputTypeError("Give either test_share=, or both n_train= and n_test=: the correction depends on it.")
    if test_share is not None:
        if not 0 < test_share < 1:
            raise InputError(
                f"test_share is the share of rows tested in a fold, above 0 and below 1, not {test_share!r}."
            )
        return test_share / (1 - test_share)
    assert n_train is not None  # noqa: S101 - asked above
    assert n_test is not None  # noqa: S101 - asked above
    if not (n_train > 0 and n_test > 0):
        raise InputError(f"n_train and n_test count rows, one or more each, not {n_train!r} and {n_test!r}.")
    return n_test / n_train
