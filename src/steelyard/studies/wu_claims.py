"""Claims of Wu and Cannistraci on the house numbers, each tried by its effects over draws of disjoint seeds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.protocol.nearest_mean_result import TRAINED
from steelyard.studies.claims import ABOVE_0, Effect, Finding, signed
from steelyard.studies.wu import WU_STUDY
from steelyard.studies.wu_ranking import drawn_places, stability_sentence
from steelyard.studies.wu_trials import CONDITIONS, EQUAL, HELD_OUT, LDA, NMC, SEEN, SKEWED, WU_METRICS, DigitTrials

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
