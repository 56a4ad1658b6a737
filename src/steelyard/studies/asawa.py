"""Asawa: which metrics stay as they are when a test set is balanced and when the labels are swapped; HTRU2.

The eight attributes are standardised and reduced to two principal components, both learned from the training part;
four decision trees, of 1, 5, 10 and as many splits as they like, are tested on 30 % of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import number_of
from steelyard.analysis.thresholds.best_threshold import roc_then_tpnr
from steelyard.arrays.label_codes import predicted_codes
from steelyard.auditing.model_tables import (
    counts_at_half,
    counts_of_predictions,
    metric_values,
    named_metrics,
    score_metrics,
    scores_of_models,
    value_change,
)
from steelyard.auditing.robustness import (
    TOLERANCE,
    Robustness,
    is_constant,
    refit_robustness,
    robustness,
    score_robustness,
    undersampled,
)
from steelyard.datasets.paper_datasets import htru2
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.cross_evaluate import cross_evaluate
from steelyard.protocol.named_models import model as named_model
from steelyard.protocol.resample import equal_rows
from steelyard.protocol.splits import Folds, HoldOut
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.roc import RocDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Picture, Table, published
from steelyard.tables.array_tables import confusion, score_table
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sklearn.base import TransformerMixin
    from sklearn.tree import DecisionTreeClassifier

    from steelyard._types import Array, Estimator
    from steelyard.datasets.paper_datasets import Pulsars
    from steelyard.metrics.measure import Metric
    from steelyard.studies.study import TableRow


SPLIT_SEED = 123  # of the public notebook that the paper cites: the split with its 510 positives and 4,860 negatives
TREES = {"1 split": 1, "5 splits": 5, "10 splits": 10, "no limit": None}
COUNTED = ("accuracy", "precision", "recall", "f1", "specificity", "tpnr", "mcc", "kappa", "balanced_accuracy")
ASAWA_METRICS = (*COUNTED, "roc_auc")
_TOLERANCE = 0.02
TESTED = 0.3  # of the rows
SPLITS, _DRAWS = 20, 200
QUICK_SPLITS, QUICK_DRAWS, QUICK_ROWS = 3, 50, 3  # every third row


@dataclass(frozen=True, eq=False)
class TreeScores:
    """One split: the scores of each tree on the test part, and of the trees refitted on swapped labels."""

    seed: int
    train: Array
    test: Array
    y_test: Array
    scores: dict[str, Array]
    swapped_scores: dict[str, Array]

    def predictions(self) -> dict[str, Array]:
        """What each tree predicts: a leaf with a tie predicts negative."""
        return {name: (scores > 0.5).astype(int) for name, scores in self.scores.items()}

    def swapped_predictions(self, *, alike: bool) -> dict[str, Array]:
        """What the refitted trees predict, in swapped labels: ties go to the first class or, alike, to the same one."""
        by_tree = self.swapped_scores.items()
        return {name: (scores >= 0.5 if alike else scores > 0.5).astype(int) for name, scores in by_tree}


@dataclass(frozen=True, eq=False)
class SplitOutcome:
    """What a split gives: both tests by weights, and the changes over draws of a balanced test set."""

    trees: TreeScores
    alike: Robustness  # a leaf with a tie predicts the same original class after the swap
    unlike: Robustness  # it says the first class, as scikit-learn does
    drawn: Array  # draw, tree, metric: the value as it was less that of the balanced set

    def robust_in(self, draw: int) -> list[str]:
        """The metrics that one balanced test set moves by no more than the tolerance, in any tree."""
        stable = np.abs(self.drawn[draw]).max(0) <= _TOLERANCE
        return [name for name, is_stable in zip(ASAWA_METRICS, stable, strict=True) if is_stable]


@dataclass(frozen=True, eq=False)
class AsawaResults:
    """What the experiment gave: an outcome for each split, the first being that of the tables."""

    pulsars: Pulsars
    outcomes: list[SplitOutcome]
    attributes: dict[str, list[dict[str, Counts]]]
    thresholds: list[list[TableRow]]  # by split, then by tree

    @property
    def first(self) -> SplitOutcome:
        """The split of the tables and figures."""
        return self.outcomes[0]

    @cached_property
    def correlations(self) -> Array:
        """Of the attributes and, last, the class."""
        return np.asarray(np.corrcoef(np.column_stack([self.pulsars.X, self.pulsars.y]).T))

    def with_components(self, metric: str) -> Array:
        """A metric by split and tree, with two principal components."""
        return np.stack([o.alike.values[:, o.alike.metrics.index(metric)] for o in self.outcomes])

    def with_attributes(self, metric: str, pair: str) -> Array:
        """The same with two attributes."""
        value = get_metric(metric)
        return np.array([[float(value(table)) for table in part.values()] for part in self.attributes[pair]])


ASAWA_STUDY = DeclaredStudy[AsawaResults]("asawa", "Metrics on balanced test sets and swapped labels", cite="asawa")


@ASAWA_STUDY.experiment
def _experiment(plan: RunPlan) -> AsawaResults:
    """On the paper's split where the seed is 0, and on others; another seed has none of them."""
    plan.progress("reading HTRU2")
    pulsars = htru2(plan.data)
    if plan.quick:
        pulsars = pulsars._replace(X=pulsars.X[::QUICK_ROWS], y=pulsars.y[::QUICK_ROWS])
    splits, draws = (QUICK_SPLITS, QUICK_DRAWS) if plan.quick else (SPLITS, _DRAWS)
    outcomes = []
    for split in (SPLIT_SEED + seed for seed in plan.seeds(splits)):
        plan.progress(f"split {split}: four trees, {draws} balanced test sets")
        outcomes.append(split_outcome(fit_trees(pulsars, split, attribute_transformer()), draws))
    plan.progress("two attributes in place of two components, and the threshold by ROC")
    trees = [outcome.trees for outcome in outcomes]
    thresholds = [_threshold_then_tpnr(pulsars, split) for split in trees]
    return AsawaResults(pulsars, outcomes, _with_attributes(pulsars, trees), thresholds)


