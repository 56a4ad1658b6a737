"""Metrics: how one is declared, found and written, and the catalogue of all that there are."""

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

registry.close_catalogue()

__all__ = ["calibration", "catalogue", "class_forms", "discrimination", "label_ranking", "ordinal", "ranking"]
