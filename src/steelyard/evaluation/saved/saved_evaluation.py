"""Saved evaluations: the Evaluation that the values of its JSON hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance_tests import ChanceTest
from steelyard.analysis.decisions.decision_rule import COLUMNS, RiskCoverage
from steelyard.analysis.intervals.inference import AUC_METHODS, RATE_METHODS, STRATIFIED, Inference
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.prevalence.prevalence import Prevalence
from steelyard.analysis.results.result import Rows
from steelyard.analysis.results.result_json import RESULT_SCHEMA
from steelyard.analysis.thresholds.limits import read_capacity
from steelyard.evaluation.evaluation import (
    CLASS_METRICS,
    ClassRow,
    Group,
    MetricRow,
    class_rows,
    metric_rows,
    with_class_bounds,
)
from steelyard.evaluation.saved.json_values import (
    column_json,
    confusion_json,
    label_json,
    levels_json,
    numbers_json,
    pair_json,
    read_column,
    read_confusion,
    read_label,
    read_levels,
    read_numbers,
    read_scores,
    scores_json,
)
from steelyard.exceptions import InputError, UnknownNameError
from steelyard.metrics.binned_bounds import binned_bounds
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import USES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.limits import Capacity
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.uses import Use
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.saved import JsonValue, SavedField
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- written evaluations
# An Evaluation as the values of its JSON, by the published schema.


METRIC_NUMBERS = ("value", "low", "high", "chance", "undefined_share")
INTERVAL_NUMBERS = ("value", "low", "high", "undefined_share")


def evaluation_json(evaluation: Evaluation, *, verdict: bool = True) -> dict[str, Any]:
    """The evaluation as strict JSON values, by the published schema; the verdict may be left out."""
    table, scores, counts, risk = (
        evaluation.confusion,
        evaluation.scores,
        evaluation.counts,
        evaluation.risk_coverage,
    )
    saved: dict[str, Any] = {
        "schema": RESULT_SCHEMA,
        "kind": evaluation.kind,
        "version": evaluation.versions["steelyard"],
        "versions": dict(evaluation.versions),
        "source": evaluation.source,
        "columns": {name: text if isinstance(text, str) else list(text) for name, text in evaluation.columns.items()},
        "rows": evaluation.rows,
        "labels": [label_json(label) for label in evaluation.labels],
        "positive": label_json(evaluation.positive),
        **numbers_json(threshold=math.nan if evaluation.threshold is None else evaluation.threshold),
        "prevalence": prevalence_json(evaluation.prevalence),
        "level": evaluation.level,
        "method": evaluation.method,
        "seed": evaluation.seed,
    }
    if evaluation.use is not None:
        saved |= _use_json(evaluation.use)
    if evaluation.capacity is not None:
        saved["capacity"] = {"alerts": evaluation.capacity.alerts, "rows": evaluation.capacity.rows}
    if counts is not None:  # the numbers that readers look for
        saved["counts"] = counts.to_dict()
    elif table is not None:
        saved["confusion"] = table.matrix.tolist()
    saved |= {
        "metrics": [_metric_json(row) for row in evaluation.metrics],
        "metrics_named": evaluation.metrics_named,
        "per_class": [_class_json(row) for row in evaluation.per_class],
        "groups": [_group_json(group) for group in evaluation.groups],
        "verdict": [sentence.row() for sentence in (evaluation.verdict if verdict else ())],
        "muted": list(evaluation.muted),
        "assumed": list(evaluation.assumed),
        "beats": None if evaluation.beats is None else _test_json(evaluation.beats),
        "behind": [_metric_json(row) for row in evaluation.behind],
    }
    if scores is not None and len(scores.bins):
        saved["bounds"] = binned_bounds(scores)
    # The tables in full, from which all else can be computed again.
    saved["table"] = None if table is None else confusion_json(table)
    saved["scores"] = None if scores is None else scores_json(scores)
    if risk is not None:
        saved["risk_coverage"] = risk_json(risk)
    return saved | _classes_json(evaluation)


_OF_PROFILE = ("title", "metrics", "figures", "follows")


def _use_json(use: Use) -> dict[str, Any]:
    """The use by its name, and of a profile what it adds."""
    if not use.metrics:
        return {"use": use.name}
    parts = {name: getattr(use, name) for name in _OF_PROFILE}
    lists = {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}
    return {"use": use.name, "profile": {"name": use.profile, **lists}}


def _read_use(saved: SavedField) -> Use | None:
    """The use that was written, with its profile; none where there is none."""
    if saved.get("use").value is None:
        return None
    name, profile = saved["use"].text(), saved.get("profile")
    if name not in USES:
        raise saved["use"].refused(f"one of {', '.join(USES)}")
    if profile.value is None:
        return USES[name]
    return replace(
        USES[name],
        profile=profile["name"].text(),
        title=profile["title"].text(),
        follows=profile["follows"].text(),
        metrics=tuple(each.text() for each in profile["metrics"].each()),
        figures=tuple(each.text() for each in profile["figures"].each()),
    )


def _read_capacity(saved: SavedField) -> Capacity | None:
    field = saved.get("capacity")
    return None if field.value is None else read_capacity(f"{field['alerts'].whole()} of {field['rows'].whole()}", 0)


def _classes_json(evaluation: Evaluation) -> dict[str, Any]:
    """Of many classes what is to be read first, and of a hierarchy its levels."""
    parts: dict[str, Any] = {}
    if evaluation.positive is None and evaluation.confusion is not None:
        parts["confused_pairs"] = [pair_json(pair) for pair in evaluation.confused_pairs()]
    if (standing := evaluation.standing) is not None:
        parts["standing"] = {
            "median": standing.median,
            "below": [label_json(evaluation.labels[i]) for i in standing.below],
            "above": [label_json(evaluation.labels[i]) for i in standing.above],
        }
    if (rare := evaluation.rare_classes) is not None:
        sizes = {"classes": len(rare.labels), "fewer_than": rare.fewest, "rows": rare.rows}
        parts["rare_classes"] = sizes | numbers_json(
            hits=rare.hits, weight=rare.weight, recall=rare.recall, low=rare.low, high=rare.high
        )
    if evaluation.hierarchy is not None:
        parts["hierarchy"] = levels_json(evaluation.hierarchy)
    return parts


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


def _metric_json(row: MetricRow) -> dict[str, Any]:
    numbers = numbers_json(**{name: getattr(row, name) for name in METRIC_NUMBERS})
    numbers |= numbers_json(chance_high=row.chance_high) if math.isfinite(row.chance_high) else {}
    reasons = {"no_interval": row.no_interval} if row.no_interval else {}
    return {"name": row.name, **numbers, "undefined": row.undefined, **reasons, "method": row.method}


def _class_json(row: ClassRow) -> dict[str, Any]:
    saved = {"class": label_json(row.label), "rows": row.rows}
    for name, interval in row.intervals.items():
        numbers = numbers_json(**{number: getattr(interval, number) for number in INTERVAL_NUMBERS})
        saved[name] = {**numbers, "undefined": interval.why, "method": interval.method}
    return saved


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


# ---------------------------------------------------------------- saved evaluations


def read_evaluation(saved: SavedField) -> dict[str, Any]:
    """The fields of the Evaluation that `evaluation_json` wrote; anything else is refused by the field's name."""
    table, scores, beats = saved["table"], saved["scores"], saved["beats"]
    fields = read_setting(saved) | {
        "confusion": None if table.value is None else read_confusion(table),
        "scores": None if scores.value is None else read_scores(scores),
        "per_class": Rows(_read_class(row, saved["level"].number()) for row in saved["per_class"].each()),
        "beats": None if beats.value is None else _read_test(beats),
        "behind": read_metrics(saved["behind"]),
        "metrics_named": saved["metrics_named"].flag(),
        "muted": tuple(code.text() for code in saved["muted"].each()),
        "groups": Rows(_read_group(group) for group in saved["groups"].each()),
        "columns": {
            name: tuple(text.text() for text in column.each()) if isinstance(column.value, list) else column.text()
            for name, column in saved["columns"].entries().items()
        },
        "source": saved["source"].text_or_none(),
        "hierarchy": None if saved.get("hierarchy").value is None else read_levels(saved["hierarchy"]),
        "risk_coverage": read_risk(saved.get("risk_coverage")),
        "use": _read_use(saved),
        "capacity": _read_capacity(saved),
        "versions": {name: version.text() for name, version in saved["versions"].entries().items()},
    }
    if "steelyard" not in fields["versions"]:
        raise saved["versions"].refused("the versions of what evaluated, steelyard among them")
    _check_agreement(saved, fields["confusion"], fields)
    return fields | {"unconfirmed": check_values(saved, fields)}


