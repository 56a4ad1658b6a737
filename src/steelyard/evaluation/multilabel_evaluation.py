"""MultilabelEvaluation: all metrics of rows that have several labels each, each label, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self

from steelyard.analysis.results.result import Result, Rows
from steelyard.analysis.results.result_json import envelope_schema, fields_schema, from_fields
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.evaluation.verdict.sentences import Sentence


# ---------------------------------------------------------------- rows of labels
# Which labels stand in for which, and whole rows.


@dataclass(frozen=True)
class LabelPair:
    """A label that is missed in rows in which another is predicted that they have not.

    `expected` is how many rows that would be if misses and false labels fell together by chance alone; `p_value` is
    adjusted for all pairs.
    """

    missed: Any
    predicted: Any
    rows: int
    expected: float
    p_value: float

    def row(self) -> dict[str, Any]:
        """The pair as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True)
class RowOutcomes:
    """The share of the rows with all labels right, with a label missed, and with a false one; the labels of a row.

    `labels_found` are those of a row that are predicted too; `without_labels` is the share of rows that have none.
    """

    all_right: float
    missed: float
    false: float
    labels_true: float
    labels_predicted: float
    labels_found: float
    without_labels: float


# ---------------------------------------------------------------- MultilabelEvaluation


HEADINGS = {
    NATIVE: "Of whole rows",
    SAMPLES: "Mean over the rows (samples)",
    "micro": "All labels together (micro)",
    "macro": "Labels with equal weight (macro)",
    "weighted": "Labels by their rows (weighted)",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MultilabelEvaluation(Evaluation):
    """An evaluation of rows that may have several labels each: every label, what stands in for what, and whole rows.

    >>> from steelyard import Evaluation, evaluate
    >>> found = evaluate([["war"], ["war", "trade"], ["trade"]], [["war"], ["war"], ["trade"]])
    >>> print(found.verdict[0])
    These 3 rows have 4 labels. The classifier finds 3, misses 1 and adds no false one; predicting nothing misses all 4.
    >>> isinstance(found, Evaluation), Evaluation.from_json(found.to_json()) == found
    (True, True)
    """

    # What others have, and these never.
    confusion: None = field(default=None, init=False)
    scores: None = field(default=None, init=False)
    per_class: Rows[Any] = field(default_factory=Rows, init=False)
    positive: None = field(default=None, init=False)
    beats: None = field(default=None, init=False)
    prevalence: None = field(default=None, init=False)
    behind: Rows[Any] = field(default_factory=Rows, init=False)
    hierarchy: None = field(default=None, init=False)
    risk_coverage: None = field(default=None, init=False)
    use: None = field(default=None, init=False)
    capacity: None = field(default=None, init=False)
    unconfirmed: Mapping[str, str] = field(default_factory=dict, init=False)
    # What these have alone.
    pairs: Rows[LabelPair]
    outcomes: RowOutcomes | None
    weighted: bool = False
    also_saved = ("mean_imbalance",)

    def counted_rows(self) -> NoReturn:
        """Refused: no tables are kept by which other questions could read the rows."""
        raise InputError("An evaluation of label sets keeps no tables of its rows; give the rows.")

    _scores = counted_rows

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels."""
        return tuple(row.label for row in self.per_label)

    @property
    def mean_imbalance(self) -> float:
        """The mean over the labels that occur of how many times as many rows the commonest has (mean IR)."""
        ratios = [row.imbalance for row in self.per_label if row.rows]
        return sum(ratios) / len(ratios) if ratios else float("nan")

    @cached_property
    def verdict(self) -> list[Sentence]:
        """The headline and at most three sentences, each made from numbers and with a code of its own."""
        from steelyard.evaluation.verdict.multilabel_verdict import multilabel_verdict

        return multilabel_verdict(self)

    def shown(self) -> list[MetricRow]:
        """The rows to show first: those that were asked for, or all averages and metrics of rows."""
        return list(self.metrics)

    @property
    def headings(self) -> dict[str, str]:
        """Under which heading each metric stands: of whole rows, then by how the labels are averaged."""
        return {
            row.name: "Of one label" if row.spec.label is not None else HEADINGS[row.spec.average or NATIVE]
            for row in self.metrics
        }

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, the verdict among them for its readers."""
        return Result.to_dict(self) | {"verdict": [sentence.row() for sentence in self.verdict]}

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The evaluation of what JSON holds of it."""
        held: Self = from_fields(cls, data)
        return held

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what `to_json` writes."""
        return envelope_schema(MultilabelEvaluation.kind, fields_schema(MultilabelEvaluation))
