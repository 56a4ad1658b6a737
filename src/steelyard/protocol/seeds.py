"""Seeding: estimators that would draw at random draw from a seed of the run, so that one input gives one output."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from steelyard._types import Splitter

Seedable = TypeVar("Seedable")
SEEDS = 2**31 - 1


def seeded(estimator: Seedable, seed: int) -> Seedable:
    """The estimator with every random_state that is None set, also that of a splitter in it; a chosen one is kept."""
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "set_params"):
        return estimator
    parameters = sorted(estimator.get_params(deep=True).items())
    free = {name: seed for name, value in parameters if value is None and name.split("__")[-1] == "random_state"}
    free |= {name: with_seed(value, seed) for name, value in parameters if is_unseeded(value)}
    if free:
        estimator.set_params(**free)
    return estimator


def is_unseeded(splitter: object) -> bool:
    """Whether this is a splitter that would shuffle anew each time."""
    if isinstance(splitter, type) or not hasattr(splitter, "split") or getattr(splitter, "random_state", 0) is not None:
        return False
    return bool(getattr(splitter, "shuffle", True))


def with_seed(splitter: Splitter, seed: int) -> Splitter:
    """The same splitter that shuffles by a seed."""
    fresh = copy(splitter)
    fresh.random_state = seed  # type: ignore[attr-defined]  # is_unseeded has seen it
    return fresh
