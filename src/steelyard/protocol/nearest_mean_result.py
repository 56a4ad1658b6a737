"""The result of a nearest-mean study: both models by every metric at every ratio, with the control and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard._types import (
    Array,
    Label,
)
from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import listed, number_of
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.usual import DEFAULT
from steelyard.tables.array_tables import confusion
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


# ---------------------------------------------------------------- ratio draws
# Training and test rows drawn from one data set at a ratio of negatives to positives.


TRAINED = 3  # the training part is three times the test part, with the same shares
_ROUNDING = 1e-9
_FEWEST = 2  # test rows of a class: the training part then has one for each of five folds


@dataclass(frozen=True)
class ClassRatio:
    """A ratio of negatives to positives, as it is written: N:P."""

    name: str
    negatives: float
    positives: float

    def test_rows(self, y: Array) -> tuple[int, int]:
        """The positives and negatives of a test part, as many as the rows allow; refused where they are too few."""
        there = {"positives": int((y == 1).sum()), "negatives": int((y == 0).sum())}
        unit = {kind: rows / getattr(self, kind) for kind, rows in there.items()}
        first = min(unit, key=unit.__getitem__)  # the class whose rows are used up first
        test = {kind: math.floor(unit[first] * getattr(self, kind) / (1 + TRAINED) + _ROUNDING) for kind in there}
        scarce = min(test, key=test.__getitem__)
        if test[scarce] < _FEWEST:
            needed = math.ceil(_FEWEST * (1 + TRAINED) * getattr(self, first) / getattr(self, scarce) - _ROUNDING)
            counted = " and ".join(f"{rows:,} {kind}" for kind, rows in there.items())
            raise TooFewRowsError(
                f"At N:P = {self.name} the data's {counted} leave {test[scarce]} of the {scarce} to test on, a quarter "
                f"of those drawn; give {needed:,} {first} or more, or a ratio nearer to that of the data."
            )
        return test["positives"], test["negatives"]


def read_ratios(ratios: Sequence[str]) -> list[ClassRatio]:
    """Ratios as they are written, "3:1" for three negatives to a positive; each once."""
    if isinstance(ratios, str):
        raise InputTypeError(f"ratios are a list of N:P, negatives to positives; write [{ratios!r}].")
    read = [_ratio(str(ratio)) for ratio in ratios]
    if not read:
        raise InputError("ratios is empty; give one N:P or more, such as ['1:1', '9:1'].")
    if len({ratio.name for ratio in read}) < len(read):
        raise InputError("A ratio is given twice; give each once.")
    return read


def _ratio(text: str) -> ClassRatio:
    parts = text.split(":")
    try:
        negatives, positives = map(float, parts)
    except ValueError:
        raise InputError(f"A ratio is N:P, negatives to positives, such as '9:1', not {text!r}.") from None
    if not (0 < negatives < math.inf and 0 < positives < math.inf):
        raise InputError(f"A ratio has two numbers above 0, such as '9:1', not {text!r}.")
    return ClassRatio(":".join(part.strip() for part in parts), negatives, positives)


def draw_rows(y: Array, positives: int, negatives: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows of a training and a test part that share none; the test part has so many of each class."""
    parts = [
        np.split(rng.permutation(np.flatnonzero(y == label))[: (1 + TRAINED) * n], [n])
        for label, n in ((1, positives), (0, negatives))
    ]
    test, train = (np.concatenate(side) for side in zip(*parts, strict=True))
    return train, test


# ---------------------------------------------------------------- ratio trials
# Two models and their controls on draws at several ratios, as Wu and Cannistraci compare them.


NEITHER, NO_SIDE = "neither", "–"


