"""Runs: an estimator fitted on a training part predicts its test part, for each part of a split, and its cost."""

from __future__ import annotations

import math
import pickle
import time
import tracemalloc
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.exceptions import InputError, SteelyardError
from steelyard.protocol.resample import Training, resampled, trained_share
from steelyard.protocol.splits import seeded
from steelyard.tables import array_tables
from steelyard.tables.array_tables import probability_table, score_table
from steelyard.tables.confusion import Confusion
from steelyard.tables.probability_table import SUM_OFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Labels
    from steelyard.metrics.spec import MetricSpec
    from steelyard.protocol.resample import Candidate
    from steelyard.protocol.splits import Part
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- cost
# The time, the memory and the space that an estimator takes, measured beside what it predicts.


_Result = TypeVar("_Result")

_SHORT = 0.05  # seconds below which one timing tells more about the machine than about the work
MOST_REPEATS = 7
PER = 1_000  # rows that the prediction time is given for


def _median(timings: tuple[float, ...]) -> float:
    return float(np.median(timings)) if timings else math.nan


def _noise(timings: tuple[float, ...]) -> float:
    median = _median(timings)
    return (max(timings) - min(timings)) / median if len(timings) > 1 and median > 0 else math.nan


@dataclass(frozen=True)
class Cost:
    """What one run took; timings in seconds, all of them where they were repeated, NaN where nothing was measured.

    `fit` is the fit alone, without resampling; `predict` is `predict` on the test part, for 1,000 rows. `memory` is
    the peak of what Python and NumPy allocated during a fit of its own under tracemalloc, which slows it and so is
    never timed; what a library allocates past Python's allocators is not in it. `size` is the pickled model; `nodes`
    and `depth` are those of a tree, summed and at most over the trees of a forest.
    """

    fit: tuple[float, ...] = ()
    predict: tuple[float, ...] = ()
    memory: float = math.nan
    size: float = math.nan
    nodes: float = math.nan
    depth: float = math.nan

    def values(self) -> dict[str, float]:
        """One number a kind of cost: the median of repeated timings."""
        return {
            "fit_seconds": _median(self.fit),
            "predict_seconds_per_1000": _median(self.predict),
            "peak_memory_bytes": self.memory,
            "model_bytes": self.size,
            "tree_nodes": self.nodes,
            "tree_depth": self.depth,
        }

    def noise(self) -> dict[str, float]:
        """How far repeated timings lie apart, as a share of their median; NaN where nothing was repeated."""
        return {"fit_seconds": _noise(self.fit), "predict_seconds_per_1000": _noise(self.predict)}


@dataclass(frozen=True)
class CostKind:
    """One kind of cost, of which less is better; `why_missing` is why a run may have none."""

    name: str
    why_missing: str | None = None

    def saved(self) -> str:
        """Its name, by which it is known in JSON."""
        return self.name

    sign = -1
    range = (0.0, math.inf)


_WHY_MISSING = {
    "peak_memory_bytes": "not measured; resources=True fits once more under tracemalloc",
    "model_bytes": "the model cannot be pickled",
    "tree_nodes": "not a tree",
    "tree_depth": "not a tree",
}
COST_KINDS = {name: CostKind(name, _WHY_MISSING.get(name)) for name in Cost().values()}


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """What the work returns, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def timings(work: Callable[[], object], first: float, *, thorough: bool) -> tuple[float, ...]:
    """The first timing, and where it is short and its noise matters, further ones of the same work."""
    seconds = [first]
    while thorough and len(seconds) < MOST_REPEATS and sum(seconds) < _SHORT:
        seconds.append(timed(work)[1])
    return tuple(seconds)


def peak_memory(work: Callable[[], object]) -> float:
    """The most bytes that the work held at once above what was held before, as tracemalloc sees it."""
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return float(max(tracemalloc.get_traced_memory()[1] - before, 0))
    finally:
        if not running:
            tracemalloc.stop()


class _Counter:
    """A file that only counts what is written to it."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes) -> int:
        """Count, and forget."""
        size = memoryview(data).nbytes
        self.bytes += size
        return size


def model_size(model: object) -> float:
    """The bytes of the pickled model, counted without keeping them; NaN where it cannot be pickled."""
    counter = _Counter()
    try:
        pickle.dump(model, counter, protocol=5)
    except Exception:  # noqa: BLE001 - an estimator may refuse in any way
        return math.nan
    return float(counter.bytes)


