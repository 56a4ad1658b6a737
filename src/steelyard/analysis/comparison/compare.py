"""Compare: whether models differ on the same rows, by labels, by a table of two models, or by scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.comparison import column_models, model_columns
from steelyard.analysis.comparison.classical_tests import McNemar, mcnemar
from steelyard.analysis.comparison.comparison import Comparison, ModelTables
from steelyard.analysis.comparison.different_rows import (
    counted_models,
    fixed_sizes,
    reading_sentences,
    unpaired_differences,
)
from steelyard.analysis.comparison.evidence import JudgedDifference, concluded
from steelyard.analysis.comparison.leaderboard import RowDesign, model_intervals
from steelyard.analysis.comparison.model_columns import RowColumns, checked_models
from steelyard.analysis.comparison.paired import (
    ColumnRows,
    CountedPair,
    DeLong,
    ScoredRows,
    by_influence,
    column_differences,
    finite,
    label_differences,
    not_judged,
    positives,
    score_differences,
    thresholds,
    usual_column_specs,
    weighted_confusion,
    weighted_pair,
)
from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.intervals.design import ClassInfluence, RowInfluences, RowMass, class_spread
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.influence import label_set_influence
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError
from steelyard.ingest import arrays, label_codes, paired_tables
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.class_checks import check_classes
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_frames import label_frame, names_label_sets
from steelyard.ingest.label_overlap import lookalike_hints
from steelyard.ingest.label_sets import are_label_sets
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.multilabel_tables import label_set_table
from steelyard.ingest.score_matrix import HIGHEST_TAKEN
from steelyard.ingest.thresholding import threshold_sentences
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import COMPARED, HEADLINE, PER_CLASS, PER_CLASS_OF_SCORES
from steelyard.statistics.paired import MOST_PAIRED_LABELS, Paired, check_size
from steelyard.statistics.positive_class import RARER, choice_sentences, conventional_label
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet, Rng, Weights
    from steelyard.analysis.comparison.column_models import ColumnModels
    from steelyard.analysis.comparison.different_rows import ModelTable
    from steelyard.analysis.comparison.model_columns import ComparedColumns, ComparedModels, Thresholds
    from steelyard.analysis.comparison.paired import PairSample
    from steelyard.analysis.intervals.design import StudentSpread
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.multilabel_table import MultilabelTable


# ---------------------------------------------------------------- model question
# By which metrics models are compared, and the answer for labels, a paired table, or scores.


class JudgedModels(NamedTuple):
    """The differences of all pairs, judged, their tables and what these do not keep, and the classical tests."""

    differences: list[JudgedDifference]
    tables: ModelTables
    mcnemar: Sequence[McNemar] = ()
    delong: Sequence[DeLong] = ()
    design: RowDesign = RowDesign()

    def in_order(self, models: Iterable[str], specs: Sequence[MetricSpec]) -> JudgedModels:
        """The same with the differences by pairs of models, and those of a pair by metrics."""
        pairs = list(combinations(models, 2))

        def place(judged: JudgedDifference) -> tuple[int, int]:
            return pairs.index((judged.row.a, judged.row.b)), specs.index(judged.row.spec)

        return self._replace(differences=sorted(self.differences, key=place))


@dataclass(frozen=True)
class Question:
    """What a comparison asks: the metrics, the positive class or the average, the level and the margin."""

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
        """The judged differences of the models, by the codes of the labels; the codes of the truth come first."""
        if positive is not None and len(labels) > 2 and self.is_of_one_class:  # before any cube is built
            index = labels.index(positive)
            codes, labels = [code == index for code in codes], (f"not {positive}", positive)
        models = list(combinations(zip(names, codes[1:], strict=True), 2))
        if mass.is_plain:
            pairs = [
                (a, b, paired_tables.counted_pair(codes[0], of_a, of_b, labels, positive, mass.times))
                for (a, of_a), (b, of_b) in models
            ]
            check_classes(pairs[0][2].confusion(0))
            return self._of_tables(pairs)
        check_size(labels)
        predicted = dict(zip(names, codes[1:], strict=True))
        tables = {name: weighted_confusion(codes[0], code, labels, positive, mass) for name, code in predicted.items()}
        check_classes(tables[names[0]])
        k, level = len(labels), self.inference.level
        samples = [(a, b, weighted_pair(codes[0], of_a, of_b, k, mass, level)) for (a, of_a), (b, of_b) in models]
        return self._of_samples(samples, tables)._replace(design=RowDesign(codes[0], mass, predicted))

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
        return judged._replace(mcnemar=[mcnemar(table, (a, b)) for a, b, table in pairs])

    def _of_samples(self, samples: Sequence[tuple[str, str, PairSample]], labels: dict[str, Confusion]) -> JudgedModels:
        first = next(iter(labels.values()))
        specs = usual_specs(first, self.options) if self.specs is None else self.specs
        tables = ModelTables(specs, self.options, labels)
        differences = [
            judged for a, b, each in samples for judged in label_differences(a, b, each, tables, self.inference)
        ]
        return JudgedModels(differences, tables)

    def concluded(self, judged: JudgedModels, assumed: tuple[str, ...] = ()) -> Comparison:
        """The comparison of all pairs that are judged."""
        tables = judged.tables
        sizes = {name: int(table.rows.sum()) for name, table in tables.labels.items()}
        sizes |= {name: table.n for name, table in tables.scores.items()}
        sizes |= {name: table.n for name, table in tables.columns.items()}
        sizes |= {name: table.n for name, table in tables.label_sets.items()}
        rows, omnibus = concluded(list(sizes), judged.differences, self.inference, self.margin)
        intervals = model_intervals(tables, self.inference, judged.design)
        return Comparison(
            models=tuple(sizes),
            n=max(sizes.values()),
            level=self.inference.level,
            rows=rows,
            mcnemar=Rows(judged.mcnemar),
            delong=Rows(judged.delong),
            tables=tables,
            assumed=assumed,
            omnibus=omnibus,
            margin=self.margin,
            intervals=intervals,
        )

    # ---------------------------------------------------------------- different rows

    def of_models(self, models: Mapping[str, ModelTable]) -> Comparison:
        """The comparison of models that were evaluated on different rows."""
        fixed = fixed_sizes(models)
        labels, scores = counted_models(models)
        specs = self.specs
        if not specs:
            of_scores = [m for m in get_metrics(COMPARED) if m.scores is not None] if scores else []
            of_labels = usual_specs(next(iter(labels.values())), self.options) if labels else ()
            specs = (*map(MetricSpec, of_scores), *of_labels)
        tables = ModelTables(specs, self.options, labels, scores)
        for spec in tables.specs:
            spec.check_data(labels=bool(labels), scores=bool(scores))
        differences = list(unpaired_differences(tables, self.inference, fixed))
        judged = JudgedModels(differences, tables, design=RowDesign(fixed=fixed))
        sizes = [table.n for table in scores.values()] or [int(table.rows.sum()) for table in labels.values()]
        return replace(self.concluded(judged, reading_sentences(models)), paired=False, n=sum(sizes))

    # ---------------------------------------------------------------- scores

    def of_scores(self, columns: ComparedColumns, threshold: Thresholds) -> Comparison:
        """The comparison of columns of scores, and where thresholds are given of the labels that these make."""
        names, mass = list(columns.models), columns.mass
        values = {name: finite(name, score) for name, score in columns.models.items()}
        positive, label = positives(columns.truth, self.options)
        limits = thresholds(threshold, names)
        specs, options = self._score_specs(thresholded=bool(limits)), CallOptions(pos_label=True)
        scores = {
            name: score_table(positive, score, sample_weight=mass.weights) for name, score in columns.models.items()
        }
        tables = ModelTables(specs, options, scores=scores, positive=label)
        differences, delong = score_differences(ScoredRows(positive, values, mass), tables, self.inference)
        tests: Sequence[McNemar] = ()
        design = RowDesign(positive, mass, scores=values)
        if limits:
            read = {name: as_read(limits[name], scores[name].precision) for name in names}
            codes = [positive, *(values[name] >= read[name] for name in names)]
            of_labels = replace(self, specs=tuple(s for s in specs if not tables.reads_scores(s)), options=options)
            labelled = of_labels.of_codes(names, codes, (False, True), True, mass)
            tests, differences = labelled.mcnemar, [*differences, *labelled.differences]
            tables = replace(tables, labels=labelled.tables.labels, thresholds=limits)
            design = replace(design, labels=dict(zip(names, codes[1:], strict=True)))
        pos_label = self.options.pos_label
        assumed: list[str] = []
        if pos_label is None or pos_label is RARER:  # no label named the positive class
            assumed += choice_sentences(pos_label, label, label_codes.distinct(columns.truth, "y_true")[1])
        for name, limit in limits.items():
            for hint in threshold_sentences(scores[name], limit):
                assumed.append(f"Model {name!r}: {hint[0].lower()}{hint[1:]}")
        judged = JudgedModels(differences, tables, tests, delong, design).in_order(names, specs)
        return self.concluded(judged, (*assumed, *mass.sentences))

    def _score_specs(self, *, thresholded: bool) -> tuple[MetricSpec, ...]:
        if self.specs is None:
            usual = get_metrics(COMPARED)
            # What reads nothing but scores comes first.
            ranked = sorted((m for m in usual if m.scores is not None), key=lambda m: m.function is not None)
            labelled = [m for m in usual if m.scores is None] if thresholded else []
            return tuple(map(MetricSpec, (*ranked, *labelled)))
        for spec in self.specs:
            if not thresholded and not (spec.is_native and spec.metric.scores is not None):
                raise InputError(f"{spec.name} is a metric of labels; give threshold= to make labels of the scores.")
        return self.specs


_OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa")


def usual_specs(table: Confusion, options: CallOptions) -> tuple[MetricSpec, ...]:
    """The metrics of labels that are compared unless others are named, which a table of many classes has fewer of."""
    try:
        two_classes = options.average != NATIVE or table.positive_label() is not None
    except InputError:
        two_classes = False
    metrics = get_metrics(COMPARED if two_classes else _OF_MANY_CLASSES)
    return tuple(MetricSpec(metric) for metric in metrics if metric.scores is None)


# ---------------------------------------------------------------- column question
# Models that give a column of scores for each class, compared by these and by their highest.


def compared_columns(question: Question, models: ColumnModels, threshold: Thresholds) -> Comparison:
    """The comparison by a column of scores for each class; of one class, or of two, by the column of that class."""
    of_one_class = models.of_one_class(question.options.pos_label)
    if of_one_class is not None:
        return question.of_scores(of_one_class, threshold)
    if threshold is not None:
        raise InputError("threshold= is for the scores of one positive class; name one with pos_label=.")
    requested = usual_column_specs(models.tables) if question.specs is None else question.specs
    requested = tuple(replace(spec, metric=spec.metric.of_many_columns) for spec in requested)  # with its range there
    rows, of_columns = ColumnRows(models.tables, models.mass), tuple(spec for spec in requested if reads_columns(spec))
    tables = ModelTables(of_columns, question.options, columns=models.tables)
    judged = JudgedModels(list(column_differences(rows, tables)), tables)
    labelled, stated = _of_highest(question, models, tuple(spec for spec in requested if spec not in of_columns))
    if labelled is not None:
        specs = tuple(dict.fromkeys((*requested, *labelled.tables.specs)))
        tables = replace(tables, specs=specs, labels=labelled.tables.labels)
        judged = labelled._replace(differences=[*judged.differences, *labelled.differences], tables=tables)
    predicted = {name: table.most_probable for name, table in models.tables.items()}
    design = RowDesign(rows.codes, models.mass, {} if labelled is None else predicted)
    judged = judged._replace(design=design).in_order(models.tables, judged.tables.specs)
    return question.concluded(judged, (*stated, *models.mass.sentences))


def _of_highest(
    question: Question, models: ColumnModels, specs: tuple[MetricSpec, ...]
) -> tuple[JudgedModels | None, tuple[str, ...]]:
    """The judged differences of the labels of each row's highest column; None if no metric of labels is requested."""
    if question.specs is not None and not specs:
        return None, ()
    if question.specs is None and len(models.labels) > MOST_PAIRED_LABELS:
        return None, (f"Labels of more than {MOST_PAIRED_LABELS} classes are not compared, the scores alone.",)
    first = next(iter(models.tables.values()))
    codes = [first.codes, *(table.most_probable for table in models.tables.values())]
    of_labels = replace(question, specs=None if question.specs is None else specs)
    return of_labels.of_codes(list(models.tables), codes, models.labels, None, models.mass), (HIGHEST_TAKEN,)


