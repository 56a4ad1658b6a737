"""How often the intervals of label sets hold the true value: rows of several labels that depend on each other.

6, 14 or 40 labels, of which the rarest has 5 to 30 expected positives. What is true of a row, and how hard it is, is
shared by its labels: a cell bootstrap would take them for independent ones. Each value is the share of the test sets
whose interval holds the value of very many rows; those with a label that has no positive are left out of the macro
averages of which it is a part, as these are undefined there.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.metrics import application
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.tables import multilabel

if TYPE_CHECKING:
    from collections.abc import Iterator

AVERAGED = [f"{name}[average={average}]" for name in ("f1", "recall", "precision") for average in ("micro", "macro", "weighted")]  # fmt: skip
OTHERS = [
    "f1[average=samples]",
    "jaccard[average=samples]",
    "mcc[average=macro]",
    "roc_auc[average=macro]",
    "average_precision[average=macro]",
]
EVERYBODY = 200_000  # rows whose value is taken for the true one


class World:
    """Labels of geometric shares whose truth and difficulty the labels of a row have in common."""

    def __init__(self, labels, rarest, n, together, signal):
        shares = np.geomspace(0.4, rarest / n, labels)
        self.bars, self.n, self.together, self.signal = -_normal_quantiles(shares), n, together, signal
        self.cuts = self.bars + 0.15  # rarer labels are predicted a little less often than they occur
        self.text = (
            f"{labels} labels, {rarest} positives in the rarest of {n:,} rows, labels correlated {together:g}, "
            f"signal {signal:g}"
        )

    def draw(self, n, rng):
        """Rows with their labels, the labels predicted, and probabilities."""
        k, shared = len(self.bars), self.together**0.5
        truth = shared * rng.standard_normal((n, 1)) + (1 - self.together) ** 0.5 * rng.standard_normal((n, k))
        noise = shared * rng.standard_normal((n, 1)) + (1 - self.together) ** 0.5 * rng.standard_normal((n, k))
        seen = (self.signal * truth + noise) / (1 + self.signal**2) ** 0.5
        scores = 1 / (1 + np.exp(-2 * (seen - self.cuts)))
        return multilabel(_at_least_one(truth - self.bars), _at_least_one(scores - 0.5), y_score=scores)


def _at_least_one(excess):
    """The labels of a row: those above their bar, or the nearest to it, without which its F1 would be undefined."""
    return ((excess > 0) | (excess == excess.max(1, keepdims=True))).astype(np.uint8)


def _normal_quantiles(shares):
    from scipy.stats import norm

    return norm.ppf(shares)


def worlds() -> Iterator[World]:
    """The settings."""
    for labels, rarest, n in ((6, 5, 200), (6, 15, 300), (14, 5, 400), (14, 15, 600), (14, 30, 1500), (40, 8, 800)):
        for together in (0.0, 0.6):
            yield World(labels, rarest, n, together, 1.5 if rarest != 15 else 4.0)


def specs() -> list[MetricSpec]:
    """The metrics: averages of counts and scores, and every metric that has a form for label sets."""
    own = [MetricSpec(metric) for metric in list_metrics() if metric.label_sets is not None]
    return [*map(MetricSpec.of, (*AVERAGED, *OTHERS)), *own]


def rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting with the share of its test sets that are covered."""
    for world in worlds():
        rng, asked = np.random.default_rng(zlib.crc32(world.text.encode())), specs()
        everybody = world.draw(EVERYBODY, rng)
        true = {s: float(_value(s, everybody)) for s in asked}
        held: dict[str, list[bool]] = defaultdict(list)
        for _ in range(repeats):
            for interval in table_intervals(asked, world.draw(world.n, rng), CallOptions(), Inference(draws=1000)):
                if not np.isnan(interval.low) and not np.isnan(true[interval.spec]):
                    held[interval.spec.name].append(interval.low <= true[interval.spec] <= interval.high)
        yield world.text, {name: float(np.mean(each)) for name, each in held.items() if len(each) >= repeats / 4}


def _value(spec: MetricSpec, table):
    return application.on_table(spec.metric, table, spec.options(CallOptions()), spec.metric.parameters).value
