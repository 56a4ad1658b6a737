"""Which metric should a model be chosen by? A hundred sets, twelve models, every metric as selector and as goal.

The study is our own. Its plan was written down before it was run; what the plan calls confirmatory is tried on families
of sets that nobody had looked at.
"""

from __future__ import annotations

import os
from typing import Any

from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.selection_metrics import METRICS
from steelyard.studies.selection_models import check_resampling, model_makers
from steelyard.studies.selection_results import SelectionResults
from steelyard.studies.selection_runs import SelectionPlan, run_sets

SELECTION_STUDY = DeclaredStudy[SelectionResults](
    "selection",
    "Which metric picks the model that turns out best on new data?",
    cite="A study of our own, on data of KEEL (Alcalá-Fdez and others 2011) and UCI (Kelly and others)",
)
_SPLITS, _QUICK_SPLITS, _COVERED_SPLITS = 6, 2, 2


@SELECTION_STUDY.experiment
def _experiment(plan: RunPlan, *, jobs: int = 0) -> SelectionResults:
    """All sets, by as many processes as `jobs` says, or as there are cores."""
    check_resampling()
    n = _QUICK_SPLITS if plan.quick else _SPLITS
    sized = SelectionPlan(tuple(plan.seeds(n)), 1 if plan.quick else _COVERED_SPLITS, quick=plan.quick)
    return SelectionResults(run_sets(sized, jobs or os.cpu_count() or 1, plan.progress), sized)


@SELECTION_STUDY.choices
def _choices(results: SelectionResults) -> dict[str, Any]:
    explored = results.explored
    return {
        "sets": len(results.runs),
        "exploratory sets": int(explored.sum()),
        "exploratory families": len({f for f, e in zip(results.families, explored, strict=True) if e}),
        "confirmatory sets": int((~explored).sum()),
        "confirmatory families": len({f for f, e in zip(results.families, explored, strict=True) if not e}),
        "models": len(model_makers()),
        "metrics": len(METRICS),
        "splits": len(results.plan.seeds),
        "CPU seconds of all sets": round(sum(run.cpu for run in results.runs)),
    }