class _Tree(Protocol):
    node_count: int
    max_depth: int


def tree_size(model: object) -> tuple[float, float]:
    """The nodes and the depth of a fitted tree, of the trees of a forest, or of what a pipeline or a search holds."""
    trees = list(_trees(model))
    if not trees:
        return math.nan, math.nan
    return float(sum(tree.node_count for tree in trees)), float(max(tree.max_depth for tree in trees))


def _trees(model: object) -> Iterator[_Tree]:
    if hasattr(model, "tree_"):
        yield model.tree_
        return
    steps = getattr(model, "steps", None)
    inside = [steps[-1][1]] if steps else np.ravel(np.asarray(getattr(model, "estimators_", []), dtype=object)).tolist()
    inside += [getattr(model, name) for name in ("estimator_", "best_estimator_") if hasattr(model, name)]
    for part in inside:
        # A bagging classifier holds its prototype in estimator_ as well, which was never fitted.
        yield from _trees(part)


# ---------------------------------------------------------------- predictions
# What a fitted estimator predicts for the test rows of a run, checked before it is counted.


@dataclass(frozen=True, eq=False)
class Data:
    """The rows to learn from and to test on: y as it was given, and as codes into its labels."""

    X: Features = field(compare=False)  # JSON keeps no features
    y: Array
    codes: Array
    labels: Labels
    positive: Label = None
    weight: Array | None = None

    @property
    def are_label_sets(self) -> bool:
        """Whether each row may have several labels: then `y` and `codes` have a column of 0 and 1 for each."""
        return self.codes.ndim == 2

    def training(self, rows: Array) -> Training:
        """The rows that a run is trained on."""
        return Training(self.features(rows), self.y[rows], None if self.weight is None else self.weight[rows])

    def subset(self, rows: Array) -> Data:
        """The same of these rows alone."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.features(rows), y=self.y[rows], codes=self.codes[rows], weight=weight)

    def features(self, rows: Array) -> ArrayLike:
        """Their X, of whatever kind it is."""
        from sklearn.utils import _safe_indexing

        return cast("ArrayLike", _safe_indexing(self.X, rows))


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """What an estimator predicts for the test rows, as codes and, where it has any, scores; and what that cost.

    Scores are those of the positive class, or where none is named a column for each class. `trained` is the share of
    the positive class among the rows of the fit where a sampler has changed it.
    """

    codes: Array | None = None
    scores: Array | None = None
    cost: Cost = Cost()
    error: str | None = None
    trained: float | None = None

    @property
    def has_probabilities(self) -> bool:
        """Whether the columns of scores of all classes, if there are any, are probabilities."""
        scores = self.scores
        return scores is None or (bool((scores >= 0).all()) and bool((np.abs(scores.sum(1) - 1) <= SUM_OFF).all()))


def predictions_of(model: Estimator, data: Data, test: Array) -> RunPredictions:
    """What a fitted estimator predicts for the test rows."""
    X = data.features(test)
    return checked_predictions(model, X, model.predict(X), data, test)


def checked_predictions(
    model: Estimator, X: ArrayLike, labels: ArrayLike, data: Data, test: Array, *, scores: bool = True
) -> RunPredictions:
    """The predicted labels as codes and, on request, the scores; one of each a test row, or none at all."""
    if data.weight is not None and not data.weight[test].any():
        raise InputError("All rows tested have weight 0, so nothing can be evaluated on them.")
    if data.are_label_sets:
        from steelyard.protocol.label_sets import label_set_predictions

        return label_set_predictions(model, X, labels, data, test, scores=scores)
    column = checks.column(labels, "y_pred")
    _check_length("predict", column, len(test))
    codes, _ = label_codes.encode(column, data.labels, "y_pred")
    return RunPredictions(codes, model_scores(model, X, data) if scores else None)


def _check_length(method: str, values: Array, rows: int) -> None:
    if len(values) != rows:
        raise InputError(f"{method} gave {len(values):,} answers about {rows:,} rows; it has to give one a row.")


def model_scores(model: Estimator, X: ArrayLike, data: Data) -> Array | None:
    """The scores of the positive class, or of every class where none is named; None where the model gives none."""
    classes = getattr(model, "classes_", None)
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
    if method is None or classes is None:
        return None
    scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
    _check_length(method, scores, X.shape[0] if hasattr(X, "shape") else len(cast("Sized", X)))
    lost = int((~np.isfinite(scores)).any(axis=tuple(range(1, scores.ndim))).sum())
    if lost:
        raise InputError(f"{method} gave no finite number for {lost:,} of {len(scores):,} rows; scores are numbers.")
    if data.positive is None:
        return _columns(scores, np.asarray(classes), data.labels)
    return _positive_column(scores, np.asarray(classes), data.positive)


def _columns(scores: Array, classes: Array, labels: Labels) -> Array | None:
    """A column of scores for each label; a class that was never trained on has the lowest scores there are."""
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if scores.shape[1] != len(classes):  # one column a pair of classes, as of some support vector machines
        return None
    codes, _ = label_codes.encode(classes, labels, "classes_")
    columns = np.full((len(scores), len(labels)), scores.min(initial=0.0))
    columns[:, codes] = scores
    return columns


def _positive_column(scores: Array, classes: Array, positive: Label) -> Array | None:
    """The scores of the positive class, higher meaning more positive."""
    if scores.ndim == 2 and scores.shape[1] != len(classes):
        return None
    indices = np.flatnonzero(classes == positive)
    if not len(indices):
        return np.zeros(len(scores))  # never seen in training: all rows are equally unlikely to be positive
    index = int(indices[0])
    if scores.ndim == 2:
        return np.asarray(scores[:, index])
    return scores if index == len(classes) - 1 else -scores


# ---------------------------------------------------------------- runs


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run of one model: its tables, its cost, and where it failed the reason."""

    model: str
    part: Part
    data: Data
    predictions: RunPredictions

    @property
    def error(self) -> str | None:
        """Why the run failed; None where it did not."""
        return self.predictions.error

    @property
    def cost(self) -> Cost:
        """What the run took."""
        return self.predictions.cost

    @cached_property
    def confusion(self) -> Confusion | None:
        """The table of the test rows; None where the run failed."""
        if self.predictions.codes is None:
            return None
        rows, weight = self._weighted_rows()
        true, pred = self.data.codes[self.part.test[rows]], self.predictions.codes[rows]
        cells = label_codes.pair_counts(true, pred, len(self.data.labels), weight)
        return Confusion(self.data.labels, *cells, self.data.positive)

    @cached_property
    def scores(self) -> ScoreTable | None:
        """The scores of the positive class of the test rows; None where there are none."""
        if self.predictions.scores is None or self.data.positive is None:
            return None
        rows, weight = self._weighted_rows()
        positive = self.data.codes[self.part.test[rows]] == self.data.labels.index(self.data.positive)
        table = score_table(
            positive, self.predictions.scores[rows], sample_weight=weight, pos_label=True, labels=[False, True]
        )
        return replace(table, label=self.data.positive)

    def by_columns(self, spec: MetricSpec) -> float:
        """A metric of a column of scores for each class; NaN where the test rows lack a class that it needs."""
        if self.predictions.scores is None:
            return math.nan
        rows, weight = self._weighted_rows()
        true, columns = self.data.codes[self.part.test[rows]], self.predictions.scores[rows]
        every = list(range(len(self.data.labels)))
        labels = self.data.labels
        label = None if spec.label is None else labels.index(array_tables.positive(labels, spec.label))
        options: dict[str, Any] = {"labels": every, "sample_weight": weight, "pos_label": label}
        return float(spec.metric(true, columns, average=spec.average, **options))

    def column_table(self) -> ProbabilityTable | None:
        """The test rows with a column of scores for each class; None where the run has none."""
        if self.predictions.scores is None or np.ndim(self.predictions.scores) != 2:
            return None
        rows, weight = self._weighted_rows()
        true, columns = self.data.codes[self.part.test[rows]], self.predictions.scores[rows]
        table = probability_table(true, columns, labels=range(len(self.data.labels)), sample_weight=weight)
        return replace(table, labels=self.data.labels)

    def _weighted_rows(self) -> tuple[Array | slice, Array | None]:
        """Which test rows have a weight above 0, and their weights."""
        if self.data.weight is None:
            return slice(None), None
        weight = self.data.weight[self.part.test]
        return np.flatnonzero(weight > 0), weight[weight > 0]

    def row(self) -> dict[str, Any]:
        """The run as a row of a table."""
        sizes = dict(zip(("train", "test"), self.part.sizes, strict=True))
        where = {"model": self.model, "repeat": self.part.repeat, "fold": self.part.fold, **sizes}
        return {**where, **self.cost.values(), "error": self.error}

    def __repr__(self) -> str:
        where = f"{self.model}, repeat {self.part.repeat}, fold {self.part.fold}"
        return f"<run of {where}: {self.error or f'{len(self.part.test):,} rows tested'}>"


