"""Evaluation: all metrics of one set of predictions with their intervals, beside chance, and the verdict in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard import __version__
from steelyard.analysis.rows import Rows, interval_text, json_text
from steelyard.errors import InputError, UnknownNameError, first_ten
from steelyard.evaluation.asking import asked
from steelyard.evaluation.rendering import rendered
from steelyard.metrics.binned_bounds import bounds
from steelyard.metrics.curves import precision_recall_points, roc_points
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard.analysis.best_threshold import BestThreshold
    from steelyard.analysis.chance_tests import ChanceTest
    from steelyard.analysis.sampler import Interval
    from steelyard.evaluation.groups import Group
    from steelyard.metrics.curves import PrecisionRecallCurve, RocCurve
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable

_SCHEMA = 1
FIRST = (
    "recall",
    "specificity",
    "precision",
    "f1",
    "balanced_accuracy",
    "ac_score",
    "mcc",
    "accuracy",
    "roc_auc",
    "average_precision",
)
AVERAGED = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Row:
    """One metric: its value, its interval, what guessing scores, and where it is undefined the reason."""

    name: str
    value: float
    low: float
    high: float
    chance: float
    undefined: str | None = None
    undefined_share: float = 0.0
    method: str = ""

    def row(self) -> dict[str, Any]:
        """The metric as strict JSON values: null where it is undefined."""
        numbers = {key: _finite(getattr(self, key)) for key in ("value", "low", "high", "chance")}
        return {"name": self.name, **numbers, "undefined": self.undefined}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a set of predictions is worth: the verdict in words, then every metric, and the tables behind them.

    >>> from steelyard import Counts, evaluate
    >>> found = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> row = found["f1"]
    >>> print(f"{row.value:.3f}; guessing {row.chance:.3f}")
    0.371; guessing 0.024
    """

    confusion: Confusion | None
    scores: ScoreTable | None
    metrics: Rows[Row]
    per_class: Rows[Any]
    positive: Any
    threshold: float | None
    level: float
    beats: ChanceTest | None
    assumed: tuple[str, ...] = ()
    prevalence: Any = None
    rows: int = 0
    seed: int | None = 0
    behind: Rows[Row] = field(default_factory=Rows)
    first: tuple[str, ...] | None = FIRST
    groups: Rows[Group] = field(default_factory=Rows)

    def __getitem__(self, name: str) -> Row:
        """The row of one metric, by name or alias."""
        known = {row.name: row for row in [*self.behind, *self.metrics]}
        if name in known:
            return known[name]
        found = asked(name).name
        if found not in known:
            if self.positive is None and asked(name).metric.classes is None and self.labels and "average=" not in found:
                told = f"{found} is of one class, and which is the positive one is not clear from the labels"
                raise InputError(f"{told} {first_ten(self.labels)}; name it with pos_label=.")
            raise InputError(f"{found} was not evaluated here; there are {', '.join(list(known)[:8])} and others.")
        return known[found]

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
    def labels(self) -> tuple[Any, ...]:
        """The classes."""
        return self.confusion.labels if self.confusion is not None else ()

    @cached_property
    def verdict(self) -> list[str]:
        """The answer in sentences, each made from numbers of this table."""
        from steelyard.evaluation.verdict import verdict

        return verdict(self)

    def best_threshold(self, metric: Any = "ac_score", **options: Any) -> BestThreshold:
        """The cut of the scores at which a metric is best, with what it is worth on new rows."""
        from steelyard.analysis.best_threshold import best_threshold

        return best_threshold(self._scores(), metric=metric, **options)

    def roc_curve(self) -> RocCurve:
        """Recall against the false positive rate at every threshold."""
        return roc_points(self._scores())

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        """Precision against recall at every threshold."""
        return precision_recall_points(self._scores())

    def _scores(self) -> ScoreTable:
        if self.scores is None:
            raise InputError("Labels alone were evaluated; curves and cuts need scores: evaluate(y_true, y_score=...).")
        return self.scores

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, by the published schema."""
        counts = self.counts
        table: dict[str, Any] = {} if counts is None else {"counts": counts.to_dict()}
        if counts is None and self.confusion is not None:
            table = {"confusion": self.confusion.matrix.tolist()}
        cut = self.threshold
        return {
            "schema": _SCHEMA,
            "version": __version__,
            "rows": self.rows,
            "labels": list(self.labels),
            "positive": self.positive,
            "threshold": None if cut is None or math.isinf(cut) else cut,
            "level": self.level,
            "method": self.method,
            "seed": self.seed,
            **table,
            "metrics": self.metrics.to_dicts(),
            "groups": [group.to_dict() for group in self.groups],
            "verdict": self.verdict,
            **({"assumed": list(self.assumed)} if self.assumed else {}),
            **({"bounds": bounds(self.scores)} if self.scores is not None and len(self.scores.bins) else {}),
            **({} if self.prevalence is None else {"prevalence": np.asarray(self.prevalence).tolist()}),
        }

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return ", ".join(dict.fromkeys(row.method for row in self.metrics if row.method))

    def to_json(self) -> str:
        """The evaluation as strict JSON text."""
        return json_text(self.to_dict())

    def to_frame(self, library: str | None = None) -> Any:
        """The metrics as a data frame of pandas or Polars."""
        return self.metrics.to_frame(library)

    def shown(self) -> list[Row]:
        """The rows to show first: the usual few, or those that were asked for."""
        return [row for row in self.metrics if self.first is None or row.name in self.first]

    @property
    def row_counts(self) -> Counts | None:
        """The two-class table in rows, whatever they weigh."""
        if self.confusion is None or self.positive is None:
            return None
        return Confusion.of_rows(self.confusion.labels, self.confusion.rows).counts(self.positive)

    def to_markdown(self) -> str:
        """The verdict and the metrics as Markdown."""
        return rendered("markdown", self)

    def to_html(self, source: str = "predictions") -> str:
        """The interactive page as the text of one HTML file."""
        return rendered("html", self, source=source)

    def __repr__(self) -> str:
        return rendered("text", self)

    def _repr_html_(self) -> str:
        return rendered("notebook", self)


@dataclass(frozen=True)
class ClassRow:
    """The precision, recall and F1 of one class against the rest, with their intervals."""

    label: Any
    rows: int
    precision: Interval
    recall: Interval
    f1: Interval

    def row(self) -> dict[str, Any]:
        """The class as a row of a table."""
        parts = {name: getattr(self, name) for name in AVERAGED}
        ends = {f"{name}_{end}": getattr(part, end) for name, part in parts.items() for end in ("value", "low", "high")}
        return {"class": self.label, "rows": self.rows, **{k.replace("_value", ""): v for k, v in ends.items()}}

    def __repr__(self) -> str:
        told = ", ".join(
            f"{n} {interval_text(p.value, p.low, p.high)}" for n, p in ((n, getattr(self, n)) for n in AVERAGED)
        )
        return f"{self.label!r} ({self.rows:,} rows): {told}"
