"""Peers: what other libraries call a metric, and where they differ from it; the tests run both where they are there.

scikit-learn's name stands in the registry, and below where it takes an option or a part of the answer. Where its value
differs on a degenerate input is not written here: both are run on it when the pages are made.
"""

from __future__ import annotations

import warnings
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from steelyard.metrics.measure import Metric


class Peer(NamedTuple):
    """A library, its name of the metric, and how that differs where it does."""

    library: str
    name: str
    differs: str = ""


SKLEARN: dict[str, tuple[str, dict[str, Any]]] = {  # a function of another metric, or of two, with its options
    "specificity": ("recall_score", {"pos_label": 0}), "negative_predictive_value": ("precision_score", {"pos_label": 0}),
    "negative_f1": ("f1_score", {"pos_label": 0}), "mean_f1": ("f1_score", {"average": "macro"}),
    "informedness": ("balanced_accuracy_score", {"adjusted": True}),
    "positive_likelihood_ratio": ("class_likelihood_ratios", {}),
    "negative_likelihood_ratio": ("class_likelihood_ratios", {}),
}  # fmt: skip
SECOND = ("negative_likelihood_ratio",)  # what stands second where a function gives two
PYCM = {  # attributes of ConfusionMatrix, one value a class
    "recall": "TPR", "specificity": "TNR", "precision": "PPV", "negative_predictive_value": "NPV",
    "false_positive_rate": "FPR", "false_negative_rate": "FNR", "accuracy": "ACC", "error_rate": "ERR",
    "prevalence": "PRE", "predicted_prevalence": "TOPR", "f1": "F1", "f2": "F2", "jaccard": "J", "fowlkes_mallows": "G", "g_mean": "GM",
    "adjusted_g_mean": "AGM", "balanced_accuracy": "AUC", "informedness": "BM", "markedness": "MK", "mcc": "MCC",
    "positive_likelihood_ratio": "PLR", "negative_likelihood_ratio": "NLR", "diagnostic_odds_ratio": "DOR",
    "optimized_precision": "OP", "iba": "IBA",
}  # fmt: skip
PYCM_WHOLE = {"kappa": "Kappa", "mean_f1": "F1_Macro"}  # one value a table
PYCM_CALLS = {  # what is called, or read at a class
    "negative_f1": "ConfusionMatrix.F1[negative]", "f_beta": "ConfusionMatrix.F_beta(beta)",
    "net_benefit": "ConfusionMatrix.NB(w)", "brier": "ConfusionMatrix.brier_score()",
    "log_loss": "ConfusionMatrix.log_loss()", "roc_auc": "ROCCurve.area()",
}  # fmt: skip
TORCHMETRICS = {
    "recall": "BinaryRecall", "specificity": "BinarySpecificity", "precision": "BinaryPrecision",
    "negative_predictive_value": "BinaryNegativePredictiveValue", "accuracy": "BinaryAccuracy",
    "error_rate": "BinaryHammingDistance",
    "f1": "BinaryF1Score", "f_beta": "BinaryFBetaScore", "jaccard": "BinaryJaccardIndex",
    "mcc": "BinaryMatthewsCorrCoef", "kappa": "BinaryCohenKappa", "roc_auc": "BinaryAUROC",
    "average_precision": "BinaryAveragePrecision", "expected_calibration_error": "BinaryCalibrationError",
    "recall_at_precision": "BinaryRecallAtFixedPrecision", "precision_at_recall": "BinaryPrecisionAtFixedRecall",
}  # fmt: skip
TORCHMETRICS_ZERO = tuple(name for name in TORCHMETRICS if name not in ("mcc", "kappa"))  # 0 in place of 0/0
IMBALANCED = {
    "recall": "sensitivity_score",
    "specificity": "specificity_score",
    "g_mean": "geometric_mean_score",
    "macro_mean_absolute_class_error": "macro_averaged_mean_absolute_error",
}
NOTES = {
    ("imbalanced-learn", "g_mean"): "averaged over classes it takes the root of the product of two means; here it is "
    "the mean of the classes' G-means",
    ("imbalanced-learn", "iba"): "of the squared G-mean with alpha = 0.1; here of the G-mean with alpha = 0.05, as in "
    "García 2012. `iba[alpha=0.1,of=tpnr]` is theirs",
    ("imbalanced-learn", "specificity"): "with `sample_weight` it counts true negatives by rows, so that a value can "
    "be negative; here all four cells are counted",
    ("PyCM", "fowlkes_mallows"): "its `G` is this metric; its `GM` is the G-mean",
    ("PyCM", "iba"): "of the product of the two recalls with alpha = 1. `iba[alpha=1,of=tpnr]` is theirs",
    ("PyCM", "net_benefit"): "w is the odds of the threshold, threshold / (1 - threshold)",
    ("PyCM", "brier"): "of a matrix that was made from probabilities",
    ("PyCM", "log_loss"): "of a matrix that was made from probabilities",
    ("PyCM", "diagnostic_odds_ratio"): 'the text "None" where every row is wrong; here it is 0',
    ("scikit-learn", "positive_likelihood_ratio"): "it gives both ratios; this is the first",
    ("scikit-learn", "negative_likelihood_ratio"): "it gives both ratios; this is the second",
    (
        "torchmetrics",
        "mcc",
    ): "numbers other than 0 where it is undefined here, 1 where all rows are of one class and right",
    ("torchmetrics", "expected_calibration_error"): "15 bins by default; here 10",
    ("torchmetrics", "recall_at_precision"): "it gives the threshold as well",
    ("torchmetrics", "precision_at_recall"): "it gives the threshold as well",
    ("torchmetrics", "precision_at_k"): "the mean over queries, of which this is one. Of rows with one score it takes "
    "those that its sort puts first; here the value is the mean over their orders. Where k exceeds the rows it divides "
    "by k all the same; here it is undefined",
    ("PyCM", "balanced_accuracy"): "the area under the ROC curve of the single point, which is the balanced accuracy",
    ("PyCM", "adjusted_g_mean"): "it gives 0 where recall is 0, as here",
}
REMARKS = {  # where a name misleads, or two calls make one metric
    "fowlkes_mallows": "scikit-learn's `fowlkes_mallows_score` is for clusterings: it counts pairs of rows, and gives "
    "another value for the same labels.",
    "pr_auc": "In scikit-learn: `auc` of the recall and the precision that `precision_recall_curve` gives. PyCM's "
    "`PRCurve.area()` leaves out the end at recall 0.",
    "negative_average_precision": "In scikit-learn: `average_precision_score(y_true, -y_score, pos_label=0)`.",
    "mean_average_precision": "In scikit-learn: the mean of `average_precision_score` of the scores, and of the "
    "negated scores with `pos_label=0`.",
}


