"""ClassValues: the precision, recall and F1 of one class over all runs of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard._types import Label
from steelyard.analysis.results.rows import Flat
from steelyard.evaluation.metric_row import CLASS_METRICS
from steelyard.protocol.run_summary import Summary


@dataclass(frozen=True, eq=False)
class ClassValues(Flat):
    """Precision, recall and F1 of one class over all runs, or of an average over the classes."""

    model: str | None
    label: Label
    rows: int | None
    precision: Summary
    recall: Summary
    f1: Summary

    def row(self) -> dict[str, Any]:
        """The class as a row of a table: the means over the runs with their intervals."""
        parts = {name: getattr(self, name) for name in CLASS_METRICS}
        ends = {f"{name}_{end}": getattr(part, end) for name, part in parts.items() for end in ("mean", "low", "high")}
        undefined = {f"{name}_undefined": part.undefined for name, part in parts.items()}
        values = {key.removesuffix("_mean"): value for key, value in ends.items()}
        return {"model": self.model, "class": self.label, "rows": self.rows} | values | undefined
