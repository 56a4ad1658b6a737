"""Splits: which rows are trained on and which are tested, run by run. No row is on both sides of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError
from steelyard.protocol.label_set_folds import dealt_label_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array, Labels


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one run: those tested, those trained on, and its place in the plan, counted from 1.

    Where all other rows are trained on they are not listed: a thousand groups left out one by one need no thousand
    lists of nearly all rows.
    """

    repeat: int
    fold: int
    test: Array
    rows: int
    listed: Array | None = None

    @property
    def train(self) -> Array:
        """The rows trained on, in order where they are all the others."""
        if self.listed is not None:
            return self.listed
        others = np.ones(self.rows, dtype=bool)
        others[self.test] = False
        return np.flatnonzero(others)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows are trained on, and how many are tested."""
        return self.rows - len(self.test) if self.listed is None else len(self.listed), len(self.test)


@dataclass(frozen=True)
class Folds:
    """k-fold cross-validation, `repeats` times over; every fold has the classes' shares unless `stratified` is False.

    >>> Folds(5, repeats=10)
    Folds(k=5, repeats=10, stratified=True)
    """

    k: int = 5
    repeats: int = 1
    stratified: bool = True

    def __post_init__(self) -> None:
        _check_whole(self.k, "the number of folds", 2)
        _check_whole(self.repeats, "repeats", 1)

    def split(self, codes: Array, labels: Labels, rng: np.random.Generator) -> Iterator[Part]:
        """The folds of each repeat in turn."""
        self._check(codes, labels)
        for repeat in range(1, self.repeats + 1):
            if codes.ndim == 2 and self.stratified:
                dealt = dealt_label_sets(codes, [1 / self.k] * self.k, rng)
                yield from (Part(repeat, i + 1, np.flatnonzero(dealt == i), len(codes)) for i in range(self.k))
                continue
            order = rng.permutation(len(codes))
            if self.stratified:  # dealt class by class, so that both the folds and their classes differ by 1 at most
                order = order[np.argsort(codes[order], kind="stable")]
            dealt = np.empty(len(codes), dtype=np.intp)
            dealt[order] = np.arange(len(codes)) % self.k
            for fold in range(self.k):
                yield Part(repeat, fold + 1, np.flatnonzero(dealt == fold), len(codes))

    def _check(self, codes: Array, labels: Labels) -> None:
        if len(codes) < self.k:
            raise InputError(f"There are {len(codes)} rows and {self.k} folds; give fewer folds or more rows.")
        if codes.ndim == 2:  # a label that a fold lacks leaves some metrics of that run undefined, and it says so
            return
        rows = np.bincount(codes, minlength=len(labels))
        few = int(rows.argmin())
        if self.stratified and rows[few] < self.k:
            raise InputError(
                f"Class {labels[few]!r} has {row_count(int(rows[few]))} and there are {self.k} folds; give at most "
                f"{max(int(rows[few]), 2)} folds, or more rows of it."
            )


@dataclass(frozen=True)
class HoldOut:
    """A random part held out for testing, k times smaller than the part trained on; `repeats` times anew.

    Kalita's example of 24 rows, 16 trained on and 8 tested, ten times, is HoldOut(2, repeats=10, stratified=False);
    by default both parts have the classes' shares.

    >>> codes, rng = np.repeat([0, 1], [16, 8]), np.random.default_rng(0)
    >>> [(len(part.train), len(part.test)) for part in HoldOut(2, repeats=3).split(codes, ("a", "b"), rng)]
    [(16, 8), (16, 8), (16, 8)]
    """

    k: float = 2
    repeats: int = 1
    stratified: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, (int, float, np.number)) or not 0 < self.k < np.inf:
            raise InputError(f"HoldOut trains on k times the rows it tests, k usually from 2 to 9, not {self.k!r}.")
        _check_whole(self.repeats, "repeats", 1)

    def split(self, codes: Array, labels: Labels, rng: np.random.Generator) -> Iterator[Part]:
        """One run a repeat."""
        if codes.ndim == 2 and self.stratified:
            shares = [1 / (self.k + 1), self.k / (self.k + 1)]
            for repeat in range(1, self.repeats + 1):
                yield Part(repeat, 1, np.flatnonzero(dealt_label_sets(codes, shares, rng) == 0), len(codes))
            return
        tested = self._sizes(codes, labels)
        for repeat in range(1, self.repeats + 1):
            order = rng.permutation(len(codes))
            if not self.stratified:
                picked = order[: tested[0]]
            else:
                of_class = [order[codes[order] == c] for c in range(len(labels))]
                picked = np.concatenate([rows[:n] for rows, n in zip(of_class, tested, strict=True)])
            yield Part(repeat, 1, np.sort(picked), len(codes))

    def _sizes(self, codes: Array, labels: Labels) -> list[int]:
        """The rows to test: of all classes together, or of each."""
        test = round(len(codes) / (self.k + 1))
        if not 0 < test < len(codes):
            raise InputError(f"{len(codes)} rows cannot be parted 1 to {self.k:g}; give more rows or another k.")
        if not self.stratified:
            return [test]
        rows = np.bincount(codes, minlength=len(labels))
        if rows.min() < 2:
            few = int(rows.argmin())
            raise InputError(f"Class {labels[few]!r} has one row, which cannot be both trained on and tested.")
        sizes: list[int] = _shared(rows, test).tolist()
        return sizes


def _shared(rows: Array, test: int) -> Array:
    """The tested rows of each class: their share by largest remainders, one at least on either side of the split."""
    ideal = rows * (test / rows.sum())
    share = np.clip(np.floor(ideal).astype(np.int64), 1, rows - 1)
    while share.sum() != test:
        step = 1 if share.sum() < test else -1
        free = (share + step >= 1) & (share + step <= rows - 1)
        if not free.any():
            break  # so few rows that one of each class on each side decides the sizes
        share[int(np.where(free, step * (ideal - share), -np.inf).argmax())] += step
    return np.asarray(share)


def row_count(n: int) -> str:
    """So many rows in words."""
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


def _check_whole(value: object, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name[0].upper()}{name[1:]} is a whole number of {least} or more, not {value!r}.")
