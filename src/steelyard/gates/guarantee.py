"""Guarantee: a threshold that was chosen and saved is held to its limits on new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.formatting import interval_text, listed, percent_text
from steelyard.analysis.results.result_json import parsed
from steelyard.analysis.thresholds.best_threshold import REFITTED, BestThreshold
from steelyard.analysis.thresholds.guarantees import interval_limit_test, limit_test
from steelyard.analysis.thresholds.limits import Capacity, read_limits
from steelyard.evaluation.saved.saved_evaluation import read_prevalence
from steelyard.exceptions import InputError, InputTypeError
from steelyard.gates.rules import FAIL, PASS, UNDECIDED, Judgement, power_text
from steelyard.tables.saved import SavedField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.guarantees import LimitTest
    from steelyard.analysis.thresholds.limits import Limit
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.gates.rules import Estimate, GatePart


@dataclass(frozen=True)
class SavedGuarantee:
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
        """The confidence with which the limits are guaranteed; None where they were not."""
        return self.best.limits[0].confidence

    def notes(self, new: Evaluation) -> list[str]:
        """What is different about the new rows; another threshold or positive class is refused."""
        if new.per_label or new.threshold != self.best.threshold:
            raise InputError(
                "A guarantee is about scores at its own threshold; evaluate them with "
                f"threshold={self.best.threshold!r}."
            )
        if str(self.best.positive) != str(new.positive):
            raise InputError(
                f"The threshold {self.name!r} is of the positive class {self.best.positive!r}, these rows are of "
                f"{new.positive!r}; name the same one with pos_label=."
            )
        notes = []
        if self.confidence is None:
            refitted = REFITTED in self.best.assumed
            why = "its classifier was fitted again on all rows" if refitted else "it was chosen without confidence="
            notes.append(f"The limits of {self.name!r} are not guaranteed: {why}.")
        if self.best.trivial:
            notes.append(f"The threshold of {self.name!r} is trivial: it flags everybody, or nobody, without a model.")
        if self.prevalence is not None and new.counts is not None:
            share = percent_text(float(new.counts.positives / new.counts.total))
            at = percent_text(float(np.asarray(self.prevalence)))
            ways = "as they are" if new.is_clustered else f"at {at}"
            notes.append(
                f"{self.name!r} was chosen at a prevalence of {at}; these rows, {share} positive, are judged {ways}."
            )
        if self.cluster is not None and not new.is_clustered:
            notes.append(
                f"{self.name!r} was chosen on clusters of {self.cluster!r}, and these rows are taken as independent; "
                "name their clusters with cluster=."
            )
        if self.weight is not None and not (new.confusion is not None and new.confusion.weighted):
            notes.append(
                f"{self.name!r} was chosen with the weights {self.weight!r}, and these rows count alike; name their "
                "weights with weight=."
            )
        return notes


GuaranteeLike: TypeAlias = "str | PathLike[str] | BestThreshold"


def read_guarantee(given: GuaranteeLike | None) -> SavedGuarantee | None:
    """The threshold that a file holds, or that was just chosen, with its limits."""
    if given is None:
        return None
    if not isinstance(given, (str, PathLike, BestThreshold)):
        raise InputTypeError(
            f"A guarantee is what best_threshold(..., where=) returned, or the path of its JSON, not "
            f"{type(given).__name__}."
        )
    name = "guarantee" if isinstance(given, BestThreshold) else str(given)
    try:
        data = given.to_dict() if isinstance(given, BestThreshold) else parsed(Path(name))
        best = BestThreshold.from_json(data)
        limits = read_limits([kept.limit for kept in best.limits])
    except InputError as error:
        raise InputError(
            f"The guarantee {name!r} is no threshold that `steelyard threshold -o chosen.json` saved: {error}"
        ) from None
    if (confidence := best.limits[0].confidence if best.limits else None) is not None and not 0 < confidence < 1:
        raise InputError(
            f"The guarantee {name!r} was changed: a confidence lies between 0 and 1, not at {confidence:g}."
        )
    if not limits:
        raise InputError(f"The threshold {name!r} was chosen without limits; give some, such as where='recall>=0.9'.")
    prevalence = read_prevalence(SavedField(data.get("prevalence")))
    return SavedGuarantee(name, best, limits, prevalence, data.get("cluster"), data.get("weight"))


def judge_limits(
    guarantee: SavedGuarantee, parts: Sequence[GatePart], margin: float
) -> tuple[list[Judgement], list[str]]:
    """Whether the rows of each part show each limit to be broken, and how often such a gate errs, in sentences.

    Over several parts the error is shared by Bonferroni, over the limits of each by Holm.
    """
    confidence = parts[0].level if guarantee.confidence is None else guarantee.confidence
    judged: list[Judgement] = []
    tests: list[LimitTest] = []
    for part in parts:
        if part.metric is None or part.confusion is None:
            raise InputError("A guarantee is about scores of two classes; name the positive one with pos_label=.")
        shared, prevalence, estimates = 1 - (1 - confidence) / len(parts), guarantee.prevalence, []
        for limit in guarantee.limits:
            estimate = part.metric(limit.metric.name)
            if prevalence is not None and not part.is_clustered:
                there = interval(limit.metric, part.confusion, prevalence=prevalence, level=part.level)
                estimate = replace(estimate, value=there.value, low=there.low, high=there.high)
            estimates.append(estimate)
        if part.is_clustered:
            bounds = [(each.value, each.low, each.high) for each in estimates]
            tested = interval_limit_test(guarantee.limits, bounds, part.level, shared)
        else:
            tested = limit_test(guarantee.limits, part.confusion, shared, margin=margin, prevalence=prevalence)
        judged += [_judged(test, estimate, part.group) for test, estimate in zip(tested, estimates, strict=True)]
        tests = tests or tested
    most = "about" if any(test.power is None for test in tests) else "at most"
    sentence = f"A model that keeps its limits fails this gate in {most} {100 * (1 - confidence):.3g} % of runs"
    caught = [
        f"{power_text(test.power)} ({'alerts' if isinstance(test.limit, Capacity) else test.limit.metric.name})"
        for test in tests
        if test.power is not None and test.limit.metric.is_share
    ]
    if caught:
        sentence += f"; a value {100 * margin:.3g} points beyond its limit is caught in {listed(caught)}"
    return judged, [f"{sentence}."]


def _judged(test: LimitTest, estimate: Estimate, group: str | None) -> Judgement:
    limit, share, value = test.limit, estimate.spec.is_share, estimate.value
    bound = float(limit.bound)
    if test.verdict == UNDECIDED:
        why = estimate.why or "not defined here"
        return Judgement(
            None, UNDECIDED, limit.text, group, f"{limit.text}: {why}", limit=bound, verdict=UNDECIDED, why=why
        )
    guaranteed = f"{limit.sign} {f'{100 * limit.bound:.10g} %' if share else format(limit.bound, '.6g')}"
    text = (
        f"{estimate.spec.name} is {interval_text(value, estimate.low, estimate.high, share=share)}, limit {guaranteed}"
    )
    if isinstance(limit, Capacity):
        seen, low, high = (f"{limit.rows * part:,.0f}" for part in (value, estimate.low, estimate.high))
        text = f"alerts are {seen} of {limit.rows:,} rows ({low} to {high}), limit {limit.sign} {limit.alerts:,}"
    return Judgement(
        not test.is_broken,
        FAIL if test.is_broken else PASS,
        limit.text,
        group,
        f"{text}: {test.verdict}",
        value,
        bound,
        estimate.low,
        estimate.high,
        estimate.level,
        test.p_value,
        test.power,
        verdict=test.verdict,
    )
