"""Kalita (2010): how to measure a classifier: hold-out, repeated splits, balanced training, costs, choosing a tree.

The paper has no experiment, so its protocol is run on two real sets of imbalanced classes: the pulsars of HTRU2, two
classes and eight numbers; and the seven hierarchies of 20 Newsgroups, with words that are there or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import listed, number_of, three_digits
from steelyard.datasets.paper_datasets import htru2, newsgroups20
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.cross_evaluate import cross_evaluate
from steelyard.protocol.cross_evaluation import HoldOuts
from steelyard.protocol.resample import CLASS_WEIGHT, equal_rows, takes_class_weight
from steelyard.protocol.select_tree import select_tree
from steelyard.protocol.splits import Folds, HoldOut
from steelyard.report.figures.confusion import ConfusionDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.nguyen import phrases
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scipy.sparse import csr_array
    from sklearn.tree import DecisionTreeClassifier

    from steelyard._types import Array, Estimator
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult
    from steelyard.protocol.run_values import Summary
    from steelyard.protocol.select_tree import Selection, Trial
    from steelyard.studies.study import TableRow


_CITE = "Kalita, J. (2010) Measuring performance of a classification algorithm. Lecture notes."
TREE, MEAN_F, MICRO_F, MACRO_RECALL = "tree", "f1[average=macro]", "f1[average=weighted]", "recall[average=macro]"
TWO_CLASSES, SEVEN_CLASSES = "HTRU2, 2 classes", "20 Newsgroups, 7 classes"
KALITA_RESAMPLING = [None, "over", "under", "class_weight"]
_OTHERS = ("recall[average=weighted]", "accuracy", "balanced_accuracy", "ac_score", "mcc")
REPORTED = (MEAN_F, MICRO_F, MACRO_RECALL, *_OTHERS)
_FEW, _WORDS, _STEPS = 24, 300, 20  # rows of the small example, words that a tree may ask about, prunings of each tree
_INTERVALS = 5
_SMALL = 10  # splits of the small tree, on which balancing is tried as well
SET_ASIDE = 0.25  # of the rows, on which a selected tree is judged


@dataclass(frozen=True)
class Effort:
    """How often things are repeated, and which part of the rows is used: every so many."""

    holdouts: int = 10
    few: int = 20
    repeats: int = 4
    selections: int = 5
    pulsars: int = 1
    texts: int = 3


_FULL_EFFORT, QUICK_EFFORT = Effort(), Effort(holdouts=3, few=5, repeats=1, selections=1, pulsars=5, texts=10)


@dataclass(frozen=True, eq=False)
class LearningTask:
    """A data set and the learning algorithm that is evaluated on it."""

    name: str
    X: Array | csr_array
    y: Array
    learner: Estimator
    attributes: str
    small: Estimator

    def part(self, rows: Array) -> LearningTask:
        """The same of some of the rows."""
        return replace(self, X=self.X[rows], y=self.y[rows])


@dataclass(frozen=True, eq=False)
class ProtocolOutcome:
    """All that the protocol gives on one data set."""

    task: LearningTask
    holdouts: dict[int, CrossEvaluation]
    few: list[CrossEvaluation]
    folds: CrossEvaluation
    small: CrossEvaluation
    repeated_before: CrossEvaluation
    selections: list[ChosenTree]
    intervals: CrossEvaluation | None

    @property
    def both_trees(self) -> dict[str, CrossEvaluation]:
        """The repeated folds of the tree grown until its leaves are pure, and of the small one."""
        return {"": self.folds, "small ": self.small}


@dataclass(frozen=True, eq=False)
class ChosenTree:
    """One selection of a tree, and what the best of the unpruned trees does on the rows that no choice has seen."""

    seed: int
    selection: Selection
    grown: Trial  # best on its validation part before any pruning: the one that Kalita would first keep
    grown_unseen: float
    chosen_unseen: float


@dataclass(frozen=True, eq=False)
class KalitaResults:
    """The outcome on each data set, and the effort made for it."""

    outcomes: list[ProtocolOutcome]
    topics: CrossEvaluation  # of all 20, which have nearly as many texts each
    effort: Effort


_TITLE = "Evaluating a classifier on imbalanced data, step by step"
KALITA_STUDY = DeclaredStudy[KalitaResults]("kalita", _TITLE, cite=_CITE)


@KALITA_STUDY.experiment
def _experiment(plan: RunPlan) -> KalitaResults:
    """The protocol on both sets."""
    effort = QUICK_EFFORT if plan.quick else _FULL_EFFORT
    plan.progress("reading HTRU2 and 20 Newsgroups")
    texts, groups = _hierarchies(plan.data, effort, plan.seeds(1)[0])
    outcomes = [_outcome(task, effort, plan) for task in (pulsar_task(plan.data, effort), texts)]
    plan.progress("all 20 topics")
    topics = _evaluated(replace(texts, y=groups), Folds(5), plan.seeds(1)[0])
    return KalitaResults(outcomes, topics, effort)


# ---------------------------------------------------------------- the data


def _tree(splits: int | None = None) -> DecisionTreeClassifier:
    """A tree grown until its leaves are pure, or of so many splits."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=None if splits is None else splits + 1)


