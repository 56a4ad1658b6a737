"""Big matrices: how often pairs and classes that do not differ are shown to, and how often path metrics are covered.

Errors fall on classes by quasi-independence, with margins from even to very uneven; all classes have one recall. Half of
the settings are drawn at random.
"""

from __future__ import annotations

import numpy as np

from steelyard import Confusion
from steelyard.analysis.confusions.confused_pairs import class_standing, excess_pairs
from steelyard.analysis.confusions.hierarchy import PATH_METRICS, level_errors
from steelyard.analysis.intervals.inference import Inference

SETTINGS = ((3, 60, 0.9, 5.0), (12, 20, 0.9, 1.0), (60, 5, 0.95, 0.5), (60, 50, 0.7, 0.5), (200, 30, 0.6, 1.0))


def level_rows(repeats, seed=0):
    """Each setting, and how often some pair, and some class, is shown to differ."""
    rng = np.random.default_rng(seed)
    drawn = [
        (int(rng.integers(4, 80)), int(rng.integers(5, 60)), rng.uniform(0.5, 0.97), rng.uniform(0.3, 3))
        for _ in range(4)
    ]
    for k, rows, recall, evenness in [*SETTINGS, *drawn]:
        pairs, classes = [], []
        for _ in range(repeats):
            table = _table(k, rows, recall, evenness, rng)
            standing = class_standing(table, 0.95)
            pairs.append(excess_pairs(table, 0.95) > 0)
            classes.append(bool(standing.below or standing.above))
        name = f"{k} classes of {rows} rows, recall {recall:.2f}, errors of evenness {evenness:.1f}"
        yield name, {"a pair": float(np.mean(pairs)), "a class": float(np.mean(classes))}


def _table(k, rows, recall, evenness, rng):
    """Rows of equal recall whose errors are attracted by classes whatever the true one."""
    attracts = rng.dirichlet(np.full(k, evenness))
    hits = rng.binomial(rows, recall, k)
    cells = np.diag(hits)
    for place in range(k):
        share = np.where(np.arange(k) == place, 0.0, attracts + 1e-12)
        cells[place] += rng.multinomial(rows - hits[place], share / share.sum())
    return Confusion.of_rows(range(k), cells)


def hierarchy_rows(repeats, seed=0):
    """Each setting, and how often the intervals of the path metrics hold the value of the population."""
    rng = np.random.default_rng(seed)
    for rows, right in ((30, 0.9), (60, 0.6), (200, 0.97), (500, 0.4)):
        labels = tuple(f"{a}/{b}/{c}" for a in "pq" for b in "rst" for c in "uv")
        k = len(labels)
        cells = np.diag(np.full(k, right)) + (1 - right) * rng.dirichlet(np.full(k, 0.4), size=k)
        cells *= rng.dirichlet(np.full(k, 2.0))[:, None]
        cells /= cells.sum()
        exact = Confusion(labels, np.full((k, k), 1), cells, cells)
        expected = level_errors(exact, "/", Inference(draws=20)).metrics
        held = {name: [] for name in PATH_METRICS}
        for _ in range(repeats):
            sample = rng.multinomial(rows, cells.ravel()).reshape(k, k)
            found = level_errors(Confusion.of_rows(labels, sample), "/", Inference(draws=1_000, rng=rng)).metrics
            for name, value in found.items():
                held[name].append(value.low <= expected[name].value <= value.high)
        yield f"{rows} rows, {right:.0%} right", {name: float(np.mean(values)) for name, values in held.items()}
