"""Nguyen's experiment on a table of one's own: test sets of several ratios, with the unbalanced factor and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError
from steelyard.protocol.ratio_study import NGUYEN_RATIOS, ratio_study
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.nguyen import NGUYEN_STUDY
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.protocol.ratio_study import RatioStudy
    from steelyard.studies.claims import TableRow
    from steelyard.studies.declared_study import RunPlan

_REPEATS, _QUICK_REPEATS = 30, 5


@NGUYEN_STUDY.own_data
def _own(
    table: OwnTable, plan: RunPlan, *, ratios: Sequence[str] = NGUYEN_RATIOS, repeats: int | None = None
) -> OwnFindings:
    if table.scores:
        raise InputError("Nguyen's metrics read predicted labels; name columns of these with --pred, not --score.")
    named: dict[str, Any] = {**table.models, **table.preds}
    models = named or {"naive-bayes": table.prepared("naive-bayes")}
    plan.progress(f"test sets of {', '.join(ratios)}")
    times = plan.times(repeats, _REPEATS, _QUICK_REPEATS)
    study = ratio_study(models, table.X, table.y, ratios, repeats=times, pos_label=table.positive, rng=plan.seeds(1)[0])
    return OwnFindings(
        [study.headline, *study.notes],
        [
            Table("spread", "Each metric over the ratios", _rows(study), _NOTE),
            Table("test_sets", "The test sets", _sets(study), "A set of each ratio is drawn in every repetition."),
        ],
        [_boxes(study, model) for model in study.models],
        {"ratios": study.ratios, "repeats": times, "models": study.models},
        "The unbalanced factor on test sets of several ratios",
    )


_NOTE = (
    "A column a ratio, means over the repetitions. What begins with alpha is with the unbalanced factor. Spread: the "
    "highest less the lowest value of a repetition. By weights: the rows tested are weighted to each ratio and none is "
    "drawn, so what is left is the metric's own dependence on the ratio."
)


def _rows(study: RatioStudy) -> list[TableRow]:
    return study.to_dicts()


def _sets(study: RatioStudy) -> list[TableRow]:
    return [
        {"ratio": ratio, "positives": size[0], "negatives": size[1], "unbalanced factor": size[0] / size[1]}
        for ratio, size in zip(study.ratios, study.sizes, strict=True)
    ]


def _boxes(study: RatioStudy, model: str) -> Picture:
    """The values of the repetitions: one panel per metric, one box per ratio."""
    display = RunsDisplay.from_runs(study.tables(model), metrics=study.metrics)
    name = "ratios" if len(study.models) == 1 else f"ratios_{study.models.index(model) + 1}"
    return Picture(name, display, f"{model}: {display.caption()}", columns=2, width=7)
