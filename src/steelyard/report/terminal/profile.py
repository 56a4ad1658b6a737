"""The print of a profile: the metrics that a field reports, in its order, with a methods paragraph for a paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard._names import __version__
from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.exceptions import InputError
from steelyard.metrics.references import reference
from steelyard.report.figures.figure_kinds import FIGURE_KINDS
from steelyard.report.markdown import escaped, markdown_table, verdict_markdown
from steelyard.report.pages.sections import INTERVAL_METHODS
from steelyard.report.terminal.layout import bold, paragraph, print_table, safe_paragraph
from steelyard.report.text import verdict_parts

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.metrics.uses import Use


def profile_text(evaluation: Evaluation, profile: Use) -> str:
    """The table and the methods for a terminal."""
    rows = [[_title(row), *_numbers(row)] for row in evaluation.metrics]
    table = print_table(_head(evaluation), rows, wrap=(2,), optional=())
    headline, reasons = verdict_parts(evaluation, safe_paragraph, bold)
    words = map(safe_paragraph, _words(evaluation, profile))
    return "\n\n".join(filter(None, [bold(paragraph(profile.title)), headline, reasons, table, *words]))


def profile_markdown(evaluation: Evaluation, profile: Use) -> str:
    """The table and the methods as Markdown."""
    table = markdown_table(_head(evaluation), ([_title(row), *_numbers(row)] for row in evaluation.metrics))
    parts = [f"**{escaped(profile.title)}**", *verdict_markdown(evaluation), table]
    return "\n\n".join([*parts, *map(escaped, _words(evaluation, profile))])


def _head(evaluation: Evaluation) -> list[str]:
    return ["metric", "value", f"{100 * evaluation.level:g} % interval", "no-skill baseline"]


def _numbers(row: MetricRow) -> list[str]:
    return [row.text(row.value), row.interval_or_reason(), row.text(row.chance)]


def _words(evaluation: Evaluation, profile: Use) -> list[str]:
    """The methods paragraph, what was assumed, and the figures that go with the table."""
    if unknown := [each for each in profile.figures if each not in FIGURE_KINDS]:
        known = listed([*FIGURE_KINDS])
        raise InputError(f"The profile {profile.given!r} names the figure {unknown[0]!r}; there are {known}.")
    figures = [f"Figures that go with it: steelyard plot {listed([*profile.figures])}."] if profile.figures else []
    return [f"Methods. {methods_text(evaluation, profile)}", *evaluation.assumed, *figures]


def _title(row: MetricRow) -> str:
    metric = row.spec.metric
    given = ", ".join(
        f"{name} {value:g}" for name, value in metric.parameters.items() if isinstance(value, (int, float))
    )
    return f"{metric.title} ({given})" if given else metric.title


def methods_text(evaluation: Evaluation, profile: Use) -> str:
    """How the numbers came about, in sentences that a paper can take over."""
    counts, scores = evaluation.counts, evaluation.scores
    positives = None if counts is None else counts.positives if scores is None else scores.positive.n
    share = (
        "" if positives is None else f", {positives:,.0f} of them positive ({100 * positives / evaluation.rows:.3g} %)"
    )
    at = "" if evaluation.threshold is None else f" at a threshold of {three_digits(evaluation.threshold)}"
    there = "" if evaluation.prevalence is None else f" Values are at a prevalence of {evaluation.prevalence}."
    follows = f" The choice of metrics follows {reference(profile.follows)}" if profile.follows else ""
    return (
        f"Performance was evaluated on {evaluation.rows:,} rows{share}; labels were predicted{at} where a metric is of "
        f"labels. Intervals are {100 * evaluation.level:g} % confidence intervals: {_intervals(evaluation)}.{there} "
        "The no-skill baseline of labels is that of random predictions with the same prediction rate, of scores that "
        "of rows in random order, of probabilities that of predicting the prevalence. Computed with Steelyard "
        f"{__version__}.{follows}"
    )


def _intervals(evaluation: Evaluation) -> str:
    """Which metrics have an interval of which method, by their titles, and which have none."""
    titles: dict[str, list[str]] = {}
    for row in evaluation.metrics:
        titles.setdefault(row.method if math.isfinite(row.low) else "", []).append(row.spec.metric.title)
    named = [
        INTERVAL_METHODS.get(method, f"{{}}: {method}").format(listed(of)) for method, of in titles.items() if method
    ]
    return "; ".join(named + [f"{listed(of)}: none" for method, of in titles.items() if not method])
