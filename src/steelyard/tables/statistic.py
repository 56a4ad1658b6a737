"""Statistic: any of the tables that rows are counted into."""

from __future__ import annotations

from typing import Any, TypeAlias

from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

Statistic: TypeAlias = Counts[Any] | Confusion | ScoreTable
MetricTable: TypeAlias = Statistic | ProbabilityTable  # what a metric is taken of
AnyTable: TypeAlias = MetricTable | MultilabelTable  # rows of one label each, or of several
