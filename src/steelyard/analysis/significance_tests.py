"""Significance: the classical tests that models differ, on one test set, over folds and over data sets.

McNemar (1947), Psychometrika 12; Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13 (mid-p);
Holm (1979), Scandinavian Journal of Statistics 6; Nadeau and Bengio (2003), Machine Learning 52; Demsar (2006),
Journal of Machine Learning Research 7 (Friedman, Iman and Davenport, Nemenyi).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import student_below, student_quantile
from steelyard.analysis.draws import check_level
from steelyard.analysis.formatting import p_digits, p_text
from steelyard.analysis.rows import Flat, Rows
from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import arrays

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.statistics.paired import Paired

POST_HOC = ("wilcoxon", "nemenyi")


def holm(p_values: Iterable[float]) -> list[float]:
    """P-values adjusted by Holm's method, so that all of them hold together; an undefined one is left out.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(list(p_values), dtype=np.float64)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return [float(value) for value in adjusted]


# ---------------------------------------------------------------- one test set


@dataclass(frozen=True)
class McNemar:
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
        told = f"{self.a} alone is right in {self.only_a:,} rows, {self.b} alone in {self.only_b:,}"
        return f"McNemar: {told}; {p_text(self.mid_p)} (mid-p), {p_digits(self.exact)} (exact)"

    def row(self) -> dict[str, Any]:
        """The test as a row of a table."""
        return {
            "a": self.a,
            "b": self.b,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "exact": self.exact,
            "mid_p": self.mid_p,
        }


def mcnemar(table: Paired, names: tuple[str, str] = ("A", "B")) -> McNemar:
    """McNemar's tests that two models are right equally often, two-sided.

    >>> import numpy as np
    >>> from steelyard.statistics.paired import Paired
    >>> mcnemar(Paired((0, 1), np.array([[[30, 12], [2, 6]], [[0, 0], [0, 0]]])))
    McNemar: A alone is right in 12 rows, B alone in 2; p = 0.00739 (mid-p), 0.0129 (exact)
    """
    from scipy.stats import binom

    only_a, only_b = table.discordant
    few, n = min(only_a, only_b), only_a + only_b
    twice, at = 2 * float(binom.cdf(few, n, 0.5)), float(binom.pmf(few, n, 0.5))
    # At only_a = only_b both tails hold the middle, which counts once.
    return McNemar(*names, only_a, only_b, min(twice, 1.0), min(twice - at, 1.0))


# ---------------------------------------------------------------- repeated cross-validation


@dataclass(frozen=True)
class CorrectedT(Flat):
    """The mean difference over folds, its interval, and the test that it is 0, corrected for shared training rows."""

    difference: float
    low: float
    high: float
    level: float
    t: float
    degrees: int
    p_value: float


def corrected_t_test(
    differences: Any,
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
    values = _finite(arrays.numbers(differences, "differences"), "differences")
    if len(values) < 2:
        raise InputError(f"The corrected t-test needs the differences of two or more folds, not {len(values)}.")
    check_level(level)
    if worth is not None and not 0 < worth <= len(values):
        raise InputError(f"worth is above 0 and at most the number of folds, {len(values)}, not {worth!r}.")
    mean, degrees = float(values.mean()), len(values) - 1
    alike = bool((values == values[0]).all())  # their rounded mean may differ from each of them
    error = (
        0.0
        if alike
        else math.sqrt(
            (1 / (worth or len(values)) + _tested_to_trained(test_share, n_train, n_test)) * values.var(ddof=1)
        )
    )
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


def _finite(values: Array, name: str) -> Array:
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or an infinity; leave out what is undefined for one of the models first.")
    return values


# ---------------------------------------------------------------- many data sets


@dataclass(frozen=True)
class PairTest(Flat):
    """Whether two models' ranks differ over the data sets, adjusted for all pairs."""

    a: str
    b: str
    rank_a: float
    rank_b: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class Friedman:
    """The mean rank of each model over data sets (1 is best), the tests that all are equal, and every pair."""

    ranks: dict[str, float]
    data_sets: int
    chi_square: float
    p_value: float
    f: float
    p_f: float
    post_hoc: str
    pairs: Rows[PairTest]

    def __repr__(self) -> str:
        order = sorted(self.ranks, key=self.ranks.__getitem__)
        told = ", ".join(f"{name} {self.ranks[name]:.2f}" for name in order)
        tests = f"Friedman {self.chi_square:.4g}, {p_text(self.p_value)}"
        found = f"F {self.f:.4g}," if math.isfinite(self.f) else "F infinite, as all data sets agree; exact"
        tests += f"; Iman-Davenport {found} {p_text(self.p_f)}"
        return f"Mean ranks over {self.data_sets} data sets: {told}\n{tests}\n{self.pairs!r}"


def friedman(
    table: Any, *, models: Sequence[str] | None = None, higher: bool = True, post_hoc: str = "wilcoxon"
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
        raise InputError(f"post_hoc is {' or '.join(map(repr, POST_HOC))}, not {post_hoc!r}.")
    names, values = _columns(table, models)
    n, k = values.shape
    ranks = rankdata(-values if higher else values, axis=1)
    mean = ranks.mean(0)
    # The spread of the mean ranks in units of that of the ranks themselves: with ties this is the corrected test.
    spread = ((ranks - (k + 1) / 2) ** 2).sum()
    chi = float((k - 1) * n**2 * ((mean - (k + 1) / 2) ** 2).sum() / spread) if spread else 0.0
    f, p_f = math.inf, _all_alike(ranks)
    if not spread or (ranks != ranks[0]).any():
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


def _columns(table: Any, models: Sequence[str] | None) -> tuple[list[str], Array]:
    """The names of the models and their values, a row a data set."""
    if isinstance(table, Mapping):
        columns = {str(name): arrays.numbers(column, repr(name)) for name, column in table.items()}
        arrays.check_lengths(**columns)
        names, values = list(columns), np.stack([*columns.values()], 1) if columns else np.zeros((0, 0))
    else:
        found = getattr(table, "columns", None)
        values = np.asarray(table)
        names = [str(i) for i in (range(values.shape[-1] if values.ndim == 2 else 0) if found is None else found)]
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise InputTypeError("friedman takes numbers in rows of data sets and columns of models, or {model: values}.")
    names = names if models is None else [str(name) for name in models]
    if len(names) != values.shape[1]:
        raise InputError(f"There are {values.shape[1]} columns and {len(names)} names in models=; give one name each.")
    if min(values.shape) < 2:
        raise InputError(f"friedman needs two or more data sets and models, not {values.shape[0]} and {len(names)}.")
    return names, _finite(values.astype(np.float64), "The table")


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
