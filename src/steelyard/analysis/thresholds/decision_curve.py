"""The decision curve: the net benefit of acting on a model at every threshold, beside acting on everybody or nobody."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import nan
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.analysis.calibration.calibration import CurveView, reliability_curve
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import checked_prevalence, of_positives
from steelyard.analysis.results.formatting import filled, interval_text, listed, percent_text, three_digits
from steelyard.analysis.results.result import Flat, Rows, table_text
from steelyard.analysis.thresholds.costs import OVER_EVERYBODY, OVER_NOBODY, BenefitScale, FlaggedAlone
from steelyard.analysis.thresholds.scored_models import TREAT_ALL, ScoredModels
from steelyard.exceptions import InputError
from steelyard.predictions import Predictions, question, refuse_unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.costs import Benefit
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable

_POINTS = 100
_SHOWN = 10  # of them, in print
_BELOW, _ABOVE = 0.1, 10.0  # of the odds of the prevalence: where the thresholds begin, and how far they may reach
_MOST_RUNS = 3  # of thresholds at which a model is worth using, each named
_MARKS = {True: "yes", False: ""}
WORTH_SHOWING = 0.05  # of the net benefit of a perfect model: the curve ends at the last threshold that has as much


@dataclass(frozen=True, eq=False)
class DecisionPoint(Flat):
    """A model at a threshold: its net benefit, that of treating everybody, and what it gains over another rule.

    It is `worth` using where its interval lies above flagging nobody, and that of what it gains over flagging
    everybody above 0. `miscalibrated`: the share of positives observed at that probability is one that a calibrated
    model would not show, so that the threshold is not the odds that it states; None where thresholds were named.
    """

    model: str
    threshold: float
    net_benefit: float
    low: float
    high: float
    treat_all: float
    worth: bool
    miscalibrated: bool | None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    group: str | None = None

    def row(self) -> dict[str, Any]:
        """The point as a row of a table, its group first."""
        return {"group": self.group, **super().row()}

    def shown_row(self) -> dict[str, Any]:
        """The point as it is printed, with its group and model where there are several."""
        row = {"group": self.group} if self.group else {}
        row |= {"model": self.model} if self.model else {}
        row["threshold"] = percent_text(self.threshold)
        row["net benefit"] = interval_text(self.net_benefit, self.low, self.high)
        row["treat all"] = three_digits(self.treat_all)
        if self.difference is not None:
            low, high = self.difference_low, self.difference_high
            row["difference"] = interval_text(
                self.difference, nan if low is None else low, nan if high is None else high
            )
        row["worth using"] = _MARKS[self.worth]
        return row if self.miscalibrated is None else row | {"miscalibrated": _MARKS[self.miscalibrated]}

    @property
    def of(self) -> tuple[str, str]:
        """Whose point it is: the group and the model, each empty where there is one."""
        return self.group or "", self.model


class DecisionCurve(Rows[DecisionPoint]):
    """Net benefits over the threshold, of each group and model; where a model is worth using stands in the headline."""

    also_saved = ("sentences",)

    @property
    def curves(self) -> dict[str, list[DecisionPoint]]:
        """The points of each group and model, by what these are called."""
        return {", ".join(filter(None, of)): list(points) for of, points in groupby(self, lambda point: point.of)}

    @property
    def sentences(self) -> list[str]:
        """At which thresholds each model is worth using, and at which its probabilities are miscalibrated."""
        found = []
        for name, points in self.curves.items():
            text = _worth_text(points)
            found.append(f"{name}: {text}" if name else f"{text[:1].upper()}{text[1:]}")
            if wrong := _runs([bool(point.miscalibrated) for point in points]):
                whose = f"The probabilities of {name}" if name else "The probabilities"
                found.append(f"{whose} are miscalibrated {_spans(points, wrong)}: {_ODDS}")
        return found

    @property
    def headline(self) -> str:
        """The first of the sentences."""
        return next(iter(self.sentences), "No thresholds.")

    @property
    def lead(self) -> list[str]:
        """The other sentences."""
        return self.sentences[1:]

    def shown_rows(self) -> list[dict[str, Any]]:
        """Some ten points of each curve, evenly over its thresholds."""
        rows = []
        for points in self.curves.values():
            places = np.unique(np.linspace(0, len(points) - 1, _SHOWN).round().astype(int))
            rows += [points[i].shown_row() for i in places]
        return rows

    def __repr__(self) -> str:
        return "\n".join([*map(filled, self.sentences), table_text(self.shown_rows())])


_ODDS = "recalibrate before you set a threshold there."


def _runs(holds: Sequence[bool]) -> list[tuple[int, int]]:
    """The first and the last index of each run."""
    places = [list(run) for held, run in groupby(range(len(holds)), holds.__getitem__) if held]
    return [(run[0], run[-1]) for run in places]


def _spans(points: Sequence[DecisionPoint], runs: list[tuple[int, int]]) -> str:
    """Runs of thresholds in words; of many how many thresholds they hold."""
    if len(runs) > _MOST_RUNS:
        held = sum(last - first + 1 for first, last in runs)
        low, high = (percent_text(points[i].threshold) for i in (runs[0][0], runs[-1][1]))
        return f"at {held} of {len(points)} thresholds, between {low} and {high}"
    parts = []
    for first, last in runs:
        low, high = (percent_text(points[i].threshold) for i in (first, last))
        parts.append(f"at {low}" if low == high else f"from {low} to {high}")
    return listed(parts)


def _worth_text(points: Sequence[DecisionPoint]) -> str:
    """At which thresholds a model is better than flagging nobody and everybody, beyond the intervals."""
    if np.isnan([point.low for point in points]).all():
        return "where it is worth using is not known, as these rows give no interval."
    runs = _runs([point.worth for point in points])
    if runs:
        return f"worth using for thresholds {_spans(points, runs)}: better there than flagging nobody or everybody."
    ends = _spans(points, [(0, len(points) - 1)])
    both = "is it shown to be better than both flagging nobody and flagging everybody"
    return f"not worth using: at no threshold {ends} {both}."


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
) -> DecisionCurve:
    """The net benefit of acting where the probability reaches the threshold, at each threshold, with its interval.

    A threshold of 0.1 says that a missed positive is as bad as 9 false alarms; the net benefit is the true positives
    less the false positives at those odds, per row (Vickers and Elkin 2006). Acting on nobody has 0. Of several models
    `versus` adds what each gains over one of them, on the same rows, or over "treat all". Standardized, 1 is a perfect
    model. `prevalence` reads the curve at another one, also an estimated Prevalence. Without `thresholds` there are 100
    in even log-odds, from a tenth of those of the prevalence to the last at which some model is worth acting on. The
    result first says for which thresholds a model is worth using, and where its probabilities are miscalibrated.

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
    points = DecisionCurve(assumed=p.assumed)
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
        points += _points(models, scale, cuts, versus, group, has_curve=thresholds is None)
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
    models: ScoredModels, scale: BenefitScale, cuts: Array, versus: str | None, group: str | None, *, has_curve: bool
) -> Iterator[DecisionPoint]:
    everybody = scale.everybody()
    for name, table in models.tables.items():
        benefit = scale.gain(_flagged(table, cuts)._replace(clusters=models.hits(name, None, cuts)))
        over_all = scale.gain(_left_out(table, cuts)._replace(clusters=models.hits(name, TREAT_ALL, cuts)))
        gain: Benefit | tuple[()] = ()
        if versus == TREAT_ALL and name != TREAT_ALL:
            gain = over_all
        elif versus is not None and versus != name:
            gain = scale.gain(models.alone(name, models.checked(str(versus)), cuts))
        worth = (benefit.low > 0) & (over_all.low > 0)
        wrong = _miscalibrated(table, cuts, scale) if has_curve else [None] * len(cuts)
        for is_worth, is_wrong, *cells in zip(worth.tolist(), wrong, cuts, *benefit, everybody, *gain, strict=True):
            cut, value, low, high, of_all, *difference = map(float, cells)
            more, more_low, more_high = difference or (None, None, None)
            yield DecisionPoint(
                name, cut, value, low, high, of_all, is_worth, is_wrong, more, more_low, more_high, group
            )


