"""A study as declared: its experiment, and one small function for each claim, table and figure read from the results.

    ASAWA_STUDY = DeclaredStudy[AsawaResults]("asawa", "Metrics on balanced test sets and swapped labels", cite="asawa")


    @ASAWA_STUDY.experiment
    def _experiment(plan: RunPlan) -> AsawaResults: ...


    @ASAWA_STUDY.claim("Positives and negatives are as 1 to 10.", paper="1:10", place="Section 2")
    def _shares(results: AsawaResults) -> Finding: ...

Claims and tables come in the order in which they are declared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from steelyard.metrics.references import reference
from steelyard.studies.published_values import published
from steelyard.studies.study import Claim, Picture, Study, Table, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from steelyard._types import Progress
    from steelyard.studies.study import TableRow

Results = TypeVar("Results")


@dataclass(frozen=True)
class RunPlan:
    """How an experiment is run: on a part of the data or all, with which data folder and seed, reporting each step."""

    quick: bool
    data: str | Path | None
    seed: int
    progress: Progress


@dataclass(frozen=True)
class Finding:
    """What a run says of a claim: its own value, that value's spread, whether the claim agrees, and why.

    `paper` is what the paper says where that is computed from its printed numbers.
    """

    ours: str
    spread: str
    verdict: Verdict
    why: str
    paper: str = ""


@dataclass(eq=False)
class DeclaredStudy(Generic[Results]):
    """One paper's experiment with its claims, tables and figures; `cite` is a key of the references or the words."""

    name: str
    title: str
    cite: str
    _parts: dict[str, Callable[..., Any]] = field(default_factory=dict)
    _claims: list[Callable[[Results], list[Claim]]] = field(default_factory=list)
    _tables: list[Callable[[Results], list[Table]]] = field(default_factory=list)

    def run(self, plan: RunPlan, **options: bool) -> Study:
        """Run the experiment, then read every claim, table and figure from its results."""
        results: Results = self._parts["experiment"](plan, **options)
        return Study(
            self.name,
            self.title,
            reference(self.cite),
            self._parts["summary"](results),
            [table for read in self._tables for table in read(results)],
            self._parts["pictures"](results),
            [claim for read in self._claims for claim in read(results)],
            self._parts["choices"](results),
        )

    # ---------------------------------------------------------------- the parts, each declared once

    def experiment(self, function: Callable[..., Results]) -> Callable[..., Results]:
        """Declare what runs the experiment: a function of a RunPlan and of the study's own options."""
        return self._parts.setdefault("experiment", function)

    def summary(self, function: Callable[[Results], list[str]]) -> Callable[[Results], list[str]]:
        """Declare the sentences that stand first."""
        return self._parts.setdefault("summary", function)

    def pictures(self, function: Callable[[Results], list[Picture]]) -> Callable[[Results], list[Picture]]:
        """Declare the figures."""
        return self._parts.setdefault("pictures", function)

    def choices(self, function: Callable[[Results], dict[str, Any]]) -> Callable[[Results], dict[str, Any]]:
        """Declare what was chosen: sizes, and readings of what the paper leaves unsaid."""
        return self._parts.setdefault("choices", function)

    @property
    def options(self) -> tuple[str, ...]:
        """The study's own options, beside those that every study takes."""
        code = self._parts["experiment"].__code__
        return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    # ---------------------------------------------------------------- claims and tables, declared one by one

    def claim(
        self, words: str, *, place: str, paper: str = "", own: bool = False
    ) -> Callable[[Callable[[Results], Finding]], Callable[[Results], Finding]]:
        """Declare a claim of the paper, where it stands and what the paper gives for it; the function tries it."""

        def declare(function: Callable[[Results], Finding]) -> Callable[[Results], Finding]:
            def read(results: Results) -> list[Claim]:
                f = function(results)
                return [Claim(words, f.paper or paper, f.ours, f.spread, f.verdict, f.why, place, own)]

            self._claims.append(read)
            return function

        return declare

    def sentence(
        self, key: str, *, paper: str = ""
    ) -> Callable[[Callable[[Results], Finding]], Callable[[Results], Finding]]:
        """Declare a claim whose words and place are among the paper's published sentences."""
        sentence = published(self.name)["sentences"][key]
        return self.claim(sentence["words"], place=sentence["place"], paper=paper)

    def claims(self, function: Callable[[Results], list[Claim]]) -> Callable[[Results], list[Claim]]:
        """Declare several claims of one form, such as one for each data set."""
        self._claims.append(function)
        return function

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
