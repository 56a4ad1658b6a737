"""The drop-ins beside scikit-learn's own functions and imbalanced-learn's, on the same arrays."""

from __future__ import annotations

import functools

import numpy as np

import steelyard.sklearn as ours

N = 10_000_000
LABELS = (
    "confusion_matrix", "accuracy_score", "balanced_accuracy_score", "precision_score", "recall_score", "f1_score",
    "precision_recall_fscore_support", "jaccard_score", "matthews_corrcoef", "cohen_kappa_score",
)  # fmt: skip
SCORES = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")
AREAS = ((0.01, 30), (0.5, 10))


def rows(wanted):
    """Each row's name, peer, both calls and the ratio aimed at; arrays are made only for the rows wanted."""
    for what, name, make, options, aim in declared():
        if wanted in what:
            pair = functools.lru_cache(1)(make)
            yield what, _peer(name), _call(ours, name, pair, options), _call(_theirs(name), name, pair, options), aim


def declared():
    """Every row as (what, function, arrays, options, aim)."""
    big = functools.partial(labels, N)
    yield "drop-in confusion_matrix, 1e7 int64, 2 classes", "confusion_matrix", big, {}, 40
    yield "drop-in confusion_matrix, 1e7 int64, 10 classes", "confusion_matrix", lambda: labels(N, 10), {}, 30
    yield "drop-in confusion_matrix, 1e6 text, 3 classes", "confusion_matrix", lambda: text(N // 10), {}, 20
    for share, aim in AREAS:
        for name in SCORES[:2]:
            yield f"drop-in {name}, 1e7, {share:.0%} positive", name, functools.partial(scores, N, share), {}, aim
    for name in LABELS[1:]:
        yield f"drop-in {name}, 1e6 int64", name, functools.partial(labels, N // 10), {}, 1
    options = {"output_dict": True}
    yield "drop-in classification_report, 1e6 int64", "classification_report", lambda: labels(N // 10), options, 1
    for name in SCORES[2:]:
        yield f"drop-in {name}, 1e6", name, functools.partial(scores, N // 10, 0.1), {}, 1
    for name in (*LABELS, "fbeta_score", "classification_report"):
        options = {"fbeta_score": {"beta": 2}, "classification_report": {"output_dict": True}}.get(name, {})
        yield f"drop-in {name}, n = 100", name, functools.partial(labels, 100), options, 1
        if name not in ("precision_recall_fscore_support", "classification_report"):
            options = options | ({"average": "macro"} if name in (*LABELS[3:6], "jaccard_score", "fbeta_score") else {})
            yield f"drop-in {name}, n = 100 text", name, functools.partial(text, 100), options, 1
    for name in SCORES:
        yield f"drop-in {name}, n = 100", name, functools.partial(scores, 100, 0.3), {}, 1
    for name in ("geometric_mean_score", "specificity_score", "classification_report_imbalanced"):
        options = {"output_dict": True} if name.endswith("imbalanced") else {}
        yield f"drop-in {name}, n = 100", name, functools.partial(labels, 100), options, 1
        yield f"drop-in {name}, 1e6 int64", name, functools.partial(labels, N // 10), options, 1


def labels(n, k=2):
    rng = np.random.default_rng(0)
    true = rng.integers(0, k, n)
    return true, np.where(rng.random(n) < 0.8, true, rng.integers(0, k, n))


def text(n):
    names = np.array(["cat", "dog", "mouse"])
    return tuple(names[codes] for codes in labels(n, 3))


def scores(n, share):
    rng = np.random.default_rng(0)
    true = (rng.random(n) < share).astype(np.int64)
    return true, rng.standard_normal(n) + true


def _peer(name):
    return _theirs(name).__name__.partition(".")[0]


def _theirs(name):
    import imblearn.metrics
    import sklearn.metrics

    return sklearn.metrics if hasattr(sklearn.metrics, name) else imblearn.metrics


def _call(module, name, pair, options):
    """A call without arguments whose answer is one array of numbers."""
    function = getattr(module, name)
    return lambda: _flat(function(*pair(), **options))


def _flat(answer):
    if isinstance(answer, dict):
        return [x for value in answer.values() for x in (value.values() if isinstance(value, dict) else [value])]
    return np.concatenate(answer) if isinstance(answer, tuple) and np.ndim(answer[0]) else answer
