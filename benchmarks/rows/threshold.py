"""The best cut: beside np.sort of the scores, the AC-score authors' way of looking, and scikit-learn's curve.

The authors' loop is our own transcription of the AC-score authors' procedure, not their script.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from steelyard.analysis.threshold import best_threshold


def rows(wanted):
    """What is weighed, beside what, and the ratio aimed at."""
    for make in (beside_sort, beside_authors, beside_sklearn):
        yield from (row for row in make() if wanted in row[0])


def data(n, share=0.5):
    rng = np.random.default_rng(5)
    y = (rng.random(n) < share).astype(np.int64)
    return y, rng.permutation(n) / n + 0.1 * y * (1 + 1 / (3 * n))


def beside_sort():
    y, score = data(10**6)
    for measure in ("informedness", "ac_score", "mcc"):
        ours = lambda measure=measure: best_threshold(y, score, measure, resamples=0).value
        theirs = lambda value=ours(): (np.sort(score), value)[1]
        yield f"best_threshold, 1e6 scores, {measure}", "np.sort", ours, theirs, 1 / 15


def moved(cells, positive, flag):
    """The cells after one row more is flagged, or one less."""
    tp, fn, fp, tn = cells
    step = 1 if flag else -1
    return (tp + step, fn - step, fp, tn) if positive else (tp, fn, fp + step, tn - step)


def count_form(tp, fn, fp, tn):
    """The AC-score from counts, with the two ends that the authors' script looks for first."""
    rows = tp + fn + fp + tn
    if rows in (tp + tn, fp + fn):
        return float(tp + tn == rows)
    return 2 * tp * tn / (2 * tp * tn + tp * fp + tn * fn)


def step_by_step(y, score):
    """The best AC-score as the paper's script looks for it: row by row in Python, once each way round.

    Written from a description of it: NumPy integers as cells, one row moved over the cut at each of N steps, the
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


def beside_authors():
    y, score = data(10**4)
    ours = lambda: best_threshold(y, score, "ac_score", both_directions=True, resamples=0).value
    yield "best_threshold, 1e4 scores, both ways", "a loop as the authors'", ours, lambda: step_by_step(y, score), 50


class Scores:
    """A fitted classifier that hands out given scores."""

    def __init__(self, score):
        self.classes_ = np.array([0, 1])
        self.score_ = score

    def predict_proba(self, _):
        return np.column_stack([1 - self.score_, self.score_])

    def __sklearn_tags__(self):
        return import_module("sklearn.utils").Tags(estimator_type="classifier", target_tags=None)


def beside_sklearn():
    curves, metrics = import_module("sklearn.metrics._scorer")._CurveScorer, import_module("sklearn.metrics")  # noqa: SLF001
    for name, function in (("f1", metrics.f1_score), ("balanced_accuracy", metrics.balanced_accuracy_score)):
        for n, cuts in ((10**3, 10**3), (10**5, 100)):
            y, score = data(n)
            score /= score.max()
            ours = lambda y=y, score=score, name=name: best_threshold(y, score, name, resamples=0).value
            # All distinct scores where that ends in time; else as many as its default, the best of them among them.
            best = best_threshold(y, score, name, resamples=0).threshold
            thresholds = score if cuts == n else np.append(np.linspace(0, 1, cuts - 1), best)
            curve = curves(function, 1, {}, np.sort(thresholds), "predict_proba")
            theirs = lambda curve=curve, model=Scores(score), y=y: max(curve(model, np.zeros((len(y), 1)), y)[0])
            what = f"best_threshold, {n:.0e} scores, {name}".replace("e+0", "e")
            yield what, f"scikit-learn, {cuts:,} cuts", ours, theirs, 20
