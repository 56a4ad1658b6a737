"""Comparison: whether one model beats another on the same rows, by every metric. The floors below may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from steelyard.analysis import draws as drawing
from steelyard.analysis import paired_tables
from steelyard.analysis.formatting import p_text
from steelyard.analysis.inference import Inference
from steelyard.analysis.metric_ranking import Ranking, ranking
from steelyard.analysis.paired_difference import Difference, Plan, Weighed
from steelyard.analysis.paired_draws import label_differences
from steelyard.analysis.rows import Rows, table_text
from steelyard.analysis.score_comparison import DeLong, finite, positives, score_differences, thresholds
from steelyard.analysis.significance_tests import McNemar, holm, mcnemar
from steelyard.analysis.strict_json import strict
from steelyard.errors import InputError, InputTypeError, did_you_mean
from steelyard.ingest import array_tables as ingest
from steelyard.ingest import arrays, frame_tally, label_codes
from steelyard.ingest.class_checks import check_classes
from steelyard.ingest.label_tables import match_label
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import get_metric
from steelyard.statistics.paired import Paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion


TWO_CLASS = (
    "recall",
    "specificity",
    "precision",
    "f1",
    "balanced_accuracy",
    "tpnr",
    "g_mean",
    "ac_score",
    "mcc",
    "kappa",
    "accuracy",
)
MANY_CLASS = ("accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa")
RANKED = ("roc_auc", "average_precision", "weighted_auc")


@dataclass(frozen=True, repr=False)
class Comparison:
    """The differences of every pair of models by every metric, and the classical tests beside them."""

    models: tuple[str, ...]
    n: int
    level: float
    rows: Rows[Difference]
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    weighed: Weighed = field(repr=False, compare=False)

    def __repr__(self) -> str:
        head, tests = self.words()
        return "\n".join([head, table_text(self.shown_rows()), *tests])

    def words(self) -> tuple[str, list[str]]:
        """What stands above the table, and the classical tests below it."""
        head = f"{' against '.join(self.models)} on the same {self.n:,} rows"
        tests = [f"DeLong, {d.a} - {d.b}: z = {d.z:.3g}, {p_text(d.p_value)}" for d in self.delong]
        return f"{head}: differences with {100 * self.level:g} % intervals", [*map(repr, self.mcnemar), *tests]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as they are printed."""
        return [self._shown(row) for row in self.rows]

    def _shown(self, row: Difference) -> dict[str, Any]:
        """A row as it is printed: two models by their names alone."""
        pair = {"a": row.a, "b": row.b} if len(self.models) > 2 else {}
        names = ("value_a", "value_b") if pair else self.models
        rest = ("difference", "low", "high", "p_value", "p_holm", "why")
        values = dict(zip(names, (row.value_a, row.value_b), strict=True))
        return {"metric": row.metric, **pair, **values, **{key: getattr(row, key) for key in rest}}

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of the differences, of pandas or Polars."""
        return self.rows.to_frame(library)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON: what is undefined or infinite is None."""
        parts: dict[str, Rows[Any]] = {"differences": self.rows, "mcnemar": self.mcnemar, "delong": self.delong}
        plain = {key: strict(rows.to_dicts()) for key, rows in parts.items()}
        return {"models": list(self.models), "rows": self.n, "level": self.level, **plain}

    def ranking(
        self, a: str | None = None, b: str | None = None, *, prevalences: Sequence[float] | None = None
    ) -> Ranking:
        """The metrics by how much they favour model a over b, here and at other prevalences (Wu and Cannistraci)."""
        if a is None and b is None and len(self.models) == 2:
            a, b = self.models
        for name in (a, b):
            if name not in self.models:
                told = did_you_mean(str(name), self.models)
                raise InputError(
                    f"ranking takes two of the models {', '.join(map(repr, self.models))}, not {name!r}.{told}"
                )
        return ranking(str(a), str(b), self.weighed, prevalences)