def read_setting(saved: SavedField) -> dict[str, Any]:
    """What was evaluated, how, and the metrics."""
    threshold, seed = read_numbers(saved, "threshold")["threshold"], saved["seed"]
    level = saved["level"].number()
    if not 0 < level < 1:
        raise saved["level"].refused("a probability between 0 and 1")
    return {
        "metrics": read_metrics(saved["metrics"]),
        "positive": read_label(saved["positive"]),
        "threshold": None if math.isnan(threshold) else threshold,
        "level": level,
        "assumed": tuple(sentence.text() for sentence in saved.get("assumed").each_or_none()),
        "prevalence": read_prevalence(saved.get("prevalence")),
        "rows": saved["rows"].whole(),
        "seed": None if seed.value is None else seed.whole(),
    }


def _check_agreement(saved: SavedField, table: Confusion | None, fields: dict[str, Any]) -> None:
    """Refuse what a changed file says in two places in two ways."""
    groups = [(group.by, group.key) for group in fields["groups"]]
    if len(set(groups)) < len(groups):
        raise saved["groups"].refused("different groups of its rows")
    if table is None and fields["scores"] is None:
        return  # copied from a page, which has no tables of weights at other thresholds
    labels = () if table is None else table.labels
    if tuple(read_label(label) for label in saved["labels"].each()) != labels:
        raise saved["labels"].refused("the labels of its table")
    if fields["positive"] is not None and table is not None and fields["positive"] not in labels:
        raise saved["positive"].refused("one of its labels")
    scores = fields["scores"]
    rows = int(table.rows.sum()) if table is not None else 0 if scores is None else scores.n
    if fields["rows"] != rows:
        raise saved["rows"].refused(f"the {rows:,} rows of its table")
    if scores is not None and scores.n != rows:
        raise saved["scores"].refused(f"that of the {rows:,} rows")
    if table is None:
        return
    counts = None if fields["positive"] is None else table.counts(fields["positive"]).to_dict()
    name, expected = ("confusion", table.matrix.tolist()) if counts is None else ("counts", counts)
    if saved[name].value != expected:
        raise saved[name].refused("that of its table")
    if counts is not None and scores is not None and fields["threshold"] is not None and not len(scores.bins):
        cells = scores.at(fields["threshold"]).to_dict()
        if not all(math.isclose(cells[cell], counts[cell], rel_tol=1e-9, abs_tol=1e-9) for cell in cells):
            raise saved["threshold"].refused("the threshold at which its scores give its table")


