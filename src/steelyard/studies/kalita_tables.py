"""Kalita's tables and figures: what each step of the protocol gives on each data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.report.figures.confusion import ConfusionDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult
    from steelyard.protocol.run_values import Summary
    from steelyard.studies.kalita import Outcome

MEAN_F, MICRO_F, TREE = "f1[average=macro]", "f1[average=weighted]", "tree"
_DRAWN = ("balanced_accuracy", "ac_score", "mcc", "accuracy")
_COSTS = {
    "fit_seconds": "seconds to train",
    "predict_seconds_per_1000": "seconds to predict 1,000 rows",
    "peak_memory_bytes": "peak memory, bytes",
    "model_bytes": "size of the model, bytes",
    "tree_nodes": "nodes",
    "tree_depth": "depth",
}


def tables(found: list[Outcome]) -> list[Table]:
    """All tables of the study."""
    return [
        _data(found),
        _holdout(found),
        _few(found),
        _folds(found),
        _differences(found),
        _classes(found),
        _things(found),
        _before(found),
        _selection(found),
        *_intervals(found),
    ]


def _data(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        labels, sizes = np.unique(one.task.y, return_counts=True)
        rows += [
            {"data": one.task.name, "class": str(label), "rows": int(n), "share": float(n / sizes.sum())}
            for label, n in zip(labels, sizes, strict=True)
        ]
    return Table("data", "The classes", rows)


def _over_runs(row: Summary) -> dict[str, Any]:
    return {"mean F": row.mean, "low": row.low, "high": row.high, "sd": row.sd, "best": row.best, "worst": row.worst}


def _holdout(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        for k, result in one.holdouts.items():
            part = result.runs[0].part
            sizes = {"trained on": len(part.train), "tested": len(part.test)}
            rows.append({"data": one.task.name, "k": k, **sizes} | _over_runs(result[TREE].summarised(MEAN_F)))
    note = "Mean F over the runs of each k with Nadeau and Bengio's 95 % interval, and the best and worst run."
    return Table("holdout", "Hold-out: the training part k times the test part", rows, note)


def times_tested(result: Any) -> np.ndarray[Any, Any]:
    """How often each row was tested over the runs."""
    tested = np.concatenate([run.part.test for run in result[TREE].runs])
    return np.bincount(tested, minlength=len(result[TREE].data.codes))


def _few(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        for i, result in enumerate(one.few, 1):
            row, often = result[TREE].summarised(MEAN_F), times_tested(result)
            rows.append(
                {
                    "data": one.task.name,
                    "set": i,
                    "mean F": row.mean,
                    "low": row.low,
                    "high": row.high,
                    "runs without a mean F": row.undefined or 0,
                    "rows never tested": int((often == 0).sum()),
                    "a row tested at most": int(often.max()),
                }
            )
    note = (
        "24 rows with the classes' shares; 16 trained on and 8 tested, ten times. A run in which a class is neither "
        "there nor predicted has no F of it, hence no mean F; an interval needs two runs that have one."
    )
    return Table("few", "Ten hold-outs of 24 rows", rows, note)


def _model(result: ModelResult) -> dict[str, Any]:
    row = result.summarised(MEAN_F)
    others = {m: result.summarised(m).mean for m in (MICRO_F, "accuracy", "balanced_accuracy", "ac_score", "mcc")}
    named = {"F by shares" if m == MICRO_F else m.replace("_", " "): value for m, value in others.items()}
    return {"mean F": row.mean, "low": row.low, "high": row.high, **named}


def grown(one: Outcome) -> dict[str, CrossEvaluation]:
    """The repeated folds of the tree grown until its leaves are pure, and of the small one."""
    return {"": one.folds, "small ": one.small}


def _folds(found: list[Outcome]) -> Table:
    rows = [
        {"data": one.task.name, "learner": f"{kind}{name}"} | _model(result)
        for one in found
        for kind, part in grown(one).items()
        for name, result in part.models.items()
    ]
    note = "Resampling touches the training part alone. Means over all folds and repeats; the interval is of mean F."
    return Table("folds", "Repeated folds: four ways to balance the training part", rows, note)


def _differences(found: list[Outcome]) -> Table:
    rows = [
        {
            "data": one.task.name,
            "learner": f"{kind}{row.b}",
            "less": f"{kind}{row.a}",
            "metric": row.metric,
            "difference": -row.difference,
            "low": -row.high,
            "high": -row.low,
            "p (Holm)": row.p_holm,
        }
        for one in found
        for kind, part in grown(one).items()
        for row in part.differences([MEAN_F, "balanced_accuracy"])
        if row.a == TREE
    ]
    note = "Run by run on the same folds, Nadeau and Bengio's corrected t-test, adjusted by Holm for all pairs."
    return Table("differences", "Does balancing the training part help?", rows, note)


def _classes(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        for row in one.folds[TREE].per_class:
            values = {"precision": row.precision.mean, "recall": row.recall.mean, "F": row.f1.mean}
            rows.append({"data": one.task.name, "class": str(row.label), "rows": row.rows, **values})
    note = "Of the tree without resampling. 'macro' is the plain mean, 'class shares' what the paper calls micro."
    return Table("classes", "Precision, recall and F of each class, and the two averages", rows, note)


def _things(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        for name, result in one.folds.models.items():
            cost = {row.name: row for row in result.cost}
            row: dict[str, Any] = {"data": one.task.name, "learner": name, "mean F": result.summarised(MEAN_F).mean}
            row |= {words: cost[kind].mean for kind, words in _COSTS.items()}
            rows.append(row | {"noise of the training time": cost["fit_seconds"].noise})
    note = (
        "Means over the folds. Noise: how far repeated timings of one fit lie apart, as a share; nothing where one fit "
        "takes long enough to be timed once. Timings tell of this machine; nodes and bytes do not."
    )
    return Table("four_things", "The four things to measure", rows, note)


def _before(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        right = one.folds[f"{TREE} + over"].summarised("balanced_accuracy")
        wrong = one.repeated_before[TREE].summarised("balanced_accuracy")
        rows += [
            {
                "data": one.task.name,
                "rows repeated": what,
                "balanced accuracy": row.mean,
                "low": row.low,
                "high": row.high,
            }
            for what, row in (("in the training part", right), ("before the split", wrong))
        ]
    note = "Balanced accuracy is the mean of the classes' recalls, so it can be compared though the shares differ."
    return Table("leak", "Oversampling before the split leaks", rows, note)


def _selection(found: list[Outcome]) -> Table:
    rows = []
    for one in found:
        for choice in one.selections:
            grown, chosen = choice.grown, choice.selection.chosen
            rows.append(
                {
                    "data": one.task.name,
                    "seed": choice.seed,
                    "best tree: nodes": int(grown.complexity),
                    "F where chosen": grown.value,
                    "F on unseen rows": choice.grown_unseen,
                    "pruned: nodes": int(chosen.complexity),
                    "pruned: F where chosen": chosen.value,
                    "pruned: F on unseen rows": choice.chosen_unseen,
                }
            )
    note = (
        "The best of ten unpruned trees by the rows it was tested on, and the smallest within one standard error of "
        "the best of all pruned ones; both on a quarter of the rows that no choice has seen."
    )
    return Table("selection", "Which tree to keep", rows, note)


def _intervals(found: list[Outcome]) -> list[Table]:
    rows = [
        {"data": one.task.name, "attributes": name} | _model(result)
        for one in found
        if one.intervals is not None
        for name, result in one.intervals.models.items()
    ]
    return [Table("intervals", "Numbers as they are, or cut into even intervals", rows)]


# ---------------------------------------------------------------- figures


def pictures(found: list[Outcome]) -> list[Picture]:
    """For each data set: the hold-outs, the four ways to balance, and the table of the chosen tree."""
    return [picture for i, one in enumerate(found, 1) for picture in _pictures(one, i)]


def _pictures(one: Outcome, i: int) -> list[Picture]:
    held = RunsDisplay(
        tuple(f"k={k}" for k in one.holdouts),
        (get_metric("balanced_accuracy"),),
        tuple(result[TREE].values("balanced_accuracy")[None] for result in one.holdouts.values()),
    )
    names = tuple(name.removeprefix(f"{TREE} + ").replace("_", " ") for name in one.folds.models)
    ways = RunsDisplay(
        names,
        tuple(get_metric(name) for name in _DRAWN),
        tuple(np.stack([result.values(name) for name in _DRAWN]) for result in one.folds.models.values()),
    )
    chosen = one.selections[0].selection
    return [
        Picture(f"holdout_{i}", held, f"{one.task.name}. {held.caption()}"),
        Picture(f"folds_{i}", ways, f"{one.task.name}. {ways.caption()}"),
        Picture(
            f"chosen_{i}",
            ConfusionDisplay.from_evaluation(chosen.evaluation),
            f"{one.task.name}. The pruned tree of {int(chosen.chosen.complexity):,} nodes on "
            f"{len(chosen.test_rows):,} rows that no choice has seen.",
        ),
    ]
