"""Wu's ranking of the metrics by NMC − LDA: which keep their place, and which their side, as the imbalance changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.studies.wu_trials import CONDITIONS, LDA, NMC, WU_METRICS

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.wu_trials import DigitTrials


def mean_places(results: DigitTrials) -> dict[str, list[int]]:
    """The place of each metric in the ranking by the mean difference, 1 for the largest, at each condition."""
    gaps = np.array([[results.gap(c, short).mean() for short in WU_METRICS] for c in CONDITIONS])
    places = np.argsort(np.argsort(-gaps, axis=1, kind="stable"), axis=1) + 1
    return {short: places[:, i].tolist() for i, short in enumerate(WU_METRICS)}


def drawn_places(results: DigitTrials) -> Array:
    """The place of each metric in the ranking of one draw, by draw, condition and metric."""
    gaps = np.array([[results.gap(c, short) for short in WU_METRICS] for c in CONDITIONS]).transpose(2, 0, 1)
    return np.argsort(np.argsort(-gaps, axis=2, kind="stable"), axis=2) + 1


def mean_sides(results: DigitTrials) -> dict[str, list[str]]:
    """Which model each metric favours by its mean difference, at each condition."""
    return {short: [NMC if results.gap(c, short).mean() > 0 else LDA for c in CONDITIONS] for short in WU_METRICS}


def _keeping_place(results: DigitTrials) -> list[str]:
    """The metrics whose place moves by one at most."""
    return [short for short, places in mean_places(results).items() if max(places) - min(places) <= 1]


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
