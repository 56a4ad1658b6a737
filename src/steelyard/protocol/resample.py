"""Resampling: the classes of a training part made equal. Only training parts ever come here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label

_OVER, UNDER, CLASS_WEIGHT = "over", "under", "class_weight"
SAMPLER_WORDS = (_OVER, UNDER, CLASS_WEIGHT)


class Sampler(Protocol):
    """What imbalanced-learn calls a sampler."""

    def fit_resample(self, X: ArrayLike, y: ArrayLike, /) -> tuple[ArrayLike, ArrayLike]:
        """The rows and their labels, resampled."""


Resampler: TypeAlias = Sampler | str | None


@dataclass(frozen=True, eq=False)
class Training:
    """The rows that an estimator is fitted on."""

    X: ArrayLike
    y: Array
    weight: Array | None


def check_resampler(resampler: object) -> None:
    """Refuse what cannot resample."""
    if isinstance(resampler, type):
        raise InputTypeError(f"{resampler.__name__} is a class; give an object: {resampler.__name__}().")
    if resampler is None or (not isinstance(resampler, str) and hasattr(resampler, "fit_resample")):
        return
    if isinstance(resampler, str):
        if resampler in SAMPLER_WORDS:
            return
        near = did_you_mean(resampler, SAMPLER_WORDS)
        raise InputError(f"resample= takes 'over', 'under', 'class_weight' or a sampler, not {resampler!r}.{near}")
    raise InputTypeError(
        f"resample= takes 'over', 'under', 'class_weight' or a sampler with fit_resample, "
        f"not {type(resampler).__name__}."
    )


def resampled(resampler: Resampler, training: Training, seed: int) -> Training:
    """The training part with its classes made equal; as it is where nothing is asked for."""
    if resampler is None or resampler == CLASS_WEIGHT:
        return training
    if isinstance(resampler, str):
        return _picked(training, equal_rows(training.y, resampler, np.random.default_rng(seed)))
    return _by_sampler(resampler, training, seed)


def equal_rows(y: Array, how: str, rng: np.random.Generator) -> Array:
    """The places of rows, in order, that make the classes equally frequent.

    "over" repeats all rows of a smaller class as often as they fit and a random choice of them for the rest; "under"
    keeps a random choice of a larger class.

    >>> equal_rows(np.array([0, 0, 0, 0, 0, 1, 1]), "over", np.random.default_rng(0)).tolist()
    [0, 1, 2, 3, 4, 5, 5, 6, 6, 6]
    """
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    wanted = int(sizes.max() if how == _OVER else sizes.min())
    picked = []
    for i, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(codes == i)
        again, rest = divmod(wanted, size)
        picked += [np.repeat(rows, again), rng.choice(rows, rest, replace=False)]
    return np.sort(np.concatenate(picked)) if len(classes) else np.zeros(0, dtype=np.intp)


def _picked(training: Training, rows: Array) -> Training:
    from sklearn.utils import _safe_indexing

    weight = None if training.weight is None else training.weight[rows]
    return Training(_safe_indexing(training.X, rows), training.y[rows], weight)


def _by_sampler(sampler: Sampler, training: Training, seed: int) -> Training:
    """By a sampler of imbalanced-learn, or anything with its method."""
    from sklearn.base import clone

    from steelyard.protocol.seeds import seeded

    fresh: Sampler = seeded(clone(sampler, safe=False), seed)
    X, y = fresh.fit_resample(training.X, training.y)
    if training.weight is None:
        return Training(X, np.asarray(y), None)
    rows = getattr(fresh, "sample_indices_", None)
    if rows is None or len(rows) != len(np.asarray(y)):
        raise InputError(
            f"{type(sampler).__name__} makes rows that have no weight; leave the weights out, or use resample='over'."
        )
    return Training(X, np.asarray(y), training.weight[rows])


def trained_share(model: object, label: Label) -> float | None:
    """The share of a class among the resampled rows that a model was fitted on; None where none were resampled."""
    steps = getattr(model, "steps", None)
    shares = getattr(steps[-1][1] if steps else model, "shares_", None)
    return None if shares is None else float(shares.get(label, 0.0))