def pulsar_task(data: str | Path | None, effort: Effort) -> LearningTask:
    """Two classes, eight attributes that are numbers."""
    pulsars, rows = htru2(data), slice(None, None, effort.pulsars)
    return LearningTask(TWO_CLASSES, pulsars.X[rows], pulsars.y[rows], _tree(), "8 numbers", _tree(_SMALL))


def _hierarchies(data: str | Path | None, effort: Effort, seed: int) -> tuple[LearningTask, Array]:
    """Seven classes, the first word of a group's name, and all 20 groups; attributes say whether a word is there."""
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.pipeline import make_pipeline

    news = newsgroups20(data)
    rows = np.sort(np.random.default_rng(seed).permutation(len(news.labels))[:: effort.texts])
    X = phrases([news.texts[i] for i in rows], longest=1)
    X.data[:] = 1
    topics = np.array([news.labels[i] for i in rows])
    y = np.array([topic.partition(".")[0] for topic in topics])
    learner, small = (make_pipeline(SelectKBest(chi2, k=_WORDS), _tree(splits)) for splits in (None, _SMALL))
    attributes = f"{_WORDS} words, there or not, chosen in each training part"
    return LearningTask(SEVEN_CLASSES, X, y, learner, attributes, small), topics


# ---------------------------------------------------------------- the protocol


def _outcome(task: LearningTask, effort: Effort, plan: RunPlan) -> ProtocolOutcome:
    """Every step of the protocol in the paper's order."""
    seed, split = plan.seeds(1)[0], Folds(5, effort.repeats)
    plan.progress(f"{task.name}: hold-out for k = 2 to 9")
    holdouts = {k: _evaluated(task, HoldOut(k, effort.holdouts), seed) for k in range(2, 10)}
    plan.progress(f"{task.name}: {_FEW} rows, ten times")
    few = [evaluated_on_few(task, other) for other in plan.seeds(effort.few)]
    plan.progress(f"{task.name}: repeated folds, four ways to balance the training part")
    folds = _evaluated(task, split, seed, resample=KALITA_RESAMPLING, resources=True)
    small = _evaluated(replace(task, learner=task.small), split, seed, resample=KALITA_RESAMPLING)
    before = _repeated_before(task, seed)
    selections = []
    for other in plan.seeds(effort.selections):
        plan.progress(f"{task.name}: which tree to keep, seed {other}")
        selections.append(_chosen(task, other))
    intervals = _in_intervals(task, split, seed)
    return ProtocolOutcome(task, holdouts, few, folds, small, before, selections, intervals)


def _evaluated(
    task: LearningTask,
    split: Folds | HoldOut,
    seed: int,
    *,
    resample: Sequence[str | None] | None = None,
    resources: bool = False,
) -> CrossEvaluation:
    models, rng = {TREE: task.learner}, np.random.default_rng(seed)
    return cross_evaluate(
        models, task.X, task.y, split=split, metrics=REPORTED, rng=rng, resample=resample, resources=resources
    )


def evaluated_on_few(task: LearningTask, seed: int) -> CrossEvaluation:
    """Kalita's small example: 24 rows with the classes' shares, 16 to train on and 8 to test, ten times."""
    rng = np.random.default_rng(seed)
    labels, codes = np.unique(task.y, return_inverse=True)
    (part,) = HoldOut(len(codes) / _FEW - 1).split(codes, tuple(labels.tolist()), rng)
    return _evaluated(task.part(part.test), HoldOut(2, repeats=10, stratified=False), seed)


