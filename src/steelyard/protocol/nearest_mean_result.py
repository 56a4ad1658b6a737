"""The result of a nearest-mean study: both models by every metric at every ratio, with the control and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard._types import Label
from steelyard.analysis.comparison.corrected_t_test import corrected_t_test
from steelyard.analysis.results.formatting import filled, listed, number_of
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.metrics.registry import get_metric, metrics_with_role
from steelyard.protocol.ratio_draws import TRAINED
from steelyard.protocol.ratio_trials import RatioTrials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

NEAREST = "nearest mean"
SEARCHED = " + search"
_FEW = 10  # test rows of a class below which a draw says little
_UNSHOWN = "no difference is shown"
_NO_DIFFERENCE = "the difference is undefined"
_WORDS = {1: ("ahead", "ahead of"), -1: ("behind", "behind")}  # without the other model's name, and before it
_SHARE = 1 / (1 + TRAINED)


@dataclass(frozen=True, eq=False)
class ModelGap(Flat):
    """One metric at one ratio: both models' means over the draws, their difference, and that of the control.

    The control is the difference where both models get the same search for a threshold. Intervals are Nadeau and
    Bengio's, since draws share rows; NaN where the metric is defined in fewer than two draws.
    """

    ratio: str
    metric: str
    nearest_mean: float
    model: float
    difference: float
    low: float
    high: float
    favour: int
    draws: int
    control: float
    control_low: float
    control_high: float


@dataclass(frozen=True, eq=False, repr=False)
class NearestMeanStudy(RatioTrials, Result[ModelGap]):
    """The nearest mean classifier and a model over draws at several ratios, with the control of both.

    `models` holds the two, then both with the same search; `sizes` the test rows of each ratio, positives and
    negatives; `trials` the draws themselves, which JSON does not keep.
    """

    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    level: float = 0.95
    positive: Label = None
    remarks: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ModelGap]:
        return iter(self.rows)

    @property
    def rows(self) -> Rows[ModelGap]:
        """One row for each ratio and metric."""
        return Rows(self.row(ratio, short) for ratio in self.ratios for short in self.metrics)

    def row(self, ratio: str, short: str) -> ModelGap:
        """One metric at one ratio."""
        first, second = (_mean(self.of(ratio, model, short)) for model in self.models[:2])
        gap = self.gap(ratio, short)
        defined = gap[np.isfinite(gap)]
        wins = int((self.sign(short) * defined > 0).sum())
        plain, control = (self._interval(short, g) for g in (gap, self.gap(ratio, short, *self.models[2:])))
        return ModelGap(ratio, short, first, second, *plain, wins, len(defined), *control)

    def _interval(self, short: str, gap: Array) -> tuple[float, float, float]:
        """The mean difference and its interval, which leaves no difference that the metric cannot have."""
        lowest, highest = get_metric(self.metrics[short]).range
        mean, low, high = _interval(gap, self.level)
        return mean, max(low, lowest - highest), min(high, highest - lowest)

    @property
    def main(self) -> str:
        """The metric that the sentences speak of: the AC-score, or the first where that was not asked for."""
        usual = {metric.name for metric in metrics_with_role("default")}
        return next((short for short, name in self.metrics.items() if name in usual), next(iter(self.metrics)))

    @property
    def headline(self) -> str:
        """Where either model is ahead, and what is left of it when both get the same search."""
        return self.sentences[0]

    @property
    def notes(self) -> list[str]:
        """The rest in sentences."""
        return [*self.sentences[1:], *self.remarks]

    @property
    def sentences(self) -> list[str]:
        """The comparison in words, ratio by ratio, then which metrics keep to one model, and what is not sure."""
        each = [self._ratio_sentence(ratio) for ratio in self.ratios]
        return [self._overall(), *each, *self._stability(), *self._doubts()]

    def _overall(self) -> str:
        rows, sign = [self.row(ratio, self.main) for ratio in self.ratios], self.sign(self.main)
        plain = {row.ratio: _shown(row.low, row.high, sign) for row in rows}
        control = {row.ratio: _shown(row.control_low, row.control_high, sign) for row in rows}
        if not any((*plain.values(), *control.values())):
            return (
                f"By {self.main} no difference of {NEAREST} and {self.models[1]} is shown at N:P = "
                f"{listed([*self.ratios])}, nor with the same search for a threshold for both."
            )
        first = f"{NEAREST} is shown to be {_ahead_and_behind(plain, self.models[1])}"
        if not any(plain.values()):
            first = f"no difference of {NEAREST} and {self.models[1]} is shown"
        second = f"it is {_ahead_and_behind(control)}" if any(control.values()) else _UNSHOWN
        return f"By {self.main} {first}; with the same search for a threshold for both {second}."

    def _ratio_sentence(self, ratio: str) -> str:
        row, name, sign = self.row(ratio, self.main), self.models[1], self.sign(self.main)
        ends = [(row.difference, row.low, row.high), (row.control, row.control_low, row.control_high)]
        plain, control = (_side(*each, sign, name) for each in ends)
        first, second = (
            _ends(*each) or self.undefined_reason(ratio, self.main, pair)
            for each, pair in zip(ends, (self.models[:2], self.models[2:]), strict=True)
        )
        joint = "and" if plain == control else "but"
        return (
            f"At N:P = {ratio} by {self.main} {plain} ({first}), {joint} with the same search for a "
            f"threshold for both {control} ({second}){_reading(plain, control)}."
        )

    def _stability(self) -> list[str]:
        if len(self.ratios) < 2:
            return []
        kept, means = self.one_sided(), number_of(self.draws, "draw")
        ratios = "both" if len(self.ratios) == 2 else f"all {len(self.ratios)}"
        return [
            f"By the mean over {means} the same model is ahead at {ratios} ratios "
            f"by {listed(kept) if kept else 'no metric'} ({len(kept)} of {len(self.metrics)} metrics)."
        ]

    def _doubts(self) -> list[str]:
        few = [ratio for ratio, rows in self.sizes.items() if min(rows) < _FEW]
        return [f"At N:P = {listed(few)} fewer than {_FEW} test rows of a class make the values coarse."] if few else []

    def __repr__(self) -> str:
        sentences = [filled(sentence) for sentence in (self.headline, *self.notes)]
        return "\n".join([*sentences, "", table_text([row.row() for row in self.rows], keys=2)])


def _mean(values: Array) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _interval(gap: Array, level: float) -> tuple[float, float, float]:
    """The mean difference over the draws in which it is defined, and its interval."""
    defined = gap[np.isfinite(gap)]
    if len(defined) < 2:
        return _mean(gap), float("nan"), float("nan")
    test = corrected_t_test(defined, test_share=_SHARE, level=level)
    return test.difference, test.low, test.high


def _reading(plain: str, control: str) -> str:
    """What the control says of the plain comparison."""
    if plain == control or _NO_DIFFERENCE in (plain, control):
        return ""
    if plain == _UNSHOWN:
        return ": their own thresholds hide it"
    if control == _UNSHOWN:
        return ": nothing beyond the threshold is shown"
    return ": the first shows the threshold, not the model"


def _shown(low: float, high: float, sign: int) -> int:
    """1 where the interval shows the nearest mean classifier ahead, -1 behind, 0 where it shows neither."""
    return sign * (int(low > 0) - int(high < 0))


def _ahead_and_behind(shown: dict[str, int], model: str = "") -> str:
    """The ratios at which either is shown, and of which model where it is named."""
    parts: list[str] = []
    for side, (alone, before) in _WORDS.items():
        ratios = [ratio for ratio, at in shown.items() if at == side]
        if ratios:
            parts.append(f"{alone if parts or not model else f'{before} {model}'} at N:P = {listed(ratios)}")
    return " and ".join(parts)


def _side(difference: float, low: float, high: float, sign: int, model: str) -> str:
    """Which model is ahead, where the interval shows one."""
    if np.isnan(difference):
        return _NO_DIFFERENCE
    return {1: f"{NEAREST} is ahead", -1: f"{model} is ahead", 0: _UNSHOWN}[_shown(low, high, sign)]


def _ends(difference: float, low: float, high: float) -> str:
    """A difference and its interval, with their signs; empty where it is undefined."""
    first, *ends = (f"{round(value, 3) + 0.0:+.3f}".replace("-", "−") for value in (difference, low, high))
    if np.isnan(difference):
        return ""
    return f"{first}, {'in a single draw, so without an interval' if np.isnan(low) else ' to '.join(ends)}"
