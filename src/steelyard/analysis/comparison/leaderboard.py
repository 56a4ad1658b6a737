"""Leaderboard: compared models from the best to the worst by a metric, and which of them no test distinguishes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from steelyard.analysis.comparison.brackets import brackets, letters
from steelyard.analysis.comparison.leaderboard_sentences import leaderboard_sentences
from steelyard.analysis.comparison.model_intervals import RowDesign, model_intervals
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.results.formatting import ROUNDING, interval_text, value_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.exceptions import InputError, did_you_mean
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.metrics.spec import SpecLike


class RankedValue(Protocol):
    """A value with its interval, and why one of them is missing."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""

    @property
    def why(self) -> Any:
        """The reason."""


class TestedPair(Protocol):
    """Two models, their difference, and the p-value that it is 0."""

    @property
    def a(self) -> str:
        """The first model."""

    @property
    def b(self) -> str:
        """The second model."""

    @property
    def difference(self) -> float:
        """The first minus the second."""

    @property
    def p_value(self) -> float:
        """Of the test that it is 0; NaN where it was not tested."""

    @property
    def why(self) -> Any:
        """Why it was not tested."""


@dataclass(frozen=True, eq=False)
class RankedModel(Flat):
    """One model of a leaderboard: its place, its value with the interval, and the letters of its brackets."""

    place: int | None
    model: str
    value: float
    low: float
    high: float
    letters: str
    why: str | None = None


@dataclass(frozen=True, eq=False)
class RankedPair(Flat):
    """Two models of a leaderboard, the better one first, and the test that they are equal; Holm's p of all pairs."""

    better: str
    worse: str
    difference: float
    p_value: float
    p_holm: float
    is_distinguishable: bool
    why: str | None = None

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value."""
        return not math.isnan(self.p_holm)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result[RankedModel]):
    """The models from the best to the worst by one metric.

    Models that share a letter, and so stand in one of the `brackets`, are not distinguishable: the test of their
    difference has a p-value of 1 - level or more by Holm's method over all pairs by this metric. A pair that was not
    tested shares none. Where `runs` says how many, values are means over the runs of a cross-evaluation.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    level: float
    rows: Rows[RankedModel]
    pairs: Rows[RankedPair]
    brackets: tuple[tuple[str, ...], ...]
    runs: int | None = None

    def __iter__(self) -> Iterator[RankedModel]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return "\n".join([self.headline, table_text(self.shown_rows())])

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def headline(self) -> str:
        """Who leads whom, and which tests do not distinguish."""
        return " ".join(statement.text() for statement in leaderboard_sentences(self))

    def shown_rows(self) -> list[dict[str, object]]:
        """The models as people see them."""
        share = self.spec.is_share
        return [
            {
                "place": row.place,
                "model": row.model,
                self.metric: value_text(row.value, share=share),
                f"{100 * self.level:g} % interval": _ends(row, share=share),
                "letters": row.letters,
                "why": row.why,
            }
            for row in self.rows
        ]

    @property
    def untested(self) -> list[RankedPair]:
        """The pairs of models with a value whose difference was not tested, each with the reason."""
        ranked = {row.model for row in self.rows if row.place is not None}
        return [pair for pair in self.pairs if {pair.better, pair.worse} <= ranked and not pair.is_tested]

    @property
    def has_letters(self) -> bool:
        """Whether a test was made, of which the letters are."""
        return any(pair.is_tested for pair in self.pairs)

    def pair(self, a: str, b: str) -> RankedPair:
        """The test of two models."""
        return next(pair for pair in self.pairs if {pair.better, pair.worse} == {a, b})


def _ends(row: RankedModel, *, share: bool) -> str | None:
    if math.isnan(row.low):
        return None
    return interval_text(row.value, row.low, row.high, share=share).partition("(")[2].removesuffix(")")


def ranked_spec(comparison: Comparison, metric: SpecLike | None) -> MetricSpec:
    """The metric of the comparison that is named; else the default where it was compared, or the first with a best."""
    specs = comparison.tables.specs
    if metric is None:
        default = MetricSpec(default_metric())
        named = default if default in specs else next((spec for spec in specs if spec.sign), specs[0])
    else:
        named = MetricSpec.of(metric)
    if named not in specs:
        near = did_you_mean(named.name, [spec.name for spec in specs])
        listed = ", ".join(spec.name for spec in specs)
        raise InputError(f"The models were not compared by {named.name}, only by {listed}.{near}")
    if not named.sign:
        raise InputError(f"No value of {named.name} is best, so no model leads by it; name another.")
    return named


def leaderboard(comparison: Comparison, metric: SpecLike | None = None) -> Leaderboard:
    """The models of a comparison by one metric."""
    spec = ranked_spec(comparison, metric)
    place = comparison.tables.specs.index(spec)
    own = comparison.intervals or model_intervals(comparison.tables, Inference(comparison.level), RowDesign())
    values = {name: own[name][place] for name in comparison.models}
    tests = [row for row in comparison.rows if row.spec == spec]
    return ranked_leaderboard(spec, comparison.level, values, tests)


def ranked_leaderboard(
    spec: MetricSpec,
    level: float,
    values: Mapping[str, RankedValue],
    tests: Sequence[TestedPair],
    runs: int | None = None,
) -> Leaderboard:
    """The models in the order of their values, joined where the tests of their pairs do not distinguish them."""
    worth = {name: spec.sign * float(value.value) for name, value in values.items()}
    order = sorted(worth, key=lambda name: math.inf if math.isnan(worth[name]) else -worth[name])
    defined = [name for name in order if not math.isnan(worth[name])]
    pairs = _pairs(tests, order, level)
    apart = {frozenset((pair.better, pair.worse)) for pair in pairs if pair.is_distinguishable or not pair.is_tested}
    joined = brackets(defined, apart)
    shown = letters(defined, joined) if len(defined) == 1 or any(pair.is_tested for pair in pairs) else {}
    rows = Rows(_ranked(name, values[name], _place(worth, name), shown.get(name, "")) for name in order)
    return Leaderboard(spec, level, rows, pairs, joined, runs)


def _place(worth: dict[str, float], name: str) -> int | None:
    """One more than the models that are better; None where the value is undefined."""
    if math.isnan(worth[name]):
        return None
    return 1 + sum(other > worth[name] + ROUNDING for other in worth.values())


def _ranked(name: str, interval: RankedValue, place: int | None, shared: str) -> RankedModel:
    why = None if interval.why is None else str(interval.why)
    return RankedModel(place, name, float(interval.value), float(interval.low), float(interval.high), shared, why)


def _pairs(rows: Sequence[TestedPair], order: Sequence[str], level: float) -> Rows[RankedPair]:
    """The tests of all pairs by one metric, corrected together; one that was not made distinguishes nothing."""
    places = {name: place for place, name in enumerate(order)}
    tests: Rows[RankedPair] = Rows()
    for row, p_holm in zip(rows, holm(row.p_value for row in rows), strict=True):
        turned = places[row.a] > places[row.b]
        better, worse, sign = (row.b, row.a, -1) if turned else (row.a, row.b, 1)
        numbers = (sign * row.difference, row.p_value, p_holm, p_holm < 1 - level)
        tests.append(RankedPair(better, worse, *numbers, row.why))
    return tests
