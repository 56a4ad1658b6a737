"""Sections: what fills the page of one evaluation, besides what its script computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from steelyard._names import __version__
from steelyard.analysis.results.formatting import three_digits, unbroken
from steelyard.evaluation.verdict.sentences import NUMBERS_HEAD
from steelyard.evaluation.verdict.verdict import limiting_rate
from steelyard.report.metric_blocks import top_metrics
from steelyard.report.pages.controls import controls
from steelyard.report.pages.document import label_html
from steelyard.report.pages.failing_groups import failing_text
from steelyard.report.pages.html_tables import class_table, metric_lines
from steelyard.report.source_facts import column_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.verdict.sentences import Sentence

_OVER_THRESHOLD = {"over-threshold": "Metrics over the threshold", "expected-cost": "Expected cost over the threshold"}
_OVER_PREVALENCE = {"over-prevalence": "Metrics over prevalence"}


def page_context(
    evaluation: Evaluation, source: str, data: Mapping[str, Any], verdict: Sequence[Sentence]
) -> dict[str, object]:
    """Every part of the page's template."""
    has_scores = "thresholds" in data
    return {
        "facts": facts_of(evaluation, source, Markup("positive {}").format(label_html(evaluation.positive))),
        "verdict": page_verdict(verdict),
        "leads": evaluation.use is not None,
        "numbers_head": NUMBERS_HEAD,
        "limit": unbroken(limiting_rate(evaluation)),
        "classes": None,
        "positive": evaluation.positive,
        "controls": controls(data),
        "cells": _cells(data),
        "level": f"{100 * evaluation.level:g} %",
        "has_scores": has_scores,
        "band_words": _band_words(evaluation),
        "has_probabilities": bool(data.get("reliability")),
        "over": (_OVER_THRESHOLD if has_scores else {}) | _OVER_PREVALENCE,
        "failing": failing_text(evaluation),
        "optimised": controls(data).choices,
        "metrics": metric_lines(evaluation),
        "top_metrics": {*top_metrics(evaluation).values()},
        "metric_key": "metric",
        "class_table": class_table(evaluation),
        "about": _about(evaluation, data),
    }


def _band_words(evaluation: Evaluation) -> str:
    """What is shaded around the curves, or why nothing is."""
    if evaluation.is_planned:
        return "The curves have no confidence band: the rows were chosen by a label plan."
    if evaluation.is_clustered:
        return "The curves have no confidence band: rows in clusters are not independent."
    return (
        f"Shaded: {100 * evaluation.level:g} % simultaneous confidence bands. With that confidence the whole curve of "
        "the population lies in its band, at all thresholds together; at the prevalence the page starts with, wherever "
        "it may lie if it is the sample's or an estimate, and at a moved one as if that were known."
    )


@dataclass(frozen=True)
class PageVerdict:
    """The sentences of the heading, the numbers by use, the one below, and those that are folded away."""

    headline: Sequence[PageSentence]
    numbers: Sequence[PageSentence]
    lead: Sequence[PageSentence]
    why: Sequence[PageSentence]


@dataclass(frozen=True)
class PageSentence:
    """A sentence in which a percent sign does not begin a line, its code, and what the pointer shows."""

    text: str
    code: str
    about: str


def page_verdict(sentences: Sequence[Sentence]) -> PageVerdict:
    """The verdict as the page shows it; where the headline is muted the first sentence stands for it."""
    lines = [PageSentence(unbroken(s), s.code, f"{s.code} ({s.severity}): {s.docs}") for s in sentences] or [
        PageSentence("There is no verdict on this table.", "", "")
    ]
    # Beside the outcomes at a threshold, how well the scores rank is a sentence below the headline.
    below = {"ranking"} if any(sentence.code == "outcomes" for sentence in sentences) else set()
    heads = [s.code for s in sentences if s.is_headline and s.code not in below] or [lines[0].code]
    headline, others = ([line for line in lines if (line.code in heads) is wanted] for wanted in (True, False))
    of_use = {s.code for s in sentences if s.is_of_use or s.code in ("beside-number", "at-capacity")}
    numbers = [line for line in others if line.code in of_use]
    lead = [line for line in others if _is_lead(line.code)][:1]
    lead += [line for line in others if line.code == "weakest-class"]
    return PageVerdict(headline, numbers, lead, [line for line in others if line not in [*lead, *numbers]])