def _repeated_before(task: LearningTask, seed: int) -> CrossEvaluation:
    """What must not be done: rows of the smaller classes repeated before the split, so that some are on both sides."""
    rows = equal_rows(task.y, "over", np.random.default_rng(seed))
    return _evaluated(task.part(rows), Folds(5), seed)


def _chosen(task: LearningTask, seed: int) -> ChosenTree:
    """Ten trees, the best three pruned, the smallest of the best: on validation parts, then judged on unseen rows."""
    rng = np.random.default_rng(seed)
    selection = select_tree(task.learner, task.X, task.y, metric=MEAN_F, most=_STEPS, rng=rng)
    grown = max(selection.grown, key=lambda trial: trial.value)
    X, y, mean_f = task.X[selection.test_rows], task.y[selection.test_rows], get_metric("f1")
    unseen = [float(mean_f(y, trial.estimator.predict(X), average="macro")) for trial in (grown, selection.chosen)]
    return ChosenTree(seed, selection, grown, *unseen)


def _in_intervals(task: LearningTask, split: Folds, seed: int) -> CrossEvaluation | None:
    """Numbers as they are against numbers binned into a few intervals; None where the attributes are words."""
    if not isinstance(task.X, np.ndarray):
        return None
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer

    binned = make_pipeline(KBinsDiscretizer(_INTERVALS, encode="ordinal", strategy="uniform"), _tree())
    both = {"numbers": task.learner, f"{_INTERVALS} intervals": binned}
    return cross_evaluate(both, task.X, task.y, split=split, metrics=REPORTED, rng=np.random.default_rng(seed))


@KALITA_STUDY.choices
def _choices(results: KalitaResults) -> dict[str, Any]:
    effort, tasks = results.effort, [outcome.task for outcome in results.outcomes]
    return {
        **{task.name: f"{len(task.y):,} rows, {task.attributes}" for task in tasks},
        "classes of 20 Newsgroups": "the first word of each group's name",
        "tree": f"scikit-learn's, Gini, grown until its leaves are pure; the small one has {_SMALL} splits",
        "hold-out": f"k from 2 to 9, {effort.holdouts} times each, with the classes' shares",
        "few rows": f"{_FEW} rows with the classes' shares, 16 and 8, ten times, not stratified; {effort.few} sets",
        "folds": f"5, {'once' if effort.repeats == 1 else f'{effort.repeats} times'}, stratified",
        "selection": f"ten hold-outs of k = 2, the best three pruned in {_STEPS} steps, a quarter of the rows aside",
        "F": "the harmonic mean of precision and recall of each class; mean F is their plain mean (macro)",
        "micro": "the mean by the classes' shares, as the paper defines it; scikit-learn calls it weighted",
    }


# ---------------------------------------------------------------- kalita's tables and figures
# What each step of the protocol gives on each data set.


KALITA_DRAWN = ("balanced_accuracy", "ac_score", "mcc", "accuracy")
COST_WORDS = {
    "fit_seconds": "seconds to train",
    "predict_seconds_per_1000": "seconds to predict 1,000 rows",
    "peak_memory_bytes": "peak memory, bytes",
    "model_bytes": "size of the model, bytes",
    "tree_nodes": "nodes",
    "tree_depth": "depth",
}


