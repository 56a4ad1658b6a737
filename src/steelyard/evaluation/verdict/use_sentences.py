"""Sentences on uses: the one number of each use, or that of the use in force with what stands beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import interval_text, listed, three_digits
from steelyard.auditing.use_numbers import Judged, at_capacity, of_classes, why
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.metrics.uses import USES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.analysis.thresholds.limits import Capacity
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.metrics.uses import Use


def read_by_uses(use: Use | None, capacity: Capacity | None, judged: Judged, *, named: bool) -> list[str]:
    """The metrics that the sentences on uses read, by their written forms."""
    if use is None:
        uses = [] if named or judged.is_of_classes else [*USES.values()]
        return [*filter(None, map(judged.leading, uses)), *at_capacity(capacity, judged.scores)]
    return [*filter(None, [judged.leading(use)]), *judged.beside(use, capacity)]


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
