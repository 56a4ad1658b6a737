"""Correlation: which class each metric listens to, by García's perturbed predictions, for any metrics.

García, Sánchez and Mollineda, "On the suitability of numerical performance measures for class imbalance problems",
2012, section 3.1. The paper leaves its list of true probabilities and its n unsaid, and the conclusions depend on both.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from steelyard._types import Array
from steelyard.analysis.distributions import student_quantile
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import listed
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import (
    counts_at_half,
    counts_of_predictions,
    metric_values,
    scores_of_models,
    stated_positive,
)
from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError
from steelyard.metrics.measure import Metric
from steelyard.metrics.registry import get_metric
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Label, Rng
    from steelyard.auditing.model_tables import ScoresByModel
    from steelyard.metrics.registry import MetricLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- correlation coefficients
# Pearson's and Spearman's, of metrics over the tuples of a collection, and over seeds.


CONSTANT = 1e-12  # a metric that varies less than this over a collection is constant, and correlates with nothing


def by_metric(values: Array) -> Array:
    """Values by seed and imbalance, then metric, then all tuples of the collection."""
    seeds, levels, steps, tuples, metrics = values.shape
    return np.moveaxis(values.reshape(seeds, levels, steps * tuples, metrics), -1, -2)


def correlation_matrix(values: Array, *, rank: bool = False) -> Array:
    """The correlation of every pair of metrics (the axis before the last) over the tuples where both are defined."""
    return np.stack([correlation(values[..., i, None, :], values, rank) for i in range(values.shape[-2])], -2)


def correlation(x: Array, y: Array, rank: bool) -> Array:
    """Correlation along the last axis, of values or of their ranks; NaN where one of the two is constant."""
    defined = ~np.isnan(x + y)
    x, y = (np.where(defined, side, np.nan) for side in np.broadcast_arrays(x, y))
    constant = _constant(x) | _constant(y)
    if rank:
        from scipy.stats import rankdata

        x, y = (rankdata(side, axis=-1, nan_policy="omit") for side in (x, y))
    count = np.maximum(defined.sum(-1), 1)
    x, y = (np.where(defined, side, 0.0) for side in (x, y))
    x, y = (np.where(defined, side - (side.sum(-1) / count)[..., None], 0.0) for side in (x, y))
    with np.errstate(all="ignore"):
        r = (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.where(constant, np.nan, np.clip(r, -1, 1))


def _constant(x: Array) -> Array:
    low, high = np.where(np.isnan(x), np.inf, x).min(-1), np.where(np.isnan(x), -np.inf, x).max(-1)
    return np.asarray(~(high - low > CONSTANT))


def mean_over_seeds(values: Array) -> Array:
    """The mean over the seeds in which the value is defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(0) / np.where(defined.any(0), defined.sum(0), np.nan))


def deviation_over_seeds(values: Array) -> Array:
    """The standard deviation over the seeds in which the value is defined."""
    return np.sqrt(mean_over_seeds((values - mean_over_seeds(values)) ** 2))


# ---------------------------------------------------------------- perturbation
# True probabilities disturbed more or less for each class, and the tables of what is then predicted.


LIST_KINDS = ("class_linear", "class_uniform", "global_linear", "extreme")


def generators(seeds: int, rng: Rng) -> list[np.random.Generator]:
    """One generator a seed, so that a seed is the same study however many there are."""
    return list(map(np.random.default_rng, range(seeds))) if rng is None else generator(rng).spawn(seeds)


def collection(
    n: int, p: int, widths: Array, tuples: int, threshold: float | str, kind: str, rng: np.random.Generator
) -> Counts:
    """The tables of p positives among n rows by distortion and tuple, for one seed."""
    true = true_probabilities(kind, n, p, rng)
    return collection_of(true[: n - p], true[n - p :], widths, tuples, threshold, rng)


