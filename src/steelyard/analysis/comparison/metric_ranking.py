"""Metric ranking: the metrics by how much they favour one model, here and at other prevalences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence, checked_prevalence, scores_at
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import ROUNDING, percent_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import ModelTables
    from steelyard.metrics.spec import MetricSpec


_PREVALENCES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class Place(Flat):
    """The difference of two models by one metric at one prevalence, and its rank there."""

    metric: str
    prevalence: float
    value_a: float
    value_b: float
    difference: float
    rank: int | None
    sign: str


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result[Standing]):
    """The metrics in the order of the difference a - b, descending, and their places at other prevalences.

    `changes` names the first metric after each change of sign; `favours` says whom a sign speaks for.
    """

    a: str
    b: str
    prevalence: float | None
    order: Rows[Standing]
    changes: tuple[str, ...]
    places: Rows[Place]

    @property
    def headline(self) -> str:
        """Whose difference the order is of, and at which prevalences it is shown as well."""
        prevalences = sorted({place.prevalence for place in self.places})
        over = (
            f"; ranks and signs also at prevalences {', '.join(f'{p:g}' for p in prevalences)}" if prevalences else ""
        )
        return f"Metrics by {self.a} minus {self.b}{over}."

    def shown_tables(self) -> list[Table]:
        """The metrics, a heading where the sign of the difference changes."""
        rows: list[dict[str, Any] | str] = []
        for standing in self.order:
            if standing.metric in self.changes:
                rows.append(f"from here the sign is {standing.sign}")
            rows.append(standing.row())
        return [Table(rows, data=self.to_dicts)]

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.order)

    def to_frame(self, library: Any = None) -> Any:
        """A data frame of every metric's place at every prevalence, or of the order where there are none."""
        return self.places.to_frame(library) if self.places else self.order.to_frame(library)


def ranking(a: str, b: str, tables: ModelTables, prevalences: Sequence[float] | None) -> Ranking:
    """The metrics in the order of a - b, and their places at the prevalences."""
    place = compared_place(tables)
    if prevalences is not None and len(prevalences) and place is None:
        raise InputError("A prevalence is that of one class: compare with pos_label=, or leave prevalences= out.")
    grid = np.atleast_1d(checked_prevalence(_PREVALENCES if prevalences is None else prevalences))
    if place is None:
        grid = np.zeros(0)
    values = np.array([[float(tables.value(spec, name).value) for name in (a, b)] for spec in tables.specs])
    over = np.array(
        [[values_at_prevalences(tables, spec, name, place, grid) for name in (a, b)] for spec in tables.specs]
    )
    differences, differences_at = values[:, 0] - values[:, 1], over[:, 0] - over[:, 1]
    ranks, ranks_at = _ranks(differences), _ranks(differences_at)
    standings = [
        _standing(spec, differences[i], ranks[i], ranks_at[i], differences_at[i], (a, b))
        for i, spec in enumerate(tables.specs)
    ]
    order = sorted(standings, key=lambda s: (s.rank is None, s.rank))
    signed = [s for s in order if s.sign in ("+", "-")]
    changes = tuple(after.metric for before, after in pairwise(signed) if before.sign != after.sign)
    places: Rows[Place] = Rows()
    for spec, values_at, ranks_of_spec in zip(tables.specs, over, ranks_at, strict=True):
        for prevalence, value_a, value_b, rank in zip(grid, *values_at, ranks_of_spec, strict=True):
            difference = float(value_a - value_b)
            numbers = (float(prevalence), float(value_a), float(value_b), difference)
            places.append(Place(spec.name, *numbers, _whole(rank), _sign(difference)))
    return Ranking(a, b, observed_prevalence(tables, a, place), Rows(order), changes, places)


def _standing(
    spec: MetricSpec, difference: float, rank: float, ranks: Array, differences: Array, models: tuple[str, str]
) -> Standing:
    sign, favours = _sign(difference), None
    if spec.sign and sign in ("+", "-"):
        favours = models[0] if sign == ("+" if spec.sign > 0 else "-") else models[1]
    ranks = np.append(ranks, rank)
    ranks = ranks[~np.isnan(ranks)]
    low, high = (int(ranks.max()), int(ranks.min())) if len(ranks) else (None, None)
    signs = "".join(map(_sign, differences))
    return Standing(spec.name, float(difference), _whole(rank), sign, favours, low, high, signs)


def _sign(difference: float) -> str:
    if math.isnan(difference):
        return "?"
    if abs(difference) <= ROUNDING:
        return "0"
    return "+" if difference > 0 else "-"


def _whole(rank: float) -> int | None:
    return None if math.isnan(rank) else int(rank)


def _ranks(differences: Array) -> Array:
    """1 for the largest difference on the first axis; equal ones share the better rank, undefined ones have none."""
    larger = differences[None, :] > differences[:, None] + ROUNDING
    return np.where(np.isnan(differences), np.nan, 1.0 + larger.sum(1))


