"""Sentences of the verdict: text with a stable code, a severity and a section of the documentation; codes are muted."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from steelyard.analysis.results.denominator import whole_rows
from steelyard.analysis.results.formatting import p_text, percent_interval, percent_text, three_digits
from steelyard.exceptions import InputTypeError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from steelyard._types import Label
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.tables.counts import Counts


Severity: TypeAlias = Literal["info", "note", "warning"]

_MEANINGS: dict[Severity, str] = {
    "info": "what was found",
    "note": "it limits how a number may be read or compared",
    "warning": "check this before the numbers are used",
}
SEVERITIES: dict[str, Severity] = {
    "outcomes": "info",
    "few-positives": "warning",
    "few-negatives": "warning",
    "one-class": "warning",
    "rates": "info",
    "recall-below-specificity": "note",
    "specificity-below-recall": "note",
    "precision-undefined": "note",
    "ranking": "info",
    "classes": "info",
    "weakest-class": "note",
    "classes-not-distinguishable": "info",
    "classes-undefined": "warning",
    "class-at-zero": "warning",
    "classes-below-median": "note",
    "classes-at-median": "info",
    "accuracy-fair": "info",
    "accuracy-above-majority": "info",
    "accuracy-at-majority": "note",
    "accuracy-below-majority": "note",
    "no-errors": "warning",
    "not-better-than-random": "warning",
    "worse-than-random": "warning",
    "weakest-group": "note",
    "groups-not-distinguishable": "info",
    "label-sets": "info",
    "whole-rows": "info",
    "weakest-label": "note",
    "labels-not-distinguishable": "info",
    "label-imbalance": "info",
    "label-pair": "info",
    "for-alerts": "info",
    "for-balance": "info",
    "for-ranking": "info",
    "for-probabilities": "info",
    "without-number": "info",
    "leading-number": "info",
    "beside-number": "info",
    "at-capacity": "info",
    "sample-size": "info",
}
_HEADLINES = (
    "leading-number",
    "few-positives",
    "few-negatives",
    "one-class",
    "outcomes",
    "ranking",
    "classes",
    "label-sets",
)
_PAGE = "docs/verdict.md"
NUMBERS_HEAD = "One number, by what it is for"
MUTE_VARIABLE = "STEELYARD_MUTE"
_MOST_OTHERS = 3  # sentences after the headline


class Sentence(str):
    """A sentence of the verdict: a str that has a code, a severity and the section that explains it.

    >>> from steelyard import Counts, evaluate
    >>> sentence = evaluate(Counts(tp=9, fn=1, fp=12, tn=978)).verdict[0]
    >>> print(sentence)
    Recall is 90.0 %, but with 10 positives anything from 62.1 % to 99.4 % fits.
    >>> sentence.code, sentence.severity, sentence.docs
    ('few-positives', 'warning', 'docs/verdict.md#few-positives')
    """

    __slots__ = ("code", "severity")
    code: str
    severity: Severity

    def __new__(cls, text: str, code: str, severity: Severity | None = None) -> Self:
        """The text as a sentence of this code; the severity is the code's own unless it is given."""
        sentence = super().__new__(cls, text)
        sentence.code = code
        sentence.severity = SEVERITIES[code] if severity is None else severity
        return sentence

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        return str.__str__(self)

    @property
    def docs(self) -> str:
        """The section that says what the sentence means, when it is shown and what to do."""
        return f"{_PAGE}#{self.code}"

    @property
    def is_headline(self) -> bool:
        """Whether it belongs to the headline, which stands larger where there is room for that."""
        return self.code in _HEADLINES

    @property
    def is_of_use(self) -> bool:
        """Whether it is one of the numbers by what they are for, which stand under a heading of their own."""
        return self.code.startswith("for-") or self.code == "without-number"

    def row(self) -> dict[str, str]:
        """The sentence as strict JSON values."""
        return {"code": self.code, "severity": self.severity, "text": self.text, "docs": self.docs}

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, str, Severity]]:
        return type(self), (self.text, self.code, self.severity)


