"""Classical tests of two models or more: DeLong's of ROC AUC, McNemar's, the corrected t-test and Friedman's."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import copysign, inf, sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.distributions import student_below, student_quantile
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.design import welch
from steelyard.analysis.intervals.score_intervals import Components
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.formatting import p_digits, p_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame
    from steelyard.analysis.intervals.score_draws import ClassRanks
    from steelyard.tables.paired_table import Paired

    RankedTable: TypeAlias = Mapping[str, ArrayLike] | Frame | ArrayLike  # rows of data sets, columns of models


@dataclass(frozen=True)
class PairedAuc:
    """The AUCs of two models on the same rows, and the test that they are equal."""

    auc_a: float
    auc_b: float
    difference: float
    variance: float
    z: float
    p_value: float
    degrees: float = inf  # of Student's t, which z is read by


def delong_of_ranks(a: ClassRanks, b: ClassRanks) -> PairedAuc:
    """DeLong's paired test that two models have the same AUC, two-sided, on rows whose order is known.

    z is read by Student's t with Welch and Satterthwaite's degrees of freedom of the two classes: by the normal
    distribution up to 12 % of equal models are rejected at 0.05 with 5 to 8 positives, so at most 6.5 % (756 settings
    of 5 to 30 positives, 800 to 2,000 runs each, mean 2.7 %, of AUCs below 0.8 4.1 %).

    Models that rank alike differ by 0 with p = 1. Where the models differ and every row differs alike, the variance
    is 0 and z infinite; where a class has one row, the variance is infinite and p = 1.

    >>> from steelyard.analysis.intervals.score_draws import ClassRanks
    >>> positive, a, b = np.array([False, False, True, True]), [0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.3, 0.4]
    >>> delong_of_ranks(*(ClassRanks.of(np.array(scores), positive) for scores in (a, b)))
    PairedAuc(auc_a=0.75, auc_b=1.0, difference=-0.25, variance=0.125, z=-0.707..., p_value=0.5527..., degrees=2.0)
    """
    m, n = len(a.positives), len(a.negatives)
    (up_a, down_a), (up_b, down_b) = a.twice_beaten(), b.twice_beaten()
    sum_a, sum_b, pairs = int(up_a.sum()), int(up_b.sum()), 2 * m * n
    # The variance of a difference of means is that of the rows' differences: no covariance is needed.
    by_class = ((up_a - up_b) / (2 * n), (down_a - down_b) / (2 * m))
    variances = [Components(moved, np.ones(len(moved))).variance_of_mean(len(moved)) for moved in by_class]
    spread = welch(variances, [m - 1, n - 1])
    difference = (sum_a - sum_b) / pairs
    z = _in_standard_errors(difference, sqrt(spread.variance))
    p_value = 2 * float(student_below(-abs(z), spread.degrees))
    return PairedAuc(sum_a / pairs, sum_b / pairs, difference, spread.variance, z, p_value, spread.degrees)


def _in_standard_errors(difference: float, standard_error: float) -> float:
    """The statistic of a test: infinite where a difference has no error, 0 where there is no difference."""
    if standard_error:
        return difference / standard_error
    return copysign(inf, difference) if difference else 0.0


# ---------------------------------------------------------------- mcnemar test
# McNemar's tests that two models are right equally often on the same rows.
#
# McNemar (1947), Psychometrika 12; Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13 (mid-p).


@dataclass(frozen=True, eq=False)
class McNemar(Flat):
    """The rows in which one of two models alone is right, and the tests that this happens to both equally often.

    The exact test is conservative; the mid-p one keeps near its level, and is the one to read.
    """

    a: str
    b: str
    only_a: int
    only_b: int
    exact: float
    mid_p: float

    def __repr__(self) -> str:
        rows = f"{self.a} alone is right in {self.only_a:,} rows, {self.b} alone in {self.only_b:,}"
        return f"McNemar: {rows}; {p_text(self.mid_p)} (mid-p), {p_digits(self.exact)} (exact)"


def mcnemar(table: Paired, names: tuple[str, str] = ("A", "B")) -> McNemar:
    """McNemar's tests that two models are right equally often, two-sided.

    >>> import numpy as np
    >>> from steelyard.tables.paired_table import Paired
    >>> mcnemar(Paired((0, 1), np.array([[[30, 12], [2, 6]], [[0, 0], [0, 0]]])))
    McNemar: A alone is right in 12 rows, B alone in 2; p = 0.00739 (mid-p), 0.0129 (exact)
    """
    from scipy.stats import binom

    only_a, only_b = table.discordant
    # Not scipy's binomtest, which takes four times as long for the same exact p-value to rounding and has no mid-p one.
    few, n = min(only_a, only_b), only_a + only_b
    two_sided, at_few = 2 * float(binom.cdf(few, n, 0.5)), float(binom.pmf(few, n, 0.5))
    # At only_a = only_b both tails hold the middle, which counts once.
    return McNemar(*names, only_a, only_b, min(two_sided, 1.0), min(two_sided - at_few, 1.0))


# ---------------------------------------------------------------- corrected t test
# The corrected t-test of two models over the folds of repeated cross-validation.
#
# Nadeau and Bengio (2003), Machine Learning 52.


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
    values = _finite_values(checks.numbers(differences, "differences"), "differences")
    if len(values) < 2:
        raise InputError(f"The corrected t-test needs the differences of two or more folds, not {len(values)}.")
    check_level(level)
    if worth is not None and not 0 < worth <= len(values):
        raise InputError(
            argument="worth", expected=f"above 0 and at most the number of folds, {len(values)}", given=worth
        )
    mean, degrees = float(values.mean()), len(values) - 1
    mean = 0.0 if abs(mean) <= _ROUNDING * float(np.abs(values).max()) else mean
    alike = bool((values == values[0]).all())  # their rounded mean may differ from each of them
    variance = 0.0 if alike else values.var(ddof=1)
    factor = 1 / (worth or len(values)) + (0.0 if alike else _tested_to_trained(test_share, n_train, n_test))
    standard_error = math.sqrt(factor * variance)
    statistic = _in_standard_errors(mean, standard_error)
    half_width = float(student_quantile((1 + level) / 2, degrees)) * standard_error
    p_value = float(2 * student_below(-abs(statistic), degrees))
    return CorrectedT(mean, mean - half_width, mean + half_width, level, statistic, degrees, p_value)


def _tested_to_trained(test_share: float | None, n_train: float | None, n_test: float | None) -> float:
    if (test_share is None) == (n_train is None or n_test is None):
        raise InputTypeError("Give either test_share=, or both n_train= and n_test=: the correction depends on it.")
    if test_share is not None:
        if not 0 < test_share < 1:
            raise InputError(
                argument="test_share",
                expected="the share of rows tested in a fold, above 0 and below 1",
                given=test_share,
            )
        return test_share / (1 - test_share)
    assert n_train is not None  # noqa: S101 - checked above
    assert n_test is not None  # noqa: S101 - checked above
    if not (n_train > 0 and n_test > 0):
        raise InputError(f"n_train and n_test count rows, one or more each, not {n_train!r} and {n_test!r}.")
    return n_test / n_train


# ---------------------------------------------------------------- friedman test
# Friedman's test of models over many data sets, and the tests of every pair of them.
#
# Demsar (2006), Journal of Machine Learning Research 7 (Friedman, Iman and Davenport, Nemenyi).


POST_HOC = ("wilcoxon", "nemenyi")


@dataclass(frozen=True, eq=False)
class PairTest(Flat):
    """Whether two models' ranks differ over the data sets, adjusted for all pairs."""

    a: str
    b: str
    rank_a: float
    rank_b: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, eq=False, repr=False)
