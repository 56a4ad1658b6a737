"""Multilabel sections: whole rows, metrics, each label and the labels that stand in for others, on one page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from steelyard._names import __version__
from steelyard.analysis.results.formatting import percent_text, three_digits, unbroken
from steelyard.report.pages.document import clipped, label_html, rendered_html
from steelyard.report.pages.frame import Section, framed
from steelyard.report.pages.html_tables import interval_cell, metric_line
from steelyard.report.pages.page_numbers import finite_or_none, rounded
from steelyard.report.pages.sections import page_verdict
from steelyard.report.source_facts import column_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import LabelRow, MetricRow
    from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
    from steelyard.report.pages.html_tables import MetricLine

_MOST_LISTED, _WEAKEST = 100, 50  # labels that stand without the script; of more the weakest
_MOST_GROUPS = 60
_METHODS = (
    "Intervals draw whole rows, never cells: the labels of one row depend on each other. Averages over labels have the "
    "error of their rows' influence, widened where the interval of a label is wider than that; means over rows are "
    "Jeffreys' intervals of as many rows as their variance is worth; a label alone has the interval of its own table. "
    "The no-skill baseline predicts every label as often, whatever is true of the row: of whole rows by shuffling them."
)


@dataclass(frozen=True)
class BarLine:
    """A metric as its line shows it, with the value, the interval and the baseline across its range in percent."""

    line: MetricLine
    at: tuple[float, float, float] | None
    chance: float | None


@dataclass(frozen=True)
class LabelLine:
    """A label as its line shows it: its name, how common it is, its metrics, and the first of them across its range."""

    place: int
    label: str
    words: Sequence[str]
    cells: Sequence[str]
    at: tuple[float, float, float] | None


def multilabel_page(evaluation: MultilabelEvaluation, source: str, more: Sequence[Section] = ()) -> str:
    """The page of an evaluation of label sets as one HTML file, with `more` sections after its own."""
    facts = [label_html(source), f"{evaluation.rows:,} rows", *map(label_html, column_facts(evaluation))]
    return framed(
        "labels",
        f"{clipped(source)} · Steelyard",
        [*facts, f"{len(evaluation.per_label):,} labels"],
        [
            _opening(evaluation),
            _metrics(evaluation),
            *_labels(evaluation),
            *_others(evaluation),
            *more,
            _about(evaluation),
        ],
        exports=("JSON", "CSV"),
    )


def _opening(evaluation: MultilabelEvaluation) -> Section:
    outcomes = evaluation.outcomes
    shares = (
        []
        if outcomes is None
        else [
            ("all labels right", percent_text(outcomes.all_right)),
            ("a label missed", percent_text(outcomes.missed)),
            ("a false label", percent_text(outcomes.false)),
            ("labels per row", three_digits(outcomes.labels_true)),
            ("predicted per row", three_digits(outcomes.labels_predicted)),
        ]
    )
    return Section(rendered_html("label_opening.html", verdict=page_verdict(evaluation.verdict), shares=shares))


def _metrics(evaluation: MultilabelEvaluation) -> Section:
    blocks: dict[str, list[BarLine]] = {}
    for row in evaluation.metrics:
        blocks.setdefault(evaluation.headings[row.name], []).append(_bar_line(row))
    html = rendered_html("label_metrics.html", blocks=blocks, level=_level(evaluation))
    return Section(html, {"metrics": [row.row() for row in evaluation.metrics]})


def _bar_line(row: MetricRow) -> BarLine:
    low, high = row.spec.metric.range
    scale = (low, high) if math.isfinite(low) and math.isfinite(high) else None
    chance = None if scale is None or not math.isfinite(row.chance) else _percent(row.chance, *scale)
    return BarLine(metric_line(row), None if scale is None else _at(row, *scale), chance)


def _percent(value: float, low: float, high: float) -> float:
    return round(100 * (value - low) / (high - low), 2)


def _at(part: MetricRow | Interval, low: float, high: float) -> tuple[float, float, float] | None:
    """Where a value and its interval lie on a bar, in percent: the value, the start and the width."""
    if not math.isfinite(part.value):
        return None
    ends = (part.low, part.high) if math.isfinite(part.low) else (part.value, part.value)
    value, start, end = (_percent(each, low, high) for each in (part.value, *ends))
    return value, start, round(end - start, 2)


# ---------------------------------------------------------------- labels


def _labels(evaluation: MultilabelEvaluation) -> list[Section]:
    rows = evaluation.per_label
    if not rows:
        return []
    names = list(rows[0].metrics)
    leading = "f1" if "f1" in names else names[0]
    order = sorted(range(len(rows)), key=lambda place: _weakness(rows[place], leading))
    lines = [_label_line(place, rows[place], leading) for place in order]
    few = lines if len(lines) <= _MOST_LISTED else lines[:_WEAKEST]
    titles = [rows[0].metrics[name].spec.metric.phrase for name in names]
    html = rendered_html(
        "labels.html",
        heads=titles,
        names=names,
        leading=rows[0].metrics[leading].spec.metric.phrase,
        lines=few,
        listed="" if len(few) == len(lines) else f"The {len(few)} weakest of {len(lines):,} labels are listed.",
        level=_level(evaluation),
        mean=three_digits(evaluation.mean_imbalance),
    )
    data = {"labels": [_label_data(line, rows[line.place], names) for line in lines]}
    return [Section(html, {**data, "label_metrics": names})]


def _weakness(row: LabelRow, name: str) -> tuple[bool, float]:
    value = row.metrics[name].value
    return math.isnan(value), value


def _label_line(place: int, row: LabelRow, leading: str) -> LabelLine:
    facts = [
        f"{row.rows:,}",
        unbroken(percent_text(row.share)),
        three_digits(row.imbalance) if math.isfinite(row.imbalance) else "–",
    ]
    words = [*facts, *(interval_cell(interval) for interval in row.metrics.values())]
    return LabelLine(
        place, clipped(row.label), words, [_with_ends(cell) for cell in words], _at(row.metrics[leading], 0, 1)
    )


def _with_ends(cell: str) -> Markup:
    """A value with its interval, the interval apart so that it may stand below."""
    value, bracket, ends = cell.partition(" (")
    return Markup('{} <span class="ends">({}</span>').format(value, ends) if bracket else escape(cell)


def _label_data(line: LabelLine, row: LabelRow, names: Sequence[str]) -> dict[str, Any]:
    """What the script orders, finds and writes out: words as Python made them, numbers to sort by."""
    numbers = [rounded(getattr(row.metrics[name], end), 6) for name in names for end in ("value", "low", "high")]
    return {
        "place": line.place,
        "label": line.label,
        "rows": row.rows,
        "predicted": row.predicted,
        "share": rounded(row.share, 6),
        "imbalance": finite_or_none(row.imbalance) and rounded(row.imbalance, 6),
        "numbers": numbers,
        "words": line.words,
        "at": line.at,
    }


# ---------------------------------------------------------------- pairs, groups, how it was computed


def _others(evaluation: MultilabelEvaluation) -> list[Section]:
    groups = sorted(evaluation.groups, key=lambda group: -group.rows)[:_MOST_GROUPS]
    html = rendered_html(
        "label_pairs.html",
        pairs=evaluation.pairs,
        has_predictions=evaluation.outcomes is not None,
        groups=[
            [label_html(group.label, 32), f"{group.rows:,}", *(interval_cell(row) for row in group.metrics)]
            for group in groups
        ],
        head=["group", "rows", *(row.spec.title for row in groups[0].metrics)] if groups else [],
        left_out=len(evaluation.groups) - len(groups),
    )
    pairs = [
        pair.row() | {"missed": clipped(pair.missed), "predicted": clipped(pair.predicted)} for pair in evaluation.pairs
    ]
    return [Section(html, {"pairs": pairs})]


def _about(evaluation: MultilabelEvaluation) -> Section:
    seed = "" if evaluation.seed is None else f" Seed {evaluation.seed}."
    sentences = (*evaluation.assumed, f"{_METHODS}{seed}", f"Steelyard {__version__}.")
    return Section(rendered_html("about.html", about=sentences))


def _level(evaluation: MultilabelEvaluation) -> str:
    return f"{100 * evaluation.level:g} %"
