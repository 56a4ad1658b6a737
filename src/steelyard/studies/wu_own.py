"""Wu's experiment on a table of one's own: nearest mean against any model over ratios, and the control of both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import number_of
from steelyard.exceptions import InputError
from steelyard.protocol.nearest_mean_result import NEAREST
from steelyard.protocol.nearest_mean_study import nearest_mean_study
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Table
from steelyard.studies.wu import WU_STUDY
from steelyard.studies.wu_pair import (
    control_picture,
    control_rows,
    density_picture,
    difference_name,
    file_name,
    no_skill_rows,
    ranking_picture,
    stability_rows,
    threshold_rows,
)
from steelyard.studies.wu_trials import CONDITIONS, WU_METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.protocol.nearest_mean_result import NearestMeanStudy
    from steelyard.studies.claims import TableRow
    from steelyard.studies.declared_study import RunPlan
    from steelyard.studies.pictures import Picture

_DRAWS, _QUICK_DRAWS = 10, 3
_PLACES = "Place: from the lowest (0) to the highest (1) score of the test rows."
_STABLE = (
    f"place 1 speaks most for {NEAREST}, and equal differences share a place. Neither: equal means; –: undefined in "
    "every draw. Same side: one model is ahead at every ratio."
)
_INTERVALS = (
    "Low and high: 95 % intervals, each by itself, Nadeau and Bengio's as draws share rows. Same search: the "
    "difference where both get the same search for a threshold."
)


@WU_STUDY.own_data
def _own(
    table: OwnTable, plan: RunPlan, *, ratios: Sequence[str] = CONDITIONS, repeats: int | None = None
) -> OwnFindings:
    if table.preds or table.scores:
        raise InputError("Wu's models are fitted at each ratio; name one with --model, in place of --pred or --score.")
    nearest = table.prepared("nearest-mean")
    study = nearest_mean_study(
        table.models or {"lda": table.prepared("lda")},
        table.X,
        table.two_class_y,
        ratios=ratios,
        metrics=WU_METRICS,
        draws=plan.times(repeats, _DRAWS, _QUICK_DRAWS, least=2),
        prepare=nearest.steps[0][1],  # type: ignore[attr-defined]  # a pipeline
        rng=plan.seeds(1)[0],
        progress=plan.progress,
    )
    return OwnFindings(study.sentences, _tables(study), _pictures(study, plan.seeds(1)[0]), _choices(study))


def _choices(study: NearestMeanStudy) -> dict[str, str]:
    sizes = "; ".join(f"{ratio}: {p:,} + {n:,}" for ratio, (p, n) in study.sizes.items())
    return {
        "ratios, negatives to positives": ", ".join(study.ratios),
        "draws": str(study.draws),
        "test rows, positives + negatives": sizes,
        "training rows": "three times the test rows, none shared",
        NEAREST: "mean or median centre, the better by the operating point score; its threshold the mean of those of "
        "5 folds, 10 times",
        study.models[1]: "its own threshold",
        "same search": "for both the threshold at which the operating point score is best on 5 folds of the training "
        "rows, each scored by a fit on the others",
    }


def _tables(study: NearestMeanStudy) -> list[Table]:
    difference, means = difference_name(study), f"Means over {number_of(study.draws, 'draw')}"
    ranked = f"Twelve metrics at each ratio, ranked by {difference}"
    controls = "Every model at each ratio: its own threshold, and the same search"
    places = f"The place of each metric in the ranking by {difference}, and whom it favours"
    skill = "AC-score beside the no-skill baseline (same prediction rate)"
    return [
        Table("comparison", ranked, _comparison(study), f"{means}. {_INTERVALS}", unfolded=True),
        Table("control", controls, _controls(study), f"{means}, and in brackets the standard deviation."),
        Table("stability", places, stability_rows(study), f"{means}; {_STABLE}"),
        Table("thresholds", "The thresholds of the models", threshold_rows(study), _PLACES),
        Table("no_skill", skill, no_skill_rows(study), f"{means}. AUROC of a random predictor is 0.5 for all."),
    ]


def _comparison(study: NearestMeanStudy) -> list[TableRow]:
    return [
        {
            "N:P and metric": f"{row.ratio}  {row.metric}",
            NEAREST: row.nearest_mean,
            study.models[1]: row.model,
            "difference": row.difference,
            "low": row.low,
            "high": row.high,
            f"{NEAREST} ahead": f"{row.favour} of {number_of(row.draws, 'draw')}",
            "same search": row.control,
            "its low": row.control_low,
            "its high": row.control_high,
        }
        for row in sorted(study.rows, key=lambda row: (study.ratios.index(row.ratio), _descending(row.difference)))
    ]


def _descending(value: float) -> float:
    """A key that sorts the largest first, and what is undefined last."""
    return float("inf") if math.isnan(value) else -value


def _controls(study: NearestMeanStudy) -> list[TableRow]:
    rows = [(ratio, row) for ratio in study.ratios for row in control_rows(study, ratio)]
    return [{"N:P and model": f"{ratio}  {row.pop('model')}", **row} for ratio, row in rows]


def _pictures(study: NearestMeanStudy, seed: int) -> list[Picture]:
    """Figure 2 of the first draw at each ratio, and what the threshold does over all draws."""
    boxes = {model.replace(NEAREST, "NMC"): model for model in study.models}
    what = f"{NEAREST} (NMC) and {study.models[1]} by their own thresholds, and by the same search."
    return [
        *(density_picture(study, ratio, f"projections_{file_name(ratio)}") for ratio in study.ratios),
        *(
            ranking_picture(study, ratio, f"ranking_{file_name(ratio)}", "as Figure 2d to f", seed)
            for ratio in study.ratios
        ),
        *(control_picture(study, ratio, boxes, what) for ratio in study.ratios),
    ]
