"""Decisions: whether a property holds for a metric, how that is known, and the smallest table where it fails."""

from __future__ import annotations

import builtins
import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from decimal import Context, Decimal
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt

from steelyard.analysis.results.result import Flat
from steelyard.auditing.exact_values import exact_expression
from steelyard.auditing.laws import PROPERTIES
from steelyard.metrics import notation
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction
    from hashlib import _Hash

    from steelyard.auditing.laws import Property
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.measure import Metric


FourCells = tuple[int, int, int, int]
PROVED = "proved"
REFUTED = "refuted"
UNDEFINED = "undefined everywhere"
DOES_NOT_APPLY = "does not apply"


@dataclass(frozen=True, eq=False)
class Decision(Flat):
    """Whether a property holds for a metric, how that is known, and the smallest table where it fails."""

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
        """The decision as a row of a table, with the sentence that it is about."""
        facts = asdict(self)
        return {"metric": facts.pop("metric"), "property": facts.pop("property"), "meaning": self.meaning, **facts}

    @builtins.property
    def meaning(self) -> str:
        """What the property says, in a sentence."""
        known = PROPERTIES.get(self.property)
        return known.meaning if known else f"It is {self.property}."

    def shown_row(self) -> dict[str, Any]:
        """The decision with its table in words."""
        table = None if self.counterexample is None else str(self.counterexample)
        return self.row() | {"counterexample": table}

    @builtins.property
    def headline(self) -> str:
        """The decision in one sentence."""
        fails = f": {self.counterexample}" if self.counterexample else ""
        return f"{self.metric}: {self.meaning} This is {self.verdict} ({self.how}){fails}"

    @classmethod
    def headline_of(cls, rows: Sequence[Decision]) -> str:
        """How many properties hold, and how many do not."""
        proved, refuted = (sum(row.holds is holds for row in rows) for holds in (True, False))
        metrics = len({row.metric for row in rows})
        decided = f"{proved} proved, {refuted} refuted, {len(rows) - proved - refuted} open or not applicable"
        return f"{len(rows):,} properties of {metrics} metric{'s' * (metrics > 1)}: {decided}"


@dataclass(frozen=True)
class Counterexample:
    """A table, what it was held against (another table, or None for a number) and the two exact values, written out.

    The table may be the parent of the other: `before` with its change made is `after`.
    """

    before: FourCells
    after: FourCells | None
    value: str
    other: str

    @builtins.property
    def tables(self) -> list[tuple[str, FourCells]]:
        """The tables, each with its value: the one that refutes, and the other if there is one."""
        values = _distinct_texts(self.value, self.other)
        return [
            (text, table) for text, table in zip(values, (self.before, self.after), strict=True) if table is not None
        ]

    @builtins.property
    def asked(self) -> str:
        """The number that the value was held against; nothing where it was another table."""
        return _distinct_texts(self.value, self.other)[1] if self.after is None else ""

    def __str__(self) -> str:
        value, other = _distinct_texts(self.value, self.other)
        to = f"where {other} was asked" if self.after is None else f"{other} on {cells_text(self.after)}"
        return f"{value} on {cells_text(self.before)}, {to}"


Ruling = tuple[str, str, Counterexample | None]  # the verdict, how it was reached, and the table that refutes it


def unrefuted(tables: int) -> str:
    """The verdict on what was examined on so many tables and not proved."""
    return f"no counterexample among {tables:,} exact tables"


def four_cells(table: Iterable[SupportsInt]) -> FourCells:
    """The table with cells of type int."""
    tp, fn, fp, tn = map(int, table)
    return tp, fn, fp, tn


def cells_text(table: Iterable[int | Fraction]) -> str:
    """The table as a sentence names it."""
    return ", ".join(f"{name}={cell}" for name, cell in zip(CELLS, table, strict=True))