def collection_of(
    negatives: Array, positives: Array, widths: Array, tuples: int, threshold: float | str, rng: np.random.Generator
) -> Counts:
    """The tables of rows with these probabilities by distortion and tuple."""
    true, (n, p) = np.concatenate([negatives, positives]), (len(negatives), len(positives))
    cutoff = np.quantile(true, 1 - p / len(true)) if threshold == "prior" else float(threshold)
    width = np.repeat(widths, [n, p], axis=1)
    low, high = np.maximum(0, true - width)[:, None], np.minimum(1, true + width)[:, None]
    flagged = low + rng.random((len(width), tuples, len(true))) * (high - low) >= cutoff
    alarms, hits = flagged[..., :n].sum(-1), flagged[..., n:].sum(-1)
    return Counts.trusted(hits, p - hits, alarms, n - alarms)


def widths_of(total: float, steps: int) -> Array:
    """The distortion of the negatives and of the positives that share a range, a row a step."""
    k = np.arange(steps)  # whole numbers, so that the last width is 0 and not -1e-17
    return np.stack([total * k[::-1] / k[-1], total * k / k[-1]], 1)


def true_probabilities(kind: str, n: int, p: int, rng: np.random.Generator) -> Array:
    """The probabilities of the rows before they are disturbed, the p positives last."""
    if kind == "global_linear":
        return np.linspace(0, 1, n)
    if kind == "class_uniform":
        return np.concatenate([np.sort(rng.uniform(0, 0.5, n - p)), np.sort(rng.uniform(0.5, 1, p))])
    if kind == "class_linear":
        return np.concatenate([np.linspace(0, 0.5, n - p, endpoint=False), np.linspace(0.5, 1, p)])
    return np.repeat([0.0, 1.0], [n - p, p])


# ---------------------------------------------------------------- garcía's conclusions
# Which class each metric follows, and in how many seeds of a study that holds.


STRONG = 0.5  # OP reaches 0.61 to 0.83 with specificity, so a higher bar would refute the paper by a word
USUALLY = 0.9  # the share of seeds in which a conclusion must hold; single seeds go astray with few positives
_ANYWHERE = (-np.inf, np.inf)


@dataclass(frozen=True)
class RateBounds:
    """Between which bounds a metric's correlation with each class's recall lies."""

    recall: tuple[float, float] = _ANYWHERE
    specificity: tuple[float, float] = _ANYWHERE


RATES = tuple(rate.name for rate in fields(RateBounds))


@dataclass(frozen=True)
class Conclusion:
    """A conclusion on metrics: their correlations with recall and with specificity lie between bounds.

    With `specificity_leads` the second is the larger as well: one that follows recall even more does not count.
    """

    number: int
    words: str
    metrics: tuple[MetricLike, ...]
    bounds: RateBounds
    specificity_leads: bool = False


@dataclass(frozen=True, eq=False)
class _Pattern:
    """What one of García's conclusions says of a metric and of several, and how it calls each of its metrics."""

    number: int
    of_single: str
    of_several: str
    bounds: RateBounds
    spoken: dict[str, str]
    specificity_leads: bool = False

    def conclusion(self, names: Sequence[str]) -> Conclusion:
        """The conclusion on these of its metrics."""
        says = self.of_single if len(names) == 1 else self.of_several
        words = f"{listed([self.spoken[name] for name in names])} {says}"
        return Conclusion(self.number, words, tuple(names), self.bounds, self.specificity_leads)


