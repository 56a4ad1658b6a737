"""Drift: periods of labelled rows, and of unlabelled ones, read against a reference period."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from steelyard._types import Label
from steelyard.analysis.comparison.leaderboard import metric_phrase
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.draws import (
    class_fold,
    effective_cells,
    posterior_draws,
    rank_draws,
    with_class_totals,
)
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import intervals_of, table_intervals
from steelyard.analysis.intervals.rate_intervals import RATE_INTERVALS
from steelyard.analysis.intervals.score_draws import binned
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.analysis.results.blocks import Figure, Point, Table, Track
from steelyard.analysis.results.formatting import (
    ROUNDING,
    bounds_text,
    difference_text,
    listed,
    number_of,
    p_text,
    percent_interval,
    three_digits,
    value_text,
)
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arrays.labels import naturally_sorted
from steelyard.evaluation.unlabelled import FIT_LEVEL, new_rows, read_reference, unlabelled, unlabelled_scores
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.ranking import roc_auc
from steelyard.metrics.registry import get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE
from steelyard.predictions import Predictions, names_columns, question, refuse_unused
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import thresholded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Rng
    from steelyard.analysis.prevalence.label_shift import UnlabelledPrevalence
    from steelyard.analysis.results.blocks import Block
    from steelyard.evaluation.unlabelled import Unlabelled, UnlabelledMetric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike

    Corner = Callable[[int, int], Array]  # the metric at the shares of one period and the classifier of another


# ---------------------------------------------------------------- drift rows
# A period with its prevalence and scores, and the change of a metric with its two parts.


CHANGE_PARTS = ("change", "by_prevalence", "by_classifier")


@dataclass(frozen=True, eq=False)
class DriftPeriod(Flat):
    """A period: its rows, prevalence, share of flagged rows, and where its scores lie beside those of the reference.

    `score_shift` is the chance that a score of the period is above one of the reference period, one half where the
    scores have not moved. Of unlabelled rows the prevalence is that of their scores, and `p_value` tests whether label
    shift explains them.
    """

    period: Label
    rows: int
    labelled: bool
    prevalence: float
    prevalence_low: float
    prevalence_high: float
    flagged: float = math.nan
    flagged_low: float = math.nan
    flagged_high: float = math.nan
    score_shift: float = math.nan
    score_shift_low: float = math.nan
    score_shift_high: float = math.nan
    p_value: float | None = None

    @property
    def is_refused(self) -> bool:
        """Whether label shift does not explain the scores of unlabelled rows, so that their prevalence is not known."""
        return self.p_value is not None and self.p_value < FIT_LEVEL

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        shift = (self.score_shift, self.score_shift_low, self.score_shift_high)
        shares = {
            "prevalence": (self.prevalence, self.prevalence_low, self.prevalence_high),
            "flagged": (self.flagged, self.flagged_low, self.flagged_high),
        }
        texts = {name: percent_interval(*share) if math.isfinite(share[0]) else None for name, share in shares.items()}
        if self.is_refused:
            texts["prevalence"] = f"not known; by label shift it would be {texts['prevalence']}"
        moved = f"{shift[0]:.3f} ({bounds_text(*shift[1:])})" if math.isfinite(shift[0]) else None
        kind = {} if self.labelled else {"labels": "none"}
        return {"period": str(self.period), "rows": self.rows, **kind, **texts, "above reference": moved}


@dataclass(frozen=True, eq=False)
class DriftChange(Flat):
    """The change of a metric from the reference period to another: all of it, by the prevalence, by the classifier."""

    period: Label
    spec: MetricSpec = field(metadata={"key": "metric"})
    before: float
    before_low: float
    before_high: float
    after: float
    after_low: float
    after_high: float
    change: float
    change_low: float
    change_high: float
    by_prevalence: float
    by_prevalence_low: float
    by_prevalence_high: float
    by_classifier: float
    by_classifier_low: float
    by_classifier_high: float
    undefined: str | None = None

    @classmethod
    def of(
        cls,
        period: Label,
        spec: MetricSpec,
        values: Sequence[Sequence[float]],
        parts: Sequence[Sequence[float]],
        undefined: str | None = None,
    ) -> DriftChange:
        """The change of a metric from one value to another, the whole and its parts, each with its bounds."""
        numbers = {
            f"{name}{bound}": number
            for name, interval in zip(("before", "after", *CHANGE_PARTS), (*values, *parts), strict=True)
            for bound, number in zip(("", "_low", "_high"), interval, strict=True)
        }
        return cls(period, spec, **numbers, undefined=undefined)

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def bounds(self, part: str) -> tuple[float, float, float]:
        """A value, the change or a part of it, with the ends of its interval."""
        return getattr(self, part), getattr(self, f"{part}_low"), getattr(self, f"{part}_high")

    def shows(self, part: str, widening: float = 1.0) -> bool:
        """Whether the interval of the change, or of one of its parts, so many times as wide, is on one side of 0."""
        value, low, high = self.bounds(part)
        return bool(value - widening * (value - low) > 0 or value + widening * (high - value) < 0)

    @property
    def possible_drop(self) -> float:
        """How much worse the classifier may have made the metric, by the end of its interval; 0 where it is unknown."""
        worst = self.by_classifier_low if self.spec.sign > 0 else -self.by_classifier_high
        return max(-worst, 0.0) if math.isfinite(worst) else 0.0

    def row(self) -> dict[str, Any]:
        """The change as a row of a table."""
        others = {key: value for key, value in vars(self).items() if key not in ("period", "spec")}
        return {"period": self.period, "metric": self.metric, **others}

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        row = {"period": str(self.period), "metric": self.metric}
        for name, value in (("before", self.before), ("after", self.after)):
            row[name] = value_text(value, share=self.spec.is_share) if math.isfinite(value) else "–"
        if self.undefined is not None and math.isnan(self.by_prevalence):
            return row | {"by prevalence": self.undefined}
        scale = 100 if self.spec.is_share else 1
        for part in CHANGE_PARTS:
            value, low, high = (scale * number for number in self.bounds(part))
            text = three_digits(value) if math.isfinite(value) else "not known"
            if math.isfinite(value) and math.isfinite(low):
                text = f"{text} ({three_digits(low)} to {three_digits(high)})"
            row[part.replace("_", " ")] = text
        return row


# ---------------------------------------------------------------- drift result


_MOST_NAMED = 4
_LARGE = 0.1  # a drop that nobody would accept unseen, as a share of rows


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result[DriftChange]):
    """What changed between a reference period and the others; the rows are the changes of metrics.

    Each change is the sum of a part by the prevalence and one by the classifier, what it does to the rows of each
    class: the mean of moving the one first and of moving the other first, which adds up exactly.
    """

    periods: Rows[DriftPeriod]
    changes: Rows[DriftChange]
    reference: Label
    level: float
    assumed: tuple[str, ...] = ()

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[DriftChange]:
        return iter(self.changes)

    def of(self, period: Label) -> Rows[DriftChange]:
        """The changes up to one period."""
        return Rows(change for change in self.changes if change.period == period)

    @property
    def verdict(self) -> list[str]:
        """What changed in each period and by what, in sentences, and what to do."""
        periods = [period for period in self.periods if period.period != self.reference]
        return [*map(self._sentence, periods), *([self._advice(periods)] if periods else [])]

    def _sentence(self, period: DriftPeriod) -> str:
        if not period.labelled:
            return self._unlabelled_sentence(period)
        shown = self._shown(period)
        words = [
            f"the {part.removeprefix('by_')} {_moved(part, changes)}" for part, changes in shown.items() if changes
        ]
        if shown["by_prevalence"] and not shown["by_classifier"]:
            words.append("the classifier shows no change")
        return f"{period.period} against {self.reference}: {'; '.join(words) or 'no change is shown'}."

    def _shown(self, period: DriftPeriod) -> dict[str, list[DriftChange]]:
        """The changes of which a part is shown, by the part."""
        changes = self.of(period.period)
        return {part: [each for each in changes if each.shows(part, self._widening)] for part in CHANGE_PARTS[1:]}

    def _advice(self, periods: Sequence[DriftPeriod]) -> str:
        """What to do: where the classifier got worse in any period, after the last one, or where it may be worse."""
        worse = [str(each.period) for each in periods if self._is_worse(each)]
        if worse:
            named = [*worse[:_MOST_NAMED], *([f"{len(worse) - _MOST_NAMED} more"] if len(worse) > _MOST_NAMED else [])]
            return f"Look for the rows of {listed(named)} in which the classifier got worse (slices), or refit it."
        last = periods[-1]
        if not last.labelled:
            return f"Label some rows of {last.period} to see whether the classifier changed."
        if self._shown(last)["by_prevalence"]:
            return "Keep the classifier, and choose its threshold for the new prevalence."
        shares = [each for each in self.changes if each.spec.is_share and each.possible_drop > _LARGE]
        if shares:
            most = max(shares, key=lambda each: (each.shows("by_classifier"), each.possible_drop))
            drop = difference_text(most.possible_drop, share=True)
            lower = "lower" if most.spec.sign > 0 else "higher"
            return (
                f"It is not shown, but {metric_phrase(most.spec)} in {most.period} could be {drop} "
                f"{lower} than in {self.reference}: label more rows of {most.period} before you rely on it."
            )
        return "Keep the classifier and its threshold."

    def _is_worse(self, period: DriftPeriod) -> bool:
        """Whether some metric is shown to be worse by the classifier."""
        shown = self._shown(period)["by_classifier"] if period.labelled else []
        return any(each.spec.sign * each.by_classifier < 0 for each in shown)

    @property
    def _widening(self) -> float:
        """How many times as wide intervals are that hold for all changes together (Bonferroni, as of a normal)."""
        together = 1 - (1 - self.level) / max(len(self.changes), 1)
        return normal_reach(together) / normal_reach(self.level)

    def _unlabelled_sentence(self, period: DriftPeriod) -> str:
        share = percent_interval(period.prevalence, period.prevalence_low, period.prevalence_high)
        if period.is_refused:
            return (
                f"{period.period} has no labels, and its prevalence is not known: label shift does not explain its "
                f"scores ({p_text(period.p_value or 0.0)}). If it held the prevalence would be {share}."
            )
        untested = period.p_value is not None and math.isnan(period.p_value)
        rest = " No test of that applies: the reference has no more ranges of scores than classes." if untested else ""
        return (
            f"{period.period} has no labels, and by its scores a prevalence of {share}; what the classifier does to "
            f"each class is taken as in {self.reference}.{rest}"
        )

    @property
    def headline(self) -> str:
        """How many periods are read against which."""
        return f"What changed in {number_of(len(self.periods) - 1, 'period')} against {self.reference}."

    @property
    def lead(self) -> list[str]:
        """Each period in words."""
        return self.verdict

    @property
    def notes(self) -> list[str]:
        """What the numbers are, and what was assumed."""
        notes = ["Changes of metrics that are shares of rows are in percentage points."]
        if len(self.changes) > 1:
            notes.append(
                f"What is shown holds for all {len(self.changes):,} changes together; each interval is of its change "
                "alone."
            )
        return [*notes, *self.assumed]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The changes as people see them."""
        return [change.shown_row() for change in self.changes]

    def shown_tables(self) -> list[Block]:
        """The periods, the changes, and pictures of the prevalence, of each metric and of the parts of its change."""
        changes = Table.of(self, keys=2, optional=("change",))
        return [Table.of(self.periods, "periods"), changes, *self._figures()]

    def _figures(self) -> Iterator[Figure]:
        names = [str(period.period) for period in self.periods]
        places = {name: i / max(len(names) - 1, 1) for i, name in enumerate(names)}
        ticks = [(place, name) for name, place in places.items()]
        shares = [
            Point(places[str(p.period)], p.prevalence, p.prevalence_low, p.prevalence_high, not p.labelled)
            for p in self.periods
            if not p.is_refused
        ]
        yield Figure("Prevalence", ticks, (Track("prevalence", shares),), 100, " %")
        for metric in dict.fromkeys(change.metric for change in self.changes):
            yield from self._metric_figures(metric, places, ticks)

    def _metric_figures(
        self, metric: str, places: Mapping[str, float], ticks: Sequence[tuple[float, str]]
    ) -> Iterator[Figure]:
        changes = [change for change in self.changes if change.metric == metric]
        first, unlabelled = changes[0], {period.period for period in self.periods if not period.labelled}
        values = [Point(places[str(self.reference)], first.before, first.before_low, first.before_high)]
        values += [Point(places[str(c.period)], *c.bounds("after"), c.period in unlabelled) for c in changes]
        times, unit, points = (100, " %", " in points") if first.spec.is_share else (1, "", "")
        yield Figure(metric, ticks, (Track(metric, values),), times, unit)
        parts = [
            Track(
                name.replace("_", " "),
                [Point(places[str(c.period)], *c.bounds(name)) for c in changes],
                second=name == "by_classifier",
            )
            for name in CHANGE_PARTS[1:]
        ]
        yield Figure(f"Change of {metric}{points}", ticks, parts, times, shows=(0.0,))