def peers(metric: Metric) -> list[Peer]:
    """What others call a metric."""
    counterparts = [Peer("scikit-learn", f"sklearn.metrics.{called(*call)}")] if (call := scikit_learn(metric)) else []
    if metric.name in IMBALANCED:
        counterparts.append(Peer("imbalanced-learn", f"imblearn.metrics.{IMBALANCED[metric.name]}"))
    if metric.name == "iba":
        counterparts.append(Peer("imbalanced-learn", "imblearn.metrics.make_index_balanced_accuracy"))
    if metric.name in TORCHMETRICS:
        counterparts.append(Peer("torchmetrics", f"torchmetrics.classification.{TORCHMETRICS[metric.name]}"))
    if metric.name == "precision_at_k":
        counterparts.append(Peer("torchmetrics", "torchmetrics.retrieval.RetrievalPrecision"))
    if attribute := (PYCM | PYCM_WHOLE).get(metric.name):
        counterparts.append(Peer("PyCM", f"ConfusionMatrix.{attribute}"))
    if metric.name in PYCM_CALLS:
        counterparts.append(Peer("PyCM", PYCM_CALLS[metric.name]))
    return [peer._replace(differs=NOTES.get((peer.library, metric.name), "")) for peer in counterparts]


def scikit_learn(metric: Metric) -> tuple[str, dict[str, Any]] | None:
    """scikit-learn's function of a metric, and its options."""
    if metric.sklearn is None:
        return SKLEARN.get(metric.name)
    return metric.sklearn, {"beta": metric.parameters["beta"]} if metric.sklearn == "fbeta_score" else {}