def code_explanation(code: str) -> str:
    """What a code stands for, where its sentence is explained and how it is left out."""
    severity = SEVERITIES[code]
    return (
        f"{code} is the code of a sentence of the verdict, of severity {severity}: {_MEANINGS[severity]}. "
        f"{_PAGE}#{code} explains it; --mute {code} leaves it out."
    )


def muted_codes(mute: Iterable[str] | None) -> tuple[str, ...]:
    """The codes to leave out, checked: those given, or those of the environment variable where none are."""
    if mute is None:
        codes = [code for code in re.split(r"[\s,]+", os.environ.get(MUTE_VARIABLE, "")) if code]
        named = f"{MUTE_VARIABLE}: no"
    else:
        if isinstance(mute, str):
            raise InputTypeError(f"mute= takes a list of codes, such as [{mute!r}], not a text.")
        codes, named = list(mute), "No"
    for code in codes:
        if code not in SEVERITIES:
            near = did_you_mean(str(code), SEVERITIES) or f" There are {', '.join(SEVERITIES)}."
            raise UnknownNameError(f"{named} sentence of the verdict has the code {code!r}.{near}")
    return tuple(dict.fromkeys(codes))


def unmuted(
    first: Iterable[Sentence | None], others: Iterable[Sentence | None], muted: Container[str]
) -> list[Sentence]:
    """The first sentences and three of the others, of those that there are and that are not muted."""
    shown = [sentence for sentence in first if sentence is not None and sentence.code not in muted]
    beside = [sentence for sentence in others if sentence is not None and sentence.code not in muted]
    return [*shown, *beside[:_MOST_OTHERS]]


# ---------------------------------------------------------------- words
# How a sentence names a class, and so many rows.


_WIDEST = 24  # characters of a label in a sentence
_CONVENTIONS = ("yes", "true", "positive", "pos", "y", "t", "no", "false", "negative", "neg", "n", "f")


def quoted_label(label: Label) -> str:
    """A label inside a sentence: text in quotes, shortened where it would drown the sentence; a number as it is."""
    words = " ".join(str(label).split()) if isinstance(label, str) else str(label)
    shown = words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"
    return f'"{shown}"' if isinstance(label, str) else shown


def is_word(label: Label) -> bool:
    """Whether a label is a short word that a reader knows the class by: "fraud", not 1 or "yes"."""
    return (
        isinstance(label, str)
        and label.replace(" ", "").isalpha()
        and len(label) <= _WIDEST
        and label.lower() not in _CONVENTIONS
    )


def rows_text(rows: int) -> str:
    """So many rows in words: one row, 2 rows."""
    return "one row" if rows == 1 else f"{rows:,} rows"


def positive_word(label: Label) -> str:
    """What a row of the positive class is: positive, or its own name."""
    return quoted_label(label) if is_word(label) else "positive"


def constant_words(labels: Sequence[Label], positive: Label) -> tuple[str, str]:
    """What a classifier does that predicts one side alone: never the positive class, or always."""
    others = [label for label in labels if label != positive]
    always = f"always predicting {quoted_label(positive)}"
    if len(others) != 1:
        return f"never predicting {quoted_label(positive)}", always
    return f"always predicting {quoted_label(others[0])}", always


# ---------------------------------------------------------------- baseline sentences
# A classifier beside the one that always predicts the majority class, and beside a random one.


_FAR, _SURE = 0.2, 1e-4  # informedness and p from which a classifier is far better than a random predictor
ACCURACY = "By accuracy ({value}) it is {relation} {constant} ({share})"
FAIR = "The classes are of similar size{where}, so accuracy, {value}, is a fair summary"
RELATIONS = {
    "below": "worse than",
    "above": "better than",
    "at": "no better than",
    "open": "not shown to be better than",
}