def read_metrics(field: SavedField) -> Rows[MetricRow]:
    """The rows of the metrics."""
    return Rows(_read_metric(row) for row in field.each())


def _read_metric(field: SavedField) -> MetricRow:
    optional = [name for name in ("undefined_share", "chance_high") if name in field.entries()]
    numbers = read_numbers(field, "value", "low", "high", "chance", *optional)
    if math.isnan(numbers.get("undefined_share", 0.0)):  # a page does not know it
        numbers["undefined_share"] = 0.0
    method = field.get("method").text_or_none() or ""
    undefined, without = field["undefined"].text_or_none(), field.get("no_interval").text_or_none()
    spec = _read_spec(field["name"])
    row = MetricRow(spec, **numbers, undefined=undefined, method=method, no_interval=without)
    if not 0 <= row.undefined_share <= 1:
        raise field["undefined_share"].refused("a share of the draws, from 0 to 1")
    if row.low > row.value or row.high < row.value:
        raise field["value"].refused("a value between its low and high")
    return row


def _read_spec(field: SavedField) -> MetricSpec:
    """The metric of a written form; one of the user's own must have been declared before."""
    try:
        return MetricSpec.of(field.text())
    except UnknownNameError:
        raise InputError(
            f"In this JSON {field.path} is {field.value!r}, a metric that is not known here; declare your own metric "
            "with @metric before reading."
        ) from None


