"""Asawa's claims, each tried by what the run gave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.curves import roc_curve
from steelyard.metrics.registry import get_metric
from steelyard.studies.asawa import (
    ADDED,
    ASAWA_STUDY,
    TESTED,
    TREES,
    AsawaResults,
    agreeing_draws,
    as_paper,
    printed,
    pulsar_divisions,
    reconstructed,
)
from steelyard.studies.study import Effect, Finding, judged, published, tiny

if TYPE_CHECKING:
    from steelyard._types import Array

_SAME = 1e-9
_USUALLY = 0.9  # the share of the draws that must agree
_LOSS = 0.01  # of TPNR: what a threshold may cost and still be no loss
_DATA_SET = "no seed: the data set"


@ASAWA_STUDY.summary
def _summary(results: AsawaResults) -> list[str]:
    n, draws = len(results.outcomes), len(results.first.drawn)
    return [
        f"Balanced by weights, {_listed('robust')} stay as they are in {_agreeing(results, 'robust')} of {n} splits, "
        f"and in {agreeing_draws(results.first)} of {draws} drawn test sets of the first; swapped, "
        f"{_listed('symmetric')} in {_agreeing(results, 'symmetric')} of {n}.",
        "That is algebra rather than evidence: rates of each class cannot move when a class is thinned at random, and "
        "the formulas of the others do not know which class is called positive.",
        "The paper's Figure 4 comes out of whole counts to ten digits; they show that its last tree was fitted twice.",
        _pair_words(results),
    ]


def _listed(kind: str) -> str:
    return ", ".join(published("asawa")[kind])


def _agreeing(results: AsawaResults, kind: str) -> int:
    """In how many splits the "robust", "symmetric" or "winners" are the paper's."""
    return sum(as_paper(kind, getattr(outcome.alike, kind)) for outcome in results.outcomes)


def _by_weights(results: AsawaResults, kind: str, why: str) -> Finding:
    """What the first split shows of one kind, and in how many splits that is the paper's list."""
    n, same, metrics = len(results.outcomes), _agreeing(results, kind), getattr(results.first.alike, kind)
    verdict = judged(holds=same == n, partly=same > 0)
    return Finding(", ".join(metrics), f"the same in {same} of {n} splits, by algebra in all", verdict, why)


# ---------------------------------------------------------------- the data


@ASAWA_STUDY.claim("Positives and negatives are as 1 to 10.", paper="1:10", place="Section 2")
def _shares(results: AsawaResults) -> Finding:
    p = int(results.pulsars.y.sum())
    n = len(results.pulsars.y) - p
    verdict = judged(holds=abs(n / p - 10) < 0.05, partly=9.5 < n / p < 10.5)
    return Finding(f"{p:,} and {n:,}, 1:{n / p:.2f}", _DATA_SET, verdict, "A round number.")


@ASAWA_STUDY.claim("Attributes 1, 3 and 4 are most correlated with the class.", paper="1, 3, 4", place="Section 4.1")
def _chosen(results: AsawaResults) -> Finding:
    with_class = np.abs(results.correlations[:-1, -1])
    top = sorted((np.argsort(-with_class)[:3] + 1).tolist())
    values = ", ".join(f"{i}: {with_class[i - 1]:.3f}" for i in top)
    return Finding(values, _DATA_SET, judged(holds=top == [1, 3, 4]), "By the size of Pearson's r over all rows.")


def _pairs(results: AsawaResults) -> dict[str, float]:
    return {f"{a + 1} and {b + 1}": float(results.correlations[a, b]) for a, b in ((0, 2), (0, 3), (2, 3))}


def _pair_words(results: AsawaResults) -> str:
    pairs = _pairs(results)
    least = min(pairs, key=lambda k: abs(pairs[k]))
    values = ", ".join(f"r = {r:.3f} for {pair}" for pair, r in pairs.items())
    by_sign = "; 1 and 3 have the lowest r only where its sign counts" if least != "1 and 3" else ""
    return f"Of the attributes 1, 3 and 4 the pair {least} is least correlated ({values}){by_sign}."


@ASAWA_STUDY.claim("Of these, 1 and 3 are least correlated with each other.", paper="1 and 3", place="Section 4.1")
def _pair(results: AsawaResults) -> Finding:
    pairs = _pairs(results)
    least = min(pairs, key=lambda k: abs(pairs[k]))
    verdict = judged(holds=least == "1 and 3")
    return Finding(f"{least}, r = {pairs[least]:.3f}", _DATA_SET, verdict, _pair_words(results))


