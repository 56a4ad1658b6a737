"""The verdict: a headline about the classifier, then at most three sentences, each made from numbers. No grades."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.comparison.groups import (
    can_permute,
    class_value,
    exact_p_values,
    groups_to_test,
    interval_p_values,
    moves_with_shares,
    recall_value,
    two_class_value,
)
from steelyard.analysis.planning.sample_size import sample_size
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.results.formatting import (
    bounds_text,
    interval_text,
    listed,
    percent_interval,
    percent_text,
    three_digits,
)
from steelyard.auditing.use_numbers import SIMILAR_SHARE
from steelyard.evaluation.verdict.sentences import (
    STARTS,
    Sentence,
    between,
    constant_words,
    fair_sentence,
    majority_sentence,
    outcomes_text,
    positive_word,
    quoted_label,
    random_sentence,
    rows_text,
    starts,
    unmuted,
    whole_outcomes,
    whole_share,
)
from steelyard.evaluation.verdict.use_sentences import (
    beside_sentences,
    capacity_sentences,
    leading_sentence,
    number_sentences,
)
from steelyard.exceptions import SteelyardError
from steelyard.metrics.registry import get_metrics
from steelyard.metrics.usual import DEFAULT, HEADLINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label
    from steelyard.analysis.comparison.groups import RightRowsValue
    from steelyard.analysis.confusions.confused_pairs import PooledClasses
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, Group, MetricRow
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.counts import Counts


# ---------------------------------------------------------------- two classes
# The sentences on a table of positives and negatives.


FEW = 30  # rows of a class below which its recall is hardly known
FAR = 0.2  # between recall and specificity
_KNOWN_TO = 0.05  # the half-width, as a share, that a plan aims at


@dataclass(frozen=True)
class TwoClasses:
    """A two-class table as its sentences read it: in rows, and at the deployment prevalence."""

    evaluation: Evaluation

    @cached_property
    def rows(self) -> Counts:
        """The table in rows, whatever their weights."""
        rows = self.evaluation.row_counts
        assert rows is not None  # noqa: S101 - asked of an evaluation of two classes
        return rows

    @cached_property
    def counts(self) -> Counts:
        """The table by weight, at the deployment prevalence."""
        table, prevalence = self.evaluation.confusion, self.evaluation.prevalence
        assert table is not None  # noqa: S101 - asked of an evaluation of two classes
        at = table if prevalence is None else at_prevalence(table, prevalence)
        return at.counts(self.evaluation.positive)

    @property
    def weighted(self) -> bool:
        """Whether rows have different weights."""
        return self.evaluation.confusion is not None and self.evaluation.confusion.weighted

    @property
    def rarer(self) -> tuple[str, int]:
        """The class with fewer rows in words, and how many."""
        p, n = int(self.rows.positives), int(self.rows.negatives)
        return ("positives", p) if p <= n else ("negatives", n)

    @property
    def is_few(self) -> bool:
        """Whether a class has so few rows that this comes first."""
        return self.rarer[1] < FEW

    @property
    def are_similar(self) -> bool:
        """Whether the classes are of similar size where they are read."""
        return SIMILAR_SHARE < float(self.counts.positives / self.counts.total) < 1 - SIMILAR_SHARE

    @property
    def rate(self) -> MetricRow:
        """The recall of the rarer class."""
        return self.evaluation["recall" if self.rarer[0] == "positives" else "specificity"]

    @property
    def is_lopsided(self) -> bool:
        """Whether recall and specificity differ beyond their intervals."""
        recall, specificity = self.evaluation["recall"], self.evaluation["specificity"]
        return recall.high < specificity.low or specificity.high < recall.low


def outcomes_sentence(table: TwoClasses) -> Sentence:
    """The headline: the table in whole rows."""
    evaluation = table.evaluation
    outcomes = whole_outcomes(table.counts, evaluation.denominator)
    start = _start(table, are_these=evaluation.speaks_of_rows)
    return Sentence(outcomes_text(outcomes, start, positive_word(evaluation.positive)), "outcomes")


def _start(table: TwoClasses, *, are_these: bool) -> str:
    prevalence = table.evaluation.prevalence
    if prevalence is None:
        ways = starts(planned=table.evaluation.is_planned)
        return ways["these" if are_these else "weighted" if table.weighted else "like"]
    if isinstance(prevalence, Prevalence) and prevalence.counts is None:
        return STARTS["prevalence"].replace("{share}", prevalence.text(table.evaluation.level))
    if isinstance(prevalence, (int, float)):
        return STARTS["prevalence"].replace("{share}", percent_text(prevalence))
    return STARTS["shares"]


def few_sentence(table: TwoClasses) -> Sentence:
    """What so few rows of a class cannot show."""
    (name, n), row = table.rarer, table.rate
    if n == 0:
        text = f"There are no {name}, so nothing shows how they would be classified; {row.name} is undefined."
        return Sentence(text, "one-class")
    fits = f"anything from {percent_text(row.low)} to {percent_text(row.high)} fits"
    fits = fits if row.low <= row.high else "of one cluster nothing shows how far it may be off"
    text = f"{row.spec.title} is {percent_text(row.value)}, but with {rows_of_class(n, name)} {fits}."
    return Sentence(text, f"few-{name}")


def rates_sentence(table: TwoClasses) -> Sentence | None:
    """Recall, specificity and precision; what was stated of a class of few rows is not repeated."""
    evaluation = table.evaluation
    recall, precision = evaluation["recall"], evaluation["precision"]
    head, code = _recall_words(table)
    if math.isnan(precision.value):
        words = f"precision is undefined: {precision.undefined}"
        code = "precision-undefined"
    else:
        words = f"precision is {_share(precision)}"
    text = "; ".join(part for part in (head, words) if part)
    random = [row for row in (recall, precision) if not math.isnan(row.chance) and not math.isnan(row.value)]
    if len(random) == 2 and not table.are_similar:
        values = " and ".join(f"{percent_text(row.chance)} {row.name}" for row in random)
        text = f"{text}. A random predictor that flags as many rows has {values}"
    return Sentence(f"{text[:1].upper()}{text[1:]}.", code) if text else None


def _recall_words(table: TwoClasses) -> tuple[str, str]:
    """Recall and specificity, and what of them limits the classifier."""
    recall, specificity = table.evaluation["recall"], table.evaluation["specificity"]
    if math.isnan(recall.value) or math.isnan(specificity.value):
        return ", ".join(f"{row.name} is {_share(row)}" for row in (recall, specificity) if row.value >= 0), "rates"
    if table.is_few:  # the rate of the rarer class has its sentence
        other = specificity if table.rate.name == recall.name else recall
        return f"{other.name} is {_share(other)}", "rates"
    if not table.is_lopsided:
        return f"{recall.name} is {_share(recall)}, {specificity.name} {_share(specificity)}", "rates"
    low, high = (recall, specificity) if recall.value < specificity.value else (specificity, recall)
    far = "far below" if high.value - low.value > FAR else "below"
    return f"{low.name} is {_share(low)}, {far} {high.name} ({_of(high)})", f"{low.name}-below-{high.name}"


def _share(row: MetricRow) -> str:
    return percent_interval(row.value, row.low, row.high)


def _of(row: MetricRow) -> str:
    return percent_text(row.value)


def errors_sentence(table: TwoClasses) -> Sentence | None:
    """That there is no error, which is rarely what it seems."""
    if table.rows.fn or table.rows.fp or table.is_few:
        return None
    rows = rows_text(int(table.rows.total))
    text = f"It is rare to see no error in {rows}: check that no feature gives the answer away."
    return Sentence(text, "no-errors")


def accuracy_sentence(table: TwoClasses) -> Sentence | None:
    """Accuracy beside the majority-class baseline; a fair summary where the classes are of similar size.

    Where a use is in force that accuracy says little of, only that no skill is shown.
    """
    use = table.evaluation.use
    if use is not None and use.name == "ranking":  # which labels say nothing of
        return None
    sentence = _accuracy_sentence(table)
    if sentence is None or use is None or use.name == "balance" or sentence.code.endswith("random"):
        return sentence
    return None


def _accuracy_sentence(table: TwoClasses) -> Sentence | None:
    if table.are_similar:
        return fair_sentence(table.evaluation)
    share = float(table.counts.positives / table.counts.total)
    rarely, always = constant_words(table.evaluation.labels, table.evaluation.positive)
    constant = always if share > 0.5 else rarely
    return majority_sentence(table.evaluation, constant, max(share, 1 - share))


def sample_size_sentence(table: TwoClasses) -> Sentence | None:
    """How well the recall of the rarer class is known, and how many of its rows would do; a plan needs rows alike."""
    (name, n), row, use = table.rarer, table.rate, table.evaluation.use
    half = (row.high - row.low) / 2
    if use is not None and use.name in ("ranking", "probabilities"):  # which labels say nothing of
        return None
    if n == 0 or not half > _KNOWN_TO or table.weighted or row.method == "cluster":
        return None
    needed = _planned(table)
    if needed is None:
        return None
    text = f"Collect {needed:,} {name} to know {row.name} to ±{100 * _KNOWN_TO:g} points."
    if not table.is_few:
        known = f"{row.spec.title} is known to ±{three_digits(100 * half)} points by {rows_of_class(n, name)}"
        text = f"{known}; {needed:,} would give ±{100 * _KNOWN_TO:g}."
    return Sentence(text, "sample-size")


def _planned(table: TwoClasses) -> int | None:
    """The rows of the rarer class that a plan asks for; None where it cannot say."""
    evaluation, rows = table.evaluation, table.rows
    rows_at = (evaluation["recall"], evaluation["specificity"])
    recall, specificity = (min(max(row.value, 0.01), 0.99) for row in rows_at)
    share, width = float(rows.positives / rows.total), 2 * _KNOWN_TO
    try:
        plan = sample_size(
            table.rate.name,
            at=(recall, specificity),
            prevalence=share,
            width=width,
            level=evaluation.level,
            assurance=None,  # what is known of such a test set on average
        )
    except SteelyardError:
        return None
    return round(plan.positives if table.rarer[0] == "positives" else plan.negatives, -1)


def rows_of_class(n: int, name: str) -> str:
    """So many positives or negatives, in words."""
    return f"{n:,} {name if n != 1 else name.removesuffix('s')}"


# ---------------------------------------------------------------- many classes
# The sentences on a table of several classes.


def classes_sentence(evaluation: Evaluation, table: Confusion) -> Sentence:
    """The headline: how many of so many rows are classified correctly."""
    at = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
    right, total = float(at.matrix.trace()), float(at.matrix.sum())
    base, are_these = evaluation.denominator, evaluation.speaks_of_rows
    if evaluation.prevalence is not None:
        start = STARTS["shares"]
    else:
        start = STARTS["these" if are_these else "weighted" if table.weighted else "like"]
    correct = whole_share(right / total, base)
    if 0 < correct < base:
        parts = f"{correct:,} right and {base - correct:,} wrong"
    else:
        parts = "all right" if correct else "all wrong"
    start = start.replace("{base}", f"{base:,}")
    return Sentence(f"{start}, in {len(table.labels):,} classes, the classifier gets {parts}.", "classes")


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
    rows = [row for row in evaluation.shown() if row.name in _OVER_CLASSES and math.isnan(row.value)]
    if not rows or rows[0].name in evaluation.leading[:1]:  # which says so itself
        return None
    names = listed([row.spec.metric.phrase for row in rows])
    text = f"{names[:1].upper()}{names[1:]} {'is' if len(rows) == 1 else 'are'} undefined: {rows[0].undefined}"
    table = evaluation.confusion
    empty = table is not None and not table.rows.sum(1).all()
    todo = "; evaluate rows that have it, or leave it out of the classes" if empty else ""
    return Sentence(f"{text}{todo}.", "classes-undefined")


_OVER_CLASSES = ("balanced_accuracy", "ac_score", "g_mean", "tpnr")  # which need the recall of every class
_PRODUCTS = ("tpnr", "g_mean", "ac_score")  # of the recalls of all classes, which one of them makes 0


def zero_sentence(evaluation: Evaluation) -> Sentence | None:
    """Which class made a metric 0 that multiplies the recalls, where such a metric is shown."""
    zero = [row for row in evaluation.shown() if row.name in _PRODUCTS and row.value == 0]
    missed = [quoted_label(row.label) for row in evaluation.per_class if row.recall.value == 0]
    if not zero or not missed:
        return None
    named = missed if len(missed) <= _NAMED else [*missed[:_NAMED], f"{len(missed) - _NAMED:,} more"]
    which = f"class {named[0]}" if len(missed) == 1 else f"classes {listed(named)}"
    verb = "is" if len(zero) == 1 else "are"
    return Sentence(
        f"{listed([row.spec.metric.phrase for row in zero])} {verb} 0: no row of {which} is found.", "class-at-zero"
    )


# ---------------------------------------------------------------- sentences on the standing of classes
# Which are below the median class, and the rare ones as one.


_END = 22  # characters of a long label's end
_NAMED = 5  # classes that a sentence names


def standing_sentence(evaluation: Evaluation) -> Sentence | None:
    """Which classes are found less often than the median class, and that the others are not distinguishable from it."""
    standing = evaluation.standing
    if standing is None:
        return None
    below, above = standing.below, standing.above
    median = f"the median class ({percent_text(standing.median)})"
    if not below:
        better = f"; {len(above):,} are above it" if above else ""
        text = f"No class of {standing.classes:,} is shown to have a lower recall than {median}{better}."
        return Sentence(text, "classes-at-median")
    lowest = sorted(below, key=lambda i: (evaluation.per_class[i].recall.value, i))
    names = apart_names([evaluation.labels[i] for i in lowest[:_NAMED]])
    more = [f"{len(below) - _NAMED:,} more"] if len(below) > _NAMED else []
    start = f"Recall is below {median} in {len(below):,} of {standing.classes:,} classes: {listed([*names, *more])}"
    higher = f"{len(above):,} are above it, and " if above else ""
    left = standing.classes - len(below) - len(above)
    return Sentence(f"{start}; {higher}the other {left:,} are not distinguishable from it.", "classes-below-median")


def apart_names(labels: Sequence[Label]) -> list[str]:
    """The names of classes; long ones that differ only later, as paths do, by their ends."""
    names = [quoted_label(label) for label in labels]
    if len({*names}) == len(names):
        return names
    return [name if "…" not in name else f'"…{str(label)[-_END:]}"' for name, label in zip(names, labels, strict=True)]


def rare_text(pooled: PooledClasses) -> str:
    """The rare classes as one line."""
    hits, weight = (
        f"{part:,.0f}" if float(part).is_integer() else f"{part:,.4g}" for part in (pooled.hits, pooled.weight)
    )
    share = f"{percent_text(pooled.recall)} ({bounds_text(pooled.low, pooled.high, share=True).removesuffix(' %')})"
    return f"{len(pooled.labels):,} classes with fewer than {pooled.fewest} rows: recall {hits} of {weight}, {share}."


# ---------------------------------------------------------------- the weakest part
# The group or the class in which a metric is lowest, named only where a test shows a difference.


_WIDEST = 60  # characters of a group's name in a sentence


class RightRows(NamedTuple):
    """The rows of each part that are right, and all of them, by true class; and the metric of those."""

    hits: Array
    sizes: Array
    value: RightRowsValue


def group_sentence(evaluation: Evaluation) -> Sentence | None:
    """The group in which the leading metric is lowest, or that the groups are not distinguishable by it."""
    for metric in get_metrics(dict.fromkeys([DEFAULT, *HEADLINE])):
        groups = [g for g in evaluation.groups if metric.name in g and math.isfinite(g[metric.name].value)]
        if len(groups) < 2:
            continue
        rows = [group[metric.name] for group in groups]
        right = _right_rows(groups, rows, evaluation)
        tested, weakest = _weakest(rows, [group.rows for group in groups], right, evaluation)
        shares = right is not None and moves_with_shares(right.value, right.hits.sum(0), right.sizes.sum(0))
        named = f"{len(groups):,}" if tested == len(groups) else f"the {tested:,} largest of {len(groups):,}"
        if weakest is not None:
            group, row = groups[weakest], rows[weakest]
            name = group.label if len(group.label) <= _WIDEST else f"{group.label[: _WIDEST - 1]}…"
            name = f"{name} ({rows_text(group.rows)})"
            where = f"is lowest in {name}"
            if row.value > min(other.value for other in rows):
                where = f"is lower in {name} than {'its class shares explain' if shares else 'in the others together'}"
            value = interval_text(row.value, row.low, row.high, share=row.spec.is_share)
            text = f"{metric.phrase[:1].upper()}{metric.phrase[1:]} {where}, of {named} groups: {value}"
            return Sentence(f"{text}{_none_found(group, evaluation.positive)}.", "weakest-group")
        smallest = rows_text(min(group.rows for group in groups))
        text = f"{named[0].upper()}{named[1:]} groups are not distinguishable by {metric.phrase}"
        text += " beyond what their class shares explain" if shares else ""
        return Sentence(f"{text}; the smallest has {smallest}.", "groups-not-distinguishable")
    return None


def _none_found(group: Group, positive: Label) -> str:
    """That none of the positives of a group is found, where it has some."""
    if group.confusion is None or positive is None:
        return ""
    index = group.confusion.labels.index(positive)
    positives, found = int(group.confusion.rows[index].sum()), int(group.confusion.rows[index, index])
    if found or not positives:
        return ""
    text = f"; none of its {positives:,} positives is found"
    if "roc_auc" in group and (auc := group["roc_auc"]).low > 0.5:
        ranked = f"though its scores rank them (ROC AUC {three_digits(auc.value)})"
        return f"{text}, {ranked}: give it a threshold of its own"
    return f"{text}, so do not use it there"


def class_sentence(evaluation: Evaluation) -> Sentence | None:
    """The class whose rows are found least often, or that the classes' recalls are not distinguishable."""
    classes = [row for row in evaluation.per_class if not math.isnan(row.recall.value)]
    recalls = [row.recall for row in classes]
    if len(classes) < 2 or all(recall.value == 1 for recall in recalls):
        return None
    right = None
    if (table := evaluation.confusion) is not None and not table.weighted and recalls[0].method != "cluster":
        sizes = table.rows.sum(1)
        present = sizes > 0
        if can_permute(sizes[present, None]):
            right = RightRows(table.rows.diagonal()[present, None], sizes[present, None], recall_value)
    _, index = _weakest(recalls, [row.rows for row in classes], right, evaluation)
    if index is None:
        smallest = rows_text(min(row.rows for row in classes))
        text = (
            f"The recalls of the {len(classes):,} classes are not distinguishable; the smallest class has {smallest}."
        )
        return Sentence(text, "classes-not-distinguishable")
    weakest, recall = classes[index], recalls[index]
    bounds = " to ".join(percent_text(bound).removesuffix(" %") for bound in (recall.low, recall.high))
    where = f"is lowest for class {quoted_label(weakest.label)}"
    if recall.value > min(other.value for other in recalls):
        where = f"is lower for class {quoted_label(weakest.label)} than for the others together"
    text = f"Recall {where}: {percent_text(recall.value)} ({bounds}) of its {rows_text(weakest.rows)}"
    return Sentence(f"{text}{_taken_for(weakest.label, evaluation)}.", "weakest-class")