# ---------------------------------------------------------------- the trees


def attribute_transformer(columns: tuple[int, ...] | None = None) -> TransformerMixin:
    """Standardising, then two principal components; or the named columns alone."""
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if columns is None:
        return make_pipeline(StandardScaler(), PCA(n_components=2))
    return make_column_transformer((StandardScaler(), list(columns)))


def _tree(splits: int | None) -> DecisionTreeClassifier:
    """A tree of so many splits, best first; without a number until its leaves are pure."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=None if splits is None else splits + 1, random_state=0)


def fit_trees(pulsars: Pulsars, seed: int, attributes: TransformerMixin) -> TreeScores:
    """The four trees of one split, fitted on the labels and on the labels swapped."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(pulsars.y)), test_size=TESTED, random_state=seed)
    attributes.fit(pulsars.X[train])
    X_train, X_test = (attributes.transform(pulsars.X[rows]) for rows in (train, test))
    scores, swapped_scores = (
        {name: _tree(splits).fit(X_train, y[train]).predict_proba(X_test)[:, 1] for name, splits in TREES.items()}
        for y in (pulsars.y, 1 - pulsars.y)
    )
    return TreeScores(seed, train, test, pulsars.y[test], scores, swapped_scores)


# ---------------------------------------------------------------- the two tests


def split_outcome(trees: TreeScores, draws: int) -> SplitOutcome:
    """Balanced by weights and by draws of negatives, and with the labels swapped."""
    y = trees.y_test
    tables = {name: confusion(y, labels).counts() for name, labels in trees.predictions().items()}
    scores = {name: score_table(y, values) for name, values in trees.scores.items()}
    swapped_scores = {name: score_table(1 - y, values) for name, values in trees.swapped_scores.items()}
    areas = score_robustness(scores, swapped_scores, tolerance=_TOLERANCE)

    def tested(*, alike: bool) -> Robustness:
        predictions = trees.swapped_predictions(alike=alike)
        swapped = {name: confusion(1 - y, labels).counts() for name, labels in predictions.items()}
        counted = robustness(tables, metrics=COUNTED, swapped=swapped, draws=0, tolerance=_TOLERANCE)
        return counted.beside(areas)

    alike = tested(alike=True)
    return SplitOutcome(trees, alike, tested(alike=False), alike.values - _balanced_values(trees, draws))


