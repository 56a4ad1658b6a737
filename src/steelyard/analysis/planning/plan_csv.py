"""Plan CSV: a label plan as a sheet to be filled in, and the plan read from it again."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import FORMULA_SIGNS
from steelyard.exceptions import InputError
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.label_kinds import parser
from steelyard.statistics.precision import PRECISIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.planning.label_plan_result import LabelPlan

LABEL_COLUMN = "label"
_NUMBERS = ("index", "score", "stratum", "batch", "lowest_score", "stratum_rows", "expected", "rows", "probability")
_TEXTS = ("metric", "threshold", "score_type", "key_column")
_WHOLE = ("index", "stratum", "batch", "stratum_rows", "rows")
_AGAIN = "give the sheet that `to_csv` or `steelyard plan` wrote, with labels added"


def plan_text(plan: LabelPlan) -> str:
    """The rows to be labelled as CSV, each with its stratum, and a column for the labels."""
    text = io.StringIO()
    key = [] if plan.key is None else [plan.key]
    own_names = {*_NUMBERS, *_TEXTS, plan.label_column}
    if own_names & {*key} or plan.label_column in (*_NUMBERS, *_TEXTS):
        name = plan.key if own_names & {*key} else plan.label_column
        raise InputError(f"The sheet of a label plan has a column {name!r} of its own; rename yours, and plan again.")
    if any(name.startswith(FORMULA_SIGNS) for name in (*key, plan.label_column)):
        name = next(name for name in (*key, plan.label_column) if name.startswith(FORMULA_SIGNS))
        raise InputError(f"A spreadsheet would run the column {name!r} as a formula; rename it, and plan again.")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["index", *key, plan.label_column, *_NUMBERS[1:], *_TEXTS])
    threshold = "" if plan.threshold is None else repr(plan.threshold)
    labels = plan.label or (None,) * len(plan)
    for each, label in zip(plan, labels, strict=True):
        name = guarded_key(each.key) if isinstance(each.key, str) else each.key
        stratum = plan.strata[each.stratum]
        own = [*([] if plan.key is None else [name]), "" if label is None else label]
        of_stratum = (repr(stratum.lowest_score), stratum.rows, repr(stratum.expected), plan.rows)
        of_plan = (repr(each.probability), plan.metric, threshold, plan.precision, plan.key or "")
        writer.writerow([each.index, *own, repr(each.score), each.stratum, each.batch, *of_stratum, *of_plan])
    return text.getvalue()


def guarded_key(key: str) -> str:
    """A key of text as the sheet has it: one that a spreadsheet would run as a formula is quoted by an apostrophe."""
    return f"'{key}" if key.lstrip("'").startswith(FORMULA_SIGNS) else key  # one that is quoted gets another


def _as_given(text: str) -> str:
    return text[1:] if text.startswith("'") and guarded_key(text) != text else text


def plan_columns(saved: str | Path) -> dict[str, Any]:
    """The fields of the plan in a sheet, by name; its strata as their numbers."""
    lines = _lines(saved)
    first, key = lines[0], lines[0]["key_column"] or None
    numbers = {name: _numbers(name, [line[name] for line in lines]) for name in _NUMBERS}
    whole = {name: numbers[name].astype(np.int64) for name in _WHOLE}
    labels = [line.get(LABEL_COLUMN) for line in lines]
    return {
        "spec": MetricSpec.of(first["metric"]),
        "threshold": float(_numbers("threshold", [first["threshold"]])[0]) if first["threshold"] else None,
        "rows": int(whole["rows"][0]),
        "score": numbers["score"],
        "gain": math.nan,
        "strata": _strata(numbers, whole),
        "precision": first["score_type"],
        "key": key,
        "keys": None if key is None else _keys([_as_given(line[key]) for line in lines]),
        "label": _labels(labels) if any(labels) else None,
        **{name: whole[name] for name in ("index", "stratum", "batch")},
    }


def _lines(saved: str | Path) -> list[dict[str, str]]:
    """The lines of a sheet, by the names of its columns, all of which are there."""
    lines = list(csv.DictReader(io.StringIO(_text(saved))))
    if not lines:
        raise InputError(f"This label plan has no rows; {_AGAIN}.")
    needed = (*_NUMBERS, *_TEXTS, *filter(None, [lines[0].get("key_column")]))
    if lacking := [name for name in needed if name not in lines[0]]:
        raise InputError(f"This is no whole label plan: it lacks the column {lacking[0]!r}; {_AGAIN}.")
    if (kind := lines[0]["score_type"]) not in PRECISIONS:
        raise InputError(f"The plan's column 'score_type' holds {kind!r}, not {PRECISIONS[-1]!r}; {_AGAIN}.")
    for name in (*_TEXTS, "rows"):
        for place, line in enumerate(lines):
            if line[name] != lines[0][name]:
                raise InputError(f"The plan's column {name!r} differs within the sheet, in line {place + 2}; {_AGAIN}.")
    return lines


def _numbers(name: str, texts: Sequence[str | None]) -> Array:
    """A column of numbers; one that cannot be read, or that is no probability, is named with its line."""
    values = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        try:
            values[place] = float(text or "")
        except ValueError:
            is_bad = True
        else:
            is_share, is_whole = 0 < values[place] <= 1, values[place] >= 0 and values[place].is_integer()
            fits = is_share if name == "probability" else is_whole if name in _WHOLE else math.isfinite(values[place])
            is_bad = not fits
        if is_bad:
            kind = "a number above 0 and at most 1" if name == "probability" else "a number"
            kind = "a whole number" if name in _WHOLE else kind
            given = f"holds {text!r}" if text else "is empty"
            raise InputError(f"The plan's column {name!r} {given} in line {place + 2}, not {kind}; {_AGAIN}.")
    return values


def _strata(numbers: dict[str, Any], whole: dict[str, Any]) -> list[tuple[float, int, int, float]]:
    """The strata with as many labels as their probability has it, which the rows of the sheet are held to."""
    codes = np.unique(whole["stratum"])
    if not np.array_equal(codes, np.arange(len(codes))):
        raise InputError(f"This label plan lacks the rows of a stratum; {_AGAIN}.")
    first = [int(np.flatnonzero(whole["stratum"] == code)[0]) for code in codes]
    for name in ("lowest_score", "stratum_rows", "expected", "probability"):
        other = np.flatnonzero(numbers[name] != numbers[name][first][whole["stratum"]])
        if len(other):
            line = int(other[0]) + 2
            raise InputError(f"The plan's column {name!r} differs within a stratum, in line {line}; {_AGAIN}.")
    rows = whole["stratum_rows"][first]
    labels = np.rint(numbers["probability"][first] * rows).astype(np.int64)
    columns = (numbers["lowest_score"][first], rows, labels, numbers["expected"][first])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _labels(texts: Sequence[str | None]) -> tuple[Any, ...]:
    """The labels, as numbers where all of them are; None where there is none."""
    parse = parser([text for text in texts if text])
    return tuple(None if not text else text if parse is None else parse(text) for text in texts)


def _keys(texts: Sequence[str]) -> tuple[Any, ...]:
    """The keys, as numbers where all of them are."""
    parse = parser(texts)
    return tuple(texts) if parse is None else tuple(parse(text) for text in texts)


def _text(saved: str | Path) -> str:
    if isinstance(saved, str) and "\n" in saved:
        return saved
    try:
        return Path(saved).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise InputError(f"{str(saved)!r} is neither CSV that to_csv() wrote nor a file of it.") from None
