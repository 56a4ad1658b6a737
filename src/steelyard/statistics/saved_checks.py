"""Checks of saved tables: numbers of rows, weights and groups that no rows could have given are refused."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import CountOverflowError, InputError
from steelyard.statistics import score_bins
from steelyard.statistics.cell_values import LARGEST
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.sparse_matrix import SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.paired import Paired
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.tally import Tally

_SLACK = 1e-9  # relative: what the rounding of sums in another order may leave


def check_saved_rows(rows: Array, what: str) -> None:
    """Refuse numbers of rows that are not whole, are negative, or exceed what 64 bits hold together."""
    if rows.size and rows.dtype.kind != "i":
        raise InputError(f"The rows of a saved {what} are whole numbers.")
    if rows.size and rows.min() < 0:
        raise InputError(f"The rows of a saved {what} are finite and not negative.")
    if rows.size and (int(rows.max()) * rows.size > LARGEST) and sum(rows.ravel().tolist()) > LARGEST:
        raise CountOverflowError(f"The saved {what} holds more than {LARGEST} rows, the largest whole count.")


def check_saved_weights(rows: Array, weights: Array, squares: Array, what: str) -> None:
    """Refuse weights without rows, rows without weight, and squares that no weights of that sum have.

    Rows may be rounded from counts that are not whole, so the least of squares, weights**2 / rows, is taken by half.
    """
    least = weights / 2 * (weights / np.maximum(rows, 1))
    if (weights[rows > 0] <= 0).any() or (squares < least).any() or (squares[weights == 0] > 0).any():
        raise InputError(
            f"The weights and squares of a saved {what} are sums over its rows, above 0 where there are rows; some of "
            "these cannot be. Tally the rows again."
        )


def check_saved_groups(tally: Tally) -> None:
    """Refuse groups whose tables do not add up to those of all rows, cell by cell."""
    groups = [*tally.groups.values()]
    labels = _labels_add_up(tally.confusion, [group.confusion for group in groups])
    pairs = _labels_add_up(tally.paired, [group.paired for group in groups])
    if groups and not (labels and pairs and _scores_add_up(tally.scores, [group.scores for group in groups])):
        raise InputError("The groups of this tally do not add up to its whole; tally the rows again.")


def check_saved_costs(tally: Tally) -> None:
    """Refuse costs of rows that are not among the scores of the tally."""
    for name, costs in tally.costs.items():
        bins = score_bins.NO_BINS if tally.scores is None else tally.scores.bins
        sides = [score_bins.lowered(side, bins) for side in costs.classes]
        if tally.scores is None or not all(map(_are_among, sides, tally.scores.classes)):
            raise InputError(
                f"The costs {name!r} of this tally are not of the rows it has scores of; tally them again."
            )


def _are_among(part: ClassScores, whole: ClassScores) -> bool:
    some, every = part.compact(), whole.compact()
    places = np.searchsorted(every.scores, some.scores)
    there = places < len(every.scores)
    return bool(there.all() and (every.scores[places] == some.scores).all() and (every.rows[places] >= some.rows).all())


def _labels_add_up(whole: Confusion | Paired | None, parts: Sequence[Confusion | Paired | None]) -> bool:
    present = [part for part in parts if part is not None]
    if whole is None or len(present) < len(parts):
        return whole is None and not present
    if not all({*part.labels} <= {*whole.labels} for part in present):
        return False
    alike = [part.relabelled(whole.labels) for part in present]
    columns = ("rows", "weights", "squares") if getattr(whole, "weighted", False) else ("rows",)
    return all(_add_up([getattr(part, name) for part in alike], getattr(whole, name)) for name in columns)


def _add_up(parts: Sequence[Array], whole: Array) -> bool:
    if not parts:
        return not whole.sum()
    total: Any = reduce(add, parts[1:], parts[0])
    if not isinstance(whole, SparseMatrix):
        return _equal(total, whole)
    return np.array_equal(total.places, whole.places) and _equal(total.values, whole.values)


def _scores_add_up(whole: ScoreTable | None, parts: Sequence[ScoreTable | None]) -> bool:
    present = [part for part in parts if part is not None]
    if whole is None or len(present) < len(parts):
        return whole is None and not present
    bins = score_bins.merge_bins(np.concatenate([whole.bins, *(part.bins for part in present)]))  # the coarsest
    return all(_same_class(side, [part.classes[i] for part in present], bins) for i, side in enumerate(whole.classes))


def _same_class(whole: ClassScores, parts: Sequence[ClassScores], bins: Array) -> bool:
    """Whether the scores of one class in all groups are those of the whole, with their rows and weights."""
    sides = [part for part in parts if part.size]
    scores = np.concatenate([part.scores for part in sides]) if sides else np.zeros(0)
    order = np.argsort(scores, kind="stable")
    names = ("rows", "weights", "squares")
    rows, weights, squares = (
        np.concatenate([getattr(part, name) for part in sides] or [scores])[order] for name in names
    )
    joined = score_bins.lowered(ClassScores(scores[order], rows, weights, squares), bins).compact()
    mine = score_bins.lowered(whole, bins).compact()
    return len(mine.scores) == len(joined.scores) and all(
        _equal(getattr(joined, name), getattr(mine, name)) for name in ("scores", *names)
    )


def _equal(values: Array | float, others: Array) -> bool:
    return bool(np.isclose(values, others, rtol=_SLACK, atol=0).all())
