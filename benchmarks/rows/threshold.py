"""The best threshold: beside np.sort of the scores, the AC-score authors' way of looking, and scikit-learn's curve.

The authors' loop is our own transcription of the AC-score authors' procedure, not their script.
"""

from __future__ import annotations

import functools
from importlib import import_module

import numpy as np

from benchmarks.data import size
from benchmarks.row import Row, needed
from steelyard.analysis.thresholds.best_threshold import best_threshold

TITLE = "The best threshold"


def rows():
    """Beside a sort, the authors' loop and scikit-learn's thresholds."""
    for metric in ("informedness", "ac_score", "mcc"):
        make = functools.partial(beside_sort, metric)
        yield Row(f"best_threshold, 1e6 scores, {metric}", "np.sort", make, 10**6, 1 / 15, part=True)
    yield Row("best_threshold, 1e4 scores, both ways", "a loop as the authors'", beside_authors, 10**4, 50)
    for name in ("f1", "balanced_accuracy"):
        for n, thresholds in ((10**3, 10**3), (10**5, 100)):
            make = functools.partial(beside_sklearn, name, thresholds)
            yield Row(
                f"best_threshold, {size(n)} scores, {name}", f"scikit-learn, {thresholds:,} thresholds", make, n, 20
            )


def data(n, share=0.5):
    rng = np.random.default_rng(5)
    y = (rng.random(n) < share).astype(np.int64)
    return y, rng.permutation(n) / n + 0.1 * y * (1 + 1 / (3 * n))


def beside_sort(metric, n):
    y, score = data(n)
    ours = lambda: best_threshold(y, score, metric, draws=0).value
    return ours, lambda value=ours(): (np.sort(score), value)[1]


def beside_authors(n):
    y, score = data(n)
    ours = lambda: max(best_threshold(y, each, "ac_score", draws=0).value for each in (score, -score))  # as they do
    return ours, lambda: step_by_step(y, score)


def moved(cells, positive, flag):
    """The cells after one row more is flagged, or one less."""
    tp, fn, fp, tn = cells
    step = 1 if flag else -1
    return (tp + step, fn - step, fp, tn) if positive else (tp, fn, fp + step, tn - step)


def count_form(tp, fn, fp, tn):
    """The AC-score from counts, with the two ends that the authors' script looks for first."""
    total = tp + fn + fp + tn
    if total in (tp + tn, fp + fn):
        return float(tp + tn == total)
    return 2 * tp * tn / (2 * tp * tn + tp * fp + tn * fn)


def step_by_step(y, score):
    """The best AC-score as the paper's script looks for it: row by row in Python, once each way round.

    Written from a description of it: NumPy integers as cells, one row moved over the threshold at each of N steps, the
    formula computed again, all values kept in an array.
    """
    ordered = y[np.argsort(score)]
    positives, negatives, none = np.sum(ordered == 1), np.sum(ordered == 0), np.sum(ordered == -1)
    best = []
    for flag, cells in ((False, (positives, none, negatives, none)), (True, (none, positives, none, negatives))):
        values = np.empty(len(y) + 1)
        values[0] = count_form(*cells)
        for i in range(len(y)):
            cells = moved(cells, ordered[i] == 1, flag)
            values[i + 1] = count_form(*cells)
        best.append(np.nanmax(values))
    return max(best)


class Scores:
    """A fitted classifier that hands out given scores."""

    def __init__(self, score):
        self.classes_ = np.array([0, 1])
        self.score_ = score

    def predict_proba(self, _):
        return np.column_stack([1 - self.score_, self.score_])

    def __sklearn_tags__(self):
        return import_module("sklearn.utils").Tags(estimator_type="classifier", target_tags=None)


def beside_sklearn(name, steps, n):
    """Their thresholds are all distinct scores where that ends in time; else their default number, our best threshold among them."""
    curves, metrics = needed("sklearn.metrics._scorer")._CurveScorer, needed("sklearn.metrics")  # noqa: SLF001
    y, score = data(n)
    score /= score.max()
    best = best_threshold(y, score, name, draws=0).threshold
    thresholds = score if steps == n else np.append(np.linspace(0, 1, steps - 1), best)
    curve = curves(getattr(metrics, f"{name}_score"), 1, {}, np.sort(thresholds), "predict_proba")
    ours = lambda: best_threshold(y, score, name, draws=0).value
    return ours, lambda: max(curve(Scores(score), np.zeros((n, 1)), y)[0])
