"""García's conclusions and invariances, each tried by what the run gave."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.correlation import CONCLUSIONS, STRONG, Conclusion, RateBounds
from steelyard.auditing.model_tables import at_rates
from steelyard.auditing.properties import garcia_row
from steelyard.metrics.registry import get_metric
from steelyard.studies.garcia import (
    GARCIA_NAMES,
    GARCIA_PAPER,
    GARCIA_STUDY,
    LISTED,
    ONE_EDGE,
    SIGN_WORDS,
    SIZES,
    WEIGHTS,
    GarciaResults,
    margin,
    pearson_between,
    with_rate,
)
from steelyard.studies.study import Effect, Finding, joint_level, judged, signed
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy


_NO_SEED = "no randomness"


@GARCIA_STUDY.summary
def _summary(results: GarciaResults) -> list[str]:
    main = results.main
    verdicts = [_conclusion(results, number, *asked[1:]).verdict for number, asked in enumerate(_CONCLUSIONS)]
    conclusions = listed([f"{verdict} ({verdicts.count(verdict)})" for verdict in dict.fromkeys(verdicts)])
    cells = len(_cells())
    least, most = results.auc_by_size
    return [
        f"Verdicts on García's three conclusions: {conclusions}; {cells - len(_wrong_cells(results))} of the {cells} "
        "signs of Table 2 come out again.",
        f"Accuracy listens to the frequent class: its correlation with TNr is {_range(main, 'Acc', 'TNr')} over the "
        f"five imbalances and with TPr {_range(main, 'Acc', 'TPr')}; OP, kappa, AGm and F1 follow TNr as well, OP "
        f"the least ({_range(main, 'OP', 'TNr')}).",
        f"That AUC and Gm lean to the rare class is weaker than it sounds: {_range(main, 'AUC', 'TPr')} with TPr and "
        f"{_range(main, 'AUC', 'TNr')} with TNr; at 5 % positives the correlation with TPr goes from {least:+.2f} to "
        f"{most:+.2f} as the list grows from {SIZES[0]} to {SIZES[-1]:,} rows, as few positives make TPr noisy.",
        f"The design sets the two rates against each other: TPr and TNr correlate at {_range(main, 'TPr', 'TNr')}, "
        "since their distortions always add up to the same. So no metric can follow both, and following one is "
        "falling with the other.",
        *_on_readings(results.readings),
    ]


def _on_readings(readings: dict[str, CorrelationStudy]) -> list[str]:
    """What becomes of the conclusions on the lists that the paper may have used instead."""
    failing = {words: [str(c.number) for c in study.conclusions() if not c.holds] for words, study in readings.items()}
    parts = [
        f"{'conclusion' if len(numbers) == 1 else 'conclusions'} {listed(numbers)} with {words}"
        for words, numbers in failing.items()
        if numbers
    ]
    head = "The paper does not give its list of true probabilities, and that matters: what fails is"
    return [f"{head} {'; '.join(parts)}."] if parts else []


# ---------------------------------------------------------------- the conclusions of section 3.1


def _range(study: CorrelationStudy, short: str, rate: str) -> str:
    return _span(with_rate(study, short, rate))


def _span(r: Array) -> str:
    """The means over seeds at the five imbalances, from the lowest to the highest."""
    means = np.nanmean(r, axis=0)
    return f"{means.min():+.2f} to {means.max():+.2f}".replace("-", "−")


def _conclusion(results: GarciaResults, number: int, metrics: tuple[str, ...], rates: tuple[str, ...]) -> Finding:
    """The least margin of a conclusion, over its metrics and the five imbalances, by seed, under every reading."""
    main = results.main
    ours = "; ".join(" and ".join(f"{m} {_range(main, m, rate)} with {rate}" for rate in rates) for m in metrics)
    margins = {words: margin(study, CONCLUSIONS[number]) for words, study in results.readings.items()}
    effects = [Effect(words, values) for words, values in margins.items()]
    if number == 1:
        effects.append(Effect("wAUC with the ROC point as the only edge", margin(main, ONE_EDGE)))
    failed = [effect.name for effect in effects if not effect.shown(joint_level(effects))]
    why = f"{_why_size(results)} {_why_lists(failed)}" if number == 1 else _why_lists(failed)
    return Finding.of(effects, why, seeds="seeds", ours=ours)


_CONCLUSIONS = (
    ("Acc shows negative correlation with TPr but strong positive correlation with TNr", ("Acc",), ("TPr", "TNr")),
    ("AUC, Gm, IBA, wAUC and cwA show positive correlation with TPr", LISTED, ("TPr",)),
    ("OP, kappa, AGm and F1 are strongly correlated with TNr", ("OP", "kappa", "AGm", "F1"), ("TNr",)),
)
for _number, (_words, _metrics, _rates) in enumerate(_CONCLUSIONS):
    GARCIA_STUDY.claim(_words, place=f"section 3.1, conclusion {_number + 1}")(
        partial(_conclusion, number=_number, metrics=_metrics, rates=_rates)
    )


def _why_lists(failed: list[str]) -> str:
    if not failed:
        return "It holds under every reading of the unsaid list of probabilities that was tried."
    lists = "; ".join(failed)
    return f"It depends on what the paper does not give, first the list of true probabilities: not with {lists}."


def _why_size(results: GarciaResults) -> str:
    least, most = results.auc_by_size
    return (
        f"For AUC and Gm much of it is the noise of few positives: with 5 % of them the correlation of AUC with TPr is "
        f"{least:+.2f} on lists of {SIZES[0]} rows (5 positives) and {most:+.2f} on {SIZES[-1]:,}. wAUC is split into "
        "ten bands here; with the single ROC point as the only edge, which equation (1) allows as well, it is another."
    )


@GARCIA_STUDY.claim(
    "cwA with w > 0.5 presents strong positive and negative correlation values with TPr and TNr",
    paper="w > 0.5, in words only",
    place="section 3.1, conclusion 2",
)
def _weight(results: GarciaResults) -> Finding:
    """The paper never says its w, so several are tried."""
    heavier = {w: name for w, name in WEIGHTS.items() if w > 0.5}
    effects = [Effect(f"w = {w}", margin(results.weights, _strongly(name))) for w, name in heavier.items()]
    level = joint_level(effects)
    true = [w for w, effect in zip(heavier, effects, strict=True) if effect.shown(level)]
    spans = {
        w: [_span(pearson_between(results.weights, name, rate)) for rate in ("recall", "specificity")]
        for w, name in heavier.items()
    }
    ours = "; ".join(f"w = {w}: {tpr} with TPr, {tnr} with TNr" for w, (tpr, tnr) in spans.items())
    return Finding.of(effects, _why_weights(true, [w for w in heavier if w not in true]), seeds="seeds", ours=ours)


def _why_weights(true: list[float], other: list[float]) -> str:
    if not true:
        return f"No weight tried makes both correlations stronger than {STRONG}."
    rest = f" and not of {', '.join(map(str, other))}" if other else ""
    weights = ", ".join(map(str, true))
    return (
        f"The paper does not say its w. It is true of the weights {weights}{rest}, where strong means beyond {STRONG} "
        "in absolute value."
    )


def _strongly(name: str) -> Conclusion:
    bounds = RateBounds(recall=(STRONG, np.inf), specificity=(-np.inf, -STRONG))
    return Conclusion(2, "strongly with recall and against specificity", (name,), bounds)


# ---------------------------------------------------------------- the invariances of section 3.2


def _cells() -> list[tuple[str, int]]:
    return [(short, i) for short in GARCIA_NAMES for i in range(5)]


def _wrong_cells(results: GarciaResults) -> list[str]:
    printed = GARCIA_PAPER["table_2"]
    return [
        f"{short} {printed['order'][i]}"
        for short, i in _cells()
        if results.table_2[short][i] != printed["signs"][short][i]
    ]


@GARCIA_STUDY.claim(
    "Table 2: which of five changes of the matrix each metric notices",
    paper="65 signs",
    place=GARCIA_PAPER["table_2"]["place"],
)
def _table_2(results: GarciaResults) -> Finding:
    cells, wrong = len(_cells()), _wrong_cells(results)
    half = garcia_row(WEIGHTS[0.5], anew=True)
    why = "Each cell is decided by algebra or by a table where the value changes, not by the rounding of examples"
    if half != results.table_2["cwA"]:
        why += "; with w = 0.5 cwA is AUC and the exchange of the classes leaves it unchanged: p1 is "
        why += f"“{SIGN_WORDS[half[0]]}”"
    ours = f"{cells - len(wrong)} of {cells} signs the same" + (f"; not {', '.join(wrong)}" if wrong else "")
    return Finding(ours, _NO_SEED, judged(holds=not wrong), f"{why}.")


_WHY_SETS = {
    "sensitive": "The paper wants a metric to notice every change; noticing the exchange of the classes (p1) is what "
    "Asawa and Wu want a metric not to do, so the papers disagree on whether this is a virtue.",
    "exchange": "Asawa and Wu call this symmetry and ask for it.",
    "negatives": "TPr and Prec do not see TN by their definition; among the metrics that claim to count both classes "
    "F1 is the one.",
}


def _set(results: GarciaResults, key: str, named: tuple[str, ...]) -> Finding:
    """The metrics that notice every change, that do not notice p1, or that do not notice p2."""
    signs = results.table_2
    shorts = {
        "sensitive": [short for short in GARCIA_NAMES if "-" not in signs[short]],
        "exchange": [short for short in GARCIA_NAMES if signs[short][0] == "-"],
        "negatives": [short for short in GARCIA_NAMES if signs[short][1] == "-"],
    }[key]
    verdict = judged(holds=set(named) <= set(shorts) if key == "negatives" else set(named) == set(shorts))
    return Finding(", ".join(shorts), _NO_SEED, verdict, _WHY_SETS[key], paper=", ".join(named))


for _key, _words, _named in (
    ("sensitive", "The four more sensitive metrics are IBA, AGm, cwA and wAUC", ("IBA", "AGm", "cwA", "wAUC")),
    (
        "exchange",
        "Acc, Gm, AUC, OP and kappa are insensitive to the inversion of class performances (p1)",
        ("Acc", "Gm", "AUC", "OP", "kappa"),
    ),
    ("negatives", "F1 remains invariant under a change in TN (p2)", ("F1",)),
):
    GARCIA_STUDY.claim(_words, place="section 3.2, below Table 2")(partial(_set, key=_key, named=_named))


@GARCIA_STUDY.claim(
    "When rho is 0, the weighted AUC is equal to the conventional AUC",
    paper="equal",
    place="section 2, below equation (1)",
)
def _rho(results: GarciaResults) -> Finding:
    """As printed, w(0) = rho would leave the lowest area out; with 1 - rho the sentence below the equation is true."""
    plain, auc = (
        np.asarray(get_metric(name)(results.main.counts)) for name in ("weighted_auc[rho=0]", "balanced_accuracy")
    )
    gap = float(np.nanmax(np.abs(plain - auc)))
    return Finding(
        f"largest difference {gap:.1e} over {auc.size:,} tables",
        "every table of every seed",
        judged(holds=False, partly=gap < 1e-12),
        "Equation (1) prints w(0) = ρ, by which ρ = 0 gives the lowest area no weight and the sentence would be false; "
        "it must be 1 − ρ, and then the weights add up to the number of areas for every ρ.",
    )


# ---------------------------------------------------------------- garcia remarks
# García's remarks on the formulas of metrics, and the list that the paper closes with.


_ON_A_GRID = "no randomness: the formula on all rates of a grid"
_GRID = np.linspace(0.05, 1, 96)
_NEGATIVES = (0.95, 0.9, 0.85, 0.8, 0.75)  # the shares of negatives of the paper's five collections
_OTHERS = ("Acc", "OP", "kappa", "AGm", "F1")


def _printed_agm(tpr: Array, tnr: Array, negatives: float) -> Array:
    """AGm as the paper prints it, without the 0 that its authors give it where no positive is found."""
    return np.asarray((np.sqrt(tpr * tnr) + tnr * negatives) / (1 + negatives))


@GARCIA_STUDY.claim(
    "AGm = (Gm + TNr Pn) / (1 + Pn)", paper="without a condition", place="section 2, on Batuwita and Palade"
)
def _agm(_: GarciaResults) -> Finding:
    none = Counts(tp=0, fn=10, fp=0, tn=990)
    printed = float(_printed_agm(np.array(0.0), np.array(1.0), 0.99))
    tpr, tnr = np.meshgrid(_GRID, _GRID)
    gaps = [
        float(np.abs(_printed_agm(tpr, tnr, n) - get_metric("adjusted_g_mean")(at_rates(tpr, tnr, 1 - n))).max())
        for n in _NEGATIVES
    ]
    guarded = float(get_metric("adjusted_g_mean")(none))
    return Finding(
        f"{printed:.4f} as printed for a classifier that finds none of 10 positives in 1,000 rows, {guarded:.0f} by "
        "its authors",
        _ON_A_GRID,
        judged(holds=False, partly=max(gaps) < 1e-12),
        "Batuwita and Palade give it 0 where TPr is 0, and so does this library; the paper leaves that out, and then "
        "never finding a positive earns about a half. Elsewhere the two are the same.",
    )


@GARCIA_STUDY.claim(
    "AGm is more sensitive to changes in TNr than to changes in TPr", place="section 2, on Batuwita and Palade"
)
def _agm_sensitive(_: GarciaResults) -> Finding:
    tpr, tnr = np.meshgrid(_GRID, _GRID)
    step = 1e-6
    true, ratios = [], []
    for n in _NEGATIVES:
        by_tpr = _printed_agm(tpr + step, tnr, n) - _printed_agm(tpr - step, tnr, n)
        by_tnr = _printed_agm(tpr, tnr + step, n) - _printed_agm(tpr, tnr - step, n)
        true.append(float((by_tnr > by_tpr).mean()))
        ratios.append((n + np.sqrt(n**2 + 1)) ** 2)
    return Finding(
        "; ".join(f"{100 * (1 - n):.0f} % positives: {100 * s:.0f} %" for n, s in zip(_NEGATIVES, true, strict=True)),
        _ON_A_GRID,
        judged(holds=min(true) == 1, partly=min(true) > 0),
        "Share of the rates from 0.05 to 1 where it is so. It fails where TNr is more than about "
        f"{min(ratios):.1f} to {max(ratios):.1f} times TPr: where nearly all positives are missed, AGm listens to TPr, "
        "as a metric should there.",
    )


@GARCIA_STUDY.claim(
    "F with a non-negative beta integrates the true positive rate and precision", place="section 2, on the F-measure"
)
def _f_beta(_: GarciaResults) -> Finding:
    tables = [Counts(tp, fn, fp, 5) for tp in range(1, 6) for fn in range(6) for fp in range(6)]
    at_0 = [float(get_metric("f_beta")(t, beta=0)) for t in tables]
    precision = [float(get_metric("precision")(t)) for t in tables]
    near = [float(get_metric("f_beta")(t, beta=1e-6)) for t in tables]
    same, limit = (float(np.abs(np.subtract(values, precision)).max()) for values in (at_0, near))
    return Finding(
        f"with beta = 0 the formula is precision on all of {len(tables)} tables",
        "no randomness: small tables",
        judged(holds=False, partly=same == 0 and limit < 1e-9),
        "It integrates both for every beta above 0; at 0, which the words allow and `f_beta` takes, TPr drops out and "
        "what is left is precision.",
    )


@GARCIA_STUDY.claim(
    "In IBA the dominance is weighted by alpha >= 0 to reduce its influence",
    paper="no upper end",
    place="section 2, on IBA",
)
def _iba(_: GarciaResults) -> Finding:
    """Above 1/2 a lopsided classifier beats a perfect one, and above 1 the index falls below 0."""
    tpr, tnr = np.meshgrid(_GRID, _GRID)
    ends = {}
    for alpha in (0.05, 0.5, 1.0, 2.0):
        values = (1 + alpha * (tpr - tnr)) * np.sqrt(tpr * tnr)
        ends[alpha] = float(values.min()), float(values.max())
    best = {alpha: high for alpha, (_, high) in ends.items()}
    return Finding(
        "; ".join(f"alpha {alpha:g}: {signed(low)} to {signed(high)}" for alpha, (low, high) in ends.items()),
        _ON_A_GRID,
        judged(holds=False, partly=best[0.5] <= 1 + 1e-12),
        "A perfect classifier has 1. Up to alpha = 1/2 no other has more; above it one that finds all positives and "
        "misses some negatives does, and above 1 the index is negative where TNr leads by far. The "
        "paper's own 0.05 is far below both.",
    )


# ---------------------------------------------------------------- the closing list


@GARCIA_STUDY.claim(
    "AUC, Gm, IBA, wAUC and cwA are more suitable for dealing with imbalance", place="section 4, conclusions"
)
def _suitable(results: GarciaResults) -> Finding:
    """By the paper's two criteria: correlation with TPr, here against the other five, and noticing every change."""
    least = np.min([with_rate(results.main, short, "TPr") for short in LISTED], axis=0)
    most = np.max([with_rate(results.main, short, "TPr") for short in _OTHERS], axis=0)
    gaps = least - most
    effects = [Effect(f"{100 * share:g} % positives", gaps[:, i]) for i, share in enumerate(results.main.positives)]
    blind = [short for short in LISTED if "-" in results.table_2[short]]
    noticing = [short for short in GARCIA_NAMES if "-" not in results.table_2[short] and short not in LISTED]
    why = (
        "The least correlation with TPr of the five listed less the greatest of Acc, OP, kappa, AGm and F1. By the "
        f"paper's other criterion, that every change is noticed, {' and '.join(blind)} fail, as it says itself, and "
        f"{' and '.join(noticing)} would be listed. Correlating with the recall of the rare class is its idea of "
        "suitable: recall alone would be best by it."
    )
    finding = Finding.of(effects, why, seeds="seeds")
    verdict = "holds with qualification" if finding.verdict == "holds" and blind else finding.verdict
    return Finding(finding.ours, finding.spread, verdict, why, effects=finding.effects)


