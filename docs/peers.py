"""Peers: what other libraries call a measure, and where they differ from it; the tests run both where they are there.

scikit-learn's name stands in the registry. Where its value differs on a degenerate input is not written here: both are
run on it when the pages are made.
"""

from __future__ import annotations

import warnings
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric


class Peer(NamedTuple):
    """A library, its name of the measure, and how that differs where it does."""

    library: str
    name: str
    differs: str = ""


PYCM = {  # attributes of ConfusionMatrix, one value a class
    "recall": "TPR", "specificity": "TNR", "precision": "PPV", "negative_predictive_value": "NPV",
    "false_positive_rate": "FPR", "false_negative_rate": "FNR", "accuracy": "ACC", "error_rate": "ERR",
    "prevalence": "PRE", "f1": "F1", "f2": "F2", "jaccard": "J", "fowlkes_mallows": "G", "g_mean": "GM",
    "adjusted_g_mean": "AGM", "balanced_accuracy": "AUC", "informedness": "BM", "markedness": "MK", "mcc": "MCC",
    "positive_likelihood_ratio": "PLR", "negative_likelihood_ratio": "NLR", "diagnostic_odds_ratio": "DOR",
    "optimized_precision": "OP",
}  # fmt: skip
TORCHMETRICS = {
    "recall": "BinaryRecall", "specificity": "BinarySpecificity", "precision": "BinaryPrecision",
    "negative_predictive_value": "BinaryNegativePredictiveValue", "accuracy": "BinaryAccuracy",
    "f1": "BinaryF1Score", "f_beta": "BinaryFBetaScore", "jaccard": "BinaryJaccardIndex",
    "mcc": "BinaryMatthewsCorrCoef", "kappa": "BinaryCohenKappa", "roc_auc": "BinaryAUROC",
    "average_precision": "BinaryAveragePrecision", "expected_calibration_error": "BinaryCalibrationError",
    "recall_at_precision": "BinaryRecallAtFixedPrecision", "precision_at_recall": "BinaryPrecisionAtFixedRecall",
}  # fmt: skip
IMBALANCED = {"recall": "sensitivity_score", "specificity": "specificity_score", "g_mean": "geometric_mean_score"}
NOTES = {
    ("imbalanced-learn", "g_mean"): "averaged over classes it takes the root of the product of two means; here it is "
    "the mean of the classes' G-means",
    ("imbalanced-learn", "iba"): "of the squared G-mean with alpha = 0.1; here of the G-mean with alpha = 0.05, as in "
    "García 2012. `iba[alpha=0.1,of=tpnr]` is theirs",
    ("imbalanced-learn", "specificity"): "with `sample_weight` it counts true negatives by rows, so that a value can "
    "be negative; here all four cells are weighed",
    ("PyCM", "fowlkes_mallows"): "its `G` is this measure; its `GM` is the G-mean",
    ("PyCM", "balanced_accuracy"): "the area under the ROC curve of the single point, which is the balanced accuracy",
    ("PyCM", "adjusted_g_mean"): "it gives 0 where recall is 0, as here",
}


def peers(measure: Metric) -> list[Peer]:
    """What others call a measure."""
    found = [Peer("scikit-learn", f"sklearn.metrics.{measure.sklearn}")] if measure.sklearn else []
    if measure.name in IMBALANCED:
        found.append(Peer("imbalanced-learn", f"imblearn.metrics.{IMBALANCED[measure.name]}"))
    if measure.name == "iba":
        found.append(Peer("imbalanced-learn", "imblearn.metrics.make_index_balanced_accuracy"))
    if measure.name in TORCHMETRICS:
        found.append(Peer("torchmetrics", f"torchmetrics.classification.{TORCHMETRICS[measure.name]}"))
    if measure.name in PYCM:
        found.append(Peer("PyCM", f"ConfusionMatrix.{PYCM[measure.name]}"))
    return [peer._replace(differs=NOTES.get((peer.library, measure.name), "")) for peer in found]


LABELS = {  # a table of four cells, in words
    "nobody is flagged": (0, 10, 0, 90),
    "everybody is flagged": (10, 0, 90, 0),
    "the table has no positives": (0, 0, 5, 95),
    "the table has one class, and no error": (0, 0, 0, 100),
    "every row is wrong": (0, 10, 90, 0),
}
SCORES = {
    "there are no positives": ([0, 0, 0], [0.1, 0.4, 0.8]),
    "a positive was given the probability 0": ([0, 0, 1], [0.1, 0.4, 0.0]),
}


def differences(measure: Metric) -> list[str]:
    """Where scikit-learn's value is another one, found by running both on degenerate inputs."""
    from sklearn import metrics

    if measure.sklearn is None:
        return []
    theirs = getattr(metrics, measure.sklearn)
    options = {"beta": measure.parameters["beta"]} if measure.sklearn == "fbeta_score" else {}
    cases = _score_cases() if measure.function is None else _label_cases()
    found = [_difference(measure, theirs, words, *case, options) for words, case in cases.items()]
    return [sentence for sentence in found if sentence]


def _label_cases() -> dict[str, Any]:
    from steelyard import Counts

    truth, guess = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    return {
        words: (np.repeat(truth, cells), np.repeat(guess, cells), Counts(*cells)) for words, cells in LABELS.items()
    }


def _score_cases() -> dict[str, Any]:
    return {words: (np.array(y), np.array(score), None) for words, (y, score) in SCORES.items()}


def _difference(measure: Metric, theirs: Any, words: str, y: Any, other: Any, counts: Any, options: Any) -> str:
    from steelyard import score_table

    data = score_table(y, other, pos_label=1, labels=[0, 1]) if counts is None else counts
    ours, why = float(measure(data)), measure.why(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = float(theirs(y, other, **options))
        except ValueError as error:
            return f"Where {words}, scikit-learn raises an error ({_first(error)}); here {_told(ours, why)}."
    if isclose(value, ours, abs_tol=1e-12) or (isnan(value) and isnan(ours)):
        return ""
    warned = ", with a warning" if caught else ", silently"
    return f"Where {words}, scikit-learn gives {_number(value)}{warned}; here {_told(ours, why)}."


def _told(value: float, why: str | None) -> str:
    return f"it is undefined: {why}" if isnan(value) else f"it is {_number(value)}"


def _number(value: float) -> str:
    return "infinite" if np.isinf(value) else f"{value:.3g}"


def _first(error: Exception) -> str:
    return str(error).split(".")[0].split("\n")[0]
