"""Scored models: the scores of one model or of several on the same rows, and which rows one of two alone flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.comparison.model_columns import RowColumns, of_arrays, of_frame
from steelyard.analysis.thresholds.net_benefits import FlaggedAlone
from steelyard.errors import InputError, did_you_mean
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.frame_tables import given_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame
    from steelyard.analysis.comparison.model_columns import ComparedColumns
    from steelyard.ingest.source import Source
    from steelyard.metrics.call_options import CallOptions
    from steelyard.statistics.score_table import ScoreTable

    ScoresLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
    ScoreNames: TypeAlias = str | Sequence[str]


class ScoredModels(NamedTuple):
    """The table of each model by name, and the rows themselves where there are several models."""

    tables: dict[str, ScoreTable]
    columns: ComparedColumns | None = None

    @classmethod
    def read(
        cls,
        data: ScoreTable | Frame | Source | ArrayLike,
        y_score: ScoresLike | None,
        options: CallOptions,
        names: FrameColumns,
        score: ScoreNames | None,
    ) -> ScoredModels:
        """Of a table, arrays, or columns of a frame; several models by name, or by the names of their columns."""
        if isinstance(y_score, Mapping) and not y_score:
            raise InputError("y_score={} names no model; give the scores of one or more, {'model': scores}.")
        if isinstance(y_score, Mapping) and len(y_score) == 1:
            name, column = next(iter(y_score.items()))
            return cls({str(name): given_scores(data, column, options, names)})
        beside = RowColumns(options.frequency, options.sample_weight if names.weight is None else names.weight)
        if isinstance(y_score, Mapping):
            return cls._of(of_arrays(data, y_score, beside), options)  # type: ignore[arg-type]  # rows, beside scores by name
        if score is not None and not isinstance(score, str):
            columns = of_frame(data, names.true, list(score), beside, scores=True)  # type: ignore[arg-type]  # a frame, with true=
            return cls._of(columns, options)
        return cls({"": given_scores(data, y_score, options, names._replace(score=score))})

    @classmethod
    def _of(cls, columns: ComparedColumns, options: CallOptions) -> ScoredModels:
        of_rows = replace(options, sample_weight=columns.mass.weights, frequency=columns.mass.times)
        nothing = FrameColumns(None, None, None, None)
        tables = {name: given_scores(columns.truth, one, of_rows, nothing) for name, one in columns.models.items()}
        return cls(tables, columns)

    @property
    def first(self) -> ScoreTable:
        """One of the tables: all have the same rows."""
        return next(iter(self.tables.values()))

    def checked(self, name: str) -> str:
        """The name of one of the models."""
        if name not in self.tables:
            known = ["treat all", *filter(None, self.tables)]
            there = ", ".join(map(repr, known))
            raise InputError(f"versus= is one of {there}, not {name!r}.{did_you_mean(name, known)}")
        return name

    def alone(self, name: str, other: str, thresholds: Array) -> FlaggedAlone:
        """The shares of each class that one model alone flags at each threshold, and that the other alone does."""
        columns, table = self.columns, self.first
        if columns is None:  # one model, which never differs from itself
            nothing = np.zeros((len(thresholds), 2))
            return FlaggedAlone(nothing, nothing)
        mass = np.ones(len(columns.truth)) if columns.mass.mass is None else columns.mass.mass
        ranks = [np.searchsorted(thresholds, columns.models[model], side="right") for model in (name, other)]
        positive = columns.truth == table.label
        parts = []
        for of_class, total in ((positive, table.positive.total), (~positive, table.negative.total)):
            parts.append(_alone([rank[of_class] for rank in ranks], mass[of_class], len(thresholds)) / total)
        return FlaggedAlone(*parts)


def _alone(ranks: list[Array], mass: Array, size: int) -> Array:
    """The weight that the first flags and the second does not, and the reverse, at each of so many thresholds.

    A rank is how many thresholds a score reaches, so a row is flagged by the first alone from the second's rank up to
    the first's.
    """
    sums = []
    for this, other in (ranks, ranks[::-1]):
        more = this > other
        starts, ends = (np.bincount(rank[more], mass[more], minlength=size + 1) for rank in (other, this))
        sums.append(np.cumsum(starts - ends)[:size])
    return np.asarray(np.maximum(np.stack(sums, axis=-1), 0))
