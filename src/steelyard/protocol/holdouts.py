"""HoldOuts: hold-outs of several sizes side by side, the part trained on k times the part tested (Kalita)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import filled, listed, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat, table_text
from steelyard.protocol.run_values import KALITA_MEAN_F

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.cross_evaluation import CrossEvaluation


@dataclass(frozen=True, eq=False)
class HoldOutRow(Flat):
    """One metric of one model where k times as many rows are trained on as tested, over the repeats.

    The interval is Nadeau and Bengio's.
    """

    model: str
    k: int
    trained: int
    tested: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    best: float
    worst: float
    undefined: int


@dataclass(frozen=True, eq=False, repr=False)
class HoldOuts(Result[HoldOutRow]):
    """What models do on hold-outs of several sizes."""

    rows: tuple[HoldOutRow, ...]
    repeats: int
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Mapping[int, CrossEvaluation], metrics: Sequence[SpecLike] | None = None) -> HoldOuts:
        """The cross-evaluations by hold-out of each k, read by metrics, or by the AC-score and the mean F."""
        first = next(iter(results.values()))
        chosen = (first.default_spec, KALITA_MEAN_F) if metrics is None else metrics
        rows = [row for metric in chosen for k, result in results.items() for row in _rows(k, result, metric)]
        return cls(tuple(rows), len(next(iter(first.models.values())).runs), first.notes)

    def __iter__(self) -> Iterator[HoldOutRow]:
        return iter(self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known beside the rows."""
        return self.remarks

    @property
    def headline(self) -> str:
        """What the first metric of the first model is at the smallest and the largest k."""
        ends = [row for row in self.rows if (row.model, row.metric) == (self.rows[0].model, self.rows[0].metric)]
        means = [f"{three_digits(row.mean)} at k = {row.k}" for row in (ends[0], *ends[1:][-1:])]
        runs = "once" if self.repeats == 1 else f"{self.repeats} times"
        return f"{ends[0].metric} of {ends[0].model}, trained on k times the rows tested, {runs} each: {listed(means)}."

    def __repr__(self) -> str:
        rows = [{name: cell for name, cell in row.row().items() if name != "undefined" or cell} for row in self.rows]
        return "\n".join([filled(self.headline), "", table_text(rows, keys=2), *map(filled, self.notes)])


def _rows(k: int, result: CrossEvaluation, metric: SpecLike) -> Iterator[HoldOutRow]:
    for name, model in result.models.items():
        row, (trained, tested) = model.summarised(metric), model.runs[0].part.sizes
        spread = (row.mean, row.low, row.high, row.sd, row.best, row.worst)
        yield HoldOutRow(name, k, trained, tested, row.name, *spread, row.undefined or 0)
