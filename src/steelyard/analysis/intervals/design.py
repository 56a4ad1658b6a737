"""Design: the variance of values by the influences of rows, weighted or in clusters, and its degrees of freedom.

Clusters: Obuchowski (1997), Biometrics 53, 567-578; degrees of freedom: Satterthwaite (1946), Biometrics Bulletin 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import student_below, student_quantile, student_reach
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import backend_of, one_each, taken
from steelyard.arrays.numbers import weight_per_row
from steelyard.exceptions import TooFewRowsError
from steelyard.metrics.score_values import score_values
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import ClusteredRows, Inference
    from steelyard.metrics.measure import Metric
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.probability_table import ProbabilityTable


_EQUAL = 1e-9  # how much weights may differ by rounding


class StudentSpread(NamedTuple):
    """The variance of a value, and its degrees of freedom for Student's t."""

    variance: float
    degrees: float

    def half_width(self, level: float) -> float:
        """Half the width of the interval of that level."""
        return student_reach(level, max(self.degrees, 1.0)) * sqrt(self.variance)

    def share_below(self, distance: float) -> float:
        """The share of Student's t below minus this distance, in units of the value."""
        error = sqrt(self.variance)
        if not error:
            return 0.5 if not distance else float(distance < 0)
        return float(student_below(-distance / error, self.degrees))


class ClassInfluence(NamedTuple):
    """The influence of a class's rows or distinct scores, with the weight of each and its squares."""

    influence: Array
    weights: Array
    squares: Array

    @property
    def size(self) -> float:
        """The effective number of rows."""
        squares = float(self.squares.sum())
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0

    @property
    def degrees(self) -> float:
        """The degrees of freedom of the variance: rows minus one, or fewer where rows of large weight make most of it.

        By the kurtosis of weight x influence. With weights of 10 for the hard tenth of the rows (1,000 and 400 rows,
        300 runs) AUC covers .92 and .89, without it .90 and .86; weights unrelated to errors widen by 1.01 to 1.13.
        """
        if self.squares is self.weights:  # rows without sample weights
            return self.size - 1
        size, counted = self.size, self.weights > 0
        influence, weights, squares = (column[counted] for column in self)
        per_row = squares / weights
        parts = squares * (influence - influence @ weights / weights.sum()) ** 2
        total = float(parts.sum())
        if not total or per_row.max() - per_row.min() <= _EQUAL * per_row.max():  # equal weights have Student's
            return size - 1
        kurtosis = size * float(parts**2 @ (per_row / weights)) / total**2
        return min(size - 1, max(2 * size / (kurtosis - 1), 1.0)) if kurtosis > 1 else size - 1


def class_spread(*classes: ClassInfluence, fixed_shares: bool = False) -> StudentSpread:
    """The variance of each class around its mean, as separate samples, and that by their shares unless these are fixed.

    >>> of_positives, of_negatives = np.array([-0.125, 0.125]), np.array([0.125, -0.125])  # of an AUC
    >>> class_spread(*(ClassInfluence(each, np.ones(2), np.ones(2)) for each in (of_positives, of_negatives)))
    StudentSpread(variance=0.125, degrees=2.0)
    """
    if min(part.size for part in classes) <= 1 or not all(np.isfinite(part.influence).all() for part in classes):
        return StudentSpread(inf, inf)  # one row shows no spread; a row of infinite influence has no bounded one
    variances, degrees = [], []
    for part in classes:
        influence, weights, squares = part
        size, mean = part.size, influence @ weights / weights.sum()
        of_share = 0.0 if fixed_shares else float(mean**2 * squares.sum())
        variances += [float(squares @ (influence - mean) ** 2) * size / (size - 1), of_share]
        degrees += [part.degrees, inf]
    return welch(variances, degrees)


