"""Baseline sentences: a classifier beside the one that always predicts the majority class, and beside a random one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import SMALLEST_P, p_text, percent_interval, percent_text, three_digits
from steelyard.evaluation.verdict.sentences import Sentence

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow

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
    relation, own = _against_majority(row, share)
    sentence = ACCURACY.format(
        value=percent_text(row.value), relation=relation, constant=constant, share=percent_text(share)
    )
    if not random:
        return Sentence(f"{sentence}.", own)
    joint = "and" if (own == "accuracy-above-majority") == (code is None) else "but"
    return Sentence(f"{sentence}, {joint} it is {random}.", code or own)


def _against_majority(row: MetricRow, share: float) -> tuple[str, str]:
    if row.high < share:
        return RELATIONS["below"], "accuracy-below-majority"
    if row.low > share:
        return RELATIONS["above"], "accuracy-above-majority"
    return RELATIONS["at" if row.value <= share else "open"], "accuracy-at-majority"


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
    auc = f"; ROC AUC {three_digits(evaluation['roc_auc'].value)}" if _has_auc(evaluation) else ""
    p = f"({_p(test.p_value)}{auc})"
    if test.p_value >= 1 - evaluation.level:
        return f"not shown to be better than a random predictor {p}", "not-better-than-random"
    far = "far " if skill.low > none + _FAR and test.p_value < _SURE else ""
    return f"{far}better than a random predictor {p}", None


def between(row: MetricRow) -> str:
    """The interval of a metric that is no share."""
    return f"{three_digits(row.low)} to {three_digits(row.high)}"


def _has_auc(evaluation: Evaluation) -> bool:
    return evaluation.confusion is not None and "roc_auc" in evaluation


def _p(p: float) -> str:
    if p < SMALLEST_P:
        return p_text(p)
    return f"p = {p:.1e}" if p < 1e-3 else f"p = {p:.2g}"
