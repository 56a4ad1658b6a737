"""Robustness: how far each metric moves when the classes' shares or names change, on predictions and on refits.

Asawa's two tests: balance the test set, swap the labels. Nguyen's spread over ratios is in `ratio_spread`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from steelyard._types import Array
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.prevalence import at_prevalence, checked_prevalence, scores_at
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.decisions import recalled_decisions
from steelyard.auditing.model_tables import (
    chosen_metrics,
    counts_at_half,
    counts_of_models,
    counts_of_same_models,
    is_counted,
    metric_values,
    model_confusion,
    scores_of_models,
    stated_positive,
    value_change,
)
from steelyard.auditing.ratio_spread import ratio_spread
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.metrics.registry import get_metric
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.array_tables import score_table
from steelyard.tables.counts import Counts
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from steelyard._types import Estimator, Label, Rng
    from steelyard.auditing.model_tables import CountsByModel, Models, ScoresByModel
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- score counterexamples
# Score tables that refute, for a metric of scores, that balancing or swapping leaves it as is.
#
# What a metric of counts does is decided by proof; of scores a table against it is looked for among a fixed few. One is
# a refutation; that none is found proves nothing, and stays undecided.


_TABLES, _ROWS = 40, 24


def swapped_scores(table: ScoreTable) -> ScoreTable:
    """The same rows with the negative class called positive: of probabilities p becomes 1 - p, of scores -s."""
    other = table.swapped()
    if not table.has_probabilities or table.bins.size:
        return other
    positive, negative = (scores.moved(1 + scores.scores) for scores in other.classes)
    return replace(other, positive=positive, negative=negative)


@cache
def score_refutations(metric: Metric) -> tuple[bool | None, bool | None]:
    """False where a table refutes that balancing, and that swapping, leaves the metric as it is; None where none does.

    >>> from steelyard import get_metric
    >>> score_refutations(get_metric("average_precision")), score_refutations(get_metric("roc_auc"))
    ((False, False), (None, None))
    """
    return _refuted(metric, lambda table: scores_at(table, 0.5)), _refuted(metric, swapped_scores)


def is_constant(metric: Metric) -> bool:
    """Whether a metric has one value on all these tables, as one that no model of two classes can fail."""
    try:
        return len({float(metric(table)) for table in _tables()}) == 1
    except SteelyardError:  # what it needs is not in such tables
        return False


def _refuted(metric: Metric, change: Callable[[ScoreTable], ScoreTable]) -> bool | None:
    for table in _tables():
        try:
            before, after = (np.asarray(float(metric(part))) for part in (table, change(table)))
        except SteelyardError:  # what it needs is not in such tables
            return None
        if np.isfinite(before) and np.isfinite(after) and value_change(before, after):
            return False
    return None


@cache
def _tables() -> tuple[ScoreTable, ...]:
    """Probabilities of a few rows, better than none at all, with every third table as whole tenths that tie."""
    rng = np.random.default_rng(0)
    tables = []
    for i in range(_TABLES):
        positive = np.arange(_ROWS) < rng.integers(3, _ROWS // 2)
        scores = np.clip(rng.beta(1, 2, _ROWS) + 0.4 * positive * rng.random(_ROWS), 0.01, 0.99)
        tables.append(score_table(positive, scores.round(1).clip(0.1, 0.9) if i % 3 == 0 else scores))
    return tuple(tables)


# ---------------------------------------------------------------- robustness
# What balancing the test set and swapping the labels does to each metric, and the verdicts on that.


TOLERANCE = 0.02  # any value from 0.006 to 0.069 gives the verdicts that Asawa drew from the printed changes


@dataclass(frozen=True, eq=False)
class MetricVerdict(Flat):
    """One metric: its largest change over the models when the test set is balanced, and when the labels are swapped.

    A change is the value as it was less the value afterwards. `robust` and `symmetric` say whether it stays within the
    tolerance on these models, None where the metric is undefined; what ends in `in_general` says whether the audit has
    proved it for all tables or refuted it by one, None where it has not decided.
    """

    metric: str
    change: float
    model: str
    prevalence: float
    resampling_sd: float
    swap_change: float
    swap_model: str
    robust: bool | None
    symmetric: bool | None
    robust_in_general: bool | None = None
    symmetric_in_general: bool | None = None

    @property
    def winner(self) -> bool:
        """Whether the metric stands both tests on these models."""
        return self.robust is True and self.symmetric is True

    @property
    def only_here(self) -> bool:
        """Whether it stands both tests on these models, though a table refutes one of them."""
        return self.winner and False in (self.robust_in_general, self.symmetric_in_general)

    @property
    def proved(self) -> bool:
        """Whether it stands both tests on these models, and is proved to on all tables."""
        return self.winner and self.in_general

    @property
    def in_general(self) -> bool:
        """Whether the audit has proved both for all tables, whatever the models here do."""
        return self.robust_in_general is True and self.symmetric_in_general is True


@dataclass(frozen=True, eq=False)
class MetricChange(Flat):
    """One metric of one model at one prevalence: by weights exactly, and over resampled test sets.

    `value` and `balanced` are values; `change` is the first less the second, and what begins with `resampled` is such a
    change: its mean, standard deviation and middle 95 % over the draws.
    """

    metric: str
    model: str
    prevalence: float
    value: float
    balanced: float
    change: float
    resampled: float
    resampled_sd: float
    resampled_low: float
    resampled_high: float


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Result[MetricVerdict]):
    """The changes of every metric (last axis) by model and prevalence, and what they say."""

    metrics: tuple[str, ...]
    models: tuple[str, ...]
    prevalences: tuple[float, ...]
    values: Array
    balanced: Array
    resampled: Array
    swapped: Array
    tolerance: float
    draws: int
    assumed: tuple[str, ...] = ()
    also_saved: ClassVar = ("verdicts",)

    def __iter__(self) -> Iterator[MetricVerdict]:
        return iter(self.verdicts)

    def beside(self, other: Robustness) -> Robustness:
        """These metrics and those of the other, of the same models at the same prevalences."""
        if (self.models, self.prevalences) != (other.models, other.prevalences):
            raise InputError("Two tries are put side by side where their models and prevalences are the same.")
        names = ("values", "balanced", "resampled", "swapped")
        joined: dict[str, Any] = {n: np.concatenate([getattr(self, n), getattr(other, n)], -1) for n in names}
        return replace(self, metrics=self.metrics + other.metrics, **joined)

    @classmethod
    def joined(cls, parts: Mapping[str, Robustness]) -> Robustness:
        """The same models tried on several splits, as one: the verdicts are by the largest change over all of them."""
        first = next(iter(parts.values()))
        if any((part.metrics, part.prevalences) != (first.metrics, first.prevalences) for part in parts.values()):
            raise InputError("Tries are joined where their metrics and prevalences are the same.")
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts.values()], axis)
            for name, axis in (("values", 0), ("balanced", 0), ("resampled", 1), ("swapped", 0))
        }
        models = tuple(f"{model}, {name}" for name, part in parts.items() for model in part.models)
        return replace(first, models=models, **arrays)

    @property
    def changes(self) -> Array:
        """The value as it was less that of the balanced test set, by model, prevalence and metric."""
        return value_change(self.values[:, None], self.balanced)

    @property
    def swap_changes(self) -> Array:
        """The value as it was less that with swapped labels, by model and metric."""
        return value_change(self.values, self.swapped)

    @property
    def verdicts(self) -> Rows[MetricVerdict]:
        """One verdict a metric, by its largest change over models and prevalences."""
        verdicts = Rows[MetricVerdict]()
        for i, metric in enumerate(self.metrics):
            changes, swaps, sd = self.changes[..., i], self.swap_changes[:, i], self.resampled[1, :, :, i]
            model, share = np.unravel_index(_largest(changes), changes.shape)
            swap = _largest(swaps)
            robust_in_general, symmetric_in_general = _in_general(metric)
            verdicts.append(
                MetricVerdict(
                    metric,
                    change=float(changes[model, share]),
                    model=self.models[model],
                    prevalence=self.prevalences[share],
                    resampling_sd=float(sd.ravel()[_largest(sd)]),
                    swap_change=float(swaps[swap]),
                    swap_model=self.models[swap],
                    robust=_within(changes, self.tolerance),
                    symmetric=_within(swaps, self.tolerance),
                    robust_in_general=robust_in_general,
                    symmetric_in_general=symmetric_in_general,
                )
            )
        return verdicts

    @property
    def robust(self) -> list[str]:
        """The metrics that no balancing moves by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.robust]

    @property
    def symmetric(self) -> list[str]:
        """The metrics that swapping the labels does not move by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.symmetric]

    @property
    def winners(self) -> list[str]:
        """The metrics that are both."""
        return [v.metric for v in self.verdicts if v.winner]

    def rows(self) -> Rows[MetricChange]:
        """One row for each metric, model and prevalence."""
        cells = np.stack([np.broadcast_to(self.values[:, None], self.balanced.shape), self.balanced, self.changes])
        columns = np.concatenate([cells, self.resampled])
        return Rows(
            MetricChange(name, model, share, *map(float, columns[:, m, s, i]))
            for i, name in enumerate(self.metrics)
            for m, model in enumerate(self.models)
            for s, share in enumerate(self.prevalences)
        )

    @property
    def headline(self) -> str:
        """Which metrics are proved to stand both tests, and which stand them on these models."""
        verdicts = self.verdicts
        parts = {
            "Robust and symmetric": [v.metric for v in verdicts if v.proved] or ["none"],
            "Within tolerance here, not decided in general": [
                v.metric for v in verdicts if v.winner and not v.proved and not v.only_here
            ],
            "Within tolerance here, refuted in general": [v.metric for v in verdicts if v.only_here],
        }
        return " ".join(f"{words}: {', '.join(names)}." for words, names in parts.items() if names)

    @property
    def lead(self) -> list[str]:
        """Over how many models, and what is not there."""
        over = f"over {len(self.models)} models" if len(self.models) > 1 else "of one model"
        undrawn = "Without draws: scores and weighted tables are not drawn from, or draws=0 was given."
        heading = f"Largest change {over} against a tolerance of {three_digits(self.tolerance)}."
        return [heading, *([] if self.draws else [undrawn])]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The verdicts as people see them."""
        return [
            {
                "metric": v.metric,
                "balanced": v.change,
                "resampling sd": v.resampling_sd,
                "robust": _word(v.robust, v.robust_in_general),
                "swapped": v.swap_change,
                "symmetric": _word(v.symmetric, v.symmetric_in_general),
            }
            for v in self.verdicts
        ]


