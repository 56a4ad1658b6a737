"""Evaluation: all metrics of one set of predictions with their intervals, groups, classes and verdict."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from steelyard._names import __version__
from steelyard._types import Label
from steelyard.analysis.chance.chance import Baselines
from steelyard.analysis.chance.chance_tests import ChanceTest, beats_chance
from steelyard.analysis.confusions.confused_pairs import (
    ConfusedPair,
    PairOrder,
    class_standing,
    confused_pairs,
    pooled_classes,
)
from steelyard.analysis.confusions.hierarchy import LevelErrors
from steelyard.analysis.decisions.best_decision import DecidedRows
from steelyard.analysis.decisions.decision_rule import DecisionRule, RiskCoverage
from steelyard.analysis.decisions.search import CrossFit
from steelyard.analysis.intervals.cluster_tables import has_several_clusters
from steelyard.analysis.intervals.interval import Interval  # noqa: TC001 - saved fields are read back by their types
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.prevalence.prevalence import PrevalenceLike, at_prevalence, table_at
from steelyard.analysis.results.denominator import FEW_ROWS, denominator
from steelyard.analysis.results.formatting import bounds_text, interval_text, value_text
from steelyard.analysis.results.result import (
    Result,
    Rows,
)
from steelyard.analysis.results.result_homes import rendered
from steelyard.analysis.results.result_json import same_fields
from steelyard.analysis.thresholds.limits import Capacity
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, first_ten
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.curves import precision_recall_points, roc_points
from steelyard.metrics.ranking import check_probabilities
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import Use
from steelyard.metrics.usual import OF_CLASSES, PER_CLASS, PER_CLASS_OF_SCORES
from steelyard.tables.confusion import Confusion
from steelyard.tables.saved import SavedField
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally, group_label

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from steelyard.analysis.confusions.confused_pairs import ClassStanding, PooledClasses
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.results.result_json import SavedResult
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, SearchOptions
    from steelyard.analysis.thresholds.threshold_sample import AimLike
    from steelyard.evaluation.error_rows import ErrorRows
    from steelyard.evaluation.verdict.sentences import Sentence
    from steelyard.metrics.curves import PrecisionRecallCurve, RocCurve
    from steelyard.tables.counts import Counts
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.statistic import MetricTable


# ---------------------------------------------------------------- rows of an evaluation
# A metric as asked with its value, interval and baseline; and a class with its metrics.


@dataclass(frozen=True, eq=False, repr=False)
class MetricRow:
    """One metric: its value, its interval, its no-skill baseline, and where it is undefined the reason.

    The baseline of a calibration error, which has no interval, is a calibrated model with the same scores: `chance` is
    what it would show on average, `chance_high` at most with the level's probability.
    """

    spec: MetricSpec = field(metadata={"key": "name"})
    value: float
    low: float
    high: float
    chance: float
    undefined: str | None = None
    undefined_share: float = 0.0
    method: str = ""
    chance_high: float = math.nan
    no_interval: str | None = None  # why a value has no interval

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetricRow) and same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.spec, self.method))

    @property
    def name(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def is_headline(self) -> bool:
        """Whether it stands among the metrics that are shown first."""
        is_averaged = self.spec.average == "macro" and self.spec.metric.name in PER_CLASS_OF_SCORES
        return self.spec.is_headline or is_averaged

    def text(self, value: float) -> str:
        """A value of this metric as it is shown: a share of rows in percent."""
        return value_text(value, share=self.spec.is_share)

    def interval_or_reason(self) -> str:
        """The interval as it is shown, or why there is no value."""
        if self.undefined is not None and math.isnan(self.value):
            return self.undefined
        if math.isfinite(self.chance_high):
            return f"calibrated: up to {self.text(self.chance_high)}"
        return self.no_interval or bounds_text(self.low, self.high, share=self.spec.is_share, value=self.value)

    def row(self) -> dict[str, Any]:
        """The metric as strict JSON values: null where it is undefined."""
        values = {"value": self.value, "low": self.low, "high": self.high, "chance": self.chance}
        row = {"name": self.name, **{key: float(x) if math.isfinite(x) else None for key, x in values.items()}}
        if math.isfinite(self.chance_high):
            row["chance_high"] = self.chance_high
        row["undefined"] = self.undefined
        return row | ({"no_interval": self.no_interval} if self.no_interval else {})

    def __repr__(self) -> str:
        if math.isnan(self.value):
            return f"{self.name} undefined{f': {self.undefined}' if self.undefined else ''}"
        if math.isfinite(self.chance_high):
            value, usual, most = map(self.text, (self.value, self.chance, self.chance_high))
            return f"{self.name} {value}; a calibrated model with these scores: {usual}, up to {most}"
        if self.no_interval:
            return f"{self.name} {self.text(self.value)} ({self.no_interval})"
        text = f"{self.name} {interval_text(self.value, self.low, self.high, share=self.spec.is_share)}"
        return text if math.isnan(self.chance) else f"{text}, chance {self.text(self.chance)}"


@dataclass(frozen=True)
class ClassRow:
    """The precision, recall and F1 of one class against the rest, with their intervals."""

    label: Label
    rows: int
    precision: Interval
    recall: Interval
    f1: Interval

    @property
    def intervals(self) -> dict[str, Interval]:
        """The intervals by the name of their metric."""
        return {name: getattr(self, name) for name in CLASS_METRICS}

    def row(self) -> dict[str, Any]:
        """The class as a row of a table."""
        return {"class": self.label, "rows": self.rows, **interval_columns(self.intervals)}

    def __repr__(self) -> str:
        parts = (f"{name} {interval.text()}" for name, interval in self.intervals.items())
        return f"{self.label!r} ({self.rows:,} rows): {', '.join(parts)}"


@dataclass(frozen=True)
class LabelRow:
    """One label: the rows that have it and those predicted to, how rare it is, and its metrics with their intervals.

    `imbalance` is how many times as many rows the commonest label has (IRLbl; Charte and others 2015).
    """

    label: Any
    rows: int
    predicted: int | None
    share: float
    imbalance: float
    metrics: Mapping[str, Interval]

    def row(self) -> dict[str, Any]:
        """The label as a row of a table."""
        numbers = {"rows": self.rows, "predicted": self.predicted, "share": self.share, "imbalance": self.imbalance}
        return {"label": self.label, **numbers, **interval_columns(self.metrics)}

    def __repr__(self) -> str:
        parts = (f"{name} {interval.text()}" for name, interval in self.metrics.items())
        return f"{self.label!r} ({self.rows:,} rows): {', '.join(parts)}"


CLASS_METRICS = tuple(field.name for field in fields(ClassRow))[2:]


def interval_columns(intervals: Mapping[str, Interval]) -> dict[str, float]:
    """Intervals by the name of their metric as columns of a table: recall, recall_low, recall_high."""
    columns: dict[str, float] = {}
    for name, interval in intervals.items():
        columns |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return columns


# ---------------------------------------------------------------- the rows of an evaluation
# Each metric on the tables it reads, with its interval, beside its no-skill baseline.


SHOWN_AVERAGES = ("macro", "weighted")


def metric_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Iterable[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    """The rows of the metrics: of labels, of scores, and of classes averaged or by name where that was asked for."""
    native = [spec for spec in specs if spec.is_native]
    by_class = [spec for spec in specs if not spec.is_native and spec.metric.function is not None]
    rows = [
        *_label_rows(table, scores, positive, native, inference),
        *([] if scores is None else _score_rows(scores, native, inference)),
    ]
    if table is None:
        return rows
    return rows + [row for spec in by_class for row in table_rows([spec], table, CallOptions(), inference)]


def _label_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Sequence[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    if table is None:
        return []
    of_labels = [spec for spec in specs if spec.metric.function is not None and not spec.reads_scores(scores)]
    if inference.clustered is not None:
        of_labels = [spec for spec in of_labels if spec.metric.scores is None]
    if positive is not None:
        return table_rows(of_labels, table, CallOptions(pos_label=positive), inference)
    rows = table_rows([spec for spec in of_labels if spec.metric.classes], table, CallOptions(), inference)
    averaged = [
        replace(spec, average=average)
        for average in SHOWN_AVERAGES
        for spec in of_labels
        if spec.metric.name in PER_CLASS
    ]
    return rows + table_rows(averaged, table, CallOptions(), inference)


def _score_rows(scores: ScoreTable, specs: Sequence[MetricSpec], inference: Inference) -> list[MetricRow]:
    """The metrics of scores; undefined where the rows are of one class, as in a group or a small test part."""
    of_scores = [spec for spec in specs if spec.metric.scores is not None]
    if not (scores.positive.n and scores.negative.n):
        why = "no negatives" if scores.positive.n else "no positives"
        return [MetricRow(spec, *(math.nan,) * 4, why) for spec in of_scores]
    return table_rows([spec for spec in of_scores if spec.metric.fits_scores(scores)], scores, CallOptions(), inference)


def table_rows(
    specs: Sequence[MetricSpec], table: MetricTable, options: CallOptions, inference: Inference
) -> list[MetricRow]:
    """The rows of metrics on one table, each beside its no-skill baseline."""
    intervals = table_intervals(specs, table, options, inference)
    baselines = Baselines(table_at(table, inference.prevalence))
    rows = []
    for spec, interval in zip(specs, intervals, strict=True):
        try:
            chance = baselines.same_margins(spec, options)
        except InputError:  # a table, or a group, of one class only
            chance = math.nan
        undefined = None if math.isfinite(interval.value) else interval.why
        bounds = (interval.value, interval.low, interval.high)
        row = MetricRow(interval.spec, *bounds, chance, undefined, interval.undefined_share, interval.method)
        if interval.calibrated is not None and interval.calibrated_high is not None:
            row = replace(row, chance=interval.calibrated, chance_high=interval.calibrated_high)
        elif undefined is None and math.isnan(interval.low):
            row = replace(row, no_interval=interval.why)
        rows.append(row)
    return rows


def check_has_form(spec: MetricSpec, labels: Sequence[Label]) -> None:
    """Refuse a metric of one class among classes of which none is the positive one, and of probabilities without."""
    if len(labels) > 2 and spec.is_native and spec.metric.of_probabilities and spec.metric.columns is not None:
        raise InputError(
            f"{spec.name} is of probabilities, a column for each class, that sum to 1 in each row; there are none "
            "here. Give them as y_score=."
        )
    if spec.is_native and spec.metric.classes is None:
        reason = f"{spec.name} is of one class, and which is the positive one is not clear from the labels"
        raise InputError(f"{reason} {first_ten(labels)}; name it with pos_label=.")


def check_named(
    specs: list[MetricSpec],
    rows: Iterable[MetricRow],
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
) -> list[MetricSpec]:
    """The metrics that were named; one that has no row, since the data have no form of it, is refused."""
    present = {row.spec.metric.name for row in rows}
    for spec in specs:
        if spec.metric.name in present:
            continue
        if scores is not None and spec.metric.of_probabilities:
            check_probabilities(spec.name, scores)
        if scores is not None and spec.metric.least_rows is not None:
            name, rank = spec.metric.name, spec.metric.least_rows
            raise InputError(
                f"{spec.name} has no value here: it is of the {spec.metric.parameters[rank]:g} rows that score "
                f"highest, and there are {scores.n:,}; ask for fewer, as in {name}[{rank}={max(scores.n // 2, 1)}]."
            )
        if table is not None and positive is None:
            check_has_form(spec, table.labels)
        raise InputError(f"{spec.name} has no value here: of rows in clusters it needs scores.")
    return specs


def beats_no_skill(table: Confusion | None, scores: ScoreTable | None, positive: Label) -> ChanceTest | None:
    """The test against the no-skill baseline; None where that cannot be asked. What it assumed the evaluation says."""
    try:
        asked: Confusion | Counts | ScoreTable | None = scores
        if table is not None:
            asked = table.counts(positive) if positive is not None and not table.weighted else table
        return None if asked is None else replace(beats_chance(asked), assumed=())
    except (InputError, InputTypeError):
        return None


def class_rows(table: Confusion | None, inference: Inference) -> Rows[ClassRow]:
    """Each class against the rest."""
    if table is None or not len(table.labels):
        return Rows()
    specs = [MetricSpec.of(name) for name in CLASS_METRICS]
    by_metric = table_intervals(specs, table, CallOptions(average=None), inference)
    columns = zip(*map(each_interval, by_metric), strict=True)
    return Rows(
        ClassRow(label, rows, *intervals)
        for label, rows, intervals in zip(table.labels, table.true_rows.tolist(), columns, strict=True)
    )


def each_interval(interval: Interval[Any]) -> list[Interval]:
    """The interval of each class, or of each label, out of one that holds those of all."""
    bounds = [np.asarray(bound, dtype=np.float64).tolist() for bound in (interval.value, interval.low, interval.high)]
    whys = [None] * len(bounds[0]) if interval.why is None else list(interval.why)
    return [
        replace(interval, value=value, low=low, high=high, bin_error=None, why=why)
        for value, low, high, why in zip(*bounds, whys, strict=True)
    ]


def with_class_bounds(rows: Iterable[MetricRow], by_class: Iterable[ClassRow]) -> list[MetricRow]:
    """The rows, those of one class with the bounds that the table of classes gives: one quantity, one interval."""
    intervals = {(row.label, name): interval for row in by_class for name, interval in row.intervals.items()}
    bounded = []
    for row in rows:
        known = intervals.get((row.spec.label, row.spec.metric.name))
        if known is not None:
            row = replace(row, low=known.low, high=known.high, method=known.method)  # noqa: PLW2901 - the same row
        bounded.append(row)
    return bounded


def in_order(rows: Iterable[MetricRow], specs: Sequence[MetricSpec]) -> list[MetricRow]:
    """The rows in the order of the requested metrics, each once; a metric's averages follow it."""
    indices = {spec: i for i, spec in enumerate(specs)}
    first = {spec.metric: i for spec, i in reversed(indices.items())}
    once = {row.spec: row for row in rows}.values()
    return sorted(once, key=lambda row: indices.get(row.spec, first.get(row.spec.metric, len(specs))))


