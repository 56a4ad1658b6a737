"""Scored groups: the scores of one model or of several, of all rows or of each group of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from steelyard.analysis.comparison.model_columns import RowColumns, checked_models, row_columns
from steelyard.analysis.thresholds.scored_models import ScoredModels
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import group_columns, group_places
from steelyard.ingest.label_tables import sorted_groups
from steelyard.ingest.rows import ROWS_OF_SCORES, check_row_number, fetch_rows
from steelyard.ingest.source import Source, named_columns
from steelyard.metrics.frame_tables import given_scores
from steelyard.statistics.group_keys import group_label
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame
    from steelyard.analysis.comparison.model_columns import ComparedColumns
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.metrics.call_options import CallOptions

    ScoresLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
    ScoreNames: TypeAlias = str | Sequence[str]


class GivenScores(NamedTuple):
    """The input of a curve of models: a table, rows, or a frame and the names of its columns."""

    data: ScoreTable | Frame | Source | ArrayLike
    y_score: ScoresLike | None
    options: CallOptions
    names: FrameColumns
    score: ScoreNames | None
    by: By | None = None
    cluster: ArrayLike | str | None = None

    def read(self) -> dict[str | None, ScoredModels]:
        """The models of each group by its label; without groups the models of all rows, under None."""
        if isinstance(self.y_score, Mapping) and not self.y_score:
            raise InputError("y_score={} names no model; give the scores of one or more, {'model': scores}.")
        models = self._models()
        if len(models) == 1 and self.by is None and self.cluster is None:
            ((name, column),) = models.items()
            rows, named = (column, None) if self.score is None else (self.y_score, column)
            names = self.names._replace(score=named)
            return {None: ScoredModels({name: given_scores(self.data, rows, self.options, names)})}  # type: ignore[arg-type]  # one model's
        columns, groups = self._rows(models)
        whole = ScoredModels.of_rows(columns, self.options)
        if not groups:
            return {None: whole}
        rows_of_groups, options = group_places(groups), replace(self.options, pos_label=whole.first.label)
        models_of_groups: dict[str | None, ScoredModels] = {}
        for key in sorted_groups(key for key in rows_of_groups if key):
            rows, label = columns.at(rows_of_groups[key]).of_weight(), group_label(list(groups), key)
            if len(set(rows.truth.tolist())) < 2:
                raise InputError(f"The group {label} has rows of one class alone, which have no curve; leave it out.")
            models_of_groups[label] = ScoredModels.of_rows(rows, options)
        return models_of_groups

    def _models(self) -> dict[str, Any]:
        """The scores, or the columns of a frame, of each model by name; a single one without a name is under ""."""
        if self.score is not None and not isinstance(self.score, str):
            return {str(name): name for name in self.score}
        if isinstance(self.y_score, Mapping):
            return {str(name): column for name, column in self.y_score.items()}
        return {"": self.y_score if self.score is None else self.score}

    def _rows(self, models: dict[str, Any]) -> tuple[ComparedColumns, dict[str, Array]]:
        """The columns of the models and those of the groups, row by row."""
        given, options = self.names._replace(score=None if self.score is None else "score"), self.options
        if given.are_named(y_score=self.y_score, sample_weight=options.sample_weight):
            return self._of_frame(models)
        if isinstance(self.data, ScoreTable) or any(column is None for column in models.values()):
            why = ""
            if self.by is not None:
                why = "by= names the group of each row, so "
            elif self.cluster is not None:
                why = "cluster= names the cluster of each row, so "
            raise InputTypeError(f"{why}give the rows: y_true and y_score, or a frame with true= and score=.")
        for column in checked_models(models).values() if len(models) > 1 else models.values():
            arrays.check_one_column(column)
        beside = RowColumns(options.frequency, options.sample_weight, self.cluster)
        columns = row_columns(self.data, models, beside)  # type: ignore[arg-type]  # rows
        groups = {} if self.by is None else group_columns(self.by)
        arrays.check_lengths(y_true=columns.truth, **groups)
        return columns, groups

    def _of_frame(self, models: Mapping[str, str]) -> tuple[ComparedColumns, dict[str, Array]]:
        beside = RowColumns(self.options.frequency, self.names.weight, self.cluster).names()
        by = named_columns("by", self.by)  # type: ignore[arg-type]  # refused there where it is a column
        source = Source.of(self.data)  # type: ignore[arg-type]  # a frame
        check_row_number(source, *ROWS_OF_SCORES)
        fetched = fetch_rows(
            source,
            true=self.names.true,
            score=list(models.values()),
            weight=beside.weight,
            cluster=beside.cluster,
            frequency=beside.frequency,
            by=by,
        )
        named = {name: fetched.scores[column] for name, column in models.items()}
        rows = RowColumns(fetched.frequency, fetched.weights, fetched.clusters)
        return row_columns(fetched.labels[0], named, rows), fetched.by
