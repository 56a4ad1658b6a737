"""Compare: whether models differ on the same rows, by labels, by a table of two models, or by scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from steelyard.analysis.comparison.classical_tests import McNemar, mcnemar
from steelyard.analysis.comparison.comparison import Comparison, Difference, ModelTables
from steelyard.analysis.comparison.different_rows import (
    CountedModel,
    counted_models,
    fixed_sizes,
    reading_sentences,
    unpaired_differences,
)
from steelyard.analysis.comparison.evidence import JudgedDifference, concluded
from steelyard.analysis.comparison.leaderboard import RowDesign, model_intervals
from steelyard.analysis.comparison.outcomes import (
    label_outcomes,
    label_set_outcomes,
    paired_alerts,
    unpaired_alerts,
)
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
from steelyard.analysis.comparison.verdict import reaches_no_skill
from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.design import ClassInfluence, RowInfluences, RowMass, class_spread
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.influence import label_set_influence
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.results.capacity import AlertCapacity
from steelyard.analysis.results.formatting import percent_text
from steelyard.analysis.results.result import Rows
from steelyard.analysis.sequential.anytime import anytime_differences
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import as_read
from steelyard.arrays.checks import category_order, check_order
from steelyard.arrays.labels import RARER, choice_sentences, conventional_label
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.decoding import match_label
from steelyard.frames.rows import ROWS_OF_SCORES, check_row_number, count_keys
from steelyard.frames.source import column_name, refuse_name
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import USES, read_use
from steelyard.metrics.usual import COMPARED, HEADLINE, PER_CLASS, PER_CLASS_OF_SCORES
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables import array_tables
from steelyard.tables.array_tables import HIGHEST_TAKEN, check_classes, lookalike_hints, occurring_labels, score_table
from steelyard.tables.label_sets import are_label_sets
from steelyard.tables.paired_table import MOST_PAIRED_LABELS, Paired, check_size
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import ASSUMED_HALF, HALF, TWO_THRESHOLDS, threshold_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, Rng
    from steelyard.analysis.comparison.outcomes import Outcomes
    from steelyard.analysis.comparison.paired import PairSample, Thresholds
    from steelyard.analysis.intervals.design import StudentSpread
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.results.capacity import CapacityLike
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.uses import Use, UseLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- model question
# By which metrics models are compared, and the answer for labels, a paired table, or scores.


class JudgedModels(NamedTuple):
    """The differences of all pairs, judged, their tables and what these do not keep, and the classical tests.

    `asked` are the metrics that are shown and the numbers of the uses; others of `differences` are read by outcomes.
    """

    differences: list[JudgedDifference]
    tables: ModelTables
    asked: AskedMetrics
    mcnemar: Sequence[McNemar] = ()
    delong: Sequence[DeLong] = ()
    design: RowDesign = RowDesign()
    outcomes: Sequence[Outcomes] = ()

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
    prevalence: PrevalenceLike | None = None  # that the same rows are read at
    use: Use | None = None
    capacity: AlertCapacity | None = None

    def asked(self, usual: Sequence[MetricSpec], numbers: UseNumbers) -> AskedMetrics:
        """The metrics that are shown, that of the use among them, and the number of each use that is asked."""
        if self.capacity is not None and not numbers.ranks:
            raise InputError("capacity= is of models that score the rows of one positive class; leave it out.")
        shown = tuple(usual) if self.specs is None else self.specs
        if self.use is not None:
            number = numbers.of(self.use, is_stated=True)
            if number is None:
                raise InputError(numbers.missing(self.use))
            if self.specs is None:
                shown = (*(numbers.profile(self.use) or shown),)
            return AskedMetrics(shown if number in shown else (number, *shown), {self.use.name: number})
        by_use = {name: numbers.of(use) for name, use in USES.items()}
        found = {name: spec for name, spec in by_use.items() if spec is not None}
        if self.specs is not None:  # the metrics that were named decide, those of uses before others
            of_uses = {name: spec for name, spec in found.items() if spec in shown}
            found = of_uses or {spec.name: spec for spec in shown if spec.sign}
        return AskedMetrics(shown, found)

    # ---------------------------------------------------------------- labels

    def of_labels(self, columns: ComparedColumns, threshold: object) -> Comparison:
        """The comparison of columns of predicted labels."""
        if threshold is not None:
            raise InputError(
                "threshold= is for scores, and these are predicted labels; give y_score=, or leave it out."
            )
        predictions = {f"the model {name!r}": column for name, column in columns.models.items()}
        declared = columns.order if self.options.labels is None else self.options.labels
        codes, labels = array_tables.encoded(columns.truth, predictions, declared)
        if self.options.labels is None:
            array_tables.check_met(codes, labels, columns.models)
        named = array_tables.positive(labels, self.options.pos_label, codes[0], columns.mass.times)
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
                (a, b, array_tables.counted_pair(codes[0], of_a, of_b, labels, positive, mass.times))
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

    def of_table(self, table: Paired, names: Sequence[str]) -> Comparison:
        """The comparison of the two models of a paired table."""
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
        kind = BINARY if has_positive_class(first, self.options) else CLASSES
        asked = self.asked(usual_specs(first, self.options), UseNumbers(kind, labels=True))
        if self.prevalence is not None:
            if len(first.labels) > 2:
                raise InputError(
                    argument="prevalence", expected="the share of one positive class", do="name it with pos_label="
                )
            labels = {name: at_prevalence(self._stated(table), self.prevalence) for name, table in labels.items()}
        tables = ModelTables(asked.judged(OUTCOME_METRICS[kind]), self.options, labels)
        is_read = self.prevalence is not None
        differences = [
            judged
            for a, b, each in samples
            for judged in label_differences(a, b, each, tables, self.inference, fixed=is_read)
        ]
        outcomes = label_outcomes(
            labels, differences, self.inference.level, has_positive=kind == BINARY, is_read=is_read
        )
        return JudgedModels(differences, tables, asked, outcomes=outcomes)

    def _stated(self, table: Confusion) -> Confusion:
        """The table with the positive class that was named, or that is clear."""
        return table if table.positive is not None else table.with_positive(table.positive_label())

    def concluded(self, judged: JudgedModels, assumed: tuple[str, ...] = ()) -> Comparison:
        """The comparison of all pairs that are judged."""
        tables = judged.tables
        sizes = {name: int(table.rows.sum()) for name, table in tables.labels.items()}
        sizes |= {name: table.n for name, table in tables.scores.items()}
        sizes |= {name: table.n for name, table in tables.columns.items()}
        sizes |= {name: table.n for name, table in tables.label_sets.items()}
        shown = [each for each in judged.differences if each.row.spec in judged.asked.shown]
        rows, omnibus = concluded(list(sizes), shown, self.inference, self.margin)
        decisive = {name: self._decisive(judged, spec) for name, spec in judged.asked.numbers.items()}
        tables = replace(tables, specs=judged.asked.shown)
        design = judged.design
        if self.prevalence is not None:
            design = replace(design, fixed=dict.fromkeys(sizes, True))
            assumed = (*assumed, f"All are read at a prevalence of {percent_text(float(self.prevalence))}.")  # type: ignore[arg-type]  # one number
        of_all = replace(tables, specs=judged.asked.judged(()))
        intervals = model_intervals(of_all, self.inference, design)
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
            intervals={name: Rows(each[: len(tables.specs)]) for name, each in intervals.items()},
            use=None if self.use is None else self.use.name,
            outcomes=Rows(judged.outcomes),
            decisive={name: found for name, found in decisive.items() if found},
            no_skill=_no_skill(of_all, judged.asked.numbers, intervals),
        )

    def _decisive(self, judged: JudgedModels, spec: MetricSpec) -> Rows[Difference]:
        """The differences by the number of a use, with Holm's p-values of its own pairs."""
        pairs = [each for each in judged.differences if each.row.spec == spec]
        adjusted = holm(each.p_value for each in pairs)
        return Rows(each.concluded(self.inference, p, None) for each, p in zip(pairs, adjusted, strict=True))

    # ---------------------------------------------------------------- different rows

    def of_models(self, models: Mapping[str, CountedModel], *, is_given: bool) -> Comparison:
        """The comparison of models that were evaluated on different rows."""
        fixed = fixed_sizes(models)
        labels, scores = counted_models(models)
        of_scores = [m for m in get_metrics(COMPARED) if m.scores is not None] if scores else []
        of_labels = usual_specs(next(iter(labels.values())), self.options) if labels else ()
        kind = BINARY if scores or has_positive_class(next(iter(labels.values())), self.options) else CLASSES
        probable = all(table.has_probabilities for table in scores.values())
        numbers = UseNumbers(kind, labels=bool(labels), scores=bool(scores), probabilities=probable)
        asked = self.asked((*map(MetricSpec, of_scores), *of_labels), numbers)
        tables = ModelTables(asked.judged(OUTCOME_METRICS[kind] if labels else ()), self.options, labels, scores)
        for spec in asked.shown:
            spec.check_data(labels=bool(labels), scores=bool(scores))
        differences, level = list(unpaired_differences(tables, self.inference, fixed)), self.inference.level
        outcomes: list[Outcomes] = []
        if scores:
            outcomes.append(unpaired_alerts(scores, self.capacity, self.inference, fixed))
        if labels:
            is_read = any(model.prevalence is not None for model in models.values())
            outcomes += label_outcomes(labels, differences, level, has_positive=kind == BINARY, is_read=is_read)
        judged = JudgedModels(differences, tables, asked, design=RowDesign(fixed=fixed), outcomes=outcomes)
        sizes = [table.n for table in scores.values()] or [int(table.rows.sum()) for table in labels.values()]
        return replace(self.concluded(judged, reading_sentences(models, is_given=is_given)), paired=False, n=sum(sizes))

    # ---------------------------------------------------------------- scores

    def of_scores(
        self, columns: ComparedColumns, threshold: Thresholds, predicted: ComparedColumns | None = None
    ) -> Comparison:
        """The comparison of columns of scores, and of labels: those that thresholds make, or that were predicted."""
        names, mass = list(columns.models), columns.mass
        values = {name: finite(name, score) for name, score in columns.models.items()}
        positive, label = positives(columns.truth, self.options)
        is_half = threshold is None and predicted is None and self._asks_labels and _are_probabilities(values)
        limits = thresholds(HALF if is_half else threshold, names)
        if limits and predicted is not None:
            raise InputError(TWO_THRESHOLDS)
        labelled_too = bool(limits) or predicted is not None
        options, probable = CallOptions(pos_label=True), _are_probabilities(values)
        numbers = UseNumbers(BINARY, labels=labelled_too, scores=True, probabilities=probable)
        asked = self.asked(self._score_specs(thresholded=labelled_too), numbers)
        specs = asked.judged(())
        scores = {
            name: score_table(positive, score, sample_weight=mass.weights) for name, score in columns.models.items()
        }
        if self.prevalence is not None:
            scores = {name: at_prevalence(table, self.prevalence) for name, table in scores.items()}
        tables = ModelTables(specs, options, scores=scores, positive=label)
        scored = ScoredRows(positive, values, mass)
        differences, delong = score_differences(scored, tables, self.inference, fixed=self.prevalence is not None)
        outcomes = [self._alerts(scored, scores)]
        tests: Sequence[McNemar] = ()
        design = RowDesign(positive, mass, scores=values)
        if labelled_too:
            if predicted is None:
                read = {name: as_read(limits[name], scores[name].precision) for name in names}
                flagged = [values[name] >= read[name] for name in names]
            else:
                flagged = [np.asarray(predicted.models[name] == label) for name in names]
            codes = [positive, *flagged]
            of_labels = tuple(s for s in specs if not tables.reads_scores(s))
            labels_alone = replace(self, specs=of_labels, options=options, use=None, capacity=None)
            labelled = labels_alone.of_codes(names, codes, (False, True), True, mass)
            tests, differences = labelled.mcnemar, [*differences, *labelled.differences]
            outcomes += labelled.outcomes
            specs = tuple(dict.fromkeys((*specs, *labelled.tables.specs)))
            tables = replace(tables, specs=specs, labels=labelled.tables.labels, thresholds=limits)
            design = replace(design, labels=dict(zip(names, codes[1:], strict=True)))
        pos_label = self.options.pos_label
        assumed = [ASSUMED_HALF] if is_half else []
        if pos_label is None or pos_label is RARER:  # no label named the positive class
            assumed += choice_sentences(pos_label, label, label_codes.distinct(columns.truth, "y_true")[1])
        for name, limit in limits.items():
            for hint in threshold_sentences(scores[name], limit):
                assumed.append(f"Model {name!r}: {hint[0].lower()}{hint[1:]}")
        judged = JudgedModels(differences, tables, asked, tests, delong, design, outcomes).in_order(names, specs)
        return self.concluded(judged, (*assumed, *mass.sentences))

    def _alerts(self, rows: ScoredRows, scores: Mapping[str, ScoreTable]) -> Outcomes:
        """What the models find at the capacity."""
        why = rows.unknown_variation(MetricSpec.of(USES["ranking"].of_scores), next(iter(scores.values())))
        fixed = self.prevalence is not None
        return paired_alerts(rows, scores, self.capacity, self.inference, fixed=fixed, why=why)

    @property
    def _asks_labels(self) -> bool:
        """Whether metrics of labels are named, or the use has one."""
        of_use = [] if self.use is None else [MetricSpec.of(self.use.of_scores)]
        return any(not (spec.is_native and spec.metric.scores is not None) for spec in (*(self.specs or ()), *of_use))

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