def _moved(part: str, changes: list[DriftChange]) -> str:
    """By how much a part raised and lowered metrics, the first of them by name."""
    words = []
    for verb, sign in (("raised", 1), ("lowered", -1)):
        of_verb = [change for change in changes if sign * getattr(change, part) > 0]
        sizes = [
            f"{metric_phrase(each.spec)} by {difference_text(abs(getattr(each, part)), share=each.spec.is_share)}"
            for each in of_verb[:_MOST_NAMED]
        ]
        rest = [f"{len(of_verb) - _MOST_NAMED} more"] if len(of_verb) > _MOST_NAMED else []
        words += [f"{verb} {listed([*sizes, *rest])}"] if of_verb else []
    return " and ".join(words)


# ---------------------------------------------------------------- change parts
# The change of a metric between two periods as a part by the prevalence and one by the classifier.
#
# A metric is a function of the shares of the classes and of what the classifier does to each class. Moving the first
# and then the second, or the other way round, gives two accounts of one change; their mean, Shapley's, adds up exactly.


_LABEL_DRAWS, _SCORE_DRAWS, _ENTRIES = 4_000, 400, 256


class ChangeParts(NamedTuple):
    """The metric before and after, its change, and what the prevalence and the classifier have of it."""

    before: Array
    after: Array
    change: Array
    by_prevalence: Array
    by_classifier: Array


