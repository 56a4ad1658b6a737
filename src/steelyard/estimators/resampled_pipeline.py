"""Prepared: a pipeline whose first step learns from the rows as they are, before their classes are made equal."""

from __future__ import annotations

from typing import Any

from steelyard.errors import needs_sklearn

try:
    from sklearn.base import clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline
except ImportError as missing:
    raise needs_sklearn("A prepared model") from missing


class Prepared(Pipeline):  # type: ignore[misc]  # scikit-learn has no types
    """A pipeline whose first step learns from the rows as they are, before their classes are made equal.

    A coding of words keeps the frequent ones. After oversampling the words of the repeated rows would be those, and
    whoever has another word would look like the class that was not repeated.
    """

    def started(self, X: Any, y: Any) -> Prepared:
        """The same pipeline with its first step fitted, for good."""
        (name, first), *rest = self.steps
        return Prepared([(name, FrozenEstimator(clone(first).fit(X, y))), *rest])