# ---------------------------------------------------------------- label set comparison
# Models of rows that may have several labels each, compared on the same rows.


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
        frequency = arrays.weights(self.rows.frequency, "frequency", whole=True)
        weight = arrays.weights(self.rows.weight, "sample_weight")
        use = "y_score" if self.scores else "y_pred"
        options = {"labels": self.labels, "sample_weight": weight, "frequency": frequency}
        tables = {
            str(name): label_set_table(self.data, **{use: values}, **options)
            for name, values in checked_models(self.models, columns=True).items()
        }
        members = None if self.rows.cluster is None else arrays.column(self.rows.cluster, "cluster")
        mass = RowMass.of_rows(frequency, weight, members, getattr(self.rows.cluster, "name", None))
        return self._finished(tables, mass)

    def _of_frame(self) -> tuple[dict[str, MultilabelTable], RowMass]:
        if self.labels is not None:
            raise InputError("labels= is for arrays; of a frame the columns that are named are the labels.")
        names, tables = self.rows.names(), {}
        members: Array | None = None
        models = self.models if isinstance(self.models, Mapping) else {str(name): name for name in self.models}
        for name, columns in models.items():
            frame = FrameColumns(self.true, weight=names.weight)
            frame = frame._replace(score=columns) if self.scores else frame._replace(pred=columns)
            tables[str(name)], rows = label_frame(
                self.data, frame, names.frequency, cluster=names.cluster, label_sep=self.label_sep
            )
            members = rows.clusters
        first = next(iter(tables.values()))
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
        thresholded = {
            name: replace(table, predicted=(np.asarray(table.scores) >= limits[name]).astype(np.uint8))
            for name, table in tables.items()
        }
        return thresholded, mass


