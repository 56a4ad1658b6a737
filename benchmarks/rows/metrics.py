"""Many metrics at once: beside PyCM's table of everything and torchmetrics' collections of single ones."""

from __future__ import annotations

import functools

import numpy as np

import steelyard
from benchmarks.data import labels
from benchmarks.row import Row, needed
from steelyard import list_metrics

TITLE = "Many metrics"
COUNT_METRICS = [m for m in list_metrics() if m.function and m.family != "ordinal"]
PYCM = {"recall": "TPR", "specificity": "TNR", "precision": "PPV", "f1": "F1", "mcc": "MCC", "g_mean": "GM"}
TORCH = {
    "accuracy": "BinaryAccuracy", "precision": "BinaryPrecision", "recall": "BinaryRecall", "f1": "BinaryF1Score",
    "mcc": "BinaryMatthewsCorrCoef",
}  # fmt: skip
BATCH = 10_000
SINGLE = 1e-6  # torchmetrics divides in single precision


def rows():
    """Every metric of each class, with and without intervals; one metric; and batches."""
    every = f"the {len(COUNT_METRICS)} count metrics of each class, 1e5 labels"
    for k in (2, 10):
        yield Row(f"{every}, {k} classes", "PyCM, ConfusionMatrix", functools.partial(each_class, k), 10**5, 1)
        what = f"evaluate with its intervals and verdict, 1e5 labels, {k} classes"
        yield Row(what, "PyCM, ConfusionMatrix without them", functools.partial(weighed, k), 10**5, part=True)
    yield Row("evaluate with its intervals and verdict, 1e3 labels", "scikit-learn, classification_report", few, 10**3)
    for name in ("recall", "f1", "mcc"):
        what = f"{name} of Counts"
        yield Row(what, "scikit-learn, n = 100", functools.partial(of_counts, name), 100, 100)
    yield Row("f1, 1e6 labels", "torchmetrics, tensors", single, 10**6, 1, within=SINGLE)
    what = f"{len(TORCH)} metrics of 1e6 labels in batches of {BATCH:,}"
    yield Row(what, "torchmetrics, MetricCollection", batches, 10**6, 1, within=SINGLE)


def each_class(k, n):
    """PyCM computes its some 150 statistics when the table is made."""
    theirs = needed("pycm").ConfusionMatrix
    given = labels(n, k)

    def ours():
        table = steelyard.confusion(*given)
        found = {m.name: m(table, average=None) for m in COUNT_METRICS}
        return [found[name] for name in PYCM]

    return ours, lambda: classes(theirs(*given))


def classes(found):
    return [list(getattr(found, name).values()) for name in PYCM.values()]


def weighed(k, n):
    theirs = needed("pycm").ConfusionMatrix
    given = labels(n, k)

    def ours():
        found = steelyard.evaluate(*given)
        return [found["accuracy"].value, found["kappa"].value]

    def others():
        found = theirs(*given)
        return [found.Overall_ACC, found.Kappa]

    return ours, others


def few(n):
    """All metrics of few rows, where draws and calls cost more than counting; the peer gives no interval."""
    report = needed("sklearn.metrics").classification_report
    given = labels(n)
    ours = lambda: steelyard.evaluate(*given)["f1"].value
    return ours, lambda: report(*given, output_dict=True)["1"]["f1-score"]


def of_counts(name, n):
    """A metric of four numbers, beside the peer's of the rows that they count."""
    peers = {"recall": "recall_score", "f1": "f1_score", "mcc": "matthews_corrcoef"}
    theirs, ours = getattr(needed("sklearn.metrics"), peers[name]), getattr(steelyard, name)
    given = labels(n)
    counts = steelyard.confusion(*given).counts()
    return lambda: ours(counts), lambda: theirs(*given)


def single(n):
    theirs = needed("torchmetrics.functional.classification").binary_f1_score
    true, pred = labels(n)
    given = [needed("torch").from_numpy(array) for array in (pred, true)]
    return lambda: steelyard.f1(true, pred), lambda: float(theirs(*given))


def batches(n):
    """A training loop: what comes is tensors, on both sides."""
    torch, home = needed("torch"), needed("torchmetrics")
    true, pred = (torch.from_numpy(array).split(BATCH) for array in labels(n))

    def ours():
        seen = steelyard.Accumulator(labels=[0, 1])
        for y, guess in zip(true, pred, strict=True):
            seen.update(y.numpy(), guess.numpy())
        return [getattr(steelyard, name)(seen.result()) for name in TORCH]

    def theirs():
        seen = home.MetricCollection({name: getattr(home.classification, kind)() for name, kind in TORCH.items()})
        for y, guess in zip(true, pred, strict=True):
            seen.update(guess, y)
        found = seen.compute()
        return np.array([float(found[name]) for name in TORCH])

    return ours, theirs
