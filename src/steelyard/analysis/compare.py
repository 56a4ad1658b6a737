"""Compare: whether models differ on the same rows, by labels, by a table of two models, or by scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from steelyard.analysis import model_columns, paired_tables
from steelyard.analysis.comparison import Comparison
from steelyard.analysis.draws import generator
from steelyard.analysis.holm import holm
from steelyard.analysis.inference import Inference
from steelyard.analysis.mcnemar_test import McNemar, mcnemar
from steelyard.analysis.paired_difference import Difference, ModelTables
from steelyard.analysis.paired_draws import label_differences
from steelyard.analysis.rows import Rows
from steelyard.analysis.score_comparison import finite, positives, score_differences, thresholds
from steelyard.analysis.threshold_sentences import threshold_sentences
from steelyard.errors import InputError
from steelyard.ingest import label_codes
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.class_checks import check_classes
from steelyard.ingest.frame_columns import refuse_groups
from steelyard.ingest.label_overlap import lookalike_hints
from steelyard.ingest.label_tables import match_label
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.paired import Paired
from steelyard.statistics.positive_class import RARER, choice_sentences, conventional_label
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet, Rng, Weights
    from steelyard.analysis.model_columns import ComparedColumns, ComparedModels, Thresholds
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


def compare(
    y_true: ArrayLike | Frame | Source | Paired,
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
    true: str | None = None,
    pred: ComparedModels = None,
    score: ComparedModels = None,
    weight: None = None,
    by: None = None,
    cluster: None = None,
) -> Comparison:
    """Whether models differ on the same rows: every metric's difference with its paired interval and tests.

    `models` are named columns of predicted labels, or with scores=True of scores of the positive class, of which
    `threshold` (a number, or one per model) makes labels. Or give a Paired table alone, or a frame and the names of its
    columns: true, and those of the models with pred or score, as a list (or by name). `frequency` gives frequency
    weights, where labels are compared. Of yes/no and the like the positive class is taken by convention and stated in
    `assumed`.

    The intervals draw truth x A x B from the posterior with 1/2 row in each cell. A p-value is the larger of that
    posterior's and of the mid-p of swapping the models' predictions at random; where few rows disagree it is
    conservative. `p_holm` holds for all rows of the result together. roc_auc is tested by DeLong, other metrics of
    scores by a Bayesian bootstrap.

    >>> compare([0] * 90 + [1] * 10, {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}, metrics=["recall"])
    A against B on the same 100 rows: differences with 95 % intervals
    metric      A      B  difference    low   high  p_value  p_holm
    recall  0.900  0.200       0.700  0.139  0.888   0.0225  0.0225
    McNemar: A alone is right in 8 rows, B alone in 6; p = 0.607 (mid-p), 0.791 (exact)
    """
    inference = Inference(level, draws=draws, rng=generator(rng))
    models, scores = model_columns.named_models(models, scores, true, pred, score)
    refuse_groups("compare", by=by, cluster=cluster)
    paired_tables.refuse_weights(sample_weight, weight)
    options = CallOptions(pos_label, labels, average)
    if average is None:
        raise InputError("compare takes one value per metric: name a class with pos_label=, or average='macro'.")
    specs = None if metrics is None else tuple(MetricSpec.all_of(metrics))
    question = Question(specs, options, inference)
    if isinstance(y_true, Paired):
        return question.of_table(y_true, models)
    if scores and frequency is not None:
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if true is None:
        columns = model_columns.of_arrays(y_true, models, frequency)  # type: ignore[arg-type]  # no frame without true=
    else:
        columns = model_columns.of_frame(y_true, true, models, frequency, scores=scores)  # type: ignore[arg-type]  # a frame, with true=
        present = label_codes.distinct(columns.truth, f"The column {true!r}")[1]
        question = replace(question, options=replace(options, pos_label=match_label(pos_label, present)))
    return question.of_scores(columns, threshold) if scores else question.of_labels(columns, threshold)


@dataclass(frozen=True)
class Question:
    """By which metrics models are compared, of which class or average, and at which confidence level."""

    specs: tuple[MetricSpec, ...] | None
    options: CallOptions
    inference: Inference

    # ---------------------------------------------------------------- labels

    def of_labels(self, columns: ComparedColumns, threshold: object) -> Comparison:
        """The comparison of columns of predicted labels."""
        if threshold is not None:
            what = "threshold= is for scores, and these are predicted labels"
            raise InputError(f"{what}; give scores=True, or leave it out.")
        predictions = {f"the model {name!r}": column for name, column in columns.models.items()}
        codes, labels = paired_tables.encoded(columns.truth, predictions, self.options.labels)
        if self.options.labels is None:
            paired_tables.check_met(codes, labels, columns.models)
        named = paired_tables.positive(labels, self.options.pos_label, codes[0], columns.frequency)
        positive = conventional_label(labels) if named is None and self.is_of_one_class else named
        question = replace(self, options=replace(self.options, pos_label=named))
        comparison = question.of_codes(list(columns.models), codes, labels, positive, columns.frequency)
        assumed = (*choice_sentences(self.options.pos_label, positive, labels), *lookalike_hints(labels))
        return replace(comparison, assumed=assumed)

    def of_codes(
        self, names: list[str], codes: list[Array], labels: Labels, positive: Label, times: Array | None = None
    ) -> Comparison:
        """The comparison of the codes of labels, those of the truth first."""
        if positive is not None and len(labels) > 2 and self.is_of_one_class:  # before any cube is built
            place = labels.index(positive)
            codes, labels = [code == place for code in codes], (f"not {positive}", positive)
        models = combinations(zip(names, codes[1:], strict=True), 2)
        pairs = [
            (a, b, paired_tables.counted_pair(codes[0], of_a, of_b, labels, positive, times))
            for (a, of_a), (b, of_b) in models
        ]
        check_classes(pairs[0][2].confusion(0))
        return self._of_tables(names, pairs)

    def of_table(self, table: Paired, models: ComparedModels) -> Comparison:
        """The comparison of the two models of a paired table."""
        names = ["A", "B"] if models is None else [str(name) for name in models]
        if len(names) != 2:
            raise InputError(f"A paired table holds two models; name two, or none for 'A' and 'B', not {len(names)}.")
        if not table.n:
            raise InputError("The paired table holds no rows; there is nothing to compare.")
        if self.is_of_one_class and not (self.options.pos_label is None and table.positive is None):
            table = table.collapsed(self.options.pos_label)
        return self._of_tables(names, [(names[0], names[1], table)])

    @property
    def is_of_one_class(self) -> bool:
        """Whether all metrics are of the positive class, where there is one."""
        return self.options.average == NATIVE and all(spec.is_native for spec in self.specs or ())

    def _of_tables(self, names: list[str], pairs: list[tuple[str, str, Paired]]) -> Comparison:
        labels = {name: table.confusion(i) for a, b, table in pairs for i, name in enumerate((a, b))}
        specs = usual_specs(labels[names[0]], self.options) if self.specs is None else self.specs
        tables = ModelTables(specs, self.options, labels)
        rows = [row for a, b, table in pairs for row in label_differences(a, b, table, tables, self.inference)]
        tests = Rows(mcnemar(table, (a, b)) for a, b, table in pairs)
        return Comparison(tuple(names), pairs[0][2].n, self.inference.level, _adjusted(rows), tests, Rows(), tables)

    # ---------------------------------------------------------------- scores

    def of_scores(self, columns: ComparedColumns, threshold: Thresholds) -> Comparison:
        """The comparison of columns of scores, and where thresholds are given of the labels that these make."""
        names, values = list(columns.models), {name: finite(name, score) for name, score in columns.models.items()}
        (positive, label), limits = positives(columns.truth, self.options), thresholds(threshold, names)
        specs = self._score_specs(thresholded=bool(limits))
        options = CallOptions(pos_label=True)
        scores = {name: score_table(positive, score) for name, score in columns.models.items()}
        tables = ModelTables(specs, options, scores=scores)
        rows, delong = score_differences(values, positive, tables, self.inference)
        tests: Rows[McNemar] = Rows()
        if limits:
            read = {name: as_read(limits[name], scores[name].precision) for name in names}
            codes = [positive, *(values[name] >= read[name] for name in names)]
            of_labels = Question(tuple(s for s in specs if not tables.reads_scores(s)), options, self.inference)
            labelled = of_labels.of_codes(names, codes, (False, True), positive=True)
            tests, rows = labelled.mcnemar, [*rows, *labelled.rows]
            tables = replace(tables, labels=labelled.tables.labels)
        pairs = list(combinations(names, 2))
        rows.sort(key=lambda row: (pairs.index((row.a, row.b)), specs.index(row.spec)))
        level = self.inference.level
        stated = (*_stated(self.options.pos_label, label, columns.truth), *_threshold_hints(scores, limits))
        return Comparison(tuple(names), len(positive), level, _adjusted(rows), tests, delong, tables, stated)

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


def _adjusted(rows: list[Difference]) -> Rows[Difference]:
    both = zip(rows, holm(row.p_value for row in rows), strict=True)
    return Rows(replace(row, p_holm=p) for row, p in both)