def _are_probabilities(values: Mapping[str, Array]) -> bool:
    """Whether the scores of all models lie between 0 and 1."""
    return all(column.min(initial=0) >= 0 and column.max(initial=1) <= 1 for column in values.values())


_OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa")


def has_positive_class(table: Confusion, options: CallOptions) -> bool:
    """Whether metrics are of one positive class, or averages of all."""
    try:
        return options.average != NATIVE or table.positive_label() is not None
    except InputError:
        return False


def usual_specs(table: Confusion, options: CallOptions) -> tuple[MetricSpec, ...]:
    """The metrics of labels that are compared unless others are named, which a table of many classes has fewer of."""
    metrics = get_metrics(COMPARED if has_positive_class(table, options) else _OF_MANY_CLASSES)
    return tuple(MetricSpec(metric) for metric in metrics if metric.scores is None)


# ---------------------------------------------------------------- numbers of the uses
# By which metric each use is decided, of the kind of predictions that is compared.

BINARY, CLASSES, LABEL_SETS = "binary", "classes", "label sets"
OUTCOME_METRICS = {BINARY: ("recall", "specificity"), CLASSES: ("accuracy",), LABEL_SETS: ()}  # which outcomes read


class AskedMetrics(NamedTuple):
    """The metrics that are shown, and the number of each use that is asked, by its name."""

    shown: tuple[MetricSpec, ...]
    numbers: Mapping[str, MetricSpec]

    def judged(self, others: Sequence[str]) -> tuple[MetricSpec, ...]:
        """All that are judged, those that outcomes read among them."""
        return tuple(dict.fromkeys((*self.shown, *self.numbers.values(), *map(MetricSpec.of, others))))


