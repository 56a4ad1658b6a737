"""Printed: what Predictions print, a line for each thing that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import checks, label_codes
from steelyard.exceptions import SteelyardError
from steelyard.frames.groups import group_columns

if TYPE_CHECKING:
    from steelyard.predictions.predictions import Predictions

_ENGINES = {"polars": "Polars", "pandas": "pandas", "pyarrow": "PyArrow", "duckdb": "DuckDB", "pyspark": "Spark"}


def _truth_line(p: Predictions) -> str:
    given, name = p.given, "" if p.given.true is None or not isinstance(p.given.true, str) else f"{p.given.true}: "
    if not p.has_truth:
        return "none: rows without labels"
    if given.is_remote:
        return str(given.true)
    if p.are_sets:
        return f"{name}{len(p.labels):,} labels, several a row"
    if given.is_table:
        return repr(given.data).splitlines()[0]
    truth = p.collect().given.data
    codes, labels = label_codes.encode(checks.column(truth, "y_true"))
    counts = np.bincount(codes, minlength=len(labels))
    total = int(counts.sum())
    order = np.argsort(counts, kind="stable")
    shown = [f"{counts[i]:,} are {labels[i]!r}" for i in order[:6]]
    if len(labels) == 2:
        shown[0] += f" ({100 * counts[order[0]] / total:.3g} %)"
    more = f" and {len(labels) - 6} more classes" if len(labels) > 6 else ""
    try:
        positive = f"; the positive class is {p.positive!r}" if len(labels) == 2 else ""
    except SteelyardError:
        positive = "; which class is positive is not clear: pos_label="
    return f"{name}{', '.join(shown)}{more}{positive}"


def _models_line(p: Predictions) -> str:
    given = p.given
    if given.is_table or not given.models:
        return ""
    names = ", ".join(filter(None, p.models))
    if given.is_remote:
        return f"{names}: {'scores' if p.has_scores else 'labels'}"
    kind = p.kind
    if kind == "scores" and p.has_truth:
        first = p[p.models[0]]
        probable = first.score_table().has_probabilities
        kind = "probabilities" if probable else "scores"
        if given.threshold is None:
            kind += "; threshold 0.5 (assumed)" if probable else "; ranked only, without a threshold"
    if given.threshold is not None:
        kind += f"; threshold {given.threshold}"
    return f"{names}: {kind}" if names else kind


def _design_line(p: Predictions) -> str:
    given = p.given
    parts = [given.design if isinstance(given.design, str) else "by a label plan"]
    if given.cluster is not None:
        name = given.cluster if isinstance(given.cluster, str) else getattr(given.cluster, "name", None)
        if given.is_remote or given.is_table:
            parts.append(f"clusters by {name}")
        else:
            clusters = len(np.unique(checks.column(p.collect().given.cluster, "cluster").astype(str)))
            parts.append(f"{clusters:,} clusters{f' by {name}' if name else ''}")
    for use, value in (("weights", given.sample_weight), ("frequencies", given.frequency)):
        if value is not None:
            parts.append(f"{use}{f' by {value}' if isinstance(value, str) else ''}")
    if given.filter is not None:
        parts.append(f"where {given.filter}")
    return "; ".join(parts)


def _groups_line(p: Predictions) -> str:
    if not p.by:
        return ""
    if p.given.is_remote or p.given.is_table:
        return ", ".join(p.by)
    columns = group_columns(p.collect().given.by)
    return ", ".join(f"{name}: {len(set(column.tolist())):,}" for name, column in columns.items())


def _columns_line(p: Predictions) -> str:
    given = p.given
    named = [given.true, given.sample_weight, given.frequency, given.cluster, *p.by]
    named += [name for model in given.models.values() for name in model]
    used = {name for name in named if isinstance(name, str)} if given.is_frame else set()
    names = [name for name in p.columns if name not in used]
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


_LINES = {
    "truth": _truth_line,
    "models": _models_line,
    "design": _design_line,
    "groups": _groups_line,
    "columns": _columns_line,
}


def printed(p: Predictions) -> str:
    """What the rows hold; what cannot be read says why. A remote engine is asked nothing."""
    lines = [_first_line(p)]
    for head, describe in _LINES.items():
        try:
            text = describe(p)
        except (SteelyardError, OSError) as problem:
            text = f"not read: {problem}"
        if text:
            lines.append(f"  {head:<9}{text}")
    return "\n".join(lines)


def _first_line(p: Predictions) -> str:
    where = "" if p.source == "arrays" else f" in {p.source}"
    try:
        engine = f" ({_ENGINES.get(p.engine, p.engine)})" if p.given.is_frame else ""
        rows = "rows" if p.given.is_remote else f"{p.rows:,} rows"
    except (SteelyardError, OSError, ValueError, TypeError):
        engine, rows = "", "rows"
    return f"Predictions of {rows}{where}{engine}"