class Friedman(Result[PairTest]):
    """The mean rank of each model over data sets (1 is best), the tests that all are equal, and every pair."""

    ranks: dict[str, float]
    data_sets: int
    chi_square: float
    p_value: float
    f: float
    p_f: float
    post_hoc: str
    pairs: Rows[PairTest]

    def __iter__(self) -> Iterator[PairTest]:
        return iter(self.pairs)

    @property
    def headline(self) -> str:
        """The mean ranks, the best first."""
        order = sorted(self.ranks, key=self.ranks.__getitem__)
        ranks = ", ".join(f"{name} {self.ranks[name]:.2f}" for name in order)
        return f"Mean ranks over {self.data_sets} data sets: {ranks}."

    @property
    def lead(self) -> list[str]:
        """The two tests that all ranks are equal."""
        f_text = f"F {self.f:.4g}," if math.isfinite(self.f) else "F infinite, as all data sets agree; exact"
        tests = f"Friedman {self.chi_square:.4g}, {p_text(self.p_value)}"
        return [f"{tests}; Iman-Davenport {f_text} {p_text(self.p_f)}."]


@names_wrong_arguments
def friedman(
    table: RankedTable, *, models: Sequence[str] | None = None, higher: bool = True, post_hoc: str = "wilcoxon"
) -> Friedman:
    """Friedman's test over data sets (rows) of models (columns), Iman and Davenport's F, and every pair of models.

    Where all data sets rank the models alike F is infinite, and its p-value is the exact one: how likely they would all
    agree by chance. The pairs are tested by Wilcoxon's signed ranks, adjusted by Holm, or by Nemenyi's studentised
    range. `table` is a dictionary of columns, a frame, or rows of numbers; `higher` says whether higher is better.

    >>> result = friedman({"A": [0.9, 0.8, 0.7, 0.6], "B": [0.8, 0.7, 0.6, 0.5], "C": [0.7, 0.6, 0.5, 0.55]})
    >>> result.ranks, round(result.chi_square, 3), round(result.p_value, 4)
    ({'A': 1.0, 'B': 2.25, 'C': 2.75}, 6.5, 0.0388)
    """
    from scipy.stats import chi2, rankdata
    from scipy.stats import f as fisher

    if post_hoc not in POST_HOC:
        raise InputError(argument="post_hoc", expected=" or ".join(map(repr, POST_HOC)), given=post_hoc)
    names, values = _columns(table, models)
    n, k = values.shape
    ranks = rankdata(-values if higher else values, axis=1)
    mean = ranks.mean(0)
    # Not scipy's friedmanchisquare, which refuses two models and is undefined where all values tie.
    # The variation of the mean ranks in units of that of the ranks themselves: with ties this is the corrected test.
    variation = ((ranks - (k + 1) / 2) ** 2).sum()
    chi = float((k - 1) * n**2 * ((mean - (k + 1) / 2) ** 2).sum() / variation) if variation else 0.0
    f, p_f = math.inf, _all_alike(ranks)
    if not variation or (ranks != ranks[0]).any():
        f = (n - 1) * chi / (n * (k - 1) - chi)
        p_f = float(fisher.sf(f, k - 1, (k - 1) * (n - 1)))
    pairs = _pair_tests(names, values, mean, post_hoc)
    means = dict(zip(names, mean.tolist(), strict=True))
    return Friedman(means, n, chi, float(chi2.sf(chi, k - 1)), f, p_f, post_hoc, pairs)


