"""Ranked metrics: those that were asked for by which the models of a cross-evaluation can be ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult


def ranked_metrics(result: CrossEvaluation) -> list[MetricSpec]:
    """The metrics that were asked for, in that order, that have a best value and a mean for every model."""
    means = [_means(model) for model in result.models.values() if model.metrics is not None]
    return [spec for spec in means[0] if all(spec in others for others in means)] if means else []


def _means(model: ModelResult) -> list[MetricSpec]:
    return [
        row.spec
        for row in model.summary
        if isinstance(row.spec, MetricSpec) and row.spec.sign and np.isfinite(row.mean)
    ]
