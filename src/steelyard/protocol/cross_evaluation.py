"""CrossEvaluation: one or several models evaluated on the same splits, ranked and compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.comparison.corrected_t_test import corrected_t_test
from steelyard.analysis.holm import holm
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import pooling, summary_text
from steelyard.protocol.cost import COST_KINDS
from steelyard.protocol.model_result import ModelResult
from steelyard.protocol.ranked_metrics import ranked_metrics
from steelyard.protocol.run_difference import RunDifference
from steelyard.protocol.run_leaderboard import run_leaderboard
from steelyard.protocol.run_summary import Summary
from steelyard.protocol.run_values import KALITA_MEAN_F
from steelyard.protocol.saved_runs import read_models, saved_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.leaderboard import Leaderboard
    from steelyard.analysis.results.result_json import Writer
    from steelyard.analysis.thresholds.best_threshold import SearchOptions
    from steelyard.analysis.thresholds.best_threshold_result import BestThreshold
    from steelyard.analysis.thresholds.threshold_criterion import AimLike
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.class_values import ClassValues
    from steelyard.protocol.runs import Run
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class CrossEvaluation(Result[Summary]):
    """One or several models evaluated on the same splits.

    `result[name]` is what one model did. With a single model all that it offers stands here as well: `runs`, `values`,
    `pooled`, `summary`, `cost`, `per_class`, `scores`, `evaluation` and `best_threshold`.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from steelyard import cross_evaluate
    >>> result = cross_evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), split=3)
    >>> len(result.runs), int(result.pooled.rows.sum())
    (3, 569)
    """

    models: dict[str, ModelResult] = field(metadata={"key": None})
    notes: tuple[str, ...] = ()
    setting: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ModelResult:
        if name not in self.models:
            near = did_you_mean(str(name), self.models) or f" There are {', '.join(map(repr, self.models))}."
            raise UnknownNameError(f"No model is called {name!r}.{near}")
        return self.models[name]

    def __iter__(self) -> Iterator[Summary]:
        return iter(self.summary)

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

    @property
    def default_spec(self) -> MetricSpec:
        """The metric that models are ranked by unless another is named: the first asked for, or the AC-score."""
        return next(iter(ranked_metrics(self)), next(iter(self.models.values())).default_spec)

    @names_wrong_arguments
    def ranking(self, metric: SpecLike | None = None) -> Rows[Summary]:
        """The models from the best to the worst by the mean of a metric, or of a cost.

        Where none is named it is the first metric that was asked for, or the AC-score.

        The mean is over the runs in which it is defined for every model. Where those are fewer than half of the runs,
        as when rows are left out one by one, the merged tables decide, and `why` says so. Kalita's study ranks by
        `ranking("f1[average=macro]")`.
        """
        if isinstance(metric, str) and metric in COST_KINDS:
            return _sorted([row for row in self.cost if row.name == metric], -1)
        spec = self.default_spec if metric is None else MetricSpec.of(metric)
        if not spec.sign:
            raise InputError(f"No value of {spec.name} is best, so nothing can be ranked by it; name another.")
        defined = [np.isfinite(model.values(spec)) for model in self.models.values()]
        common = np.logical_and.reduce([runs for runs in defined if runs.any()] or defined)
        if 2 * common.sum() >= len(common):
            return _sorted([model.summarised(spec, common) for model in self.models.values()], spec.sign)
        why = f"defined for every model in {common.sum()} of {len(common)} runs only: ranked by the merged tables"
        rows = [replace(model.summarised(spec), why=why) for model in self.models.values()]
        return _sorted(rows, spec.sign, "pooled")

    @names_wrong_arguments
    def leaderboard(self, metric: SpecLike | None = None) -> Leaderboard:
        """The models by their means over the runs, with Nadeau and Bengio's intervals and brackets of their tests."""
        return run_leaderboard(self, metric)

    @names_wrong_arguments
    def differences(self, metrics: SpecLike | Iterable[SpecLike] | None = None) -> Rows[RunDifference]:
        """Every pair of models, run by run: the mean difference with Nadeau and Bengio's corrected t-test.

        Where no metric is named they are those that were asked for, or the AC-score and Kalita's mean F.
        """
        metrics = (ranked_metrics(self) or (self.default_spec, KALITA_MEAN_F)) if metrics is None else metrics
        several = metrics if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
        specs = [MetricSpec.of(metric) for metric in several]
        rows = [self._difference(a, b, spec) for spec in specs for a, b in combinations(self.models, 2)]
        adjusted = holm(row.p_value for row in rows)
        return Rows(replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True))

    def _difference(self, a: str, b: str, spec: MetricSpec) -> RunDifference:
        differences = value_change(self[a].values(spec), self[b].values(spec))
        finite = differences[np.isfinite(differences)]
        if len(finite) < 2:
            return RunDifference(a, b, spec, len(finite))
        train, test = np.mean([run.part.sizes for run in self[a].runs], axis=0).tolist()
        tested = corrected_t_test(finite, n_train=train, n_test=test, level=self[a].level)
        return RunDifference(a, b, spec, len(finite), tested.difference, tested.low, tested.high, tested.p_value)

    def compare(self, **options: Any) -> Comparison:
        """The models on the same rows, each row as it was first tested; options as in `steelyard.compare`."""
        first = next(iter(self.models.values()))
        data = first.data
        codes = {name: pooling.first_predictions(model.runs, data.codes) for name, model in self.models.items()}
        tested = np.logical_and.reduce([column.reshape(len(column), -1)[:, 0] >= 0 for column in codes.values()])
        if not tested.any():
            raise InputError("No row was tested by every model, so there is nothing to compare.")
        options = {"pos_label": data.positive, "labels": list(data.labels), "level": first.level, **options}
        if data.are_label_sets:
            return compare(data.codes[tested], {name: sets[tested] for name, sets in codes.items()}, **options)
        labels = np.array(data.labels, dtype=object)
        predicted = {name: labels[column[tested]] for name, column in codes.items()}
        return compare(labels[data.codes[tested]], predicted, **options)

    # ---------------------------------------------------------------- the only model

    def _only(self, what: str) -> ModelResult:
        """The only model; of several one is to be named."""
        if len(self.models) == 1:
            return next(iter(self.models.values()))
        names = ", ".join(map(repr, self.models))
        raise InputError(
            f"There are {len(self.models)} models, {names}; name the one whose {what} is meant: result[name]."
        )

    @names_wrong_arguments
    def values(self, metric: SpecLike | None = None) -> Array:
        """The value of each run of the only model."""
        return self._only("values").values(metric)

    @names_wrong_arguments
    def summarised(self, metric: SpecLike | None = None) -> Summary:
        """One metric over all runs of the only model."""
        return self._only("summary").summarised(metric)

    @property
    def pooled(self) -> Confusion:
        """The tables of all runs of the only model, merged."""
        return self._only("pooled table").pooled

    @property
    def scores(self) -> ScoreTable | None:
        """The scores of all test rows of the only model."""
        return self._only("scores").scores

    @property
    def evaluation(self) -> Evaluation:
        """All test rows of the only model as one Evaluation."""
        return self._only("evaluation").evaluation

    @names_wrong_arguments
    def best_threshold(self, metric: AimLike | None = None, **options: Unpack[SearchOptions]) -> BestThreshold:
        """The best threshold of the only model's scores of rows that it had not seen."""
        return self._only("threshold").best_threshold(metric, **options)

    # ---------------------------------------------------------------- shown

    def held(self, writer: Writer) -> dict[str, Any]:
        """The tables of each model for a reader, and the predictions that they come from."""
        tables = summary_text.json_values(self)
        return (
            tables | writer.of_fields(self) | {"predictions": writer.written(saved_runs(self.models), "/predictions")}
        )

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The result of saved predictions; features and fitted models are not saved."""
        return cls(read_models(data), tuple(data["notes"]), data["setting"])

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics that are read first, or were asked for, of each model; the costs are in `cost`."""
        return [
            {"model": name}
            | {key: value for key, value in row.row().items() if key not in ("model", "median", "noise")}
            for name, model in self.models.items()
            for row in summary_text.first_rows(model)
            if isinstance(row.spec, MetricSpec)
        ]

    @property
    def headline(self) -> str:
        """How many runs of what on which rows."""
        return summary_text.head(self)

    def __repr__(self) -> str:
        return summary_text.result_text(self)


def _sorted(rows: list[Summary], sign: int, key: str = "mean") -> Rows[Summary]:
    """The rows from the best to the worst; what is undefined comes last."""
    worth = [sign * (math.nan if getattr(row, key) is None else getattr(row, key)) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: math.inf if math.isnan(worth[i]) else -worth[i])
    return Rows(rows[i] for i in order)
