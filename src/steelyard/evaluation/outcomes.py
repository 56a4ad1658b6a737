"""Outcomes: a two-class table in whole rows of a round number, and the headline that states them.

The page's script states them again when a slider moves, from the same phrases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.statistics.counts import Counts

LEAST = 11.5  # rows of the rarer class: fewer would round its recall by more than a reader expects
LARGEST_CELL_BASE = 100_000  # up to here the base grows until no cell that has rows rounds to none
LARGEST_BASE = 10**9
_HALF = 1e-9  # by which a half may be off
STARTS = {
    "these": "Of these {base} rows",
    "like": "Of {base} rows like these",
    "weighted": "Of {base} rows like these, by sample weight",
    "prevalence": "Of {base} rows at a prevalence of {share}",
    "shares": "Of {base} rows at the given class shares",
}
_PLANNED = "Of {base} rows like these, as the plan's labels show"


def starts(*, planned: bool) -> dict[str, str]:
    """How sentences about outcomes begin; where labels were chosen by a plan their weights are the plan's."""
    return STARTS | {"weighted": _PLANNED} if planned else STARTS


# What is said of no row, of one and of more.
PARTS = {
    "positives": ("none is {name}", "1 is {name}", "{n} are {name}"),
    "flagged": ("flags none", "flags 1", "flags {n}"),
    "found": ("finds none", "finds 1", "finds {n}"),
    "missed": ("misses none", "misses 1", "misses {n}"),
    "false_alarms": ("none is a false alarm", "1 is a false alarm", "{n} are false alarms"),
}
SOME_FLAGGED = "{start}, {positives}. The classifier {flagged}, {found} and {missed}; {false_alarms}."
NONE_FLAGGED = "{start}, {positives}. The classifier {flagged} and {missed}."


@dataclass(frozen=True)
class Outcomes:
    """What happens to so many rows: flagged are those found and the false alarms, positive those found and missed."""

    base: int
    found: int
    missed: int
    false_alarms: int

    @property
    def positives(self) -> int:
        """The rows that are positive."""
        return self.found + self.missed

    @property
    def flagged(self) -> int:
        """The rows that are predicted positive."""
        return self.found + self.false_alarms


def whole_outcomes(counts: Counts, rows: int | None) -> Outcomes:
    """The table in whole rows; of exactly `rows`, the table's own, where a round number would not be smaller."""
    tp, fn, fp, tn = (float(cell) for cell in counts)
    total = tp + fn + fp + tn
    base = round_base([tp + fn, fp + tn], [tp, fn, fp], total)
    if rows is not None and rows <= base:
        return Outcomes(rows, round(tp), round(fn), round(fp))
    return outcomes_of(counts, base)


def outcomes_of(counts: Counts, base: int) -> Outcomes:
    """The table in that many whole rows; what has rows keeps one where there is room for it."""
    tp, fn, fp, tn = (float(cell) for cell in counts)
    total = tp + fn + fp + tn
    positives = _within((tp + fn) / total * base, int(tp + fn > 0), base - int(fp + tn > 0))
    found = _within(tp / total * base, int(tp > 0), positives - int(fn > 0))
    false_alarms = _within(fp / total * base, int(fp > 0), base - positives - int(tn > 0))
    return Outcomes(base, found, positives - found, false_alarms)


def round_base(classes: Iterable[float], cells: Iterable[float], total: float) -> int:
    """The least power of ten, from 100, of which the rarer class and every cell are whole rows."""
    rarer = min(part for part in classes if part > 0) / total
    least = min((cell for cell in cells if cell > 0), default=total) / total
    base = 100
    while base < LARGEST_BASE and not (rarer * base >= LEAST and (least * base >= 0.5 or base >= LARGEST_CELL_BASE)):
        base *= 10
    return base


def _within(value: float, low: int, high: int) -> int:
    """The nearest whole number inside these ends, halves upwards whatever their rounding: what has rows keeps one."""
    return max(low, min(math.floor(value + 0.5 + _HALF), high))


def outcomes_text(outcomes: Outcomes, start: str, name: str) -> str:
    """The headline, of the start of the sentence and the name of the positive class."""
    parts = {key: _part(key, getattr(outcomes, key), name) for key in PARTS}
    frame = SOME_FLAGGED if outcomes.flagged else NONE_FLAGGED
    return frame.format(start=start.replace("{base}", f"{outcomes.base:,}"), **parts)


def _part(key: str, n: int, name: str) -> str:
    return PARTS[key][min(n, 2)].format(n=f"{n:,}", name=name)
