"""CrossEvaluation: one or several models evaluated on the same splits, ranked and compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np

from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.comparison.leaderboard import Leaderboard, ranked_leaderboard
from steelyard.analysis.holm import holm
from steelyard.analysis.results.blocks import Block, Sentence, Table
from steelyard.analysis.results.formatting import bounds_text, interval_text, listed, three_digits
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.analysis.results.result_json import from_fields, read_metric, strict
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE
from steelyard.predictions import Predictions
from steelyard.protocol import run_values
from steelyard.protocol.label_sets import result_of
from steelyard.protocol.model_result import ModelResult
from steelyard.protocol.run_values import KALITA_MEAN_F, RunDifference, Summary, ranked_metrics
from steelyard.protocol.run_verdict import RunNumbers, order_sentences, run_statements
from steelyard.protocol.runs import COST_KINDS, Cost, Data, Run, RunPredictions
from steelyard.protocol.splits import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.results.result_json import Writer
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, SearchOptions
    from steelyard.analysis.thresholds.threshold_sample import AimLike
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.run_values import ClassValues
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- saved runs
# A cross-evaluation as JSON values, and the same read back; features and fitted models are not in it.


SavedValues = dict[str, Any]


def saved_runs(models: Mapping[str, ModelResult]) -> SavedValues:
    """The true classes, the rows of each run, and what each model predicted for them."""
    first = next(iter(models.values()))
    return {
        "codes": first.data.codes,
        "weight": first.data.weight,
        "parts": [
            {"repeat": run.part.repeat, "fold": run.part.fold, "test": run.part.test, "train": run.part.listed}
            for run in first.runs
        ],
        "models": {
            name: {
                "metrics": None if model.metrics is None else [MetricSpec.of(metric).name for metric in model.metrics],
                "level": model.level,
                "runs": [
                    {key: getattr(run.predictions, key) for key in ("codes", "scores", "cost", "error")}
                    for run in model.runs
                ],
            }
            for name, model in models.items()
        },
    }


def read_models(whole: SavedValues) -> dict[str, ModelResult]:
    """The models of a saved cross-evaluation, by name."""
    saved = whole["predictions"]
    labels, codes = tuple(whole["labels"]), np.array(saved["codes"], dtype=np.intp)
    y = np.array(labels)[codes] if codes.ndim == 1 else codes  # of several labels each
    data = Data(np.empty((len(codes), 0)), y, codes, labels, whole["positive"], _array(saved["weight"]))
    parts = [
        Part(part["repeat"], part["fold"], np.array(part["test"], dtype=np.intp), len(codes), _indices(part["train"]))
        for part in saved["parts"]
    ]
    models = {}
    for name, model in saved["models"].items():
        runs = Rows[Run]()
        for part, run in zip(parts, model["runs"], strict=True):
            cost = from_fields(Cost, run["cost"])
            predictions = RunPredictions(_indices(run["codes"]), _array(run["scores"]), cost, run["error"])
            runs.append(Run(name, part, data, predictions))
        metrics = None if model["metrics"] is None else [read_metric(metric) for metric in model["metrics"]]
        models[name] = result_of(name, runs, metrics, model["level"], alone=len(saved["models"]) == 1)
    return models


def _array(values: list[Any] | None) -> Array | None:
    return None if values is None else np.array(values, dtype=np.float64)


def _indices(values: list[int] | None) -> Array | None:
    return None if values is None else np.array(values, dtype=np.intp)


# ---------------------------------------------------------------- summary text
# The text of a cross-evaluation, and its values for JSON.


STARRED = "* All runs gave the same value, so this is the interval of the rows tested."
UNNAMED = (
    "No class is the positive one, so recall, precision, F1 and the areas of one class are left out; name it with "
    "pos_label=."
)
ONE_TIMING = "Each timing is one of its kind; resources=True repeats short ones and measures the peak memory."


def shown_sentences(result: CrossEvaluation) -> list[str]:
    """What is to be known about the table, and the runs that failed."""
    if len(result.models) == 1:
        sentences = remarks(next(iter(result.models.values())))
    else:
        first = result.ranking()[0]
        why = [] if first.why is None else [f"{first.name} is {first.why}."]
        sentences = [*why, *order_sentences(result), *mean_f_sentence(result)]
    failed = [f"{run.model}, repeat {run.part.repeat}, fold {run.part.fold}: {run.error}" for run in result.failures]
    return [*sentences, *([f"{len(failed)} of {len(result.runs)} runs failed:", *failed[:5]] if failed else [])]


def head(result: CrossEvaluation) -> str:
    """How many runs of what on which rows, and whose intervals these are."""
    model = next(iter(result.models.values()))
    sizes = [run.part.sizes for run in model.runs]
    train, test = (f"{round(np.mean(column)):,}" for column in zip(*sizes, strict=True))
    who = model.name if len(result.models) == 1 else f"{len(result.models)} models"
    runs = "1 run" if len(model.runs) == 1 else f"{len(model.runs)} runs"
    sentence = f"{runs} of {who} on {len(model.data.codes):,} rows, {train} trained on and {test} tested in each."
    if len(model.runs) == 1:
        return f"{sentence} One run has no spread; the intervals of its rows are in `evaluation`."
    return f"{sentence} The {100 * model.level:g} % intervals are Nadeau and Bengio's."


def first_rows(model: ModelResult) -> list[Summary]:
    """The requested metrics, or the headline ones, then the costs that were measured."""
    rows = [row for row in model.summary if model.metrics is not None or _is_shown_first(row, model)]
    return [*rows, *(row for row in model.cost if row.why is None)]


def _is_shown_first(row: Summary, model: ModelResult) -> bool:
    if not isinstance(row.spec, MetricSpec):
        return False
    if row.spec.is_headline or row.spec in (model.default_spec, MetricSpec.of(KALITA_MEAN_F)):
        return True
    is_average = row.spec.average in ("micro", "macro") and row.spec.metric.name in HEADLINE
    return model.data.are_label_sets and (is_average or row.spec.metric.is_of_label_sets)


def remarks(model: ModelResult) -> list[str]:
    """What is to be known about these rows."""
    rows = first_rows(model)
    sentences = [STARRED] if any(row.of_rows for row in rows) else []
    sentences += [f"{row.name}: {row.why}" for row in rows if row.why is not None]
    if model.metrics is None and model.data.positive is None and not model.data.are_label_sets:
        sentences.append(UNNAMED)
    if all(row.noise is None for row in model.cost):
        sentences.append(ONE_TIMING)
    return sentences


def shown_row(row: Summary) -> dict[str, str | float | None]:
    """A row as it is printed."""
    interval = None if np.isnan(row.low) else bounds_text(row.low, row.high) + "*" * row.of_rows
    return {
        "metric": row.name,
        "mean": row.mean,
        "median": row.median,
        "sd": row.sd,
        "interval": interval,
        "best": row.best,
        "worst": row.worst,
        "pooled": row.pooled,
        "chance": row.chance,
        "noise": row.noise,
        "undefined": row.undefined,
    }


def _ranked_row(result: CrossEvaluation, row: Summary) -> dict[str, Any]:
    """A model of several as it is printed: ranked by one metric, beside the other requested ones or Kalita's mean F."""
    model = result[str(row.model)]
    costs = {cost.name: cost.mean for cost in model.cost}
    if model.metrics is None:
        beside = RunNumbers(result).beside
        others = [] if beside is None else [model.summarised(beside)]
        others.append(model.summarised(KALITA_MEAN_F))
    else:
        others = [other for other in model.summary if other.spec != row.spec]
    return {
        "model": row.model,
        f"mean {row.name}": interval_text(row.mean, row.low, row.high),
        "undefined": row.undefined,
        "pooled": row.pooled,
        **{f"mean {other.name}": other.mean for other in others},
        "fit s": costs["fit_seconds"],
        "predict s / 1000": costs["predict_seconds_per_1000"],
        "bytes": costs["model_bytes"],
    }


