"""The types that several floors write: arrays, labels, frames, estimators, and what may seed a draw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix

    Frame: TypeAlias = IntoFrame  # of pandas, Polars, PyArrow, DuckDB, Dask, PySpark, Ibis

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Scalar: TypeAlias = "float | np.number[Any]"
Label: TypeAlias = Hashable
Labels: TypeAlias = tuple[Label, ...]
LabelSet: TypeAlias = "Sequence[Label] | ArrayLike"  # all labels that may occur, as a user declares them
Rng: TypeAlias = "int | np.random.Generator | None"  # None is a fixed seed: one input gives one output
Weights: TypeAlias = "ArrayLike | None"
Features: TypeAlias = "ArrayLike | Frame | sparray | spmatrix"  # one row of them for each label
Progress: TypeAlias = Callable[[str], object]


class Estimator(Protocol):
    """What scikit-learn calls a classifier, as far as it is used here."""

    def fit(self, X: Features, y: ArrayLike, /) -> Estimator:
        """Learn from rows and their labels."""

    def predict(self, X: Features, /) -> Any:  # scikit-learn has no types, and what a checker infers differs
        """The label of each row."""


class Splitter(Protocol):
    """What scikit-learn calls a splitter: the rows to learn from and the rows to test on, fold by fold."""

    def split(self, X: Features, y: ArrayLike, groups: ArrayLike | None = None, /) -> Iterator[tuple[Array, Array]]:
        """The rows of each fold."""
