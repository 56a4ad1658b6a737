"""Wu's ranking of the metrics by NMC − LDA: which keep their place, and which their side, as the imbalance changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.studies.wu_trials import CONDITIONS

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.wu_trials import DigitTrials


def drawn_places(results: DigitTrials) -> Array:
    """The place of each metric in the ranking of one draw, by draw, condition and metric."""
    gaps = np.array([[results.gap(c, short) for short in results.metrics] for c in results.ratios]).transpose(2, 0, 1)
    return np.argsort(np.argsort(-gaps, axis=2, kind="stable"), axis=2) + 1


def _keeping_place(results: DigitTrials) -> list[str]:
    """The metrics whose place moves by one at most."""
    return [short for short, moved in results.places_moved().items() if moved is not None and moved <= 1]


def stability_sentence(results: DigitTrials) -> str:
    """The finding on stability, in a sentence."""
    by_place, by_side, sides = _keeping_place(results), results.one_sided(), results.mean_sides()
    favoured = "; ".join(f"{s} favours {', '.join(sides[s])} at {', '.join(CONDITIONS)}" for s in ("AC-score", "GM"))
    return (
        f"The same model is favoured at all three ratios by {listed(by_side) if by_side else 'no metric'}; the place "
        f"in the ranking is kept within one by {listed(by_place) if by_place else 'no metric'}; {favoured}."
    )