_PATTERNS = (
    _Pattern(
        1,
        "falls with recall and follows specificity",
        "fall with recall and follow specificity",
        RateBounds(recall=(-np.inf, 0), specificity=(STRONG, np.inf)),
        {"accuracy": "accuracy"},
    ),
    _Pattern(
        2,
        "rises with recall",
        "rise with recall",
        RateBounds(recall=(0, np.inf)),
        {
            "balanced_accuracy": "AUC of one point",
            "g_mean": "G-mean",
            "iba": "IBA",
            "weighted_auc": "weighted AUC",
            "class_weighted_accuracy": "class-weighted accuracy",
        },
    ),
    _Pattern(
        3,
        "follows specificity more than recall",
        "follow specificity more than recall",
        RateBounds(specificity=(STRONG, np.inf)),
        {
            "optimized_precision": "optimized precision",
            "kappa": "kappa",
            "adjusted_g_mean": "adjusted G-mean",
            "f1": "F1",
        },
        specificity_leads=True,
    ),
)
CONCLUSIONS = tuple(pattern.conclusion([*pattern.spoken]) for pattern in _PATTERNS)


def conclusions_on(metrics: Iterable[Metric]) -> list[Conclusion]:
    """García's conclusions as far as they speak of these metrics.

    >>> [conclusion.words for conclusion in conclusions_on([get_metric("mcc"), get_metric("kappa")])]
    ['kappa follows specificity more than recall']
    """
    requested = {(metric.name, metric.function) for metric in metrics}  # a parameter makes another function of a name
    conclusions = []
    for pattern in _PATTERNS:
        names = [name for name in pattern.spoken if (name, get_metric(name).function) in requested]
        if names:
            conclusions.append(pattern.conclusion(names))
    return conclusions


# The paper's 13 metrics: it concludes nothing about precision.
GARCIA_METRICS = (*RATES, "precision", *(name for conclusion in CONCLUSIONS for name in conclusion.metrics))


@dataclass(frozen=True, eq=False)
class ConclusionResult(Flat):
    """A conclusion's result: the share of the seeds in which it holds for all its metrics at every imbalance."""

    number: int
    words: str
    share: float
    fails: str | None

    @property
    def holds(self) -> bool:
        """Whether the conclusion holds in nine of ten seeds or more."""
        return self.share >= USUALLY

    def row(self) -> dict[str, Any]:
        """The conclusion as a row of a table."""
        return {"conclusion": f"{self.number}: {self.words}", "share of seeds": self.share, "fails for": self.fails}


def conclusion_result(conclusion: Conclusion, counts: Counts[Any], positives: Sequence[float]) -> ConclusionResult:
    """The conclusion on every seed and imbalance of a study."""
    metrics = [get_metric(name) for name in conclusion.metrics]
    values = by_metric(metric_values([*map(get_metric, RATES), *metrics], counts))
    r = np.stack([correlation(values[..., i, None, :], values[..., 2:, :], rank=False) for i in (0, 1)], -1)
    bounds = np.array(astuple(conclusion.bounds))
    inside = ((r > bounds[:, 0]) & (r < bounds[:, 1])) | np.isinf(bounds).all(1)
    leads = r[..., 1] > r[..., 0] if conclusion.specificity_leads else True
    right = inside.all(-1) & leads  # seed, imbalance, metric
    share = float(right.all((1, 2)).mean())
    failures = []  # the metrics that fail in more than a tenth of the seeds, and at which imbalances
    for metric, usually in zip(metrics, right.mean(0).T, strict=True):
        at = [f"{100 * p:.3g} %" for p, share_right in zip(positives, usually, strict=True) if share_right < USUALLY]
        if at:
            failures.append(f"{metric.name} at {', '.join(at)}")
    return ConclusionResult(conclusion.number, conclusion.words, share, "; ".join(failures) or None)


# ---------------------------------------------------------------- the design of a correlation study
# Its metrics with the two recalls, its shares and distortions, each checked.


_MOST_ROWS = 100_000  # 130 tuples of so many rows take 100 MB


def chosen_with_rates(metrics: Iterable[MetricLike] | None) -> tuple[Metric, ...]:
    """The metrics, each once, García's where none is named, after the two recalls that all are compared with."""
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    chosen = map(get_metric, [*RATES, *(GARCIA_METRICS if metrics is None else metrics)])
    return tuple({(m.name, m.function): m for m in chosen}.values())  # two lambdas have one name


