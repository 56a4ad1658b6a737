"""MonitorRule: what a monitor requires of a metric: at least or at most a number, or a reference and a margin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.sequential.metric_sequence import MetricSequence
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

COST_NAME = "cost"  # the mean of the rows' own costs, which is no metric of counts
_DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RULE = re.compile(
    rf"([A-Za-z_]\w*(?:\[[^\]]*\])?)\s*(>=|<=|>|<)\s*(?:([+-]?{_DIGITS})|(reference)\s*([+-]\s*{_DIGITS})?)"
)


@dataclass(frozen=True)
class MonitorRule:
    """A metric, whether it must be at least (1) or at most (-1) the limit, and the limit: a number or a margin."""

    text: str
    metric: str
    sign: int
    number: float
    of_reference: bool = False

    @classmethod
    def of(cls, text: str) -> MonitorRule:
        """A rule such as "recall >= 0.8", "cost <= 12" or "precision >= reference - 0.05".

        >>> MonitorRule.of("precision>=reference-0.05")
        MonitorRule(text='precision >= reference - 0.05', metric='precision', sign=1, number=-0.05, of_reference=True)
        """
        if not isinstance(text, str):
            raise InputTypeError(f'A rule is text such as "recall >= 0.8", not {text!r}.')
        parts = _RULE.fullmatch(text.strip())
        if parts is None:
            raise InputError(
                f'The rule {text!r} cannot be read; write "recall >= 0.8", "cost <= 12" or "recall >= reference".'
            )
        name, sign, number, reference, margin = parts.groups()
        offset = float((number or margin or "0").replace(" ", ""))
        metric = name if name == COST_NAME else MetricSpec.of(name).name
        return cls("", metric, 1 if ">" in sign else -1, offset, bool(reference)).checked()

    def checked(self) -> MonitorRule:
        """The rule in its written form, refused where no table could keep or break it."""
        if self.metric != COST_NAME:
            spec = MetricSpec.of(self.metric)
            MetricSequence.of(spec)
            low, high = spec.metric.range
            if not self.of_reference and not low < self.number < high:
                raise InputError(
                    f"{self.metric} lies between {low:g} and {high:g}, so that {self.number:g} is no limit; give one "
                    "inside."
                )
        elif self.of_reference:
            raise InputError("The cost of a reference is not known from its counts; give the limit as a number.")
        return MonitorRule(self._written(), self.metric, self.sign, self.number, self.of_reference)

    def _written(self) -> str:
        sign = ">=" if self.sign > 0 else "<="
        if not self.of_reference:
            return f"{self.metric} {sign} {self.number:g}"
        margin = "" if not self.number else f" {'-' if self.number < 0 else '+'} {abs(self.number):g}"
        return f"{self.metric} {sign} reference{margin}"


def parsed_rules(rules: Iterable[str] | str) -> tuple[MonitorRule, ...]:
    """The rules, each once; one that stands alone need not be in a list."""
    listed = [rules] if isinstance(rules, str) else list(rules)
    parsed = tuple(dict.fromkeys(MonitorRule.of(rule) for rule in listed))
    if not parsed:
        raise InputError('A monitor needs a rule, such as "recall >= 0.8"; give at least one.')
    return parsed
