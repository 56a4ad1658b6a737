"""Steelyard evaluates classifiers on imbalanced data.

The public names; each loads what it needs on first use. Every metric of the catalogue is one of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not imported from typing: a plain `import steelyard` should cost next to nothing
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Accumulator": "ingest.accumulator",
    "Confusion": "statistics.confusion",
    "Counts": "statistics.counts",
    "Paired": "statistics.paired",
    "Result": "analysis.result",
    "ScoreTable": "statistics.score_table",
    "Tally": "statistics.tally",
    "tally": "ingest.frame_tally",
    "compare": "analysis.compare",
    "confusion": "ingest.array_tables",
    "corrected_t_test": "analysis.corrected_t_test",
    "friedman": "analysis.friedman_test",
    "notebook": "report.page",
    "page": "report.page",
    "comparison_page": "report.page",
    "audit_page": "report.page",
    "paired": "analysis.paired_tables",
    "precision_recall_curve": "metrics.curves",
    "roc_curve": "metrics.curves",
    "score_table": "ingest.array_tables",
    "Metric": "metrics.metric",
    "get_metric": "metrics.registry",
    "list_metrics": "metrics.registry",
    "metric": "metrics.declaration",
    "ratio": "metrics.expression",
    "sqrt": "metrics.expression",
    "where": "metrics.expression",
    "SteelyardError": "errors",
    "interval": "analysis.intervals",
    "intervals": "analysis.intervals",
    "sample_size": "analysis.sample_size",
    "at_prevalence": "analysis.prevalence",
    "audit": "auditing.audit_table",
    "recommend": "auditing.recommend",
    "decide": "auditing.properties",
    "harsher": "auditing.harshness",
    "identities": "auditing.identities",
    "correlation_study": "auditing.correlation",
    "robustness": "auditing.robustness",
    "refit_robustness": "auditing.robustness",
    "ratio_spread": "auditing.ratio_spread",
    "discrimination": "auditing.discrimination",
    "disagreement": "auditing.disagreement",
    "best_threshold": "analysis.best_threshold",
    "roc_then_tpnr": "analysis.best_threshold",
    "NearestMeanClassifier": "estimators.nearest_mean",
    "scorer": "interop.scorers",
    "CrossEvaluation": "protocol.cross_evaluation",
    "Folds": "protocol.splits",
    "HoldOut": "protocol.splits",
    "cross_evaluate": "protocol.cross_evaluate",
    "select_tree": "protocol.select_tree",
    "ThresholdClassifier": "estimators.threshold",
    "Evaluation": "evaluation.evaluation",
    "evaluate": "evaluation.evaluate",
    "swap_prevalences": "analysis.prevalence",
    "beats_chance": "analysis.chance_tests",
    "beats_guessing": "analysis.chance_tests",
    "chance": "analysis.chance",
    "chance_test": "analysis.chance_tests",
    "ConfusionDisplay": "report.figures.confusion",
    "CorrelationDisplay": "report.figures.correlation",
    "DensityDisplay": "report.figures.density",
    "IntervalDisplay": "report.figures.forest",
    "PrecisionRecallDisplay": "report.figures.precision_recall",
    "PrevalenceDisplay": "report.figures.prevalence",
    "RankingDisplay": "report.figures.ranking",
    "RocDisplay": "report.figures.roc",
    "RunsDisplay": "report.figures.runs",
    "SurfaceDisplay": "report.figures.surface",
    "ThresholdDisplay": "report.figures.threshold",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f"steelyard.{_HOME[name]}"), name)
    if not name.startswith("_"):
        metric = import_module("steelyard.metrics.registry").find(name)
        if metric is not None:
            return metric
    msg = f"module 'steelyard' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    from steelyard.metrics.registry import list_metrics

    return sorted([*_HOME, "__version__", *(m.name for m in list_metrics())])
