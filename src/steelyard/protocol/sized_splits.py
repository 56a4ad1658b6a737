"""Sized splits: runs of set sizes, so many rows of each side to train on, and test parts of several ratios for one fit.

Nguyen (2019) trains once and tests on sets of three ratios. Test rows are none that the run was trained on, unless
an overlap is asked for; `Drawn.seen` is then their share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard._types import Array


@dataclass(frozen=True)
class Sizes:
    """How many positives and negatives; with `even` the negatives are shared equally by their kinds."""

    positives: int
    negatives: int
    even: bool = False


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rows of one run: those trained on, and those of each test part."""

    run: int
    train: Array
    tests: dict[str, Array]

    def seen(self, name: str) -> float:
        """The share of a test part that was trained on; 0 unless an overlap was asked for."""
        return float(np.isin(self.tests[name], self.train).mean())


@dataclass(frozen=True)
class Draws:
    """`train` rows divided into one subset a run, or with `whole` all of them in each; a test part a run and ratio.

    >>> plan = Draws(Sizes(4, 4), {"1:2": Sizes(1, 2)}, runs=2)
    >>> positive = np.arange(20) < 6
    >>> [(len(run.train), len(run.tests["1:2"])) for run in plan.split(positive, np.random.default_rng(0))]
    [(4, 3), (4, 3)]
    """

    train: Sizes
    tests: Mapping[str, Sizes] = field(default_factory=dict)
    runs: int = 10
    whole: bool = False
    overlap: bool = False

    def split(self, positive: Array, rng: np.random.Generator, kinds: Array | None = None) -> Iterator[Drawn]:
        """One run after the other; `kinds` are the codes of what the negatives are shared equally by."""
        sides = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        wanted = (self.train.positives, self.train.negatives)
        drawn = [_drawn_rows(rows, n, rng, "to train on") for rows, n in zip(sides, wanted, strict=True)]
        subsets, everything = [np.array_split(rows, self.runs) for rows in drawn], np.concatenate(drawn)
        for i in range(self.runs):
            # The same array in every run, by which a caller knows that one fit serves them all.
            train = everything if self.whole else np.concatenate([subset[i] for subset in subsets])
            rest = sides if self.overlap else [np.setdiff1d(rows, train, assume_unique=True) for rows in sides]
            tests = {name: drawn_part(rest, sizes, rng, kinds) for name, sizes in self.tests.items()}
            yield Drawn(i + 1, train, tests)


def drawn_part(sides: list[Array], sizes: Sizes, rng: np.random.Generator, kinds: Array | None = None) -> Array:
    """So many of the rows of each side, positives first."""
    positives = _drawn_rows(sides[0], sizes.positives, rng, "to test")
    if not sizes.even:
        return np.concatenate([positives, _drawn_rows(sides[1], sizes.negatives, rng, "to test")])
    if kinds is None:
        raise InputError("Negatives are shared equally by their kinds; give kinds=, the code of each row.")
    of_kind = [sides[1][kinds[sides[1]] == kind] for kind in np.unique(kinds[sides[1]])]
    each, rest = divmod(sizes.negatives, len(of_kind))
    if rest:
        raise InputError(f"{sizes.negatives} negatives cannot be shared equally by {len(of_kind)} kinds.")
    return np.concatenate([positives, *(_drawn_rows(rows, each, rng, "to test") for rows in of_kind)])


def _drawn_rows(rows: Array, n: int, rng: np.random.Generator, what: str) -> Array:
    """So many of the rows, in random order."""
    if len(rows) < n:
        raise InputError(
            f"There are {len(rows):,} rows of a class {what}, fewer than the {n:,} asked for; ask for less."
        )
    return rng.permutation(rows)[:n]