def _miscalibrated(table: ScoreTable, cuts: Array, scale: BenefitScale) -> list[bool]:
    """Where the reliability curve lies outside the band of a calibrated model's; nowhere where there is no band.

    Between two of its points the curve is that of the next one; below all scores and above them there is none.
    """
    if len(table.bins) or scale.clustered_sample is not None:
        return [False] * len(cuts)
    curve = reliability_curve(table, CurveView(), Inference(scale.level, prevalence=scale.prevalence))
    ends = np.array([point.probability for point in curve])
    outside = np.array([not point.low <= point.observed <= point.high for point in curve])
    places = np.searchsorted(ends, cuts)
    there = (cuts >= ends[0]) & (places < len(ends))
    wrong: list[bool] = (there & outside[np.minimum(places, len(ends) - 1)]).tolist()
    return wrong


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
    """Thresholds even in log-odds: from a tenth of the odds of the prevalence to the last that is worth showing.

    They reach past twice these odds, and at most to ten times of them, or to 1 to 1 where positives are rare; so that
    a model that states too much does not stretch them. They are the same with the classes exchanged.
    """
    odds = share / (1 - share)
    first, most = min(1.0, _BELOW * odds), max(1.0, _ABOVE * odds)
    tried = np.geomspace(first, most, 10 * _POINTS)
    last = min(2 * odds, most)
    for table in tables:
        (recall, _), (alarms, _) = (part.T for part in _flagged(table, tried / (1 + tried))[:2])
        last = max(last, tried[recall - tried / odds * alarms >= WORTH_SHOWING].max(initial=0))
    shown = np.geomspace(first, last, _POINTS)
    return np.asarray(shown / (1 + shown))
