"""Pieces: the parts of a page's HTML that come from one evaluation. Used by the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.analysis.rows import three_digits
from steelyard.report import tables
from steelyard.report.document import name, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import Evaluation

CURVES = {"roc": "ROC curve", "pr": "Precision and recall", "gain": "Gain"}
OVER = {"over-threshold": "Measures over the threshold", "over-prevalence": "Measures over prevalence"}
PROBABILITIES = {"reliability": "Reliability", "decision": "Decision curve"}
CELLS = {"tp": "found", "fn": "missed", "fp": "flagged in error", "tn": "left alone"}


def pieces(evaluation: Evaluation, source: str, data: dict[str, Any]) -> dict[str, str]:
    """Every part of the page's template."""
    level = f"{100 * evaluation.level:g} %"
    head, said = verdict(evaluation.verdict)
    return {
        "facts": facts_of(evaluation, source, f"positive {name(evaluation.positive)}"), "head": head, "verdict": said, "classes_first": "",
        "controls": controls(data), "now": now(data), "table_title": "The table as areas", "cells": _cells(evaluation, data),
        "distribution": _figure("scores", "Scores by class") if "cuts" in data else "", "level": level,
        "of_class": "", "measures": tables.measure_rows(evaluation), "charts": _charts(data), "tables": tables_of(evaluation),
        "about": _about(evaluation, data),
    }  # fmt: skip


def verdict(sentences: Sequence[str]) -> tuple[str, str]:
    """The first sentence as the heading, and the others."""
    first, *rest = (
        sentence.replace(" %", "\u00a0%") for sentence in sentences or ["Nothing can be said of this table."]
    )
    return text(first), "".join(f"<p>{text(sentence)}</p>" for sentence in rest)


def facts_of(evaluation: Evaluation, source: str, *more: str) -> str:
    """The line at the top: what was read, how many rows, and about which class."""
    return " · ".join(["", name(source), f"{evaluation.rows:,} rows", *more]).strip()


# ---------------------------------------------------------------- controls


def controls(data: dict[str, Any]) -> str:
    """The sliders, and what to optimise."""
    parts = [_threshold_control(data)] if "cuts" in data else []
    stop = data["stops"][data["stop"]]
    parts.append(_slider("prevalence", "prevalence", len(data["stops"]) - 1, data["stop"], repr(stop), _percent(stop)))
    parts.append(
        _choice(data)
        if "cuts" in data
        else '<div class="control"><button type="button" id="reset">As evaluated</button></div>'
    )
    return "".join(parts)


def now(data: dict[str, Any]) -> str:
    """Where the sliders stand before anybody moves them."""
    if "cuts" not in data:
        where = "the predictions as they were made"
    elif data["cut"] is None:
        where = "the predictions as they were made; the slider cuts the scores instead"
    else:
        cut = data["cuts"]["threshold"][data["cut"]]
        where = "nobody flagged" if cut is None else f"scores of {three_digits(cut)} and more flagged"
    share = data["stops"][data["stop"]]
    which = "the sample's" if share == data["view"]["share"] else "as asked for"
    return text(
        f"As evaluated: {where}, {_percent(share)} of the rows positive ({which}). Move a slider, and every number follows."
    )


def _threshold_control(data: dict[str, Any]) -> str:
    cuts, place = data["cuts"]["threshold"], data["cut"]
    last = len(cuts) - 1
    cut = None if place is None else cuts[place]
    exact = "" if place is None else "Infinity" if cut is None else repr(cut)
    shown = "as predicted" if place is None else "nobody flagged" if cut is None else three_digits(cut)
    # To the right is a higher threshold, and the cuts are listed from the highest down.
    return _slider("threshold", "threshold", last, last - (data["near"] if place is None else place), exact, shown)


def _slider(key: str, label: str, last: int, place: int, exact: str, shown: str) -> str:
    return (
        f'<div class="control"><label for="{key}">{label}</label><output for="{key}" id="{key}-shown">{text(shown)}</output>'
        f'<input type="range" id="{key}" min="0" max="{last}" step="1" value="{place}" data-{key}="{exact}" '
        f'aria-valuetext="{text(shown)}"></div>'
    )


def _choice(data: dict[str, Any]) -> str:
    chosen = [row for row in data["measures"] if row.get("best") is not None]
    usual = "ac_score" if any(row["name"] == "ac_score" for row in chosen) else None
    options = "".join(
        f'<option value="{text(row["name"])}"{" selected" if row["name"] == usual else ""}>{text(row["title"])}</option>'
        for row in chosen
    )
    return (
        f'<div class="control choice"><label for="optimise">optimise</label><select id="optimise" aria-label="measure to optimise">{options}</select>'
        '<button type="button" id="jump"><span class="roomy">Jump to the </span>best cut</button>'
        '<button type="button" id="reset">As evaluated</button></div>'
    )