def split_change(at: Corner) -> ChangeParts:
    """The parts by the four corners: the shares of either period with the classifier of either.

    >>> parts = split_change(lambda shares, classifier: np.array([[0.5, 0.7], [0.6, 0.9]])[shares, classifier])
    >>> [round(float(part), 3) for part in parts[2:]]
    [0.4, 0.15, 0.25]
    """
    before, after, moved_shares, moved_classifier = at(0, 0), at(1, 1), at(1, 0), at(0, 1)
    by_prevalence = np.asarray((moved_shares - before + after - moved_classifier) / 2)
    by_prevalence = np.where(np.abs(by_prevalence) < ROUNDING, 0.0, by_prevalence)
    return ChangeParts(before, after, after - before, by_prevalence, after - before - by_prevalence)


class PartBounds(NamedTuple):
    """The lower and the upper bound of the change and of both of its parts."""

    change: tuple[float, float]
    by_prevalence: tuple[float, float]
    by_classifier: tuple[float, float]


def label_parts(
    estimand: Estimand, tables: tuple[Confusion, Confusion], inference: Inference
) -> tuple[ChangeParts, PartBounds]:
    """The parts of a metric of labels, by draws of both tables from their posteriors."""
    cells = [effective_cells(table) for table in tables]
    rng, draws = inference.generator, inference.draws or _LABEL_DRAWS
    drawn = [posterior_draws(rows, weight, draws, rng) for rows, weight in cells]
    centres = [part.centre if part.centre is not None else part.cells.mean(0)[None] for part in drawn]
    seen = split_change(_of_tables(estimand, [(rows * weight)[None] for rows, weight in cells]))
    centre = split_change(_of_tables(estimand, centres))
    around = split_change(_of_tables(estimand, [part.around for part in drawn]))
    return seen, _part_bounds(seen, centre, around, inference)


