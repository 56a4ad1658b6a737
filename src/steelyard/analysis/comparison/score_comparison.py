"""Score comparison: how far models lie apart by the metrics that read their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.delong_test import PairedAuc, delong_of_ranks
from steelyard.analysis.comparison.paired_draws import by_draws, by_influence, not_judged
from steelyard.analysis.intervals.auc_intervals import is_whole_auc
from steelyard.analysis.intervals.binned_scores import binned_rows
from steelyard.analysis.intervals.class_ranks import ClassRanks
from steelyard.analysis.intervals.influence_spread import ClassInfluence, RowInfluences, StudentSpread, class_spread
from steelyard.analysis.intervals.lone_clusters import is_mean_of_scores, score_reason
from steelyard.analysis.intervals.score_draws import score_deviations
from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.analysis.intervals.score_intervals import MOST_BINS
from steelyard.analysis.intervals.searched_intervals import why_no_interval
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import declared_labels
from steelyard.ingest.class_checks import rows_of_both_classes
from steelyard.statistics.positive_class import CONVENTION

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.comparison.judged_difference import JudgedDifference
    from steelyard.analysis.comparison.model_columns import Thresholds
    from steelyard.analysis.comparison.paired_difference import Difference, ModelTables
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.row_mass import RowMass
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class DeLong(Flat):
    """DeLong's paired test that two models have the same ROC AUC."""

    a: str
    b: str
    auc_a: float
    auc_b: float
    difference: float
    z: float
    p_value: float
    degrees: float = math.inf


# ---------------------------------------------------------------- what is given


def finite(name: str, values: Array) -> Array:
    """The scores of one model as numbers."""
    score = arrays.numbers(values, f"the model {name!r}")
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        where = arrays.row_of_array(row)
        raise InputError(f"The model {name!r} scores {where} as {score[row]}; give finite numbers, or drop that row.")
    arrays.check_apart(values, score, f"The model {name!r}")
    return score


def positives(true: Array, options: CallOptions) -> tuple[Array, Label]:
    """Which rows are positive, some but not all, and the label that says so, which a convention may take."""
    pos_label = CONVENTION if options.pos_label is None else options.pos_label
    return rows_of_both_classes(true, pos_label, declared_labels(options.labels))


def thresholds(threshold: Thresholds, names: list[str]) -> dict[str, float]:
    """The threshold of each model; none where none is given."""
    if threshold is None:
        return {}
    given = threshold if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    for name in names:
        value = given.get(name)
        if not isinstance(value, (int, float, np.number)) or math.isnan(value):
            raise InputError(f"threshold= is a number, or one for each model; for {name!r} it is {value!r}.")
    return {name: float(given[name]) for name in names}


# ---------------------------------------------------------------- differences


@dataclass(frozen=True)
class ScoredRows:
    """The rows that models scored: which are positive, each model's scores, and what each row counts for."""

    positive: Array
    values: dict[str, Array]
    mass: RowMass
    _entries: dict[str, tuple[ScoreTable, list[Array]]] = field(default_factory=dict)

    @cached_property
    def ranks(self) -> dict[str, ClassRanks]:
        """Each model's scores by class, in whose order they are looked up."""
        return {name: ClassRanks.of(score, self.positive) for name, score in self.values.items()}

    def influences(self, spec: MetricSpec, tables: ModelTables) -> dict[str, list[Array]] | None:
        """The influence of each positive and each negative on each model's value; None of a metric that has none."""
        by_model = {}
        for name, ranks in self.ranks.items():
            if name not in self._entries:
                self._entries[name] = binned_rows(tables.scores[name], ranks, MOST_BINS)
            table, places = self._entries[name]
            influence = score_influence(spec.metric, table, spec.metric.parameters)
            if influence is None:
                return None
            by_model[name] = [of_class[at] for of_class, at in zip(influence, places, strict=True)]
        return by_model

    def unknown_variation(self, spec: MetricSpec, table: ScoreTable) -> str | None:
        """Why a difference by the metric is not judged: its value has no interval, or a class is in one cluster."""
        return why_no_interval(spec.metric, table) or score_reason(
            spec.metric, spec.metric.parameters, self.mass.clusters, self.positive
        )

    def spread(self, spec: MetricSpec, a: list[Array], b: list[Array]) -> StudentSpread:
        """How far a difference scatters whose two values the rows of each class move so."""
        with np.errstate(invalid="ignore"):  # between two infinite losses
            moved = [one - other for one, other in zip(a, b, strict=True)]
        if self.mass.is_plain:
            return class_spread(*(ClassInfluence(part, np.ones(len(part)), np.ones(len(part))) for part in moved))
        by_row = np.empty(len(self.positive))
        by_row[self.positive], by_row[~self.positive] = moved
        influences = RowInfluences(by_row, self.positive, self.mass.weights, self.mass.clusters)
        row_mean = is_mean_of_scores(spec.metric, spec.metric.parameters)
        return influences.spread() if row_mean else influences.cautious_spread()


def score_differences(
    rows: ScoredRows, tables: ModelTables, inference: Inference
) -> tuple[list[JudgedDifference], Rows[DeLong]]:
    """The differences of every pair of models by every metric of scores, judged, and DeLong's tests beside them."""
    ranked = [spec for spec in tables.specs if tables.reads_scores(spec)]
    influences = {spec: rows.influences(spec, tables) for spec in ranked}
    reasons = {spec: rows.unknown_variation(spec, next(iter(tables.scores.values()))) for spec in ranked}
    drawn = [spec.metric for spec, by_model in influences.items() if by_model is None and reasons[spec] is None]
    moved = score_deviations(drawn, rows.values, rows.positive, rows.mass, inference)
    judged, tests = [], []
    for a, b in combinations(rows.values, 2):
        area = delong_of_ranks(rows.ranks[a], rows.ranks[b]) if rows.mass.is_plain else None
        tests += [] if area is None or not any(_is_area(spec) for spec in ranked) else [_tested(a, b, area)]
        for spec, by_model in influences.items():
            row = tables.difference(spec, a, b)
            if (reason := reasons[spec]) is not None:
                judged.append(not_judged(row, reason, "" if rows.mass.clusters is None else "cluster"))
            elif by_model is None:
                judged.append(_by_draws(row, moved[a][spec.name] - moved[b][spec.name]))
            elif area is not None and _is_area(spec):
                spread = StudentSpread(
                    area.variance, area.degrees
                )  # counted in whole numbers, so that no rounding is left
                judged.append(by_influence(replace(row, difference=area.difference), spread, "delong"))
            else:
                method = "influence" if rows.mass.clusters is None else "cluster"
                judged.append(by_influence(row, rows.spread(spec, by_model[a], by_model[b]), method))
    return judged, Rows(tests)


def _is_area(spec: MetricSpec) -> bool:
    return is_whole_auc(spec.metric, spec.metric.parameters)


def _tested(a: str, b: str, test: PairedAuc) -> DeLong:
    return DeLong(a, b, test.auc_a, test.auc_b, test.difference, test.z, test.p_value, test.degrees)


def _by_draws(row: Difference, moved: Array) -> JudgedDifference:
    return by_draws(row, row.difference + moved, "bayesian-bootstrap")
