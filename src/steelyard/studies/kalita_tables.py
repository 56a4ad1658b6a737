"""Kalita's tables and figures: what each step of the protocol gives on each data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.report.figures.confusion import ConfusionDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.kalita import KALITA_STUDY, MEAN_F, MICRO_F, TREE, KalitaResults, ProtocolOutcome
from steelyard.studies.pictures import Picture

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult
    from steelyard.protocol.run_values import Summary
    from steelyard.studies.claims import TableRow

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
    return [picture for i, outcome in enumerate(results.outcomes, 1) for picture in _three_pictures(outcome, i)]


def _three_pictures(outcome: ProtocolOutcome, i: int) -> list[Picture]:
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
    selection = outcome.selections[0].selection
    return [
        Picture(f"holdout_{i}", holdouts, f"{outcome.task.name}. {holdouts.caption()}"),
        Picture(f"folds_{i}", ways, f"{outcome.task.name}. {ways.caption()}"),
        Picture(
            f"chosen_{i}",
            ConfusionDisplay.from_evaluation(selection.evaluation),
            f"{outcome.task.name}. The pruned tree of {int(selection.chosen.complexity):,} nodes on "
            f"{len(selection.test_rows):,} rows that no choice has seen.",
        ),
    ]
