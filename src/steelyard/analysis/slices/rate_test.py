"""Rate test: whether a rate, hits out of trials, is worse inside a slice than outside, by the hypergeometric tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.rate_intervals import exact, rate_cells
from steelyard.analysis.slices.estimates import Estimates
from steelyard.analysis.slices.findable import findable_rates
from steelyard.analysis.slices.hypergeometric_tails import least_tail, tail_below
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.results.rows import Rows
    from steelyard.analysis.slices.candidates import Candidates
    from steelyard.analysis.slices.slices_result import Findable
    from steelyard.ingest.slice_rows import SliceTable
    from steelyard.metrics.metric import Metric

_COUNTED: dict[tuple[str, ...], str] = {
    ("tp", "fn"): "positives",
    ("fp", "tn"): "negatives",
    ("tp", "fp"): "predicted positives",
    ("fn", "tn"): "predicted negatives",
}
_ERRORS: dict[tuple[str, ...], str] = {("fn",): "misses", ("fp",): "false positives"}


@dataclass(frozen=True)
class RateTest:
    """A rate of cells: the cells that are its hits, those that are its trials, and whether hits are good."""

    hits: tuple[int, ...]
    trials: tuple[int, ...]
    sign: int

    @classmethod
    def of(cls, metric: Metric) -> RateTest | None:
        """The test of a metric; None where it is no rate."""
        cells = rate_cells(metric)
        if cells is None:
            return None
        hits, trials = (tuple(i for i, name in enumerate(CELLS) if name in part) for part in cells)
        return cls(hits, trials, metric.sign)

    @property
    def denominators(self) -> list[tuple[int, ...]]:
        """The sets of outcomes of which a slice has the least rows."""
        return [self.trials]

    @property
    def counted(self) -> str:
        """What the rate is a share of."""
        return _COUNTED.get(tuple(CELLS[i] for i in self.trials), "rows")

    least_of = counted

    @property
    def errors(self) -> str:
        """What makes the rate worse."""
        return _ERRORS.get(tuple(CELLS[i] for i in self.bad), "errors")

    @property
    def bad(self) -> tuple[int, ...]:
        """The outcomes that make the rate worse."""
        return self.hits if self.sign < 0 else tuple(i for i in self.trials if i not in self.hits)

    @property
    def counts_errors(self) -> bool:
        """Whether it is the share of all rows that are right, or wrong, whichever class is the positive one."""
        return len(self.trials) == len(CELLS) and self.bad == (CELLS.index("fn"), CELLS.index("fp"))

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The probability of a rate as bad or worse in so many trials drawn at random from all."""
        good, drawn, all_good, rows = self._numbers(inside.counts, whole.counts)
        return tail_below(good, drawn, all_good, rows)

    merged_p_values = p_values

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> Array | None:
        """What each p-value can be at the least."""
        _, drawn, all_good, rows = self._numbers(inside.counts, whole.counts)
        return least_tail(drawn, all_good, rows)

    def _numbers(self, inside: Array, whole: Array) -> tuple[Array, Array, Array, Array]:
        good = tuple(i for i in self.trials if i not in self.bad)
        return _of(inside, good), _of(inside, self.trials), _of(whole, good), _of(whole, self.trials)

    def value(self, whole: SliceTable) -> float:
        """The rate of all rows."""
        return float(self.values(whole.counts))

    def values(self, counts: Array) -> Array:
        """The rate of each table of outcomes."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(_of(counts, self.hits) / _of(counts, self.trials))

    def estimates(self, kept: Candidates, level: float) -> Estimates:
        """The rates, Clopper and Pearson's intervals, which never cover too rarely, and the rates elsewhere."""
        counts, whole = kept.table.counts, kept.whole.counts
        hits, trials = (_of(counts, cells).astype(np.float64) for cells in (self.hits, self.trials))
        errors = _of(counts, self.bad) / max(int(_of(whole, self.bad)), 1)
        return Estimates(self.values(counts), *exact(hits, trials, level), self.values(whole - counts), trials, errors)

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the rate must be to be found."""
        trials = int(_of(whole.counts, self.trials))
        return findable_rates(trials - int(_of(whole.counts, self.bad)), trials, unit, least, sign=self.sign)


def _of(counts: Array, cells: tuple[int, ...]) -> Array:
    """The rows of some cells."""
    return np.asarray(counts[..., list(cells)].sum(-1))
