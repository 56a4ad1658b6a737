"""Core set: what the answers about probabilities, capacity, a set threshold and clusters add to a recommendation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.advice import RELOADED, Advice, Recommendation, meaning_words
from steelyard.auditing.properties import decide
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.auditing.problem import Problem
    from steelyard.metrics.metric import Metric

_TRUE, _STATED = (0.05, 0.2, 0.5, 0.8), np.arange(1, 100) / 100
_CLUSTERED = "intervals by whole clusters (cluster=): rows of one cluster go wrong together"
_CALIBRATED = "the reliability curve with its slope and intercept (calibration), and a decision curve"
_NEAR = "a near miss counts less than a far one"
_SET = "a decision curve around the threshold (decision_curve): how much is gained depends on where it is set"
_SHARED = "whether the rows that can be looked at change from day to day: best_threshold(where='alerts <= ...')"


def with_core(advice: Recommendation, problem: Problem) -> Recommendation:
    """The recommendation with what the further answers ask for, those that decide about rows first."""
    decisive, beside = [*_of_order(problem), *_of_capacity(problem), *_of_threshold(problem)], [*advice.beside]
    set_already = {item.metric.partition("[")[0] for item in decisive}
    others = (item for item in advice.use if item.metric not in set_already)
    use = (*decisive, *others, *_of_probabilities(problem))
    beside += [_CALIBRATED] * problem.calibration + [_SET] * (problem.threshold is not None)
    beside += [_SHARED] * (problem.capacity is not None) + [_CLUSTERED] * problem.clusters
    named = {item.metric.partition("[")[0] for item in use}
    kept = tuple(item for item in advice.avoid if item.metric not in named)
    return replace(advice, use=use, beside=tuple(beside), avoid=kept, differs=tuple(_differences(use, kept)))


def _of_order(problem: Problem) -> Iterator[Advice]:
    """Metrics of classes in order: agreement first, then errors that move with the prevalence as it is wanted."""
    if not problem.ordered:
        return
    for metric in list_metrics():
        if "weights" in metric.parameters:
            yield Advice(f"{metric.name}[weights=quadratic]", f"{meaning_words(metric)}; {_NEAR}", metric.cite)
    for metric in metrics_with_role("ordinal"):
        of_labels = metric.function is not None
        moves = of_labels and decide(metric, "prevalence_invariance").holds is not True
        if moves == problem.in_use if of_labels else problem.calibration:
            yield Advice(metric.name, f"{meaning_words(metric)}; {_NEAR}", metric.cite)


def _of_capacity(problem: Problem) -> Iterator[Advice]:
    if problem.capacity is not None:
        for metric in metrics_with_role("capacity"):
            written = f"{metric.name}[k={problem.capacity}]" if "k" in metric.parameters else metric.name
            yield Advice(written, f"{meaning_words(metric)}: what is found of what can be looked at", metric.cite)


def _of_threshold(problem: Problem) -> Iterator[Advice]:
    """Metrics of a set threshold, of which it is proved that true probabilities are best flagged there."""
    if problem.threshold is not None:
        for metric in metrics_with_role("set threshold"):
            written = f"{metric.name}[threshold={problem.threshold:g}]"
            decision = decide(written, "fixed_threshold")
            best = f"true probabilities are best flagged at it ({decision.verdict})"
            yield Advice(
                written, f"{meaning_words(metric)}; {best}" if decision.holds else meaning_words(metric), metric.cite
            )


def _of_probabilities(problem: Problem) -> Iterator[Advice]:
    if problem.calibration:
        for metric in metrics_with_role("probabilities"):
            proper = "the true probability is best (tried on rows of four true probabilities, 99 stated ones each)"
            yield Advice(
                metric.name,
                f"{meaning_words(metric)}; {proper}" if is_proper(metric) else meaning_words(metric),
                metric.cite,
            )


@cache
def is_proper(metric: Metric) -> bool:
    """Whether of rows of one true probability no other stated probability has a better value than that one.

    >>> from steelyard import get_metric
    >>> is_proper(get_metric("brier")), is_proper(get_metric("discrimination_slope"))
    (True, False)
    """
    sign = -1 if metric.direction == "lower" else 1
    for true in _TRUE:
        values = [sign * float(metric(_rows(true, stated))) for stated in _STATED]
        if not np.isclose(_STATED[int(np.argmax(values))], true) or np.ptp(values) == 0:
            return False
    return True


def _rows(true: float, stated: float) -> ScoreTable:
    """Rows of one true and one stated probability, beside as many of which nothing is known."""
    scores, rows = np.sort([stated, 0.5])[: 1 + (stated != 0.5)], np.ones(1 + (stated != 0.5), dtype=np.int64)
    shares = [np.where(scores == stated, share, 0) + np.where(scores == 0.5, 0.5, 0) for share in (true, 1 - true)]
    positive, negative = (ClassScores(scores, rows, share, share**2) for share in shares)
    return ScoreTable(positive, negative)


def _differences(use: tuple[Advice, ...], avoid: tuple[Advice, ...]) -> Iterator[str]:
    """What Metrics Reloaded does not have of the metrics named first, and what it has of those advised against."""
    pool = {metric.name for metric in metrics_with_role("metrics reloaded")}
    missing = [item.metric for item in use if item.metric.partition("[")[0] not in pool]
    blamed = [item.metric for item in avoid if item.metric in pool]
    if missing:
        yield f"Metrics Reloaded has no {listed(missing, 'or')} in its pool [{RELOADED}]"
    if blamed:
        yield f"of its pool, {listed(blamed)} lack what is wanted here, as shown above"