# ---------------------------------------------------------------- groups
# The metrics of each group of rows beside those of the whole.


_OF_GROUPS = ("recall", "specificity", "precision", "ac_score", "roc_auc")  # shown of each where none are named
_MOST_SHOWN = 5  # metrics of a group that fit a line


@dataclass(frozen=True)
class Group:
    """One group of rows: its key, how many rows it has, its metrics, and what they are of."""

    by: tuple[str, ...]
    key: tuple[Any, ...]
    rows: int
    metrics: Rows[MetricRow]
    confusion: Confusion | None = field(default=None, metadata={"key": None})
    scores: ScoreTable | None = field(default=None, repr=False, compare=False, metadata={"key": None})

    @property
    def label(self) -> str:
        """The group in words: site = north, year = 2024."""
        return group_label(self.by, self.key)

    def __getitem__(self, name: str) -> MetricRow:
        return next(row for row in self.metrics if row.name == name)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.metrics)

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return {"group": self.label, "rows": self.rows, **{row.name: row.value for row in self.metrics}}

    def summary(self, *, named: bool = False) -> dict[str, Any]:
        """The group as a row of a terminal's table: of the metrics that were named, or of the few that fit a line."""
        usual = [row for row in self.metrics if row.spec.metric.name in _OF_GROUPS and row.spec.is_native]
        rows = self.metrics if named else usual or self.metrics[:_MOST_SHOWN]
        return {"group": self.label, "rows": self.rows, **{row.name: row.text(row.value) for row in rows}}

    def to_dict(self) -> dict[str, Any]:
        """The group as strict JSON values."""
        key = dict(zip(self.by, self.key, strict=True))
        return {"group": key, "rows": self.rows, "metrics": self.metrics.to_dicts()}


