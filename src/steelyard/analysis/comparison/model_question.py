"""Model question: by which metrics models are compared, and the answer for labels, a paired table, or scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.comparison import paired_tables
from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.comparison.judged_difference import JudgedDifference, concluded
from steelyard.analysis.comparison.mcnemar_test import McNemar, mcnemar
from steelyard.analysis.comparison.model_intervals import RowDesign, model_intervals
from steelyard.analysis.comparison.paired_difference import ModelTables
from steelyard.analysis.comparison.paired_draws import label_differences
from steelyard.analysis.comparison.paired_samples import CountedPair, weighted_confusion, weighted_pair
from steelyard.analysis.comparison.score_comparison import (
    DeLong,
    ScoredRows,
    finite,
    positives,
    score_differences,
    thresholds,
)
from steelyard.analysis.comparison.unpaired_comparison import (
    counted_models,
    fixed_sizes,
    reading_sentences,
    unpaired_differences,
)
from steelyard.analysis.confusions.ordered_metrics import ClassOrder
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest import label_codes
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.class_checks import check_classes
from steelyard.ingest.label_overlap import lookalike_hints
from steelyard.ingest.threshold_sentences import threshold_sentences
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.paired import check_size
from steelyard.statistics.positive_class import RARER, choice_sentences, conventional_label
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.comparison.model_columns import ComparedColumns, ComparedModels, Thresholds
    from steelyard.analysis.comparison.paired_samples import PairSample
    from steelyard.analysis.comparison.unpaired_comparison import ModelTable
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.row_mass import RowMass
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.paired import Paired
    from steelyard.statistics.score_table import ScoreTable


class JudgedModels(NamedTuple):
    """The differences of all pairs, judged, their tables and what these do not keep, and the classical tests."""

    pairs: list[JudgedDifference]
    tables: ModelTables
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    design: RowDesign = RowDesign()


@dataclass(frozen=True)
class Question:
    """By which metrics models are compared, of which class or average, at which level, within which margin."""

    specs: tuple[MetricSpec, ...] | None
    options: CallOptions
    inference: Inference
    margin: float | None = None

    # ---------------------------------------------------------------- labels

    def of_labels(self, columns: ComparedColumns, threshold: object) -> Comparison:
        """The comparison of columns of predicted labels."""
        if threshold is not None:
            what = "threshold= is for scores, and these are predicted labels"
            raise InputError(f"{what}; give scores=True, or leave it out.")
        predictions = {f"the model {name!r}": column for name, column in columns.models.items()}
        declared = columns.order if self.options.labels is None else self.options.labels
        codes, labels = paired_tables.encoded(columns.truth, predictions, declared)
        if self.options.labels is None:
            paired_tables.check_met(codes, labels, columns.models)
        named = paired_tables.positive(labels, self.options.pos_label, codes[0], columns.mass.times)
        positive = conventional_label(labels) if named is None and self.is_of_one_class else named
        question = replace(self, options=replace(self.options, pos_label=named))
        judged = question.of_codes(list(columns.models), codes, labels, positive, columns.mass)
        assumed = (*choice_sentences(self.options.pos_label, positive, labels), *lookalike_hints(labels))
        order = ClassOrder(self.options.labels is not None, columns.order is not None)
        stated = order.sentences(judged.tables.specs, next(iter(judged.tables.labels.values())))
        tables = replace(judged.tables, positive=positive, classes=labels)
        return self.concluded(judged._replace(tables=tables), (*assumed, *stated, *columns.mass.sentences))

    def of_codes(
        self, names: list[str], codes: list[Array], labels: Labels, positive: Label, mass: RowMass
    ) -> JudgedModels:
        """The judged differences of the codes of labels, those of the truth first."""
        if positive is not None and len(labels) > 2 and self.is_of_one_class:  # before any cube is built
            place = labels.index(positive)
            codes, labels = [code == place for code in codes], (f"not {positive}", positive)
        models = list(combinations(zip(names, codes[1:], strict=True), 2))
        if mass.is_plain:
            pairs = [
                (a, b, paired_tables.counted_pair(codes[0], of_a, of_b, labels, positive, mass.times))
                for (a, of_a), (b, of_b) in models
            ]
            check_classes(pairs[0][2].confusion(0))
            return self._of_tables(pairs)
        check_size(labels)
        of_names = zip(names, codes[1:], strict=True)
        tables = {name: weighted_confusion(codes[0], code, labels, positive, mass) for name, code in of_names}
        check_classes(tables[names[0]])
        k, level = len(labels), self.inference.level
        drawn = [(a, b, weighted_pair(codes[0], of_a, of_b, k, mass, level)) for (a, of_a), (b, of_b) in models]
        design = RowDesign(codes[0], mass, dict(zip(names, codes[1:], strict=True)))
        return self._of_samples(drawn, tables)._replace(design=design)

    def of_table(self, table: Paired, models: ComparedModels) -> Comparison:
        """The comparison of the two models of a paired table."""
        names = ["A", "B"] if models is None else [str(name) for name in models]
        if len(names) != 2:
            raise InputError(f"A paired table holds two models; name two, or none for 'A' and 'B', not {len(names)}.")
        if not table.n:
            raise InputError("The paired table holds no rows; there is nothing to compare.")
        if self.is_of_one_class and not (self.options.pos_label is None and table.positive is None):
            table = table.collapsed(self.options.pos_label)
        return self.concluded(self._of_tables([(names[0], names[1], table)]))

    @property
    def is_of_one_class(self) -> bool:
        """Whether all metrics are of the positive class, where there is one."""
        return self.options.average == NATIVE and all(spec.is_native for spec in self.specs or ())

    def _of_tables(self, pairs: list[tuple[str, str, Paired]]) -> JudgedModels:
        labels = {name: table.confusion(i) for a, b, table in pairs for i, name in enumerate((a, b))}
        judged = self._of_samples([(a, b, CountedPair(table.rows)) for a, b, table in pairs], labels)
        return judged._replace(mcnemar=Rows(mcnemar(table, (a, b)) for a, b, table in pairs))

    def _of_samples(self, samples: Sequence[tuple[str, str, PairSample]], labels: dict[str, Confusion]) -> JudgedModels:
        first = next(iter(labels.values()))
        specs = usual_specs(first, self.options) if self.specs is None else self.specs
        tables = ModelTables(specs, self.options, labels)
        judged = [pair for a, b, each in samples for pair in label_differences(a, b, each, tables, self.inference)]
        return JudgedModels(judged, tables, Rows(), Rows())

    def concluded(self, judged: JudgedModels, assumed: tuple[str, ...] = ()) -> Comparison:
        """The comparison of all pairs that are judged."""
        tables = judged.tables
        sizes = {name: int(table.rows.sum()) for name, table in tables.labels.items()}
        sizes |= {name: table.n for name, table in tables.scores.items()}
        sizes |= {name: table.n for name, table in tables.columns.items()}
        sizes |= {name: table.n for name, table in tables.label_sets.items()}
        rows, omnibus = concluded(list(sizes), judged.pairs, self.inference, self.margin)
        intervals = model_intervals(tables, self.inference, judged.design)
        beside = (judged.mcnemar, judged.delong, tables, assumed, omnibus, self.margin)
        return Comparison(tuple(sizes), max(sizes.values()), self.inference.level, rows, *beside, intervals=intervals)

    # ---------------------------------------------------------------- different rows

    def of_models(self, models: Mapping[str, ModelTable]) -> Comparison:
        """The comparison of models that were evaluated on different rows."""
        fixed = fixed_sizes(models)
        labels, scores = counted_models(models)
        usual = [m for m in metrics_with_role("compared") if m.scores is not None] if scores else []
        specs = tuple(map(MetricSpec, usual)) + (
            usual_specs(labels[next(iter(labels))], self.options) if labels else ()
        )
        tables = ModelTables(self.specs or specs, self.options, labels, scores)
        for spec in tables.specs:
            spec.check_data(labels=bool(labels), scores=bool(scores))
        differences = list(unpaired_differences(tables, self.inference, fixed))
        judged = JudgedModels(differences, tables, Rows(), Rows(), RowDesign(fixed=fixed))
        sizes = [table.n for table in scores.values()] or [int(table.rows.sum()) for table in labels.values()]
        return replace(self.concluded(judged, reading_sentences(models)), paired=False, n=sum(sizes))

    # ---------------------------------------------------------------- scores

    def of_scores(self, columns: ComparedColumns, threshold: Thresholds) -> Comparison:
        """The comparison of columns of scores, and where thresholds are given of the labels that these make."""
        names, values = list(columns.models), {name: finite(name, score) for name, score in columns.models.items()}
        (positive, label), limits = positives(columns.truth, self.options), thresholds(threshold, names)
        specs, options, mass = self._score_specs(thresholded=bool(limits)), CallOptions(pos_label=True), columns.mass
        scores = {
            name: score_table(positive, score, sample_weight=mass.weights) for name, score in columns.models.items()
        }
        tables = ModelTables(specs, options, scores=scores, positive=label)
        judged, delong = score_differences(ScoredRows(positive, values, mass), tables, self.inference)
        tests: Rows[McNemar] = Rows()
        design = RowDesign(positive, mass, scores=values)
        if limits:
            read = {name: as_read(limits[name], scores[name].precision) for name in names}
            codes = [positive, *(values[name] >= read[name] for name in names)]
            of_labels = replace(self, specs=tuple(s for s in specs if not tables.reads_scores(s)), options=options)
            labelled = of_labels.of_codes(names, codes, (False, True), True, mass)
            tests, judged = labelled.mcnemar, [*judged, *labelled.pairs]
            tables = replace(tables, labels=labelled.tables.labels, thresholds=limits)
            design = replace(design, labels=dict(zip(names, codes[1:], strict=True)))
        pairs = list(combinations(names, 2))
        judged.sort(key=lambda pair: (pairs.index((pair.row.a, pair.row.b)), specs.index(pair.row.spec)))
        stated = (*_stated(self.options.pos_label, label, columns.truth), *_threshold_hints(scores, limits))
        return self.concluded(JudgedModels(judged, tables, tests, delong, design), (*stated, *mass.sentences))

    def _score_specs(self, *, thresholded: bool) -> tuple[MetricSpec, ...]:
        if self.specs is None:
            usual = metrics_with_role("compared")
            # What reads nothing but scores comes first.
            ranked = sorted((m for m in usual if m.scores is not None), key=lambda m: m.function is not None)
            labelled = [m for m in usual if m.scores is None] if thresholded else []
            return tuple(map(MetricSpec, (*ranked, *labelled)))
        for spec in self.specs:
            if not thresholded and not (spec.is_native and spec.metric.scores is not None):
                raise InputError(f"{spec.name} is a metric of labels; give threshold= to make labels of the scores.")
        return self.specs


def usual_specs(table: Confusion, options: CallOptions) -> tuple[MetricSpec, ...]:
    """The metrics of labels that are compared unless others are named, which a table of many classes has fewer of."""
    try:
        two_classes = options.average != NATIVE or table.positive_label() is not None
    except InputError:
        two_classes = False
    metrics = metrics_with_role("compared" if two_classes else "compared, many classes")
    return tuple(MetricSpec(metric) for metric in metrics if metric.scores is None)


def _stated(pos_label: Label, label: Label, truth: Array) -> tuple[str, ...]:
    """Who chose the positive class, where no label named it."""
    named = pos_label is not None and pos_label is not RARER
    return () if named else choice_sentences(pos_label, label, label_codes.distinct(truth, "y_true")[1])


def _threshold_hints(scores: dict[str, ScoreTable], limits: dict[str, float]) -> tuple[str, ...]:
    """What to know of the threshold of each model, by its name."""
    hints = ((name, hint) for name, limit in limits.items() for hint in threshold_sentences(scores[name], limit))
    return tuple(f"Model {name!r}: {hint[0].lower()}{hint[1:]}" for name, hint in hints)
