"""Two classes: the verdict on a table of positives and negatives, a sentence each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.formatting import interval_text, listed, percent_text, three_digits
from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.sample_size import sample_size
from steelyard.auditing.decision_store import recalled_decisions
from steelyard.auditing.recommend import recalled_recommendation
from steelyard.errors import SteelyardError
from steelyard.evaluation.sentences import against_guessing, sure
from steelyard.metrics.registry import default_metric, get_metric, metrics_with_role

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.counts import Counts

_FEW = 30  # rows of a class below which its recall is hardly known
_RARE, LIKE = 0.2, 0.4  # shares of the rarer class below which it is rare, and above which the classes are alike
KNOWN_TO = 0.05  # the half-width, in points of a rate, that a plan aims at


def two_classes(evaluation: Evaluation, sample: Counts) -> list[str]:
    """How unequal the classes are, what accuracy hides, what is found and flagged, and how sure that is."""
    counts = sample if evaluation.prevalence is None else _reweighted(evaluation)
    few = _too_few(evaluation)
    return [
        few,
        _shares(evaluation, sample),
        _accuracy(evaluation, counts),
        _found(evaluation, said=bool(few)),
        _flagged(evaluation),
        _alike(evaluation, counts),
        "" if few else _doubt(evaluation),
    ]


def _reweighted(evaluation: Evaluation) -> Counts:
    """The counts at the prevalence in use."""
    table, prevalence = evaluation.confusion, evaluation.prevalence
    assert table is not None  # noqa: S101 - asked of an evaluation of labels
    assert prevalence is not None  # noqa: S101 - asked where another one is in use
    return at_prevalence(table, prevalence).counts(evaluation.positive)


def _minority(counts: Counts) -> tuple[str, float, float]:
    """The rarer class in words, its weight, and the total."""
    p, n = float(counts.positives), float(counts.negatives)
    return ("positives", p, p + n) if p <= n else ("negatives", n, p + n)


def _rows(evaluation: Evaluation) -> Counts:
    rows = evaluation.row_counts
    assert rows is not None  # noqa: S101 - two classes were asked for before
    return rows


def _shares(evaluation: Evaluation, counts: Counts) -> str:
    """How unequal the classes of the sample are, in rows, and in weight where rows have any."""
    name, weight, whole = _minority(counts)
    rows = _rows(evaluation)
    n, total = int(rows.positives if name == "positives" else rows.negatives), int(rows.total)
    if n == 0:
        return f"There are no {name}: nothing tells how they would be treated."
    share = weight / whole
    weighed = " by weight" if percent_text(share) != percent_text(n / total) else ""
    if share > LIKE:
        return f"Classes of like size: {n:,} of {total:,} are {name} ({percent_text(share)}{weighed})."
    word = f"Rare {name}" if share < _RARE else f"Fewer {name}"
    return f"{word}: {n:,} of {total:,} ({percent_text(share)}{weighed})."


def _accuracy(evaluation: Evaluation, counts: Counts) -> str:
    row = evaluation["accuracy"]
    name, rare, total = _minority(counts)
    always = 1 - rare / total
    if rare / total > LIKE:
        return f"Accuracy is {sure(row)}, a fair summary here." if row.high > 0.5 else ""
    say = "no" if name == "positives" else "yes"
    sentence = f'Accuracy is {sure(row)}, and saying "{say}" every time scores {percent_text(always)}'
    if row.high < always:
        return f"{sentence}: more than this classifier."
    if row.low <= always:
        return f"{sentence}: accuracy cannot tell this classifier from none."
    return f"{sentence}: read it against that and not against zero."


def _found(evaluation: Evaluation, *, said: bool) -> str:
    """What share of each class is right; the interval of the rare one may have been said already."""
    rows = {"positives": evaluation["recall"], "negatives": evaluation["specificity"]}
    rare = _minority(_rows(evaluation))[0]
    parts = [
        f"{percent_text(row.value) if said and name == rare else sure(row)} of the {name}"
        for name, row in rows.items()
        if not math.isnan(row.value)
    ]
    return f"It gets {' and '.join(parts)} right{against_guessing(evaluation)}." if parts else ""


def _flagged(evaluation: Evaluation) -> str:
    row = evaluation["precision"]
    if math.isnan(row.value):
        return f"Precision is undefined: {row.undefined}."
    guess = "" if math.isnan(row.chance) else f"; guessing at the same rate would get {percent_text(row.chance)}"
    return f"Of what it flags, {sure(row)} is right{guess}."


def _alike(evaluation: Evaluation, counts: Counts) -> str:
    """The balanced summary, and which metrics to read first because they hold at any prevalence."""
    row = evaluation[default_metric().name]
    if math.isnan(row.value):
        return ""
    weak = _weak_side(evaluation["recall"], evaluation["specificity"])
    prevalence = float(counts.positives / counts.total)
    if not weak and LIKE < prevalence < 1 - LIKE:
        return ""
    value = interval_text(row.value, row.low, row.high)
    sentence = f"Weighing both classes alike: {row.spec.title} {value}, chance {three_digits(row.chance)}. {weak}"
    return f"{sentence}{_advice(counts, prevalence)}".strip()


def _advice(counts: Counts, prevalence: float) -> str:
    """What to read first, by the properties decided of each metric, and which of the usual ones move."""
    advice = recalled_recommendation(counts)
    defined = [part.metric for part in advice.use if not math.isnan(get_metric(part.metric)(counts))]
    # Those that the verdict reads have a sentence of their own.
    usual = [m for m in metrics_with_role("reported") if m.kind.is_summary and "verdict" not in m.roles]
    moving = [metric.name for metric in usual if _moves_with_prevalence(metric)]
    if not defined or not moving:
        return ""
    others = listed([get_metric(name).phrase for name in moving])
    why = f"they hold at any prevalence, {others} only at {percent_text(prevalence)}"
    return f"Read {listed([get_metric(name).phrase for name in defined])} first: {why}."


def _moves_with_prevalence(metric: Metric) -> bool:
    decision = recalled_decisions(metric).get("prevalence_invariance")
    return decision is not None and decision.holds is False


def _weak_side(recall: MetricRow, specificity: MetricRow) -> str:
    if recall.high < specificity.low:
        return "The recall is the weak side. "
    return "The specificity is the weak side. " if specificity.high < recall.low else ""


def _too_few(evaluation: Evaluation) -> str:
    """What so few rows of a class cannot show, said first."""
    name, rare, _ = _minority(_rows(evaluation))
    if not 0 < rare < _FEW:
        return ""
    row = evaluation["recall" if name == "positives" else "specificity"]
    sentence = f"{row.spec.title} is {percent_text(row.value)}, but with {_n(rare, name)}"
    return f"{sentence} anything from {percent_text(row.low)} to {percent_text(row.high)} fits."


def _doubt(evaluation: Evaluation) -> str:
    """How well the recall of the rarer class is known, and how many of its rows would do."""
    rows = _rows(evaluation)
    name, rare, total = _minority(rows)
    row = evaluation["recall" if name == "positives" else "specificity"]
    half = (row.high - row.low) / 2
    if rare == 0 or math.isnan(half):
        return ""
    sentence = f"With {_n(rare, name)} the {row.name} is known to about {three_digits(100 * half)} points either way"
    weighted = evaluation.confusion is not None and evaluation.confusion.weighted
    if half <= KNOWN_TO or weighted or row.method == "cluster":  # a plan counts independent rows
        return f"{sentence}."
    try:
        recall, specificity = (min(max(evaluation[rate].value, 0.01), 0.99) for rate in ("recall", "specificity"))
        share = float(rows.positives / total)
        plan = sample_size(
            row.name, at=(recall, specificity), prevalence=share, width=2 * KNOWN_TO, level=evaluation.level
        )
    except SteelyardError:
        return f"{sentence}."
    needed = plan.positives if name == "positives" else plan.negatives
    return f"{sentence}; {round(needed, -1):,} would give {100 * KNOWN_TO:g}."


def _n(rows: float, name: str) -> str:
    return f"{rows:,.0f} {name if rows != 1 else name.removesuffix('s')}"
