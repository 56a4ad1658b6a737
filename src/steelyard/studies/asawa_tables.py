"""Asawa's figures and tables: ours beside the paper's Figure 4 and what was reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.robustness import robustness
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.roc import RocDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.statistics.counts import Counts
from steelyard.studies.published_values import published
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.robustness_result import Robustness
    from steelyard.datasets.paper_datasets import Pulsars
    from steelyard.studies.asawa import Outcome

ADDED = "balanced_accuracy"  # the per-class accuracy that the paper forgot to try
COMPARED = ("tpnr", "balanced_accuracy", "mcc", "f1", "accuracy")


@dataclass(frozen=True, eq=False)
class View:
    """What the experiment gave: a split each, the first being that of the tables."""

    pulsars: Pulsars
    outcomes: list[Outcome]
    attributes: dict[str, list[dict[str, Counts]]]
    cuts: list[dict[str, Any]]

    @property
    def first(self) -> Outcome:
        """The split of the tables and figures."""
        return self.outcomes[0]

    @cached_property
    def correlations(self) -> Array:
        """Of the attributes and, last, the class."""
        return np.asarray(np.corrcoef(np.column_stack([self.pulsars.X, self.pulsars.y]).T))

    def with_components(self, metric: str) -> Array:
        """A metric by split and tree, with two principal components."""
        return np.stack([o.found.values[:, o.found.metrics.index(metric)] for o in self.outcomes])

    def with_attributes(self, metric: str, pair: str) -> Array:
        """The same with two attributes."""
        value = get_metric(metric)
        return np.array([[float(value(table)) for table in part.values()] for part in self.attributes[pair]])


def reconstructed() -> Robustness:
    """The paper's own tables, recovered from its Figure 4: unbalanced, and balanced by the paper's draw."""
    plain, even = ({tree: Counts(*pair[i]) for tree, pair in published("asawa")["counts"].items()} for i in range(2))
    metrics = [name for name in next(iter(published("asawa")["figure_4"].values())) if name != "roc_auc"]
    return robustness(plain, metrics=[*metrics, ADDED], balanced=even, resamples=0)


def printed(metric: str) -> list[float]:
    """A row of Figure 4, by tree; NaN where the paper has none."""
    return [tree.get(metric, np.nan) for tree in published("asawa")["figure_4"].values()]


# ---------------------------------------------------------------- tables


def tables(view: View) -> list[Table]:
    """All tables of the study."""
    return [
        _correlations(view),
        _values(view),
        _balanced(view),
        _swapped(view),
        _verdicts(view),
        _splits(view),
        _components(view),
        _cuts(view),
    ]


def _correlations(view: View) -> Table:
    matrix, names = view.correlations, view.pulsars.names
    rows = [
        {
            "attribute": f"{i + 1} {name}",
            "with the class": float(matrix[i, -1]),
            **{f"with {j + 1}": float(matrix[i, j]) for j in (0, 2, 3)},
        }
        for i, name in enumerate(names)
    ]
    note = "Pearson's r over all rows; attributes 1, 3 and 4 are those that the paper chooses from."
    return Table("figure_2", "Figure 2: correlations", _signed(rows), note)


def _signed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the sign of a zero, and without what is rounding alone."""
    return [{k: round(v, 14) + 0.0 if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def _values(view: View) -> Table:
    ours, paper = view.first.found, reconstructed()
    rows = []
    for i, metric in enumerate(ours.metrics):
        row: dict[str, Any] = {"metric": metric}
        for m, tree in enumerate(ours.models):
            row[tree] = float(ours.values[m, i])
            row[f"{tree} P"] = float(paper.values[m, paper.metrics.index(metric)]) if metric in paper.metrics else None
        rows.append(row)
    note = "P: the paper's, recomputed from the tables recovered from its Figure 4; its Figure 3 is a picture."
    return Table("figure_3", "Figure 3: the metrics of the four trees", _signed(rows), note)


def _balanced(view: View) -> Table:
    """The changes by balancing: printed, from the recovered tables, and ours by weights and by draws."""
    ours, paper = view.first.found, reconstructed()
    rows = []
    for i, metric in enumerate(ours.metrics):
        for m, tree in enumerate(ours.models):
            drawn = view.first.drawn[:, m, i]
            again = float(paper.changes[m, 0, paper.metrics.index(metric)]) if metric in paper.metrics else None
            rows.append(
                {
                    "metric": metric,
                    "tree": tree,
                    "paper": printed(metric)[m],
                    "recovered": again,
                    "difference": None if again is None else again - printed(metric)[m],
                    "by weights": float(ours.changes[m, 0, i]),
                    "mean of draws": float(drawn.mean()),
                    "lowest": float(drawn.min()),
                    "highest": float(drawn.max()),
                }
            )
    rows = [{k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()} for row in rows]
    note = (
        "The value on the unbalanced test set less that on a balanced one; the paper balanced by one draw. Difference: "
        "recovered less paper."
    )
    formats = {"paper": ".10g", "recovered": ".10g", "difference": ".1e"}
    title = "Figure 4: changes when the test set is balanced"
    return Table("figure_4", title, _signed(rows), note, formats, unfolded=True)


def _swapped(view: View) -> Table:
    alike, unlike = view.first.found, view.first.unlike
    rows = [
        {
            "metric": metric,
            **{tree: float(alike.swap_changes[m, i]) for m, tree in enumerate(alike.models)},
            "largest, ties as predicted": float(np.abs(unlike.swap_changes[:, i]).max()),
        }
        for i, metric in enumerate(alike.metrics)
    ]
    note = "The trees are refitted on swapped labels; a leaf with a tie says the same original class both times."
    return Table("figure_5", "Figure 5: changes when the labels are swapped", _signed(rows), note)


def _verdicts(view: View) -> Table:
    paper, words = published("asawa"), {True: "yes", False: "no", None: "undefined"}
    rows = []
    for v in view.first.found.verdicts:
        said = {
            f"{kind} P": ("not in the list" if v.metric == ADDED else words[v.metric in paper[kind]])
            for kind in ("robust", "symmetric")
        }
        rows.append(
            {
                "metric": v.metric,
                "largest change, balanced": v.change,
                "robust": words[v.robust],
                "robust P": said["robust P"],
                "largest change, swapped": v.swap_change,
                "symmetric": words[v.symmetric],
                "symmetric P": said["symmetric P"],
                "both": words[v.winner],
            }
        )
    note = f"By the largest change over the trees against a tolerance of {view.first.found.tolerance}. P: the paper."
    return Table("verdicts", "Verdicts", _signed(rows), note)


def own(names: list[str]) -> set[str]:
    """The metrics that the paper tried too."""
    return set(names) - {ADDED}


def _as(same: bool) -> str:
    return "as the paper" if same else "other"


def _splits(view: View) -> Table:
    rows = []
    paper = {kind: set(published("asawa")[kind]) for kind in ("robust", "symmetric")}
    for one in view.outcomes:
        y, draws = one.trial.y_test, len(one.drawn)
        held = sum(own(one.robust_in(d)) == paper["robust"] for d in range(draws))
        rows.append(
            {
                "split seed": one.trial.seed,
                "positives": int(y.sum()),
                "negatives": int((1 - y).sum()),
                "robust": _as(own(one.found.robust) == paper["robust"]),
                "robust, by draws": f"{held} of {draws}",
                "symmetric": _as(own(one.found.symmetric) == paper["symmetric"]),
                "symmetric, ties as predicted": _as(own(one.unlike.symmetric) == paper["symmetric"]),
                "rows in leaves with a tie": sum(int((scores == 0.5).sum()) for scores in one.trial.scores.values()),
            }
        )
    note = "Whether the metrics that stay as they are are the paper's; each split has trees and draws of its own."
    return Table("splits", "The verdicts on other splits", rows, note)


def _components(view: View) -> Table:
    rows = []
    for metric in COMPARED:
        row: dict[str, Any] = {"metric": metric, "two components": float(view.with_components(metric).mean())}
        for pair in view.attributes:
            found = view.with_attributes(metric, pair)
            gap = view.with_components(metric).mean(1) - found.mean(1)
            row |= {pair: float(found.mean()), f"{pair.removeprefix('attributes ')} lose in": int((gap > 0).sum())}
        rows.append(row)
    n = len(view.outcomes)
    note = f"Means over the four trees and {n} splits, and in how many of the {n} the components are better."
    return Table("components", "Two components or two attributes", _signed(rows), note)


def _cuts(view: View) -> Table:
    note = "The cut is chosen on training rows, each scored by a tree that had not seen it; values of the test part."
    return Table("roc_then_tpnr", "The recommended use: a cut by ROC, then TPNR", _signed(view.cuts), note)


# ---------------------------------------------------------------- figures


def pictures(view: View) -> list[Picture]:
    """Figures 1 and 2, the ROC curves, and the changes over draws of a balanced test set."""
    X, y, names = view.pulsars.X, view.pulsars.y, view.pulsars.names
    standard = (X - X.mean(0)) / X.std(0)
    columns = {f"{i + 1} {name}": standard[:, i] for i, name in enumerate(names)}
    halves = (list(columns)[:4], list(columns)[4:])
    return [
        *(_densities(f"figure_1{i}", y, {n: columns[n] for n in half}) for i, half in zip("ab", halves, strict=True)),
        Picture(
            "figure_2",
            CorrelationDisplay.from_columns(columns | {"class": y.astype(float)}),
            f"Figure 2. Pearson's correlations of the attributes and the class over {len(y):,} rows.",
        ),
        Picture("roc", RocDisplay.from_predictions(view.first.trial.y_test, view.first.trial.scores)),
        _draws(view),
    ]


def _densities(name: str, y: Array, columns: dict[str, Array]) -> Picture:
    drawn = DensityDisplay.from_predictions(y, columns, unit="standardised value", threshold=np.inf)
    last = list(columns)[-1].partition(" ")[0]
    said = f"Figure 1. Attributes {int(last) - 3} to {last} of {len(y):,} rows by class, as densities, each of area 1."
    return Picture(name, drawn, said)


def _draws(view: View) -> Picture:
    found = view.first.found
    values = tuple(view.first.drawn[:, m].T for m in range(len(found.models)))
    drawn = RunsDisplay(found.models, tuple(get_metric(name) for name in found.metrics), values)
    n = len(view.first.drawn)
    said = f"Figure 4. Changes of the metrics over {n} balanced test sets, drawn from the unbalanced one, by tree."
    return Picture("figure_4", drawn, said, columns=2, width=7)
