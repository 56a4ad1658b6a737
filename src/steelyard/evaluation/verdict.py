"""The verdict: what a table says, in a few plain sentences, each made from its numbers. No grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.formatting import interval_text, percent_text, three_digits
from steelyard.evaluation.groups import weakest_group
from steelyard.evaluation.many_class_verdict import many_classes
from steelyard.evaluation.sentences import sure
from steelyard.evaluation.two_class_verdict import two_classes

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


def verdict(evaluation: Evaluation) -> list[str]:
    """Three to six sentences: how unequal the classes are, what accuracy hides, what is found, how sure that is."""
    if evaluation.counts is not None:
        parts = two_classes(evaluation, evaluation.counts)
    elif evaluation.confusion is not None:
        parts = many_classes(evaluation, evaluation.confusion)
    else:
        parts = []
    sentences = [_elsewhere(evaluation), *parts, *_ranking(evaluation), _weakest_group(evaluation)]
    return [sentence for sentence in sentences if sentence]


def _ranking(evaluation: Evaluation) -> list[str]:
    if "roc_auc" not in evaluation:
        return []
    auc = evaluation["roc_auc"]
    sentence = f"By its scores a positive outranks a negative {sure(auc)} of the time, guessing {percent_text(0.5)}"
    if "average_precision" not in evaluation:
        return [f"{sentence}."]
    ap = evaluation["average_precision"]
    return [
        f"{sentence}; average precision {interval_text(ap.value, ap.low, ap.high)}, guessing {three_digits(ap.chance)}."
    ]


def _weakest_group(evaluation: Evaluation) -> str:
    weakest = weakest_group(evaluation.groups)
    if weakest is None:
        return ""
    group, row = weakest
    sentence = f"The weakest of {len(evaluation.groups)} groups is {_short(group.label)} ({group.rows:,} rows)"
    return f"{sentence}: {row.spec.metric.phrase} {interval_text(row.value, row.low, row.high)}."


def _short(name: str) -> str:
    """A name from the data, cut where it would drown the sentence."""
    return name if len(name) <= 60 else f"{name[:57]}..."


def _elsewhere(evaluation: Evaluation) -> str:
    if evaluation.prevalence is None:
        return ""
    if not isinstance(evaluation.prevalence, (int, float)):
        return "All values are read at the class shares that were given, not the sample's."
    return f"All values are read at a prevalence of {percent_text(evaluation.prevalence)}, not the sample's."