def _taken_for(label: Label, evaluation: Evaluation) -> str:
    """The class that rows of this one are most often taken for."""
    table = evaluation.confusion
    if table is None or len(table.labels) < 3:
        return ""
    wrong = table.rows[table.index(label)].copy()
    wrong[table.index(label)] = 0
    most = int(wrong.argmax())
    if not wrong[most] or (wrong == wrong[most]).sum() > 1:
        return ""
    verb = "is" if wrong[most] == 1 else "are"
    return f"; {wrong[most]:,} {verb} taken for {quoted_label(table.labels[most])}"


def _weakest(
    rows: Sequence[MetricRow | Interval], sizes: Sequence[int], right: RightRows | None, evaluation: Evaluation
) -> tuple[int, int | None]:
    """How many parts were tested, and the index of the weakest of those that are shown to be below the others."""
    classes = 1 if right is None else right.hits.shape[-1]
    tested = groups_to_test(np.array(sizes), classes, evaluation.level)
    if right is None:
        bounds = np.array([(rows[i].value, rows[i].low, rows[i].high) for i in tested])
        p_values = interval_p_values(bounds, np.array(sizes)[tested], evaluation.level)
    else:
        rng = np.random.default_rng(0)
        p_values = exact_p_values(right.hits[tested], right.sizes[tested], right.value, evaluation.level, rng)
    shown = tested[p_values <= 1 - evaluation.level]
    return len(tested), min(shown.tolist(), key=lambda i: rows[i].value, default=None)


