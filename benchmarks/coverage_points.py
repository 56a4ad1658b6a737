"""How often the intervals of points of curves hold the true value: few positives, no skill, near-perfect, ties, weights.

Such a rate may be 0 or 1 on the rows, so that no draw of them has another; beside each share stands the mean width. The
points where a curve is best are simulated apart: they are best on these rows in part by luck.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard import __version__, get_metric, interval

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = (
    "recall_at_fpr",
    "recall_at_fpr[at=0.01]",
    "specificity_at_recall",
    "precision_at_recall",
    "recall_at_precision[at=0.3]",
    "lift",
    "precision_at_k[k=10]",
)
SEARCHED = ("ks", "h_measure")
POPULATION = 200_000  # rows of each class that stand for the truth


class Setting(NamedTuple):
    """The rows of each class, how far the classes are apart, whether scores are tied and rows weighted."""

    positives: int
    negatives: int
    apart: float
    tied: bool = False
    weighted: bool = False

    def __str__(self) -> str:
        kind = "tied, " * self.tied + "weighted, " * self.weighted
        return f"{self.positives} positives of {self.positives + self.negatives:,} rows, {kind}{self.apart:g} apart"

    def scores(self, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Normal scores of rows of each class, or such in steps."""
        scores = rng.normal(size=len(y)) + self.apart * y
        return np.round(1.5 * scores) / 1.5 if self.tied else scores

    def weights(self, rng: np.random.Generator) -> np.ndarray | None:
        """Weights of a sample's rows that have nothing to do with their scores; none where rows are alike."""
        return rng.gamma(4, size=self.positives + self.negatives) / 4 if self.weighted else None


SETTINGS = (
    Setting(8, 392, 0.0),
    Setting(15, 485, 0.0),
    Setting(5, 995, 0.0),
    Setting(5, 995, 1.0),
    Setting(5, 545, 0.7, tied=True),
    Setting(8, 392, 4.0),
    Setting(10, 190, 1.0, tied=True),
    Setting(15, 485, 1.5),
    Setting(15, 485, 1.0, weighted=True),
    Setting(20, 20, 1.0),
    Setting(30, 30, 3.0),
    Setting(40, 960, 1.5),
    Setting(100, 1_900, 1.5),
    Setting(300, 2_700, 2.0),
)
SEARCHED_SETTINGS = (
    Setting(10, 190, 0.0),
    Setting(10, 190, 1.0),
    Setting(10, 190, 3.0),
    Setting(15, 485, 1.0, tied=True),
    Setting(30, 270, 0.5),
    Setting(30, 970, 1.5, weighted=True),
    Setting(50, 50, 1.0),
    Setting(100, 900, 0.5),
    Setting(100, 900, 2.0),
)


def shares(
    setting: Setting, repeats: int, rng: np.random.Generator, metrics: tuple[str, ...] = METRICS
) -> dict[str, float]:
    """The share of intervals that hold the truth, and their mean width, by metric."""
    y, everyone = np.repeat([1, 0], setting[:2]), np.repeat([1, 0], POPULATION)
    share = setting.positives / len(y)
    given = {"sample_weight": np.where(everyone == 1, share, 1 - share)}
    scores = setting.scores(everyone, rng)
    truth = np.array([_truth(name, everyone, scores, given["sample_weight"], len(y)) for name in metrics])
    held, widths = [], []
    for _ in range(repeats):
        found = interval(metrics, y, y_score=setting.scores(y, rng), sample_weight=setting.weights(rng), rng=rng)
        ends = np.array([(part.low, part.high) for part in found])
        inside = (ends[:, 0] <= truth + 1e-9) & (truth <= ends[:, 1] + 1e-9)
        held.append(np.where(np.isnan(ends[:, 0]), np.nan, inside))
        widths.append(ends[:, 1] - ends[:, 0])
    with np.errstate(invalid="ignore"):
        means = [np.nansum(column, 0) / np.sum(~np.isnan(column), 0) for column in (held, widths)]
    columns = zip(metrics, *means, strict=True)
    return {
        key: float(value) for name, *both in columns for key, value in zip((name, f"{name}, width"), both, strict=True)
    }


def _truth(name: str, y: np.ndarray, scores: np.ndarray, weights: np.ndarray, rows: int) -> float:
    """The value in the population; of the k highest of so many rows that of the highest k / rows of it."""
    if name.startswith("precision_at_k"):
        order = np.argsort(-scores, kind="stable")
        flagged = 10 / rows * weights.sum()
        above, edge = scores[order], np.searchsorted(np.cumsum(weights[order]), flagged)
        upper, tied = scores > above[edge], scores == above[edge]
        part = (flagged - weights[upper].sum()) / weights[tied].sum()  # of rows that share a score, their part
        return float((weights * y) @ (upper + part * tied) / flagged)
    value = float(get_metric(name)(y, scores, sample_weight=weights))
    return 0.0 if np.isnan(value) else value  # no threshold reaches the precision


def rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage and the width of each metric in each setting."""
    for setting in SETTINGS:
        yield (
            str(setting),
            shares(setting, repeats, np.random.default_rng(zlib.crc32(f"{__version__} {setting}".encode()))),
        )


def searched_rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The same of metrics of the best thresholds."""
    for setting in SEARCHED_SETTINGS:
        rng = np.random.default_rng(zlib.crc32(f"searched {setting}".encode()))
        yield str(setting), shares(setting, repeats, rng, SEARCHED)


if __name__ == "__main__":
    for text, by_metric in rows():
        print(text, {name: round(share, 3) for name, share in by_metric.items()}, flush=True)
