"""What to report beside recommended metrics, by the answers that were given and what the data show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.auditing.problem import Problem

_FEW = 30


def reported_beside(problem: Problem) -> Iterator[str]:
    """What to report beside the recommended metrics, as the answers and the data ask for."""
    if problem.ranking and not problem.costs:
        yield "precision and recall among as many rows as will be looked at (precision_at_k, lift)"
        if problem.alike:
            yield "average precision of both classes, each taken as the positive one: Wu averages the two"
        if problem.may_fail:
            yield "nothing for allow_zero_recall: an order has no threshold at which a class could have zero recall"
    else:
        yield "recall and specificity, each with its interval: no single number shows which class has the errors"
        yield (
            "precision at the deployment prevalence, beside its no-skill baseline (same prediction rate)"
            if problem.in_use or not problem.alike
            else "precision, stated with its prevalence, or at the deployment prevalence by at_prevalence"
        )
        if accuracy_is_fair(problem):
            yield "accuracy, a fair summary here: the classes are of similar size"
    if problem.costs and not problem.may_fail:
        yield "a floor under recall and specificity: the least cost may give a class up"
    if problem.classes > 2:
        yield (
            f"each of the {problem.classes} classes against the rest: "
            "the properties are proven for two classes, not for a metric's form for more"
        )
    if problem.rows is not None and problem.rows < _FEW:
        text = f"the interval before the value: {problem.rows} {_rarer_class(problem)} most metrics open"
        yield f"{text}; sample_size computes how many would be enough"


def _rarer_class(problem: Problem) -> str:
    if problem.rows != 1:
        return f"{problem.rarer} leave"
    return f"{problem.rarer.replace('rows', 'row').removesuffix('s')} leaves"


def accuracy_is_fair(problem: Problem) -> bool:
    """Whether accuracy sums the errors up fairly: both classes count alike and are of similar size."""
    return problem.similar_classes and problem.alike
