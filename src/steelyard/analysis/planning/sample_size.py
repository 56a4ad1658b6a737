"""Sample size: how many rows, and how many positives, an interval or a difference takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_quantile, normal_reach
from steelyard.analysis.levels import check_level
from steelyard.analysis.planning.paired_power import paired_rows
from steelyard.analysis.planning.planned_widths import AucPlan, ClassesPlan, CountsPlan, Plan
from steelyard.analysis.planning.row_search import rows_for_width, rows_to_tell
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.results.formatting import difference_text, listed, percent_text, value_text
from steelyard.analysis.results.rows import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.metrics.spec import SpecLike

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
    prevalence: float | None = None,
    width: float | None = None,
    versus: PlannedLike | None = None,
    level: float = 0.95,
    power: float = 0.8,
    assurance: float | None = 0.8,
    disagreement: float | tuple[float, float] | None = None,
    y_score: ArrayLike | None = None,
    threshold: float | None = None,
) -> SampleSize:
    """The sample size for an interval of that width, or to distinguish `at` from `versus` with that power.

    `at` and `versus` are (recall, specificity) or Counts whose rates are taken; of many classes the expected confusion
    matrix, rows true, whose class shares are those of the test set; of roc_auc the AUC. The width is met with the
    probability `assurance`: widths vary from one test set to the next, and where the expected one just meets it
    (`assurance=None`) about half of them miss. Two models on the same rows differ less by chance: `disagreement` is the
    share of rows on which their predictions differ, or (that of the positives, that of the negatives); without it their
    errors are taken as independent. Where rows without labels have scores, `y_score` (with the threshold of a metric of
    labels) states how many labels a `label_plan` would need for the same, in `planned_labels`.

    >>> sample_size("recall", at=(0.8, 0.95), prevalence=0.05, width=0.1)
    recall to a width of 10.0 points in 80 % of test sets takes 5,... rows at a prevalence of 5.00 %: 27... positives
    and ... negatives. Label more positives: 5... rows, half of each class, would be enough, read at the deployment ...
    """
    spec, asked = MetricSpec.of(metric), _Asked(prevalence, level)
    check_level(level)
    if (width is None) == (versus is None):
        raise InputError("Give either width= (of the interval) or versus= (the other classifier), one of them.")
    plans = [asked.plan(spec, point) for point in ([at] if versus is None else [at, versus])]
    if width is not None:
        share = _checked_goal(spec, width)
        sure = "" if assurance is None else f" in {100 * _checked_share(assurance, 'assurance'):g} % of test sets"
        goal = f"{spec.name} to a width of {difference_text(width, share=spec.is_share)}{sure}"
        size = asked.result(spec, goal, plans[0], lambda plan: rows_for_width(plan, share, assurance), assurance)
        if y_score is None:
            return size
        from steelyard.analysis.planning.plan_size import labels_by_plan

        labels = labels_by_plan(spec, y_score, threshold, plans[0].class_shares[0], size.rows)
        return replace(size, planned_labels=labels)
    values = [plan.value for plan in plans]
    first, second = (value_text(value, share=spec.is_share) for value in values)
    goal = f"telling {spec.name} {first} from {second}"
    apart, reach = _checked_goal(spec, abs(values[0] - values[1])), _power_factor(level, power)
    if disagreement is not None:
        rows = paired_rows(plans, disagreement, apart, normal_reach(level) + float(normal_quantile(power)))
        return asked.result(spec, goal, plans[0], lambda _: rows, None)
    both = dict(zip(plans[0].designs, plans[1].designs, strict=True))
    return asked.result(spec, goal, plans[0], lambda plan: rows_to_tell(plan, both[plan], apart * reach), None)


@dataclass(frozen=True)
class _Asked:
    """The prevalence of the test set and the level, and how a classifier is planned by them."""

    prevalence: float | None
    level: float

    def plan(self, spec: MetricSpec, point: PlannedLike) -> Plan:
        """The classifier as it was given."""
        if spec.metric.function is None:
            return self._auc_plan(spec, point)
        if isinstance(point, Confusion) or np.ndim(point) == 2:  # type: ignore[arg-type]  # Counts have no dimension
            return _classes_plan(spec, point, self.level)  # type: ignore[arg-type]  # a matrix
        recall, specificity = _rates(point)
        if not spec.is_native or spec.label is not None:
            raise InputError(f"{spec.name} is of many classes; give at= as their expected confusion matrix, rows true.")
        share = self._share(float(point.positives / point.total) if isinstance(point, Counts) else None)
        return CountsPlan(spec.metric, recall, specificity, share, share, self.level)

    def _auc_plan(self, spec: MetricSpec, point: PlannedLike) -> Plan:
        if not spec.metric.is_rank_probability or not isinstance(point, (int, float)):
            raise InputTypeError(
                f"{spec.name} is a metric of scores; of these sizes are planned for roc_auc, with at= the AUC."
            )
        return AucPlan(_checked_share(point, "The AUC"), self._share(None), self.level)

    def _share(self, own: float | None) -> float:
        share = own if self.prevalence is None else self.prevalence
        if isinstance(share, Prevalence):
            raise InputTypeError(
                "prevalence= is the share of positives that the test set will have, one number, not a Prevalence: give "
                "float(prevalence), and once more the ends of prevalence.interval(), to see what its uncertainty costs."
            )
        if share is None:
            raise InputTypeError("prevalence= is missing: the share of positives that the test set will have.")
        return _checked_share(share, "prevalence")

    def result(
        self, spec: MetricSpec, goal: str, plan: Plan, needed: Callable[[Plan], int], assurance: float | None
    ) -> SampleSize:
        """The rows as they come, and of two classes those of which half are of each class."""
        rows, *balanced = (needed(design) for design in plan.designs)
        shares = plan.class_shares
        class_rows = tuple(max(1, round(rows * share)) for share in shares)
        positives = class_rows[0] if len(shares) == 2 else min(class_rows)
        many = class_rows if isinstance(plan, ClassesPlan) else ()
        rarest = shares[0] if len(shares) == 2 else min(shares)
        least = balanced[0] if balanced else rows
        return SampleSize(spec.name, goal, rows, positives, rows - positives, rarest, least, assurance, many)


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
        raise InputError(f"{name} is a share above 0 and below 1, not {share!r}.")
    return float(share)


def _power_factor(level: float, power: float) -> float:
    """How wide the interval of a difference may be, as a multiple of it, to find it with that power."""
    if not 0 < power < 1:
        raise InputError(f"power is a probability above 0 and below 1, not {power!r}.")
    z = normal_reach(level)
    return float(2 * z / (z + normal_quantile(power)))
