"""Plan CSV: a label plan as a sheet to be filled in, and the plan read from it again."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.label_kinds import parser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.planning.label_plan_result import LabelPlan

_NUMBERS = ("index", "score", "stratum", "batch", "lowest_score", "stratum_rows", "expected", "rows")
_TEXTS = ("probability", "metric", "threshold", "precision")


def plan_text(plan: LabelPlan) -> str:
    """The rows to be labelled as CSV, each with its stratum."""
    text = io.StringIO()
    key = [] if plan.key is None else [plan.key]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["index", *key, *_NUMBERS[1:], *_TEXTS])
    threshold = "" if plan.threshold is None else repr(plan.threshold)
    for each in plan:
        stratum = plan.strata[each.stratum]
        own = [] if plan.key is None else [each.key]
        of_stratum = (repr(stratum.lowest_score), stratum.rows, repr(stratum.expected), plan.rows)
        of_plan = (repr(each.probability), plan.metric, threshold, plan.precision)
        writer.writerow([each.index, *own, repr(each.score), each.stratum, each.batch, *of_stratum, *of_plan])
    return text.getvalue()


def plan_columns(saved: str | Path) -> dict[str, Any]:
    """The fields of the plan in a sheet, by name; its strata as their numbers."""
    lines = list(csv.DictReader(io.StringIO(_text(saved))))
    if not lines or not {*_NUMBERS, *_TEXTS} <= {*lines[0]}:
        raise InputError("This is no label plan: it lacks columns that to_csv() writes. Give the sheet of the plan.")
    try:
        numbers = {name: np.array([float(line[name]) for line in lines]) for name in _NUMBERS}
    except (TypeError, ValueError):
        raise InputError("A number of this label plan cannot be read; give the sheet that to_csv() wrote.") from None
    whole = {name: numbers[name].astype(np.int64) for name in ("index", "stratum", "batch", "stratum_rows", "rows")}
    names = list(lines[0])
    key = names[1] if names[1] != _NUMBERS[1] else None
    first = lines[0]
    return {
        "spec": MetricSpec.of(first["metric"]),
        "threshold": float(first["threshold"]) if first["threshold"] else None,
        "rows": int(whole["rows"][0]),
        "score": numbers["score"],
        "gain": math.nan,
        "strata": _strata(numbers, whole),
        "precision": first["precision"],
        "key": key,
        "keys": None if key is None else _keys([line[key] for line in lines]),
        **{name: whole[name] for name in ("index", "stratum", "batch")},
    }


def _strata(numbers: dict[str, Any], whole: dict[str, Any]) -> list[tuple[float, int, int, float]]:
    codes, labels = np.unique(whole["stratum"], return_counts=True)
    if not np.array_equal(codes, np.arange(len(codes))):
        raise InputError("This label plan lacks the rows of a stratum; give the whole sheet that to_csv() wrote.")
    first = [int(np.flatnonzero(whole["stratum"] == code)[0]) for code in codes]
    columns = (numbers["lowest_score"][first], whole["stratum_rows"][first], labels, numbers["expected"][first])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _keys(texts: Sequence[str]) -> tuple[Any, ...]:
    """The keys, as numbers where all of them are."""
    parse = parser(texts)
    return tuple(texts) if parse is None else tuple(parse(text) for text in texts)


def _text(saved: str | Path) -> str:
    if isinstance(saved, str) and "\n" in saved:
        return saved
    try:
        return Path(saved).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InputError(f"{str(saved)!r} is neither CSV that to_csv() wrote nor a file of it.") from None
