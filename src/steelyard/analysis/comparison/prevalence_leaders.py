"""Prevalence leaders: which model leads by each metric at each prevalence, and where the leader changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.metric_ranking import compared_place, observed_prevalence, values_at_prevalences
from steelyard.analysis.prevalence.class_shares import checked_prevalence
from steelyard.analysis.results.formatting import ROUNDING, percent_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.paired_difference import ModelTables
    from steelyard.metrics.spec import MetricSpec

_PREVALENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


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
            alone = [row for row in self.rows if row.metric == metric and len(row.models) == 1]
            for before, after in pairwise(alone):
                if before.models != after.models:
                    ends = (before.prevalence, after.prevalence)
                    flips.append(Flip(metric, *ends, before.models[0], after.models[0]))
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

    def __repr__(self) -> str:
        return "\n".join([self.headline, table_text(self.shown_rows())])


def prevalence_leaders(
    models: Sequence[str], tables: ModelTables, prevalences: Sequence[float] | None = None
) -> PrevalenceLeaders:
    """The leaders over the prevalences, the observed one among them unless others are given."""
    place = compared_place(tables)
    if place is None:
        raise InputError("A prevalence is that of one class: compare with pos_label=.")
    observed = observed_prevalence(tables, models[0], place)
    usual = np.unique([*_PREVALENCES, *([] if observed is None else [observed])])
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
    worth = spec.sign * values[defined]
    order = defined[np.argsort(-worth, kind="stable")]
    first = order[spec.sign * (values[order[0]] - values[order]) <= ROUNDING]
    behind = order[len(first) :]
    next_model = models[behind[0]] if len(behind) else None
    ahead = float(spec.sign * (values[order[0]] - values[behind[0]])) if len(behind) else float("nan")
    return Leader(spec.name, prevalence, tuple(models[i] for i in first), float(values[order[0]]), next_model, ahead)
