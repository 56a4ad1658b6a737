"""Rules: what a gate requires of a metric, read and judged."""

from __future__ import annotations

import json
import math
import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.evaluation.asking import asked

_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RULE = re.compile(r"(?:(low|high)\()?\s*([A-Za-z_][\w]*(?:\[[^\]]*\])*)\s*\)?\s*(>=|<=|>|<)\s*(.+)")
LIMIT = re.compile(rf"({_NUMBER})|(baseline)\s*([+-]\s*(?:\d+\.?\d*|\.\d+))?")


@dataclass(frozen=True)
class Rule:
    """A metric or an end of its interval, a sign, and a number or the baseline's value and a margin."""

    text: str
    metric: str
    end: str
    sign: str
    number: float
    baseline: bool = False


@dataclass(frozen=True)
class Judged:
    """What became of a rule; passed is None where the metric is undefined."""

    passed: bool | None
    told: str


def read(text: str) -> Rule:
    """A rule such as "ac_score>=0.8", "low(mcc)>=0.5" or "mcc>=baseline-0.02"."""
    found = RULE.fullmatch(text.strip())
    required = LIMIT.fullmatch(found[4].strip()) if found else None
    if found is None or required is None or text.count("(") != text.count(")") or bool(found[1]) != ("(" in text):
        raise InputError(
            f'The rule {text!r} cannot be read; write "ac_score>=0.8", "low(mcc)>=0.5" or "mcc>=baseline-0.02".'
        )
    end, name, sign, _ = found.groups()
    number = float(required[1]) if required[1] else float((required[3] or "0").replace(" ", ""))
    return Rule(text.strip(), asked(name).name, end or "value", sign, number, baseline=bool(required[2]))


def baseline(name: str | None) -> dict[str, float | None] | None:
    """The metrics of an earlier report, by name."""
    if name is None:
        return None
    try:
        rows = json.loads(Path(name).read_bytes())["metrics"]
        return {str(row["name"]): None if row["value"] is None else float(row["value"]) for row in rows}
    except OSError:
        raise InputError(f"The baseline {name!r} cannot be read; check the name and the folder.") from None
    except (ValueError, KeyError, TypeError):
        told = "a report written by `steelyard report --format json`"
        raise InputError(f"The baseline {name!r} is not {told}; make one first.") from None


def against(old: dict[str, float | None] | None) -> list[Rule]:
    """Where no rule was given: no usual metric may be shown to be below the baseline."""
    from steelyard.evaluation.evaluation import FIRST

    if old is None:
        raise InputError('A gate needs a rule, such as --require "ac_score>=0.8", or a --baseline.')
    names = [name for name in FIRST if old.get(name) is not None]
    if not names:
        raise InputError("The baseline holds none of the usual metrics; give rules with --require.")
    return [Rule(f"high({name})>=baseline", name, "high", ">=", 0.0, baseline=True) for name in names]


def limit(rule: Rule, old: dict[str, float | None] | None) -> float:
    """The number that a rule requires; one about a baseline needs it there."""
    if not rule.baseline:
        return rule.number
    if old is None:
        raise InputError(f"The rule {rule.text!r} speaks of a baseline; name it with --baseline OLD.JSON.")
    before = old.get(rule.metric)
    if before is None:
        raise InputError(f"The baseline has no value of {rule.metric}; make it again with this metric.")
    return rule.number + before


def judged(rule: Rule, found: Any, old: dict[str, float | None] | None) -> Judged:
    """Whether the evaluation keeps the rule, with the digits that tell the two numbers apart."""
    at = limit(rule, old)
    row = found[rule.metric]
    value = getattr(row, rule.end)
    called = rule.metric if rule.end == "value" else f"{rule.end}({rule.metric})"
    if math.isnan(value):
        return Judged(
            None, f"undefined  {called}, required {rule.sign} {at:.6g}: {row.undefined or 'not defined here'}"
        )
    passed = bool(_SIGNS[rule.sign](value, at))
    shown = _apart(value, at)
    return Judged(passed, f"{'pass' if passed else 'FAIL'}  {called} is {shown[0]}, required {rule.sign} {shown[1]}")


def _apart(value: float, limit: float) -> tuple[str, str]:
    """Both numbers with as many digits as tell them apart."""
    for digits in range(3, 18):
        pair = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if pair[0] != pair[1] or value == limit:
            return pair
    return repr(value), repr(limit)
