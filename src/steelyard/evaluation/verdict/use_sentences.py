"""Sentences on uses: the one number of each use, or that of the use in force with what stands beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.results.formatting import interval_text, listed, three_digits
from steelyard.auditing.decisions import recalled_decisions
from steelyard.auditing.recommend import order_metrics
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.exceptions import InputError
from steelyard.metrics.ranking import check_probabilities
from steelyard.metrics.registry import get_metric
from steelyard.metrics.uses import USES
from steelyard.metrics.usual import PER_CLASS, PER_CLASS_OF_SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Label
    from steelyard.analysis.thresholds.limits import Capacity
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.metrics.uses import Use
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


def of_classes(name: str) -> str:
    """The written form of a metric where no class is the positive one: the mean over the classes, or its own."""
    return f"{name}[average=macro]" if name in (*PER_CLASS, *PER_CLASS_OF_SCORES) else name


class Judged(NamedTuple):
    """What a use is judged on: labels, scores, a column of scores for each class, the threshold in force."""

    table: Confusion | None
    scores: ScoreTable | None
    columns: ProbabilityTable | None
    positive: Label
    threshold: float | None

    @property
    def is_of_classes(self) -> bool:
        """Whether there are classes of which none is the positive one."""
        return self.table is not None and self.positive is None

    def leading(self, use: Use) -> str | None:
        """The number of a use by its written form; None where there is none of these data."""
        name = use.leading(has_scores=self.scores is not None or self.columns is not None)
        if name is None:
            return None
        metric = get_metric(name)
        if (metric.function is not None and self.table is None) or (
            metric.of_probabilities and not self._has_probabilities
        ):
            return None
        return of_classes(name) if self.is_of_classes else name

    @property
    def _has_probabilities(self) -> bool:
        if self.columns is not None:
            return self.columns.first_improper is None
        return self.scores is not None and self.scores.has_probabilities

    def beside(self, use: Use, capacity: Capacity | None) -> list[str]:
        """The metrics that stand beside the number of a use, by their written forms."""
        if self.is_of_classes:
            return [of_classes(name) for name in use.beside]
        names = []
        for name in use.beside:
            metric = get_metric(name)
            of_labels = self.table is not None and metric.function is not None
            if not of_labels and (self.scores is None or metric.scores is None):
                continue
            at = self.threshold
            names.append(f"{name}[threshold={at:g}]" if name == "net_benefit" and _is_odds(at) and at != 0.5 else name)
        return names + (list(at_capacity(capacity, self.scores)) if use.name == "alerts" else [])


def _is_odds(threshold: float | None) -> bool:
    return threshold is not None and 0 < threshold < 1


def at_capacity(capacity: Capacity | None, scores: ScoreTable | None) -> tuple[str, ...]:
    """The precision of the alerts that a capacity allows, and their lift, of which recall is the share of rows."""
    if capacity is None or scores is None:
        return ()
    share = capacity.alerts / capacity.rows
    return f"precision_at_k[k={max(round(share * scores.n), 1)}]", f"lift[share={share!r}]"


def check_use(use: Use | None, capacity: Capacity | None, judged: Judged) -> None:
    """Refuse a use of which the data have no number, and a capacity that no scores are ranked by."""
    if use is not None and judged.leading(use) is None:
        if use.name == "probabilities" and judged.scores is not None:
            check_probabilities("use='probabilities'", judged.scores)
        needed = {"balance": "labels, or a threshold for the scores", "ranking": "scores", "alerts": "labels or scores"}
        others = [other.name for other in USES.values() if judged.leading(other) is not None]
        way = f", or choose {listed(others, 'or')}" if others else ""
        raise InputError(f"use={use.given!r} is judged by {needed.get(use.name, 'probabilities')}; give them{way}.")
    if capacity is not None and judged.scores is None:
        raise InputError(
            "capacity= asks for the rows that score highest, and there are labels alone; give scores, or leave it out."
        )


def read_by_uses(use: Use | None, capacity: Capacity | None, judged: Judged, *, named: bool) -> list[str]:
    """The metrics that the sentences on uses read, by their written forms."""
    if use is None:
        uses = [] if named or judged.is_of_classes else [*USES.values()]
        return [*filter(None, map(judged.leading, uses)), *at_capacity(capacity, judged.scores)]
    return [*filter(None, [judged.leading(use)]), *judged.beside(use, capacity)]


# ---------------------------------------------------------------- why
# What is proved of a number, as a clause.


def _moves(name: str) -> bool | None:
    """Whether a metric moves with prevalence; None where that is not decided."""
    metric = get_metric(name)
    if decision := recalled_decisions(metric).get("prevalence_invariance"):
        return None if decision.holds is None else not decision.holds
    tried = {order.metric.name: not order.keeps_prevalence for order in order_metrics()}
    return tried.get(metric.name)


def why(name: str) -> str:
    """The proven properties of the number of a use, as the end of a sentence; nothing where none is known.

    >>> why("average_precision")
    'it moves with prevalence, as precision does'
    """
    name = name.partition("[")[0]
    if name == "brier_skill_score":
        return "the true probabilities would score best"  # the Brier score is proper, and its baseline does not move
    parts = []
    if (zero := recalled_decisions(get_metric(name)).get("zero_when_a_class_fails")) and zero.holds:
        parts.append("falls to 0 with either recall")
    moves = _moves(name)
    if moves is not None:
        parts.append("moves with prevalence, as precision does" if moves else "stays the same at any prevalence")
    return f"it {' and '.join(parts)}" if parts else ""


# ---------------------------------------------------------------- the sentences


_FOR = {
    "alerts": "For alerts",
    "balance": "For balance between the classes",
    "ranking": "For ranking",
    "probabilities": "For probabilities",
}


def judged_of(evaluation: Evaluation) -> Judged:
    """What the uses are judged on in an evaluation."""
    return Judged(evaluation.confusion, evaluation.scores, None, evaluation.positive, evaluation.threshold)


def number_sentences(evaluation: Evaluation) -> list[Sentence]:
    """One number by what it is for: a sentence for each use that has one, and which have none."""
    judged, sentences = judged_of(evaluation), []
    if evaluation.metrics_named or judged.is_of_classes:
        return []
    for use in USES.values():
        name = judged.leading(use)
        if name is None or name not in evaluation or math.isnan(evaluation[name].value):
            continue
        row, reason = evaluation[name], why(name)
        number = f"{row.spec.metric.phrase} is {_beside_none(row)}"
        sentences.append(Sentence(f"{_FOR[use.name]}, {number}{reason and f': {reason}'}.", f"for-{use.name}"))
    return [*sentences, *_without(judged)] if sentences else []


def _without(judged: Judged) -> Iterator[Sentence]:
    """Of which uses these data have no number, and why."""
    if judged.scores is None:
        yield Sentence("Labels alone have no number for ranking or for probabilities; scores have.", "without-number")
        return
    parts = []
    if judged.table is None:
        parts.append("a threshold is needed for balance")
    if not judged.scores.has_probabilities:
        parts.append("these scores are no probabilities")
    if parts:
        text = " and ".join(parts)
        yield Sentence(f"{text[:1].upper()}{text[1:]}.", "without-number")


def leading_sentence(evaluation: Evaluation, use: Use) -> Sentence | None:
    """The number of the use in force, its baseline, and what is proved of it."""
    row = _row(evaluation, use)
    if row is None:
        return None
    phrase = f"macro {row.spec.metric.phrase}" if row.spec.average == "macro" else row.spec.metric.phrase
    phrase = f"{phrase[:1].upper()}{phrase[1:]}"
    if math.isnan(row.value):
        return Sentence(f"{phrase} is undefined: {row.undefined}.", "leading-number")
    reason = why(row.name)
    text = f"{phrase} is {_beside_none(row)}."
    return Sentence(f"{text} {reason[:1].upper()}{reason[1:]}." if reason else text, "leading-number")


def leading_rows(evaluation: Evaluation) -> list[str]:
    """The metrics that stand first where a use is in force: its number, and those beside it."""
    use = evaluation.use
    if use is None:
        return []
    judged = judged_of(evaluation)
    row = _row(evaluation, use)
    names = [] if row is None else [row.name]
    names += [evaluation[name].name for name in judged.beside(use, evaluation.capacity) if name in evaluation]
    return list(dict.fromkeys(names))


def _row(evaluation: Evaluation, use: Use) -> MetricRow | None:
    """The row of the number of a use: of scores where there are some."""
    averaged = evaluation.confusion is not None and evaluation.positive is None
    for name in filter(None, (use.of_scores, use.of_labels)):
        written = of_classes(name) if averaged else name
        if written in evaluation:
            return evaluation[written]
    return None


def _interval(row: MetricRow) -> str:
    if math.isnan(row.low):
        return row.text(row.value)
    return interval_text(row.value, row.low, row.high, share=row.spec.is_share)


def _beside_none(row: MetricRow) -> str:
    """A value with its interval and, in the same brackets, what there is without skill."""
    if math.isnan(row.chance):
        return _interval(row)
    metric = row.spec.metric
    who = "random predictor" if metric.function is not None else "random order"
    none = f"{'stating the prevalence' if metric.of_probabilities else who} {row.text(row.chance)}"
    return f"{_interval(row)} ({none})" if math.isnan(row.low) else f"{_interval(row).removesuffix(')')}; {none})"


# ---------------------------------------------------------------- beside the number of a use


def beside_sentences(evaluation: Evaluation, use: Use) -> list[Sentence]:
    """What stands beside the number of the use in force."""
    text = {
        "alerts": _beside_alerts,
        "balance": _beside_balance,
        "ranking": _beside_ranking,
        "probabilities": _beside_probabilities,
    }[use.name](evaluation)
    beside = [Sentence(text, "beside-number")] if text else []
    return [*capacity_sentences(evaluation), *beside]


def capacity_sentences(evaluation: Evaluation) -> list[Sentence]:
    """The precision and the recall of as many alerts as can be looked at."""
    capacity, scores = evaluation.capacity, evaluation.scores
    names = at_capacity(capacity, scores)
    if capacity is None or not names or not all(name in evaluation for name in names):
        return []
    precision, lift = (evaluation[name] for name in names)
    if math.isnan(precision.value) or math.isnan(lift.value):
        return []
    share = capacity.alerts / capacity.rows
    value, low, high = (min(share * end, 1.0) for end in (lift.value, lift.low, lift.high))
    rows = f"{capacity.alerts:,} alerts of {capacity.rows:,} rows"
    recall = interval_text(value, low, high, share=True)
    text = f"At {rows}, precision is {_interval(precision)} and recall {recall}{_per_found(precision.value)}."
    return [Sentence(text, "at-capacity")]


def _per_found(precision: float) -> str:
    return f": {three_digits(1 / precision)} alerts for each positive found" if 0 < precision < 1 else ""


def _known(evaluation: Evaluation, *names: str) -> list[MetricRow]:
    rows = [evaluation[name] for name in names if name in evaluation]
    return [row for row in rows if not math.isnan(row.value)]


def _beside_alerts(evaluation: Evaluation) -> str:
    rows = _known(evaluation, "precision", "recall")
    if len(rows) < 2 or evaluation.counts is None:
        return ""
    precision, recall = rows
    at = "" if evaluation.threshold is None else f"At threshold {three_digits(evaluation.threshold)}, "
    text = f"precision is {_interval(precision)} and recall {_interval(recall)}{_per_found(precision.value)}."
    return f"{at}{text}" if at else f"{text[:1].upper()}{text[1:]}"


def _beside_balance(evaluation: Evaluation) -> str:
    rates = [f"{row.name} {_interval(row)}" for row in _known(evaluation, "recall", "specificity")]
    others = _known(evaluation, "balanced_accuracy", "g_mean", "tpnr")
    named = [f"{row.spec.metric.phrase} {row.text(row.value)}" for row in others]
    return f"Beside it stand {listed([*rates, *named])}." if rates or named else ""


def _beside_ranking(evaluation: Evaluation) -> str:
    rows = _known(evaluation, "average_precision", "average_precision[average=macro]")
    return "".join(f"Average precision is {_beside_none(row)}." for row in rows[:1])


def _beside_probabilities(evaluation: Evaluation) -> str:
    words = {
        "calibration_slope": "calibration slope",
        "observed_to_expected": "the ratio of observed to expected positives",
    }
    parts = [f"{words[row.name]} is {_interval(row)}" for row in _known(evaluation, *words)]
    names = [row.name for row in [*evaluation.behind, *evaluation.metrics] if row.name.startswith("net_benefit")]
    for row in _known(evaluation, *names[:1]):
        at = row.spec.metric.parameters["threshold"]
        parts.append(f"net benefit at threshold {three_digits(at)} is {_interval(row)}, that of flagging nobody 0")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