def _is_lead(code: str) -> bool:
    """Whether a sentence says if the classifier is any good: beside the majority class, or a random predictor."""
    return code.startswith("accuracy") or code.endswith("random") or code == "ranking"


def facts_of(evaluation: Evaluation, source: str, last: str) -> list[str]:
    """The line at the top: what was read, how many rows, by which columns, and about which class."""
    return [label_html(source), f"{evaluation.rows:,} rows", *map(label_html, column_facts(evaluation)), last]


def _cells(data: Mapping[str, Any]) -> dict[str, object]:
    """The four cells in numbers, rows true and columns predicted."""
    unit = "rows, estimated" if data["planned"] else "weight" if data["weighted"] else "rows"
    tp, fn, fp, tn = (float(round(cell)) if data["planned"] else cell for cell in data["view"]["cells"])
    rows = [{"kind": "positive", "cells": {"tp": tp, "fn": fn}}, {"kind": "negative", "cells": {"fp": fp, "tn": tn}}]
    return {"unit": unit, "rows": rows}


# ---------------------------------------------------------------- how it was computed


INTERVAL_METHODS = {
    "posterior": "{}: quantiles of tables drawn from the posterior, with half a row added to each cell",
    "deviance": "{}: the range over the likely draws where the formula has a kink near by, their quantiles elsewhere",
    "score": "{}: a score interval",
    "influence": "{}: by the influence of each row, with Student's t",
    "calibrated": "{}: no interval; beside it what a calibrated model with these scores would show on average (as its "
    "no-skill baseline) and at most",
    "isotonic": "{}: by outcomes drawn around the isotonic curve",
    "cluster": "{}: by whole clusters",
    "plan": "{}: quantiles of tables whose strata are drawn from their posterior, a third of a row added to each class",
    "bayesian-bootstrap": "{}: a Bayesian bootstrap of the scores",
}


def _about(evaluation: Evaluation, data: Mapping[str, Any]) -> list[str]:
    moved = (
        "Where a slider was moved, values follow at once by the same formulas, printed by the registry; the intervals "
        "of the metrics at one threshold are drawn anew in this page by the same posterior, "
        f"{data['draws']:,} draws with a fixed seed. "
        "Another prevalence reweights the rows of each class; recall and specificity stay."
    )
    cite = f"Steelyard {__version__}. To cite a metric, open it above: its source is given there."
    return [*evaluation.assumed, *interval_words(evaluation), moved, *_about_scores(data), cite]


def interval_words(evaluation: Evaluation) -> list[str]:
    """By which methods the intervals of the metrics came about."""
    names: dict[str, list[str]] = {}
    for row in evaluation.metrics:
        names.setdefault(row.method, []).append(row.name)
    methods = [
        INTERVAL_METHODS.get(method, f"{{}}: {method}").format(_few(of)) for method, of in names.items() if method
    ]
    level = f"Intervals ({100 * evaluation.level:g} %)"
    return [f"{level}: {'; '.join(methods)}. Seed {evaluation.seed}."] if methods else []


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} metrics"


def _about_scores(data: Mapping[str, Any]) -> list[str]:
    """What the page holds of very many scores."""
    lines = []
    if "thresholds" in data and data["all_thresholds"] > len(data["thresholds"]["tp"]):
        lines.append(
            f"The slider holds {len(data['thresholds']['tp']):,} of {data['all_thresholds']:,} thresholds, the best "
            "one of every metric among them, each with its exact counts; areas are of all scores. At another "
            "prevalence the best threshold is searched among those that it holds."
        )
    if grouped := data.get("grouped"):
        lines.append(
            f"At another prevalence the metrics of all scores are of {grouped['groups']:,} groups of neighbouring "
            "scores; at the lowest, the middle and the highest prevalence all scores were counted as well, and none of "
            f"these metrics was off by more than {three_digits(grouped['off'])}."
        )
    return lines
