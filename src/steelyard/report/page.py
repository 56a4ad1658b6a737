"""The page: an evaluation, a comparison or an audit as one HTML file that opens anywhere and answers questions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.errors import InputTypeError
from steelyard.evaluation.class_views import class_evaluation, class_intervals, rarest_class
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.opening_threshold import at_opening_threshold
from steelyard.report import class_sections, html_tables, metric_facts, sections
from steelyard.report.document import clipped, document, filled, template, text
from steelyard.report.page_data import packed, payload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.comparison import Comparison
    from steelyard.auditing.decisions import Decision
    from steelyard.protocol.cross_evaluation import CrossEvaluation

SCRIPTS = ("numbers.js", "charts.js", "state.js", "rows.js", "update.js", "curves.js", "page.js")
MOST_BYTES = 150_000  # of a page of two classes, whatever the input


def page(evaluation: Evaluation | CrossEvaluation, *, source: str = "predictions") -> str:
    """The report of an evaluation as one HTML file: sliders for the threshold and the prevalence, no network.

    A cross-evaluation is taken as well: of one model its evaluation, of several their comparison, and below that what
    they did over the runs and what it cost.

    >>> from steelyard import Counts, evaluate
    >>> html = page(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), source="finley.csv")
    >>> 'data-cell="tp"' in html, len(html) < 150_000
    (True, True)
    """
    from steelyard.protocol.cross_evaluation import CrossEvaluation

    if isinstance(evaluation, CrossEvaluation):
        return _cross_page(evaluation, source)
    if not isinstance(evaluation, Evaluation):
        raise InputTypeError(
            f"A page shows an Evaluation or a CrossEvaluation, not {type(evaluation).__name__}; evaluate() makes one."
        )
    return _evaluation_page(evaluation, source)


def _cross_page(result: CrossEvaluation, source: str) -> str:
    from steelyard.report.run_sections import sections

    if len(result) > 1:
        return comparison_page(result.compare(), source=source, more=sections(result))
    return _evaluation_page(result.evaluation, source, sections(result))


def _evaluation_page(evaluation: Evaluation, source: str, more: str = "") -> str:
    scores = evaluation.scores
    if scores is not None and not (scores.positive.n and scores.negative.n):
        evaluation = replace(evaluation, scores=None)  # rows of one class have no curve
    thresholded = at_opening_threshold(evaluation) if evaluation.confusion is None else evaluation
    if thresholded.positive is None:
        return _classes_page(thresholded, source, more)
    data = payload(thresholded, source) | {"verdict": evaluation.verdict, "own_cut": thresholded is not evaluation}
    return _fitting(thresholded, source, data, {"runs": more, **sections.pieces(thresholded, source, data)})


def _fitting(evaluation: Evaluation, source: str, data: dict[str, Any], parts: dict[str, str]) -> str:
    """The file with as many groups as it has room for."""
    title, code, most = f"{clipped(source)} · Steelyard", script(data), html_tables.MOST_GROUPS
    while True:
        shown = {"tables": parts["tables"] if not evaluation.groups else sections.tables_of(evaluation, most)}
        held = packed(data | {"groups": html_tables.group_numbers(evaluation, most)})
        html = document(title, filled("page.html", **parts | shown), payload=held, script=code)
        if len(html.encode()) <= MOST_BYTES or most <= 1 or not evaluation.groups:
            return html
        most = most * 3 // 4


def script(data: dict[str, Any]) -> str:
    """The page's script: the registry's formulas, then what shows them."""
    formulas = metric_facts.formulas(row["name"] for row in data["metrics"] if not row.get("ranks"))
    return '"use strict";(() => {\n' + "\n".join([formulas, *map(template, SCRIPTS)]) + "\n})();"


def _classes_page(evaluation: Evaluation, source: str, more: str) -> str:
    """Several classes: the table of all, then each against the rest."""
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - a table of classes
    labels = class_sections.shown_classes(table)
    one = class_evaluation(evaluation, rarest_class(table, labels))
    data = payload(one, source, others=labels, intervals=class_intervals(evaluation))
    data |= {"all": [metric_facts.fact(row) for row in evaluation.metrics], "verdict": evaluation.verdict}
    data["assumed"] = list(evaluation.assumed)
    parts = sections.pieces(one, source, data) | class_sections.pieces(evaluation, one, source, data)
    return _fitting(evaluation, source, data, {"runs": more, **parts})


def comparison_page(comparison: Comparison, *, source: str = "predictions", more: str = "") -> str:
    """The comparison of models as one HTML file: the differences with intervals, and the order of the metrics.

    >>> from steelyard import compare
    >>> found = compare([0] * 90 + [1] * 10, {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2})
    >>> "on the same 100 rows" in comparison_page(found)
    True
    """
    from steelyard.report.comparison_body import body

    return document(f"{clipped(' and '.join(comparison.models))} · Steelyard", body(comparison, source, more))


def audit_page(decisions: Iterable[Decision]) -> str:
    """The audit as one HTML file: which properties are proved, and the smallest table where one fails.

    >>> from steelyard import audit
    >>> "class_symmetry" in audit_page(audit("recall", properties=["class_symmetry"]))
    True
    """
    from steelyard.report.audit_body import body

    return document("Audit of metrics · Steelyard", body(list(decisions)))


def notebook(evaluation: Evaluation, *, height: int = 720) -> str:
    """The page inside a notebook: a frame of its own, which no script or style of the notebook can reach.

    >>> from steelyard import Counts, evaluate
    >>> notebook(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), height=500)
    '<iframe title="Steelyard ...height="500" ...</iframe>'
    """
    return (
        f'<iframe title="Steelyard {text(__version__)}" sandbox="allow-scripts" width="100%" height="{height}" '
        f'frameborder="0" srcdoc="{text(page(evaluation))}"></iframe>'
    )
