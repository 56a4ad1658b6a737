"""Scored models: the scores of one model or of several on the same rows, and which rows one of two alone flags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.thresholds.costs import ClusterHits, FlaggedAlone
from steelyard.exceptions import InputError, did_you_mean
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.frame_tables import given_scores

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.comparison.model_columns import ComparedColumns
    from steelyard.metrics.call_options import CallOptions
    from steelyard.statistics.score_table import ScoreTable

TREAT_ALL = "treat all"


class ScoredModels(NamedTuple):
    """The table of each model by name, and the rows themselves where models, groups or clusters need them."""

    tables: dict[str, ScoreTable]
    columns: ComparedColumns | None = None

    @classmethod
    def of_rows(cls, columns: ComparedColumns, options: CallOptions) -> ScoredModels:
        """Of the columns of all models, row by row."""
        columns = columns.of_weight()
        mass = columns.mass
        weights = None if mass.weights is None or mass.squares is None else mass.squares / mass.weights
        of_rows = replace(options, sample_weight=weights, frequency=mass.times)
        nothing = FrameColumns(None, None, None, None)
        tables = {
            name: given_scores(columns.truth, scores, of_rows, nothing) for name, scores in columns.models.items()
        }
        return cls(tables, columns)

    @property
    def first(self) -> ScoreTable:
        """One of the tables: all have the same rows."""
        return next(iter(self.tables.values()))

    def checked(self, name: str) -> str:
        """The name of one of the models."""
        if name not in self.tables:
            known = [TREAT_ALL, *filter(None, self.tables)]
            there = ", ".join(map(repr, known))
            raise InputError(f"versus= is one of {there}, not {name!r}.{did_you_mean(name, known)}")
        return name

    def alone(self, name: str, other: str, thresholds: Array) -> FlaggedAlone:
        """The shares of each class that one model alone flags at each threshold, and that the other alone does."""
        columns, table = self.columns, self.first
        if columns is None:  # one model, which never differs from itself
            nothing = np.zeros((len(thresholds), 2))
            return FlaggedAlone(nothing, nothing)
        reached = self._reached(name, thresholds), self._reached(other, thresholds)
        positive, weights = columns.truth == table.label, _weights(columns)
        parts = []
        for of_class, total in ((positive, table.positive.total), (~positive, table.negative.total)):
            parts.append(_alone([rank[of_class] for rank in reached], weights[of_class], len(thresholds)) / total)
        return FlaggedAlone(parts[0], parts[1], clusters=self.hits(name, other, thresholds))

    def hits(self, name: str, other: str | None, thresholds: Array) -> ClusterHits | None:
        """What a model and another, or treating all or nobody (None), flag in each cluster; None without clusters."""
        columns = self.columns
        if columns is None or columns.mass.clusters is None:
            return None
        reached = self._reached(name, thresholds), self._reached(other, thresholds)
        return ClusterHits(columns.truth == self.first.label, _weights(columns), columns.mass.clusters, reached)

    def _reached(self, name: str | None, thresholds: Array) -> Array:
        """How many of the thresholds each row reaches by a model; all of them if all are treated, none for None."""
        assert self.columns is not None  # noqa: S101 - both callers have looked
        if name in self.columns.models:
            return np.searchsorted(thresholds, self.columns.models[name], side="right")
        return np.full(len(self.columns.truth), 0 if name is None else len(thresholds))


def _weights(columns: ComparedColumns) -> Array:
    return np.ones(len(columns.truth)) if columns.mass.mass is None else columns.mass.mass


def _alone(ranks: list[Array], weights: Array, size: int) -> Array:
    """The weight that the first flags and the second does not, and the reverse, at each of so many thresholds.

    A rank is how many thresholds a score reaches, so a row is flagged by the first alone from the second's rank up to
    the first's.
    """
    sums = []
    for this, other in (ranks, ranks[::-1]):
        more = this > other
        starts = np.bincount(other[more], weights[more], minlength=size + 1)
        stops = np.bincount(this[more], weights[more], minlength=size + 1)
        sums.append(np.cumsum(starts - stops)[:size])
    return np.asarray(np.maximum(np.stack(sums, axis=-1), 0))
