"""The plan of the runs: any split, ours, scikit-learn's or pairs of rows, as the parts to train on and to test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.ingest import arrays, label_codes
from steelyard.protocol.seeds import SEEDS, is_unseeded, with_seed
from steelyard.protocol.splits import Folds, HoldOut, Part, row_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Splitter
    from steelyard.protocol.predictions import Data

Pair: TypeAlias = "Iterable[ArrayLike]"  # the rows to train on, and the rows to test
SplitLike: TypeAlias = "int | str | Folds | HoldOut | Splitter | Iterable[Pair]"
GROUPS = "groups"
_TAKES = "split= takes a number of folds, Folds(), HoldOut(), 'groups' or a splitter, not"


def planned_parts(split: SplitLike, data: Data, groups: ArrayLike | None, rng: np.random.Generator) -> list[Part]:
    """The runs of a split: a number of folds, Folds, HoldOut, "groups", a foreign splitter, or pairs of rows."""
    member = None if groups is None else arrays.column(groups, GROUPS)
    arrays.check_lengths(y=data.codes, groups=member)
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
    ends = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    tested = np.split(np.argsort(codes, kind="stable"), ends)
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