def _of_tables(estimand: Estimand, tables: list[Array], moved: Array | None = None) -> Corner:
    """The metric at the shares of one table and the rates of another, draws on the first axis of both.

    Shares that have `moved` take the place of those of the second table.
    """
    positive = estimand.positive_place
    shares = [cells.sum(-1) / np.maximum(cells.sum((-1, -2)), 1e-300)[..., None] for cells in tables]
    if moved is not None:
        shares[1] = moved

    def at(shares_of: int, classifier_of: int) -> Array:
        cells = with_class_totals(tables[classifier_of], shares[shares_of])
        if positive is not None:  # against the rest
            fold = class_fold(positive, cells.shape[-1])
            cells = fold @ cells @ fold.T
        return np.atleast_1d(estimand.on_cells(cells))

    return at


def score_parts(
    estimand: Estimand, tables: tuple[ScoreTable, ScoreTable], inference: Inference
) -> tuple[ChangeParts, PartBounds]:
    """The parts of a metric of scores, by the Bayesian bootstrap of both tables."""
    rng, draws = inference.generator, inference.draws or _SCORE_DRAWS
    small = [binned(table, _ENTRIES) for table in tables]
    seen, centre = (split_change(_of_scores(estimand, list(part))) for part in (tables, small))
    drawn = [rank_draws(table, draws, rng, inference.level) for table in small]
    return seen, _part_bounds(seen, centre, split_change(_of_scores(estimand, drawn)), inference)


