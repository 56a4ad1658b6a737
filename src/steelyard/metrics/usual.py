"""Which metrics are shown where none are named, by name: the lists that several views share."""

from __future__ import annotations

DEFAULT = "ac_score"  # optimised and ranked by
HEADLINE = (
    "recall",
    "specificity",
    "precision",
    "accuracy",
    "f1",
    "balanced_accuracy",
    "ac_score",
    "mcc",
    "roc_auc",
    "average_precision",
)
COMPARED = (
    "recall",
    "specificity",
    "precision",
    "accuracy",
    "f1",
    "balanced_accuracy",
    "tpnr",
    "g_mean",
    "ac_score",
    "mcc",
    "kappa",
    "weighted_auc",
    "roc_auc",
    "average_precision",
)
OF_CLASSES = (  # of a table of classes of which none is the positive one
    "f1[average=macro]",
    "balanced_accuracy",
    "mcc",
    "accuracy",
    "roc_auc[average=macro]",
    "average_precision[average=macro]",
)
PER_CLASS = ("recall", "precision", "f1")  # given for each class, and averaged over the classes
PER_CLASS_OF_SCORES = ("roc_auc", "average_precision")  # the same of a column of scores for each class
ON_PAGE_OF_GROUPS = ("recall", "specificity", "precision", "f1", "balanced_accuracy")
ON_REQUEST = (  # reported only where they are named
    "symmetric_balanced_accuracy",
    "correlation_distance",
    "standardized_net_benefit",
    "normalized_expected_cost",
    "calibration_slope",
    "calibration_intercept",
    "observed_to_expected",
    "integrated_calibration_index",
    "brier_miscalibration",
    "brier_discrimination",
    "brier_uncertainty",
    "brier_skill_score",
    "gini",
    "ks",
    "recall_at_fpr",
    "specificity_at_recall",
    "h_measure",
    "auprg",
    "mcc_f1",
    "discrimination_slope",
    "propensity_scored_precision_at_k",
    "mean_absolute_class_error",
    "macro_mean_absolute_class_error",
    "ranked_probability_score",
)
VERDICT = (  # which its sentences read
    "recall",
    "specificity",
    "precision",
    "accuracy",
    "balanced_accuracy",
    "informedness",
    "ac_score",
)
