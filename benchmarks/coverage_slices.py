"""How often slices are called worse where none is, how often a planted one is found, and how often intervals miss.

Features are five bins each, independent or each copied from the one before it in six of ten rows. "false" is the share of
test sets with any discovery where no slice is worse; "missed" of those in which a planted slice is no discovery; "FCR" the
mean share of the discoveries' intervals that miss their true value where slices are planted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.slices.score_test import ScoreTest
from steelyard.analysis.slices.slices import SliceQuestion
from steelyard.frames.conditions import Condition, Conjunction
from steelyard.frames.features import CodedFeature, SliceRows
from steelyard.frames.slices import SliceColumns
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

BINS = 5


class Setting(NamedTuple):
    """Test sets of so many rows and features, and how large a planted slice is."""

    metric: str
    rows: int
    features: int
    conditions: int
    dependent: bool = False
    planted: int = 0  # the positives of a planted slice of which recall is .6 and not .8

    @property
    def text(self) -> str:
        """The setting in words."""
        kind = "dependent" if self.dependent else "independent"
        return f"{self.metric} | {self.rows:,} rows, {self.features} {kind} features, {self.conditions} conditions"


def drawn_codes(setting: Setting, rng: np.random.Generator) -> list[np.ndarray]:
    """The bins of every feature."""
    codes = [rng.integers(0, BINS, setting.rows).astype(np.uint8)]
    for _ in range(1, setting.features):
        own = rng.integers(0, BINS, setting.rows).astype(np.uint8)
        copied = rng.random(setting.rows) < 0.6
        codes.append(np.where(copied, codes[-1], own).astype(np.uint8) if setting.dependent else own)
    return codes


def answer(setting: Setting, rng: np.random.Generator, prevalence: float = 0.3):
    """The slices of one test set, and the true recall of every row."""
    codes = drawn_codes(setting, rng)
    positive = rng.random(setting.rows) < prevalence
    recall = np.full(setting.rows, 0.8)
    if setting.planted:
        inside = np.logical_and.reduce([codes[i] == 0 for i in range(setting.conditions)])
        positive[inside] = False
        places = rng.permutation(np.flatnonzero(inside))[: setting.planted]
        positive[places] = True
        recall[inside] = 0.6
    flagged = np.where(positive, rng.random(setting.rows) < recall, rng.random(setting.rows) < 0.1)
    features = tuple(
        CodedFeature(f"x{i}", tuple(Condition(f"x{i}", level=code) for code in range(BINS)), has_rest=False)
        for i in range(setting.features)
    )
    outcome = np.where(positive, np.where(flagged, 0, 1), np.where(flagged, 2, 3)).astype(np.uint8)
    rows = SliceRows(features, tuple(codes), outcome, 4)
    names = tuple(feature.name for feature in features)
    spec = MetricSpec.of(setting.metric)
    question = SliceQuestion(spec, SliceColumns("y", "p", "s", names, least=20), setting.conditions, 0.05, "bh", 10)
    if spec.metric.function is None:
        scores = 1 / (1 + np.exp(-(2.5 * positive - 1.5 + rng.normal(size=setting.rows))))
        test = ScoreTest.of(spec.metric, rows, positive, scores)
        return question.of_rows(test.rows, test), codes, recall, positive
    return question.of_rows(rows, question.count_test()), codes, recall, positive


def missing(found, codes, recall, positive) -> float:
    """The share of the discoveries' intervals that miss the true recall of their slice."""
    if not len(found.found):
        return 0.0
    misses = []
    for each in found.found:
        held = [codes[int(one.feature[1:])] == one.level for one in Conjunction.parse(each.slice)]
        true = recall[np.logical_and.reduce(held) & positive].mean()
        misses.append(not each.low <= true <= each.high)
    return float(np.mean(misses))


NULL = (
    Setting("recall", 3_000, 20, 2),
    Setting("recall", 3_000, 20, 2, dependent=True),
    Setting("recall", 20_000, 20, 3),
    Setting("recall", 20_000, 20, 3, dependent=True),
    Setting("precision", 3_000, 20, 2),
    Setting("precision", 3_000, 20, 2, dependent=True),
    Setting("f1", 3_000, 8, 2),
    Setting("f1", 3_000, 8, 2, dependent=True),
    Setting("roc_auc", 3_000, 8, 2),
    Setting("roc_auc", 3_000, 8, 2, dependent=True),
    Setting("log_loss", 3_000, 8, 2, dependent=True),
)
PLANTED = (
    Setting("recall", 100_000, 20, 3, planted=200),
    Setting("recall", 100_000, 20, 3, dependent=True, planted=200),
    Setting("recall", 6_000, 4, 2, planted=120),
    Setting("recall", 6_000, 4, 2, dependent=True, planted=120),
)


def rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The shares in each setting; of the large ones a fifth of the runs."""
    rng = np.random.default_rng(23)
    for setting in NULL:
        runs = repeats if setting.conditions < 3 else max(repeats // 5, 20)
        false = [answer(setting, rng)[0].discoveries > 0 for _ in range(runs)]
        yield setting.text, {"any false discovery": float(np.mean(false))}


def planted_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """How often planted slices are found, and their intervals hold; of the large settings a fifth of the runs."""
    rng = np.random.default_rng(24)
    for setting in PLANTED:
        runs = repeats if setting.conditions < 3 else max(repeats // 5, 20)
        name = " and ".join(f"x{i} = 0" for i in range(setting.conditions))
        answers = [answer(setting, rng) for _ in range(runs)]
        found = np.mean([any(each.slice == name for each in parts[0].found) for parts in answers])
        tested = int(np.mean([parts[0].tested for parts in answers]))
        text = f"{setting.text}; {setting.planted} positives of recall .6 among {tested:,} slices"
        yield (
            text,
            {"found": float(found), "intervals hold": 1 - float(np.mean([missing(*parts) for parts in answers]))},
        )


if __name__ == "__main__":
    import sys
    import time

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for source in (rows, planted_rows):
        for text, shares in source(count):
            print(f"{time.strftime('%X')} {text}", shares, flush=True)
