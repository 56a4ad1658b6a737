"""Recommendation: which few metrics fit a problem, by the proven properties of each, and which to avoid."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard._renamed import renamed_keywords
from steelyard.analysis.results.formatting import listed
from steelyard.auditing.advice import Advice, Recommendation, meaning_words
from steelyard.auditing.core_set import with_core
from steelyard.auditing.decision_store import recalled_decisions
from steelyard.auditing.order_advice import order_metrics
from steelyard.auditing.problem import Problem, checked_problem
from steelyard.auditing.properties import PROPERTIES, decide
from steelyard.auditing.property_sentences import critic, fault_text, reason_text
from steelyard.auditing.reported_beside import accuracy_is_fair, reported_beside
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.auditing.problem import Evaluated
    from steelyard.metrics.metric import Metric

__all__ = ["Advice", "Recommendation", "recommend"]
_MOST = 3
_VIRTUES = (
    "equal_recalls_kept",
    "zero_when_a_class_fails",
    "approximate_constant_baseline",
    "monotone_tp",
    "monotone_fp",
)


@refuses_other_keywords
@renamed_keywords(
    both_classes_alike="equal_class_weight",
    a_class_may_fail="allow_zero_recall",
    prevalence_in_use="deployment_prevalence",
)
def recommend(
    data: Evaluated | None = None,
    *,
    equal_class_weight: bool = True,
    allow_zero_recall: bool = False,
    deployment_prevalence: bool = False,
    ranking: bool | None = None,
    costs: bool = False,
    positives: int | None = None,
    calibration: bool = False,
    capacity: int | None = None,
    reference_threshold: float | None = None,
    clusters: bool = False,
    ordered: bool = False,
) -> Recommendation:
    """The few metrics that fit a problem, each with a proven property as its reason.

    `equal_class_weight`: errors on both classes have equal weight; else those on the positives matter more.
    `allow_zero_recall`: a class with zero recall may still score one half. `deployment_prevalence`: the test set
    has it, it is stable, and the value is to be at it. `ranking`: scores are used as a ranking, without a
    threshold; the answers before count there as well. `costs`: the cost of each kind of error is known.
    `positives`: how many there are to test on. `calibration`: scores are read as probabilities. `capacity`: how
    many rows can be looked at. `reference_threshold`: the probability from which a row is flagged, where a
    guideline or costs have set one. `clusters`: rows are not independent, such as several of a patient. `ordered`:
    the classes have an order. Whether scores are ranked, and how many positives there are, is read from `data`, an
    Evaluation or a table, where it is not given. These are the questions of Metrics Reloaded (Maier-Hein and others
    2024) that bear on classification; `differs` states where its pool is another.

    >>> [advice.metric for advice in recommend().use]
    ['g_mean', 'ac_score', 'tpnr']
    >>> [advice.metric for advice in recommend(deployment_prevalence=True).use]
    ['mcc', 'markedness', 'kappa']
    >>> [advice.metric for advice in recommend(equal_class_weight=False, allow_zero_recall=True).use]
    ['iba', 'alpha_f1', 'class_weighted_accuracy']
    """
    problem = checked_problem(
        equal_class_weight=equal_class_weight,
        allow_zero_recall=allow_zero_recall,
        deployment_prevalence=deployment_prevalence,
        ranking=ranking,
        costs=costs,
        positives=positives,
        calibration=calibration,
        capacity=capacity,
        reference_threshold=reference_threshold,
        clusters=clusters,
        ordered=ordered,
    )
    problem = problem if data is None else problem.completed(data)
    return with_core(_recommendation(problem, list_metrics()), problem)


def read_first(data: Evaluated) -> tuple[str, ...]:
    """The metrics to compare models by: what `recommend` names for the data where no answers are given.

    Verdicts, tables and pages ask here. It starts no proof and no search: a metric of which nothing is stored is left
    out until `recommend` or `audit` has decided about it.

    >>> from steelyard import Counts
    >>> read_first(Counts(tp=28, fn=23, fp=72, tn=2680))
    ('g_mean', 'ac_score', 'tpnr')
    """
    stored = [m for m in list_metrics() if m.function is None or recalled_decisions(m).keys() >= PROPERTIES.keys()]
    return tuple(advice.metric for advice in _recommendation(Problem().completed(data), stored).use)


def changing_with_prevalence(data: Evaluated) -> list[Metric]:
    """Those of the usual metrics that sum the data up and change with prevalence, as far as that is decided."""
    if Problem().completed(data).ranking:
        return [order.metric for order in order_metrics() if not order.keeps_prevalence]
    # Those that the verdict reads have a sentence of their own.
    usual = [m for m in metrics_with_role("reported") if m.kind.is_summary and "verdict" not in m.roles]
    decisions = [(metric, recalled_decisions(metric).get("prevalence_invariance")) for metric in usual]
    return [metric for metric, decision in decisions if decision is not None and decision.holds is False]


def _recommendation(problem: Problem, metrics: Sequence[Metric]) -> Recommendation:
    """What fits a problem among some metrics."""
    if problem.costs:
        unfit = {"class_symmetry": False} | ({} if problem.may_fail else {"no_credit_when_a_class_fails": True})
        return Recommendation(tuple(_of_costs()), tuple(reported_beside(problem)), tuple(_blame(unfit, metrics)))
    if problem.ranking:
        return _ranking(problem)
    return _fitting(problem, metrics)


# ---------------------------------------------------------------- metrics of labels


def _fitting(problem: Problem, metrics: Sequence[Metric]) -> Recommendation:
    """The metrics with what is wanted, those with the most virtues first, and those without it."""
    wanted, beside, candidates = problem.wanted, list(reported_beside(problem)), list(_candidates(metrics))
    if problem.classes > 2:
        candidates = [metric for metric in candidates if metric.classes is not None]
    fit = _having(wanted, candidates)
    if not fit and not wanted["prevalence_invariance"]:  # to know the value in use is the lesser wish
        wanted = {name: holds for name, holds in wanted.items() if name != "prevalence_invariance"}
        fit = _having(wanted, candidates)
        beside.append("each at the deployment prevalence: no metric both moves with it and has all else that is wanted")
    best = sorted(_distinct(fit), key=lambda m: _order(m, problem))[:_MOST]
    fair = {"accuracy"} if accuracy_is_fair(problem) else set()
    blamed = (advice for advice in _blame(wanted, metrics) if advice.metric not in fair)
    return Recommendation(tuple(_praise(m, wanted) for m in best), tuple(beside), tuple(blamed))


def _having(wanted: Mapping[str, bool], candidates: Sequence[Metric]) -> list[Metric]:
    return [m for m in candidates if all(_fits(m, name, holds) for name, holds in wanted.items())]


def _order(metric: Metric, problem: Problem) -> tuple[bool, bool, int]:
    """First what matters most: a fixed no-skill value, then a 0 for a class with zero recall."""
    lost = problem.in_use and not _stands(metric, "approximate_constant_baseline")
    credit = not problem.may_fail and not _stands(metric, "zero_when_a_class_fails")
    return lost, credit, -sum(_stands(metric, name) for name in _VIRTUES)


def _fits(metric: Metric, name: str, holds: bool) -> bool:
    return _stands(metric, name) if holds else decide(metric, name).holds is False


def _stands(metric: Metric, name: str) -> bool:
    """Whether a property is proved, or at least no table speaks against it: without sympy there are no proofs."""
    decision = decide(metric, name)
    return bool(decision.holds) or decision.verdict.startswith("no counterexample")


def _candidates(metrics: Sequence[Metric]) -> Iterator[Metric]:
    """Metrics of labels that sum a table up: bounded, better upward, and of both classes."""
    for metric in metrics:
        bounded = metric.direction == "higher" and math.isfinite(metric.range[1])
        if metric.function is not None and metric.kind.is_summary and bounded and not _ignores_a_class(metric):
            yield metric


def _ignores_a_class(metric: Metric) -> bool:
    """Whether the value does not depend on one of the classes, by García's p2 to p5."""
    return any(all(_stands(metric, name) for name in pair) for pair in (("p2", "p3"), ("p4", "p5")))


