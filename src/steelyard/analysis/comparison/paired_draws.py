"""Paired draws: what draws of two models' tables say of their difference."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from steelyard.analysis.comparison.evidence import FEWEST, DrawnEvidence, StudentEvidence, drawn_ends
from steelyard.analysis.comparison.judged_difference import JudgedDifference
from steelyard.analysis.comparison.paired_samples import ClusteredPair
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.influence_spread import StudentSpread
from steelyard.analysis.intervals.lone_clusters import class_names, label_reason
from steelyard.analysis.results.formatting import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.comparison.paired_difference import Difference, ModelTables
    from steelyard.analysis.comparison.paired_samples import Margins, PairSample
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference

    Kind: TypeAlias = Literal["posterior", "swapped"]

_MOST_WORK, _DRAWS = 20_000_000, 10_000  # cells drawn in all, and draws at most, unless more are asked for


def label_differences(
    a: str, b: str, sample: PairSample, tables: ModelTables, inference: Inference
) -> Iterator[JudgedDifference]:
    """The differences of two models by every metric of labels, tested."""
    draws = PairDraws(sample, inference)
    for spec in tables.specs:
        estimand = tables.estimand(spec, a)
        drawn, swapped = draws.values(estimand, "posterior"), draws.values(estimand, "swapped")
        row = tables.difference(spec, a, b)
        if (reason := _unknown_variation(estimand, sample)) is not None:
            yield not_judged(row, reason, "posterior")
            continue
        p = float(judge(row.difference, drawn, swapped, inference.tails)[2])
        yield JudgedDifference(row, DrawnEvidence(row.difference, drawn), p, "posterior")


def _unknown_variation(estimand: Estimand, sample: PairSample) -> str | None:
    """Why clusters do not judge a difference by the metric: a class that it reads is in one of them alone."""
    if not isinstance(sample, ClusteredPair):
        return None
    place, names = estimand.positive_place, class_names(estimand)
    return label_reason(estimand, (sample if place is None else sample.of_class(place)).tables, names)


@dataclass
class PairDraws:
    """The draws of a pair's rows and of its swaps, of one class against the rest or of all; made once each."""

    sample: PairSample
    inference: Inference
    _drawn: dict[tuple[Kind, int | None], Margins] = field(default_factory=dict)

    def values(self, estimand: Estimand, kind: Kind) -> Array:
        """The metric's differences on the draws of that kind, draws on the last axis."""
        place = estimand.positive_place
        if (kind, place) not in self._drawn:
            sample = self.sample if place is None else self.sample.of_class(place)
            draws = self.inference.draws or int(np.clip(_MOST_WORK // sample.cells, 1_000, _DRAWS))
            draw = sample.posterior if kind == "posterior" else sample.swapped
            self._drawn[kind, place] = draw(draws, self.inference.draws_of(kind, place))
        a, b = (estimand.on_cells(cells) for cells in self._drawn[kind, place])
        return np.asarray(a - b)


# ---------------------------------------------------------------- what they say


def judge(
    difference: Array | float, drawn: Array, swapped: Array, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The ends and the p-value of differences, given the draws of their posterior and of their swaps on a last axis.

    Of two models that are equal the posterior alone rejects up to 7 % at 0.05 where some eight rows disagree.
    """
    return judge_beside(difference, drawn, _swap_p_value(np.asarray(difference), swapped), tails)


def judge_beside(
    difference: Array | float, drawn: Array, p: Array | float, tails: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """The ends and the p-value of differences, given their draws on a last axis; another p-value holds if larger."""
    p = np.where(np.abs(difference) <= ROUNDING, 1.0, np.fmax(_beyond(drawn), p))
    return (*drawn_ends(difference, drawn, tails), np.where(np.isnan(difference), np.nan, p))


def by_draws(row: Difference, drawn: Array, method: str) -> JudgedDifference:
    """A difference judged by its draws: twice their share beyond 0, a normal tail where these are few."""
    evidence = DrawnEvidence(row.difference, drawn)
    tail = np.minimum(normal_tail(row.difference, evidence.error), 2 * FEWEST / len(drawn))
    return JudgedDifference(row, evidence, float(judge_beside(row.difference, drawn, tail, (0.5, 0.5))[2]), method)


def by_influence(row: Difference, spread: StudentSpread, method: str) -> JudgedDifference:
    """A difference judged by Student's t, within the metric's range."""
    low, high = row.spec.metric.range
    evidence = StudentEvidence(row.difference, spread, (low - high, high - low))
    return JudgedDifference(row, evidence, min(2 * spread.share_below(abs(row.difference)), 1.0), method)


def not_judged(row: Difference, reason: str, method: str) -> JudgedDifference:
    """A difference that has neither an interval nor a p-value, and why."""
    evidence = StudentEvidence(row.difference, StudentSpread(nan, 1.0), row.spec.metric.range)
    return JudgedDifference(replace(row, why=row.why or reason), evidence, nan, method)


def _beyond(drawn: Array) -> Array:
    """Twice the share of the draws on the other side of 0; 0 where they are too few to be a share."""
    few = np.minimum((drawn <= 0).sum(-1), (drawn >= 0).sum(-1))
    share = 2 * (few + 1) / ((~np.isnan(drawn)).sum(-1) + 1)
    return np.where(few < FEWEST, 0.0, np.minimum(share, 1.0))


def _swap_p_value(difference: Array, swapped: Array) -> Array:
    """The share of the swaps that differ more, equal ones by half; a normal tail where these are few."""
    far, seen = np.abs(swapped), np.abs(difference)[..., None]
    beyond = (far > seen + ROUNDING).sum(-1) + (np.abs(far - seen) <= ROUNDING).sum(-1) / 2
    defined = np.maximum((~np.isnan(far)).sum(-1), 1)
    tail = normal_tail(difference, np.sqrt(np.nansum(far**2, -1) / defined))
    return np.asarray(np.where(beyond >= FEWEST, beyond / defined, np.minimum(tail, FEWEST / defined)))


def normal_tail(difference: Array | float, spread: Array | float) -> Array:
    """The share of a normal distribution around 0 of that spread beyond the difference, on both sides."""
    spread = np.asarray(spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * normal_below(-np.where(spread > 0, np.abs(difference) / spread, np.inf)))
