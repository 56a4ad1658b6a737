"""Saved runs: a cross-evaluation as JSON values, and the same read back; features and fitted models are not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.result_json import from_fields, read_metric
from steelyard.analysis.results.rows import Rows
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.cost import Cost
from steelyard.protocol.label_set_result import result_of
from steelyard.protocol.predictions import Data, RunPredictions
from steelyard.protocol.runs import Run
from steelyard.protocol.splits import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.protocol.model_result import ModelResult

SavedValues = dict[str, Any]


def saved_runs(models: Mapping[str, ModelResult]) -> SavedValues:
    """The true classes, the rows of each run, and what each model predicted for them."""
    first = next(iter(models.values()))
    return {
        "codes": first.data.codes,
        "weight": first.data.weight,
        "parts": [_saved_part(run.part) for run in first.runs],
        "models": {name: _saved_model(model) for name, model in models.items()},
    }


def _saved_part(part: Part) -> SavedValues:
    return {"repeat": part.repeat, "fold": part.fold, "test": part.test, "train": part.listed}


def _saved_model(model: ModelResult) -> SavedValues:
    names = None if model.metrics is None else [MetricSpec.of(metric).name for metric in model.metrics]
    return {"metrics": names, "level": model.level, "runs": [_saved_predictions(run.predictions) for run in model.runs]}


def _saved_predictions(predictions: RunPredictions) -> SavedValues:
    return {key: getattr(predictions, key) for key in ("codes", "scores", "cost", "error")}


def read_models(whole: SavedValues) -> dict[str, ModelResult]:
    """The models of a saved cross-evaluation, by name."""
    saved = whole["predictions"]
    labels, codes = tuple(whole["labels"]), np.array(saved["codes"], dtype=np.intp)
    y = np.array(labels)[codes] if codes.ndim == 1 else codes  # of several labels each
    data = Data(np.empty((len(codes), 0)), y, codes, labels, whole["positive"], _array(saved["weight"]))
    parts = [
        Part(part["repeat"], part["fold"], _rows(part["test"]), len(codes), _optional_rows(part["train"]))
        for part in saved["parts"]
    ]
    alone = len(saved["models"]) == 1
    return {name: _read_model(name, model, data, parts, alone=alone) for name, model in saved["models"].items()}


def _read_model(name: str, saved: SavedValues, data: Data, parts: list[Part], *, alone: bool) -> ModelResult:
    predictions = [
        RunPredictions(
            _optional_rows(run["codes"]), _array(run["scores"]), from_fields(Cost, run["cost"]), run["error"]
        )
        for run in saved["runs"]
    ]
    runs = Rows(Run(name, part, data, each) for part, each in zip(parts, predictions, strict=True))
    metrics = None if saved["metrics"] is None else [read_metric(metric) for metric in saved["metrics"]]
    return result_of(name, runs, metrics, saved["level"], alone)


def _array(values: list[Any] | None) -> Array | None:
    return None if values is None else np.array(values, dtype=np.float64)


def _rows(places: list[int]) -> Array:
    return np.array(places, dtype=np.intp)


def _optional_rows(places: list[int] | None) -> Array | None:
    return None if places is None else _rows(places)
