"""The drop-ins beside scikit-learn's own functions and imbalanced-learn's, on the same arrays."""

from __future__ import annotations

import functools
from importlib import import_module

import numpy as np

from benchmarks.data import labels, scores, text
from benchmarks.row import Row, needed

TITLE = "The drop-ins"
LABELS = (
    "confusion_matrix", "accuracy_score", "balanced_accuracy_score", "precision_score", "recall_score", "f1_score",
    "precision_recall_fscore_support", "jaccard_score", "matthews_corrcoef", "cohen_kappa_score",
)  # fmt: skip
SCORES = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")
IMBALANCED = ("geometric_mean_score", "specificity_score", "classification_report_imbalanced")
AREAS = ((0.01, 30), (0.1, 10), (0.5, 12))
AVERAGED = (*LABELS[3:6], "jaccard_score", "fbeta_score")
OPTIONS = {
    "classification_report": {"output_dict": True},
    "classification_report_imbalanced": {"output_dict": True},
    "fbeta_score": {"beta": 2},
}


def rows():
    """Large arrays first, then small ones, where a call costs more than its rows."""
    yield from large()
    yield from small()


def large():
    yield row("confusion_matrix", "1e7 int64, 2 classes", labels, 10**7, 40)
    yield row("confusion_matrix", "1e7 int64, 10 classes", functools.partial(labels, k=10), 10**7, 30)
    yield row("confusion_matrix", "1e6 text, 3 classes", text, 10**6, 20)
    for share, aim in AREAS:
        for name in SCORES[:2]:
            yield row(name, f"1e7, {share:.0%} positive", functools.partial(scores, share=share), 10**7, aim)
    yield row(SCORES[0], "1e8, 10% positive", scores, 10**8, 10)
    for name in (*LABELS[1:], "classification_report", *IMBALANCED):
        yield row(name, "1e6 int64", labels, 10**6)
    for name in SCORES[2:]:
        yield row(name, "1e6", scores, 10**6)


def small():
    for name in (*LABELS, "fbeta_score", "classification_report", *IMBALANCED):
        yield row(name, "n = 100", labels, 100)
    for name in (*LABELS, "fbeta_score"):
        if name != "precision_recall_fscore_support":
            yield row(name, "n = 100 text", text, 100, **({"average": "macro"} if name in AVERAGED else {}))
    for name in SCORES:
        yield row(name, "n = 100", functools.partial(scores, share=0.3), 100)


def row(name, where, arrays, n, aim=1, **options):
    """A function of ours beside the one of that name, given the same arrays."""
    home = "imblearn" if name in IMBALANCED else "sklearn"
    peer = {"imblearn": "imbalanced-learn", "sklearn": "scikit-learn"}[home]
    options |= OPTIONS.get(name, {})
    return Row(f"drop-in {name}, {where}", peer, functools.partial(make, name, home, arrays, options), n, aim)


def make(name, home, arrays, options, n):
    given = arrays(n)
    modules = import_module("steelyard.sklearn"), needed(f"{home}.metrics")
    return tuple(functools.partial(call, getattr(module, name), given, options) for module in modules)


def call(function, given, options):
    """A call whose answer is one array of numbers."""
    answer = function(*given, **options)
    if isinstance(answer, dict):
        return [x for value in answer.values() for x in (value.values() if isinstance(value, dict) else [value])]
    return np.concatenate(answer) if isinstance(answer, tuple) and np.ndim(answer[0]) else answer
