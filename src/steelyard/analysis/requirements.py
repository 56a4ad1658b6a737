"""Requirement: what a metric has to keep, in one grammar for gates, monitors, thresholds and the shell.

    requirements  one or several, joined by "and"
    requirement   quantity sign limit
    quantity      metric | metric - OTHER | low(...) or high(...) of either | cost | alerts
    sign          >= <= > < (and the signs ≥ and ≤)
    limit         number | OTHER | OTHER - number | OTHER + number; of alerts: number of number
    OTHER         versus | baseline | reference

A number may be in percent. A metric is any written form, such as f_beta[beta=2, average=macro].
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, InputTypeError, short_repr
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSUS = "versus"  # another model on the same rows
BASELINE = "baseline"  # an earlier evaluation
REFERENCE = "reference"  # labelled rows from before, whose noise is allowed for
COST = "cost"  # the mean of the rows' own costs, which is no metric of counts
ALERTS = "alerts"  # the rows that are flagged, out of those of a day

_OTHERS = (VERSUS, BASELINE, REFERENCE)
_SIGNS = (">=", "<=", ">", "<")
_SPELLINGS = str.maketrans(
    {"≥": ">=", "≤": "<=", "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\0": "\N{REPLACEMENT CHARACTER}"}
)
# Each is matched as a whole and on text without runs of blanks, and none can divide a text in two ways, so that a long
# one is refused at once.
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_LIMIT = re.compile(rf"(?:([+-]? ?{_NUMBER})|({'|'.join(_OTHERS)})(?: ?([+-] ?{_NUMBER}))?) ?(%?)")
_DAY = re.compile(r"(\d[\d_,]*) (?:of|in|out of) (\d[\d_,]*)(?: rows)?", re.IGNORECASE)
_END = re.compile(r"(low|high) ?\((.*)\)")
_BRACKETS = "\0"  # stands for what is in brackets while the rest is read


# ---------------------------------------------------------------- requirement
# One bound on a metric, as it is read, checked and printed.


@dataclass(frozen=True)
class Requirement:
    """A metric, or its difference from another model, or an end of the interval of either, a sign, and a number.

    `other` is the model that it is about, if any: the one whose value the number is added to, or that the difference is
    from. `alerts` are the alerts and the rows of a day, where it limits those; `written` is how it was given.

    >>> terms = Terms("A gate", "rule", ("recall >= 0.8",), others=("versus",), has_differences=True)
    >>> (one,) = read_requirements("low(mcc - versus)>=-2 %", terms)
    >>> one.metric, one.end, one.other, one.is_difference, one.number
    ('mcc', 'low', 'versus', True, -0.02)
    >>> print(one)
    low(mcc - versus) >= -2 %
    """

    metric: str
    sign: str
    number: float
    end: str = "value"
    other: str | None = None
    is_difference: bool = False
    alerts: tuple[int, int] | None = None
    is_percent: bool = field(default=False, compare=False)
    written: str = field(default="", compare=False)

    @cached_property
    def text(self) -> str:
        """Its one printed form, which is read back equal."""
        if self.alerts is not None:
            return f"{ALERTS} {self.sign} {self.alerts[0]:,} of {self.alerts[1]:,} rows"
        if self.other is None or self.is_difference:
            return f"{self.quantity} {self.sign} {self._number_text(self.number)}"
        sign = "-" if self.number < 0 else "+"
        margin = f" {sign} {self._number_text(abs(self.number))}" if self.number else ""
        return f"{self.quantity} {self.sign} {self.other}{margin}"

    def __str__(self) -> str:
        return self.text

    @property
    def quantity(self) -> str:
        """What is compared with the number."""
        difference = f"{self.metric} - {self.other}" if self.is_difference else self.metric
        return difference if self.end == "value" else f"{self.end}({difference})"

    def _number_text(self, number: float) -> str:
        """A number as a person writes it, in percent where it was, and in no fewer digits than it has."""
        if self.is_percent and float(percent := f"{100 * number:.15g}") / 100 == number:
            return f"{percent} %"
        text = f"{number:.15g}"
        return text if float(text) == number else repr(number)

    @property
    def spec(self) -> MetricSpec:
        """The metric; a mean cost has none."""
        return MetricSpec.of(self.metric)

    @property
    def direction(self) -> int:
        """1 where the quantity has to be high enough, -1 where low enough."""
        return 1 if self.sign[0] == ">" else -1

    @property
    def passes_if_shown(self) -> bool:
        """Whether it passes only where the rows show it: low(...) >= or high(...) <=."""
        return self.end == ("low" if self.direction > 0 else "high")

    @property
    def fails_if_shown(self) -> bool:
        """Whether it fails only where the rows show it: high(...) >= or low(...) <=."""
        return self.end == ("high" if self.direction > 0 else "low")

    def check_number(self, bounds: tuple[float, float], *, is_inside: bool = False) -> None:
        """Refuse a number that every value or none keeps, where the values of the metric lie in those bounds.

        `is_inside` refuses one at a bound as well, which a single error breaks.
        """
        what, (low, high), number = self.metric, bounds, self.number
        if self.other is not None:
            what, (low, high) = f"A difference of two values of {self.metric}", (low - high, high - low)
        written = repr(self.written or self.text)
        hint = self._percent_hint(low, high)
        do = hint or "give a bound inside that range."
        lies = f"{what} lies {range_words((low, high))}"
        if not low <= number <= high:
            raise InputError(f"{lies}, and the bound of {written} does not; {do}")
        is_strict, first, last = len(self.sign) == 1, *((low, high) if self.direction > 0 else (high, low))
        if not is_strict and number == first:
            raise InputError(f"{lies}, so that {written} is always kept and requires nothing; {do}")
        if is_strict and number == last:
            raise InputError(f"{lies}, so that {written} can never be kept; {do}")
        is_loose = is_strict and number == high == 1 and not self.is_percent  # one that means 1 % lets nearly all pass
        if is_loose and self.metric != COST and self.spec.sign <= 0:
            raise InputError(
                f"{lies}, so that {written} is nearly always kept; did you mean 0.01 or 1 %? Write 100 % where all but "
                "the worst value are meant."
            )
        if is_inside and number in (low, high):
            raise InputError(f"{lies}, so that a single row breaks {written}; {do}")

    def _percent_hint(self, low: float, high: float) -> str:
        """The share that a number was perhaps meant to be as percent, if that share lies in the range; else nothing."""
        number = self.number
        is_percent = not self.is_percent and (abs(number) == 1 or 2 <= abs(number) <= 100)
        is_share = all(map(math.isfinite, (low, high))) and is_percent and low <= number / 100 <= high
        return f"did you mean {number / 100:g} or {number:g} %?" if is_share else ""

    def check_direction(self) -> None:
        """Refuse one that better models break and worse ones keep."""
        sign = 0 if self.metric == COST else self.spec.sign
        if sign * self.direction >= 0:
            return
        better, turned = ("higher", ">=") if sign > 0 else ("lower", "<=")
        raise InputError(
            f"{self.metric} is better the {better} it is, and {self.written!r} passes worse models and fails better "
            f"ones; turn its sign to {turned}."
        )


def range_words(allowed: tuple[float, float]) -> str:
    """A range in words."""
    low, high = allowed
    if math.isfinite(low) and math.isfinite(high):
        return f"between {low:g} and {high:g}"
    return f"at {low:g} or above" if math.isfinite(low) else f"at {high:g} or below"


# ---------------------------------------------------------------- terms
# Which terms of the grammar a gate, a monitor and a threshold can use, and what is said of the others.


@dataclass(frozen=True)
class Terms:
    """Which terms a user of requirements can use, what it calls them, and what to write for those that it cannot use.

    `end` says why it has no low(...) and high(...), where it has none. `is_directed` refuses what better models break,
    `is_inside` a number at a bound of the metric's range.
    """

    user: str
    noun: str
    examples: tuple[str, ...]
    others: tuple[str, ...] = ()
    end: str = ""
    has_differences: bool = False
    has_cost: bool = False
    is_directed: bool = True
    is_inside: bool = False

    @property
    def forms(self) -> str:
        """How one is written: some examples."""
        return " or ".join(", ".join(map(repr, self.examples)).rsplit(", ", 1))

    def check(self, one: Requirement) -> None:
        """Refuse a term that cannot be used here, with what to write for it."""
        if one.metric == COST and not self.has_cost:
            raise InputError(
                f"{self.user} has no costs of single rows, which 'cost' is the mean of; write "
                "'expected_cost[cost_fn=10] <= 0.3', with the costs of the errors in the brackets."
            )
        if one.metric == COST and (one.is_percent or one.other is not None or one.end != "value"):
            raise InputError(
                f"A mean cost is no share, and has no reference; give its limit as a number, such as 'cost <= 12', not "
                f"{short_repr(one.written)}."
            )
        if one.end != "value" and self.end:
            inside = replace(one, end="value").text
            raise InputError(f"{self.user} takes no {one.end}(...), as {self.end}; write {inside!r}.")
        if one.other is None:
            return
        if one.other not in self.others:
            known = f"hold it against {self.others[-1]}" if self.others else "give a number"
            raise InputError(f"{self.user} knows no {one.other}, which {one.written!r} speaks of; {known}.")
        if one.is_difference and not self.has_differences:
            beside = replace(one, is_difference=False).text
            raise InputError(f"{self.user} follows a metric and no difference of two; write {beside!r}.")
        if one.end != "value" and not one.is_difference and one.other == VERSUS:
            instead = replace(one, is_difference=True).text
            raise InputError(
                f"{one.written!r} compares the end of one model's interval with another model, as if they had no rows "
                f"in common; write {instead!r}, the end of the interval of the difference."
            )


# ---------------------------------------------------------------- reading


def read_requirements(given: str | Sequence[str], terms: Terms, *, any_number: bool = False) -> tuple[Requirement, ...]:
    """The requirements of a text, or of several: what cannot be read, used or kept is refused in one sentence.

    `any_number` leaves numbers outside the metric's range, for a metric whose range is not known yet.

    >>> terms = Terms("A threshold", "limit", ("recall >= 0.9",))
    >>> [str(each) for each in read_requirements("recall>=90 % and alerts <= 200 of 10000", terms)]
    ['recall >= 90 %', 'alerts <= 200 of 10,000 rows']
    """
    read: list[Requirement] = []
    for text in given if isinstance(given, (list, tuple)) else [given]:
        if not isinstance(text, str):
            raise InputTypeError(f"A {terms.noun} is text such as {terms.examples[0]!r}, not {short_repr(text)}.")
        read += (_read(piece, terms) for piece in _pieces(text))
    for one in read:
        terms.check(one)
        if one.metric != COST and not any_number:
            one.check_number(one.spec.metric.of_many_columns.range, is_inside=terms.is_inside)
        if terms.is_directed:
            one.check_direction()
    return tuple(read)


@dataclass(frozen=True)
class _Piece:
    """The text between two "and", with what stands in brackets apart from the rest."""

    masked: str
    brackets: tuple[str, ...]

    def filled(self, masked: str) -> str:
        """A part of the text with its brackets, which are the first ones that it has."""
        contents = iter(self.brackets)
        return re.sub(_BRACKETS, lambda _: next(contents), masked)

    @property
    def text(self) -> str:
        """All of it."""
        return self.filled(self.masked)


def _pieces(text: str) -> Iterator[_Piece]:
    """The texts between "and" that stands in no brackets, without runs of blanks."""
    masked, brackets = _without_brackets(text)
    for piece in re.split(r" and(?= )", " ".join(masked.split()), flags=re.IGNORECASE):
        count = piece.count(_BRACKETS)
        yield _Piece(piece.strip(), tuple(brackets[:count]))
        brackets = brackets[count:]


def _without_brackets(text: str) -> tuple[str, list[str]]:
    """The text with one sign for each pair of brackets, and what stands in them; quotes in them are kept whole."""
    outside: list[str] = []
    brackets: list[str] = []
    depth, start, is_quoted, is_escaped = 0, 0, False, False
    for index, sign in enumerate(text):
        if is_quoted:
            is_quoted, is_escaped = is_escaped or sign != '"', sign == "\\" and not is_escaped
        elif sign == "[":
            depth, start = depth + 1, start if depth else index
        elif sign == "]" and depth:
            depth -= 1
            if not depth:
                brackets.append(text[start : index + 1])
                outside.append(_BRACKETS)
        elif depth:
            is_quoted = sign == '"'
        else:
            outside.append(sign.translate(_SPELLINGS))
    return "".join(outside) + (text[start:] if depth else ""), brackets


def _read(piece: _Piece, terms: Terms) -> Requirement:
    """One requirement."""
    written = piece.text
    if set(piece.masked) & set("[]"):
        raise _unreadable(written, terms, "its brackets do not close")
    signs = list(re.finditer(r"[<>=!]+", piece.masked))
    if len(signs) > 1:
        raise _several(written, terms)
    if not signs:
        raise _unreadable(written, terms, "it has no sign such as >=")
    sign = signs[0]
    if sign[0] not in _SIGNS:
        raise _unreadable(written, terms, f"{sign[0]!r} is none of {' '.join(_SIGNS)}")
    left, right = piece.masked[: sign.start()].strip(), piece.masked[sign.end() :].strip()
    if left.lower() == ALERTS:
        return _read_alerts(sign[0], right, written)
    end, inside = match.groups() if (match := _END.fullmatch(left)) else ("value", left)
    metric, other = _read_difference(inside.strip())
    limit = _LIMIT.fullmatch(right)
    if not re.fullmatch(rf"[^\W\d][^()%'\"{_BRACKETS}]*{_BRACKETS}*", metric):
        raise _unreadable(written, terms, "its left side is no metric" if inside else "it names no metric")
    if other is not None and other not in _OTHERS:
        raise _unreadable(written, terms, f"{other!r} is none of {', '.join(_OTHERS)}")
    if limit is None:
        raise _unreadable(written, terms, "its right side is no number")
    beside, is_percent = limit[2], bool(limit[4])
    number = float((limit[1] or limit[3] or "0").replace(" ", ""))
    if other is not None and beside is not None:
        raise _unreadable(written, terms, "it names two other models")
    if is_percent and not (limit[1] or limit[3]):
        raise _unreadable(written, terms, "its percent sign has no number")
    if not math.isfinite(number):
        raise _unreadable(written, terms, "its number is too large")
    return Requirement(
        COST if metric.lower() == COST else MetricSpec.of(piece.filled(metric)).name,
        sign[0],
        (number / 100 if is_percent else number) + 0.0,  # no -0
        end,
        other or beside,
        is_difference=other is not None,
        is_percent=is_percent,
        written=written,
    )


def _read_difference(text: str) -> tuple[str, str | None]:
    """A metric and the other model that it is a difference from, if there is one; names of metrics have dashes too."""
    metric, dash, other = text.rpartition("-")
    if dash and (other.strip() in _OTHERS or " - " in text):
        return metric.strip(), other.strip()
    return text, None


def _read_alerts(sign: str, right: str, written: str) -> Requirement:
    """The most alerts that a day of so many rows may have, a limit on the share of rows that are flagged."""
    day = _DAY.fullmatch(right)
    if day is None or sign != "<=":
        lacks = "lacks the rows of a day" if day is None else "limits alerts from below"
        raise InputError(
            f"{short_repr(written)} {lacks}: write 'alerts <= 200 of 10000', or of a share of all rows "
            "'predicted_prevalence <= 2 %'."
        )
    alerts, rows = (int(re.sub(r"[_,]", "", number)) for number in day.groups())
    if not rows > 0 or alerts > rows:
        raise InputError(f"Alerts are some of the rows of a day, and so at most as many, not {alerts:,} of {rows:,}.")
    metric = MetricSpec.of("predicted_prevalence").name
    return Requirement(metric, sign, alerts / rows, alerts=(alerts, rows), written=written)


def _several(written: str, terms: Terms) -> InputError:
    """That several are not joined by "and"."""
    given, noun = short_repr(written), terms.noun
    if re.search(r"\bor\b|\|", written, re.IGNORECASE):
        return InputError(
            f"{given} asks for one {noun} or another, and {noun}s are kept all together; join them by 'and', or ask "
            "for each of them in turn."
        )
    return InputError(
        f"{given} holds several {noun}s that are not joined by 'and'; write 'recall >= 0.9 and precision >= 0.2', or a "
        "list of them."
    )


def _unreadable(written: str, terms: Terms, why: str) -> InputError:
    """That one cannot be read, why, and how one is written."""
    return InputError(f"The {terms.noun} {short_repr(written)} cannot be read: {why}; write {terms.forms}.")
