"""Comparison: the differences of models on the same rows by every metric, with the classical tests beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.leaderboard import Leaderboard, leaderboard
from steelyard.analysis.comparison.mcnemar_test import McNemar
from steelyard.analysis.comparison.metric_ranking import Ranking, ranking
from steelyard.analysis.comparison.omnibus_test import LARGEST_PAIR, WALD_TEST, Omnibus
from steelyard.analysis.comparison.pair_wins import PairWins, pair_wins
from steelyard.analysis.comparison.paired_difference import Difference, ModelTables
from steelyard.analysis.comparison.prevalence_leaders import PrevalenceLeaders, prevalence_leaders
from steelyard.analysis.comparison.score_comparison import DeLong
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.results.formatting import p_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Rows, table_text
from steelyard.exceptions import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.metrics.spec import SpecLike


_MANY_DEGREES = 1_000  # from which Student's t is the normal distribution to three digits


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result[Difference]):
    """The differences of every pair of models by every metric, and the classical tests beside them.

    Of more than two models `omnibus` has one test a metric that all of them are equal. Where the models are not
    `paired`, each was evaluated on rows of its own. `intervals` has the values of each model with their intervals.
    """

    models: tuple[str, ...]
    n: int = field(metadata={"key": "rows"})
    level: float
    rows: Rows[Difference] = field(metadata={"key": "differences"})
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    tables: ModelTables = field(repr=False, compare=False)
    assumed: tuple[str, ...] = ()
    omnibus: Rows[Omnibus] = field(default_factory=Rows)
    margin: float | None = None
    paired: bool = True
    intervals: Mapping[str, Rows[Interval]] = field(default_factory=dict, repr=False)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.rows)

    def __repr__(self) -> str:
        head, tests = self.words()
        return "\n".join([head, table_text(self.shown_rows()), *tests, *self.assumed])

    def words(self) -> tuple[str, list[str]]:
        """What stands above the table, and the classical tests below it."""
        rows = f"the same {self.n:,} rows" if self.paired else f"different rows, {self.n:,} in all"
        head = f"{' against '.join(self.models)} on {rows}"
        tests = [f"DeLong, {d.a} - {d.b}: {_statistic(d)}, {p_text(d.p_value)}" for d in self.delong]
        beside = [*map(repr, self.mcnemar), *tests, *self.statements]
        return f"{head}: differences with {100 * self.level:g} % intervals", beside

    @property
    def statements(self) -> list[str]:
        """Whether all models are equal, and which are not worse than others, in sentences."""
        return [*self._omnibus_words(), *self._margin_words()]

    def _omnibus_words(self) -> list[str]:
        """Whether all of more than two models are equal, by every metric in one sentence."""
        wald = "Wald's F test of the joint covariance of their differences"
        hows = {WALD_TEST: wald, LARGEST_PAIR: "The largest difference of all pairs"}
        sentences = []
        for method in dict.fromkeys(test.method for test in self.omnibus):
            tests = (test for test in self.omnibus if test.method == method)
            sentences.append(f"{hows[method]}: {', '.join(f'{p_text(t.p_value)} by {t.metric}' for t in tests)}.")
        return [f"Are all {len(self.models)} models equal? {' '.join(sentences)}"] if sentences else []

    def _margin_words(self) -> list[str]:
        """By which metrics the first model of each pair is shown to be not worse than the second."""
        if self.margin is None:
            return []
        sentences = []
        for a, b in dict.fromkeys((row.a, row.b) for row in self.rows):
            p_values = {row.metric: row.p_not_worse for row in self.rows if (row.a, row.b) == (a, b)}
            tested = {metric: p for metric, p in p_values.items() if p is not None and not math.isnan(p)}
            shown = {metric: p for metric, p in tested.items() if p < (1 - self.level) / 2}
            claim = f"{a} is not worse than {b} by more than {self.margin:g}"
            for words, by in (("shown", shown), ("not shown", {m: p for m, p in tested.items() if m not in shown})):
                metrics = ", ".join(f"{metric} (one-sided {p_text(p)})" for metric, p in by.items())
                sentences += [f"{claim}: {words} by {metrics}."] if metrics else []
        return sentences

    @property
    def headline(self) -> str:
        """Which models on which rows."""
        return self.words()[0]

    @property
    def notes(self) -> list[str]:
        """The classical tests."""
        return self.words()[1]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as they are printed."""
        return [self._shown(row) for row in self.rows]

    def _shown(self, row: Difference) -> dict[str, Any]:
        """A row as it is printed: two models by their names alone."""
        pair = {"a": row.a, "b": row.b} if len(self.models) > 2 else {}
        names = ("value_a", "value_b") if pair else self.models
        every = ("simultaneous_low", "simultaneous_high") if pair else ()
        margin = () if self.margin is None else ("p_not_worse",)
        rest = ("difference", "low", "high", *every, "p_value", "p_holm", *margin, "why")
        values = dict(zip(names, (row.value_a, row.value_b), strict=True))
        return {"metric": row.metric, **pair, **values, **{key: getattr(row, key) for key in rest}}

    def leaderboard(self, metric: SpecLike | None = None) -> Leaderboard:
        """The models from the best to the worst by a metric, and which of them are not distinguishable.

        Without a name it is the registry's default where that was compared, else the first metric.
        """
        return leaderboard(self, metric)

    def wins(self) -> Rows[PairWins]:
        """Of each pair of models the metrics by which one is better, by Holm's p-values of the whole comparison."""
        return pair_wins(self.rows, self.level)

    def leaders(self, prevalences: Sequence[float] | None = None) -> PrevalenceLeaders:
        """Which model leads by each metric at each prevalence, and in `flips` where the leader changes."""
        return prevalence_leaders(self.models, self.tables, prevalences)

    def ranking(
        self, a: str | None = None, b: str | None = None, *, prevalences: Sequence[float] | None = None
    ) -> Ranking:
        """The metrics by how much they favour model a over b, here and at other prevalences (Wu and Cannistraci)."""
        if a is None and b is None and len(self.models) == 2:
            a, b = self.models
        for name in (a, b):
            if name not in self.models:
                models, near = ", ".join(map(repr, self.models)), did_you_mean(str(name), self.models)
                raise InputError(f"ranking takes two of the models {models}, not {name!r}.{near}")
        return ranking(str(a), str(b), self.tables, prevalences)


def _statistic(test: DeLong) -> str:
    """The statistic, and the degrees of freedom it is read with where they are few enough to show."""
    degrees = f" with {test.degrees:.3g} degrees of freedom" if test.degrees < _MANY_DEGREES else ""
    return f"{'t' if degrees else 'z'} = {test.z:.3g}{degrees}"