def _balanced_values(trees: TreeScores, draws: int) -> Array:
    """All metrics of all trees on test sets with as many negatives as positives, drawn again and again."""
    rng, labels = np.random.default_rng(trees.seed), trees.predictions()
    sets = [equal_rows(trees.y_test, "under", rng) for _ in range(draws)]
    tables = Counts.stack(confusion(trees.y_test[r], labels[name][r]).counts() for r in sets for name in TREES)
    counted = np.stack([np.asarray(get_metric(name)(tables)) for name in COUNTED], -1)
    area = get_metric("roc_auc")
    areas = [float(area(score_table(trees.y_test[rows], trees.scores[name][rows]))) for rows in sets for name in TREES]
    return np.column_stack([counted, areas]).reshape(draws, len(TREES), len(ASAWA_METRICS))


# ---------------------------------------------------------------- what the paper says beside


def _with_attributes(pulsars: Pulsars, splits: list[TreeScores]) -> dict[str, list[dict[str, Counts]]]:
    """The trees of each split on two attributes, the paper's pair and the least correlated, not on components."""
    tables: dict[str, list[dict[str, Counts]]] = {}
    for words, pair in {"attributes 1 and 3": (0, 2), "attributes 1 and 4": (0, 3)}.items():
        tables[words] = []
        for split in splits:
            trees = fit_trees(pulsars, split.seed, attribute_transformer(pair))
            by_tree = {name: confusion(trees.y_test, labels).counts() for name, labels in trees.predictions().items()}
            tables[words].append(by_tree)
    return tables


def _threshold_then_tpnr(pulsars: Pulsars, trees: TreeScores) -> list[TableRow]:
    """The recommended use: the threshold where the training ROC curve is best, then the TPNR of the test part."""
    from sklearn.pipeline import make_pipeline

    X, y, rows = pulsars.X[trees.train], pulsars.y[trees.train], []
    for name, splits in TREES.items():
        model = make_pipeline(attribute_transformer(), _tree(splits))
        scores = cross_evaluate(model, X, y, split=Folds(5), metrics=["roc_auc"]).scores
        assert scores is not None  # noqa: S101 - trees give scores
        best = roc_then_tpnr(scores, draws=0)
        labels = {"at 0.5": trees.scores[name] > 0.5, "at the threshold": trees.scores[name] >= best.threshold}
        tables = {key: confusion(trees.y_test, part.astype(int)).counts() for key, part in labels.items()}
        row: TableRow = {"tree": name, "threshold": best.threshold}
        for metric in ("tpnr", "recall", "specificity", "precision"):
            row |= {f"{metric} {key}": float(get_metric(metric)(table)) for key, table in tables.items()}
        rows.append(row)
    return rows


@ASAWA_STUDY.choices
def _choices(results: AsawaResults) -> dict[str, Any]:
    first, last = results.first.trees.seed, results.outcomes[-1].trees.seed
    return {
        "rows": f"{len(results.pulsars.y):,}, of which {int(results.pulsars.y.sum()):,} are pulsars",
        "split": f"train_test_split, 30 % tested, random_state {first}, not stratified; spreads over {first} to {last}",
        "attributes": "standardised, then two principal components, both learned from the training part",
        "trees": "n splits are n + 1 leaves, grown best first, Gini, random_state 0",
        "balanced": f"by weights, and {len(results.first.drawn)} draws of as many negatives as there are positives",
        "swapped": "in both parts, and the trees refitted; a leaf with a tie predicts the same original class",
        "tolerance": _TOLERANCE,
    }


# ---------------------------------------------------------------- asawa own
# Asawa's two tests on a table of one's own: the test set balanced, the labels swapped, for every metric.


_SPLITS, _QUICK_SPLITS, _OWN_DRAWS = 10, 3, 200
_WORDS = {
    (True, True): "yes, proved for all tables",
    (True, False): "within tolerance here, refuted in general",
    (True, None): "within tolerance here, not decided in general",
    (False, True): "no: the refitted model differs, the metric does not",
}
_NOTE = (
    "Balanced: the value less that of the test rows weighted to equal classes, the largest over models and splits. "
    "Sampling: the standard deviation of that change where rows of the larger class are left out at random instead. "
    "Swapped: the value less that with the classes swapped. Refuted in general: the audit has a table on which the "
    "metric changes."
)