def read_shares(positives: float | Sequence[float]) -> tuple[float, ...]:
    """The shares of positives as numbers."""
    shares = [positives] if isinstance(positives, (int, float)) else positives
    try:
        return tuple(float(share) for share in shares)
    except (TypeError, ValueError):
        raise InputTypeError(f"positives are shares of the rows, such as [0.05, 0.1], not {positives!r}.") from None


def check_list(shares: Sequence[float], n: int, kind: str) -> None:
    """Refuse a list of probabilities that cannot be made."""
    if kind not in LIST_KINDS:
        raise InputError(argument="list_kind", expected=f"one of {', '.join(LIST_KINDS)}", given=kind)
    if not (isinstance(n, (int, np.integer)) and 2 <= n <= _MOST_ROWS):
        raise InputError(argument="n", expected=f"the number of rows of a tuple, 2 to {_MOST_ROWS:,}", given=n)
    if not shares or not all(0 < share < 1 and 1 <= round(share * n) < n for share in shares):
        raise InputError(
            f"positives are shares above 0 and below 1 that leave rows of both classes among {n}, not {shares}."
        )


def check_distortions(total: float, threshold: float | str, **counts: tuple[object, int]) -> None:
    """Refuse distortions that cannot be drawn; each count comes with the least that it may be."""
    if not (isinstance(total, (int, float)) and 0 < total <= 2):
        raise InputError(
            argument="total_range", expected="the width that both distortions share, above 0 and up to 2", given=total
        )
    is_share = isinstance(threshold, (int, float)) and 0 <= threshold <= 1
    if not (is_share or (isinstance(threshold, str) and threshold == "prior")):
        raise InputError(argument="threshold", expected="a number between 0 and 1 or 'prior'", given=threshold)
    for name, (given, least) in counts.items():
        if not (isinstance(given, (int, np.integer)) and given >= least):
            raise InputError(argument=name, expected=f"a whole number of {least} or more", given=given)


def check_defined(metrics: Sequence[Metric], values: Array) -> None:
    """Refuse a metric that has no value on any table."""
    never = np.isnan(values).all((0, 1, 3))
    if never.any():
        name = metrics[int(np.flatnonzero(never)[0])].name
        raise InputError(
            f"{name} is undefined on every table of the study, so it correlates with nothing; leave it out."
        )


# ---------------------------------------------------------------- correlation study


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
    assumed: tuple[str, ...] = ()
    also_saved: ClassVar = ("rows",)

    @property
    def headline(self) -> str:
        """In how many seeds the conclusions hold."""
        return ". ".join(self._conclusions()) + "."

    @property
    def notes(self) -> tuple[str, ...]:
        """How the labels were read."""
        return self.assumed

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
        rates = [self.names.index(name) for name in RATES]
        pearson, spearman = self.pearson[..., rates], self.spearman[..., rates]
        means, rank_means = mean_over_seeds(pearson), mean_over_seeds(spearman)
        columns = np.concatenate([means, rank_means, deviation_over_seeds(pearson), self.undefined[..., None]], -1)
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

    def shown_rows(self) -> list[dict[str, Any]]:
        """Of each metric the correlations with recall and specificity by the share of positives."""
        means = mean_over_seeds(self.pearson)[:, [self.names.index(name) for name in RATES]]
        return [
            {"metric": name}
            | {
                f"{100 * share:.4g} %": " / ".join("–" if np.isnan(r) else f"{r:+.2f}" for r in means[i, :, j])
                for i, share in enumerate(self.positives)
            }
            for j, name in enumerate(self.names)
        ]

    def shown_tables(self) -> list[Table]:
        """The correlations under a title."""
        return [Table.of(self, "Pearson's correlation with recall / specificity, by the share of positives")]


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


# ---------------------------------------------------------------- the user's scores and models


