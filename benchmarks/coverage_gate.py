"""How often the default gate fails an unchanged model, and how often it catches the drop whose power it states.

The settings are drawn at random by a seed that changes with the version: 200 to 20,000 rows in each test set,
prevalence 0.01 to 0.5, labels alone and with scores. 199 exchanges of rows a test, which is as exact at 0.05 as more.
The drop is tried in every fourth run.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from steelyard import ScoreTable, __version__, confusion, score_table
from steelyard.analysis.comparison.different_rows import LabelExchange, ScoreExchange, drop_test
from steelyard.metrics.registry import get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard import Confusion

    Tables: TypeAlias = tuple[Confusion, ScoreTable | None]

METRICS = [MetricSpec(metric) for metric in get_metrics(HEADLINE)]
MARGIN = 0.05


class Setting(NamedTuple):
    """A test set: its rows, the share of positives, and the rates of the classifier."""

    rows: int
    prevalence: float
    recall: float
    specificity: float
    with_scores: bool

    @classmethod
    def drawn(cls, rng: np.random.Generator, with_scores: bool) -> Setting:
        """One at random."""
        rows, prevalence = (np.exp(rng.uniform(*np.log(ends))) for ends in ((200, 20_000), (0.01, 0.5)))
        return cls(int(rows), float(prevalence), rng.uniform(0.3, 0.97), rng.uniform(0.6, 0.99), with_scores)

    def test_set(self, rng: np.random.Generator, lower: float = 0.0) -> Tables:
        """The tables of one test set; recall may be lower."""
        y = rng.random(self.rows) < self.prevalence
        y[:2] = True, False
        noise = rng.random(self.rows)
        # A uniform score among the flagged and among the others: each class is flagged at its rate.
        flagged = noise < np.where(y, self.recall - lower, 1 - self.specificity)
        scores = score_table(y, (flagged + rng.random(self.rows)) / 2) if self.with_scores else None
        return confusion(y, flagged), scores


def fails(before: Tables, after: Tables, draws: int = 199) -> bool:
    """Whether the default gate fails."""
    limits = drop_test(*exchanges(before, after), METRICS, margin=None, draws=draws)
    return any(drop.is_shown for drop in limits.drops)


def exchanges(before: Tables, after: Tables) -> tuple[LabelExchange, ScoreExchange | None]:
    """What the gate makes of two test sets."""
    scores = None if before[1] is None or after[1] is None else ScoreExchange(before[1], after[1])
    return LabelExchange.of(before[0], after[0], True), scores


def rates(setting: Setting, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The shares of runs that fail an unchanged model and one whose recall dropped, and the power that is stated."""
    failed, caught, stated = [], [], []
    for run in range(repeats):
        before, after = setting.test_set(rng), setting.test_set(rng)
        failed.append(fails(before, after))
        if run % 4 == 0:
            caught.append(fails(before, setting.test_set(rng, MARGIN)))
        if run % 20 == 0:
            stated.append(drop_test(*exchanges(before, after), METRICS, margin=MARGIN, rng=rng).power)
    return {"unchanged fails": np.mean(failed), "drop caught": np.mean(caught), "stated": np.mean(stated)}


def rows(repeats: int = 300, settings: int = 8) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates in each setting, every second with scores."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for place in range(settings):
        at = Setting.drawn(rng, with_scores=place % 2 == 1)
        text = f"{at.rows:,} rows, prevalence {at.prevalence:.3f}, recall {at.recall:.2f}, specificity {at.specificity:.2f}"
        yield f"{text}{', with scores' * at.with_scores}", rates(at, repeats, rng)


if __name__ == "__main__":
    for text, by_rate in rows():
        print(text, {name: round(float(share), 3) for name, share in by_rate.items()}, flush=True)
