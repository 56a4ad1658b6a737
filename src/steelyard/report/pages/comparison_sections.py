"""Comparison sections: leaderboards, the wins of each pair, curves over thresholds, and leaders over the prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.analysis.comparison.leaderboard import best_value_sentences, flip_sentences, pair_sentence, short_percent
from steelyard.analysis.results.formatting import unbroken, value_text
from steelyard.exceptions import SteelyardError
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.report.pages.compared_marks import model_marks, statement_html, statements_html
from steelyard.report.pages.comparison_data import comparison_data, slider_specs
from steelyard.report.pages.document import clipped, label_html, rendered_html
from steelyard.report.pages.frame import Section
from steelyard.report.pages.leaderboard_section import board_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from steelyard.analysis.comparison.comparison import Comparison, PairWins
    from steelyard.analysis.comparison.leaderboard import Statement
    from steelyard.analysis.comparison.metric_ranking import Leader, PrevalenceLeaders, Ranking, Standing
    from steelyard.report.pages.compared_marks import ModelMark

_SHADES = 5
_OPEN_PAIRS = 3  # up to so many pairs are read on paper as well
_CURVES = {"roc": "ROC", "pr": "Precision-recall", "reliability": "Reliability", "decision": "Decision curve"}


def comparison_sections(
    comparison: Comparison, source: str, verdict: Sequence[Statement] | None = None
) -> list[Section]:
    """The parts of a comparison's page from top to bottom; `verdict` stands in the place of its own."""
    marks = model_marks(comparison)
    first = comparison.leaderboard() if _is_ranked(comparison) else None
    boards = [] if first is None else [first, *_other_boards(comparison, first.metric)]
    leaders, context = _leaders(comparison), {"marks": marks, "level": f"{100 * comparison.level:g} %"}
    opening = rendered_html(
        "leaderboard.html",
        **context,
        boards=[board_context(board, marks) for board in boards],
        verdict=statements_html(comparison.verdict_statements() if verdict is None else verdict),
        sentences=_sentences(comparison, leaders),
        statements=comparison.statements,
        models=len(comparison.models),
        rows=comparison.n,
        paired=comparison.paired,
    )
    data = comparison_data(comparison, marks, boards, source)
    sections = [Section(opening, data)]
    if comparison.tables.scores:
        curves = rendered_html("compared_curves.html", **context, **_curves(comparison, marks))
        sections.append(Section(curves))
    if leaders is not None:
        heat = rendered_html("compared_prevalence.html", **context, **_heat(comparison, leaders, marks))
        sections.append(Section(heat))
    pairs = rendered_html("comparison.html", **context, **_pairs(comparison, marks))
    return [*sections, Section(pairs)]


def _is_ranked(comparison: Comparison) -> bool:
    """Whether some metric has a best value."""
    return any(spec.sign for spec in comparison.tables.specs)


def comparison_facts(comparison: Comparison, source: str) -> list[str]:
    """What the header says: where from, how many rows and models."""
    rows = f"{comparison.n:,} rows" if comparison.paired else f"{comparison.n:,} different rows in all"
    return [label_html(source), rows, f"{len(comparison.models)} models"]


def comparison_title(comparison: Comparison) -> str:
    """The models by name, as many as a title has room for."""
    return clipped(" and ".join(clipped(name, 40) for name in comparison.models[:3]))


def about_section(comparison: Comparison) -> Section:
    """How the numbers were made, and what was assumed."""
    methods = ", ".join(dict.fromkeys(row.method for row in comparison.rows if row.method))
    rows = "the same rows, with paired" if comparison.paired else "different rows, taken as independent, with"
    sentences = (
        f"Differences are of {rows} {100 * comparison.level:g} % intervals ({methods}). Brackets read p-values of the "
        "pairs by one metric, wins those of all pairs and metrics together, each by Holm's method.",
        *comparison.assumed,
        f"Steelyard {__version__}.",
    )
    return Section(rendered_html("about.html", about=sentences))


def _other_boards(comparison: Comparison, first: str) -> list[Any]:
    others = (spec for spec in comparison.tables.specs if spec.sign and spec.name != first)
    return [comparison.leaderboard(spec) for spec in others]


def _leaders(comparison: Comparison) -> PrevalenceLeaders | None:
    """Who leads at which prevalence; None where no value is best, or several classes have no one prevalence."""
    try:
        leaders = comparison.leaders()
    except SteelyardError:
        return None
    return leaders if any(leader.models for leader in leaders) else None


def _sentences(comparison: Comparison, leaders: PrevalenceLeaders | None) -> list[Markup]:
    flips = [] if leaders is None else flip_sentences(comparison, leaders)[:1]
    wins = best_value_sentences(comparison) if len(comparison.models) > 2 else []
    return statements_html([*wins, *flips])


def _curves(comparison: Comparison, marks: Mapping[str, ModelMark]) -> dict[str, Any]:
    tables = comparison.tables
    probable = all(table.has_probabilities for table in tables.scores.values())
    titles = {key: title for key, title in _CURVES.items() if probable or key in ("roc", "pr")}
    return {
        "charts": {f"compared-{key}": title for key, title in titles.items()},
        "models": list(marks.values()),
        "thresholded": bool(tables.labels),
        "default": default_metric().title,
        "choices": slider_specs(comparison),
    }


