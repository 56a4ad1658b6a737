"""Class risk: the errors of the most probable class where the least certain rows go to a person, and its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.decisions.best_decision import DecidedRows
from steelyard.analysis.decisions.decision_rule import COLUMNS, DecisionRule, RiskCoverage
from steelyard.analysis.decisions.search import CrossFit
from steelyard.evaluation.saved.json_values import label_json, read_label

if TYPE_CHECKING:
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.saved_field import SavedField

_NUMBERS = ("area", "least_area", "level")


def class_risk(table: ProbabilityTable | None, inference: Inference) -> RiskCoverage | None:
    """The curve of the most probable class; none of scores that are no probabilities, nor at another prevalence."""
    if table is None or table.first_improper is not None or inference.prevalence is not None:
        return None
    rows = DecidedRows.of(table, None)
    decided = CrossFit.of_rule(DecisionRule.of_argmax(rows.k), table.probabilities)
    return RiskCoverage.of(rows, decided, None, inference.level, intervals=inference.clustered is None)


def risk_json(curve: RiskCoverage) -> dict[str, Any]:
    """The curve as strict JSON values, a list for each column."""
    columns = {name: [None if np.isnan(v) else v for v in getattr(curve, name).tolist()] for name in COLUMNS}
    labels = [label_json(label) for label in curve.least_kept]
    return {**{name: getattr(curve, name) for name in _NUMBERS}, **columns, "least_kept": labels}


def read_risk(field: SavedField) -> RiskCoverage | None:
    """The curve that was written; none where there is none."""
    if field.value is None:
        return None
    columns: dict[str, Any] = {
        name: np.array([np.nan if cell.value is None else cell.number() for cell in field[name].each()])
        for name in COLUMNS
    }
    labels = tuple(read_label(label) for label in field["least_kept"].each())
    if len({len(labels), *(len(column) for column in columns.values())}) > 1 or not labels:
        raise field.refused("a curve whose columns are equally long")
    numbers: dict[str, Any] = {name: field[name].number() for name in _NUMBERS}
    return RiskCoverage(least_kept=labels, **columns, **numbers)
