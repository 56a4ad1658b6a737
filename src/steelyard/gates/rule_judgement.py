"""Rule judgements: whether all rows and each group keep every rule, with the error that the rules hold together."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import value_text
from steelyard.analysis.thresholds.threshold_limits import range_words
from steelyard.exceptions import InputError
from steelyard.gates.judgement import FAIL, PASS, UNDECIDED, Judgement
from steelyard.gates.rule import BASELINE, VERSUS, parse_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.gates.baseline import Baseline
    from steelyard.gates.estimate import Estimate
    from steelyard.gates.gate_part import GatePart
    from steelyard.gates.rule import Rule

_KINDS = ("passes_if_shown", "fails_if_shown")
_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class AskedRule:
    """A rule in one part: the estimate that it reads, and the number that is required; NaN where there is none."""

    rule: Rule
    part: GatePart
    estimate: Estimate
    limit: float
    why: str | None = None

    @classmethod
    def of(cls, rule: Rule, part: GatePart, baseline: Baseline | None) -> AskedRule:
        """The rule in that part."""
        estimate = part.estimate(rule)
        if rule.is_difference or rule.other is None:
            return cls(rule, part, estimate, rule.number, _reason(rule, estimate))
        if rule.other == VERSUS and estimate.values is not None:  # a rule on both values
            value, other = estimate.values
            why = None if math.isfinite(value + other) else estimate.why or "not defined here"
            return cls(rule, part, estimate, _limit_beside(rule, estimate, other), why)
        old = check_limit(rule, baseline).of_group(part.group)
        before = None if old is None else old.metrics.get(rule.metric)
        why = _reason(rule, estimate) if before is not None else f"the baseline has no {rule.metric} of this group"
        return cls(rule, part, estimate, _limit_beside(rule, estimate, math.nan if before is None else before), why)

    @property
    def is_defined(self) -> bool:
        """Whether it can be judged."""
        return self.why is None

    def judged(self, level: float, margin: float) -> Judgement:
        """Whether it is kept, its interval being at that level."""
        rule, estimate = self.rule, self.estimate if self.rule.end == "value" else self.estimate.at(level)
        own = estimate.values[0] if estimate.values is not None and not rule.is_difference else estimate.value
        value = own if rule.end == "value" else getattr(estimate, rule.end)
        unit = _unit(self)
        if self.why is not None:
            required = f", required {rule.sign} {100**unit.percent * self.limit:.6g}{unit.text}"
            text = f"{rule.quantity}{'' if math.isnan(self.limit) else required}: {self.why}"
            return Judgement(None, UNDECIDED, rule.text, self.part.group, text, limit=self.limit, why=self.why)
        passed = bool(_SIGNS[rule.sign](value, self.limit))
        shown = _apart(value, self.limit, unit)
        text = f"{rule.quantity} is {shown[0]}, required {rule.sign} {shown[1]}{_both(self)}"
        outcome = PASS if passed else FAIL
        ends = (estimate.low, estimate.high, estimate.level, estimate.p_value, _power(self, estimate, margin))
        return Judgement(passed, outcome, rule.text, self.part.group, text, value, self.limit, *ends)


def check_limit(rule: Rule, baseline: Baseline | None) -> Baseline:
    """The baseline that a rule speaks of, which must hold its metric."""
    if baseline is None:
        raise InputError(f"The rule {rule.text!r} speaks of a baseline; name it with baseline=OLD.JSON.")
    if baseline.metrics.get(rule.metric) is None:
        raise InputError(f"The baseline has no value of {rule.metric}; make it again with this metric.")
    return baseline


def read_rules(
    texts: Iterable[str | Sequence[str]], baseline: Baseline | None, *, allow_worse: bool = False
) -> list[Rule]:
    """The rules of their texts, each by itself or in a list; what they say of a baseline must be there."""
    every: list[Any] = [each for text in texts for each in (text if isinstance(text, (list, tuple)) else [text])]
    rules = [parse_rule(text, allow_worse=allow_worse) for text in every]
    for rule in rules:
        if rule.other == BASELINE:
            check_limit(rule, baseline)
    return rules


def judge_rules(
    rules: Sequence[Rule], parts: Sequence[GatePart], baseline: Baseline | None, margin: float
) -> tuple[list[Judgement], list[str]]:
    """Every rule in every part, and which errors the gate holds, in sentences.

    All rules must be kept. A model that breaks one whose near end is read (low >=, high <=) passes it in half of
    1 - level of runs, and so the gate in no more, however many there are. Of those whose far end is read (high >=,
    low <=) each may fail by chance: they share the same error by Bonferroni, over metrics and groups.
    """
    asked = [AskedRule.of(rule, part, baseline) for part in parts for rule in rules]
    level = parts[0].level if parts else 0.95
    sharing = [each for each in asked if each.rule.fails_if_shown and each.is_defined]
    shared = 1 - (1 - level) / max(len(sharing), 1)
    judged = [each.judged(shared if each.rule.fails_if_shown else level, margin) for each in asked]
    return judged, _error_sentences(asked, level, shared)


def _limit_beside(rule: Rule, estimate: Estimate, other: float) -> float:
    """The limit that the value of another model gives; one beyond the metric's range is refused."""
    limit, (low, high) = rule.number + other, estimate.spec.metric.of_many_columns.range
    if limit < low or limit > high:
        which = "every" if (limit < low) == (rule.sign[0] == ">") else "no"
        raise InputError(
            f"The rule {rule.text!r} asks for {rule.metric} {rule.sign} {limit:.3g}, as {rule.other} has "
            f"{other:.3g}; it lies {range_words((low, high))}, so that {which} model keeps it. Give a smaller number."
        )
    return limit


