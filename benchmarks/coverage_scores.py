"""How often the intervals of metrics of scores hold the true value with 5 to 100 positives.

Scores are normal, heavy-tailed, tied, near-perfect or of no skill; half of the settings are drawn at random by a seed
that changes with the version. Beside each share stands the mean width. A calibration error has no interval: its share is
how often a calibrated model stays below the limit that is shown beside it.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard import __version__, get_metric, interval, list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = [
    metric.name
    for metric in list_metrics()
    if metric.scores is not None
    and metric.name not in ("expected_calibration_error", "precision_at_k", "top_k_accuracy", "mcc_f1")
] + ["roc_auc[max_fpr=0.1]", "recall_at_precision[at=0.3]"]
POPULATION = 200_000  # rows of each class that stand for the truth


class Setting(NamedTuple):
    """The rows expected, the share of positives, how far apart the classes are, and how the scores are spread."""

    rows: int
    share: float
    apart: float
    kind: str

    def __str__(self) -> str:
        return f"{self.rows * self.share:.0f} positives of {self.rows:,} rows, {self.kind}, {self.apart:.2g} apart"

    def probabilities(self, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Scores as probabilities: those of normal classes are calibrated."""
        noise = rng.standard_t(3, len(y)) if self.kind == "heavy-tailed" else rng.normal(size=len(y))
        score = noise + self.apart * y
        score = np.round(1.5 * score) / 1.5 if self.kind == "tied" else score
        odds = np.log(self.share / (1 - self.share)) + self.apart * (score - self.apart / 2)
        return 1 / (1 + np.exp(-np.clip(odds, -15, 15)))


FIXED = [
    Setting(250, 0.02, 1.0, "normal"),
    Setting(500, 0.02, 0.0, "normal"),
    Setting(300, 0.1, 1.5, "heavy-tailed"),
    Setting(200, 0.05, 1.0, "tied"),
    Setting(500, 0.02, 4.0, "normal"),
    Setting(2_000, 0.05, 1.5, "normal"),
]


def settings(rng: np.random.Generator, how_many: int = 6) -> list[Setting]:
    """The fixed ones and as many drawn: 5 to 100 positives, 0.5 to 50 % of the rows."""
    drawn = []
    for positives in np.resize((5, 10, 30, 100), how_many):
        share = float(np.exp(rng.uniform(np.log(0.005), np.log(0.5))))
        kind = str(rng.choice(["normal", "heavy-tailed", "tied"]))
        drawn.append(
            Setting(int(positives / share), share, float(rng.choice([0.0, rng.uniform(0.3, 4)], p=[0.2, 0.8])), kind)
        )
    return [*FIXED, *drawn]


def shares(setting: Setting, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The share of intervals that hold the truth, and their mean width, by metric; of runs with both classes."""
    everyone = np.repeat([0, 1], POPULATION)
    weights = np.where(everyone == 1, setting.share, 1 - setting.share)
    scores = setting.probabilities(everyone, rng)
    truth = np.array([float(get_metric(name)(everyone, scores, sample_weight=weights)) for name in METRICS])
    truth = np.where(np.isnan(truth), 0.0, truth)  # no threshold reaches the precision: a recall of 0
    held, widths, below = [], [], []
    for _ in range(repeats):
        y = (rng.random(setting.rows) < setting.share).astype(int)
        if min(y.sum(), len(y) - y.sum()) < 2:
            continue
        scores = setting.probabilities(y, rng)
        ends = np.array([(part.low, part.high) for part in interval(METRICS, y, y_score=scores, rng=rng)])
        held.append(np.where(np.isnan(ends[:, 0]), np.nan, (ends[:, 0] <= truth + 1e-9) & (truth <= ends[:, 1] + 1e-9)))
        widths.append(ends[:, 1] - ends[:, 0])
        below.append(_is_below(scores, rng))
    known = ~np.isnan(held).all(axis=0)  # else no run has a value
    names = [name for name, is_known in zip(METRICS, known, strict=True) if is_known]
    means = (np.nanmean(np.array(column)[:, known], axis=0) for column in (held, widths))
    columns = zip(names, *means, strict=True)
    named = {
        key: float(value) for name, share, width in columns for key, value in ((name, share), (f"{name}, width", width))
    }
    return named | {"expected_calibration_error": float(np.nanmean(below))}


def _is_below(scores: np.ndarray, rng: np.random.Generator) -> float:
    """Whether a calibrated model with these scores stays below its limit."""
    y = (rng.random(len(scores)) < scores).astype(int)
    if y.min() == y.max():
        return np.nan
    found = interval("expected_calibration_error", y, y_score=scores)
    return float(found.value <= found.calibrated_high)


def rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage and the width of each metric in each setting."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for setting in settings(rng):
        yield str(setting), shares(setting, repeats, rng)


if __name__ == "__main__":
    for text, by_metric in rows():
        print(text, {name: round(share, 3) for name, share in by_metric.items()}, flush=True)