@dataclass(frozen=True)
class RowInfluences:
    """The influence of each row, whether it is positive, its weight, its cluster's code, and the weight's squares."""

    values: Array
    positive: Array
    weights: Array | None = None
    clusters: Array | None = None
    squares: Array | None = None  # of rows that stand for several, the sum of theirs

    def spread(self) -> StudentSpread:
        """The variance of the value, and its degrees of freedom."""
        weights = one_each(self.values).astype(np.float64) if self.weights is None else self.weights
        columns = (self.values, weights, weights**2 if self.squares is None else self.squares)
        classes = (self.positive, ~self.positive)
        independent = class_spread(*(ClassInfluence(*(column[rows] for column in columns)) for rows in classes))
        return independent if self.clusters is None else self._by_clusters(weights, independent.variance)

    def cautious_spread(self) -> StudentSpread:
        """The same, its degrees of freedom half-way (harmonically) to those of the class in fewer clusters.

        For metrics that are no mean over rows. Where the class belongs to the cluster (about 6 positive ones of 60 or
        100; 700 to 1,700 runs) equal models were rejected at 5 % by average precision in 6.3 to 6.9 % with the plain
        degrees, 2.1 to 3.4 % with those of the fewer clusters, and 3.7 to 5.8 % half-way; in three settings drawn
        afterwards half-way is conservative, 1.3 to 3.6 %.
        """
        spread, clusters = self.spread(), self.clusters
        if clusters is None or isinf(spread.variance) or not spread.variance:
            return spread
        weights = np.ones(len(self.values)) if self.weights is None else self.weights
        by_class = (np.bincount(clusters[rows], weights[rows]) for rows in (self.positive, ~self.positive))
        fewest = max(min(float(sizes.sum() ** 2 / (sizes @ sizes)) for sizes in by_class) - 1, 0.5)
        return spread._replace(degrees=2 / (1 / spread.degrees + 1 / min(fewest, spread.degrees)))

    def _by_clusters(self, weights: Array, independent: float) -> StudentSpread:
        """Clusters as the units; the effective number of uneven ones is the smaller the more their rows go together.

        With independent rows a cluster's part of the variance is its share of the rows: the units are Kish's effective
        number, and Satterthwaite's where every cluster is one row. Where rows go together it grows as the square.
        """
        assert self.clusters is not None  # noqa: S101 - asked before
        clusters, sums, sizes = self.clusters, [], []
        for rows in (self.positive, ~self.positive):
            sums.append(np.bincount(clusters[rows], (weights * self.values)[rows], minlength=clusters.max() + 1))
            sizes.append(np.bincount(clusters[rows], weights[rows], minlength=clusters.max() + 1))
        total = sums[0] + sums[1]
        squares = float(total @ total)
        if not squares:
            return StudentSpread(0.0, inf)
        of_positives = float(np.clip(sums[0] @ total / squares, 0, 1))
        together = min(max(1 - independent / squares, 0.0), 1.0)  # the part of the variance that clusters cause
        parts = [together * size**2 / (size @ size) + (1 - together) * size / size.sum() for size in sizes]
        units = 1 / float(((of_positives * parts[0] + (1 - of_positives) * parts[1]) ** 2).sum())
        return StudentSpread(squares * units / (units - 1), units - 1) if units > 1 else StudentSpread(inf, inf)


def welch(variances: list[float], degrees: list[float]) -> StudentSpread:
    """The sum of variances, each estimated with its own degrees of freedom, by Welch and Satterthwaite.

    >>> welch([1.0, 1.0], [9, 9])
    StudentSpread(variance=2.0, degrees=18.0)
    """
    total = sum(variances)
    if not total or isinf(total):
        return StudentSpread(total, inf)
    shares = sum((part / total) ** 2 / of_part for part, of_part in zip(variances, degrees, strict=True) if part)
    return StudentSpread(total, 1 / shares if shares else inf)


# ---------------------------------------------------------------- classes in a single cluster
# Nothing shows how the clusters of such a class vary.


def unknown_variation(names: Sequence[str]) -> str:
    """Why there is no interval.

    >>> unknown_variation(["class 1"])
    'the rows of class 1 are all of one cluster, which does not show how clusters vary'
    """
    return f"the rows of {', and those of '.join(names)} are all of one cluster, which does not show how clusters vary"


def class_names(estimand: Estimand) -> list[str]:
    """The classes of the table that the metric is taken of: all, or one and the rest."""
    table, index = estimand.label_table, estimand.positive_place
    if isinstance(table, Counts):
        return ["the positive class", "the negative class"]
    names = [f"class {label}" for label in table.labels]
    return names if index is None else [names[index], " and ".join(names[:index] + names[index + 1 :])]


