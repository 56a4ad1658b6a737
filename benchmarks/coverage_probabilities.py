"""How often the intervals of a column of probabilities for each class hold the true value, and how wide they are.

3, 5 or 10 classes whose shares fall geometrically, 5 to 30 expected rows in the rarest: half of the settings are a grid,
half are drawn at random by a seed that changes with the version. Each value is the share of the test sets whose
interval holds it; the delta method on the logit (areas) and Student's t (losses) stand beside ours, and widths are
relative to ours. A test set that lacks a class has no area and is left out of the areas.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from math import sqrt
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

import steelyard
from steelyard import interval
from steelyard.analysis.intervals.influence import column_influence
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.array_tables import probability_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPEATS = int(os.environ.get("REPEATS", "2000"))
AREAS = ("roc_auc[average=macro]", "roc_auc[average=weighted]", "roc_auc[multi_class=ovo, average=macro]", "average_precision[average=macro]", "roc_auc[average=micro]", "average_precision[average=micro]")  # fmt: skip
LOSSES = ("log_loss", "brier", "top_k_accuracy[k=1]", "top_k_accuracy", "d2_log_loss", "brier_skill_score", "ranked_probability_score")  # fmt: skip
EVERYBODY = 300_000  # rows whose value is taken for the true one
Z = 1.959964


class Setting:
    """Classes of geometric shares, and a classifier that knows some of them better than others."""

    def __init__(self, k, rarest, ratio, signal, spread, sharpness):
        shares = float(ratio) ** -np.arange(k)
        self.shares, self.sharpness, self.spread = shares / shares.sum(), sharpness, spread
        self.n = round(rarest / self.shares[-1])
        self.signal = np.broadcast_to(signal, k)
        self.text = (
            f"{k} classes, shares 1:{ratio:.2g}, {rarest} rows in the rarest of {self.n:,}, "
            f"{'heavy tails, ' if spread else ''}signal {fmean(self.signal):.1f}, sharpness {sharpness:.1f}"
        )

    def draw(self, n, rng):
        """The classes of n rows and their probabilities."""
        k = len(self.shares)
        codes = rng.choice(k, n, p=self.shares)
        noise = rng.standard_t(3, (n, k)) if self.spread else rng.standard_normal((n, k))
        noise[np.arange(n), codes] += self.signal[codes]
        logits = self.sharpness * noise + 0.7 * np.log(self.shares)
        odds = np.exp(logits - logits.max(1, keepdims=True))
        return codes, odds / odds.sum(1, keepdims=True)


def settings() -> Iterator[Setting]:
    """The grid, and as many at random."""
    for k, ratio in ((3, 3), (5, 2), (10, 1.5)):
        for rarest in (5, 10, 30):
            yield Setting(k, rarest, ratio, 1.5 if rarest != 10 else 3.5, False, 1.0)
    rng = np.random.default_rng(zlib.crc32(steelyard.__version__.encode()))
    for _ in range(9):
        k = int(rng.choice([3, 5, 10]))
        ratio = rng.uniform(1.3, 3.0) if k < 10 else rng.uniform(1.1, 1.7)
        signal = rng.uniform(0.5, 3.5, k) if rng.random() < 0.7 else rng.uniform(2.5, 5)
        yield Setting(k, int(rng.integers(5, 31)), ratio, signal, bool(rng.random() < 0.3), rng.uniform(0.5, 2))


def rows(repeats: int = REPEATS) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting in words, with the coverage of every metric, and of the usual method beside it with its width."""
    rng = np.random.default_rng(20)
    for setting in settings():
        yield setting.text, coverage(setting, rng, repeats)


def coverage(
    setting: Setting, rng: np.random.Generator, repeats: int, names: Sequence[str] = (*LOSSES, *AREAS)
) -> dict[str, float]:
    """The share of the intervals that hold the true value, by metric, and of the usual method with its width."""
    whole, inside, widths = setting.draw(EVERYBODY, rng), defaultdict(list), defaultdict(list)
    truth = {name: value(name, *whole) for name in names}
    for _ in range(repeats):
        table = probability_table(*setting.draw(setting.n, rng), labels=range(len(setting.shares)))
        complete = len(np.unique(table.codes)) == len(table.labels)
        for name in (name for name in names if complete or name not in AREAS):
            found = interval(name, table)
            usual = usual_ends(name, table, found.value)
            for key, ends in ((name, (found.low, found.high)), (f"{name}, usual", usual)):
                inside[key].append(ends[0] <= truth[name] <= ends[1])
                widths[key].append(ends[1] - ends[0])
    relative = {f"{name}, usual width": fmean(widths[f"{name}, usual"]) / fmean(widths[name]) for name in names}
    return {key: fmean(each) for key, each in inside.items()} | relative


def value(name, codes, probabilities):
    spec = MetricSpec.of(name)
    return float(spec.metric(codes, probabilities, average=spec.average))


def usual_ends(name, table, at):
    """Student's t of the losses; the delta method on the logit of the areas, by the influence of the rows."""
    spec = MetricSpec.of(name)
    influence = column_influence(spec.metric, table, spec.options(CallOptions()), spec.metric.parameters)
    n, error = len(influence), sqrt(float(influence @ influence))
    if spec.average == "native":
        reach = student.ppf(0.975, n - 1) * error * sqrt(n / (n - 1))
        return at - reach, at + reach
    if not 0 < at < 1:
        return at, at
    reach, logit = Z * error / (at * (1 - at)), np.log(at / (1 - at))
    return 1 / (1 + np.exp(reach - logit)), 1 / (1 + np.exp(-reach - logit))


if __name__ == "__main__":
    for text, shares in rows():
        print(text, {name: round(share, 3) for name, share in shares.items()}, flush=True)