def _read_class(field: SavedField, level: float) -> ClassRow:
    intervals = []
    for name in CLASS_METRICS:
        numbers, method = read_numbers(field[name], *INTERVAL_NUMBERS), field[name]["method"].text()
        why = field[name]["undefined"].text_or_none()
        value, low, high = (numbers[end] for end in ("value", "low", "high"))
        intervals.append(Interval(MetricSpec.of(name), value, low, high, level, method, why=why))
    return ClassRow(read_label(field["class"]), field["rows"].whole(), *intervals)


def _read_group(field: SavedField) -> Group:
    keys, rows = field["group"].entries(), field["rows"].whole()
    table = None if field["table"].value is None else read_confusion(field["table"])
    if table is not None and rows != table.rows.sum():
        raise field["rows"].refused(f"the {int(table.rows.sum()):,} rows of its table")
    return Group(tuple(keys), tuple(map(read_label, keys.values())), rows, read_metrics(field["metrics"]), table)


def _read_test(field: SavedField) -> ChanceTest:
    numbers: dict[str, Any] = {**read_numbers(field, "p_value", "p_two_sided", "undefined_share")}
    return ChanceTest(method=field["method"].text(), why=field["undefined"].text_or_none(), **numbers)


def read_prevalence(field: SavedField) -> PrevalenceLike | None:
    """The prevalence: of the positives, of each class, or none; an estimated one is an object."""
    if field.value is None:
        return None
    if isinstance(field.value, list):
        return tuple(share.number() for share in field.each())
    if not isinstance(field.value, dict):
        return field.number()
    if (draws := field.get("draws")).value is not None:
        return Prevalence.from_draws(read_column(draws))
    if (counts := field.get("counts")).value is not None:
        pairs = [pair.each() for pair in counts.each()]
        return Prevalence(counts={read_label(label): rows.number_as_written() for label, rows in pairs})
    return Prevalence(positives=field["positives"].number_as_written(), rows=field["rows"].number_as_written())


# ---------------------------------------------------------------- risk and coverage


_RISK_NUMBERS = ("area", "least_area", "level")


def risk_json(curve: RiskCoverage) -> dict[str, Any]:
    """The curve as strict JSON values, a list for each column."""
    columns = {name: [None if np.isnan(v) else v for v in getattr(curve, name).tolist()] for name in COLUMNS}
    labels = [label_json(label) for label in curve.least_kept]
    return {**{name: getattr(curve, name) for name in _RISK_NUMBERS}, **columns, "least_kept": labels}


def read_risk(field: SavedField) -> RiskCoverage | None:
    """The curve that was written; none where there is none."""
    if field.value is None:
        return None
    columns: dict[str, Any] = {
        name: np.array([np.nan if cell.value is None else cell.number() for cell in field[name].each()])
        for name in COLUMNS
    }
    labels = tuple(read_label(label) for label in field["least_kept"].each())
    if len({len(labels), *(len(column) for column in columns.values())}) > 1 or not labels:
        raise field.refused("a curve whose columns are equally long")
    numbers: dict[str, Any] = {name: field[name].number() for name in _RISK_NUMBERS}
    return RiskCoverage(least_kept=labels, **columns, **numbers)


# ---------------------------------------------------------------- values that the tables give