_FEWEST_MODELS = 4  # two always correlate at 1 or -1, and three do when one is left out
_MOST_DRAWN_ROWS = 20_000  # of which 130 distortions take some 40 MB; of more so many are drawn


@question
def metric_correlation(
    data: RowsLike = None,
    scored: ArrayLike | Mapping[str, ArrayLike] | None = None,
    /,
    *,
    metrics: Iterable[MetricLike] | None = None,
    positives: float | Sequence[float] | None = None,
    total_range: float = 0.6,
    steps: int = 13,
    tuples: int = 10,
    seeds: int = 20,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> CorrelationStudy:
    """How metrics correlate with recall, specificity and one another, on the user's own scores (García 3.1).

    One column of probabilities is distorted as in correlation_study, each class by its share of `total_range`, over
    `seeds`; `positives` are shares of positives at which rows are drawn from it, by default its own. Several columns by
    name, of scores (`y_score`) or of labels (`y_pred`), are taken as they are: the correlations are over the models,
    four or more, and `left_out` holds them with each model left out. Metrics of scores, such as roc_auc, need scores.
    The `threshold` of distorted scores is 0.5, or "prior" as in correlation_study.

    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> score = np.clip(np.random.default_rng(0).normal(0.3 + 0.4 * y, 0.15), 0, 1)
    >>> study = metric_correlation(y, score, metrics=["accuracy", "g_mean"], seeds=3)
    >>> for row in study.rows()[2:]:
    ...     print(row.metric, round(row.recall, 1), round(row.specificity, 1))
    accuracy -0.9 1.0
    g_mean 0.2 0.2
    """
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "metric_correlation", "weights", "frequency", "cluster", "design", "by", "columns")
    threshold = 0.5 if p.threshold is None else p.threshold
    check_distortions(total_range, threshold, steps=(steps, 2), tuples=(tuples, 2), seeds=(seeds, 1))
    chosen = chosen_with_rates(metrics)
    given = p.collect().given
    if given.is_table or given.data is None or not given.models:
        raise InputTypeError("Give y_score, the scores of one model or {model: scores}, or y_pred={model: labels}.")
    positive, assumed = stated_positive(given.data, given.pos_label)
    scores, labels = (
        {name or "model": model[use] for name, model in given.models.items() if model[use] is not None}
        for use in (1, 0)
    )
    if len(given.models) > 1:
        if positives is not None:
            raise InputError("positives= draws rows of one model's scores to distort; leave it out of several models.")
        return replace(_over_models(given.data, scores, labels, chosen, positive), assumed=assumed)
    if labels:
        raise InputError("Labels of one model cannot be distorted; give its probabilities as y_score, or more models.")
    ((_, table),) = scores_of_models(given.data, scores, positive).items()
    design = {"total_range": total_range, "steps": steps, "tuples": tuples, "threshold": threshold, "seeds": seeds}
    return replace(_over_distortions(table, chosen, positives, design, rng), assumed=assumed)


# ---------------------------------------------------------------- one model, distorted


def _over_distortions(
    table: ScoreTable,
    chosen: tuple[Metric, ...],
    positives: float | Sequence[float] | None,
    design: dict[str, Any],
    rng: Rng,
) -> CorrelationStudy:
    _refuse_scores(chosen, "Distorted scores are read at one threshold")
    negative, positive = _class_scores(table)
    shares = (len(positive) / (len(negative) + len(positive)),) if positives is None else read_shares(positives)
    sizes = [_drawn_rows(share, len(negative), len(positive)) for share in shares]
    widths = widths_of(design["total_range"], design["steps"])
    tables = [
        [
            collection_of(
                _sorted_draw(negative, n, seeded),
                _sorted_draw(positive, p, seeded),
                widths,
                design["tuples"],
                design["threshold"],
                seeded,
            )
            for n, p in sizes
        ]
        for seeded in generators(design["seeds"], rng)
    ]
    counts = Counts.stack(Counts.stack(levels) for levels in tables)
    rows = [n + p for n, p in sizes]
    return correlated(chosen, shares, counts, metric_values(chosen, counts), design | {"n": max(rows), "own": "scores"})