@ASAWA_STUDY.claim("Two principal components give better results than the two attributes.", place="Section 4")
def _components(results: AsawaResults) -> Finding:
    pair, other_pair = "attributes 1 and 3", "attributes 1 and 4"
    ours, other = (of.mean(1) for of in (results.with_components("tpnr"), results.with_attributes("tpnr", pair)))
    plain = results.with_components("accuracy").mean(), results.with_attributes("accuracy", pair).mean()
    effect = Effect("TPNR of four trees, components less attributes 1 and 3", ours - other, test_share=TESTED)
    why = (
        f"Means over the splits: TPNR {ours.mean():.3f} and {other.mean():.3f}, accuracy {plain[0]:.4f} and "
        f"{plain[1]:.4f}; better in {int((ours > other).sum())} of {len(ours)}. With attributes 1 and 4 TPNR is "
        f"{results.with_attributes('tpnr', other_pair).mean():.3f}."
    )
    return Finding.of([effect], why, seeds="splits")


# ---------------------------------------------------------------- Figure 4


@ASAWA_STUDY.claim(
    "Figure 4: the changes of the metrics when the test set is balanced.", place="the table under Figure 5"
)
def _figure_4(_: AsawaResults) -> Finding:
    again, sizes = reconstructed(), pulsar_divisions()
    metrics = [name for name in again.metrics if name != ADDED]
    gaps = [np.abs(again.changes[:, 0, again.metrics.index(name)] - printed(name)).max() for name in metrics]
    return Finding(
        f"from four recovered tables, within {max(gaps):.1e} for {len(metrics)} metrics",
        "no seed: the paper's numbers alone",
        judged(holds=False, partly=max(gaps) < _SAME),
        f"For a test set of {sum(sizes[0]):,} rows, 30 % of HTRU2, such tables exist only for "
        f"{' or '.join(f'{p:,} positives and {n:,} negatives' for p, n in sizes)}; ratios alone would allow multiples. "
        "The area needs the scores of the leaves, which are lost; and no pipeline tried gives these tables again, "
        "so they stay a reconstruction.",
        paper=f"{sum(map(len, published('asawa')['figure_4'].values()))} numbers of ten digits",
    )


@ASAWA_STUDY.claim("The same trees are tested on the unbalanced and the balanced set.", place="Sections 4 and 5.2")
def _one_fit(results: AsawaResults) -> Finding:
    change, positives = printed("recall"), pulsar_divisions()[0][0]
    drawn = results.first.drawn[:, :, results.first.alike.metrics.index("recall")]
    return Finding(
        f"recall changes by {np.abs(drawn).max():.4f} at most",
        f"over {len(drawn)} draws and four trees",
        judged(holds=change[-1] == 0),
        "Thinning the negatives leaves recall as it is. The change of "
        f"{abs(round(change[-1] * positives))} of {positives} positives shows that the last tree was fitted anew, "
        "without a seed, between the two tests.",
        paper=f"recall changes by {change[-1]:.4f} (DT4)",
    )


# ---------------------------------------------------------------- verdicts


@ASAWA_STUDY.claim(
    "Recall, specificity, TPNR and AUC do not feel the imbalance; the others do.",
    paper=_listed("robust"),
    place="Section 5.2",
)
def _robust(results: AsawaResults) -> Finding:
    moved = {v.metric: abs(v.change) for v in results.first.alike.verdicts if not v.robust}
    least = min(moved, key=lambda name: moved[name])
    why = (
        f"By weights they move by exactly 0, as does per-class accuracy, which the paper did not try; of the others "
        f"{least} moves least, by {moved[least]:.3f}."
    )
    return _by_weights(results, "robust", why)


@ASAWA_STUDY.claim(
    "The same, where the test set is balanced by drawing negatives, as the paper did.",
    paper="one draw",
    place="Section 5.2, Figure 4",
)
def _robust_draws(results: AsawaResults) -> Finding:
    """The share of the draws in which a split agrees with the paper."""
    first, names = results.first, results.first.alike.metrics
    agreeing = [agreeing_draws(outcome) for outcome in results.outcomes]
    shares = Effect("share of the draws", np.divide(agreeing, len(first.drawn)), (_USUALLY, np.inf))
    widest = {n: float(np.abs(first.drawn[:, :, names.index(n)]).max()) for n in published("asawa")["robust"]}
    draws = len(first.drawn) * len(agreeing)
    why = f"Asked is a mean share above {_USUALLY}, and without qualification all draws. The largest changes: "
    finding = Finding.of(
        [shares],
        why + ", ".join(f"{n} {v:.4f}" for n, v in widest.items()) + ".",
        seeds="splits",
        ours=f"in {sum(agreeing):,} of {draws:,} draws over all splits",
    )
    some_fail = finding.verdict == "holds" and sum(agreeing) < draws
    return replace(finding, verdict="holds with qualification") if some_fail else finding


