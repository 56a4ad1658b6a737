"""The verdict: what a table says, in a few plain sentences, each made from its numbers. No grades."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.planning import sample_size
from steelyard.analysis.rows import interval_text, three_digits
from steelyard.errors import SteelyardError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, Row
    from steelyard.statistics.counts import Counts

FEW = 30  # rows of a class below which its recall is hardly known
RARE = 0.2
KNOWN_TO = 0.05  # the half-width, in points of a rate, that a plan aims at


def verdict(evaluation: Evaluation) -> list[str]:
    """Three to six sentences: how unequal the classes are, what accuracy hides, what is found, how sure that is."""
    if evaluation.counts is not None:
        parts = _two_classes(evaluation, evaluation.counts)
    elif evaluation.confusion is not None:
        parts = _many_classes(evaluation)
    else:
        parts = []
    return [sentence for sentence in [*parts, *_ranking(evaluation), *_elsewhere(evaluation)] if sentence]


# ---------------------------------------------------------------- two classes


def _two_classes(evaluation: Evaluation, counts: Counts) -> list[str]:
    few = _too_few(evaluation, counts)
    return [
        *([few] if few else []), _shares(counts), _accuracy(evaluation, counts), _found(evaluation),
        _flagged(evaluation), _alike(evaluation, counts), "" if few else _doubt(evaluation, counts),
    ]  # fmt: skip


def _minority(counts: Counts) -> tuple[str, float, float]:
    """The rarer class in words, its weight, and the total."""
    p, n = float(counts.positives), float(counts.negatives)
    return ("positives", p, p + n) if p <= n else ("negatives", n, p + n)


def _shares(counts: Counts) -> str:
    name, rare, total = _minority(counts)
    if rare == 0:
        return f"There are no {name}: nothing tells how they would be treated."
    share = rare / total
    word = f"Rare {name}" if share < RARE else "Classes of like size" if share > 0.4 else f"Fewer {name}"
    return f"{word}: {_n(rare)} of {_n(total)}{'' if share < 0.4 else f' are {name}'} ({_percent(share)})."


def _accuracy(evaluation: Evaluation, counts: Counts) -> str:
    row = evaluation["accuracy"]
    name, rare, total = _minority(counts)
    always = 1 - rare / total
    say = "no" if name == "positives" else "yes"
    if rare / total > 0.4:
        return f"Accuracy is {_share_text(row)}, a fair summary here."
    told = f'Accuracy is {_percent(row.value)}, and saying "{say}" every time scores {_percent(always)}'
    if row.low <= always:
        return f"{told}: accuracy cannot tell this classifier from none."
    return f"{told}: read it against that and not against zero."


def _found(evaluation: Evaluation) -> str:
    recall, specificity = evaluation["recall"], evaluation["specificity"]
    parts = [
        f"{_share_text(row)} of the {name}"
        for row, name in ((recall, "positives"), (specificity, "negatives"))
        if not math.isnan(row.value)
    ]
    return f"It gets {' and '.join(parts)} right{_against_guessing(evaluation)}." if parts else ""


def _against_guessing(evaluation: Evaluation) -> str:
    test = evaluation.beats
    if test is None:
        return ""
    p = test.p_value
    if p < 1e-4:
        return f", far better than guessing ({_p(p)})"
    return (
        f", better than guessing ({_p(p)})"
        if p < 1 - evaluation.level
        else f", not shown to be better than guessing ({_p(p)})"
    )


def _flagged(evaluation: Evaluation) -> str:
    row = evaluation["precision"]
    if math.isnan(row.value):
        return f"Precision is undefined: {row.undefined}."
    return f"Of what it flags, {_share_text(row)} is right; guessing at the same rate would get {_percent(row.chance)}."


def _alike(evaluation: Evaluation, counts: Counts) -> str:
    row = evaluation["ac_score"]
    if math.isnan(row.value):
        return ""
    recall, specificity = evaluation["recall"], evaluation["specificity"]
    weak = _weak_side(recall, specificity)
    value = interval_text(row.value, row.low, row.high)
    told = f"Weighing both classes alike: AC-score {value}, chance {three_digits(row.chance)}."
    prevalence = float(counts.positives / counts.total)
    if not weak and 0.4 < prevalence < 0.6:
        return ""
    moving = [get_metric(name).title for name in ("f1", "mcc", "kappa") if _depends_on_prevalence(name, counts)]
    steady = [
        get_metric(name).title
        for name in ("ac_score", "tpnr", "balanced_accuracy")
        if not _depends_on_prevalence(name, counts)
    ]
    if not moving or not steady:
        return told
    held = f"{_listed(steady)} hold at any prevalence, {_listed(moving)} only at {_percent(prevalence)}."
    return f"{told} {weak}{held[0].upper()}{held[1:]}"


def _weak_side(recall: Row, specificity: Row) -> str:
    if recall.high < specificity.low:
        return "The recall is the weak side. "
    return "The specificity is the weak side. " if specificity.high < recall.low else ""


def _depends_on_prevalence(name: str, counts: Counts) -> bool:
    """Whether the value moves when the positives count twice; asked of the formula itself."""
    measure = get_metric(name)
    here, there = measure(counts), measure(counts.scaled(positives=2))
    return not math.isclose(here, there, rel_tol=1e-9, abs_tol=1e-12)


def _too_few(evaluation: Evaluation, counts: Counts) -> str:
    """What so few rows of a class cannot show, said first."""
    name, rare, _ = _minority(counts)
    if not 0 < rare < FEW:
        return ""
    row = evaluation["recall" if name == "positives" else "specificity"]
    told = f"{get_metric(row.name).title} is {_percent(row.value)}, but with {_n(rare)} {name}"
    return f"{told} anything from {_percent(row.low)} to {_percent(row.high)} fits."


def _doubt(evaluation: Evaluation, counts: Counts) -> str:
    name, rare, total = _minority(counts)
    row = evaluation["recall" if name == "positives" else "specificity"]
    half = (row.high - row.low) / 2
    if rare == 0 or math.isnan(half):
        return ""
    told = f"With {_n(rare)} {name} the {row.name} is known to about {three_digits(100 * half)} points either way"
    if half <= KNOWN_TO:
        return f"{told}."
    try:
        rates = (
            min(max(evaluation["recall"].value, 0.01), 0.99),
            min(max(evaluation["specificity"].value, 0.01), 0.99),
        )
        plan = sample_size(row.name, at=rates, prevalence=float(counts.positives / total), width=2 * KNOWN_TO)
    except SteelyardError:
        return f"{told}."
    needed = plan.positives if name == "positives" else plan.negatives
    return f"{told}; {round(needed, -1):,} would give {three_digits(100 * KNOWN_TO)}."


# ---------------------------------------------------------------- many classes


def _many_classes(evaluation: Evaluation) -> list[str]:
    table = evaluation.confusion
    if table is None or not table.rows.sum():
        return []
    sizes = dict(zip(table.labels, table.matrix.sum(1), strict=True))
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    total = sum(sizes.values())
    said = [
        f"{len(sizes)} classes, from {_n(sizes[small])} rows ({small!r}) to {_n(sizes[large])} ({large!r}) "
        f"of {_n(total)}.",
        f"Accuracy is {_share_text(evaluation['accuracy'])}{_against_guessing(evaluation)}; "
        f"saying {large!r} every time scores {_percent(sizes[large] / total)}.",
    ]
    balanced, ac = evaluation["balanced_accuracy"], evaluation["ac_score"]
    if math.isnan(balanced.value):
        return [*said, f"Measures over all classes are undefined: {balanced.undefined}."]
    said.append(
        f"Weighing the classes alike: balanced accuracy {interval_text(balanced.value, balanced.low, balanced.high)}, "
        f"chance {three_digits(balanced.chance)}; AC-score {interval_text(ac.value, ac.low, ac.high)}."
    )
    worst = min(
        (row for row in evaluation.per_class if not math.isnan(row.recall.value)), key=lambda row: row.recall.value
    )
    said.append(
        f"The weakest class is {worst.label!r}: {_percent(worst.recall.value)} of its {worst.rows:,} rows are found "
        f"({_percent(worst.recall.low)} to {_percent(worst.recall.high)})."
    )
    return said


# ---------------------------------------------------------------- scores, prevalence


def _ranking(evaluation: Evaluation) -> list[str]:
    if "roc_auc" not in evaluation:
        return []
    auc = evaluation["roc_auc"]
    told = f"By its scores a positive outranks a negative {_share_text(auc)} of the time, guessing {_percent(0.5)}"
    if "average_precision" not in evaluation:
        return [f"{told}."]
    ap = evaluation["average_precision"]
    return [
        f"{told}; average precision {interval_text(ap.value, ap.low, ap.high)}, guessing {three_digits(ap.chance)}."
    ]


def _elsewhere(evaluation: Evaluation) -> list[str]:
    if evaluation.prevalence is None:
        return []
    return [f"All of this is read at a prevalence of {three_digits(evaluation.prevalence)}, not the sample's."]


# ---------------------------------------------------------------- words


def _percent(share: float) -> str:
    """A share of cases with three significant digits; never rounded to all or none."""
    if math.isnan(share):
        return "–"
    if share in (0, 1):
        return f"{100 * share:g} %"
    shown = three_digits(100 * share)
    return "above 99.9 %" if shown == "100" and share < 1 else f"{shown} %"


def _share_text(row: Any) -> str:
    return f"{_percent(row.value)} ({_percent(row.low).removesuffix(' %')} to {_percent(row.high).removesuffix(' %')})"


def _n(weight: float) -> str:
    return f"{weight:,.0f}" if float(weight).is_integer() else f"{weight:,.1f}"


def _p(p: float) -> str:
    if p < 1e-20:
        return "p < 1e-20"
    return f"p = {p:.1e}" if p < 1e-3 else f"p = {p:.2g}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
