"""The limiting rate: which of recall and specificity limits a classifier, and whether its threshold does so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.evaluation.verdict.verdict import FAR, TwoClasses

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

_UNUSED = 0.1  # by which the ROC AUC is above balanced accuracy where another threshold would use more of the scores


def limiting_rate(evaluation: Evaluation) -> str:
    """What limits the classifier, and what could be done about it; nothing where both rates are alike.

    >>> from steelyard import Counts, evaluate
    >>> limiting_rate(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)))
    'Recall (54.9 %) limits it, far below specificity (97.4 %). There are no scores to set another threshold by.'
    """
    if evaluation.counts is None or not min(evaluation.counts.positives, evaluation.counts.negatives):
        return ""
    if not TwoClasses(evaluation).is_lopsided:
        return ""
    low, high = sorted((evaluation["recall"], evaluation["specificity"]), key=lambda row: row.value)
    far = "far below" if high.value - low.value > FAR else "below"
    first = f"{low.spec.title} ({percent_text(low.value)}) limits it, {far} {high.name} ({percent_text(high.value)})."
    return f"{first} {_remedy(evaluation, low.name)}".strip()


def _remedy(evaluation: Evaluation, low: str) -> str:
    if evaluation.scores is None:
        return "There are no scores to set another threshold by."
    if "roc_auc" not in evaluation or "balanced_accuracy" not in evaluation:
        return ""
    auc, balanced = evaluation["roc_auc"].value, evaluation["balanced_accuracy"].value
    if math.isnan(auc) or auc - balanced < _UNUSED:
        return ""
    other = "lower one finds more positives" if low == "recall" else "higher one raises fewer false alarms"
    return f"The scores rank the rows better (ROC AUC {three_digits(auc)}) than this threshold uses: a {other}."
