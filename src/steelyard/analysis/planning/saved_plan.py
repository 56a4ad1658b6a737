"""Saved plan: the fields of a label plan in JSON, each read as the kind that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.planning.label_plan import LABEL_COLUMN
from steelyard.analysis.results.result_json import read_metric
from steelyard.arrays.backend import DOUBLE, PRECISIONS
from steelyard.arrays.numbers import LARGEST

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.tables.saved import SavedField


def plan_fields(saved: SavedField) -> dict[str, Any]:
    """The fields of a plan by name, its strata as their numbers; what is of another kind is refused by its name."""
    threshold, keys, label = (saved.get(name) for name in ("threshold", "keys", "label"))
    precision = saved.get("precision").text_or_none() or DOUBLE
    if precision not in PRECISIONS:
        raise saved["precision"].refused(f"one of {', '.join(PRECISIONS)}")
    return {
        "spec": read_metric(saved["metric"].text()),
        "threshold": None if threshold.value is None else threshold.number(),
        "rows": _count(saved["rows"]),
        "score": np.array([score.number() for score in saved["score"].each()], dtype=np.float64),
        **{name: _counts(saved[name]) for name in ("index", "stratum", "batch")},
        "strata": [_stratum(stratum) for stratum in saved["strata"].each()],
        "gain": saved["gain"].number(),
        "key": saved.get("key").text_or_none(),
        "keys": None if keys.value is None else tuple(key.scalar() for key in keys.each()),
        "score_column": saved.get("score_column").text_or_none(),
        "precision": precision,
        "stated": tuple(sentence.text() for sentence in saved.get("stated").each_or_none()),
        "label": None if label.value is None else tuple(each.scalar() for each in label.each()),
        "label_column": saved.get("label_column").text_or_none() or LABEL_COLUMN,
    }


def _stratum(field: SavedField) -> tuple[float, int, int, float]:
    rows, labels = (_count(field[name]) for name in ("rows", "labels"))
    return field["lowest_score"].number(), rows, labels, field["expected"].number()


def _counts(field: SavedField) -> Array:
    return np.array([_count(each) for each in field.each()], dtype=np.int64)


def _count(field: SavedField) -> int:
    if (number := field.whole()) > LARGEST:
        raise field.refused(f"a whole number of at most {LARGEST}")
    return number
