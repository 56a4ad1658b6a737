"""Runs: an estimator fitted on one training part which predicts its test part, once for each part of a split."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._renamed import Renamed
from steelyard.analysis.comparison import paired_tables
from steelyard.exceptions import InputError, SteelyardError
from steelyard.ingest import code_counts
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.score_matrix import probability_table
from steelyard.protocol.cost import PER, Cost, model_size, peak_memory, timed, timings, tree_size
from steelyard.protocol.predictions import Data, RunPredictions, checked_predictions
from steelyard.protocol.resample import Training, resampled, trained_share
from steelyard.protocol.seeds import seeded
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array, Estimator
    from steelyard.metrics.spec import MetricSpec
    from steelyard.protocol.candidates import Candidate
    from steelyard.protocol.splits import Part
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run of one model: its tables, its cost, and where it failed the reason."""

    model: str
    part: Part
    data: Data
    predictions: RunPredictions

    answer = Renamed("predictions")

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
        cells = code_counts.pair_counts(true, pred, len(self.data.labels), weight)
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
        label = None if spec.label is None else labels.index(paired_tables.positive(labels, spec.label))
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
