"""Sample size: how many rows, and how many positives, an interval or a difference takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_quantile, normal_reach
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.intervals.score_intervals import auc_score_ends, score_variance
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.formatting import difference_text, listed, percent_text, value_text
from steelyard.analysis.results.result import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowsLike
    from steelyard.tables.counts import Cells


# ---------------------------------------------------------------- planned widths
# How wide the interval of a metric is on test sets of n rows, on the expected one and on simulated.


_DRAWS = 4_000  # for the expected test set; half as many for each of many
_STEP = 1e-5  # of all rows, by which a cell is moved to see how the metric moves


class Plan(Protocol):
    """A planned classifier and its test sets."""

    @property
    def value(self) -> float:
        """The metric that it is planned with."""

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of each class in the test set, of two the positives first."""

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself, and a test set with half of its rows in each class, where that is another one."""

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on simulated test sets."""


@dataclass(frozen=True)
class _TwoClasses:
    """A test set of two classes with that share of positives."""

    sampled: float
    level: float

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of the positives and of the negatives in the test set."""
        return self.sampled, 1 - self.sampled

    @property
    def designs(self) -> tuple[Self, ...]:
        """Itself, and the test set with half of its rows in each class."""
        return (self,) if self.sampled == 0.5 else (self, replace(self, sampled=0.5))


@dataclass(frozen=True)
class CountsPlan(_TwoClasses):
    """Two classes: recall and specificity, and the prevalence that the metric is read at."""

    metric: Metric
    recall: float
    specificity: float
    used: float

    @property
    def value(self) -> float:
        """The metric that it is planned with."""
        return float(self._shifted(self._table(10**6)))

    @property
    def influence(self) -> Array:
        """How the metric changes with the share of rows in each cell: tp, fn, fp and tn."""
        cells, steps = np.array([*self._table(1.0)]), np.eye(4) * _STEP
        up, down = (self.metric(Counts(*np.maximum(cells[:, None] + side * steps, 0))) for side in (1, -1))
        return np.asarray((up - down) / (2 * _STEP))

    def _table(self, rows: float) -> Counts:
        p, q = rows * self.sampled, rows * (1 - self.sampled)
        return Counts(p * self.recall, p * (1 - self.recall), q * (1 - self.specificity), q * self.specificity)

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        bounds = interval(self._shifted, self._table(rows), level=self.level, draws=_DRAWS)
        return float(bounds.high - bounds.low)

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 400 simulated test sets; one of half of each class is labelled so, another as it comes."""
        positives = rng.binomial(rows, self.sampled, 400) if self.sampled == self.used else np.full(400, rows // 2)
        tp, tn = rng.binomial(positives, self.recall), rng.binomial(rows - positives, self.specificity)
        tables = Counts(tp, positives - tp, rows - positives - tn, tn)
        bounds = interval(self._shifted, tables, level=self.level, draws=_DRAWS // 2, rng=rng)
        return _unbounded(np.asarray(bounds.high - bounds.low))

    @property
    def _shifted(self) -> Metric:
        """The metric read at another prevalence than the sampled one: each class weighted accordingly."""
        if self.sampled == self.used:
            return self.metric
        p, q = self.used / self.sampled, (1 - self.used) / (1 - self.sampled)
        form = self.metric.function
        assert form is not None  # noqa: S101 - a metric of labels, as sample_size checks

        def shifted(c: Cells) -> Any:
            return form(type(c)(c.tp * p, c.fn * p, c.fp * q, c.tn * q), **self.metric.parameters)

        return get_metric(shifted)


@dataclass(frozen=True)
class ClassesPlan:
    """Many classes: the share of each cell of the expected confusion matrix."""

    spec: MetricSpec
    labels: tuple[Any, ...]
    shares: tuple[tuple[float, ...], ...]
    level: float

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The share of each class in the test set."""
        return tuple(np.sum(self.shares, axis=1).tolist())

    @property
    def designs(self) -> tuple[Plan, ...]:
        """Itself."""
        return (self,)

    def _width(self, rows: Array, draws: int, rng: np.random.Generator | None = None) -> float:
        table = Confusion.of_rows(self.labels, rows)
        bounds = interval(self.spec, table, level=self.level, draws=draws, rng=rng)
        return float(np.max(bounds.high - bounds.low))  # of one value per class the widest

    @property
    def value(self) -> float:
        """The metric that it is planned with."""
        table = Confusion.of_rows(self.labels, np.round(10**6 * np.array(self.shares)).astype(np.int64))
        return float(np.mean(interval(self.spec, table, draws=20).value))

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        return self._width(np.round(rows * np.array(self.shares)).astype(np.int64), _DRAWS)

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 100 simulated test sets."""
        tables = rng.multinomial(rows, np.ravel(self.shares), size=100).reshape(-1, *np.shape(self.shares))
        return _unbounded(np.array([self._width(table, _DRAWS // 4, rng) for table in tables]))


def _unbounded(widths: Array) -> Array:
    """The widths, without bound where there is no interval: a class that has no row shows nothing of it."""
    return np.where(np.isnan(widths), np.inf, widths)


@dataclass(frozen=True)
class AucPlan(_TwoClasses):
    """Scores: the AUC, with Hanley and McNeil's variance."""

    value: float

    def expected_width(self, rows: float) -> float:
        """The width on the expected test set of so many rows."""
        return self._width(self.value, rows * self.sampled, rows * (1 - self.sampled))

    def simulated_widths(self, rows: int, rng: np.random.Generator) -> Array:
        """The widths on 400 simulated test sets, by the AUC and the positives that they would show."""
        drawn = rng.binomial(rows, self.sampled, 400)
        positives = np.clip(drawn, 1, max(rows - 1, 1))
        standard_errors = np.array([score_variance(self.value, m, max(rows - m, 1)) ** 0.5 for m in positives])
        seen = np.clip(rng.normal(self.value, standard_errors), 0, 1)
        widths = [self._width(auc, m, max(rows - m, 1)) for auc, m in zip(seen, positives, strict=True)]
        return np.where((drawn == 0) | (drawn == rows), np.inf, widths)

    def _width(self, auc: float, positives: float, negatives: float) -> float:
        low, high = auc_score_ends(auc, normal_reach(self.level), positives, negatives)
        return high - low


# ---------------------------------------------------------------- paired power
# The rows that distinguish two classifiers on the same rows, by how often their predictions differ.


def paired_rows(
    plans: Sequence[Plan], disagreement: float | tuple[float, float], difference: float, errors: float
) -> int:
    """The rows at which a difference is so many standard errors, by the influence of each row on both metrics."""
    a, b = plans
    if not isinstance(a, CountsPlan) or not isinstance(b, CountsPlan):
        raise InputTypeError("disagreement= is of two classes and metrics of labels; leave it out here.")
    differs = disagreement if isinstance(disagreement, tuple) else (disagreement, disagreement)
    classes = ((a.sampled, a.recall, b.recall), (1 - a.sampled, 1 - a.specificity, 1 - b.specificity))
    of_a, of_b = a.influence.reshape(2, 2), b.influence.reshape(2, 2)  # true class x whether it is flagged
    mean = square = 0.0
    for true, ((share, first, second), rate) in enumerate(zip(classes, differs, strict=True)):
        for flag_a, flag_b, probability in _joint(first, second, rate):
            change = of_a[true, 1 - flag_a] - of_b[true, 1 - flag_b]
            mean += share * probability * change
            square += share * probability * change**2
    return math.ceil(float(square - mean**2) * (errors / difference) ** 2)


def _joint(first: float, second: float, differs: float) -> list[tuple[int, int, float]]:
    """How often both, one or neither of two classifiers flags a row of a class."""
    only_a, only_b = (differs + first - second) / 2, (differs - first + second) / 2
    both, neither = first - only_a, 1 - first - only_b
    if min(only_a, only_b, both, neither) < -1e-9:
        least, most = abs(first - second), min(first + second, 2 - first - second)
        raise InputError(
            f"Classifiers that flag {first:g} and {second:g} of a class differ on {least:.3g} to {most:.3g} of its "
            f"rows, not {differs:g}; give disagreement= of the positives and of the negatives within these."
        )
    return [(1, 1, both), (1, 0, only_a), (0, 1, only_b), (0, 0, neither)]


# ---------------------------------------------------------------- row search
# The least number of rows whose interval, or whose interval of a difference, is narrow enough.


_MOST_ROWS, _WIDEST = 10**12, 1e100  # the second for a width without bound, which quantiles can reckon with


def rows_for_width(plan: Plan, width: float, assurance: float | None) -> int:
    """The rows whose interval is so narrow, on the expected test set or with some probability."""
    rows = _least_rows(lambda n: plan.expected_width(n) <= width, min(plan.class_shares))
    if assurance is None:
        return rows
    rng, least, steps = generator(None), 1, 0
    while steps < 3:  # widths go by the square root of the rows, nearly
        widths = plan.simulated_widths(rows, rng)
        # So many widths find their quantile to one standard error; planned a little further out, it is met.
        further = min(assurance + 1.25 * math.sqrt(assurance * (1 - assurance) / len(widths)), 1.0)
        if np.isinf(widths).mean() > 1 - further:  # a class is missing too often: so few rows are never enough
            rows = least = math.ceil(1.25 * rows)
            continue
        seen, steps = float(np.quantile(np.minimum(widths, _WIDEST), further)), steps + 1
        rows = max(math.ceil(rows * min(max((seen / width) ** 2, 0.5), 2.0)), least)
    return rows


def rows_to_distinguish(plan: Plan, other: Plan, width: float) -> int:
    """The rows whose interval of the difference of two classifiers that err apart from each other is so narrow."""

    def enough(rows: float) -> bool:
        return math.hypot(plan.expected_width(rows), other.expected_width(rows)) <= width

    return _least_rows(enough, min(plan.class_shares))


def _least_rows(enough: Callable[[float], bool], least_share: float) -> int:
    """The least number of rows that are enough, found by doubling and halving on a scale of 1 %."""
    low, high = 1.0, 2 / least_share
    while not enough(high):
        low, high = high, high * 2
        if high > _MOST_ROWS:
            raise InputError(
                f"Even {_MOST_ROWS:,} rows would not be enough; ask for a wider interval or a larger difference."
            )
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return int(np.ceil(high))


# ---------------------------------------------------------------- sample size


# A confusion matrix (rows true), counts, (recall, specificity), or of a metric of scores the AUC.
PlannedLike: TypeAlias = "Counts | Confusion | tuple[float, float] | Sequence[Sequence[float]] | Array | float"


@dataclass(frozen=True, eq=False)
class SampleSize(Flat):
    """The rows that a test set needs, and what for; of many classes `positives` are the rows of the rarest."""

    metric: str
    goal: str
    rows: int
    positives: int
    negatives: int
    prevalence: float
    balanced_rows: int
    assurance: float | None = None
    class_rows: tuple[int, ...] = ()
    planned_labels: int | None = None  # by a label plan, where the scores of the rows are known

    def __repr__(self) -> str:
        if self.class_rows:
            by_class = listed([f"{n:,}" for n in self.class_rows])
            return f"{self.goal} takes {self.rows:,} rows: {by_class} of the classes in turn."
        text = (
            f"{self.goal} takes {self.rows:,} rows at a prevalence of {percent_text(self.prevalence)}: "
            f"{self.positives:,} positives and {self.negatives:,} negatives."
        )
        if self.balanced_rows * 2 <= self.rows:
            rare = "positives" if self.prevalence < 0.5 else "negatives"
            text += (
                f" Label more {rare}: {self.balanced_rows:,} rows, half of each class, would be "
                "enough, read at the deployment prevalence."
            )
        if self.planned_labels is not None:
            text += f" With these scores {self.planned_labels:,} labels that label_plan chooses would do."
        return text


@names_wrong_arguments
def sample_size(
    metric: SpecLike,
    *,
    at: PlannedLike,
    width: float | None = None,
    versus: PlannedLike | None = None,
    prevalence: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
    assurance: float | None = 0.8,
    disagreement: float | tuple[float, float] | None = None,
    like: RowsLike = None,
) -> SampleSize:
    """The sample size for an interval of that width, or to distinguish `at` from `versus` with that power.

    `at` and `versus` are (recall, specificity) or Counts whose rates are taken; of many classes the expected confusion
    matrix, rows true, whose class shares are those of the test set; of roc_auc the AUC. The width is met with the
    probability `assurance`: widths vary from one test set to the next, and where the expected one just meets it
    (`assurance=None`) about half of them miss. Two models on the same rows differ less by chance: `disagreement` is the
    share of rows on which their predictions differ, or (that of the positives, that of the negatives); without it their
    errors are taken as independent. Where rows without labels have scores, `like` takes these: Predictions, with the
    threshold of a metric of labels, or the scores alone; `planned_labels` then states how many labels a `label_plan`
    of such rows would need for the same.

    >>> sample_size("recall", at=(0.8, 0.95), prevalence=0.05, width=0.1)
    recall to a width of 10.0 points in 80 % of test sets takes 5,... rows at a prevalence of 5.00 %: 27... positives
    and ... negatives. Label more positives: 5... rows, half of each class, would be enough, read at the deployment ...
    """
    spec = MetricSpec.of(metric)
    check_level(level)
    if (width is None) == (versus is None):
        raise InputError("Give either width= (of the interval) or versus= (the other classifier), one of them.")
    plans = [_planned(spec, point, prevalence, level) for point in ([at] if versus is None else [at, versus])]
    if width is not None:
        share = _checked_goal(spec, width)
        sure = "" if assurance is None else f" in {100 * _checked_share(assurance, 'assurance'):g} % of test sets"
        goal = f"{spec.name} to a width of {difference_text(width, share=spec.is_share)}{sure}"
        size = _sized(spec, goal, plans[0], lambda plan: rows_for_width(plan, share, assurance), assurance)
        if like is None:
            return size
        from steelyard.analysis.planning.label_plan import labels_by_plan

        p = Predictions.of(like, first_is="y_score").collect()
        labels = labels_by_plan(spec, p.given.y_score, p.threshold, plans[0].class_shares[0], size.rows)
        return replace(size, planned_labels=labels)
    values = [plan.value for plan in plans]
    first, second = (value_text(value, share=spec.is_share) for value in values)
    goal = f"telling {spec.name} {first} from {second}"
    difference, factor = _checked_goal(spec, abs(values[0] - values[1])), _power_factor(level, power)
    if disagreement is not None:
        rows = paired_rows(plans, disagreement, difference, normal_reach(level) + float(normal_quantile(power)))
        return _sized(spec, goal, plans[0], lambda _: rows, None)
    both = dict(zip(plans[0].designs, plans[1].designs, strict=True))
    return _sized(spec, goal, plans[0], lambda plan: rows_to_distinguish(plan, both[plan], difference * factor), None)


def _planned(spec: MetricSpec, point: PlannedLike, prevalence: float | None, level: float) -> Plan:
    """The classifier as it was given, with the share of positives that the test set will have."""
    if spec.metric.function is None:
        if not spec.metric.is_rank_probability or not isinstance(point, (int, float)):
            raise InputTypeError(
                f"{spec.name} is a metric of scores; of these sizes are planned for roc_auc, with at= the AUC."
            )
        auc = _checked_share(point, "The AUC")
        return AucPlan(_checked_prevalence(prevalence), level, auc)
    if isinstance(point, Confusion) or np.ndim(point) == 2:  # type: ignore[arg-type]  # Counts have no dimension
        return _classes_plan(spec, point, level)  # type: ignore[arg-type]  # a matrix
    recall, specificity = _rates(point)
    if not spec.is_native or spec.label is not None:
        raise InputError(f"{spec.name} is of many classes; give at= as their expected confusion matrix, rows true.")
    if prevalence is None and isinstance(point, Counts):
        prevalence = float(point.positives / point.total)
    share = _checked_prevalence(prevalence)
    return CountsPlan(share, level, spec.metric, recall, specificity, used=share)


def _checked_prevalence(share: float | None) -> float:
    if isinstance(share, Prevalence):
        raise InputTypeError(
            "prevalence= is the share of positives that the test set will have, one number, not a Prevalence: give "
            "float(prevalence), and once more the ends of prevalence.interval(), to see what its uncertainty costs."
        )
    if share is None:
        raise InputTypeError("prevalence= is missing: the share of positives that the test set will have.")
    return _checked_share(share, "prevalence")


def _sized(
    spec: MetricSpec, goal: str, plan: Plan, needed: Callable[[Plan], int], assurance: float | None
) -> SampleSize:
    """The rows as they come, and of two classes how many it would be with half of them in each class."""
    rows, *balanced = (needed(design) for design in plan.designs)
    shares = plan.class_shares
    class_rows = tuple(max(1, round(rows * share)) for share in shares)
    positives = class_rows[0] if len(shares) == 2 else min(class_rows)
    return SampleSize(
        spec.name,
        goal,
        rows,
        positives,
        negatives=rows - positives,
        prevalence=shares[0] if len(shares) == 2 else min(shares),
        balanced_rows=balanced[0] if balanced else rows,
        assurance=assurance,
        class_rows=class_rows if isinstance(plan, ClassesPlan) else (),
    )


def _classes_plan(spec: MetricSpec, point: Confusion | Sequence[Sequence[float]] | Array, level: float) -> ClassesPlan:
    """The plan of an expected confusion matrix."""
    matrix = np.asarray(point.matrix if isinstance(point, Confusion) else point, dtype=np.float64)
    labels = point.labels if isinstance(point, Confusion) else tuple(range(len(matrix)))
    if matrix.shape != (len(matrix),) * 2 or not (matrix >= 0).all() or not (matrix.sum(1) > 0).all():
        raise InputError("An expected confusion matrix is K x K, rows true, none of them empty or below 0.")
    shares = matrix / matrix.sum()
    return ClassesPlan(spec, labels, tuple(map(tuple, shares.tolist())), level)


def _rates(point: PlannedLike) -> tuple[float, float]:
    if isinstance(point, Counts):
        point = (float(get_metric("recall")(point)), float(get_metric("specificity")(point)))
    try:
        recall, specificity = map(float, point)  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError):
        raise InputTypeError(
            f"A classifier is planned as (recall, specificity), Counts or a confusion matrix, not {point!r}."
        ) from None
    if not (0 <= recall <= 1 and 0 <= specificity <= 1):
        raise InputError(f"Recall and specificity lie between 0 and 1, not {recall:g} and {specificity:g}.")
    return recall, specificity


def _checked_goal(spec: MetricSpec, share: float) -> float:
    if not (share > 0 and math.isfinite(share)):
        raise InputError(
            f"{spec.name} would have to be distinguished to {share:g}; give a width or a difference above 0."
        )
    return share


def _checked_share(share: float, name: str) -> float:
    if not (isinstance(share, (int, float, np.number)) and 0 < share < 1):
        raise InputError(argument=name, expected="a share above 0 and below 1", given=share)
    return float(share)


def _power_factor(level: float, power: float) -> float:
    """How wide the interval of a difference may be, as a multiple of it, to find it with that power."""
    if not 0 < power < 1:
        raise InputError(argument="power", expected="a probability above 0 and below 1", given=power)
    z = normal_reach(level)
    return float(2 * z / (z + normal_quantile(power)))