def _right_rows(groups: Sequence[Group], rows: Sequence[MetricRow], evaluation: Evaluation) -> RightRows | None:
    """The right rows of the groups; None where rows cannot change groups: weights, clusters, ranks, a prevalence."""
    tables, metric = [group.confusion for group in groups], rows[0].spec.metric
    if evaluation.prevalence is not None or metric.function is None or any(row.method == "cluster" for row in rows):
        return None
    unweighted = [table.rows for table in tables if table is not None and not table.weighted]
    if len(unweighted) < len(groups):
        return None
    matrices = np.stack(unweighted)
    if not can_permute(matrices.sum(2)):
        return None
    if evaluation.positive is None:
        value = class_value(metric, matrices.sum(0))
        return None if value is None else RightRows(np.diagonal(matrices, axis1=1, axis2=2), matrices.sum(2), value)
    positive = evaluation.labels.index(evaluation.positive)
    positives, flagged = matrices[:, positive].sum(1), matrices[:, :, positive].sum(1)
    tp = matrices[:, positive, positive]
    total = matrices.sum((1, 2))
    sizes = np.stack([positives, total - positives], -1)
    hits = np.stack([tp, total - positives - flagged + tp], -1)
    return RightRows(hits, sizes, two_class_value(metric))


# ---------------------------------------------------------------- the verdict


