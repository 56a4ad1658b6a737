"""Laws: statements about a metric's values on all tables of some variables, read by search and by proof alike."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import UnknownNameError, did_you_mean
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric


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


# ---------------------------------------------------------------- properties
# What is asked of a metric, as one or more laws of tables, and who asks it.


@dataclass(frozen=True)
class Property:
    """What is asked of a metric: its laws, and who asks. `wanted` gives both readings where papers disagree.

    `upward` is asked only of metrics that are better when higher.
    """

    name: str
    title: str
    meaning: str
    wanted: str
    cite: tuple[str, ...]
    laws: tuple[Law, ...] = ()
    upward: bool = False

    @property
    def is_equality(self) -> bool:
        """Whether it says that values are equal, so that algebra decides it."""
        return bool(self.laws) and all(law.relation == "=" for law in self.laws)


_BOTH_READINGS = (
    "García calls noticing the exchange a virtue, since a metric that does not may hide which class has the errors; "
    "Asawa and Wu want a metric that does not, since which class is called positive is a convention."
)


_NOTICE = "García wants a metric to notice every change of the table, so that invariance is a fault."


_ORDER = "Whoever orders models by a metric: a model that does better in one cell alone is not to be ranked lower."

CHANGED_CELLS = {"p2": "tn", "p3": "fp", "p4": "tp", "p5": "fn"}  # García's, each by the cell that alone changes

CELL_WORDS = {"tp": "true positives", "fn": "false negatives", "fp": "false positives", "tn": "true negatives"}

_ALL = (
    Property(
        "p1",
        "Exchange of the classes (García's p1)",
        "The value stays when the classes change places: true positives with true negatives, and false negatives with "
        "false positives.",
        _BOTH_READINGS,
        ("garcia2012", "asawa", "wu2025"),
        (CLASS_SWAP,),
    ),
    *(
        Property(
            name,
            f"Change of the {CELL_WORDS[cell]} alone (García's {name})",
            f"The value stays when only the {CELL_WORDS[cell]} change.",
            _NOTICE,
            ("garcia2012",),
            (changed_cell(cell),),
        )
        for name, cell in CHANGED_CELLS.items()
    ),
    Property(
        "class_symmetry",
        "Symmetry of the classes",
        "The value does not depend on which of the two classes is called positive.",
        _BOTH_READINGS,
        ("asawa", "wu2025", "garcia2012"),
        (CLASS_SWAP,),
    ),
    Property(
        "prevalence_invariance",
        "Invariance to prevalence",
        "The value stays at any prevalence: it is the same with k times as many positives of which the same share is "
        "found.",
        "Asawa (balancing the test set), Nguyen and Wu (null-biased) want it; "
        "whoever needs the value at the deployment prevalence does not.",
        ("asawa", "nguyen2019", "wu2025"),
        (MORE_POSITIVES,),
    ),
    Property(
        "equal_recalls_kept",
        "Equal recalls kept",
        "The value is x where recall and specificity both are x.",
        "Wu wants it, so that the value reads like a rate.",
        ("wu2025",),
        (EQUAL_RECALLS,),
    ),
    Property(
        "zero_when_a_class_fails",
        "Zero when a class fails",
        "The value is 0 where one of the classes has zero recall.",
        "Asawa and Wu want it where no class may have zero recall; one half is fine where one may.",
        ("asawa", "wu2025"),
        (NO_POSITIVE_FOUND, NO_NEGATIVE_FOUND),
    ),
    Property(
        "no_credit_when_a_class_fails",
        "No credit when a class fails",
        "The value is at most 0 where one of the classes has zero recall.",
        "Whoever accepts zero recall for no class: Asawa and Wu ask for 0; a chance-corrected metric falls below.",
        ("asawa", "wu2025"),
        NO_CREDIT,
        upward=True,
    ),
    Property(
        "leans_to_positives",
        "Leans to the positives",
        "In classes of one size, finding more of the positives is never worth less than finding as many more of the "
        "negatives.",
        "García wants it where the positives matter more; who gives both classes equal weight asks for symmetry.",
        ("garcia2012",),
        (LEANING_TO_POSITIVES,),
    ),
    Property(
        "approximate_constant_baseline",
        "Constant no-skill baseline, approximately",
        "The value is the same wherever truth and prediction are independent.",
        "Powers wants it, so that a value can be compared with a random predictor's without the margins; "
        "Gösgens, as what many rows come close to.",
        ("powers2011", "gosgens2021"),
        (NO_SKILL,),
    ),
    Property(
        "constant_baseline",
        "Constant no-skill baseline in expectation",
        "The mean over random predictions is the same whatever the classes' sizes and the number of flagged rows.",
        "Gösgens wants it, so that no margins of a table make a random predictor look better.",
        ("gosgens2021",),
    ),
    Property(
        "transposition_symmetry",
        "Symmetry of truth and prediction",
        "The value stays when false negatives and false positives change places, as if the predictions were the truth.",
        "Gösgens wants it where two labellings are compared; who knows which of them is true need not.",
        ("gosgens2021",),
        (TRANSPOSITION,),
    ),
    Property(
        "maximal_agreement",
        "Best exactly without errors",
        "All tables of both classes without errors have one value, and every table with an error a worse one.",
        "Gösgens wants it, so that the best value means that nothing is wrong.",
        ("gosgens2021",),
        MAXIMAL_AGREEMENT,
    ),
    Property(
        "minimal_agreement",
        "Worst exactly without hits",
        "All tables of both classes without a right prediction have one value, and every other table a better one.",
        "Gösgens wants it, so that the worst value means that nothing is right.",
        ("gosgens2021",),
        MINIMAL_AGREEMENT,
    ),
    Property(
        "corrections_improve",
        "Every correction improves",
        "Where rows of both classes are there, correcting any wrong prediction improves the value.",
        "Gösgens (monotonicity) and whoever trains towards a metric: no error is then free.",
        ("gosgens2021",),
        CORRECTIONS,
    ),
    Property(
        "strictly_monotone",
        "Strictly monotone in every cell",
        "Where rows of both classes are there, one more right prediction improves a value with errors, and one more "
        "wrong prediction worsens a value with right ones.",
        "Gösgens (strong monotonicity), where test sets of different sizes are compared.",
        ("gosgens2021",),
        tuple(map(strictly_grown_cell, CELLS)),
    ),
    Property(
        "distance",
        "A distance between labellings",
        "What a value lacks of the best one is a distance: 0 only between equal labellings, the same both ways, and "
        "never longer than by way of a third labelling.",
        "Gösgens wants it, so that labellings near to the truth are near to each other.",
        ("gosgens2021",),
    ),
    Property(
        "fixed_threshold",
        "One threshold for true probabilities",
        "If scores are true probabilities, flagging the rows above one threshold is best, whatever the rows are.",
        "Decision theory wants it (Elkan): the costs alone determine which probability is high enough.",
        ("elkan2001",),
    ),
    *(
        Property(
            f"monotone_{cell}",
            f"Monotone in {CELL_WORDS[cell]}",
            f"The value never {'worsens' if cell in ('tp', 'tn') else 'improves'} with more {CELL_WORDS[cell]}.",
            _ORDER,
            (),
            (grown_cell(cell),),
        )
        for cell in CELLS
    ),
    Property(
        "bounds_attained",
        "Range kept, bounds attained",
        "No value lies outside the range, and each finite end of it is the value of some table.",
        "Whoever reads a value as a share of what is possible.",
        (),
    ),
)


PROPERTIES: dict[str, Property] = {property_.name: property_ for property_ in _ALL}


def get_property(name: str | Property) -> Property:
    """The property of that name."""
    if isinstance(name, Property):
        return name
    if name not in PROPERTIES:
        near = did_you_mean(name, PROPERTIES) or f" There are {', '.join(PROPERTIES)}."
        raise UnknownNameError(f"No property is called {name!r}.{near}")
    return PROPERTIES[name]
