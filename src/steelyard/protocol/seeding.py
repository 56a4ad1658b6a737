"""Seeding: estimators that would draw at random draw from a seed of the run, so that one input gives one output."""

from __future__ import annotations

from typing import Any


def seeded(estimator: Any, seed: int) -> Any:
    """The estimator with every random_state that is None set; one that the user chose is kept."""
    if not hasattr(estimator, "get_params"):
        return estimator
    free = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return estimator.set_params(**dict.fromkeys(free, seed)) if free else estimator
