"""Correlation study: which class each measure listens to, by García's perturbed predictions, for any measures.

García, Sánchez and Mollineda, "On the suitability of numerical performance measures for class imbalance problems",
2012, section 3.1. The paper leaves its list of true probabilities and its n unsaid, and the conclusions depend on both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.draws import generator
from steelyard.analysis.rows import Rows, table_text
from steelyard.errors import InputError, InputTypeError, SteelyardError
from steelyard.metrics.registry import get_metric, is_builtin
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.metrics.metric import Metric

Array = np.ndarray[Any, Any]
GARCIA = (
    "recall", "specificity", "precision", "accuracy", "balanced_accuracy", "g_mean", "kappa", "f1",
    "optimized_precision", "iba", "class_weighted_accuracy", "adjusted_g_mean", "weighted_auc",
)  # fmt: skip
CLASSES = ("recall", "specificity")
LISTS = ("class_linear", "class_uniform", "global_linear", "extreme")
STRONG = 0.5  # OP reaches 0.61 to 0.83 with specificity, so a higher bar would refute the paper by a word
MOST_ROWS = 100_000  # 130 tuples of so many rows take 100 MB
USUALLY = 0.9  # the share of seeds in which a claim must hold; single seeds go astray with few positives
CONSTANT = 1e-12  # a measure that varies less than this over a collection is constant, and correlates with nothing


# ---------------------------------------------------------------- what the paper concludes


@dataclass(frozen=True)
class Claim:
    """A statement on measures: their correlations with recall and with specificity lie between two bounds."""

    number: int
    words: str
    measures: tuple[Any, ...]
    recall: tuple[float, float] = (-np.inf, np.inf)
    specificity: tuple[float, float] = (-np.inf, np.inf)


CLAIMS = (
    Claim(1, "accuracy falls with recall and follows specificity", ("accuracy",), (-np.inf, 0), (STRONG, np.inf)),
    Claim(
        2, "AUC of one point, G-mean, IBA, weighted AUC and class-weighted accuracy rise with recall",
        ("balanced_accuracy", "g_mean", "iba", "weighted_auc", "class_weighted_accuracy"), (0, np.inf),
    ),
    Claim(
        3, "optimized precision, kappa, adjusted G-mean and F1 follow specificity",
        ("optimized_precision", "kappa", "adjusted_g_mean", "f1"), specificity=(STRONG, np.inf),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Conclusion:
    """A claim tried: the share of the seeds in which it holds for all its measures at every imbalance."""

    number: int
    words: str
    share: float
    fails: str | None

    @property
    def holds(self) -> bool:
        """Whether the claim holds in nine of ten seeds or more."""
        return self.share >= USUALLY

    def row(self) -> dict[str, Any]:
        """The conclusion as a row of a table."""
        return {"conclusion": f"{self.number}: {self.words}", "share of seeds": self.share, "fails for": self.fails}


# ---------------------------------------------------------------- the study


@dataclass(frozen=True)
class Correlation:
    """One measure at one imbalance: Pearson's and Spearman's correlation with each recall, mean over the seeds."""

    positives: float
    metric: str
    recall: float
    specificity: float
    rank_recall: float
    rank_specificity: float
    sd_recall: float
    sd_specificity: float
    undefined: float

    def row(self) -> dict[str, Any]:
        """The correlations as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False, repr=False)