@dataclass(frozen=True)
class UseNumbers:
    """The metric of each use, of labels, scores or both of one positive class, of several classes, or of label sets."""

    kind: str
    labels: bool = False
    scores: bool = False
    probabilities: bool = False

    @property
    def ranks(self) -> bool:
        """Whether rows are ordered by one score."""
        return self.kind == BINARY and self.scores

    def of(self, use: Use, *, is_stated: bool = False) -> MetricSpec | None:
        """The metric that decides for a use; None where these predictions have none.

        Of several classes the macro F1 stands for alerts and, unless the use is stated, balanced accuracy for balance:
        one class that is never found makes an AC-score 0. Of label sets they are the micro F1 and the labels' mean.
        """
        if use.name == "probabilities" and not self.probabilities:
            return None
        if self.kind == BINARY:
            name = use.leading(has_scores=self.scores)
            metric = None if name is None else MetricSpec.of(name)
            needs_labels = metric is not None and metric.metric.scores is None
            return None if needs_labels and not self.labels else metric
        if use.name == "alerts" and self.labels:
            return MetricSpec.of("f1[average=macro]" if self.kind == CLASSES else "f1[average=micro]")
        if use.name == "balance":
            of_classes = "ac_score" if is_stated else "balanced_accuracy"
            name = of_classes if self.kind == CLASSES else "ac_score[average=macro]"
            return MetricSpec.of(name) if self.labels else None
        if not self.scores:
            return None
        if use.name == "probabilities":
            return MetricSpec.of(use.of_scores) if self.kind == CLASSES else None
        return MetricSpec.of(f"{use.of_scores}[average=macro]")

    def missing(self, use: Use) -> str:
        """That the use has no number for such predictions, and what it needs."""
        if use.name == "probabilities":
            needed = "probabilities of the classes" if self.scores else "probabilities"
            return f"The use {use.given!r} is decided by the {use.of_scores}, which is of {needed}; give y_score=."
        if self.scores and not self.labels:
            return f"The use {use.given!r} is decided by labels, and these are scores; give threshold=."
        return f"The use {use.given!r} has no number of labels alone; give y_score=, or another use."

    def profile(self, use: Use) -> tuple[MetricSpec, ...]:
        """The metrics of a profile that such predictions have."""
        if self.kind != BINARY or not use.metrics:
            return ()
        specs = MetricSpec.all_of(use.metrics_at(None))
        return tuple(
            s for s in specs if (self.scores if s.metric.scores is not None else self.labels) and self._fits(s)
        )

    def _fits(self, spec: MetricSpec) -> bool:
        return self.probabilities or not spec.metric.of_probabilities


