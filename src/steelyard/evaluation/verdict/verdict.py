"""The verdict: a headline about the classifier, then at most three sentences, each made from numbers. No grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import interval_text, listed, percent_text, three_digits
from steelyard.auditing.recommend import changing_with_prevalence
from steelyard.evaluation.verdict import many_class_verdict as many
from steelyard.evaluation.verdict import two_class_verdict as two
from steelyard.evaluation.verdict.baseline_sentences import between, random_sentence
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.evaluation.verdict.standing_sentences import standing_sentence
from steelyard.evaluation.verdict.weakest_parts import class_sentence, group_sentence
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.statistics.confusion import Confusion

_MOST = 3  # sentences after the headline


def verdict(evaluation: Evaluation) -> list[Sentence]:
    """The headline, and the first three of what else there is to say, without what is muted."""
    if not evaluation.rows:
        return []
    if evaluation.counts is not None:
        headline, others = _two_classes(evaluation)
    elif evaluation.confusion is not None:
        headline, others = _many_classes(evaluation, evaluation.confusion)
    else:
        headline, others = _ranking(evaluation)
    return [*_heard(evaluation, headline), *_heard(evaluation, others)[:_MOST]]


def _heard(evaluation: Evaluation, sentences: Iterable[Sentence | None]) -> list[Sentence]:
    return [sentence for sentence in sentences if sentence is not None and sentence.code not in evaluation.muted]


_Parts = tuple[list[Sentence | None], list[Sentence | None]]


def _two_classes(evaluation: Evaluation) -> _Parts:
    table = two.TwoClasses(evaluation)
    rates = two.rates_sentence(table)
    if not table.rarer[1]:
        return [two.few_sentence(table)], [rates, group_sentence(evaluation)]
    outcomes = two.outcomes_sentence(table)
    others = [
        group_sentence(evaluation),
        None if table.are_similar and not table.is_lopsided else _read_first_sentence(evaluation),
        two.sample_size_sentence(table),
    ]
    accuracy = two.accuracy_sentence(table)
    if table.is_few:
        return [two.few_sentence(table), outcomes], [accuracy, rates, *others]
    return [outcomes, rates], [accuracy, *others]


def _many_classes(evaluation: Evaluation, table: Confusion) -> _Parts:
    undefined = many.undefined_sentence(evaluation)
    advice = undefined or _read_first_sentence(evaluation)
    standing = standing_sentence(evaluation)
    return (
        [many.classes_sentence(evaluation, table), class_sentence(evaluation)],
        [many.majority_class_sentence(evaluation, table), group_sentence(evaluation), standing, advice],
    )


def _ranking(evaluation: Evaluation) -> _Parts:
    """Scores without a threshold: how well they order the rows."""
    others = [random_sentence(evaluation), _precision_sentence(evaluation)]
    others += [group_sentence(evaluation), _read_first_sentence(evaluation)]
    return [_ranking_sentence(evaluation)], others


def _ranking_sentence(evaluation: Evaluation) -> Sentence | None:
    if "roc_auc" not in evaluation or evaluation.scores is None:
        return None
    auc, scores = evaluation["roc_auc"], evaluation.scores
    sides = {"positives": scores.positive.n, "negatives": scores.negative.n}
    name = min(sides, key=sides.__getitem__)
    if sides[name] < two.FEW:
        few = f"with {two.rows_of_class(sides[name], name)} anything from {between(auc)}"
        return Sentence(f"ROC AUC is {three_digits(auc.value)}, but {few} fits.", f"few-{name}")
    outranks = f"a random positive outranks a random negative {percent_text(auc.value)} of the time"
    return Sentence(f"ROC AUC is {interval_text(auc.value, auc.low, auc.high)}: {outranks}.", "ranking")


def _precision_sentence(evaluation: Evaluation) -> Sentence | None:
    if "average_precision" not in evaluation:
        return None
    row = evaluation["average_precision"]
    value, none = interval_text(row.value, row.low, row.high), three_digits(row.chance)
    return Sentence(f"Average precision is {value}; a random order has {none}.", "average-precision")


def _read_first_sentence(evaluation: Evaluation) -> Sentence | None:
    """What to compare models by, and which of the usual metrics change with prevalence."""
    names = [get_metric(name).phrase for name in evaluation.read_first]
    if not names:
        return None
    advice = f"To compare models read {listed(names, 'or')}"
    if evaluation.counts is None and evaluation.confusion is not None:
        which = "which give" if len(names) > 1 else "which gives"
        return Sentence(f"{advice}, {which} every class equal weight.", "read-first")
    changing = [m.phrase for m in changing_with_prevalence(evaluation)]
    verb = "change" if len(changing) > 1 else "changes"
    beside = f"; {listed(changing)} {verb} with prevalence" if changing else ""
    return Sentence(f"{advice}{beside}.", "read-first")
