"""CrossEvaluation: one or several models measured on the same splits, ranked and compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.compare import compare
from steelyard.analysis.corrected_t_test import corrected_t_test
from steelyard.analysis.holm import holm
from steelyard.analysis.rows import Flat, Rows
from steelyard.analysis.strict_json import json_text
from steelyard.errors import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import pooling, summary_text
from steelyard.protocol.cost import KINDS
from steelyard.protocol.model_result import ClassValues, ModelResult, only
from steelyard.protocol.run_values import KALITA, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.best_threshold import BestThreshold
    from steelyard.analysis.comparison import Comparison
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.protocol.runs import Run
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True)
class RunDifference(Flat):
    """How much one model beats another over the runs, with Nadeau and Bengio's interval and test."""

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    runs: int


@dataclass(frozen=True, eq=False, repr=False)
class CrossEvaluation:
    """One or several models measured on the same splits.

    `result[name]` is what one model did. With a single model all that it offers stands here as well: `runs`, `values`,
    `pooled`, `summary`, `cost`, `per_class`, `scores`, `evaluation` and `best_threshold`.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from steelyard import cross_evaluate
    >>> found = cross_evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), split=3)
    >>> len(found.runs), int(found.pooled.rows.sum())
    (3, 569)
    """

    models: dict[str, ModelResult]
    notes: tuple[str, ...] = ()
    setting: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ModelResult:
        if name not in self.models:
            near = did_you_mean(str(name), self.models) or f" There are {', '.join(map(repr, self.models))}."
            raise UnknownNameError(f"No model is called {name!r}.{near}")
        return self.models[name]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __contains__(self, name: object) -> bool:
        return name in self.models

    # ---------------------------------------------------------------- all models

    @cached_property
    def runs(self) -> Rows[Run]:
        """Every run of every model."""
        return Rows(run for model in self.models.values() for run in model.runs)

    @property
    def failures(self) -> Rows[Run]:
        """The runs that failed, each with its fold and the reason; the others are kept."""
        return Rows(run for run in self.runs if run.error is not None)

    @cached_property
    def summary(self) -> Rows[Summary]:
        """Every metric of every model over its runs."""
        return Rows(row for model in self.models.values() for row in model.summary)

    @cached_property
    def cost(self) -> Rows[Summary]:
        """Time, memory and space of every model over its runs."""
        return Rows(row for model in self.models.values() for row in model.cost)

    @cached_property
    def per_class(self) -> Rows[ClassValues]:
        """Precision, recall and F of each class, and their averages, of every model."""
        return Rows(row for model in self.models.values() for row in model.per_class)

    def ranking(self, metric: Any = KALITA) -> Rows[Summary]:
        """The models from the best to the worst by the mean of a metric, or of a cost; Kalita's mean F by default.

        The mean is over the runs in which it is defined for every model. Where those are fewer than half of the runs,
        as when rows are left out one by one, the merged tables decide, and `why` says so.
        """
        if isinstance(metric, str) and metric in KINDS:
            return _sorted(
                [next(row for row in model.cost if row.name == metric) for model in self.models.values()], -1
            )
        spec = MetricSpec.of(metric)
        if not spec.sign:
            raise InputError(f"No value of {spec.name} is best, so nothing can be ranked by it; name another.")
        known = {name: np.isfinite(model.values(spec)) for name, model in self.models.items()}
        common = np.logical_and.reduce([held for held in known.values() if held.any()] or list(known.values()))
        if 2 * common.sum() >= len(common):
            return _sorted([model.summarised(spec, common) for model in self.models.values()], spec.sign)
        told = f"defined for every model in {common.sum()} of {len(common)} runs only: ranked by the merged tables"
        found = [replace(model.summarised(spec), why=told) for model in self.models.values()]
        return _sorted(found, spec.sign, "pooled")

    def differences(self, metrics: Any = (KALITA, "ac_score")) -> Rows[RunDifference]:
        """Every pair of models, run by run: the mean difference with Nadeau and Bengio's corrected t-test."""
        several = [metrics] if isinstance(metrics, str) else list(metrics)
        rows = [
            self._difference(a, b, MetricSpec.of(metric)) for metric in several for a, b in combinations(self.models, 2)
        ]
        adjusted = holm(row.p_value for row in rows)
        return Rows(replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True))

    def _difference(self, a: str, b: str, spec: MetricSpec) -> RunDifference:
        both = self[a].values(spec) - self[b].values(spec)
        known = both[np.isfinite(both)]
        if len(known) < 2:
            return RunDifference(a, b, spec.name, math.nan, math.nan, math.nan, math.nan, math.nan, len(known))
        train, test = np.mean([run.part.sizes for run in self[a].runs], axis=0).tolist()
        found = corrected_t_test(known, n_train=train, n_test=test, level=self[a].level)
        ends = (found.difference, found.low, found.high, found.p_value)
        return RunDifference(a, b, spec.name, *ends, math.nan, len(known))

    def compare(self, **options: Any) -> Comparison:
        """The models on the same rows, each row as it was first tested; options as in `steelyard.compare`."""
        first = next(iter(self.models.values()))
        data = first.data
        answers = {name: pooling.first_answers(model.runs, len(data.codes)) for name, model in self.models.items()}
        held = np.logical_and.reduce([codes >= 0 for codes in answers.values()])
        if not held.any():
            raise InputError("No row was tested by every model, so there is nothing to compare.")
        names = np.array(data.labels, dtype=object)
        options = {"pos_label": data.positive, "labels": list(data.labels), "level": first.level, **options}
        return compare(names[data.codes[held]], {n: names[codes[held]] for n, codes in answers.items()}, **options)

    # ---------------------------------------------------------------- the only model

    def values(self, metric: Any = KALITA) -> Array:
        """The value of each run of the only model."""
        return only(self.models, "values").values(metric)

    def summarised(self, metric: Any = KALITA) -> Summary:
        """One metric over all runs of the only model."""
        return only(self.models, "summary").summarised(metric)

    @property
    def pooled(self) -> Confusion:
        """The tables of all runs of the only model, merged."""
        return only(self.models, "pooled table").pooled

    @property
    def scores(self) -> ScoreTable | None:
        """The scores of all test rows of the only model."""
        return only(self.models, "scores").scores

    @property
    def evaluation(self) -> Evaluation:
        """All test rows of the only model as one Evaluation."""
        return only(self.models, "evaluation").evaluation

    def best_threshold(self, metric: Any = "ac_score", **options: Any) -> BestThreshold:
        """The best cut of the only model's scores of rows that it had not seen."""
        return only(self.models, "threshold").best_threshold(metric, **options)

    # ---------------------------------------------------------------- shown

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON: what is undefined or infinite is None."""
        return summary_text.plain(self)

    def to_json(self) -> str:
        """The result as strict JSON text."""
        return json_text(self.to_dict())

    def __repr__(self) -> str:
        return summary_text.told(self)


def _sorted(rows: list[Summary], sign: int, key: str = "mean") -> Rows[Summary]:
    """The rows from the best to the worst; what is undefined comes last."""
    worth = [sign * (math.nan if getattr(row, key) is None else getattr(row, key)) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: math.inf if math.isnan(worth[i]) else -worth[i])
    return Rows(rows[i] for i in order)