@ASAWA_STUDY.own_data
def _own(
    table: OwnTable,
    plan: RunPlan,
    *,
    repeats: int | None = None,
    tolerance: float = TOLERANCE,
    metrics: list[str] | None = None,
) -> OwnFindings:
    table.check_two_classes()
    given = bool(table.preds or table.scores)
    if given and table.models:
        raise InputError("model= names models to fit, and pred= and score= predictions; give one of both.")
    times = 1 if given else plan.times(repeats, _SPLITS, _QUICK_SPLITS)
    options: dict[str, Any] = {
        "tolerance": tolerance,
        "metrics": metrics,
        "draws": _OWN_DRAWS,
        "rng": plan.seeds(1)[0],
    }
    parts = {"": _of_predictions(table, options)} if given else _refitted(table, plan, times, options)
    every = parts[""] if given else Robustness.joined(parts)
    how = {"models": next(iter(parts.values())).models, "tolerance": tolerance}
    how |= {} if given else {"splits": f"{times}, {TESTED:.0%} of the rows tested", "swapped": "refitted"}
    return OwnFindings(
        _summary(every),
        [
            Table("verdicts", "Both tests for every metric", _verdict_rows(every, times), _NOTE, unfolded=True),
            Table("changes", "Every model at equal classes", _change_rows(every)),
        ],
        _own_pictures(table, parts),
        how,
        "Which metrics balancing and swapping leave as they are",
    )


def _summary(every: Robustness) -> list[str]:
    """How many metrics are proved to stand both tests, how many stay within tolerance here, then which."""
    verdicts = every.verdicts
    proved = [v.metric for v in verdicts if v.proved]
    refuted = [v.metric for v in verdicts if v.only_here]
    open_ones = [metric for metric in every.winners if metric not in (*proved, *refuted)]
    of_models = [v.metric for v in verdicts if v.in_general and not v.winner and v.robust is not None]
    parts = [
        f"{len(proved)} of {number_of(len(every.metrics), 'metric')} stand both tests, by proof{_of_paper(proved)}"
    ]
    if of_models:
        parts.append(
            f"{len(of_models)} more are proved to, and move here because the models fitted on swapped labels differ"
            f"{_of_paper(of_models)}"
        )
    for metrics, words in ((open_ones, "not decided"), (refuted, "refuted")):
        if metrics:
            parts.append(f"{len(metrics)} more within tolerance here, {words} in general{_of_paper(metrics)}")
    return [f"{'; '.join(parts)}.", every.headline]


def _of_paper(metrics: list[str]) -> str:
    names = [metric for metric in metrics if metric in ASAWA_METRICS]
    return f" (in the paper {', '.join(names)})" if names else ""


# ---------------------------------------------------------------- predictions and refitted models


def _of_predictions(table: OwnTable, options: dict[str, Any]) -> Robustness:
    """Both tests on columns of predictions; a column of labels belongs to the column of scores in the same place."""
    y = table.two_class_y
    preds, scores = table.preds, table.scores
    if preds and scores and len(preds) != len(scores):
        raise InputError(
            f"{len(preds)} columns of labels and {len(scores)} of scores are not of the same models; give one score= "
            "for each pred=, or only one kind."
        )
    labels = _labels(table)
    given: dict[str, Any] = {"y_pred": labels or None, "y_score": scores or None, **options}
    if options["metrics"] is None:
        probable = all(part.has_probabilities for part in scores_of_models(y, scores).values()) if scores else False
        counted = named_metrics(None) if labels or probable else []
        given["metrics"] = [*counted, *(_telling(score_metrics(probabilities=probable)) if scores else [])]
    return robustness(y, **given)


def _labels(table: OwnTable) -> dict[str, Array]:
    """The predicted labels as 1 for the positive class, by the name of the column of scores beside them."""
    positive, labels = table.labels.index(table.positive), {}
    for name, (column_name, column) in zip(table.scores or table.preds, table.preds.items(), strict=False):
        codes = predicted_codes(column, table.labels, f"The column {column_name!r}")
        labels[name] = np.asarray(codes == positive, dtype=np.int64)
    return labels