def _reason(rule: Rule, estimate: Estimate) -> str | None:
    """Why a rule cannot be judged."""
    value = estimate.value if rule.end == "value" else getattr(estimate, rule.end)
    return (estimate.why or "not defined here") if math.isnan(value) else None


def _power(asked: AskedRule, estimate: Estimate, margin: float) -> float | None:
    """How often a drop by the margin is caught, or an equal model passes; of a difference alone."""
    if not asked.rule.is_difference or asked.rule.end == "value":
        return None
    if asked.rule.fails_if_shown:
        return estimate.chance_beyond(margin, drop=margin)
    return estimate.chance_beyond(max(-(asked.estimate.spec.sign or 1) * asked.limit, 0.0))


# ---------------------------------------------------------------- in words


@dataclass(frozen=True)
class Unit:
    """How numbers are shown: shares of rows in percent, their differences in points."""

    percent: bool
    text: str


def _unit(asked: AskedRule) -> Unit:
    share = asked.estimate.spec.is_share
    return Unit(share, " points" if share and asked.rule.is_difference else " %" if share else "")


def _both(asked: AskedRule) -> str:
    """The values of both models, beside a difference."""
    values, share = asked.estimate.values, asked.estimate.spec.is_share
    if values is None or not asked.rule.is_difference:
        return ""
    return f" ({value_text(values[0], share=share)}, {asked.rule.other} {value_text(values[1], share=share)})"


def _apart(value: float, limit: float, unit: Unit) -> tuple[str, str]:
    """Both numbers with as many digits as distinguish them."""
    times = 100 if unit.percent else 1
    for digits in range(3, 18):
        pair = f"{times * value:.{digits}g}{unit.text}", f"{times * limit:.{digits}g}{unit.text}"
        if pair[0] != pair[1] or value == limit:
            return pair
    return repr(value), repr(limit)


def _error_sentences(asked: Sequence[AskedRule], level: float, shared: float) -> list[str]:
    """Which of the two errors is held, and at what."""
    error, sentences = f"{50 * (1 - level):.3g} %", []
    near, far = ([each.rule.text for each in asked if each.is_defined and getattr(each.rule, kind)] for kind in _KINDS)
    if near:
        which = f"`{near[0]}`" if len(near) == 1 else f"any of the {len(near)} rules that pass only where it is shown"
        sentences.append(f"A model that breaks {which} passes this gate in at most {error} of runs.")
    if far:
        which = f"`{far[0]}`" if len(far) == 1 else f"all {len(far)} rules that fail only where it is shown"
        by = "" if len(far) == 1 else f"; they share it by intervals of {100 * shared:.6g} %"
        sentences.append(f"A model that keeps {which} fails this gate in at most {error} of runs{by}.")
    return sentences
