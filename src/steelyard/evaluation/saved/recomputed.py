"""Recomputed values: what the tables of a saved evaluation give for its metrics, beside what it says of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.inference import AUC_METHODS, RATE_METHODS, STRATIFIED, Inference
from steelyard.evaluation.evaluation import class_rows, metric_rows, with_class_ends

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.saved_field import SavedField
    from steelyard.statistics.score_table import ScoreTable

VALUE, INTERVAL = "value", "interval"  # what of a metric no table confirms
_OTHER_ROWS = ("cluster", "plan")  # methods that need rows which no table keeps
_ROUNDING = 1e-9
_EXACT = (*RATE_METHODS, *AUC_METHODS)  # methods whose ends no draw moves
_TO_SIX_DIGITS = 1e-6


def check_values(saved: SavedField, fields: dict[str, Any]) -> dict[str, str]:
    """Refuse a value or an interval that the saved tables do not give; what they do not confirm, by "recall (north)".

    Values agree to rounding, ends by an exact method to six digits. Ends by draws move with their number and seed, so
    they are held to the metric's range alone, and a gate draws them again.
    """
    again = _Recomputed(fields)
    whole = again.of(fields["confusion"], fields["scores"])
    unconfirmed = _check_rows(saved["metrics"], fields["metrics"], whole)
    unconfirmed |= _check_rows(saved["behind"], fields["behind"], whole)
    for listed, row, known in zip(saved["per_class"].each(), fields["per_class"], again.classes, strict=False):
        for name, held in row.intervals.items():
            _check_numbers(listed[name], held, known.intervals[name])
    for listed, group in zip(saved["groups"].each(), fields["groups"], strict=True):
        of_group = _check_rows(listed["metrics"], group.metrics, again.of(group.confusion, None))
        unconfirmed |= {f"{name} ({group.label})": what for name, what in of_group.items()}
    return unconfirmed


class _Recomputed:
    """The rows that the tables of one saved evaluation give."""

    def __init__(self, fields: dict[str, Any]) -> None:
        design = "stratified" if STRATIFIED in fields["assumed"] else "random"
        self.inference = Inference(fields["level"], prevalence=fields["prevalence"], design=design)
        self.positive = fields["positive"]
        self.specs = [row.spec for row in (*fields["metrics"], *fields["behind"])]
        self.specs += [row.spec for group in fields["groups"] for row in group.metrics]
        self.classes = class_rows(fields["confusion"], self.inference)

    def of(self, table: Confusion | None, scores: ScoreTable | None) -> dict[str, MetricRow]:
        """The metrics that tables give, by name."""
        rows: Iterable[MetricRow] = metric_rows(table, scores, self.positive, dict.fromkeys(self.specs), self.inference)
        return {row.name: row for row in with_class_ends(rows, self.classes)}


def _check_rows(saved: SavedField, rows: Iterable[MetricRow], again: dict[str, MetricRow]) -> dict[str, str]:
    """Each row beside the one that the tables give; what they do not confirm, by name."""
    unconfirmed = {}
    for field, row in zip(saved.each(), rows, strict=True):
        known = again.get(row.name)
        of_lost_scores = row.method == "influence" and known is not None and known.method != "influence"
        if known is None or row.method == "plan" or of_lost_scores:
            unconfirmed[row.name] = VALUE
            continue
        _check_numbers(field, row, known)
        if row.method in _OTHER_ROWS:
            unconfirmed[row.name] = INTERVAL
    return unconfirmed


def _check_numbers(field: SavedField, row: MetricRow | Interval[Any], known: MetricRow | Interval[Any]) -> None:
    if not _near(row.value, known.value, _ROUNDING * max(1.0, abs(known.value))):
        raise field["value"].refused(f"{_text(known.value)}, which its table gives")
    if row.method in _OTHER_ROWS:
        return
    for end in ("low", "high"):
        held, expected = getattr(row, end), getattr(known, end)
        if row.method in _EXACT and not _near(held, expected, _TO_SIX_DIGITS * max(1.0, abs(known.value))):
            raise field[end].refused(f"about {_text(expected)}, which its table gives")
        least, most = row.spec.metric.of_many_columns.range
        if held < least - _ROUNDING or held > most + _ROUNDING:
            raise field[end].refused(f"a number from {least:g} to {most:g}, as {row.spec.name} is")


def _near(held: float, expected: float, apart: float) -> bool:
    if math.isnan(held) or math.isnan(expected):
        return math.isnan(held) == math.isnan(expected)
    return held == expected or abs(held - expected) <= apart


def _text(value: float) -> str:
    return "null" if math.isnan(value) else f"{value:.6g}"
