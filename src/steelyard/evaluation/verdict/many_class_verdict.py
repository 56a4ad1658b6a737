"""Many classes: the sentences on a table of several classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.evaluation.outcomes import STARTS, round_base
from steelyard.evaluation.verdict.baseline_sentences import majority_sentence
from steelyard.evaluation.verdict.label_words import quoted_label
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.metrics.registry import default_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.statistics.confusion import Confusion


def classes_sentence(evaluation: Evaluation, table: Confusion) -> Sentence:
    """The headline: how many of so many rows are classified correctly."""
    at = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
    right, total = float(at.matrix.trace()), float(at.matrix.sum())
    base = round_base([right, total - right], [], total)
    own = evaluation.prevalence is None and not table.weighted and evaluation.rows <= base
    base = evaluation.rows if own else base
    start = STARTS[_start(evaluation, table, own)].replace("{base}", f"{base:,}")
    correct = max(int(right > 0), min(round(right / total * base), base - int(right < total)))
    parts = (
        f"{correct:,} right and {base - correct:,} wrong"
        if 0 < correct < base
        else "all right"
        if correct
        else "all wrong"
    )
    return Sentence(f"{start}, in {len(table.labels):,} classes, the classifier gets {parts}.", "classes")


def _start(evaluation: Evaluation, table: Confusion, own: bool) -> str:
    if evaluation.prevalence is not None:
        return "shares"
    return "these" if own else "weighted" if table.weighted else "like"


def majority_class_sentence(evaluation: Evaluation, table: Confusion) -> Sentence | None:
    """Accuracy beside always predicting the commonest class where the evaluation is read."""
    at = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
    sizes = dict(zip(table.labels, at.matrix.sum(1).tolist(), strict=True))
    majority = max(sizes, key=sizes.__getitem__)
    return majority_sentence(
        evaluation, f"always predicting {quoted_label(majority)}", sizes[majority] / sum(sizes.values())
    )


def undefined_sentence(evaluation: Evaluation) -> Sentence | None:
    """Why the metrics over all classes have no value, where they have none."""
    row = evaluation[default_metric().name]
    if not math.isnan(row.value):
        return None
    return Sentence(f"Metrics over all classes are undefined: {row.undefined}.", "classes-undefined")