def _refitted(table: OwnTable, plan: RunPlan, times: int, options: dict[str, Any]) -> dict[str, Robustness]:
    """Both tests on models fitted on the labels and on the labels swapped, split by split."""
    models = dict(table.models)
    if not models:
        for name, splits in TREES.items():
            tree: Any = named_model("tree")
            models[name] = table.prepared(tree.set_params(max_leaf_nodes=None if splits is None else splits + 1))
    if options["metrics"] is None:
        options = {**options, "metrics": _all_metrics(models)}
    y, rng = table.two_class_y, np.random.default_rng(plan.seeds(1)[0])
    parts = {}
    for part in HoldOut((1 - TESTED) / TESTED, repeats=times).split(y, (0, 1), rng):
        plan.progress(f"split {part.repeat} of {times}")
        rows = (table.X[part.train], y[part.train], table.X[part.test], y[part.test])
        parts[f"repeat {part.repeat}"] = refit_robustness(models, *rows, **options)
    return parts


def _all_metrics(models: dict[str, Estimator]) -> list[str]:
    """Those of labels, and those of scores where every model has probabilities, or scores."""
    have = [m for m in ("predict_proba", "decision_function") if all(hasattr(model, m) for model in models.values())]
    ranked = _telling(score_metrics(probabilities="predict_proba" in have)) if have else []
    return [metric.name for metric in (*named_metrics(None), *ranked)]


def _telling(metrics: list[Metric]) -> list[Metric]:
    """Those that can differ between models of two classes; the best two of two classes always hold the true one."""
    return [metric for metric in metrics if not is_constant(metric)]


# ---------------------------------------------------------------- shown


def _verdict_rows(every: Robustness, splits: int) -> list[TableRow]:
    """One row for each metric, those of the paper first."""
    rows = []
    for verdict in sorted(every.verdicts, key=lambda verdict: verdict.metric not in ASAWA_METRICS):
        row: TableRow = {
            "metric": verdict.metric,
            "balanced": verdict.change,
            "sampling": verdict.resampling_sd,
            "robust": _word(verdict.robust, verdict.robust_in_general),
            "swapped": verdict.swap_change,
            "symmetric": _word(verdict.symmetric, verdict.symmetric_in_general),
        }
        if splits > 1:  # those in which balancing the classes moves no model's value by more than the tolerance
            changes = np.abs(every.changes[..., every.metrics.index(verdict.metric)]).reshape(splits, -1)
            row["splits robust"] = f"{int((changes <= every.tolerance).all(1).sum())} of {splits}"
        rows.append(row)
    return rows


def _word(here: bool | None, in_general: bool | None) -> str:
    if here is None:
        return "undefined"
    return _WORDS.get((here, in_general), "no")


def _change_rows(every: Robustness) -> list[TableRow]:
    """Each model's values, as they are, balanced and swapped; what rounding leaves of 0 is 0."""
    values, balanced, swapped = (
        value_change(part, np.zeros(())) for part in (every.values, every.balanced, every.swapped)
    )
    return [
        {
            "model": model,
            "metric": metric,
            "value": float(values[m, i]),
            "balanced": float(balanced[m, 0, i]),
            "swapped": float(swapped[m, i]),
        }
        for m, model in enumerate(every.models)
        for i, metric in enumerate(every.metrics)
    ]


def _drawn_changes(table: OwnTable) -> list[Picture]:
    """The changes of Asawa's metrics of labels over balanced test sets, drawn from the rows."""
    y = table.two_class_y
    labels = _labels(table)
    tables = counts_of_predictions(y, labels) if labels else counts_at_half(scores_of_models(y, table.scores))
    if not tables:
        return []
    counts, metrics = Counts.stack(tables.values()), [get_metric(name) for name in COUNTED]
    draws = undersampled(counts, np.array([0.5]), _OWN_DRAWS, np.random.default_rng(0))
    if draws is None:
        return []
    changes = metric_values(metrics, counts) - metric_values(metrics, draws)[:, :, 0]
    values = tuple(changes[:, m].T for m in range(len(tables)))
    caption = f"Changes of the metrics over {_OWN_DRAWS} balanced test sets drawn from the rows, by model."
    return [Picture("balanced", RunsDisplay(tuple(tables), tuple(metrics), values), caption, columns=2, width=7)]


