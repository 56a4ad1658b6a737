"""Wu's ranking of the metrics by NMC − LDA: which keep their place, and which their side, as the imbalance changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.studies.declared_study import Finding
from steelyard.studies.study import judged
from steelyard.studies.wu_trials import CONDITIONS, LDA, NMC, SKEWED, WU_METRICS

if TYPE_CHECKING:
    from steelyard.studies.wu_trials import DigitTrials


def mean_places(results: DigitTrials) -> dict[str, list[int]]:
    """The place of each metric in the ranking by the mean difference, 1 for the largest, at each condition."""
    gaps = np.array([[results.gap(c, short).mean() for short in WU_METRICS] for c in CONDITIONS])
    places = np.argsort(np.argsort(-gaps, axis=1, kind="stable"), axis=1) + 1
    return {short: places[:, i].tolist() for i, short in enumerate(WU_METRICS)}


def mean_sides(results: DigitTrials) -> dict[str, list[str]]:
    """Which model each metric favours by its mean difference, at each condition."""
    return {short: [NMC if results.gap(c, short).mean() > 0 else LDA for c in CONDITIONS] for short in WU_METRICS}


def _keeping_place(results: DigitTrials, conditions: tuple[str, ...] = CONDITIONS) -> list[str]:
    """The metrics whose place moves by one at most."""
    at = [CONDITIONS.index(condition) for condition in conditions]
    places = {short: [every[i] for i in at] for short, every in mean_places(results).items()}
    return [short for short, at_each in places.items() if max(at_each) - min(at_each) <= 1]


def _keeping_side(results: DigitTrials) -> list[str]:
    """The metrics that favour the same model under every condition."""
    return [short for short, sides in mean_sides(results).items() if len(set(sides)) == 1]


def stability_sentence(results: DigitTrials) -> str:
    """The finding on stability, in a sentence."""
    by_place, by_side, sides = _keeping_place(results), _keeping_side(results), mean_sides(results)
    favoured = "; ".join(f"{s} favours {', '.join(sides[s])} at {', '.join(CONDITIONS)}" for s in ("AC-score", "GM"))
    return (
        f"The same model is favoured at all three ratios by {listed(by_side) if by_side else 'no metric'}; the place "
        f"in the ranking is kept within one by {listed(by_place) if by_place else 'no metric'}; {favoured}."
    )


def stability_finding(results: DigitTrials, named: list[str]) -> Finding:
    """Both readings of "stable": a metric keeps its place in the ranking, or its side of the dashed line."""
    by_place, by_side = _keeping_place(results), _keeping_side(results)
    exact = [set(named) == set(stable) for stable in (by_place, by_side)]
    inside = [set(named) <= set(stable) for stable in (by_place, by_side)]
    verdict = judged(holds=all(exact), partly=any(inside))
    places, sides = mean_places(results), mean_sides(results)
    ours = f"keep their place within one: {', '.join(by_place) or 'none'}; their side: {', '.join(by_side) or 'none'}"
    each = "; ".join(f"{s} is {_ordinals(places[s])} and favours {', '.join(sides[s])}" for s in named)
    n = len(results.trials)
    same = {s: sum(len({bool(results.gap(c, s)[i] > 0) for c in CONDITIONS}) == 1 for i in range(n)) for s in named}
    spread = "same side in all three conditions: " + ", ".join(f"{s} in {same[s]} of {n} draws" for s in named)
    skewed = _keeping_place(results, SKEWED)
    why = (
        f"At {', '.join(CONDITIONS)} of twelve metrics {each}. The paper does not say which it means by stable. "
        f"Between the two imbalances alone, {' and '.join(SKEWED)}, the place is kept within one by "
        f"{listed(skewed) if skewed else 'none'}."
    )
    return Finding(ours, spread, verdict, why, paper=f"{listed(named)} alone")


def _ordinals(places: list[int]) -> str:
    return ", ".join(f"no. {place}" for place in places)
