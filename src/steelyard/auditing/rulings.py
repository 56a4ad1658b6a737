"""Rulings: whether a metric has a property, decided now by tables against it, by proof and by search."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.decisions import (
    DOES_NOT_APPLY,
    PROVED,
    REFUTED,
    UNDEFINED,
    Counterexample,
    FourCells,
    Ruling,
    cells_text,
    four_cells,
    unrefuted,
)
from steelyard.auditing.laws import CLASS_SWAP, NO_SKILL, PROPERTIES, get_property
from steelyard.auditing.proof import (
    SUSPICIOUS,
    case_outcome,
    drawn_counterexample,
    exact_search,
    on_all_tables,
    on_related_tables,
    proved,
    smallest_counterexample,
)
from steelyard.auditing.symbolic import keeps_off_zero, never_negative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.auditing.exact_values import Value
    from steelyard.auditing.laws import Law
    from steelyard.auditing.proof import AuditedMetric
    from steelyard.auditing.symbolic import SymbolicSum


# ---------------------------------------------------------------- range bounds
# Whether a metric keeps to its range, and whether each finite bound of it is the value of some table.


def bounds_attained(audited: AuditedMetric) -> Ruling:
    """Whether no value lies outside the range, and each finite bound of it is the value of some table."""
    bounds = [Fraction(repr(float(bound))) for bound in audited.metric.range if np.isfinite(bound)]
    if not bounds:
        return DOES_NOT_APPLY, "its range has no finite end", None
    if outside := _outside(audited):
        low, high = audited.metric.range
        return REFUTED, f"{audited.by_table}, whose value lies outside the range, {low:g} to {high:g}", outside
    reached = {bound: _reached(audited, bound) for bound in bounds}
    missed = [bound for bound, table in reached.items() if table is None]
    if not missed:
        tables = "; ".join(f"{bound} on {cells_text(table)}" for bound, table in reached.items() if table)
        return PROVED, f"reached: {tables}", None
    if all(_never_reached(audited, bound) for bound in missed):
        return REFUTED, f"algebra: no table reaches {' or '.join(map(str, missed))}", None
    return (
        f"no table that reaches {missed[0]} among {len(CLASS_SWAP.small_cases):,} exact tables",
        audited.by_search,
        None,
    )


def _outside(audited: AuditedMetric) -> Counterexample | None:
    """The smallest table whose value lies outside the range, and the bound that it passes."""
    tables = [*CLASS_SWAP.small_cases, *(CLASS_SWAP.check_cases if audited.formula else ())]
    values = audited.floats(np.array(tables))
    for limit, sign in zip(audited.metric.range, (-1, 1), strict=True):
        if not np.isfinite(limit):
            continue
        bound = Fraction(repr(float(limit)))
        with np.errstate(invalid="ignore"):
            beyond = np.flatnonzero(sign * (values - float(limit)) > SUSPICIOUS * max(1, abs(float(limit))))
        for table in (tables[i] for i in beyond):
            value = audited.value(table)
            if value is not None and sign * audited.gap(value, bound) > 0:
                return Counterexample(four_cells(table), None, str(value), str(bound))
    return None


def _reached(audited: AuditedMetric, bound: Fraction) -> FourCells | None:
    """The smallest table with this value."""
    small_tables = CLASS_SWAP.small_cases
    with np.errstate(invalid="ignore"):
        off = np.abs(audited.floats(np.array(small_tables)) - float(bound))
        near = np.flatnonzero(off <= SUSPICIOUS * max(1, abs(float(bound))))
    for table in (small_tables[i] for i in near):
        value = audited.value(table)
        if value is not None and audited.gap(value, bound) == 0:
            return four_cells(table)
    return None


def _never_reached(audited: AuditedMetric, bound: Fraction) -> bool:
    """Whether algebra shows that the value lies on one side of this number for all cells."""

    def beside(value: SymbolicSum) -> bool:
        return keeps_off_zero(value - value.field.number(bound))

    return audited.formula is not None and on_all_tables([audited.formula], beside)


# ---------------------------------------------------------------- random predictions
# Whether their mean value depends on the classes' sizes and on how many rows are flagged.


_LARGEST = 4  # rows of a class, in the margins that are examined


def constant_baseline(audited: AuditedMetric) -> Ruling:
    """Whether the mean over random predictions with given margins is the same for all margins.

    A value that is a straight line of the hits, given the margins, has on average what it has on the independent table.
    """
    sizes = itertools.product(range(1, _LARGEST + 1), repeat=2)
    margins = [(p, n, flagged) for p, n in sizes for flagged in range(1, p + n)]
    means = {given: mean for given in margins if (mean := _mean(audited, *given)) is not None}
    if not means:
        return UNDEFINED, "undefined for some predictions of all margins", None
    (first, value), *others = means.items()
    for given, mean in others:
        if audited.gap(mean, value) != 0:
            return REFUTED, f"mean over random predictions {_text(value, *first)}, {_text(mean, *given)}", None
    is_line = on_related_tables(audited, (*"abcdh",), _line, lambda _, *y: not (y[0] + y[2] - y[1] - y[1]).terms)
    if is_line and proved(audited, NO_SKILL):
        return PROVED, "algebra: a straight line of the hits, and the same on all independent tables", None
    return f"no counterexample among {len(means)} margins", audited.by_search, None


def _mean(audited: AuditedMetric, p: int, n: int, flagged: int) -> Value | None:
    """The mean over all ways to flag so many of p positives and n negatives; None where one of them is undefined."""
    hits = range(max(flagged - n, 0), min(flagged, p) + 1)
    values = [audited.value((t, p - t, flagged - t, n - flagged + t)) for t in hits]
    ways = [comb(p, t) * comb(n, flagged - t) for t in hits]
    if None in values:
        return None
    fractions = [value for value in values if isinstance(value, Fraction)]
    if len(fractions) == len(values):
        return sum((way * value for way, value in zip(ways, fractions, strict=True)), Fraction(0)) / sum(ways)
    with localcontext(prec=60):
        total = Decimal(0)
        for way, value in zip(ways, values, strict=True):
            total += way * (Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else value)  # type: ignore[operator]  # none is None
        return total / sum(ways)


def _text(mean: Value, p: int, n: int, flagged: int) -> str:
    return f"{float(mean):.6g} (positives {p}, negatives {n}, flagged {flagged})"


def _line(
    tp: SymbolicSum, fn: SymbolicSum, fp: SymbolicSum, tn: SymbolicSum, h: SymbolicSum
) -> list[list[SymbolicSum]]:
    """Three tables of the same margins, with equally many hits more from one to the next."""
    return [[tp, fn + h + h, fp + h + h, tn], [tp + h, fn + h, fp + h, tn + h], [tp + h + h, fn, fp, tn + h + h]]


# ---------------------------------------------------------------- triangles
# Whether what a metric lacks of its best value is a distance between labellings.


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
    if direct <= one + other:
        return ""
    lengths = zip((one, other, direct), triple, strict=True)
    shown = ", ".join(f"{length:.6g} on {cells_text(table)}" for length, table in lengths)
    return f"the third side of a triangle is longer than the others together: {shown}"


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


# ---------------------------------------------------------------- true probabilities
# Whether one threshold on them is best for a metric, whatever the other rows are.


_SMALL = [table for table in itertools.product(range(3), repeat=4) if sum(table)]
_GROUPS = [(1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (1, 0), (0, 1)]
_PAYS = {-1: "costs", 0: "changes nothing", 1: "pays"}
_SCALES = ((0, 1, 2, 3), (0, 1), (2, 3))  # a value may be for each row, for each positive or for each negative


def fixed_threshold(audited: AuditedMetric) -> Ruling:
    """Whether flagging rows of some share of positives pays or not whatever the rows beside them are."""
    sign, examined = -1 if audited.metric.direction == "lower" else 1, 0
    for positives, negatives in _GROUPS:
        seen: dict[int, Sequence[int]] = {}
        for others in _SMALL:
            if (gain := _gain(audited, others, positives, negatives)) is not None:
                examined += 1
                seen.setdefault(sign * ((gain > 0) - (gain < 0)), others)
        if len(seen) > 1:
            where = ", ".join(f"{_PAYS[pays]} beside {cells_text(others)}" for pays, others in sorted(seen.items()))
            return REFUTED, f"flagging a group of {positives} positive and {negatives} negative rows {where}", None
    for scale in _SCALES:
        hit, alarm = (_gain_in_all(audited, scale, group) for group in ((1, 0), (0, 1)))
        if hit != alarm and on_related_tables(audited, (*"abcdmk",), _groups, partial(_is_sum, scale, hit, alarm)):
            return PROVED, f"algebra: the rows above {alarm / (alarm - hit)}", None
    return f"no counterexample among {examined:,} exact tables", audited.by_search, None


def _gain(audited: AuditedMetric, others: Sequence[int], m: int, k: int) -> Fraction | None:
    """What flagging m positives and k negatives adds beside other rows."""
    tp, fn, fp, tn = others
    flagged, left = audited.value((tp + m, fn, fp + k, tn)), audited.value((tp, fn + m, fp, tn + k))
    return None if flagged is None or left is None else Fraction(audited.gap(flagged, left))


def _gain_in_all(audited: AuditedMetric, scale: Sequence[int], group: tuple[int, int]) -> Fraction:
    """What a group adds beside one row of each cell, not for each row but in all."""
    positives, negatives = group
    rows = len(scale)
    if 0 in scale:  # of all rows or of the positives, tp and fn
        rows += positives
    if 3 in scale:  # of all rows or of the negatives, fp and tn
        rows += negatives
    return rows * (_gain(audited, (1, 1, 1, 1), positives, negatives) or Fraction(0))


def _groups(*variables: SymbolicSum) -> list[list[SymbolicSum]]:
    """Rows of a group flagged, and not, beside others."""
    a, b, c, d, m, k = variables
    return [[a + m, b, c + k, d], [a, b + m, c, d + k]]


def _is_sum(
    scale: Sequence[int], hit: Fraction, alarm: Fraction, variables: list[SymbolicSum], *values: SymbolicSum
) -> bool:
    """Whether what a group adds in all is so much for each positive and for each negative, whatever is beside it."""
    *_, m, k = variables
    table = _groups(*variables)[0]
    rows = sum((table[cell] for cell in scale[1:]), table[scale[0]])
    return not ((values[0] - values[1]) * rows - m * hit - k * alarm).terms


# ---------------------------------------------------------------- rulings


def ruling_on(audited: AuditedMetric, name: str) -> Ruling:
    """The verdict on a property by what decides it: its laws, or a search of its own."""
    match name:
        case "bounds_attained":
            return bounds_attained(audited)
        case "constant_baseline":
            return constant_baseline(audited)
        case "fixed_threshold":
            return fixed_threshold(audited)
        case "distance":
            return distance(audited, partial(ruling_on, audited))
    ruling = _judged(audited, PROPERTIES[name].laws)
    if name != "corrections_improve" or ruling[0] in (PROVED, REFUTED):
        return ruling
    # A correction is a hit more, beside the error, and then an error less, beside the hit.
    follows = ruling_on(audited, "strictly_monotone")[0] == PROVED
    return (PROVED, "algebra: it is strictly monotone", None) if follows else ruling


def _judged(audited: AuditedMetric, laws: Sequence[Law]) -> Ruling:
    """The verdict on some laws together, how it was reached, and the smallest counterexample."""
    small = [table for law in laws if (table := smallest_counterexample(audited, law))]
    if small:
        return _refuted(audited, small)
    drawn = [table for law in laws if audited.formula and (table := drawn_counterexample(audited, law))]
    if drawn:
        return _refuted(audited, drawn, drawn=True)
    proofs = [proved(audited, law) if audited.formula else None for law in laws]
    if all(proofs) and not any("search" in str(proof) for proof in proofs):
        # A law that no table can break because the metric is undefined on all of them is not proved.
        defined = any(case_outcome(audited, law, case) is not None for law in laws for case in law.small_cases)
        return PROVED if defined else UNDEFINED, str(proofs[0]), None
    searches = [exact_search(audited, law) for law in laws]  # algebra proves them in part or not at all
    examined, counterexamples = sum(count for count, _ in searches), [table for _, table in searches if table]
    if counterexamples:
        return _refuted(audited, counterexamples, drawn=True)
    if not examined:
        return UNDEFINED, "undefined on every table of the claim", None
    return (PROVED, str(proofs[0]), None) if all(proofs) else (unrefuted(examined), audited.by_search, None)


def _refuted(audited: AuditedMetric, counterexamples: list[Counterexample], *, drawn: bool = False) -> Ruling:
    how = f"{audited.by_table}; a smaller table may exist" if drawn else audited.by_table
    return REFUTED, how, min(counterexamples, key=lambda counterexample: sum(counterexample.before))