def label_reason(estimand: Estimand, tables: Array, names: Sequence[str], *, fixed_shares: bool = False) -> str | None:
    """Why a metric of labels has no interval, or None: it reads a class of one cluster, and is no mean over rows.

    `tables` are those of the clusters, true classes on the second axis.
    """
    clusters = (tables.sum(tuple(range(2, tables.ndim))) > 0).sum(0)  # in which each class has rows
    single = np.flatnonzero(clusters == 1)
    if not len(single) or (not fixed_shares and _is_row_mean(estimand, tables.shape[1])):
        return None
    read = [names[index] for index in single.tolist() if _reads_class(estimand, tables.shape[1], index)]
    return unknown_variation(read) if read else None


def score_reason(
    metric: Metric,
    parameters: Mapping[str, Any],
    clusters: Array | None,
    positive: Array,
    *,
    fixed_shares: bool = False,
) -> str | None:
    """Why a metric of scores has no interval, or None; all that are no mean over rows read both classes."""
    if clusters is None:
        return None
    sides = {"the positive class": clusters[positive], "the negative class": clusters[~positive]}
    single = [name for name, members in sides.items() if (members == members[:1]).all()]
    if not single or (not fixed_shares and is_mean_of_scores(metric, parameters)):
        return None
    return unknown_variation(single)


def _is_row_mean(estimand: Estimand, k: int) -> bool:
    """Whether it is a mean over all rows, as accuracy is: on the mean of two tables it is half-way between theirs."""
    one, other = np.random.default_rng(0).dirichlet(np.ones(k * k), 2).reshape(2, k, k)
    values = estimand.on_cells(np.stack([one, other, (one + other) / 2]))
    return bool(np.isclose(values[..., 2], (values[..., 0] + values[..., 1]) / 2, rtol=1e-9).all())


def _reads_class(estimand: Estimand, k: int, place: int) -> bool:
    """Whether it changes with what the rows of that class are predicted as."""
    right = np.random.default_rng(0).dirichlet(np.ones(k * k)).reshape(k, k)
    wrong = right.copy()
    right[place], wrong[place] = (right[place].sum() * (np.arange(k) == at) for at in (place, (place + 1) % k))
    values = estimand.on_cells(np.stack([right, wrong]))
    return not bool(np.isclose(values[..., 0], values[..., 1], rtol=1e-9, equal_nan=True).all())


