"""Sentences of the verdict: text with a stable code, a severity and a section of the documentation; codes are muted."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from steelyard.exceptions import InputTypeError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "average-precision": "info",
    "classes": "info",
    "weakest-class": "note",
    "classes-not-distinguishable": "info",
    "classes-undefined": "warning",
    "classes-below-median": "note",
    "classes-at-median": "info",
    "accuracy-fair": "info",
    "accuracy-above-majority": "info",
    "accuracy-at-majority": "note",
    "accuracy-below-majority": "note",
    "not-better-than-random": "warning",
    "worse-than-random": "warning",
    "weakest-group": "note",
    "groups-not-distinguishable": "info",
    "label-sets": "info",
    "weakest-label": "note",
    "labels-not-distinguishable": "info",
    "label-imbalance": "info",
    "label-pair": "info",
    "read-first": "info",
    "sample-size": "info",
}
_HEADLINES = ("few-positives", "few-negatives", "one-class", "outcomes", "ranking", "classes", "label-sets")
_PAGE = "docs/verdict.md"
MUTE_VARIABLE = "STEELYARD_MUTE"


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
