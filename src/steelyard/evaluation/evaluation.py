"""Evaluation: all metrics of one set of predictions with their intervals and no-skill baselines, and the verdict."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from steelyard._names import __version__
from steelyard._types import Label
from steelyard.analysis.chance.chance_tests import ChanceTest
from steelyard.analysis.confusions.hierarchy import LevelErrors
from steelyard.analysis.decisions.decision_rule import RiskCoverage
from steelyard.analysis.prevalence.prevalence import PrevalenceLike
from steelyard.analysis.results.result import Result, Rows
from steelyard.analysis.results.result_homes import rendered
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.class_reading import ClassReading
from steelyard.evaluation.groups import Group, no_interval_sentences
from steelyard.evaluation.metric_row import ClassRow, MetricRow
from steelyard.evaluation.rows import check_has_form
from steelyard.exceptions import InputError, UnknownNameError
from steelyard.metrics.curves import precision_recall_points, roc_points
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.saved_field import SavedField
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from steelyard.analysis.results.result_json import SavedResult
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, SearchOptions
    from steelyard.analysis.thresholds.threshold_sample import AimLike
    from steelyard.evaluation.verdict.sentences import Sentence
    from steelyard.metrics.curves import PrecisionRecallCurve, RocCurve
    from steelyard.statistics.counts import Counts


def current_versions() -> dict[str, str]:
    """The versions that a result depends on."""
    return {"steelyard": __version__, "python": platform.python_version(), "numpy": np.__version__}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ClassReading, Result[MetricRow]):
    """What a set of predictions is worth: the verdict in words, then every metric, and the tables behind them.

    >>> from steelyard import Counts, evaluate
    >>> found = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> row = found["f1"]
    >>> print(f"{row.value:.3f}; no-skill baseline {row.chance:.3f}")
    0.371; no-skill baseline 0.024
    """

    confusion: Confusion | None
    scores: ScoreTable | None
    metrics: Rows[MetricRow]
    per_class: Rows[ClassRow]
    positive: Label
    threshold: float | None
    level: float
    beats: ChanceTest | None
    assumed: tuple[str, ...] = ()
    prevalence: PrevalenceLike | None = None
    rows: int = 0
    seed: int | None = 0
    behind: Rows[MetricRow] = field(default_factory=Rows)
    metrics_named: bool = False  # whether the metrics were chosen by name
    groups: Rows[Group] = field(default_factory=Rows)
    muted: tuple[str, ...] = ()  # codes of sentences that the verdict leaves out
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)  # of a frame: what each was for
    source: str | None = None  # what the rows came from, such as the name of a file
    versions: Mapping[str, str] = field(default_factory=current_versions)
    hierarchy: LevelErrors | None = None  # the errors by level, where the labels have a hierarchy
    risk_coverage: RiskCoverage | None = None  # of probabilities of many classes, the least certain sent to a person
    # Of one that was read from JSON: metrics whose "value" or "interval" no table there could confirm.
    unconfirmed: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __iter__(self) -> Iterator[MetricRow]:
        return iter(self.metrics)

    def __getitem__(self, name: str) -> MetricRow:
        """The row of one metric, by name, alias or written form."""
        rows = {row.name: row for row in [*self.behind, *self.metrics]}
        if name in rows:
            return rows[name]
        spec = MetricSpec.of(name)
        if spec.name in rows:
            return rows[spec.name]
        if self.positive is None and self.labels:
            check_has_form(spec, self.labels)
        raise InputError(f"{spec.name} was not evaluated here; there are {', '.join(list(rows)[:8])} and others.")

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self[str(name)])
        except (InputError, UnknownNameError):
            return False

    @property
    def counts(self) -> Counts | None:
        """The two-class table, where the evaluation is about one positive class."""
        if self.confusion is None or self.positive is None:
            return None
        return self.confusion.counts(self.positive)

    @property
    def is_clustered(self) -> bool:
        """Whether rows came in clusters, or by a plan, which intervals account for and no table that is kept shows."""
        return self.is_planned or any(row.method == "cluster" for row in self.metrics)

    @property
    def is_planned(self) -> bool:
        """Whether the labels are those that a label plan chose."""
        return any(row.method == "plan" for row in self.metrics)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes."""
        return self.confusion.labels if self.confusion is not None else ()

    @cached_property
    def verdict(self) -> list[Sentence]:
        """The headline and at most three sentences, each made from numbers of this table and with a code of its own."""
        from steelyard.evaluation.verdict.verdict import verdict

        return verdict(self)

    @cached_property
    def read_first(self) -> tuple[str, ...]:
        """The metrics to compare models by, as the verdict, the tables, the page and `recommend` name them."""
        from steelyard.auditing.recommend import read_first

        return read_first(self)

    @names_wrong_arguments
    def best_threshold(self, metric: AimLike | None = None, **options: Unpack[SearchOptions]) -> BestThreshold:
        """The threshold at which a metric is best, with its expected value on new rows."""
        from steelyard.analysis.thresholds.best_threshold import best_threshold

        return best_threshold(self._scores(), metric=metric, **options)

    def roc_curve(self) -> RocCurve:
        """Recall against the false positive rate at every threshold."""
        return roc_points(self._scores())

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        """Precision against recall at every threshold."""
        return precision_recall_points(self._scores())

    def _scores(self) -> ScoreTable:
        if self.scores is None:
            raise InputError(
                "Labels alone were evaluated; curves and thresholds need scores: evaluate(y_true, y_score=...)."
            )
        return self.scores

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, by the schema that `json_schema` gives."""
        from steelyard.evaluation.saved.written_evaluation import evaluation_json

        return evaluation_json(self)

    @classmethod
    @names_wrong_arguments
    def from_json(cls, saved: SavedResult) -> Self:
        """The evaluation that `to_json` wrote, of its text or of the path of a file.

        Values and intervals are computed again from its tables, and a text that says otherwise is refused.

        >>> from steelyard import Counts, evaluate
        >>> evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
        >>> Evaluation.from_json(evaluation.to_json()) == evaluation
        True
        """
        return super().from_json(saved)

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The evaluation of what JSON holds of it."""
        from steelyard.evaluation.saved.saved_evaluation import read_evaluation

        return cls(**read_evaluation(SavedField(data)))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what `to_json` writes.

        >>> Evaluation.json_schema()["title"]
        'A Steelyard evaluation, schema 2'
        """
        text = files("steelyard.evaluation.saved").joinpath("schema-2.json").read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text)
        return schema

    @names_wrong_arguments
    def of_groups(self, keys: Container[tuple[Label, ...]]) -> Evaluation:
        """The same with these groups alone, and the sentences about them."""
        groups, former = Rows(group for group in self.groups if group.key in keys), no_interval_sentences(self.groups)
        stated = (sentence for sentence in self.assumed if sentence not in former)
        return replace(self, groups=groups, assumed=(*stated, *no_interval_sentences(groups)))

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return ", ".join(dict.fromkeys(row.method for row in self.metrics if row.method))

    @property
    def first(self) -> tuple[str, ...] | None:
        """The names of the metrics that are shown first; `shown()` gives their rows. Kept for one release."""
        warnings.warn("Evaluation.first is now metrics_named and shown().", DeprecationWarning, stacklevel=2)
        return None if self.metrics_named else tuple(row.name for row in self.shown())

    def shown(self) -> list[MetricRow]:
        """The rows to show first: what to compare models by, then the usual few, or those that were asked for."""
        if self.metrics_named:
            return list(self.metrics)
        by_name, first = {row.name: row for row in self.metrics}, self.read_first
        usual = [row for row in self.metrics if row.is_headline and row.name not in first]
        return [*(by_name[name] for name in first if name in by_name), *usual]

    @property
    def row_counts(self) -> Counts | None:
        """The two-class table in rows, whatever their weights."""
        if self.confusion is None or self.positive is None:
            return None
        return Confusion.of_rows(self.confusion.labels, self.confusion.rows).counts(self.positive)

    @names_wrong_arguments
    def to_html(self, source: str | None = None) -> str:
        """The interactive page as the text of one HTML file; `source` is what it calls the data, if not their own."""
        return super().to_html(source or self.source or "predictions")

    def __repr__(self) -> str:
        return rendered("text", self)
