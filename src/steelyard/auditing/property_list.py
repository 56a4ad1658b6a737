"""Claims: what is asked of a metric, as sentences about all tables of some letters, and who asks it.

A property is one or more claims. Used by search and proof, which both read the same claim.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import UnknownNameError, did_you_mean
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

_SMALL = 4  # letters up to here are tried one and all
_LARGE = 1000  # and at random up to here
_DRAWS = 500


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

    @cached_property
    def small(self) -> list[tuple[int, ...]]:
        """All small values of the letters, by the total of the table, then of what it is held against."""
        ways = [range(name in self.positive.split(), _SMALL + 1) for name in self.letters]
        grid = np.array(list(itertools.product(*ways)))
        grid = grid[np.broadcast_to(self.valid(*grid.T), len(grid))]
        totals = [_total(side(*grid.T), len(grid)) for side in (self.against, self.before)]
        return [tuple(map(int, letters)) for letters in grid[np.lexsort(totals)]]

    @cached_property
    def small_tables(self) -> tuple[Array, Array]:
        """Both sides of the small cases."""
        return self.tables(self.small)

    @cached_property
    def checks(self) -> list[tuple[int, ...]]:
        """The cases on which a claim is tried before it is proved: of moderate size, as constants are, and large."""
        return [*self.drawn(2000, 20), *self.drawn()]

    def tables(self, cases: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
        """Both sides of some cases, a table in a row; a number each where the value is held against one."""
        letters = np.array(cases).T
        before, against, length = self.before(*letters), self.against(*letters), letters.shape[1]
        other = _stacked(against, length) if isinstance(against, tuple) else np.asarray(against)
        return _stacked(before, length), other

    def relation_for(self, metric: Metric) -> str:
        """The relation for this metric: turned round where lower is better."""
        if self.relation == "=" or metric.direction != "lower":
            return self.relation
        return ">=" if self.relation == "<=" else "<="

    def drawn(self, draws: int = _DRAWS, largest: int = _LARGE) -> Iterator[tuple[int, ...]]:
        """Larger values of the letters at random, now and then a 0."""
        rng = random.Random(0)  # noqa: S311 - no secret
        while draws:
            letters = tuple(
                0 if name not in self.positive.split() and rng.random() < 0.1 else rng.randint(1, largest)
                for name in self.letters
            )
            if self.valid(*letters):
                draws -= 1
                yield letters


def _total(side: Any, length: int) -> Array:
    return np.broadcast_to(sum(side) if isinstance(side, tuple) else 0, length)


def _stacked(table: tuple[Any, ...], length: int) -> Array:
    return np.stack([np.broadcast_to(cell, length) for cell in table], -1)


@dataclass(frozen=True)
class Property:
    """What is asked of a metric: its claims, and who asks. `wanted` gives both readings where papers disagree.

    `upward` is asked only of metrics that are better when higher.
    """

    name: str
    title: str
    meaning: str
    wanted: str
    cite: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    upward: bool = False

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
    """The value is no worse when a right cell grows, no better when a wrong one does, for a metric to be raised."""
    at = CELLS.index(cell)
    relation = "<=" if cell in ("tp", "tn") else ">="
    grown = lambda *cells: (*cells[:at], cells[at] + cells[4], *cells[at + 1 : 4])  # noqa: E731
    return Claim((*CELLS, "more"), lambda *cells: cells[:4], grown, "more", relation=relation, grows=cell)


SWAP = Claim(CELLS, lambda *cells: cells, lambda tp, fn, fp, tn: (tn, fp, fn, tp))


_SCALE = Claim(
    (*CELLS, "k"), lambda *letters: letters[:4], lambda tp, fn, fp, tn, k: (tp * k, fn * k, fp, tn), positive="k"
)


_EQUAL_RECALLS = Claim(
    ("right", "wrong", "p", "n"),
    lambda right, wrong, p, n: (right * p, wrong * p, wrong * n, right * n),
    lambda right, wrong, *_: right / (right + wrong),
    "p n",
    lambda right, wrong, *_: right + wrong > 0,
)


_NO_POSITIVE_FOUND = Claim(
    ("fn", "fp", "tn"), lambda fn, fp, tn: (0, fn, fp, tn), lambda *_: 0, "fn", lambda _, fp, tn: fp + tn > 0
)


_NO_NEGATIVE_FOUND = Claim(
    ("tp", "fn", "fp"), lambda tp, fn, fp: (tp, fn, fp, 0), lambda *_: 0, "fp", lambda tp, fn, _: tp + fn > 0
)


_NO_CREDIT = tuple(replace(claim, relation="<=") for claim in (_NO_POSITIVE_FOUND, _NO_NEGATIVE_FOUND))


_LEANS = Claim(
    ("less", "more", "rest"),
    lambda less, more, rest: (less, rest + more, rest, less + more),
    lambda less, more, rest: (less + more, rest, rest + more, less),
    "more",
    relation="<=",
)


_GUESSES = Claim(
    ("p", "n", "yes", "no"),
    lambda p, n, yes, no: (p * yes, p * no, n * yes, n * no),
    lambda *_: (1, 1, 1, 1),
    "p n",
    lambda _, __, yes, no: yes + no > 0,
)


_BOTH_READINGS = (
    "García calls noticing the exchange a virtue, since a metric that does not may miss which class is served badly; "
    "Asawa and Wu want a metric that does not, since which class is called positive is a convention."
)


_NOTICE = "García wants a metric to notice every change of the table, so that invariance is a fault."


_ORDER = "Whoever orders models by a metric: a model that does better in one cell alone is not to be ranked lower."


_ALL = (
    Property(
        "p1",
        "Exchange of the classes (García's p1)",
        "The value stays when tp is exchanged with tn and fn with fp.",
        _BOTH_READINGS,
        ("garcia2012", "asawa", "wu2025"),
        (SWAP,),
    ),
    *(
        Property(
            name,
            f"Change of {cell} (García's {name})",
            f"The value stays when {cell} alone changes.",
            _NOTICE,
            ("garcia2012",),
            (_changed(cell),),
        )
        for name, cell in (("p2", "tn"), ("p3", "fp"), ("p4", "tp"), ("p5", "fn"))
    ),
    Property(
        "class_symmetry",
        "Symmetry of the classes",
        "The value does not depend on which of the two classes is called positive.",
        _BOTH_READINGS,
        ("asawa", "wu2025", "garcia2012"),
        (SWAP,),
    ),
    Property(
        "prevalence_invariance",
        "Invariance to prevalence",
        "The value stays when the positives become k times as many at the same recall, for any k above 0.",
        "Asawa (balancing the test set), Nguyen and Wu (null-biased) want it; whoever must know the value at the "
        "prevalence in use does not.",
        ("asawa", "nguyen2019", "wu2025"),
        (_SCALE,),
    ),
    Property(
        "equal_recalls_kept",
        "Equal recalls kept",
        "The value is x where recall and specificity both are x.",
        "Wu wants it, so that the value reads like a rate.",
        ("wu2025",),
        (_EQUAL_RECALLS,),
    ),
    Property(
        "zero_when_a_class_fails",
        "Zero when a class fails",
        "The value is 0 where no row of one of the classes is found.",
        "Asawa and Wu want it where no class may be given up; a half-credit is fine where one may.",
        ("asawa", "wu2025"),
        (_NO_POSITIVE_FOUND, _NO_NEGATIVE_FOUND),
    ),
    Property(
        "no_credit_when_a_class_fails",
        "No credit when a class fails",
        "The value is at most 0 where no row of one of the classes is found.",
        "Whoever lets no class be given up: Asawa and Wu ask for 0 there; a metric corrected for chance falls below.",
        ("asawa", "wu2025"),
        _NO_CREDIT,
        upward=True,
    ),
    Property(
        "leans_to_positives",
        "Leans to the positives",
        "Of two classes of one size, finding more of the positives is never worth less than as many of the negatives.",
        "García wants it where the positives are the class that matters; one who weighs both alike asks for symmetry.",
        ("garcia2012",),
        (_LEANS,),
    ),
    Property(
        "constant_chance",
        "Constant chance level",
        "Guessing scores the same whatever the share of positives and of flags.",
        "Powers wants it, so that a value can be told from guessing without the margins.",
        ("powers2011",),
        (_GUESSES,),
    ),
    *(
        Property(
            f"monotone_{cell}",
            f"Monotone in {cell}",
            f"The value never {'worsens' if cell in ('tp', 'tn') else 'improves'} when {cell} grows.",
            _ORDER,
            (),
            (_grown(cell),),
        )
        for cell in CELLS
    ),
    Property(
        "bounds_attained",
        "Bounds attained",
        "Each finite end of the range is the value of some table.",
        "Whoever reads a value as a share of what is possible.",
        (),
    ),
)


PROPERTIES: dict[str, Property] = {asked.name: asked for asked in _ALL}


def get_property(name: str | Property) -> Property:
    """The property of that name."""
    if isinstance(name, Property):
        return name
    if name not in PROPERTIES:
        near = did_you_mean(name, PROPERTIES) or f" There are {', '.join(PROPERTIES)}."
        raise UnknownNameError(f"No property is called {name!r}.{near}")
    return PROPERTIES[name]