def group_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Sequence[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    """The metrics of one group; without an interval where its rows are of one cluster, which shows no variation."""
    if inference.clustered is None or has_several_clusters(inference.clustered):
        return metric_rows(table, scores, positive, specs, inference)
    rows = metric_rows(table, scores, positive, specs, inference.of_independent_rows())
    return [replace(row, low=math.nan, high=math.nan, method="cluster") for row in rows]


def no_interval_sentences(groups: Sequence[Group]) -> tuple[str, ...]:
    """Which groups have no interval since all their rows are of one cluster."""
    single = []
    for group in groups:
        defined = [row for row in group.metrics if not math.isnan(row.value)]
        if defined and all(row.method == "cluster" and math.isnan(row.low) for row in defined):
            single.append(group.label)
    return (f"A group whose rows are all of one cluster has no interval: {first_ten(single)}.",) if single else ()


def single_cluster_sentences(classes: Sequence[ClassRow]) -> tuple[str, ...]:
    """Which classes are in one cluster alone, so that what reads them has no interval."""
    reasons = dict.fromkeys(row.recall.why for row in classes if row.recall.why and not math.isnan(row.recall.value))
    return tuple(f"{why[:1].upper()}{why[1:]}: metrics that read them have no interval." for why in reasons)


# ---------------------------------------------------------------- the reading of many classes
# The pairs confused most, the classes below the median one, and the rare ones as one.


LEAST_RANKED = 12  # classes from which a median class is spoken of


class ClassReading:
    """What an evaluation of many classes is read by."""

    if TYPE_CHECKING:
        confusion: Confusion | None
        positive: Label
        level: float

        @property
        def is_clustered(self) -> bool:
            """Whether rows came in clusters."""

    @property
    def _many_classes(self) -> Confusion | None:
        """The table where it is of many classes, none of them the positive one."""
        many = self.confusion is not None and self.positive is None and len(self.confusion.labels) >= LEAST_RANKED
        return self.confusion if many else None

    @cached_property
    def standing(self) -> ClassStanding | None:
        """Of 12 classes or more, those that are shown to have a lower or a higher recall than the median class."""
        table = self._many_classes
        if table is None or self.is_clustered or (table.true_rows > 0).sum() < LEAST_RANKED:
            return None
        return class_standing(table, self.level)

    @cached_property
    def rare_classes(self) -> PooledClasses | None:
        """Of 12 classes or more, those with fewer than 5 rows as one, with the recall of all; no metric pools them."""
        table = self._many_classes
        return None if table is None else pooled_classes(table, self.level)

    @names_wrong_arguments
    def confused_pairs(self, most: int = 10, *, by: PairOrder = "weight") -> Rows[ConfusedPair]:
        """The pairs of classes that are confused most, by weight or by share of the true class, each with a test.

        The test is against quasi-independence, where errors fall on classes whatever the true one; its p-values are
        adjusted by Holm's method for all pairs of the table.
        """
        if self.confusion is None:
            return Rows()
        return Rows(confused_pairs(self.confusion, self.level, most=most, by=by, clustered=self.is_clustered))


# ---------------------------------------------------------------- evaluation


def current_versions() -> dict[str, str]:
    """The versions that a result depends on."""
    return {"steelyard": __version__, "python": platform.python_version(), "numpy": np.__version__}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ClassReading, Result[MetricRow]):
    """What a set of predictions is worth: the verdict in words, then every metric, and the tables behind them.

    >>> from steelyard import Counts, evaluate
    >>> found = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> row = found["f1"]
    >>> print(f"{row.value:.3f}; no-skill baseline {row.chance:.3f}")
    0.371; no-skill baseline 0.024
    """

    confusion: Confusion | None
    scores: ScoreTable | None
    metrics: Rows[MetricRow]
    per_class: Rows[ClassRow]
    positive: Label
    threshold: float | None
    level: float
    beats: ChanceTest | None
    assumed: tuple[str, ...] = ()
    prevalence: PrevalenceLike | None = None
    rows: int = 0
    seed: int | None = 0
    behind: Rows[MetricRow] = field(default_factory=Rows)
    metrics_named: bool = False  # whether the metrics were chosen by name
    groups: Rows[Group] = field(default_factory=Rows)
    muted: tuple[str, ...] = ()  # codes of sentences that the verdict leaves out
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)  # of a frame: what each was for
    source: str | None = None  # what the rows came from, such as the name of a file
    versions: Mapping[str, str] = field(default_factory=current_versions)
    hierarchy: LevelErrors | None = None  # the errors by level, where the labels have a hierarchy
    risk_coverage: RiskCoverage | None = None  # of probabilities of many classes, the least certain sent to a person
    use: Use | None = None  # what the predictions are for, whose number leads
    capacity: Capacity | None = None  # so many alerts can be looked at
    per_label: Rows[LabelRow] = field(default_factory=Rows)  # where rows may have several labels each
    # Of one that was read from JSON: metrics whose "value" or "interval" no table there could confirm.
    unconfirmed: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __iter__(self) -> Iterator[MetricRow]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> MetricRow:
        """The row of one metric, by name, alias or written form."""
        rows = {row.name: row for row in [*self.behind, *self.metrics]}
        if name in rows:
            return rows[name]
        spec = MetricSpec.of(name)
        if spec.name in rows:
            return rows[spec.name]
        if self.positive is None and self.confusion is not None:
            check_has_form(spec, self.labels)
        raise InputError(f"{spec.name} was not evaluated here; there are {', '.join(list(rows)[:8])} and others.")

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except (InputError, UnknownNameError):
            return False

    @property
    def counts(self) -> Counts | None:
        """The two-class table, where the evaluation is about one positive class."""
        if self.confusion is None or self.positive is None:
            return None
        return self.confusion.counts(self.positive)

    def counted_rows(self) -> Tally:
        """The tables of all rows and of each group, by which other questions read the same rows at `threshold`."""
        if self.is_clustered:
            raise InputError(
                "The rows of this evaluation came in clusters or by a label plan, whose noise its tables do not show; "
                "give the rows."
            )
        has_scores = self.scores is not None and self.threshold is not None  # which the threshold reads as labels

        def tally(table: Confusion | None, scores: ScoreTable | None) -> Tally:
            stated = table if table is None or self.positive is None else table.with_positive(self.positive)
            return Tally(None if has_scores else stated, scores, labels=self.labels)

        kept = [group for group in self.groups if group.confusion is not None or group.scores is not None]
        groups = {group.key: tally(group.confusion, group.scores) for group in kept}
        by = kept[0].by if kept else ()
        return replace(tally(self.confusion, self.scores), by=by, groups=groups)

    @property
    def is_clustered(self) -> bool:
        """Whether rows came in clusters, or by a plan, which intervals account for and no table that is kept shows."""
        return self.is_planned or any(row.method == "cluster" for row in self.metrics)

    @property
    def is_planned(self) -> bool:
        """Whether the labels are those that a label plan chose."""
        return any(row.method == "plan" for row in self.metrics)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes."""
        return self.confusion.labels if self.confusion is not None else ()

    @cached_property
    def verdict(self) -> list[Sentence]:
        """The headline, the number of the use or of each use, and at most three more, each with a code of its own."""
        from steelyard.evaluation.verdict.verdict import verdict

        return verdict(self)

    @cached_property
    def denominator(self) -> int:
        """Of how many rows the sentences, tables and pictures of this result speak."""
        table = self.confusion if self.confusion is not None else self.scores
        if table is None or not self.rows:
            return FEW_ROWS
        at: Any = table if self.prevalence is None else at_prevalence(table, self.prevalence)
        if self.confusion is None:
            share = float(at.positive.total / at.total)
        elif self.positive is not None:
            counts = at.counts(self.positive)
            share = float(counts.positives / counts.total)
        else:  # of many classes the share that is right
            share = float(at.matrix.trace() / at.matrix.sum())
        return denominator(share, None if self.prevalence is not None or table.weighted else self.rows)

    @property
    def speaks_of_rows(self) -> bool:
        """Whether it speaks of the rows themselves, not of so many like them."""
        table = self.confusion if self.confusion is not None else self.scores
        is_own = self.prevalence is None and table is not None and not table.weighted
        return is_own and self.denominator == self.rows

    @cached_property
    def leading(self) -> tuple[str, ...]:
        """The number of the use in force and the metrics beside it, which stand first; none without a use."""
        from steelyard.evaluation.verdict.use_sentences import leading_rows

        return tuple(leading_rows(self))

    @names_wrong_arguments
    def best_threshold(self, metric: AimLike | None = None, **options: Unpack[SearchOptions]) -> BestThreshold:
        """The threshold at which a metric is best, with its expected value on new rows."""
        from steelyard.analysis.thresholds.best_threshold import best_threshold

        return best_threshold(self._scores(), metric=metric, **options)

    def roc_curve(self) -> RocCurve:
        """Recall against the false positive rate at every threshold."""
        return roc_points(self._scores())

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        """Precision against recall at every threshold."""
        return precision_recall_points(self._scores())

    def _scores(self) -> ScoreTable:
        if self.scores is None:
            raise InputError(
                "Labels alone were evaluated; curves and thresholds need scores: evaluate(y_true, y_score=...)."
            )
        return self.scores

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, by the schema that `json_schema` gives."""
        from steelyard.evaluation.saved.saved_evaluation import evaluation_json

        return evaluation_json(self)

    @classmethod
    @names_wrong_arguments
    def from_json(cls, saved: SavedResult) -> Self:
        """The evaluation that `to_json` wrote, of its text or of the path of a file.

        Values and intervals are computed again from its tables, and a text that says otherwise is refused.

        >>> from steelyard import Counts, evaluate
        >>> evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
        >>> Evaluation.from_json(evaluation.to_json()) == evaluation
        True
        """
        return super().from_json(saved)

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The evaluation of what JSON holds of it."""
        from steelyard.evaluation.saved.saved_evaluation import read_evaluation

        return cls(**read_evaluation(SavedField(data)))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what `to_json` writes.

        >>> Evaluation.json_schema()["title"]
        'A Steelyard evaluation, schema 2'
        """
        text = files("steelyard.evaluation.saved").joinpath("schema-2.json").read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text)
        return schema

    @names_wrong_arguments
    def of_groups(self, keys: Container[tuple[Label, ...]]) -> Evaluation:
        """The same with these groups alone, and the sentences about them."""
        groups, former = Rows(group for group in self.groups if group.key in keys), no_interval_sentences(self.groups)
        stated = (sentence for sentence in self.assumed if sentence not in former)
        return replace(self, groups=groups, assumed=(*stated, *no_interval_sentences(groups)))

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return ", ".join(dict.fromkeys(row.method for row in self.metrics if row.method))

    def shown(self) -> list[MetricRow]:
        """The rows to show first: the number of the use in force, then the usual few, or those that were asked for."""
        if self.use is not None and self.use.metrics:
            return list(self.metrics)
        first = [self[name] for name in self.leading]
        rest = list(self.metrics) if self.metrics_named else self._usual()
        return [*first, *(row for row in rest if row.name not in self.leading)]

    def _usual(self) -> list[MetricRow]:
        """The usual metrics; of classes of which none is the positive one those that no one class can make 0."""
        if self.confusion is None or self.positive is not None:
            return [row for row in self.metrics if row.is_headline]
        by_name = {row.name: row for row in self.metrics}
        return [by_name[name] for name in OF_CLASSES if name in by_name]

    def weakest_classes(self) -> list[tuple[int, ClassRow]]:
        """The classes with their places, the lowest recall first and those without rows last."""
        rows = enumerate(self.per_class)
        return sorted(rows, key=lambda part: (math.isnan(part[1].recall.value), part[1].recall.value, part[0]))

    @property
    def row_counts(self) -> Counts | None:
        """The two-class table in rows, whatever their weights."""
        if self.confusion is None or self.positive is None:
            return None
        return Confusion.of_rows(self.confusion.labels, self.confusion.rows).counts(self.positive)

    @names_wrong_arguments
    def to_html(self, source: str | None = None, errors: ErrorRows | None = None) -> str:
        """The interactive page as the text of one HTML file; `source` is what it calls the data, if not their own.

        No row of the data is on it unless `errors`, what `steelyard.errors` found, is given: the first hundred are.
        """
        return rendered("html", self, source=source or self.source or "predictions", errors=errors)

    def __repr__(self) -> str:
        return rendered("text", self)


# ---------------------------------------------------------------- class risk
# The errors of the most probable class where the least certain rows go to a person.


def class_risk(table: ProbabilityTable | None, inference: Inference) -> RiskCoverage | None:
    """The curve of the most probable class; none of scores that are no probabilities, nor at another prevalence."""
    if table is None or table.first_improper is not None or inference.prevalence is not None:
        return None
    rows = DecidedRows.of(table, None)
    decided = CrossFit.of_rule(DecisionRule.of_argmax(rows.k), table.probabilities)
    return RiskCoverage.of(rows, decided, None, inference.level, intervals=inference.clustered is None)
