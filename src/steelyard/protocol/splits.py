"""Splits: which rows are trained on and which are tested, run by run. No row is on both sides of a run."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.exceptions import InputError, InputTypeError, SteelyardError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels, Splitter
    from steelyard.protocol.runs import Data


# ---------------------------------------------------------------- label set folds
# Rows of several labels each assigned so that every fold has its share of each label.
#
# Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label that is left comes first, each
# of its rows to the fold that lacks most of it, and the rows without labels last.


_ROUNDING = 1e-9


def assigned_label_sets(indicators: Array, shares: Sequence[float], rng: np.random.Generator) -> Array:
    """The fold of each row, of folds that have such shares of all rows and, as nearly as they can, of each label.

    >>> rows = np.repeat([[1, 0], [0, 1]], [3, 9], axis=0)
    >>> folds = assigned_label_sets(rows, [1 / 3] * 3, np.random.default_rng(0))
    >>> [np.bincount(folds[part]).tolist() for part in (slice(3), slice(3, None))]
    [[1, 1, 1], [3, 3, 3]]
    """
    true, part = indicators != 0, np.asarray(shares, np.float64)
    lacking_rows, lacking = part * len(true), part[:, None] * true.sum(0)
    folds, left = np.full(len(true), -1), true.sum(0)
    while (left > 0).any():
        label = int(np.where(left > 0, left, len(true) + 1).argmin())
        for row in rng.permutation(np.flatnonzero(true[:, label] & (folds < 0))):
            fold = _most_lacking(lacking[:, label], lacking_rows, rng)
            folds[row] = fold
            lacking[fold] -= true[row]
            lacking_rows[fold] -= 1
            left = left - true[row]
    for row in rng.permutation(np.flatnonzero(folds < 0)):
        folds[row] = fold = _most_lacking(lacking_rows, lacking_rows, rng)
        lacking_rows[fold] -= 1
    return folds


def _most_lacking(of_label: Array, of_rows: Array, rng: np.random.Generator) -> int:
    """The fold with room that lacks most rows of a label; of equal ones that which lacks most rows, or one of these."""
    of_label = np.where(of_rows > _ROUNDING, of_label, -np.inf)
    best = np.flatnonzero(of_label >= of_label.max() - _ROUNDING)
    best = best[of_rows[best] >= of_rows[best].max() - _ROUNDING]
    return int(best[0] if len(best) == 1 else rng.choice(best))


# ---------------------------------------------------------------- splits


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
                assigned = assigned_label_sets(codes, [1 / self.k] * self.k, rng)
                yield from (Part(repeat, i + 1, np.flatnonzero(assigned == i), len(codes)) for i in range(self.k))
                continue
            order = rng.permutation(len(codes))
            if self.stratified:  # class by class, so that both the folds and their classes differ by 1 at most
                order = order[np.argsort(codes[order], kind="stable")]
            assigned = np.empty(len(codes), dtype=np.intp)
            assigned[order] = np.arange(len(codes)) % self.k
            for fold in range(self.k):
                yield Part(repeat, fold + 1, np.flatnonzero(assigned == fold), len(codes))

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
                yield Part(repeat, 1, np.flatnonzero(assigned_label_sets(codes, shares, rng) == 0), len(codes))
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


# ---------------------------------------------------------------- seeding
# Estimators that would draw at random draw from a seed of the run, so that one input gives one output.


Seedable = TypeVar("Seedable")
SEEDS = 2**31 - 1


def seeded(estimator: Seedable, seed: int) -> Seedable:
    """The estimator with every random_state that is None set, also that of a splitter in it; a chosen one is kept."""
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "set_params"):
        return estimator
    parameters = sorted(estimator.get_params(deep=True).items())
    free = {name: seed for name, value in parameters if value is None and name.split("__")[-1] == "random_state"}
    free |= {name: with_seed(value, seed) for name, value in parameters if is_unseeded(value)}
    if free:
        estimator.set_params(**free)
    return estimator


def is_unseeded(splitter: object) -> bool:
    """Whether this is a splitter that would shuffle anew each time."""
    if isinstance(splitter, type) or not hasattr(splitter, "split") or getattr(splitter, "random_state", 0) is not None:
        return False
    return bool(getattr(splitter, "shuffle", True))


def with_seed(splitter: Splitter, seed: int) -> Splitter:
    """The same splitter that shuffles by a seed."""
    fresh = copy(splitter)
    fresh.random_state = seed  # type: ignore[attr-defined]  # is_unseeded has seen it
    return fresh


# ---------------------------------------------------------------- the plan of the runs
# Any split, ours, scikit-learn's or pairs of rows, as the parts to train on and to test.


Pair: TypeAlias = "Iterable[ArrayLike]"  # the rows to train on, and the rows to test
SplitLike: TypeAlias = "int | str | Folds | HoldOut | Splitter | Iterable[Pair]"
GROUPS = "groups"
_TAKES = "split= takes a number of folds, Folds(), HoldOut(), 'groups' or a splitter, not"


def planned_parts(split: SplitLike, data: Data, groups: ArrayLike | None, rng: np.random.Generator) -> list[Part]:
    """The runs of a split: a number of folds, Folds, HoldOut, "groups", a foreign splitter, or pairs of rows."""
    member = None if groups is None else checks.column(groups, GROUPS)
    checks.check_lengths(y=data.codes, groups=member)
    plan = Folds(int(split)) if isinstance(split, (int, np.integer)) and not isinstance(split, bool) else split
    if isinstance(plan, (Folds, HoldOut)):
        parts = list(plan.split(data.codes, data.labels, rng))
    elif isinstance(plan, str):
        parts = _one_group_out(plan, member)
    else:
        pairs = _foreign_pairs(plan, data, groups, rng)
        parts = [_checked_part(i, pair, len(data.codes)) for i, pair in enumerate(pairs)]
    if not parts:
        raise InputError("The split gives no runs; give a number of folds, Folds(), HoldOut() or a splitter.")
    if member is not None and not isinstance(plan, str):
        _check_groups_apart(parts, label_codes.encode(member, None, GROUPS)[0])
    return parts


def _one_group_out(word: str, member: Array | None) -> list[Part]:
    """Each group tested once, by what the others teach."""
    if word != GROUPS:
        raise InputError(f"{_TAKES} {word!r}.")
    if member is None:
        raise InputError("split='groups' leaves one group out at a time; name the group of each row with groups=.")
    codes, labels = label_codes.encode(member, None, GROUPS)
    if len(labels) < 2:
        raise InputError(f"groups= names one group only, {labels[0]!r}; leaving it out leaves nothing to train on.")
    starts = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    tested = np.split(np.argsort(codes, kind="stable"), starts)
    return [Part(1, i + 1, rows, len(codes)) for i, rows in enumerate(tested)]


def _foreign_pairs(plan: object, data: Data, groups: ArrayLike | None, rng: np.random.Generator) -> Iterable[Pair]:
    """The pairs of a splitter, or those that were given; one that would shuffle anew each time does so by rng."""
    if isinstance(plan, type):
        raise InputTypeError(f"{plan.__name__} is a class; give an object: {plan.__name__}().")
    if not hasattr(plan, "split"):
        if isinstance(plan, Iterable):
            return plan
        raise InputTypeError(f"{_TAKES} {plan!r}.")
    splitter = cast("Splitter", plan)
    if is_unseeded(splitter):
        splitter = with_seed(splitter, int(rng.integers(SEEDS)))
    try:
        return list(splitter.split(data.X, data.y) if groups is None else splitter.split(data.X, data.y, groups))
    except SteelyardError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"{type(splitter).__name__} cannot split these rows: {str(error).rstrip('.')}.") from error


def _checked_part(i: int, pair: Pair, n: int) -> Part:
    """One run of a foreign split; an empty side or a row on both sides is refused."""
    try:
        train, test = (_row_numbers(side, n) for side in pair)
    except (TypeError, ValueError, IndexError):
        raise InputError(f"Run {i + 1} of the split is no pair of (rows to train on, rows to test).") from None
    for side, name in ((train, "train on"), (test, "test")):
        if not len(side):
            raise InputError(f"Run {i + 1} of the split has no rows to {name}; give fewer folds or other groups.")
    trained = np.zeros(n, dtype=bool)
    trained[train] = True
    both = int(trained[test].sum())
    if both:
        raise InputError(f"Run {i + 1} of the split trains on {row_count(both)} that it tests; keep the two apart.")
    return Part(1, i + 1, test, n, train)


def _row_numbers(side: ArrayLike, n: int) -> Array:
    rows = np.asarray(side)
    if rows.dtype.kind == "b":
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise TypeError
    return np.arange(n)[rows.astype(np.intp)]


def _check_groups_apart(parts: list[Part], member: Array) -> None:
    """Refuse a run that trains and tests on rows of one group."""
    for i, part in enumerate(parts):
        shared = np.intersect1d(member[part.train], member[part.test])
        if len(shared):
            raise InputError(
                f"Run {i + 1} of the split trains and tests on rows of the same {len(shared):,} groups; use "
                "split='groups', or a splitter that keeps groups apart such as GroupKFold."
            )


# ---------------------------------------------------------------- sized splits
# Runs of set sizes, so many rows of each side to train on, and test parts of several ratios for one fit.
#
# Nguyen (2019) trains once and tests on sets of three ratios. Test rows are none that the run was trained on, unless
# an overlap is asked for; `Drawn.seen` is then their share.


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
