"""Wu's tables and figures: values, ranking, stability, thresholds and no-skill baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.chance import chance
from steelyard.analysis.comparison.compare import compare
from steelyard.evaluation.evaluate import evaluate
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.ranking import RankingDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.report.figures.surface import SurfaceDisplay
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table
from steelyard.studies.wu import WU_STUDY
from steelyard.studies.wu_ranking import mean_places, mean_sides
from steelyard.studies.wu_trials import CONDITIONS, DIGIT_MODELS, HELD_OUT, LDA, NMC, WU_METRICS, DigitTrials

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.studies.claims import TableRow
    from steelyard.studies.wu_trials import DigitTrial

_SHOWN = ("ac_score", "g_mean", "balanced_accuracy", "mcc")
_CONTROL = ("AC-score", "GM", "BA", "sensitivity", "specificity", "MCC", "AUROC")
_NAMES = {condition: condition.replace(":", "_to_") for condition in CONDITIONS}


@WU_STUDY.table(
    "stability",
    "The place of each metric in the ranking by NMC − LDA, and whom it favours",
    lambda results: f"By the mean difference over {len(results.trials)} draws; place 1 speaks most for NMC.",
)
def _stability(results: DigitTrials) -> list[TableRow]:
    places, sides = mean_places(results), mean_sides(results)
    rows = []
    for short in WU_METRICS:
        row: TableRow = {"metric": short}
        row |= {f"place at {c}": place for c, place in zip(CONDITIONS, places[short], strict=True)}
        row |= {"moves by": max(places[short]) - min(places[short])}
        row |= {f"favours at {c}": side for c, side in zip(CONDITIONS, sides[short], strict=True)}
        rows.append(row | {"same side": "yes" if len(set(sides[short])) == 1 else "no"})
    return sorted(rows, key=lambda row: row[f"place at {CONDITIONS[0]}"])


@WU_STUDY.tables
def _controls(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws, and in brackets the standard deviation."
    title = "The control at N:P = {}: the same axis, another threshold"
    return [Table(f"control_{_NAMES[c]}", title.format(c), _control(results, c), note) for c in CONDITIONS]


def _control(results: DigitTrials, condition: str) -> list[TableRow]:
    return [
        {"model": model} | {s: _spread(results.of(condition, model, s)) for s in _CONTROL} for model in DIGIT_MODELS
    ]


def _spread(values: Array) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1):.3f})"


@WU_STUDY.table(
    "no_skill",
    "Distance from no skill: AC-score beside the no-skill baseline (same prediction rate)",
    lambda results: f"Means over {len(results.trials)} draws. AUROC of a random predictor is 0.5 for all.",
)
def _no_skill(results: DigitTrials) -> list[TableRow]:
    rows = []
    for c in CONDITIONS:
        for model in DIGIT_MODELS:
            counts = results.counts(c, model)
            rows.append(
                {
                    "N:P and model": f"{c}  {model}",
                    "rows flagged": f"{100 * np.mean([t[c].passed(model) for t in results.trials]):.1f} %",
                    "AC-score": float(results.of(c, model, "AC-score").mean()),
                    "no-skill baseline": float(np.mean(chance("ac_score", counts).same_margins)),
                    "AUROC": float(results.of(c, model, "AUROC").mean()),
                    "MCC": float(results.of(c, model, "MCC").mean()),
                }
            )
    return rows


@WU_STUDY.tables
def _rankings(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws; sd is that of the difference over the draws."
    title = "Twelve metrics at N:P = {}, ranked by NMC − LDA"
    return [Table(f"ranking_{_NAMES[c]}", title.format(c), _ranking(results, c), note) for c in CONDITIONS]


def _ranking(results: DigitTrials, condition: str) -> list[TableRow]:
    rows = []
    for short in WU_METRICS:
        gap = results.gap(condition, short)
        row: TableRow = {"metric": short}
        row |= {model: float(results.of(condition, model, short).mean()) for model in (NMC, LDA)}
        row |= {"NMC − LDA": float(gap.mean()), "sd": float(gap.std(ddof=1))}
        rows.append(row | {"draws that favour NMC": f"{int((gap > 0).sum())} of {len(gap)}"})
    return sorted(rows, key=lambda row: -row["NMC − LDA"])


@WU_STUDY.table(
    "thresholds",
    "The thresholds of the models",
    "Place: from the lowest (0) to the highest (1) projection of the test rows.",
)
def _thresholds(results: DigitTrials) -> list[TableRow]:
    return [
        {
            "N:P and model": f"{c}  {model}",
            "place of the threshold": float(np.mean([t[c].place(model) for t in results.trials])),
            "rows above it": f"{100 * np.mean([t[c].passed(model) for t in results.trials]):.1f} %",
            "rows positive": f"{100 * np.mean([t[c].y.mean() for t in results.trials]):.1f} %",
        }
        for c in CONDITIONS
        for model in DIGIT_MODELS
    ]


@WU_STUDY.table(
    "folded",
    "LDA by the other reading of its training: the mean of the discriminants of five folds",
    "The first draw. The paper repeats the folds ten times; elsewhere LDA is fitted once.",
)
def _folded(results: DigitTrials) -> list[TableRow]:
    """LDA fitted once and by folds, on the test rows of the first draw."""
    rows = []
    for c, trial in results.trials[0].items():
        ways = {"fitted once": trial.scores[LDA]}
        ways |= {"mean of the folds": trial.folded} if trial.folded is not None else {}
        for way, z in ways.items():
            placed = replace(trial, scores={LDA: z}, thresholds={LDA: 0.0})
            rows.append({"N:P and LDA": f"{c}  {way}"} | {s: placed.value(LDA, WU_METRICS[s]) for s in _CONTROL})
    return rows


@WU_STUDY.table("draws", "NMC − LDA in every draw")
def _draws(results: DigitTrials) -> list[TableRow]:
    return [
        {"draw and N:P": f"{i + 1}  {c}", "centre": results.trials[i][c].centroid}
        | {short: round(float(results.gap(c, short)[i]), 4) for short in WU_METRICS}
        for i in range(len(results.trials))
        for c in CONDITIONS
    ]


# ---------------------------------------------------------------- figures


@WU_STUDY.pictures
def _pictures(results: DigitTrials) -> list[Picture]:
    """Figure 1, Figure 2 of the first draw, and what the threshold does over all draws."""
    first = results.trials[0]
    densities = DensityDisplay.from_evaluation({name: _placed(first["1:3"], name) for name in (NMC, LDA)})
    what = (
        "Projections of the test rows at N:P = 1:3, from the lowest (0) to the highest (1), by class (Figure 2a to c)."
    )
    letters = dict(zip(CONDITIONS, "def", strict=True))
    return [
        Picture("figure_1", SurfaceDisplay.of(), f"Figure 1. {SurfaceDisplay.of().caption()}"),
        Picture("figure_2_abc", densities, f"{what} {densities.caption()}", width=4.5),
        *(_ranked(first[c], c, letters[c], results.seed) for c in CONDITIONS),
        *(_runs(results, c) for c in ("1:3", "3:1")),
    ]


def _placed(trial: DigitTrial, model: str) -> Evaluation:
    z, threshold = trial.normalised(model)
    return evaluate(trial.y, y_score=z, threshold=threshold)


def _ranked(trial: DigitTrial, condition: str, letter: str, seed: int) -> Picture:
    columns, thresholds = (
        {name: trial.scores[name] for name in (NMC, LDA)},
        {name: trial.thresholds[name] for name in (NMC, LDA)},
    )
    metrics = list(WU_METRICS.values())
    comparison = compare(trial.y, columns, scores=True, threshold=thresholds, metrics=metrics, rng=seed)
    display = RankingDisplay.from_comparison(comparison)
    words = f"N:P = {condition}, first draw (Figure 2{letter}). {display.caption()}"
    return Picture(f"figure_2_{letter}", display, words, width=5)


def _runs(results: DigitTrials, condition: str) -> Picture:
    runs = {name: results.counts(condition, name) for name in (NMC, LDA, HELD_OUT)}
    display = RunsDisplay.from_runs(runs, metrics=_SHOWN)
    name = f"control_{condition.replace(':', '_to_')}"
    words = f"The control at N:P = {condition}: LDA with a searched threshold beside both. {display.caption()}"
    return Picture(name, display, words, width=5)
