"""Tables of the study wu: values, ranking, stability, cuts and what guessing scores. Used by the study wu."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance import chance
from steelyard.studies.study import Table
from steelyard.studies.wu_claims import mean_places, mean_sides
from steelyard.studies.wu_trials import CONDITIONS, LDA, METRICS, MODELS, NMC

if TYPE_CHECKING:
    from steelyard.studies.wu_trials import Trials

_CONTROL = ("AC-score", "GM", "BA", "sensitivity", "specificity", "MCC", "AUROC")
_NAMES = {condition: condition.replace(":", "_to_") for condition in CONDITIONS}


def tables(found: Trials) -> list[Table]:
    """All of them; the page shows the stability and the control first."""
    n = len(found.trials)
    return [
        Table(
            "stability",
            "The place of each metric in the ranking by NMC − LDA, and whom it favours",
            _stability(found),
            f"By the mean difference over {n} draws; place 1 speaks most for NMC.",
        ),
        *(
            Table(
                f"control_{_NAMES[c]}",
                f"The control at N:P = {c}: the same axis, cut elsewhere",
                _control(found, c),
                f"Means over {n} draws, and in brackets the standard deviation.",
            )
            for c in CONDITIONS
        ),
        Table(
            "guessing",
            "How far from guessing: AC-score beside what independent guessing at the same rate scores",
            _guessing(found),
            f"Means over {n} draws. AUROC of guessing is 0.5 for all.",
        ),
        *(
            Table(
                f"ranking_{_NAMES[c]}",
                f"Twelve metrics at N:P = {c}, ranked by NMC − LDA",
                _ranking(found, c),
                f"Means over {n} draws; sd is that of the difference over the draws.",
            )
            for c in CONDITIONS
        ),
        Table(
            "cuts",
            "Where the models cut",
            _cuts(found),
            "Place: from the lowest (0) to the highest (1) projection of the test rows.",
        ),
        Table(
            "folded",
            "LDA by the other reading of its training: the mean of the discriminants of five folds",
            _folded(found),
            "The first draw. The paper repeats the folds ten times; elsewhere LDA is fitted once.",
        ),
        Table("draws", "NMC − LDA in every draw", _draws(found)),
    ]


def _stability(found: Trials) -> list[dict[str, Any]]:
    places, sides = mean_places(found), mean_sides(found)
    rows = []
    for short in METRICS:
        row: dict[str, Any] = {"metric": short}
        row |= {f"place at {c}": place for c, place in zip(CONDITIONS, places[short], strict=True)}
        row |= {"moves by": max(places[short]) - min(places[short])}
        row |= {f"favours at {c}": side for c, side in zip(CONDITIONS, sides[short], strict=True)}
        rows.append(row | {"same side": "yes" if len(set(sides[short])) == 1 else "no"})
    return sorted(rows, key=lambda row: row[f"place at {CONDITIONS[0]}"])


def _control(found: Trials, condition: str) -> list[dict[str, Any]]:
    return [{"model": model} | {s: _spread(found.of(condition, model, s)) for s in _CONTROL} for model in MODELS]


def _spread(values: Any) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1):.3f})"


def _guessing(found: Trials) -> list[dict[str, Any]]:
    rows = []
    for c in CONDITIONS:
        for model in MODELS:
            counts = found.counts(c, model)
            rows.append(
                {
                    "N:P and model": f"{c}  {model}",
                    "rows flagged": f"{100 * np.mean([t[c].passed(model) for t in found.trials]):.1f} %",
                    "AC-score": float(found.of(c, model, "AC-score").mean()),
                    "guessing at that rate": float(np.mean(chance("ac_score", counts).same_margins)),
                    "AUROC": float(found.of(c, model, "AUROC").mean()),
                    "MCC": float(found.of(c, model, "MCC").mean()),
                }
            )
    return rows


def _ranking(found: Trials, condition: str) -> list[dict[str, Any]]:
    rows = []
    for short in METRICS:
        gap = found.gap(condition, short)
        row: dict[str, Any] = {"metric": short}
        row |= {model: float(found.of(condition, model, short).mean()) for model in (NMC, LDA)}
        row |= {"NMC − LDA": float(gap.mean()), "sd": float(gap.std(ddof=1))}
        rows.append(row | {"draws that favour NMC": f"{int((gap > 0).sum())} of {len(gap)}"})
    return sorted(rows, key=lambda row: -row["NMC − LDA"])


def _cuts(found: Trials) -> list[dict[str, Any]]:
    return [
        {
            "N:P and model": f"{c}  {model}",
            "place of the cut": float(np.mean([t[c].place(model) for t in found.trials])),
            "rows above it": f"{100 * np.mean([t[c].passed(model) for t in found.trials]):.1f} %",
            "rows positive": f"{100 * np.mean([t[c].y.mean() for t in found.trials]):.1f} %",
        }
        for c in CONDITIONS
        for model in MODELS
    ]


def _folded(found: Trials) -> list[dict[str, Any]]:
    """LDA fitted once and by folds, on the test rows of the first draw."""
    rows = []
    for c, trial in found.trials[0].items():
        ways = {"fitted once": trial.scores[LDA]}
        ways |= {"mean of the folds": trial.folded} if trial.folded is not None else {}
        for way, z in ways.items():
            one = replace(trial, scores={LDA: z}, cuts={LDA: 0.0})
            rows.append({"N:P and LDA": f"{c}  {way}"} | {s: one.value(LDA, METRICS[s]) for s in _CONTROL})
    return rows


def _draws(found: Trials) -> list[dict[str, Any]]:
    return [
        {"draw and N:P": f"{i + 1}  {c}", "centre": found.trials[i][c].centroid}
        | {short: round(float(found.gap(c, short)[i]), 4) for short in METRICS}
        for i in range(len(found.trials))
        for c in CONDITIONS
    ]
