"""Metrics: how one is declared, found and written, and the catalogue of all that there are."""

from __future__ import annotations

from steelyard._names import shelved

# Importing them declares every metric and its forms.
from steelyard.metrics import (
    calibration,
    catalogue,
    class_forms,
    discrimination,
    label_ranking,
    ordinal,
    ranking,
    registry,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

registry.close_catalogue()

__all__ = ["calibration", "catalogue", "class_forms", "discrimination", "label_ranking", "ordinal", "ranking"]
_load, _names = shelved("metrics")


def __getattr__(name: str) -> Any:
    metric = None if name.startswith("_") else registry.find(name)
    return _load(name) if metric is None else metric


def __dir__() -> list[str]:
    return sorted([*_names(), *(metric.name for metric in registry.list_metrics())])