def majority_sentence(evaluation: Evaluation, constant: str, share: float) -> Sentence | None:
    """By accuracy against always predicting the majority class, and by its test against a random predictor."""
    row = evaluation["accuracy"]
    if math.isnan(row.value):
        return None
    random, code = _against_random(evaluation)
    if code == "worse-than-random":
        return Sentence(f"It is {random}.", code)
    if row.high < share:
        relation, majority_code = RELATIONS["below"], "accuracy-below-majority"
    elif row.low > share:
        relation, majority_code = RELATIONS["above"], "accuracy-above-majority"
    else:
        relation, majority_code = RELATIONS["at" if row.value <= share else "open"], "accuracy-at-majority"
    sentence = ACCURACY.format(
        value=percent_text(row.value), relation=relation, constant=constant, share=percent_text(share)
    )
    if not random:
        return Sentence(f"{sentence}.", majority_code)
    is_above_majority, is_better_than_random = majority_code == "accuracy-above-majority", code is None
    joint = "and" if is_above_majority == is_better_than_random else "but"
    return Sentence(f"{sentence}, {joint} it is {random}.", code or majority_code)


def fair_sentence(evaluation: Evaluation) -> Sentence | None:
    """Classes of similar size: accuracy sums the table up."""
    row, (random, code) = evaluation["accuracy"], _against_random(evaluation)
    if code is not None:
        return Sentence(f"It is {random}.", code)
    shown = percent_interval(row.value, row.low, row.high)
    where = "" if evaluation.prevalence is None else " at this prevalence"
    sentence = FAIR.format(where=where, value=shown)
    return Sentence(f"{sentence}{f'; it is {random}' if random else ''}.", "accuracy-fair")


def random_sentence(evaluation: Evaluation) -> Sentence | None:
    """Where scores without a threshold do not order the rows better than a random order does."""
    random, code = _against_random(evaluation)
    return None if code is None else Sentence(f"The order is {random.replace('predictor', 'one')}.", code)


def _against_random(evaluation: Evaluation) -> tuple[str, str | None]:
    """How it compares with a random predictor, and the code where it is not better; nothing where that is not known."""
    test = evaluation.beats
    read = "roc_auc" if evaluation.confusion is None else "informedness"
    if test is None or math.isnan(test.p_value) or read not in evaluation:
        return "", None
    skill = evaluation[read]
    none = 0.0 if evaluation.confusion is not None else 0.5
    if skill.high < none:
        value = f"{skill.spec.metric.phrase} {three_digits(skill.value)}, {between(skill)}"
        check = "check which class is the positive one, or which way the scores point"
        return f"worse than a random predictor ({value}): {check}", "worse-than-random"
    p_value = test.p_value
    evidence = p_text(p_value)
    if p_value >= 1 - evaluation.level:
        better = f"not shown to be better than a random predictor ({evidence})"
        return f"{better}: {_remedy(evaluation)}", "not-better-than-random"
    far = "far " if skill.low > none + _FAR and p_value < _SURE else ""
    return f"{far}better than a random predictor ({evidence})", None


def _remedy(evaluation: Evaluation) -> str:
    """What to do about a classifier that is not shown to be better than a random predictor."""
    counts = evaluation.counts
    if counts is not None and not (counts.predicted_positives and counts.predicted_negatives):
        return f"choose a threshold at which it flags {'fewer' if counts.predicted_positives else 'some'} rows"
    return "do not use it until more rows show that it is"


def between(row: MetricRow) -> str:
    """The interval of a metric that is no share."""
    return f"{three_digits(row.low)} to {three_digits(row.high)}"


# ---------------------------------------------------------------- outcomes
# A two-class table in so many whole rows, the result's denominator, and the headline that states them.
#
# The page's script states them again when a slider moves, from the same phrases.


STARTS = {
    "these": "Of these {base} rows",
    "like": "Of {base} rows like these",
    "weighted": "Of {base} rows like these, by sample weight",
    "prevalence": "Of {base} rows at a prevalence of {share}",
    "shares": "Of {base} rows at the given class shares",
}
_PLANNED = "Of {base} rows like these, as the plan's labels show"


def starts(*, planned: bool) -> dict[str, str]:
    """How sentences about outcomes begin; where labels were chosen by a plan their weights are the plan's."""
    return STARTS | {"weighted": _PLANNED} if planned else STARTS