def compared_place(tables: ModelTables) -> int | None:
    """The place of the positive class in the models' tables; None where the metrics are of all classes."""
    if tables.scores:
        return 1
    table = next(iter(tables.labels.values()), None)
    if table is None or tables.columns:
        return None
    try:
        return table.index(table.positive_label()) if tables.options.average == "native" else None
    except InputError:
        return None


def observed_prevalence(tables: ModelTables, model: str, place: int | None) -> float | None:
    """The share of the model's rows that are positive."""
    if tables.scores:
        table = tables.scores[model]
        return table.positive.n / table.n
    rows = None if place is None else tables.labels[model].rows
    return None if rows is None else float(rows[place].sum() / rows.sum())


def values_at_prevalences(
    tables: ModelTables, spec: MetricSpec, model: str, place: int | None, prevalences: Array
) -> Array:
    """The metric of one model with the classes re-weighted to each prevalence."""
    estimand = tables.estimand(spec, model)
    if tables.reads_scores(spec):
        reweighted = (scores_at(tables.scores[model], float(prevalence)) for prevalence in prevalences)
        return np.array([float(estimand.on_scores(table)[0]) for table in reweighted])
    if place is None or not spec.is_native:  # a prevalence is that of the positive class
        return np.full(len(prevalences), np.nan)
    return estimand.on_counts(at_prevalence(tables.labels[model].one_vs_rest()[place], prevalences))


# ---------------------------------------------------------------- prevalence leaders
# Which model leads by each metric at each prevalence, and where the leader changes.


_LEADER_PREVALENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, eq=False)
class Leader(Flat):
    """Who leads by a metric at a prevalence, several where they are equal, by how much the next one is behind."""

    metric: str
    prevalence: float
    models: tuple[str, ...]
    value: float
    next_model: str | None
    ahead: float


@dataclass(frozen=True, eq=False)
class Flip(Flat):
    """Two prevalences of the grid between which the leader by a metric changes."""

    metric: str
    low: float
    high: float
    before: str
    after: str


@dataclass(frozen=True, eq=False, repr=False)
class PrevalenceLeaders(Result[Leader]):
    """The leader by every metric at every prevalence; `observed` is the prevalence of the rows."""

    observed: float | None
    prevalences: tuple[float, ...]
    rows: Rows[Leader]

    def __iter__(self) -> Iterator[Leader]:
        return iter(self.rows)

    @property
    def flips(self) -> Rows[Flip]:
        """Where the leader changes; a tie on the way is passed over."""
        flips: Rows[Flip] = Rows()
        for metric in dict.fromkeys(row.metric for row in self.rows):
            single = [row for row in self.rows if row.metric == metric and len(row.models) == 1]
            for before, after in pairwise(single):
                if before.models != after.models:
                    low, high = before.prevalence, after.prevalence
                    flips.append(Flip(metric, low, high, before.models[0], after.models[0]))
        return flips

    @property
    def headline(self) -> str:
        """By how many metrics the leader depends on the prevalence."""
        changing, every = {flip.metric for flip in self.flips}, {row.metric for row in self.rows}
        return f"The leader changes with the prevalence by {len(changing)} of {len(every)} metrics"

    def shown_rows(self) -> list[dict[str, object]]:
        """One row per metric: the leader at each prevalence."""
        shown: dict[str, dict[str, object]] = {}
        for row in self.rows:
            at = percent_text(row.prevalence)
            shown.setdefault(row.metric, {"metric": row.metric})[at] = " = ".join(row.models) or "–"
        return list(shown.values())


def prevalence_leaders(
    models: Sequence[str], tables: ModelTables, prevalences: Sequence[float] | None = None
) -> PrevalenceLeaders:
    """The leaders over the prevalences, the observed one among them unless others are given."""
    place = compared_place(tables)
    if place is None:
        raise InputError("A prevalence is that of one class: compare with pos_label=.")
    observed = observed_prevalence(tables, models[0], place)
    usual = np.unique([*_LEADER_PREVALENCES, *([] if observed is None else [observed])])
    grid = usual if prevalences is None else np.atleast_1d(checked_prevalence(prevalences))
    rows: Rows[Leader] = Rows()
    for spec in tables.specs:
        if not spec.sign:
            continue
        values = np.array([values_at_prevalences(tables, spec, name, place, grid) for name in models])
        rows += [_leader(spec, float(at), column, models) for at, column in zip(grid, values.T, strict=True)]
    return PrevalenceLeaders(observed, tuple(grid.tolist()), rows)


def _leader(spec: MetricSpec, prevalence: float, values: Array, models: Sequence[str]) -> Leader:
    """The best of the values that are defined."""
    defined = np.flatnonzero(np.isfinite(values))
    if not len(defined):
        return Leader(spec.name, prevalence, (), float("nan"), None, float("nan"))
    order = defined[np.argsort(-spec.sign * values[defined], kind="stable")]
    best = float(values[order[0]])
    leading = order[spec.sign * (best - values[order]) <= ROUNDING]
    leaders = tuple(models[i] for i in leading)
    if len(leading) == len(order):
        return Leader(spec.name, prevalence, leaders, best, None, float("nan"))
    second = order[len(leading)]
    return Leader(spec.name, prevalence, leaders, best, models[second], float(spec.sign * (best - values[second])))