def compare(
    y_true: Any,
    models: Any = None,
    *,
    scores: bool = False,
    threshold: Any = None,
    metrics: Iterable[Any] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    average: str | None = "native",
    sample_weight: Any = None,
    true: str | None = None,
    frequency: Any = None,
) -> Comparison:
    """Whether models differ on the same rows: every metric's difference with its paired interval and tests.

    `models` are named columns of predicted labels, or with scores=True of scores of the positive class, which
    `threshold` (a number, or one a model) cuts for the metrics of labels. Or give a Paired table alone, or a frame and
    the names of its columns: true, and the models as a list (or by name). `frequency` is how many rows a row stands
    for, where labels are compared.

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
    Inference(level, draws=draws)  # refuses what makes no sense
    paired_tables.refuse_weights(sample_weight)
    options = CallOptions(pos_label, labels, average)
    if average is None:
        raise InputError("compare takes one value a metric: name a class with pos_label=, or average='macro'.")
    plan = Plan(level, draws, drawing.generator(rng))
    if isinstance(y_true, Paired):
        return _compare_table(y_true, models, _known(metrics), options, plan)
    if scores and frequency is not None:
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if true is not None:
        y_true, models, frequency = _of_frame(y_true, true, models, scores, frequency)
        pos_label = match_label(pos_label, label_codes.distinct(y_true, f"The column {true!r}")[1])
        options = replace(options, pos_label=pos_label)
    times = arrays.weights(frequency, "frequency", whole=True)
    truth, columns = _columns(y_true, models)
    arrays.check_lengths(y_true=truth, frequency=times)
    if scores:
        return _compare_scores(truth, columns, threshold, _known(metrics), options, plan)
    if threshold is not None:
        told = "threshold= cuts scores, and predicted labels are cut already"
        raise InputError(f"{told}; say scores=True, or leave it out.")
    codes, known = paired_tables.encoded(
        truth, {f"the model {name!r}": column for name, column in columns.items()}, labels
    )
    if labels is None:
        paired_tables.check_met(codes, known, columns)
    return _compare_codes(
        list(columns), codes, known, paired_tables.positive(known, pos_label), _known(metrics), options, plan, times
    )


def _of_frame(data: Any, true: str, models: Any, scores: bool, frequency: Any) -> tuple[Any, dict[str, Any], Any]:
    """The columns of a frame: labels counted where they are, scores brought row by row."""
    named = dict(models) if isinstance(models, Mapping) else {str(name): str(name) for name in models or ()}
    if scores:
        truth, columns = frame_tally.score_columns(data, true, list(named.values()))
        return truth, {name: columns[column] for name, column in named.items()}, frequency
    (truth, *held), times = frame_tally.label_columns(data, true, list(named.values()), frequency)
    return truth, dict(zip(named, held, strict=True)), times


def _known(metrics: Iterable[Any] | None) -> tuple[Metric, ...] | None:
    if isinstance(metrics, str):
        raise InputTypeError(f"metrics= takes a list of metrics; write [{metrics!r}].")
    known = None if metrics is None else tuple(get_metric(metric) for metric in metrics)
    if known == ():
        raise InputError("metrics= is empty; name at least one metric, or leave it out for the usual ones.")
    return known


def _columns(y_true: Any, models: Any) -> tuple[Array, dict[str, Array]]:
    """The columns of the truth and of each model, of one length."""
    if not isinstance(models, Mapping):
        told = f"not {type(models).__name__}"
        raise InputTypeError(f'compare takes the models by name, such as {{"A": ..., "B": ...}}, {told}.')
    if len(models) < 2:
        raise InputError(f"compare needs two or more models, not {len(models)}; `interval` tells how sure one is.")
    true = arrays.column(y_true, "y_true")
    columns = {str(name): arrays.column(values, f"the model {name!r}") for name, values in models.items()}
    if len(columns) < len(models):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    for name, column in columns.items():
        if len(column) != len(true):
            told = f"The model {name!r} has {len(column):,} rows and y_true {len(true):,}"
            raise InputError(f"{told}; give one prediction for each row of y_true.")
    return true, columns


def _compare_codes(
    names: list[str],
    codes: list[Array],
    labels: tuple[Any, ...],
    positive: Any,
    metrics: tuple[Metric, ...] | None,
    options: CallOptions,
    plan: Plan,
    times: Array | None = None,
) -> Comparison:
    if positive is not None and len(labels) > 2:  # one class against the rest, before any cube is built
        place = labels.index(positive)
        codes, labels = [code == place for code in codes], (f"not {positive}", positive)
    models = combinations(zip(names, codes[1:], strict=True), 2)
    pairs = [
        (a, b, paired_tables.weigh(codes[0], of_a, of_b, labels, positive, times)) for (a, of_a), (b, of_b) in models
    ]
    check_classes(pairs[0][2].confusion(0))
    return _compare_tables(names, pairs, metrics, options, plan)


def _compare_table(
    table: Paired, models: Any, metrics: tuple[Metric, ...] | None, options: CallOptions, plan: Plan
) -> Comparison:
    names = ["A", "B"] if models is None else [str(name) for name in models]
    if len(names) != 2:
        raise InputError(f"A paired table holds two models; name two, or none for 'A' and 'B', not {len(names)}.")
    if not table.n:
        raise InputError("The paired table holds no rows; there is nothing to compare.")
    if options.average == "native" and not (options.pos_label is None and table.positive is None):
        table = table.collapsed(options.pos_label)
    return _compare_tables(names, [(names[0], names[1], table)], metrics, options, plan)


def _compare_tables(
    names: list[str],
    pairs: list[tuple[str, str, Paired]],
    metrics: tuple[Metric, ...] | None,
    options: CallOptions,
    plan: Plan,
) -> Comparison:
    tables = {name: table.confusion(i) for a, b, table in pairs for i, name in enumerate((a, b))}
    weighed = Weighed(_fitting(tables[names[0]], options) if metrics is None else metrics, options, tables)
    rows = [row for a, b, table in pairs for row in label_differences(a, b, table, weighed, plan)]
    tests = Rows(mcnemar(table, (a, b)) for a, b, table in pairs)
    return Comparison(tuple(names), pairs[0][2].n, plan.level, _adjusted(rows), tests, Rows(), weighed)


def _fitting(table: Confusion, options: CallOptions) -> tuple[Metric, ...]:
    """The usual metrics for this table: those of two classes where one of them is the positive one."""
    try:
        names = TWO_CLASS if options.average != "native" or table.positive_label() is not None else MANY_CLASS
    except InputError:
        names = MANY_CLASS
    return tuple(get_metric(name) for name in names)


def _adjusted(rows: list[Difference]) -> Rows[Difference]:
    both = zip(rows, holm(row.p_value for row in rows), strict=True)
    return Rows(replace(row, p_holm=p) for row, p in both)


def _compare_scores(
    true: Array,
    columns: dict[str, Array],
    threshold: Any,
    metrics: tuple[Metric, ...] | None,
    options: CallOptions,
    plan: Plan,
) -> Comparison:
    names, values = list(columns), {name: finite(name, column) for name, column in columns.items()}
    positive, cuts = positives(true, options), thresholds(threshold, names)
    chosen = _score_metrics(metrics, cuts)
    reading = CallOptions(pos_label=True)
    weighed = Weighed(
        chosen, reading, {}, {name: ingest.score_table(positive, score) for name, score in values.items()}
    )
    rows, delong = score_differences(values, positive, weighed, plan)
    tests: Rows[McNemar] = Rows()
    if cuts:
        codes = [positive, *(values[name] >= cuts[name] for name in names)]
        of_labels = tuple(m for m in chosen if m.scores is None)
        labelled = _compare_codes(names, codes, (False, True), True, of_labels, reading, plan)
        tests, rows = labelled.mcnemar, [*rows, *labelled.rows]
        weighed = replace(weighed, tables=labelled.weighed.tables)
    pairs, order = list(combinations(names, 2)), [m.name for m in chosen]
    rows.sort(key=lambda row: (pairs.index((row.a, row.b)), order.index(row.metric)))
    return Comparison(tuple(names), len(positive), plan.level, _adjusted(rows), tests, delong, weighed)


def _score_metrics(metrics: tuple[Metric, ...] | None, cuts: dict[str, float]) -> tuple[Metric, ...]:
    if metrics is None:
        return tuple(get_metric(name) for name in (*RANKED, *(TWO_CLASS if cuts else ())))
    for metric in metrics:
        if metric.scores is None and not cuts:
            raise InputError(f"{metric.name} is a metric of labels; give threshold= to cut the scores into them.")
    return metrics
