"""Order advice: which metrics of the order of scores fit a problem, tried on one order; proofs are of tables alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import three_digits
from steelyard.ingest.array_tables import score_table
from steelyard.metrics.registry import metrics_with_role

if TYPE_CHECKING:
    from steelyard.auditing.problem import Problem
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True)
class OrderMetric:
    """A metric of the order of scores, tried on one order: at two prevalences, and with the classes exchanged."""

    metric: Metric
    even: float
    rare: float
    exchanged: float

    @property
    def keeps_prevalence(self) -> bool:
        """Whether the value is the same at another prevalence."""
        return math.isclose(self.even, self.rare)

    @property
    def keeps_classes(self) -> bool:
        """Whether the value is the same whichever class is called positive."""
        return math.isclose(self.even, self.exchanged)

    def fits(self, problem: Problem, *, prevalence: bool) -> bool:
        """Whether it has what the answers ask for; those about the prevalence only where they count."""
        return self.keeps_classes is problem.alike and (not prevalence or self.keeps_prevalence is not problem.in_use)

    def words(self, problem: Problem) -> str:
        """What was seen of it."""
        even, rare, exchanged = map(three_digits, (self.even, self.rare, self.exchanged))
        there = "at the deployment prevalence" if problem.in_use else "with its prevalence"
        stays = f"stays the same at any prevalence (tried on one order: {even} at 50 % and at 5 %)"
        moves = f"moves with the prevalence ({even} at 50 %, {rare} at 5 % for one order), so read it {there}"
        alike = "and whichever class is called positive"
        leans = f"and changes with which class is called positive ({even} and {exchanged})"
        return f"{stays if self.keeps_prevalence else moves}, {alike if self.keeps_classes else leans}"


def order_metrics() -> list[OrderMetric]:
    """The metrics that are recommended where scores are an order, each with what was seen of it."""
    tables = _example_order()
    return [
        OrderMetric(metric, *(float(metric(table)) for table in tables))
        for metric in metrics_with_role("order of scores")
    ]


@cache
def _example_order() -> tuple[ScoreTable, ScoreTable, ScoreTable]:
    """One order of rows where half of them are positive, where one in twenty is, and with the classes exchanged."""
    positive = np.array([0, 1, 0, 0, 1, 0, 1, 1])
    even = score_table(positive, np.arange(8))
    return even, at_prevalence(even, 0.05), score_table(1 - positive, -np.arange(8))
