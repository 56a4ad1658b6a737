"""LabelPlan: which rows to label, the stratum and the probability of each, and what that gains on random labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard._types import Array
from steelyard.analysis.planning.plan_check import check_whole
from steelyard.analysis.planning.plan_csv import LABEL_COLUMN, plan_columns, plan_text
from steelyard.analysis.results.formatting import percent_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Rows, table_text
from steelyard.arguments import names_wrong_arguments
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.precision import DOUBLE
from steelyard.statistics.saved_field import SavedField

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, Rng
    from steelyard.analysis.intervals.planned_rows import GivenLabels, PlannedRows
    from steelyard.ingest.source import Source


@dataclass(frozen=True)
class Stratum:
    """A range of scores: its rows, those to be labelled, and the share of positives that the scores expect there."""

    lowest_score: float
    rows: int
    labels: int
    expected: float

    def row(self) -> dict[str, Any]:
        """The stratum as a row of a table."""
        return {**vars(self), "probability": self.labels / self.rows}


@dataclass(frozen=True)
class ChosenRow:
    """A row to be labelled: its index from 0, its key where rows have one, and the probability of its choice."""

    index: int
    key: Any
    score: float
    stratum: int
    probability: float
    batch: int
    named: str | None = None  # the column of the keys

    def row(self) -> dict[str, Any]:
        """The row to be labelled as one of a table."""
        key = {} if self.named is None else {self.named: self.key}
        kept = ("score", "stratum", "probability", "batch")
        return {"index": self.index, **key, **{name: getattr(self, name) for name in kept}}


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Result[ChosenRow]):
    """Which rows to label; `evaluate(labels, design=plan)` reads their labels, in the order of the plan.

    `index` are the rows, from 0, and `keys` their keys where the rows of a frame have one. In a stratum every row is as
    likely to be chosen as any other: `probability`. `gain` is how many labels at random one of these is expected to be
    worth for the metric, if the scores are right. `label` are the labels that a top-up was given, None where there is
    none yet.

    >>> from steelyard import label_plan
    >>> plan = label_plan(np.linspace(0.001, 0.6, 3000) ** 2, 150, "recall", threshold=0.1)
    >>> len(plan.index), LabelPlan.from_json(plan.to_json()) == plan
    (150, True)
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    threshold: float | None
    rows: int
    index: Array
    score: Array
    stratum: Array
    batch: Array
    strata: Rows[Stratum]
    gain: float
    key: str | None = None
    keys: tuple[Any, ...] | None = None
    score_column: str | None = None
    precision: str = DOUBLE
    stated: tuple[str, ...] = ()
    label: tuple[Any, ...] | None = None
    label_column: str = LABEL_COLUMN

    def __post_init__(self) -> None:
        check_whole(self)

    @property
    def metric(self) -> str:
        """The written form of the metric that the labels are for."""
        return self.spec.name

    @property
    def probability(self) -> Array:
        """The probability with which each row was chosen."""
        return np.array([stratum.labels / stratum.rows for stratum in self.strata])[self.stratum]

    @property
    def latest(self) -> Array:
        """The index of the rows that the last batch added, those to be labelled next."""
        return np.asarray(self.index[self.batch == self.batch.max()])

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[ChosenRow]:
        columns = (self.index, self.score, self.stratum, self.probability, self.batch)
        keys = self.keys or (None,) * len(self)
        listed = zip(*(np.asarray(column).tolist() for column in columns), keys, strict=True)
        for index, score, stratum, probability, batch, key in listed:
            yield ChosenRow(index, key, score, stratum, probability, batch, self.key)

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The plan of what JSON holds of it, each field checked and all of them against each other."""
        from steelyard.analysis.planning.saved_plan import plan_fields

        fields = plan_fields(SavedField(data))
        strata = Rows(Stratum(*stratum) for stratum in fields.pop("strata"))
        return cls(**fields, strata=strata)

    def labelled(self, given: GivenLabels) -> PlannedRows:
        """The labels of the plan's rows, each in its stratum; those of other rows are left out."""
        from steelyard.analysis.planning.planned_labels import planned_labels

        return planned_labels(self, given)

    @names_wrong_arguments
    def top_up(
        self,
        y_score: Frame | Source | ArrayLike,
        budget: int,
        y_true: ArrayLike,
        *,
        pos_label: Label = None,
        rng: Rng = None,
    ) -> LabelPlan:
        """The plan with more rows to label, by what the labels so far show; those rows stay, and come first.

        `y_score` are the same scores, or the same frame, that the plan was made for; `y_true` the labels so far, in the
        order of the plan. The new plan carries them, so that `evaluate(labels, design=plan)` needs those of
        `plan.latest` alone, and `to_csv` writes them into the sheet. Strata stay as they are, and get what they lack of
        the labels that the shares seen in them ask for; where the labels so far are of one class, rows are drawn as
        before. That the choice depends on earlier labels does not bias the shares of the strata by more than a small
        part of their error, since in each of them rows are drawn at random.
        """
        from steelyard.analysis.planning.plan_top_up import topped_up

        return topped_up(self, y_score, budget, y_true, pos_label, rng)

    def to_csv(self) -> str:
        """The rows to be labelled as CSV, with all that `from_csv` needs: a sheet whose column `label` is to fill."""
        return plan_text(self)

    @classmethod
    @names_wrong_arguments
    def from_csv(cls, saved: str | Path) -> Self:
        """The plan that `to_csv` wrote, of its text or of the path of a file, with the labels in its column `label`."""
        columns = plan_columns(saved)
        strata = Rows(Stratum(*stratum) for stratum in columns.pop("strata"))
        return cls(**columns, strata=strata)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known beside the rows."""
        return self.stated

    def shown_rows(self) -> list[dict[str, Any]]:
        """The strata."""
        return self.strata.to_dicts()

    @property
    def headline(self) -> str:
        """The plan in one sentence."""
        at = "" if self.threshold is None else f" where score >= {self.threshold:.4g}"
        text = f"Label {len(self):,} of {self.rows:,} rows for {self.metric}{at}"
        if len(self) == self.rows:
            return f"Label all {self.rows:,} rows for {self.metric}{at}: the budget is enough for each of them."
        if not np.isfinite(self.gain):
            return f"{text}."
        expected = sum(stratum.rows * stratum.expected for stratum in self.strata) / self.rows
        return (
            f"{text}: as good as {self.gain * len(self):,.0f} labels at random if the scores are right "
            f"({percent_text(expected)} positive), and at worst an error of 1.5 times."
        )

    def __repr__(self) -> str:
        return "\n".join([self.headline, *self.stated, table_text(self.shown_rows())])
