"""Correlation study: which class each metric listens to, by García's perturbed predictions, for any metrics.

García, Sánchez and Mollineda, "On the suitability of numerical performance measures for class imbalance problems",
2012, section 3.1. The paper leaves its list of true probabilities and its n unsaid, and the conclusions depend on both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steelyard._types import Array
from steelyard.analysis.results.formatting import filled
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.correlation_coefficients import (
    by_metric,
    correlation_matrix,
    deviation_over_seeds,
    mean_over_seeds,
)
from steelyard.auditing.correlation_design import (
    check_defined,
    check_distortions,
    check_list,
    chosen_with_rates,
    read_shares,
)
from steelyard.auditing.garcia_conclusions import (
    RATES,
    Conclusion,
    ConclusionResult,
    conclusion_result,
    conclusions_on,
)
from steelyard.auditing.metric_values import metric_values
from steelyard.auditing.perturbation import collection, generators, widths_of
from steelyard.exceptions import InputError
from steelyard.metrics.metric import Metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Rng
    from steelyard.metrics.registry import MetricLike


_HOLDS = {True: "holds", False: "does not hold"}
NO_CONCLUSION = "García concludes nothing about the metrics asked for; leave metrics= out to try his conclusions"


@dataclass(frozen=True, eq=False)
class Correlation(Flat):
    """One metric at one imbalance: Pearson's and Spearman's correlation with each recall, mean over the seeds."""

    positives: float
    metric: str
    recall: float
    specificity: float
    rank_recall: float
    rank_specificity: float
    sd_recall: float
    sd_specificity: float
    undefined: float


@dataclass(frozen=True, eq=False, repr=False)
class CorrelationStudy(Result[Correlation]):
    """Perturbed predictions by seed, imbalance, distortion and tuple as one array of Counts, and what correlates."""

    metrics: tuple[Metric, ...]
    positives: tuple[float, ...]
    counts: Counts[Array]
    pearson: Array = field(repr=False)
    spearman: Array = field(repr=False)
    undefined: Array = field(repr=False)
    choices: dict[str, Any] = field(default_factory=dict)
    left_out: Array | None = field(default=None, repr=False)  # Pearson's matrix without each of the user's own models
    remarks: tuple[str, ...] = ()
    also_saved: ClassVar = ("rows",)

    @property
    def headline(self) -> str:
        """In how many seeds the conclusions hold."""
        return ". ".join(self._conclusions()) + "."

    @property
    def notes(self) -> tuple[str, ...]:
        """How the labels were read."""
        return self.remarks

    def _conclusions(self) -> list[str]:
        results = self.conclusions()
        if not results:
            return [NO_CONCLUSION]
        if "models" in self.choices:
            return [f"Over these models it {_HOLDS[c.holds]}: {c.words}" for c in results]
        return [f"{100 * c.share:g} % of seeds: {c.words}" for c in results]

    def __iter__(self) -> Iterator[Correlation]:
        return iter(self.rows())

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics in the order of the matrices."""
        return tuple(m.name for m in self.metrics)

    def matrix(self, positives: float, *, rank: bool = False) -> Array:
        """The correlations of all pairs of metrics at one share of positives, mean over the seeds."""
        if positives not in self.positives:
            shares = ", ".join(map(str, self.positives))
            raise InputError(f"The study has no collection with the share {positives!r} of positives; it has {shares}.")
        return mean_over_seeds((self.spearman if rank else self.pearson)[:, self.positives.index(positives)])

    def rows(self) -> Rows[Correlation]:
        """One row for each imbalance and metric."""
        places = [self.names.index(name) for name in RATES]
        tables = [self.pearson[..., places], self.spearman[..., places]]
        means = map(mean_over_seeds, tables)
        columns = np.concatenate([*means, deviation_over_seeds(tables[0]), self.undefined[..., None]], -1)
        return Rows(
            Correlation(share, name, *map(float, columns[i, j]))
            for i, share in enumerate(self.positives)
            for j, name in enumerate(self.names)
        )

    def conclusions(self, claims: Sequence[Conclusion] | None = None) -> Rows[ConclusionResult]:
        """García's conclusions on the metrics of the study, or others, tested on every seed at every imbalance.

        >>> [result.holds for result in correlation_study(seeds=3).conclusions()]
        [True, True, True]
        >>> [result.holds for result in correlation_study(seeds=3, list_kind="global_linear").conclusions()]
        [False, True, False]
        """
        tried = conclusions_on(self.metrics) if claims is None else claims
        return Rows(conclusion_result(conclusion, self.counts, self.positives) for conclusion in tried)

    def __repr__(self) -> str:
        sentences = self._conclusions()
        means = mean_over_seeds(self.pearson)[:, [self.names.index(name) for name in RATES]]
        table = [
            {"metric": name} | {f"{100 * s:.4g} %": _pair(means[i, :, j]) for i, s in enumerate(self.positives)}
            for j, name in enumerate(self.names)
        ]
        head = "Pearson's correlation with recall / specificity, by the share of positives"
        return "\n".join([*sentences, "", head, table_text(table), *map(filled, self.notes)])


