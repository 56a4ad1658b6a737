"""Label delay: whether labels that come late differ from those that come early, tested honestly at every look.

Within a cohort of predictions, early and late labels are exchangeable where the delay does not depend on the row. Of a
cohort whose labels have mostly come, the positives among the late half given all of them are then hypergeometric. The
likelihood ratios against fixed odds ratios multiply over cohorts, and their mean is evidence that may be read after
every cohort. The same is done for the predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import p_text, percent_text
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard._types import Array

_LOG_ODDS = np.log([0.125, 0.25, 0.5, 0.67, 1.5, 2.0, 4.0, 8.0])  # late against early
_ALPHA = 0.05
_KINDS = {"truth": ([0, 1], "are positive"), "predicted": ([0, 2], "are predicted positive")}  # the cells that have it


@dataclass(eq=False)
class LabelDelay:
    """The evidence over all cohorts so far, and the cells of early and late labels."""

    wealth: dict[str, Array] = field(default_factory=lambda: {kind: np.zeros(len(_LOG_ODDS)) for kind in _KINDS})
    early: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    late: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))

    def add_cohort(self, arrivals: list[Array]) -> None:
        """The cells of a cohort's labels in the order of their arrival, divided where half of them had come."""
        sizes = np.cumsum([cells.sum() for cells in arrivals])
        if len(sizes) < 2:
            return
        after = int(np.searchsorted(sizes, sizes[-1] / 2)) + 1
        early, late = (np.sum(part, axis=0) if part else np.zeros(4) for part in (arrivals[:after], arrivals[after:]))
        if not early.sum() or not late.sum():
            return
        self.early, self.late = self.early + early.astype(np.int64), self.late + late.astype(np.int64)
        for kind, (cells, _) in _KINDS.items():
            self.wealth[kind] = self.wealth[kind] + _log_ratios(early, late, cells)

    def p_value(self, kind: str) -> float:
        """What the evidence is worth, both kinds together."""
        evidence = np.logaddexp.reduce(self.wealth[kind]) - np.log(len(_LOG_ODDS))
        return float(min(1.0, len(_KINDS) * np.exp(-evidence)))

    @property
    def warnings(self) -> list[str]:
        """What differs, in sentences; none where nothing does."""
        return [self._sentence(kind) for kind in _KINDS if self.p_value(kind) <= _ALPHA]

    def _sentence(self, kind: str) -> str:
        cells, words = _KINDS[kind]
        early, late = (percent_text(float(part[cells].sum() / part.sum())) for part in (self.early, self.late))
        return (
            f"Labels that come late differ: {early} of the early ones {words} and {late} of the late ones "
            f"({p_text(self.p_value(kind))} at any look), so that metrics of the labels so far are biased; wait for "
            "whole cohorts with mature=."
        )

    def saved(self) -> dict[str, Any]:
        """The evidence as JSON holds it."""
        wealth = {kind: logs.tolist() for kind, logs in self.wealth.items()}
        return {"wealth": wealth, "early": self.early.tolist(), "late": self.late.tolist()}

    @classmethod
    def from_saved(cls, data: dict[str, Any]) -> LabelDelay:
        """The evidence that was saved; no row of the late half can add more than the largest odds ratio to it."""
        try:
            wealth, (early, late) = data["wealth"], (data[part] for part in ("early", "late"))
            numbers = [wealth[kind] for kind in _KINDS]
            kept = all(type(cell) is int and 0 <= cell < 2**53 for cells in (early, late) for cell in cells)
            kept &= all(type(log) in (int, float) for logs in numbers for log in logs)
            most = float(np.abs(_LOG_ODDS).max()) * (1 + 1e-9) * (sum(late) if kept else 0)
            kept &= all(abs(log) <= most for logs in numbers for log in logs)
            kept &= [*map(len, numbers), len(early), len(late)] == [len(_LOG_ODDS)] * len(_KINDS) + [4, 4]
        except (KeyError, TypeError, ValueError, AttributeError):
            kept = False
        if not kept:
            raise InputError("The label delays of this saved monitor cannot be read; it was changed.")
        logs = {kind: np.array(wealth[kind], dtype=np.float64) for kind in _KINDS}
        return cls(logs, np.array(early, dtype=np.int64), np.array(late, dtype=np.int64))


def _log_ratios(early: Array, late: Array, cells: list[int]) -> Array:
    """The logarithm of the likelihood ratio of each odds ratio against 1, given how many rows have it in all."""
    from scipy.special import gammaln

    first, second = int(early.sum()), int(late.sum())
    among, total = int(late[cells].sum()), int(late[cells].sum() + early[cells].sum())
    possible = np.arange(max(0, total - first), min(total, second) + 1)

    def choose(n: int, k: Array) -> Array:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    logs = choose(second, possible) + choose(first, total - possible)
    logs -= np.logaddexp.reduce(logs)
    return np.asarray(among * _LOG_ODDS - np.logaddexp.reduce(logs + possible * _LOG_ODDS[:, None], axis=1))
