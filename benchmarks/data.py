"""Data for the rows: seeded, so that every process makes the same arrays."""

from __future__ import annotations

import numpy as np


def labels(n, k=2):
    """True labels of k classes, and predictions of which four fifths and a share by luck are right."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, k, n)
    return true, np.where(rng.random(n) < 0.8, true, rng.integers(0, k, n))


def text(n):
    names = np.array(["cat", "dog", "mouse"])
    return tuple(names[codes] for codes in labels(n, 3))


def scores(n, share=0.1):
    """True labels, a share of them positive, and scores that are normal in each class."""
    rng = np.random.default_rng(0)
    true = (rng.random(n) < share).astype(np.int64)
    true[:2] = 0, 1
    return true, rng.standard_normal(n) + true


def probabilities(n, k):
    """True labels of k classes, and a column of probabilities for each that leans to them."""
    rng = np.random.default_rng(0)
    true, logits = rng.integers(0, k, n), rng.standard_normal((n, k))
    logits[np.arange(n), true] += 2
    odds = np.exp(logits)
    return true, odds / odds.sum(1, keepdims=True)


def size(n):
    """A number of rows as it stands in a name: 1e6."""
    return f"{n:.0e}".replace("e+0", "e").replace("e+", "e")
