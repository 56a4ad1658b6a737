"""McNemar's tests that two models are right equally often on the same rows.

McNemar (1947), Psychometrika 12; Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13 (mid-p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import p_digits, p_text
from steelyard.analysis.results.rows import Flat

if TYPE_CHECKING:
    from steelyard.statistics.paired import Paired


@dataclass(frozen=True, eq=False)
class McNemar(Flat):
    """The rows in which one of two models alone is right, and the tests that this happens to both equally often.

    The exact test is conservative; the mid-p one keeps near its level, and is the one to read.
    """

    a: str
    b: str
    only_a: int
    only_b: int
    exact: float
    mid_p: float

    def __repr__(self) -> str:
        rows = f"{self.a} alone is right in {self.only_a:,} rows, {self.b} alone in {self.only_b:,}"
        return f"McNemar: {rows}; {p_text(self.mid_p)} (mid-p), {p_digits(self.exact)} (exact)"


def mcnemar(table: Paired, names: tuple[str, str] = ("A", "B")) -> McNemar:
    """McNemar's tests that two models are right equally often, two-sided.

    >>> import numpy as np
    >>> from steelyard.statistics.paired import Paired
    >>> mcnemar(Paired((0, 1), np.array([[[30, 12], [2, 6]], [[0, 0], [0, 0]]])))
    McNemar: A alone is right in 12 rows, B alone in 2; p = 0.00739 (mid-p), 0.0129 (exact)
    """
    from scipy.stats import binom

    only_a, only_b = table.discordant
    # Not scipy's binomtest, which takes four times as long for the same exact p-value to rounding and has no mid-p one.
    few, n = min(only_a, only_b), only_a + only_b
    twice, at = 2 * float(binom.cdf(few, n, 0.5)), float(binom.pmf(few, n, 0.5))
    # At only_a = only_b both tails hold the middle, which counts once.
    return McNemar(*names, only_a, only_b, min(twice, 1.0), min(twice - at, 1.0))
