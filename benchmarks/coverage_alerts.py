"""How often the interval of what one model finds more than another at a capacity holds the true difference.

Scores of the positives and the negatives are normal, as far apart as the setting says, and share a part of their luck
between the models; some are in so many levels. The truth is exact: what each model finds at its own threshold in the
population, where rows of the level at the threshold share what is left. And how often equal models are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from steelyard import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAWS = 1_000


class Setting(NamedTuple):
    """Rows, expected positives, how far apart the classes are by each model, and how much luck the models share."""

    rows: int
    positives: int
    a: float
    b: float
    shared: float = 0.5
    times: float | None = None  # as many alerts as positives; None: as many as there are on the rows
    levels: int | None = None
    weighted: bool = False
    clustered: bool = False

    def __str__(self) -> str:
        kind = f", {self.levels} levels" if self.levels else ""
        kind += ", weighted" * self.weighted + ", in clusters" * self.clustered
        alerts = "as many alerts as positives" if self.times is None else f"{self.times:g} times as many alerts"
        apart = f"{self.a:g} and {self.b:g} apart, {self.shared:.0%} shared"
        return f"{self.positives} positives of {self.rows:,} rows, {alerts}, {apart}{kind}"


SETTINGS = (
    Setting(500, 8, 1.5, 1.5),
    Setting(500, 8, 2.5, 1.5),
    Setting(500, 8, 3.5, 3.5, 0.9),
    Setting(500, 8, 2.0, 2.0, times=3.0),
    Setting(500, 8, 2.0, 2.0, levels=6),
    Setting(500, 100, 1.5, 1.0),
    Setting(500, 50, 2.0, 2.0, 0.99),
    Setting(500, 200, 2.0, 1.5, 0.9),
    Setting(2_000, 8, 4.0, 1.0, 0.0),
    Setting(2_000, 20, 2.0, 1.0, levels=6),
    Setting(2_000, 20, 2.0, 2.0, 0.9, times=5.0),
    Setting(2_000, 50, 2.0, 1.8, 0.7, times=0.5),
    Setting(2_000, 50, 2.5, 2.0, 0.9, weighted=True),
    Setting(2_000, 50, 2.0, 1.5, 0.5, clustered=True),
    Setting(10_000, 100, 2.5, 2.3, 0.8),
    Setting(10_000, 100, 2.5, 2.3, 0.8, times=2.0),
    Setting(10_000, 100, 2.0, 2.0, 0.9, levels=12),
    Setting(20_000, 8, 3.0, 3.0),
    Setting(20_000, 50, 3.0, 1.0),
    Setting(20_000, 200, 2.0, 2.0, 0.9),
)
EQUAL = (Setting(500, 20, 2.0, 2.0), Setting(2_000, 50, 2.0, 2.0, 0.9), Setting(2_000, 50, 2.0, 2.0, levels=6))


def rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting with the share of test sets whose interval holds the truth."""
    for place, setting in enumerate(SETTINGS):
        rng = np.random.default_rng(place)
        held = [_holds(setting, rng) for _ in range(repeats)]
        yield str(setting), {"found": float(np.mean(held))}


def choice_rows(repeats: int = 500) -> Iterator[tuple[str, dict[str, float]]]:
    """Of equal models how often one is chosen, by what is named as the use."""
    for place, setting in enumerate(EQUAL):
        rng, counted = np.random.default_rng(100 + place), {}
        for _ in range(repeats):
            y, models, _ = _test_set(setting, rng)
            for use in ("alerts", "ranking", None):
                last = compare(y, y_score=models, use=use, draws=DRAWS).verdict[-1]
                counted.setdefault(use or "no use", []).append(not last.startswith("Not distinguishable"))
        yield str(setting), {use: float(np.mean(chosen)) for use, chosen in counted.items()}


def _holds(setting: Setting, rng: np.random.Generator) -> bool:
    y, models, beside = _test_set(setting, rng)
    share = y.mean() if setting.times is None else setting.times * setting.positives / setting.rows
    if "sample_weight" in beside and setting.times is None:
        share = float(np.average(y, weights=beside["sample_weight"]))
    capacity = None if setting.times is None else round(share * setting.rows)
    found = compare(y, y_score=models, use="ranking", metrics=["roc_auc"], capacity=capacity, draws=DRAWS, **beside)
    (row,), outcomes = found.outcomes[0].differences, found.outcomes[0]
    prevalence = setting.positives / setting.rows
    share = share if capacity is None else capacity / setting.rows
    truth = outcomes.positives * (
        _recall(setting, setting.a, prevalence, share) - _recall(setting, setting.b, prevalence, share)
    )
    return row.low - 1e-9 <= truth <= row.high + 1e-9


def _test_set(setting: Setting, rng: np.random.Generator):
    """The truth, each model's scores, and weights or clusters, which have some of the luck in common."""
    n, prevalence = setting.rows, setting.positives / setting.rows
    while True:
        y = (rng.random(n) < prevalence).astype(int)
        if 2 <= y.sum() < n - 1:
            break
    beside = {"sample_weight": rng.gamma(4, size=n) / 4} if setting.weighted else {}
    common = rng.standard_normal(n)
    if setting.clustered:
        beside["cluster"] = rng.integers(0, n // 10, n)
        common = np.sqrt(0.3) * rng.standard_normal(n // 10)[beside["cluster"]] + np.sqrt(0.7) * common
    models = {}
    for name, apart in (("a", setting.a), ("b", setting.b)):
        own = np.sqrt(setting.shared) * common + np.sqrt(1 - setting.shared) * rng.standard_normal(n) + apart * y
        models[name] = own if setting.levels is None else np.searchsorted(_edges(setting), own).astype(float)
    return y, models, beside


def _edges(setting: Setting) -> np.ndarray:
    return np.linspace(-1, 3.5, setting.levels)


def _recall(setting: Setting, apart: float, prevalence: float, share: float) -> float:
    """The recall in the population where that share of all rows is flagged."""
    if setting.levels is None:

        def excess(threshold: float) -> float:
            return prevalence * ndtr(apart - threshold) + (1 - prevalence) * ndtr(-threshold) - share

        return float(ndtr(apart - brentq(excess, -9, 14)))
    edges = np.concatenate([[-np.inf], _edges(setting), [np.inf]])
    positives, negatives = (np.diff(ndtr(edges - shift))[::-1] for shift in (apart, 0.0))
    flagged = np.append(0, np.cumsum(prevalence * positives + (1 - prevalence) * negatives))
    return float(np.interp(share, flagged, np.append(0, np.cumsum(positives))))
