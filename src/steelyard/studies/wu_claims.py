"""Claims of Wu and Cannistraci on the house numbers, each tried by its effects over draws of disjoint seeds."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.identities import harsher
from steelyard.auditing.model_tables import at_rates
from steelyard.auditing.properties import decide
from steelyard.metrics.registry import get_metric
from steelyard.protocol.nearest_mean_result import TRAINED
from steelyard.studies.study import ABOVE_0, Effect, Finding, judged, published, signed
from steelyard.studies.wu import (
    CONDITIONS,
    EQUAL,
    HELD_OUT,
    LDA,
    NMC,
    SEEN,
    SKEWED,
    WU_METRICS,
    WU_STUDY,
    DigitTrials,
    drawn_places,
    stability_sentence,
)

if TYPE_CHECKING:
    from steelyard._types import Array


_ONE_CLASS = ("sensitivity", "specificity", "precision (P)", "precision (N)")
_BELOW_0 = (-np.inf, 0.0)
_MIDDLE = (0.4, 0.6)  # of the projection: what "near the middle" must at least mean
_PLACE = 1.5  # how far a metric may move in the ranking, on average, and be called stable


def _effect(name: str, values: Array, claimed: tuple[float, float] = ABOVE_0) -> Effect:
    """Draws share rows: each trains on three times the rows that it tests."""
    return Effect(name, values, claimed, test_share=1 / (1 + TRAINED))


@WU_STUDY.summary
def _summary(results: DigitTrials) -> list[str]:
    n = len(results.trials)
    more = [sum(abs(results.gap(c, "AC-score")) > abs(results.gap(c, "GM"))) for c in SKEWED]
    ahead = [sum(results.gap(c, "AC-score") > 0) for c in SKEWED]
    control = [sum(results.gap(c, "AC-score", HELD_OUT, NMC) > 0) for c in SKEWED]

    def mean(condition: str, model: str, short: str) -> str:
        return f"{results.of(condition, model, short).mean():.2f}"

    caveat = "; but what it sees is the threshold" if min(control) > n / 2 else ""
    return [
        f"Under imbalance (N:P = 1:3 and 3:1) the AC-score puts NMC ahead of LDA in {sum(ahead)} of {2 * n} draws, and "
        f"further apart than GM in {sum(more)}{caveat}.",
        f"With the threshold searched for LDA as well, LDA is ahead of NMC on the AC-score in {control[0]} and "
        f"{control[1]} of {n} draws: {mean('1:3', HELD_OUT, 'AC-score')} against {mean('1:3', NMC, 'AC-score')} "
        f"at 1:3, where LDA with its own threshold has {mean('1:3', LDA, 'AC-score')}.",
        f"A random predictor has an AUROC of 0.50; NMC has {mean('1:3', NMC, 'AUROC')} and LDA "
        f"{mean('1:3', LDA, 'AUROC')} at 1:3, {mean('3:1', NMC, 'AUROC')} and {mean('3:1', LDA, 'AUROC')} at 3:1. "
        f"A coin that flags half of the rows has an AC-score of 0.50, too; NMC has "
        f"{mean('1:3', NMC, 'AC-score')} and {mean('3:1', NMC, 'AC-score')}.",
        stability_sentence(results),
    ]


# ---------------------------------------------------------------- Figure 2a to c


@WU_STUDY.claim(
    "At N:P = 1:3 the operating point of NMC lies near the middle of the projection, "
    "the threshold of LDA toward one side",
    paper="stated of Figure 2a",
    place="section 2.2",
)
def _middle(results: DigitTrials) -> Finding:
    """By coordinates, which the figure shows; by rows in the words."""
    places = {m: np.array([t["1:3"].place(m) for t in results.trials]) for m in (NMC, LDA)}
    flagged = {m: np.array([t["1:3"].passed(m) for t in results.trials]) for m in (NMC, LDA)}
    off = {m: np.abs(place - 0.5) for m, place in places.items()}
    truth = np.mean([t["1:3"].y.mean() for t in results.trials])
    effects = [
        _effect("place of NMC's threshold", places[NMC], _MIDDLE),
        _effect("LDA's further from the middle than NMC's by", off[LDA] - off[NMC]),
    ]
    why = (
        f"Places are coordinates from the lowest (0) to the highest (1) projection, which one far row can stretch; "
        f"LDA's is {places[LDA].mean():.2f}. By rows the two are further apart: "
        + " and ".join(f"{100 * flagged[m].mean():.0f} % above the threshold of {m}" for m in (NMC, LDA))
        + f". {100 * truth:.0f} % of the rows are positive, so a threshold that flags most rows is no fault in itself."
    )
    return Finding.of(effects, why, seeds="draws")


@WU_STUDY.claim(
    "At N:P = 1:3 NMC has a more uniform projection of the data than LDA",
    paper="stated of Figure 2a",
    place="section 2.2",
)
def _uniform(results: DigitTrials) -> Finding:
    far = {m: np.array([_from_uniform(t["1:3"].normalised(m)[0]) for t in results.trials]) for m in (NMC, LDA)}
    why = (
        "Kolmogorov's distance of the normalised coordinates from the uniform distribution, LDA's less NMC's: "
        f"{far[LDA].mean():.2f} and {far[NMC].mean():.2f}. An even projection is no merit as such; no projection of a "
        "class that lies in one heap is even."
    )
    return Finding.of([_effect("LDA's distance from uniform less NMC's", far[LDA] - far[NMC])], why, seeds="draws")


def _from_uniform(places: Array) -> float:
    """The largest distance of the empirical distribution from that of even places between 0 and 1."""
    placed, n = np.sort(places), len(places)
    steps = np.arange(n + 1) / n
    return float(np.maximum(steps[1:] - placed, placed - steps[:-1]).max())


@WU_STUDY.claim(
    "LDA separates with an inclination for the positive class, sacrificing the negative class",
    paper="stated of Figure 2b and c",
    place="section 2.2",
)
def _inclines(results: DigitTrials) -> Finding:
    sens, spec = (results.of("1:3", LDA, short) for short in ("sensitivity", "specificity"))
    other, there = (results.of("3:1", LDA, short) for short in ("sensitivity", "specificity"))
    why = (
        f"It leans to whichever class is frequent: at 3:1 its sensitivity is {other.mean():.2f} and its specificity "
        f"{there.mean():.2f}. That is what empirical priors ask of it, and fitcdiscr's default."
    )
    ours = f"sensitivity {sens.mean():.2f}, specificity {spec.mean():.2f} at 1:3"
    return Finding.of([_effect("sensitivity less specificity", sens - spec)], why, seeds="draws", ours=ours)


# ---------------------------------------------------------------- Figure 2d to f


@WU_STUDY.claim(
    "At N:P = 1:3 AC-score, GM and sensitivity favour NMC; "
    "by the metrics to the right of the dashed line LDA performs better",
    paper="NMC − LDA above 0 for AC-score, GM and sensitivity alone",
    place="section 2.2, Figure 2d",
)
def _favour(results: DigitTrials) -> Finding:
    named = ("AC-score", "GM", "sensitivity")
    gaps = {short: results.gap("1:3", short) for short in WU_METRICS}
    effects = [_effect(short, gap, ABOVE_0 if short in named else _BELOW_0) for short, gap in gaps.items()]
    why = "NMC − LDA, claimed above 0 for the three and below 0 for the others."
    if gaps["sensitivity"].mean() < 0 < gaps["specificity"].mean():
        why += " LDA leans to the positives here, so it must be specificity, not sensitivity, that was meant."
    return Finding.of(effects, why, seeds="draws")


@WU_STUDY.claim(
    "AC-score differentiates LDA and NMC more than GM, especially under imbalance",
    paper="stated of Figure 2d and f",
    place="section 2.2",
)
def _separates(results: DigitTrials) -> Finding:
    more = {c: np.abs(results.gap(c, "AC-score")) - np.abs(results.gap(c, "GM")) for c in CONDITIONS}
    why = (
        f"How much further AC parts the two than GM; without imbalance by {signed(more['1:1'].mean(), 3)}. A larger "
        "difference is not a better one: AC is lower than GM wherever the recalls differ, so a lopsided model loses "
        "more by it, whichever model deserves to lose."
    )
    return Finding.of([_effect(f"at {c}", more[c]) for c in SKEWED], why, seeds="draws")


@WU_STUDY.claim(
    "Ours: under imbalance AC-score is first in the ranking of the metrics of both classes",
    paper="not stated; the figure that would show it is not in the text",
    place="section 2.2",
    own=True,
)
def _leads(results: DigitTrials) -> Finding:
    """Whether AC stands first among the metrics that speak of both classes."""
    others = [short for short in WU_METRICS if short not in (*_ONE_CLASS, "AC-score")]
    ahead = {
        c: results.gap(c, "AC-score") - np.max([results.gap(c, short) for short in others], axis=0) for c in CONDITIONS
    }
    why = (
        "NMC − LDA by AC less the largest by any of the other seven metrics that speak of both classes; without "
        f"imbalance it is {signed(ahead['1:1'].mean(), 3)}."
    )
    return Finding.of([_effect(f"at {c}", ahead[c]) for c in SKEWED], why, seeds="draws")


def _stable(results: DigitTrials, named: tuple[str, ...]) -> Finding:
    """Both readings of "stable": a metric keeps its place in the ranking, or its side of the dashed line."""
    places, sides, drawn = results.mean_places(), results.mean_sides(), drawn_places(results)
    moved = np.max([np.ptp(drawn[:, :, list(WU_METRICS).index(short)], axis=1) for short in named], axis=0)
    kept = []
    for short in named:
        gaps = np.stack([results.gap(c, short) for c in CONDITIONS])
        kept.append((gaps * np.sign(gaps[0].mean())).min(0))
    effects = [
        _effect("places moved, the most of them", moved, (-np.inf, _PLACE)),
        _effect("distance kept from the dashed line, the least of them", np.min(kept, axis=0)),
    ]
    each = "; ".join(f"{s} is no. {', '.join(map(str, places[s]))} and favours {', '.join(sides[s])}" for s in named)
    by_side = results.one_sided()
    why = (
        f"The paper does not say which it means by stable. At {', '.join(CONDITIONS)} of twelve metrics {each}. Those "
        f"that favour one model at all three: {listed(by_side) if by_side else 'none'}."
    )
    return Finding.of(effects, why, seeds="draws", paper=f"{listed([*named])} alone")


_TWO = ("AC-score", "GM")
WU_STUDY.claim(
    "Only AC-score and GM are stable; the others change their position in the ranking by NMC − LDA",
    place="section 2.2, Figure 2d to f",
)(partial(_stable, named=_TWO))
WU_STUDY.claim("Only AC-score, GM, AUROC and BA give stable evaluations", place="introduction, last paragraph")(
    partial(_stable, named=(*_TWO, "AUROC", "BA"))
)


# ---------------------------------------------------------------- the control


@WU_STUDY.claim(
    "AC-score gives a fair evaluation and comparison of LDA and NMC",
    paper="NMC above LDA on AC",
    place="introduction, last paragraph",
)
def _fair(results: DigitTrials) -> Finding:
    ours = "; ".join(
        f"{c}: "
        + ", ".join(f"{m} {results.of(c, m, 'AC-score').mean():.3f}" for m in (NMC, LDA, HELD_OUT, SEEN, EQUAL))
        for c in SKEWED
    )
    left = [_effect(f"NMC − {HELD_OUT} at {c}", results.gap(c, "AC-score", NMC, HELD_OUT)) for c in SKEWED]
    lost = [signed(results.gap(c, "AC-score", NMC, LDA).mean()) for c in SKEWED]
    why = (
        f"NMC − LDA on AC is {lost[0]} and {lost[1]}; tried is what is left with the threshold searched for both. The "
        "comparison gave one model a search for the operating point, by a score that contains AC, and not the other: "
        "what AC shows is the threshold. The two searches use the same score but not the same rows: NMC's threshold is "
        "the mean of those of 5 folds, 10 times, LDA's that of one held-out fifth."
    )
    return Finding.of(left, why, seeds="draws", ours=ours)


# ---------------------------------------------------------------- wu criteria
# What Wu and Cannistraci say of metrics as such: their criteria, and the profile of Figure 1; no data, no seed.


_NO_SEED = "no randomness"
_CRITERIA = {
    "prevalence_invariance": "null-biased",
    "class_symmetry": "the same for both classes",
    "equal_recalls_kept": "keeps the value of equal rates",
}
_OTHERS = {"GM": "g_mean", "BA": "balanced_accuracy"}
_EXCLUDED = {"BM": "informedness", "GM squared": "tpnr", "IBA of GM": "iba", "IBA of GM squared": "iba[of=tpnr]"}


def _met(metric: str) -> list[str]:
    return [name for name in _CRITERIA if decide(metric, name).holds]


def _at(metric: str, tpr: float | Array, tnr: float | Array) -> Array:
    return np.asarray(get_metric(metric)(at_rates(tpr, tnr, 0.5)))


@WU_STUDY.claim(
    "AC-score meets the criteria for a metric: null-biased, equal for both classes, continuous",
    place="abstract, introduction and section 3.1",
)
def _criteria(_: DigitTrials) -> Finding:
    met = {name: _met(metric) for name, metric in {"AC-score": "ac_score", **_OTHERS}.items()}
    ours = "; ".join(f"{name}: {', '.join(_CRITERIA[c] for c in criteria)}" for name, criteria in met.items())
    why = (
        "Each is proved for all tables. It is continuous save where both rates are 0, where it is 0 over 0 and the "
        "paper says nothing; 0 is the limit. GM and BA meet the same criteria, so these alone do not choose it."
    )
    return Finding(ours, _NO_SEED, judged(holds=len(met["AC-score"]) == len(_CRITERIA)), why)


@WU_STUDY.claim(
    "A metric should keep the value of TPR and TNR where they are the same; BM and all powers of GM such as IBA do not",
    place="introduction, second paragraph",
)
def _keeps(_: DigitTrials) -> Finding:
    kept = {name: decide(metric, "equal_recalls_kept").holds for name, metric in _EXCLUDED.items()}
    values = {name: float(_at(metric, 0.8, 0.8)) for name, metric in _EXCLUDED.items()}
    ours = "; ".join(f"{name} {value:.2f}" for name, value in values.items())
    wrong = [name for name, keeps in kept.items() if keeps]
    why = (
        f"Both rates 0.80. {listed(wrong) if wrong else 'None'} keeps the value: with equal rates the dominance is 0, "
        "and IBA is what it is made of. IBA is no power of GM; of GM squared, its first form, the sentence is true."
    )
    return Finding(ours, _NO_SEED, judged(holds=not wrong, partly=len(wrong) < len(kept)), why)


@WU_STUDY.claim(
    "BA and AUROC create no nonlinear penalty as TPR and TNR part, GM does, and AC-score penalises more strongly",
    place="introduction and section 2.1",
)
def _penalty(_: DigitTrials) -> Finding:
    """At a mean rate of one half, apart by d: BA stays, GM is a half circle, AC a parabola below it."""
    apart = np.linspace(0, 1, 201)
    values = {
        name: _at(metric, 0.5 + apart / 2, 0.5 - apart / 2) for name, metric in {"AC": "ac_score", **_OTHERS}.items()
    }
    extra = values["GM"] - values["AC"]
    ours = "; ".join(
        f"{apart[i]:.1f} apart: " + ", ".join(f"{name} {value[i]:.2f}" for name, value in values.items())
        for i in (0, 100, 200)
    )
    why = (
        "Mean of the rates 0.50. BA does not move at all, GM and AC do and AC more; but what AC takes more than GM is "
        f"most where the rates are {math.sqrt(3) / 2:.2f} apart and nothing where one is 0. This is the AUROC of one "
        "threshold; that of all thresholds is not made of one TPR and TNR."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=bool((extra >= -1e-12).all())), why)


@WU_STUDY.claim(
    "AC-score achieved the strongest penalization for favouring one class", place="introduction, last paragraph"
)
def _strongest(_: DigitTrials) -> Finding:
    """Among the paper's metrics of both rates; the smaller rate meets every criterion and is harsher still."""
    decided = [harsher("ac_score", "g_mean"), harsher("ac_score", "balanced_accuracy")]
    rates = np.linspace(0.05, 1, 20)
    tpr, tnr = np.meshgrid(rates, rates)
    lower = bool((np.minimum(tpr, tnr) <= _at("ac_score", tpr, tnr) + 1e-12).all())
    ac = float(_at("ac_score", 0.9, 0.3))
    ours = "; ".join(f"{d.metric} is {d.property}: {d.verdict}" for d in decided)
    why = (
        "Of the metrics that the paper compares. A metric that penalises as much as possible, which the introduction "
        f"asks for, it is not: the smaller of the two rates meets every criterion too and is never above it "
        f"(rates 0.9 and 0.3: AC {ac:.2f}, the smaller 0.30)."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=all(d.holds for d in decided) and lower), why)


