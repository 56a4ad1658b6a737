"""Families: what kind of metric it is, and how a report heads its kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A kind of metric: its title in a report, whether one value of it sums up both classes, or is a rate of one."""

    title: str
    is_summary: bool = True
    is_rate: bool = False


FAMILIES = {
    "rates": Family("Rates of one class", is_summary=False, is_rate=True),
    "overall": Family("All rows alike"),
    "balanced": Family("Both classes with equal weight"),
    "F": Family("Precision and recall of one class"),
    "agreement": Family("Agreement of truth and prediction"),
    "ordinal": Family("Classes in order", is_summary=False),
    "corrected": Family("Corrected for the class shares"),
    "skewed": Family("Leaning to one class"),
    "diagnostic": Family("Odds", is_summary=False),
    "decision": Family("What the errors cost", is_summary=False),
    "ranking": Family("Order of the scores"),
    "calibration": Family("Scores as probabilities"),
    "description": Family("Descriptions, of which no value is best", is_summary=False),
    "label sets": Family("Rows of several labels each", is_summary=False),
    "own": Family("Your own"),
}
