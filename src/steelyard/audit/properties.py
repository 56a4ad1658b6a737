"""Properties: what is asked of a measure, and whether it holds: proved, refuted by a smallest table, or not refuted.

A property is one or more claims, each a sentence about all tables of some letters. The same claim is tried on small
tables in exact arithmetic, smallest first, and where none refutes it proved over letters. Used by advice and reports.
"""

from __future__ import annotations

import builtins
import itertools
import json
import math
import os
import random
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard import __version__
from steelyard.audit import algebra
from steelyard.audit.algebra import Formula, Letters, Sum, Unprovable, Value
from steelyard.errors import InputError, InputTypeError, SteelyardError, UnknownNameError, did_you_mean
from steelyard.metrics import notation
from steelyard.metrics.expression import evaluate
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.counts import CELLS, Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard.metrics.metric import Metric

Array = np.ndarray[Any, Any]
Table = tuple[int, int, int, int]

PROVED = "proved"
REFUTED = "refuted"
UNDEFINED = "undefined everywhere"
DOES_NOT_APPLY = "does not apply"
SMALL = 4  # letters up to here are tried one and all
LARGE = 1000  # and at random up to here
DRAWS = 500
SUSPICIOUS = 1e-10  # floats that differ by more are looked at in exact arithmetic
OPAQUE = 1e-9  # values of an opaque function that gives floats are equal up to here


# ---------------------------------------------------------------- claims about all tables


def _always(*letters: Any) -> Any:
    return letters[0] == letters[0]  # true in the shape of the letters


@dataclass(frozen=True)
class Claim:
    """For all values of the letters, the value on one table equals (or is at most) that on another, or a number.

    A letter in `positive` is never 0, and `valid` says which letters make a table of the claim at all. `grows` names
    the cell that alone makes the difference.
    """

    letters: tuple[str, ...]
    before: Callable[..., tuple[Any, ...]]
    against: Callable[..., Any]
    positive: str = ""
    valid: Callable[..., Any] = _always
    relation: str = "="
    grows: str | None = None

    def faces(self) -> Iterator[tuple[int, ...]]:
        """Which letters are 0 and which positive, in all ways that make a table."""
        ways = [(1,) if name in self.positive.split() else (1, 0) for name in self.letters]
        yield from (face for face in itertools.product(*ways) if self.valid(*face))

    def small(self) -> list[tuple[int, ...]]:
        """All small values of the letters, by the total of the table, then of what it is held against."""
        ways = [range(name in self.positive.split(), SMALL + 1) for name in self.letters]
        grid = np.array(list(itertools.product(*ways)))
        grid = grid[np.broadcast_to(self.valid(*grid.T), len(grid))]
        totals = [_total(side(*grid.T), len(grid)) for side in (self.against, self.before)]
        return [tuple(map(int, letters)) for letters in grid[np.lexsort(totals)]]

    def drawn(self, draws: int, seed: int = 0) -> Iterator[tuple[int, ...]]:
        """Larger values of the letters at random, now and then a 0."""
        rng = random.Random(seed)  # noqa: S311 - no secret
        while draws:
            letters = tuple(
                0 if name not in self.positive.split() and rng.random() < 0.1 else rng.randint(1, LARGE)
                for name in self.letters
            )
            if self.valid(*letters):
                draws -= 1
                yield letters


def _total(side: Any, length: int) -> Array:
    return np.broadcast_to(sum(side) if isinstance(side, tuple) else 0, length)