def prevalence_part(
    estimand: Estimand, positive: Label, prevalence: UnlabelledPrevalence, inference: Inference
) -> tuple[float, float, float]:
    """The change that the prevalence of unlabelled rows makes, the classifier as it was, with its interval."""
    table, rng = estimand.table, inference.generator
    if isinstance(table, Confusion):
        seen, centre, drawn = _moved_tables(estimand, table, table.index(positive), prevalence, inference)
    else:
        small = binned(table, _ENTRIES)  # type: ignore[arg-type]  # else of scores
        draws = rank_draws(small, inference.draws or _SCORE_DRAWS, rng, inference.level)
        shares = prevalence.draws(inference.draws or _SCORE_DRAWS, rng)
        at: list[tuple[Any, Any]] = [(table, float(prevalence)), (small, float(prevalence)), (draws, shares)]
        seen, centre, drawn = (split_change(_of_scores(estimand, [part, part], share)) for part, share in at)
    return float(seen.by_prevalence[0]), *_part_bounds(seen, centre, drawn, inference).by_prevalence


def _moved_tables(
    estimand: Estimand, table: Confusion, positive: int, prevalence: UnlabelledPrevalence, inference: Inference
) -> list[ChangeParts]:
    """The change as seen, at the centre of the draws, and drawn; each draw of the rates gives one of the prevalence."""
    rows, weight = effective_cells(table)
    drawn = posterior_draws(rows, weight, inference.draws or _LABEL_DRAWS, inference.generator).cells
    positive_first = [positive, 1 - positive]
    shares = prevalence.draws_beside(drawn[:, positive_first][:, :, positive_first], inference.generator)
    likely = np.array([float(prevalence)])
    changes = []
    for cells, share in (((rows * weight)[None], likely), (drawn.mean(0)[None], likely), (drawn, shares)):
        of_classes = (share, 1 - share) if positive == 0 else (1 - share, share)
        changes.append(split_change(_of_tables(estimand, [cells, cells], np.stack(of_classes, -1))))
    return changes


def _of_scores(estimand: Estimand, tables: list[ScoreTable], moved: Array | float | None = None) -> Corner:
    shares = [np.asarray(table.positive.total) / np.asarray(table.total) for table in tables]
    if moved is not None:
        shares[1] = np.asarray(moved)
    return lambda shares_of, classifier_of: estimand.on_scores(scores_at(tables[classifier_of], shares[shares_of]))


def _part_bounds(seen: ChangeParts, centre: ChangeParts, drawn: ChangeParts, inference: Inference) -> PartBounds:
    """The bounds that hold the draws, and the draws moved from their centre to what was seen."""
    bounds = []
    for name in PartBounds._fields:
        value, around = float(getattr(seen, name)[0]), float(getattr(centre, name)[0])
        low, high = (float(bound) for bound in quantiles(getattr(drawn, name), inference.tails))
        shift = value - around if np.isfinite(value - around) else 0.0
        bounds.append((min(low, low + shift, value), max(high, high + shift, value)))
    return PartBounds(*bounds)


# ---------------------------------------------------------------- period rows
# Each period's prevalence, share of flagged rows and scores, of labelled and of unlabelled rows.


_UNKNOWN = (math.nan, math.nan, math.nan)  # a value and its bounds


