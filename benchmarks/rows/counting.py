"""Labels and scores weighed: beside reading the arrays once, np.sort, and the peers, each on its own kind of array."""

from __future__ import annotations

import functools

import numpy as np

import steelyard
from benchmarks import data
from benchmarks.row import Row, needed

TITLE = "Labels and scores"
SINGLE = 1e-6  # torchmetrics counts in single precision


def rows():
    """Labels, frames, and scores of two sizes and two shares."""
    yield from labels()
    yield from frames()
    yield from scores()


def labels():
    what = "confusion, 1e7 labels of 2 classes"
    yield Row(what, "summing both arrays", beside_sums, 10**7, 0.5, part=True)
    yield Row(what, "mmu (C++)", beside_mmu, 10**7, 1)
    yield Row(what, "torchmetrics, tensors", beside_torch, 10**7, 1)
    yield Row(
        "confusion, 1e6 labels of 10 classes", "torchmetrics, tensors", functools.partial(beside_torch, k=10), 10**6, 1
    )
    yield Row("confusion and 18 metrics, 1e7 labels", "rapidstats (Rust)", beside_rapidstats, 10**7, 1)


def frames():
    yield Row("tally of a Polars frame, 1e7 rows", "Polars, bare group-by", beside_polars, 10**7, 0.5, part=True)
    what = "tally of a Polars frame, 1e6 rows, 100 groups"
    yield Row(what, "Polars, bare group-by", beside_groups, 10**6, 0.5, part=True)


def scores():
    for n, share in ((10**7, 0.01), (10**7, 0.5), (10**6, 0.01), (10**6, 0.5)):
        what = f"roc_auc, {data.size(n)} scores, {share:.0%} positive"
        aim = 0.5 if share < 0.1 else 0.125
        yield Row(what, "np.sort", functools.partial(area, sort, share), n, aim, part=True)
        if n < 10**7:
            yield Row(what, "rapidstats (Rust)", functools.partial(area, rapidstats, share), n, 3)
            yield Row(what, "torchmetrics, tensors", functools.partial(area, torch, share), n, 5, within=SINGLE)
    yield Row("average_precision, 1e6 scores, 1% positive", "rapidstats (Rust)", precision, 10**6, 3)


def matrix(true, pred):
    return lambda: steelyard.confusion(true, pred).matrix


def beside_sums(n):
    true, pred = data.labels(n)
    return lambda: steelyard.confusion(true, pred).matrix[1].sum(), lambda: (true.sum(), pred.sum())[0]


def beside_mmu(n):
    count = needed("mmu").confusion_matrix
    true, pred = data.labels(n)
    return matrix(true, pred), lambda: count(true, pred)


def beside_torch(n, k=2):
    count = needed("torchmetrics.functional.classification").confusion_matrix
    true, pred = data.labels(n, k)
    given = [needed("torch").from_numpy(array) for array in (pred, true)]
    options = {"task": "binary"} if k == 2 else {"task": "multiclass", "num_classes": k}
    return matrix(true, pred), lambda: count(*given, **options).numpy()


def beside_rapidstats(n):
    measured = needed("rapidstats").metrics.confusion_matrix
    true, pred = data.labels(n)
    names = {
        "tpr": "recall", "tnr": "specificity", "fpr": "false_positive_rate", "fnr": "false_negative_rate",
        "precision": "precision", "npv": "negative_predictive_value", "acc": "accuracy", "fbeta": "f1",
        "balanced_accuracy": "balanced_accuracy", "informedness": "informedness", "markedness": "markedness",
        "mcc": "mcc", "threat_score": "jaccard", "folkes_mallows_index": "fowlkes_mallows", "prevalence": "prevalence",
        "plr": "positive_likelihood_ratio", "nlr": "negative_likelihood_ratio", "dor": "diagnostic_odds_ratio",
    }  # fmt: skip

    def ours():
        table = steelyard.confusion(true, pred)
        return [*table.matrix.ravel(), *(steelyard.get_metric(name)(table) for name in names.values())]

    def theirs():
        found = measured(true, pred)
        return [found.tn, found.fp, found.fn, found.tp, *(getattr(found, name) for name in names)]

    return ours, theirs


def beside_polars(n):
    frame = needed("polars").DataFrame(dict(zip("yp", data.labels(n), strict=True)))
    ours = lambda: steelyard.tally(frame, true="y", pred="p").confusion.rows
    return ours, lambda: frame.group_by("y", "p").len().sort("y", "p")["len"].to_numpy().reshape(2, 2)


def beside_groups(n, sites=100):
    columns = dict(zip("yp", data.labels(n), strict=True)) | {"site": np.arange(n) % sites}
    frame = needed("polars").DataFrame(columns)

    def ours():
        found = steelyard.tally(frame, true="y", pred="p", by="site").groups
        return [found[key].confusion.rows for key in sorted(found)]

    def theirs():
        found = np.zeros((sites, 2, 2))
        for site, y, p, rows in frame.group_by("site", "y", "p").len().iter_rows():
            found[site, y, p] = rows
        return found

    return ours, theirs


def area(beside, share, n):
    rng = np.random.default_rng(1)
    score, y = rng.random(n), (rng.random(n) < share).astype(np.int64)
    ours = lambda: steelyard.roc_auc(y, score)
    return ours, beside(y, score)


def sort(y, score):
    value = steelyard.roc_auc(y, score)
    return lambda: (np.sort(score), value)[1]


def rapidstats(y, score):
    theirs = needed("rapidstats").metrics.roc_auc
    return lambda: theirs(y, score)


def torch(y, score):
    theirs = needed("torchmetrics.functional.classification").binary_auroc
    given = [needed("torch").from_numpy(array) for array in (score, y)]
    return lambda: float(theirs(*given))


def precision(n):
    theirs = needed("rapidstats").metrics.average_precision
    y, score = data.scores(n, 0.01)
    return lambda: steelyard.average_precision(y, score), lambda: theirs(y, score)
