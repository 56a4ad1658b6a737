"""Runs: an estimator fitted on one training part and asked about the test part, once for each part of a split."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, SteelyardError
from steelyard.ingest import code_counts
from steelyard.ingest.array_tables import score_table
from steelyard.protocol.cost import PER, Cost, model_size, peak_memory, timed, timings, tree_size
from steelyard.protocol.predictions import Answer, Data, checked
from steelyard.protocol.resample import Training, resampled
from steelyard.protocol.seeds import seeded
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.protocol.candidates import Candidate
    from steelyard.protocol.splits import Part


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run of one model: its tables, its cost, and where it failed the reason."""

    model: str
    part: Part
    data: Data
    answer: Answer

    @property
    def error(self) -> str | None:
        """Why the run failed; None where it did not."""
        return self.answer.error

    @property
    def cost(self) -> Cost:
        """What the run took."""
        return self.answer.cost

    @cached_property
    def confusion(self) -> Confusion | None:
        """The table of the test rows; None where the run failed."""
        if self.answer.codes is None:
            return None
        held, weight = self._weighty()
        true, k = self.data.codes[self.part.test[held]], len(self.data.labels)
        return Confusion(
            self.data.labels, *code_counts.pair_counts(true, self.answer.codes[held], k, weight), self.data.positive
        )

    @cached_property
    def scores(self) -> ScoreTable | None:
        """The scores of the positive class of the test rows; None where there are none."""
        if self.answer.scores is None or self.data.positive is None:
            return None
        held, weight = self._weighty()
        positive = self.data.codes[self.part.test[held]] == self.data.labels.index(self.data.positive)
        table = score_table(
            positive, self.answer.scores[held], sample_weight=weight, pos_label=True, labels=[False, True]
        )
        return ScoreTable(table.positive, table.negative, self.data.positive)

    def by_columns(self, metric: Metric, average: str) -> float:
        """A metric of scores averaged over the classes, a column for each; NaN where the test rows lack a class."""
        if self.answer.scores is None:
            return math.nan
        held, weight = self._weighty()
        true, columns = self.data.codes[self.part.test[held]], self.answer.scores[held]
        every = list(range(len(self.data.labels)))
        return float(metric(true, columns, labels=every, average=average, sample_weight=weight))

    def _weighty(self) -> tuple[Any, Array | None]:
        """Which test rows weigh anything, and their weights."""
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


def _answered(task: Task, data: Data) -> Answer:
    """The answer of one run; one that fails says why, and stops nobody else."""
    try:
        return _answer(task, data)
    except Exception as error:  # noqa: BLE001 - an estimator may raise anything
        return Answer(error=sentence(error))


def _answer(task: Task, data: Data) -> Answer:
    fit = partial(fitted, *ready(task.candidate, data.training(task.part.train), task.seed), task.seed)
    model, seconds = timed(fit)
    X = data.features(task.part.test)
    predicted, predicting = timed(lambda: model.predict(X))
    said = checked(model, X, predicted, data, task.part.test, scores=task.scores)
    rate = PER / len(task.part.test)
    again = timings(lambda: model.predict(X), predicting, thorough=task.thorough)
    cost = Cost(
        timings(fit, seconds, thorough=task.thorough),
        tuple(rate * each for each in again),
        peak_memory(fit) if task.thorough else float("nan"),
        model_size(model),
        *tree_size(model),
    )
    return replace(said, cost=cost)


def ready(candidate: Candidate, training: Training, seed: int) -> tuple[Candidate, Training]:
    """The candidate and its training part with the classes made equal; what is to learn from all rows has done so."""
    if candidate.resampler is not None and hasattr(candidate.estimator, "started"):
        candidate = replace(candidate, estimator=candidate.estimator.started(training.X, training.y))
    return candidate, resampled(candidate.resampler, training, seed)


def fitted(candidate: Candidate, training: Training, seed: int) -> Any:
    """A clone of the candidate's estimator, seeded and fitted."""
    from sklearn.base import clone

    model = seeded(clone(candidate.estimator, safe=False), seed)
    weights = {} if training.weight is None else {candidate.weight_name: training.weight}
    model.fit(training.X, training.y, **weights)
    return model


def sentence(error: BaseException) -> str:
    """What went wrong in one line."""
    told = " ".join(str(error).split()) or "no message"
    told = (told if len(told) <= 300 else f"{told[:300]} ...").rstrip(".")
    return f"{told}." if isinstance(error, SteelyardError) else f"{type(error).__name__}: {told}."


# ---------------------------------------------------------------- all of them


def run_all(
    tasks: list[Task], data: Data, n_jobs: int | None, progress: Callable[[int, int], Any] | None
) -> list[Answer]:
    """The answers in the order of the tasks, one after the other or several at a time: the numbers are the same."""
    found = []
    for answer in _answers(tasks, data, n_jobs):
        found.append(answer)
        if progress is not None:
            progress(len(found), len(tasks))
    return found


def _answers(tasks: list[Task], data: Data, n_jobs: int | None) -> Iterator[Answer]:
    if n_jobs in (None, 1):
        yield from (_answered(task, data) for task in tasks)
        return
    from pickle import PicklingError

    from joblib import Parallel, delayed

    try:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_answered)(task, data) for task in tasks)
    except (PicklingError, AttributeError, TypeError) as error:  # what sending an object to another process raises
        raise InputError(
            f"n_jobs={n_jobs} sends the estimators to other processes, which failed, so leave it out: {sentence(error)}"
        ) from error