def compared_label_sets(question: Question, models: LabelSetModels) -> Comparison:
    """The comparison of models on rows of several labels: each difference is judged by the influence of the rows."""
    tables, mass = models.tables()
    first = next(iter(tables.values()))
    specs = usual_label_set_specs(first) if question.specs is None else question.specs
    of_models = ModelTables(specs, question.options, label_sets=tables)
    differences = list(LabelSetRows(tables, mass).differences(of_models))
    design = RowDesign(np.zeros(first.true.shape[0], np.int64), mass)
    return question.concluded(JudgedModels(differences, of_models, design=design), mass.sentences)


def usual_label_set_specs(table: MultilabelTable) -> tuple[MetricSpec, ...]:
    """The metrics that are compared unless others are named: of whole rows, then averages."""
    has_counts, has_scores = table.predicted is not None, table.scores is not None
    of_rows = [m for m in list_metrics() if m.label_sets is not None and not m.parameters and m.sign]
    of_rows = [m for m in of_rows if (has_scores if m.ranks_labels or m.scores is not None else has_counts)]
    specs = [MetricSpec(m) for m in of_rows if m.function is None or m.name in HEADLINE]
    if has_counts:
        averaged = [m for m in get_metrics(PER_CLASS) if m.kind.is_summary]
        specs += [MetricSpec(m, average) for m in averaged for average in _AVERAGES]
    if has_scores:
        specs += [MetricSpec(m, "macro") for m in get_metrics(PER_CLASS_OF_SCORES)]
    return tuple(specs)


