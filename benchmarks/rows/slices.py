"""Slices: a million rows of twenty features, three conditions, beside SliceLine on a hundredth of the rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks.row import Row, needed
from steelyard import slices

TITLE = "Slices"


def rows():
    """Every slice tested, merged and stated; a peer's search for the worst ones without a test is a part of that."""
    what = "147,350 slices of three conditions by {}, 20 features, 1e6 rows"
    yield Row(what.format("recall"), "SliceLine, two conditions, 1e4 rows", recall, 10**6, part=True)
    yield Row(what.format("accuracy"), "SliceLine, two conditions, 1e4 rows", accuracy, 10**6, part=True)


def table(n):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=n) for i in range(20)}
    y = rng.random(n) < 0.1
    bad = (columns["x3"] > 0.84) & (columns["x5"] > 0.84)
    flagged = np.where(y, rng.random(n) < np.where(bad, 0.6, 0.8), rng.random(n) < 0.05)
    return pl.DataFrame({**columns, "y": y, "p": flagged})


def recall(n, metric="recall"):
    finder = needed("sliceline.slicefinder").Slicefinder
    frame, small = table(n), table(n // 100)
    bins = small.select(pl.col("^x.*$").qcut(5, labels=list("abcde")).to_physical()).to_numpy()
    wrong = (small["y"] != small["p"]).to_numpy().astype(float)

    def theirs():
        return done(finder(alpha=0.95, k=5, max_l=2, min_sup=20, verbose=False).fit(bins, wrong))

    return lambda: done(slices(frame, true="y", pred="p", metric=metric, conditions=3)), theirs


def accuracy(n):
    return recall(n, "accuracy")


def done(_):
    """An answer that says only that the work was done."""
    return 0