# ---------------------------------------------------------------- one run


@dataclass(frozen=True, eq=False)
class Task:
    """What one run has to do."""

    candidate: Candidate
    part: Part
    seed: int
    scores: bool
    thorough: bool


def _run_safely(task: Task, data: Data) -> RunPredictions:
    """The predictions of one run; one that fails says why, and stops nobody else."""
    try:
        return _run(task, data)
    except Exception as error:  # noqa: BLE001 - an estimator may raise anything
        return RunPredictions(error=sentence(error))


def _run(task: Task, data: Data) -> RunPredictions:
    fit = partial(fitted, *ready(task.candidate, data.training(task.part.train), task.seed), task.seed)
    model, fit_seconds = timed(fit)
    X = data.features(task.part.test)
    labels, predict_seconds = timed(lambda: model.predict(X))
    predictions = checked_predictions(model, X, labels, data, task.part.test, scores=task.scores)
    rate = PER / len(task.part.test)
    repeated = timings(lambda: model.predict(X), predict_seconds, thorough=task.thorough)
    cost = Cost(
        timings(fit, fit_seconds, thorough=task.thorough),
        tuple(rate * seconds for seconds in repeated),
        peak_memory(fit) if task.thorough else math.nan,
        model_size(model),
        *tree_size(model),
    )
    return replace(predictions, cost=cost, trained=trained_share(model, data.positive))