def is_mean_of_scores(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether it is a mean over all rows, as the Brier score is."""
    weights = np.array([[1.0, 2, 3, 4], [4.0, 1, 2, 3], [2.5, 1.5, 2.5, 3.5]])
    sides = [(np.array([0.2, 0.7]), weights[:, :2]), (np.array([0.3, 0.6]), weights[:, 2:])]
    positive, negative = (ClassScores(scores, side, side, side) for scores, side in sides)
    table = ScoreTable(positive, negative)
    values = np.broadcast_to(score_values(metric, table, parameters), 3)
    return bool(np.isclose(values[2], (values[0] + values[1]) / 2, rtol=1e-9))


# ---------------------------------------------------------------- the rows of a comparison
# The frequency of each row, its sample weight, and its cluster.


class RowMass(NamedTuple):
    """The frequency weight of each row, its sample weight and that squared, and the code of its cluster."""

    times: Array | None = None
    weights: Array | None = None
    squares: Array | None = None
    clusters: Array | None = None
    cluster_name: str | None = None

    @classmethod
    def of_rows(
        cls, times: Array | None, weights: Array | None, clusters: Array | None, cluster_name: object = None
    ) -> RowMass:
        """From columns of rows: a row of weight w that stands for t rows has weight t w, and squares t w^2."""
        codes = None if clusters is None else label_codes.encode(clusters, None, "cluster")[0]
        if codes is not None and (codes == codes[:1]).all():
            raise TooFewRowsError(
                "cluster= names one cluster only; with no second one the variation between clusters is unknown."
            )
        return cls.of_codes(times, weights, codes, None if cluster_name is None else str(cluster_name))

    @classmethod
    def of_codes(
        cls, times: Array | None, weights: Array | None, clusters: Array | None, name: str | None = None
    ) -> RowMass:
        """The same where the clusters are numbered already, by codes from 0 on."""
        if weights is None:
            return cls(times, None, None, clusters, name)
        frequency = 1.0 if times is None else times
        return cls(times, frequency * weights, frequency * weights**2, clusters, name)

    def at(self, rows: Array) -> RowMass:
        """That of some rows."""
        columns = (self.times, self.weights, self.squares, self.clusters)
        times, weights, squares, clusters = (None if column is None else column[rows] for column in columns)
        return RowMass(times, weights, squares, clusters, self.cluster_name)

    @property
    def row_weight(self) -> float:
        """The weight of one effective row; 1 without weights."""
        if self.weights is None or self.squares is None:
            return 1.0
        return float(weight_per_row(self.weights.sum(), self.squares.sum()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a result states of the clusters."""
        by = f" by {self.cluster_name}" if self.cluster_name else ""
        return () if self.clusters is None else (f"The rows are clustered{by}; whole clusters are compared.",)

    @property
    def is_plain(self) -> bool:
        """Whether rows have neither weights nor clusters."""
        return self.weights is None and self.clusters is None

    @property
    def mass(self) -> Array | None:
        """The weight of each row; None where it is 1."""
        return self.times if self.weights is None else self.weights


# ---------------------------------------------------------------- weighted rows
# The rows of a table one by one, the standard error of a sum over them, and their effective number.


class WeightedRows(NamedTuple):
    """The rows of a table, their weights, and the cluster of each where rows are clustered."""

    weights: Array
    squares: Array
    clusters: Array | None
    level: float
    strata: Array | None = None  # the class of each row where the shares of the classes are fixed

    @classmethod
    def of_table(cls, table: ProbabilityTable, inference: Inference) -> WeightedRows:
        """All rows of a table."""
        clusters = None if inference.clustered is None else _cluster_codes(inference.clustered, table.codes)
        fixed = inference.keeps_class_sizes() or inference.prevalence is not None
        return cls(table.weights, table.squares, clusters, inference.level, table.codes if fixed else None)

    @classmethod
    def of_label_sets(cls, table: MultilabelTable, inference: Inference) -> WeightedRows:
        """All rows of a table of label sets."""
        weights = table.row_weights
        squares = weights if table.sample_weight is None else weights * table.sample_weight
        clusters = None if inference.clustered is None else _cluster_codes(inference.clustered, weights)
        return cls(weights, squares, clusters, inference.level)

    def of(self, indices: Array) -> WeightedRows:
        """Some of the rows."""
        clusters, strata = (None if codes is None else codes[indices] for codes in (self.clusters, self.strata))
        return WeightedRows(self.weights[indices], self.squares[indices], clusters, self.level, strata)

    def independent(self) -> WeightedRows:
        """The same rows without their clusters."""
        return self._replace(clusters=None)

    def moment(self, influence: Array, power: int) -> float:
        """The sum over rows, or clusters, of a power of the weight times the influence."""
        if self.strata is not None:
            sums, weights = (np.bincount(self.strata, column) for column in (self.weights * influence, self.weights))
            influence = influence - taken(sums / np.where(weights > 0, weights, 1.0), self.strata)
        if self.clusters is not None:
            return float((np.bincount(self.clusters, self.weights * influence) ** power).sum())
        if power == 2:
            return float(self.squares @ (influence * influence))
        row_weight = self.squares / np.where(self.weights > 0, self.weights, 1.0)  # of one of the rows it stands for
        return float((self.squares * row_weight ** (power - 2)) @ influence**power)

    def error(self, influence: Array) -> float:
        """The standard error of a value with this influence."""
        n = self.effective_number()
        return sqrt(self.moment(influence, 2) * (n / (n - 1) if self.clusters is not None and n > 1 else 1.0))

    def effective_number(self) -> float:
        """Kish's effective number of rows, or of clusters."""
        if self.clusters is None:
            return float(self.weights.sum() ** 2 / self.squares.sum())
        sums = np.bincount(self.clusters, self.weights)
        return float(sums.sum() ** 2 / (sums @ sums))

    def student_reach(self, n: float) -> float:
        """Student's quantile for a mean of n, at least two."""
        return float(student_quantile((1 + self.level) / 2, max(n - 1, 1.0)))


def _cluster_codes(rows: ClusteredRows, classes: Array) -> Array:
    """The cluster of each row as a number from 0 on."""
    member = checks.column(rows.clusters, "cluster")
    checks.check_lengths(y_true=classes, cluster=member)
    codes, clusters = label_codes.encode(member, None, "cluster")
    if len(clusters) < 2:
        raise TooFewRowsError(
            "cluster= names one cluster only; with no second one the variation between clusters is unknown."
        )
    members: Array = backend_of(classes).sent(codes.astype(np.int64))
    return members
