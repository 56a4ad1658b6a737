"""Recommendation: which few metrics fit a problem, by the properties decided for each, and which to avoid."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.rows import three_digits
from steelyard.auditing.advice import Advice, Recommendation
from steelyard.auditing.problem_answers import Problem, answered
from steelyard.auditing.properties import Decision, decide, get_property
from steelyard.ingest.array_tables import score_table
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

__all__ = ["Advice", "Recommendation", "recommend"]
_FEW = 30
_MOST = 3
_USUAL = ("accuracy", "f1", "mcc", "kappa", "balanced_accuracy", "g_mean", "precision")  # what people report
OF_COSTS = ("expected_cost", "net_benefit")
OF_RANKS = ("roc_auc", "average_precision")
VIRTUES = ("equal_recalls_kept", "zero_when_a_class_fails", "constant_chance", "monotone_tp", "monotone_fp")
_SAID = {
    "class_symmetry": "weighs both classes alike, whichever is called positive",
    "prevalence_invariance": "stays the same at any prevalence",
    "leans_to_positives": "never counts a found positive for less than a spared negative",
    "no_credit_when_a_class_fails": "gives no credit where one class is given up",
    "zero_when_a_class_fails": "is 0 as soon as one class is given up",
    "equal_recalls_kept": "reads like a rate: x where both recalls are x",
    "constant_chance": "has one chance level, whatever the margins",
    "monotone_tp": "is never worse for one hit more",
    "monotone_fn": "is never better for one miss more",
    "monotone_fp": "is never better for one false alarm more",
}
LACKED = {
    "class_symmetry": "weighs the two classes differently",
    "prevalence_invariance": "is of the prevalence in use, with which it moves",
}
DENIED = {
    "class_symmetry": "changes with which class is called positive",
    "prevalence_invariance": "moves with the prevalence though the classifier stays the same",
    "leans_to_positives": "may count a found positive for less than a spared negative",
    "no_credit_when_a_class_fails": "may look well while one class is given up",
}
UNWANTED = {"class_symmetry": "counts errors on either class alike"}


def recommend(
    data: Any = None,
    *,
    both_classes_alike: bool = True,
    a_class_may_fail: bool = False,
    prevalence_in_use: bool = False,
    ranking: bool | None = None,
    costs: bool = False,
    positives: int | None = None,
) -> Recommendation:
    """The few metrics that fit, from answers about the problem; every reason is a decided property.

    `both_classes_alike`: errors on either class matter the same; else those on the positives matter more.
    `a_class_may_fail`: half credit for giving one class up is fine. `prevalence_in_use`: the test set has the class
    shares of the use, which are stable, and the value is to be of them. `ranking`: scores are used as an order, not
    cut. `costs`: what each error costs is known. `positives`: how many there are to test on. The last answers are read
    from `data`, an Evaluation or a table, where they are not given.

    >>> [advice.metric for advice in recommend().use]
    ['g_mean', 'ac_score', 'tpnr']
    >>> [advice.metric for advice in recommend(prevalence_in_use=True).use]
    ['mcc', 'markedness', 'kappa']
    >>> [advice.metric for advice in recommend(both_classes_alike=False, a_class_may_fail=True).use]
    ['iba', 'alpha_f1', 'class_weighted_accuracy']
    """
    problem = answered(both_classes_alike, a_class_may_fail, prevalence_in_use, ranking, costs, positives)
    problem = problem if data is None else problem.seen(data)
    if problem.costs:
        unfit = {"class_symmetry": False} | ({} if problem.may_fail else {"no_credit_when_a_class_fails": True})
        return Recommendation(tuple(_of_costs()), tuple(_beside(problem)), tuple(_blame(unfit)))
    if problem.ranking:
        return Recommendation(tuple(_of_ranks(problem)), tuple(_beside(problem)), tuple(_of_one_cut()))
    return _fitting(problem)


# ---------------------------------------------------------------- metrics of labels


def _fitting(problem: Problem) -> Recommendation:
    """The metrics with what is wanted, those with the most virtues first, and those without it."""
    wanted, beside = problem.wanted, list(_beside(problem))
    fit = _having(wanted)
    if not fit and not wanted["prevalence_invariance"]:  # to be told the value in use is the lesser wish
        wanted = {name: holds for name, holds in wanted.items() if name != "prevalence_invariance"}
        fit = _having(wanted)
        beside.append("each at the prevalence in use: no metric both moves with it and has all else that is wanted")
    best = sorted(_distinct(fit), key=lambda m: _order(m, problem))[:_MOST]
    return Recommendation(tuple(_praise(m, wanted) for m in best), tuple(beside), tuple(_blame(wanted)))


def _having(wanted: Mapping[str, bool]) -> list[Metric]:
    return [m for m in _candidates() if all(_fits(m, name, holds) for name, holds in wanted.items())]


def _order(metric: Metric, problem: Problem) -> tuple[bool, bool, int]:
    """First what decides most: a chance level to tell a value in use from guessing, then a 0 for a class given up."""
    lost = problem.in_use and not _stands(metric, "constant_chance")
    credit = not problem.may_fail and not _stands(metric, "zero_when_a_class_fails")
    return lost, credit, -sum(_stands(metric, name) for name in VIRTUES)


def _fits(metric: Metric, name: str, holds: bool) -> bool:
    return _stands(metric, name) if holds else decide(metric, name).holds is False


def _stands(metric: Metric, name: str) -> bool:
    """Whether a property is proved, or at least no table speaks against it: without sympy there are no proofs."""
    decision = decide(metric, name)
    return bool(decision.holds) or decision.verdict.startswith("no counterexample")


def _candidates() -> Iterator[Metric]:
    """Metrics of labels that sum a table up: bounded, better upward, and of both classes."""
    for metric in list_metrics():
        summary = metric.family not in ("rates", "description", "decision", "diagnostic")
        bounded = metric.direction == "higher" and math.isfinite(metric.range[1])
        if metric.function is not None and summary and bounded and not _deaf(metric):
            yield metric


def _deaf(metric: Metric) -> bool:
    """Whether a metric does not hear of one of the classes, by García's p2 to p5."""
    return any(all(_stands(metric, name) for name in pair) for pair in (("p2", "p3"), ("p4", "p5")))


