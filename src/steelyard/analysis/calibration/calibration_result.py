"""Calibration result: the reliability curve with its band, the metrics of calibration, a test, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Label
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.results.formatting import cell_text, filled, p_text, percent_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.exceptions import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

_TESTS = {
    "score": "Cox's score test of slope 1 and intercept 0",
    "wald": "Wald's test of slope 1 and intercept 0, with the sandwich variance",
    "spiegelhalter": "Spiegelhalter's test, as a probability of exactly 0 or 1 has no logit",
}
_WIDE = 0.5  # a slope known to no better than this says little about what a recalibration would do


@dataclass(frozen=True, eq=False)
class CalibrationPoint(Flat):
    """A predicted probability, the share of positives observed there, and where a calibrated model's would lie.

    `weight` is that of the rows from the point before up to this one, or of the bin.
    """

    probability: float
    observed: float
    low: float
    high: float
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result[Interval]):
    """Whether probabilities agree with outcomes: metrics with intervals, the reliability curve, a test, a verdict.

    The rows are the metrics. `curve` is the reliability curve with its consistency band; `test` is what `p_value` is
    by. `groups` are those of `by=`, or the classes of a column of probabilities for each; `classes` is then how many.
    """

    metrics: Rows[Interval]
    curve: Rows[CalibrationPoint]
    test: str
    statistic: float
    p_value: float
    rows: int
    positives: int
    positive: Label
    level: float = 0.95
    strategy: str = "isotonic"
    prevalence: float | None = None
    groups: dict[str, Calibration] = field(default_factory=dict)
    classes: int | None = None

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[Interval]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> Interval:
        for row in self.metrics:
            if row.metric == name:
                return row
        names = [row.metric for row in self.metrics]
        raise UnknownNameError(f"There is no {name!r}; there are {', '.join(names)}.{did_you_mean(name, names)}")

    @property
    def is_rejected(self) -> bool:
        """Whether the test rejects calibration at the level."""
        return bool(self.p_value < 1 - self.level)

    @property
    def leaves_band(self) -> bool:
        """Whether the curve leaves the band of calibrated models."""
        return any(point.observed < point.low or point.observed > point.high for point in self.curve)

    @property
    def verdict(self) -> list[str]:
        """What was found, and what to do next, in sentences."""
        found = [*self._confidence(), *self._in_the_large()]
        if np.isfinite(self.p_value) and not self.is_rejected:
            found = []
        if not found and (self.is_rejected or self.leaves_band):
            known = np.isfinite(self["calibration_slope"].value)
            found = [
                f"The probabilities are miscalibrated{', though not by slope or mean alone' * bool(known)}: see where "
                "the curve leaves its band, and recalibrate by isotonic regression (Recalibrator) on rows kept apart."
            ]
        return [*(found or self._no_sign()), *self._groups()]

    @property
    def _way(self) -> str:
        return f"{'logistic regression' if self.classes is None else 'a temperature'} (Recalibrator)"

    def _confidence(self) -> list[str]:
        slope = self["calibration_slope"]
        if slope.high < 1:
            return [
                f"Overconfident: the calibration slope is {slope.text()}, so high probabilities are too high and low "
                f"ones too low; recalibrate by {self._way} on rows kept apart, or regularise the model more."
            ]
        if slope.low > 1:
            return [
                f"Underconfident: the calibration slope is {slope.text()}, so high probabilities are too low and low "
                f"ones too high; recalibrate by {self._way} on rows kept apart."
            ]
        return []

    @property
    def _sums_to_one(self) -> bool:
        """Whether each row's probabilities of all classes do, so that they are right on average whatever they are."""
        return all(row.metric != "observed_to_expected" for row in self.metrics)

    def _in_the_large(self) -> list[str]:
        if self._sums_to_one:
            return []
        ratio = self["observed_to_expected"]
        ways = "correct_prior mends that of resampled training rows, else a Recalibrator fitted on rows kept apart"
        if ratio.high < 1:
            return [f"Too high on average: {ratio.text()} positives were observed for each one expected; {ways}."]
        if ratio.low > 1:
            return [f"Too low on average: {ratio.text()} positives were observed for each one expected; {ways}."]
        return []

    def _no_sign(self) -> list[str]:
        slope = self["calibration_slope"]
        sentence = "The test shows no miscalibration"
        if not np.isfinite(self.p_value):
            return ["No test of calibration applies; read the intervals and the curve."]
        if np.isnan(slope.low):
            return [f"{sentence}, yet there is no slope to read ({slope.why}); see the curve before relying on it."]
        if slope.high - slope.low > _WIDE or not slope.low <= 1 <= slope.high:
            return [
                f"{sentence}, and few positives ({self.positives:,}) would show only a large one: a slope from "
                f"{slope.low:.2f} to {slope.high:.2f} fits as well; collect more before relying on the probabilities."
            ]
        return [f"{sentence}: the slope is {slope.text()}, and the probabilities can be used as they are."]

    def _groups(self) -> list[str]:
        wrong = [name for name, part in self.groups.items() if part.is_rejected]
        untested = [name for name, part in self.groups.items() if np.isnan(part.p_value)]
        sentences = [f"Miscalibrated in {', '.join(wrong)}: read groups for each."] if wrong else []
        return sentences + ([f"No test of calibration applies in {', '.join(untested)}."] if untested else [])

    @property
    def notes(self) -> list[str]:
        """The verdict, why a metric has no value or interval, the test, the band and each group in sentences."""
        groups = (
            f"{row.pop('group')}: {', '.join(f'{key} {cell_text(key, row[key])}' for key in row)}."
            for row in self.group_rows()
        )
        return [*self._sentences(), *groups]

    def _sentences(self) -> list[str]:
        by = _TESTS.get(self.test)
        test = [] if by is None else [f"{by}: {p_text(self.p_value)}."]
        known = np.isfinite([point.low for point in self.curve]).all()
        where = "leaves" if self.leaves_band else "stays in"
        band = (
            f"the band holds the whole curve of a calibrated model in {100 * self.level:g} % of test sets, and this one"
        )
        apart = "rows in clusters" if self.classes is None else "the probabilities of one row"
        band = f"{band} {where} it" if known else f"no band: {apart} are not independent"
        return [
            *self.verdict,
            *self._missing(),
            *self._together(),
            *test,
            f"Reliability curve, {self.strategy}: {band}.",
        ]

    def _together(self) -> list[str]:
        """What the metrics of all columns together are of."""
        if self.classes is None:
            return []
        right = "; these sum to 1, so that their mean is right" if self._sums_to_one else ""
        return [
            f"Each row counts once for every class, by its probability of that class{right}; pos_label= judges one."
        ]

    def _missing(self) -> list[str]:
        """Why metrics have no value or no interval, those of one reason together."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for row in self.metrics:
            if np.isnan(row.low):
                what, why = "" if np.isnan(row.value) else "interval of ", str(row.why).removeprefix("no interval: ")
                reasons.setdefault((what, why), []).append(row.metric)
        return [f"No {what}{', '.join(names)}: {why}." for (what, why), names in reasons.items()]

    @property
    def headline(self) -> str:
        """How many rows, and the first sentence of the verdict."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics with their intervals."""
        keys = ("metric", "value", "low", "high", "method")
        return [{key: row.row()[key] for key in keys} for row in self.metrics]

    def __repr__(self) -> str:
        at = "" if self.prevalence is None else f", read at a prevalence of {percent_text(self.prevalence)}"
        what = f"{self.positives:,} of them {self.positive!r}{at}"
        what = what if self.classes is None else f"all columns of {self.classes} classes together"
        groups = [table_text(self.group_rows())] if self.groups else []
        head = f"Calibration of {self.rows:,} rows, {what}"
        return "\n".join([head, table_text(self.shown_rows()), *groups, *map(filled, self._sentences())])

    def group_rows(self) -> list[dict[str, Any]]:
        """One row a group: its rows and positives, slope and ratio with their intervals, and the test."""
        return [
            {
                "group": name,
                "rows": part.rows,
                "positives": part.positives,
                "slope": part["calibration_slope"].text(),
                "observed to expected": part["observed_to_expected"].text(),
                "p_value": part.p_value,
            }
            for name, part in self.groups.items()
        ]
