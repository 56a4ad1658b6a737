"""Laws: statements about a metric's values on all tables of some variables, read by search and by proof alike."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

_SMALL = 4  # variables up to here are tried one and all
_LARGE = 1000  # and at random up to here
_DRAWS = 500
_TURNED = str.maketrans("<>", "><")


def _always(*values: Array | int) -> Array | bool:
    return values[0] == values[0]  # true in the shape of the values


@dataclass(frozen=True)
class Law:
    """For all values of the variables, the value on one table equals (is at most, is less than) that on another.

    Or than a number.
    A variable in `positive` is never 0, and `valid` says which variables make a table of the law at all. `grows` names
    the cell that alone makes the difference. The variables stand for numbers, arrays, fractions or symbols.
    """

    variables: tuple[str, ...]
    before: Callable[..., tuple[Any, ...]]
    against: Callable[..., Any]
    positive: str = ""
    valid: Callable[..., Any] = _always
    relation: str = "="
    grows: str | None = None

    def zero_patterns(self) -> Iterator[tuple[int, ...]]:
        """Which variables are 0 and which positive, in all ways that make a table."""
        ways = [(1,) if name in self.positive.split() else (1, 0) for name in self.variables]
        yield from (pattern for pattern in itertools.product(*ways) if self.valid(*pattern))

    @cached_property
    def small_cases(self) -> list[tuple[int, ...]]:
        """All small values of the variables, by the total of the table, then of what it is held against."""
        ways = [range(name in self.positive.split(), _SMALL + 1) for name in self.variables]
        grid = np.array(list(itertools.product(*ways)))
        grid = grid[np.broadcast_to(self.valid(*grid.T), len(grid))]
        totals = [_total(side(*grid.T), len(grid)) for side in (self.against, self.before)]
        return [tuple(map(int, case)) for case in grid[np.lexsort(totals)]]

    @cached_property
    def small_tables(self) -> tuple[Array, Array]:
        """Both sides of the small cases."""
        return self.tables(self.small_cases)

    @cached_property
    def check_cases(self) -> list[tuple[int, ...]]:
        """The cases on which a law is tried before it is proved: of moderate size, as constants are, and large."""
        return [*self.random_cases(2000, 20), *self.random_cases()]

    def tables(self, cases: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
        """Both sides of some cases, a table in a row; a number each where the value is held against one."""
        values = np.array(cases).T
        before, against, length = self.before(*values), self.against(*values), values.shape[1]
        other = _stacked(against, length) if isinstance(against, tuple) else np.asarray(against)
        return _stacked(before, length), other

    def relation_for(self, metric: Metric) -> str:
        """The relation for this metric: turned round where lower is better."""
        if metric.direction != "lower":
            return self.relation
        return self.relation.translate(_TURNED)

    def random_cases(self, draws: int = _DRAWS, largest: int = _LARGE) -> Iterator[tuple[int, ...]]:
        """Larger values of the variables at random, now and then a 0."""
        rng = random.Random(0)  # noqa: S311 - no secret
        while draws:
            case = tuple(
                0 if name not in self.positive.split() and rng.random() < 0.1 else rng.randint(1, largest)
                for name in self.variables
            )
            if self.valid(*case):
                draws -= 1
                yield case


def _total(side: tuple[Array, ...] | float, length: int) -> Array:
    return np.broadcast_to(sum(side) if isinstance(side, tuple) else 0, length)


def _stacked(table: tuple[Any, ...], length: int) -> Array:
    return np.stack([np.broadcast_to(cell, length) for cell in table], -1)


# ---------------------------------------------------------------- the laws


def changed_cell(cell: str) -> Law:
    """The value stays what it was when one cell changes to anything."""
    at = CELLS.index(cell)
    return Law(
        (*CELLS, "new"),
        lambda *cells: cells[:4],
        lambda *cells: (*cells[:at], cells[4], *cells[at + 1 : 4]),
    )


def grown_cell(cell: str) -> Law:
    """The value is no worse when a right cell grows, no better when a wrong one does, for a metric to be raised."""
    at = CELLS.index(cell)
    relation = "<=" if cell in ("tp", "tn") else ">="
    grown = lambda *cells: (*cells[:at], cells[at] + cells[4], *cells[at + 1 : 4])  # noqa: E731
    return Law((*CELLS, "more"), lambda *cells: cells[:4], grown, "more", relation=relation, grows=cell)


CLASS_SWAP = Law(CELLS, lambda *cells: cells, lambda tp, fn, fp, tn: (tn, fp, fn, tp))


MORE_POSITIVES = Law(
    (*CELLS, "k"), lambda *cells: cells[:4], lambda tp, fn, fp, tn, k: (tp * k, fn * k, fp, tn), positive="k"
)


EQUAL_RECALLS = Law(
    ("right", "wrong", "p", "n"),
    lambda right, wrong, p, n: (right * p, wrong * p, wrong * n, right * n),
    lambda right, wrong, *_: right / (right + wrong),
    "p n",
    lambda right, wrong, *_: right + wrong > 0,
)


NO_POSITIVE_FOUND = Law(
    ("fn", "fp", "tn"), lambda fn, fp, tn: (0, fn, fp, tn), lambda *_: 0, "fn", lambda _, fp, tn: fp + tn > 0
)


NO_NEGATIVE_FOUND = Law(
    ("tp", "fn", "fp"), lambda tp, fn, fp: (tp, fn, fp, 0), lambda *_: 0, "fp", lambda tp, fn, _: tp + fn > 0
)


NO_CREDIT = tuple(replace(law, relation="<=") for law in (NO_POSITIVE_FOUND, NO_NEGATIVE_FOUND))


LEANING_TO_POSITIVES = Law(
    ("less", "more", "rest"),
    lambda less, more, rest: (less, rest + more, rest, less + more),
    lambda less, more, rest: (less + more, rest, rest + more, less),
    "more",
    relation="<=",
)


NO_SKILL = Law(
    ("p", "n", "yes", "no"),
    lambda p, n, yes, no: (p * yes, p * no, n * yes, n * no),
    lambda *_: (1, 1, 1, 1),
    "p n",
    lambda _, __, yes, no: yes + no > 0,
)


TRANSPOSITION = Law(CELLS, lambda *cells: cells, lambda tp, fn, fp, tn: (tp, fp, fn, tn))


def _both_classes(tp: Any, fn: Any, fp: Any, tn: Any, *_: Any) -> Any:
    return (tp + fn > 0) & (fp + tn > 0)


def _with_errors(*cells: Any) -> Any:
    return _both_classes(*cells) & (cells[1] + cells[2] > 0)


def _with_hits(*cells: Any) -> Any:
    return _both_classes(*cells) & (cells[0] + cells[3] > 0)


MAXIMAL_AGREEMENT = (
    Law(("tp", "tn"), lambda tp, tn: (tp, 0, 0, tn), lambda *_: (1, 0, 0, 1), "tp tn"),
    Law(CELLS, lambda *cells: cells, lambda *_: (1, 0, 0, 1), valid=_with_errors, relation="<"),
)


MINIMAL_AGREEMENT = (
    Law(("fn", "fp"), lambda fn, fp: (0, fn, fp, 0), lambda *_: (0, 1, 1, 0), "fn fp"),
    Law(CELLS, lambda *cells: cells, lambda *_: (0, 1, 1, 0), valid=_with_hits, relation=">"),
)


def _correction(before: Callable[..., tuple[Any, ...]], after: Callable[..., tuple[Any, ...]]) -> Law:
    return Law((*CELLS, "more"), before, after, "more", lambda *v: _both_classes(*before(*v)), relation="<")


CORRECTIONS = (
    _correction(lambda tp, fn, fp, tn, k: (tp, fn + k, fp, tn), lambda tp, fn, fp, tn, k: (tp + k, fn, fp, tn)),
    _correction(lambda tp, fn, fp, tn, k: (tp, fn, fp + k, tn), lambda tp, fn, fp, tn, k: (tp, fn, fp, tn + k)),
)


def strictly_grown_cell(cell: str) -> Law:
    """The value is better when a right cell grows while there are errors, worse when a wrong one does beside hits."""
    law, is_right = grown_cell(cell), cell in ("tp", "tn")
    return replace(law, relation="<" if is_right else ">", valid=_with_errors if is_right else _with_hits)
