"""Feature codes: each feature's levels or bins as conditions, and its rows as small integers that name them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label

MOST_LEVELS = 20  # of a feature that stand for themselves; rarer ones are one condition together


@dataclass(frozen=True)
class CodedFeature:
    """A feature: the condition of each code; the code after the last is of rows that no condition holds."""

    name: str
    conditions: tuple[Condition, ...]
    has_rest: bool = True

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.conditions) + self.has_rest

    @property
    def is_binned(self) -> bool:
        """Whether it is of numbers in bins."""
        return any(condition.is_range for condition in self.conditions)

    def codes(self, values: Array) -> Array:
        """The code of each row of a column as `feature_values` gives it."""
        if values.dtype.kind != "f":
            book = {self._key(each): code for code, each in enumerate(self.conditions)}
            others = next((code for code, each in enumerate(self.conditions) if each.others), len(self.conditions))
            listed = (book.get(("", value), others) if value is not None else book.get("", -1) for value in values)
            codes = np.fromiter(listed, np.int16, len(values))
            return np.where(codes < 0, len(self.conditions), codes).astype(np.uint8)
        codes = np.full(len(values), len(self.conditions), dtype=np.uint8)
        missing = np.isnan(values)
        if self.is_binned:
            edges = [float(each.low) for each in self.conditions if each.low is not None]
            codes = np.searchsorted(np.array(edges), values, "right").astype(np.uint8)
        for code, condition in enumerate(self.conditions):
            if condition.others:
                codes[~missing & ~np.isin(values, np.array(condition.others, dtype=np.float64))] = code
            elif not condition.is_range and not condition.is_missing:
                codes[values == condition.level] = code
        gone = next((code for code, each in enumerate(self.conditions) if each.is_missing), len(self.conditions))
        codes[missing] = gone
        return codes

    @staticmethod
    def _key(condition: Condition) -> object:
        return "" if condition.is_missing else None if condition.others else ("", condition.level)


def binned_feature(name: str, edges: Sequence[float], missing: int, least: int) -> CodedFeature:
    """A feature of numbers in bins between these edges."""
    ends = [None, *edges, None]
    bins = [Condition(name, low=low, high=high) for low, high in pairwise(ends)] if edges else []
    gone = _missing(name, missing, least)
    return CodedFeature(name, (*bins, *gone), has_rest=missing > 0 and not gone)


def levels_feature(name: str, counts: Mapping[Label, int], least: int) -> CodedFeature:
    """A feature of levels: the most frequent ones of enough rows, the others pooled, and missing values."""
    missing = sum(rows for level, rows in counts.items() if level is None)
    there = {level: rows for level, rows in counts.items() if level is not None}
    frequent = sorted((level for level in there if there[level] >= least), key=lambda each: (-there[each], str(each)))
    kept = sorted(frequent[:MOST_LEVELS], key=lambda each: (isinstance(each, str), each))
    pooled = sum(there.values()) - sum(there[level] for level in kept)
    levels = [Condition(name, level=level) for level in kept]
    others = [Condition(name, others=tuple(kept))] if kept and pooled >= least else []
    gone = _missing(name, missing, least)
    rest = (pooled > 0 and not others) or (missing > 0 and not gone)
    return CodedFeature(name, (*levels, *others, *gone), has_rest=rest)


def _missing(name: str, rows: int, least: int) -> list[Condition]:
    return [Condition(name, is_missing=True)] if rows >= max(least, 1) else []
