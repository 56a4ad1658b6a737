"""Hierarchy levels: an evaluation with its errors by the levels of a hierarchy of its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.confusions.hierarchy import level_errors
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.evaluation import Evaluation


def with_levels(evaluation: Evaluation, hierarchy: HierarchyLike | None, inference: Inference) -> Evaluation:
    """The evaluation with its errors by level, where its labels have a hierarchy."""
    if hierarchy is None:
        return evaluation
    if evaluation.confusion is None:
        raise InputError("hierarchy= is of predicted labels, and there are scores alone; give y_pred as well.")
    return replace(evaluation, hierarchy=level_errors(evaluation.confusion, hierarchy, inference))
