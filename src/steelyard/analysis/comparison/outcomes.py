"""Outcomes: what models find, miss and flag in error, of as many rows: at a capacity, by their labels, or by label.

A model that may raise K alerts among N rows flags its K highest scores; rows that are equal at the last of them share
what is left of K, so that what it finds is linear between distinct scores. Its threshold is one of these rows, and on
other rows is another one. Where a draw of the rows flags F rows at the old threshold and finds T of P positives, the
threshold moves until K are flagged again, and takes or gives back alerts of which the share p is positive, the
precision right at the threshold, dT/dK:

    recall at the capacity = (T - p (F - K)) / P

which has the influence of a quantile to the first order (Bahadur 1966, Annals of Mathematical Statistics 37, 577-580),
as Ash and Hughes-Oliver (2022), Journal of Cheminformatics 14, 50, have it for hit enrichment curves of one model and
of two on the same rows. The rows are drawn from the posterior of truth x flagged by A x flagged by B with half a row in
each cell, as other differences of labels are; rows that share what is left of K have cells of their own, without which
scores of 6 to 12 levels have intervals 1.3 times as wide. p is drawn from the beta distribution of the positives among
the alerts from K / 2 before the threshold to K / 2 behind it. benchmarks/coverage.py simulates how often it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.evidence import FEWEST, DrawnEvidence, StudentEvidence
from steelyard.analysis.distributions import normal_below, normal_quantile
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.draws import steps, student_spread, with_class_totals
from steelyard.analysis.results.denominator import FEW_ROWS, denominator
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.analysis.results.result import Flat, Rows
from steelyard.arrays.backend import as_read
from steelyard.arrays.numbers import weight_per_row
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from steelyard._types import Array
    from steelyard.analysis.comparison.evidence import Evidence, JudgedDifference
    from steelyard.analysis.comparison.paired import ScoredRows
    from steelyard.analysis.intervals.design import RowMass, StudentSpread
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.results.capacity import AlertCapacity
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.score_table import ScoreTable

    Spread: TypeAlias = Callable[[Array], StudentSpread]  # of a mean, by how much each row moves it

_HALF_ROW, _WHOLE_ROW = 0.5, 1.0  # in each cell, of models on the same rows, and of models on rows of their own
_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 10_000, 1_000, 20_000_000
_FEWEST_NEAR = 5.0  # rows on either side of the threshold that tell its precision
_POWER = 0.8


FOUND, FALSE_ALARMS, RIGHT = "found", "false alarms", "right"  # what outcomes differ by
AT_CAPACITY, OF_LABELS, OF_CLASSES, OF_LABEL_SETS = "capacity", "labels", "classes", "label sets"


@dataclass(frozen=True, eq=False)
class ModelOutcome(Flat):
    """What one model finds, misses and flags in error of the rows that the outcomes speak of.

    Of several classes `found` are the rows that are right, of label sets the labels.
    """

    model: str
    found: float
    missed: float
    false_alarms: float


@dataclass(frozen=True, eq=False)
class OutcomeDifference(Flat):
    """How many more model a finds than model b, or flags in error, with the interval and the test of that.

    `needed` is how many positives, or rows of several classes, would tell this difference from none in 4 of 5 test
    sets; infinite where there is none.
    """

    a: str
    b: str
    what: str
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    needed: float
    why: str | None = None


@dataclass(frozen=True, eq=False)
class Outcomes(Flat):
    """What each model does with the same number of rows, of which so many are positive, and how far models differ.

    `basis` is "capacity", "labels", "classes" or "label sets"; at a capacity each model raises so many `alerts`, and
    `is_given` says whether their number was given: else there are as many as positives. Where they are of `runs` of a
    cross-evaluation, all are means over these.
    """

    basis: str
    of: float = field(metadata={"key": "rows"})
    positives: float
    models: Rows[ModelOutcome]
    differences: Rows[OutcomeDifference]
    alerts: float = math.nan
    is_given: bool = False
    runs: int | None = None


# ---------------------------------------------------------------- one model


@dataclass(frozen=True)
class Flagging:
    """What a model flags at a share of the rows: its threshold, the part of the rows there, and what it finds."""

    threshold: float
    part: float  # of the rows at the threshold that is flagged
    recall: float
    near: tuple[float, float]  # positives and negatives around the threshold, in effective rows

    @classmethod
    def of(cls, table: ScoreTable, share: float) -> Flagging:
        """Where a table of scores flags that share."""
        tp = np.asarray(table.counts.tp, np.float64)
        flagged, capacity = tp + table.counts.fp, share * float(table.total)
        at = min(int(np.searchsorted(flagged, capacity * (1 - 1e-12))), len(flagged) - 1)
        within = flagged[at] - flagged[max(at - 1, 0)]
        part = (capacity - flagged[max(at - 1, 0)]) / within if within else 1.0
        weights, squares = (sum(getattr(side, name).sum() for side in table.classes) for name in ("weights", "squares"))
        row_weight = float(squares / weights)
        around = max(capacity / 2, _FEWEST_NEAR * row_weight)
        ends = np.clip([capacity - around, capacity + around], 0, flagged[-1])
        positives = float(np.diff(np.interp(ends, flagged, tp))[0])
        rows = (positives / row_weight, max(float(np.diff(ends)[0]) - positives, 0.0) / row_weight)
        recall = float(np.interp(capacity, flagged, tp)) / float(table.positive.total)
        return cls(float(table.thresholds[at]), min(float(part), 1.0), recall, rows)

    def kinds(self, scores: Array, precision: str) -> Array:
        """Of each row 0 where it is not flagged, 2 where it is, 1 where it shares what is left of the capacity."""
        threshold = as_read(self.threshold, precision)
        at = 2 if self.part > 1 - 1e-9 else 1
        return np.where(scores > threshold, 2, np.where(scores == threshold, at, 0))

    @property
    def weights(self) -> Array:
        """What a row of each kind counts as flagged."""
        return np.array([0.0, self.part, 1.0])

    def drawn_recall(self, flagged: Array, totals: Array, share: float, rng: np.random.Generator) -> Array:
        """The recall at the capacity in draws: flagged rows of each class, negatives first, and all of them."""
        precision = rng.beta(self.near[0] + 0.5, self.near[1] + 0.5, len(flagged))
        moved = flagged.sum(1) - share * totals.sum(1)
        return np.asarray(np.clip((flagged[:, 1] - precision * moved) / totals[:, 1], 0, 1))


def found_at(table: ScoreTable, capacity: AlertCapacity | None) -> float:
    """The share of the positives that a model finds at a capacity, else among as many alerts as there are positives.

    >>> from steelyard import score_table
    >>> found_at(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), None)
    0.5
    """
    if not (table.positive.total and table.negative.total):
        return math.nan
    return Flagging.of(table, capacity_share(table, capacity)).recall


def capacity_share(table: ScoreTable, capacity: AlertCapacity | None) -> float:
    """The share of rows that the capacity is, which is the prevalence where none is given."""
    if capacity is None:
        return float(table.positive.total / table.total)
    alerts, rows = capacity.of(table.n)
    return alerts / rows


# ---------------------------------------------------------------- the same rows


def paired_alerts(
    rows: ScoredRows,
    tables: Mapping[str, ScoreTable],
    capacity: AlertCapacity | None,
    inference: Inference,
    *,
    fixed: bool = False,
    why: str | None = None,
) -> Outcomes:
    """What models find on the same rows at one capacity, in `fixed` shares of the classes those of the tables.

    `why` is the reason for which differences are not judged, where there is one.
    """
    first = next(iter(tables.values()))
    share = capacity_share(first, capacity)
    flaggings = {name: Flagging.of(table, share) for name, table in tables.items()}
    totals = np.array([first.negative.total, first.positive.total], np.float64) if fixed else None
    drawn: dict[tuple[str, str], Array] = {}
    for a, b in combinations(tables, 2):
        kinds = [flaggings[name].kinds(rows.values[name], tables[name].precision) for name in (a, b)]
        rng = inference.draws_of("alerts", len(drawn))
        cells = _paired_draws(rows.positive, kinds[0], kinds[1], rows.mass, inference, rng)
        of_class = cells.sum((2, 3)) if totals is None else np.broadcast_to(totals, (len(cells), 2))
        recalls = []
        for name, axis in ((a, 3), (b, 2)):
            margin = cells.sum(axis) if totals is None else with_class_totals(cells.sum(axis), totals)
            recalls.append(flaggings[name].drawn_recall(margin @ flaggings[name].weights, of_class, share, rng))
        drawn[a, b] = recalls[0] - recalls[1]
    outcomes = _alerts(tables, flaggings, drawn, capacity, share, inference.level)
    if why is None:
        return outcomes
    nan = math.nan
    untested = (
        replace(row, low=nan, high=nan, p_value=nan, p_holm=nan, needed=nan, why=why) for row in outcomes.differences
    )
    return replace(outcomes, differences=Rows(untested))


def _paired_draws(
    positive: Array, a: Array, b: Array, mass: RowMass, inference: Inference, rng: np.random.Generator
) -> Array:
    """Draws of the weight of truth x kind by A x kind by B, draws on a first axis."""
    code, corners = (positive.astype(np.intp) * 3 + a) * 3 + b, np.zeros((2, 3, 3))
    corners[:, ::2, ::2] = _HALF_ROW
    prior = corners.ravel()
    if mass.clusters is None:
        rows = np.bincount(code, mass.mass, minlength=18).astype(np.float64)
        squares = rows if mass.weights is None else np.bincount(code, mass.squares, minlength=18)
        of_class = [np.repeat(column.reshape(2, 9).sum(1), 9) for column in (rows, squares)]
        usual = weight_per_row(*of_class)
        row_weight = np.where(rows > 0, squares / np.where(rows > 0, rows, 1), usual)
        drawn = rng.standard_gamma(rows / row_weight + prior, (_draws(inference, 18), 18)) * row_weight
    else:
        clusters = int(mass.clusters.max()) + 1
        tables = np.bincount(mass.clusters.astype(np.intp) * 18 + code, mass.mass, minlength=clusters * 18)
        tables = tables.reshape(clusters, 18)
        tables = tables[tables.any(1)]
        sizes = tables.sum(1)
        of_a_row = mass.row_weight
        shape = student_spread(float(sizes.sum() ** 2 / (sizes**2).sum()), inference.level)
        parts = [
            rng.standard_gamma(shape, (n, len(tables))) / shape @ tables + rng.standard_gamma(prior, (n, 18)) * of_a_row
            for n in steps(_draws(inference, len(tables)), len(tables))
        ]
        drawn = np.concatenate(parts)
    return np.asarray(drawn.reshape(-1, 2, 3, 3))


def _draws(inference: Inference, work: int) -> int:
    return inference.draws or int(np.clip(_MOST_WORK // max(work, 1), _FEWEST_DRAWS, _DRAWS))


# ---------------------------------------------------------------- different rows


def unpaired_alerts(
    tables: Mapping[str, ScoreTable],
    capacity: AlertCapacity | None,
    inference: Inference,
    fixed: Mapping[str, bool],
) -> Outcomes:
    """What models find at one capacity, each on rows of its own."""
    if capacity is not None and capacity.rows is None:
        raise InputError(
            "The models have different rows, so that a capacity is a share of them; write it as '200 of 10000'."
        )
    flaggings, recalls = {}, {}
    for i, (name, table) in enumerate(tables.items()):
        share, rng = capacity_share(table, capacity), inference.draws_of("alerts", i)
        flaggings[name] = Flagging.of(table, share)
        cells = _class_draws(table.compact(), flaggings[name], inference, rng)
        totals = np.array([table.negative.total, table.positive.total], np.float64)
        if fixed[name]:
            cells = with_class_totals(cells, totals)
        of_class = cells.sum(2)
        recalls[name] = flaggings[name].drawn_recall(cells @ flaggings[name].weights, of_class, share, rng)
    drawn = {(a, b): recalls[a] - recalls[b] for a, b in combinations(tables, 2)}
    first = next(iter(tables.values()))
    return _alerts(tables, flaggings, drawn, capacity, capacity_share(first, capacity), inference.level)


def _class_draws(table: ScoreTable, flagging: Flagging, inference: Inference, rng: np.random.Generator) -> Array:
    """Draws of the weight of truth x kind of one model, negatives first."""
    drawn = []
    for side in (table.negative, table.positive):
        kinds = flagging.kinds(side.scores, table.precision)
        weights, squares = (np.bincount(kinds, column, minlength=3) for column in (side.weights, side.squares))
        row_weight = float(weight_per_row(weights.sum(), squares.sum()))
        shapes = weights / row_weight + np.array([_WHOLE_ROW, 0, _WHOLE_ROW])
        drawn.append(rng.standard_gamma(shapes, (_draws(inference, 6), 3)) * row_weight)
    return np.stack(drawn, axis=1)


# ---------------------------------------------------------------- conclusions


def _alerts(
    tables: Mapping[str, ScoreTable],
    flaggings: Mapping[str, Flagging],
    drawn: Mapping[tuple[str, str], Array],
    capacity: AlertCapacity | None,
    share: float,
    level: float,
) -> Outcomes:
    """The recalls and their differences, in positives of the rows that the result speaks of."""
    first = next(iter(tables.values()))
    prevalence = float(first.positive.total / first.total)
    of = _rows_spoken_of(prevalence, first, capacity)
    positives, alerts = prevalence * of, share * of
    models: Rows[ModelOutcome] = Rows()
    for name, flagging in flaggings.items():
        found = positives * flagging.recall
        models.append(ModelOutcome(name, found, positives - found, alerts - found))
    tests = []
    for (a, b), draws in drawn.items():
        difference = flaggings[a].recall - flaggings[b].recall
        evidence = FoundEvidence(difference, draws)
        tests.append(outcome_difference(a, b, FOUND, evidence, _p_value(evidence), positives, first.positive.n, level))
    return Outcomes(AT_CAPACITY, of, positives, models, adjusted(tests), alerts, capacity is not None)


@dataclass(frozen=True)
class FoundEvidence(DrawnEvidence):
    """A difference of two recalls and what it is in draws, which the half rows added to each cell take towards 0.

    The interval also holds the draws around the observed difference: of 8 positives of 2,000 rows, of which one model
    finds nearly all and the other next to none, .91 of the intervals would hold the true difference without.
    """

    def bounds(self, level: float) -> tuple[float, float]:
        """The quantiles of the draws, as they are and around the difference."""
        low, high = super().bounds(level)
        shift = self.difference - float(self.drawn.mean())
        return max(min(low, low + shift), -1.0), min(max(high, high + shift), 1.0)


def _rows_spoken_of(prevalence: float, table: ScoreTable, capacity: AlertCapacity | None) -> float:
    """Of how many rows the outcomes speak: those of the capacity, else the denominator of the result."""
    if capacity is not None:
        return float(table.n) if capacity.rows is None else capacity.rows
    return float(denominator(prevalence, None if table.weighted else table.n))


def outcome_difference(
    a: str, b: str, what: str, evidence: Evidence, p_value: float, scale: float, rows: float, level: float
) -> OutcomeDifference:
    """A difference of two shares in rows, of which there are so many; not yet adjusted for other pairs."""
    low, high = evidence.bounds(level)
    if p_value > 1 - level:  # the interval holds 0 where the test does not reject it
        low, high = min(low, 0.0), max(high, 0.0)
    difference = evidence.difference
    needed = rows_that_tell(difference, high - low, rows, level)
    return OutcomeDifference(a, b, what, scale * difference, scale * low, scale * high, p_value, p_value, needed)


def adjusted(differences: Iterable[OutcomeDifference]) -> Rows[OutcomeDifference]:
    """The differences with Holm's p-values of all pairs, of each kind of outcome for itself."""
    rows = Rows(differences)
    for what in dict.fromkeys(row.what for row in rows):
        places = [i for i, row in enumerate(rows) if row.what == what]
        for i, p in zip(places, holm(rows[i].p_value for i in places), strict=True):
            rows[i] = replace(rows[i], p_holm=p)
    return rows


