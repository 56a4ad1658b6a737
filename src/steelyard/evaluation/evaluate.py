"""Evaluation: all measures of one set of predictions with their intervals, beside chance, and the verdict in words."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.analysis.chance import ChanceTest, beats_guessing, chance
from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.rows import Rows, interval_text, table_text, three_digits
from steelyard.analysis.uncertainty import Interval, intervals
from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import labels as ingest
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.scores import ScoreTable

SCHEMA = 1
USUAL_CUT = 0.5
FIRST = ("recall", "specificity", "precision", "f1", "balanced_accuracy", "ac_score", "mcc", "accuracy", "roc_auc",
         "average_precision")  # fmt: skip
BEHIND = ("recall", "specificity", "precision", "accuracy", "balanced_accuracy", "ac_score")  # what the words need
AVERAGED = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Row:
    """One measure: its value, its interval, what guessing scores, and where it is undefined the reason."""

    name: str
    value: float
    low: float
    high: float
    chance: float
    undefined: str | None = None
    undefined_share: float = 0.0
    method: str = ""

    def row(self) -> dict[str, Any]:
        """The measure as strict JSON values: null where it is undefined."""
        numbers = {key: _finite(getattr(self, key)) for key in ("value", "low", "high", "chance")}
        return {"name": self.name, **numbers, "undefined": self.undefined}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a set of predictions is worth: the verdict in words, then every measure, and the tables behind them."""

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

    def __getitem__(self, name: str) -> Row:
        """The row of one measure, by name or alias."""
        known = {row.name: row for row in [*self.behind, *self.metrics]}
        if name in known:
            return known[name]
        found = get_metric(name).name
        if found not in known:
            raise InputError(f"{found} was not evaluated here; there are {', '.join(list(known)[:8])} and others.")
        return known[found]

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in [*self.metrics, *self.behind])

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

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as strict JSON values, by the published schema."""
        counts = self.counts
        table: dict[str, Any] = {} if counts is None else {"counts": counts.to_dict()}
        if counts is None and self.confusion is not None:
            table = {"confusion": self.confusion.matrix.tolist()}
        cut = self.threshold
        return {
            "schema": SCHEMA, "version": __version__, "rows": self.rows, "labels": list(self.labels),
            "positive": self.positive, "threshold": None if cut is None or math.isinf(cut) else cut,
            "level": self.level, "method": self.method, "seed": self.seed, **table,
            "metrics": self.metrics.to_dicts(), "groups": [], "verdict": self.verdict,
        }  # fmt: skip

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return ", ".join(dict.fromkeys(row.method for row in self.metrics if row.method))

    def to_json(self) -> str:
        """The evaluation as strict JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, default=str)

    def to_frame(self, library: str | None = None) -> Any:
        """The measures as a data frame of pandas or Polars."""
        return self.metrics.to_frame(library)

    def shown(self, names: Any = FIRST) -> list[Row]:
        """The rows to show first; `names=None` for all."""
        return [row for row in self.metrics if names is None or row.name in names]

    def to_markdown(self, names: Any = None) -> str:
        """The verdict and the measures as Markdown."""
        lines = [
            *self.verdict,
            "",
            f"| measure | value | {100 * self.level:g} % interval | chance |",
            "|---|---|---|---|",
        ]
        for row in self.shown(names):
            cells = (row.name, three_digits(row.value), _range(row), three_digits(row.chance))
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)

    def __repr__(self) -> str:
        import textwrap

        said = [textwrap.fill(sentence, 100) for sentence in self.verdict]
        rows = [{"measure": r.name, "value": r.value, "interval": _range(r), "chance": r.chance} for r in self.shown()]
        return "\n".join([*said, "", table_text(rows), "", *self.assumed]).rstrip()

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.verdict)
        head = f"<tr><th>measure</th><th>value</th><th>{100 * self.level:g} % interval</th><th>chance</th></tr>"
        body = "".join(
            f"<tr><td>{escape(r.name)}</td><td>{three_digits(r.value)}</td><td>{escape(_range(r))}</td>"
            f"<td>{three_digits(r.chance)}</td></tr>"
            for r in self.shown()
        )
        return f"<div class='steelyard'>{said}<table>{head}{body}</table></div>"


def _range(row: Row) -> str:
    if row.undefined is not None and math.isnan(row.value):
        return row.undefined
    return f"{three_digits(row.low)} to {three_digits(row.high)}"