# ---------------------------------------------------------------- column question
# Models that give a column of scores for each class, compared by these and by their highest.


class ColumnModels(NamedTuple):
    """The table of each model by its name, and what each row counts for."""

    tables: dict[str, ProbabilityTable]
    mass: RowMass

    @classmethod
    def of(cls, p: Predictions, clusters: str | None) -> ColumnModels:
        """The columns of two models or more, row by row; rows of no weight are left out."""
        one_column = [name for name in p.models if p[name].kind != "class scores"]
        if one_column:
            raise InputError(
                f"The model {one_column[0]!r} has one column, and others a column for each class; give all of them "
                "alike, or the scores of one class, named by pos_label=."
            )
        given = p.given
        scores = {f"the model {name!r}": model.score for name, model in given.models.items()}
        check_order(y_true=given.data, **scores, sample_weight=given.sample_weight, cluster=given.cluster)
        tables = {}
        for name in p.models:
            try:
                tables[name] = p[name].probability_table()
            except InputError as problem:
                raise InputError(f"The model {name!r}: {problem}") from None
        weight = checks.weights(given.sample_weight, "sample_weight")
        members = None if given.cluster is None else checks.column(given.cluster, "cluster")
        checks.check_lengths(y_true=next(iter(tables.values())).codes, cluster=members)
        mass = RowMass.of_rows(None, weight, members, clusters)
        if mass.mass is None or (mass.mass > 0).all():
            return cls(tables, mass)
        counted = np.flatnonzero(mass.mass > 0)
        return cls({name: table.at(counted) for name, table in tables.items()}, mass.at(counted))

    @property
    def labels(self) -> Labels:
        """The classes."""
        return next(iter(self.tables.values())).labels


def compared_columns(question: Question, models: ColumnModels, threshold: Thresholds) -> Comparison:
    """The comparison by a column of scores for each class."""
    if threshold is not None:
        raise InputError("threshold= is for the scores of one positive class; name one with pos_label=.")
    proper = all(table.first_improper is None for table in models.tables.values())
    numbers = UseNumbers(CLASSES, labels=len(models.labels) <= MOST_PAIRED_LABELS, scores=True, probabilities=proper)
    asked = question.asked(usual_column_specs(models.tables), numbers)
    asked = AskedMetrics(
        tuple(_of_columns(spec) for spec in asked.shown),
        {name: _of_columns(spec) for name, spec in asked.numbers.items()},
    )
    requested = asked.judged(())
    rows, of_columns = ColumnRows(models.tables, models.mass), tuple(spec for spec in requested if reads_columns(spec))
    tables = ModelTables(of_columns, question.options, columns=models.tables)
    judged = JudgedModels(list(column_differences(rows, tables)), tables, asked)
    labelled, stated = _of_highest(question, models, tuple(spec for spec in requested if spec not in of_columns))
    if labelled is not None:
        specs = tuple(dict.fromkeys((*requested, *labelled.tables.specs)))
        tables = replace(tables, specs=specs, labels=labelled.tables.labels)
        if question.specs is None:  # the usual metrics of labels beside those of columns
            asked = asked._replace(shown=tuple(dict.fromkeys((*asked.shown, *labelled.asked.shown))))
        differences = [*judged.differences, *labelled.differences]
        judged = labelled._replace(differences=differences, tables=tables, asked=asked)
    predicted = {name: table.most_probable for name, table in models.tables.items()}
    design = RowDesign(rows.codes, models.mass, {} if labelled is None else predicted)
    judged = judged._replace(design=design).in_order(models.tables, judged.tables.specs)
    return question.concluded(judged, (*stated, *models.mass.sentences))


