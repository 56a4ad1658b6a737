"""How often the interval of label thresholds' value on new rows holds it, and what flatters the value that chose them.

The worlds are those of label sets, without labels of rows that have none. A threshold for each label is chosen by a
metric averaged over labels; its value on new rows is that on 30,000 of them.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.coverage_label_sets import World
from steelyard import best_threshold, get_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ("f1[average=micro]", "f1[average=macro]", "f1[average=weighted]", "balanced_accuracy[average=macro]")
NEW = 30_000
WORLDS = ((6, 15, 300, 0.0), (6, 15, 300, 0.6), (14, 15, 600, 0.6), (14, 40, 2000, 0.6))


def rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the value on new rows is held, and the mean optimism of the value stated and of that in the sample."""
    for labels, rarest, n, together in WORLDS:
        world = World(labels, rarest, n, together, 1.5)
        rng, shares = np.random.default_rng(zlib.crc32(world.text.encode())), {}
        new = world.draw(NEW, rng)
        for metric in METRICS:
            runs = np.array([_judged(metric, world, new, rng) for _ in range(repeats)])
            held, off, naive = np.nanmean(runs, axis=0)
            shares |= {metric: float(held), f"{metric}, optimism": float(off)}
            shares |= {f"{metric}, optimism in sample": float(naive)}
        yield world.text, shares


def _judged(metric: str, world: World, new, rng: np.random.Generator) -> tuple[float, float, float]:
    """One sample: whether the interval holds, and by how much each value is off; NaN where a label has no rows."""
    table = world.draw(world.n, rng)
    if not table.positives.all():
        return np.nan, np.nan, np.nan
    best, spec = best_threshold(table, metric=metric), MetricSpec.of(metric)
    cuts = np.array([best.thresholds[label] for label in new.labels])
    value = get_metric(spec.metric)(new.true, (new.scores >= cuts).astype(np.uint8), average=spec.average)
    low, high = best.out_of_sample_interval
    return low <= value <= high, best.out_of_sample - value, best.value - value
