"""Unlabelled result: the prevalence that unlabelled scores show, the metrics there, and whether label shift fits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array, Label
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.label_shift import ScoreCells, UnlabelledPrevalence
from steelyard.analysis.results.formatting import (
    filled,
    interval_text,
    p_text,
    percent_interval,
    percent_text,
    value_text,
)
from steelyard.analysis.results.result import Flat, Result, Rows, table_text
from steelyard.analysis.thresholds.bands import confidence_band
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.analysis.thresholds.bands import BandPoint
    from steelyard.metrics.registry import MetricLike


# ---------------------------------------------------------------- unlabelled rows in words and numbers
# The share of each class, and each metric, under label and covariate shift.


LABEL_SHIFT, COVARIATE_SHIFT, IF_IT_HELD = "label shift", "covariate shift", "label shift, if it held"


@dataclass(frozen=True, eq=False)
class ClassShare(Flat):
    """The share of a class: in the reference, and among the unlabelled rows with its interval.

    `likely` is the maximum of the likelihood; `value` is the same unless that is 0 or 1. `covariate` is the share under
    covariate shift.
    """

    label: Label
    reference: float
    value: float
    low: float
    high: float
    likely: float
    covariate: float = math.nan
    covariate_low: float = math.nan
    covariate_high: float = math.nan

    def text(self) -> str:
        """The share with its interval, in percent."""
        return percent_interval(self.value, self.low, self.high)

    def covariate_text(self) -> str:
        """The share under covariate shift with its interval, in percent."""
        return percent_interval(self.covariate, self.covariate_low, self.covariate_high)

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        both = {LABEL_SHIFT: self.text(), COVARIATE_SHIFT: self.covariate_text()}
        return {"class": str(self.label), "reference": percent_text(self.reference), **ordered_estimates(both, refused)}


@dataclass(frozen=True, eq=False)
class CurvePoint(Flat):
    """A threshold with both rates there, the precision in the reference, and that among the unlabelled rows."""

    threshold: float
    false_positive_rate: float
    recall: float
    reference: float
    value: float
    low: float
    high: float


def ordered_estimates(both: dict[str, str], refused: bool) -> dict[str, str]:
    """Both estimates; the covariate one first, and the other as what would be, where label shift is refused."""
    return {COVARIATE_SHIFT: both[COVARIATE_SHIFT], IF_IT_HELD: both[LABEL_SHIFT]} if refused else both


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

    def shown_row(self, refused: bool = False) -> dict[str, Any]:
        """The row as people see it; where label shift is refused what it would give comes last."""
        share = self.spec.is_share
        both = ((self.value, self.low, self.high), (self.covariate, self.covariate_low, self.covariate_high))
        label, covariate = (_estimate_text(*numbers, share=share) for numbers in both)
        return {
            "metric": self.metric,
            "reference": value_text(self.reference, share=share) if math.isfinite(self.reference) else "–",
            **ordered_estimates({LABEL_SHIFT: self.undefined or label, COVARIATE_SHIFT: covariate}, refused),
            "they part": "yes" if self.parts else "",
        }


def _estimate_text(value: float, low: float, high: float, *, share: bool) -> str:
    if not math.isfinite(value):
        return "–"
    return interval_text(value, low, high, share=share) if math.isfinite(low) else value_text(value, share=share)


# ---------------------------------------------------------------- unlabelled result


FIT_LEVEL = 0.05  # of the test of whether label shift explains the scores
_FAR_OUT = 0.01  # share of rows beyond all scores of the reference that is worth a sentence


@dataclass(frozen=True, eq=False, repr=False)
class Unlabelled(Result[UnlabelledMetric]):
    """What a classifier does among unlabelled rows, by their scores and a labelled reference.

    `shares` are the classes' shares there; the rows are the metrics. Where `fits` is false no class shares explain the
    scores: label shift is refused, and its values are what would be if it held. `curve` is the precision-recall curve
    there with its simultaneous band, of at most 100 thresholds; `band` gives that of any metric. `prevalence` goes
    wherever `prevalence=` does, and so does the result itself, which is refused there where it does not fit.
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
    curve: Rows[CurvePoint] = field(default_factory=Rows)
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
    def fits(self) -> bool | None:
        """Whether label shift explains the scores: the test does not reject it at 5 %; None where there is no test."""
        return None if math.isnan(self.p_value) else self.p_value >= FIT_LEVEL

    @cached_property
    def prevalence(self) -> UnlabelledPrevalence:
        """The prevalence with its uncertainty, for `prevalence=` of other functions, whether the scores fit or not."""
        cells = ScoreCells(np.asarray(self.cells, dtype=np.float64), np.asarray(self.decisions, dtype=np.int64))
        return UnlabelledPrevalence.of(cells, np.asarray(self.unlabelled, float), self.labels, generator(None))

    def usable_prevalence(self) -> UnlabelledPrevalence:
        """The same; refused where label shift does not explain the scores."""
        if self.fits is False:
            raise InputError(
                f"Label shift does not explain these scores ({p_text(self.p_value)}), so that their prevalence is not "
                "known; label some rows, or give its .prevalence to use it nevertheless."
            )
        return self.prevalence

    def band(self, metric: MetricLike = "precision", over: str = "recall") -> Rows[BandPoint]:
        """The curve of a metric at this prevalence with its simultaneous band, as `confidence_band` has it."""
        if self.evaluation is None or self.evaluation.scores is None:
            raise InputError(
                "A curve needs the scores of the reference, which a saved result and labels alone do not hold; run "
                "unlabelled again with a table of scores."
            )
        return confidence_band(
            self.evaluation.scores, metric=metric, over=over, level=self.level, prevalence=self.prevalence
        )

    # ---------------------------------------------------------------- in words

    @property
    def verdict(self) -> list[str]:
        """What was found and what to do next, in sentences; first what no test sees, or that label shift is refused."""
        first = [self._share_sentence(), self._fit_sentence()] if self.fits is not False else self._refusal()
        return [*first, *self._parting(), *self._one_prediction(), *self._outside_sentence()]

    def _one_prediction(self) -> list[str]:
        """That the rows are all predicted as one class, where that leaves a metric without an interval."""
        predicted = np.unique(np.asarray(self.decisions)[np.asarray(self.unlabelled) > 0])
        rows = [row for row in self.metrics if row.is_first and math.isnan(row.covariate)]
        if self.threshold is None or len(predicted) != 1 or not rows:
            return []
        return [
            f"All unlabelled rows are predicted as {self.labels[int(predicted[0])]!r}, so that covariate shift shows "
            f"no interval of {', '.join(row.metric for row in rows[:6])}{' and others' * (len(rows) > 6)}."
        ]

    def _share_sentence(self) -> str:
        rows = "the one unlabelled row" if self.rows == 1 else f"the {self.rows:,} unlabelled rows"
        return f"{self._unseen_change()}; if there are none, of {rows} {self._shares_text(covariate=False)}."

    def _unseen_change(self) -> str:
        """What no test of scores can see: the sentence begins with it."""
        if len(self.shares) == 2:
            return (
                "Recall is the reference's by assumption, and no test can see positives that have come to look like "
                "negatives"
            )
        return (
            "The recall of each class is the reference's by assumption, and no test can see rows of one class that "
            "have come to look like another's"
        )

    def _shares_text(self, *, covariate: bool) -> str:
        texts = [(share.label, share.covariate_text() if covariate else share.text()) for share in self.shares]
        if len(texts) == 2:
            here = percent_text(self.shares[0].reference)
            return f"{texts[0][1]} are {texts[0][0]!r}, where the reference has {here}"
        return f"{', '.join(f'{text} are {label!r}' for label, text in texts[:6])}{' and others' * (len(texts) > 6)}"

    def _fit_sentence(self) -> str:
        if math.isnan(self.p_value):
            return (
                "No test of label shift applies: the reference has no more ranges of scores than classes. It is taken "
                "for granted here."
            )
        return f"Label shift explains the scores ({self._test_text()})."

    def _test_text(self) -> str:
        return f"likelihood-ratio test with both samples' noise, {p_text(self.p_value)}"

    def _refusal(self) -> list[str]:
        return [
            f"The prevalence of the {self.rows:,} unlabelled rows is not known: label shift does not explain their "
            f"scores ({self._test_text()}).",
            "The classes themselves have changed, or the rows are others than in the reference. Label some rows.",
            f"Under covariate shift, if each score still means what it meant in the reference, "
            f"{self._shares_text(covariate=True)}.",
            f"Label shift, if it held, would give {self.shares[0].text()}."
            if len(self.shares) == 2
            else "What label shift would give, if it held, stands in the last column.",
        ]

    def _parting(self) -> list[str]:
        names = [row.metric for row in self.metrics if row.parts and row.is_first]
        if not names or self.fits is False:
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
    def lead(self) -> list[str]:
        """The verdict's further sentences."""
        return self.verdict[1:]

    @property
    def notes(self) -> list[str]:
        """What was assumed."""
        return [*self.assumed]

    @property
    def headline(self) -> str:
        """What is taken for granted and the prevalence in one sentence, or that it is not known."""
        return self.verdict[0]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The metrics that are shown first, as people see them."""
        rows = [row.shown_row(refused=self.fits is False) for row in self.metrics if row.is_first]
        if self.fits is not False and any(row["they part"] for row in rows):
            return rows
        return [{name: cell for name, cell in row.items() if name != "they part"} for row in rows]

    def other_tables(self) -> dict[str, Rows[Any]]:
        """The classes' shares and the curve."""
        return {"class shares": self.shares, "precision-recall curve": self.curve}

    def shown_tables(self) -> dict[str, list[dict[str, Any]]]:
        """The classes' shares as people see them, where the headline does not have them."""
        if len(self.shares) == 2 and self.fits is not False:
            return {}
        return {"class shares": [share.shown_row(refused=self.fits is False) for share in self.shares]}

    def __repr__(self) -> str:
        head = f"Unlabelled rows: {self.rows:,}, read by {self.reference_rows:,} labelled ones"
        shares = [table_text(rows) for rows in self.shown_tables().values()]
        sentences = map(filled, (*self.lead, *self.assumed))
        return "\n".join([head, filled(self.headline), *shares, table_text(self.shown_rows()), *sentences])
