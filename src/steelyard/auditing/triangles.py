"""Triangles: whether what a metric lacks of its best value is a distance between labellings."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.counterexamples import SUSPICIOUS
from steelyard.auditing.decisions import PROVED, REFUTED, UNDEFINED, Ruling, cells_text
from steelyard.auditing.proof import on_related_tables
from steelyard.auditing.property_list import get_property
from steelyard.auditing.sign_proofs import never_negative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.symbolic_sums import SymbolicSum

_ROWS = 6  # of the labellings that are examined one and all
_MOST, _DRAWN = 7, 50_000  # rows of a kind in those at random, and how many
# A row has a label in each of three labellings; of a pair of them, which of the eight kinds of rows make which cell.
_PAIRS = [
    [
        [kind for kind, labels in enumerate(itertools.product((1, 0), repeat=3)) if (labels[a], labels[b]) == cell]
        for cell in itertools.product((1, 0), repeat=2)
    ]
    for a, b in ((0, 1), (1, 2), (0, 2))
]


def distance(audited: AuditedMetric, earlier: Callable[[str], Ruling]) -> Ruling:
    """Whether the properties of a distance hold; those that are laws of one table have been decided."""
    verdicts = []
    for name in ("maximal_agreement", "transposition_symmetry"):
        verdict, how, table = earlier(name)
        if verdict in (REFUTED, UNDEFINED):
            return verdict, f"{get_property(name).title}: {table or how}", None
        verdicts.append(verdict)
    kinds = _kinds()
    tables = [np.stack([kinds[:, cell].sum(1) for cell in pair], -1) for pair in _PAIRS]
    for triple in _suspects(audited, tables):
        if text := _broken(audited, triple):
            return REFUTED, text, None
    is_provable = verdicts == [PROVED, PROVED]
    if is_provable and on_related_tables(audited, (*"abcdefgh",), _tables, lambda _, *v: _obeys(audited, *v)):
        return PROVED, "algebra: the sign of what the way round is longer", None
    return f"no counterexample among {len(kinds):,} triples of labellings", audited.by_search, None


def _kinds() -> Array:
    """How many rows of each kind, in all ways for few rows, and at random for more."""
    ways = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(8), rows) for rows in range(1, _ROWS + 1)
    )
    few, rng = np.array([np.bincount(way, minlength=8) for way in ways]), np.random.default_rng(0)
    more = rng.integers(1, _MOST, (_DRAWN, 8)) * (rng.random((_DRAWN, 8)) < 0.5)
    return np.concatenate([few, more[more.sum(1) > 0]])


def _suspects(audited: AuditedMetric, tables: list[Array]) -> Iterator[list[Sequence[int]]]:
    """The triples whose third side is by floats longer than the other two together, the smallest first."""
    best = audited.floats(np.array([[1, 0, 0, 1]]))[0]
    with np.errstate(invalid="ignore"):
        one, other, direct = (np.abs(best - audited.floats(part)) for part in tables)
        longer = np.flatnonzero(direct - one - other > SUSPICIOUS)
    yield from ([part[i].tolist() for part in tables] for i in longer)


def _broken(audited: AuditedMetric, triple: list[Sequence[int]]) -> str:
    """What the three tables show, where in exact arithmetic the direct way is longer; else nothing."""
    values = [audited.value(table) for table in ((1, 0, 0, 1), *triple)]
    best, *sides = (value for value in values if value is not None)
    if len(sides) < 3:
        return ""
    one, other, direct = (abs(float(audited.gap(best, side))) for side in sides)
    lengths = zip((one, other, direct), triple, strict=True)
    shown = ", ".join(f"{length:.6g} on {cells_text(table)}" for length, table in lengths)
    return f"the third side of a triangle is longer than the others together: {shown}" if direct > one + other else ""


def _tables(*kinds: SymbolicSum) -> list[list[SymbolicSum]]:
    """The tables of the three pairs, and that without errors."""
    number = kinds[0].field.number
    pairs = [[sum((kinds[kind] for kind in cell), number(0)) for cell in pair] for pair in _PAIRS]
    return [*pairs, [number(1), number(0), number(0), number(1)]]


def _obeys(
    audited: AuditedMetric, one: SymbolicSum, other: SymbolicSum, direct: SymbolicSum, best: SymbolicSum
) -> bool:
    round_trip = direct + best - one - other  # what is missing of the best: by both ways less directly
    return never_negative(round_trip if audited.metric.direction == "higher" else -round_trip)
