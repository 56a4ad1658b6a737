"""Kalita (2010): how to measure a classifier: hold-out, repeated splits, balanced training, costs, choosing a tree.

The paper has no experiment, so its protocol is run on two real sets of imbalanced classes: the pulsars of HTRU2, two
classes and eight numbers; and the seven hierarchies of 20 Newsgroups, with words that are there or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.datasets.paper_datasets import htru2, newsgroups20
from steelyard.metrics.registry import get_metric
from steelyard.protocol.cross_evaluate import cross_evaluate
from steelyard.protocol.resample import equal_rows
from steelyard.protocol.select_tree import select_tree
from steelyard.protocol.splits import Folds, HoldOut
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.text_counts import phrases

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scipy.sparse import csr_array
    from sklearn.tree import DecisionTreeClassifier

    from steelyard._types import Array, Estimator
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.select_tree import Selection, Trial

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
    folds = _evaluated(task, split, seed, resample=KALITA_RESAMPLING, cost=True)
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
    cost: bool = False,
) -> CrossEvaluation:
    models, rng = {TREE: task.learner}, np.random.default_rng(seed)
    return cross_evaluate(models, task.X, task.y, split=split, metrics=REPORTED, rng=rng, resample=resample, cost=cost)


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
    unseen = [_mean_f(task, trial, selection.test_rows) for trial in (grown, selection.chosen)]
    return ChosenTree(seed, selection, grown, *unseen)


def _mean_f(task: LearningTask, trial: Trial, rows: Array) -> float:
    return float(get_metric("f1")(task.y[rows], trial.estimator.predict(task.X[rows]), average="macro"))


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
