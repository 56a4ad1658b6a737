"""The figures by the words that `steelyard plot` takes, drawn from what their displays take."""

from __future__ import annotations

import steelyard

FIGURE_KINDS = {
    "confusion": "ConfusionDisplay",
    "roc": "RocDisplay",
    "pr": "PrecisionRecallDisplay",
    "threshold": "ThresholdDisplay",
    "prevalence": "PrevalenceDisplay",
    "intervals": "IntervalDisplay",
    "surface": "SurfaceDisplay",
    "ranking": "RankingDisplay",
    "leaderboard": "LeaderboardDisplay",
    "wins": "WinsDisplay",
    "leaders": "LeadersDisplay",
    "correlation": "CorrelationDisplay",
    "runs": "RunsDisplay",
    "density": "DensityDisplay",
    "dots": "DotsDisplay",
    "decision": "DecisionCurveDisplay",
    "reliability": "ReliabilityDisplay",
    "murphy": "MurphyDisplay",
    "gain": "GainDisplay",
    "cost": "CostCurveDisplay",
    "triptych": "TriptychDisplay",
    "risk": "RiskCoverageDisplay",
    "lift": "GainDisplay",  # another view of the same display
    "brier": "CostCurveDisplay",
}
VIEWS = {"lift": "gain", "brier": "cost"}


def figure(kind, result=None, /, **options):
    """The figure of a kind from a result: an Evaluation, several by name, a Comparison, a study, runs."""
    view = {"kind": kind} if kind in VIEWS else {}
    return getattr(steelyard.figures, FIGURE_KINDS[kind]).from_result(result, **view, **options)