def ready(candidate: Candidate, training: Training, seed: int) -> tuple[Candidate, Training]:
    """The candidate and its training part with the classes made equal; what is to learn from all rows has done so."""
    if candidate.resampler is not None and hasattr(candidate.estimator, "started"):
        candidate = replace(candidate, estimator=candidate.estimator.started(training.X, training.y))
    return candidate, resampled(candidate.resampler, training, seed)


def fitted(candidate: Candidate, training: Training, seed: int) -> Estimator:
    """A clone of the candidate's estimator, seeded and fitted."""
    from sklearn.base import clone

    model: Estimator = seeded(clone(candidate.estimator, safe=False), seed)
    weights = {} if training.weight is None else {candidate.weight_name: training.weight}
    fit: Callable[..., object] = model.fit  # takes sample_weight as well, as the candidate has been asked
    fit(training.X, training.y, **weights)
    return model


def sentence(error: BaseException) -> str:
    """What went wrong in one line."""
    text = " ".join(str(error).split()) or "no message"
    text = text.rstrip(".") if len(text) <= 300 else f"{text[:300]} .."  # the full stop ends the ellipsis
    return f"{text}." if isinstance(error, SteelyardError) else f"{type(error).__name__}: {text}."


# ---------------------------------------------------------------- all of them


def run_all(
    tasks: list[Task], data: Data, n_jobs: int | None, progress: Callable[[int, int], object] | None
) -> list[RunPredictions]:
    """The predictions in the order of the tasks, one after the other or several at a time: the numbers are the same."""
    done: list[RunPredictions] = []
    for predictions in _each_run(tasks, data, n_jobs):
        done.append(predictions)
        if progress is not None:
            progress(len(done), len(tasks))
    return done


def worker_count(n_jobs: int | None, tasks: int) -> int:
    """How many processes to start: those asked for, but no more than there are tasks, nor cores beyond two."""
    from joblib import cpu_count, effective_n_jobs

    return int(min(effective_n_jobs(n_jobs), tasks, max(cpu_count(), 2)))


def _each_run(tasks: list[Task], data: Data, n_jobs: int | None) -> Iterator[RunPredictions]:
    if n_jobs in (None, 1):
        yield from (_run_safely(task, data) for task in tasks)
        return
    from pickle import PicklingError

    from joblib import Parallel, delayed

    try:
        workers = worker_count(n_jobs, len(tasks))
        yield from Parallel(n_jobs=workers, return_as="generator")(delayed(_run_safely)(task, data) for task in tasks)
    except (PicklingError, AttributeError, TypeError) as error:  # what sending an object to another process raises
        raise InputError(
            f"n_jobs={n_jobs} sends the estimators to other processes, which failed, so leave it out: {sentence(error)}"
        ) from error