def verdict(evaluation: Evaluation) -> list[Sentence]:
    """The headline, the number of the use or of each use, and the first three of what else there is to say."""
    if not evaluation.rows:
        return []
    first: list[Sentence | None]
    others: list[Sentence | None]
    if evaluation.counts is not None:
        first, others = _two_classes(evaluation)
    elif (table := evaluation.confusion) is not None:
        first = [classes_sentence(evaluation, table), class_sentence(evaluation), *_numbers(evaluation)]
        first += [zero_sentence(evaluation)]
        others = [majority_class_sentence(evaluation, table), group_sentence(evaluation)]
        others += [standing_sentence(evaluation), undefined_sentence(evaluation)]
    else:  # scores without a threshold: how well they order the rows
        first = [_ranking_sentence(evaluation), *_numbers(evaluation)]
        others = [random_sentence(evaluation), group_sentence(evaluation)]
    if evaluation.use is not None:
        first = [leading_sentence(evaluation, evaluation.use), *first]
    return unmuted(first, others, evaluation.muted)


def _numbers(evaluation: Evaluation) -> list[Sentence]:
    """What stands beside the number of the use in force, or the number of each use."""
    if evaluation.use is not None:
        return beside_sentences(evaluation, evaluation.use)
    return [*capacity_sentences(evaluation), *number_sentences(evaluation)]


