"""Runs of label plans: the values and the intervals of their labels, and the errors of as many labels at random.

Rows are independent, so that of a row in a stratum the class and the score are those of the population between its
edges: each run draws the labelled rows of a plan anew from there.
"""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from benchmarks.plan_worlds import World, ranked
from steelyard import Counts, get_metric, label_plan
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.intervals.plan_draws import PlannedRows
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.analysis.planning.label_plan import LabelPlan

ROWS, LABELS, SETS = 50_000, 1_000, 5
DRAWS, RANK_DRAWS = 500, 200
MORE = 5  # times as many runs without an interval, for the errors
_RANDOM_TABLES, _RANDOM_RANKS = 100_000, 4_000
_WORKERS = int(os.environ.get("WORKERS", "2"))
_Task, _Result = TypeVar("_Task"), TypeVar("_Result")


def in_processes(function: Callable[[_Task], _Result], tasks: Sequence[_Task]) -> list[_Result]:
    """What the function finds of each task, some at a time."""
    with multiprocessing.get_context("fork").Pool(_WORKERS) as pool:
        return pool.map(function, tasks, chunksize=1)


class PlannedWorld(NamedTuple):
    """A plan of some rows of a world, and which part of the population each stratum is."""

    world: World
    plan: LabelPlan
    strata: Array  # of each label
    positives: Array  # edges among the scores of the positives, and likewise
    negatives: Array
    shares: Array  # of positives

    @classmethod
    def of(cls, world: World, metric: str, rng: np.random.Generator) -> PlannedWorld:
        """The plan for a metric."""
        plan = label_plan(world.rows(ROWS, rng)[1], LABELS, metric, threshold=world.threshold, rng=rng)
        edges = [stratum.lowest_score for stratum in plan.strata[1:]]
        sides = (np.concatenate([[0], np.searchsorted(s, edges), [len(s)]]) for s in (world.positives, world.negatives))
        positives, negatives = sides
        mass = world.prevalence * np.diff(positives) / len(world.positives)
        others = (1 - world.prevalence) * np.diff(negatives) / len(world.negatives)
        strata = np.repeat(np.arange(len(plan.strata)), [stratum.labels for stratum in plan.strata])
        return cls(world, plan, strata, positives, negatives, mass / np.maximum(mass + others, 1e-300))

    def drawn(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The labels and the scores of the rows that the plan chose, in the order of the strata."""
        labels = (rng.random(len(self.strata)) < self.shares[self.strata]).astype(np.int64)
        at = rng.random(len(self.strata))
        scores = (
            side[(edges[self.strata] + at * np.diff(edges)[self.strata]).astype(np.int64).clip(max=len(side) - 1)]
            for side, edges in ((self.world.negatives, self.negatives), (self.world.positives, self.positives))
        )
        return labels, np.where(labels == 1, *reversed([*scores]))

    def labelled(self, labels: Array, scores: Array) -> PlannedRows:
        """The labels as evaluate reads them, with what it states."""
        plan = replace(self.plan, score=scores, stratum=self.strata)
        return plan.labelled(Predictions(labels))

    def value(self, spec: MetricSpec, labels: Array, scores: Array) -> float:
        """The metric alone; NaN where labels are of one class."""
        if labels.min() == labels.max():
            return np.nan
        rows, expected, lowest = (
            np.array([getattr(each, name) for each in self.plan.strata])
            for name in ("rows", "expected", "lowest_score")
        )
        above = lowest >= self.world.threshold
        sizes = np.stack([np.where(above, 0, rows), np.where(above, rows, 0)], -1)
        flagged = scores >= self.world.threshold
        of_rows = (labels == 1, self.strata, rows.astype(np.float64), expected, scores, flagged, sizes)
        planned = PlannedRows(*of_rows)
        if spec.metric.function is None:
            return float(spec.metric(planned.score_table()))
        return float(spec.metric(planned.confusion(), pos_label=1))


class Runs(NamedTuple):
    """What the runs of one world and metric show: values, intervals, warnings, and the error of labels at random."""

    values: Array
    low: Array
    high: Array
    warned: Array
    truth: float
    random_error: float
    random_undefined: float

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return float(((self.low <= self.truth) & (self.truth <= self.high)).mean())

    @property
    def error(self) -> float:
        """The root mean squared error of the values that there are."""
        return float(np.sqrt(np.nanmean((self.values - self.truth) ** 2)))

    @property
    def undefined(self) -> float:
        """The share of runs without a value."""
        return float(np.isnan(self.values).mean())


_RUNS: dict[tuple[str, str, int], Runs] = {}


def runs_of(worlds: Sequence[World], metrics: Sequence[str], repeats: int) -> list[dict[str, Runs]]:
    """The runs of each world by metric, simulated once for all sections."""
    tasks = [(world, metric, repeats) for world in worlds for metric in metrics]
    new = [task for task in tasks if (task[0].name, *task[1:]) not in _RUNS]
    for (world, *rest), runs in zip(new, in_processes(_runs, new), strict=True):
        _RUNS[(world.name, *rest)] = runs
    return [{metric: _RUNS[world.name, metric, repeats] for metric in metrics} for world in worlds]


def _runs(task: tuple[World, str, int]) -> Runs:
    world, metric, repeats = task
    rng, spec = np.random.default_rng([len(metric), len(world.name), repeats]), MetricSpec.of(metric)
    plans = [PlannedWorld.of(world, metric, rng) for _ in range(SETS)]
    each = [run for plan in plans for run in _with_intervals(plan, spec, max(repeats // SETS, 1), rng)]
    values = [plan.value(spec, *plan.drawn(rng)) for plan in plans for _ in range(MORE * repeats // SETS)]
    at_random = _random_values(world, metric, rng)
    error = float(np.sqrt(np.nanmean((at_random - world.truth(metric)) ** 2)))
    columns = [np.array(column) for column in zip(*each, strict=True)]
    undefined = float(np.isnan(at_random).mean())
    return Runs(np.array(values), *columns, world.truth(metric), error, undefined)


def _with_intervals(
    plan: PlannedWorld, spec: MetricSpec, repeats: int, rng: np.random.Generator
) -> Iterator[tuple[float, ...]]:
    """The interval of each run and whether it warns; without bounds, and no warning, where labels are of one class."""
    for _ in range(repeats):
        labels, scores = plan.drawn(rng)
        if labels.min() == labels.max():
            yield -np.inf, np.inf, np.nan
            continue
        rows = plan.labelled(labels, scores)
        warned = any("not show that the scores find them" in sentence for sentence in rows.stated)
        yield *interval_of(rows, spec, rng), float(warned)


def interval_of(rows: PlannedRows, spec: MetricSpec, rng: np.random.Generator) -> tuple[float, float]:
    """The interval of a metric on labels that a plan chose."""
    ranks = spec.metric.function is None
    table, options = (rows.score_table(), CallOptions()) if ranks else (rows.confusion(), CallOptions(pos_label=1))
    inference = Inference(draws=RANK_DRAWS if ranks else DRAWS, rng=rng, planned=rows)
    interval = table_intervals([spec], table, options, inference)[0]
    return float(interval.low), float(interval.high)


def _random_values(world: World, metric: str, rng: np.random.Generator) -> Array:
    """The metric on as many labels at random, of far more test sets; NaN where they are of one class."""
    if get_metric(metric).function is None:
        return np.array([_random_area(world, rng) for _ in range(_RANDOM_RANKS)])
    at = np.array([world.threshold])
    cells = rng.multinomial(LABELS, np.ravel([*world.counts(at)]), _RANDOM_TABLES).T
    values = np.asarray(get_metric(metric)(Counts.trusted(*cells.astype(np.float64))))
    return np.where((cells[0] + cells[1] == 0) | (cells[2] + cells[3] == 0), np.nan, values)


def _random_area(world: World, rng: np.random.Generator) -> float:
    found = int(rng.binomial(LABELS, world.prevalence))
    if not found:
        return np.nan
    return ranked(rng.choice(world.positives, found), np.sort(rng.choice(world.negatives, LABELS - found)))
