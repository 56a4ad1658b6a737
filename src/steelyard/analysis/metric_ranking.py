"""Standing: the metrics by how much they favour one model, here and at other prevalences. Used by comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.paired_difference import ROUNDING, Weighed
from steelyard.analysis.prevalence import at_prevalence, scores_at
from steelyard.analysis.prevalence import shares as checked_shares
from steelyard.analysis.rows import Flat, Rows, table_text
from steelyard.errors import InputError
from steelyard.metrics import application

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

PREVALENCES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Standing(Flat):
    """The place of one metric in the order of the differences, here and over the prevalences."""

    metric: str
    difference: float
    rank: int | None
    sign: str
    favours: str | None
    lowest_rank: int | None
    highest_rank: int | None
    signs: str


@dataclass(frozen=True)
class Place(Flat):
    """The difference of two models by one metric at one prevalence, and its rank there."""

    metric: str
    prevalence: float
    value_a: float
    value_b: float
    difference: float
    rank: int | None
    sign: str


@dataclass(frozen=True, repr=False)
class Ranking:
    """The metrics in the order of the difference a - b, descending, and their places at other prevalences.

    `changes` names the first metric after each change of sign; `favours` says whom a sign speaks for.
    """

    a: str
    b: str
    prevalence: float | None
    order: Rows[Standing]
    changes: tuple[str, ...]
    places: Rows[Place]

    def __repr__(self) -> str:
        lines = table_text(self.order.to_dicts()).splitlines()
        for i, standing in reversed(list(enumerate(self.order, 1))):
            if standing.metric in self.changes:
                lines.insert(i, "-" * len(lines[0]))
        told = sorted({place.prevalence for place in self.places})
        over = f"; ranks and signs also at prevalences {', '.join(f'{p:g}' for p in told)}" if told else ""
        return "\n".join([f"Metrics by {self.a} - {self.b}{over}", *lines])

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of every metric's place at every prevalence, or of the order where there are none."""
        return self.places.to_frame(library) if self.places else self.order.to_frame(library)


def ranking(a: str, b: str, weighed: Weighed, prevalences: Sequence[float] | None) -> Ranking:
    """The metrics in the order of a - b, and their places at the prevalences."""
    metrics, place = weighed.metrics, _place(weighed)
    observed = [tuple(float(weighed.answer(m, name).value) for name in (a, b)) for m in metrics]
    differences = np.array([one - other for one, other in observed])
    shares = _prevalences(place, prevalences)
    # metric, model, share
    there = np.array([[_at(weighed, m, name, place, shares) for name in (a, b)] for m in metrics])
    gaps = there[:, 0] - there[:, 1]
    ranks, ranks_there = _ranks(differences), _ranks(gaps)
    places = Rows(
        Place(
            m.name,
            float(p),
            float(there[i, 0, j]),
            float(there[i, 1, j]),
            float(gaps[i, j]),
            _whole(ranks_there[i, j]),
            _sign(gaps[i, j]),
        )
        for i, m in enumerate(metrics)
        for j, p in enumerate(shares)
    )
    standings = [_standing(m, differences[i], ranks[i], ranks_there[i], gaps[i], (a, b)) for i, m in enumerate(metrics)]
    order = sorted(standings, key=lambda s: (s.rank is None, s.rank))
    signed = [s for s in order if s.sign in ("+", "-")]
    changes = tuple(after.metric for before, after in pairwise(signed) if before.sign != after.sign)
    return Ranking(a, b, _prevalence(weighed, a, place), Rows(order), changes, places)


def _standing(
    metric: Metric, difference: float, rank: float, ranks: Array, gaps: Array, models: tuple[str, str]
) -> Standing:
    sign = _sign(difference)
    better = {"higher": "+", "lower": "-"}.get(str(metric.direction))
    favours = None if better is None or sign not in ("+", "-") else models[0] if sign == better else models[1]
    held = np.append(ranks, rank)
    held = held[~np.isnan(held)]
    low, high = (int(held.max()), int(held.min())) if len(held) else (None, None)
    return Standing(metric.name, float(difference), _whole(rank), sign, favours, low, high, "".join(map(_sign, gaps)))


def _sign(difference: float) -> str:
    if math.isnan(difference):
        return "?"
    return "0" if abs(difference) <= ROUNDING else "+" if difference > 0 else "-"


def _whole(rank: float) -> int | None:
    return None if math.isnan(rank) else int(rank)


def _ranks(differences: Array) -> Array:
    """1 for the largest difference on the first axis; equal ones share the better rank, undefined ones have none."""
    larger = differences[None, :] > differences[:, None] + ROUNDING
    return np.where(np.isnan(differences), np.nan, 1.0 + larger.sum(1))


def _place(weighed: Weighed) -> int | None:
    """The place of the positive class in the models' tables; None where the metrics are of all classes."""
    if weighed.scores:
        return 1
    table = next(iter(weighed.tables.values()))
    try:
        return table.index(table.positive_label()) if weighed.options.average == "native" else None
    except InputError:
        return None


def _prevalence(weighed: Weighed, model: str, place: int | None) -> float | None:
    if weighed.scores:
        table = weighed.scores[model]
        return table.positive.n / table.n
    rows = weighed.tables[model].rows
    return None if place is None else float(rows[place].sum() / rows.sum())


def _prevalences(place: int | None, prevalences: Sequence[float] | None) -> Array:
    if prevalences is not None and len(prevalences) and place is None:
        raise InputError("A prevalence is that of one class: compare with pos_label=, or leave prevalences= out.")
    shares = np.atleast_1d(checked_shares(PREVALENCES if prevalences is None else prevalences))
    return np.zeros(0) if place is None else shares


def _at(weighed: Weighed, metric: Metric, model: str, place: int | None, shares: Array) -> Array:
    """The metric with the classes re-weighted to each prevalence."""
    if not len(shares):
        return np.zeros(0)
    if weighed.by_rank(metric):
        tables = (scores_at(weighed.scores[model], float(share)) for share in shares)
        values = [application.score_values(metric, table, metric.parameters) for table in tables]
        return np.array(values, dtype=np.float64)
    counts = at_prevalence(weighed.tables[model].one_vs_rest()[place], shares)
    return np.asarray(application.count_values(metric, counts, metric.parameters))