def _two_classes(evaluation: Evaluation) -> tuple[list[Sentence | None], list[Sentence | None]]:
    """The headline on a table of positives and negatives with its rates and numbers, and the other sentences."""
    table = TwoClasses(evaluation)
    rates = rates_sentence(table)
    if not table.rarer[1]:
        return [few_sentence(table), rates], [group_sentence(evaluation)]
    headline = [few_sentence(table)] if table.is_few else []
    beside = _numbers(evaluation)
    # Beside the number of alerts stand precision and recall already.
    rates = None if any(sentence.code == "beside-number" for sentence in beside) else rates
    accuracy = errors_sentence(table) or accuracy_sentence(table)
    has_skill = accuracy is None or not accuracy.code.endswith("random")
    return [*headline, outcomes_sentence(table), rates, *beside], [
        accuracy,
        sample_size_sentence(table) if has_skill else None,
        group_sentence(evaluation),
    ]


def _ranking_sentence(evaluation: Evaluation) -> Sentence | None:
    if "roc_auc" not in evaluation or evaluation.scores is None:
        return None
    auc, scores = evaluation["roc_auc"], evaluation.scores
    sides = {"positives": scores.positive.n, "negatives": scores.negative.n}
    name = min(sides, key=sides.__getitem__)
    if sides[name] < FEW:
        few = f"with {rows_of_class(sides[name], name)} anything from {between(auc)}"
        return Sentence(f"ROC AUC is {three_digits(auc.value)}, but {few} fits.", f"few-{name}")
    outranks = f"a random positive outranks a random negative {percent_text(auc.value)} of the time"
    if evaluation.use is not None and evaluation.use.name == "ranking":  # whose number it is
        return Sentence(f"{outranks[:1].upper()}{outranks[1:]}.", "ranking")
    return Sentence(f"ROC AUC is {interval_text(auc.value, auc.low, auc.high)}: {outranks}.", "ranking")


# ---------------------------------------------------------------- the limiting rate


UNUSED = 0.1  # by which the ROC AUC is above balanced accuracy where another threshold would use more of the scores
FAR_WORDS = ("below", "far below")
LIMITING = {
    "rate": "{title} ({value}) limits it, {far} {other} ({high}).",
    "labels": "There are no scores to set another threshold by.",
    "unused": "The scores rank the rows better (ROC AUC {auc}) than this threshold uses: a {other}.",
    "recall": "lower one finds more positives",
    "specificity": "higher one raises fewer false alarms",
}


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
    far = FAR_WORDS[high.value - low.value > FAR]
    values = {"value": percent_text(low.value), "high": percent_text(high.value)}
    first = LIMITING["rate"].format(title=low.spec.title, far=far, other=high.name, **values)
    if evaluation.scores is None:
        return f"{first} {LIMITING['labels']}"
    if "roc_auc" not in evaluation or "balanced_accuracy" not in evaluation:
        return first
    auc, balanced = evaluation["roc_auc"].value, evaluation["balanced_accuracy"].value
    if math.isnan(auc) or auc - balanced < UNUSED:
        return first
    return f"{first} {LIMITING['unused'].format(auc=three_digits(auc), other=LIMITING[low.name])}"
