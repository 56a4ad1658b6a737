"""Resampling runs: the plain model and each sampler on the same folds, every metric at thresholds that nest in them.

A threshold is chosen on rows that the training part leaves out in folds of its own, so no test row is seen by it.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.exceptions import UndefinedError
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.roles import FAMILIES
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.named_samplers import PLAIN
from steelyard.protocol.run_values import score_table_value
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.protocol.runs import Run
    from steelyard.statistics.score_table import ScoreTable

DEFAULT, BEST, PRIOR, SCORES = "default threshold", "best threshold", "equal prior", "scores"


@dataclass(frozen=True, eq=False)
class NestedRun:
    """A run on one test part, and those on folds inside its training part, by which its thresholds are chosen."""

    outer: Run
    inner: Sequence[Run]

    @cached_property
    def unseen(self) -> ScoreTable | None:
        """The scores of the training rows, each by a model that was not fitted on it; None where there are none."""
        tables = [run.scores for run in self.inner if run.scores is not None]
        whole = reduce(operator.add, tables) if tables else None
        return whole if whole is not None and whole.positive.n and whole.negative.n else None

    def threshold(self, spec: MetricSpec) -> float:
        """Where the metric is best on the training rows; NaN where that is not known."""
        if self.unseen is None:
            return np.nan
        try:
            return float(best_threshold(self.unseen, metric=spec.metric, resamples=0).threshold)
        except UndefinedError:  # as of scores that are all the same
            return np.nan

    @property
    def prevalence(self) -> float:
        """The share of positives in the training part."""
        data = self.outer.data
        return float((data.codes[self.outer.part.train] == data.labels.index(data.positive)).mean())

    def with_trained_share(self, share: float) -> NestedRun:
        """The same with the share of positives that the fit amounts to."""
        run = self.outer
        return replace(self, outer=replace(run, predictions=replace(run.predictions, trained=share)))

    def counts_at(self, use: str, spec: MetricSpec) -> tuple[float, float, float, float]:
        """The cells of the test part by one use of the model; NaN where the run failed."""
        predictions = self.outer.predictions
        if predictions.error is not None or predictions.codes is None:
            return (np.nan,) * 4
        data = self.outer.data
        place = data.labels.index(data.positive)
        true = data.codes[self.outer.part.test] == place
        if use == DEFAULT:
            flagged = predictions.codes == place
        else:
            assert predictions.scores is not None  # noqa: S101 - asked before any fit
            at = self.threshold(spec) if use == BEST else self.prevalence
            if np.isnan(at):
                return (np.nan,) * 4
            flagged = predictions.scores >= at
        return tuple(float(part.sum()) for part in (true & flagged, true & ~flagged, ~true & flagged, ~true & ~flagged))  # type: ignore[return-value]  # four


@dataclass(frozen=True, eq=False)
class ResamplingRuns:
    """The runs of the plain model and of each sampler by name, on the same parts."""

    runs: Mapping[str, Sequence[NestedRun]]
    probabilities: bool

    @property
    def samplers(self) -> list[str]:
        """The names without that of the plain model."""
        return [name for name in self.runs if name != PLAIN]

    def uses(self, name: str) -> list[str]:
        """How a model is thresholded: the plain one also by a corrected prior, which takes no further fit."""
        return [DEFAULT, *([PRIOR] if name == PLAIN and self.probabilities else []), BEST]

    def values(self, name: str, use: str, spec: MetricSpec) -> Array:
        """The metric in each run by one use of a model; NaN where the run failed or it is undefined."""
        if use == SCORES:
            return np.array([_of_scores(spec, run.outer) for run in self.runs[name]])
        cells = np.array([run.counts_at(use, spec) for run in self.runs[name]]).T
        values = np.full(cells.shape[1], np.nan)
        done = np.isfinite(cells).all(0)
        if done.any():
            values[done] = spec.metric(Counts(*cells[:, done]))
        return values


def _of_scores(spec: MetricSpec, run: Run) -> float:
    return np.nan if run.scores is None else score_table_value(spec.metric, run.scores)


def threshold_specs() -> list[MetricSpec]:
    """The metrics that a threshold is chosen by unless others are named: of those shown first, what sums up a table."""
    shown = metrics_with_role("headline")
    return [
        MetricSpec(m) for m in shown if m.function is not None and m.scores is None and FAMILIES[m.family].is_summary
    ]


def score_specs(*, probabilities: bool) -> list[MetricSpec]:
    """The metrics of scores unless others are named: of their order, and of them as probabilities where they are."""
    roles = ("order of scores", "probabilities") if probabilities else ("order of scores",)
    return [MetricSpec(metric) for role in roles for metric in metrics_with_role(role)]
