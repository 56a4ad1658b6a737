"""Once: all test rows of all runs as one table in which every row counts once, however often it was tested.

Ten repeats of a cross-validation test each row ten times. Ten times the rows would make every interval three times
too narrow, so a row tested m times enters m times with 1/m of its weight; and since the m answers about one row are
not m rows, the squared weights, from which the effective number of rows is read, are those of one row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.protocol.runs import Run


def _tested(runs: Sequence[Run]) -> tuple[Array, Array, Array | None, Array]:
    """The test rows of all runs that ended, what was said of them, their scores, and each one's share of its row."""
    done = [run for run in runs if run.error is None]
    rows = np.concatenate([run.part.test for run in done])
    codes = np.concatenate([np.asarray(run.answer.codes) for run in done])
    scores = [run.answer.scores for run in done]
    times = np.bincount(rows, minlength=len(done[0].data.codes))
    weight = done[0].data.weight
    share = 1 / times[rows]
    held = slice(None) if weight is None else np.flatnonzero(weight[rows] > 0)
    all_scores = None if any(part is None for part in scores) else np.concatenate([np.asarray(s) for s in scores])[held]
    return rows[held], codes[held], all_scores, share[held]


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
    plain = data.weight is None and bool((share == 1).all())
    held, rest = (_side(scores[side], weight[side], share[side], plain) for side in (positive, ~positive))
    return table, ScoreTable(held, rest, data.positive)


def _confusion(true: Array, pred: Array, data: Any, weight: Array, share: Array) -> Confusion:
    k = len(data.labels)
    place = true.astype(np.intp) * k + pred
    rows, weights, squares = (
        np.bincount(place, part, minlength=k * k).reshape(k, k)
        for part in (share, weight * share, weight * weight * share)
    )
    whole = np.round(rows).astype(np.int64)
    if data.weight is None and bool((share == 1).all()):
        return Confusion.of_rows(data.labels, whole, data.positive)
    return Confusion(data.labels, whole, weights, squares, data.positive)


def _side(scores: Array, weight: Array, share: Array, plain: bool) -> ClassScores:
    if plain:
        return ClassScores(scores, ascending=False)
    order = np.argsort(scores, kind="stable")
    weight, share = weight[order], share[order]
    # In whole rows where they are; the hair more keeps a sum of thirds from being one row short.
    rows = np.ones(len(order), dtype=np.int64) if (share == 1).all() else share * (1 + 1e-9)
    return ClassScores(scores[order], rows, weight * share, weight * weight * share)


def firsts(runs: Sequence[Run]) -> list[Run]:
    """The runs that ended, each with the test rows that no run before it had: every row as it was first tested."""
    seen = np.zeros(len(runs[0].data.codes), dtype=bool)
    found = []
    for run in runs:
        if run.error is None:
            fresh = ~seen[run.part.test]
            seen[run.part.test] = True
            found.append(_restricted(run, fresh))
    return found


def _restricted(run: Run, held: Array) -> Run:
    codes, scores = (None if part is None else part[held] for part in (run.answer.codes, run.answer.scores))
    answer = replace(run.answer, codes=codes, scores=scores)
    return replace(run, part=replace(run.part, test=run.part.test[held], listed=run.part.train), answer=answer)


def first_answers(runs: Sequence[Run], n: int) -> Array:
    """The code that each row got when it was first tested; -1 where it never was."""
    found = np.full(n, -1, dtype=np.int64)
    for run in reversed(runs):
        if run.answer.codes is not None:
            found[run.part.test] = run.answer.codes
    return found
