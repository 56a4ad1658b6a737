"""Claims of Wu and Cannistraci, each tried on all draws. Used by the study wu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.rows import listed
from steelyard.auditing.harshness import harsher
from steelyard.auditing.model_tables import at_rates
from steelyard.metrics.registry import get_metric
from steelyard.studies.study import Claim, Verdict, signed
from steelyard.studies.wu_trials import CONDITIONS, EQUAL, HELD_OUT, LDA, METRICS, NMC, PAPER, SEEN

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.wu_trials import Trials

_SAID = PAPER["sentences"]
SKEWED = ("1:3", "3:1")
_MOST, _HALF = 0.9, 0.5  # a claim holds in so many of the draws, or with qualification
ONE_CLASS = ("sensitivity", "specificity", "precision (P)", "precision (N)")


def claims(found: Trials) -> list[Claim]:
    """All of them, in the order of the paper; the last is the control that the paper lacks."""
    return [
        _lowest(),
        _converges(),
        _middle(found),
        _inclines(found),
        _favour(found),
        _separates(found),
        _leads(found),
        _stable(found, "stable"),
        _stable(found, "stable_too"),
        _fair(found),
    ]


def _claim(key: str, paper: str, ours: str, spread: str, verdict: Verdict, why: str) -> Claim:
    return Claim(_SAID[key]["words"], paper, ours, spread, verdict, why, _SAID[key]["place"])


def _judged(share: float) -> Verdict:
    return "holds" if share >= _MOST else "holds with qualification" if share >= _HALF else "does not hold"


# ---------------------------------------------------------------- Figure 1


def _lowest() -> Claim:
    decided = [harsher("ac_score", "g_mean"), harsher("g_mean", "balanced_accuracy")]
    proved = all(one.holds for one in decided)
    ours = "; ".join(f"{one.metric} is {one.property}: {one.verdict}" for one in decided)
    why = "Never above is proved for all tables; where TPR = TNR all three are equal, so it is lowest or equal."
    verdict: Verdict = "holds with qualification" if proved else "does not hold"
    return _claim("lowest", "Figure 1a, by eye", ours, "no randomness", verdict, why)


def _converges() -> Claim:
    """The difference of AC-score and GM goes to 0 with either rate, but their ratio does as well."""
    rates = np.array([0.1, 0.01, 0.001])
    ac, gm = (np.asarray(get_metric(name)(at_rates(rates, 1.0, 0.5))) for name in ("ac_score", "g_mean"))
    ours = "; ".join(f"TPR {r:g}, TNR 1: AC {a:.3f}, GM {g:.3f}" for r, a, g in zip(rates, ac, gm, strict=True))
    near = bool((np.diff(gm - ac) < 0).all())
    why = (
        f"Their difference goes to 0, since both do; but AC falls faster, to {ac[-1] / gm[-1]:.2f} of GM where a rate "
        f"is {rates[-1]:g}: in proportion they part."
    )
    return _claim(
        "converges",
        "in words only",
        ours,
        "no randomness",
        "holds with qualification" if near else "does not hold",
        why,
    )


# ---------------------------------------------------------------- Figure 2a to c


def _middle(found: Trials) -> Claim:
    places = {m: np.array([t["1:3"].place(m) for t in found.trials]) for m in (NMC, LDA)}
    flagged = {m: np.array([t["1:3"].passed(m) for t in found.trials]) for m in (NMC, LDA)}
    ours = "; ".join(
        f"{m}: cut at {places[m].mean():.2f} of the range, {100 * flagged[m].mean():.0f} % of the rows above it"
        for m in (NMC, LDA)
    )
    nearer = np.mean([abs(flagged[NMC] - 0.5) < abs(flagged[LDA] - 0.5)])
    truth = np.mean([t["1:3"].y.mean() for t in found.trials])
    why = (
        f"By rows NMC cuts nearer to the middle of its projections in {nearer * len(found.trials):.0f} of "
        f"{len(found.trials)} draws; by coordinates, which one far row can stretch, the two are less apart. "
        f"{100 * truth:.0f} % of the rows are positive, so a cut that flags most rows is no fault in itself."
    )
    spread = "; ".join(f"{m} {_between(places[m])}" for m in (NMC, LDA))
    return _claim("middle", "Figure 2a, by eye", ours, f"over draws, {spread}", _judged(float(nearer)), why)


def _inclines(found: Trials) -> Claim:
    sens, spec = (found.of("1:3", LDA, short) for short in ("sensitivity", "specificity"))
    other, there = (found.of("3:1", LDA, short) for short in ("sensitivity", "specificity"))
    why = (
        f"It leans to whichever class is frequent: at 3:1 its sensitivity is {other.mean():.2f} and its specificity "
        f"{there.mean():.2f}. That is what empirical priors ask of it, and fitcdiscr's default."
    )
    ours = f"sensitivity {sens.mean():.2f}, specificity {spec.mean():.2f} at 1:3"
    spread = f"over draws, sensitivity {_between(sens)}, specificity {_between(spec)}"
    return _claim("inclines", "Figure 2b and c, by eye", ours, spread, _judged(float((sens > spec).mean())), why)


# ---------------------------------------------------------------- Figure 2d to f


def _favour(found: Trials) -> Claim:
    means = {short: float(found.gap("1:3", short).mean()) for short in METRICS}
    ahead = sorted((s for s in METRICS if means[s] > 0), key=lambda s: -means[s])
    named = _SAID["favour"]["metrics"]
    right = [s for s in named if s in ahead]
    wrong = [s for s in named if s not in ahead]
    extra = [s for s in ahead if s not in named]
    verdict: Verdict = "holds" if not wrong and not extra else "holds with qualification" if right else "does not hold"
    why = f"{listed(right)} favour NMC as said." if right else "None of them does."
    if wrong:
        told = ", ".join(f"{s} favours LDA ({signed(means[s])})" for s in wrong)
        why += f" But {told}; what favours NMC beside them is {listed(extra) if extra else 'nothing'}."
    if wrong and "specificity" in extra:
        why += " LDA leans to the positives here, so it must be specificity that was meant."
    counts = "; ".join(f"{s} in {int((found.gap('1:3', s) > 0).sum())}" for s in [*named, *extra])
    ours = ", ".join(f"{s} {signed(means[s], 3)}" for s in [*named, *extra])
    spread = f"NMC ahead, of {len(found.trials)} draws: {counts}"
    return _claim("favour", f"NMC − LDA above 0 for {listed(named)}", ours, spread, verdict, why)


def _separates(found: Trials) -> Claim:
    n = len(found.trials)
    more = {c: np.abs(found.gap(c, "AC-score")) > np.abs(found.gap(c, "GM")) for c in CONDITIONS}
    ours = "; ".join(
        f"{c}: AC {signed(found.gap(c, 'AC-score').mean(), 3)}, GM {signed(found.gap(c, 'GM').mean(), 3)}"
        for c in CONDITIONS
    )
    share = float(np.mean([more[c] for c in SKEWED]))
    even = int(more["1:1"].sum())
    why = (
        f"Without imbalance it is so in {even} of {n} draws. A larger difference is not a better one: AC is lower than "
        "GM wherever the recalls differ, so a lopsided model loses more by it, whichever model deserves to lose."
    )
    spread = "AC apart further than GM: " + ", ".join(f"{int(more[c].sum())} of {n} at {c}" for c in CONDITIONS)
    return _claim("separates", "Figure 2d and f, by eye", ours, spread, _judged(share), why)


def _leads(found: Trials) -> Claim:
    """Whether AC stands first among the metrics that speak of both classes."""
    both = [short for short in METRICS if short not in ONE_CLASS]
    n, first, leaders = len(found.trials), {}, {}
    for c in CONDITIONS:
        gaps = np.stack([found.gap(c, short) for short in both])
        first[c] = int((gaps.argmax(0) == both.index("AC-score")).sum())
        leaders[c] = both[int(gaps.mean(1).argmax())]
    ours = "; ".join(f"{c}: {leaders[c]} first" for c in CONDITIONS)
    spread = "AC first: " + ", ".join(f"{first[c]} of {n} draws at {c}" for c in CONDITIONS)
    share = sum(first[c] for c in SKEWED) / (2 * n)
    why = "Of the eight metrics that speak of both classes, ranked by NMC − LDA."
    return Claim(
        "Ours: under imbalance AC-score is first in the ranking of the metrics of both classes",
        "not said; seen in Figure 2d and f",
        ours,
        spread,
        _judged(share),
        why,
        _SAID["separates"]["place"],
        own=True,
    )


def mean_places(found: Trials) -> dict[str, list[int]]:
    """The place of each metric in the ranking by the mean difference, 1 for the largest, at each condition."""
    gaps = np.array([[found.gap(c, short).mean() for short in METRICS] for c in CONDITIONS])
    places = np.argsort(np.argsort(-gaps, axis=1, kind="stable"), axis=1) + 1
    return {short: places[:, i].tolist() for i, short in enumerate(METRICS)}


def mean_sides(found: Trials) -> dict[str, list[str]]:
    """Which model each metric favours by its mean difference, at each condition."""
    return {short: [NMC if found.gap(c, short).mean() > 0 else LDA for c in CONDITIONS] for short in METRICS}


def keeping_place(found: Trials, conditions: tuple[str, ...] = CONDITIONS) -> list[str]:
    """The metrics whose place moves by one at most."""
    at = [CONDITIONS.index(condition) for condition in conditions]
    places = {short: [every[i] for i in at] for short, every in mean_places(found).items()}
    return [short for short, kept in places.items() if max(kept) - min(kept) <= 1]


def keeping_side(found: Trials) -> list[str]:
    """The metrics that favour the same model under every condition."""
    return [short for short, sides in mean_sides(found).items() if len(set(sides)) == 1]


def _stable(found: Trials, key: str) -> Claim:
    """Both readings of "stable": a metric keeps its place in the ranking, or its side of the dashed line."""
    named, by_place, by_side = _SAID[key]["metrics"], keeping_place(found), keeping_side(found)
    exact = [set(named) == set(kept) for kept in (by_place, by_side)]
    inside = [set(named) <= set(kept) for kept in (by_place, by_side)]
    verdict: Verdict = "holds" if all(exact) else "holds with qualification" if any(inside) else "does not hold"
    places, sides = mean_places(found), mean_sides(found)
    ours = f"keep their place within one: {', '.join(by_place) or 'none'}; their side: {', '.join(by_side) or 'none'}"
    told = "; ".join(f"{s} is {_ordinals(places[s])} and favours {', '.join(sides[s])}" for s in named)
    n = len(found.trials)
    kept = {s: sum(len({bool(found.gap(c, s)[i] > 0) for c in CONDITIONS}) == 1 for i in range(n)) for s in named}
    spread = "same side in all three conditions: " + ", ".join(f"{s} in {kept[s]} of {n} draws" for s in named)
    skewed = keeping_place(found, SKEWED)
    why = (
        f"At {', '.join(CONDITIONS)} of twelve metrics {told}. The paper does not say which it means by stable. "
        f"Between the two imbalances alone, {' and '.join(SKEWED)}, the place is kept within one by "
        f"{listed(skewed) if skewed else 'none'}."
    )
    return _claim(key, f"{listed(named)} alone", ours, spread, verdict, why)


def _ordinals(places: list[int]) -> str:
    return ", ".join(f"no. {place}" for place in places)


def said_of_sides(found: Trials) -> list[str]:
    """The finding on stability, in a sentence."""
    by_place, by_side, sides = keeping_place(found), keeping_side(found), mean_sides(found)
    told = "; ".join(f"{s} favours {', '.join(sides[s])} at {', '.join(CONDITIONS)}" for s in ("AC-score", "GM"))
    return [
        f"The same model is favoured at all three ratios by {listed(by_side) if by_side else 'no metric'}; the place "
        f"in the ranking is kept within one by {listed(by_place) if by_place else 'no metric'}; {told}."
    ]


# ---------------------------------------------------------------- the control


def _fair(found: Trials) -> Claim:
    n, controls = len(found.trials), (HELD_OUT, SEEN, EQUAL)
    wins = {m: [int((found.gap(c, "AC-score", m, NMC) > 0).sum()) for c in SKEWED] for m in controls}
    ours = "; ".join(
        f"{c}: " + ", ".join(f"{m} {found.of(c, m, 'AC-score').mean():.3f}" for m in (NMC, LDA, *controls))
        for c in SKEWED
    )
    spread = f"ahead of NMC on AC, of {n} draws at 1:3 and 3:1: " + "; ".join(
        f"{m} {a} and {b}" for m, (a, b) in wins.items()
    )
    ahead = {c: float((found.gap(c, "AC-score", HELD_OUT, NMC) <= 0).mean()) for c in SKEWED}
    each = ", ".join(f"at {c} it {_judged(share)}" for c, share in ahead.items())
    lost = [found.gap(c, "AC-score", NMC, LDA).mean() for c in SKEWED]
    kept = [found.gap(c, "AC-score", NMC, HELD_OUT).mean() for c in SKEWED]
    why = (
        f"NMC − LDA on AC is {signed(lost[0])} and {signed(lost[1])}; with the cut searched for both it is "
        f"{signed(kept[0])} and {signed(kept[1])}. The comparison gave one model a search for the "
        f"operating point, by a score that contains AC, and not the other: what AC shows is the cut. Taken apart, "
        f"{each}. The two searches use the same score but not the same rows: NMC's cut is the mean of those of 5 "
        "folds, 10 times, LDA's that of one held-out fifth."
    )
    return _claim("fair", "NMC above LDA on AC", ours, spread, _judged(float(np.mean(list(ahead.values())))), why)


def _between(values: Array) -> str:
    return f"{values.min():.2f} to {values.max():.2f}"
