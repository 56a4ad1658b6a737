"""Kalita (2010): how to measure a classifier: hold-out, repeated splits, balanced training, costs, choosing a tree.

The paper has no experiment, so its protocol is run on two real sets of unequal classes: the pulsars of HTRU2, two
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
from steelyard.studies import kalita_claims, kalita_tables
from steelyard.studies.study import Study
from steelyard.studies.text_counts import phrases

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.tree_selection import Selection

CITE = "Kalita, J. (2010) Measuring performance of a classification algorithm. Lecture notes."
_TREE = "tree"
RESAMPLING = (None, "over", "under", "class_weight")
_METRICS = (
    "f1[average=macro]",
    "f1[average=weighted]",
    "recall[average=weighted]",
    "accuracy",
    "balanced_accuracy",
    "ac_score",
    "mcc",
)
_FEW, _WORDS, _STEPS = 24, 300, 20  # rows of the small example, words that a tree may ask about, prunings of each tree
INTERVALS = 5
_SMALL = 10  # splits of the small tree, on which balancing is tried as well


@dataclass(frozen=True)
class Effort:
    """How often things are repeated, and which part of the rows is used: every so many."""

    holdouts: int = 10
    few: int = 20
    repeats: int = 2
    selections: int = 3
    pulsars: int = 1
    texts: int = 3


_FULL, QUICK = Effort(), Effort(holdouts=3, few=5, repeats=1, selections=1, pulsars=5, texts=10)


@dataclass(frozen=True, eq=False)
class _Task:
    """A data set and the learner that is measured on it."""

    name: str
    X: Any
    y: Array
    learner: Any
    attributes: str
    small: Any = None

    def part(self, rows: Array) -> _Task:
        """The same of some of the rows."""
        return replace(self, X=self.X[rows], y=self.y[rows])


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that the protocol gives on one data set."""

    task: _Task
    holdouts: dict[int, CrossEvaluation]
    few: list[CrossEvaluation]
    folds: CrossEvaluation
    small: CrossEvaluation
    repeated_before: CrossEvaluation
    selections: list[Choice]
    intervals: CrossEvaluation | None


@dataclass(frozen=True, eq=False)
class Choice:
    """One selection of a tree, and what the best of the unpruned trees does on the rows that no choice has seen."""

    seed: int
    selection: Selection
    grown_unseen: float
    chosen_unseen: float

    @property
    def grown(self) -> Any:
        """The tree that does best on its validation part before any pruning: the one that Kalita would first keep."""
        return max(self.selection.grown, key=lambda trial: trial.value)


def run(*, quick: bool, data: Any, seed: int, progress: Callable[[str], Any]) -> Study:
    """The protocol on both sets."""
    effort = QUICK if quick else _FULL
    progress("reading HTRU2 and 20 Newsgroups")
    tasks = [pulsars(data, effort), hierarchies(data, effort, seed)]
    found = [_outcome(task, effort, seed, progress) for task in tasks]
    return Study(
        "kalita",
        "Measuring a classifier on unequal classes, step by step",
        CITE,
        kalita_claims.summary(found),
        kalita_tables.tables(found),
        kalita_tables.pictures(found),
        kalita_claims.claims(found),
        _choices(tasks, effort),
    )


# ---------------------------------------------------------------- the data


def _tree(splits: int | None = None) -> Any:
    """A tree grown until its leaves are pure, or of so many splits."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=None if splits is None else splits + 1)


def pulsars(data: Any, effort: Effort) -> _Task:
    """Two classes, eight attributes that are numbers."""
    found = htru2(data)
    part = slice(None, None, effort.pulsars)
    return _Task("HTRU2, 2 classes", found.X[part], found.y[part], _tree(), "8 numbers", _tree(_SMALL))


def hierarchies(data: Any, effort: Effort, seed: int) -> _Task:
    """Seven classes, the first word of a group's name; attributes say whether a word is there."""
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.pipeline import make_pipeline

    news = newsgroups20(data)
    rows = np.sort(np.random.default_rng(seed).permutation(len(news.labels))[:: effort.texts])
    X = phrases([news.texts[i] for i in rows], longest=1)
    X.data[:] = 1
    y = np.array([news.labels[i].partition(".")[0] for i in rows])
    learner, small = (make_pipeline(SelectKBest(chi2, k=_WORDS), _tree(splits)) for splits in (None, _SMALL))
    told = f"{_WORDS} words, there or not, chosen in each training part"
    return _Task("20 Newsgroups, 7 classes", X, y, learner, told, small)