def _p_value(evidence: DrawnEvidence) -> float:
    """Twice the share of the draws on the other side of 0, a normal tail where they are few."""
    if abs(evidence.difference) <= ROUNDING:
        return 1.0
    few, draws = min(int((evidence.drawn <= 0).sum()), int((evidence.drawn >= 0).sum())), len(evidence.drawn)
    if few >= FEWEST:
        return min(2 * (few + 1) / (draws + 1), 1.0)
    tail = 2 * float(normal_below(-abs(evidence.difference) / evidence.error)) if evidence.error else 0.0
    return min(tail, 2 * FEWEST / draws)


def rows_that_tell(difference: float, width: float, rows: float, level: float) -> float:
    """How many such rows would show this difference with a probability of 0.8; infinite where there is none.

    An interval of that level is narrower by the root of the rows, so that rows x ((z + z of the power) x standard error
    / difference)^2 do, with the standard error that the width has now.

    >>> round(rows_that_tell(0.05, 0.2, 100, 0.95))
    817
    """
    if abs(difference) <= ROUNDING or not math.isfinite(width):
        return math.inf
    z = -float(normal_quantile((1 - level) / 2))
    error = width / (2 * z)
    return rows * ((z + float(normal_quantile(_POWER))) * error / difference) ** 2


# ---------------------------------------------------------------- labels