def _own_pictures(table: OwnTable, parts: dict[str, Robustness]) -> list[Picture]:
    """The changes of Asawa's metrics over the splits, and the ROC curves of given scores."""
    if table.scores or table.preds:
        pictures = _drawn_changes(table)
        if table.scores:
            pictures.append(Picture("roc", RocDisplay.from_predictions(table.two_class_y, table.scores)))
        return pictures
    first = next(iter(parts.values()))
    shown = [i for i, metric in enumerate(first.metrics) if metric in ASAWA_METRICS]
    about = {"balanced": "the test set is balanced", "swapped": "the models are refitted on swapped labels"}
    figures = []
    for name, words in about.items():
        each = np.stack([p.changes[:, 0] if name == "balanced" else p.swap_changes for p in parts.values()])
        values = tuple(each[:, m][:, shown].T for m in range(len(first.models)))
        display = RunsDisplay(first.models, tuple(get_metric(first.metrics[i]) for i in shown), values)
        caption = f"Changes of the metrics when {words}, over {number_of(len(parts), 'split')}, by model."
        figures.append(Picture(name, display, caption, columns=2, width=7))
    return figures


# ---------------------------------------------------------------- asawa's printed Figure 4
# The tables recovered from it, and which numbers of positives and negatives can give it.


ADDED = "balanced_accuracy"  # the per-class accuracy that the paper forgot to try
_WHOLE = 1e-6  # how far from a whole number ten printed digits may lead


def reconstructed() -> Robustness:
    """The paper's own tables, recovered from its Figure 4: unbalanced, and balanced by the paper's draw."""
    plain, even = ({tree: Counts(*pair[i]) for tree, pair in published("asawa")["counts"].items()} for i in range(2))
    metrics = [name for name in next(iter(published("asawa")["figure_4"].values())) if name != "roc_auc"]
    return robustness(plain, metrics=[*metrics, ADDED], balanced=even, draws=0)


def printed(metric: str) -> list[float]:
    """A row of Figure 4, by tree; NaN where the paper has none."""
    return [tree.get(metric, np.nan) for tree in published("asawa")["figure_4"].values()]


def as_paper(kind: str, metrics: Iterable[str]) -> bool:
    """Whether the metrics, less the one that the paper did not try, are those that it calls "robust" or the like."""
    return set(metrics) - {ADDED} == set(published("asawa")[kind])


