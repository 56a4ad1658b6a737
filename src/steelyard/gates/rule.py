"""Rules: what a gate requires of a metric, parsed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from steelyard.errors import InputError
from steelyard.metrics.spec import MetricSpec

# No text can be divided in two ways, so that a long one is refused at once.
_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)"
_RULE = re.compile(r"(?:(low|high)\(\s*)?([A-Za-z_]\w*(?:\[.*\])?)\s*(\)\s*)?(>=|<=|>|<)\s*([^\]]+)")
_LIMIT = re.compile(rf"([+-]?{_DIGITS}(?:[eE][+-]?\d+)?)|(baseline)\s*([+-]\s*{_DIGITS})?")


@dataclass(frozen=True)
class Rule:
    """A metric or an end of its interval, a sign, and a number or the baseline's value and a margin."""

    text: str
    metric: str
    end: str
    sign: str
    number: float
    baseline: bool = False


def parse_rule(text: str) -> Rule:
    """A rule such as "ac_score>=0.8", "low(mcc)>=0.5" or "mcc>=baseline-0.02"."""
    rule = _RULE.fullmatch(text.strip())
    limit = _LIMIT.fullmatch(rule[5].strip()) if rule else None
    number = float((limit[1] or limit[3] or "0").replace(" ", "")) if limit else math.nan
    if rule is None or limit is None or bool(rule[1]) != bool(rule[3]) or not math.isfinite(number):
        raise InputError(
            f'The rule {text!r} cannot be read; write "ac_score>=0.8", "low(mcc)>=0.5" or "mcc>=baseline-0.02".'
        )
    end, name, _, sign, _ = rule.groups()
    return Rule(text.strip(), MetricSpec.of(name).name, end or "value", sign, number, baseline=bool(limit[2]))
