"""Comparison sections: of each pair of models the differences with intervals, and the order of the metrics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard._names import __version__
from steelyard.analysis.comparison.metric_ranking import Standing
from steelyard.analysis.results.formatting import p_digits, three_digits
from steelyard.errors import SteelyardError
from steelyard.metrics.spec import MetricSpec
from steelyard.report.document import rendered_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.metric_ranking import Ranking
    from steelyard.analysis.comparison.paired_difference import Difference

_SIGNIFICANT = 0.05
_MOST_NAMED = 4


def comparison_html(comparison: Comparison, source: str, runs: str = "") -> Markup:
    """The body of a comparison's page; every pair of models has a part of its own."""
    pairs = dict.fromkeys((row.a, row.b) for row in comparison.rows)
    return rendered_html(
        "comparison.html",
        source=source,
        rows=comparison.n,
        paired=comparison.paired,
        statements=comparison.statements,
        models=comparison.models,
        level=f"{100 * comparison.level:g} %",
        pairs=[_pair(comparison, a, b) for a, b in pairs],
        runs=runs,
        about=_about(comparison),
    )


def _pair(comparison: Comparison, a: str, b: str) -> dict[str, object]:
    rows = [row for row in comparison.rows if (row.a, row.b) == (a, b)]
    ends = [end for row in rows for end in (row.low, row.high, row.difference) if math.isfinite(end)]
    most = max(map(abs, ends), default=0.0) or 1.0
    return {
        "a": a,
        "b": b,
        **_won(rows, a, b),
        "scale": f"from {three_digits(-most)} to {three_digits(most)}",
        "rows": [_difference(row, most) for row in rows],
        "tests": [repr(test) for test in comparison.mcnemar if (test.a, test.b) == (a, b)],
        "order": _order(comparison, a, b),
    }


def _won(rows: Sequence[Difference], a: str, b: str) -> dict[str, object]:
    """Which metrics distinguish the models, and in whose favour."""
    tested = [row for row in rows if math.isfinite(row.difference)]
    significant = [row for row in tested if row.p_holm < _SIGNIFICANT]
    titles = {model: [_title(row) for row in significant if _favoured(row) == model] for model in (a, b)}
    return {
        "won": {model: _few(names, len(tested)) for model, names in titles.items() if names},
        "undecided": len(tested) - sum(map(len, titles.values())),
        "tested": len(tested),
    }


def _few(titles: Sequence[str], of: int) -> str:
    return ", ".join(titles) if len(titles) <= _MOST_NAMED else f"{len(titles)} of {of} metrics"


def _title(row: Difference | Standing) -> str:
    return MetricSpec.of(row.metric).title if isinstance(row, Standing) else row.spec.title


def _favoured(row: Difference) -> str | None:
    gain = row.spec.sign * row.difference
    return None if gain == 0 else row.a if gain > 0 else row.b


def _difference(row: Difference, most: float) -> dict[str, object]:
    cells: dict[str, object] = {
        "name": row.metric,
        "title": _title(row),
        "value_a": row.value_a,
        "value_b": row.value_b,
        "difference": row.difference,
        "marks": _marks(row),
    }
    if not math.isfinite(row.difference):
        return cells | {"between": row.why or "undefined", "gap": None, "p_value": "–", "p_holm": "–"}
    between = f"{three_digits(row.low)} to {three_digits(row.high)}"
    tests = {"p_value": p_digits(row.p_value), "p_holm": p_digits(row.p_holm)}
    return cells | {"between": between, "gap": _gap(row, most), **tests}


def _marks(row: Difference) -> dict[str, str] | None:
    """Where the values of both models lie in the range of the metric; None where it has no ends."""
    low, high = row.spec.metric.range
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    values = {"a": row.value_a, "b": row.value_b}
    return {key: _across((value - low) / (high - low)) for key, value in values.items() if math.isfinite(value)}


def _gap(row: Difference, most: float) -> dict[str, str]:
    """Where the difference and its interval lie, zero in the middle."""
    low, middle, high = ((end / most + 1) / 2 for end in (row.low, row.difference, row.high))
    return {"low": _across(low), "width": _across(high - low), "middle": _across(middle)}


def _across(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


# ---------------------------------------------------------------- the order of the metrics


def _order(comparison: Comparison, a: str, b: str) -> dict[str, object] | None:
    try:
        ranking = comparison.ranking(a, b)
    except SteelyardError:
        return None
    shares = sorted({place.prevalence for place in ranking.places})
    head = ["metric", "rank", "difference", "favours", *(f"at {100 * share:g} %" for share in shares)]
    return {"head": head, "rows": [_standing(ranking, standing, shares) for standing in ranking.order]}


def _standing(ranking: Ranking, standing: Standing, shares: Sequence[float]) -> dict[str, object]:
    there = {place.prevalence: place for place in ranking.places if place.metric == standing.metric}
    return {
        "title": _title(standing),
        "turns": standing.metric in ranking.changes,
        "rank": standing.rank,
        "difference": standing.difference,
        "favours": standing.favours,
        "side": {ranking.a: "model-a", ranking.b: "model-b"}.get(str(standing.favours), "soft"),
        "there": [there[share] for share in shares],
    }


def _about(comparison: Comparison) -> tuple[str, ...]:
    methods = ", ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
    rows = "the same rows, with paired" if comparison.paired else "different rows, taken as independent, with"
    return (
        f"Differences are of {rows} {100 * comparison.level:g} % intervals ({methods}); "
        "p-values of all rows of the table together are Holm's.",
        f"Steelyard {__version__}.",
    )
