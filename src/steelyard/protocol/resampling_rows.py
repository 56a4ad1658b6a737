"""Resampling rows: the values, differences, verdicts, calibrations and costs of the runs of a resampling study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.calibration.calibration import calibration
from steelyard.analysis.comparison.corrected_t_test import corrected_t_test
from steelyard.analysis.holm import holm
from steelyard.analysis.prevalence.prior_correction import correct_prior
from steelyard.analysis.results.rows import Rows
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import SteelyardError
from steelyard.protocol import pooling
from steelyard.protocol.cost import COST_KINDS
from steelyard.protocol.named_samplers import PLAIN
from steelyard.protocol.resampling_runs import BEST, DEFAULT, SCORES
from steelyard.protocol.resampling_verdict import sampler_verdict
from steelyard.protocol.run_difference import RunDifference
from steelyard.protocol.run_summary import Extent, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.analysis.calibration.calibration_result import Calibration
    from steelyard.metrics.spec import MetricSpec
    from steelyard.protocol.resampling_runs import NestedRun, ResamplingRuns
    from steelyard.protocol.resampling_verdict import SamplerVerdict
    from steelyard.protocol.runs import Run

CORRECTED = "prior corrected"  # of probabilities, from the class shares of the resampled rows to those of the data
_COSTS = ("fit_seconds", "predict_seconds_per_1000", "model_bytes")


def use_name(model: str, use: str) -> str:
    """A model and how it is used, as rows name them.

    >>> use_name("SMOTE", "best threshold")
    'SMOTE, best threshold'
    """
    return f"{model}, {use}"


def use_of(spec: MetricSpec) -> str:
    """The use by which samplers are judged: the best threshold of a metric of labels, else the scores."""
    return SCORES if spec.metric.scores is not None else BEST


@dataclass(frozen=True, eq=False)
class ResamplingRows:
    """The rows of a study: of these runs, by these metrics."""

    runs: ResamplingRuns
    specs: Sequence[MetricSpec]
    level: float

    def uses(self, model: str, spec: MetricSpec) -> list[str]:
        """How a model is used for a metric."""
        return [SCORES] if use_of(spec) == SCORES else self.runs.uses(model)

    @cached_property
    def _values(self) -> dict[tuple[str, str, MetricSpec], Array]:
        return {
            (model, use, spec): self.runs.values(model, use, spec)
            for model in self.runs.runs
            for spec in self.specs
            for use in self.uses(model, spec)
        }

    @cached_property
    def _extent(self) -> Extent:
        return Extent.of([run.outer.part for run in self.runs.runs[PLAIN]])

    def values(self) -> Rows[Summary]:
        """Every metric of every use of every model over the runs."""
        return Rows(
            Summary.of(use_name(model, use), spec, values, self._extent, self.level)
            for (model, use, spec), values in self._values.items()
        )

    def differences(self) -> Rows[RunDifference]:
        """Each sampler from the plain model used alike, and the plain model moved from it as it predicts.

        Those of one metric and use are tested together by Holm's method.
        """
        families: dict[tuple[str, MetricSpec, bool], list[RunDifference]] = {}
        for a, b, spec in self._pairs():
            families.setdefault((a[1], spec, a[0] == PLAIN), []).append(self._difference(a, b, spec))
        return Rows(row for family in families.values() for row in _adjusted(family))

    def _pairs(self) -> Iterator[tuple[tuple[str, str], tuple[str, str], MetricSpec]]:
        """What is compared with what, by which metric."""
        for model, use, spec in self._values:
            if model != PLAIN:
                yield (model, use), (PLAIN, use), spec
            elif use not in (DEFAULT, SCORES):
                yield (PLAIN, use), (PLAIN, DEFAULT), spec

    def _difference(self, a: tuple[str, str], b: tuple[str, str], spec: MetricSpec) -> RunDifference:
        differences = value_change(self._values[*a, spec], self._values[*b, spec])
        finite = differences[np.isfinite(differences)]
        names = (use_name(*a), use_name(*b), spec, len(finite))
        if len(finite) < 2:
            return RunDifference(*names)
        tested = corrected_t_test(finite, n_train=self._extent.train, n_test=self._extent.test, level=self.level)
        width = spec.metric.range[1] - spec.metric.range[0]  # which no difference exceeds
        return RunDifference(
            *names, tested.difference, max(tested.low, -width), min(tested.high, width), tested.p_value
        )

    def verdicts(self, differences: Sequence[RunDifference], spec: MetricSpec, margin: float) -> Rows[SamplerVerdict]:
        """The verdict on each sampler by one metric."""
        by_names = {(row.a, row.spec): row for row in differences}
        use = use_of(spec)
        rows: Rows[SamplerVerdict] = Rows()
        for name in self.runs.samplers:
            test = by_names[use_name(name, use), spec]
            seeming = by_names[use_name(name, DEFAULT), spec].difference if use == BEST else np.nan
            rows.append(sampler_verdict(name, test, seeming, margin, self.level, why=_why(self.runs.runs[name])))
        return rows

    def costs(self) -> Rows[Summary]:
        """What each model took, of its fits on the training parts of the study."""
        return Rows(self._cost(model, kind) for model in self.runs.runs for kind in _COSTS)

    def _cost(self, model: str, kind: str) -> Summary:
        values = np.array([run.outer.cost.values()[kind] for run in self.runs.runs[model]])
        row = Summary.of(model, COST_KINDS[kind], values, self._extent, self.level)
        return row if np.isnan(values).all() else replace(row, median=float(np.nanmedian(values)))

    # ---------------------------------------------------------------- probabilities

    def calibrations(self) -> dict[str, Calibration]:
        """How the probabilities of each model agree with outcomes, and those of a sampler with the prior corrected."""
        if not self.runs.probabilities:
            return {}
        found: dict[str, Calibration] = {}
        for name, runs in self.runs.runs.items():
            sets = {name: [run.outer for run in runs]}
            if name != PLAIN:
                sets[use_name(name, CORRECTED)] = [_corrected(run) for run in runs]
            for title, part in sets.items():
                if (judged_part := self._calibration(part)) is not None:
                    found[title] = judged_part
        return found

    def _calibration(self, runs: Sequence[Run]) -> Calibration | None:
        """Of each row as it was first tested; None where no run ended, or calibration is not defined."""
        first = pooling.first_tests(runs)
        scores = pooling.once_each(first)[1] if first else None
        try:
            return None if scores is None else calibration(scores, level=self.level)
        except SteelyardError:
            return None


def _adjusted(family: Sequence[RunDifference]) -> list[RunDifference]:
    return [replace(row, p_holm=p) for row, p in zip(family, holm(row.p_value for row in family), strict=True)]


def _why(runs: Sequence[NestedRun]) -> str | None:
    """The first reason for which a run failed."""
    every = (run for nested in runs for run in (nested.outer, *nested.inner))
    return next((run.error for run in every if run.error is not None), None)


def _corrected(nested: NestedRun) -> Run:
    """A run whose probabilities are corrected from the class shares of its fit to those of its training part."""
    run, predictions = nested.outer, nested.outer.predictions
    share = predictions.trained
    if predictions.scores is None or share is None or not 0 < share < 1:
        return run
    moved = correct_prior(predictions.scores, trained=share, deployed=nested.prevalence)
    return replace(run, predictions=replace(predictions, scores=moved))