def _distinct_texts(*numbers: str) -> list[str]:
    """The numbers as they are where short, else as decimals with as many digits as distinguish them."""
    short = [number if len(number) <= 12 else "" for number in numbers]
    for digits in range(6, 60):
        texts = [text or _decimal(number, digits) for text, number in zip(short, numbers, strict=True)]
        if len({_decimal(number, digits) for number in numbers}) == len(numbers):
            break
    return texts


def _decimal(number: str, digits: int) -> str:
    above, _, below = number.partition("/")
    context = Context(prec=digits)
    value = context.divide(Decimal(above), Decimal(below or 1)).normalize(context)
    return f"{value:f}" if -7 < value.adjusted() < 15 else str(value)


# ---------------------------------------------------------------- decision store
# Decisions kept between runs, by what they depend on; those of the catalogue come with the package.
#
# `make properties` writes `decisions.json` here; what else is decided goes to one file of the user's cache folder.


Decisions = dict[str, Decision]  # by their keys

# Raise this when a property means something else or is decided otherwise: what an earlier version decided is then
# decided anew. A test makes every shipped decision anew, so that a forgotten change is noticed.
VERSION = 3
SHIPPED = Path(__file__).parent / "decisions.json"


def decision_key(metric: Metric, property_: Property) -> str | None:
    """What a decision depends on: the formula, not how it is spelt; None for an opaque function, which has none.

    A metric of scores has no formula; one of ours goes by its name and parameters, others are decided each time.
    """
    if metric.function is None:
        facts = metric.name, metric.range, metric.direction, property_.name
        return None if metric.is_own else sha256(repr(("scores", *facts)).encode()).hexdigest()
    node = exact_expression(metric)
    if node is None:
        return None
    digest = _of_formula(node, metric.range, metric.direction).copy()
    digest.update(f", {property_.name!r})".encode())
    return digest.hexdigest()


@lru_cache(maxsize=512)
def _of_formula(node: Expression, *facts: object) -> _Hash:
    """The digest of what all properties of a metric have in common: a formula may be long, and they are many."""
    return sha256(repr((notation.canonical(node), *facts))[:-1].encode())


def recalled_decision(metric: Metric, property_: Property, decisions: Decisions | None = None) -> Decision | None:
    """The decision that is stored, or stands among the given ones; nothing is decided anew."""
    stored = stored_decisions() if decisions is None else decisions
    decision = stored.get(decision_key(metric, property_) or "")
    return decision if decision is None or decision.metric == metric.name else replace(decision, metric=metric.name)


def recalled_decisions(metric: Metric) -> Decisions:
    """What is stored about a metric, by property; nothing is decided anew."""
    decisions = {name: recalled_decision(metric, property_) for name, property_ in PROPERTIES.items()}
    return {name: decision for name, decision in decisions.items() if decision is not None}


@cache
def stored_decisions() -> Decisions:
    """The decisions that come with the package and those of earlier runs, by their keys."""
    return {**_read(_cache_file()), **shipped()}  # ours come first, so that a verdict is the same on every machine


@cache
def shipped() -> Decisions:
    """The decisions about the catalogue that come with the package."""
    return _read(SHIPPED)


def _read(path: Path) -> Decisions:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        return {key: _revived(row) for key, row in saved["decisions"].items()} if saved["version"] == VERSION else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def decisions_json(decisions: Decisions) -> str:
    """The decisions as the text of a file, with the version of what made them."""
    rows = {key: asdict(decision) for key, decision in sorted(decisions.items())}
    return json.dumps({"version": VERSION, "decisions": rows}, indent=0)


def store(decisions: Decisions) -> None:
    """Put all decisions in place of the file at once; a folder that cannot be written is no error."""
    text = decisions_json({key: decision for key, decision in decisions.items() if key not in shipped()})
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


def _revived(row: dict[str, Any]) -> Decision:
    counterexample = row.pop("counterexample")
    if counterexample is not None:
        after = None if counterexample["after"] is None else four_cells(counterexample["after"])
        values = str(counterexample["value"]), str(counterexample["other"])
        counterexample = Counterexample(four_cells(counterexample["before"]), after, *values)
    return Decision(**row, counterexample=counterexample)