def _distinct(metrics: list[Metric]) -> list[Metric]:
    """One of each group that is the same function on every small table, the first declared without parameters."""
    cells = np.indices((5, 5, 5, 5)).reshape(4, -1)
    kept: dict[bytes, Metric] = {}
    for metric in metrics:
        values = np.round(np.asarray(metric(Counts(*cells)), dtype=np.float64), 12) + 0.0
        same = kept.setdefault(values.tobytes(), metric)
        if same.parameters and not metric.parameters:
            kept[values.tobytes()] = metric
    return list(kept.values())


def _praise(metric: Metric, wanted: Mapping[str, bool]) -> Advice:
    virtues = {name: True for name in VIRTUES if name not in wanted and _stands(metric, name)}
    told = (_reason(decide(metric, name), holds) for name, holds in ({**wanted, **virtues}).items())
    return Advice(metric.name, "; ".join(told), metric.cite)


def _reason(decision: Decision, holds: bool) -> str:
    if holds:
        return f"{_SAID[decision.property]} ({decision.verdict})"
    return f"{LACKED[decision.property]} ({decision.counterexample})"


def _blame(wanted: Mapping[str, bool]) -> Iterator[Advice]:
    """The usual metrics that lack what is wanted, with the smallest table that shows it, or have what is not."""
    for name in _USUAL:
        decisions = ((decide(name, asked), holds) for asked, holds in wanted.items())
        faults = (Advice(name, said, _critic(d)) for d, holds in decisions if (said := _fault(d, holds)))
        yield from itertools.islice(faults, 1)


def _fault(decision: Decision, holds: bool) -> str:
    if holds and decision.holds is False:
        shown = f": {decision.counterexample}" if decision.counterexample else ""
        return f"{DENIED[decision.property]}{shown}"
    unwanted = not holds and decision.holds and decision.property in UNWANTED
    return f"{UNWANTED[decision.property]} ({decision.verdict})" if unwanted else ""


def _critic(decision: Decision) -> str:
    """Who calls it a fault: the first to want the property, or the last named, who wants the contrary."""
    return get_property(decision.property).cite[-1 if decision.holds else 0]


def _beside(problem: Problem) -> Iterator[str]:
    if problem.ranking and not problem.costs:
        yield "precision and recall among as many rows as will be looked at (precision_at_k, lift)"
    else:
        yield "recall and specificity, each with its interval: no single number says which class is served badly"
        yield (
            "precision at the prevalence in use, beside what guessing at the same rate would get"
            if problem.in_use or not problem.alike
            else "precision, said with its prevalence, or at the prevalence in use by at_prevalence"
        )
    if problem.costs and not problem.may_fail:
        yield "a floor under recall and specificity: the least cost may give a class up"
    if problem.classes > 2:
        yield (
            f"each of the {problem.classes} classes against the rest: "
            "what is decided here is of tables of two classes, and says nothing of a metric's form for more"
        )
    if problem.rows is not None and problem.rows < _FEW:
        said = f"the interval before the value: {problem.rows} {_counted(problem)} most metrics open"
        yield f"{said}; sample_size says how many would do"


def _counted(problem: Problem) -> str:
    if problem.rows != 1:
        return f"{problem.rarer} leave"
    return f"{problem.rarer.replace('rows', 'row').removesuffix('s')} leaves"


# ---------------------------------------------------------------- costs and ranks


def _of_costs() -> Iterator[Advice]:
    """The metrics of costs: what they are, and what is decided of how they count errors."""
    for name in OF_COSTS:
        metric = get_metric(name)
        told = [_reason(d, True) for asked in ("monotone_fn", "monotone_fp") if (d := decide(name, asked)).holds]
        set_to = f"set {', '.join(metric.parameters)} to your own"
        yield Advice(name, "; ".join([_meaning(metric), set_to, *told]), metric.cite)


def _of_ranks(problem: Problem) -> Iterator[Advice]:
    """The metrics of order, tried at two prevalences: proofs are of tables alone."""
    for name in OF_RANKS:
        metric = get_metric(name)
        even, rare = (three_digits(float(metric(table))) for table in _ranked())
        there = "at the prevalence in use" if problem.in_use else "with its prevalence"
        moves = f"moves with the prevalence ({even} at 50 %, {rare} at 5 % for one order), so read it {there}"
        stays = f"stays the same at any prevalence (tried on one order: {even} at 50 % and at 5 %)"
        yield Advice(name, f"{_meaning(metric)}; {stays if even == rare else moves}", metric.cite)


@cache
def _ranked() -> tuple[ScoreTable, ScoreTable]:
    """One order of rows where half of them are positive, and where one in twenty is."""
    even = score_table([0, 0, 1, 0, 1, 0, 1, 1], list(range(8)))
    return even, at_prevalence(even, 0.05)


def _of_one_cut() -> Iterator[Advice]:
    """The usual metrics that read labels, where scores are not cut."""
    of_labels = [name for name in _USUAL if get_metric(name).scores is None]
    for name in of_labels[:_MOST]:
        yield Advice(name, "is of labels: it judges one cut of the scores, not their order", None)


def _meaning(metric: Metric) -> str:
    return metric.meaning[:1].lower() + metric.meaning[1:].rstrip(".")
