"""Written evaluations: an Evaluation as the values of its JSON, by the published schema."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result_json import RESULT_SCHEMA
from steelyard.evaluation.class_risk import risk_json
from steelyard.evaluation.saved.hierarchy_json import levels_json, pair_json
from steelyard.evaluation.saved.json_values import column_json, confusion_json, label_json, numbers_json, scores_json
from steelyard.metrics.binned_bounds import binned_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.chance.chance_tests import ChanceTest
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.groups import Group
    from steelyard.evaluation.metric_row import ClassRow, MetricRow
    from steelyard.statistics.saved_field import JsonValue

METRIC_NUMBERS = ("value", "low", "high", "chance", "undefined_share")
INTERVAL_NUMBERS = ("value", "low", "high", "undefined_share")


def evaluation_json(evaluation: Evaluation, *, verdict: bool = True) -> dict[str, Any]:
    """The evaluation as strict JSON values, by the published schema; the verdict may be left out."""
    return {
        "schema": RESULT_SCHEMA,
        "kind": evaluation.kind,
        "version": evaluation.versions["steelyard"],
        "versions": dict(evaluation.versions),
        "source": evaluation.source,
        "columns": {name: _names(column) for name, column in evaluation.columns.items()},
        **_setting_json(evaluation),
        **_counts_json(evaluation),
        "metrics": [_metric_json(row) for row in evaluation.metrics],
        "metrics_named": evaluation.metrics_named,
        "per_class": [_class_json(row) for row in evaluation.per_class],
        "groups": [_group_json(group) for group in evaluation.groups],
        "verdict": [sentence.row() for sentence in (evaluation.verdict if verdict else ())],
        "muted": list(evaluation.muted),
        "assumed": list(evaluation.assumed),
        "beats": None if evaluation.beats is None else _test_json(evaluation.beats),
        "behind": [_metric_json(row) for row in evaluation.behind],
        **_tables_json(evaluation),
        **_classes_json(evaluation),
    }


def _classes_json(evaluation: Evaluation) -> dict[str, Any]:
    """Of many classes what is to be read first, and of a hierarchy its levels."""
    parts: dict[str, Any] = {}
    if evaluation.positive is None and evaluation.confusion is not None:
        parts["confused_pairs"] = [pair_json(pair) for pair in evaluation.confused_pairs()]
    if (standing := evaluation.standing) is not None:
        places = {"below": standing.below, "above": standing.above}
        named = {name: [label_json(evaluation.labels[at]) for at in part] for name, part in places.items()}
        parts["standing"] = {"median": standing.median, **named}
    if (rare := evaluation.rare_classes) is not None:
        sizes = {"classes": len(rare.labels), "fewer_than": rare.fewest, "rows": rare.rows}
        parts["rare_classes"] = sizes | numbers_json(
            hits=rare.hits, weight=rare.weight, recall=rare.recall, low=rare.low, high=rare.high
        )
    if evaluation.hierarchy is not None:
        parts["hierarchy"] = levels_json(evaluation.hierarchy)
    return parts


def _setting_json(evaluation: Evaluation) -> dict[str, Any]:
    """What was evaluated, and how."""
    return {
        "rows": evaluation.rows,
        "labels": [label_json(label) for label in evaluation.labels],
        "positive": label_json(evaluation.positive),
        **numbers_json(threshold=math.nan if evaluation.threshold is None else evaluation.threshold),
        "prevalence": prevalence_json(evaluation.prevalence),
        "level": evaluation.level,
        "method": evaluation.method,
        "seed": evaluation.seed,
    }


def prevalence_json(prevalence: PrevalenceLike | None) -> JsonValue:
    """The share of the positives or of each class; of an estimated one what it was estimated from."""
    match prevalence:
        case None:
            return None
        case Prevalence(drawn=None, counts=None, positives=positives, rows=rows):
            return {"positives": positives, "rows": rows}
        case Prevalence(drawn=None, counts=counts):
            return {"counts": [[label_json(label), rows] for label, rows in counts or ()]}
        case Prevalence(drawn=drawn):
            return {"draws": column_json(np.array(drawn))}
    shares: JsonValue = np.asarray(prevalence, dtype=np.float64).tolist()
    return shares


def _counts_json(evaluation: Evaluation) -> dict[str, Any]:
    """The numbers that readers look for: the four counts, or the matrix of several classes."""
    counts, table = evaluation.counts, evaluation.confusion
    if counts is not None:
        return {"counts": counts.to_dict()}
    return {} if table is None else {"confusion": table.matrix.tolist()}


def _tables_json(evaluation: Evaluation) -> dict[str, Any]:
    """The tables in full, from which all else can be computed again."""
    table, scores = evaluation.confusion, evaluation.scores
    return {
        **({"bounds": binned_bounds(scores)} if scores is not None and len(scores.bins) else {}),
        "table": None if table is None else confusion_json(table),
        "scores": None if scores is None else scores_json(scores),
        **({} if evaluation.risk_coverage is None else {"risk_coverage": risk_json(evaluation.risk_coverage)}),
    }


def _names(column: str | Iterable[str]) -> str | list[str]:
    return column if isinstance(column, str) else list(column)


def _metric_json(row: MetricRow) -> dict[str, Any]:
    numbers = numbers_json(**{name: getattr(row, name) for name in METRIC_NUMBERS})
    numbers |= numbers_json(chance_high=row.chance_high) if math.isfinite(row.chance_high) else {}
    reasons = {"no_interval": row.no_interval} if row.no_interval else {}
    return {"name": row.name, **numbers, "undefined": row.undefined, **reasons, "method": row.method}


def _class_json(row: ClassRow) -> dict[str, Any]:
    intervals = {name: _interval_json(interval) for name, interval in row.intervals.items()}
    return {"class": label_json(row.label), "rows": row.rows, **intervals}


def _interval_json(interval: Interval) -> dict[str, Any]:
    numbers = numbers_json(**{name: getattr(interval, name) for name in INTERVAL_NUMBERS})
    return {**numbers, "undefined": interval.why, "method": interval.method}


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "group": {name: label_json(key) for name, key in zip(group.by, group.key, strict=True)},
        "rows": group.rows,
        "metrics": [_metric_json(row) for row in group.metrics],
        "table": None if group.confusion is None else confusion_json(group.confusion),
    }


def _test_json(test: ChanceTest) -> dict[str, Any]:
    numbers = numbers_json(p_value=test.p_value, p_two_sided=test.p_two_sided, undefined_share=test.undefined_share)
    return {**numbers, "method": test.method, "undefined": test.why}
