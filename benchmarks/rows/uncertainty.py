"""Intervals: beside a larger table, a loop over resampled rows, np.sort, and the peers that give intervals.

A peer's interval is another one than ours, save DeLong's: there the value alone is held equal before both are timed.
"""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.data import labels, probabilities, scores
from benchmarks.row import Row, needed
from steelyard import Counts, evaluate, interval, list_metrics, score_table
from steelyard.analysis.intervals import score_intervals

TITLE = "Intervals"
COUNT_METRICS = [m for m in list_metrics() if m.function]
SINGLE = 1e-6  # confidenceinterval's area is in single precision


def rows():
    """Our own yardsticks first, then the peers."""
    yield Row("all intervals, 1e9 rows", "ours, 1e3 rows", growth, 10**9, 1 / 1.5)
    scale, every = 10_000 * len(COUNT_METRICS), len(COUNT_METRICS)
    what = f"{every} intervals of 10,000 draws, 1e5 rows"
    yield Row(what, f"scikit-learn, one draw of one metric, 1/{scale:,} of it", loop, 10**5, 10_000 / scale, part=True)
    yield Row("DeLong's variance, 1e6 rows", "np.sort", delong, 10**6, 0.1, part=True)
    yield Row("evaluate, 1e7 rows, all metrics and intervals", "scikit-learn, classification_report", whole, 10**7, 1)
    what = "log loss, Brier, top-2 and macro AUC with intervals, 1e5 x 10"
    yield Row(what, "scikit-learn, the values alone", many_classes, 10**5, 1)
    yield from peers()


def peers():
    ci = "confidenceinterval"
    yield Row("f1 with its interval, 1e5 rows", f"{ci}, delta method", f1, 10**5, 1)
    yield Row(
        "macro f1 with its interval, 1e5 rows", f"{ci}, delta method", functools.partial(f1, average="macro"), 10**5, 1
    )
    yield Row("roc_auc with DeLong's interval, 1e5 rows", ci, area, 10**5, 1, within=SINGLE)
    yield Row("f1 with a BCa interval of 999 draws, 1e3 rows", ci, bca, 10**3, 100)
    yield Row("roc_auc with its interval, 1e4 rows", "rapidstats, 500 resamples", resampled, 10**4, 10)
    yield Row("f1 with its interval, 1e5 rows", "rapidstats, 500 resamples", resampled_table, 10**5, 10)


def growth(n):
    small = Counts(28, 23, 72, 877)
    large = small.scaled(n // 1000)
    return lambda: done(interval(COUNT_METRICS, large)), lambda: done(interval(COUNT_METRICS, small))


def loop(n):
    """One resample of the rows and one metric; 10,000 draws of all metrics are that many times more."""
    f1_score = needed("sklearn.metrics").f1_score
    rng = np.random.default_rng(0)
    y, pred = ((rng.random(n) < 0.05).astype(int) for _ in range(2))
    table = Counts(*(int(((y == a) & (pred == b)).sum()) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))))

    def one_draw():
        i = rng.integers(0, n, n)
        return done(f1_score(y[i], pred[i], zero_division=0))

    return lambda: done(interval(COUNT_METRICS, table)), one_draw


def delong(n):
    y, score = scores(n, 0.5)
    return lambda: done(score_intervals.delong_variance(score_table(y, score))), lambda: done(np.sort(score))


def whole(n):
    report = needed("sklearn.metrics").classification_report
    y, pred = labels(n)
    names = ("recall", "precision", "f1")

    def ours():
        found = evaluate(y, pred)
        return [found[name].value for name in names]

    def theirs():
        found = report(y, pred, output_dict=True)["1"]
        return [found[name] for name in ("recall", "precision", "f1-score")]

    return ours, theirs


def many_classes(n):
    """Probabilities of ten classes; scikit-learn gives no intervals."""
    metrics = needed("sklearn.metrics")
    y, given = probabilities(n, 10)
    names = ("log_loss", "brier", "top_k_accuracy", "roc_auc[average=macro]")

    def theirs():
        area = metrics.roc_auc_score(y, given, multi_class="ovr")
        losses = (metrics.log_loss(y, given), metrics.brier_score_loss(y, given))
        return [*losses, metrics.top_k_accuracy_score(y, given, k=2), area]

    return lambda: [found.value for found in interval(names, y, y_score=given)], theirs


def f1(n, average="binary"):
    score = needed("confidenceinterval").f1_score
    y, pred = labels(n)
    options = {} if average == "binary" else {"average": average}
    return lambda: interval("f1", y, pred, **options).value, lambda: score(y, pred, average=average)[0]


def area(n):
    score = needed("confidenceinterval").roc_auc_score
    y, given = scores(n)

    def ours():
        found = interval("roc_auc", y, y_score=given, method="delong")
        return [found.value, found.low, found.high]

    def theirs():
        value, ends = score(y, given)
        return [value, *ends]

    return ours, theirs


def bca(n):
    score = needed("confidenceinterval").f1_score
    y, pred = labels(n)
    ours = lambda: interval("f1", y, pred, method="bca", draws=999).value
    return ours, lambda: score(y, pred, average="binary", method="bootstrap_bca", n_resamples=999)[0]


def resampled(n):
    boot = needed("rapidstats").Bootstrap(iterations=500, seed=1)
    y, given = scores(n)
    return lambda: interval("roc_auc", y, y_score=given).value, lambda: boot.roc_auc(y, given)[1]


def resampled_table(n):
    boot = needed("rapidstats").Bootstrap(iterations=500, seed=1)
    y, pred = labels(n)
    return lambda: interval("f1", y, pred).value, lambda: boot.confusion_matrix(y, pred).fbeta[1]


def done(_):
    """An answer that says only that the work was done: both do a part of what the other does."""
    return 0
