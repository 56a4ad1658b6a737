"""Measuring: the rows of metrics of weighed tables, with intervals, beside chance. Used by evaluate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance import chance
from steelyard.analysis.chance_tests import ChanceTest, beats_guessing
from steelyard.analysis.intervals import intervals
from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.rows import Rows
from steelyard.analysis.sampler import Interval
from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.asking import Asked, averaged_suffix
from steelyard.evaluation.evaluation import AVERAGED, ClassRow, Row
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


def measured(
    table: Confusion | None, scores: ScoreTable | None, positive: Any, some: list[Asked], how: dict[str, Any]
) -> list[Row]:
    """The rows of the metrics: of labels, of scores, and of each class averaged where that was asked for."""
    plain = [asked.metric for asked in some if asked.average is None]
    rows = [*_label_rows(table, scores, positive, plain, how), *_score_rows(scores, plain, how)]
    for one in some:
        if one.average is not None and table is not None:
            rows += _averaged(one.metric, one.average, table, how)
    return rows


def _label_rows(
    table: Confusion | None, scores: ScoreTable | None, positive: Any, metrics: Any, how: dict[str, Any]
) -> list[Row]:
    if table is None:
        return []
    known = [m for m in metrics if m.function is not None and (m.scores is None or scores is None)]
    known = known if "clustered" not in how else [m for m in known if m.scores is None]
    if positive is not None:
        options = {"pos_label": positive}
        return _rows(known, table, how, options)
    rows = _rows([m for m in known if m.classes], table, how, {})
    for average in ("macro", "weighted"):
        named = [m for m in known if m.name in AVERAGED]
        rows += _rows(named, table, how, {"average": average}, suffix=averaged_suffix(average))
    return rows


def _score_rows(scores: ScoreTable | None, metrics: Any, how: dict[str, Any]) -> list[Row]:
    """The metrics of scores; undefined where the rows are of one class, as in a group or a small test part."""
    if scores is None:
        return []
    if not (scores.positive.n and scores.negative.n):
        why = "no negatives" if scores.positive.n else "no positives"
        return [Row(m.name, *(math.nan,) * 4, why) for m in metrics if m.scores]
    known = [m for m in metrics if m.scores and (scores.has_probabilities or m.family != "calibration")]
    total = scores.positive.total + scores.negative.total
    return _rows([m for m in known if m.name != "precision_at_k" or total >= m.parameters["k"]], scores, how, {})


def _averaged(metric: Any, average: str, table: Confusion, how: dict[str, Any]) -> list[Row]:
    return _rows([metric], table, how, {"average": average}, suffix=averaged_suffix(average))


def _rows(known: list[Any], table: Any, how: dict[str, Any], options: dict[str, Any], suffix: str = "") -> list[Row]:
    at = table if how["prevalence"] is None else at_prevalence(table, how["prevalence"])
    found = _intervals(known, table, how, options) if known else []
    return [_row(part, _guess(part.metric, at, options), suffix) for part in found]


def _intervals(known: list[Any], table: Any, how: dict[str, Any], options: dict[str, Any]) -> list[Interval]:
    """The intervals of rows that are independent, or of whole clusters."""
    rows = how.get("clustered")
    if rows is None:
        return intervals(known, table, **how, **options)
    given = {key: rows[key] for key in ("groups", "frequency")} | {"labels": table.labels}
    ways = {key: value for key, value in how.items() if key != "clustered"}
    return intervals(known, rows["y_true"], rows["y_pred"], **ways, **given, **options)


def _guess(metric: str, table: Any, options: dict[str, Any]) -> float:
    """What guessing scores; NaN where a table, or a group, holds one class only."""
    try:
        return float(chance(metric, table, **options).same_margins)
    except InputError:
        return math.nan


def _row(part: Interval, guess: float, suffix: str) -> Row:
    undefined = part.why if math.isnan(part.value) or math.isinf(part.value) else None
    return Row(
        part.metric + suffix, part.value, part.low, part.high, guess, undefined, part.undefined_share, part.method
    )


def beats(table: Confusion | None, scores: ScoreTable | None, positive: Any) -> ChanceTest | None:
    """Whether the classifier beats guessing; None where that cannot be asked."""
    try:
        if table is not None:
            return beats_guessing(table.counts(positive) if positive is not None and not table.weighted else table)
        return beats_guessing(scores)
    except (InputError, InputTypeError):
        return None


def per_class(table: Confusion | None, how: dict[str, Any]) -> Rows[ClassRow]:
    """Each class against the rest."""
    if table is None or not len(table.labels):
        return Rows()
    metrics = [get_metric(name) for name in AVERAGED]
    each = {part.metric: part for part in _intervals(metrics, table, how, {"average": None})}

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
