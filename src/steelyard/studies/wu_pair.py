"""Tables and figures of two models over draws at several ratios: ranking, stability, control, thresholds, no skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.chance import chance
from steelyard.analysis.comparison.compare import compare
from steelyard.evaluation.evaluate import evaluate
from steelyard.protocol.nearest_mean_result import NO_SIDE
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.ranking import RankingDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.protocol.nearest_mean_result import RatioTrial, RatioTrials
    from steelyard.studies.claims import TableRow

_SHOWN = ("ac_score", "g_mean", "balanced_accuracy", "mcc")
CONTROL = ("AC-score", "GM", "BA", "sensitivity", "specificity", "MCC", "AUROC")


def file_name(ratio: str) -> str:
    """A ratio as a part of the name of a file."""
    return ratio.replace(":", "_to_")


def difference_name(results: RatioTrials) -> str:
    """What the difference of the two models is called."""
    return " − ".join(results.models[:2])


def stability_rows(results: RatioTrials) -> list[TableRow]:
    """The place of each metric in the ranking by the mean difference, and whom it favours."""
    places, moved = results.mean_places(), results.places_moved()
    sides, kept = results.mean_sides(), results.one_sided()
    rows = []
    for short in results.metrics:
        row: TableRow = {"metric": short}
        row |= {f"place at {c}": place for c, place in zip(results.ratios, places[short], strict=True)}
        row |= {"moves by": moved[short]}
        for ratio, side in zip(results.ratios, sides[short], strict=True):
            why = f" ({results.undefined_reason(ratio, short)})" if side == NO_SIDE else ""
            row[f"favours at {ratio}"] = f"{side}{why}"
        rows.append(row | {"same side": "yes" if short in kept else "no"})
    return sorted(rows, key=lambda row: row[f"place at {results.ratios[0]}"] or len(rows) + 1)


def control_rows(results: RatioTrials, ratio: str, shown: Sequence[str] = CONTROL) -> list[TableRow]:
    """The metrics of every model at one ratio, means over the draws with the standard deviation."""
    return [{"model": m} | {s: _spread(results.of(ratio, m, s)) for s in shown} for m in results.models]


def _spread(values: Array) -> str:
    defined = values[np.isfinite(values)]
    return f"{defined.mean():.3f} ({defined.std(ddof=1):.3f})" if len(defined) > 1 else "–"


def no_skill_rows(results: RatioTrials) -> list[TableRow]:
    """The AC-score of every model beside the no-skill baseline of the same prediction rate."""
    return [_no_skill_row(results, c, model) for c in results.ratios for model in results.models]


def _no_skill_row(results: RatioTrials, ratio: str, model: str) -> TableRow:
    baseline = chance("ac_score", results.counts(ratio, model)).same_margins
    row: TableRow = {
        "N:P and model": f"{ratio}  {model}",
        "rows flagged": f"{100 * np.mean([t[ratio].passed(model) for t in results.trials]):.1f} %",
        "AC-score": float(results.of(ratio, model, "AC-score").mean()),
        "no-skill baseline": float(np.mean(baseline)),
    }
    return row | {short: float(results.of(ratio, model, short).mean()) for short in ("AUROC", "MCC")}


def ranking_rows(results: RatioTrials, ratio: str) -> list[TableRow]:
    """The metrics at one ratio, ranked by the difference of the two models."""
    rows, difference, first = [], difference_name(results), results.models[0]
    for short in results.metrics:
        gap = results.gap(ratio, short)
        row: TableRow = {"metric": short}
        row |= {model: float(results.of(ratio, model, short).mean()) for model in results.models[:2]}
        row |= {difference: float(gap.mean()), "sd": float(gap.std(ddof=1))}
        rows.append(row | {f"draws that favour {first}": f"{int((gap > 0).sum())} of {len(gap)}"})
    return sorted(rows, key=lambda row: -row[difference])


def threshold_rows(results: RatioTrials) -> list[TableRow]:
    """Where the thresholds lie, and how many rows pass them."""
    return [
        {
            "N:P and model": f"{c}  {model}",
            "place of the threshold": float(np.mean([t[c].place(model) for t in results.trials])),
            "rows above it": f"{100 * np.mean([t[c].passed(model) for t in results.trials]):.1f} %",
            "rows positive": f"{100 * np.mean([t[c].y.mean() for t in results.trials]):.1f} %",
        }
        for c in results.ratios
        for model in results.models
    ]


# ---------------------------------------------------------------- figures


def density_picture(results: RatioTrials, ratio: str, name: str) -> Picture:
    """Figure 2a to c: where both models put the test rows of the first draw, by class."""
    trial = results.trials[0][ratio]
    densities = DensityDisplay.from_evaluation({model: _placed(trial, model) for model in results.models[:2]})
    what = f"Projections of the test rows at N:P = {ratio}, from the lowest (0) to the highest (1), by class"
    return Picture(name, densities, f"{what} (Figure 2a to c). {densities.caption()}", width=4.5)


def _placed(trial: RatioTrial, model: str) -> Evaluation:
    z, threshold = trial.normalised(model)
    return evaluate(trial.y, y_score=z, threshold=threshold)


def ranking_picture(results: RatioTrials, ratio: str, name: str, place: str, seed: int) -> Picture:
    """Figure 2d to f: the metrics of the first draw ranked by the difference; `place` is which of these it is."""
    trial, pair = results.trials[0][ratio], results.models[:2]
    columns, thresholds = {m: trial.scores[m] for m in pair}, {m: trial.thresholds[m] for m in pair}
    metrics = list(results.metrics.values())
    comparison = compare(trial.y, columns, scores=True, threshold=thresholds, metrics=metrics, rng=seed)
    display = RankingDisplay.from_comparison(comparison)
    words = f"N:P = {ratio}, first draw ({place}). {display.caption()}"
    return Picture(name, display, words, width=5)


def control_picture(results: RatioTrials, ratio: str, models: Mapping[str, str], what: str) -> Picture:
    """What the threshold does over all draws, of models by what they are called below their boxes."""
    runs = {label: results.counts(ratio, name) for label, name in models.items()}
    display = RunsDisplay.from_runs(runs, metrics=_SHOWN)
    words = f"The control at N:P = {ratio}: {what} {display.caption()}"
    return Picture(f"control_{file_name(ratio)}", display, words, width=5)
