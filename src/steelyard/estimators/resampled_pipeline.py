"""A pipeline whose first step learns from the rows as they are, before their classes are made equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.exceptions import needs_sklearn

try:
    from sklearn.base import clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline
except ImportError as missing:
    raise needs_sklearn("A prepared model") from missing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Prepared(Pipeline):  # type: ignore[misc]  # scikit-learn has no types
    """A pipeline whose first step learns from the rows as they are, before their classes are made equal.

    A coding of words keeps the frequent ones. After oversampling the words of the repeated rows would be those, and
    whoever has another word would look like the class that was not repeated.
    """

    def started(self, X: ArrayLike, y: ArrayLike) -> Prepared:
        """The same pipeline with its first step fitted, for good."""
        (name, first), *rest = self.steps
        return Prepared([(name, FrozenEstimator(clone(first).fit(X, y))), *rest])