@dataclass(frozen=True)
class LabelSetRows:
    """The rows of several labels that models were given, and what each row counts for."""

    tables: Mapping[str, MultilabelTable]
    mass: RowMass
    _influences: dict[tuple[MetricSpec, str], Array | None] = field(default_factory=dict)

    def differences(self, tables: ModelTables) -> Iterator[JudgedDifference]:
        """The differences of every pair of models by every metric, tested by the influence of the rows."""
        method = "influence" if self.mass.clusters is None else "cluster"
        for a, b in combinations(self.tables, 2):
            for spec in tables.specs:
                row = tables.difference(spec, a, b)
                is_undefined = np.isnan(row.difference)
                of_a = None if is_undefined else self._influence(spec, a)
                of_b = None if is_undefined else self._influence(spec, b)
                if of_a is None or of_b is None:
                    reason = row.why or f"the influence of rows on {spec.name} is not known"
                    yield not_judged(row, reason, method)
                else:
                    yield by_influence(row, self._spread(of_a - of_b), method)

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


# ---------------------------------------------------------------- compare


@names_wrong_arguments
def compare(
    y_true: ArrayLike | Frame | Source | Paired | Mapping[str, ModelTable],
    models: ComparedModels = None,
    *,
    scores: bool = False,
    threshold: Thresholds = None,
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    average: str | None = NATIVE,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    margin: float | None = None,
    true: str | None = None,
    pred: ComparedModels = None,
    score: ComparedModels = None,
    weight: str | None = None,
    cluster: ArrayLike | str | None = None,
    label_sep: str | None = None,
) -> Comparison:
    """Whether models differ: every metric's difference with its interval and tests, of all pairs of models.

    `models` are named columns of predicted labels, or with scores=True of scores of the positive class, of which
    `threshold` (a number, or one per model) makes labels; or of scores of all classes, a column for each (n x K).
    Or give a Paired table alone, or a frame and the names of its columns: true, and those of the models with pred
    or score, as a list (or by name); score may name a column for each class, by patterns such as ["a_*", "b_*"].
    `sample_weight` (of a frame weight) gives sample weights, `cluster` the cluster of each row, such as the
    patient, and `frequency` frequency weights, where labels are compared. Of yes/no and the like the positive class
    is taken by convention and stated in `assumed`. Models of different rows are given by name alone, as evaluations
    or tables: compare({"old": ..., "new": ...}); they are taken as independent, and read at the prevalence and the
    design that all were evaluated with. Where rows may have several labels each, a model is a matrix with a column
    for each label, lists of labels, or of a frame a pattern, as the truth is: true="y_*", or columns of text that
    `label_sep` divides.

    The intervals of labels draw truth x A x B from the posterior with 1/2 row in each cell, or whole clusters. A
    p-value is the larger of that posterior's and of the mid-p of swapping the models' predictions at random; where few
    rows disagree it is conservative, and the interval holds 0 where the test does not reject it. Metrics of scores are
    tested by Student's t on the influence of each row or cluster, which is DeLong's test of roc_auc; those without
    influence by a Bayesian bootstrap. `p_holm` holds for all rows of the result together. Of more than two models the
    `simultaneous` intervals hold for all pairs by a metric, and `omnibus` tests whether all are equal. `margin` asks
    whether each model is not worse than the next by more.

    >>> compare([0] * 90 + [1] * 10, {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}, metrics=["recall"])
    A against B on the same 100 rows: differences with 95 % intervals
    metric      A      B  difference    low   high  p_value  p_holm
    recall  0.900  0.200       0.700  0.132  0.883   0.0215  0.0215
    McNemar: A alone is right in 8 rows, B alone in 6; p = 0.607 (mid-p), 0.791 (exact)
    """
    inference = Inference(level, draws=draws, rng=rng)
    models, scores = model_columns.named_models(models, scores, true, pred, score)
    options = CallOptions(pos_label, labels, average)
    if average is None:
        raise InputError("compare takes one value per metric: name a class with pos_label=, or average='macro'.")
    specs = None if metrics is None else tuple(MetricSpec.all_of(metrics))
    question = Question(specs, options, inference, _checked_margin(margin))
    rows = RowColumns(frequency, sample_weight if weight is None else weight, cluster)
    if isinstance(y_true, Paired):
        rows.refuse("A paired table holds counted rows")
        return question.of_table(y_true, models)
    if isinstance(y_true, Mapping) and models is None:
        rows.refuse("Models of different rows are counted already")
        return question.of_models(y_true)
    sets = LabelSetModels(y_true, models, true, scores, rows, labels, threshold, label_sep)
    if sets.are_sets:
        return compared_label_sets(question, sets)
    are_columns = column_models.are_columns(models, scores=scores, frame=true is not None)
    if frequency is not None and (scores or are_columns):
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if are_columns:
        if true is None:
            class_columns = column_models.columns_of_arrays(y_true, models, rows, labels)  # type: ignore[arg-type]  # arrays
        else:
            class_columns = column_models.columns_of_frame(y_true, true, models, rows, labels)  # type: ignore[arg-type]  # a frame
        return compared_columns(question, class_columns, threshold)
    if true is None:
        columns = model_columns.of_arrays(y_true, models, rows)  # type: ignore[arg-type]  # no frame without true=
    else:
        columns = model_columns.of_frame(y_true, true, models, rows, scores=scores)  # type: ignore[arg-type]  # a frame, with true=
        present = label_codes.distinct(columns.truth, f"The column {true!r}")[1]
        question = replace(question, options=replace(options, pos_label=match_label(pos_label, present)))
    return question.of_scores(columns, threshold) if scores else question.of_labels(columns, threshold)


def _checked_margin(margin: float | None) -> float | None:
    """The margin of non-inferiority: a number above 0."""
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, (int, float, np.number)) or not 0 < margin < math.inf:
        raise InputError(
            argument="margin", expected="how much worse a model may be, a number above 0 such as 0.02", given=margin
        )
    return float(margin)