@dataclass(frozen=True)
class Property:
    """What is asked of a measure: its claims, and who asks. `wanted` gives both readings where papers disagree."""

    name: str
    title: str
    meaning: str
    wanted: str
    cite: tuple[str, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def is_equality(self) -> bool:
        """Whether it says that values are equal, so that algebra decides it."""
        return bool(self.claims) and all(claim.relation == "=" for claim in self.claims)


def _changed(cell: str) -> Claim:
    """The value stays what it was when one cell changes to anything."""
    at = CELLS.index(cell)
    return Claim(
        (*CELLS, "new"),
        lambda *letters: letters[:4],
        lambda *letters: (*letters[:at], letters[4], *letters[at + 1 : 4]),
    )


def _grown(cell: str) -> Claim:
    """The value is no worse when a right cell grows, no better when a wrong one does, for a measure to be raised."""
    at = CELLS.index(cell)
    relation = "<=" if cell in ("tp", "tn") else ">="
    grown = lambda *cells: (*cells[:at], cells[at] + cells[4], *cells[at + 1 : 4])  # noqa: E731
    return Claim((*CELLS, "more"), lambda *cells: cells[:4], grown, "more", relation=relation, grows=cell)


_SWAP = Claim(CELLS, lambda *cells: cells, lambda tp, fn, fp, tn: (tn, fp, fn, tp))
_SCALE = Claim(
    (*CELLS, "k"), lambda *letters: letters[:4], lambda tp, fn, fp, tn, k: (tp * k, fn * k, fp, tn), positive="k"
)
_EQUAL_RECALLS = Claim(
    ("right", "wrong", "p", "n"), lambda right, wrong, p, n: (right * p, wrong * p, wrong * n, right * n),
    lambda right, wrong, *_: right / (right + wrong), "p n", lambda right, wrong, *_: right + wrong > 0,
)  # fmt: skip
_NO_POSITIVE_FOUND = Claim(
    ("fn", "fp", "tn"), lambda fn, fp, tn: (0, fn, fp, tn), lambda *_: 0, "fn", lambda _, fp, tn: fp + tn > 0
)
_NO_NEGATIVE_FOUND = Claim(
    ("tp", "fn", "fp"), lambda tp, fn, fp: (tp, fn, fp, 0), lambda *_: 0, "fp", lambda tp, fn, _: tp + fn > 0
)
_GUESSES = Claim(
    ("p", "n", "yes", "no"), lambda p, n, yes, no: (p * yes, p * no, n * yes, n * no), lambda *_: (1, 1, 1, 1), "p n",
    lambda _, __, yes, no: yes + no > 0,
)  # fmt: skip

_BOTH_READINGS = (
    "García calls noticing the exchange a virtue, since a measure that does not may miss which class is served badly; "
    "Asawa and Wu want a measure that does not, since which class is called positive is a convention."
)
_NOTICE = "García wants a measure to notice every change of the table, so that invariance is a fault."
_ORDER = "Whoever orders models by a measure: a model that does better in one cell alone is not to be ranked lower."

_ALL = (
    Property(
        "p1", "Exchange of the classes (García's p1)",
        "The value stays when tp is exchanged with tn and fn with fp.", _BOTH_READINGS,
        ("garcia2012", "asawa", "wu2025"), (_SWAP,),
    ),
    *(
        Property(
            name, f"Change of {cell} (García's {name})", f"The value stays when {cell} alone changes.", _NOTICE,
            ("garcia2012",), (_changed(cell),),
        )
        for name, cell in (("p2", "tn"), ("p3", "fp"), ("p4", "tp"), ("p5", "fn"))
    ),
    Property(
        "class_symmetry", "Symmetry of the classes",
        "The value does not depend on which of the two classes is called positive.", _BOTH_READINGS,
        ("asawa", "wu2025", "garcia2012"), (_SWAP,),
    ),
    Property(
        "prevalence_invariance", "Invariance to prevalence",
        "The value stays when the positives become k times as many at the same recall, for any k above 0.",
        "Asawa (balancing the test set), Nguyen and Wu (null-biased) want it; whoever must know the value at the "
        "prevalence in use does not.",
        ("asawa", "nguyen2019", "wu2025"), (_SCALE,),
    ),
    Property(
        "equal_recalls_kept", "Equal recalls kept",
        "The value is x where recall and specificity both are x.", "Wu wants it, so that the value reads like a rate.",
        ("wu2025",), (_EQUAL_RECALLS,),
    ),
    Property(
        "zero_when_a_class_fails", "Zero when a class fails",
        "The value is 0 where no row of one of the classes is found.",
        "Asawa and Wu want it where no class may be given up; a half-credit is fine where one may.",
        ("asawa", "wu2025"), (_NO_POSITIVE_FOUND, _NO_NEGATIVE_FOUND),
    ),
    Property(
        "constant_chance", "Constant chance level",
        "Guessing scores the same whatever the share of positives and of flags.",
        "Powers wants it, so that a value can be told from guessing without the margins.",
        ("powers2011",), (_GUESSES,),
    ),
    *(
        Property(
            f"monotone_{cell}", f"Monotone in {cell}",
            f"The value never {'worsens' if cell in ('tp', 'tn') else 'improves'} when {cell} grows.", _ORDER, (),
            (_grown(cell),),
        )
        for cell in CELLS
    ),
    Property(
        "bounds_attained", "Bounds attained", "Each finite end of the range is the value of some table.",
        "Whoever reads a value as a share of what is possible.", (),
    ),
)  # fmt: skip
PROPERTIES: dict[str, Property] = {asked.name: asked for asked in _ALL}


def get_property(name: str | Property) -> Property:
    """The property of that name."""
    if isinstance(name, Property):
        return name
    if name not in PROPERTIES:
        near = did_you_mean(name, PROPERTIES) or f" There are {', '.join(PROPERTIES)}."
        raise UnknownNameError(f"No property is called {name!r}.{near}")
    return PROPERTIES[name]


# ---------------------------------------------------------------- decisions


@dataclass(frozen=True)
class Counterexample:
    """A table, what it was held against (another table, or None for a number) and the two exact values, written out.

    The table may be the parent of the other: `before` with its change made is `after`.
    """

    before: Table
    after: Table | None
    value: str
    other: str

    def __str__(self) -> str:
        to = "" if self.after is None else f" on {_cells(self.after)}"
        return f"{_short(self.value)} on {_cells(self.before)}, {_short(self.other)}{to}"


def _cells(table: Table) -> str:
    return ", ".join(f"{name}={cell}" for name, cell in zip(CELLS, table, strict=True))


def _short(number: str) -> str:
    return number if len(number) <= 12 else f"{number[:10]}..."


@dataclass(frozen=True)
class Decision:
    """Whether a property holds for a measure, how that is known, and the smallest table where it fails."""

    metric: str
    property: str
    verdict: str
    how: str
    counterexample: Counterexample | None = None

    @builtins.property
    def holds(self) -> bool | None:
        """True where proved, False where refuted, None where neither."""
        return {PROVED: True, REFUTED: False}.get(self.verdict)

    def row(self) -> dict[str, Any]:
        """The decision as a row of a table."""
        return asdict(self)


def unrefuted(tables: int) -> str:
    """The verdict on what was examined on so many tables and not proved."""
    return f"no counterexample among {tables:,} exact tables"


class Subject:
    """A measure under examination: its exact values, kept, and its formula where it can be read."""

    def __init__(self, measure: Metric) -> None:
        if measure.function is None:
            raise InputTypeError(f"{measure.name} is a measure of scores; the audit is of measures of tp, fn, fp, tn.")
        self.measure = measure
        node = algebra.exact_expression(measure)
        self.formula = None if node is None else Formula(node)
        self._values: dict[tuple[Any, ...], Value | None] = {}
        tables = [*itertools.product(range(3), repeat=4), (5, 3, 2, 7), (13, 8, 21, 34), (100, 7, 55, 900)]
        if all(self.value(table) is None for table in tables):
            raise InputError(
                f"{measure.name} is undefined on all {len(tables)} tables tried; a measure has a finite value on some."
            )

    def value(self, table: Sequence[Any]) -> Value | None:
        """The value on one table, exact or to 60 digits; a float of an opaque function as it is; None if undefined."""
        table = tuple(table)
        if table not in self._values:
            self._values[table] = self.formula.value(table) if self.formula else _called(self.measure, table)
        return self._values[table]

    def gap(self, a: Value, b: Value) -> Value:
        """The first value less the second, 0 where they are equal as far as they are known."""
        gap = algebra.difference(a, b)
        inexact = self.formula is None and isinstance(gap, Decimal)
        return Fraction(0) if inexact and math.isclose(a, b, rel_tol=OPAQUE, abs_tol=OPAQUE) else gap

    def floats(self, tables: Array) -> Array:
        """The values on many tables in floats, to see where to look."""
        if self.formula is None:
            return np.array([np.nan if (v := self.value(t)) is None else float(v) for t in tables.tolist()])
        with np.errstate(all="ignore"):
            found = evaluate(self.formula.node, Cells(*tables.T.astype(np.float64)))
        return np.broadcast_to(found, len(tables))

    @property
    def by_search(self) -> str:
        """How a claim that nothing refutes was examined."""
        if self.formula is None:
            return self._opaque
        return (
            "exact search; no proof found"
            if algebra.is_available()
            else "exact search; sympy, which proves, is missing"
        )

    @property
    def by_table(self) -> str:
        """How a claim that a table refutes was examined."""
        return "a table, in exact arithmetic" if self.formula else self._opaque

    @property
    def _opaque(self) -> str:
        inexact = any(isinstance(value, Decimal) for value in self._values.values())
        floats = ", its values floats that are equal up to 1e-9" if inexact else ""
        return f"an opaque function, no formula to prove: exact search{floats}"


def _called(measure: Metric, table: tuple[Any, ...]) -> Value | None:
    """The value of a function that cannot be read, on fractions where it takes them, else on floats."""
    assert measure.function is not None  # noqa: S101 - the Subject has refused others
    problem: Exception | None = None
    for kind in (Fraction, float):
        try:
            with np.errstate(all="ignore"):
                return _number(measure.name, measure.function(Cells(*map(kind, table)), **measure.parameters))
        except SteelyardError:
            raise
        except ArithmeticError:
            return None
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            problem = error
    said = f"{type(problem).__name__}: {problem}".rstrip(": ")
    raise InputError(f"{measure.name} fails on the table {_cells(table)} ({said}); it must take any table.")


def _number(name: str, found: Any) -> Value | None:
    if np.shape(found) != ():
        raise InputError(
            f"{name} returns an array of shape {np.shape(found)} for one table; one number a table was expected."
        )
    found = found.item() if isinstance(found, (np.ndarray, np.generic)) else found
    if isinstance(found, (int, Fraction)):
        return Fraction(found)
    if not isinstance(found, float):
        raise InputTypeError(f"{name} returns {found!r} for a table; a number was expected.")
    return Decimal(repr(found)) if np.isfinite(found) else None


# ---------------------------------------------------------------- search


def _sides(subject: Subject, claim: Claim, letters: Sequence[int]) -> tuple[Any, Any, Value | None, Value | None]:
    """The table and what it is held against, and the values of both."""
    exact = [Fraction(letter) for letter in letters]
    before, against = claim.before(*exact), claim.against(*exact)
    other = subject.value(against) if isinstance(against, tuple) else Fraction(against)
    return before, against, subject.value(before), other


def _breaks(subject: Subject, claim: Claim, letters: Sequence[int]) -> Counterexample | bool | None:
    """The counterexample that these letters are; False where the claim holds; None where a side is undefined."""
    before, against, value, other = _sides(subject, claim, letters)
    if value is None or other is None:
        return None
    gap = subject.gap(value, other)
    if gap == 0 or (claim.relation != "=" and (gap < 0) == (_relation(subject, claim) == "<=")):
        return False
    after = _whole(against) if isinstance(against, tuple) else None
    return Counterexample(_whole(before), after, str(value), str(other))


def _relation(subject: Subject, claim: Claim) -> str:
    """The claim's relation for this measure: turned round where lower is better."""
    if claim.relation == "=" or subject.measure.direction != "lower":
        return claim.relation
    return ">=" if claim.relation == "<=" else "<="


def _whole(table: Iterable[Any]) -> Table:
    tp, fn, fp, tn = map(int, table)
    return tp, fn, fp, tn


def _suspects(subject: Subject, claim: Claim) -> Iterator[tuple[int, ...]]:
    """The small cases where by floats the two sides do not relate as claimed, in order."""
    before, against = _small_tables(claim)
    value = subject.floats(before)
    other = subject.floats(against) if against.ndim == 2 else against
    with np.errstate(all="ignore"):
        gap = {"=": np.abs, "<=": np.positive, ">=": np.negative}[_relation(subject, claim)](value - other)
        apart = gap > SUSPICIOUS * np.maximum(1, np.abs(value))
    yield from (_small_cases(claim)[i] for i in np.flatnonzero(apart))


@cache
def _small_cases(claim: Claim) -> list[tuple[int, ...]]:
    return claim.small()


@cache
def _small_tables(claim: Claim) -> tuple[Array, Array]:
    """Both sides of the small cases, a table in a row; a number each where the claim holds the value against one."""
    letters = np.array(_small_cases(claim)).T
    before, against = claim.before(*letters), claim.against(*letters)
    length = letters.shape[1]
    return _stacked(before, length), _stacked(against, length) if isinstance(against, tuple) else np.asarray(against)


def _stacked(table: tuple[Any, ...], length: int) -> Array:
    return np.stack([np.broadcast_to(cell, length) for cell in table], -1)


def _quickest(subject: Subject, claim: Claim) -> Counterexample | None:
    """The smallest counterexample among the small tables."""
    likely = _suspects(subject, claim) if subject.formula else iter(_small_cases(claim))
    return next(
        (broken for case in likely if isinstance(broken := _breaks(subject, claim, case), Counterexample)), None
    )


def _searched(subject: Subject, claim: Claim) -> tuple[int, Counterexample | None]:
    """How many tables, small and large, were examined in exact arithmetic, and one that breaks the claim."""
    examined = 0
    for case in itertools.chain(_small_cases(claim), claim.drawn(DRAWS)):
        broken = _breaks(subject, claim, case)
        if isinstance(broken, Counterexample):
            return examined, broken
        examined += broken is not None
    return examined, None


# ---------------------------------------------------------------- proof


def _letters(claim: Claim, face: tuple[int, ...], until: float) -> list[Sum]:
    over = Letters(claim.letters, until - time.monotonic())
    return [letter if there else over.number(0) for letter, there in zip(over.letters, face, strict=True)]


def _over(formula: Formula, table: Any, over: Letters) -> Sum | None:
    """The formula's value, or the number itself, over the letters."""
    cells = [cell if isinstance(cell, Sum) else over.number(cell) for cell in _several(table)]
    return formula.over(cells) if isinstance(table, tuple) else cells[0]


def _several(thing: Any) -> tuple[Any, ...]:
    return thing if isinstance(thing, tuple) else (thing,)


def _proved(subject: Subject, claim: Claim, seconds: float = algebra.LONGEST) -> str | None:
    """How the claim was proved for all letters, those that are 0 included; None where it was not."""
    until = time.monotonic() + seconds
    try:
        if all(_proved_on(subject, claim, face, until) for face in claim.faces()):
            return "algebra: equal for all cells" if claim.relation == "=" else "algebra: the sign of the difference"
        if claim.grows and all(_slopes(subject, claim, face, until) for face in claim.faces()):
            return "algebra: the sign of the derivative; steps from an empty cell by exact search"
    except (Unprovable, ImportError):
        return None
    return None


def _proved_on(subject: Subject, claim: Claim, face: tuple[int, ...], until: float) -> bool:
    assert subject.formula is not None  # noqa: S101 - proofs are asked of formulas
    letters = _letters(claim, face, until)
    over = letters[0].over
    before, other = (_over(subject.formula, side(*letters), over) for side in (claim.before, claim.against))
    if before is None or other is None:
        return True
    gap = other - before
    if claim.relation == "=":
        return not gap.terms
    return algebra.never_negative(gap if _relation(subject, claim) == "<=" else -gap)


def _slopes(subject: Subject, claim: Claim, face: tuple[int, ...], until: float) -> bool:
    """Whether the derivative by the cell that grows has the right sign, where that cell is not empty."""
    assert subject.formula is not None and claim.grows is not None  # noqa: S101 - see above
    at = CELLS.index(claim.grows)
    letters = _letters(claim, face, until)
    value = _over(subject.formula, claim.before(*letters), letters[0].over) if face[at] else None
    if value is None:
        return True
    if not algebra.is_smooth(value):
        return False
    slope = value.slope(letters[at])
    return algebra.never_negative(slope if _relation(subject, claim) == "<=" else -slope)


# ---------------------------------------------------------------- to decide


def decide(metric: Any, property: str | Property) -> Decision:
    """Whether a property holds for a measure, given by name or as a function of the four cells.

    >>> print(decide("balanced_accuracy", "prevalence_invariance").verdict)
    proved
    >>> decision = decide("accuracy", "prevalence_invariance")
    >>> print(decision.verdict, "by", decision.counterexample)
    refuted by 1/2 on tp=0, fn=1, fp=0, tn=1, 1/3 on tp=0, fn=2, fp=0, tn=1
    """
    (decision,) = _decisions([get_metric(metric)], [get_property(property)])
    return decision


def audit_properties(metrics: Iterable[Any] | None = None, properties: Iterable[Any] | None = None) -> list[Decision]:
    """Every property decided for every measure of counts in the registry, or for those named."""
    measures = [m for m in list_metrics() if m.function] if metrics is None else list(map(get_metric, metrics))
    return _decisions(measures, list(map(get_property, PROPERTIES if properties is None else properties)))


def garcia_row(metric: Any) -> str:
    """A measure's column of García's Table 2, p1 to p5: "-" invariant, "+" not, "?" undecided.

    >>> garcia_row("f1")
    '+-+++'
    """
    signs = {True: "-", False: "+", None: "?"}
    return "".join(signs[d.holds] for d in audit_properties([metric], ["p1", "p2", "p3", "p4", "p5"]))


def _decisions(measures: list[Metric], properties: list[Property]) -> list[Decision]:
    kept = _kept()
    before, rows = len(kept), []
    for measure in measures:
        subject = cache(partial(Subject, measure))
        rows += [_recalled(kept, measure, asked) or _anew(kept, subject(), asked) for asked in properties]
    if len(kept) > before:
        _keep(kept)
    return rows


def _recalled(kept: dict[str, Decision], measure: Metric, asked: Property) -> Decision | None:
    found = kept.get(_key(measure, asked) or "")
    return found and replace(found, metric=measure.name)


def _anew(kept: dict[str, Decision], subject: Subject, asked: Property) -> Decision:
    decision, key = _decided(subject, asked), _key(subject.measure, asked)
    if key and algebra.is_available():
        kept[key] = decision
    return decision


def _decided(subject: Subject, asked: Property) -> Decision:
    if asked.name == "bounds_attained":
        return Decision(subject.measure.name, asked.name, *_bounds(subject))
    if not asked.is_equality and subject.measure.direction is None:
        return Decision(subject.measure.name, asked.name, DOES_NOT_APPLY, "no value of it is better than another")
    return Decision(subject.measure.name, asked.name, *_judged(subject, asked.claims))


def _judged(subject: Subject, claims: Sequence[Claim]) -> tuple[str, str, Counterexample | None]:
    """The verdict on some claims together, how it was reached, and the smallest counterexample."""
    broken = [found for claim in claims if (found := _quickest(subject, claim))]
    if broken:
        return REFUTED, subject.by_table, min(broken, key=lambda found: sum(found.before))
    proofs = [_proved(subject, claim) if subject.formula else None for claim in claims]
    if all(proofs) and not any("search" in str(proof) for proof in proofs):
        return _proof_verdict(subject, claims), str(proofs[0]), None
    searched = [_searched(subject, claim) for claim in claims]
    examined, tables = sum(count for count, _ in searched), [table for _, table in searched if table]
    if tables:
        return REFUTED, subject.by_table, min(tables, key=lambda table: sum(table.before))
    if not examined:
        return UNDEFINED, "undefined on every table of the claim", None
    return (PROVED, str(proofs[0]), None) if all(proofs) else (unrefuted(examined), subject.by_search, None)


def _proof_verdict(subject: Subject, claims: Sequence[Claim]) -> str:
    """A claim that no table can break because the measure is undefined on all of them is not proved."""
    some = any(_breaks(subject, claim, case) is not None for claim in claims for case in _small_cases(claim))
    return PROVED if some else UNDEFINED


def _bounds(subject: Subject) -> tuple[str, str, Counterexample | None]:
    """Whether each finite end of the range is the value of some table."""
    ends = [Fraction(repr(float(end))) for end in subject.measure.range if np.isfinite(end)]
    if not ends:
        return DOES_NOT_APPLY, "its range has no finite end", None
    cases = _small_cases(_SWAP)
    values = subject.floats(np.array(cases))
    reached = {end: _reached(subject, end, cases, values) for end in ends}
    missed = [end for end, table in reached.items() if table is None]
    if not missed:
        told = "; ".join(f"{end} on {_cells(table)}" for end, table in reached.items() if table)
        return PROVED, f"reached: {told}", None
    if all(_never_reached(subject, end) for end in missed):
        return REFUTED, f"algebra: no table reaches {' or '.join(map(str, missed))}", None
    return f"no table that reaches {missed[0]} among {len(cases):,} exact tables", subject.by_search, None


def _reached(subject: Subject, end: Fraction, cases: list[tuple[int, ...]], values: Array) -> Table | None:
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(np.abs(values - float(end)) <= SUSPICIOUS * max(1, abs(float(end))))
    found = ((cases[i], subject.value(cases[i])) for i in near)
    return next((_whole(table) for table, value in found if value is not None and subject.gap(value, end) == 0), None)


def _never_reached(subject: Subject, end: Fraction) -> bool:
    """Whether algebra shows that the value lies on one side of this number for all cells."""

    def beside(value: Sum) -> bool:
        gap = value - value.over.number(end)
        return algebra.never_zero(gap) or algebra.never_zero(-gap)

    return subject.formula is not None and algebra.on_all_tables([subject.formula], beside)


# ---------------------------------------------------------------- one measure against another


def harsher(a: Any, b: Any) -> Decision:
    """Whether one measure is nowhere kinder than another: at most its value, or at least where lower is better.

    >>> harsher("g_mean", "balanced_accuracy").verdict
    'proved'
    """
    first, second = Subject(get_metric(a)), Subject(get_metric(b))
    directions = {first.measure.direction, second.measure.direction}
    if len(directions) > 1 or None in directions:
        raise InputError(
            f"{first.measure.name} and {second.measure.name} are not both better when higher, or both when lower; "
            "which is harsher is asked of two that are."
        )
    name, signed = f"harsher than {second.measure.name}", 1 if directions == {"higher"} else -1
    return Decision(first.measure.name, name, *_compared(first, second, signed))


def _compared(first: Subject, second: Subject, signed: int) -> tuple[str, str, Counterexample | None]:
    cases, examined = [*_small_cases(_SWAP), *_SWAP.drawn(DRAWS)], 0
    for table in cases:
        value, other = first.value(table), second.value(table)
        if value is not None and other is not None:
            examined += 1
            if first.gap(value, other) * signed > 0 and second.gap(value, other) * signed > 0:
                return (
                    REFUTED,
                    "a table, in exact arithmetic",
                    Counterexample(_whole(table), None, str(value), str(other)),
                )
    below = lambda low, high: algebra.never_negative(high - low if signed > 0 else low - high)  # noqa: E731
    if first.formula and second.formula and algebra.on_all_tables([first.formula, second.formula], below):
        return PROVED, "algebra: the sign of the difference, roots by their squares", None
    return unrefuted(examined), first.by_search, None


# ---------------------------------------------------------------- kept between runs


def _key(measure: Metric, asked: Property) -> str | None:
    """What a decision depends on; None for an opaque function, which nothing identifies."""
    node = algebra.exact_expression(measure)
    if node is None:
        return None
    written = notation.javascript(node)
    return sha256(repr((written, measure.range, measure.direction, asked.name)).encode()).hexdigest()


@cache
def _kept() -> dict[str, Decision]:
    """The decisions of earlier runs by what they depend on, from one file of the user's cache folder."""
    try:
        saved = json.loads(_cache_file().read_text(encoding="utf-8"))
        return {key: _revived(row) for key, row in saved["decisions"].items()} if saved["by"] == _maker() else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _keep(decisions: dict[str, Decision]) -> None:
    """Put all decisions in place of the file at once; a folder that cannot be written is no error."""
    text = json.dumps({"by": _maker(), "decisions": {key: decision.row() for key, decision in decisions.items()}})
    path = _cache_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError:
        return


def _cache_file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "audit.json"


@cache
def _maker() -> str:
    """The version and the audit's own code, so that what another one decided is decided anew."""
    code = b"".join(path.read_bytes() for path in (Path(algebra.__file__), Path(__file__)))
    return f"{__version__} {sha256(code).hexdigest()}"


def _revived(row: dict[str, Any]) -> Decision:
    found = row.pop("counterexample")
    if found is not None:
        after = None if found["after"] is None else _whole(found["after"])
        found = Counterexample(_whole(found["before"]), after, str(found["value"]), str(found["other"]))
    return Decision(**row, counterexample=found)
