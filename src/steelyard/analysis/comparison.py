"""Comparison: the differences of models on the same rows by every metric, with the classical tests beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.formatting import p_text
from steelyard.analysis.mcnemar_test import McNemar
from steelyard.analysis.metric_ranking import Ranking, ranking
from steelyard.analysis.paired_difference import Difference, ModelTables
from steelyard.analysis.result import Result
from steelyard.analysis.rows import Rows, table_text
from steelyard.analysis.score_comparison import DeLong
from steelyard.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_MANY_DEGREES = 1_000  # from which Student's t is the normal distribution to three digits


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result[Difference]):
    """The differences of every pair of models by every metric, and the classical tests beside them."""

    models: tuple[str, ...]
    n: int = field(metadata={"key": "rows"})
    level: float
    rows: Rows[Difference] = field(metadata={"key": "differences"})
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    tables: ModelTables = field(repr=False, compare=False)
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.rows)

    def __repr__(self) -> str:
        head, tests = self.words()
        return "\n".join([head, table_text(self.shown_rows()), *tests, *self.assumed])

    def words(self) -> tuple[str, list[str]]:
        """What stands above the table, and the classical tests below it."""
        head = f"{' against '.join(self.models)} on the same {self.n:,} rows"
        tests = [f"DeLong, {d.a} - {d.b}: {_statistic(d)}, {p_text(d.p_value)}" for d in self.delong]
        return f"{head}: differences with {100 * self.level:g} % intervals", [*map(repr, self.mcnemar), *tests]

    @property
    def headline(self) -> str:
        """Which models on which rows."""
        return self.words()[0]

    @property
    def notes(self) -> list[str]:
        """The classical tests."""
        return self.words()[1]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as they are printed."""
        return [self._shown(row) for row in self.rows]

    def _shown(self, row: Difference) -> dict[str, Any]:
        """A row as it is printed: two models by their names alone."""
        pair = {"a": row.a, "b": row.b} if len(self.models) > 2 else {}
        names = ("value_a", "value_b") if pair else self.models
        rest = ("difference", "low", "high", "p_value", "p_holm", "why")
        values = dict(zip(names, (row.value_a, row.value_b), strict=True))
        return {"metric": row.metric, **pair, **values, **{key: getattr(row, key) for key in rest}}

    def ranking(
        self, a: str | None = None, b: str | None = None, *, prevalences: Sequence[float] | None = None
    ) -> Ranking:
        """The metrics by how much they favour model a over b, here and at other prevalences (Wu and Cannistraci)."""
        if a is None and b is None and len(self.models) == 2:
            a, b = self.models
        for name in (a, b):
            if name not in self.models:
                models, near = ", ".join(map(repr, self.models)), did_you_mean(str(name), self.models)
                raise InputError(f"ranking takes two of the models {models}, not {name!r}.{near}")
        return ranking(str(a), str(b), self.tables, prevalences)


def _statistic(test: DeLong) -> str:
    """The statistic, and the degrees of freedom it is read with where they are few enough to show."""
    degrees = f" with {test.degrees:.3g} degrees of freedom" if test.degrees < _MANY_DEGREES else ""
    return f"{'t' if degrees else 'z'} = {test.z:.3g}{degrees}"
