"""Results: what one model did in all its runs: per run, pooled, mean, best and spread, its cost, and an Evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.best_threshold import BestThreshold, best_threshold
from steelyard.analysis.inference import Inference
from steelyard.analysis.intervals import interval
from steelyard.analysis.rows import Rows
from steelyard.errors import InputError, SteelyardError
from steelyard.evaluation.evaluate import evaluate_tables
from steelyard.evaluation.metric_row import CLASS_METRICS
from steelyard.evaluation.rows import SHOWN_AVERAGES
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import pooling, run_values
from steelyard.protocol.cost import KINDS, WHY_NAN
from steelyard.protocol.run_baseline import Guesses, guesses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.protocol.predictions import Data
    from steelyard.protocol.run_values import Summary
    from steelyard.protocol.runs import Run
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

FIXED_MODELS = (
    "These intervals allow for the rows tested, not for the rows trained on; `summary` has Nadeau and Bengio's, "
    "which allow for both."
)


@dataclass(frozen=True)
class ClassValues:
    """Precision, recall and F of one class over all runs, or of an average over the classes."""

    model: str | None
    label: Any
    rows: int | None
    precision: Summary
    recall: Summary
    f1: Summary

    def row(self) -> dict[str, Any]:
        """The class as a row of a table: the means over the runs with their intervals."""
        parts = {name: getattr(self, name) for name in CLASS_METRICS}
        ends = {f"{name}_{end}": getattr(part, end) for name, part in parts.items() for end in ("mean", "low", "high")}
        left_out = {f"{name}_undefined": part.undefined for name, part in parts.items()}
        values = {key.removesuffix("_mean"): value for key, value in ends.items()}
        return {"model": self.model, "class": self.label, "rows": self.rows} | values | left_out


@dataclass(frozen=True, eq=False, repr=False)
class ModelResult:
    """What one model did in all its runs."""

    name: str
    runs: Rows[Run]
    metrics: Any = None
    level: float = 0.95
    alone: bool = True

    @property
    def data(self) -> Data:
        """The rows that were learned from and tested."""
        return self.runs[0].data

    @property
    def failures(self) -> Rows[Run]:
        """The runs that failed, each with its fold and the reason."""
        return Rows(run for run in self.runs if run.error is not None)

    @property
    def _shown_name(self) -> str | None:
        return None if self.alone else self.name

    # ---------------------------------------------------------------- values

    def values(self, metric: Any = run_values.KALITA) -> Array:
        """The value of each run, NaN where it failed or is undefined; of a metric, or of a kind of cost."""
        if isinstance(metric, str) and metric in KINDS:
            return np.array([run.cost.values()[metric] for run in self.runs])
        return run_values.values(MetricSpec.of(metric), self.runs, self._tables)[: len(self.runs)]

    @cached_property
    def _tables(self) -> Array:
        """The tables of the runs, that of all of them, and that which guessing expects, on a first axis."""
        return run_values.stacked(self.runs)

    @cached_property
    def pooled(self) -> Confusion:
        """The tables of all runs merged: a row that was tested in several runs counts in each."""
        found = run_values.merged(run.confusion for run in self.runs)
        return run_values.empty_table(self.data.labels, self.data.positive) if found is None else found

    @cached_property
    def scores(self) -> ScoreTable | None:
        """The scores of all test rows, each row counted once; None where the model gives none."""
        return self._once[1]

    @cached_property
    def _once(self) -> tuple[Confusion, ScoreTable | None]:
        self._check_any()
        return pooling.once_each(self.runs)

    def _check_any(self) -> None:
        if len(self.failures) == len(self.runs):
            raise InputError(f"Every run of {self.name} failed, so there is nothing to evaluate: {self.runs[0].error}")

    # ---------------------------------------------------------------- over the runs

    @cached_property
    def specs(self) -> list[MetricSpec]:
        """The metrics that were asked for, or all that the runs allow."""
        return run_values.specs_of(self.metrics, self.runs)

    @cached_property
    def summary(self) -> Rows[Summary]:
        """Every metric over all runs: mean, spread, interval, best, worst, and the value of the merged table."""
        return Rows(self._row(spec) for spec in self.specs)

    def _row(self, spec: MetricSpec) -> Summary:
        """One metric over all runs; one that this model does not allow says why, and stops nobody else."""
        try:
            return self.summarised(spec)
        except InputError as error:
            nothing = np.full(len(self.runs), np.nan)
            return self._summary(spec.name, nothing, spec.sign, spec.metric.range, why=str(error))

    def summarised(self, metric: Any = run_values.KALITA, held: Array | None = None) -> Summary:
        """One metric over all runs, or over those that are `held`."""
        spec = MetricSpec.of(metric)
        metric, found = spec.metric, run_values.values(spec, self.runs, self._with_guesses)
        if held is not None:
            found[: len(self.runs)][~held] = np.nan
        if run_values.of_scores(spec, self.runs):
            scores = self.scores
            if scores is None:  # a column for each class: the tables of the classes are not kept
                return self._summary(spec.name, found, spec.sign, metric.range)
            whole = run_values.of_score_table(metric, scores), run_values.guessing(metric, scores)
        else:
            whole = float(found[len(self.runs)]), run_values.without_rounding(metric, self._guessed(found))
        pooled = {"pooled": whole[0], "chance": whole[1]}
        row = self._summary(spec.name, found[: len(self.runs)], spec.sign, metric.range, **pooled)
        return row if row.sd != 0 else self._by_rows(row, spec)

    def _by_rows(self, row: Summary, spec: MetricSpec, label: Any = None) -> Summary:
        """The summary with the interval of the rows tested, for runs that all gave the same value."""
        table: Any = self.scores if run_values.of_scores(spec, self.runs) else self._once[0]
        how: dict[str, Any] = {} if spec.average == "native" else {"average": spec.average}
        try:
            found = interval(
                spec.metric, table if label is None else table.with_positive(label), level=self.level, **how
            )
        except SteelyardError:  # such as one class only
            return row
        low, high = min(float(found.low), row.mean), max(float(found.high), row.mean)
        return replace(row, low=low, high=high, of_rows=True)

    @cached_property
    def _guesses(self) -> Guesses | None:
        return guesses(self.runs)

    @cached_property
    def _with_guesses(self) -> Array:
        """The tables as above, then those that guessing may give, so that a metric is asked once about all."""
        return self._tables if self._guesses is None else np.concatenate([self._tables, self._guesses.tables])

    def _guessed(self, found: Array) -> float:
        """What guessing scores on average in the runs of the mean; on the merged table where that is unknown."""
        n = len(self.runs)
        if self._guesses is None:
            return float(found[n + 1])
        ended = [i for i, run in enumerate(self.runs) if run.error is None]
        each = self._guesses.expected(found[n + 2 :])
        known = each[np.isfinite(found[ended]) & np.isfinite(each)]
        return float(np.clip(known.mean(), known.min(), known.max())) if len(known) else float(found[n + 1])

    def _summary(self, name: str, found: Array, sign: int, limits: tuple[float, float], **more: Any) -> Summary:
        return run_values.summary(self._shown_name, name, found, self._sizes, sign, limits, self.level, **more)

    @cached_property
    def _sizes(self) -> run_values.Extent:
        return run_values.Extent.of([run.part for run in self.runs])

    @cached_property
    def cost(self) -> Rows[Summary]:
        """Time, memory and space over all runs; less is better, and what was not measured says why."""
        return Rows(self._cost(kind) for kind in KINDS)

    def _cost(self, kind: str) -> Summary:
        found = self.values(kind)
        known = [run.cost.noise().get(kind, np.nan) for run in self.runs]
        noise = float(np.nanmedian(known)) if not np.isnan(known).all() else None
        why = WHY_NAN.get(kind) if np.isnan(found).all() else None
        middle = None if np.isnan(found).all() else float(np.nanmedian(found))
        return self._summary(kind, found, -1, (0.0, np.inf), noise=noise, why=why, median=middle)

    @cached_property
    def per_class(self) -> Rows[ClassValues]:
        """Precision, recall and F of each class, then their plain mean and that by the classes' shares (Kalita)."""
        each = {name: self.values(MetricSpec(get_metric(name), None)) for name in CLASS_METRICS}
        rows = self._tested_rows().tolist()
        found = [
            ClassValues(
                self._shown_name, label, rows[i], *(self._of_class(name, each[name][:, i], label) for name in each)
            )
            for i, label in enumerate(self.data.labels)
        ]
        for average, words in zip(SHOWN_AVERAGES, ("macro", "class shares"), strict=True):
            parts = (self.summarised(MetricSpec(get_metric(name), average)) for name in each)
            found.append(ClassValues(self._shown_name, words, None, *parts))
        return Rows(found)

    def _tested_rows(self) -> Array:
        """How many rows of each class were tested, each counted once."""
        tested = np.zeros(len(self.data.codes), dtype=bool)
        for run in self.runs:
            tested[run.part.test] |= run.error is None
        return np.bincount(self.data.codes[tested], minlength=len(self.data.labels))

    def _of_class(self, name: str, found: Array, label: Any) -> Summary:
        row = self._summary(name, found, 1, (0.0, 1.0))
        return row if row.sd != 0 else self._by_rows(row, MetricSpec(get_metric(name)), label)

    # ---------------------------------------------------------------- everything else

    @cached_property
    def evaluation(self) -> Evaluation:
        """All test rows as one Evaluation, each row counted once however often it was tested."""
        table, scores = self._once
        assumed = [f"{len(self.failures)} of {len(self.runs)} runs failed."] if self.failures else []
        if table.weighted and self.data.weight is None:
            assumed.append("Rows were tested more than once; each counts once, as the mean of its answers.")
        if len(self.runs) > 1:
            assumed.append(FIXED_MODELS)
        return evaluate_tables(
            table,
            scores,
            self.data.positive,
            assumed=assumed,
            metrics=self._plain_metrics(),
            inference=Inference(self.level),
        )

    def _plain_metrics(self) -> Any:
        """What was asked for without averages, which an evaluation has anyway."""
        if self.metrics is None:
            return None
        known = [spec.metric for spec in self.specs if spec.average == "native"]
        return [m for m in known if m.function is not None or self.scores is not None] or None

    def best_threshold(self, metric: Any = "ac_score", **options: Any) -> BestThreshold:
        """The cut at which a metric is best on the scores that each row, unseen in training, got first."""
        self._check_any()
        scores = pooling.once_each(pooling.firsts(self.runs))[1]
        if scores is None and self.data.positive is None:
            raise InputError(
                "Which class is positive is not clear, so no scores of it can be cut; name it with pos_label=."
            )
        if scores is None:
            raise InputError(f"{self.name} gave no scores to cut; it needs predict_proba or decision_function.")
        return best_threshold(scores, metric=metric, **options)

    def __repr__(self) -> str:
        from steelyard.protocol.cross_evaluation import CrossEvaluation

        return repr(CrossEvaluation({self.name: self}))


def only(models: Mapping[str, ModelResult], what: str) -> ModelResult:
    """The one model there is; of several one is to be named."""
    if len(models) == 1:
        return next(iter(models.values()))
    names = ", ".join(map(repr, models))
    raise InputError(f"There are {len(models)} models, {names}; name the one whose {what} is meant: result[name].")
