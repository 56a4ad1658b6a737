"""How often the intervals of calibration hold the true values, and its test and band keep their level.

Probabilities are normal or heavy-tailed on the logit scale, and calibrated, over- or underconfident, too high, or bent:
right up to a point and flat beyond. Half of the settings are drawn at random by a seed that changes with the version.
Of calibrated models the shares of test sets stand beside that the test does not reject and whose curve stays in its band.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard import __version__, calibration

if TYPE_CHECKING:
    from collections.abc import Iterator

POPULATION = 400_000  # probabilities that stand for the truth


class Setting(NamedTuple):
    """The positives expected, where and how widely the logits lie, and the true logit: intercept, slope and bend."""

    positives: int
    middle: float
    spread: float
    intercept: float = 0.0
    slope: float = 1.0
    bend: float = np.inf
    heavy: bool = False

    def __str__(self) -> str:
        tails = ", heavy-tailed" * self.heavy
        bent = "" if np.isinf(self.bend) else f", flat above {_expit(self.bend):.2g}"
        logits = f"logits {self.middle:.2g} ± {self.spread:.2g}{tails}"
        return f"{self.positives:,} positives, {logits}, intercept {self.intercept:.2g}, slope {self.slope:.2g}{bent}"

    @property
    def is_calibrated(self) -> bool:
        """Whether the probabilities are right."""
        return not self.intercept and self.slope == 1 and np.isinf(self.bend)

    def logits(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """The logits of the predicted probabilities."""
        noise = rng.standard_t(4, rows) if self.heavy else rng.normal(size=rows)
        return np.clip(self.middle + self.spread * noise, -30, 30)

    def share(self, logits: np.ndarray) -> np.ndarray:
        """The true probability."""
        return _expit(self.intercept + self.slope * np.minimum(logits, self.bend))

    def truth(self, rng: np.random.Generator) -> tuple[dict[str, float], float]:
        """The true value of each metric, and the prevalence."""
        logits = self.logits(POPULATION, rng)
        share, given = self.share(logits), _expit(logits)
        prevalence, gap = share.mean(), share - given
        values = {
            "observed_to_expected": prevalence / given.mean(),
            "integrated_calibration_index": np.abs(gap).mean(),
            "brier": np.mean(share * (1 - share) + gap**2),
            "brier_miscalibration": np.mean(gap**2),
            "brier_discrimination": share.var(),
            "brier_uncertainty": prevalence * (1 - prevalence),
        }
        values["brier_skill_score"] = 1 - values["brier"] / values["brier_uncertainty"]
        if np.isinf(self.bend):
            values["calibration_slope"] = self.slope
        return {name: float(value) for name, value in values.items()}, float(prevalence)


FIXED = [
    Setting(20, -3, 1.2),
    Setting(100, -3, 1.2),
    Setting(2_000, -3, 1.2),
    Setting(20, -2, 1.5, -1.0, 0.6),
    Setting(200, -2, 1.5, -1.0, 0.6),
    Setting(2_000, -2, 1.5, -1.0, 0.6),
    Setting(60, -3, 1.2, 1.2, 1.6),
    Setting(100, -3, 1.2, -1.0),
    Setting(100, -3, 1.2, bend=-2.0),
]


def settings() -> list[Setting]:
    """The fixed settings, and as many drawn at random."""
    rng = np.random.default_rng(zlib.crc32(f"calibration {__version__}".encode()))
    drawn = []
    for _ in FIXED:
        positives, heavy = int(np.exp(rng.uniform(np.log(20), np.log(1_000)))), bool(rng.random() < 0.5)
        right = rng.random() < 0.4
        off = (0.0, 1.0) if right else (rng.normal(0, 0.8), rng.uniform(0.4, 1.8))
        drawn.append(Setting(positives, rng.uniform(-4, -0.5), rng.uniform(0.7, 2), *off, heavy=heavy))
    return [*FIXED, *drawn]


def rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting with the share of test sets in which each interval holds the true value."""
    for i, setting in enumerate(settings()):
        rng = np.random.default_rng(1_000 + i)
        truth, prevalence = setting.truth(rng)
        held = dict.fromkeys(truth, 0) | ({"test": 0, "band": 0} if setting.is_calibrated else {})
        runs = 0
        for _ in range(repeats):
            logits = setting.logits(int(setting.positives / prevalence), rng)
            y = rng.random(len(logits)) < setting.share(logits)
            if 2 <= y.sum() <= len(y) - 2:
                runs += 1
                found = calibration(y, _expit(logits))
                for name, value in truth.items():
                    held[name] += found[name].low <= value <= found[name].high
                if setting.is_calibrated:
                    held["test"] += not found.is_rejected
                    held["band"] += not found.leaves_band
        yield str(setting), {name: count / max(runs, 1) for name, count in held.items()}


def _expit(logits: np.ndarray | float) -> np.ndarray:
    return 1 / (1 + np.exp(-np.asarray(logits)))
