"""Unpaired comparison: models that were evaluated on different rows, each by its own tables.

Tables of labels are drawn with one row more in each cell of 2 x 2, as Agresti and Caffo (2000), American Statistician
54, 280-288, propose for two shares: of equal recalls of 8 rows each, half a row would reject up to 8.2 % at 0.05, one
row 4.0 %; of 5 to 30 rows one row rejects 6.2 % at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np

from steelyard.analysis.comparison.paired_draws import by_draws, by_influence, not_judged
from steelyard.analysis.intervals.draws import effective_cells, with_class_totals
from steelyard.analysis.intervals.folded_tables import folded
from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.analysis.intervals.influence_spread import ClassInfluence, StudentSpread, class_spread, welch
from steelyard.analysis.intervals.large_tables import draw_count
from steelyard.analysis.intervals.rank_sampler import RankSampler
from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.analysis.intervals.searched_intervals import why_no_interval
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import percent_text
from steelyard.exceptions import InputError, InputTypeError
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard._types import Array, Label
    from steelyard.analysis.comparison.judged_difference import JudgedDifference
    from steelyard.analysis.comparison.paired_difference import ModelTables
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.spec import MetricSpec

_MORE_ROWS = 4.0  # in all cells: one in each of 2 x 2, spread over K x K so that they do not drown them
DIFFERENT_ROWS = (
    "The models were evaluated on different rows, taken as independent: no row or cluster is in two of them."
)


class CountedModel(Protocol):
    """An evaluation or a tally: rows that are counted."""

    @property
    def confusion(self) -> Confusion | None:
        """The table of labels."""

    @property
    def scores(self) -> ScoreTable | None:
        """The table of scores."""


ModelTable: TypeAlias = "Counts | Confusion | ScoreTable | CountedModel"
_Table = TypeVar("_Table", Confusion, ScoreTable)


# ---------------------------------------------------------------- what is given


def counted_models(given: Mapping[str, ModelTable]) -> tuple[dict[str, Confusion], dict[str, ScoreTable]]:
    """The tables of labels and those of scores of each model, of which all have one kind at least."""
    if len(given) < 2:
        raise InputError(f"compare needs two or more models, not {len(given)}.")
    parts = {str(name): _parts(str(name), model) for name, model in given.items()}
    labels = {name: _with_positive(table, given[name]) for name, (table, _) in parts.items() if table is not None}
    scores = {name: table for name, (_, table) in parts.items() if table is not None}
    if len(labels) < len(given) and len(scores) < len(given):
        raise InputError("Some models have labels alone and some scores alone; evaluate all by one of the two.")
    if len({table.labels for table in labels.values()}) > 1:
        listed = "; ".join(f"{name!r}: {', '.join(map(str, table.labels))}" for name, table in labels.items())
        raise InputError(f"The models have different labels ({listed}); count each with the same labels=.")
    return labels if len(labels) == len(given) else {}, scores if len(scores) == len(given) else {}


def _parts(name: str, model: ModelTable) -> tuple[Confusion | None, ScoreTable | None]:
    if isinstance(model, Counts):
        return Confusion.of_rows((0, 1), np.asarray(model.matrix()), 1), None
    if isinstance(model, Confusion):
        return model, None
    if isinstance(model, ScoreTable):
        return None, model
    if not (hasattr(model, "confusion") and hasattr(model, "scores")):
        raise InputTypeError(
            f"The model {name!r} is {type(model).__name__}; models of different rows are given as evaluations or "
            "tables by name, and models of the same rows as compare(y_true, models)."
        )
    if any(getattr(row, "method", "") == "cluster" for row in getattr(model, "metrics", ())):
        raise InputError(
            f"The model {name!r} was evaluated by clusters, which its tables do not keep; compare the rows themselves."
        )
    return _as_read(model.confusion, model), _as_read(model.scores, model)


def _as_read(table: _Table | None, model: CountedModel) -> _Table | None:
    """The table at the prevalence that its evaluation is read at."""
    prevalence = getattr(model, "prevalence", None)
    if table is None or prevalence is None:
        return table
    table = _with_positive(table, model) if isinstance(table, Confusion) else table
    return at_prevalence(table, prevalence)


def reading_sentences(given: Mapping[str, ModelTable]) -> tuple[str, ...]:
    """What is taken of models of different rows: that they are independent, and the prevalence they are read at."""
    prevalence = getattr(next(iter(given.values())), "prevalence", None)
    if prevalence is None:
        return (DIFFERENT_ROWS,)
    shares = ", ".join(percent_text(float(share)) for share in np.atleast_1d(prevalence))
    return DIFFERENT_ROWS, f"All are read at the prevalence they were evaluated at, {shares}."


def fixed_sizes(given: Mapping[str, ModelTable]) -> dict[str, bool]:
    """Whether the share of each class is no matter of chance: all at one prevalence, or so many rows were chosen."""
    read_at = [getattr(model, "prevalence", None) for model in given.values()]
    if any(isinstance(prevalence, Prevalence) for prevalence in read_at):
        raise InputError(
            "A Prevalence is uncertain for all models at once, which evaluations apart from each other do not show; "
            "evaluate each at one number, prevalence=float(prevalence)."
        )
    if len({() if one is None else tuple(np.atleast_1d(one).tolist()) for one in read_at}) > 1:
        each = "; ".join(
            f"{name!r}: {'its own' if one is None else one}" for name, one in zip(given, read_at, strict=True)
        )
        raise InputError(f"The models were evaluated at different prevalences ({each}); give all the same prevalence=.")
    return {
        str(name): prevalence is not None or STRATIFIED in getattr(model, "assumed", ())
        for (name, model), prevalence in zip(given.items(), read_at, strict=True)
    }


def _with_positive(table: Confusion, model: ModelTable) -> Confusion:
    """The table with the positive class that its evaluation states."""
    positive: Label = getattr(model, "positive", None)
    return table if positive is None or positive not in table.labels else table.with_positive(positive)


# ---------------------------------------------------------------- differences


def unpaired_differences(
    tables: ModelTables, inference: Inference, fixed: Mapping[str, bool]
) -> Iterator[JudgedDifference]:
    """The differences of every pair of models by every metric: their variances add up."""
    models = list(tables.labels or tables.scores)
    sampler = ModelSampler(tables, inference, fixed)
    for spec in tables.specs:
        spreads = {name: sampler.spread(spec, name) for name in models}
        for a, b in combinations(models, 2):
            row, parts = tables.difference(spec, a, b), [each for each in (spreads[a], spreads[b]) if each is not None]
            if (reason := sampler.unknown_variation(spec, a) or sampler.unknown_variation(spec, b)) is not None:
                yield not_judged(row, reason, "")
            elif len(parts) < 2:
                yield by_draws(row, sampler.values(spec, a) - sampler.values(spec, b), "unpaired draws")
            else:
                both = welch([part.variance for part in parts], [part.degrees for part in parts])
                yield by_influence(row, both, "unpaired influence")


@dataclass
class ModelSampler:
    """The draws of each model's tables, made once."""

    tables: ModelTables
    inference: Inference
    fixed: Mapping[str, bool]  # whether the share of each class is no matter of chance, by the model
    _cells: dict[tuple[str, int | None], Array] = field(default_factory=dict)

    def spread(self, spec: MetricSpec, model: str) -> StudentSpread | None:
        """How far a metric of scores scatters by its influence; None where it has none, and of labels."""
        if not self.tables.reads_scores(spec):
            return None
        table = self.tables.scores[model]
        influence = score_influence(spec.metric, table, spec.metric.parameters)
        if influence is None:
            return None
        classes = (side.compact() for side in table.classes)
        parts = zip(influence, classes, strict=True)
        of_classes = (ClassInfluence(each, side.weights, side.squares) for each, side in parts)
        return class_spread(*of_classes, fixed_shares=self.fixed[model])

    def unknown_variation(self, spec: MetricSpec, model: str) -> str | None:
        """Why a metric of scores has no interval on the model's table."""
        return why_no_interval(spec.metric, self.tables.scores[model]) if self.tables.reads_scores(spec) else None

    def values(self, spec: MetricSpec, model: str) -> Array:
        """The metric on draws of the model's table."""
        estimand = self.tables.estimand(spec, model)
        if isinstance(estimand.table, ScoreTable):
            share = estimand.table.positive.total / estimand.table.total if self.fixed[model] else None
            sampler = RankSampler(replace(self.inference.in_role(self._place(model)), prevalence=share), [estimand])
            return sampler.values(estimand, float(self.tables.value(spec, model).value))[0]
        place = estimand.positive_place
        if (model, place) not in self._cells:
            self._cells[model, place] = self._draw(model, place)
        return estimand.on_cells(self._cells[model, place])

    def _place(self, model: str) -> int:
        """Which of the models it is: their names move no number."""
        return list(self.tables.labels or self.tables.scores).index(model)

    def _draw(self, model: str, place: int | None) -> Array:
        table = self.tables.labels[model]
        k = len(table.labels)
        one = table if place is None else folded(table, place)
        draws = self.inference.draws or draw_count(k, of_one=place is not None)
        rows, row_weight = effective_cells(one)
        more = _MORE_ROWS / rows.shape[-1] ** 2
        cells = self.inference.draws_of(self._place(model), place).standard_gamma(
            rows + more, size=(draws, *rows.shape)
        )
        return with_class_totals(cells, one.matrix.sum(-1)) if self.fixed[model] else np.asarray(cells * row_weight)