def label_outcomes(
    tables: Mapping[str, Confusion],
    differences: Sequence[JudgedDifference],
    level: float,
    *,
    has_positive: bool,
    is_read: bool,
) -> list[Outcomes]:
    """What models find, miss and flag in error as they predict; of several classes how many rows are right.

    `is_read` says whether the tables are read at another prevalence. Of models on rows of their own those of the first.
    """
    first = next(iter(tables.values()))
    judged = {(each.row.a, each.row.b, each.row.spec.name): each for each in differences}
    matrices = {name: np.asarray(table.matrix, np.float64) for name, table in tables.items()}
    total, n = float(first.matrix.sum()), None if is_read or first.weighted else int(first.rows.sum())
    models: Rows[ModelOutcome] = Rows()
    if has_positive and len(first.labels) == 2:
        place = first.index(first.positive_label())
        share = float(first.matrix[place].sum() / total)
        of = float(denominator(share, n))
        basis, positives = OF_LABELS, share * of
        for name, matrix in matrices.items():
            rows_of_class = matrix.sum(1)
            shares = matrix[:, place] / np.where(rows_of_class > 0, rows_of_class, math.nan)
            found, false = positives * float(shares[place]), (of - positives) * float(shares[1 - place])
            models.append(ModelOutcome(name, found, positives - found, false))
        rows = [float(first.rows[row].sum()) for row in (place, 1 - place)]
        parts = [(FOUND, "recall", positives, rows[0], 1), (FALSE_ALARMS, "specificity", of - positives, rows[1], -1)]
    elif has_positive:  # averages over classes
        return []
    else:
        of = float(n if n is not None and n <= FEW_ROWS else FEW_ROWS)
        basis, positives = OF_CLASSES, math.nan
        for name, matrix in matrices.items():
            right = of * float(matrix.trace() / matrix.sum())
            models.append(ModelOutcome(name, right, of - right, math.nan))
        parts = [(RIGHT, "accuracy", of, float(first.rows.sum()), 1)]
    tests = []
    for a, b in combinations(tables, 2):
        for what, metric, scale, rows_of_it, sign in parts:
            each = judged[a, b, metric]
            row = outcome_difference(a, b, what, each.evidence, each.p_value, scale, rows_of_it, level)
            row = replace(row, why=each.row.why)
            tests.append(row if sign > 0 else replace(row, difference=-row.difference, low=-row.high, high=-row.low))
    return [Outcomes(basis, of, positives, models, adjusted(tests))]


