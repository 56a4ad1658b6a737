"""Versus: the body of a comparison's page: differences with intervals, both values, the order of the metrics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.analysis.rows import p_digits, three_digits
from steelyard.errors import SteelyardError
from steelyard.metrics.registry import get_metric
from steelyard.report.document import clipped, filled, name, scrolled, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.analysis.comparison import Comparison
    from steelyard.analysis.metric_ranking import Ranking
    from steelyard.analysis.paired_difference import Difference

SIGNIFICANT = 0.05


def body(comparison: Comparison, source: str, more: str = "") -> str:
    """The page of a comparison; every pair of models has a part of its own."""
    return filled(
        "versus.html",
        source=name(source),
        rows=f"{comparison.n:,}",
        count=str(len(comparison.models)),
        models=", ".join(map(name, comparison.models)),
        about=_about(comparison),
        verdict="".join(f"<p>{sentence}</p>" for sentence in _verdict(comparison)),
        pairs="".join(_pair(comparison, a, b) for a, b in _pairs(comparison)),
        runs=more,
    )


def _pairs(comparison: Comparison) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.a, row.b) for row in comparison.rows))


def _verdict(comparison: Comparison) -> list[str]:
    """Which metrics tell the models apart, and in whose favour."""
    return [_said(comparison, a, b) for a, b in _pairs(comparison)]


def _said(comparison: Comparison, a: str, b: str) -> str:
    rows = [row for row in comparison.rows if (row.a, row.b) == (a, b) and math.isfinite(row.difference)]
    sure = [row for row in rows if row.p_holm < SIGNIFICANT]
    won = {model: [_title(row) for row in sure if _favoured(row) == model] for model in (a, b)}
    told = [f"{name(model)} is ahead by {text(_listed(titles, len(rows)))}" for model, titles in won.items() if titles]
    open_rows = len(rows) - sum(map(len, won.values()))
    if not told:
        return f"No metric of {len(rows)} tells {name(a)} from {name(b)} beyond chance, all weighed together (Holm)."
    rest = f"; {open_rows} of {len(rows)} metrics leave it open" if open_rows else ""
    return f"{'; '.join(told)} (p below 0.05 for all metrics together, Holm){rest}."


def _listed(titles: Sequence[str], of: int) -> str:
    return ", ".join(titles) if len(titles) <= 4 else f"{len(titles)} of {of} metrics"


def _title(row: Difference) -> str:
    return get_metric(row.metric).title


def _favoured(row: Difference) -> str | None:
    sign = {"higher": 1, "lower": -1}.get(str(get_metric(row.metric).direction), 0)
    return None if sign * row.difference == 0 else row.a if sign * row.difference > 0 else row.b


# ---------------------------------------------------------------- the differences


def _pair(comparison: Comparison, a: str, b: str) -> str:
    rows = [row for row in comparison.rows if (row.a, row.b) == (a, b)]
    ends = [end for row in rows for end in (row.low, row.high, row.difference) if math.isfinite(end)]
    most = max(map(abs, ends), default=0.0) or 1.0
    heads = (
        "metric",
        f'<span class="model-a">{name(a)}</span>',
        f'<span class="model-b">{name(b)}</span>',
        "over the range",
        "difference",
        f"{100 * comparison.level:g} % interval",
        f"from {three_digits(-most)} to {three_digits(most)}",
        "p",
        "p (Holm)",
    )
    table = _table(heads, [_difference(row, most) for row in rows], "versus")
    said = [text(repr(test)) for test in comparison.mcnemar if (test.a, test.b) == (a, b)]
    tests = "".join(f'<p class="soft">{words}</p>' for words in said)
    pair = f'data-a="{text(clipped(a))}" data-b="{text(clipped(b))}"'  # a metric has a row for each pair
    return f"<section {pair}><h2>{name(a)} minus {name(b)}</h2>{table}{tests}</section>{_order(comparison, a, b)}"


def _difference(row: Difference, most: float) -> str:
    cells = [three_digits(row.value_a), three_digits(row.value_b), _both(row), three_digits(row.difference)]
    if math.isfinite(row.difference):
        between = f"{three_digits(row.low)} to {three_digits(row.high)}"
        cells += [between, _gap(row, most), text(p_digits(row.p_value)), text(p_digits(row.p_holm))]
    else:
        cells += [text(row.why or "undefined"), "", "–", "–"]
    value = repr(row.difference) if math.isfinite(row.difference) else ""
    inside = "".join(f"<td{_kind(i)}>{cell}</td>" for i, cell in enumerate(cells))
    head = f'<th scope="row">{text(_title(row))}</th>'
    return f'<tr data-metric="{text(row.metric)}" data-value="{value}">{head}{inside}</tr>'


def _kind(place: int) -> str:
    return ' class="picture"' if place in (2, 5) else ""


def _both(row: Difference) -> str:
    """The values of both models over the range of the metric."""
    low, high = get_metric(row.metric).range
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    marks = "".join(
        f'<circle class="mark-{key}" cx="{_across((value - low) / (high - low))}" cy="8" r="4"/>'
        for key, value in (("a", row.value_a), ("b", row.value_b))
        if math.isfinite(value)
    )
    return f'<svg height="16" aria-hidden="true"><line class="track" x1="0%" x2="100%" y1="8" y2="8"/>{marks}</svg>'


def _gap(row: Difference, most: float) -> str:
    """The difference and its interval, zero in the middle."""
    low, middle, high = ((end / most + 1) / 2 for end in (row.low, row.difference, row.high))
    return (
        '<svg height="16" aria-hidden="true"><line class="zero" x1="50%" x2="50%" y1="0" y2="16"/>'
        f'<rect class="gap" x="{_across(low)}" width="{_across(high - low)}" y="4" height="8" rx="2"/>'
        f'<circle class="gap-mark" cx="{_across(middle)}" cy="8" r="3"/></svg>'
    )


def _across(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def _table(heads: Iterable[str], lines: Iterable[str], kind: str) -> str:
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    inside = f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return scrolled(f'<table class="{kind}">{inside}</table>', "Differences" if kind == "versus" else "Order")


# ---------------------------------------------------------------- the order of the metrics


def _order(comparison: Comparison, a: str, b: str) -> str:
    try:
        found = comparison.ranking(a, b)
    except SteelyardError:
        return ""
    shares = sorted({place.prevalence for place in found.places})
    heads = ["metric", "rank", "difference", "favours", *(f"at {100 * share:g} %" for share in shares)]
    lines = [_standing(found, standing.metric, shares) for standing in found.order]
    return f"<section><h2>The order of the metrics</h2>{NOTE}{_table(heads, lines, 'plain')}</section>"


NOTE = (
    '<p class="soft">The metrics by how much they favour the first model; a line where the sign turns. '
    "At other prevalences: the rank there and the sign.</p>"
)


def _standing(found: Ranking, metric: str, shares: Sequence[float]) -> str:
    standing = next(s for s in found.order if s.metric == metric)
    there = {place.prevalence: place for place in found.places if place.metric == metric}
    side = {found.a: "model-a", found.b: "model-b"}.get(str(standing.favours), "soft")
    cells = [
        _rank(standing.rank),
        three_digits(standing.difference),
        f'<span class="{side}">{name(standing.favours)}</span>' if standing.favours else "–",
        *(f'{_rank(there[share].rank)} <span class="soft">{text(there[share].sign)}</span>' for share in shares),
    ]
    kind = ' class="turn"' if metric in found.changes else ""
    inside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr{kind}><th scope="row">{text(get_metric(metric).title)}</th>{inside}</tr>'


def _rank(rank: Any) -> str:
    return "–" if rank is None else str(rank)


def _about(comparison: Comparison) -> str:
    methods = ", ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
    lines = (
        f"Differences are of the same rows, with paired {100 * comparison.level:g} % intervals ({methods}); "
        "p-values of all rows of the table together are Holm's.",
        f"Steelyard {__version__}.",
    )
    return "".join(f"<p>{text(line)}</p>" for line in lines)