class CorrelationStudy:
    """Perturbed predictions by seed, imbalance, distortion and tuple as one array of Counts, and what correlates."""

    metrics: tuple[Metric, ...]
    positives: tuple[float, ...]
    counts: Counts
    pearson: Array = field(repr=False)
    spearman: Array = field(repr=False)
    undefined: Array = field(repr=False)
    choices: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The measures in the order of the matrices."""
        return tuple(m.name for m in self.metrics)

    def matrix(self, positives: float, *, rank: bool = False) -> Array:
        """The correlations of all pairs of measures at one share of positives, mean over the seeds."""
        if positives not in self.positives:
            told = ", ".join(map(str, self.positives))
            raise InputError(f"The study has no collection with the share {positives!r} of positives; it has {told}.")
        return _mean((self.spearman if rank else self.pearson)[:, self.positives.index(positives)])

    def rows(self) -> Rows[Correlation]:
        """One row for each imbalance and measure."""
        places = [self.names.index(name) for name in CLASSES]
        tables = [self.pearson[..., places], self.spearman[..., places]]
        found = np.concatenate([*map(_mean, tables), _deviation(tables[0]), self.undefined[..., None]], -1)
        return Rows(
            Correlation(share, name, *map(float, found[i, j]))
            for i, share in enumerate(self.positives)
            for j, name in enumerate(self.names)
        )

    def conclusions(self, claims: Sequence[Claim] = CLAIMS) -> Rows[Conclusion]:
        """García's three conclusions, or other claims, tried on every seed at every imbalance.

        >>> [found.holds for found in correlation_study(seeds=3).conclusions()]
        [True, True, True]
        >>> [found.holds for found in correlation_study(seeds=3, list_kind="global_linear").conclusions()]
        [False, True, False]
        """
        return Rows(_tried(claim, self.counts, self.positives) for claim in claims)

    def __repr__(self) -> str:
        said = [f"{100 * c.share:g} % of seeds: {c.words}" for c in self.conclusions()]
        means = _mean(self.pearson)[:, [self.names.index(name) for name in CLASSES]]
        table = [
            {"measure": name} | {f"{100 * s:g} %": _pair(means[i, :, j]) for i, s in enumerate(self.positives)}
            for j, name in enumerate(self.names)
        ]
        head = "Pearson's correlation with recall / specificity, by the share of positives"
        return "\n".join([*said, "", head, table_text(table)])


def correlation_study(
    metrics: Iterable[Any] | None = None,
    *,
    positives: Sequence[float] = (0.05, 0.10, 0.15, 0.20, 0.25),
    n: int = 1000,
    total_range: float = 0.6,
    steps: int = 13,
    tuples: int = 10,
    threshold: float | str = 0.5,
    list_kind: str = "class_linear",
    seeds: int = 1,
    rng: Any = None,
) -> CorrelationStudy:
    """Perturb a list of true probabilities and correlate measures with recall and specificity (García 3.1).

    Each probability moves evenly within its range, clipped to [0, 1]: `total_range` is shared by negatives and
    positives in `steps` ways, `tuples` times each. `threshold` is a number, or "prior" for the cut that would flag as
    many rows as are positive. Of the lists only those with the classes on either side of 0.5 ("class_linear",
    "class_uniform") bear the paper out. With few rows much of a positive correlation with recall is the sampling
    noise of the few positives: compare n.

    >>> study = correlation_study(["accuracy", "g_mean"], n=100, seeds=20)
    >>> for row in study.rows()[2:4]:
    ...     print(row.metric, round(row.recall, 1), round(row.specificity, 1))
    accuracy -0.5 1.0
    g_mean 0.7 0.1
    """
    chosen = _with_classes(GARCIA if metrics is None else metrics)
    shares = tuple(float(share) for share in positives)
    _check(shares, n, total_range, threshold, list_kind, {"steps": steps - 1, "tuples": tuples - 1, "seeds": seeds})
    ways = _Steps(total_range, steps, tuples)
    tables = [
        [_collection(n, round(share * n), ways, threshold, list_kind, one) for share in shares]
        for one in _generators(seeds, rng)
    ]
    counts = Counts.stack(Counts.stack(levels) for levels in tables)
    values = _flat(measured(chosen, counts))
    _check_defined(chosen, values)
    choices = {
        "n": n, "total_range": total_range, "steps": steps, "tuples": tuples, "threshold": threshold,
        "list_kind": list_kind, "seeds": seeds,
    }  # fmt: skip
    missing = np.isnan(values).mean((0, -1))
    return CorrelationStudy(
        chosen, shares, counts, _matrix(values), _matrix(values, rank=True), missing, choices
    )  # fmt: skip


def _with_classes(metrics: Iterable[Any]) -> tuple[Metric, ...]:
    """The measures, each once, with the two recalls that all are compared with in front."""
    if isinstance(metrics, str):
        raise InputTypeError(f"Measures are given as a list of names, not as the text {metrics!r}.")
    found = map(get_metric, [*CLASSES, *metrics])
    return tuple({(m.name, m.function): m for m in found}.values())  # two lambdas have one name


def _check(
    shares: Sequence[float], n: int, total: float, threshold: Any, kind: str, counts: dict[str, int]
) -> None:  # fmt: skip
    if kind not in LISTS:
        raise InputError(f"list_kind is one of {', '.join(LISTS)}, not {kind!r}.")
    if not (isinstance(n, (int, np.integer)) and 2 <= n <= MOST_ROWS):
        raise InputError(f"n is the number of rows of a tuple, 2 to {MOST_ROWS:,}, not {n!r}.")
    if not shares or not all(0 < share < 1 and 1 <= round(share * n) < n for share in shares):
        raise InputError(
            f"positives are shares between 0 and 1 that leave rows of both classes among {n}, not {shares}."
        )
    if not 0 < total <= 2:
        raise InputError(f"total_range is the width that both distortions share, above 0 and up to 2, not {total!r}.")
    if threshold != "prior" and not (isinstance(threshold, (int, float)) and 0 <= threshold <= 1):
        raise InputError(f"threshold is a number between 0 and 1 or 'prior', not {threshold!r}.")
    if min(counts.values()) < 1:
        raise InputError("A study needs two or more steps, two or more tuples a step and one or more seeds.")


# ---------------------------------------------------------------- the collections


def _generators(seeds: int, rng: Any) -> list[np.random.Generator]:
    """One generator a seed, so that a seed is the same study however many there are."""
    return list(map(np.random.default_rng, range(seeds))) if rng is None else generator(rng).spawn(seeds)


def _collection(n: int, p: int, steps: _Steps, threshold: float | str, kind: str, rng: np.random.Generator) -> Counts:
    """The tables of p positives among n rows by distortion and tuple, for one seed."""
    true = true_probabilities(kind, n, p, rng)
    cut = np.quantile(true, 1 - p / n) if threshold == "prior" else float(threshold)
    width = np.repeat(steps.widths, [n - p, p], axis=1)
    low, high = np.maximum(0, true - width)[:, None], np.minimum(1, true + width)[:, None]
    flagged = low + rng.random((len(width), steps.tuples, n)) * (high - low) >= cut
    alarms, hits = flagged[..., : n - p].sum(-1), flagged[..., n - p :].sum(-1)
    return Counts.trusted(hits, p - hits, alarms, n - p - alarms)


@dataclass(frozen=True)
class _Steps:
    """The ways to share the range of distortion between negatives and positives, and the tuples of each."""

    total: float
    steps: int
    tuples: int

    @property
    def widths(self) -> Array:
        """The distortion of the negatives and of the positives, a row a step."""
        k = np.arange(self.steps)  # whole numbers, so that the last width is 0 and not -1e-17
        return np.stack([self.total * k[::-1] / k[-1], self.total * k / k[-1]], 1)


def true_probabilities(kind: str, n: int, p: int, rng: np.random.Generator) -> Array:
    """The probabilities of the rows before they are disturbed, the p positives last."""
    if kind == "global_linear":
        return np.linspace(0, 1, n)
    if kind == "class_uniform":
        return np.concatenate([np.sort(rng.uniform(0, 0.5, n - p)), np.sort(rng.uniform(0.5, 1, p))])
    if kind == "class_linear":
        return np.concatenate([np.linspace(0, 0.5, n - p, endpoint=False), np.linspace(0.5, 1, p)])
    return np.repeat([0.0, 1.0], [n - p, p])


# ---------------------------------------------------------------- measuring and correlating


def measured(metrics: Iterable[Metric], counts: Counts) -> Array:
    """The values of all measures on the tables, measures on the last axis; a measure that fails gets one sentence."""
    return np.stack([_measured(metric, counts) for metric in metrics], -1)


def _measured(metric: Metric, counts: Counts) -> Array:
    try:
        return np.asarray(metric(counts))
    except SteelyardError:
        raise
    except Exception as error:
        if is_builtin(metric):
            raise
        said = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(
            f"{metric.name} failed on an array of tables ({said}); "
            "it must take cells that are arrays and give one number for each table."
        ) from error


def _flat(values: Array) -> Array:
    """Values by seed and imbalance, then measure, then all tuples of the collection."""
    seeds, levels, steps, tuples, measures = values.shape
    return np.moveaxis(values.reshape(seeds, levels, steps * tuples, measures), -1, -2)


def _check_defined(metrics: Sequence[Metric], values: Array) -> None:
    never = np.isnan(values).all((0, 1, 3))
    if never.any():
        name = metrics[int(np.flatnonzero(never)[0])].name
        raise InputError(
            f"{name} is undefined on every table of the study, so it correlates with nothing; leave it out."
        )


def _matrix(values: Array, *, rank: bool = False) -> Array:
    """The correlation of every pair of measures (the axis before the last) over the tuples where both are defined."""
    return np.stack([_correlation(values[..., i, None, :], values, rank) for i in range(values.shape[-2])], -2)


def _correlation(x: Array, y: Array, rank: bool) -> Array:
    """Correlation along the last axis, of values or of their ranks; NaN where one of the two is constant."""
    known = ~np.isnan(x + y)
    x, y = (np.where(known, side, np.nan) for side in np.broadcast_arrays(x, y))
    constant = _constant(x) | _constant(y)
    if rank:
        from scipy.stats import rankdata

        x, y = (rankdata(side, axis=-1, nan_policy="omit") for side in (x, y))
    x, y = (_centred(side, known) for side in (x, y))
    with np.errstate(all="ignore"):
        r = (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.where(constant, np.nan, np.clip(r, -1, 1))


def _constant(x: Array) -> Array:
    low, high = np.where(np.isnan(x), np.inf, x).min(-1), np.where(np.isnan(x), -np.inf, x).max(-1)
    return np.asarray(~(high - low > CONSTANT))


def _centred(x: Array, known: Array) -> Array:
    x = np.where(known, x, 0.0)
    return np.where(known, x - (x.sum(-1) / np.maximum(known.sum(-1), 1))[..., None], 0.0)


def _mean(values: Array) -> Array:
    """The mean over the seeds in which the value is defined."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(0) / np.where(known.any(0), known.sum(0), np.nan))