def _pair(r: Array) -> str:
    return " / ".join("–" if np.isnan(x) else f"{x:+.2f}" for x in r)


@names_wrong_arguments
def correlation_study(
    metrics: Iterable[MetricLike] | None = None,
    *,
    positives: Sequence[float] = (0.05, 0.10, 0.15, 0.20, 0.25),
    n: int = 1000,
    total_range: float = 0.6,
    steps: int = 13,
    tuples: int = 10,
    threshold: float | str = 0.5,
    list_kind: str = "class_linear",
    seeds: int = 1,
    rng: Rng = None,
) -> CorrelationStudy:
    """Perturb a list of true probabilities and correlate metrics with recall and specificity (García 3.1).

    Each probability moves evenly within its range, clipped to [0, 1]: `total_range` is shared by negatives and
    positives in `steps` ways, `tuples` times each. `threshold` is a number, or "prior" for the threshold that would
    flag as many rows as are positive. Of the lists only those with the classes on either side of 0.5 ("class_linear",
    "class_uniform") bear the paper out. With few rows much of a positive correlation with recall is the sampling noise
    of the few positives: compare n.

    >>> study = correlation_study(["accuracy", "g_mean"], n=100, seeds=20)
    >>> for row in study.rows()[2:4]:
    ...     print(row.metric, round(row.recall, 1), round(row.specificity, 1))
    accuracy -0.5 1.0
    g_mean 0.7 0.1
    """
    chosen = chosen_with_rates(metrics)
    shares = read_shares(positives)
    check_list(shares, n, list_kind)
    check_distortions(total_range, threshold, steps=(steps, 2), tuples=(tuples, 2), seeds=(seeds, 1))
    widths = widths_of(total_range, steps)
    tables = [
        [collection(n, round(share * n), widths, tuples, threshold, list_kind, seeded) for share in shares]
        for seeded in generators(seeds, rng)
    ]
    counts = Counts.stack(Counts.stack(levels) for levels in tables)
    choices = {
        "n": n,
        "total_range": total_range,
        "steps": steps,
        "tuples": tuples,
        "threshold": threshold,
        "list_kind": list_kind,
        "seeds": seeds,
    }
    return correlated(chosen, shares, counts, metric_values(chosen, counts), choices)


def correlated(
    metrics: tuple[Metric, ...],
    shares: tuple[float, ...],
    counts: Counts[Array],
    values: Array,
    choices: dict[str, Any],
    *,
    leave_out: bool = False,
) -> CorrelationStudy:
    """The study of tables whose metrics have these values, the metrics on the last axis of them."""
    cells = by_metric(values)
    check_defined(metrics, cells)
    pearson, spearman = correlation_matrix(cells), correlation_matrix(cells, rank=True)
    missing = np.isnan(cells).mean((0, -1))
    left_out = None
    if leave_out:
        tables = cells[0, 0]
        left_out = np.stack([correlation_matrix(np.delete(tables, i, -1)) for i in range(tables.shape[-1])])
    return CorrelationStudy(metrics, shares, counts, pearson, spearman, missing, choices, left_out)
