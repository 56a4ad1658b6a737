"""Sampling: one set of draws of a table, and from it the interval of any metric. Used by uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis import auc_intervals, rate_intervals
from steelyard.analysis import draws as drawing
from steelyard.analysis.distributions import normal_below, normal_quantile
from steelyard.analysis.kinks import deviance_limit, deviances, kinks, near_kink
from steelyard.analysis.prevalence import at_prevalence, class_shares, scores_at, shares
from steelyard.analysis.rows import Flat, interval_text
from steelyard.errors import InputError
from steelyard.metrics import application
from steelyard.metrics.application import ClassCells
from steelyard.metrics.results import Options, plain
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Cells, Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

COUNT_METHODS = ("posterior", "stratified", "deviance", "bootstrap", "stratified-bootstrap", "bca")
RATE_METHODS = ("wilson", "jeffreys", "exact")
AUC_METHODS = ("score", "delong", "logit-delong")
RANK_METHODS = ("bayesian-bootstrap",)
METHODS = ("auto", *COUNT_METHODS, *RATE_METHODS, *AUC_METHODS, *RANK_METHODS, "cluster")
COUNT_DRAWS, RANK_DRAWS, DRAWS_AT_ONCE = 10_000, 1_000, 4_000_000


_Asked = tuple["Metric", Any, "Mapping[str, Any]"]  # a metric, its table and its parameters


@dataclass(frozen=True)
class Interval(Flat):
    """A value and the range that holds the true one with the given probability; arrays for arrays of tables."""

    metric: str
    value: Any
    low: Any
    high: Any
    level: float
    method: str
    undefined_share: float = 0.0
    bin_error: float | None = None
    why: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        if np.ndim(self.value):
            return f"<{np.size(self.value):,} intervals of {self.metric}, {100 * self.level:g} % {self.method}>"
        told = f"{self.metric} {interval_text(self.value, self.low, self.high)}, {100 * self.level:g} % {self.method}"
        told += f", within {self.bin_error:.1g} by binning" if self.bin_error else ""
        undefined = f"; undefined in {self.undefined_share:.1%} of the draws" if self.undefined_share else ""
        return told + (f"; {self.why}" if self.why else "") + undefined


@dataclass
class Sampler:
    """One set of draws for all metrics of one call."""

    level: float
    method: str
    draws: int | None
    rng: np.random.Generator
    tables: Array | None = None
    prevalence: Any = None
    _kept: dict[Any, Any] = field(default_factory=dict)
    _ranked: list[_Asked] = field(default_factory=list)

    @cached_property
    def tails(self) -> tuple[float, float]:
        """The two quantiles that cut the draws."""
        return drawing.tails(self.level)

    def intervals(self, asked: Sequence[_Asked], options: Options) -> list[Interval]:
        """The intervals of metrics, each on its table; all values come first, as draws are not kept for a next one."""
        answers = [application.on_table(metric, self.at(table), options, given) for metric, table, given in asked]
        methods = [self.chosen(*one) for one in asked]
        self._ranked = [one for one, method in zip(asked, methods, strict=True) if method in RANK_METHODS]
        every = zip(asked, answers, methods, strict=True)
        return [self.interval(*one, options, answer, method) for one, answer, method in every]

    def at(self, table: Any) -> Any:
        """The table at the prevalence in use."""
        return table if self.prevalence is None else at_prevalence(table, self.prevalence)

    def interval(
        self, metric: Metric, table: Any, parameters: Mapping[str, Any], options: Options, answer: Any, method: str
    ) -> Interval:
        """The interval of one metric on one table, around the answer it gave there."""
        low, high, undefined, error = self.bounds(metric, table, options, parameters, method, answer.value)
        # The value belongs to its interval, also where all draws lie on one side of it, as at a recall of 1.
        lost = np.isnan(answer.value) | np.isnan(low) | np.isnan(high)
        low, high = (np.clip(end, *metric.range) for end in (np.fmin(low, answer.value), np.fmax(high, answer.value)))
        value, low, high = (
            plain(end) for end in (answer.value, np.where(lost, np.nan, low), np.where(lost, np.nan, high))
        )
        return Interval(metric.name, value, low, high, self.level, method, undefined, error, answer.why)

    def chosen(self, metric: Metric, table: Any, parameters: Mapping[str, Any]) -> str:
        """The method for this metric on this table, checked to fit."""
        fits: tuple[str, ...]
        if isinstance(table, ScoreTable):
            plain_auc = metric.name == "roc_auc" and parameters.get("max_fpr") is None
            fits = (*AUC_METHODS, *RANK_METHODS) if plain_auc else RANK_METHODS
        else:
            fits = ("deviance", "posterior", *COUNT_METHODS) if kinks(metric.expression) else COUNT_METHODS
            fits += RATE_METHODS if isinstance(table, (Counts, Confusion)) and rate_intervals.is_rate(metric) else ()
        if self.tables is not None:
            fits = ("cluster",)
        elif self.method == "cluster":
            raise InputError("The method 'cluster' needs groups=, the cluster of each row.")
        elif self.prevalence is not None:
            fits = tuple(
                fit for fit in fits if fit not in (*RATE_METHODS, "bca")
            )  # those know the sample's shares only
        if self.method == "auto":
            return fits[0]
        if self.method not in fits:
            told = ", ".join(dict.fromkeys(fits))
            raise InputError(f"The method {self.method!r} does not fit {metric.name} here; these do: {told}.")
        return self.method

    def bounds(
        self, metric: Metric, table: Any, options: Options, parameters: Mapping[str, Any], method: str, value: Any
    ) -> Any:
        """The ends, the share of undefined draws and, where scores were binned, the error of that."""
        if method in AUC_METHODS:
            ends = {
                "score": auc_intervals.widened_score_interval,
                "delong": auc_intervals.delong,
                "logit-delong": auc_intervals.logit_delong,
            }[method]
            return (*ends(table, self.level), 0.0, None)  # an AUC is the same at every prevalence
        if isinstance(table, ScoreTable):
            return self.rank_bounds(metric, table, parameters, value)
        if options.average is None and isinstance(table, Confusion):
            return self.each_class(metric, table, parameters, method, value)
        place = None if isinstance(table, Counts) else application.positive_place(metric, table, options)
        if method in (*RATE_METHODS, "bca"):
            if (place is None and not isinstance(table, Counts)) or (isinstance(table, Confusion) and table.weighted):
                raise InputError(f"The method {method!r} counts rows of two classes without weights; use 'posterior'.")
            if method != "bca":
                return (*rate_intervals.bounds(metric, place_counts(table, place), method, self.level), 0.0, None)
        values = self.values(metric, table, place, options, parameters, method)
        undefined = float(np.isnan(values).mean())
        if method == "deviance":
            cells, deviance = self.cells(table, place, method)
            return (*self.around_kinks(metric, cells, deviance, values, parameters), undefined, None)
        if method == "bca":
            return (*self.bca(metric, place_counts(table, place), parameters, values, value), undefined, None)
        return (*_quantiles(values, self.tails), undefined, None)

    def each_class(
        self, metric: Metric, table: Confusion, parameters: Mapping[str, Any], method: str, value: Any
    ) -> Any:
        """The ends for every class, each against the rest as if it alone were asked for."""
        options = (Options(pos_label=label) for label in table.labels)
        found = [self.bounds(metric, table, o, parameters, method, v) for o, v in zip(options, value, strict=True)]
        low, high, undefined, _ = zip(*found, strict=True)
        return np.array(low, dtype=float), np.array(high, dtype=float), float(np.mean(undefined)), None

    # ---------------------------------------------------------------- draws of labels

    def values(
        self,
        metric: Metric,
        table: Any,
        place: int | None,
        options: Options,
        parameters: Mapping[str, Any],
        method: str,
    ) -> Array:
        """The metric on every draw, draws on the last axis."""
        cells, _ = self.cells(table, place, method)
        if isinstance(table, Counts) or place is not None:
            return np.asarray(application.count_values(metric, drawing.as_counts(cells), parameters))
        return np.moveaxis(application.class_values(metric, ClassCells.of(cells), options, parameters), 0, -1)

    def around_kinks(
        self, metric: Metric, cells: Array, deviance: Array, values: Array, parameters: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """The range over the likely draws where a kink lies among them, the quantiles where it does not."""
        near = near_kink(metric.trace(**parameters), Cells(*drawing.as_counts(cells)), values.shape[:-1])
        likely = np.where(deviance <= deviance_limit(self.level), values, np.nan)
        ranged, cut = (np.fmin.reduce(likely, axis=-1), np.fmax.reduce(likely, axis=-1)), _quantiles(values, self.tails)
        return np.where(near, ranged[0], cut[0]), np.where(near, ranged[1], cut[1])

    def cells(self, table: Any, place: int | None, method: str) -> tuple[Array, Any]:
        """The draws of a table, or of one label of it against the rest, that label first; made once."""
        name = (id(table) if isinstance(table, Counts) else None, place, method)
        if name not in self._kept:
            fold = None if place is None else _fold(place, len(table.labels))
            self._kept[name] = (
                (self._draw_clusters(fold), None) if self.tables is not None else self._draw(table, fold, method)
            )
        found: tuple[Array, Any] = self._kept[name]
        return found

    def _draw(self, table: Any, fold: Array | None, method: str) -> tuple[Array, Any]:
        rows, one = drawing.effective(table if fold is None else _folded(table, fold))
        draws = self.draws or int(np.clip(DRAWS_AT_ONCE // rows.shape[-1] ** 2, 200, COUNT_DRAWS))
        if "bootstrap" in method or method == "bca":
            if (one != 1).any() or rows.ndim > 2 or (rows != np.round(rows)).any():
                raise InputError(
                    f"The method {method!r} resamples rows, so it needs one unweighted table; use 'posterior'."
                )
            cells = drawing.bootstrap(rows, draws, self.rng, stratified=method.startswith("stratified"))
            return self._at_prevalence(cells, rows.sum(), table, fold), None
        cells = drawing.posterior(rows, one, draws, self.rng)
        deviance = deviances(cells / one, rows) if method == "deviance" else None
        own = (rows * one).sum(-1)
        if method == "stratified":
            cells = drawing.with_classes(cells, own)
        return self._at_prevalence(cells, own.sum(-1, keepdims=True), table, fold), deviance

    def _at_prevalence(self, cells: Array, total: Any, table: Any, fold: Array | None) -> Array:
        """The draws with the shares of the true classes that are in use, if others than the sample's are."""
        if self.prevalence is None:
            return cells
        if isinstance(table, Confusion):
            share = class_shares(table, self.prevalence)
            share = share if fold is None else fold @ share
        else:
            pi = shares(self.prevalence)
            if pi.ndim:
                raise InputError("An interval is at one prevalence at a time; give a number, not several.")
            share = np.array([float(pi), 1 - float(pi)])
        return drawing.with_classes(cells, total * share)

    def _draw_clusters(self, fold: Array | None) -> Array:
        assert self.tables is not None  # noqa: S101 - asked before
        tables = self.tables if fold is None else fold @ self.tables @ fold.T
        spread = drawing.student_spread(len(tables), self.level)
        return drawing.cluster(tables, self.draws or COUNT_DRAWS, self.rng, spread)

    def bca(self, metric: Metric, counts: Counts, parameters: Mapping[str, Any], values: Array, value: Any) -> Any:
        """The bias-corrected and accelerated ends; leaving a row out gives as many values as there are cells."""
        cells = np.array([float(cell) for cell in counts])
        left = Counts(*np.maximum(cells[:, None] - np.eye(4), 0))
        out = application.count_values(metric, left, parameters)
        held = (cells > 0) & ~np.isnan(out)
        gaps = (np.average(out[held], weights=cells[held]) if held.any() else math.nan) - out[held]
        spread = (cells[held] * gaps**2).sum()
        bend = (cells[held] * gaps**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
        defined = values[~np.isnan(values)]
        if math.isnan(value) or not len(defined):
            return math.nan, math.nan
        share = np.clip(((defined < value).mean() + (defined <= value).mean()) / 2, 1e-9, 1 - 1e-9)
        shift = normal_quantile(share)
        z = shift + normal_quantile(self.tails)
        return _quantiles(values, tuple(normal_below(shift + z / (1 - bend * z))))

    # ---------------------------------------------------------------- draws of scores

    def rank_bounds(self, metric: Metric, table: ScoreTable, parameters: Mapping[str, Any], value: Any) -> Any:
        """The ends by the Bayesian bootstrap of the scores, binned where there are too many."""
        if id(table) not in self._kept:
            self._kept[id(table)] = self._rank_values(table)
        fewer, found = self._kept[id(table)]
        on_small, values = found[self._ranked.index((metric, table, parameters))]
        error = abs(on_small - float(value)) if fewer else None
        return (*_quantiles(values + (float(value) - on_small), self.tails), float(np.isnan(values).mean()), error)

    def _rank_values(self, table: ScoreTable) -> tuple[bool, list[tuple[float, Array]]]:
        """Whether scores were binned; and each metric on the table drawn from and on every draw, some at a time."""
        small = drawing.binned(table)
        fewer = small.positive.size + small.negative.size < table.positive.size + table.negative.size
        size = max(len(small.positive.scores), len(small.negative.scores), 1)
        steps = math.ceil((self.draws or RANK_DRAWS) / max(1, DRAWS_AT_ONCE // 4 // size))
        parts: list[list[Array]] = [[] for _ in self._ranked]
        for step in np.array_split(np.arange(self.draws or RANK_DRAWS), steps):
            drawn = self._scores_at(drawing.rank_draws(small, len(step), self.rng, self.level))
            for values, (metric, _, given) in zip(parts, self._ranked, strict=True):
                values.append(np.atleast_1d(application.score_values(metric, drawn, given)))
        usual = self._scores_at(small)
        on_small = [float(application.score_values(metric, usual, given)) for metric, _, given in self._ranked]
        return fewer, list(zip(on_small, map(np.concatenate, parts), strict=True))

    def _scores_at(self, table: ScoreTable) -> ScoreTable:
        return table if self.prevalence is None else scores_at(table, float(shares(self.prevalence)))


def place_counts(table: Any, place: int | None) -> Counts:
    """The counts that a table is about, given the place of its positive label."""
    return table if isinstance(table, Counts) else table.one_vs_rest()[place]


def _fold(place: int, k: int) -> Array:
    """The 2 x K matrix that adds up one class, then all others."""
    fold = np.ones((2, k))
    fold[0], fold[0, place], fold[1, place] = 0, 1, 0
    return fold


def _folded(table: Confusion, fold: Array) -> Confusion:
    """The table of one class against the rest, that class first."""
    rows = (fold @ table.rows @ fold.T).round().astype(np.int64)
    if not table.weighted:
        return Confusion.of_rows((1, 0), rows)
    return Confusion((1, 0), rows, fold @ table.weights @ fold.T, fold @ table.squares @ fold.T)


def against_rest(table: Confusion, label: Any) -> Confusion:
    """The table of one class against the rest, that class first."""
    return _folded(table, _fold(table.index(label), len(table.labels)))


def _quantiles(values: Array, tails: tuple[float, float]) -> tuple[Any, Any]:
    if np.isnan(values).any():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a table without a defined draw has no interval
            low, high = np.nanquantile(values, tails, axis=-1)
    elif np.isinf(values).any():  # between two infinities nothing can be interpolated
        low = np.quantile(values, tails[0], axis=-1, method="lower")
        high = np.quantile(values, tails[1], axis=-1, method="higher")
    else:
        low, high = np.quantile(values, tails, axis=-1)
    return low, high