# What is said of no row, of one, of more, and of rows that are fewer than one of so many.
PARTS = {
    "positives": ("none is {name}", "1 is {name}", "{n} are {name}", "fewer than 1 is {name}"),
    "flagged": ("flags none", "flags 1", "flags {n}", "flags fewer than 1"),
    "found": ("finds none", "finds 1", "finds {n}", "finds fewer than 1"),
    "missed": ("misses none", "misses 1", "misses {n}", "misses fewer than 1"),
    "false_alarms": (
        "none is a false alarm",
        "1 is a false alarm",
        "{n} are false alarms",
        "fewer than 1 is a false alarm",
    ),
}
SOME_FLAGGED = "{start}, {positives}. The classifier {flagged}, {found} and {missed}; {false_alarms}."
NONE_FLAGGED = "{start}, {positives}. The classifier {flagged} and {missed}."


@dataclass(frozen=True)
class Outcomes:
    """What happens to so many rows: flagged are those found and the false alarms, positive those found and missed.

    `scant` names what has rows, though fewer than one of so many.
    """

    base: int
    found: int
    missed: int
    false_alarms: int
    scant: frozenset[str] = frozenset()

    @property
    def positives(self) -> int:
        """The rows that are positive."""
        return self.found + self.missed

    @property
    def flagged(self) -> int:
        """The rows that are predicted positive."""
        return self.found + self.false_alarms

    def phrase(self, key: str, forms: Sequence[str]) -> str:
        """The form for a number: for none, for one, for more, or for fewer than one."""
        return forms[3 if key in self.scant else min(getattr(self, key), 2)]


def whole_outcomes(counts: Counts, base: int) -> Outcomes:
    """The table in that many whole rows.

    >>> from steelyard import Counts
    >>> whole_outcomes(Counts(tp=28, fn=23, fp=72, tn=2680), 1_000)
    Outcomes(base=1000, found=10, missed=8, false_alarms=26, scant=frozenset())
    >>> sorted(whole_outcomes(Counts(tp=1, fn=900, fp=0, tn=9_099), 1_000).scant)
    ['flagged', 'found']
    """
    tp, fn, fp, tn = (float(cell) for cell in counts)
    total = tp + fn + fp + tn
    positives = _within((tp + fn) / total * base, 0, base)
    found = _within(tp / total * base, 0, positives)
    found = positives if fn == 0 else found
    false_alarms = _within(fp / total * base, 0, base - positives)
    outcomes = Outcomes(base, found, positives - found, false_alarms)
    cells = {"positives": tp + fn, "flagged": tp + fp, "found": tp, "missed": fn, "false_alarms": fp}
    scant = frozenset(key for key, cell in cells.items() if cell > 0 and not getattr(outcomes, key))
    return replace(outcomes, scant=scant)


def dot_outcomes(counts: Counts, dots: int) -> Outcomes:
    """The table in that many dots, of which what has rows keeps one where there is room for it."""
    tp, fn, fp, tn = (float(cell) for cell in counts)
    total = tp + fn + fp + tn
    positives = _within((tp + fn) / total * dots, int(tp + fn > 0), dots - int(fp + tn > 0))
    found = _within(tp / total * dots, int(tp > 0), positives - int(fn > 0))
    false_alarms = _within(fp / total * dots, int(fp > 0), dots - positives - int(tn > 0))
    return Outcomes(dots, found, positives - found, false_alarms)


def whole_share(share: float, base: int) -> int:
    """A share of so many rows in whole rows: none of them, or all, only where the share is 0 or 1."""
    return max(int(share > 0), min(round(share * base), base - int(share < 1)))


def _within(value: float, low: int, high: int) -> int:
    """The nearest whole number of rows within these bounds: what has rows keeps one."""
    return max(low, min(whole_rows(value), high))


def outcomes_text(outcomes: Outcomes, start: str, name: str) -> str:
    """The headline, of the start of the sentence and the name of the positive class."""
    parts = {}
    for key, forms in PARTS.items():
        parts[key] = outcomes.phrase(key, forms).format(n=f"{getattr(outcomes, key):,}", name=name)
    frame = SOME_FLAGGED if outcomes.flagged or "flagged" in outcomes.scant else NONE_FLAGGED
    return frame.format(start=start.replace("{base}", f"{outcomes.base:,}"), **parts)
