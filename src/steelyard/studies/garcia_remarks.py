"""García's remarks on the formulas of metrics, and the list that the paper closes with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.model_tables import at_rates
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.claims import Effect, Finding, judged, signed
from steelyard.studies.garcia import GARCIA_NAMES, GARCIA_STUDY, LISTED, GarciaResults, with_rate

if TYPE_CHECKING:
    from steelyard._types import Array

_NO_SEED = "no randomness: the formula on all rates of a grid"
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
        _NO_SEED,
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
        _NO_SEED,
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
        _NO_SEED,
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
