"""Kalita's protocol on a table of one's own: hold-outs, repeated folds, balanced training, classes, costs, a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import listed, number_of, three_digits
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.cross_evaluate import cross_evaluate
from steelyard.protocol.cross_evaluation import HoldOuts
from steelyard.protocol.resample import candidates
from steelyard.protocol.select_tree import select_tree
from steelyard.protocol.splits import Folds, HoldOut
from steelyard.report.figures.confusion import ConfusionDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.kalita import KALITA_RESAMPLING, KALITA_STUDY, MEAN_F, REPORTED, SET_ASIDE
from steelyard.studies.kalita_tables import COST_WORDS, KALITA_DRAWN, protocol_row
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Estimator
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.select_tree import Selection
    from steelyard.studies.claims import TableRow
    from steelyard.studies.declared_study import RunPlan

_SIZES = range(2, 10)  # of the part trained on, in parts tested
_HOLDOUTS, _QUICK_HOLDOUTS, _REPEATS, _QUICK_REPEATS = 10, 3, 4, 1
_STEPS = 20  # of pruning each tree


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
        raise InputError("Kalita's protocol fits models on parts of the table; name them with --model, no predictions.")
    models = table.models or {"tree": table.prepared("tree")}
    seed = plan.seeds(1)[0]
    times = plan.times(repeats, _REPEATS, _QUICK_REPEATS)
    holdouts = {}
    for k in _SIZES:
        plan.progress(f"hold-out, 1 to {k}")
        split = HoldOut(k, plan.times(repeats, _HOLDOUTS, _QUICK_HOLDOUTS))
        holdouts[k] = cross_evaluate(models, table.X, table.y, split=split, metrics=REPORTED, rng=seed)
    plan.progress("repeated folds with the training part balanced")
    repeated = _folds(table, models, Folds(folds, times), seed)
    plan.progress("which tree to keep")
    tree = table.prepared("tree")
    selection = select_tree(tree, table.X, table.y, metric=MEAN_F, most=_STEPS, pos_label=table.chosen, rng=seed)
    outcome = _Outcome(holdouts, repeated, selection)
    how: dict[str, Any] = {"folds": f"{folds}, {number_of(times, 'time')}"}
    how |= {"hold-out": f"1 to k for k from 2 to 9, {number_of(split.repeats, 'time')} each"}
    how |= {"models": list(models), "selection": f"a tree, with {SET_ASIDE:.0%} of the rows set aside"}
    return OwnFindings(_summary(outcome), _tables(outcome), _pictures(outcome), how, _TITLE)


_TITLE = "Evaluating a classifier on imbalanced data, step by step"


def _folds(table: OwnTable, models: dict[str, Estimator], split: Folds, seed: int) -> CrossEvaluation:
    """Every way of balancing that all models allow, on the same folds, with the costs of each."""
    ways = [way for way in KALITA_RESAMPLING if _allowed(models, way)]
    return cross_evaluate(models, table.X, table.y, split=split, metrics=REPORTED, resample=ways, cost=True, rng=seed)


def _allowed(models: dict[str, Estimator], way: str | None) -> bool:
    try:
        return bool(candidates(models, way, weighted=False))
    except InputError:  # a model without class weights
        return False


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


def _pictures(outcome: _Outcome) -> list[Picture]:
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
