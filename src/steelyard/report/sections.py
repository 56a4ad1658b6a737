"""Pieces: the parts of a page's HTML that come from one evaluation. Used by the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.analysis.rows import three_digits
from steelyard.metrics.registry import get_metric
from steelyard.report import controls, html_tables
from steelyard.report.document import name, scrolled, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import Evaluation

CURVES = {"roc": "ROC curve", "pr": "Precision and recall", "gain": "Gain"}
_OVER = {"over-threshold": "Metrics over the threshold", "over-prevalence": "Metrics over prevalence"}
PROBABILITIES = {"reliability": "Reliability", "decision": "Decision curve"}


def pieces(evaluation: Evaluation, source: str, data: dict[str, Any]) -> dict[str, str]:
    """Every part of the page's template."""
    level = f"{100 * evaluation.level:g} %"
    head, said = verdict(data["verdict"])
    return {
        "facts": facts_of(evaluation, source, f"positive {name(evaluation.positive)}"),
        "head": head,
        "verdict": said,
        "controls": controls.controls(data),
        "now": controls.now(data),
        "cells": _cells(data),
        "level": level,
        "distribution": _figure("scores", "Scores by class") if "cuts" in data else "",
        "charts": _charts(data),
        "table_title": "The table as areas",
        "classes_first": "",
        "of_class": "",
        "about": _about(evaluation, data),
        "metrics": html_tables.metric_rows(evaluation),
        "tables": tables_of(evaluation),
    }


def verdict(sentences: Sequence[str]) -> tuple[str, str]:
    """The first sentence as the heading, and the others."""
    whole = [sentence.replace(" %", "\u00a0%") for sentence in sentences]  # a sign does not begin a line
    first, *rest = whole or ["Nothing can be said of this table."]
    return text(first), "".join(f"<p>{text(sentence)}</p>" for sentence in rest)


def facts_of(evaluation: Evaluation, source: str, *more: str) -> str:
    """The line at the top: what was read, how many rows, and about which class."""
    return " · ".join(["", name(source), f"{evaluation.rows:,} rows", *more]).strip()


# ---------------------------------------------------------------- the table, the charts, the rest


def _cells(data: dict[str, Any]) -> str:
    """The four cells in numbers, rows true and columns predicted."""
    tp, fn, fp, tn = data["view"]["cells"]
    body = _truly("positive", {"tp": tp, "fn": fn}) + _truly("negative", {"fp": fp, "tn": tn})
    heads = "".join(f'<th scope="col">{title}</th>' for title in ("flagged", "left alone", "all"))
    unit = f'<td class="soft">{"weight" if data["weighted"] else "rows"}</td>'
    table = f'<table id="cells"><thead><tr>{unit}{heads}</tr></thead><tbody>{body}</tbody></table>'
    return scrolled(table, "The table in numbers")


def _truly(kind: str, cells: dict[str, float]) -> str:
    inside = "".join(
        f'<td data-cell="{key}" data-value="{html_tables.digits(value)}">{html_tables.count(value)}</td>'
        for key, value in cells.items()
    )
    total = html_tables.count(sum(cells.values()))
    return f'<tr><th scope="row">truly {kind}</th>{inside}<td class="sum">{total}</td></tr>'


def _figure(key: str, title: str) -> str:
    return (
        f'<figure><h3>{text(title)}</h3><div class="chart" id="{key}" role="img" aria-label="{text(title)}"></div>'
        f'<p class="readout" id="{key}-readout"></p></figure>'
    )


def _charts(data: dict[str, Any]) -> str:
    scores = "cuts" in data
    over = _OVER if scores else {"over-prevalence": _OVER["over-prevalence"]}
    parts = [_grid("Curves", CURVES)] if scores else []
    parts.append(_grid("Metrics over the cut and the prevalence", over, "grid two") + CHOOSER)
    parts += [_grid("Scores as probabilities", PROBABILITIES, "grid two")] if data.get("reliability") else []
    return "".join(f"<section>{part}</section>" for part in parts)


CHOOSER = (
    '<details id="chosen"><summary>Choose the metrics that are drawn</summary><div class="choices"></div></details>'
)


def _grid(title: str, figures: dict[str, str], kind: str = "grid") -> str:
    drawn = "".join(_figure(key, words) for key, words in figures.items())
    return f'<h2 class="hidden">{title}</h2><div class="{kind}">{drawn}</div>'


def tables_of(evaluation: Evaluation, most: int = html_tables.MOST_GROUPS) -> str:
    """The classes and the groups."""
    parts = []
    if evaluation.per_class:
        several = evaluation.positive is None
        note = STAYS.format("As evaluated") if several else ""
        stays = ' class="stays"' if several else ""
        parts.append(f"<section{stays}><h2>Classes</h2>{note}{html_tables.class_table(evaluation)}</section>")
    if evaluation.groups:
        table = html_tables.group_table(list(evaluation.groups), most)
        note = STAYS.format(_evaluated(evaluation))
        parts.append(f'<section class="stays"><h2>Groups</h2>{note}{table}</section>')
    return "".join(parts)


STAYS = '<p class="soft">{}; these numbers do not follow the sliders.</p>'


def _evaluated(evaluation: Evaluation) -> str:
    """Where the groups stand, whatever the sliders say: at a cut, as predicted, or ranked only."""
    measured = {row.name for group in evaluation.groups for row in group.metrics}
    cut = evaluation.threshold
    if cut is None or all(get_metric(name.split("[")[0]).scores for name in measured):
        return "As evaluated"
    return f"At threshold {three_digits(cut)}, as evaluated"


_METHODS = {
    "posterior": "{}: quantiles of tables drawn from the posterior, with half a row added to each cell",
    "deviance": "{}: the range over the likely draws where the formula has a kink near by, their quantiles elsewhere",
    "score": "{}: a score interval",
    "bayesian-bootstrap": "{}: a Bayesian bootstrap of the scores",
}


def _about(evaluation: Evaluation, data: dict[str, Any]) -> str:
    used: dict[str, list[str]] = {}
    for row in evaluation.metrics:
        used.setdefault(row.method, []).append(row.name)
    said = [_METHODS.get(method, f"{{}}: {method}").format(_some(names)) for method, names in used.items() if method]
    lines = [*evaluation.assumed]
    lines.append(
        f"Intervals ({100 * evaluation.level:g} %): {'; '.join(said)}. Seed {evaluation.seed}." if said else ""
    )
    lines.append(
        "Where a slider was moved, values follow at once by the same formulas, printed by the registry; the intervals "
        "of the metrics of one cut are drawn anew in this page by the same posterior, "
        f"{data['draws']:,} draws with a fixed seed. "
        "Another prevalence re-weighs the rows of each class and keeps what share of them is right."
    )
    if "cuts" in data and data["all_cuts"] > len(data["cuts"]["tp"]):
        lines.append(
            f"The slider holds {len(data['cuts']['tp']):,} of {data['all_cuts']:,} cuts, the best one of every metric "
            "among them, each with its exact counts; areas are of all scores. At another prevalence the best cut is "
            "looked for among those that it holds."
        )
    if grouped := data.get("grouped"):
        lines.append(
            f"At another prevalence the metrics of all scores are of {grouped['groups']:,} groups of neighbouring "
            "scores; at the lowest, the middle and the highest prevalence all scores were weighed as well, and none of "
            f"these metrics was off by more than {three_digits(grouped['off'])}."
        )
    lines.append(f"Steelyard {__version__}. To cite a metric, open it above: its source is given there.")
    return "".join(f"<p>{text(line)}</p>" for line in lines if line)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} metrics"