def _deviation(values: Array) -> Array:
    return np.sqrt(_mean((values - _mean(values)) ** 2))


def _tried(claim: Claim, counts: Counts, positives: Sequence[float]) -> Conclusion:
    metrics = [get_metric(name) for name in claim.measures]
    values = _flat(measured([*map(get_metric, CLASSES), *metrics], counts))
    r = np.stack([_correlation(values[..., i, None, :], values[..., 2:, :], rank=False) for i in (0, 1)], -1)
    bounds = np.array([claim.recall, claim.specificity])
    inside = ((r > bounds[:, 0]) & (r < bounds[:, 1])) | np.isinf(bounds).all(1)
    right = inside.all(-1)  # seed, imbalance, measure
    share = float(right.all((1, 2)).mean())
    return Conclusion(claim.number, claim.words, share, _failures(right.mean(0), metrics, positives))


def _failures(right: Array, metrics: Sequence[Metric], positives: Sequence[float]) -> str | None:
    """Which measures fail in more than a tenth of the seeds, and at which imbalances."""
    failing = {m.name: [f"{100 * p:g} %" for p, ok in zip(positives, right[:, j], strict=True) if ok < USUALLY]
               for j, m in enumerate(metrics)}  # fmt: skip
    return "; ".join(f"{name} at {', '.join(at)}" for name, at in failing.items() if at) or None


def _pair(r: Array) -> str:
    return " / ".join("–" if np.isnan(x) else f"{x:+.2f}" for x in r)
