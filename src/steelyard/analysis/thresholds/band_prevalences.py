"""Band prevalences: at which prevalences the band of a metric is read, so that it holds where these may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.prevalence.class_shares import checked_prevalence, of_positives
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_SHARES = 5  # between the ends of an uncertain prevalence
_TABLE = Counts(70, 30, 20, 80)  # on which a metric is seen to be another at another prevalence


class BandPrevalences(NamedTuple):
    """The level of the bounds of both rates, and the prevalences at which they are read, that of the curve first."""

    level: float
    shares: tuple[float, ...]


def band_prevalences(
    metric: Metric, table: ScoreTable, level: float, prevalence: PrevalenceLike | None, *, stratified: bool = False
) -> BandPrevalences:
    """The prevalences of a metric's band: the one given, all where an uncertain one may lie, or the sample's own.

    Of rows that were drawn from all, the sample's prevalence is itself uncertain. Rates and prevalence are independent:
    both hold together with the level where each does with its root. With 15, 20, 24 and 200 positives expected, bands
    of precision, F1 and MCC miss the curve in 0 to 2 % of test sets; taken as known, 24 of 800 missed it in 60 %.
    """
    positives, total = float(table.positive.total), float(table.total)
    uncertain = of_positives(table, prevalence)
    share = positives / total if uncertain is None else float(checked_prevalence(uncertain))
    if prevalence is None and not stratified and 0 < positives < total:
        rows = effective_share_rows(table)
        uncertain = Prevalence(positives=share * rows, rows=rows)
    if not isinstance(uncertain, Prevalence):
        return BandPrevalences(level, (share,))
    shares = (share, *np.linspace(*uncertain.interval(level**0.5), _SHARES).tolist())
    values = [float(metric(_TABLE.scaled(positives=each, negatives=1 - each))) for each in shares]
    steady = np.allclose(values, values[0], equal_nan=True)
    return BandPrevalences(level, (share,)) if steady else BandPrevalences(level**0.5, shares)


def effective_share_rows(table: ScoreTable) -> float:
    """As how many rows of equal weight the share of the positives is known: Kish's, or Taylor's linearised if fewer."""
    positive, negative = table.classes
    if not table.weighted:
        return float(table.n)
    squares = [max(float(side.squares.sum()), 1e-300) for side in (positive, negative)]
    total, share = float(table.total), float(positive.total) / float(table.total)
    linearised = share * (1 - share) / ((1 - share) ** 2 * squares[0] + share**2 * squares[1])
    return total**2 * min(linearised, 1 / sum(squares))
