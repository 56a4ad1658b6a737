"""Interval methods: which fit a metric on a table, and which of them is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.intervals.auc_intervals import has_auc_interval
from steelyard.analysis.intervals.calibrated_reference import is_calibration_error
from steelyard.analysis.intervals.inference import (
    AUC_METHODS,
    COUNT_METHODS,
    INFLUENCE_METHODS,
    ISOTONIC_METHODS,
    RANK_METHODS,
    RATE_METHODS,
    REFERENCE_METHODS,
    Inference,
)
from steelyard.analysis.intervals.isotonic_intervals import is_isotonic
from steelyard.analysis.intervals.kinks import kinks
from steelyard.analysis.intervals.label_set_intervals import label_set_method
from steelyard.analysis.intervals.point_intervals import is_of_highest
from steelyard.analysis.intervals.probability_intervals import column_method
from steelyard.analysis.intervals.rate_intervals import is_rate
from steelyard.analysis.intervals.score_influence import has_influence
from steelyard.analysis.intervals.searched_intervals import is_searched
from steelyard.exceptions import InputError
from steelyard.statistics.multilabel_table import MultilabelTable
from steelyard.statistics.probability_table import ProbabilityTable
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard.analysis.intervals.estimand import Estimand


def chosen_method(estimand: Estimand, inference: Inference) -> str:
    """The method that was asked for, checked to fit, or the first that fits."""
    fitting = _fitting(estimand, inference)
    if inference.method == "auto":
        return fitting[0]
    if inference.method == "cluster" and inference.clustered is None:
        raise InputError("The method 'cluster' needs cluster=, the cluster of each row.")
    if inference.method == "plan" and inference.planned is None:
        raise InputError("The method 'plan' needs design=, the plan by which rows were labelled.")
    if inference.method not in fitting:
        names = ", ".join(dict.fromkeys(fitting))
        raise InputError(
            f"The method {inference.method!r} does not fit {estimand.metric.name} here; these do: {names}."
        )
    return inference.method


def _fitting(estimand: Estimand, inference: Inference) -> tuple[str, ...]:
    """The methods that fit, the best first."""
    if isinstance(estimand.table, ProbabilityTable):
        return (column_method(estimand),)
    if isinstance(estimand.table, MultilabelTable):
        return (label_set_method(estimand),)
    if inference.planned is not None:
        return ("plan",)
    if inference.clustered is not None:
        if inference.keeps_class_sizes() and isinstance(estimand.table, ScoreTable):
            raise InputError("Scores in clusters have no interval with design='stratified'; leave design= out.")
        return ("cluster",)
    if isinstance(estimand.table, ScoreTable):
        fitting = _of_scores(estimand, estimand.table)
    else:
        fitting = ("stratified", *COUNT_METHODS) if inference.keeps_class_sizes() else COUNT_METHODS
        fitting = ("deviance", *fitting) if kinks(estimand.metric.expression) else fitting
        fitting += RATE_METHODS if is_rate(estimand.metric) else ()
    if inference.prevalence is None:
        return fitting
    return tuple(method for method in fitting if method not in (*RATE_METHODS, "bca"))  # they know the sample's shares


def _of_scores(estimand: Estimand, table: ScoreTable) -> tuple[str, ...]:
    if is_calibration_error(estimand.metric):
        return REFERENCE_METHODS
    if is_isotonic(estimand.metric) or is_searched(estimand.metric):
        return ISOTONIC_METHODS
    is_area = has_auc_interval(estimand.metric, estimand.parameters)
    is_smooth = has_influence(estimand.metric, table) or is_of_highest(estimand.metric)
    return (*(AUC_METHODS if is_area else ()), *(INFLUENCE_METHODS if is_smooth else ()), *RANK_METHODS)