def mean_f_sentence(result: CrossEvaluation) -> list[str]:
    """Whom Kalita's mean F puts first, where it is another model."""
    if ranked_metrics(result):
        return []
    first, by_mean_f = str(result.ranking()[0].model), result.ranking(KALITA_MEAN_F)[0]
    if first == by_mean_f.model or (np.isnan(by_mean_f.mean) and np.isnan(by_mean_f.pooled or np.nan)):
        return []
    about = "the mean F of the classes, by which Kalita's study ranks models,"
    about = "the mean F of the labels," if result.runs[0].data.are_label_sets else about
    return [
        f"{KALITA_MEAN_F}, {about} puts {by_mean_f.model} first and not {first}: ranking({KALITA_MEAN_F!r}) gives that "
        "order in Python."
    ]


# ---------------------------------------------------------------- JSON


def json_values(result: CrossEvaluation) -> dict[str, Any]:
    """The result as plain values, ready for strict JSON."""
    data = next(iter(result.models.values())).data
    where = {"rows": len(data.codes), "labels": list(data.labels), "positive": data.positive, **result.setting}
    models = [
        {
            "name": model.name,
            "level": model.level,
            "summary": strict(model.summary.to_dicts()),
            "cost": strict(model.cost.to_dicts()),
            "per_class": strict(model.per_class.to_dicts()),
            "runs": strict(model.runs.to_dicts()),
            "evaluation": None if len(model.failures) == len(model.runs) else model.evaluation.to_dict(),
        }
        for model in result.models.values()
    ]
    return {**where, "notes": list(result.notes), "models": models}