def _of_columns(spec: MetricSpec) -> MetricSpec:
    """The metric with the range that it has of a column for each class."""
    return replace(spec, metric=spec.metric.of_many_columns)


def _of_highest(
    question: Question, models: ColumnModels, specs: tuple[MetricSpec, ...]
) -> tuple[JudgedModels | None, tuple[str, ...]]:
    """The judged differences of the labels of each row's highest column; None if no metric of labels is requested."""
    if (question.specs is not None or question.use is not None) and not specs:
        return None, ()
    if question.specs is None and len(models.labels) > MOST_PAIRED_LABELS:
        return None, (f"Labels of more than {MOST_PAIRED_LABELS} classes are not compared, the scores alone.",)
    first = next(iter(models.tables.values()))
    codes = [first.codes, *(table.most_probable for table in models.tables.values())]
    named = None if question.specs is None and question.use is None else specs
    of_labels = replace(question, specs=named, use=None, capacity=None)
    return of_labels.of_codes(list(models.tables), codes, models.labels, None, models.mass), (HIGHEST_TAKEN,)


# ---------------------------------------------------------------- label set comparison
# Models of rows that may have several labels each, compared on the same rows.


_AVERAGES = ("micro", "macro", "weighted", "samples")


def label_set_models(p: Predictions) -> tuple[dict[str, MultilabelTable], RowMass]:
    """The table of each model, with labels made of scores where a threshold is given, and what each row counts for."""
    tables = {name: p[name].multilabel_table() for name in p.models}
    first, cluster = next(iter(tables.values())), p[p.models[0]].collect().given.cluster
    if len({table.labels for table in tables.values()}) > 1:
        raise InputError("The models are of different labels; declare those of all with labels=.")
    members = None if cluster is None else checks.column(cluster, "cluster")
    mass = RowMass.of_rows(first.frequency, first.sample_weight, members, cluster_name(p))
    if p.threshold is None:
        return tables, mass
    if any(table.scores is None for table in tables.values()):
        raise InputError("threshold= is for scores, and these are predicted labels; leave it out.")
    limits = thresholds(p.threshold, [*tables])
    made = {name: (np.asarray(table.scores) >= limits[name]).astype(np.uint8) for name, table in tables.items()}
    return {name: replace(table, predicted=made[name]) for name, table in tables.items()}, mass


def compared_label_sets(question: Question, p: Predictions) -> Comparison:
    """The comparison of models on rows of several labels: each difference is judged by the influence of the rows."""
    tables, mass = label_set_models(p)
    first = next(iter(tables.values()))
    has_counts = all(table.predicted is not None for table in tables.values())
    numbers = UseNumbers(
        LABEL_SETS, labels=has_counts, scores=all(table.scores is not None for table in tables.values())
    )
    asked = question.asked(usual_label_set_specs(first), numbers)
    of_models = ModelTables(asked.judged(()), question.options, label_sets=tables)
    rows = LabelSetRows(tables, mass)
    differences = list(rows.differences(of_models))
    design = RowDesign(np.zeros(first.true.shape[0], np.int64), mass)
    outcomes = [label_set_outcomes(tables, rows.spread, question.inference.level)] if has_counts else []
    judged = JudgedModels(differences, of_models, asked, design=design, outcomes=outcomes)
    return question.concluded(judged, mass.sentences)


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
                    yield by_influence(row, self.spread(of_a - of_b), method)

    def _influence(self, spec: MetricSpec, model: str) -> Array | None:
        if (spec, model) not in self._influences:
            self._influences[spec, model] = label_set_influence(spec, self.tables[model])
        return self._influences[spec, model]

    def spread(self, moved: Array) -> StudentSpread:
        """The variance of a mean over the rows, by how much each moves it."""
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


# ---------------------------------------------------------------- the columns of models