def label_set_outcomes(tables: Mapping[str, MultilabelTable], spread: Spread, level: float) -> Outcomes:
    """How many labels models find, miss and add in error, of 100 rows, or of all where they are fewer."""
    first = next(iter(tables.values()))
    of = float(min(first.n, 100))
    weights = np.asarray(first.row_weights)
    cells = {name: table.by_row for name, table in tables.items()}
    models: Rows[ModelOutcome] = Rows()
    for name, rows in cells.items():
        found, missed, false = (of * float(weights @ part) / weights.sum() for part in (rows.tp, rows.fn, rows.fp))
        models.append(ModelOutcome(name, found, missed, false))
    positives, tests = models[0].found + models[0].missed, []
    for a, b in combinations(tables, 2):
        for what in (FOUND, FALSE_ALARMS):
            sides = (cells[name].tp if what == FOUND else cells[name].fp for name in (a, b))
            of_a, of_b = (np.asarray(side, np.float64) for side in sides)
            mean = float(weights @ (of_a - of_b) / weights.sum())
            evidence = StudentEvidence(mean, spread((of_a - of_b - mean) / weights.sum()), (-math.inf, math.inf))
            p_value = min(2 * evidence.spread.share_below(abs(mean)), 1.0)
            tests.append(outcome_difference(a, b, what, evidence, p_value, of, first.n, level))
    return Outcomes(OF_LABEL_SETS, of, positives, models, adjusted(tests))
