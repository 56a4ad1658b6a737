"""Wu's tables and figures: values, ranking, stability, thresholds and no-skill baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.report.figures.surface import SurfaceDisplay
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table
from steelyard.studies.wu import WU_STUDY
from steelyard.studies.wu_pair import (
    CONTROL,
    control_picture,
    control_rows,
    density_picture,
    file_name,
    no_skill_rows,
    ranking_picture,
    ranking_rows,
    stability_rows,
    threshold_rows,
)
from steelyard.studies.wu_trials import CONDITIONS, HELD_OUT, LDA, NMC, SKEWED, WU_METRICS, DigitTrials

if TYPE_CHECKING:
    from steelyard.studies.claims import TableRow


WU_STUDY.table(
    "stability",
    "The place of each metric in the ranking by NMC − LDA, and whom it favours",
    lambda results: f"By the mean difference over {len(results.trials)} draws; place 1 speaks most for NMC.",
)(stability_rows)


@WU_STUDY.tables
def _controls(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws, and in brackets the standard deviation."
    title = "The control at N:P = {}: the same axis, another threshold"
    return [Table(f"control_{file_name(c)}", title.format(c), control_rows(results, c), note) for c in CONDITIONS]


WU_STUDY.table(
    "no_skill",
    "Distance from no skill: AC-score beside the no-skill baseline (same prediction rate)",
    lambda results: f"Means over {len(results.trials)} draws. AUROC of a random predictor is 0.5 for all.",
)(no_skill_rows)


@WU_STUDY.tables
def _rankings(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws; sd is that of the difference over the draws."
    title = "Twelve metrics at N:P = {}, ranked by NMC − LDA"
    return [Table(f"ranking_{file_name(c)}", title.format(c), ranking_rows(results, c), note) for c in CONDITIONS]


WU_STUDY.table(
    "thresholds",
    "The thresholds of the models",
    "Place: from the lowest (0) to the highest (1) projection of the test rows.",
)(threshold_rows)


@WU_STUDY.table(
    "folded",
    "LDA by the other reading of its training: the mean of the discriminants of five folds",
    "The first draw. The paper repeats the folds ten times; elsewhere LDA is fitted once.",
)
def _folded(results: DigitTrials) -> list[TableRow]:
    """LDA fitted once and by folds, on the test rows of the first draw."""
    rows = []
    for c, trial in results.trials[0].items():
        ways = {"fitted once": trial.scores[LDA], "mean of the folds": results.folded[c]}
        for way, z in ways.items():
            placed = replace(trial, scores={LDA: z}, thresholds={LDA: 0.0})
            rows.append({"N:P and LDA": f"{c}  {way}"} | {s: placed.value(LDA, WU_METRICS[s]) for s in CONTROL})
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
    letters, models = dict(zip(CONDITIONS, "def", strict=True)), {name: name for name in (NMC, LDA, HELD_OUT)}
    return [
        Picture("figure_1", SurfaceDisplay.of(), f"Figure 1. {SurfaceDisplay.of().caption()}"),
        density_picture(results, "1:3", "figure_2_abc"),
        *(ranking_picture(results, c, f"figure_2_{x}", f"Figure 2{x}", results.seed) for c, x in letters.items()),
        *(control_picture(results, c, models, "LDA with a searched threshold beside both.") for c in SKEWED),
    ]
