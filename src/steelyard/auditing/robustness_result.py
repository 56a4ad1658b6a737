"""Robustness: what balancing the test set and swapping the labels does to each metric, and the verdicts on that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steelyard._types import Array
from steelyard.analysis.results.formatting import filled, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.auditing.decision_store import recalled_decisions
from steelyard.auditing.metric_values import value_change
from steelyard.auditing.score_counterexamples import score_refutations
from steelyard.exceptions import InputError, SteelyardError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOLERANCE = 0.02  # any value from 0.006 to 0.069 gives the verdicts that Asawa drew from the printed changes


@dataclass(frozen=True, eq=False)
class MetricVerdict(Flat):
    """One metric: its largest change over the models when the test set is balanced, and when the labels are swapped.

    A change is the value as it was less the value afterwards. `robust` and `symmetric` say whether it stays within the
    tolerance on these models, None where the metric is undefined; what ends in `in_general` says whether the audit has
    proved it for all tables or refuted it by one, None where it has not decided.
    """

    metric: str
    change: float
    model: str
    prevalence: float
    resampling_sd: float
    swap_change: float
    swap_model: str
    robust: bool | None
    symmetric: bool | None
    robust_in_general: bool | None = None
    symmetric_in_general: bool | None = None

    @property
    def winner(self) -> bool:
        """Whether the metric stands both tests on these models."""
        return self.robust is True and self.symmetric is True

    @property
    def only_here(self) -> bool:
        """Whether it stands both tests on these models, though a table refutes one of them."""
        return self.winner and False in (self.robust_in_general, self.symmetric_in_general)

    @property
    def proved(self) -> bool:
        """Whether it stands both tests on these models, and is proved to on all tables."""
        return self.winner and self.in_general

    @property
    def in_general(self) -> bool:
        """Whether the audit has proved both for all tables, whatever the models here do."""
        return self.robust_in_general is True and self.symmetric_in_general is True


@dataclass(frozen=True, eq=False)
class MetricChange(Flat):
    """One metric of one model at one prevalence: by weights exactly, and over resampled test sets.

    `value` and `balanced` are values; `change` is the first less the second, and what begins with `resampled` is such a
    change: its mean, standard deviation and middle 95 % over the draws.
    """

    metric: str
    model: str
    prevalence: float
    value: float
    balanced: float
    change: float
    resampled: float
    resampled_sd: float
    resampled_low: float
    resampled_high: float


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Result[MetricVerdict]):
    """The changes of every metric (last axis) by model and prevalence, and what they say."""

    metrics: tuple[str, ...]
    models: tuple[str, ...]
    prevalences: tuple[float, ...]
    values: Array
    balanced: Array
    resampled: Array
    swapped: Array
    tolerance: float
    resamples: int
    remarks: tuple[str, ...] = ()
    also_saved: ClassVar = ("verdicts",)

    def __iter__(self) -> Iterator[MetricVerdict]:
        return iter(self.verdicts)

    def beside(self, other: Robustness) -> Robustness:
        """These metrics and those of the other, of the same models at the same prevalences."""
        if (self.models, self.prevalences) != (other.models, other.prevalences):
            raise InputError("Two tries are put side by side where their models and prevalences are the same.")
        names = ("values", "balanced", "resampled", "swapped")
        joined: dict[str, Any] = {n: np.concatenate([getattr(self, n), getattr(other, n)], -1) for n in names}
        return replace(self, metrics=self.metrics + other.metrics, **joined)

    @classmethod
    def joined(cls, parts: Mapping[str, Robustness]) -> Robustness:
        """The same models tried on several splits, as one: the verdicts are by the largest change over all of them."""
        first = next(iter(parts.values()))
        if any((part.metrics, part.prevalences) != (first.metrics, first.prevalences) for part in parts.values()):
            raise InputError("Tries are joined where their metrics and prevalences are the same.")
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts.values()], axis)
            for name, axis in (("values", 0), ("balanced", 0), ("resampled", 1), ("swapped", 0))
        }
        models = tuple(f"{model}, {name}" for name, part in parts.items() for model in part.models)
        return replace(first, models=models, **arrays)

    @property
    def changes(self) -> Array:
        """The value as it was less that of the balanced test set, by model, prevalence and metric."""
        return value_change(self.values[:, None], self.balanced)

    @property
    def swap_changes(self) -> Array:
        """The value as it was less that with swapped labels, by model and metric."""
        return value_change(self.values, self.swapped)

    @property
    def verdicts(self) -> Rows[MetricVerdict]:
        """One verdict a metric, by its largest change over models and prevalences."""
        return Rows(self._verdict(i) for i in range(len(self.metrics)))

    def _verdict(self, i: int) -> MetricVerdict:
        changes, swaps = self.changes[..., i], self.swap_changes[:, i]
        (model, share), swap = np.unravel_index(_largest(changes), changes.shape), _largest(swaps)
        sd = self.resampled[1, :, :, i]
        return MetricVerdict(
            self.metrics[i],
            float(changes[model, share]),
            self.models[model],
            self.prevalences[share],
            float(sd.ravel()[_largest(sd)]),
            float(swaps[swap]),
            self.models[swap],
            _within(changes, self.tolerance),
            _within(swaps, self.tolerance),
            *_in_general(self.metrics[i]),
        )

    @property
    def robust(self) -> list[str]:
        """The metrics that no balancing moves by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.robust]

    @property
    def symmetric(self) -> list[str]:
        """The metrics that swapping the labels does not move by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.symmetric]

    @property
    def winners(self) -> list[str]:
        """The metrics that are both."""
        return [v.metric for v in self.verdicts if v.winner]

    def rows(self) -> Rows[MetricChange]:
        """One row for each metric, model and prevalence."""
        cells = np.stack([np.broadcast_to(self.values[:, None], self.balanced.shape), self.balanced, self.changes])
        columns = np.concatenate([cells, self.resampled])
        return Rows(
            MetricChange(name, model, share, *map(float, columns[:, m, s, i]))
            for i, name in enumerate(self.metrics)
            for m, model in enumerate(self.models)
            for s, share in enumerate(self.prevalences)
        )

    @property
    def headline(self) -> str:
        """Which metrics are proved to stand both tests, and which stand them on these models."""
        verdicts = self.verdicts
        parts = {
            "Robust and symmetric": [v.metric for v in verdicts if v.proved] or ["none"],
            "Within tolerance here, not decided in general": [
                v.metric for v in verdicts if v.winner and not v.proved and not v.only_here
            ],
            "Within tolerance here, refuted in general": [v.metric for v in verdicts if v.only_here],
        }
        return " ".join(f"{words}: {', '.join(names)}." for words, names in parts.items() if names)

    def __repr__(self) -> str:
        over = f"over {len(self.models)} models" if len(self.models) > 1 else "of one model"
        heading = f"Largest change {over} against a tolerance of {three_digits(self.tolerance)}"
        winners = self.headline
        winners += (
            ""
            if self.resamples
            else "\nWithout draws: scores and weighted tables are not drawn from, or resamples=0 was given"
        )
        table = [
            {
                "metric": v.metric,
                "balanced": v.change,
                "resampling sd": v.resampling_sd,
                "robust": _word(v.robust, v.robust_in_general),
                "swapped": v.swap_change,
                "symmetric": _word(v.symmetric, v.symmetric_in_general),
            }
            for v in self.verdicts
        ]
        return "\n".join([*map(filled, (heading, winners, *self.remarks)), "", table_text(table)])


def _word(verdict: bool | None, in_general: bool | None) -> str:
    if verdict and in_general is False:
        return "here only"
    return {True: "yes", False: "no", None: "undefined"}[verdict]


def _in_general(name: str) -> tuple[bool | None, bool | None]:
    """Whether the audit has proved or refuted that balancing, and swapping, leave the metric as it is."""
    try:
        metric = get_metric(name)
        if metric.function is None:
            return score_refutations(metric)
        decisions = recalled_decisions(metric)
    except SteelyardError:  # a function that is not declared here
        return None, None
    robust, symmetric = (decisions.get(key) for key in ("prevalence_invariance", "class_symmetry"))
    return robust.holds if robust else None, symmetric.holds if symmetric else None


def _largest(changes: Array) -> int:
    """The place of the largest change, the first where all are undefined."""
    return int(np.argmax(np.where(np.isnan(changes), -1, np.abs(changes))))


def _within(changes: Array, tolerance: float) -> bool | None:
    """Whether no change exceeds the tolerance; None where an undefined one might."""
    if (np.abs(changes) > tolerance).any():
        return False
    return None if np.isnan(changes).any() else True