# ---------------------------------------------------------------- run leaderboard
# The models of a cross-evaluation by their means over the runs, and which no test distinguishes.


class _Mean(NamedTuple):
    """The mean of a model with its interval."""

    value: float
    low: float
    high: float
    why: Any


def run_leaderboard(result: CrossEvaluation, metric: SpecLike | None) -> Leaderboard:
    """The means over the runs in which all models have a value, and Nadeau and Bengio's tests of their differences."""
    spec = result.default_spec if metric is None else MetricSpec.of(metric)
    ranked = result.ranking(spec)
    means = {str(row.model): _Mean(row.mean, row.low, row.high, row.why) for row in ranked}
    first = next(iter(result.models.values()))
    in_order = {name: means[name] for name in result.models}
    return ranked_leaderboard(spec, first.level, in_order, result.differences(spec), len(first.runs))


# ---------------------------------------------------------------- CrossEvaluation


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

    also_saved = ("verdict",)

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
    def predictions(self) -> Predictions:
        """What the models made of rows that they had not seen, by name; a row that was tested repeatedly is a cluster.

        Of the runs that ended for every model.
        """
        first, *_ = self.models.values()
        data = first.data
        ended = [i for i in range(len(first.runs)) if all(m.runs[i].error is None for m in self.models.values())]
        if not ended:
            raise InputError("No run ended for every model, so there are no rows to ask about; see failures.")
        rows = np.concatenate([first.runs[i].part.test for i in ended])
        preds, scores = {}, {}
        for name, model in self.models.items():
            runs = [model.runs[i].predictions for i in ended]
            codes = np.concatenate([run.codes for run in runs if run.codes is not None])
            preds[name] = codes if data.are_label_sets else np.array(data.labels)[codes]
            if all(run.scores is not None for run in runs):
                scores[name] = np.concatenate([run.scores for run in runs if run.scores is not None])
        return Predictions(
            data.y[rows],
            preds,
            y_score=scores if len(scores) == len(preds) else None,
            sample_weight=None if data.weight is None else data.weight[rows],
            cluster=rows if len(np.unique(rows)) < len(rows) else None,
            pos_label=data.positive,
            labels=data.labels,
        )

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
        """The metric that models are ranked by unless another is named.

        The number of the use; without one the first metric asked for, else average precision of the scores of one
        class, which needs no threshold, and the AC-score where there are no scores.
        """
        return RunNumbers(self).leading

    @property
    def verdict(self) -> list[str]:
        """Of several models, what they find in the mean of the runs, the number of the use, and which to choose."""
        return [statement.text() for statement in run_statements(self)]

    @names_wrong_arguments
    def ranking(self, metric: SpecLike | None = None) -> Rows[Summary]:
        """The models from the best to the worst by the mean of a metric, or of a cost.

        Where none is named it is the number of the use, the first metric that was asked for, or average precision, as
        `default_spec` has it.

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

        Where no metric is named they are those that were asked for, or the one that models are ranked by and Kalita's
        mean F.
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
        codes = {name: run_values.first_predictions(model.runs, data.codes) for name, model in self.models.items()}
        tested = np.logical_and.reduce([column.reshape(len(column), -1)[:, 0] >= 0 for column in codes.values()])
        if not tested.any():
            raise InputError("No row was tested by every model, so there is nothing to compare.")
        options = {"pos_label": data.positive, "labels": list(data.labels), "level": first.level, **options}
        if data.are_label_sets:
            return compare(data.codes[tested], y_pred={name: sets[tested] for name, sets in codes.items()}, **options)
        labels = np.array(data.labels, dtype=object)
        predicted = {name: labels[column[tested]] for name, column in codes.items()}
        return compare(labels[data.codes[tested]], y_pred=predicted, **options)

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
        tables = json_values(self)
        return (
            tables | writer.of_fields(self) | {"predictions": writer.written(saved_runs(self.models), "/predictions")}
        )

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The result of saved predictions; features and fitted models are not saved."""
        return cls(read_models(data), tuple(data["notes"]), data["setting"])

    def shown_rows(self) -> list[dict[str, Any]]:
        """The first metrics of the only model, or those asked for, and its costs; of several each model."""
        if len(self.models) > 1:
            return [_ranked_row(self, row) for row in self.ranking()]
        return [shown_row(row) for row in first_rows(next(iter(self.models.values())))]

    def blocks(self) -> list[Block]:
        """What is to be known about the table stands before what is to be known of the data."""
        notes = (*shown_sentences(self), *self.notes)
        sentences = [Sentence(self.headline, "headline"), *(Sentence(text, "lead") for text in self.verdict)]
        return [*sentences, Table.of(self), *map(Sentence, notes)]

    @property
    def headline(self) -> str:
        """How many runs of what on which rows."""
        return head(self)


