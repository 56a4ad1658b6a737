"""Rank sampler: draws of the scores by the Bayesian bootstrap, and the metrics of ranks on each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import binned, rank_draws
from steelyard.analysis.prevalence.class_shares import positive_shares
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.prevalence.prevalence import scores_at
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


@dataclass
class RankSampler:
    """One set of draws of a table of scores for all metrics of ranks of one call."""

    inference: Inference
    rng: np.random.Generator
    estimands: Sequence[Estimand] = ()
    _drawn: dict[int, tuple[bool, list[tuple[float, Array]]]] = field(default_factory=dict)
    _begun: dict[int, Future[tuple[bool, list[tuple[float, Array]]]]] = field(default_factory=dict)

    def begin(self, asked: Sequence[Estimand]) -> None:
        """Draw in the background what will be asked for, while the values of all that is asked are computed.

        Not with a generator that was given, nor of several tables: others would draw from it in the meantime, and no
        run would be like another.
        """
        is_given = isinstance(self.inference.rng, np.random.Generator)
        tables = list({id(estimand.table): estimand.table for estimand in self.estimands}.values())
        if is_given or len(tables) != 1 or not all(_is_long(estimand.table) for estimand in asked):
            return
        small = self._small(tables[0])  # type: ignore[arg-type]  # of scores
        self._begun[id(tables[0])] = in_background(partial(self._draw, tables[0], small))  # type: ignore[arg-type]  # of scores

    def is_begun(self, estimand: Estimand) -> bool:
        """Whether its draws are made in the background."""
        return id(estimand.table) in self._begun and any(other is estimand for other in self.estimands)

    def values(self, estimand: Estimand, value: float) -> tuple[Array, float | None]:
        """The metric on every draw, moved by what binning the scores changed, and how much that is."""
        table: ScoreTable = estimand.table  # type: ignore[assignment]  # asked of scores alone
        if id(table) not in self._drawn:
            begun = self._begun.get(id(table))
            self._drawn[id(table)] = self._draw(table, self._small(table)) if begun is None else begun.result()
        is_binned, by_estimand = self._drawn[id(table)]
        on_small, values = by_estimand[self._place(estimand)]
        return values + (value - on_small), abs(on_small - value) if is_binned else None

    def _place(self, estimand: Estimand) -> int:
        return next(i for i, other in enumerate(self.estimands) if other is estimand)

    @property
    def _is_usual(self) -> bool:
        return self.inference.method == "auto"  # by name it takes its time

    def _small(self, table: ScoreTable) -> ScoreTable:
        return binned(table, USUAL_ENTRIES) if self._is_usual else binned(table)

    def _draw(self, table: ScoreTable, small: ScoreTable) -> tuple[bool, list[tuple[float, Array]]]:
        """Whether scores were binned; and each metric on the table drawn from and on every draw, some at a time."""
        is_binned = sum(side.size for side in small.classes) < sum(len(side.distinct[0]) for side in table.classes)
        size = max(len(small.positive.scores), len(small.negative.scores), 1)
        draws = self.inference.draws or (USUAL_DRAWS if self._is_usual else RANK_DRAWS)
        steps = math.ceil(draws / max(1, ENTRIES_AT_ONCE // size))
        parts: list[list[Array]] = [[] for _ in self.estimands]
        for step in np.array_split(np.arange(draws), steps):
            drawn = self._at_prevalence(rank_draws(small, len(step), self.rng, self.inference.level), len(step))
            for values, estimand in zip(parts, self.estimands, strict=True):
                values.append(estimand.on_scores(drawn))
        itself = self._at_prevalence(small)
        on_small = [float(estimand.on_scores(itself)[0]) for estimand in self.estimands]
        return is_binned, list(zip(on_small, map(np.concatenate, parts), strict=True))

    def _at_prevalence(self, table: ScoreTable, draws: int | None = None) -> ScoreTable:
        """The table at the deployment prevalence; draws of it each at a draw of that, where it is uncertain."""
        prevalence = self.inference.prevalence
        if prevalence is None:
            return table
        is_drawn = draws is not None and isinstance(prevalence, Prevalence)
        drawn = prevalence.draws(draws, self.rng) if is_drawn else None  # type: ignore[union-attr, arg-type]  # as asked
        return scores_at(table, positive_shares(table, prevalence, drawn))


def _is_long(table: AnyTable) -> bool:
    """Whether it is a table of both classes' scores, on which each metric takes a while."""
    sizes = [side.size for side in table.classes] if isinstance(table, ScoreTable) else [0]
    return min(sizes) > 0 and sum(sizes) > _LONG