# ---------------------------------------------------------------- evaluating


def evaluate(
    data: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    threshold: float | None = None,
    metrics: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
    prevalence: Any = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
) -> Evaluation:
    """Evaluate predictions, scores or a table: every measure with its interval beside chance, and a verdict in words.

    Scores alone are cut at 0.5 where they lie between 0 and 1, and it says so; other scores are ranked only, until a
    threshold is given. `prevalence` reads everything where that share of the rows is positive.

    >>> from steelyard import Counts
    >>> report = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> report["ac_score"].value
    0.7021746453568889
    >>> print(report.verdict[0])
    Rare positives: 51 of 2,803 (1.82 %).
    """
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    table, scores, cut, assumed = _weighed(data, y_pred, y_score, threshold, pos_label, labels, weights)
    positive = _positive(table, scores, pos_label)
    how = {"level": level, "draws": draws, "rng": rng, "prevalence": prevalence}
    chosen = _chosen(metrics)
    extra = [] if metrics is None else [get_metric(name) for name in BEHIND if get_metric(name) not in chosen]
    found, behind = (
        [*_label_rows(table, positive, some, how), *_score_rows(scores, some, how)] for some in (chosen, extra)
    )
    whole = table.rows.sum() if table is not None else scores.positive.n + scores.negative.n if scores else 0
    return Evaluation(
        table, scores, Rows(found), per_class(table, how), positive, cut, level, _beats(table, scores, positive),
        tuple(assumed), prevalence, int(whole), 0 if rng is None else None, Rows(behind),
    )  # fmt: skip


def _weighed(
    data: Any, y_pred: Any, y_score: Any, threshold: Any, pos_label: Any, labels: Any, weights: dict[str, Any]
) -> tuple[Confusion | None, ScoreTable | None, float | None, list[str]]:
    """The table of labels, the table of scores, the cut between them, and what was assumed."""
    if isinstance(data, (Counts, Confusion, ScoreTable)):
        if y_pred is not None or y_score is not None:
            raise InputTypeError("Give either a table or rows (y_true, y_pred or y_score=), not both.")
        if isinstance(data, ScoreTable):
            return _cut(data, threshold)
        return (*_as_confusion(data, pos_label), None, threshold, [])
    if y_pred is not None and threshold is not None:
        raise InputError("Predictions and a threshold together contradict each other; give scores and the threshold.")
    if y_pred is None and y_score is None:
        raise InputTypeError("There is nothing to evaluate: give y_pred (labels) or y_score= (scores) beside y_true.")
    scores = None
    if y_score is not None:
        scores = ingest.score_table(data, y_score, pos_label=pos_label, labels=labels, **weights)
        ingest.check_both_classes(scores)
    if y_pred is None:
        return _cut(scores, threshold)
    table = ingest.confusion(data, y_pred, labels=labels, pos_label=pos_label, **weights)
    ingest.check_whole(table)
    return table, scores, None, []


def _as_confusion(data: Counts | Confusion, pos_label: Any) -> tuple[Confusion]:
    if isinstance(data, Confusion):
        return (
            data if pos_label is None else Confusion(data.labels, data.rows, data.weights, data.squares, pos_label),
        )
    if data.shape:
        raise InputError(
            f"One table is evaluated at a time, not {np.prod(data.shape):,} of them; take one by its index."
        )
    matrix = data.matrix()
    return (
        Confusion((0, 1), np.round(matrix).astype(np.int64), matrix, matrix, 1)
        if matrix.dtype.kind == "f"
        else Confusion.of_rows((0, 1), matrix, 1),
    )


def _cut(scores: Any, threshold: Any) -> tuple[Confusion | None, ScoreTable, float | None, list[str]]:
    """Scores cut into labels: where told, at 0.5 where they are probabilities, else not at all."""
    assumed = []
    if threshold is None:
        ends = [side.scores[i] for side in (scores.positive, scores.negative) if len(side.scores) for i in (0, -1)]
        if min(ends) < 0 or max(ends) > 1:
            return None, scores, None, ["The scores are not probabilities: ranked only. Give threshold= to cut them."]
        threshold = USUAL_CUT
        assumed = [f"Scores were cut at {USUAL_CUT}; best_threshold finds a better cut."]
    counts = scores.at(float(threshold))
    other = _other(scores.label)
    matrix = counts.matrix()
    if not scores.weighted:
        return Confusion.of_rows((other, scores.label), matrix, scores.label), scores, float(threshold), assumed
    rows, squares = (_at(scores, float(threshold), key) for key in ("rows", "squares"))
    return (
        Confusion((other, scores.label), rows.astype(np.int64), matrix, squares, scores.label),
        scores,
        float(threshold),
        assumed,
    )


