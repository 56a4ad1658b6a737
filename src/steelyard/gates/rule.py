"""Rules: what a gate requires of a metric, or of its difference from another model, parsed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSUS, BASELINE = "versus", "baseline"  # the other model on the same rows, and an earlier report
WORSE, NOT_WORSE = "worse", "not-worse"  # what a gate without rules asks to be shown
# No text can be divided in two ways, so that a long one is refused at once.
_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)"
_OTHER = rf"({VERSUS}|{BASELINE})"
_RULE = re.compile(
    rf"(?:(low|high)\(\s*)?([A-Za-z_]\w*(?:\[.*\])?)\s*(?:-\s*{_OTHER}\s*)?(\)\s*)?(>=|<=|>|<)\s*([^\]]+)"
)
_LIMIT = re.compile(rf"([+-]?{_DIGITS}(?:[eE][+-]?\d+)?)|{_OTHER}\s*([+-]\s*{_DIGITS})?")


@dataclass(frozen=True)
class Rule:
    """A metric, or its difference from another model, or an end of the interval of either, a sign, and a number.

    `other` is the model that it is about, if any: the difference from it, or its value that the number is added to.

    >>> rule = parse_rule("low(mcc - versus) >= -0.02")
    >>> rule.metric, rule.end, rule.other, rule.is_difference, rule.passes_if_shown
    ('mcc', 'low', 'versus', True, True)
    """

    text: str
    metric: str
    end: str
    sign: str
    number: float
    other: str | None = None
    is_difference: bool = False

    @property
    def quantity(self) -> str:
        """What is compared with the number, as it is written."""
        written = f"{self.metric} - {self.other}" if self.is_difference else self.metric
        return written if self.end == "value" else f"{self.end}({written})"

    @property
    def passes_if_shown(self) -> bool:
        """Whether it passes only where the rows show it: low(...) >= or high(...) <=."""
        return self.end == ("low" if self.sign[0] == ">" else "high")

    @property
    def fails_if_shown(self) -> bool:
        """Whether it fails only where the rows show it: high(...) >= or low(...) <=."""
        return self.end == ("high" if self.sign[0] == ">" else "low")


def parse_rule(text: str) -> Rule:
    """A rule such as "ac_score>=0.8", "low(mcc)>=0.5", "mcc>=baseline-0.02" or "low(mcc - versus)>=-0.02"."""
    rule = _RULE.fullmatch(text.strip())
    limit = _LIMIT.fullmatch(rule[6].strip()) if rule else None
    number = float((limit[1] or limit[3] or "0").replace(" ", "")) if limit else math.nan
    twice = rule is not None and limit is not None and bool(rule[3] and limit[2])
    if rule is None or limit is None or bool(rule[1]) != bool(rule[4]) or twice or not math.isfinite(number):
        raise InputError(
            f'The rule {text!r} cannot be read; write "ac_score>=0.8", "low(mcc)>=0.5", "mcc>=baseline-0.02" or '
            '"low(mcc - versus)>=-0.02".'
        )
    end, name, other, _, sign, _ = rule.groups()
    if end and limit[2] == VERSUS:
        raise InputError(
            f"The rule {text!r} compares the end of one model's interval with another model, as if they had no rows in "
            f'common; write "{end}({name} - {VERSUS}){sign}{number:g}", the end of the interval of the difference.'
        )
    metric = MetricSpec.of(name).name
    return Rule(text.strip(), metric, end or "value", sign, number, other or limit[2], is_difference=bool(other))


def usual_rules(specs: Iterable[MetricSpec], other: str, prove: str, margin: float) -> list[Rule]:
    """The rules of a gate that is given none: no metric is shown to be worse, or each to be not worse by the margin.

    >>> [rule.text for rule in usual_rules([MetricSpec.of("mcc")], "versus", "not-worse", 0.02)]
    ['low(mcc - versus) >= -0.02']
    """
    if prove not in (WORSE, NOT_WORSE):
        raise InputError(f"prove= is {WORSE!r} or {NOT_WORSE!r}, what has to be shown, not {prove!r}.")
    rules = []
    for spec in (spec for spec in specs if spec.sign):
        end, sign = ("low", ">=") if spec.sign > 0 else ("high", "<=")
        if prove == WORSE:
            end = "high" if end == "low" else "low"
        number = -spec.sign * margin if prove == NOT_WORSE else 0.0
        text = f"{end}({spec.name} - {other}) {sign} {number:g}"
        rules.append(Rule(text, spec.name, end, sign, number, other, is_difference=True))
    return rules
