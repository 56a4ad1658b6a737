"""Measures: how one is declared, found and written, and the catalogue of all that there are."""

from steelyard.metrics import catalogue as catalogue  # declares every measure
