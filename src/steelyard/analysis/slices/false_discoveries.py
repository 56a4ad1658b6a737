"""False discoveries: which of many tests are discoveries at a false discovery rate, and the level of their intervals.

Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57; Benjamini and Yekutieli (2001), Annals of
Statistics 29, for any dependence; of discrete tests Tarone (1990), Biometrics 46, and Gilbert (2005), Applied
Statistics 54, who leave out what can never be rejected; Benjamini and Yekutieli (2005), JASA 100, on intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard._types import Array

PROCEDURES = ("bh", "by")


@dataclass(frozen=True)
class Discoveries:
    """The places of the tests that are discoveries, most significant first; adjusted p-values; how many were tested."""

    places: Array
    adjusted: Array
    tested: int
    rate: float  # at which p-values are compared: of Benjamini and Yekutieli less than the one asked for

    @property
    def unit(self) -> float:
        """What the p-value of a single discovery may be at most."""
        return self.rate / max(self.tested, 1)

    @property
    def limit(self) -> float:
        """What a p-value may be at most."""
        return self.unit * max(len(self.places), 1)

    @property
    def level(self) -> float:
        """The level of each discovery's interval, so that few of all of them miss."""
        return 1 - self.limit


def discoveries(p_values: Array, rate: float, method: str = "bh", least: Array | None = None) -> Discoveries:
    """The tests that are discoveries at this false discovery rate; `least` is what each p-value can be at the least.

    >>> found = discoveries(np.array([0.001, 0.2, 0.012, 0.9]), rate=0.05)
    >>> found.places, found.tested, round(found.level, 3)
    (array([0, 2]), 4, 0.975)
    """
    if method not in PROCEDURES:
        raise InputError(f"method is 'bh' (Benjamini and Hochberg) or 'by' (Benjamini and Yekutieli), not {method!r}.")
    able = np.arange(len(p_values)) if least is None else _testable(least, rate)
    tested = len(able)
    if method == "by" and tested:
        rate = rate / float((1 / np.arange(1, tested + 1)).sum())
    order = able[np.argsort(p_values[able], kind="stable")]
    ordered = p_values[order]
    ranks = np.arange(1, tested + 1)
    passed = np.flatnonzero(ordered <= rate * ranks / max(tested, 1))
    found = int(passed[-1]) + 1 if len(passed) else 0
    stepped = np.minimum.accumulate((ordered * tested / ranks)[::-1])[::-1][:found]
    return Discoveries(order[:found], np.minimum(stepped, 1.0), tested, rate)


def _testable(least: Array, rate: float) -> Array:
    """The tests that can be rejected at all: of k, those whose least p-value is at most the rate over k."""
    ordered = np.sort(least)
    counts = np.arange(1, len(least) + 1)
    # The smallest k for which at most k tests can reach rate / k.
    reach = np.searchsorted(ordered, rate / counts, "right")
    enough = np.flatnonzero(reach <= counts)
    k = int(counts[enough[0]]) if len(enough) else max(len(least), 1)
    return np.flatnonzero(least <= rate / k)
