"""Claims of Wu and Cannistraci, each tried on all draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.auditing.harshness import harsher
from steelyard.auditing.model_tables import at_rates
from steelyard.metrics.registry import get_metric
from steelyard.studies.declared_study import Finding
from steelyard.studies.study import Verdict, judged, signed
from steelyard.studies.wu import WU_STUDY
from steelyard.studies.wu_ranking import stability_finding, stability_sentence
from steelyard.studies.wu_trials import (
    CONDITIONS,
    EQUAL,
    HELD_OUT,
    LDA,
    NMC,
    SEEN,
    SKEWED,
    WU_METRICS,
    WU_PAPER,
    DigitTrials,
)

if TYPE_CHECKING:
    from steelyard._types import Array

_SENTENCES = WU_PAPER["sentences"]
_MOST, _HALF = 0.9, 0.5  # a claim holds in so many of the draws, or with qualification
_ONE_CLASS = ("sensitivity", "specificity", "precision (P)", "precision (N)")


def _by_share(share: float) -> Verdict:
    return judged(holds=share >= _MOST, partly=share >= _HALF)


@WU_STUDY.summary
def _summary(results: DigitTrials) -> list[str]:
    n = len(results.trials)
    more = [sum(abs(results.gap(c, "AC-score")) > abs(results.gap(c, "GM"))) for c in ("1:3", "3:1")]
    ahead = [sum(results.gap(c, "AC-score") > 0) for c in ("1:3", "3:1")]
    control = [sum(results.gap(c, "AC-score", HELD_OUT, NMC) > 0) for c in ("1:3", "3:1")]

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


# ---------------------------------------------------------------- Figure 1


@WU_STUDY.sentence("lowest", paper="Figure 1a, by eye")
def _lowest(_: DigitTrials) -> Finding:
    decided = [harsher("ac_score", "g_mean"), harsher("g_mean", "balanced_accuracy")]
    proved = all(decision.holds for decision in decided)
    ours = "; ".join(f"{d.metric} is {d.property}: {d.verdict}" for d in decided)
    why = "Never above is proved for all tables; where TPR = TNR all three are equal, so it is lowest or equal."
    return Finding(ours, "no randomness", judged(holds=False, partly=proved), why)


@WU_STUDY.sentence("converges", paper="in words only")
def _converges(_: DigitTrials) -> Finding:
    """The difference of AC-score and GM goes to 0 with either rate, but their ratio does as well."""
    rates = np.array([0.1, 0.01, 0.001])
    ac, gm = (np.asarray(get_metric(name)(at_rates(rates, 1.0, 0.5))) for name in ("ac_score", "g_mean"))
    ours = "; ".join(f"TPR {r:g}, TNR 1: AC {a:.3f}, GM {g:.3f}" for r, a, g in zip(rates, ac, gm, strict=True))
    near = bool((np.diff(gm - ac) < 0).all())
    why = (
        f"Their difference goes to 0, since both do; but AC falls faster, to {ac[-1] / gm[-1]:.2f} of GM where a rate "
        f"is {rates[-1]:g}: in proportion they part."
    )
    return Finding(ours, "no randomness", judged(holds=False, partly=near), why)


# ---------------------------------------------------------------- Figure 2a to c


@WU_STUDY.sentence("middle", paper="Figure 2a, by eye")
def _middle(results: DigitTrials) -> Finding:
    places = {m: np.array([t["1:3"].place(m) for t in results.trials]) for m in (NMC, LDA)}
    flagged = {m: np.array([t["1:3"].passed(m) for t in results.trials]) for m in (NMC, LDA)}
    ours = "; ".join(
        f"{m}: threshold at {places[m].mean():.2f} of the range, {100 * flagged[m].mean():.0f} % of the rows above it"
        for m in (NMC, LDA)
    )
    nearer = np.mean([abs(flagged[NMC] - 0.5) < abs(flagged[LDA] - 0.5)])
    truth = np.mean([t["1:3"].y.mean() for t in results.trials])
    why = (
        f"By rows NMC has its threshold nearer to the middle of its projections in "
        f"{nearer * len(results.trials):.0f} of {len(results.trials)} draws; by coordinates, which one far row can "
        "stretch, the two are less apart. "
        f"{100 * truth:.0f} % of the rows are positive, so a threshold that flags most rows is no fault in itself."
    )
    spread = "; ".join(f"{m} {_between(places[m])}" for m in (NMC, LDA))
    return Finding(ours, f"over draws, {spread}", _by_share(float(nearer)), why)


@WU_STUDY.sentence("inclines", paper="Figure 2b and c, by eye")
def _inclines(results: DigitTrials) -> Finding:
    sens, spec = (results.of("1:3", LDA, short) for short in ("sensitivity", "specificity"))
    other, there = (results.of("3:1", LDA, short) for short in ("sensitivity", "specificity"))
    why = (
        f"It leans to whichever class is frequent: at 3:1 its sensitivity is {other.mean():.2f} and its specificity "
        f"{there.mean():.2f}. That is what empirical priors ask of it, and fitcdiscr's default."
    )
    ours = f"sensitivity {sens.mean():.2f}, specificity {spec.mean():.2f} at 1:3"
    spread = f"over draws, sensitivity {_between(sens)}, specificity {_between(spec)}"
    return Finding(ours, spread, _by_share(float((sens > spec).mean())), why)


# ---------------------------------------------------------------- Figure 2d to f


@WU_STUDY.sentence("favour")
def _favour(results: DigitTrials) -> Finding:
    means = {short: float(results.gap("1:3", short).mean()) for short in WU_METRICS}
    ahead = sorted((s for s in WU_METRICS if means[s] > 0), key=lambda s: -means[s])
    named = _SENTENCES["favour"]["metrics"]
    right = [s for s in named if s in ahead]
    wrong = [s for s in named if s not in ahead]
    extra = [s for s in ahead if s not in named]
    verdict = judged(holds=not wrong and not extra, partly=bool(right))
    why = f"{listed(right)} favour NMC as stated." if right else "None of them does."
    if wrong:
        others = ", ".join(f"{s} favours LDA ({signed(means[s])})" for s in wrong)
        why += f" But {others}; what favours NMC beside them is {listed(extra) if extra else 'nothing'}."
    if wrong and "specificity" in extra:
        why += " LDA leans to the positives here, so it must be specificity that was meant."
    counts = "; ".join(f"{s} in {int((results.gap('1:3', s) > 0).sum())}" for s in [*named, *extra])
    ours = ", ".join(f"{s} {signed(means[s], 3)}" for s in [*named, *extra])
    spread = f"NMC ahead, of {len(results.trials)} draws: {counts}"
    return Finding(ours, spread, verdict, why, paper=f"NMC − LDA above 0 for {listed(named)}")


@WU_STUDY.sentence("separates", paper="Figure 2d and f, by eye")
def _separates(results: DigitTrials) -> Finding:
    n = len(results.trials)
    more = {c: np.abs(results.gap(c, "AC-score")) > np.abs(results.gap(c, "GM")) for c in CONDITIONS}
    ours = "; ".join(
        f"{c}: AC {signed(results.gap(c, 'AC-score').mean(), 3)}, GM {signed(results.gap(c, 'GM').mean(), 3)}"
        for c in CONDITIONS
    )
    share = float(np.mean([more[c] for c in SKEWED]))
    even = int(more["1:1"].sum())
    why = (
        f"Without imbalance it is so in {even} of {n} draws. A larger difference is not a better one: AC is lower than "
        "GM wherever the recalls differ, so a lopsided model loses more by it, whichever model deserves to lose."
    )
    spread = "AC apart further than GM: " + ", ".join(f"{int(more[c].sum())} of {n} at {c}" for c in CONDITIONS)
    return Finding(ours, spread, _by_share(share), why)


@WU_STUDY.claim(
    "Ours: under imbalance AC-score is first in the ranking of the metrics of both classes",
    paper="not stated; seen in Figure 2d and f",
    place=_SENTENCES["separates"]["place"],
    own=True,
)
def _leads(results: DigitTrials) -> Finding:
    """Whether AC stands first among the metrics that speak of both classes."""
    both = [short for short in WU_METRICS if short not in _ONE_CLASS]
    n, first, leaders = len(results.trials), {}, {}
    for c in CONDITIONS:
        gaps = np.stack([results.gap(c, short) for short in both])
        first[c] = int((gaps.argmax(0) == both.index("AC-score")).sum())
        leaders[c] = both[int(gaps.mean(1).argmax())]
    ours = "; ".join(f"{c}: {leaders[c]} first" for c in CONDITIONS)
    spread = "AC first: " + ", ".join(f"{first[c]} of {n} draws at {c}" for c in CONDITIONS)
    share = sum(first[c] for c in SKEWED) / (2 * n)
    why = "Of the eight metrics that speak of both classes, ranked by NMC − LDA."
    return Finding(ours, spread, _by_share(share), why)


@WU_STUDY.sentence("stable")
def _stable_two(results: DigitTrials) -> Finding:
    return stability_finding(results, _SENTENCES["stable"]["metrics"])


@WU_STUDY.sentence("stable_too")
def _stable_four(results: DigitTrials) -> Finding:
    return stability_finding(results, _SENTENCES["stable_too"]["metrics"])


# ---------------------------------------------------------------- the control


@WU_STUDY.sentence("fair", paper="NMC above LDA on AC")
def _fair(results: DigitTrials) -> Finding:
    n, controls = len(results.trials), (HELD_OUT, SEEN, EQUAL)
    wins = {m: [int((results.gap(c, "AC-score", m, NMC) > 0).sum()) for c in SKEWED] for m in controls}
    ours = "; ".join(
        f"{c}: " + ", ".join(f"{m} {results.of(c, m, 'AC-score').mean():.3f}" for m in (NMC, LDA, *controls))
        for c in SKEWED
    )
    spread = f"ahead of NMC on AC, of {n} draws at 1:3 and 3:1: " + "; ".join(
        f"{m} {a} and {b}" for m, (a, b) in wins.items()
    )
    ahead = {c: float((results.gap(c, "AC-score", HELD_OUT, NMC) <= 0).mean()) for c in SKEWED}
    each = ", ".join(f"at {c} it {_by_share(share)}" for c, share in ahead.items())
    lost = [results.gap(c, "AC-score", NMC, LDA).mean() for c in SKEWED]
    left = [results.gap(c, "AC-score", NMC, HELD_OUT).mean() for c in SKEWED]
    why = (
        f"NMC − LDA on AC is {signed(lost[0])} and {signed(lost[1])}; with the threshold searched for both it is "
        f"{signed(left[0])} and {signed(left[1])}. The comparison gave one model a search for the "
        f"operating point, by a score that contains AC, and not the other: what AC shows is the threshold. Taken "
        f"apart, {each}. The two searches use the same score but not the same rows: NMC's threshold is the mean of "
        "those of 5 folds, 10 times, LDA's that of one held-out fifth."
    )
    return Finding(ours, spread, _by_share(float(np.mean(list(ahead.values())))), why)


def _between(values: Array) -> str:
    return f"{values.min():.2f} to {values.max():.2f}"