# ---------------------------------------------------------------- Figure 1


@WU_STUDY.claim(
    "AC-score has the lowest evaluation everywhere, below GM, AUROC and BA",
    paper="stated of Figure 1a",
    place="section 2.1",
)
def _lowest(_: DigitTrials) -> Finding:
    decided = [harsher("ac_score", "g_mean"), harsher("g_mean", "balanced_accuracy")]
    ours = "; ".join(f"{d.metric} is {d.property}: {d.verdict}" for d in decided)
    example = published("wu")["above_auroc"]
    y, scores = np.array(example["y_true"]), np.array(example["y_score"])
    flagged = (scores >= example["threshold"]).astype(int)
    ac = float(get_metric("ac_score")(y, flagged))
    auroc = float(get_metric("roc_auc")(y, scores))
    why = (
        "Never above is proved for all tables; where TPR = TNR all three are equal, so it is lowest or equal. And of "
        "AUROC it is true only of one threshold, where that is BA: the area under the whole curve may be below. Ten "
        f"rows with labels {' '.join(map(str, y))} from the highest score, the first {flagged.sum()} flagged, have an "
        f"AC-score of {ac:.2f} and an AUROC of {auroc:.2f}; a curve through a point holds TPR times TNR at least."
    )
    partly = all(decision.holds for decision in decided)
    return Finding(
        f"{ours}; AC {ac:.2f} above an AUROC of {auroc:.2f} on ten rows",
        _NO_SEED,
        judged(holds=False, partly=partly),
        why,
    )


@WU_STUDY.claim("When TPR or TNR gets zero, AC-score converges to GM", place="section 2.1, below Figure 1")
def _converges(_: DigitTrials) -> Finding:
    """The difference of AC-score and GM goes to 0 with either rate, but their ratio does as well."""
    rates = np.array([0.1, 0.01, 0.001])
    ac, gm = _at("ac_score", rates, 1.0), _at("g_mean", rates, 1.0)
    ours = "; ".join(f"TPR {r:g}, TNR 1: AC {a:.3f}, GM {g:.3f}" for r, a, g in zip(rates, ac, gm, strict=True))
    near = bool((np.diff(gm - ac) < 0).all())
    why = (
        f"Their difference goes to 0, since both do; but AC falls faster, to {ac[-1] / gm[-1]:.2f} of GM where a rate "
        f"is {rates[-1]:g}: in proportion they part."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=near), why)
