"""Seeding: estimators that would draw at random draw from a seed of the run, so that one input gives one output."""

from __future__ import annotations

from copy import copy
from typing import Any

SEEDS = 2**31 - 1


def seeded(estimator: Any, seed: int) -> Any:
    """The estimator with every random_state that is None set, also that of a splitter in it; a chosen one is kept."""
    if not hasattr(estimator, "get_params"):
        return estimator
    held = sorted(estimator.get_params(deep=True).items())
    free = {name: seed for name, value in held if value is None and name.split("__")[-1] == "random_state"}
    free |= {name: with_seed(value, seed) for name, value in held if is_unseeded(value)}
    return estimator.set_params(**free) if free else estimator


def is_unseeded(splitter: Any) -> bool:
    """Whether this is a splitter that would shuffle anew each time."""
    if isinstance(splitter, type) or not hasattr(splitter, "split") or getattr(splitter, "random_state", 0) is not None:
        return False
    return bool(getattr(splitter, "shuffle", True))


def with_seed(splitter: Any, seed: int) -> Any:
    """The same splitter that shuffles by a seed."""
    fresh = copy(splitter)
    fresh.random_state = seed
    return fresh
