"""Positive scores: what a fitted classifier of two classes scores rows for the class that is positive."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.statistics.positive_class import conventional_label

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label

_METHODS = ("predict_proba", "decision_function")


@dataclass(frozen=True)
class PositiveScores:
    """The positive class, by default the later of two, and the method that scores, or "auto" for the first there is."""

    pos_label: Label | None
    response_method: str

    def __post_init__(self) -> None:
        if self.response_method not in ("auto", *_METHODS):
            raise InputError(f"response_method= takes 'auto', {' or '.join(map(repr, _METHODS))}.")

    def of(self, estimator: Estimator, X: Features) -> Array:
        """The scores of the positive class, higher meaning more positive."""
        wanted = _METHODS if self.response_method == "auto" else (self.response_method,)
        method = next((name for name in wanted if hasattr(estimator, name)), None)
        if method is None:
            raise InputTypeError(
                f"{type(estimator).__name__} has no {' or '.join(wanted)}, so there is nothing to threshold."
            )
        scores, place = np.asarray(getattr(estimator, method)(X)), self.place(estimator.classes_)  # type: ignore[attr-defined]  # set by fit
        if scores.ndim == 2:
            return scores[:, place]
        return scores if place else -scores

    def warn_of_doubt(self, classes: ArrayLike) -> None:
        """Warn where no label was named and the classes do not show which is positive, with the one that was taken."""
        labels = np.asarray(classes).tolist()
        taken, other = labels[1], labels[0]
        if self.pos_label is None and conventional_label(labels) != taken:
            warnings.warn(
                f"The positive class is taken to be {taken!r}, the later of {other!r} and {taken!r} in sorted order, "
                f"as in scikit-learn; name it with pos_label={taken!r}, or take the other one with "
                f"pos_label={other!r}.",
                UserWarning,
                stacklevel=3,
            )

    def place(self, classes: ArrayLike) -> int:
        """The place of the positive class among the two."""
        labels = np.asarray(classes)
        if len(labels) != 2:
            raise InputError(f"A fold or the fitted classifier holds {len(labels)} classes; a threshold separates two.")
        if self.pos_label is None:
            return 1
        places = np.flatnonzero(labels == self.pos_label)
        if not len(places):
            raise InputError(f"pos_label={self.pos_label!r} is none of the classes {labels.tolist()}.")
        return int(places[0])
