"""Slice question: what is asked of the slices of a frame, and the answer: counted, tested, merged, put in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.rows import Rows
from steelyard.analysis.slices.candidates import count_candidates
from steelyard.analysis.slices.class_test import ClassTest
from steelyard.analysis.slices.false_discoveries import PROCEDURES, discoveries
from steelyard.analysis.slices.found_rows import found_rows
from steelyard.analysis.slices.rate_test import RateTest
from steelyard.analysis.slices.score_test import ScoreTest
from steelyard.analysis.slices.slices_result import Slices
from steelyard.exceptions import InputError
from steelyard.ingest import queries
from steelyard.ingest.score_tables import EXACT_ROWS
from steelyard.ingest.slice_queries import RemoteRows
from steelyard.ingest.slice_source import fits_memory, rows_in_memory
from steelyard.metrics.call_options import NATIVE

if TYPE_CHECKING:
    from steelyard.analysis.slices.estimates import SliceTest
    from steelyard.ingest.slice_rows import SliceCounter
    from steelyard.ingest.slice_source import SliceColumns
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import MetricSpec

MOST_CONDITIONS = 3


@dataclass(frozen=True)
class SliceQuestion:
    """The metric, the columns, how many conditions a slice has, and how false discoveries are controlled."""

    spec: MetricSpec
    columns: SliceColumns
    conditions: int
    rate: float
    method: str
    most: int

    def check(self, **refused: str | None) -> None:
        """Refuse what cannot be asked."""
        for name, column in refused.items():
            if column is not None:
                raise InputError(f"{name}= has no exact test of slices, which count independent rows; {_WAYS[name]}.")
        self._check_counts()
        if not 0 < self.rate < 1:
            raise InputError(f"rate is the share of false discoveries, above 0 and below 1, not {self.rate!r}.")
        if self.method not in PROCEDURES:
            raise InputError(f"method is 'bh' or 'by', not {self.method!r}.")
        if not self.columns.features:
            raise InputError("There are no features to make slices of; name columns with features=.")
        if self.spec.average != NATIVE or not self.spec.sign:
            raise InputError(
                f"{self.spec.name} has no better and worse for one class; ask for another, such as recall."
            )

    def _check_counts(self) -> None:
        counts = {"conditions": self.conditions, "bins": self.columns.bins, "least": self.columns.least}
        for name, given in {**counts, "most": self.most}.items():
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
                raise InputError(f"{name} is a whole number of 1 or more, not {given!r}.")
        if self.columns.bins == 1:
            raise InputError(
                "bins is 2 or more, not 1: a single bin holds every row; leave such a feature out instead."
            )
        if self.conditions > MOST_CONDITIONS:
            raise InputError(
                f"conditions is at most {MOST_CONDITIONS}, not {self.conditions}: a slice is stated in up to so many "
                "conditions; give 1, 2 or 3."
            )

    def answer(self, source: Source) -> Slices:
        """The slices, of rows in memory or counted where they live."""
        self.columns.check(source)
        metric = self.spec.metric
        of_scores = metric.function is None
        if of_scores and self.columns.score is None:
            raise InputError(f"{self.spec.name} needs scores; name their column with score=.")
        if not of_scores and self.columns.pred is None and self.columns.score is None:
            raise InputError("Slices need predictions: name a column of labels (pred=) or of scores (score=).")
        rate = RateTest.of(metric)
        columns = replace(self.columns, any_class=rate is not None and rate.counts_errors)
        if not (of_scores or fits_memory(source, columns)):
            return self.of_rows(RemoteRows.of(source, columns), self.count_test())
        self._check_rows(source)
        rows, positive, scores = rows_in_memory(source, columns, thresholded=not of_scores)
        if not of_scores:
            return self.of_rows(rows, self.count_test())
        assert scores is not None  # noqa: S101 - their column is named
        if self.columns.frequency is not None:
            raise InputError("frequency= is for metrics of labels; repeat the rows for metrics of scores.")
        test = ScoreTest.of(metric, rows, positive, scores)
        return self.of_rows(test.rows, test)

    def count_test(self) -> SliceTest:
        """The test of a metric of labels."""
        rate = RateTest.of(self.spec.metric)
        return ClassTest(self.spec.metric) if rate is None else rate

    def _check_rows(self, source: Source) -> None:
        if not fits_memory(source, self.columns) and queries.count_rows(source) > EXACT_ROWS:
            raise InputError(
                f"{self.spec.name} is tested on rows in memory, and there are more than {EXACT_ROWS:,}; give a sample, "
                "or ask for a metric of labels, which is counted where the rows live."
            )

    def of_rows(self, counter: SliceCounter, test: SliceTest) -> Slices:
        """The slices of coded rows, by a test."""
        candidates = count_candidates(counter, self.conditions, self.columns.least, test.denominators)
        p_values = test.p_values(candidates.table, candidates.whole)
        least = test.least_p_values(candidates.table, candidates.whole)
        found = discoveries(p_values, self.rate, self.method, least)
        rows, more = found_rows(counter, test, candidates, p_values, found, self.most)
        return Slices(
            metric=self.spec.name,
            value=test.value(candidates.whole),
            found=rows,
            findable=test.findable(candidates.whole, found.unit, self.columns.least) if found.tested else Rows(),
            discoveries=len(found.places),
            tested=found.tested,
            candidates=len(candidates),
            rows=int(candidates.whole.counts.sum()),
            rate=self.rate,
            method=self.method,
            level=found.level,
            more=more,
            **self._facts(counter, test),
        )

    def _facts(self, counter: SliceCounter, test: SliceTest) -> dict[str, Any]:
        """What was asked, and the words in which it is answered."""
        return {
            "counted": test.counted,
            "errors": test.errors,
            "least_of": test.least_of,
            "is_share": self.spec.is_share,
            "positive": counter.label,
            "conditions": self.conditions,
            "least": self.columns.least,
            "features": self.columns.features,
            "left_out": tuple(each.name for each in counter.features if not each.conditions),
        }


_WAYS = {
    "weight": "leave it out, or give whole numbers of rows as frequency=",
    "cluster": "give one row per cluster, or compare groups by evaluate(by=, cluster=)",
}
