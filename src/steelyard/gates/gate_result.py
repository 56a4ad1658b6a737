"""GateResult: whether a model may be released, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Rows
from steelyard.gates.judgement import SKIPPED, Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result[Judgement]):
    """What became of every rule in all rows and in each group, and which errors the gate holds, in sentences.

    `passed` is False where a rule is broken, and None where none is but one is undefined, as with too few rows.

    >>> from steelyard import Counts, evaluate, gate
    >>> gate(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), "recall >= 0.5", "low(mcc) >= 0.5")
    pass  recall is 54.9 %, required >= 50 %
    FAIL  low(mcc) is 0.279, required >= 0.5
    A model that breaks `low(mcc) >= 0.5` passes this gate in at most 2.5 % of runs.
    """

    rules: Rows[Judgement]
    level: float
    sentences: tuple[str, ...] = field(default=(), metadata={"key": "notes"})
    assumed: tuple[str, ...] = ()
    also_saved = ("passed",)

    def __iter__(self) -> Iterator[Judgement]:
        return iter(self.rules)

    @property
    def passed(self) -> bool | None:
        """Whether all rules are kept; None where a metric is undefined, and no rule is broken."""
        if any(judgement.passed is False for judgement in self.rules):
            return False
        judged = [judgement.passed for judgement in self.rules if judgement.outcome != SKIPPED]
        return None if None in judged or not judged else True

    @property
    def exit_code(self) -> int:
        """What `steelyard gate` exits with: 0 passed, 1 failed, 3 undefined."""
        return {True: 0, False: 1, None: 3}[self.passed]

    @property
    def headline(self) -> str:
        """Whether it passed, and how many rules are broken."""
        broken = sum(each.passed is False for each in self.rules)
        undefined = sum(each.passed is None and each.outcome != SKIPPED for each in self.rules)
        verdict = {True: "is passed", False: "failed", None: "is undefined"}[self.passed]
        judged = sum(each.outcome != SKIPPED for each in self.rules)
        left_out = f", {len(self.rules) - judged:,} left out" if judged < len(self.rules) else ""
        return f"The gate {verdict}: {judged:,} judged, {broken:,} broken, {undefined:,} undefined{left_out}."

    @property
    def notes(self) -> list[str]:
        """Which errors the gate holds."""
        return list(self.sentences)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The judgements as people see them."""
        return [{"outcome": each.outcome, "group": each.group, "text": each.text} for each in self.rules]

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.rules), *self.sentences])