def _word(verdict: bool | None, in_general: bool | None) -> str:
    if verdict and in_general is False:
        return "here only"
    return {True: "yes", False: "no", None: "undefined"}[verdict]


def _in_general(name: str) -> tuple[bool | None, bool | None]:
    """Whether the audit has proved or refuted that balancing, and swapping, leave the metric as it is."""
    try:
        metric = get_metric(name)
        if metric.function is None:
            return score_refutations(metric)
        decisions = recalled_decisions(metric)
    except SteelyardError:  # a function that is not declared here
        return None, None
    robust, symmetric = (decisions.get(key) for key in ("prevalence_invariance", "class_symmetry"))
    return robust.holds if robust else None, symmetric.holds if symmetric else None


def _largest(changes: Array) -> int:
    """The index of the largest change, the first where all are undefined."""
    return int(np.argmax(np.where(np.isnan(changes), -1, np.abs(changes))))


def _within(changes: Array, tolerance: float) -> bool | None:
    """Whether no change exceeds the tolerance; None where an undefined one might."""
    if (np.abs(changes) > tolerance).any():
        return False
    return None if np.isnan(changes).any() else True


# ---------------------------------------------------------------- score robustness
# The two tests of `robustness` for metrics of scores, such as the area under the ROC curve.


def score_robustness(
    scores: Mapping[str, ScoreTable],
    swapped: Mapping[str, ScoreTable] | None = None,
    *,
    metrics: Iterable[MetricLike] = ("roc_auc",),
    prevalence: float | Sequence[float] | Array = 0.5,
    tolerance: float = TOLERANCE,
) -> Robustness:
    """How far metrics of scores move when the test set is balanced, by weights, and when the labels are swapped.

    `swapped` holds the scores of models refitted on swapped labels, for the class that is positive then; without it
    they are the same scores, negated, or of probabilities the complements.

    >>> from steelyard import score_table
    >>> table = {"model": score_table([0, 0, 0, 1], [0.1, 0.4, 0.6, 0.5])}
    >>> other = {"model": score_table([1, 1, 1, 0], [0.9, 0.6, 0.4, 0.5])}
    >>> score_robustness(table, other).winners
    ['roc_auc']
    """
    others = {name: swapped_scores(table) for name, table in scores.items()} if swapped is None else swapped
    if list(scores) != list(others):
        raise InputError("swapped= needs the models of the scores, in their order.")
    chosen, at = [get_metric(name) for name in metrics], np.atleast_1d(prevalence)
    values, other = (
        np.array([[float(metric(table)) for metric in chosen] for table in tables])
        for tables in (scores.values(), others.values())
    )
    balanced = [
        [[float(metric(scores_at(table, share))) for metric in chosen] for share in at] for table in scores.values()
    ]
    no_draws = np.full((4, len(scores), len(at), len(chosen)), np.nan)
    return Robustness(
        tuple(m.name for m in chosen),
        tuple(scores),
        tuple(map(float, at)),
        values,
        np.array(balanced),
        no_draws,
        other,
        tolerance,
        0,
    )