def _distinct(metrics: list[Metric]) -> list[Metric]:
    """One of each group that is the same function on every small table, the first declared without parameters."""
    cells = np.indices((5, 5, 5, 5)).reshape(4, -1)
    distinct: dict[bytes, Metric] = {}
    for metric in metrics:
        values = np.round(np.asarray(metric(Counts(*cells)), dtype=np.float64), 12) + 0.0
        same = distinct.setdefault(values.tobytes(), metric)
        if same.parameters and not metric.parameters:
            distinct[values.tobytes()] = metric
    return list(distinct.values())


def _praise(metric: Metric, wanted: Mapping[str, bool]) -> Advice:
    virtues = {name: True for name in _VIRTUES if name not in wanted and _stands(metric, name)}
    reasons = (reason_text(decide(metric, name), holds) for name, holds in ({**wanted, **virtues}).items())
    return Advice(metric.name, "; ".join(reasons), metric.cite)


def _blame(wanted: Mapping[str, bool], metrics: Sequence[Metric]) -> Iterator[Advice]:
    """The usual metrics that lack what is wanted, with the smallest table that shows it, or have what is not."""
    for metric in (reported for reported in _reported() if reported in metrics):
        decisions = ((decide(metric, name), holds) for name, holds in wanted.items())
        faults = (Advice(metric.name, text, critic(d)) for d, holds in decisions if (text := fault_text(d, holds)))
        yield from itertools.islice(faults, 1)


