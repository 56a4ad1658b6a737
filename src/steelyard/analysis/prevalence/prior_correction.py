"""Prior correction: probabilities that were learnt at some class shares, as they are at others.

Elkan (2001), Proceedings of IJCAI, 973-978; Saerens, Latinne and Decaestecker (2002), Neural Computation 14, 21-41.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.prevalence.estimated_prevalence import Prevalence, stated_prevalence
from steelyard.exceptions import InputError, first_ten
from steelyard.ingest.given_probabilities import both_columns, given_probabilities
from steelyard.ingest.refused_keywords import refuses_other_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.prevalence.estimated_prevalence import EstimatesPrevalence

    SharesLike: TypeAlias = float | Sequence[float] | Array | Mapping[Label, float] | Prevalence | EstimatesPrevalence


@refuses_other_keywords
def correct_prior(
    p: ArrayLike, trained: SharesLike, deployed: SharesLike, *, labels: Sequence[Label] | None = None
) -> Array:
    """The probabilities where other shares of the rows are of each class than in the training rows.

    `p` is the column of the positive class, or one for each class. `trained` and `deployed` are the share of the
    positive class; or that of each class in the order of the columns, or by label, the columns then being in sorted
    order of the labels, as scikit-learn's `classes_`, or in that of `labels`. The odds of a class are multiplied by how
    many times as large its share is, so that two classes have their logits shifted by one number. It is exact where the
    classes themselves are alike in both places and the probabilities were right where they were trained, such as after
    oversampling; `Recalibrator` mends what is not.

    >>> correct_prior([0.5, 0.9], trained=0.5, deployed=0.01).round(4).tolist()  # after oversampling to one half
    [0.01, 0.0833]
    >>> correct_prior([[0.2, 0.3, 0.5]], [1 / 3, 1 / 3, 1 / 3], {"a": 0.8, "b": 0.1, "c": 0.1}).round(3).tolist()
    [[0.667, 0.125, 0.208]]
    """
    given = given_probabilities(p)
    columns = both_columns(given)
    before, after = (
        class_share_vector(shares, columns.shape[1], name, labels)
        for shares, name in ((trained, "trained"), (deployed, "deployed"))
    )
    moved = with_shares(columns, before, after)
    return moved[:, 1] if given.ndim == 1 else moved


def with_shares(columns: Array, before: Array, after: Array) -> Array:
    """A column of probabilities for each class, moved from some class shares to others."""
    moved = columns * (after / before)
    return np.asarray(moved / moved.sum(1, keepdims=True))


def class_share_vector(shares: SharesLike, k: int, name: str, labels: Sequence[Label] | None = None) -> Array:
    """The share of each of so many classes, in the order of the columns."""
    shares = stated_prevalence(shares)
    if isinstance(shares, Prevalence) and shares.counts is not None:
        rows = dict(shares.counts)
        shares = {label: n / sum(rows.values()) for label, n in rows.items()}
    if isinstance(shares, Mapping):
        shares = [shares[label] for label in _ordered(shares, k, name, labels)]
    try:
        given = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.ndim == 0 and k == 2:
        given = np.array([1 - given, given])
    if given.shape != (k,) or not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        one = "the share of the positive class, above 0 and below 1, or " if k == 2 else ""
        raise InputError(f"{name}= is {one}{k} shares of the classes, above 0 with the sum 1, not {shares!r}.")
    return np.asarray(given / given.sum())


def _ordered(shares: Mapping[Label, float], k: int, name: str, labels: Sequence[Label] | None) -> Labels:
    """The labels in the order of the columns."""
    try:
        order = tuple(sorted(shares)) if labels is None else tuple(labels)  # type: ignore[type-var]  # else refused
    except TypeError:
        raise InputError(f"The labels of {name}= have no order; give that of the columns by labels=.") from None
    if len(order) != k or {*order} != {*shares}:
        of = "columns" if labels is None else f"labels, {first_ten(order)}"
        raise InputError(f"{name}= has shares of {first_ten([*shares])}, and p has {k} {of}; give one for each.")
    return order