@dataclass(frozen=True)
class Period:
    """A period's tables: labels at the threshold of all, and scores."""

    name: Label
    table: Confusion | None
    scores: ScoreTable | None
    positive: Label
    threshold: float | None
    missing: str | None = None  # a class that has no rows

    @classmethod
    def of(cls, name: Label, tally: Tally, threshold: float | None, positive: Label) -> Period:
        """The tables that were counted of a period."""
        table, scores = tally.confusion, tally.scores
        if table is None and scores is not None and threshold is not None:
            other = next((label for label in tally.labels if label != scores.label), None)
            table = thresholded(scores, threshold, other).table
        missing = None
        if table is not None:
            empty = [label for label, rows in zip(table.labels, table.true_rows, strict=True) if not rows]
            missing = f"no rows of class {empty[0]!r}" if empty else None
        elif scores is not None and not (scores.positive.n and scores.negative.n):
            missing = "rows of one class only"
        return cls(name, table, scores, positive, threshold, missing)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.rows.sum())
        return 0 if self.scores is None else self.scores.n


def period_row(period: Period, first: Period, inference: Inference) -> DriftPeriod:
    """A period of labelled rows: the prevalence and the share of flagged rows, with Jeffreys' intervals, and scores."""
    prevalence, flagged, shift = _UNKNOWN, _UNKNOWN, _UNKNOWN
    table, scores, level = period.table, period.scores, inference.level
    if period.positive is not None and table is not None:
        positive, matrix = table.index(period.positive), np.asarray(table.matrix, dtype=np.float64)
        row_weight = float(table.squares.sum() / max(matrix.sum(), 1e-300)) if table.weighted else 1.0
        total = matrix.sum() / row_weight
        prevalence = _share(matrix[positive].sum() / row_weight, total, level)
        flagged = _share(matrix[:, positive].sum() / row_weight, total, level)
    elif period.positive is not None and scores is not None:
        positives, negatives = scores.positive.effective_size, scores.negative.effective_size
        prevalence = _share(positives, positives + negatives, level)
    if period is not first:
        shift = _score_shift(_every_score(scores), first, inference)
    return DriftPeriod(period.name, period.rows, True, *prevalence, *flagged, *shift)


def _share(hits: float, trials: float, level: float) -> tuple[float, float, float]:
    """A share with its Jeffreys interval."""
    low, high = (float(bound) for bound in RATE_INTERVALS["jeffreys"](np.asarray(hits), np.asarray(trials), level))
    return float(hits / trials), low, high


def _every_score(scores: ScoreTable | None) -> ClassScores | None:
    """The scores of both classes together."""
    return None if scores is None else scores.positive + scores.negative


def _score_shift(scores: ClassScores | None, first: Period, inference: Inference) -> tuple[float, float, float]:
    """How often a score is above one of the reference period, as the area under a ROC curve of the two."""
    reference = _every_score(first.scores)
    if scores is None or reference is None or not (scores.n and reference.n):
        return _UNKNOWN
    table = ScoreTable(scores, reference, "period")
    (auc,) = table_intervals([MetricSpec(roc_auc)], table, CallOptions(), inference)
    return float(auc.value), float(auc.low), float(auc.high)


def unlabelled_period(
    name: Label, rows: Predictions, first: Period, specs: Sequence[MetricSpec], inference: Inference
) -> tuple[DriftPeriod, Unlabelled]:
    """A period of unlabelled rows, and what its scores show."""
    if first.scores is None:
        raise InputError("Periods without labels are read by their scores; give y_score= or score= of the others too.")
    at: dict[str, Any] = {} if first.threshold is None else {"threshold": first.threshold}
    options: dict[str, Any] = {"level": inference.level, "draws": inference.draws, "rng": inference.rng}
    found = unlabelled(rows, reference=first.scores, metrics=specs, **options, **at)
    given = unlabelled_scores(rows, read_reference(first.scores, **at))
    share, every = found.shares[0], ClassScores.of_rows(given.scores, None, given.times)
    flagged = _UNKNOWN
    if first.threshold is not None:
        flagged = _share(float((given.scores >= first.threshold).sum()), float(given.rows), inference.level)
    shift = _score_shift(every, first, inference)
    row = DriftPeriod(name, given.rows, False, share.value, share.low, share.high, *flagged, *shift, found.p_value)
    return row, found


def change_by_prevalence(
    name: Label, row: UnlabelledMetric, before: Sequence[float], moved: Sequence[float]
) -> DriftChange:
    """The change that the prevalence makes where the classifier does to each class what it did in the reference."""
    why = row.undefined or "the part by the classifier is not known without labels"
    return DriftChange.of(name, row.spec, (before, (row.value, row.low, row.high)), [_UNKNOWN, moved, _UNKNOWN], why)


