"""Sentences on uses: the one number of each use, or that of the use in force with what stands beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.results.formatting import interval_text, listed, three_digits
from steelyard.analysis.thresholds.resampled_threshold import flagging
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


_NO_SKILL = "no skill"
_FOR = {
    "alerts": "For alerts",
    "balance": "For balance between the classes",
    "ranking": "For ranking",
    "probabilities": "For probabilities",
}


def judged_of(evaluation: Evaluation) -> Judged:
    """What the uses are judged on in an evaluation."""
    return Judged(evaluation.confusion, evaluation.scores, None, evaluation.positive, evaluation.threshold)


class UseNumber(NamedTuple):
    """The number of a use with what is proved of it, as a sentence or as the cells of a table."""

    use: str
    row: MetricRow
    why: str

    @property
    def code(self) -> str:
        """The code of its sentence."""
        return f"for-{self.use}"

    @property
    def sentence(self) -> Sentence:
        """What the use is, its number beside the no-skill baseline, and why."""
        return Sentence(f"{self.words['head']}{_beside_none(self.row)}{self.words['tail']}", self.code)

    @property
    def words(self) -> dict[str, str]:
        """The metric, what stands before and after its number, and the name of its baseline."""
        return {
            "name": self.row.name,
            "head": f"{_FOR[self.use]}, {self.row.spec.metric.phrase} is ",
            "none": _NO_SKILL,
            "tail": f"{self.why and f': {self.why}'}.",
        }

    @property
    def cells(self) -> list[str]:
        """The use, the metric, its value with the interval, and the no-skill baseline."""
        none = "–" if math.isnan(self.row.chance) else self.row.text(self.row.chance)
        return [self.use, self.row.spec.metric.phrase, _interval(self.row), none]


def use_numbers(evaluation: Evaluation) -> list[UseNumber]:
    """The number of each use that has one; none where a use is in force or metrics are named."""
    judged = judged_of(evaluation)
    if evaluation.use is not None or evaluation.metrics_named or judged.is_of_classes:
        return []
    names = {use.name: judged.leading(use) for use in USES.values()}
    rows = {use: evaluation[name] for use, name in names.items() if name is not None and name in evaluation}
    return [UseNumber(use, row, why(row.name)) for use, row in rows.items() if not math.isnan(row.value)]


def number_sentences(evaluation: Evaluation) -> list[Sentence]:
    """One number by what it is for: a sentence for each use that has one, and which have none."""
    numbers = [number.sentence for number in use_numbers(evaluation)]
    return [*numbers, *_without(judged_of(evaluation))] if numbers else []


def moved_numbers(evaluation: Evaluation) -> dict[str, dict[str, str]]:
    """The words around the numbers that `number_sentences` states, by the codes of the sentences."""
    return {number.code: number.words for number in use_numbers(evaluation)}


def _without(judged: Judged) -> Iterator[Sentence]:
    """Of which uses these data have no number, and why."""
    if judged.scores is None:
        yield Sentence("Ranking and probabilities have no number here: they need scores.", "without-number")
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
    none = f"{_NO_SKILL} {row.text(row.chance)}"
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
    if capacity is None or scores is None or not names or not all(name in evaluation for name in names):
        return []
    precision, lift = (evaluation[name] for name in names)
    if math.isnan(precision.value) or math.isnan(lift.value):
        return []
    share = capacity.alerts / capacity.rows
    value, low, high = (min(share * end, 1.0) for end in (lift.value, lift.low, lift.high))
    rows = f"{capacity.alerts:,} alerts of {capacity.rows:,} rows"
    if flagged := int(flagging(scores.counts, share)):
        rows += f" (scores from {three_digits(float(scores.thresholds[flagged]))} on)"
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
    """How far the probabilities are off, the net benefit at the threshold, and whether to use them as they are."""
    texts, wrong = [], False
    for row in _known(evaluation, "calibration_slope"):
        sign = "too extreme" if row.high < 1 else "too moderate" if row.low > 1 else ""
        texts.append(f"Calibration slope is {_interval(row)}{sign and f': the probabilities are {sign}'}.")
        wrong = bool(sign)
    for row in _known(evaluation, "observed_to_expected"):
        texts.append(f"{_interval(row)} positives occurred for each one predicted.")
        wrong = wrong or not row.low <= 1 <= row.high
    use = "Recalibrate before the probabilities are used." if wrong else "Nothing here speaks against using them."
    texts += [use] if texts else []
    names = [row.name for row in [*evaluation.behind, *evaluation.metrics] if row.name.startswith("net_benefit")]
    for row in _known(evaluation, *names[:1]):
        at = three_digits(row.spec.metric.parameters["threshold"])
        texts.insert(-1, f"Net benefit at threshold {at} is {_interval(row)}; flagging nobody has 0.")
    return " ".join(texts)
