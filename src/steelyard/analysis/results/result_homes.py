"""Result homes: where each kind of result is defined and what shows it, found by name when it is needed.

This is the one place where a layer is named that lies below this one; tests/test_layers.py lists it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result

Surface: TypeAlias = Literal["text", "markdown", "html", "notebook", "csv", "latex"]
_RENDERERS = "steelyard.report.renderers"
HOMES = {
    "steelyard.analysis.decisions.best_decision_result": ("best_decision",),
    "steelyard.analysis.decisions.decision_rule": ("risk_coverage",),
    "steelyard.analysis.thresholds.best_threshold": ("best_threshold",),
    "steelyard.analysis.thresholds.label_thresholds": ("label_thresholds",),
    "steelyard.analysis.thresholds.operating_points": ("operating_points",),
    "steelyard.analysis.calibration.calibration": (
        "calibration",
        "calibration_point",
        "reliability_bin",
    ),
    "steelyard.analysis.chance.chance": ("chance",),
    "steelyard.analysis.chance.chance_tests": ("chance_test",),
    "steelyard.analysis.comparison.comparison": (
        "comparison",
        "difference",
        "pair_wins",
    ),
    "steelyard.analysis.thresholds.bands": ("band_point",),
    "steelyard.analysis.comparison.classical_tests": (
        "corrected_t",
        "friedman",
        "pair_test",
        "mc_nemar",
    ),
    "steelyard.analysis.thresholds.decision_curve": (
        "decision_curve",
        "decision_point",
    ),
    "steelyard.analysis.comparison.groups": (
        "group_test",
        "group_gap",
    ),
    "steelyard.analysis.intervals.interval": ("interval",),
    "steelyard.analysis.monitoring.alarms": (
        "monitoring",
        "rule_track",
    ),
    "steelyard.analysis.sequential.anytime": ("mean_sequence",),
    "steelyard.analysis.comparison.leaderboard": (
        "leaderboard",
        "ranked_model",
        "ranked_pair",
    ),
    "steelyard.analysis.comparison.metric_ranking": (
        "place",
        "ranking",
        "standing",
        "flip",
        "leader",
        "prevalence_leaders",
    ),
    "steelyard.analysis.comparison.evidence": ("omnibus",),
    "steelyard.analysis.comparison.outcomes": (
        "model_outcome",
        "outcome_difference",
        "outcomes",
    ),
    "steelyard.analysis.results.result": ("rows",),
    "steelyard.analysis.planning.label_plan": ("label_plan",),
    "steelyard.analysis.planning.sample_size": ("sample_size",),
    "steelyard.analysis.slices.slices_result": (
        "findable",
        "found_slice",
        "slices",
    ),
    "steelyard.analysis.comparison.paired": ("de_long",),
    "steelyard.auditing.recommend": (
        "advice",
        "recommendation",
    ),
    "steelyard.auditing.correlation": (
        "correlation",
        "correlation_study",
        "conclusion_result",
    ),
    "steelyard.auditing.decisions": ("decision",),
    "steelyard.auditing.discrimination": (
        "disagreement",
        "discrimination",
        "separation",
    ),
    "steelyard.auditing.identities": ("identity",),
    "steelyard.auditing.properties": ("invariance",),
    "steelyard.auditing.ratio_spread": ("spread",),
    "steelyard.auditing.robustness": (
        "metric_change",
        "metric_verdict",
        "robustness",
    ),
    "steelyard.estimators.probability_maps": ("unseen_loss",),
    "steelyard.evaluation.error_rows": ("error_rows",),
    "steelyard.evaluation.explanation": (
        "explanation",
        "explanation_part",
        "metric_facts",
        "metric_list",
    ),
    "steelyard.evaluation.evaluation": ("evaluation",),
    "steelyard.evaluation.compare_groups": (
        "group_comparison",
        "group_difference",
    ),
    "steelyard.evaluation.group_thresholds": ("group_thresholds",),
    "steelyard.evaluation.multilabel_evaluation": ("multilabel_evaluation",),
    "steelyard.evaluation.drift": (
        "drift",
        "drift_change",
        "drift_period",
    ),
    "steelyard.evaluation.unlabelled": (
        "unlabelled",
        "class_share",
        "curve_point",
        "unlabelled_metric",
    ),
    "steelyard.ledger.history": (
        "history",
        "history_row",
    ),
    "steelyard.gates.gate": ("gate_result",),
    "steelyard.gates.rules": ("judgement",),
    "steelyard.protocol.run_values": (
        "class_values",
        "run_difference",
        "summary",
    ),
    "steelyard.protocol.cross_evaluation": (
        "cross_evaluation",
        "hold_out_row",
        "hold_outs",
    ),
    "steelyard.protocol.ratio_study": (
        "metric_spread",
        "ratio_study",
    ),
    "steelyard.protocol.nearest_mean_result": (
        "model_gap",
        "nearest_mean_study",
    ),
    "steelyard.protocol.resampling_result": (
        "resampling_study",
        "sampler_verdict",
    ),
    "steelyard.protocol.select_tree": ("selection",),
    "steelyard.studies.study": (
        "claim",
        "study",
    ),
}


class Renderer(Protocol):
    """A result as the text of one kind of surface."""

    def __call__(self, result: Result[Any], /, **options: Any) -> str:
        """The text."""


def rendered(surface: Surface, result: Result[Any], **options: Any) -> str:
    """The result as text for that surface."""
    renderers: dict[Surface, Renderer] = import_module(_RENDERERS).RENDERERS
    return renderers[surface](result, **options)


def result_class(kind: str) -> type[Result[Any]]:
    """The class of the results of that kind."""
    home = next((module for module, kinds in HOMES.items() if kind in kinds), None)
    if home is None:
        raise InputError(
            f"This JSON holds a saved {kind!r}, which is no kind of result; was it saved by a newer version?"
        )
    classes = vars(import_module(home)).values()
    found: type[Result[Any]] = next(cls for cls in classes if getattr(cls, "kind", None) == kind)
    return found
