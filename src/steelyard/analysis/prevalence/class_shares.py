"""Class shares: a prevalence as it is given, checked, and the share of each class that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.estimated_prevalence import Prevalence, stated_prevalence
from steelyard.exceptions import InputError
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable


def checked_prevalence(pi: PrevalenceLike) -> Array:
    """The prevalence as a number or an array, each between 0 and 1."""
    try:
        given = np.asarray(pi, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.asarray(np.nan)
    if not ((given > 0) & (given < 1)).all():
        raise InputError(f"A prevalence is a share of positives above 0 and below 1, such as 0.01, not {pi!r}.")
    return np.asarray(given)


def class_shares(table: Confusion, pi: PrevalenceLike) -> Array:
    """The share of each class, in the order of the labels: given for all, or for the positive one of two."""
    k = len(table.labels)
    if isinstance(pi, Prevalence) and pi.counts is not None:
        pi = np.asarray(pi)[pi.places(table.labels)]
    if np.asarray(pi).ndim == 0:
        if k != 2 and table.positive is None:
            raise InputError(f"{k} classes need {k} shares, one a class in the order of the labels, or a pos_label.")
        return _with_rest(table, checked_prevalence(pi))
    try:
        given = np.asarray(pi, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (k,) or not (given >= 0).all() or abs(given.sum() - 1) > 1e-9:
        raise InputError(f"The shares of {k} classes are {k} numbers of 0 or more that sum to 1, not {pi!r}.")
    if (given > 0)[table.matrix.sum(1) == 0].any():
        raise InputError("A class without a row in the truth cannot be given a share.")
    return np.asarray(given)


def _with_rest(table: Confusion, share: Array) -> Array:
    """The shares of all classes where the positive one has this share: the others keep theirs of the rest."""
    place, given = table.index(table.positive_label()), table.matrix.sum(1).astype(np.float64)
    given[place] = 0
    shares = np.multiply.outer(1 - share, given / max(given.sum(), 1e-300))
    shares[..., place] = share
    return np.asarray(shares)


def shares_in_use(
    table: Counts | Confusion, pi: PrevalenceLike, draws: int, rng: np.random.Generator, cells: Array | None = None
) -> tuple[Array, Array | float]:
    """The share of each class, drawn on a first axis where the prevalence is uncertain, and the draws' deviance.

    `cells` are draws of the table itself, of which those of the prevalence may depend.
    """
    if isinstance(pi, Prevalence):
        drawn = pi.draws(draws, rng) if cells is None else pi.draws_beside(cells, rng)
        return _drawn_shares(table, drawn, pi), pi.deviances(drawn)
    if isinstance(table, Confusion):
        return class_shares(table, pi), 0.0
    positive = checked_prevalence(pi)
    if positive.ndim:
        raise InputError("An interval is at one prevalence at a time; give a number, not several.")
    return np.stack([positive, 1 - positive]), 0.0


def _drawn_shares(table: Counts | Confusion, drawn: Array, pi: Prevalence) -> Array:
    """The share of each class of a table in draws of a prevalence, classes on the last axis."""
    if isinstance(table, Confusion):
        class_shares(table, pi)  # refuses what does not fit the table
        return _with_rest(table, drawn) if pi.counts is None else drawn[:, pi.places(table.labels)]
    checked_prevalence(float(pi))
    return np.stack([drawn, 1 - drawn], axis=-1)


def positive_shares(table: ScoreTable, pi: PrevalenceLike, drawn: Array | None = None) -> Array:
    """The share of the positives of a table of scores: the one given, or seen, or those drawn."""
    if not isinstance(pi, Prevalence) or pi.counts is None:
        return checked_prevalence(pi) if drawn is None else drawn
    names = [str(label) for label, _ in pi.counts]
    if str(table.label) not in names:
        raise InputError(f"The counts of a Prevalence have no class {table.label!r}; give positives= and rows=.")
    return np.asarray(np.asarray(pi) if drawn is None else drawn)[..., names.index(str(table.label))]


def of_positives(table: ScoreTable, pi: PrevalenceLike | None) -> PrevalenceLike | None:
    """The prevalence of the positives of a score table; where the rows of every class were counted, of its class."""
    pi = stated_prevalence(pi)
    if not isinstance(pi, Prevalence) or pi.counts is None:
        return pi
    rows = sum(count for _, count in pi.counts)
    return Prevalence(positives=float(positive_shares(table, pi)) * rows, rows=rows)


def positive_share_draws(
    table: ScoreTable, pi: PrevalenceLike | None, draws: int, rng: np.random.Generator
) -> Array | None:
    """Draws of the share of the positives of a table of scores, where the prevalence is an estimate."""
    return positive_shares(table, pi, pi.draws(draws, rng)) if isinstance(pi, Prevalence) else None