def _reported() -> list[Metric]:
    """What people usually report, metrics of both classes first."""
    return sorted(metrics_with_role("reported"), key=lambda metric: not metric.kind.is_summary)


# ---------------------------------------------------------------- costs and orders


def _of_costs() -> Iterator[Advice]:
    """The metrics of costs, those that take more of them first: what they are, and how they count errors."""
    for metric in sorted(metrics_with_role("known costs"), key=lambda metric: -len(metric.parameters)):
        decisions = [decide(metric, property_) for property_ in ("monotone_fn", "monotone_fp")]
        reasons = [reason_text(decision, wanted=True) for decision in decisions if decision.holds]
        set_to = f"set {', '.join(metric.parameters)} to your own"
        yield Advice(metric.name, "; ".join([meaning_words(metric), set_to, *reasons]), metric.cite)


def _ranking(problem: Problem) -> Recommendation:
    """The metrics of order that fit: by the classes first, by the prevalence where one is left."""
    orders = order_metrics()
    wholly = [order for order in orders if order.fits(problem, prevalence=True)]
    fit = wholly or [order for order in orders if order.fits(problem, prevalence=False)] or list(orders)
    use = [Advice(o.metric.name, f"{meaning_words(o.metric)}; {o.words(problem)}", o.metric.cite) for o in fit]
    avoid = [Advice(o.metric.name, o.words(problem), o.metric.cite) for o in orders if o not in fit]
    beside = list(reported_beside(problem))
    if not wholly and problem.in_use:
        others = listed([order.metric.name for order in orders if order not in fit], "or")
        same = listed([order.metric.name for order in fit], "or")
        beside.append(f"{others} at the deployment prevalence, since it does not change {same}")
    return Recommendation(tuple(use), tuple(beside), (*avoid, *_of_one_threshold()))


def _of_one_threshold() -> Iterator[Advice]:
    """The usual metrics that read labels, where no threshold is put to the scores."""
    of_labels = [metric for metric in _reported() if metric.scores is None]
    for metric in of_labels[:_MOST]:
        yield Advice(metric.name, "is of labels: it judges one threshold, not the order of the scores", None)
