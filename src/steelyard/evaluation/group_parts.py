"""Group parts: the tables of each group of rows, or of all rows but those, and their metrics at any level."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from steelyard.analysis.intervals.draws import COUNT_DRAWS
from steelyard.analysis.intervals.rate_intervals import hits_and_trials, is_rate
from steelyard.evaluation.groups import group_rows
from steelyard.exceptions import InputError
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import MetricSpec

_Table = TypeVar("_Table", bound=Confusion | ScoreTable)
MOST_COMPARED = 200  # more are names of rows, or numbers
_DRAWS_BEYOND = 20  # that an end should have beyond it
_MOST_DRAWS = 100_000
_MOST_ROWS = 10**9  # of which NumPy draws without replacement


def check_group_number(groups: int) -> None:
    """Refuse more groups than are compared."""
    if groups > MOST_COMPARED:
        raise InputError(f"There are {groups:,} groups; at most {MOST_COMPARED:,} are compared. Merge small ones.")


@dataclass(frozen=True)
class GroupParts:
    """The tables of groups, and how their intervals are made; `columns` are the scores of every class."""

    keys: Sequence[Labels]
    names: tuple[str, ...]
    tables: Sequence[Confusion | None]
    scores: Sequence[ScoreTable | None]
    positive: Label
    inference: Inference
    columns: GroupedColumns | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, inference: Inference, columns: GroupedColumns | None = None) -> GroupParts:
        """The groups of an evaluation; refused where there is no second one, or its tables were not kept."""
        groups = evaluation.groups
        if len(groups) < 2:
            there = f"is one group alone, {groups[0].label}" if groups else "are no groups"
            raise InputError(f"Groups are compared, and there {there}; name a column with by=.")
        check_group_number(len(groups))
        if all(group.confusion is None and group.scores is None for group in groups):
            raise InputError("This evaluation was saved without the tables of its groups; give the rows, with by=.")
        names = tuple(group.label for group in groups)
        tables, scores = [group.confusion for group in groups], [group.scores for group in groups]
        return cls([group.key for group in groups], names, tables, scores, evaluation.positive, inference, columns)

    def rest(self) -> GroupParts:
        """For each group all rows but its own."""
        clustered, columns = self.inference.clustered, self.columns
        if clustered is not None:
            others = {key: _others(len(np.asarray(clustered.clusters)), clustered.groups[key]) for key in self.keys}
            clustered = clustered._replace(groups=others)
        if columns is not None:
            columns = columns._replace(
                places={key: _others(len(columns.table.codes), columns.places[key]) for key in self.keys}
            )
        return replace(
            self,
            tables=_sums_of_others(self.tables),
            scores=_sums_of_others(self.scores),
            inference=replace(self.inference, clustered=clustered),
            columns=columns,
        )

    def rows(self, specs: Sequence[MetricSpec], level: float) -> list[dict[str, MetricRow]]:
        """The metrics of each group by name, with intervals of that level."""
        parts = zip(self.keys, self.tables, self.scores, strict=True)
        return [{row.name: row for row in self._rows(*part, specs, level)} for part in parts]

    def _rows(
        self,
        key: Labels,
        table: Confusion | None,
        scores: ScoreTable | None,
        specs: Sequence[MetricSpec],
        level: float,
    ) -> list[MetricRow]:
        inference = replace(self.inference.of_group(key), level=level, draws=self._draws(level))
        if self._reads_rates(table):  # closed forms, whose far ends do not depend on draws
            rates = [spec for spec in specs if self._is_rate(spec)]
            others = [spec for spec in specs if spec not in rates]
            rows = group_rows(table, None, self.positive, rates, replace(inference, method="wilson")) if rates else []
            rows += group_rows(table, scores, self.positive, others, inference) if others else []
        else:
            rows = group_rows(table, scores, self.positive, specs, inference)
        return rows if self.columns is None else rows + self.columns.group_rows(key, specs, inference)

    def _draws(self, level: float) -> int:
        """So many that some lie beyond an end."""
        return int(np.clip(2 * _DRAWS_BEYOND / (1 - level), self.inference.draws or COUNT_DRAWS, _MOST_DRAWS))

    def _reads_rates(self, table: Confusion | None) -> bool:
        usual = self.inference.clustered is None and self.inference.prevalence is None
        return usual and self.positive is not None and table is not None and not table.weighted

    def _is_rate(self, spec: MetricSpec) -> bool:
        return spec.is_native and spec.metric.function is not None and is_rate(spec.metric)

    def ends(self, specs: Sequence[MetricSpec], level: float) -> tuple[dict[str, Array], dict[str, str]]:
        """The value, low and high of each group by metric, and why a metric is undefined in one."""
        rows = self.rows(specs, level)
        names = dict.fromkeys(name for group in rows for name in group)
        ends = {name: np.array([_ends(group.get(name)) for group in rows]) for name in names}
        why: dict[str, str] = {}
        for name in names:
            for label, group in zip(self.names, rows, strict=True):
                if (row := group.get(name)) is not None and math.isnan(row.value):
                    why.setdefault(name, f"{row.undefined or 'undefined'} where {label}")
        return ends, why

    def hits(self, metric: Metric) -> tuple[Array, Array] | None:
        """The hits and trials of each group of a rate; None where rows are weighted, clustered, or too many to draw."""
        if not is_rate(metric) or not all(map(self._reads_rates, self.tables)):
            return None
        counts = [table.counts(self.positive) for table in self.tables if table is not None]
        hits, trials = np.array([hits_and_trials(metric, each) for each in counts]).astype(np.int64).T
        return (hits, trials) if 0 < trials.sum() < _MOST_ROWS else None


def _ends(row: MetricRow | None) -> tuple[float, float, float]:
    return (math.nan,) * 3 if row is None else (row.value, row.low, row.high)


def _others(rows: int, places: Array) -> Array:
    """The places that are not among these."""
    apart = np.ones(rows, dtype=bool)
    apart[places] = False
    return np.flatnonzero(apart)


def _sums_of_others(tables: Sequence[_Table | None]) -> list[_Table | None]:
    """For each table the sum of all others."""
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return [None for _ in tables]
    before, after = list(accumulate(known, add)), list(accumulate(reversed(known), add))[::-1]
    return [reduce(add, [*before[:i][-1:], *after[i + 1 :][:1]]) for i in range(len(known))]
