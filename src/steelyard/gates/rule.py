"""Rules: what a gate requires of a metric, or of its difference from another model, parsed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.thresholds.threshold_limits import check_bound, percent_hint, range_words
from steelyard.exceptions import InputError, InputTypeError
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
_NUMBER = rf"{_DIGITS}(?:[eE][+-]?\d+)?"
_LIMIT = re.compile(rf"(?:([+-]?{_NUMBER})|{_OTHER}\s*([+-]\s*{_NUMBER})?)\s*(%?)")


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

    def check_number(self, ends: tuple[float, float], *, is_percent: bool = False) -> None:
        """Refuse a number that no value reaches, or that every value keeps, where the metric has that range."""
        what = self.metric
        if self.other is not None:
            low, high = ends
            what, ends = f"A difference of two values of {self.metric}", (low - high, high - low)
        check_bound(what, ends, self.number, self.text)
        low, high = ends
        above, strict = self.sign[0] == ">", len(self.sign) == 1
        hint = percent_hint(ends, self.number, self.text) or "give a bound inside that range."
        if not strict and self.number == (low if above else high):
            raise InputError(
                f"{what} lies {range_words(ends)}, so that every model keeps {self.text!r}, which gates nothing; {hint}"
            )
        if strict and self.number == (high if above else low):
            raise InputError(f"{what} lies {range_words(ends)}, so that no model keeps {self.text!r}; {hint}")
        if strict and self.number == high == 1 and not is_percent:  # one that means 1 % passes nearly all
            raise InputError(
                f"{what} lies {range_words(ends)}, so that nearly every model keeps {self.text!r}; did you mean 0.01 "
                "or 1 %? Write 100 % where all but the worst value are meant."
            )

    @property
    def passes_if_shown(self) -> bool:
        """Whether it passes only where the rows show it: low(...) >= or high(...) <=."""
        return self.end == ("low" if self.sign[0] == ">" else "high")

    @property
    def fails_if_shown(self) -> bool:
        """Whether it fails only where the rows show it: high(...) >= or low(...) <=."""
        return self.end == ("high" if self.sign[0] == ">" else "low")


def parse_rule(text: str, *, allow_worse: bool = False) -> Rule:
    """A rule such as "ac_score>=0.8", "recall>=80 %", "low(mcc)>=0.5", "mcc>=baseline-0.02" or "mcc - versus>=-0.02".

    Its limit must lie where the metric can keep it and break it. A rule that worse models pass and better ones fail is
    taken only where that is allowed.
    """
    if not isinstance(text, str):
        raise InputTypeError(f'A rule is text such as "ac_score>=0.8", not {text!r}.')
    rule = _RULE.fullmatch(text.strip())
    limit = _LIMIT.fullmatch(rule[6].strip()) if rule else None
    written = (limit[1] or limit[3]) if limit else None
    number = float((written or "0").replace(" ", "")) if limit else math.nan
    twice = rule is not None and limit is not None and bool(rule[3] and limit[2])
    lone = limit is not None and bool(limit[4]) and written is None  # a sign of percent without a number
    if rule is None or limit is None or bool(rule[1]) != bool(rule[4]) or twice or lone or not math.isfinite(number):
        raise InputError(
            f'The rule {text!r} cannot be read; write "ac_score>=0.8", "low(mcc)>=0.5", "mcc>=baseline-0.02" or '
            '"low(mcc - versus)>=-0.02".'
        )
    end, name, other, _, sign, _ = rule.groups()
    number = number / 100 if limit[4] else number
    if end and limit[2] == VERSUS:
        raise InputError(
            f"The rule {text!r} compares the end of one model's interval with another model, as if they had no rows in "
            f'common; write "{end}({name} - {VERSUS}){sign}{number:g}", the end of the interval of the difference.'
        )
    spec = MetricSpec.of(name)
    read = Rule(text.strip(), spec.name, end or "value", sign, number, other or limit[2], is_difference=bool(other))
    read.check_number(spec.metric.of_many_columns.range, is_percent=bool(limit[4]))
    if not allow_worse:
        _check_direction(read, spec)
    return read


def _check_direction(rule: Rule, spec: MetricSpec) -> None:
    """Refuse a rule that fails better models."""
    if spec.sign * (1 if rule.sign[0] == ">" else -1) >= 0:
        return
    better, turned = ("higher", ">=") if spec.sign > 0 else ("lower", "<=")
    raise InputError(
        f"{rule.metric} is better the {better} it is, and the rule {rule.text!r} passes worse models and fails better "
        f"ones; turn its sign to {turned}, or say that it is meant with allow_worse=True."
    )


def check_prove(prove: str) -> None:
    """Refuse what cannot be asked to be shown."""
    if prove not in (WORSE, NOT_WORSE):
        raise InputError(f"prove= is {WORSE!r} or {NOT_WORSE!r}, what has to be shown, not {prove!r}.")


def usual_rules(specs: Iterable[MetricSpec], other: str, prove: str, margin: float) -> list[Rule]:
    """The rules of a gate that is given none: no metric is shown to be worse, or each to be not worse by the margin.

    >>> [rule.text for rule in usual_rules([MetricSpec.of("mcc")], "versus", "not-worse", 0.02)]
    ['low(mcc - versus) >= -0.02']
    """
    check_prove(prove)
    rules = []
    for spec in (spec for spec in specs if spec.sign):
        end, sign = ("low", ">=") if spec.sign > 0 else ("high", "<=")
        if prove == WORSE:
            end = "high" if end == "low" else "low"
        number = -spec.sign * margin if prove == NOT_WORSE else 0.0
        text = f"{end}({spec.name} - {other}) {sign} {number:g}"
        rules.append(Rule(text, spec.name, end, sign, number, other, is_difference=True))
    return rules
