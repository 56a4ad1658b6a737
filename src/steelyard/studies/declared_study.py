"""A study as declared: its experiment, and one small function for each claim, table and figure read from the results.

A further study is two files beside this one, found by their names: `half.py` declares the study and its experiment,

    HALF_STUDY = DeclaredStudy[list[float]]("half", "Is a half a half?", cite="Somebody (2025)")


    @HALF_STUDY.experiment
    def _experiment(plan: RunPlan) -> list[float]:
        return [np.random.default_rng(seed).random() for seed in plan.seeds(10)]

and `half_claims.py` tries what the paper says, each claim by its effects over disjoint seeds:

    @HALF_STUDY.claim("A random number is a half on average.", paper="0.5", place="Section 1")
    def _mean(results: list[float]) -> Finding:
        return Finding.of([Effect("mean", results, claimed=(0.4, 0.6))], "It is uniform.", seeds="seeds")

A summary, choices, tables and figures are declared alike where there are any, in further `half_*.py`. Claims and
tables come in the order in which they are declared. What the same experiment does on a table of one's own is declared
in `half_own.py`; its keyword-only arguments are the options that the study takes there:

    @HALF_STUDY.own_data
    def _own(table: OwnTable, plan: RunPlan, *, repeats: int = 10) -> OwnFindings: ...
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from steelyard.exceptions import InputError
from steelyard.metrics.references import reference
from steelyard.studies.study import Claim, Finding, Study, Table, count_verdicts, joint_level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from steelyard._types import Progress
    from steelyard.studies.own_table import OwnFindings, OwnTable
    from steelyard.studies.study import Picture, TableRow

Results = TypeVar("Results")
SEEDS_APART = 100  # seeds that belong to each one given
LAST_SEED = 40_000_000  # scikit-learn's end at 2**32, and Asawa's splits begin at his own
_EFFECTS_NOTE = (
    "A claim holds where the interval of every effect lies inside the claimed range, with qualification where that of "
    "some does, not where none does and one lies outside; what crosses an end is open, and a claim of which nothing "
    "else is known is not shown. The intervals of one claim hold together (Bonferroni). Where each seed "
    "splits the same rows anew they are Nadeau and Bengio's; where it draws other test sets for the same models they "
    "are Student's, and speak of these data only."
)


@dataclass(frozen=True)
class RunPlan:
    """How an experiment is run: on a part of the data or all, with which data folder and seed, reporting each step."""

    quick: bool
    data: str | Path | None
    seed: int
    progress: Progress

    def times(self, given: int | None, full: int, quick: int, least: int = 1) -> int:
        """How often something is repeated: as given, or as often as a full or a quick run does."""
        if given is not None and (not isinstance(given, int) or given < least):
            raise InputError(f"repeats= is a whole number of {least} or more, not {given!r}; give one of these.")
        return given if given is not None else quick if self.quick else full

    def seeds(self, n: int) -> range:
        """So many seeds, none of which a plan with another seed has.

        >>> RunPlan(quick=True, data=None, seed=7, progress=print).seeds(3)
        range(700, 703)
        """
        assert n <= SEEDS_APART  # noqa: S101 - a study's own number
        return range(SEEDS_APART * self.seed, SEEDS_APART * self.seed + n)


@dataclass(eq=False)
class DeclaredStudy(Generic[Results]):
    """One paper's experiment with its claims, tables and figures; `cite` is a key of the references or the words."""

    name: str
    title: str
    cite: str
    _parts: dict[str, Callable[..., Any]] = field(default_factory=dict)
    _claims: list[Callable[[Results], tuple[Claim, Finding]]] = field(default_factory=list)
    _tables: list[Callable[[Results], list[Table]]] = field(default_factory=list)

    def run(self, plan: RunPlan, **options: int) -> Study:
        """Run the experiment, then read every claim, table and figure from its results."""
        results: Results = self._parts["experiment"](plan, **options)
        tried = [read(results) for read in self._claims]
        claims = [claim for claim, _ in tried]
        tables = [table for read in self._tables for table in read(results)]
        summary, pictures, choices = (
            self._parts[part](results) if part in self._parts else empty
            for part, empty in (
                ("summary", [f"Of its claims {count_verdicts([c.verdict for c in claims])}."]),
                *_NOTHING,
            )
        )
        tables += _effects_table([finding for _, finding in tried])
        return Study(self.name, self.title, reference(self.cite), summary, tables, pictures, claims, choices)

    def run_own(self, table: OwnTable, plan: RunPlan, **options: Any) -> Study:
        """Run the experiment on a table of one's own."""
        findings: OwnFindings = self._parts["own_data"](table, plan, **options)
        summary, choices = [*findings.summary, *table.notes], {**table.choices(), **findings.choices}
        asked = findings.title or self.title
        title, cite = f"{asked}{' Your' if asked.endswith('?') else ': your'} own data", reference(self.cite)
        return Study(self.name, title, cite, summary, findings.tables, findings.pictures, [], choices)

    @property
    def options(self) -> tuple[str, ...]:
        """The study's own options, beside those that every study takes."""
        return _keywords(self._parts["experiment"])

    @property
    def own_options(self) -> tuple[str, ...] | None:
        """Its options on a table of one's own; None where it has no such form."""
        return _keywords(self._parts["own_data"]) if "own_data" in self._parts else None

    # ---------------------------------------------------------------- the parts, each declared once

    def experiment(self, function: Callable[..., Results]) -> Callable[..., Results]:
        """Declare what runs the experiment: a function of a RunPlan and of the study's own options."""
        return self._parts.setdefault("experiment", function)

    def own_data(self, function: Callable[..., OwnFindings]) -> Callable[..., OwnFindings]:
        """Declare the experiment on a table of one's own: a function of an OwnTable, a RunPlan and options."""
        return self._parts.setdefault("own_data", function)

    def summary(self, function: Callable[[Results], list[str]]) -> Callable[[Results], list[str]]:
        """Declare the sentences that stand first; without them the verdicts are counted."""
        return self._parts.setdefault("summary", function)

    def pictures(self, function: Callable[[Results], list[Picture]]) -> Callable[[Results], list[Picture]]:
        """Declare the figures."""
        return self._parts.setdefault("pictures", function)

    def choices(self, function: Callable[[Results], dict[str, Any]]) -> Callable[[Results], dict[str, Any]]:
        """Declare what was chosen: sizes, and readings of what the paper leaves unsaid."""
        return self._parts.setdefault("choices", function)

    # ---------------------------------------------------------------- claims and tables, declared one by one

    def claim(
        self, words: str, *, place: str, paper: str = "in words only", own: bool = False
    ) -> Callable[[Callable[[Results], Finding]], Callable[[Results], Finding]]:
        """Declare a claim of the paper, where it stands and what the paper gives for it; the function tries it."""

        def declare(function: Callable[[Results], Finding]) -> Callable[[Results], Finding]:
            def read(results: Results) -> tuple[Claim, Finding]:
                f = function(results)
                return Claim(words, f.paper or paper, f.ours, f.spread, f.verdict, f.why, place, own), f

            self._claims.append(read)
            return function

        return declare

    def table(
        self,
        name: str,
        title: str,
        note: str | Callable[[Results], str] = "",
        *,
        formats: Mapping[str, str] | None = None,
        unfolded: bool = False,
    ) -> Callable[[Callable[[Results], list[TableRow]]], Callable[[Results], list[TableRow]]]:
        """Declare a table; the function gives its rows."""

        def declare(function: Callable[[Results], list[TableRow]]) -> Callable[[Results], list[TableRow]]:
            def read(results: Results) -> list[Table]:
                text = note if isinstance(note, str) else note(results)
                return [Table(name, title, function(results), text, dict(formats or {}), unfolded)]

            self._tables.append(read)
            return function

        return declare

    def tables(self, function: Callable[[Results], list[Table]]) -> Callable[[Results], list[Table]]:
        """Declare several tables of one form."""
        self._tables.append(function)
        return function


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the keyword-only arguments."""
    code = function.__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


_NOTHING: tuple[tuple[str, Any], ...] = (("pictures", []), ("choices", {}))


def _effects_table(findings: Sequence[Finding]) -> list[Table]:
    """The effects of all claims with their intervals; none where no claim rests on any."""
    rows = [
        {"effect": effect.name, "claim": i, **effect.row(joint_level(finding.effects))}
        for i, finding in enumerate(findings, 1)
        for effect in finding.effects
    ]
    return [Table("effects", "The effects behind the verdicts", rows, _EFFECTS_NOTE)] if rows else []
