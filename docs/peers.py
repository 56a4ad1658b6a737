"""Peers: what other libraries call a metric, and where they differ from it; the tests run both where they are there.

Their names stand in the package, in `steelyard.metrics.peers`; below is what is called with options, or gives a part of
the answer. Where scikit-learn's value differs on a degenerate input is not written here: both are run on it when the
pages are made.
"""

from __future__ import annotations

import warnings
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.metrics.peers import PYCM, SKLEARN, TORCHMETRICS, PeerName, peer_names
from steelyard.metrics.spec_text import parse_form

if TYPE_CHECKING:
    from steelyard.metrics.measure import Metric


class Peer(NamedTuple):
    """A library, its name of the metric, and how that differs where it does."""

    library: str
    name: str
    differs: str = ""


CALLS: dict[str, tuple[str, dict[str, Any]]] = {  # a function of another metric, or of two, with its options
    "specificity": ("recall_score", {"pos_label": 0}), "negative_predictive_value": ("precision_score", {"pos_label": 0}),
    "negative_f1": ("f1_score", {"pos_label": 0}), "mean_f1": ("f1_score", {"average": "macro"}),
    "informedness": ("balanced_accuracy_score", {"adjusted": True}),
    "positive_likelihood_ratio": ("class_likelihood_ratios", {}),
    "negative_likelihood_ratio": ("class_likelihood_ratios", {}),
}  # fmt: skip
SECOND = ("negative_likelihood_ratio",)  # what stands second where a function gives two
PYCM_CALLS = {  # what is called, or read at a class
    "negative_f1": "ConfusionMatrix.F1[negative]", "f_beta": "ConfusionMatrix.F_beta(beta)",
    "net_benefit": "ConfusionMatrix.NB(w)", "brier": "ConfusionMatrix.brier_score()",
    "log_loss": "ConfusionMatrix.log_loss()", "mean_f1": "ConfusionMatrix.F1_Macro", "roc_auc": "ROCCurve.area()",
}  # fmt: skip
ADDRESSES = {
    "imbalanced-learn": "imblearn.metrics.{}",
    "torchmetrics": "torchmetrics.{}",
    "yardstick": "yardstick::{}",
    "PyCM": "ConfusionMatrix.{}",
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
    counterparts = [Peer(SKLEARN, f"sklearn.metrics.{called(*call)}")] if (call := scikit_learn(metric)) else []
    for peer in named(metric):
        address = ADDRESSES[peer.library].format(_located(peer.library, peer.name))
        counterparts.append(Peer(peer.library, address, peer.answer))
    if metric.name in PYCM_CALLS:
        counterparts.append(Peer(PYCM, PYCM_CALLS[metric.name]))
    noted = ((peer, NOTES.get((peer.library, metric.name), "")) for peer in counterparts)
    return [peer._replace(differs=peer.differs or note) for peer, note in noted]


def named(metric: Metric, *libraries: str) -> list[PeerName]:
    """The libraries' names of a metric, whatever its parameters; those of an average are left out."""
    return [
        peer
        for peer in peer_names()
        if peer.form and peer.library in (libraries or ADDRESSES) and _is_of(metric, peer.form)
    ]


def _is_of(metric: Metric, form: str) -> bool:
    stem, settings = parse_form(form)
    return stem == metric.name and "average" not in settings


def _located(library: str, name: str) -> str:
    if library == TORCHMETRICS:
        return f"{'retrieval' if name.startswith('Retrieval') else 'classification'}.{name}"
    return name.replace(" ", "_")


def scikit_learn(metric: Metric) -> tuple[str, dict[str, Any]] | None:
    """scikit-learn's function of a metric, and its options."""
    if metric.sklearn is None:
        return CALLS.get(metric.name)
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
    pycm = metric.function is not None and (named(metric, PYCM) or metric.name in PYCM_CALLS)
    zero = named(metric, TORCHMETRICS) and metric.name not in ("mcc", "kappa")
    sentences = ['PyCM: the text "None" where it is undefined here.'] * bool(pycm)
    return sentences + ["torchmetrics: 0 where it is undefined here."] * bool(zero)


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
