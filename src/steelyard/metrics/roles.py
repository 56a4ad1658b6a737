"""Roles and families: where a metric appears without being asked for, and what kind of metric it is."""

from __future__ import annotations

from dataclasses import dataclass

# A metric declares its roles; every place that shows "the usual ones" asks for a role, and none lists names.
ROLES = {
    "headline": "shown first in every report",
    "verdict": "read by the sentences of the verdict",
    "per class": "given for each class, and averaged over the classes",
    "averaged over columns": "of many classes, averaged over one column of scores for each",
    "compared": "compared between models of two classes, unless others are named",
    "compared, many classes": "compared between models of several classes, unless others are named",
    "reported": "what people usually report, so that advice says why not where it does not fit",
    "known costs": "recommended where the cost of each error is known",
    "order of scores": "recommended where scores are used as an order, without a threshold",
    "capacity": "recommended where only so many rows can be looked at",
    "set threshold": "recommended where the probability from which a row is flagged is set",
    "probabilities": "recommended where scores are read as probabilities",
    "metrics reloaded": "in the pool of Metrics Reloaded (Maier-Hein and others 2024), as its library has it",
    "ratio spread": "of Nguyen's study: read over test sets of several ratios, unless others are named",
    "default": "optimised and ranked by where no metric is named",
    "threshold figure": "drawn over the thresholds and over runs, unless others are named",
    "prevalence figure": "drawn over the prevalence, unless others are named",
    "surface figure": "drawn over both class recalls, unless others are named",
    "calibration": "given by calibration, beside the reliability curve",
    "in the large": "of the mean probability, which is right whatever a row's are where those of all classes sum to 1",
    "on request": "reported by evaluate only where they are named",
    "ordinal": "of classes in order: reported where an ordered categorical states the order, else where they are named",
    "group": "shown for each group of rows",
    "group on the page": "shown for each group of rows on the page, with intervals",
    "demographic parity": "what demographic parity asks to be the same in all groups of rows",
    "equal opportunity": "what equal opportunity asks to be the same in all groups of rows",
    "equalized odds": "what equalized odds ask to be the same in all groups of rows",
    "predictive parity": "what predictive parity asks to be the same in all groups of rows",
    "least on the page": "a least value of which can be asked for on the page",
    "page": "read by the page's pictures and tables, whatever was asked for",
}


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
