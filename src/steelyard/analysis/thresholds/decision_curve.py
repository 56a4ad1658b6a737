"""The decision curve: the net benefit of acting on a model at every threshold, beside acting on everybody or nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import checked_prevalence, of_positives
from steelyard.analysis.results.result import Flat, Rows
from steelyard.analysis.thresholds.costs import OVER_EVERYBODY, OVER_NOBODY, BenefitScale, FlaggedAlone
from steelyard.analysis.thresholds.scored_models import TREAT_ALL, ScoredModels
from steelyard.exceptions import InputError
from steelyard.predictions import Predictions, question, refuse_unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.costs import Benefit
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable

_POINTS = 100
WORTH_SHOWING = 0.05  # of the net benefit of a perfect model: the curve ends at the last threshold that has as much


@dataclass(frozen=True, eq=False)
class DecisionPoint(Flat):
    """A model at a threshold: its net benefit, that of treating everybody, and what it gains over another rule."""

    model: str
    threshold: float
    net_benefit: float
    low: float
    high: float
    treat_all: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    group: str | None = None

    def row(self) -> dict[str, Any]:
        """The point as a row of a table, its group first."""
        return {"group": self.group, **super().row()}


@question
def decision_curve(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    versus: str | None = None,
    thresholds: ArrayLike | None = None,
    standardized: bool = False,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    **rows: Unpack[RowOptions],
) -> Rows[DecisionPoint]:
    """The net benefit of acting where the probability reaches the threshold, at each threshold, with its interval.

    A threshold of 0.1 says that a missed positive is as bad as 9 false alarms; the net benefit is the true positives
    less the false positives at those odds, per row (Vickers and Elkin 2006). Acting on nobody has 0. Of several models
    `versus` adds what each gains over one of them, on the same rows, or over "treat all". Standardized, 1 is a perfect
    model. `prevalence` reads the curve at another one, also an estimated Prevalence. Without `thresholds`, 100 of them
    up to the last that is worth acting at, so that the curve of rare positives fills the figure.

    `by` gives the curves of each group of rows, each beside its own prevalence. Intervals are of each threshold alone,
    by Wilson's ends of each share of the rows (Donner and Zou 2012); weighted rows count by their effective sample
    size, and rows of one `cluster`, such as the patient, by the effective number of rows of whole clusters.

    >>> y_true, y_score = [0] * 8 + [1] * 2, [0.05, 0.1, 0.1, 0.15, 0.2, 0.2, 0.3, 0.6, 0.4, 0.8]
    >>> for point in decision_curve(y_true, y_score, thresholds=[0.1, 0.25]):
    ...     print(f"{point.threshold}: {point.net_benefit:.3f}, treat all {point.treat_all:.3f}")
    0.1: 0.122, treat all 0.111
    0.25: 0.133, treat all -0.067
    """
    check_level(level)
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "decision_curve", "design", "threshold", "columns")
    groups = ScoredModels.of(p)
    for models in groups.values():
        for name, table in models.tables.items():
            if not table.has_probabilities:
                what = f"the scores of {name!r}" if name else "these scores"
                raise InputError(f"A decision curve reads scores as probabilities, and {what} are not all from 0 to 1.")
    cuts = _shown(groups.values(), prevalence) if thresholds is None else _checked(thresholds)
    points = Rows[DecisionPoint](assumed=p.assumed)
    for group, models in groups.items():
        table, hits = models.first, models.hits(next(iter(models.tables)), None, cuts)
        scale = BenefitScale(
            odds=cuts / (1 - cuts),
            sizes=(table.positive.effective_size, table.negative.effective_size),
            sample=float(table.positive.total / table.total),
            prevalence=of_positives(table, prevalence),
            standardized=standardized,
            level=level,
            clustered_sample=None if hits is None else hits.prevalence(level),
        )
        points += _points(models, scale, cuts, versus, group)
    return points


def _shown(groups: Iterable[ScoredModels], prevalence: PrevalenceLike | None) -> Array:
    """The thresholds worth showing, of the group in which they reach furthest."""
    shown = []
    for models in groups:
        at = of_positives(models.first, prevalence)
        share = models.first.positive.total / models.first.total if at is None else float(checked_prevalence(at))
        shown.append(shown_thresholds(models.tables.values(), share))
    return max(shown, key=lambda cuts: float(cuts[-1]))


def _points(
    models: ScoredModels, scale: BenefitScale, cuts: Array, versus: str | None, group: str | None
) -> Iterator[DecisionPoint]:
    everybody = scale.everybody()
    for name, table in models.tables.items():
        benefit = scale.gain(_flagged(table, cuts)._replace(clusters=models.hits(name, None, cuts)))
        gain: Benefit | tuple[()] = ()
        if versus == TREAT_ALL and name != TREAT_ALL:
            gain = scale.gain(_left_out(table, cuts)._replace(clusters=models.hits(name, TREAT_ALL, cuts)))
        elif versus is not None and versus != name:
            gain = scale.gain(models.alone(name, models.checked(str(versus)), cuts))
        for cells in zip(cuts, *benefit, everybody, *gain, strict=True):
            cut, value, low, high, of_all, *difference = map(float, cells)
            more, more_low, more_high = difference or (None, None, None)
            yield DecisionPoint(name, cut, value, low, high, of_all, more, more_low, more_high, group)


def _flagged(table: ScoreTable, cuts: Array) -> FlaggedAlone:
    """The shares of each class that the model flags, and the other rule, which flags nobody, does not."""
    counts = table.at(cuts)
    positives, negatives = counts.tp / table.positive.total, counts.fp / table.negative.total
    return FlaggedAlone(_pair(positives, 0), _pair(negatives, 0), OVER_NOBODY)


def _left_out(table: ScoreTable, cuts: Array) -> FlaggedAlone:
    """The shares that the other rule, which flags everybody, flags alone."""
    counts = table.at(cuts)
    positives, negatives = counts.fn / table.positive.total, counts.tn / table.negative.total
    return FlaggedAlone(_pair(0, positives), _pair(0, negatives), OVER_EVERYBODY)


def _pair(first: Array | float, second: Array | float) -> Array:
    return np.stack(np.broadcast_arrays(first, second), axis=-1)


def _checked(thresholds: ArrayLike) -> Array:
    try:
        cuts = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        cuts = np.array([np.nan])
    if cuts.ndim != 1 or not len(cuts) or not ((cuts > 0) & (cuts < 1)).all():
        raise InputError("Thresholds of a decision curve are probabilities above 0 and below 1, such as [0.05, 0.1].")
    return np.unique(cuts)


def shown_thresholds(tables: Iterable[ScoreTable], share: float) -> Array:
    """Thresholds from near 0 to the last at which some model is worth acting on, and past the prevalence."""
    cuts = np.linspace(0, 1, 1_001)[1:-1]
    odds, last = cuts / (1 - cuts) * (1 - share) / share, min(2 * share, cuts[-1])
    for table in tables:
        (recall, _), (alarms, _) = (part.T for part in _flagged(table, cuts)[:2])
        last = max(last, cuts[recall - odds * alarms >= WORTH_SHOWING].max(initial=0))
    return np.linspace(0, last, _POINTS + 1)[1:]