# ---------------------------------------------------------------- pairs


def _pairs(comparison: Comparison, marks: Mapping[str, ModelMark]) -> dict[str, Any]:
    wins = comparison.wins()
    return {
        "matrix": _matrix(comparison, wins, marks) if len(wins) > 1 and _is_ranked(comparison) else None,
        "models": [marks[name] for name in comparison.models],
        "pairs": [_pair(comparison, pair, marks) for pair in wins],
        "on_paper": len(wins) <= _OPEN_PAIRS,
        "order": _order(comparison) if len(wins) == 1 else None,
        "limit": f"{1 - comparison.level:.2g}",
    }


def _pair(comparison: Comparison, pair: PairWins, marks: Mapping[str, ModelMark]) -> dict[str, Any]:
    places = [comparison.models.index(name) for name in (pair.a, pair.b)]
    return {
        "key": "pair-{}-{}".format(*places),
        "a": marks[pair.a],
        "b": marks[pair.b],
        "sentence": statement_html(pair_sentence(comparison, pair)),
        "tests": [repr(test) for test in comparison.mcnemar if (test.a, test.b) == (pair.a, pair.b)],
    }


def _matrix(comparison: Comparison, wins: Sequence[PairWins], marks: Mapping[str, ModelMark]) -> list[dict[str, Any]]:
    """Of each model by how many metrics it is better than each other, and the pair that shows them."""
    counts: dict[tuple[str, str], int] = {}
    for pair in wins:
        counts |= {(pair.a, pair.b): len(pair.by_a), (pair.b, pair.a): len(pair.by_b)}
    most = sum(1 for spec in comparison.tables.specs if spec.sign) or 1
    places = {name: place for place, name in enumerate(comparison.models)}

    def cell(a: str, b: str) -> dict[str, Any] | None:
        if a == b:
            return None
        first, second = sorted((places[a], places[b]))
        shade = -(-_SHADES * counts[a, b] // most)
        return {"count": counts[a, b], "key": f"pair-{first}-{second}", "shade": shade, "other": marks[b]}

    return [{"mark": marks[a], "cells": [cell(a, b) for b in marks], "of": most} for a in marks]


def _order(comparison: Comparison) -> dict[str, object] | None:
    """The metrics by how much they favour the first of two models, here and at other prevalences."""
    try:
        ranking = comparison.ranking()
    except SteelyardError:
        return None
    shares = sorted({place.prevalence for place in ranking.places})
    head = ["metric", "rank", "difference", "favours", *(f"at {100 * share:g} %" for share in shares)]
    return {"head": head, "rows": [_standing(ranking, standing, shares) for standing in ranking.order]}


def _standing(ranking: Ranking, standing: Standing, shares: Sequence[float]) -> dict[str, object]:
    there = {place.prevalence: place for place in ranking.places if place.metric == standing.metric}
    return {
        "title": MetricSpec.of(standing.metric).title,
        "turns": standing.metric in ranking.changes,
        "rank": standing.rank,
        "difference": standing.difference,
        "favours": standing.favours,
        "there": [there[share] for share in shares],
    }


# ---------------------------------------------------------------- leaders over the prevalence


def _heat(comparison: Comparison, leaders: PrevalenceLeaders, marks: Mapping[str, ModelMark]) -> dict[str, Any]:
    specs = {spec.name: spec for spec in comparison.tables.specs}
    rows: dict[str, list[Leader]] = {}
    for leader in leaders:
        rows.setdefault(leader.metric, []).append(leader)
    changed = {(flip.metric, flip.high) for flip in leaders.flips}
    return {
        "shares": [{"words": unbroken(short_percent(p)), "here": p == leaders.observed} for p in leaders.prevalences],
        "lines": [
            {"title": specs[name].title, "cells": [_led(specs[name], cell, marks, changed) for cell in cells]}
            for name, cells in rows.items()
        ],
        "sentences": statements_html(flip_sentences(comparison, leaders)),
        "changes": bool(changed),
        "models": list(marks.values()),
    }


def _led(
    spec: MetricSpec, leader: Leader, marks: Mapping[str, ModelMark], changed: set[tuple[str, float]]
) -> dict[str, Any]:
    """Who leads there, in a number, a colour and words."""
    if not leader.models:
        return {"number": "–", "kind": "", "words": "undefined", "flips": False}
    value = value_text(leader.value, share=spec.is_share)
    names = " and ".join(clipped(name, 24) for name in leader.models)
    behind = "" if leader.next_model is None else f", before {clipped(leader.next_model, 24)}"
    alone = len(leader.models) == 1
    return {
        "number": str(marks[leader.models[0]].number) if alone else "=",
        "kind": marks[leader.models[0]].kind if alone else "",
        "words": f"{names} {value}{behind}",
        "flips": (spec.name, leader.prevalence) in changed,
    }