# ---------------------------------------------------------------- the protocol


def _outcome(task: _Task, effort: Effort, seed: int, progress: Callable[[str], Any]) -> Outcome:
    """Every step of the protocol in the paper's order."""
    progress(f"{task.name}: hold-out for k = 2 to 9")
    held = {k: _measured(task, HoldOut(k, effort.holdouts), seed) for k in range(2, 10)}
    progress(f"{task.name}: {_FEW} rows, ten times")
    few = [_few(task, seed + i) for i in range(effort.few)]
    progress(f"{task.name}: repeated folds, four ways to balance the training part")
    split = Folds(5, effort.repeats)
    folds = _measured(task, split, seed, resample=list(RESAMPLING), cost=True)
    small = _measured(replace(task, learner=task.small), split, seed, resample=list(RESAMPLING))
    before = _repeated_before(task, seed)
    selections = []
    for i in range(effort.selections):
        progress(f"{task.name}: which tree to keep, seed {seed + i}")
        selections.append(_chosen(task, seed + i))
    return Outcome(task, held, few, folds, small, before, selections, _in_intervals(task, split, seed))


def _measured(task: _Task, split: Any, seed: int, **options: Any) -> CrossEvaluation:
    return cross_evaluate(
        {_TREE: task.learner},
        task.X,
        task.y,
        split=split,
        metrics=_METRICS,
        rng=np.random.default_rng(seed),
        **options,
    )


def _few(task: _Task, seed: int) -> CrossEvaluation:
    """Kalita's small example: 24 rows with the classes' shares, 16 to train on and 8 to test, ten times."""
    rng = np.random.default_rng(seed)
    labels, codes = np.unique(task.y, return_inverse=True)
    (part,) = HoldOut(len(codes) / _FEW - 1).split(codes, tuple(labels.tolist()), rng)
    return _measured(task.part(part.test), HoldOut(2, repeats=10, stratified=False), seed)


def _repeated_before(task: _Task, seed: int) -> CrossEvaluation:
    """What must not be done: rows of the smaller classes repeated before the split, so that some are on both sides."""
    rows = equal_rows(task.y, "over", np.random.default_rng(seed))
    return _measured(task.part(rows), Folds(5), seed)


def _chosen(task: _Task, seed: int) -> Choice:
    """Ten trees, the best three pruned, the smallest of the best: on validation parts, then judged on unseen rows."""
    found = select_tree(task.learner, task.X, task.y, most=_STEPS, rng=np.random.default_rng(seed))
    grown = max(found.grown, key=lambda trial: trial.value)
    unseen = [_mean_f(task, trial, found.test_rows) for trial in (grown, found.chosen)]
    return Choice(seed, found, *unseen)


def _mean_f(task: _Task, trial: Any, rows: Array) -> float:
    return float(get_metric("f1")(task.y[rows], trial.estimator.predict(task.X[rows]), average="macro"))


def _in_intervals(task: _Task, split: Folds, seed: int) -> CrossEvaluation | None:
    """Numbers as they are against numbers cut into a few intervals; None where the attributes are words."""
    if not isinstance(task.X, np.ndarray):
        return None
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer

    cut = make_pipeline(KBinsDiscretizer(INTERVALS, encode="ordinal", strategy="uniform"), _tree())
    both = {"numbers": task.learner, f"{INTERVALS} intervals": cut}
    return cross_evaluate(both, task.X, task.y, split=split, metrics=_METRICS, rng=np.random.default_rng(seed))


def _choices(tasks: list[_Task], effort: Effort) -> dict[str, Any]:
    return {
        **{task.name: f"{len(task.y):,} rows, {task.attributes}" for task in tasks},
        "classes of 20 Newsgroups": "the first word of each group's name",
        "tree": f"scikit-learn's, Gini, grown until its leaves are pure; the small one has {_SMALL} splits",
        "hold-out": f"k from 2 to 9, {effort.holdouts} times each, with the classes' shares",
        "few rows": f"{_FEW} rows with the classes' shares, 16 and 8, ten times, not stratified; "
        f"{effort.few} such sets",
        "folds": f"5, {'once' if effort.repeats == 1 else f'{effort.repeats} times'}, stratified",
        "selection": f"ten hold-outs of k = 2, the best three pruned in {_STEPS} steps, "
        "a quarter of the rows set aside",
        "F": "the harmonic mean of precision and recall of each class; mean F is their plain mean (macro)",
        "micro": "the mean by the classes' shares, as the paper defines it; scikit-learn calls it weighted",
    }
