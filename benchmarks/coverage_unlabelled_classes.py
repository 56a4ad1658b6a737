"""How often the shares and metrics of unlabelled rows of four classes hold the truth."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.unlabelled_worlds import DRAWS, ENOUGH, REFERENCE
from steelyard import Confusion, interval
from steelyard.analysis.prevalence.label_shift import UnlabelledPrevalence, class_cells
from steelyard.tables.array_tables import probability_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

CLASS_SHARES = (0.5, 0.3, 0.15, 0.05)
NEW_SHARES = ((0.1, 0.2, 0.3, 0.4), (0.7, 0.2, 0.09, 0.01), (0.25, 0.25, 0.25, 0.25))
CLASS_METRICS = ("accuracy", "mcc", "ac_score", "f1[average=macro]")


def _columns(rng: np.random.Generator, truth: Array) -> Array:
    logits = rng.normal(2.0 * np.eye(len(CLASS_SHARES))[truth]) * 1.5
    return np.asarray(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))


def _true_classes(shares: tuple[float, ...]) -> dict[str, float]:
    """The metrics of very many rows."""
    rng = np.random.default_rng(1)
    k, rows = len(shares), 200_000
    predicted = [_columns(rng, np.full(rows, label)).argmax(1) for label in range(k)]
    rates = np.array([np.bincount(part, minlength=k) / rows for part in predicted])
    table = Confusion.of_rows(tuple(range(k)), np.rint(1e9 * np.array(shares)[:, None] * rates).astype(np.int64))
    return {found.metric: float(found.value) for found in interval(CLASS_METRICS, table, draws=20)}


@cache
def _every(repeats: int) -> tuple[tuple[str, dict[str, float], dict[str, float]], ...]:
    """Each setting, the shares of classes of which five rows or more are expected, and all else."""
    rng, found = np.random.default_rng(25), []
    for shares in NEW_SHARES:
        true = _true_classes(shares)
        for rows in (200, 1_000, 5_000):
            held = dict.fromkeys((*(f"share {place + 1}" for place in range(4)), *CLASS_METRICS), 0)
            for _ in range(repeats):
                _count_classes(held, shares, rows, true, rng)
            many = {f"share {place + 1}" for place, share in enumerate(shares) if share * rows >= ENOUGH}
            parts = [{k: v / repeats for k, v in held.items() if (k in many) == of_many} for of_many in (True, False)]
            found.append((f"{' '.join(f'{share:g}' for share in shares)}, {rows:,} rows", *parts))
    return tuple(found)


def share_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The shares of the classes, the first to the last, where five rows or more of the class are expected."""
    yield from ((text, shares) for text, shares, _ in _every(repeats))


def metric_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """Metrics of labels, and shares of classes of which fewer rows are expected."""
    yield from ((text, others) for text, _, others in _every(repeats))


def _count_classes(
    held: dict[str, int], shares: tuple[float, ...], rows: int, true: dict[str, float], rng: np.random.Generator
) -> None:
    truth, new = rng.choice(4, REFERENCE, p=CLASS_SHARES), rng.choice(4, rows, p=shares)
    table = probability_table(truth, _columns(rng, truth))
    ranged = class_cells(table, int(np.clip(np.bincount(truth).min() / 40, 1, 4)))
    prevalence = UnlabelledPrevalence.of(ranged.cells, ranged.counted(_columns(rng, new)), table.labels, rng, DRAWS)
    for place, (low, high) in enumerate(prevalence.class_ends(0.95)):
        held[f"share {place + 1}"] += low <= shares[place] <= high
    matrix = np.bincount(4 * truth + table.most_probable, minlength=16).reshape(4, 4)
    for found in interval(
        CLASS_METRICS, Confusion.of_rows(table.labels, matrix), prevalence=prevalence, draws=DRAWS, rng=rng
    ):
        held[found.metric] += found.low <= true[found.metric] <= found.high
