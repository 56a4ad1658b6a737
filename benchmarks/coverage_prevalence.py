"""How often intervals hold the true value where the deployment prevalence was itself estimated, from 100 rows.

Half of the settings are drawn at random by a seed that changes with the version. Beside each share stands that of the
estimate plugged in as if it were known.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from steelyard import Counts, Prevalence, __version__, interval

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ("precision", "negative_predictive_value", "f1", "mcc", "accuracy")
SEEN_IN = 100  # rows that the prevalence is estimated from
FIXED = [(0.05, 0.8, 0.95, 400), (0.2, 0.6, 0.9, 1_000), (0.5, 0.9, 0.9, 200), (0.1, 0.95, 0.99, 2_000)]


def settings(rng: np.random.Generator, how_many: int = 4) -> list[tuple[float, float, float, int]]:
    """Deployment prevalence, recall, specificity and rows of the test set, half of which are positive."""
    drawn = [
        (
            float(np.exp(rng.uniform(np.log(0.03), np.log(0.5)))),
            *rng.uniform(0.55, 0.98, 2),
            int(rng.integers(100, 2_000)),
        )
        for _ in range(how_many)
    ]
    return [*FIXED, *drawn]


def shares(setting: tuple[float, float, float, int], repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The share of intervals that hold the truth, by metric: drawn with the table, and plugged in."""
    prevalence, recall, specificity, rows = setting
    half = rows // 2
    tp, tn = rng.binomial(half, recall, repeats), rng.binomial(half, specificity, repeats)
    tables = Counts(tp, half - tp, half - tn, tn)
    truth = interval(
        METRICS,
        Counts(half * recall, half * (1 - recall), half * (1 - specificity), half * specificity),
        prevalence=prevalence,
        draws=20,
    )
    seen = rng.binomial(SEEN_IN, prevalence, repeats)
    held = {f"{name}{how}": np.zeros(repeats) for how in ("", ", plugged in") for name in METRICS}
    for positives in np.unique(seen):
        of, estimate = seen == positives, Prevalence(positives=int(positives), rows=SEEN_IN)
        for how, at in (("", estimate), (", plugged in", float(estimate))):
            for true, found in zip(
                truth, interval(METRICS, tables[of], prevalence=at, draws=1_000, rng=rng), strict=True
            ):
                held[f"{found.metric}{how}"][of] = (found.low <= true.value) & (true.value <= found.high)
    return {name: float(inside.mean()) for name, inside in held.items()}


def rows(repeats: int = 2_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage of each metric in each setting."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for setting in settings(rng):
        prevalence, recall, specificity, n = setting
        text = f"prevalence {prevalence:.3f} of {SEEN_IN} rows, recall {recall:.2f}, specificity {specificity:.2f}, {n:,} rows"
        yield text, shares(setting, repeats, rng)


if __name__ == "__main__":
    for text, by_metric in rows():
        print(text, {name: round(share, 3) for name, share in by_metric.items()})
