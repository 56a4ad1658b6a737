"""Pooling: all test rows of all runs as one table in which every row counts once, however often it was tested.

Ten repeats of a cross-validation test each row ten times. Ten times the rows would make every interval three times
too narrow, so a row tested m times enters m times with 1/m of its weight; and since the m predictions of one row are
not m rows, the squared weights, from which the effective number of rows is read, are those of one row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.protocol.predictions import Data
    from steelyard.protocol.runs import Run


def _tested(runs: Sequence[Run]) -> tuple[Array, Array, Array | None, Array]:
    """The test rows of all runs that ended, their predicted codes, their scores, and each one's share of its row."""
    done = [run for run in runs if run.error is None]
    rows = np.concatenate([run.part.test for run in done])
    codes = np.concatenate([np.asarray(run.predictions.codes) for run in done])
    scores = [run.predictions.scores for run in done]
    times = np.bincount(rows, minlength=len(done[0].data.codes))
    weight = done[0].data.weight
    share = 1 / times[rows]
    counted = slice(None) if weight is None else np.flatnonzero(weight[rows] > 0)
    without = any(part is None for part in scores)
    all_scores = None if without else np.concatenate([np.asarray(part) for part in scores])[counted]
    return rows[counted], codes[counted], all_scores, share[counted]


def once_each(runs: Sequence[Run]) -> tuple[Confusion, ScoreTable | None]:
    """The table of labels and that of scores in which every tested row counts once."""
    data = next(run.data for run in runs if run.error is None)
    rows, codes, scores, share = _tested(runs)
    true = data.codes[rows]
    weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
    table = _confusion(true, codes, data, weight, share)
    if scores is None or data.positive is None:
        return table, None
    positive = true == data.labels.index(data.positive)
    unweighted = data.weight is None and bool((share == 1).all())
    positives, negatives = (
        _class_scores(scores[side], weight[side], share[side], unweighted) for side in (positive, ~positive)
    )
    return table, ScoreTable(positives, negatives, data.positive)


def _confusion(true: Array, pred: Array, data: Data, weight: Array, share: Array) -> Confusion:
    k = len(data.labels)
    cell = true.astype(np.intp) * k + pred
    rows, weights, squares = (
        np.bincount(cell, part, minlength=k * k).reshape(k, k)
        for part in (share, weight * share, weight * weight * share)
    )
    whole = np.round(rows).astype(np.int64)
    if data.weight is None and bool((share == 1).all()):
        return Confusion.of_rows(data.labels, whole, data.positive)
    return Confusion(data.labels, whole, weights, squares, data.positive)


def _class_scores(scores: Array, weight: Array, share: Array, unweighted: bool) -> ClassScores:
    if unweighted:
        return ClassScores(scores, ascending=False)
    order = np.argsort(scores, kind="stable")
    weight, share = weight[order], share[order]
    # In whole rows where they are; the hair more keeps a sum of thirds from being one row short.
    rows = np.ones(len(order), dtype=np.int64) if (share == 1).all() else share * (1 + 1e-9)
    return ClassScores(scores[order], rows, weight * share, weight * weight * share)


def first_tests(runs: Sequence[Run]) -> list[Run]:
    """The runs that ended, each with the test rows that no run before it had: every row as it was first tested."""
    seen = np.zeros(len(runs[0].data.codes), dtype=bool)
    restricted = []
    for run in runs:
        if run.error is None:
            fresh = ~seen[run.part.test]
            seen[run.part.test] = True
            restricted.append(_restricted(run, fresh))
    return restricted


def _restricted(run: Run, fresh: Array) -> Run:
    codes, scores = (None if part is None else part[fresh] for part in (run.predictions.codes, run.predictions.scores))
    predictions = replace(run.predictions, codes=codes, scores=scores)
    part = replace(run.part, test=run.part.test[fresh], listed=run.part.train)
    return replace(run, part=part, predictions=predictions)


def first_predictions(runs: Sequence[Run], true: Array) -> Array:
    """What was predicted for each row when it was first tested, as the true codes; -1 where it never was."""
    codes = np.full(true.shape, -1, dtype=np.int64)
    for run in reversed(runs):
        if run.predictions.codes is not None:
            codes[run.part.test] = run.predictions.codes
    return codes
