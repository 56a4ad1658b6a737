"""Rank sampler: draws of the scores by the Bayesian bootstrap, and the metrics of ranks on each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.binned_scores import MOST_ENTRIES, binned, grouped_at
from steelyard.analysis.intervals.draws import rank_draws
from steelyard.analysis.intervals.point_thresholds import is_at_point, point_thresholds
from steelyard.analysis.prevalence.prevalence import Prevalence, positive_shares, scores_at
from steelyard.statistics.score_table import ScoreTable
from steelyard.statistics.threads import in_background

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.statistics.statistic import AnyTable

RANK_DRAWS, ENTRIES_AT_ONCE = 1_000, 1_000_000
_LONG = 10_000  # scores of a table from which on draws are worth a thread of their own
USUAL_DRAWS, USUAL_ENTRIES = 500, 256  # of the few metrics that are drawn unless another method is asked for
_THRESHOLDS, _USUAL_THRESHOLDS = 512, 40  # of a metric of one threshold, which draws do not move far


class _OnDraws(NamedTuple):
    """A metric on the table that was drawn from, and on every draw."""

    on_small: float
    values: Array


@dataclass
class RankSampler:
    """One set of draws of a table of scores for the metrics of ranks of one call; one threshold has its own draws."""

    inference: Inference
    estimands: Sequence[Estimand] = ()
    _drawn: dict[int, tuple[bool, list[_OnDraws]]] = field(default_factory=dict)
    _begun: dict[int, Future[tuple[bool, list[_OnDraws]]]] = field(default_factory=dict)

    def begin(self, asked: Sequence[Estimand]) -> None:
        """Draw in the background what will be asked for, while the values of all that is asked are computed.

        Not of several tables, each of which would wait for the other.
        """
        tables = list({id(estimand.table): estimand.table for estimand in self._together}.values())
        if len(tables) != 1 or not all(_is_long(estimand.table) for estimand in asked):
            return
        small = self._small(tables[0])  # type: ignore[arg-type]  # of scores
        self._begun[id(tables[0])] = in_background(partial(self._draw_together, tables[0], small))  # type: ignore[arg-type]  # of scores

    def is_begun(self, estimand: Estimand) -> bool:
        """Whether its draws are made in the background."""
        return id(estimand.table) in self._begun and any(other is estimand for other in self._together)

    def values(self, estimand: Estimand, value: float) -> tuple[Array, float | None]:
        """The metric on every draw, moved by what binning the scores changed, and how much that is."""
        table: ScoreTable = estimand.table  # type: ignore[assignment]  # asked of scores alone
        if self._is_of_point(estimand):
            most = _USUAL_THRESHOLDS if self._is_usual else _THRESHOLDS
            small = grouped_at(table, point_thresholds(estimand, table, self.inference.prevalence, most))
            is_binned, drawn = True, self._draw(small, [estimand])[0]
        else:
            is_binned, every = self._of_all(table)
            drawn = every[next(i for i, other in enumerate(self._together) if other is estimand)]
        off = value - drawn.on_small
        return drawn.values + (0.0 if math.isnan(off) else off), abs(off) if is_binned else None

    def _of_all(self, table: ScoreTable) -> tuple[bool, list[_OnDraws]]:
        """Whether scores were binned, and the metrics that share their draws."""
        if id(table) not in self._drawn:
            begun = self._begun.get(id(table))
            made = self._draw_together(table, self._small(table)) if begun is None else begun.result()
            self._drawn[id(table)] = made
        return self._drawn[id(table)]

    @property
    def _is_usual(self) -> bool:
        return self.inference.method == "auto"  # by name it takes its time

    def _is_of_point(self, estimand: Estimand) -> bool:
        """Whether thresholds of its own are drawn; not where an uncertain prevalence moves them, nor of few scores."""
        if not is_at_point(estimand.metric) or isinstance(self.inference.prevalence, Prevalence):
            return False
        sides = estimand.table.classes  # type: ignore[union-attr]  # of scores
        return max(len(side.distinct[0]) for side in sides) > self._most_entries

    @property
    def _together(self) -> list[Estimand]:
        return [estimand for estimand in self.estimands if not self._is_of_point(estimand)]

    @property
    def _most_entries(self) -> int:
        return USUAL_ENTRIES if self._is_usual else MOST_ENTRIES

    def _small(self, table: ScoreTable) -> ScoreTable:
        return binned(table, self._most_entries)

    def _draw_together(self, table: ScoreTable, small: ScoreTable) -> tuple[bool, list[_OnDraws]]:
        is_binned = sum(side.size for side in small.classes) < sum(len(side.distinct[0]) for side in table.classes)
        return is_binned, self._draw(small, self._together)

    def _draw(self, small: ScoreTable, estimands: Sequence[Estimand]) -> list[_OnDraws]:
        """Each metric on the table drawn from and on every draw, some at a time."""
        rng = self.inference.generator
        size = max(len(small.positive.scores), len(small.negative.scores), 1)
        draws = self.inference.draws or (USUAL_DRAWS if self._is_usual else RANK_DRAWS)
        steps = math.ceil(draws / max(1, ENTRIES_AT_ONCE // size))
        parts: list[list[Array]] = [[] for _ in estimands]
        for step in np.array_split(np.arange(draws), steps):
            drawn = self._at_prevalence(rank_draws(small, len(step), rng, self.inference.level), rng, len(step))
            for values, estimand in zip(parts, estimands, strict=True):
                values.append(estimand.on_scores(drawn))
        itself = self._at_prevalence(small)
        on_small = [float(estimand.on_scores(itself)[0]) for estimand in estimands]
        return [_OnDraws(*each) for each in zip(on_small, map(np.concatenate, parts), strict=True)]

    def _at_prevalence(
        self, table: ScoreTable, rng: np.random.Generator | None = None, draws: int | None = None
    ) -> ScoreTable:
        """The table at the deployment prevalence; draws of it each at a draw of that, where it is uncertain."""
        prevalence = self.inference.prevalence
        if prevalence is None:
            return table
        is_drawn = draws is not None and rng is not None and isinstance(prevalence, Prevalence)
        drawn = prevalence.draws(draws, rng) if is_drawn else None  # type: ignore[union-attr, arg-type]  # as asked
        return scores_at(table, positive_shares(table, prevalence, drawn))


def _is_long(table: AnyTable) -> bool:
    """Whether it is a table of both classes' scores, on which each metric takes a while."""
    sizes = [side.size for side in table.classes] if isinstance(table, ScoreTable) else [0]
    return min(sizes) > 0 and sum(sizes) > _LONG
