"""The opening threshold: scores that were evaluated without one, thresholded where a reader can start from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.results.result import Rows
from steelyard.evaluation.evaluate import evaluate
from steelyard.metrics.registry import default_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


def at_opening_threshold(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its table at the threshold where the default metric is best; its rows stay."""
    best, scores = evaluation.best_threshold(resamples=0), evaluation.scores
    assert scores is not None  # noqa: S101 - their best threshold was found above
    metrics = [row.spec for row in evaluation.metrics] if evaluation.metrics_named else None
    title = default_metric().title
    sentence = f"No threshold was given: the page opens at the threshold where {title} is best on these rows."
    thresholded = evaluate(
        scores,
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
        metrics_named=evaluation.metrics_named,
        seed=evaluation.seed,
        source=evaluation.source,
        columns=evaluation.columns,
        assumed=(*evaluation.assumed, sentence),
    )