class ComparedColumns(NamedTuple):
    """The column of the truth, that of each model by its name, what each row counts for, and the order of the classes.

    `order` is that which an ordered categorical states; None where none does.
    """

    truth: Array
    models: dict[str, Array]
    mass: RowMass
    order: Labels | None = None

    @classmethod
    def of_values(cls, p: Predictions, use: Literal["pred", "score"], clusters: str | None) -> ComparedColumns:
        """The labels or the scores of models, row by row, of one length; rows of no weight are left out."""
        given = p.given
        named = {name: getattr(model, use) for name, model in given.models.items()}
        called = {f"the model {name!r}": values for name, values in named.items()}
        beside = {"frequency": given.frequency, "sample_weight": given.sample_weight, "cluster": given.cluster}
        for each, column in beside.items():
            refuse_name(each, column)
        check_order(y_true=given.data, **called, **beside)
        true = checks.column(given.data, "y_true")
        columns = {}
        for name, values in named.items():
            if len(shape := np.shape(values)) == 2 and shape[1] > 1:
                raise InputError(
                    f"The model {name!r} has {shape[1]} columns, and compare takes one of each model; give y_score= "
                    "for a column of scores for each class, or labels."
                )
            columns[name] = checks.column(values, f"the model {name!r}")
            if len(columns[name]) != len(true):
                lengths = f"The model {name!r} has {len(columns[name]):,} rows and y_true {len(true):,}"
                raise InputError(f"{lengths}; give one prediction for each row of y_true.")
        times = checks.weights(given.frequency, "frequency", whole=True)
        weights = checks.weights(given.sample_weight, "sample_weight")
        members = None if given.cluster is None else checks.column(given.cluster, "cluster")
        checks.check_lengths(y_true=true, frequency=times, sample_weight=weights, cluster=members)
        order = category_order(given.data, true, *columns.values())
        mass = RowMass.of_rows(times, weights, members, clusters)
        kept = slice(None) if mass.mass is None or (mass.mass > 0).all() else mass.mass > 0
        mass = mass if isinstance(kept, slice) else mass.at(kept)
        return cls(true[kept], {name: column[kept] for name, column in columns.items()}, mass, order)

    @classmethod
    def of_frame(cls, p: Predictions) -> ComparedColumns:
        """The labels of models of a frame, counted where they are."""
        given = p.given
        names = {name: str(model.pred) for name, model in given.models.items()}
        named: dict[str, Any] = {"weight": given.sample_weight, "frequency": given.frequency, "cluster": given.cluster}
        beside: dict[str, Any] = {use: column_name(use, name) for use, name in named.items()}
        with p.frame() as source:
            counted = count_keys(source, true=given.true, pred=[*dict.fromkeys(names.values())], **beside)
        assert counted.truth is not None  # noqa: S101 - its column is named
        models = {name: counted.predicted[column] for name, column in names.items()}
        mass = RowMass.of_rows(counted.rows, None, counted.clusters, cluster_name(p))
        mass = mass._replace(weights=counted.weights, squares=counted.squares)
        order = None
        if type(given.data).__module__.partition(".")[0] == "pandas":  # which states an order that counting loses
            order = category_order(given.data[given.true], counted.truth, *models.values())
        return cls(counted.truth, models, mass, order)


def cluster_name(p: Predictions) -> str | None:
    """What the clusters are called."""
    cluster = p.given.cluster
    return cluster if isinstance(cluster, str) else getattr(cluster, "name", None)


# ---------------------------------------------------------------- compare

LABELS_TAKEN = "The models gave labels: all their values are labels of the truth; y_score= takes them as scores."
SCORES_TAKEN = "The models gave scores: not all their values are labels of the truth; y_pred= takes them as labels."


def compared_rows(
    data: Any, models: Any, rows: RowOptions
) -> tuple[Predictions, tuple[str, ...], Sequence[str] | None]:
    """The rows of the models, which were taken as scores, and the models that were named of counted rows."""
    counted = Predictions.of(data, **rows) if not isinstance(models, Mapping) else None
    if counted is not None and models is None:
        return counted, (), None
    if counted is not None and (counted.given.is_table or counted.given.is_frame or isinstance(data, Predictions)):
        names = [models] if isinstance(models, str) else [str(name) for name in models]
        return (counted if counted.given.is_table else counted[names]), (), names
    if not isinstance(models, Mapping):
        raise InputTypeError(
            f'compare takes the models by name, such as {{"A": ..., "B": ...}}, not {type(models).__name__}.'
        )
    use, stated = _told_apart(data if data is not None else rows.get("y_true"), models, rows.get("labels"))
    return Predictions.of(data, models, second_is=use, **rows), stated, None


def _told_apart(
    y_true: Any, models: Mapping[str, Any], labels: Any
) -> tuple[Literal["y_pred", "y_score"], tuple[str, ...]]:
    """Whether the values of models are labels, all of them labels of the truth, or scores; and in words which."""
    if are_label_sets(y_true):
        scored = any(_is_matrix_of_scores(values) for values in models.values())
        return "y_score" if scored else "y_pred", ()
    if any(len(np.shape(values)) == 2 and np.shape(values)[1] > 1 for values in models.values()):
        return "y_score", ()
    known = {*occurring_labels(y_true), *(labels or ())}
    columns = [checks.column(values, f"the model {str(name)!r}") for name, values in models.items()]
    if not all(column.dtype.kind in "biuf" for column in columns):
        return "y_pred", ()  # text is no score
    are_labels = all(known.issuperset(np.unique(part).tolist()) for c in columns for part in (c[:_FIRST], c))
    return ("y_pred", (LABELS_TAKEN,)) if are_labels else ("y_score", (SCORES_TAKEN,))


_FIRST = 1_000  # values that show, as a rule, that a column is of scores


def _is_matrix_of_scores(values: Any) -> bool:
    """Whether a column for each label is of other numbers than 0 and 1."""
    if not hasattr(values, "dtype") and not hasattr(values, "columns"):
        return False
    matrix = values.data if hasattr(values, "toarray") else np.asarray(values)
    return matrix.dtype.kind == "f" and not np.isin(matrix, (0, 1)).all()


