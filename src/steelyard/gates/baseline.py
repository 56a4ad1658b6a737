"""Baseline: an earlier report that a gate compares with."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import ROUNDING
from steelyard.errors import InputError, UnknownNameError, first_ten
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Baseline:
    """The metrics of an earlier report by name, and what it says of its data."""

    name: str
    metrics: dict[str, float | None]
    facts: dict[str, Any]


def read_baseline(name: str | None) -> Baseline | None:
    """An earlier report, whose values are finite numbers or null."""
    if name is None:
        return None
    try:
        data = json.loads(Path(name).read_bytes(), parse_constant=_refuse_constant)
        values = {str(row["name"]): _number(row["value"]) for row in data["metrics"]}
    except OSError as error:
        raise InputError(f"The baseline {name!r} cannot be read: {error.strerror}; check the name.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"The baseline {name!r} is not a report written by `steelyard report --format json`; make one first."
        ) from None
    for metric, value in values.items():
        _check_range(name, metric, value)
    return Baseline(name, values, data)


def _check_range(name: str, metric: str, value: float | None) -> None:
    """Refuse a value that the metric cannot have; one that is not known here is no rule's."""
    with suppress(UnknownNameError):
        low, high = MetricSpec.of(metric).metric.of_many_columns.range  # that of many classes is no narrower
        if value is not None and not low - ROUNDING <= value <= high + ROUNDING:
            raise InputError(
                f"The baseline {name!r} gives {value:g} as {metric}, whose values lie between {low:g} and {high:g}; "
                "make it again with `steelyard report --format json`."
            )


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity, which strict JSON does not hold


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError
    return float(value)


def check_baseline(baseline: Baseline, evaluation: Evaluation) -> list[str]:
    """Refuse a baseline of another positive class; what else is different about its data, in words."""
    facts, name = baseline.facts, f"The baseline {baseline.name!r}"
    then, now = facts.get("positive", evaluation.positive), evaluation.positive
    if then != now and str(then) != str(now):
        raise InputError(
            f"{name} is of {_class_words(then)}, these predictions are of {_class_words(now)}; name the same one with "
            "--positive, or make the baseline again."
        )
    notes = []
    if (threshold := facts.get("threshold")) is not None and evaluation.threshold not in (None, threshold):
        notes.append(f"{name} was thresholded at {threshold}, these scores at {evaluation.threshold:g}.")
    counts = getattr(evaluation, "counts", None)  # which label sets have not
    cells = None if counts is None else counts.to_dict()
    rows = _rows_words(facts.get("rows"), facts.get("counts")), _rows_words(evaluation.rows, cells)
    if rows[0] and rows[0] != rows[1]:
        notes.append(f"{name} is of other data, {rows[0]}; these are {rows[1]}.")
    labels = facts.get("labels")
    if isinstance(labels, list) and {*map(str, labels)} != {*map(str, evaluation.labels)}:
        notes.append(f"{name} has the labels {first_ten(labels)}; these are {first_ten(evaluation.labels)}.")
    return notes


def _class_words(positive: Label) -> str:
    return "no positive class" if positive is None else f"the positive class {positive!r}"


def _rows_words(rows: object, cells: object) -> str:
    """How many rows there are, and how many of the positive class where there is one."""
    if not isinstance(rows, int):
        return ""
    if not isinstance(cells, dict) or not all(isinstance(cells.get(cell), (int, float)) for cell in ("tp", "fn")):
        return f"{rows:,} rows"
    return f"{rows:,} rows, {cells['tp'] + cells['fn']:,.6g} of them positive"