@KALITA_STUDY.table("data", "The classes")
def _data(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        labels, sizes = np.unique(outcome.task.y, return_counts=True)
        rows += [
            {"data": outcome.task.name, "class": str(label), "rows": int(n), "share": float(n / sizes.sum())}
            for label, n in zip(labels, sizes, strict=True)
        ]
    return rows


def _interval(row: Summary, name: str = "mean F") -> TableRow:
    return {name: row.mean, "low": row.low, "high": row.high}


@KALITA_STUDY.table(
    "holdout",
    "Hold-out: the training part k times the test part",
    "Mean F over the runs of each k with Nadeau and Bengio's 95 % interval, and the best and worst run.",
)
def _holdout(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        for k, result in outcome.holdouts.items():
            part = result.runs[0].part
            sizes = {"trained on": len(part.train), "tested": len(part.test)}
            row = result[TREE].summarised(MEAN_F)
            spread = {"sd": row.sd, "best": row.best, "worst": row.worst}
            rows.append({"data": outcome.task.name, "k": k, **sizes, **_interval(row), **spread})
    return rows


def times_tested(result: CrossEvaluation) -> Array:
    """How often each row was tested over the runs."""
    tested = np.concatenate([run.part.test for run in result[TREE].runs])
    return np.bincount(tested, minlength=len(result[TREE].data.codes))


@KALITA_STUDY.table(
    "few",
    "Ten hold-outs of 24 rows",
    "24 rows with the classes' shares; 16 trained on and 8 tested, ten times. A run in which a class is neither "
    "there nor predicted has no F of it, hence no mean F; an interval needs two runs that have one.",
)
def _few(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        for i, result in enumerate(outcome.few, 1):
            row, often = result[TREE].summarised(MEAN_F), times_tested(result)
            few = {"data": outcome.task.name, "set": i, **_interval(row), "runs without a mean F": row.undefined or 0}
            rows.append(few | {"rows never tested": int((often == 0).sum()), "a row tested at most": int(often.max())})
    return rows


def protocol_row(result: ModelResult) -> TableRow:
    """The mean F of a model with its interval, and the means of the other metrics."""
    row = result.summarised(MEAN_F)
    others = {m: result.summarised(m).mean for m in (MICRO_F, "accuracy", "balanced_accuracy", "ac_score", "mcc")}
    named = {"F by shares" if m == MICRO_F else m.replace("_", " "): value for m, value in others.items()}
    return _interval(row) | named


@KALITA_STUDY.table(
    "folds",
    "Repeated folds: four ways to balance the training part",
    "Resampling touches the training part alone. Means over all folds and repeats; the interval is of mean F.",
)
def _folds(results: KalitaResults) -> list[TableRow]:
    return [
        {"data": outcome.task.name, "learner": f"{kind}{name}"} | protocol_row(result)
        for outcome in results.outcomes
        for kind, part in outcome.both_trees.items()
        for name, result in part.models.items()
    ]


@KALITA_STUDY.table(
    "differences",
    "Does balancing the training part help?",
    "Run by run on the same folds, Nadeau and Bengio's corrected t-test, adjusted by Holm for all pairs.",
)
def _differences(results: KalitaResults) -> list[TableRow]:
    return [
        {
            "data": outcome.task.name,
            "learner": f"{kind}{row.b}",
            "less": f"{kind}{row.a}",
            "metric": row.metric,
            "difference": -row.difference,
            "low": -row.high,
            "high": -row.low,
            "p (Holm)": row.p_holm,
        }
        for outcome in results.outcomes
        for kind, part in outcome.both_trees.items()
        for row in part.differences([MEAN_F, "balanced_accuracy"])
        if row.a == TREE
    ]


@KALITA_STUDY.table(
    "classes",
    "Precision, recall and F of each class, and the two averages",
    "Of the tree without resampling. 'macro' is the plain mean, 'class shares' what the paper calls micro.",
)
def _classes(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        for row in outcome.folds[TREE].per_class:
            values = {"precision": row.precision.mean, "recall": row.recall.mean, "F": row.f1.mean}
            rows.append({"data": outcome.task.name, "class": str(row.label), "rows": row.rows, **values})
    return rows


@KALITA_STUDY.table(
    "four_things",
    "The four things to measure",
    "Means over the folds. Noise: how far repeated timings of one fit lie apart, as a share; nothing where one fit "
    "takes long enough to be timed once. Timings are of this machine; nodes and bytes do not.",
)
def _things(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        for name, result in outcome.folds.models.items():
            cost = {row.name: row for row in result.cost}
            row: TableRow = {"data": outcome.task.name, "learner": name, "mean F": result.summarised(MEAN_F).mean}
            row |= {words: cost[kind].mean for kind, words in COST_WORDS.items()}
            rows.append(row | {"noise of the training time": cost["fit_seconds"].noise})
    return rows


@KALITA_STUDY.table(
    "leak",
    "Oversampling before the split leaks",
    "Balanced accuracy is the mean of the classes' recalls, so it can be compared though the shares differ.",
)
def _before(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        right = outcome.folds[f"{TREE} + over"].summarised("balanced_accuracy")
        wrong = outcome.repeated_before[TREE].summarised("balanced_accuracy")
        rows += [
            {"data": outcome.task.name, "rows repeated": what} | _interval(row, "balanced accuracy")
            for what, row in (("in the training part", right), ("before the split", wrong))
        ]
    return rows


@KALITA_STUDY.table(
    "selection",
    "Which tree to keep",
    "The best of ten unpruned trees by the rows it was tested on, and the smallest within one standard error of "
    "the best of all pruned ones; both on a quarter of the rows that no choice has seen.",
)
def _selection(results: KalitaResults) -> list[TableRow]:
    rows = []
    for outcome in results.outcomes:
        for choice in outcome.selections:
            grown, chosen = choice.grown, choice.selection.chosen
            rows.append(
                {
                    "data": outcome.task.name,
                    "seed": choice.seed,
                    "best tree: nodes": int(grown.complexity),
                    "F where chosen": grown.value,
                    "F on unseen rows": choice.grown_unseen,
                    "pruned: nodes": int(chosen.complexity),
                    "pruned: F where chosen": chosen.value,
                    "pruned: F on unseen rows": choice.chosen_unseen,
                }
            )
    return rows


@KALITA_STUDY.table("intervals", "Numbers as they are, or binned into even intervals")
def _intervals(results: KalitaResults) -> list[TableRow]:
    return [
        {"data": outcome.task.name, "attributes": name} | protocol_row(result)
        for outcome in results.outcomes
        if outcome.intervals is not None
        for name, result in outcome.intervals.models.items()
    ]


# ---------------------------------------------------------------- figures


@KALITA_STUDY.pictures
def _pictures(results: KalitaResults) -> list[Picture]:
    """For each data set: the hold-outs, the four ways to balance, and the table of the chosen tree."""
    pictures = []
    for i, outcome in enumerate(results.outcomes, 1):
        holdouts = RunsDisplay(
            tuple(f"k={k}" for k in outcome.holdouts),
            (get_metric("balanced_accuracy"),),
            tuple(result[TREE].values("balanced_accuracy")[None] for result in outcome.holdouts.values()),
        )
        names = tuple(name.removeprefix(f"{TREE} + ").replace("_", " ") for name in outcome.folds.models)
        ways = RunsDisplay(
            names,
            tuple(get_metric(name) for name in KALITA_DRAWN),
            tuple(np.stack([result.values(name) for name in KALITA_DRAWN]) for result in outcome.folds.models.values()),
        )
        selection, task = outcome.selections[0].selection, outcome.task.name
        tree = (
            f"The pruned tree of {int(selection.chosen.complexity):,} nodes on {len(selection.test_rows):,} rows that "
            "no choice has seen."
        )
        chosen = ConfusionDisplay.from_evaluation(selection.evaluation)
        pictures += [
            Picture(f"holdout_{i}", holdouts, f"{task}. {holdouts.caption()}"),
            Picture(f"folds_{i}", ways, f"{task}. {ways.caption()}"),
            Picture(f"chosen_{i}", chosen, f"{task}. {tree}"),
        ]
    return pictures


# ---------------------------------------------------------------- kalita own
# Kalita's protocol on a table of one's own: hold-outs, repeated folds, balanced training, classes, costs, a tree.


_SIZES = range(2, 10)  # of the part trained on, in parts tested
_HOLDOUTS, _QUICK_HOLDOUTS, _REPEATS, _QUICK_REPEATS = 10, 3, 4, 1
_OWN_STEPS = 20  # of pruning each tree


@dataclass(frozen=True, eq=False)
class _Outcome:
    """All that the protocol gives on the table."""

    holdouts: dict[int, CrossEvaluation]
    folds: CrossEvaluation
    selection: Selection

    @property
    def plain(self) -> list[str]:
        """The models without resampling."""
        return list(next(iter(self.holdouts.values())).models)


@KALITA_STUDY.own_data
def _own(table: OwnTable, plan: RunPlan, *, folds: int = 5, repeats: int | None = None) -> OwnFindings:
    if table.preds or table.scores:
        raise InputError("Kalita's protocol fits models on parts of the table; name them with model=, no predictions.")
    models = table.models or {"tree": table.prepared("tree")}
    seed = plan.seeds(1)[0]
    times = plan.times(repeats, _REPEATS, _QUICK_REPEATS)
    holdouts = {}
    for k in _SIZES:
        plan.progress(f"hold-out, 1 to {k}")
        split = HoldOut(k, plan.times(repeats, _HOLDOUTS, _QUICK_HOLDOUTS))
        holdouts[k] = cross_evaluate(models, table.X, table.y, split=split, metrics=REPORTED, rng=seed)
    plan.progress("repeated folds with the training part balanced")
    have_class_weights = all(takes_class_weight(model) for model in models.values())
    ways = [way for way in KALITA_RESAMPLING if way != CLASS_WEIGHT or have_class_weights]
    repeated = cross_evaluate(
        models,
        table.X,
        table.y,
        split=Folds(folds, times),
        metrics=REPORTED,
        resample=ways,
        resources=True,
        rng=seed,
    )
    plan.progress("which tree to keep")
    tree = table.prepared("tree")
    selection = select_tree(tree, table.X, table.y, metric=MEAN_F, most=_OWN_STEPS, pos_label=table.chosen, rng=seed)
    outcome = _Outcome(holdouts, repeated, selection)
    how: dict[str, Any] = {"folds": f"{folds}, {number_of(times, 'time')}"}
    how |= {"hold-out": f"1 to k for k from 2 to 9, {number_of(split.repeats, 'time')} each"}
    how |= {"models": list(models), "selection": f"a tree, with {SET_ASIDE:.0%} of the rows set aside"}
    return OwnFindings(_summary(outcome), _tables(outcome), _own_pictures(outcome), how, _TITLE)


# ---------------------------------------------------------------- what was found


def _summary(outcome: _Outcome) -> list[str]:
    ranked = outcome.folds.ranking(MEAN_F)
    best = ranked[0]
    ends = f"{three_digits(best.low)} to {three_digits(best.high)}"
    head = f"{best.model} has the highest mean F over the classes, {three_digits(best.mean)} (95 % CI {ends})."
    selection, sizes = outcome.selection, HoldOuts.of(outcome.holdouts, [MEAN_F]).headline
    tree = (
        f"Of {len(selection)} trees the best has {selection.best.complexity:,.0f} nodes; the simplest "
        f"within a standard error of it has {selection.chosen.complexity:,.0f}, and on "
        f"{len(selection.test_rows):,} rows that no choice has seen a mean F of {three_digits(_unseen(selection))}."
    )
    return [head, *_helped(outcome), sizes, tree]


def _unseen(selection: Selection) -> float:
    """The mean F of the chosen tree on the rows that no choice has seen."""
    table = selection.evaluation.confusion
    return math.nan if table is None else float(get_metric("f1")(table, average="macro"))


def _helped(outcome: _Outcome) -> list[str]:
    """Whether balancing the training part changed the mean F by more than chance."""
    rows = [row for row in outcome.folds.differences(MEAN_F) if row.a in outcome.plain and row.b not in outcome.plain]
    rows = [row for row in rows if row.b.startswith(f"{row.a} + ")]
    clear = [row for row in rows if row.p_holm is not None and row.p_holm < 0.05]
    if not clear:
        return ["No way of balancing the training part changes the mean F by more than chance."]
    each = [f"{row.b} by {three_digits(-row.difference)}" for row in clear]
    return [f"Balancing the training part changes the mean F: {listed(each)}; other ways not by more than chance."]


# ---------------------------------------------------------------- tables


def _tables(outcome: _Outcome) -> list[Table]:
    return [
        Table("folds", "Repeated folds: ways to balance the training part", _fold_rows(outcome), _FOLDS),
        Table("holdout", "Hold-out: the training part k times the test part", _holdout_rows(outcome), _HOLDOUT),
        Table("differences", "Does balancing the training part help?", _difference_rows(outcome), _DIFFERENCES),
        Table("classes", "Precision, recall and F1 of each class, and averages", _class_rows(outcome), _CLASSES),
        Table("four_things", "Performance, speed and memory", _cost_rows(outcome), _COSTS),
        Table("selection", "Which tree to keep", _selection_rows(outcome.selection), _SELECTION),
    ]


_FOLDS = "Resampling touches the training part alone. Means over folds and repeats; the interval is of the mean F."
_HOLDOUT = "The mean F over the repeats of each k with Nadeau and Bengio's 95 % interval, and the best and worst run."
_DIFFERENCES = "Run by run on the same folds, Nadeau and Bengio's corrected t-test, adjusted by Holm for all pairs."
_CLASSES = "Without resampling. 'macro' is the plain mean, 'class shares' what the paper calls micro."
_COSTS = "Means over the folds; timings are of this machine. Peak memory is what Python and NumPy allocated in a fit."
_SELECTION = (
    "The best of all trees on its validation part, and the one with the fewest nodes within a standard error of it; "
    "the chosen one is tested on a quarter of the rows that no choice has seen."
)


def _fold_rows(outcome: _Outcome) -> list[TableRow]:
    return [{"model": name} | protocol_row(result) for name, result in outcome.folds.models.items()]


def _holdout_rows(outcome: _Outcome) -> list[TableRow]:
    hidden = ("metric", "undefined")
    rows = HoldOuts.of(outcome.holdouts, [MEAN_F]).to_dicts()
    return [{name: cell for name, cell in row.items() if name not in hidden} for row in rows]


def _difference_rows(outcome: _Outcome) -> list[TableRow]:
    return [
        {"model": row.b, "less": row.a, "metric": row.metric, "difference": -row.difference}
        | {"low": -row.high, "high": -row.low, "p (Holm)": row.p_holm}
        for row in outcome.folds.differences([MEAN_F, "balanced_accuracy"])
        if row.b.startswith(f"{row.a} + ")
    ]


def _class_rows(outcome: _Outcome) -> list[TableRow]:
    return [
        {"model": model, "class": str(row.label), "rows": row.rows}
        | {"precision": row.precision.mean, "recall": row.recall.mean, "F1": row.f1.mean}
        for model in outcome.plain
        for row in outcome.folds[model].per_class
    ]


def _cost_rows(outcome: _Outcome) -> list[TableRow]:
    rows = []
    for name, result in outcome.folds.models.items():
        means = {row.name: row.mean for row in result.cost}
        row: TableRow = {"model": name, "mean F": result.summarised(MEAN_F).mean}
        rows.append(row | {words: means[kind] for kind, words in COST_WORDS.items()})
    return rows


def _selection_rows(selection: Selection) -> list[TableRow]:
    chosen: TableRow = {"tree": "chosen", "nodes": int(selection.chosen.complexity)}
    chosen |= {"mean F where chosen": selection.chosen.value, "mean F on unseen rows": _unseen(selection)}
    best = {"tree": "best", "nodes": int(selection.best.complexity), "mean F where chosen": selection.best.value}
    return [chosen, best | {"mean F on unseen rows": None}]


# ---------------------------------------------------------------- figures


def _own_pictures(outcome: _Outcome) -> list[Picture]:
    """The hold-outs by size, the ways to balance, and the confusion matrix of the chosen tree."""
    model = outcome.plain[0]
    sizes = _boxes({f"k={k}": result for k, result in outcome.holdouts.items()}, model, ("balanced_accuracy",))
    unseen = len(outcome.selection.test_rows)
    nodes = f"{outcome.selection.chosen.complexity:,.0f}"
    words = f"The chosen tree of {nodes} nodes on {unseen:,} rows that no choice has seen."
    return [
        *(_ways(outcome, name) for name in outcome.plain),
        Picture("holdout", sizes, f"{model}: {sizes.caption()}"),
        Picture("chosen", ConfusionDisplay.from_evaluation(outcome.selection.evaluation), words),
    ]


def _ways(outcome: _Outcome, model: str) -> Picture:
    """The runs of a model by how its training part is balanced."""
    every = {name: part for name, part in outcome.folds.models.items() if name in (model, *_resampled(outcome, model))}
    names = ["none", *(name.removeprefix(f"{model} + ").replace("_", " ") for name in list(every)[1:])]
    values = tuple(np.stack([part.values(m) for m in KALITA_DRAWN]) for part in every.values())
    display = RunsDisplay(tuple(names), tuple(map(get_metric, KALITA_DRAWN)), values)
    place = f"folds_{outcome.plain.index(model) + 1}" if len(outcome.plain) > 1 else "folds"
    return Picture(place, display, f"{model}: {display.caption()}", columns=2, width=7)


def _resampled(outcome: _Outcome, model: str) -> list[str]:
    return [name for name in outcome.folds.models if name.startswith(f"{model} + ")]


def _boxes(results: dict[str, CrossEvaluation], model: str, metrics: Sequence[str]) -> RunsDisplay:
    values = tuple(np.stack([result[model].values(metric) for metric in metrics]) for result in results.values())
    return RunsDisplay(tuple(results), tuple(map(get_metric, metrics)), values)