def _all_alike(ranks: Array) -> float:
    """How likely data sets that know no order of the models all give the first one's, ties included."""
    ties = np.unique(ranks[0], return_counts=True)[1]
    orders = math.factorial(ranks.shape[1]) // math.prod(map(math.factorial, ties.tolist()))
    return float(orders) ** (1 - len(ranks))


def _columns(table: RankedTable, models: Sequence[str] | None) -> tuple[list[str], Array]:
    """The names of the models and their values, a row a data set."""
    if isinstance(table, Mapping):
        columns = {str(name): checks.numbers(column, repr(name)) for name, column in table.items()}
        checks.check_lengths(**columns)
        names, values = list(columns), np.stack([*columns.values()], 1) if columns else np.zeros((0, 0))
    else:
        columns_of_frame = getattr(table, "columns", None)
        values = np.asarray(table)
        if columns_of_frame is None:
            columns_of_frame = range(values.shape[-1] if values.ndim == 2 else 0)
        names = [str(name) for name in columns_of_frame]
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise InputTypeError("friedman takes numbers in rows of data sets and columns of models, or {model: values}.")
    names = names if models is None else [str(name) for name in models]
    if len(names) != values.shape[1]:
        raise InputError(f"There are {values.shape[1]} columns and {len(names)} names in models=; give one name each.")
    if min(values.shape) < 2:
        raise InputError(f"friedman needs two or more data sets and models, not {values.shape[0]} and {len(names)}.")
    return names, _finite_values(values.astype(np.float64), "The table")


def _pair_tests(names: list[str], values: Array, mean: Array, post_hoc: str) -> Rows[PairTest]:
    pairs = list(combinations(range(len(names)), 2))
    if post_hoc == "nemenyi":
        plain = [_nemenyi(abs(mean[a] - mean[b]), *values.shape) for a, b in pairs]
        adjusted = plain
    else:
        plain = [_wilcoxon(values[:, a] - values[:, b]) for a, b in pairs]
        adjusted = holm(plain)
    return Rows(
        PairTest(names[a], names[b], float(mean[a]), float(mean[b]), p, q)
        for (a, b), p, q in zip(pairs, plain, adjusted, strict=True)
    )


def _nemenyi(gap: float, n: int, k: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.sf(gap / math.sqrt(k * (k + 1) / (12 * n)), k, math.inf))


def _wilcoxon(differences: Array) -> float:
    from scipy.stats import wilcoxon

    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties and zeros make it approximate, which is no news to the caller
        return float(wilcoxon(differences).pvalue)


def _finite_values(values: Array, name: str) -> Array:
    """The values of models by a metric, each of them defined."""
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or an infinity; leave out what is undefined for one of the models first.")
    return values