@ASAWA_STUDY.claim(
    "Accuracy, TPNR, kappa, MCC and AUC do not feel swapped labels; the others do.",
    paper=_listed("symmetric"),
    place="Section 5.3",
)
def _symmetric(results: AsawaResults) -> Finding:
    n = len(results.outcomes)
    unlike = sum(as_paper("symmetric", outcome.unlike.symmetric) for outcome in results.outcomes)
    at = [results.first.alike.metrics.index(name) for name in published("asawa")["symmetric"]]
    same, first = (
        max(float(np.abs(getattr(outcome, ties).swap_changes[:, at]).max()) for outcome in results.outcomes)
        for ties in ("alike", "unlike")
    )
    why = (
        f"The largest change of these over all splits is {tiny(same)} where a leaf with a tie predicts the same "
        f"original class, and {tiny(first)} ({unlike} of {n} splits) where it predicts the first class, as "
        "scikit-learn does. The paper's sentence says 'insensitive to data imbalance' and must mean to swapped labels."
    )
    return _by_weights(results, "symmetric", why)


@ASAWA_STUDY.claim("TPNR and AUC alone stand both tests.", paper=_listed("winners"), place="Section 5.4")
def _winners(results: AsawaResults) -> Finding:
    why = (
        "Of the metrics that the paper tried; G-mean, AC-score and informedness are made of the same two rates and "
        "would stand them too."
    )
    return _by_weights(results, "winners", why)


@ASAWA_STUDY.claim("Per-class accuracy could be the third winner.", paper="not tried", place="Section 6")
def _per_class(results: AsawaResults) -> Finding:
    n, wins = len(results.outcomes), sum(ADDED in outcome.alike.winners for outcome in results.outcomes)
    ours, why = "robust and symmetric" if wins else "not both", "It is the mean of the two rates, balanced accuracy."
    return Finding(ours, f"in {wins} of {n} splits", judged(holds=wins == n, partly=wins > 0), why)


# ---------------------------------------------------------------- what the paper says beside


def area_under_product(fpr: Array, tpr: Array) -> float:
    """The area under sensitivity x specificity over 1 - specificity, of the straight lines between the points.

    Both rates are linear between two points of the curve, so their product is quadratic, and Simpson's rule exact.

    >>> area_under_product(np.array([0.0, 1.0]), np.array([0.0, 1.0]))  # of x (1 - x), 1/6; its ends alone give 0
    0.16666666666666666
    """
    specificity, middle = 1 - fpr, (fpr[:-1] + fpr[1:]) / 2
    ends = tpr * specificity
    between = (tpr[:-1] + tpr[1:]) / 2 * (1 - middle)
    return float(np.sum(np.diff(fpr) * (ends[:-1] + 4 * between + ends[1:]) / 6))


@ASAWA_STUDY.claim(
    "AUC is the area under sensitivity x specificity.", paper="the reason given why AUC does well", place="Section 6"
)
def _area(results: AsawaResults) -> Finding:
    y, areas = results.first.trees.y_test, {}
    for tree, scores in results.first.trees.scores.items():
        curve = roc_curve(y, scores)
        areas[tree] = (float(get_metric("roc_auc")(y, scores)), area_under_product(curve.fpr, curve.tpr))
    return Finding(
        ", ".join(f"{tree} {area:.3f} and {product:.3f}" for tree, (area, product) in areas.items()),
        "the area, and that under the product",
        judged(holds=all(abs(area - product) < _SAME for area, product in areas.values())),
        "AUC is the area under sensitivity over 1 - specificity; it is robust because it is made of shares of each "
        "class, as TPNR is.",
    )


@ASAWA_STUDY.claim("Threshold by ROC, then report TPNR.", paper="advised, not tried", place="Sections 6 and 7")
def _threshold(results: AsawaResults) -> Finding:
    """What the threshold adds to TPNR on rows that chose nothing, tree by tree, over all splits."""
    gains = [[row["tpnr at the threshold"] - row["tpnr at 0.5"] for row in rows] for rows in results.thresholds]
    effects = [
        Effect(tree, values, (-_LOSS, np.inf), test_share=TESTED)
        for tree, values in zip(TREES, np.transpose(gains), strict=True)
    ]
    worst = min(row["tpnr at the threshold"] / row["tpnr at 0.5"] for rows in results.thresholds for row in rows)
    lost = [row["precision at 0.5"] - row["precision at the threshold"] for rows in results.thresholds for row in rows]
    why = (
        f"What is added to TPNR on rows that chose nothing; asked is that it loses no more than {_LOSS}. At worst, in "
        f"one split, TPNR is {worst:.2f} of what it was. Precision falls by up to {np.nanmax(lost):.2f}: a threshold "
        "that gives both classes equal weight flags many more negatives."
    )
    return Finding.of(effects, why, seeds="splits")
