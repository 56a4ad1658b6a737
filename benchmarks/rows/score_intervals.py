"""Intervals of scores: all of them beside the sort that they need, and beside what peers take for one or two areas."""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.data import scores
from benchmarks.row import Row, needed
from steelyard import compare, evaluate

TITLE = "Intervals of scores"


def rows():
    """Beside np.sort of the same scores, which they cannot do without; then beside the peers' intervals and test."""
    for n in (10**3, 10**5, 10**6):
        yield Row(f"evaluate scores with all intervals, 1e{len(str(n)) - 1} rows", "np.sort", every, n, part=True)
    for n in (10**5, 10**6):
        what = f"compare two models by scores, 1e{len(str(n)) - 1} rows"
        yield Row(what, "np.sort of both", two_models, n, part=True)
    yield Row(
        "evaluate scores by 50 groups, 2e5 rows", "np.sort", functools.partial(every, groups=50), 2 * 10**5, part=True
    )
    yield Row("page of scores, 1e5 rows", "np.sort", whole_page, 10**5, part=True)
    yield Row("two ROC AUCs by DeLong's test, 1e4 rows", "MLstatkit", delong_test, 10**4, 1)
    what = "evaluate scores with all intervals, 1e4 rows"
    yield Row(what, "rapidstats, ROC AUC alone by 500 resamples", beside_resamples, 10**4, part=True)
    yield Row(what, "confidenceinterval, ROC AUC alone by DeLong", beside_delong, 10**4, part=True)


def probabilities(n):
    y, score = scores(n)
    return y, 1 / (1 + np.exp(2 - score))


def every(n, groups=0):
    y, given = probabilities(n)
    by = {"by": np.random.default_rng(1).integers(0, groups, n)} if groups else {}
    return lambda: done(evaluate(y, y_score=given, **by)), lambda: done(np.sort(given))


def two_models(n):
    y, given = probabilities(n)
    other = np.clip(given + np.random.default_rng(2).normal(0, 0.05, n), 0, 1)
    ours = lambda: done(compare(y, y_score={"a": given, "b": other}))
    return ours, lambda: done((np.sort(given), np.sort(other)))


def whole_page(n):
    y, given = probabilities(n)
    evaluation = evaluate(y, y_score=given)
    return lambda: done(evaluation.to_html()), lambda: done(np.sort(given))


def delong_test(n):
    test = needed("MLstatkit").Delong_test
    y, given = scores(n)
    other = given + np.random.default_rng(2).normal(0, 1, n)
    ours = lambda: abs(compare(y, y_score={"a": given, "b": other}, metrics=["roc_auc"]).delong[0].z)
    return ours, lambda: abs(float(test(y, given, other)[0]))


def beside_resamples(n):
    bootstrap = needed("rapidstats").Bootstrap(iterations=500, seed=0)
    y, given = probabilities(n)
    return every(n)[0], lambda: done(bootstrap.roc_auc(y, given))


def beside_delong(n):
    area = needed("confidenceinterval").roc_auc_score
    y, given = probabilities(n)
    return every(n)[0], lambda: done(area(y, given))


def done(_):
    """An answer that says only that the work was done: the sort is a part of it."""
    return 0
