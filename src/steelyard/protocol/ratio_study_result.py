"""RatioStudy: metrics on test sets of several ratios, their spread over these, with the unbalanced factor and not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard._types import Array
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import filled, listed, number_of, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.auditing.ratio_spread import ratio_spread
from steelyard.exceptions import UnknownNameError, did_you_mean
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW_OF_A_CLASS = 10  # rows of a class of a test set below which one row moves its rate by more than 0.1
_DIGITS = 12  # of a spread that are no rounding


@dataclass(frozen=True, eq=False)
class MetricSpread(Flat):
    """One metric of one model: its mean at each ratio, and how far it moves over them.

    `spread` is the highest less the lowest value of a repetition, mean over these, so chance is part of it; `exact` is
    the same with the tested rows weighted to each ratio in place of drawn ones. `corrects` is the metric that this one
    corrects for the ratio, None where it corrects none.
    """

    model: str
    metric: str
    corrects: str | None
    means: dict[str, float]
    spread: float
    exact: float
    undefined: int

    def row(self) -> dict[str, Any]:
        """The metric as a row of a table, a column a ratio."""
        row: dict[str, Any] = {"model": self.model, "metric": self.metric, **self.means}
        row |= {"spread": self.spread, "spread by weights": self.exact}
        return row | ({"undefined": self.undefined} if self.undefined else {})


@dataclass(frozen=True, eq=False, repr=False)
class RatioStudy(Result[MetricSpread]):
    """The cells (first axis: tp, fn, fp, tn) of the drawn test sets by model, ratio and repetition, and what they say.

    `whole` are those of all rows tested, by model and repetition; `sizes` the positives and negatives of each set.
    """

    metrics: tuple[str, ...]
    models: tuple[str, ...]
    ratios: tuple[str, ...]
    shares: tuple[float, ...]
    sizes: tuple[tuple[int, int], ...]
    cells: Array
    whole: Array
    positive: str
    remarks: tuple[str, ...] = ()
    also_saved: ClassVar = ("spreads",)

    def __iter__(self) -> Iterator[MetricSpread]:
        return iter(self.spreads)

    def tables(self, model: str | None = None) -> dict[str, Counts[Array]]:
        """The tables of each ratio, one a repetition, of a model: the first unless one is named."""
        place = self._place(model)
        return {ratio: Counts.trusted(*self.cells[:, place, r]) for r, ratio in enumerate(self.ratios)}

    @property
    def spreads(self) -> Rows[MetricSpread]:
        """One row for each model and metric."""
        return Rows(row for model in self.models for row in self._of_model(model))

    def _of_model(self, model: str) -> Iterator[MetricSpread]:
        whole = Counts.trusted(*self.whole[:, self._place(model)])
        weighted = {ratio: at_prevalence(whole, share) for ratio, share in zip(self.ratios, self.shares, strict=True)}
        drawn, exact = (ratio_spread(tables, metrics=self.metrics) for tables in (self.tables(model), weighted))
        for row, by_weight in zip(drawn, exact, strict=True):
            corrects = get_metric(row.metric).corrects
            exactly = round(by_weight.spread, _DIGITS)
            yield MetricSpread(model, row.metric, corrects, row.means, row.spread, exactly, row.left_out)

    def spread(self, metric: str, model: str | None = None) -> float:
        """How far a metric of a model moves over the ratios, mean over the repetitions."""
        wanted = self.models[self._place(model)]
        return next(row.spread for row in self.spreads if (row.model, row.metric) == (wanted, metric))

    def _place(self, model: str | None) -> int:
        if model is not None and model not in self.models:
            near = did_you_mean(str(model), self.models) or f" There are {', '.join(map(repr, self.models))}."
            raise UnknownNameError(f"No model is called {model!r}.{near}")
        return 0 if model is None else self.models.index(model)

    @property
    def headline(self) -> str:
        """The spread of the metric that the ratios move most, without the factor and with it, model by model."""
        over = f"over test sets of {listed(list(self.ratios))} (positives to negatives)"
        pairs = self._pairs()
        rows = [row for row in ([a for a, _ in pairs] or self.spreads) if not math.isnan(row.spread)]
        if not rows:
            return f"No metric has a spread {over}: each is undefined in a test set of every repetition."
        widest = max(rows, key=lambda row: round(row.spread, _DIGITS))
        return self._corrected(widest.metric, over, pairs) if pairs else self._plain(widest, over)

    def _plain(self, widest: MetricSpread, over: str) -> str:
        of_model = f" ({widest.model})" * (len(self.models) > 1)
        return f"The spread of {widest.metric} {over} is the widest, {three_digits(widest.spread)}{of_model}."

    def _corrected(self, plain: str, over: str, pairs: list[tuple[MetricSpread, MetricSpread]]) -> str:
        each = [
            f"{three_digits(a.spread)} and {three_digits(b.spread)}" + f" ({a.model})" * (len(self.models) > 1)
            for a, b in pairs
            if a.metric == plain
        ]
        return f"The spread of {plain} {over}, without the unbalanced factor and with it, is {'; '.join(each)}."

    def _pairs(self) -> list[tuple[MetricSpread, MetricSpread]]:
        """The metrics that the factor corrects, without it and with it."""
        rows = {(row.model, row.metric): row for row in self.spreads}
        return [
            (rows[row.model, row.corrects], row)
            for row in rows.values()
            if row.corrects is not None and (row.model, row.corrects) in rows
        ]

    @property
    def notes(self) -> list[str]:
        """How large the test sets are, and what chance adds to a spread where they are small."""
        few = [(ratio, size) for ratio, size in zip(self.ratios, self.sizes, strict=True) if min(size) < FEW_OF_A_CLASS]
        rows = sum(self.sizes[0])
        runs = self.cells.shape[-1]
        notes = [
            f"{number_of(runs, 'repetition')}, with a test set of {rows:,} rows at each ratio. The spread is the "
            "highest less the lowest value of a repetition, so chance is part of it; the spread by weights is without "
            "chance."
        ]
        if few:
            ratio, size = min(few, key=lambda pair: min(pair[1]))
            notes.append(
                f"The test sets are small: at {ratio} {min(size)} rows of one class, so one row moves its rate by "
                f"{three_digits(1 / min(size))}; read the spread by weights, or give more rows."
            )
        return [*notes, *self._undefined(), *self.remarks]

    def _undefined(self) -> list[str]:
        """Why metrics have no spread, a sentence for each."""
        several = len(self.models) > 1
        return [
            f"The spread of {row.metric}{f' of {row.model}' * several} is a dash: it is undefined in a test set of "
            f"every repetition ({listed(self._reasons(row))})."
            for row in self.spreads
            if math.isnan(row.spread)
        ]

    def _reasons(self, row: MetricSpread) -> list[str]:
        """Why a metric is undefined on some of a model's test sets, each reason once."""
        metric = get_metric(row.metric)
        every = (why for tables in self.tables(row.model).values() for why in metric.why(tables))
        return [why for why in dict.fromkeys(every) if why]

    def __repr__(self) -> str:
        table = table_text(self.to_dicts(), keys=2)
        return "\n".join([filled(self.headline), "", table, "", *map(filled, self.notes)])
