"""Promise: a threshold that was chosen and saved is held to its limits on new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.formatting import interval_text, listed, percent_text
from steelyard.analysis.results.result_json import parsed
from steelyard.analysis.thresholds.best_threshold_result import BestThreshold
from steelyard.analysis.thresholds.promise_test import interval_promise_test, promise_test
from steelyard.analysis.thresholds.threshold_limits import Capacity, read_limits
from steelyard.errors import InputError
from steelyard.evaluation.saved.saved_evaluation import read_prevalence
from steelyard.evaluation.saved.saved_field import SavedField
from steelyard.gates.judgement import Judgement

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.promise_test import LimitTest
    from steelyard.analysis.thresholds.threshold_limits import Limit
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow


@dataclass(frozen=True)
class SavedPromise:
    """A threshold that `steelyard threshold` saved, and its limits."""

    name: str
    best: BestThreshold
    limits: tuple[Limit, ...]
    prevalence: PrevalenceLike | None = None  # at which the limits were read
    cluster: str | None = None  # the column that named the clusters
    weight: str | None = None  # that of the weights

    @property
    def metrics(self) -> list[str]:
        """The metrics that the limits are on."""
        return [limit.metric.name for limit in self.limits]

    @property
    def confidence(self) -> float | None:
        """That with which the limits were promised; None where they were not."""
        return self.best.limits[0].confidence

    def notes(self, new: Evaluation) -> list[str]:
        """What is different about the new rows; another positive class is refused."""
        if str(self.best.positive) != str(new.positive):
            raise InputError(
                f"The threshold {self.name!r} is of the positive class {self.best.positive!r}, these rows are of "
                f"{new.positive!r}; name the same one with --positive."
            )
        notes = []
        if self.confidence is None:
            notes.append(f"The limits of {self.name!r} were not promised: it was chosen without --confidence.")
        if self.best.trivial:
            notes.append(f"The threshold of {self.name!r} is trivial: it flags everybody, or nobody, without a model.")
        if self.prevalence is not None and new.counts is not None:
            share = percent_text(float(new.counts.positives / new.counts.total))
            at = percent_text(float(np.asarray(self.prevalence)))
            ways = "as they are" if new.is_clustered else f"at {at}"
            notes.append(
                f"{self.name!r} was chosen at a prevalence of {at}; these rows, {share} positive, are judged {ways}."
            )
        return [*notes, *self._missing(new)]

    def _missing(self, new: Evaluation) -> list[str]:
        """The clusters and weights that the threshold was chosen with, and these rows lack."""
        notes = []
        if self.cluster is not None and not new.is_clustered:
            notes.append(
                f"{self.name!r} was chosen on clusters of {self.cluster!r}, and these rows are taken as independent; "
                "name their clusters with --cluster."
            )
        if self.weight is not None and not (new.confusion is not None and new.confusion.weighted):
            notes.append(
                f"{self.name!r} was chosen with the weights {self.weight!r}, and these rows count alike; name their "
                "weights with --weight."
            )
        return notes


def read_promise(name: str | None) -> SavedPromise | None:
    """The threshold that a file holds, with its limits."""
    if name is None:
        return None
    try:
        data = parsed(Path(name))
        best = BestThreshold.from_json(data)
        limits = read_limits([kept.limit for kept in best.limits])
    except InputError as error:
        raise InputError(
            f"The promise {name!r} is no threshold that `steelyard threshold -o chosen.json` saved: {error}"
        ) from None
    if not limits:
        raise InputError(f'The threshold {name!r} was chosen without limits; give some, such as --where "recall>=0.9".')
    if best.direction < 0:
        raise InputError(f"The threshold {name!r} flags low scores; negate the scores, and choose it again.")
    prevalence = read_prevalence(SavedField(data.get("prevalence")))
    return SavedPromise(name, best, limits, prevalence, data.get("cluster"), data.get("weight"))


def judge_limits(promise: SavedPromise, new: Evaluation, margin: float) -> tuple[list[Judgement], str]:
    """Whether the new rows show each limit to be broken, and how often such a gate errs, in a sentence."""
    if new.confusion is None:
        raise InputError("A promise is about scores of two classes; name the positive one with --positive.")
    confidence = new.level if promise.confidence is None else promise.confidence
    rows = [_row_at(limit, promise.prevalence, new) for limit in promise.limits]
    if new.is_clustered:
        tests = interval_promise_test(
            promise.limits, [(row.value, row.low, row.high) for row in rows], new.level, confidence
        )
    else:
        tests = promise_test(promise.limits, new.confusion, confidence, margin=margin, prevalence=promise.prevalence)
    return [_judged(test, row) for test, row in zip(tests, rows, strict=True)], _errors_sentence(tests, margin)


def _row_at(limit: Limit, prevalence: PrevalenceLike | None, new: Evaluation) -> MetricRow:
    """The metric of a limit on the new rows, at the prevalence at which it was promised."""
    row = new[limit.metric.name]
    if prevalence is None or new.is_clustered or new.confusion is None:
        return row
    there = interval(limit.metric, new.confusion, prevalence=prevalence, level=new.level)
    return replace(row, value=there.value, low=there.low, high=there.high)


def _judged(test: LimitTest, row: MetricRow) -> Judgement:
    limit, share = test.limit, row.spec.is_share
    facts = {"limit": limit.text, "value": row.value, "low": row.low, "high": row.high}
    facts |= {"p_value": test.p_value, "verdict": test.verdict, "power": test.power}
    if test.verdict == "undefined":
        return Judgement(None, f"undefined  {limit.text}: {row.undefined or 'not defined here'}", facts)
    promised = f"{limit.sign} {f'{100 * limit.bound:.10g} %' if share else format(limit.bound, '.6g')}"
    text = f"{row.name} is {interval_text(row.value, row.low, row.high, share=share)}, limit {promised}"
    if isinstance(limit, Capacity):
        value, low, high = (f"{limit.rows * part:,.0f}" for part in (row.value, row.low, row.high))
        text = f"alerts are {value} of {limit.rows:,} rows ({low} to {high}), limit {limit.sign} {limit.alerts:,}"
    return Judgement(not test.is_broken, f"{'FAIL' if test.is_broken else 'pass'}  {text}: {test.verdict}", facts)


def _errors_sentence(tests: list[LimitTest], margin: float) -> str:
    most = "about" if any(test.power is None for test in tests) else "at most"
    error = f"A model that keeps its limits fails this gate in {most} {100 * tests[0].alpha:.3g} % of runs"
    caught = [
        f"{_percent(test.power)} ({'alerts' if isinstance(test.limit, Capacity) else test.limit.metric.name})"
        for test in tests
        if test.power is not None and test.limit.metric.is_share
    ]
    return (
        f"{error}; a value {100 * margin:.3g} points beyond its limit is caught in {listed(caught)}."
        if caught
        else f"{error}."
    )


def _percent(power: float) -> str:
    return "more than 99 %" if power > 0.99 else "less than 1 %" if power < 0.01 else f"{100 * power:.0f} %"