@dataclass(frozen=True, eq=False)
class RatioTrial:
    """One draw at one ratio: the truth of the test rows, where each model puts them, and its threshold.

    `predicted` holds which rows a model flags, where that is known otherwise than by its threshold.
    """

    y: Array
    scores: dict[str, Array]
    thresholds: dict[str, float]
    centroid: str
    predicted: dict[str, Array] = field(default_factory=dict)

    def flagged(self, model: str) -> Array:
        """Which test rows the model calls positive."""
        known = self.predicted.get(model)
        return np.asarray(self.scores[model] >= self.thresholds[model]) if known is None else known

    def counts(self, model: str) -> Counts:
        """The table of one model on the test rows."""
        return confusion(self.y, self.flagged(model).astype(int), labels=[0, 1]).counts()

    def value(self, model: str, metric: str) -> float:
        """One metric of one model, of its labels or of its scores."""
        compute = get_metric(metric)
        return float(compute(self.counts(model)) if compute.function else compute(self.y, self.scores[model]))

    def place(self, model: str) -> float:
        """Where the threshold lies between the lowest and the highest score of the test rows, 0 to 1."""
        return self.normalised(model)[1]

    def passed(self, model: str) -> float:
        """The share of the test rows that the model calls positive."""
        return float(self.flagged(model).mean())

    def normalised(self, model: str) -> tuple[Array, float]:
        """The scores from 0 to 1, and the threshold on that scale; as they are where all are equal."""
        z, threshold = self.scores[model], self.thresholds[model]
        low, high = z.min(), z.max()
        width = high - low or 1.0
        return (z - low) / width, float((threshold - low) / width)


@dataclass(frozen=True, eq=False, repr=False)
class RatioTrials:
    """All draws at all ratios: every metric of every model, and the tables behind them.

    The first two models are those that are compared; `metrics` gives the name of each as it is called here.
    """

    ratios: tuple[str, ...]
    models: tuple[str, ...]
    metrics: dict[str, str]
    values: Array  # draw, ratio, model, metric
    tables: Counts[Array]  # draw, ratio, model
    trials: list[dict[str, RatioTrial]] = field(default_factory=list, metadata={"key": None}, compare=False)

    @property
    def draws(self) -> int:
        """How often rows were drawn at each ratio."""
        return len(self.values)

    def of(self, ratio: str, model: str, short: str) -> Array:
        """One metric of one model over the draws."""
        place = self.ratios.index(ratio), self.models.index(model), list(self.metrics).index(short)
        return np.asarray(self.values[:, *place])

    def gap(self, ratio: str, short: str, a: str | None = None, b: str | None = None) -> Array:
        """Model a less model b by one metric, over the draws; without names the first less the second."""
        return value_change(self.of(ratio, a or self.models[0], short), self.of(ratio, b or self.models[1], short))

    def counts(self, ratio: str, model: str) -> Counts[Array]:
        """The tables of one model over the draws."""
        return self.tables[:, self.ratios.index(ratio), self.models.index(model)]

    def sign(self, short: str) -> int:
        """-1 for a metric of which less is better, otherwise 1."""
        return -1 if get_metric(self.metrics[short]).direction == "lower" else 1

    def mean_lead(self, ratio: str, short: str) -> float:
        """By how much the first model is better by one metric: mean over the draws that define it, NaN without any."""
        gap = self.gap(ratio, short)
        defined = gap[np.isfinite(gap)]
        return self.sign(short) * float(defined.mean()) if len(defined) else float("nan")

    def undefined_reason(self, ratio: str, short: str, pair: Sequence[str] = ()) -> str:
        """Why a metric of either model is undefined in a draw, each reason once; without names of the first two."""
        metric = get_metric(self.metrics[short])
        if not metric.function:
            return "undefined"
        reasons = {model: metric.why(self.counts(ratio, model)) for model in pair or self.models[:2]}
        return "; ".join(f"{model}: {why}" for model, all_of in reasons.items() for why in dict.fromkeys(all_of) if why)

    def mean_places(self) -> dict[str, list[int | None]]:
        """The place of each metric in the ranking by the mean lead of the first model, at each ratio.

        1 is the largest; equal leads share a place, and an undefined one has none.
        """
        leads = np.array([[self.mean_lead(ratio, short) for short in self.metrics] for ratio in self.ratios])
        return {short: [_place(row, i) for row in leads] for i, short in enumerate(self.metrics)}

    def places_moved(self) -> dict[str, int | None]:
        """By how many places each metric moves over the ratios; None where it has no place at one of them."""
        defined = {short: [p for p in places if p is not None] for short, places in self.mean_places().items()}
        every = len(self.ratios)
        return {short: max(p) - min(p) if len(p) == every else None for short, p in defined.items()}

    def mean_sides(self) -> dict[str, list[str]]:
        """Which of the two models each metric favours by its mean, at each ratio: neither in a tie, – if undefined."""
        return {short: [self._side(self.mean_lead(ratio, short)) for ratio in self.ratios] for short in self.metrics}

    def _side(self, lead: float) -> str:
        if np.isnan(lead):
            return NO_SIDE
        lead = float(value_change(np.asarray(lead), np.zeros(())))  # a difference by rounding alone favours neither
        return self.models[0] if lead > 0 else self.models[1] if lead < 0 else NEITHER

    def one_sided(self) -> list[str]:
        """The metrics by which the same model is ahead at every ratio."""
        return [short for short, sides in self.mean_sides().items() if set(sides) in ({m} for m in self.models[:2])]


