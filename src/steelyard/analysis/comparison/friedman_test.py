"""Friedman's test of models over many data sets, and the tests of every pair of them.

Demsar (2006), Journal of Machine Learning Research 7 (Friedman, Iman and Davenport, Nemenyi).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.comparison.model_columns import finite_values
from steelyard.analysis.holm import holm
from steelyard.analysis.results.formatting import p_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame

    RankedTable: TypeAlias = Mapping[str, ArrayLike] | Frame | ArrayLike  # rows of data sets, columns of models

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

    @property
    def notes(self) -> list[str]:
        """The tests that all models are equal."""
        return [repr(self).splitlines()[1]]

    def __iter__(self) -> Iterator[PairTest]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        order = sorted(self.ranks, key=self.ranks.__getitem__)
        ranks = ", ".join(f"{name} {self.ranks[name]:.2f}" for name in order)
        tests = f"Friedman {self.chi_square:.4g}, {p_text(self.p_value)}"
        f_text = f"F {self.f:.4g}," if math.isfinite(self.f) else "F infinite, as all data sets agree; exact"
        tests += f"; Iman-Davenport {f_text} {p_text(self.p_f)}"
        return f"Mean ranks over {self.data_sets} data sets: {ranks}\n{tests}\n{self.pairs!r}"


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
        raise InputError(f"post_hoc is {' or '.join(map(repr, POST_HOC))}, not {post_hoc!r}.")
    names, values = _columns(table, models)
    n, k = values.shape
    ranks = rankdata(-values if higher else values, axis=1)
    mean = ranks.mean(0)
    # Not scipy's friedmanchisquare, which refuses two models and is undefined where all values tie.
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


def _columns(table: RankedTable, models: Sequence[str] | None) -> tuple[list[str], Array]:
    """The names of the models and their values, a row a data set."""
    if isinstance(table, Mapping):
        columns = {str(name): arrays.numbers(column, repr(name)) for name, column in table.items()}
        arrays.check_lengths(**columns)
        names, values = list(columns), np.stack([*columns.values()], 1) if columns else np.zeros((0, 0))
    else:
        columns_of_frame = getattr(table, "columns", None)
        values = np.asarray(table)
        places = range(values.shape[-1] if values.ndim == 2 else 0)
        names = [str(name) for name in (places if columns_of_frame is None else columns_of_frame)]
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise InputTypeError("friedman takes numbers in rows of data sets and columns of models, or {model: values}.")
    names = names if models is None else [str(name) for name in models]
    if len(names) != values.shape[1]:
        raise InputError(f"There are {values.shape[1]} columns and {len(names)} names in models=; give one name each.")
    if min(values.shape) < 2:
        raise InputError(f"friedman needs two or more data sets and models, not {values.shape[0]} and {len(names)}.")
    return names, finite_values(values.astype(np.float64), "The table")


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
