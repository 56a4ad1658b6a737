"""Moved sentences: the templates of what a page states again when a slider moves, in the words of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.auditing.use_numbers import SIMILAR_SHARE
from steelyard.evaluation.verdict import sentences
from steelyard.evaluation.verdict.sentences import constant_words, positive_word

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
        "accuracy": sentences.ACCURACY,
        "relations": sentences.RELATIONS,
        "fair": sentences.FAIR,
        "similar": SIMILAR_SHARE,
        "constants": constant_words(evaluation.labels, evaluation.positive),
    }
