"""Copied JSON: what the numbers that a page copies hold beside those that its sliders move."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.result import Rows
from steelyard.evaluation.saved.json_values import label_json
from steelyard.evaluation.saved.saved_evaluation import evaluation_json
from steelyard.report.pages.document import clipped

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.saved import JsonValue

LABEL = 100  # characters of a label that are kept


def beside_metrics(evaluation: Evaluation, table: Confusion) -> dict[str, Any]:
    """What the JSON of the evaluation holds at every state of the page, and what only as evaluated.

    Of many classes, of which the page copies one against the rest, there are neither rows of classes nor the table.
    """
    every = evaluation_json(replace(evaluation, scores=None, groups=Rows()), verdict=False)
    fixed = {key: every[key] for key in ("kind", "versions", "metrics_named", "muted")}
    fixed["columns"] = {use: _clipped_names(names) for use, names in every["columns"].items()}
    as_evaluated = {key: every[key] for key in ("prevalence", "counts", "beats", "behind")} | {
        "per_class": [],
        "table": None,
    }
    if len(table.labels) <= 2:
        parts = zip(every["per_class"], evaluation.per_class, strict=True)
        as_evaluated["per_class"] = [row | {"class": typed_label(part.label)} for row, part in parts]
        labels = {"labels": [typed_label(label) for label in table.labels], "positive": typed_label(table.positive)}
        as_evaluated["table"] = every["table"] | labels
    return {"fixed": fixed, "as_evaluated": as_evaluated}


def typed_label(label: Label) -> JsonValue:
    """A label as the JSON of the evaluation writes it; long words are shortened."""
    written = label_json(label)
    return clipped(written, LABEL) if isinstance(written, str) else written


def _clipped_names(names: str | list[str]) -> str | list[str]:
    return clipped(names, LABEL) if isinstance(names, str) else [clipped(name, LABEL) for name in names]