# ---------------------------------------------------------------- robustness


__all__ = ["Robustness", "ratio_spread", "robustness"]
MOST_DRAWN = 10**9  # rows that a hypergeometric draw takes


@question
def robustness(
    data: Models | RowsLike = None,
    predicted: ArrayLike | Mapping[str, ArrayLike] | None = None,
    /,
    *,
    metrics: Iterable[MetricLike] | None = None,
    prevalences: float | Sequence[float] = 0.5,
    balanced: Models | None = None,
    swapped: Models | None = None,
    draws: int = 200,
    tolerance: float = TOLERANCE,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> Robustness:
    """How far each metric moves when the test set is balanced and when the labels are swapped (Asawa).

    The rows are of one model or several, or a table of each, {model: Counts}; metrics of scores, such as roc_auc, need
    scores, or {model: ScoreTable}: probabilities without predictions become labels at the threshold, at 0.5 where
    none is given. The test set is balanced exactly, by weights, to each of the `prevalences`, and in `draws` by leaving
    out rows of the larger class at random, for the spread that chance adds. The positive class is named by `pos_label`,
    or clear, or that of a convention, which `assumed` state.
    `balanced` and `swapped` take {model: Counts} of a balanced test set or of models refitted on swapped
    labels (see refit_robustness) in place of what the table implies. The verdict is by the largest change over models.

    >>> from steelyard import Counts
    >>> trees = {"1 split": Counts(244, 266, 43, 4817), "10 splits": Counts(400, 110, 50, 4810)}
    >>> result = robustness(trees, metrics=["accuracy", "recall", "tpnr", "mcc"])
    >>> result.robust, result.symmetric, result.winners
    (['recall', 'tpnr'], ['accuracy', 'tpnr', 'mcc'], ['tpnr'])
    """
    if not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise InputError(
            argument="tolerance",
            expected="a change of 0 or more that is still called none, such as 0.02",
            given=tolerance,
        )
    if not (isinstance(draws, (int, np.integer)) and draws >= 0):
        raise InputError(f"draws is a whole number, 0 for none, not {draws!r}.")
    tables, scores, assumed = _model_tables(data, predicted, rows)
    of_counts, of_scores = chosen_metrics(metrics, tables, scores)
    at, counted = np.atleast_1d(checked_prevalence(prevalences)), None
    if of_counts:
        counts = Counts.stack(tables.values())
        if balanced is None:
            even = at_prevalence(counts, at)  # by weights, by model and prevalence
        else:
            even = counts_of_same_models(balanced, tables, "balanced")[:, None]
            at = np.atleast_1d(np.mean(even.positives / even.total))
        drawn_tables = undersampled(counts, at, draws, generator(rng))
        other = counts.swapped() if swapped is None else counts_of_same_models(swapped, tables, "swapped")
        values = metric_values(of_counts, counts)
        drawn = None if drawn_tables is None else values[:, None] - metric_values(of_counts, drawn_tables)
        counted = Robustness(
            metrics=tuple(m.name for m in of_counts),
            models=tuple(tables),
            prevalences=tuple(map(float, at)),
            values=values,
            balanced=metric_values(of_counts, even),
            resampled=_summary(drawn, (len(tables), len(at), len(of_counts))),
            swapped=metric_values(of_counts, other),
            tolerance=tolerance,
            draws=0 if drawn is None else len(drawn),
            assumed=assumed,
        )
        if not of_scores:
            return counted
    ranked = score_robustness(scores, metrics=of_scores, prevalence=at, tolerance=tolerance)
    return replace(ranked, assumed=assumed) if counted is None else counted.beside(ranked)


def _model_tables(data: Any, predicted: Any, rows: RowOptions) -> tuple[CountsByModel, ScoresByModel, tuple[str, ...]]:
    """The tables of the models, of their labels and of their scores, and who chose the positive class."""
    beside = rows.get("y_score")
    if predicted is None and data is not None and is_counted(data):
        scores = scores_of_models(data, beside)
        of_scores_alone = bool(scores) and beside is None
        return counts_at_half(scores) if of_scores_alone else counts_of_models(data, rows.get("pos_label")), scores, ()
    p = Predictions.of(data, predicted, **rows)
    refuse_unused(p, "robustness", "cluster", "design", "by", "columns")
    given = p.collect().given
    if given.is_table:
        table = given.data
        if isinstance(table, Tally):
            table = table.scores if table.confusion is None else table.confusion
        if table is None:
            raise InputError("This table holds two models side by side; give the table of one.")
        return _model_tables(table, None, {"pos_label": given.pos_label})
    if given.data is None or not given.models:
        raise InputTypeError("A model is given by Counts, a Confusion, or y_true and its predictions; give these.")
    positive, assumed = stated_positive(given.data, given.pos_label)
    labels, columns = (
        {name or "model": model[use] for name, model in given.models.items() if model[use] is not None}
        for use in (0, 1)
    )
    weights = {"sample_weight": given.sample_weight, "frequency": given.frequency}
    scores = {name: score_table(given.data, each, pos_label=positive, **weights) for name, each in columns.items()}
    if labels:
        confusions = {n: model_confusion(given.data, each, positive, **weights) for n, each in labels.items()}
        return {name: table.counts() for name, table in confusions.items()}, scores, assumed
    if p.threshold is not None:
        return {name: table.at(p.threshold) for name, table in scores.items()}, scores, assumed
    return counts_at_half(scores), scores, assumed


def undersampled(counts: Counts[Array], at: Array, draws: int, rng: np.random.Generator) -> Counts[Array] | None:
    """Draws (first axis) of the tables with rows of the larger class left out until a share `at` is positive.

    Leaving rows out at random is a hypergeometric draw of the cells. None for weighted tables, which have no rows.
    """
    if not draws or np.asarray(counts.tp).dtype.kind != "i":
        return None
    tp, fn, fp, tn = (np.asarray(cell)[:, None] for cell in counts)
    p, n = tp + fn, fp + tn
    if (np.maximum(p, n) >= MOST_DRAWN).any():
        raise InputError(f"Tables of {MOST_DRAWN:,} rows a class and more are not resampled; give draws=0.")
    keep_n = np.minimum(n, np.rint(p * (1 - at) / at)).astype(np.int64)
    keep_p = np.minimum(p, np.rint(n * at / (1 - at))).astype(np.int64)
    if (keep_n == 0).any() or (keep_p == 0).any():
        raise InputError(
            "A class is too small for the prevalences asked for: too few rows of the other to draw; give draws=0."
        )
    size = (draws, *keep_n.shape)
    hits, alarms = (rng.hypergeometric(a, b, k, size) for a, b, k in ((tp, fn, keep_p), (fp, tn, keep_n)))
    return Counts.trusted(hits, keep_p - hits, alarms, keep_n - alarms)


def _summary(changes: Array | None, shape: tuple[int, ...]) -> Array:
    """Mean, standard deviation and the middle 95 % of the changes over the draws where they are defined."""
    if changes is None or np.isnan(changes).all():
        return np.full((4, *shape), np.nan)
    defined = ~np.isnan(changes)
    filled = np.where(defined.any(0), changes, 0.0)  # nanmean must not meet a column without a number
    summary = np.stack([np.nanmean(filled, 0), np.nanstd(filled, 0), *np.nanquantile(filled, [0.025, 0.975], 0)])
    return np.where(defined.any(0), summary, np.nan)


# ---------------------------------------------------------------- refit robustness
# Asawa's two tests on estimators, each fitted on the labels and on the labels swapped.


class RobustnessOptions(TypedDict, total=False):
    """What robustness takes beside the tables."""

    metrics: Iterable[MetricLike] | None
    prevalences: float | Sequence[float]
    balanced: Models | None
    draws: int
    tolerance: float


@names_wrong_arguments(keywords=RobustnessOptions)
def refit_robustness(
    estimators: Estimator | Mapping[str, Estimator],
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    pos_label: Label = None,
    rng: Rng = None,
    **options: Unpack[RobustnessOptions],
) -> Robustness:
    """The two tests on estimators: each is cloned and fitted twice, on the labels and on the labels swapped.

    `estimators` is one, or {model: estimator}, in scikit-learn's manner. Both fits use the same random state, so what
    is left of a change is the metric's or the learner's own asymmetry. Metrics of scores, such as roc_auc, read the
    scores of estimators that have predict_proba or decision_function. `options` are those of robustness.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3)
    >>> refit_robustness(tree, X[::2], y[::2], X[1::2], y[1::2], metrics=["tpnr", "f1"], draws=10).symmetric
    ['tpnr']
    """
    by_model = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    true, test = np.asarray(y), np.asarray(y_test)
    for name, rows, column in (("X", X, true), ("X_test", X_test, test)):
        if len(np.shape(rows)) != 2 or np.shape(rows)[0] != len(column):
            y_name = name.replace("X", "y")
            raise InputError(
                f"{name}= is a table of features, a row for each of the {len(column)} labels of {y_name}=; it has the "
                f"shape {np.shape(rows)}."
            )
    labels = np.unique(np.concatenate([true, test]))
    if len(labels) != 2:
        raise InputError(f"Swapping the labels needs two classes; y and y_test hold {len(labels)}.")
    stated, assumed = stated_positive(test, pos_label)
    positive = model_confusion(test, test, stated).positive_label()
    swapped_true, swapped_test = (np.where(each == labels[0], labels[1], labels[0]) for each in (true, test))
    first, second = FittedModels(), FittedModels()
    for name, estimator in by_model.items():
        seed = int(generator(rng).integers(2**31 - 1))
        first.add(str(name), _fitted(estimator, X, true, seed), X_test, test, positive)
        second.add(str(name), _fitted(estimator, X, swapped_true, seed), X_test, swapped_test, positive)
    of_counts, of_scores = chosen_metrics(options.pop("metrics", None), first.tables, first.scores)
    tolerance, at = options.get("tolerance", TOLERANCE), options.get("prevalences", 0.5)
    counted = None
    if of_counts:
        options["metrics"] = of_counts
        counted = robustness(first.tables, swapped=second.tables, rng=rng, **options)
        at = counted.prevalences
        if not of_scores:
            return replace(counted, assumed=assumed)
    ranked = score_robustness(first.scores, second.scores, metrics=of_scores, prevalence=at, tolerance=tolerance)
    return replace(ranked if counted is None else counted.beside(ranked), assumed=assumed)


@dataclass
class FittedModels:
    """The tables of fitted models on the test part: of their predictions and, where they give any, of their scores."""

    tables: dict[str, Counts] = field(default_factory=dict)
    all_scores: dict[str, ScoreTable] = field(default_factory=dict)

    def add(self, name: str, model: Any, X: ArrayLike, y: Array, positive: Label) -> None:
        """Take one model in."""
        self.tables[name] = model_confusion(y, model.predict(X), positive).counts()
        method = next((m for m in ("predict_proba", "decision_function") if hasattr(model, m)), None)
        if method is not None:
            scores, is_second = np.asarray(getattr(model, method)(X)), model.classes_[1] == positive
            if scores.ndim == 2:
                column = scores[:, 1] if is_second else scores[:, 0]
            else:
                column = scores if is_second else -scores
            self.all_scores[name] = score_table(y, column, pos_label=positive)

    @property
    def scores(self) -> dict[str, ScoreTable]:
        """The scores of all models; none where one gives none."""
        return self.all_scores if len(self.all_scores) == len(self.tables) else {}


def _fitted(estimator: Estimator, X: ArrayLike, y: Array, seed: int) -> Any:
    """A fresh fit; whatever random state was left open is set."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise InputTypeError(
            "Refitting needs scikit-learn installed; robustness takes predictions without it."
        ) from None
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise InputTypeError(f"An estimator has fit, predict and get_params; {type(estimator).__name__} lacks one.")
    fresh = clone(estimator)
    open_states = [key for key, value in fresh.get_params().items() if key.endswith("random_state") and value is None]
    return fresh.set_params(**dict.fromkeys(open_states, seed)).fit(X, y)
