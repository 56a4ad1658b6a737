"""Label set comparison: models of rows that may have several labels each, compared on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.comparison.model_columns import RowColumns, checked_models
from steelyard.analysis.comparison.model_intervals import RowDesign
from steelyard.analysis.comparison.model_question import JudgedModels
from steelyard.analysis.comparison.paired_difference import ModelTables
from steelyard.analysis.comparison.paired_draws import by_influence, not_judged
from steelyard.analysis.intervals.influence_spread import ClassInfluence, RowInfluences, class_spread
from steelyard.analysis.intervals.label_set_influence import label_set_influence
from steelyard.analysis.intervals.row_mass import RowMass
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_frames import label_frame, names_label_sets
from steelyard.ingest.label_sets import are_label_sets
from steelyard.ingest.multilabel_tables import label_set_table
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.judged_difference import JudgedDifference
    from steelyard.analysis.comparison.model_question import Question
    from steelyard.analysis.intervals.influence_spread import StudentSpread
    from steelyard.statistics.multilabel_table import MultilabelTable

_AVERAGES = ("micro", "macro", "weighted", "samples")


@dataclass(frozen=True)
class LabelSetModels:
    """The truth and the models as compare is given them: arrays, or the columns of a frame."""

    data: Any
    models: Any
    true: Any
    scores: bool
    rows: RowColumns
    labels: Any = None
    threshold: Any = None
    label_sep: str | None = None

    @property
    def are_sets(self) -> bool:
        """Whether the rows may have several labels each."""
        if self.models is None:
            return False
        if self.true is None:
            if self.label_sep is not None:
                raise InputError("label_sep= divides the text of columns of a frame; name them with true= and pred=.")
            return are_label_sets(self.data)
        return self.label_sep is not None or names_label_sets(self.data, FrameColumns(self.true))

    def tables(self) -> tuple[dict[str, MultilabelTable], RowMass]:
        """The table of each model, and what each row counts for."""
        if self.true is not None:
            return self._of_frame()
        frequency, weight = (
            arrays.weights(self.rows.frequency, "frequency", whole=True),
            arrays.weights(self.rows.weight, "sample_weight"),
        )
        use = "y_score" if self.scores else "y_pred"
        options = {"labels": self.labels, "sample_weight": weight, "frequency": frequency}
        tables = {
            str(name): label_set_table(self.data, **{use: values}, **options)
            for name, values in checked_models(self.models, columns=True).items()
        }
        members = None if self.rows.cluster is None else arrays.column(self.rows.cluster, "cluster")
        return self._finished(
            tables, RowMass.of_rows(frequency, weight, members, getattr(self.rows.cluster, "name", None))
        )

    def _of_frame(self) -> tuple[dict[str, MultilabelTable], RowMass]:
        if self.labels is not None:
            raise InputError("labels= is for arrays; of a frame the columns that are named are the labels.")
        names, tables = self.rows.names(), {}
        brought: dict[str, Array] = {}
        others = [] if names.cluster is None else [names.cluster]
        models = self.models if isinstance(self.models, Mapping) else {str(name): name for name in self.models}
        for name, columns in models.items():
            given = {"score" if self.scores else "pred": columns}
            frame = FrameColumns(self.true, weight=names.weight)._replace(**given)
            tables[str(name)], brought = label_frame(self.data, frame, names.frequency, others, self.label_sep)
        first = next(iter(tables.values()))
        members = None if names.cluster is None else brought[names.cluster]
        return self._finished(tables, RowMass.of_rows(first.frequency, first.sample_weight, members, names.cluster))

    def _finished(
        self, tables: dict[str, MultilabelTable], mass: RowMass
    ) -> tuple[dict[str, MultilabelTable], RowMass]:
        """The tables over the same labels, with labels made of scores where a threshold is given."""
        if len({table.labels for table in tables.values()}) > 1:
            raise InputError("The models are of different labels; declare those of all with labels=.")
        if self.threshold is None:
            return tables, mass
        if not self.scores:
            raise InputError("threshold= is for scores, and these are predicted labels; leave it out.")
        limits = self.threshold if isinstance(self.threshold, Mapping) else dict.fromkeys(tables, self.threshold)
        cut = {
            name: replace(table, predicted=(np.asarray(table.scores) >= limits[name]).astype(np.uint8))
            for name, table in tables.items()
        }
        return cut, mass


def compared_label_sets(question: Question, models: LabelSetModels) -> Comparison:
    """The comparison of models on rows of several labels: each difference by what the rows move it by."""
    tables, mass = models.tables()
    first = next(iter(tables.values()))
    specs = usual_label_set_specs(first) if question.specs is None else question.specs
    of_models = ModelTables(specs, question.options, label_sets=tables)
    rows = LabelSetRows(tables, mass)
    judged = JudgedModels(list(rows.differences(of_models)), of_models, Rows(), Rows())
    design = RowDesign(np.zeros(first.true.shape[0], np.int64), mass)
    return question.concluded(judged._replace(design=design), mass.sentences)


def usual_label_set_specs(table: MultilabelTable) -> tuple[MetricSpec, ...]:
    """The metrics that are compared unless others are named: of whole rows, then averages."""
    has_counts, has_scores = table.predicted is not None, table.scores is not None
    own = [m for m in list_metrics() if m.label_sets is not None and not m.parameters and m.sign]
    own = [m for m in own if (has_scores if m.ranks_labels or m.scores is not None else has_counts)]
    own = [m for m in own if m.function is None or "headline" in m.roles]
    averaged = [m for m in metrics_with_role("per class") if m.kind.is_summary and m.function is not None]
    of_scores = [m for m in metrics_with_role("averaged over columns") if m.function is None and "compared" in m.roles]
    specs = [*map(MetricSpec, own)]
    specs += [MetricSpec(m, average) for m in averaged for average in _AVERAGES] if has_counts else []
    return (*specs, *(MetricSpec(m, "macro") for m in of_scores if has_scores))


@dataclass(frozen=True)
class LabelSetRows:
    """The rows of several labels that models were given, and what each row counts for."""

    tables: Mapping[str, MultilabelTable]
    mass: RowMass
    _influences: dict[tuple[MetricSpec, str], Array | None] = field(default_factory=dict)

    def differences(self, tables: ModelTables) -> Iterator[JudgedDifference]:
        """The differences of every pair of models by every metric, tested by what the rows move them by."""
        method = "influence" if self.mass.clusters is None else "cluster"
        for a, b in combinations(self.tables, 2):
            for spec in tables.specs:
                row = tables.difference(spec, a, b)
                moved = [None, None] if np.isnan(row.difference) else [self._influence(spec, name) for name in (a, b)]
                if moved[0] is None or moved[1] is None:
                    reason = row.why or f"the influence of rows on {spec.name} is not known"
                    yield not_judged(row, reason, method)
                else:
                    yield by_influence(row, self._spread(moved[0] - moved[1]), method)

    def _influence(self, spec: MetricSpec, model: str) -> Array | None:
        if (spec, model) not in self._influences:
            self._influences[spec, model] = label_set_influence(spec, self.tables[model])
        return self._influences[spec, model]

    def _spread(self, moved: Array) -> StudentSpread:
        weights = np.ones(len(moved)) if self.mass.mass is None else np.asarray(self.mass.mass, np.float64)
        squares = weights if self.mass.squares is None else self.mass.squares
        if self.mass.clusters is not None:
            return RowInfluences(moved, self._rarest, weights, self.mass.clusters, squares).cautious_spread()
        return class_spread(ClassInfluence(moved, weights, squares))

    @property
    def _rarest(self) -> Array:
        """Which rows have the rarest label that some rows have."""
        table = next(iter(self.tables.values()))
        positives = np.asarray(table.positives)
        return table.true_column(int(np.argmin(np.where(positives > 0, positives, np.inf))))
