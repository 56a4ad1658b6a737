"""Propensities: how likely a label that a row has is to be recorded, by how often it was seen in training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError
from steelyard.tables.label_sets import paired_sets
from steelyard.tables.multilabel_table import label_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, LabelSet

_MOST = 1_000  # of a and b, beyond which their powers are no numbers
_LEAST = 3  # rows: the formula needs a logarithm above 1


@names_wrong_arguments
def label_propensities(y_train: ArrayLike, *, labels: LabelSet | None = None, a: float = 0.55, b: float = 1.5) -> Array:
    """The propensity of each label, by the training labels (Jain, Prabhu and Varma 2016), for metrics weighted by it.

    A label of n_l rows among n has 1 / (1 + c (n_l + b)^-a) with c = (log n - 1) (b + 1)^a. `a` and `b` are the
    usual ones; those fitted to Wikipedia are a = 0.5, b = 0.4, and to Amazon a = 0.6, b = 2.6.

    >>> import numpy as np
    >>> train = np.zeros((1000, 2), dtype=int)
    >>> train[:400, 0], train[:2, 1] = 1, 1
    >>> label_propensities(train).round(2).tolist()
    [0.73, 0.17]
    """
    if not 0 < a <= _MOST or not 0 <= b <= _MOST:
        raise InputError(f"a must be above 0, b not below it, and both at most {_MOST}, not a={a!r}, b={b!r}.")
    (train,), _ = paired_sets([(y_train, "y_train")], labels)
    n = train.shape[0]
    if n < _LEAST:
        raise InputError(f"y_train has {n} rows; propensities are of the labels of {_LEAST} training rows or more.")
    seen = label_counts(train, train).true
    return np.asarray(1 / (1 + (math.log(n) - 1) * (b + 1) ** a * (seen + b) ** -a))