@cache
def pulsar_divisions() -> tuple[tuple[int, int], ...]:
    """The positives and negatives, of as many rows as 30 % of HTRU2, that give the specificities of all four trees.

    Specificity changes by FP' / P - FP / N, since the balanced set has as many negatives as positives. The metric is
    a ratio, so twice as many of each would give the same: the number of rows has to be known.

    >>> pulsar_divisions()
    ((510, 4860),)
    """
    changes = [tree["specificity"] for tree in published("asawa")["figure_4"].values()]
    rows = published("asawa")["positives"] + published("asawa")["negatives"]
    return tuple(
        (p, rows - p) for p in range(1, rows // 2 + 1) if all(_fits(change, p, rows - p) for change in changes)
    )


def _fits(change: float, positives: int, negatives: int) -> bool:
    """Whether whole numbers of false alarms give the change."""
    alarms = (np.arange(positives + 1) / positives - change) * negatives
    whole = np.abs(alarms - np.rint(alarms)) < _WHOLE
    return bool((whole & (np.rint(alarms) >= 0) & (np.rint(alarms) <= negatives)).any())


# ---------------------------------------------------------------- asawa's tables and figures
# Ours beside the paper's Figure 4 and what was reconstructed from it.


COMPARED = ("tpnr", "balanced_accuracy", "mcc", "f1", "accuracy")
_YES = {True: "yes", False: "no", None: "undefined"}


def agreeing_draws(outcome: SplitOutcome) -> int:
    """In how many balanced test sets of a split exactly the paper's metrics stay as they are."""
    return sum(as_paper("robust", outcome.robust_in(draw)) for draw in range(len(outcome.drawn)))


# ---------------------------------------------------------------- tables


@ASAWA_STUDY.table(
    "figure_2",
    "Figure 2: correlations",
    "Pearson's r over all rows; attributes 1, 3 and 4 are those that the paper chooses from.",
)
def _correlations(results: AsawaResults) -> list[TableRow]:
    matrix = results.correlations
    return _clean(
        {
            "attribute": f"{i + 1} {name}",
            "with the class": float(matrix[i, -1]),
            **{f"with {j + 1}": float(matrix[i, j]) for j in (0, 2, 3)},
        }
        for i, name in enumerate(results.pulsars.names)
    )


def _clean(rows: Iterable[TableRow]) -> list[TableRow]:
    """Without the sign of a zero, and without what is rounding alone."""
    return [{k: round(v, 14) + 0.0 if isinstance(v, float) else v for k, v in row.items()} for row in rows]


@ASAWA_STUDY.table(
    "figure_3",
    "Figure 3: the metrics of the four trees",
    "P: the paper's, recomputed from the tables recovered from its Figure 4; its Figure 3 is a picture.",
)
def _values(results: AsawaResults) -> list[TableRow]:
    ours, paper = results.first.alike, reconstructed()
    rows = []
    for i, metric in enumerate(ours.metrics):
        row: TableRow = {"metric": metric}
        for m, tree in enumerate(ours.models):
            row[tree] = float(ours.values[m, i])
            row[f"{tree} P"] = float(paper.values[m, paper.metrics.index(metric)]) if metric in paper.metrics else None
        rows.append(row)
    return _clean(rows)


@ASAWA_STUDY.table(
    "figure_4",
    "Figure 4: changes when the test set is balanced",
    "The value on the unbalanced test set less that on a balanced one; the paper balanced by one draw. Difference: "
    "recovered less paper.",
    formats={"paper": ".10g", "recovered": ".10g", "difference": ".1e"},
    unfolded=True,
)
def _balanced(results: AsawaResults) -> list[TableRow]:
    """The changes by balancing: printed, from the recovered tables, and ours by weights and by draws."""
    ours, paper = results.first.alike, reconstructed()
    rows = []
    for i, metric in enumerate(ours.metrics):
        for m, tree in enumerate(ours.models):
            drawn, by_paper = results.first.drawn[:, m, i], printed(metric)[m]
            again = float(paper.changes[m, 0, paper.metrics.index(metric)]) if metric in paper.metrics else None
            row = {"metric": metric, "tree": tree, "paper": by_paper, "recovered": again}
            row |= {"difference": None if again is None else again - by_paper}
            row |= {"by weights": float(ours.changes[m, 0, i]), "mean of draws": float(drawn.mean())}
            rows.append(row | {"lowest": float(drawn.min()), "highest": float(drawn.max())})
    return _clean({k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()} for row in rows)


@ASAWA_STUDY.table(
    "figure_5",
    "Figure 5: changes when the labels are swapped",
    "The trees are refitted on swapped labels; a leaf with a tie predicts the same original class both times.",
)
def _swapped(results: AsawaResults) -> list[TableRow]:
    alike, unlike = results.first.alike, results.first.unlike
    return _clean(
        {
            "metric": metric,
            **{tree: float(alike.swap_changes[m, i]) for m, tree in enumerate(alike.models)},
            "largest, ties as predicted": float(np.abs(unlike.swap_changes[:, i]).max()),
        }
        for i, metric in enumerate(alike.metrics)
    )


@ASAWA_STUDY.table(
    "verdicts",
    "Verdicts",
    lambda results: (
        f"By the largest change over the trees against a tolerance of {results.first.alike.tolerance}. P: the paper."
    ),
)
def _verdicts(results: AsawaResults) -> list[TableRow]:
    return _clean(
        {
            "metric": verdict.metric,
            "largest change, balanced": verdict.change,
            "robust": _YES[verdict.robust],
            "robust P": _in_paper(verdict.metric, "robust"),
            "largest change, swapped": verdict.swap_change,
            "symmetric": _YES[verdict.symmetric],
            "symmetric P": _in_paper(verdict.metric, "symmetric"),
            "both": _YES[verdict.winner],
        }
        for verdict in results.first.alike.verdicts
    )


def _in_paper(metric: str, kind: str) -> str:
    return "not in the list" if metric == ADDED else _YES[metric in published("asawa")[kind]]


@ASAWA_STUDY.table(
    "splits",
    "The verdicts on other splits",
    "Whether the metrics that stay as they are are the paper's; each split has trees and draws of its own.",
)
def _splits(results: AsawaResults) -> list[TableRow]:
    words = {True: "as the paper", False: "other"}
    return [
        {
            "split seed": outcome.trees.seed,
            "positives": int(outcome.trees.y_test.sum()),
            "negatives": int((1 - outcome.trees.y_test).sum()),
            "robust": words[as_paper("robust", outcome.alike.robust)],
            "robust, by draws": f"{agreeing_draws(outcome)} of {len(outcome.drawn)}",
            "symmetric": words[as_paper("symmetric", outcome.alike.symmetric)],
            "symmetric, ties as predicted": words[as_paper("symmetric", outcome.unlike.symmetric)],
            "rows in leaves with a tie": sum(int((scores == 0.5).sum()) for scores in outcome.trees.scores.values()),
        }
        for outcome in results.outcomes
    ]


@ASAWA_STUDY.table(
    "components",
    "Two components or two attributes",
    lambda results: (
        f"Means over the four trees and {len(results.outcomes)} splits, and in how many of the "
        f"{len(results.outcomes)} the components are better."
    ),
)
def _components(results: AsawaResults) -> list[TableRow]:
    rows = []
    for metric in COMPARED:
        components = results.with_components(metric)
        row: TableRow = {"metric": metric, "two components": float(components.mean())}
        for pair in results.attributes:
            attributes = results.with_attributes(metric, pair)
            gap = components.mean(1) - attributes.mean(1)
            row |= {pair: float(attributes.mean()), f"{pair.removeprefix('attributes ')} lose in": int((gap > 0).sum())}
        rows.append(row)
    return _clean(rows)


@ASAWA_STUDY.table(
    "roc_then_tpnr",
    "The recommended use: a threshold by ROC, then TPNR",
    lambda results: (
        "The threshold is chosen on training rows, each scored by a tree that had not seen it; values of the test "
        f"part, means over {len(results.thresholds)} splits."
    ),
)
def _thresholds(results: AsawaResults) -> list[TableRow]:
    """The mean over the splits in which a value is defined, tree by tree."""
    means = []
    for rows in zip(*results.thresholds, strict=True):
        mean: TableRow = {"tree": rows[0]["tree"]}
        for name in rows[0]:
            if name != "tree":
                mean[name] = float(np.nanmean([row[name] for row in rows]))
        means.append(mean)
    return _clean(means)


# ---------------------------------------------------------------- figures


@ASAWA_STUDY.pictures
def _pictures(results: AsawaResults) -> list[Picture]:
    """Figures 1 and 2, the ROC curves, and the changes over draws of a balanced test set."""
    X, y, names = results.pulsars.X, results.pulsars.y, results.pulsars.names
    standard = (X - X.mean(0)) / X.std(0)
    columns = {f"{i + 1} {name}": standard[:, i] for i, name in enumerate(names)}
    halves = (list(columns)[:4], list(columns)[4:])
    matrix = CorrelationDisplay.from_columns(columns | {"class": y.astype(float)})
    caption = f"Figure 2. Pearson's correlations of the attributes and the class over {len(y):,} rows."
    return [
        *(_densities(f"figure_1{i}", y, {n: columns[n] for n in half}) for i, half in zip("ab", halves, strict=True)),
        Picture("figure_2", matrix, caption),
        Picture("roc", RocDisplay.from_predictions(results.first.trees.y_test, results.first.trees.scores)),
        _draws(results.first),
    ]


def _densities(name: str, y: Array, columns: dict[str, Array]) -> Picture:
    display = DensityDisplay.from_predictions(y, columns, unit="standardised value", threshold=np.inf)
    last = list(columns)[-1].partition(" ")[0]
    attributes = f"Attributes {int(last) - 3} to {last}"
    return Picture(name, display, f"Figure 1. {attributes} of {len(y):,} rows by class, as densities, each of area 1.")


def _draws(outcome: SplitOutcome) -> Picture:
    values = tuple(outcome.drawn[:, m].T for m in range(len(outcome.alike.models)))
    display = RunsDisplay(outcome.alike.models, tuple(map(get_metric, outcome.alike.metrics)), values)
    sets = f"{len(outcome.drawn)} balanced test sets"
    caption = f"Figure 4. Changes of the metrics over {sets}, drawn from the unbalanced one, by tree."
    return Picture("figure_4", display, caption, columns=2, width=7)