def _sorted(rows: list[Summary], sign: int, key: str = "mean") -> Rows[Summary]:
    """The rows from the best to the worst; what is undefined comes last."""

    def descending(row: Summary) -> float:
        value = getattr(row, key)
        return math.inf if value is None or math.isnan(value) else -sign * value

    return Rows(sorted(rows, key=descending))


# ---------------------------------------------------------------- HoldOuts
# Hold-outs of several sizes side by side, the part trained on k times the part tested (Kalita).


@dataclass(frozen=True, eq=False)
class HoldOutRow(Flat):
    """One metric of one model where k times as many rows are trained on as tested, over the repeats.

    The interval is Nadeau and Bengio's.
    """

    model: str
    k: int
    trained: int
    tested: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    best: float
    worst: float
    undefined: int


@dataclass(frozen=True, eq=False, repr=False)
class HoldOuts(Result[HoldOutRow]):
    """What models do on hold-outs of several sizes."""

    rows: tuple[HoldOutRow, ...]
    repeats: int
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Mapping[int, CrossEvaluation], metrics: Sequence[SpecLike] | None = None) -> HoldOuts:
        """The cross-evaluations by hold-out of each k, read by metrics, or by the AC-score and the mean F."""
        first = next(iter(results.values()))
        chosen = (next(iter(first.models.values())).default_spec, KALITA_MEAN_F) if metrics is None else metrics
        rows = []
        for metric in chosen:
            for k, result in results.items():
                for name, model in result.models.items():
                    row, (trained, tested) = model.summarised(metric), model.runs[0].part.sizes
                    values = (row.mean, row.low, row.high, row.sd, row.best, row.worst)
                    rows.append(HoldOutRow(name, k, trained, tested, row.name, *values, row.undefined or 0))
        return cls(tuple(rows), len(next(iter(first.models.values())).runs), first.notes)

    def __iter__(self) -> Iterator[HoldOutRow]:
        return iter(self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known beside the rows."""
        return self.remarks

    def shown_tables(self) -> list[Table]:
        """A row for each model, size and metric."""
        return [Table.of(self, keys=2)]

    @property
    def headline(self) -> str:
        """What the first metric of the first model is at the smallest and the largest k."""
        first = self.rows[0]
        rows = [row for row in self.rows if (row.model, row.metric) == (first.model, first.metric)]
        smallest_and_largest = [first] if len(rows) == 1 else [first, rows[-1]]
        means = [f"{three_digits(row.mean)} at k = {row.k}" for row in smallest_and_largest]
        runs = "once" if self.repeats == 1 else f"{self.repeats} times"
        return f"{first.metric} of {first.model}, trained on k times the rows tested, {runs} each: {listed(means)}."
