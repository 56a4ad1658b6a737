"""Splits: which rows are trained on and which are tested, run by run. No row is on both sides of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, SteelyardError
from steelyard.ingest import arrays, label_codes
from steelyard.protocol.seeds import SEEDS, is_unseeded, with_seed

if TYPE_CHECKING:
    from steelyard._types import Array

GROUPS = "groups"


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
    """k-fold cross-validation, `repeats` times over; every fold has the classes' shares unless told otherwise.

    >>> Folds(5, repeats=10)
    Folds(k=5, repeats=10, stratified=True)
    """

    k: int = 5
    repeats: int = 1
    stratified: bool = True

    def __post_init__(self) -> None:
        _check_whole(self.k, "the number of folds", 2)
        _check_whole(self.repeats, "repeats", 1)

    def split(self, codes: Array, labels: tuple[Any, ...], rng: np.random.Generator) -> Iterator[Part]:
        """The folds of each repeat in turn."""
        self._check(codes, labels)
        for repeat in range(1, self.repeats + 1):
            order = rng.permutation(len(codes))
            if self.stratified:  # dealt class by class, so that both the folds and their classes differ by 1 at most
                order = order[np.argsort(codes[order], kind="stable")]
            dealt = np.empty(len(codes), dtype=np.intp)
            dealt[order] = np.arange(len(codes)) % self.k
            for fold in range(self.k):
                yield Part(repeat, fold + 1, np.flatnonzero(dealt == fold), len(codes))

    def _check(self, codes: Array, labels: tuple[Any, ...]) -> None:
        if len(codes) < self.k:
            raise InputError(f"There are {len(codes)} rows and {self.k} folds; give fewer folds or more rows.")
        rows = np.bincount(codes, minlength=len(labels))
        few = int(rows.argmin())
        if self.stratified and rows[few] < self.k:
            raise InputError(
                f"Class {labels[few]!r} has {_rows(int(rows[few]))} and there are {self.k} folds; give at most "
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

    def split(self, codes: Array, labels: tuple[Any, ...], rng: np.random.Generator) -> Iterator[Part]:
        """One run a repeat."""
        tested = self._sizes(codes, labels)
        for repeat in range(1, self.repeats + 1):
            order = rng.permutation(len(codes))
            if not self.stratified:
                picked = order[: tested[0]]
            else:
                of_class = [order[codes[order] == c] for c in range(len(labels))]
                picked = np.concatenate([rows[:n] for rows, n in zip(of_class, tested, strict=True)])
            yield Part(repeat, 1, np.sort(picked), len(codes))

    def _sizes(self, codes: Array, labels: tuple[Any, ...]) -> list[int]:
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
        parts: list[int] = _shared(rows, test).tolist()
        return parts


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


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


def _check_whole(value: Any, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name[0].upper()}{name[1:]} is a whole number of {least} or more, not {value!r}.")


# ---------------------------------------------------------------- any split


def parts(
    split: Any, X: Any, y: Any, codes: Array, labels: tuple[Any, ...], groups: Any, rng: np.random.Generator
) -> list[Part]:
    """The runs of a split: a number of folds, Folds, HoldOut, "groups", a foreign splitter, or pairs of rows."""
    member = None if groups is None else arrays.column(groups, GROUPS)
    arrays.check_lengths(y=codes, groups=member)
    plan = Folds(int(split)) if isinstance(split, (int, np.integer)) and not isinstance(split, bool) else split
    if isinstance(plan, (Folds, HoldOut)):
        found = list(plan.split(codes, labels, rng))
    elif isinstance(plan, str):
        found = _one_group_out(plan, member)
    else:
        found = [_checked(i, pair, len(codes)) for i, pair in enumerate(_foreign(plan, X, y, groups, rng))]
    if not found:
        raise InputError("The split gives no runs; give a number of folds, Folds(), HoldOut() or a splitter.")
    if member is not None and not isinstance(plan, str):
        _keep_apart(found, label_codes.encode(member, None, GROUPS)[0])
    return found


def _one_group_out(word: str, member: Array | None) -> list[Part]:
    """Each group tested once, by what the others teach."""
    if word != GROUPS:
        raise InputError(f"split= takes a number of folds, Folds(), HoldOut(), 'groups' or a splitter, not {word!r}.")
    if member is None:
        raise InputError("split='groups' leaves one group out at a time; name the group of each row with groups=.")
    codes, labels = label_codes.encode(member, None, GROUPS)
    if len(labels) < 2:
        raise InputError(f"groups= names one group only, {labels[0]!r}; leaving it out leaves nothing to train on.")
    ends = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    tested = np.split(np.argsort(codes, kind="stable"), ends)
    return [Part(1, i + 1, rows, len(codes)) for i, rows in enumerate(tested)]


def _foreign(plan: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator) -> Iterable[Any]:
    """The pairs of a splitter, or those that were given; one that would shuffle anew each time does so by rng."""
    if isinstance(plan, type):
        raise InputTypeError(f"{plan.__name__} is a class; give an object: {plan.__name__}().")
    if not hasattr(plan, "split"):
        if isinstance(plan, Iterable):
            return plan
        raise InputTypeError(
            f"split= takes a number of folds, Folds(), HoldOut(), 'groups' or a splitter, not {plan!r}."
        )
    if is_unseeded(plan):
        plan = with_seed(plan, int(rng.integers(SEEDS)))
    try:
        return list(plan.split(X, y) if groups is None else plan.split(X, y, groups))
    except SteelyardError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"{type(plan).__name__} cannot split these rows: {str(error).rstrip('.')}.") from error


def _checked(i: int, pair: Any, n: int) -> Part:
    """One run of a foreign split; an empty side or a row on both sides is refused."""
    try:
        train, test = (_places(side, n) for side in pair)
    except (TypeError, ValueError, IndexError):
        raise InputError(f"Run {i + 1} of the split is no pair of (rows to train on, rows to test).") from None
    for side, name in ((train, "train on"), (test, "test")):
        if not len(side):
            raise InputError(f"Run {i + 1} of the split has no rows to {name}; give fewer folds or other groups.")
    seen = np.zeros(n, dtype=bool)
    seen[train] = True
    both = int(seen[test].sum())
    if both:
        raise InputError(f"Run {i + 1} of the split trains on {_rows(both)} that it tests; keep the two apart.")
    return Part(1, i + 1, test, n, train)


def _places(side: Any, n: int) -> Array:
    rows = np.asarray(side)
    if rows.dtype.kind == "b":
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise TypeError
    return np.arange(n)[rows.astype(np.intp)]


def _keep_apart(found: list[Part], member: Array) -> None:
    """Refuse a run that trains and tests on rows of one group."""
    for i, part in enumerate(found):
        shared = np.intersect1d(member[part.train], member[part.test])
        if len(shared):
            raise InputError(
                f"Run {i + 1} of the split trains and tests on rows of the same {len(shared):,} groups; use "
                "split='groups', or a splitter that keeps groups apart such as GroupKFold."
            )
