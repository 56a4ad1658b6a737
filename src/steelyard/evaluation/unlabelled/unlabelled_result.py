"""Unlabelled result: the prevalence that unlabelled scores show, the metrics there, and whether label shift fits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array, Label
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.score_cells import ScoreCells
from steelyard.analysis.prevalence.unlabelled_prevalence import UnlabelledPrevalence
from steelyard.analysis.results.formatting import (
    filled,
    interval_text,
    p_text,
    percent_interval,
    percent_text,
    value_text,
)
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, Rows, table_text
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

FIT_LEVEL = 0.05  # of the test of whether label shift explains the scores
_FAR_OUT = 0.01  # share of rows beyond all scores of the reference that is worth a sentence


@dataclass(frozen=True, eq=False)
class ClassShare(Flat):
    """The share of a class: in the reference, and among the unlabelled rows with its interval.

    `likely` is the maximum of the likelihood; `value` is the same unless that is 0 or 1.
    """

    label: Label
    reference: float
    value: float
    low: float
    high: float
    likely: float

    def text(self) -> str:
        """The share with its interval, in percent."""
        return percent_interval(self.value, self.low, self.high)


@dataclass(frozen=True, eq=False)
class UnlabelledMetric(Flat):
    """A metric: in the reference, among the unlabelled rows under label shift, and under covariate shift beside it."""

    spec: MetricSpec = field(metadata={"key": "metric"})
    reference: float
    value: float
    low: float
    high: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan
    undefined: str | None = None
    is_first: bool = True  # whether it is shown without being asked for

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def parts(self) -> bool:
        """Whether the two estimates exclude each other: neither value lies in the interval of the other."""
        ends = (self.low, self.high, self.covariate_low, self.covariate_high)
        if not all(map(math.isfinite, ends)):
            return False
        return not (self.low <= self.covariate <= self.high or self.covariate_low <= self.value <= self.covariate_high)

    def row(self) -> dict[str, Any]:
        """The metric as a row of a table."""
        numbers = {key: value for key, value in vars(self).items() if key not in ("spec", "is_first")}
        return {"metric": self.metric, **numbers, "parts": self.parts}

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        share = self.spec.is_share
        both = ((self.value, self.low, self.high), (self.covariate, self.covariate_low, self.covariate_high))
        label, covariate = (_estimate_text(*numbers, share=share) for numbers in both)
        return {
            "metric": self.metric,
            "reference": value_text(self.reference, share=share) if math.isfinite(self.reference) else "–",
            "label shift": self.undefined or label,
            "covariate shift": covariate,
            "they part": "yes" if self.parts else "",
        }


def _estimate_text(value: float, low: float, high: float, *, share: bool) -> str:
    if not math.isfinite(value):
        return "–"
    return interval_text(value, low, high, share=share) if math.isfinite(low) else value_text(value, share=share)


@dataclass(frozen=True, eq=False, repr=False)
class Unlabelled(Result[UnlabelledMetric]):
    """What a classifier does among unlabelled rows, by their scores and a labelled reference.

    `shares` are the classes' shares there; the rows are the metrics. Where `fits` is false no class shares explain the
    scores, and the values under label shift are not to be relied on. `prevalence` goes wherever `prevalence=` does, and
    so does the result itself, which is refused there where it does not fit.
    """

    shares: Rows[ClassShare]
    metrics: Rows[UnlabelledMetric]
    statistic: float
    p_value: float
    rows: int
    reference_rows: int
    outside: int
    labels: tuple[Any, ...]
    positive: Label
    threshold: float | None
    level: float
    cells: Array
    decisions: Array
    unlabelled: Array
    assumed: tuple[str, ...] = ()
    evaluation: Evaluation | None = field(default=None, compare=False, metadata={"key": None})

    also_saved = ("verdict", "fits")

    def __iter__(self) -> Iterator[UnlabelledMetric]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> UnlabelledMetric:
        """The row of one metric, by name, alias or written form."""
        rows = {row.metric: row for row in self.metrics}
        if name in rows:
            return rows[name]
        try:
            return rows[MetricSpec.of(name).name]
        except KeyError:
            raise UnknownNameError(f"There is no {name!r} here.{did_you_mean(name, list(rows))}") from None

    @property
    def fits(self) -> bool:
        """Whether label shift explains the scores: the test does not reject it at 5 %."""
        return not self.p_value < FIT_LEVEL

    @cached_property
    def prevalence(self) -> UnlabelledPrevalence:
        """The prevalence with its uncertainty, for `prevalence=` of other functions, whether the scores fit or not."""
        cells = ScoreCells(np.asarray(self.cells, dtype=np.float64), np.asarray(self.decisions, dtype=np.int64))
        return UnlabelledPrevalence.of(cells, np.asarray(self.unlabelled, float), self.labels, generator(None))

    def usable_prevalence(self) -> UnlabelledPrevalence:
        """The same; refused where label shift does not explain the scores."""
        if not self.fits:
            raise InputError(
                f"Label shift does not explain these scores ({p_text(self.p_value)}), so that their prevalence is not "
                "known; label some rows, or give its .prevalence to use it nevertheless."
            )
        return self.prevalence

    # ---------------------------------------------------------------- in words

    @property
    def verdict(self) -> list[str]:
        """What was found, and what to do next, in sentences."""
        return [self._share_sentence(), self._fit_sentence(), *self._parting(), *self._outside_sentence()]

    def _share_sentence(self) -> str:
        rows = f"{self.rows:,} unlabelled rows"
        if len(self.shares) == 2:
            first = self.shares[0]
            there, here = first.text(), percent_text(first.reference)
            return f"Of the {rows} {there} are {first.label!r}, where the reference has {here}."
        shares = ", ".join(f"{share.label!r} {share.text()}" for share in self.shares[:6])
        return f"Of the {rows}: {shares}{' and others' * (len(self.shares) > 6)}."

    def _fit_sentence(self) -> str:
        if math.isnan(self.p_value):
            return "No test of label shift applies: the reference has no more ranges of scores than classes."
        test = f"likelihood-ratio test with both samples' noise, {p_text(self.p_value)}"
        if self.fits:
            return f"Label shift explains the scores ({test})."
        return (
            f"Label shift does not explain the scores ({test}): the classes themselves have changed, or the rows are "
            "others than in the reference. Do not rely on these values; label some rows."
        )

    def _parting(self) -> list[str]:
        names = [row.metric for row in self.metrics if row.parts and row.is_first]
        if not names:
            return []
        return [
            f"Covariate shift, which takes each score to mean what it meant in the reference, gives other values of "
            f"{', '.join(names[:6])}{' and others' * (len(names) > 6)}: a few labels decide between the two."
        ]

    def _outside_sentence(self) -> list[str]:
        if self.outside <= _FAR_OUT * self.rows:
            return []
        return [
            f"{self.outside:,} of the unlabelled rows have scores beyond all of the reference; they count as its most "
            "extreme ones."
        ]

    @property
    def notes(self) -> list[str]:
        """The verdict's further sentences, and what was assumed."""
        return [*self.verdict[1:], *self.assumed]

    @property
    def headline(self) -> str:
        """The prevalence in one sentence."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics that are shown first, as people see them."""
        rows = [row.shown_row() for row in self.metrics if row.is_first]
        return (
            rows
            if any(row["they part"] for row in rows)
            else [{k: v for k, v in r.items() if k != "they part"} for r in rows]
        )

    def __repr__(self) -> str:
        head = f"Unlabelled rows: {self.rows:,}, read by {self.reference_rows:,} labelled ones"
        shares = [table_text([share.row() for share in self.shares])] if len(self.shares) > 2 else []
        sentences = map(filled, (*self.verdict, *self.assumed))
        return "\n".join([head, *shares, table_text(self.shown_rows()), *sentences])
