"""Scored models: the scores of one model or of several on the same rows, of all rows or of each group of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.design import RowMass
from steelyard.analysis.thresholds.costs import ClusterHits, FlaggedAlone
from steelyard.arrays import checks
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.frames.decoding import sorted_groups
from steelyard.frames.groups import group_columns, group_places
from steelyard.frames.rows import ROWS_OF_SCORES, check_row_number
from steelyard.tables.array_tables import check_both_classes
from steelyard.tables.tally import group_label

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.predictions import Predictions
    from steelyard.tables.score_table import ScoreTable

TREAT_ALL = "treat all"


class ScoredRows(NamedTuple):
    """Which rows are positive, the scores of each model by name, and what each row counts for."""

    positive: Array
    scores: dict[str, Array]
    mass: RowMass

    @property
    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(len(self.positive)) if self.mass.mass is None else self.mass.mass


class ScoredModels(NamedTuple):
    """The table of each model by name, and the rows themselves where several models or clusters need them."""

    tables: dict[str, ScoreTable]
    rows: ScoredRows | None = None

    @classmethod
    def of(cls, p: Predictions) -> dict[str | None, ScoredModels]:
        """The models of all rows, under None, or those of each group by its label."""
        if len(p.models) > 1 or p.given.cluster is not None:
            return cls._of_rows(p)
        name = next(iter(p.models), "")
        if (not p.by) if p.given.is_table else (p.given.by is None):
            return {None: cls({name: p.scores_of_both()})}
        tally = p.tally()
        if not tally.groups:
            raise InputTypeError("by= names the group of each row, and these rows are counted; give the rows.")
        groups = {group_label(tally.by, key): part.scores for key, part in tally.groups.items()}
        return {label: cls({name: _of_both(label, table)}) for label, table in groups.items()}

    @classmethod
    def _of_rows(cls, p: Predictions) -> dict[str | None, ScoredModels]:
        if p.given.is_frame:
            with p.frame() as source:
                check_row_number(source, *ROWS_OF_SCORES)
        values = p.collect()
        given = values.given
        clusters = None if given.cluster is None else checks.column(given.cluster, "cluster")
        by = {} if given.by is None else group_columns(given.by)
        scores = {
            f"the scores of {name!r}": checks.column(model.score, name)
            for name, model in given.models.items()
            if model.score is not None
        }
        checks.check_lengths(y_true=checks.column(given.data, "y_true"), cluster=clusters, **scores, **by)
        times = checks.weights(given.frequency, "frequency", whole=True)
        mass = RowMass.of_rows(times, checks.weights(given.sample_weight, "sample_weight"), clusters)
        counted = np.ones(values.rows, dtype=bool) if mass.mass is None else np.asarray(mass.mass > 0)
        if given.by is None:
            return {None: cls._at(values, mass, counted)}
        label = values[values.models[0]].scores_of_both().label
        values, places = values.with_options(pos_label=label, by=None), group_places(by)
        groups: dict[str | None, ScoredModels] = {}
        for key in sorted_groups(key for key in places if key):
            rows = np.zeros_like(counted)
            rows[places[key]] = counted[places[key]]
            groups[group_label(list(by), key)] = cls._at(values, mass, rows, group_label(list(by), key))
        return groups

    @classmethod
    def _at(cls, values: Predictions, mass: RowMass, rows: Array, group: str | None = None) -> ScoredModels:
        """Those of some rows."""
        part = values if rows.all() else values.at_rows(rows)
        tables = {name: _of_both(group, part[name].score_table()) for name in part.models}
        label = next(iter(tables.values())).label
        positive = checks.column(part.given.data, "y_true") == label
        scores = {name: checks.finite_scores(model.score) for name, model in part.given.models.items()}
        return cls(tables, ScoredRows(positive, scores, mass.at(rows)))

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
        rows, table = self.rows, self.first
        if rows is None:  # one model, which never differs from itself
            nothing = np.zeros((len(thresholds), 2))
            return FlaggedAlone(nothing, nothing)
        reached = self._reached(name, thresholds), self._reached(other, thresholds)
        parts = []
        for of_class, total in ((rows.positive, table.positive.total), (~rows.positive, table.negative.total)):
            parts.append(_alone([rank[of_class] for rank in reached], rows.weights[of_class], len(thresholds)) / total)
        return FlaggedAlone(parts[0], parts[1], clusters=self.hits(name, other, thresholds))

    def hits(self, name: str, other: str | None, thresholds: Array) -> ClusterHits | None:
        """What a model and another, or treating all or nobody (None), flag in each cluster; None without clusters."""
        rows = self.rows
        if rows is None or rows.mass.clusters is None:
            return None
        reached = self._reached(name, thresholds), self._reached(other, thresholds)
        return ClusterHits(rows.positive, rows.weights, rows.mass.clusters, reached)

    def _reached(self, name: str | None, thresholds: Array) -> Array:
        """How many of the thresholds each row reaches by a model; all of them if all are treated, none for None."""
        assert self.rows is not None  # noqa: S101 - both callers have looked
        if name in self.rows.scores:
            return np.searchsorted(thresholds, self.rows.scores[name], side="right")
        return np.full(len(self.rows.positive), 0 if name is None else len(thresholds))


def _of_both(group: str | None, table: ScoreTable | None) -> ScoreTable:
    """The scores of a group, or of all rows, refused where these are of one class."""
    if table is None:
        raise InputTypeError("A curve is of scores, and these rows have labels; give y_score=, or of a frame score=.")
    if group is None:
        check_both_classes(table)
    elif not all(side.total for side in table.classes):
        raise InputError(f"The group {group} has rows of one class alone, which have no curve; leave it out.")
    return table


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
