"""Asawa's tables and figures: ours beside the paper's Figure 4 and what was reconstructed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.roc import RocDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.asawa import ASAWA_STUDY, AsawaResults, SplitOutcome
from steelyard.studies.asawa_printed import ADDED, as_paper, printed, reconstructed
from steelyard.studies.claims import published
from steelyard.studies.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.studies.claims import TableRow

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
    by_tree = zip(*results.thresholds, strict=True)
    return _clean({name: _mean([row[name] for row in rows]) for name in rows[0]} for rows in by_tree)


def _mean(values: list[Any]) -> float | str:
    return values[0] if isinstance(values[0], str) else float(np.nanmean(values))


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