VALUE, INTERVAL = "value", "interval"  # what of a metric no table confirms
_OTHER_ROWS = ("cluster", "plan")  # methods that need rows which no table keeps
_ROUNDING = 1e-9
_EXACT = (*RATE_METHODS, *AUC_METHODS)  # methods whose ends no draw moves
_TO_SIX_DIGITS = 1e-6


def check_values(saved: SavedField, fields: dict[str, Any]) -> dict[str, str]:
    """Refuse a value or an interval that the saved tables do not give; what they do not confirm, by "recall (north)".

    Values agree to rounding, ends by an exact method to six digits. Ends by draws move with their number and seed, so
    they are held to the metric's range alone, and a gate draws them again.
    """
    design = "stratified" if STRATIFIED in fields["assumed"] else "random"
    inference = Inference(fields["level"], prevalence=fields["prevalence"], design=design)
    classes = class_rows(fields["confusion"], inference)
    listed = [*fields["metrics"], *fields["behind"]]
    for group in fields["groups"]:
        listed += group.metrics
    specs = dict.fromkeys(row.spec for row in listed)

    def computed(table: Confusion | None, scores: ScoreTable | None) -> dict[str, MetricRow]:
        """The metrics that tables give, by name."""
        rows = metric_rows(table, scores, fields["positive"], specs, inference)
        return {row.name: row for row in with_class_bounds(rows, classes)}

    of_all = computed(fields["confusion"], fields["scores"])
    unconfirmed = _check_rows(saved["metrics"], fields["metrics"], of_all)
    unconfirmed |= _check_rows(saved["behind"], fields["behind"], of_all)
    for field, row, known in zip(saved["per_class"].each(), fields["per_class"], classes, strict=False):
        for name, interval in row.intervals.items():
            _check_numbers(field[name], interval, known.intervals[name])
    for field, group in zip(saved["groups"].each(), fields["groups"], strict=True):
        of_group = _check_rows(field["metrics"], group.metrics, computed(group.confusion, None))
        unconfirmed |= {f"{name} ({group.label})": what for name, what in of_group.items()}
    return unconfirmed


def _check_rows(saved: SavedField, rows: Iterable[MetricRow], computed: dict[str, MetricRow]) -> dict[str, str]:
    """Each row beside the one that the tables give; what they do not confirm, by name."""
    unconfirmed = {}
    for field, row in zip(saved.each(), rows, strict=True):
        known = computed.get(row.name)
        of_lost_scores = row.method == "influence" and known is not None and known.method != "influence"
        if known is None or row.method == "plan" or of_lost_scores:
            unconfirmed[row.name] = VALUE
            continue
        _check_numbers(field, row, known)
        if row.method in _OTHER_ROWS:
            unconfirmed[row.name] = INTERVAL
    return unconfirmed


def _check_numbers(field: SavedField, row: MetricRow | Interval[Any], known: MetricRow | Interval[Any]) -> None:
    if not _near(row.value, known.value, _ROUNDING * max(1.0, abs(known.value))):
        raise field["value"].refused(f"{_text(known.value)}, which its table gives")
    if row.method in _OTHER_ROWS:
        return
    for bound in ("low", "high"):
        written, expected = getattr(row, bound), getattr(known, bound)
        if row.method in _EXACT and not _near(written, expected, _TO_SIX_DIGITS * max(1.0, abs(known.value))):
            raise field[bound].refused(f"about {_text(expected)}, which its table gives")
        least, most = row.spec.metric.of_many_columns.range
        if written < least - _ROUNDING or written > most + _ROUNDING:
            raise field[bound].refused(f"a number from {least:g} to {most:g}, as {row.spec.name} is")


def _near(written: float, expected: float, tolerance: float) -> bool:
    if math.isnan(written) or math.isnan(expected):
        return math.isnan(written) == math.isnan(expected)
    return written == expected or abs(written - expected) <= tolerance


def _text(value: float) -> str:
    return "null" if math.isnan(value) else f"{value:.6g}"
