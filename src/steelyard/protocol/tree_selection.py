"""Selection: the estimator that was chosen among many fits, why, and what it does on rows no choice has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.formatting import filled, three_digits
from steelyard.analysis.strict_json import json_text, strict

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.protocol.tree_trials import Trial

_SCHEMA = 1


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The chosen estimator, why it was chosen, and what it does on rows that no choice has seen."""

    chosen: Trial
    best: Trial
    standard_error: float
    metric: str
    grown: Rows[Trial]
    pruned: Rows[Trial]
    evaluation: Evaluation
    test_rows: Array
    failures: tuple[str, ...] = ()

    @property
    def estimator(self) -> Any:
        """The chosen estimator, fitted."""
        return self.chosen.estimator

    def __repr__(self) -> str:
        best, chosen = self.best, self.chosen
        told = (
            f"Of {len(self.grown)} fits and {len(self.pruned)} pruned ones the best has {self.metric} "
            f"{three_digits(best.value)} (standard error {three_digits(self.standard_error)}) and complexity "
            f"{best.complexity:,.0f}; the simplest within that error has {three_digits(chosen.value)} and "
            f"{chosen.complexity:,.0f}. On {len(self.test_rows):,} rows that no choice has seen:"
        )
        lost = [filled(f"{len(self.failures)} fits failed; the first, {self.failures[0]}")] if self.failures else []
        return "\n".join([filled(told), *lost, "", repr(self.evaluation)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON: what is undefined or infinite is None."""
        parts = {"chosen": [self.chosen], "best": [self.best], "grown": self.grown, "pruned": self.pruned}
        rows = {name: [strict(trial.row()) for trial in part] for name, part in parts.items()}
        told = {"schema": _SCHEMA, "metric": self.metric, "standard_error": self.standard_error}
        rest = {"test_rows": self.test_rows.tolist(), "failures": list(self.failures)}
        one = {"chosen": rows["chosen"][0], "best": rows["best"][0]}
        return {**strict(told), **rows, **one, **rest, "evaluation": self.evaluation.to_dict()}

    def to_json(self) -> str:
        """The selection as strict JSON text."""
        return json_text(self.to_dict())