@GARCIA_STUDY.claim(
    "AUC and Gm do not detect the exchange of positive and negative values in the confusion matrix",
    place="section 4, conclusions",
)
def _exchange(results: GarciaResults) -> Finding:
    signs = {short: results.table_2[short][0] for short in ("AUC", "Gm")}
    also = [short for short in GARCIA_NAMES if results.table_2[short][0] == "-" and short not in signs]
    why = f"Proved for all tables, as it is of {', '.join(also)}. Asawa and Wu ask for it and call it symmetry."
    return Finding(
        "; ".join(f"{s} stays" for s in signs), "no randomness", judged(holds=set(signs.values()) == {"-"}), why
    )


@GARCIA_STUDY.claim(
    "The F-measure is highly correlated with the results on the negative class", place="section 4, conclusions"
)
def _f1(results: GarciaResults) -> Finding:
    tnr, tpr = (with_rate(results.main, "F1", rate) for rate in ("TNr", "TPr"))
    with_tpr = np.nanmean(tpr, 0)
    shares = results.main.positives
    effects = [Effect(f"{100 * share:g} % positives", tnr[:, i], (0.7, 1.0)) for i, share in enumerate(shares)]
    why = (
        f"Highly is read as above 0.7. With TPr it is {signed(with_tpr.min())} to {signed(with_tpr.max())}. "
        "F1 holds no TN: it is the false alarms, of which a rise of TNr leaves fewer, that it follows."
    )
    return Finding.of(effects, why, seeds="seeds")
