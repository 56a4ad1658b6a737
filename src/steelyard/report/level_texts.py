"""Level texts: the errors by level of a hierarchy in the cells of a table, and the metrics over all levels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import bounds_text, percent_text
from steelyard.evaluation.verdict.verdict import apart_names

if TYPE_CHECKING:
    from steelyard.analysis.confusions.hierarchy import BoundedValue
    from steelyard.evaluation.evaluation import Evaluation

LEVEL_HEAD = ("level", "classes", "errors", "accuracy", "errors inside the parent", "most confused")


def level_rows(evaluation: Evaluation) -> list[list[str]]:
    """A row for each level, the top first; nothing without a hierarchy."""
    errors = getattr(evaluation, "hierarchy", None)  # which label sets have not
    rows = []
    for level in () if errors is None else errors.levels:
        pair = level.pairs[0] if level.pairs else None
        both = "–" if pair is None else " as ".join(apart_names([pair.true, pair.predicted]))
        wrong = f"{level.errors:,.0f}" if float(level.errors).is_integer() else f"{level.errors:,.4g}"
        rows.append([str(level.level), f"{level.classes:,}", wrong, _text(level.accuracy), _text(level.inside), both])
    return rows


def level_words(evaluation: Evaluation) -> str:
    """Hierarchical precision, recall and F; nothing without a hierarchy."""
    errors = getattr(evaluation, "hierarchy", None)
    if errors is None:
        return ""
    words = "; ".join(f"{name} {_text(value)}" for name, value in errors.metrics.items())
    return f"{words[0].upper()}{words[1:]}."


def _text(value: BoundedValue) -> str:
    if math.isnan(value.value):
        return "–"
    ends = f" ({bounds_text(value.low, value.high, share=True).removesuffix(' %')})" if math.isfinite(value.low) else ""
    return f"{percent_text(value.value)}{ends}"