def _class_scores(table: ScoreTable) -> tuple[Array, Array]:
    """The scores of the negatives and of the positives, one for each row."""
    if not table.has_probabilities:
        raise InputError(
            "Scores outside 0 to 1 have no share of a range to be distorted by; give probabilities (a Recalibrator "
            "makes them of scores), or several models, which are not distorted."
        )
    sides = (table.negative, table.positive)
    if any(side.total < 1 for side in sides):
        raise TooFewRowsError("The truth holds one class only; give rows of both.")
    negative, positive = (np.repeat(side.scores, side.rows) for side in sides)
    return negative, positive


def _drawn_rows(share: float, negatives: int, positives: int) -> tuple[int, int]:
    """How many rows of each class are drawn for a share of positives: as many as there are for it."""
    if not 0 < share < 1:
        raise InputError(f"positives are shares of the rows above 0 and below 1, not {share:g}.")
    total = min(positives / share, negatives / (1 - share), _MOST_DRAWN_ROWS)
    p = round(share * total)
    n = round(total) - p
    if min(n, p) < 2:
        raise TooFewRowsError(
            f"With {100 * share:g} % positives the {positives:,} positives and {negatives:,} negatives give "
            f"{p} positives and {n} negatives; 2 or more of each are needed, so give more rows or another share."
        )
    return n, p


def _sorted_draw(scores: Array, rows: int, rng: np.random.Generator) -> Array:
    """So many of the scores, none twice; all of them where that is asked."""
    return scores if rows >= len(scores) else rng.choice(scores, rows, replace=False)


# ---------------------------------------------------------------- several models, as they are


def _over_models(
    y_true: ArrayLike, y_score: Any, y_pred: Any, chosen: tuple[Metric, ...], pos_label: Label
) -> CorrelationStudy:
    scores: ScoresByModel = scores_of_models(y_true, y_score, pos_label) if y_score else {}
    tables = counts_of_predictions(y_true, y_pred, pos_label) if y_pred else counts_at_half(scores)
    if not tables:
        raise InputError("Scores outside 0 to 1 have no usual threshold; give the labels as y_pred={model: labels}.")
    if len(tables) < _FEWEST_MODELS:
        raise InputError(
            f"{len(tables)} models are too few to correlate metrics over; give {_FEWEST_MODELS} or more, or the "
            "probabilities of one to distort."
        )
    if set(scores) != set(tables):
        _refuse_scores(chosen, "There are labels and no scores of every model")
    counts = Counts.stack(tables.values())
    columns = [
        np.asarray(m(counts)) if m.function else np.array([float(m(scores[name])) for name in tables]) for m in chosen
    ]
    values = np.stack(columns, -1)[None, None, None]  # as by seed, imbalance, distortion and tuple
    share = float(np.mean(counts.positives / counts.total))
    choices = {"models": list(tables), "n": int(np.max(counts.total)), "own": "models"}
    whole = Counts(*(np.asarray(cell)[None, None, None] for cell in counts))
    return correlated(chosen, (share,), whole, values, choices, leave_out=True)


def _refuse_scores(chosen: tuple[Metric, ...], why: str) -> None:
    of_scores = [metric.name for metric in chosen if metric.function is None]
    if of_scores:
        raise InputError(f"{why}, and {of_scores[0]} reads the order of scores; leave it out.")


def by_chance(models: int) -> float:
    """How large a correlation of unrelated metrics gets over so many models in 1 of 20 cases (Student's t).

    >>> round(by_chance(5), 3)
    0.878
    """
    t = float(student_quantile(0.975, models - 2))
    return t / float(np.sqrt(models - 2 + t * t))
