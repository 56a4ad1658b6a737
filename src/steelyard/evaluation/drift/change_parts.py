"""Change parts: the change of a metric between two periods as a part by the prevalence and one by the classifier.

A metric is a function of the shares of the classes and of what the classifier does to each class. Moving the first and
then the second, or the other way round, gives two accounts of one change; their mean, Shapley's, adds up exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.draws import (
    class_fold,
    effective_cells,
    posterior_draws,
    rank_draws,
    with_class_totals,
)
from steelyard.analysis.intervals.score_draws import binned
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.prevalence.label_shift import UnlabelledPrevalence
    from steelyard.statistics.score_table import ScoreTable

    Corner = Callable[[int, int], Array]  # the metric at the shares of one period and the classifier of another

_LABEL_DRAWS, _SCORE_DRAWS, _ENTRIES = 4_000, 400, 256


class ChangeParts(NamedTuple):
    """The metric before and after, its change, and what the prevalence and the classifier have of it."""

    before: Array
    after: Array
    change: Array
    by_prevalence: Array
    by_classifier: Array


def split_change(at: Corner) -> ChangeParts:
    """The parts by the four corners: the shares of either period with the classifier of either.

    >>> parts = split_change(lambda shares, classifier: np.array([[0.5, 0.7], [0.6, 0.9]])[shares, classifier])
    >>> [round(float(part), 3) for part in parts[2:]]
    [0.4, 0.15, 0.25]
    """
    before, after, moved_shares, moved_classifier = at(0, 0), at(1, 1), at(1, 0), at(0, 1)
    by_prevalence = np.asarray((moved_shares - before + after - moved_classifier) / 2)
    by_prevalence = np.where(np.abs(by_prevalence) < ROUNDING, 0.0, by_prevalence)
    return ChangeParts(before, after, after - before, by_prevalence, after - before - by_prevalence)


class PartEnds(NamedTuple):
    """The lower and the upper end of the change and of both of its parts."""

    change: tuple[float, float]
    by_prevalence: tuple[float, float]
    by_classifier: tuple[float, float]


def label_parts(
    estimand: Estimand, tables: tuple[Confusion, Confusion], inference: Inference
) -> tuple[ChangeParts, PartEnds]:
    """The parts of a metric of labels, by draws of both tables from their posteriors."""
    worth = [effective_cells(table) for table in tables]
    rng, draws = inference.generator, inference.draws or _LABEL_DRAWS
    drawn = [posterior_draws(*pair, draws, rng) for pair in worth]
    seen = split_change(_of_tables(estimand, [(rows * weight)[None] for rows, weight in worth]))
    centre = split_change(
        _of_tables(estimand, [part.centre if part.centre is not None else part.cells.mean(0)[None] for part in drawn])
    )
    return seen, _ends(seen, centre, split_change(_of_tables(estimand, [part.around for part in drawn])), inference)


def _of_tables(estimand: Estimand, tables: list[Array], moved: Array | None = None) -> Corner:
    """The metric at the shares of one table and the rates of another, draws on the first axis of both.

    Shares that have `moved` take the place of those of the second table.
    """
    place = estimand.positive_place
    shares = [cells.sum(-1) / np.maximum(cells.sum((-1, -2)), 1e-300)[..., None] for cells in tables]
    shares = shares if moved is None else [shares[0], moved]

    def at(shares_of: int, classifier_of: int) -> Array:
        cells = with_class_totals(tables[classifier_of], shares[shares_of])
        if place is not None:
            fold = class_fold(place, cells.shape[-1])
            cells = fold @ cells @ fold.T
        return np.atleast_1d(estimand.on_cells(cells))

    return at


def score_parts(
    estimand: Estimand, tables: tuple[ScoreTable, ScoreTable], inference: Inference
) -> tuple[ChangeParts, PartEnds]:
    """The parts of a metric of scores, by the Bayesian bootstrap of both tables."""
    rng, draws = inference.generator, inference.draws or _SCORE_DRAWS
    small = [binned(table, _ENTRIES) for table in tables]
    seen, centre = (split_change(_of_scores(estimand, list(part))) for part in (tables, small))
    drawn = [rank_draws(table, draws, rng, inference.level) for table in small]
    return seen, _ends(seen, centre, split_change(_of_scores(estimand, drawn)), inference)


def prevalence_part(
    estimand: Estimand, positive: Label, prevalence: UnlabelledPrevalence, inference: Inference
) -> tuple[float, float, float]:
    """The change that the prevalence of unlabelled rows makes, the classifier as it was, with its interval."""
    table, rng = estimand.table, inference.generator
    if isinstance(table, Confusion):
        seen, centre, drawn = _moved_tables(estimand, table, table.index(positive), prevalence, inference)
    else:
        small = binned(table, _ENTRIES)  # type: ignore[arg-type]  # else of scores
        draws = rank_draws(small, inference.draws or _SCORE_DRAWS, rng, inference.level)
        shares = prevalence.draws(inference.draws or _SCORE_DRAWS, rng)
        at: list[tuple[Any, Any]] = [(table, float(prevalence)), (small, float(prevalence)), (draws, shares)]
        seen, centre, drawn = (split_change(_of_scores(estimand, [part, part], share)) for part, share in at)
    return float(seen.by_prevalence[0]), *_ends(seen, centre, drawn, inference).by_prevalence


def _moved_tables(
    estimand: Estimand, table: Confusion, place: int, prevalence: UnlabelledPrevalence, inference: Inference
) -> list[ChangeParts]:
    """The change as seen, at the centre of the draws, and drawn; each draw of the rates gives one of the prevalence."""
    rows, weight = effective_cells(table)
    part = posterior_draws(rows, weight, inference.draws or _LABEL_DRAWS, inference.generator)
    order = [place, 1 - place]
    shares = prevalence.draws_beside(part.cells[:, order][:, :, order], inference.generator)
    likely = np.array([float(prevalence)])
    every = [((rows * weight)[None], likely), (part.cells.mean(0)[None], likely), (part.cells, shares)]
    moved = (np.stack([share, 1 - share], -1)[:, np.argsort(order)] for _, share in every)
    return [split_change(_of_tables(estimand, [cells, cells], to)) for (cells, _), to in zip(every, moved, strict=True)]


def _of_scores(estimand: Estimand, tables: list[ScoreTable], moved: Array | float | None = None) -> Corner:
    shares = [np.asarray(table.positive.total) / np.asarray(table.total) for table in tables]
    shares = shares if moved is None else [shares[0], np.asarray(moved)]
    return lambda shares_of, classifier_of: estimand.on_scores(scores_at(tables[classifier_of], shares[shares_of]))


def _ends(seen: ChangeParts, centre: ChangeParts, drawn: ChangeParts, inference: Inference) -> PartEnds:
    """The ends that hold the draws, and the draws moved from their centre to what was seen."""
    found = []
    for name in PartEnds._fields:
        value, around = float(getattr(seen, name)[0]), float(getattr(centre, name)[0])
        low, high = (float(end) for end in quantiles(getattr(drawn, name), inference.tails))
        shift = value - around if np.isfinite(value - around) else 0.0
        found.append((min(low, low + shift, value), max(high, high + shift, value)))
    return PartEnds(*found)
