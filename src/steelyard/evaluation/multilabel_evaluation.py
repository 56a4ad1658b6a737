"""MultilabelEvaluation: all metrics of rows that have several labels each, each label, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from steelyard.analysis.intervals.interval import Interval  # noqa: TC001 - saved fields are read back by their types
from steelyard.analysis.results.result import Result, Rows
from steelyard.analysis.results.result_homes import rendered
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.evaluation import Group, MetricRow, current_versions, interval_columns
from steelyard.exceptions import InputError, UnknownNameError
from steelyard.metrics.call_options import NATIVE, SAMPLES
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.verdict.sentences import Sentence


# ---------------------------------------------------------------- rows of labels
# What each label of label sets is worth, which labels stand in for which, and whole rows.


@dataclass(frozen=True)
class LabelRow:
    """One label: the rows that have it and those predicted to, how rare it is, and its metrics with their intervals.

    `imbalance` is how many times as many rows the commonest label has (IRLbl; Charte and others 2015).
    """

    label: Any
    rows: int
    predicted: int | None
    share: float
    imbalance: float
    metrics: Mapping[str, Interval]

    def row(self) -> dict[str, Any]:
        """The label as a row of a table."""
        numbers = {"rows": self.rows, "predicted": self.predicted, "share": self.share, "imbalance": self.imbalance}
        return {"label": self.label, **numbers, **interval_columns(self.metrics)}

    def __repr__(self) -> str:
        parts = (f"{name} {interval.text()}" for name, interval in self.metrics.items())
        return f"{self.label!r} ({self.rows:,} rows): {', '.join(parts)}"


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


AnyEvaluation: TypeAlias = "Evaluation | MultilabelEvaluation"

HEADINGS = {
    NATIVE: "Of whole rows",
    SAMPLES: "Mean over the rows (samples)",
    "micro": "All labels together (micro)",
    "macro": "Labels with equal weight (macro)",
    "weighted": "Labels by their rows (weighted)",
}


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelEvaluation(Result[MetricRow]):
    """What predictions of label sets are worth: the verdict in words, every metric, each label, and what is confused.

    >>> from steelyard import evaluate
    >>> found = evaluate([["war"], ["war", "trade"], ["trade"]], [["war"], ["war"], ["trade"]])
    >>> print(found.verdict[0])
    These 3 rows have 4 labels. The classifier finds 3, misses 1 and adds no false one; predicting nothing misses all 4.
    >>> MultilabelEvaluation.from_json(found.to_json()) == found
    True
    """

    metrics: Rows[MetricRow]
    per_label: Rows[LabelRow]
    pairs: Rows[LabelPair]
    outcomes: RowOutcomes | None
    rows: int
    level: float
    threshold: float | None = None
    assumed: tuple[str, ...] = ()
    weighted: bool = False
    seed: int | None = 0
    metrics_named: bool = False  # whether the metrics were chosen by name
    groups: Rows[Group] = field(default_factory=Rows)
    muted: tuple[str, ...] = ()  # codes of sentences that the verdict leaves out
    columns: Mapping[str, Any] = field(default_factory=dict)  # of a frame: what each was for
    source: str | None = None  # what the rows came from, such as the name of a file
    versions: Mapping[str, str] = field(default_factory=current_versions)
    also_saved = ("mean_imbalance",)

    def __iter__(self) -> Iterator[MetricRow]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> MetricRow:
        """The row of one metric, by name, alias or written form."""
        rows = {row.name: row for row in self.metrics}
        written = name if name in rows else MetricSpec.of(name).name
        if written not in rows:
            raise InputError(f"{written} was not evaluated here; there are {', '.join(list(rows)[:8])} and others.")
        return rows[written]

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except (InputError, UnknownNameError):
            return False

    def counted_rows(self) -> NoReturn:
        """Refused: no tables are kept by which other questions could read the rows."""
        raise InputError("An evaluation of label sets keeps no tables of its rows; give the rows.")

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels."""
        return tuple(row.label for row in self.per_label)

    @property
    def positive(self) -> None:
        """No one label is the positive one."""

    @property
    def use(self) -> None:
        """No one use leads."""

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
    def method(self) -> str:
        """How the intervals were made."""
        return ", ".join(dict.fromkeys(row.method for row in self.metrics if row.method))

    @names_wrong_arguments
    def to_html(self, source: str | None = None) -> str:
        """The page as the text of one HTML file; `source` is what it calls the data, if not their own."""
        return super().to_html(source or self.source or "predictions")

    @property
    def headings(self) -> dict[str, str]:
        """Under which heading each metric stands: of whole rows, then by how the labels are averaged."""
        return {
            row.name: "Of one label" if row.spec.label is not None else HEADINGS[row.spec.average or NATIVE]
            for row in self.metrics
        }

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, the verdict among them for its readers."""
        return super().to_dict() | {"verdict": [sentence.row() for sentence in self.verdict]}

    def __repr__(self) -> str:
        return rendered("text", self)