# ---------------------------------------------------------------- drift


_MOST_PERIODS = 400  # more than a year of days


@question
def drift(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    period: ArrayLike | str | None = None,
    reference: Label = None,
    unlabelled: Mapping[Any, Any] | None = None,
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Drift:
    """What changed since a reference period, and whether the prevalence or the classifier changed it.

    `period` is the period of each row, such as the month: one value per row beside arrays, or a column of a frame; a
    Tally counted `by` one column has its periods. The `reference` is the first of them unless it is named. The change
    of each metric is split exactly: the part by the prevalence is what other shares of the classes do, the part by the
    classifier what other rates within the classes do, each the mean over moving it first and moving it last. Intervals
    draw both periods.
    Without `period` each of several files is one. `unlabelled` has the rows of periods without labels, by name: their
    prevalence is that of `steelyard.unlabelled`, and the part by the prevalence follows; the part by the classifier is
    not known. Periods are in their natural order.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> month = np.repeat(["2024-01", "2024-02"], 4000)
    >>> y_true = rng.random(8000) < np.where(month == "2024-01", 0.05, 0.2)
    >>> y_pred = rng.random(8000) < np.where(y_true, 0.7, 0.1)
    >>> found = drift(y_true, y_pred, period=month, metrics=["recall", "precision"])
    >>> print(found.verdict[0])
    2024-02 against 2024-01: the prevalence raised precision by ... points; the classifier shows no change.
    """
    p = Predictions.of(data, predicted, **rows)
    refuse_unused(p, "drift", "by", "cluster", "design")
    tally = _counted(p, period)
    counted = Predictions.of(tally, pos_label=p.given.pos_label, threshold=p.given.threshold)
    periods = _periods(counted)
    first = _reference(periods, reference)
    inference = Inference(level, "auto", draws, rng)
    compared = _AgainstReference(periods[first], inference, _specs(metrics))
    seen = {name: period_row(each, periods[first], inference) for name, each in periods.items()}
    changes = {name: compared.changes(each) for name, each in periods.items() if name != first}
    for name, without in (unlabelled or {}).items():
        if name in seen or str(name) in map(str, seen):
            raise InputError(f"{name!r} is a period of labelled rows; give the unlabelled ones another name.")
        named = p.given.is_frame and names_columns(without)
        new = new_rows(without, {"score": p.given.model.score} if named else {})
        seen[name], changes[name] = compared.unlabelled(name, new)
    if len(seen) < 2:
        raise InputError(f"There is one period only, {first!r}; drift needs two or more.")
    order = naturally_sorted(seen)
    return Drift(
        Rows(seen[name] for name in order),
        Rows(change for name in order for change in changes.get(name, [])),
        first,
        level,
        counted.assumed,
    )


def _counted(p: Predictions, period: ArrayLike | str | None) -> Tally:
    """The rows counted by period."""
    if isinstance(p.given.data, Tally):
        if period is not None or len(p.given.data.by) != 1:
            by = first_ten(p.given.data.by)
            raise InputError(f"A tally by period is counted by= one column; this one is by {by}.")
        return p.given.data
    if period is not None:
        return p.with_options(by=period).tally()
    files = p.each_file()
    if len(files) < 2:
        raise InputTypeError("The period of each row is needed; give period=, such as the month.")
    parts = [replace(each.tally(), by=("file",), groups={(name,): each.tally()}) for name, each in files.items()]
    return sum(parts[1:], parts[0])


def _periods(p: Predictions) -> dict[Label, Period]:
    """Each period with its tables, in order."""
    groups = {key[0]: part for key, part in p.tally().groups.items()}
    if len(groups) > _MOST_PERIODS:
        raise InputError(
            f"There are {len(groups):,} periods, such as {next(iter(groups))!r}, and at most {_MOST_PERIODS} can be "
            "read; give a column of weeks or months instead of dates or time stamps."
        )
    if any(key is None for key in groups):
        raise InputError("Some rows have no period; give each one, or leave them out.")
    whole = p.counted()
    positive = whole.positive_class(p.given.pos_label, is_stated=p.given.is_stated)[0]
    return {name: Period.of(name, groups[name], whole.threshold, positive) for name in naturally_sorted(groups)}


def _reference(periods: Mapping[Label, Period], reference: Label) -> Label:
    if not periods:
        raise InputError("There are no periods; give rows of two or more.")
    if reference is None:
        return next(iter(periods))
    named = {str(name): name for name in periods}
    if str(reference) not in named:
        raise InputError(f"There is no period {reference!r}; there are {first_ten(list(periods))}.")
    return named[str(reference)]


def _specs(metrics: Iterable[SpecLike] | None) -> Sequence[MetricSpec]:
    if metrics is not None:
        return MetricSpec.all_of(metrics)
    return [MetricSpec(metric) for metric in get_metrics(HEADLINE)]


@dataclass(frozen=True)
class _AgainstReference:
    """The reference period, and the metrics whose changes from it are requested."""

    first: Period
    inference: Inference
    specs: Sequence[MetricSpec]
    values: dict[tuple[str, Label], tuple[float, float, float]] = field(default_factory=dict)  # those found already

    def changes(self, other: Period) -> list[DriftChange]:
        """The changes up to another period; of metrics that its tables have."""
        changes = []
        for spec in self.specs:
            estimand = self._estimand(spec, self.first)
            if estimand is not None:
                changes.append(self._change(estimand, other))
        return changes

    def unlabelled(self, name: Label, rows: Predictions) -> tuple[DriftPeriod, list[DriftChange]]:
        """A period of unlabelled rows, and the changes that its prevalence alone makes."""
        specs = [spec for spec in self.specs if self._estimand(spec, self.first) is not None]
        row, found = unlabelled_period(name, rows, self.first, specs, self.inference)
        changes = []
        if found.fits is False:
            why = "label shift does not explain the scores"
            for spec in specs:
                values = [self._value(spec, self.first), _UNKNOWN]
                changes.append(DriftChange.of(name, spec, values, [_UNKNOWN] * 3, why))
            return row, changes
        for metric in found.metrics:
            estimand = self._estimand(metric.spec, self.first)
            assert estimand is not None  # noqa: S101 - asked before
            moved = prevalence_part(estimand, self.first.positive, found.prevalence, self.inference)
            changes.append(change_by_prevalence(name, metric, self._value(metric.spec, self.first), moved))
        return row, changes

    def _change(self, estimand: Estimand, other: Period) -> DriftChange:
        spec = estimand.spec
        values = [self._value(spec, period) for period in (self.first, other)]
        if (missing := other.missing or self.first.missing) is not None:
            change = (values[1][0] - values[0][0], math.nan, math.nan)
            return DriftChange.of(other.name, spec, values, [change, _UNKNOWN, _UNKNOWN], missing)
        after = self._estimand(spec, other)
        assert after is not None  # noqa: S101 - periods are counted alike, and no class is missing
        split = label_parts if isinstance(estimand.table, Confusion) else score_parts
        parts, bounds = split(estimand, (estimand.table, after.table), self.inference)  # type: ignore[arg-type]  # counted alike
        whole = [(float(part[0]), *pair) for part, pair in zip(parts[2:], bounds, strict=True)]
        why = None if math.isfinite(whole[0][0]) else f"{spec.name} is undefined in one of the periods"
        return DriftChange.of(other.name, spec, values, whole, why)

    def _value(self, spec: MetricSpec, period: Period) -> tuple[float, float, float]:
        """The metric in a period, with its interval."""
        if (key := (spec.name, period.name)) not in self.values:
            self.values[key] = _UNKNOWN
            estimand = self._estimand(spec, period)
            if estimand is not None:
                (interval,) = intervals_of([estimand], self.inference)
                self.values[key] = float(interval.value), float(interval.low), float(interval.high)
        return self.values[key]

    def _estimand(self, spec: MetricSpec, period: Period) -> Estimand | None:
        """The metric on the table of a period that it reads; None where it has no form for that."""
        table, scores, positive = period.table, period.scores, self.first.positive
        call = CallOptions()
        if spec.metric.function is not None and table is not None and not spec.reads_scores(scores):
            if positive is None and spec.is_native and spec.metric.classes is None:
                return None
            if positive is not None and spec.is_native:
                call = CallOptions(pos_label=positive)
            return Estimand(spec, table, spec.metric.parameters, spec.options(call))
        if spec.metric.scores is None or scores is None or not spec.metric.fits_scores(scores):
            return None
        if period.missing is not None:
            return None
        return Estimand(spec, scores, spec.metric.parameters, spec.options(call))