def _place(leads: Array, i: int) -> int | None:
    """The place of one lead among all, the largest first; leads that differ by rounding alone are equal."""
    return None if np.isnan(leads[i]) else 1 + int((value_change(leads, leads[i]) > 0).sum())


def tabulated(
    trials: list[dict[str, RatioTrial]], models: Sequence[str], metrics: Mapping[str, str]
) -> tuple[Array, Counts[Array]]:
    """The values of every metric, and the tables, of every model in every trial."""
    tables = Counts.stack(Counts.stack(Counts.stack(t.counts(m) for m in models) for t in by.values()) for by in trials)
    columns = []
    for metric in map(get_metric, metrics.values()):
        if metric.function:
            columns.append(np.asarray(metric(tables)))
        else:  # of the scores
            values = [[[t.value(m, metric.name) for m in models] for t in by.values()] for by in trials]
            columns.append(np.array(values))
    return np.stack(columns, -1), tables


# ---------------------------------------------------------------- the result of a nearest-mean study


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
        return next((short for short, name in self.metrics.items() if name == DEFAULT), next(iter(self.metrics)))

    def shown_tables(self) -> list[Table]:
        """The rows, named by their first two columns."""
        return [Table.of(self, keys=2)]

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
        sentences = [self._overall(), *(self._ratio_sentence(ratio) for ratio in self.ratios)]
        if len(self.ratios) > 1:
            one_sided, ratios = self.one_sided(), "both" if len(self.ratios) == 2 else f"all {len(self.ratios)}"
            sentences.append(
                f"By the mean over {number_of(self.draws, 'draw')} the same model is ahead at {ratios} ratios "
                f"by {listed(one_sided) if one_sided else 'no metric'} ({len(one_sided)} of {len(self.metrics)} "
                "metrics)."
            )
        few = [ratio for ratio, rows in self.sizes.items() if min(rows) < _FEW]
        if few:
            sentences.append(f"At N:P = {listed(few)} fewer than {_FEW} test rows of a class make the values coarse.")
        return sentences

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
        differences = [(row.difference, row.low, row.high), (row.control, row.control_low, row.control_high)]
        plain, control = (_side(*each, sign, name) for each in differences)
        first, second = (
            _interval_text(*each) or self.undefined_reason(ratio, self.main, pair)
            for each, pair in zip(differences, (self.models[:2], self.models[2:]), strict=True)
        )
        joint = "and" if plain == control else "but"
        return (
            f"At N:P = {ratio} by {self.main} {plain} ({first}), {joint} with the same search for a "
            f"threshold for both {control} ({second}){_reading(plain, control)}."
        )


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


def _interval_text(difference: float, low: float, high: float) -> str:
    """A difference and its interval, with their signs; empty where it is undefined."""
    if np.isnan(difference):
        return ""
    value, *bounds = (f"{round(number, 3) + 0.0:+.3f}".replace("-", "−") for number in (difference, low, high))
    return f"{value}, {'in a single draw, so without an interval' if np.isnan(low) else ' to '.join(bounds)}"
