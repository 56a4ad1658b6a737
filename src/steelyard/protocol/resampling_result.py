"""ResamplingStudy: whether resampling was worth it: a verdict on each sampler, and the numbers behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from steelyard.analysis.calibration.calibration_result import Calibration
from steelyard.analysis.results.formatting import filled, listed
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Rows, table_text
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import UnknownNameError, did_you_mean
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import resampling_sentences
from steelyard.protocol.named_samplers import PLAIN
from steelyard.protocol.resampling_rows import use_name, use_of
from steelyard.protocol.resampling_runs import BEST, DEFAULT, SCORES
from steelyard.protocol.resampling_verdict import SamplerVerdict
from steelyard.protocol.run_difference import RunDifference
from steelyard.protocol.run_summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard.metrics.spec import SpecLike

_Row = TypeVar("_Row", Summary, RunDifference)


@dataclass(frozen=True, eq=False, repr=False)
class ResamplingStudy(Result[SamplerVerdict]):
    """Whether resampling was worth it: each sampler against the plain model with a moved threshold, on the same folds.

    The rows are the verdicts on the samplers. `values` has every metric of every model over the runs, as "over, best
    threshold", "over, default threshold" or "over, scores"; `differences` those of each sampler from the plain model
    used alike, and of the plain model moved from it as it predicts, with Nadeau and Bengio's interval and test;
    `calibrations` how each model's probabilities agree with outcomes, also with the prior corrected to that of the
    rows; `costs` what the fits took, resampling included. A gain of less than `margin` counts as none.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from steelyard import resampling_study
    >>> study = resampling_study(GaussianNB(), *load_breast_cancer(return_X_y=True), ["over"], split=3)
    >>> study["over"].verdict, round(study.value("plain", "roc_auc").mean, 2)
    ('same', 0.99)
    """

    verdicts: Rows[SamplerVerdict]
    values: Rows[Summary]
    differences: Rows[RunDifference]
    calibrations: dict[str, Calibration]
    costs: Rows[Summary]
    spec: MetricSpec = field(metadata={"key": "metric"})
    margin: float
    level: float
    setting: dict[str, Any]
    remarks: tuple[str, ...] = ()

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[SamplerVerdict]:
        return iter(self.verdicts)

    def __getitem__(self, sampler: str) -> SamplerVerdict:
        for row in self.verdicts:
            if row.sampler == sampler:
                return row
        names = self.samplers
        raise UnknownNameError(
            f"No sampler is called {sampler!r}; there are {listed(names)}.{did_you_mean(sampler, names)}"
        )

    @property
    def samplers(self) -> list[str]:
        """The names of the samplers."""
        return [row.sampler for row in self.verdicts]

    @names_wrong_arguments
    def value(self, model: str, metric: SpecLike | None = None, use: str | None = None) -> Summary:
        """A metric of a model, "plain" or a sampler, over the runs: at the best threshold unless a use is named."""
        spec, rows = self._asked(metric), {(row.model, row.name): row for row in self.values}
        return _found(rows, (use_name(model, use or use_of(spec)), spec.name))

    @names_wrong_arguments
    def difference(self, sampler: str, metric: SpecLike | None = None, use: str | None = None) -> RunDifference:
        """How much a sampler differs from the plain model used alike; at their best thresholds unless named."""
        spec, rows = self._asked(metric), {(row.a, row.b, row.metric): row for row in self.differences}
        used = use or use_of(spec)
        return _found(rows, (use_name(sampler, used), use_name(PLAIN, used), spec.name))

    @names_wrong_arguments
    def moved(self, use: str = BEST, metric: SpecLike | None = None) -> RunDifference:
        """What moving the threshold of the plain model changes, without any resampling."""
        rows = {(row.a, row.b, row.metric): row for row in self.differences}
        return _found(rows, (use_name(PLAIN, use), use_name(PLAIN, DEFAULT), self._asked(metric).name))

    def _asked(self, metric: SpecLike | None) -> MetricSpec:
        return self.spec if metric is None else MetricSpec.of(metric)

    @property
    def verdict(self) -> list[str]:
        """What was found, in sentences: the answer, each sampler, other metrics, the threshold, the probabilities."""
        return resampling_sentences.study_sentences(self)

    @property
    def notes(self) -> list[str]:
        """The sentences of the verdict but the first, and what is to be known of the runs."""
        return [*self.verdict[1:], *self.remarks]

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.verdict[0]

    def value_rows(self, *, scores: bool) -> list[dict[str, Any]]:
        """The mean of each metric over the runs, by model and use of its labels, or by model of its scores."""
        rows: dict[str, dict[str, Any]] = {}
        for value in self.values:
            model, use = str(value.model).rsplit(", ", 1)
            if (use == SCORES) == scores:
                first = {"model": model} if scores else {"model": model, "at": use}
                rows.setdefault(str(value.model), first)[value.name] = value.mean
        return list(rows.values())

    def calibration_rows(self) -> list[dict[str, Any]]:
        """One row per model: slope, intercept and observed to expected positives with their intervals."""
        return [
            {
                "probabilities": name,
                "slope": part["calibration_slope"].text(),
                "intercept": part["calibration_intercept"].text(),
                "observed to expected": part["observed_to_expected"].text(),
            }
            for name, part in self.calibrations.items()
        ]

    def cost_rows(self) -> list[dict[str, Any]]:
        """One row per model: the median of each cost over the runs."""
        rows: dict[str, dict[str, Any]] = {}
        for cost in self.costs:
            rows.setdefault(str(cost.model), {"model": cost.model})[cost.name.replace("_", " ")] = cost.median
        return list(rows.values())

    def __repr__(self) -> str:
        labels, scores = self.value_rows(scores=False), self.value_rows(scores=True)
        tables = [(self.shown_rows(), 1), (labels, 2), (scores, 1), (self.calibration_rows(), 1), (self.cost_rows(), 1)]
        texts = [table_text(rows, keys=keys) for rows, keys in tables if rows]
        head = [filled(resampling_sentences.study_head(self)), filled(self.headline)]
        return "\n".join([*head, "", "\n\n".join(texts), "", *map(filled, self.notes)])


def _found(rows: Mapping[Any, _Row], key: tuple[str, ...]) -> _Row:
    if key not in rows:
        every = [", ".join(names) for names in rows]
        raise UnknownNameError(f"The study has no {', '.join(key)}.{did_you_mean(', '.join(key), every)}")
    return rows[key]
