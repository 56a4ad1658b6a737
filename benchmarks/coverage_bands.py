"""How often the whole true curve lies in its simultaneous band, with 10 to 500 positives.

Rows are drawn from all, so the metric's true curve is that at the population's prevalence, which the sample's varies
around. Scores are normal, heavy-tailed, tied or near-perfect; half of the settings are drawn at random by a seed that changes
with the version. Beside the shares of runs in which a curve lies in its band at all thresholds stands that of Jeffreys'
intervals at each threshold, and how wide these are as a share of the band's width.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from steelyard import Counts, ScoreTable, __version__, get_metric, score_table
from steelyard.analysis.intervals.rate_intervals import jeffreys
from steelyard.analysis.thresholds.bands import RateBand, band_prevalences, rate_band

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = 0.95
METRIC = get_metric("mcc")
MOST_THRESHOLDS, EVERY = 200, 10  # the metric is read at every tenth of them, and every tenth run is pointwise too
STEP = 2 / 3  # between tied scores


class Setting(NamedTuple):
    """The rows of each class that are expected, how far apart they are, how the scores are spread, and whether rows have weights."""

    positives: int
    negatives: int
    apart: float
    kind: str
    weighted: bool = False

    def __str__(self) -> str:
        rows = f"{self.positives} positives, {self.negatives:,} negatives"
        return f"{rows}, {self.kind}, {self.apart:.2g} apart{', weighted' * self.weighted}"

    @property
    def share(self) -> float:
        """The prevalence of the population."""
        return self.positives / (self.positives + self.negatives)

    def table(self, rng: np.random.Generator) -> ScoreTable:
        """The scores of one test set."""
        y = (rng.random(self.positives + self.negatives) < self.share).astype(int)
        y[:2] = 1, 0  # both classes have a row
        noise = rng.standard_t(2, len(y)) if self.kind == "heavy-tailed" else rng.normal(size=len(y))
        scores = noise + self.apart * y
        scores = np.round(scores / STEP) * STEP if self.kind == "tied" else scores
        return score_table(y, scores, sample_weight=rng.uniform(0.2, 2, len(y)) if self.weighted else None)

    def above(self, scores: np.ndarray, *, or_at: bool) -> tuple[np.ndarray, np.ndarray]:
        """The true recall and false positive rate where the scores above are flagged, with those at it or not."""
        edge = scores + (-STEP / 2 if or_at else STEP / 2) * (self.kind == "tied")
        spread = stats.t(2) if self.kind == "heavy-tailed" else stats.norm
        return spread.sf(edge - self.apart), spread.sf(edge)


FIXED = [
    Setting(10, 500, 1.0, "normal"),
    Setting(30, 300, 0.0, "normal"),
    Setting(20, 2_000, 4.0, "normal"),
    Setting(50, 500, 2.0, "heavy-tailed"),
    Setting(100, 1_000, 1.0, "tied"),
    Setting(500, 2_000, 1.5, "normal"),
    Setting(100, 900, 1.5, "normal", weighted=True),
]


def settings(rng: np.random.Generator) -> list[Setting]:
    """The fixed ones and as many drawn: 10 to 500 positives, a twentieth to ten times as many negatives."""
    drawn = []
    for positives in (10, 15, 40, 80, 150, 300, 500):
        negatives = int(np.clip(positives * np.exp(rng.uniform(np.log(0.05), np.log(10))), 10, 2_000))
        kind = str(rng.choice(["normal", "heavy-tailed", "tied"]))
        drawn.append(Setting(positives, negatives, float(rng.choice([rng.uniform(0, 2), rng.uniform(3, 5)])), kind))
    return [*FIXED, *drawn]


def is_held(setting: Setting, table: ScoreTable, band: RateBand, places: np.ndarray) -> tuple[bool, bool, bool]:
    """Whether both rates, the ROC curve and the metric lie in their bands at all thresholds."""
    thresholds = table.thresholds[places]
    at, below = setting.above(thresholds, or_at=True), setting.above(np.append(thresholds[1:], -np.inf), or_at=False)
    sides = zip((band.recall_low, band.fpr_low), (band.recall_high, band.fpr_high), at, below, strict=True)
    rates = all((low <= first).all() and (last <= high).all() for low, high, first, last in sides)
    curve, few = band.at_fpr(at[1]), slice(None, None, EVERY)
    known = band_prevalences(METRIC, table, LEVEL, None)
    low, high = rate_band(table, known.level, places).bounds(METRIC, float(table.total), *known.shares)
    roc = (curve.recall_low <= at[0]).all() and (at[0] <= curve.recall_high).all()
    p, n = setting.share, 1 - setting.share
    recall, fpr, low, high = at[0][few], at[1][few], low[few], high[few]
    value = METRIC(Counts(recall * p, (1 - recall) * p, fpr * n, (1 - fpr) * n))
    return rates, bool(roc), not ((value < low - 1e-9) | (value > high + 1e-9)).any()  # undefined where none is flagged


def pointwise(table: ScoreTable, places: np.ndarray) -> RateBand:
    """Jeffreys' intervals at each threshold."""
    ends: list[np.ndarray] = []
    for scores, cell in zip(table.classes, (table.counts.tp, table.counts.fp), strict=True):
        rows = scores.effective_size
        ends += jeffreys(np.minimum(cell[places] / cell[-1] * rows, rows), np.asarray(rows), LEVEL)
    return RateBand(*ends)


def shares(setting: Setting, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The shares of runs that hold, and the mean width of the pointwise intervals of recall by that of the band."""
    held, single, widths = [], [], []
    for run in range(repeats):
        table = setting.table(rng)
        places = np.unique(np.linspace(0, len(table.thresholds) - 1, MOST_THRESHOLDS).astype(int))
        band = rate_band(table, LEVEL, places)
        held.append(is_held(setting, table, band, places))
        if run % EVERY:
            continue
        other = pointwise(table, places)
        recall, fpr = setting.above(table.thresholds[places], or_at=True)
        inside = (other.recall_low <= recall) & (recall <= other.recall_high)
        single.append((inside & (other.fpr_low <= fpr) & (fpr <= other.fpr_high))[1:-1].all())
        widths.append([np.mean(each.recall_high - each.recall_low) for each in (band, other)])
    rates, roc, metric = np.mean(held, axis=0).tolist()
    wide, narrow = np.mean(widths, axis=0)
    return {
        "both rates": rates,
        "ROC curve": roc,
        f"{METRIC.name} over the threshold": metric,
        "pointwise intervals": float(np.mean(single)),
        "pointwise, as wide": float(narrow / wide),
    }


def rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The shares in each setting."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for setting in settings(rng):
        yield str(setting), shares(setting, repeats, rng)


if __name__ == "__main__":
    for text, by_curve in rows():
        print(text, {name: round(share, 3) for name, share in by_curve.items()}, flush=True)
