"""Rule judgement: whether an evaluation keeps a rule."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from steelyard.errors import InputError
from steelyard.gates.judgement import Judgement

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.gates.baseline import Baseline
    from steelyard.gates.rule import Rule

_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


def limit_of(rule: Rule, old: Baseline | None) -> float:
    """The number that a rule requires; one about a baseline needs it there."""
    if not rule.baseline:
        return rule.number
    if old is None:
        raise InputError(f"The rule {rule.text!r} speaks of a baseline; name it with --baseline OLD.JSON.")
    before = old.metrics.get(rule.metric)
    if before is None:
        raise InputError(f"The baseline has no value of {rule.metric}; make it again with this metric.")
    return rule.number + before


def judge_rule(rule: Rule, evaluation: Evaluation, old: Baseline | None) -> Judgement:
    """Whether the evaluation keeps the rule, with the digits by which the two numbers differ."""
    limit = limit_of(rule, old)
    row = evaluation[rule.metric]
    value = getattr(row, rule.end)
    name = rule.metric if rule.end == "value" else f"{rule.end}({rule.metric})"
    share = row.spec.is_share
    if math.isnan(value):
        required = f"{100 * limit:.6g} %" if share else f"{limit:.6g}"
        return Judgement(
            None, f"undefined  {name}, required {rule.sign} {required}: {row.undefined or 'not defined here'}"
        )
    passed = bool(_SIGNS[rule.sign](value, limit))
    shown = _apart(value, limit, share=share)
    return Judgement(passed, f"{'pass' if passed else 'FAIL'}  {name} is {shown[0]}, required {rule.sign} {shown[1]}")


def _apart(value: float, limit: float, *, share: bool) -> tuple[str, str]:
    """Both numbers with as many digits as distinguish them; shares of rows in percent."""
    times, unit = (100, " %") if share else (1, "")
    for digits in range(3, 18):
        pair = f"{times * value:.{digits}g}{unit}", f"{times * limit:.{digits}g}{unit}"
        if pair[0] != pair[1] or value == limit:
            return pair
    return repr(value), repr(limit)
