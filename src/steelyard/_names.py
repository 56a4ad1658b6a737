"""The version, and every public name save the metrics with the module that it is loaded from on first use.

Modules of the package take both from here: the package itself, as type checkers see it, imports all of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not imported from typing: a plain `import steelyard` should cost next to nothing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__version__ = "0.1.0"

# The questions that are methods of Predictions too, each with the place of the rows among its arguments.
METHODS = {
    "evaluate": 0,
    "compare_groups": 0,
    "group_thresholds": 0,
    "drift": 0,
    "unlabelled": 0,
    "label_plan": 0,
    "interval": 1,
    "chance": 1,
    "beats_chance": 0,
    "calibration": 0,
    "roc_curve": 0,
    "precision_recall_curve": 0,
    "decision_curve": 0,
    "at_prevalence": 0,
    "errors": 0,
    "slices": 0,
    "operating_points": 0,
    "best_threshold": 0,
    "best_decision": 0,
    "recommend": 0,
    "compare": 0,
}

# The names of the package, in the order in which they are told.
HOME = {
    # What is read, counted and given back
    "Predictions": "predictions.predictions",
    "Counts": "tables.counts",
    "Confusion": "tables.confusion",
    "ScoreTable": "tables.score_table",
    "Evaluation": "evaluation.evaluation",
    "Result": "analysis.results.result",
    "SteelyardError": "exceptions",
    "RARER": "arrays.labels",
    "Prevalence": "analysis.prevalence.prevalence",
    "Accumulator": "tables.accumulator",
    # Evaluate
    "evaluate": "evaluation.evaluate",
    "compare": "analysis.comparison.compare",
    "interval": "analysis.intervals.intervals",
    "chance": "analysis.chance.chance",
    "beats_chance": "analysis.chance.chance_tests",
    "at_prevalence": "analysis.prevalence.prevalence",
    "confusion": "counting",
    "score_table": "counting",
    "cross_evaluate": "protocol.cross_evaluate",
    "Folds": "protocol.splits",
    "HoldOut": "protocol.splits",
    # Decide
    "operating_points": "analysis.thresholds.operating_points",
    "best_threshold": "analysis.thresholds.best_threshold",
    "best_decision": "analysis.decisions.best_decision",
    "calibration": "analysis.calibration.calibration",
    "decision_curve": "analysis.thresholds.decision_curve",
    "roc_curve": "metrics.curves",
    "precision_recall_curve": "metrics.curves",
    "correct_prior": "analysis.prevalence.prevalence",
    "ThresholdClassifier": "estimators.threshold",
    "Recalibrator": "estimators.recalibrator",
    "scorer": "interop.scorers",
    # Where it fails
    "compare_groups": "evaluation.compare_groups",
    "group_thresholds": "evaluation.group_thresholds",
    "slices": "analysis.slices.slices",
    "errors": "evaluation.error_rows",
    # Release and production
    "gate": "gates.gate",
    "assert_gate": "gates.gate",
    "drift": "evaluation.drift",
    "unlabelled": "evaluation.unlabelled",
    "label_plan": "analysis.planning.label_plan",
    "sample_size": "analysis.planning.sample_size",
    "Monitor": "analysis.monitoring.monitor",
    "Ledger": "ledger.ledger",
    # Count and merge
    "tally": "counting",
    "sql": "frames.sql",
    "load": "analysis.loading",
    # Metrics
    "get_metric": "metrics.registry",
    "list_metrics": "metrics.registry",
    "explain": "evaluation.explanation",
    "audit": "auditing.properties",
    "recommend": "auditing.recommend",
}

# The names of the submodules that load theirs on first use; `metrics` has every measure too.
SHELVES = {
    "figures": {
        "ConfusionDisplay": "report.figures.confusion",
        "CorrelationDisplay": "report.figures.correlation",
        "CostCurveDisplay": "report.figures.cost_curve",
        "DecisionCurveDisplay": "report.figures.decision_curve",
        "DensityDisplay": "report.figures.density",
        "DotsDisplay": "report.figures.dots",
        "GainDisplay": "report.figures.gain",
        "IntervalDisplay": "report.figures.forest",
        "LeaderboardDisplay": "report.figures.leaderboard",
        "LeadersDisplay": "report.figures.leaders",
        "MurphyDisplay": "report.figures.murphy",
        "PrecisionRecallDisplay": "report.figures.precision_recall",
        "PrevalenceDisplay": "report.figures.prevalence",
        "RankingDisplay": "report.figures.ranking",
        "ReliabilityDisplay": "report.figures.reliability",
        "RiskCoverageDisplay": "report.figures.risk_coverage",
        "RocDisplay": "report.figures.roc",
        "RunsDisplay": "report.figures.runs",
        "SurfaceDisplay": "report.figures.surface",
        "ThresholdDisplay": "report.figures.threshold",
        "TriptychDisplay": "report.figures.triptych",
        "WinsDisplay": "report.figures.wins",
        "confidence_band": "analysis.thresholds.bands",
        "plot": "report.figures.figure_kinds",
    },
    "metrics": {
        "Metric": "metrics.measure",
        "harsher": "auditing.identities",
        "identities": "auditing.identities",
        "label_propensities": "metrics.propensities",
        "metric": "metrics.declaration",
        "ratio": "metrics.expression",
        "sqrt": "metrics.expression",
        "where": "metrics.expression",
    },
    "results": {
        "BestDecision": "analysis.decisions.best_decision_result",
        "BestThreshold": "analysis.thresholds.best_threshold",
        "Calibration": "analysis.calibration.calibration",
        "Chance": "analysis.chance.chance",
        "ChanceTest": "analysis.chance.chance_tests",
        "Comparison": "analysis.comparison.comparison",
        "CrossEvaluation": "protocol.cross_evaluation",
        "Decision": "auditing.decisions",
        "DecisionCurve": "analysis.thresholds.decision_curve",
        "DecisionPoint": "analysis.thresholds.decision_curve",
        "Drift": "evaluation.drift",
        "ErrorRows": "evaluation.error_rows",
        "Explanation": "evaluation.explanation",
        "GateResult": "gates.gate",
        "GroupComparison": "evaluation.compare_groups",
        "GroupThresholds": "evaluation.group_thresholds",
        "History": "ledger.history",
        "Interval": "analysis.intervals.interval",
        "LabelPlan": "analysis.planning.label_plan",
        "LabelThresholds": "analysis.thresholds.label_thresholds",
        "Leaderboard": "analysis.comparison.leaderboard",
        "MetricList": "evaluation.explanation",
        "Monitoring": "analysis.monitoring.alarms",
        "NearestMeanStudy": "protocol.nearest_mean_result",
        "OperatingPoint": "analysis.thresholds.operating_points",
        "OperatingPoints": "analysis.thresholds.operating_points",
        "PrecisionRecallCurve": "metrics.curves",
        "RatioStudy": "protocol.ratio_study",
        "Recommendation": "auditing.recommend",
        "ResamplingStudy": "protocol.resampling_result",
        "RocCurve": "metrics.curves",
        "Rows": "analysis.results.result",
        "SampleSize": "analysis.planning.sample_size",
        "Selection": "protocol.select_tree",
        "Slices": "analysis.slices.slices_result",
        "Study": "studies.study",
        "Unlabelled": "evaluation.unlabelled",
    },
    "studies": {
        "NearestMeanClassifier": "estimators.nearest_mean",
        "anytime_mean": "analysis.sequential.anytime",
        "corrected_t_test": "analysis.comparison.classical_tests",
        "correlation_study": "auditing.correlation",
        "disagreement": "auditing.discrimination",
        "discrimination": "auditing.discrimination",
        "friedman": "analysis.comparison.classical_tests",
        "metric_correlation": "auditing.correlation",
        "nearest_mean_study": "protocol.nearest_mean_study",
        "ratio_spread": "auditing.ratio_spread",
        "ratio_study": "protocol.ratio_study",
        "refit_robustness": "auditing.robustness",
        "resampling_study": "protocol.resampling_study",
        "robustness": "auditing.robustness",
        "roc_then_tpnr": "analysis.thresholds.best_threshold",
        "select_tree": "protocol.select_tree",
        "swap_prevalences": "analysis.prevalence.prevalence",
    },
    "tables": {
        "MultilabelTable": "tables.multilabel_table",
        "Paired": "tables.paired_table",
        "ProbabilityTable": "tables.probability_table",
        "Tally": "tables.tally",
        "multilabel": "counting",
        "paired": "counting",
    },
}
SUBMODULES = (*SHELVES, "sklearn", "mlflow", "datasets")

# What does the work of names that are gone, those of members with their class.
GONE = {
    "Chance.same_margins": "Chance.value",
    "Ledger.diff": "Ledger.compare, which subtracts the second evaluation from the first,",
    "anytime_compare": 'compare(..., method="anytime")',
    "anytime_interval": 'interval(..., method="anytime")',
    "audit_page": "audit(...).to_html()",
    "beats_guessing": "beats_chance",
    "chance_test": "beats_chance(..., metric=...)",
    "comparison_page": "compare(...).to_html()",
    "counting_query": "sql",
    "decide": "audit(metric, properties=[...])",
    "intervals": "interval, with a list of metrics",
    "MultilabelEvaluation": "Evaluation, whose per_label has each label,",
    "figure": "figures.plot",
    "notebook": "evaluate(...), which a notebook shows",
    "page": "evaluate(...).to_html()",
}


def moved(name: str) -> str | None:
    """Where a name that the package itself has no longer is, in a sentence; None of a name that it never had.

    >>> moved("RocDisplay"), moved("counting_query")
    ('steelyard.RocDisplay is steelyard.figures.RocDisplay now.', 'steelyard.counting_query is steelyard.sql now.')
    """
    shelf = next((shelf for shelf, names in SHELVES.items() if name in names), None)
    now = GONE.get(name) if shelf is None else f"{shelf}.{name}"
    return None if now is None else f"steelyard.{name} is steelyard.{now} now."


def shelved(shelf: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a submodule that loads its names on first use."""
    names = SHELVES[shelf]

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module 'steelyard.{shelf}' has no attribute {name!r}")
        from importlib import import_module  # here: a plain `import steelyard` loads nothing else

        return getattr(import_module(f"steelyard.{names[name]}"), name)

    return load, lambda: sorted(names)
