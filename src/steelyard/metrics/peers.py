"""Peers: what other libraries and people call a metric, which of our written forms that is, and what is no metric here.

The one table of such names. `written_form` and `peer_answer` read it where a name is typed, and the pages of the
documentation where they list what others call a metric. scikit-learn's functions of the same rows stand in the
registry, beside the metrics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

SKLEARN, IMBALANCED, TORCHMETRICS, YARDSTICK, PYCM = (
    "scikit-learn",
    "imbalanced-learn",
    "torchmetrics",
    "yardstick",
    "PyCM",
)
EVERYBODY = ""  # the library of a name that people type and no library owns


@dataclass(frozen=True)
class PeerName:
    """A name of others: the written form that has its value, or an answer where none has.

    With a form, `answer` says how the two differ.
    """

    library: str
    name: str
    form: str = ""
    answer: str = ""


def peer_key(name: str) -> str:
    """What names are compared by: letters and digits alone.

    >>> peer_key("F1 Macro"), peer_key("recall@k"), peer_key("AUC-PR")
    ('f1macro', 'recallatk', 'aucpr')
    """
    return re.sub("[^a-z0-9]", "", name.lower().replace("@", "at"))


# ---------------------------------------------------------------- names that have our value


_SAME: dict[str, dict[str, str]] = {
    SKLEARN: {  # functions stand in the registry; these are scorers
        "roc_auc_ovr": "roc_auc[average=macro]",
        "roc_auc_ovr_weighted": "roc_auc[average=weighted]",
        "roc_auc_ovo": "roc_auc[multi_class=ovo, average=macro]",
        "roc_auc_ovo_weighted": "roc_auc[multi_class=ovo, average=weighted]",
        **{
            f"{metric}_{average}": f"{metric}[average={average}]"
            for metric in ("precision", "recall", "f1", "jaccard")
            for average in ("micro", "macro", "weighted", "samples")
        },
    },
    IMBALANCED: {
        "sensitivity_score": "recall",
        "specificity_score": "specificity",
        "geometric_mean_score": "g_mean",
        "make_index_balanced_accuracy": "iba[alpha=0.1, of=tpnr]",  # of the G-mean, which it squares
        "macro_averaged_mean_absolute_error": "macro_mean_absolute_class_error",
    },
    TORCHMETRICS: {
        "BinaryAccuracy": "accuracy",
        "BinaryAUROC": "roc_auc",
        "BinaryAveragePrecision": "average_precision",
        "BinaryCalibrationError": "expected_calibration_error[bins=15]",
        "BinaryCohenKappa": "kappa",
        "BinaryF1Score": "f1",
        "BinaryFBetaScore": "f_beta",
        "BinaryHammingDistance": "error_rate",
        "BinaryJaccardIndex": "jaccard",
        "BinaryMatthewsCorrCoef": "mcc",
        "BinaryNegativePredictiveValue": "negative_predictive_value",
        "BinaryPrecision": "precision",
        "BinaryPrecisionAtFixedRecall": "precision_at_recall",
        "BinaryRecall": "recall",
        "BinaryRecallAtFixedPrecision": "recall_at_precision",
        "BinarySpecificity": "specificity",
        "BinarySpecificityAtSensitivity": "specificity_at_recall",
        "RetrievalPrecision": "precision_at_k",
        "RetrievalNormalizedDCG": "ndcg",
        "Accuracy": "accuracy",
        "AUROC": "roc_auc",
        "AveragePrecision": "average_precision",
        "CalibrationError": "expected_calibration_error[bins=15]",
        "CohenKappa": "kappa",
        "Dice": "f1",
        "F1Score": "f1",
        "FBetaScore": "f_beta",
        "JaccardIndex": "jaccard",
        "MatthewsCorrCoef": "mcc",
        "NegativePredictiveValue": "negative_predictive_value",
        "Precision": "precision",
        "PrecisionAtFixedRecall": "precision_at_recall",
        "Recall": "recall",
        "RecallAtFixedPrecision": "recall_at_precision",
        "Specificity": "specificity",
        "SpecificityAtSensitivity": "specificity_at_recall",
        "MulticlassAccuracy": "balanced_accuracy",  # its default is the mean over the classes
        "MulticlassCohenKappa": "kappa",
        "MulticlassMatthewsCorrCoef": "mcc",
        **{
            f"{kind}{theirs}": f"{ours}[average=macro]"
            for kind in ("Multiclass", "Multilabel")
            for theirs, ours in {
                "AUROC": "roc_auc",
                "AveragePrecision": "average_precision",
                "F1Score": "f1",
                "FBetaScore": "f_beta",
                "JaccardIndex": "jaccard",
                "NegativePredictiveValue": "negative_predictive_value",
                "Precision": "precision",
                "Recall": "recall",
                "Specificity": "specificity",
            }.items()
        },
        "ExactMatch": "accuracy",
        "MultilabelExactMatch": "accuracy",
        "MultilabelHammingDistance": "hamming_loss",
        "MultilabelCoverageError": "coverage_error",
        "MultilabelRankingAveragePrecision": "label_ranking_average_precision",
        "MultilabelRankingLoss": "label_ranking_loss",
    },
    YARDSTICK: {
        "accuracy": "accuracy",
        "average_precision": "average_precision",
        "bal_accuracy": "balanced_accuracy",
        "brier_class": "brier",
        "detection_prevalence": "predicted_prevalence",
        "f_meas": "f1",
        "fall_out": "false_positive_rate",
        "gain_capture": "gini",
        "j_index": "informedness",
        "kap": "kappa",
        "mcc": "mcc",
        "miss_rate": "false_negative_rate",
        "mn_log_loss": "log_loss",
        "npv": "negative_predictive_value",
        "ppv": "precision",
        "pr_auc": "pr_auc",
        "precision": "precision",
        "ranked_prob_score": "ranked_probability_score",
        "recall": "recall",
        "roc_auc": "roc_auc",
        "roc_aunp": "roc_auc[average=weighted]",
        "roc_aunu": "roc_auc[average=macro]",
        "sens": "recall",
        "sensitivity": "recall",
        "spec": "specificity",
        "specificity": "specificity",
    },
    PYCM: {
        "TPR": "recall",
        "TNR": "specificity",
        "PPV": "precision",
        "NPV": "negative_predictive_value",
        "FPR": "false_positive_rate",
        "FNR": "false_negative_rate",
        "ACC": "accuracy",
        "ERR": "error_rate",
        "PRE": "prevalence",
        "PR": "prevalence",
        "TOPR": "predicted_prevalence",
        "F1": "f1",
        "F0.5": "f_beta[beta=0.5]",
        "F2": "f2",
        "J": "jaccard",
        "G": "fowlkes_mallows",
        "OOC": "fowlkes_mallows",
        "GM": "g_mean",
        "AGM": "adjusted_g_mean",
        "BM": "informedness",
        "Y": "informedness",
        "GI": "informedness",
        "MK": "markedness",
        "MCC": "mcc",
        "PLR": "positive_likelihood_ratio",
        "NLR": "negative_likelihood_ratio",
        "DOR": "diagnostic_odds_ratio",
        "OP": "optimized_precision",
        "Kappa": "kappa",
        "Overall ACC": "accuracy",
        "Overall MCC": "mcc",
        "ACC Macro": "accuracy[average=macro]",
        "AUNU": "balanced_accuracy[average=macro]",
        "AUNP": "balanced_accuracy[average=weighted]",
        **{
            f"{theirs} {average}": f"{ours}[average={average.lower()}]"
            for theirs, ours in {
                "F1": "f1",
                "TPR": "recall",
                "TNR": "specificity",
                "PPV": "precision",
                "NPV": "negative_predictive_value",
                "FPR": "false_positive_rate",
                "FNR": "false_negative_rate",
            }.items()
            for average in ("Macro", "Micro")
        },
    },
    EVERYBODY: {
        "acc": "accuracy",
        "bacc": "balanced_accuracy",
        "bca": "balanced_accuracy",
        "uar": "balanced_accuracy",  # unweighted average recall, of speech recognition
        "unweighted_average_recall": "balanced_accuracy",
        "false_alarm_rate": "false_positive_rate",
        "false_accept_rate": "false_positive_rate",
        "false_acceptance_rate": "false_positive_rate",
        "false_rejection_rate": "false_negative_rate",
        "probability_of_detection": "recall",
        "misclassification_rate": "error_rate",
        "classification_error": "error_rate",
        "f2_score": "f2",
        "fmeasure": "f1",
        "f_score": "f1",
        "dice_score": "f1",
        "dice_coefficient": "f1",
        "iou": "jaccard",
        "csi": "jaccard",
        "peirce_skill_score": "informedness",
        "true_skill_statistic": "informedness",
        "tss": "informedness",
        "bookmaker_informedness": "informedness",
        "youden_index": "informedness",
        "youdens_j": "informedness",
        "heidke_skill_score": "kappa",
        "hss": "kappa",
        "phi": "mcc",
        "matthews_correlation_coefficient": "mcc",
        "qwk": "kappa[weights=quadratic]",
        "quadratic_weighted_kappa": "kappa[weights=quadratic]",
        "linear_weighted_kappa": "kappa[weights=linear]",
        "lr_plus": "positive_likelihood_ratio",
        "lr_minus": "negative_likelihood_ratio",
        "odds_ratio": "diagnostic_odds_ratio",
        "roc": "roc_auc",
        "area_under_roc": "roc_auc",
        "area_under_the_roc_curve": "roc_auc",
        "auc_roc": "roc_auc",
        "c_statistic": "roc_auc",
        "c_index": "roc_auc",
        "concordance": "roc_auc",
        "auprc": "average_precision",
        "aupr": "average_precision",
        "auc_pr": "average_precision",
        "auc_prc": "average_precision",
        "prc": "average_precision",
        "prc_auc": "average_precision",
        "tpr_at_fpr": "recall_at_fpr",
        "tar_at_far": "recall_at_fpr",
        "detection_rate_at_fpr": "recall_at_fpr",
        "bce": "log_loss",
        "binary_cross_entropy": "log_loss",
        "categorical_cross_entropy": "log_loss",
        "nll": "log_loss",
        "negative_log_likelihood": "log_loss",
        "brier_score": "brier",
        "somers_dxy": "gini",
        "ks_statistic": "ks",
        "exact_match": "accuracy",
        "exact_match_ratio": "accuracy",
        "mean_class_accuracy": "balanced_accuracy",
    },
}


# ---------------------------------------------------------------- names that our metrics have otherwise


# The name is a metric's here as well, with another value: it means ours, and the pages say how they differ.
_OTHERWISE: dict[str, dict[str, tuple[str, str]]] = {
    PYCM: {
        "AUC": ("balanced_accuracy", "the area under the single point's ROC curve; here auc is that of the scores"),
        "IBA": ("iba[alpha=1, of=tpnr]", "of the product of the two recalls with alpha = 1"),
        "Hamming Loss": ("error_rate", "of one label in each row; here hamming_loss is of label sets"),
        "CSI": (
            "",
            "the class success index, the mean of precision plus recall minus 1; here csi is the Jaccard index",
        ),
        "AUPR": ("", "the mean of precision and recall at one threshold; here aupr is the average precision"),
        "Zero-one Loss": ("", "how many rows are wrong; here zero_one_loss is their share, the error rate"),
        "Cross Entropy": ("", "of the two label distributions; here cross_entropy is the log loss of probabilities"),
    },
}


# ---------------------------------------------------------------- names that have no value here


_NEGATED = {  # scikit-learn's scorers are all better upward
    "neg_brier_score": "brier",
    "neg_log_loss": "log_loss",
    "neg_negative_likelihood_ratio": "negative_likelihood_ratio",
}
_COMPLEMENTS = {  # 1 minus a metric
    PYCM: {"FDR": "precision", "FOR": "negative_predictive_value"},
    TORCHMETRICS: {"MulticlassHammingDistance": "balanced_accuracy"},
    EVERYBODY: {
        "false_discovery_rate": "precision",
        "false_omission_rate": "negative_predictive_value",
        "false_alarm_ratio": "precision",
        "balanced_error_rate": "balanced_accuracy",
        "ber": "balanced_accuracy",
        "hter": "balanced_accuracy",
        "half_total_error_rate": "balanced_accuracy",
    },
}
_REGRESSION = "It is a metric of regression; Steelyard evaluates classifiers."
_CLUSTERING = "It compares clusterings; Steelyard evaluates classifiers."
_SURVIVAL = "It is a metric of survival times; Steelyard evaluates classifiers."
_TOOL = "It is a tool and no metric."
_DISTANCE = "It is a distance between rows; Steelyard evaluates classifiers."
_CURVE = "It is a curve and no number: use roc_curve(); roc_auc is the area under it."
_PR_CURVE = "It is a curve and no number: use precision_recall_curve(); average_precision is the area under it."
_LIFT_CURVE = "It is a curve and no number; lift[share=0.1] is a point of it."
_TABLE = "It is a table and no number: use confusion()."
_REPORT = "It is a report and no number: use evaluate()."
_COUNT = "It is a number of rows: use confusion(), which has tp, fn, fp and tn."
_HINGE = "It is what some models train by; brier and log_loss judge probabilities."
_QUERIES = "Rows are of one query here."
_GROUPS = "Use compare_groups(), which compares any metric between groups."
_AT_K = (
    "precision_at_k[k=100] times 100, over the number of positives, is the recall among the 100 highest-scored rows."
)
_AT_SPECIFICITY = (
    "recall_at_fpr is the recall at a false positive rate, which is 1 minus the specificity: for a specificity of "
    "0.9 ask for recall_at_fpr[at=0.1]."
)
_AT_RECALL = (
    "specificity_at_recall is 1 minus the false positive rate at a recall: for a recall of 0.95 ask for "
    "specificity_at_recall[at=0.95]."
)
_WORDED = "It is a value in words; ask for the metric itself."
_AGREEMENT = "It has no counterpart here; kappa and mcc are the nearest to it."
_OF_TABLE = "It has no counterpart here; mcc, informedness and markedness are the nearest to it."

_ANSWERS: dict[str, dict[str, str]] = {
    SKLEARN: {
        **dict.fromkeys(("roc_curve", "det_curve", "RocCurveDisplay", "DetCurveDisplay"), _CURVE),
        **dict.fromkeys(("precision_recall_curve", "PrecisionRecallDisplay"), _PR_CURVE),
        **dict.fromkeys(
            (
                "confusion_matrix",
                "multilabel_confusion_matrix",
                "confusion_matrix_at_thresholds",
                "ConfusionMatrixDisplay",
            ),
            _TABLE,
        ),
        "classification_report": _REPORT,
        "precision_recall_fscore_support": (
            "It is four numbers: ask for precision, recall and f1; the confusion matrix has the rows."
        ),
        "class_likelihood_ratios": (
            "It is two numbers: ask for positive_likelihood_ratio and negative_likelihood_ratio."
        ),
        "metric_at_thresholds": "It is a metric at every threshold: use operating_points() or best_threshold().",
        "hinge_loss": _HINGE,
        "dcg_score": "ndcg is its share of the best possible one.",
        "fowlkes_mallows_score": (
            "It counts pairs of rows of two clusterings; fowlkes_mallows is that of the four cells."
        ),
        **dict.fromkeys(
            (
                "adjusted_mutual_info_score",
                "adjusted_rand_score",
                "calinski_harabasz_score",
                "cluster",
                "completeness_score",
                "consensus_score",
                "davies_bouldin_score",
                "homogeneity_completeness_v_measure",
                "homogeneity_score",
                "mutual_info_score",
                "normalized_mutual_info_score",
                "pair_confusion_matrix",
                "rand_score",
                "silhouette_samples",
                "silhouette_score",
                "v_measure_score",
            ),
            _CLUSTERING,
        ),
        **dict.fromkeys(
            (
                "PredictionErrorDisplay",
                "d2_absolute_error_score",
                "d2_pinball_score",
                "d2_tweedie_score",
                "explained_variance",
                "explained_variance_score",
                "max_error",
                "mean_absolute_error",
                "mean_absolute_percentage_error",
                "mean_gamma_deviance",
                "mean_pinball_loss",
                "mean_poisson_deviance",
                "mean_squared_error",
                "mean_squared_log_error",
                "mean_tweedie_deviance",
                "median_absolute_error",
                "neg_max_error",
                "neg_mean_absolute_error",
                "neg_mean_absolute_percentage_error",
                "neg_mean_gamma_deviance",
                "neg_mean_poisson_deviance",
                "neg_mean_squared_error",
                "neg_mean_squared_log_error",
                "neg_median_absolute_error",
                "neg_root_mean_squared_error",
                "neg_root_mean_squared_log_error",
                "r2",
                "r2_score",
                "root_mean_squared_error",
                "root_mean_squared_log_error",
            ),
            _REGRESSION,
        ),
        **dict.fromkeys(
            (
                "DistanceMetric",
                "euclidean_distances",
                "nan_euclidean_distances",
                "pairwise_distances",
                "pairwise_distances_argmin",
                "pairwise_distances_argmin_min",
                "pairwise_distances_chunked",
                "pairwise_kernels",
            ),
            _DISTANCE,
        ),
        **dict.fromkeys(("check_scoring", "get_scorer", "get_scorer_names", "make_scorer"), _TOOL),
    },
    IMBALANCED: {
        "sensitivity_specificity_support": (
            "It is three numbers: ask for recall and specificity; the confusion matrix has the rows."
        ),
        "classification_report_imbalanced": _REPORT,
    },
    TORCHMETRICS: {
        **{f"{kind}ConfusionMatrix": _TABLE for kind in ("", "Binary", "Multiclass", "Multilabel")},
        **{
            f"{kind}PrecisionRecallCurve": _PR_CURVE for kind in ("", "Binary", "Multiclass", "Multilabel", "Retrieval")
        },
        **{f"{kind}ROC": _CURVE for kind in ("Binary", "Multiclass", "Multilabel")},
        **{f"{kind}StatScores": _TABLE for kind in ("", "Binary", "Multiclass", "Multilabel")},
        **{f"{kind}HingeLoss": _HINGE for kind in ("", "Binary", "Multiclass")},
        **{f"{kind}SensitivityAtSpecificity": _AT_SPECIFICITY for kind in ("", "Binary", "Multiclass", "Multilabel")},
        **{
            f"{kind}{name}": f"It is of one class here: name the class with pos_label=, and ask for {ours}."
            for kind in ("Multiclass", "Multilabel")
            for name, ours in {
                "PrecisionAtFixedRecall": "precision_at_recall",
                "RecallAtFixedPrecision": "recall_at_precision",
                "SpecificityAtSensitivity": "specificity_at_recall",
            }.items()
        },
        "MulticlassCalibrationError": (
            "It is of the highest probability of each row; expected_calibration_error is of one class."
        ),
        "MultilabelAccuracy": "Its default is the mean accuracy of the labels: that is 1 minus hamming_loss.",
        "MultilabelMatthewsCorrCoef": (
            "It adds up the tables of all labels; mcc[average=macro] is the mean over the labels."
        ),
        "MulticlassExactMatch": (
            "It is of several labels in each row; of label sets it is accuracy, the share of rows without an error."
        ),
        "HammingDistance": "With one label in each row it is error_rate, and of label sets hamming_loss.",
        "EER": "roc_curve() shows where the two error rates meet.",
        "LogAUC": "recall_at_fpr[at=0.01] is one point of that curve, and roc_auc[max_fpr=0.01] a partial area.",
        **dict.fromkeys(("BinaryFairness", "BinaryGroupStatRates"), _GROUPS),
        "RetrievalMAP": f"{_QUERIES} average_precision is of one query; RetrievalMAP is the mean of it over queries.",
        "RetrievalAUROC": f"{_QUERIES} roc_auc is of one query.",
        "RetrievalRecall": _AT_K,
        **dict.fromkeys(
            (
                "RetrievalHitRate",
                "RetrievalFallOut",
                "RetrievalMRR",
                "RetrievalRPrecision",
                "RetrievalRecallAtFixedPrecision",
            ),
            f"{_QUERIES} precision_at_k and average_precision are of one query.",
        ),
    },
    YARDSTICK: {
        "classification_cost": (
            "It weights costs by probabilities; expected_cost is that of labels, with costs of your own."
        ),
        "conf_mat": _TABLE,
        "roc_curve": _CURVE,
        "pr_curve": _PR_CURVE,
        **dict.fromkeys(("gain_curve", "lift_curve"), _LIFT_CURVE),
        **dict.fromkeys(("demographic_parity", "equal_opportunity", "equalized_odds"), _GROUPS),
        **dict.fromkeys(("metric_set", "metrics", "metric_tweak", "get_weights"), _TOOL),
        **dict.fromkeys(
            (
                "ccc",
                "huber_loss",
                "huber_loss_pseudo",
                "iic",
                "mae",
                "mape",
                "mase",
                "mpe",
                "msd",
                "poisson_log_loss",
                "rmse",
                "rmse_relative",
                "rpd",
                "rpiq",
                "rsq",
                "rsq_trad",
                "smape",
                "weighted_interval_score",
            ),
            _REGRESSION,
        ),
        **dict.fromkeys(
            (
                "brier_survival",
                "brier_survival_integrated",
                "concordance_survival",
                "roc_auc_survival",
                "roc_curve_survival",
                "royston_survival",
            ),
            _SURVIVAL,
        ),
    },
    PYCM: {
        **dict.fromkeys(("TP", "TN", "FP", "FN", "POP", "P", "N", "TOP", "TON", "HD", "AM", "BCD"), _COUNT),
        **dict.fromkeys(("PLRI", "NLRI", "DPI", "AUCI", "MCCI", "QI"), _WORDED),
        **{f"SOA{number}": _WORDED for number in range(1, 11)},
        **dict.fromkeys(
            ("sInd", "dInd"),
            "It is a distance in ROC space; informedness and balanced_accuracy are of the same two rates.",
        ),
        "DP": "It is a multiple of the logarithm of diagnostic_odds_ratio.",
        "Q": "It is (d - 1) / (d + 1), where d is diagnostic_odds_ratio.",
        "LS": "It is precision over prevalence at one threshold; lift[share=0.1] is that of the highest-scored tenth.",
        "ICSI": "It is precision plus recall minus 1.",
        "OC": "It is the higher of precision and recall.",
        "BB": "It is the lower of precision and recall.",
        "CBA": "It is the mean over the classes of the lower of precision and recall.",
        **dict.fromkeys(("IS", "CEN", "MCEN", "AGF", "Overall CEN", "Overall MCEN", "RR"), _OF_TABLE),
        **dict.fromkeys(
            (
                "RACC",
                "RACCU",
                "Overall RACC",
                "Overall RACCU",
                "Gwet AC1",
                "Bennett S",
                "Scott PI",
                "Kappa Unbiased",
                "Kappa No Prevalence",
                "Bangdiwala B",
                "Krippendorff Alpha",
                "ARI",
                "Lambda A",
                "Lambda B",
                "Chi-Squared",
                "Chi-Squared DF",
                "Phi-Squared",
                "Cramer V",
                "Pearson C",
                "RCI",
                "Overall J",
                "Response Entropy",
                "Reference Entropy",
                "Joint Entropy",
                "Conditional Entropy",
                "Mutual Information",
                "KL Divergence",
            ),
            _AGREEMENT,
        ),
        "Kappa Standard Error": "Use interval('kappa', ...).",
        "Kappa 95% CI": "Use interval('kappa', ...).",
        "Standard Error": "Use interval('accuracy', ...).",
        "95% CI": "Use interval('accuracy', ...).",
        "NIR": (
            "It is the accuracy of always predicting the most frequent class, the majority-class baseline of "
            "evaluate()."
        ),
        "P-Value": "Use beats_chance().",
    },
    EVERYBODY: {
        **dict.fromkeys(("recall_at_k", "sensitivity_at_k"), _AT_K),
        **dict.fromkeys(("sensitivity_at_specificity", "recall_at_specificity", "tpr_at_tnr"), _AT_SPECIFICITY),
        **dict.fromkeys(("fpr_at_tpr", "fpr_at_recall"), _AT_RECALL),
        "auc_precision_recall": (
            "Ask for average_precision, the area as a step function, or pr_auc, the area under straight lines."
        ),
        "weighted_kappa": "Ask for kappa[weights=linear] or kappa[weights=quadratic].",
        "map": (
            f"{_QUERIES} average_precision is of one class, average_precision[average=macro] the mean over the classes."
        ),
        **dict.fromkeys(
            ("mrr", "mean_reciprocal_rank", "hit_rate_at_k", "hits_at_k"),
            f"{_QUERIES} precision_at_k and average_precision are of one query.",
        ),
        **dict.fromkeys(
            ("eer", "equal_error_rate"),
            "roc_curve() shows where the two error rates meet.",
        ),
        **dict.fromkeys(
            ("pauc", "partial_auc", "partial_roc_auc"),
            "Ask for roc_auc[max_fpr=0.1], the area up to that false positive rate.",
        ),
        **dict.fromkeys(
            ("mce", "maximum_calibration_error", "max_calibration_error", "ace", "adaptive_calibration_error"),
            "expected_calibration_error is the mean gap, and calibration() shows every bin.",
        ),
        **dict.fromkeys(
            ("nri", "net_reclassification_improvement", "idi"),
            "Use compare() with net_benefit or brier; the IDI is the difference of two discrimination slopes.",
        ),
        **dict.fromkeys(
            ("far", "frr"),
            "Ask for false_positive_rate or false_negative_rate; the abbreviation has more than one meaning.",
        ),
        **dict.fromkeys(("gain", "cumulative_gain"), _LIFT_CURVE),
        **dict.fromkeys(
            ("psi", "population_stability_index"),
            "It compares two sets of scores without labels: use unlabelled() or drift().",
        ),
        "cost": "Ask for expected_cost[cost_fn=10, cost_fp=1], with costs of your own.",
        "support": _COUNT,
    },
}


# ---------------------------------------------------------------- names with a number or an average in them


_NUMBERED = (  # of what is left of a name by `peer_key`: the written form
    (r"(?:precision|p)at(\d+)", "precision_at_k[k={}]"),
    (r"top(\d+)(?:accuracy|acc)?", "top_k_accuracy[k={}]"),
    (r"f(\d|0\d+)(?:score|beta)?", "f_beta[beta={}]"),
)
_ANSWERED_NUMBERS = (
    (
        r"(?:recall|r|sensitivity)at(\d+)",
        (
            "precision_at_k[k={0}] times {0}, over the number of positives, is the recall among the {0} "
            "highest-scored rows."
        ),
    ),
    (
        r"fpr(?:at)?(\d\d)(?:tpr|recall)?",
        "It is 1 minus specificity_at_recall[at=0.{}]; ask for that.",
    ),
)
_AVERAGE = re.compile(
    "^(?:(macro|micro|weighted|samples)_(?:avg_|averaged_)?(.+)|(.+?)_(macro|micro|weighted|samples)(?:_avg)?)$"
)


def split_average(name: str) -> tuple[str, str] | None:
    """The name of a metric and of an average, where a name holds both.

    >>> split_average("macro_avg_f1"), split_average("recall_weighted"), split_average("recall")
    (('f1', 'macro'), ('recall', 'weighted'), None)
    """
    parts = _AVERAGE.match(re.sub("[^a-z0-9]+", "_", name.strip().lower()))
    if parts is None:
        return None
    first, rest, stem, last = parts.groups()
    return (rest, first) if first else (stem, last)


# ---------------------------------------------------------------- the table


@cache
def peer_names() -> tuple[PeerName, ...]:
    """Every name in the table, library by library.

    >>> [peer.name for peer in peer_names() if peer.form == "informedness" and peer.library == "yardstick"]
    ['j_index']
    """
    same = [PeerName(library, name, form) for library, names in _SAME.items() for name, form in names.items()]
    otherwise = [
        PeerName(library, name, form, answer)
        for library, names in _OTHERWISE.items()
        for name, (form, answer) in names.items()
    ]
    negated = [PeerName(SKLEARN, name, "", _negated_text(form)) for name, form in _NEGATED.items()]
    complements = [
        PeerName(library, name, "", f"It is 1 minus {form}; ask for that.")
        for library, names in _COMPLEMENTS.items()
        for name, form in names.items()
    ]
    answers = [
        PeerName(library, name, "", answer) for library, names in _ANSWERS.items() for name, answer in names.items()
    ]
    return (*same, *otherwise, *negated, *complements, *answers)


def _negated_text(form: str) -> str:
    here = f"here {form} is positive and lower is better"
    return f"It is {form} with a minus sign: {here}. Ask for {form}; scorer({form!r}) negates it."


@cache
def _by_key() -> dict[str, PeerName]:
    """The names by what they are compared by, without those that are a metric's own here."""
    own = {(library, name) for library, names in _OTHERWISE.items() for name in names}
    return {peer_key(peer.name): peer for peer in reversed(peer_names()) if (peer.library, peer.name) not in own}


def written_form(name: str) -> str | None:
    """The written form that has the value of a name of others, averages aside; None where there is none.

    >>> written_form("AUC-PR"), written_form("precision@50"), written_form("F0.5"), written_form("recall_at_k")
    ('average_precision', 'precision_at_k[k=50]', 'f_beta[beta=0.5]', None)
    """
    key = peer_key(name)
    if peer := _by_key().get(key):
        return peer.form or None
    for pattern, form in _NUMBERED:
        if match := re.fullmatch(pattern, key):
            digits = match[1]
            return form.format(f"0.{digits[1:]}" if len(digits) > 1 and digits[0] == "0" else digits)
    return None


def peer_answer(name: str) -> str | None:
    """What to say of a name of others that has no metric here: what does its work, or why there is none.

    >>> peer_answer("FDR")
    'It is 1 minus precision; ask for that.'
    """
    key = peer_key(name)
    if peer := _by_key().get(key):
        return None if peer.form else peer.answer
    matches = ((re.fullmatch(pattern, key), answer) for pattern, answer in _ANSWERED_NUMBERS)
    return next((answer.format(match[1]) for match, answer in matches if match), None)