def _other(label: Any) -> Any:
    """A name for the other class, whose labels the scores do not keep."""
    if isinstance(label, bool):
        return not label
    return 1 - label if label in (0, 1) else -1 if label == 1 else f"not {label}"


def _at(scores: ScoreTable, threshold: float, column: str) -> Any:
    """The rows or squared weights of the four cells at a cut, as scikit-learn lays them out."""
    cells = []
    for side in (scores.negative, scores.positive):
        values = getattr(side, column)
        above = float(values[side.scores >= threshold].sum())
        cells.append([float(values.sum()) - above, above])
    return np.array(cells)


def _positive(table: Confusion | None, scores: ScoreTable | None, pos_label: Any) -> Any:
    if pos_label is not None or table is None:
        return pos_label if scores is None else scores.label
    try:
        return table.positive_label()
    except InputError:
        return None


def _label_rows(table: Confusion | None, positive: Any, metrics: Any, how: dict[str, Any]) -> list[Row]:
    if table is None:
        return []
    known = [m for m in metrics if m.function is not None]
    if positive is not None:
        options = {"pos_label": positive}
        return _rows(known, table, how, options)
    rows = _rows([m for m in known if m.classes], table, how, {})
    for average in ("macro", "weighted"):
        named = [m for m in known if m.name in AVERAGED]
        rows += _rows(named, table, how, {"average": average}, suffix=f"[average={average}]")
    return rows


def _score_rows(scores: ScoreTable | None, metrics: Any, how: dict[str, Any]) -> list[Row]:
    if scores is None:
        return []
    ends = [end for side in (scores.positive, scores.negative) for end in (side.scores[0], side.scores[-1])]
    calibrated = min(ends) >= 0 and max(ends) <= 1
    known = [m for m in metrics if m.scores and (calibrated or m.family != "calibration")]
    total = scores.positive.total + scores.negative.total
    return _rows([m for m in known if m.name != "precision_at_k" or total >= m.parameters["k"]], scores, how, {})


def _chosen(metrics: Any) -> list[Any]:
    return list_metrics() if metrics is None else [get_metric(m) for m in metrics]


def _rows(known: list[Any], table: Any, how: dict[str, Any], options: dict[str, Any], suffix: str = "") -> list[Row]:
    at = table if how["prevalence"] is None else at_prevalence(table, how["prevalence"])
    found = intervals(known, table, **how, **options) if known else []
    return [_row(part, chance(part.metric, at, **options).same_margins, suffix) for part in found]


def _row(part: Interval, guess: float, suffix: str) -> Row:
    undefined = part.why if math.isnan(part.value) or math.isinf(part.value) else None
    return Row(
        part.metric + suffix, part.value, part.low, part.high, guess, undefined, part.undefined_share, part.method
    )


def _beats(table: Confusion | None, scores: ScoreTable | None, positive: Any) -> ChanceTest | None:
    try:
        if table is not None:
            return beats_guessing(table.counts(positive) if positive is not None and not table.weighted else table)
        return beats_guessing(scores)
    except (InputError, InputTypeError):
        return None


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


def per_class(table: Confusion | None, how: dict[str, Any]) -> Rows[ClassRow]:
    """Each class against the rest."""
    if table is None or not len(table.labels):
        return Rows()
    each = {part.metric: part for part in intervals(AVERAGED, table, average=None, **how)}

    def picked(name: str, i: int) -> Interval:
        part = each[name]
        why = part.why[i] if part.why is not None else None
        ends = (float(np.asarray(end)[i]) for end in (part.value, part.low, part.high))
        value, low, high = ends
        return Interval(name, value, low, high, part.level, part.method, part.undefined_share, None, why)

    return Rows(
        ClassRow(label, int(table.rows[i].sum()), *(picked(name, i) for name in AVERAGED))
        for i, label in enumerate(table.labels)
    )
