"""The opening threshold: scores that were evaluated without one, thresholded where a reader can start from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.rows import Rows
from steelyard.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

_ASSUMED = "No threshold was given: the page opens at the cut where informedness is best on these rows."


def at_opening_threshold(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its table at the threshold where informedness is best; its own rows stay as they are."""
    best = evaluation.best_threshold("informedness", resamples=0)
    metrics = None if evaluation.first is not None else [row.name for row in evaluation.metrics]
    thresholded = evaluate(
        evaluation.scores,
        threshold=best.threshold,
        level=evaluation.level,
        prevalence=evaluation.prevalence,
        metrics=metrics,
    )
    rows = {row.name: row for row in evaluation.metrics}
    return replace(
        thresholded,
        metrics=Rows(rows.get(row.name, row) for row in thresholded.metrics),
        groups=evaluation.groups,
        first=evaluation.first,
        seed=evaluation.seed,
        assumed=(*evaluation.assumed, _ASSUMED),
    )
