"""Moved sentences: the templates of what a page states again when a slider moves, in the words of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.auditing.use_numbers import SIMILAR_SHARE
from steelyard.evaluation.verdict import sentences
from steelyard.evaluation.verdict.sentences import constant_words, positive_word
from steelyard.evaluation.verdict.use_sentences import moved_numbers
from steelyard.evaluation.verdict.verdict import FAR, FAR_WORDS, LIMITING, UNUSED

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

_NOW = {
    "class": "for {label}",
    "predicted": "with the labels as predicted",
    "threshold": "at threshold {threshold}",
    "nobody": "at a threshold above every score, nobody flagged",
    "share": "where {share} of the rows are positive",
    "rate": "{name} {value}",
    "interval": " ({low} to {high})",
    "undefined": "{name} is undefined ({why})",
    "whole": "Now {where}: {rates}.",
}
# What a setting does, and how much more or less that is than as evaluated.
_HERE = {
    "as evaluated": "As evaluated",
    "predicted": "With the labels as predicted",
    "threshold": "At threshold {threshold}",
    "nobody": "With nobody flagged",
    "share": " and {share} positive",
    "found": ("you find none of {positives}", "you find 1 of {positives}", "you find {n} of {positives}"),
    "false_alarms": ("without a false alarm", "for 1 false alarm", "for {n} false alarms"),
    "whole": "{where}, {found} {false_alarms}{than}.",
    "than": ": {parts} than as evaluated",
    "more": ("{n} more {what}", "{n} fewer {what}"),
    "what": {"found": ("found", "found"), "false_alarms": ("false alarm", "false alarms")},
    "same": ": as many as evaluated",
}


def moved_sentences(evaluation: Evaluation) -> dict[str, Any]:
    """The phrases of the headline, of the rates at a moved setting and of accuracy beside the majority class."""
    return {
        "name": positive_word(evaluation.positive),
        "starts": sentences.starts(planned=evaluation.is_planned),
        "parts": sentences.PARTS,
        "some": sentences.SOME_FLAGGED,
        "none": sentences.NONE_FLAGGED,
        "base": evaluation.denominator,
        "now": _NOW,
        "here": _HERE,
        "limiting": {**LIMITING, "words": FAR_WORDS, "far": FAR, "unused_at": UNUSED},
        "uses": moved_numbers(evaluation),
        "accuracy": sentences.ACCURACY,
        "relations": sentences.RELATIONS,
        "fair": sentences.FAIR,
        "similar": SIMILAR_SHARE,
        "constants": constant_words(evaluation.labels, evaluation.positive),
    }