def _percent(share: float) -> str:
    return f"{three_digits(100 * share)}\u00a0%"


# ---------------------------------------------------------------- the table, the charts, the rest


def _cells(evaluation: Evaluation, data: dict[str, Any]) -> str:
    """The four cells in numbers, rows true and columns predicted."""
    numbers = dict(zip(CELLS, data["view"]["cells"], strict=True))
    cell = lambda key: (
        f'<td data-cell="{key}" data-value="{tables.digits(numbers[key])}">{tables.count(numbers[key])}</td>'
    )  # noqa: E731
    unit = "weight" if data["weighted"] else "rows"
    rows = [
        ("positive", "tp", "fn", numbers["tp"] + numbers["fn"]), ("negative", "fp", "tn", numbers["fp"] + numbers["tn"]),
    ]  # fmt: skip
    body = "".join(
        f'<tr><th scope="row">truly {kind}</th>{cell(a)}{cell(b)}<td class="sum">{tables.count(total)}</td></tr>'
        for kind, a, b, total in rows
    )
    heads = "".join(f'<th scope="col">{title}</th>' for title in ("flagged", "left alone", "all"))
    return f'<table id="cells"><thead><tr><td class="soft">{unit}</td>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _figure(key: str, title: str) -> str:
    return (
        f'<figure><h2>{text(title)}</h2><div class="chart" id="{key}" role="img" aria-label="{text(title)}"></div>'
        f'<p class="readout" id="{key}-readout"></p></figure>'
    )


def _charts(data: dict[str, Any]) -> str:
    scores = "cuts" in data
    over = OVER if scores else {"over-prevalence": OVER["over-prevalence"]}
    parts = [_grid("Curves", CURVES)] if scores else []
    parts.append(_grid("Measures over the cut and the prevalence", over, "grid two") + CHOOSER)
    parts += [_grid("Scores as probabilities", PROBABILITIES, "grid two")] if data.get("reliability") else []
    return "".join(f"<section>{part}</section>" for part in parts)


CHOOSER = (
    '<details id="chosen"><summary>Choose the measures that are drawn</summary><div class="choices"></div></details>'
)


def _grid(title: str, figures: dict[str, str], kind: str = "grid") -> str:
    drawn = "".join(_figure(key, words) for key, words in figures.items())
    return f'<h2 class="hidden">{title}</h2><div class="{kind}">{drawn}</div>'


def tables_of(evaluation: Evaluation) -> str:
    """The classes and the groups."""
    parts = []
    if evaluation.per_class:
        parts.append(f"<section><h2>Classes</h2>{tables.class_table(evaluation)}</section>")
    groups = list(getattr(evaluation, "groups", ()))
    if groups:
        parts.append(f"<section><h2>Groups</h2>{tables.group_table(groups)}</section>")
    return "".join(parts)


METHODS = {
    "posterior": "{}: quantiles of tables drawn from the posterior, with half a row added to each cell",
    "deviance": "{}: the range over the likely draws where the formula has a kink near by, their quantiles elsewhere",
    "score": "{}: a score interval",
    "bayesian-bootstrap": "{}: a Bayesian bootstrap of the scores",
}


def _about(evaluation: Evaluation, data: dict[str, Any]) -> str:
    used: dict[str, list[str]] = {}
    for row in evaluation.metrics:
        used.setdefault(row.method, []).append(row.name)
    said = [METHODS.get(method, f"{{}}: {method}").format(_some(names)) for method, names in used.items() if method]
    lines = [*evaluation.assumed]
    lines.append(
        f"Intervals ({100 * evaluation.level:g} %): {'; '.join(said)}. Seed {evaluation.seed}." if said else ""
    )
    lines.append(
        "Where a slider was moved, values follow at once by the same formulas, printed by the registry; the intervals of "
        "the measures of one cut are drawn anew in this page by the same posterior, 2,000 draws with a fixed seed. "
        "Another prevalence re-weighs the rows of each class and keeps what share of them is right."
    )
    if "cuts" in data and data["all_cuts"] > len(data["cuts"]["tp"]):
        lines.append(
            f"The slider holds {len(data['cuts']['tp']):,} of {data['all_cuts']:,} cuts, the best one of every measure "
            "among them, each with its exact counts; areas are of all scores."
        )
    lines.append(f"Steelyard {__version__}. To cite a measure, open it above: its source is given there.")
    return "".join(f"<p>{text(line)}</p>" for line in lines if line)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} measures"