@question
def compare(
    data: RowsLike | Mapping[str, Any] = None,
    models: Mapping[str, ArrayLike] | Sequence[str] | None = None,
    /,
    *,
    use: UseLike | None = None,
    metrics: Iterable[SpecLike] | None = None,
    prevalence: PrevalenceLike | None = None,
    capacity: CapacityLike | None = None,
    margin: float | None = None,
    method: str = "auto",
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Comparison:
    """Which model to choose, and whether models differ: what each finds, and every metric's difference with its tests.

    `verdict` begins with rows: what each model finds among as many alerts, `capacity` (200, or "200 of 10000") or as
    many as there are positives, with the interval of the difference in which each threshold is a matter of chance;
    of labels what each finds, misses and flags in error. Then comes the one number of the `use`, "alerts", "balance",
    "ranking", "probabilities" or a profile, then the choice, or how many positives would tell. Without a use all four
    are asked.

    `models` are columns by name, of predicted labels, of scores of the positive class, of which `threshold` (a number,
    or one per model) makes labels, or of scores of all classes, a column for each (n x K). By `y_pred` they are labels,
    by `y_score` scores; without a keyword values that are all labels of the truth are labels, and `assumed` says which.
    Or give a Predictions of several models, a frame and the names of its columns (`pred` or `score`, as a list or by
    name), or a Paired table alone. Models of different rows are given by name alone, each an evaluation, its file, a
    table or rows: compare({"new": ..., "old": ...}); they are taken as independent, and read at the `prevalence`
    that is given, or at that which all were evaluated with. Differences are the first less the second.

    The intervals of labels draw truth x A x B from the posterior with 1/2 row in each cell, or whole clusters. A
    p-value is the larger of that posterior's and of the mid-p of swapping the models' predictions at random; where few
    rows disagree it is conservative, and the interval holds 0 where the test does not reject it. Metrics of scores are
    tested by Student's t on the influence of each row or cluster, which is DeLong's test of roc_auc; those without
    influence by a Bayesian bootstrap. `p_holm` holds for all rows of the result together. Of more than two models the
    `simultaneous` intervals hold for all pairs by a metric, and `omnibus` tests whether all are equal. `margin` asks
    whether each model is not worse than the next by more. `method="anytime"` compares two models by their labels after
    every batch: the intervals of a metric hold at all looks together, and a p-value whenever one stops.

    >>> models = {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}
    >>> compare([0] * 90 + [1] * 10, y_pred=models, metrics=["recall"])
    A against B on the same 100 rows: differences with 95 % intervals
    In 100 rows A finds 9 of 10 positives, misses 1 and raises 5 false alarms; B finds 2, misses 8 and
    raises 0.
    A finds 7 more (1 to 9) and raises 5 more false alarms (1 to 10) than B.
    Recall is 90.0 % for A and 20.0 % for B: 70.0 points higher (13.2 to 88.3).
    Choose A.
    metric      A      B  difference    low   high  p_value  p_holm
    recall  0.900  0.200       0.700  0.132  0.883   0.0215  0.0215
    McNemar: A alone is right in 8 rows, B alone in 6; p = 0.607 (mid-p), 0.791 (exact)
    """
    inference = Inference(level, draws=draws, rng=rng, prevalence=prevalence)
    specs = None if metrics is None else tuple(MetricSpec.all_of(metrics))
    margin = _checked_margin(margin)
    stated_use, alerts = read_use(use), None if capacity is None else AlertCapacity.read(capacity)
    if method not in ("auto", "anytime"):
        raise InputError(argument="method", expected="'auto' or 'anytime'", given=method)
    if isinstance(data, Mapping) and models is None and not {"y_pred", "y_score"} & rows.keys():
        if method == "anytime":
            raise InputError("method='anytime' is of two models on the same rows; give both models' labels.")
        sides = {str(name): CountedModel.of(str(name), model, rows) for name, model in data.items()}
        if is_given := prevalence is not None:
            sides = {name: replace(side, prevalence=inference.prevalence) for name, side in sides.items()}
        inference = replace(inference, prevalence=None)
        question = Question(specs, CallOptions(rows.get("pos_label")), inference, margin, None, stated_use, alerts)
        return question.of_models(sides, is_given=is_given)
    p, stated, names = compared_rows(data, models, rows)
    prevalence = _checked_prevalence(p, inference.prevalence)
    options, inference = CallOptions(p.given.pos_label, p.given.labels), replace(inference, prevalence=None)
    question = Question(specs, options, inference, margin, prevalence, stated_use, alerts)
    found = _anytime(question, p, names) if method == "anytime" else _compared(question, p, names)
    return replace(found, assumed=(*stated, *found.assumed))


def _checked_prevalence(p: Predictions, prevalence: Any) -> Any:
    """The prevalence that the same rows are read at: one number, of independent rows with one label each."""
    if prevalence is None:
        return None
    if isinstance(prevalence, Prevalence) or np.ndim(prevalence):
        raise InputError(
            "prevalence= of models on the same rows is one number; an uncertain one is read at float(prevalence)."
        )
    if p.are_sets or p.by_highest() is not p:
        raise InputError(
            argument="prevalence", expected="the share of one positive class", do="name it with pos_label="
        )
    refuse_unused(p, "compare at a prevalence", "cluster")
    return prevalence


def _anytime(question: Question, p: Predictions, names: Sequence[str] | None) -> Comparison:
    """The comparison of models by their labels whose intervals hold at all looks together."""
    given = p.given
    others = {name: getattr(question, name) for name in ("margin", "prevalence", "use", "capacity")}
    if extra := next((name for name, value in others.items() if value is not None), None):
        raise InputError(f"{extra}= has no place in an anytime comparison, which is of the rows as they come.")
    refuse_unused(p, "an anytime comparison", "weights", "cluster", "design", "by", "threshold")
    tables: dict[tuple[str, str], Paired]
    if given.is_table:
        (a, b), table = _paired_table(p, names)
        tables = {(a, b): table}
    else:
        if p.are_sets or any(model.pred is None for model in given.models.values()):
            raise InputError("An anytime comparison is of predicted labels, one for each row; give y_pred=.")
        tables = {(a, b): p[[a, b]].paired() for a, b in combinations(_at_least_two(p), 2)}
    rows = [
        Difference(a, b, *each[:-2], method="anytime")
        for (a, b), table in tables.items()
        for each in anytime_differences(table, question.specs, question.inference.level, given.pos_label)
    ]
    adjusted = holm(row.p_value for row in rows)
    rows = [
        replace(row, p_holm=p_holm, simultaneous_low=row.low, simultaneous_high=row.high)
        for row, p_holm in zip(rows, adjusted, strict=True)
    ]
    decided = next((row.spec for row in rows if row.spec.sign), None)
    first = next(iter(tables.values()))
    collapsed = {pair: table.collapsed(given.pos_label) for pair, table in tables.items()}
    labels = {name: table.confusion(i) for pair, table in collapsed.items() for i, name in enumerate(pair)}
    models = ModelTables(tuple(dict.fromkeys(row.spec for row in rows)), question.options, labels)
    numbers = {} if decided is None else {decided.name: decided}
    level = question.inference.level
    return Comparison(
        models=tuple(labels),
        n=first.n,
        level=level,
        rows=Rows(rows),
        mcnemar=Rows(mcnemar(table, pair) for pair, table in collapsed.items()),
        delong=Rows(),
        tables=models,
        assumed=(
            f"Each interval holds at all looks together with probability {100 * level:g} %, so that more rows may be "
            "added and looked at until the answer is clear; McNemar's test is of one look.",
        ),
        decisive={name: Rows(row for row in rows if row.spec == spec) for name, spec in numbers.items()},
        no_skill=_no_skill(models, numbers, model_intervals(models, question.inference, RowDesign())),
    )


def _no_skill(
    tables: ModelTables, numbers: Mapping[str, MetricSpec], intervals: Mapping[str, Sequence[Interval]]
) -> dict[str, tuple[str, ...]]:
    """By the name of each number the models whose interval reaches their no-skill baseline."""
    found = {}
    for name, spec in numbers.items():
        place = tables.specs.index(spec)
        of_models = {model: (rows[place], tables.no_skill(spec, model)) for model, rows in intervals.items()}
        found[name] = tuple(
            model for model, (row, none) in of_models.items() if reaches_no_skill(spec, row.low, row.high, none)
        )
    return {name: models for name, models in found.items() if models}


def _at_least_two(p: Predictions) -> tuple[str, ...]:
    """The models by name, of which there are two or more."""
    if len(p.models) < 2:
        raise InputError(
            f"compare needs two or more models, not {len(p.models)}; evaluate() gives the confidence intervals of one."
        )
    return p.models


def _paired_table(p: Predictions, names: Sequence[str] | None) -> tuple[Sequence[str], Paired]:
    """The paired table that is given, and what its two models are called."""
    table = p.given.data.paired if isinstance(p.given.data, Tally) else p.given.data
    if not isinstance(table, Paired):
        raise InputTypeError(
            "These counted rows are of one model; give those of others too: compare({'new': ..., 'old': ...})."
        )
    refuse_unused(p, "compare of a paired table", "cluster")
    names = names or getattr(p.given.data, "models", None) or ("A", "B")
    if len(names) != 2:
        raise InputError(f"A paired table holds two models; name two, or none for 'A' and 'B', not {len(names)}.")
    return names, table


def _compared(question: Question, p: Predictions, names: Sequence[str] | None) -> Comparison:
    """The comparison of models of the same rows."""
    given = p.given
    refuse_unused(p, "compare", "design", "by")
    if given.is_table:
        names, table = _paired_table(p, names)
        return question.of_table(table, names)
    _at_least_two(p)
    if not p.has_truth:
        raise InputTypeError("These rows have no truth, which compare needs; give y_true, or of a frame true=.")
    if p.are_sets:
        return compared_label_sets(question, p)
    name = cluster_name(p)
    if any(model.score is None for model in given.models.values()):
        if any(model.pred is None for model in given.models.values()):
            raise InputError("Some models have labels alone and some scores alone; give all of them one of the two.")
        columns = (
            ComparedColumns.of_frame(p) if given.is_frame else ComparedColumns.of_values(p.collect(), "pred", name)
        )
        if given.is_frame:
            present = label_codes.distinct(columns.truth, f"The column {given.true!r}")[1]
            pos_label = match_label(given.pos_label, present)
            question = replace(question, options=replace(question.options, pos_label=pos_label))
        return question.of_labels(columns, given.threshold)
    if given.frequency is not None:
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if given.is_frame:
        with p.frame() as source:
            check_row_number(source, *ROWS_OF_SCORES)
    values = p.collect()
    question = replace(question, options=replace(question.options, pos_label=values.given.pos_label))
    if any(values[name].kind == "class scores" for name in values.models):
        return compared_columns(question, ColumnModels.of(values, name), given.threshold)
    has_labels = all(model.pred is not None for model in values.given.models.values())
    predicted = ComparedColumns.of_values(values, "pred", name) if has_labels else None
    return question.of_scores(ComparedColumns.of_values(values, "score", name), given.threshold, predicted)


def _checked_margin(margin: float | None) -> float | None:
    """The margin of non-inferiority: a number above 0."""
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, (int, float, np.number)) or not 0 < margin < math.inf:
        raise InputError(
            argument="margin", expected="how much worse a model may be, a number above 0 such as 0.02", given=margin
        )
    return float(margin)