def called(name: str, options: dict[str, Any]) -> str:
    """How a function is written with the options that make it the metric."""
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    return f"{name}({given})" if given else name


LABELS = {  # a table of four cells, in words
    "nobody is flagged": (0, 10, 0, 90),
    "everybody is flagged": (10, 0, 90, 0),
    "the table has no positives": (0, 0, 5, 95),
    "the table has no negatives": (95, 5, 0, 0),
    "the table has one class, and no error": (0, 0, 0, 100),
    "every row is wrong": (0, 10, 90, 0),
}
SCORES = {
    "there are no positives": ([0, 0, 0], [0.1, 0.4, 0.8]),
    "a positive was given the probability 0": ([0, 0, 1], [0.1, 0.4, 0.0]),
}


def differences(metric: Metric) -> list[str]:
    """Where scikit-learn's value is another one, found by running both on degenerate inputs."""
    from sklearn import metrics

    if (call := scikit_learn(metric)) is None:
        return []
    name, options = call
    theirs = getattr(metrics, name)
    sentences = [_difference(metric, theirs, words, *case, options) for words, case in cases(metric).items()]
    return [sentence for sentence in sentences if sentence]


def undefined(metric: Metric) -> list[str]:
    """What the others that were not run give where a metric is undefined on one of the cases."""
    if not any(isnan(metric(data(*case))) for case in cases(metric).values()):
        return []
    pycm = metric.function is not None and metric.name in PYCM | PYCM_WHOLE | PYCM_CALLS
    sentences = ['PyCM: the text "None" where it is undefined here.'] * pycm
    return sentences + ["torchmetrics: 0 where it is undefined here."] * (metric.name in TORCHMETRICS_ZERO)


def cases(metric: Metric) -> dict[str, Any]:
    """Degenerate inputs of a metric: truth, predictions or scores, and the table where there is one."""
    if metric.is_of_label_sets:
        return {}
    return _score_cases() if metric.function is None else _label_cases()


def _label_cases() -> dict[str, Any]:
    from steelyard import Counts

    truth, guess = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    return {
        words: (np.repeat(truth, cells), np.repeat(guess, cells), Counts(*cells)) for words, cells in LABELS.items()
    }


def _score_cases() -> dict[str, Any]:
    return {words: (np.array(y), np.array(score), None) for words, (y, score) in SCORES.items()}


def _difference(metric: Metric, theirs: Any, words: str, y: Any, other: Any, counts: Any, options: Any) -> str:
    given = data(y, other, counts)
    ours, why = float(metric(given)), metric.why(given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = float(np.ravel(theirs(y, other, **options))[int(metric.name in SECOND)])
        except ValueError as error:
            return f"Where {words}, scikit-learn raises an error ({_first(error)}); here {_told(ours, why)}."
    if isclose(value, ours, abs_tol=1e-12) or (isnan(value) and isnan(ours)):
        return ""
    warned = ", with a warning" if caught else ", silently"
    return f"Where {words}, scikit-learn gives {_number(value)}{warned}; here {_told(ours, why)}."


def data(y: Any, other: Any, counts: Any) -> Any:
    """The table of a case, of counts or of scores."""
    from steelyard import score_table

    return score_table(y, other, pos_label=1, labels=[0, 1]) if counts is None else counts


def _told(value: float, why: str | None) -> str:
    return f"it is undefined: {why}" if isnan(value) else f"it is {_number(value)}"


def _number(value: float) -> str:
    return f"{'minus ' * (value < 0)}infinity" if np.isinf(value) else f"{value:.3g}"


def _first(error: Exception) -> str:
    return str(error).split(".")[0].split("\n")[0]
