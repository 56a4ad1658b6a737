"""The page: an evaluation, a comparison or an audit as one HTML file that opens anywhere and answers questions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.calibration.calibration import calibration
from steelyard.analysis.results.formatting import unbroken
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.class_views import class_evaluation, rarest_class
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
from steelyard.evaluation.saved.json_values import plain_scores
from steelyard.evaluation.threshold_grid import at_opening_threshold
from steelyard.exceptions import InputTypeError
from steelyard.report.metric_blocks import rows_by_class
from steelyard.report.pages import metric_facts
from steelyard.report.pages.class_map import map_data
from steelyard.report.pages.class_sections import classes_context
from steelyard.report.pages.decision_section import decision
from steelyard.report.pages.document import clipped, rendered_html
from steelyard.report.pages.frame import Section, framed
from steelyard.report.pages.group_section import group_section, groups_compared
from steelyard.report.pages.html_tables import MOST_GROUPS
from steelyard.report.pages.page_data import page_sentences, payload
from steelyard.report.pages.risk_section import risk_section
from steelyard.report.pages.sections import page_context

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.leaderboard import Statement
    from steelyard.auditing.decisions import Decision
    from steelyard.evaluation.error_rows import ErrorRows
    from steelyard.protocol.cross_evaluation import CrossEvaluation

_EXPORTS = ("JSON", "Markdown", "CSV")
_UNNAMED = "predictions"
_MOST_BYTES = 180 * 1024  # of a page of two classes, whatever the input
_MOST_OF_CLASSES = 400_000  # of a page of many classes, with as many groups as there is room for


@names_wrong_arguments
def page(
    evaluation: Evaluation | CrossEvaluation,
    *,
    source: str | None = None,
    errors: ErrorRows | None = None,
) -> str:
    """The report of an evaluation as one HTML file: sliders for the threshold and the prevalence, no network.

    A cross-evaluation is taken as well: of one model its evaluation, of several their comparison, and below that what
    they did over the runs and what it cost. No row of the data is on the page unless `errors`, what `errors`
    found, is given: then it lists the first hundred.

    >>> from steelyard import Counts, evaluate
    >>> html = page(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), source="finley.csv")
    >>> 'data-cell="tp"' in html, len(html) < 150_000
    (True, True)
    """
    from steelyard.protocol.cross_evaluation import CrossEvaluation

    if errors is not None and not (isinstance(evaluation, Evaluation) and not evaluation.per_label):
        raise InputTypeError("errors= lists rows on the page of an Evaluation; leave it out here.")
    if isinstance(evaluation, CrossEvaluation):
        return _cross_page(evaluation, source or _UNNAMED)
    if isinstance(evaluation, MultilabelEvaluation):
        from steelyard.report.pages.multilabel_sections import multilabel_page

        return multilabel_page(evaluation, source or evaluation.source or _UNNAMED)
    if not isinstance(evaluation, Evaluation):
        raise InputTypeError(
            f"A page shows an Evaluation or a CrossEvaluation, not {type(evaluation).__name__}; evaluate() makes one."
        )
    return _evaluation_page(evaluation, source or evaluation.source or _UNNAMED, _error_sections(errors))


def _error_sections(errors: ErrorRows | None) -> list[Section]:
    if errors is None:
        return []
    from steelyard.report.pages.error_section import error_section

    return [error_section(errors)]


def _cross_page(result: CrossEvaluation, source: str) -> str:
    from steelyard.protocol.run_verdict import run_statements
    from steelyard.report.pages.run_sections import runs_section

    if len(result.models) > 1:
        comparison = result.compare()
        more, verdict = [runs_section(result, comparison)], run_statements(result)
        return comparison_page(comparison, source=source, more=more, verdict=verdict)
    if isinstance(result.evaluation, MultilabelEvaluation):
        from steelyard.report.pages.multilabel_sections import multilabel_page

        return multilabel_page(result.evaluation, source, [runs_section(result)])
    return _evaluation_page(result.evaluation, source, [runs_section(result)])


def _evaluation_page(evaluation: Evaluation, source: str, more: Sequence[Section] = ()) -> str:
    if (use := evaluation.use) is not None and use.metrics:
        from steelyard.report.terminal.profile import methods_text

        methods = f"{use.title}. {methods_text(evaluation, use)}"
        evaluation = replace(evaluation, assumed=(*evaluation.assumed, methods))
    if (scores := evaluation.scores) is not None:
        one_class = not (scores.positive.n and scores.negative.n)  # which has no curve
        evaluation = replace(evaluation, scores=None if one_class else plain_scores(scores))
    thresholded = at_opening_threshold(evaluation) if evaluation.confusion is None else evaluation
    if thresholded.positive is None:
        return _classes_page(thresholded, source, more)
    own = thresholded is not evaluation
    opening = [sentence for sentence in thresholded.verdict if sentence.code == "outcomes"] if own else []
    data = payload(thresholded, source) | {"own_threshold": own} | page_sentences(evaluation, live=bool(opening))
    before = ("leading-number", "few-positives", "few-negatives")  # which come first
    first = sum(sentence.code in before for sentence in evaluation.verdict)
    sentences = [*evaluation.verdict[:first], *opening, *evaluation.verdict[first:]]
    context = page_context(thresholded, source, data, sentences)
    asked = None if evaluation.scores is None else decision(evaluation, data)
    data |= {} if asked is None else {"decision": asked.data}
    context |= {"more": more, "decision": asked, "calibration": _calibration_words(evaluation)}
    return _fitting(thresholded, context, data, _formulas(thresholded))


def _calibration_words(evaluation: Evaluation) -> list[str]:
    """Whether the scores can be used as probabilities, where that can be asked of them."""
    scores = evaluation.scores
    if scores is None or not scores.has_probabilities or evaluation.is_clustered or evaluation.is_planned:
        return []
    return [unbroken(text) for text in calibration(scores, level=evaluation.level).verdict[:2]]


def _fitting(evaluation: Evaluation, context: Mapping[str, Any], data: dict[str, Any], formulas: str) -> str:
    """The file with as many groups as it has room for."""
    title, most = f"{clipped(data['source'])} · Steelyard", MOST_GROUPS
    kind, limit = ("classes", _MOST_OF_CLASSES) if context["classes"] else ("report", _MOST_BYTES)
    limit += sum(len(part.html.encode()) for part in context["more"] if part.holds_rows)  # which were asked for
    compared = groups_compared(evaluation)
    while True:
        parts = _sections(context, data, group_section(evaluation, data, most, compared))
        html = framed(kind, title, context["facts"], parts, exports=_EXPORTS, formulas=formulas)
        if len(html.encode()) <= limit or most <= 1 or not evaluation.groups:
            return html
        most = most * 3 // 4


def _sections(context: Mapping[str, Any], data: Mapping[str, Any], groups: Section) -> list[Section]:
    """The parts of the page from top to bottom; of two classes in tabs."""
    names = ("opening", "metrics", "curves", "class_table", "about")
    opening, metrics, curves, classes, about = (rendered_html(f"{name}.html", **context) for name in names)
    more: Sequence[Section] = context["more"]
    first = Section(opening, data)
    if context["classes"]:
        return [first, *map(Section, (metrics, curves, classes)), groups, *more, Section(about)]
    rows = [part.html for part in more if part.holds_rows]
    parts = [
        _Part("metrics", "Metrics", [metrics, *(part.html for part in more if not part.holds_rows)]),
        _Part("groups", "For whom", [groups.html, classes, *rows]),
        _Part("curves", "Curves", [curves]),
    ]
    if context["has_probabilities"]:
        parts.insert(2, _Part("probabilities", "Probabilities", [rendered_html("probabilities.html", **context)]))
    numbers: dict[str, Any] = {**groups.data}
    for part in more:
        numbers |= part.data
    return [first, Section(rendered_html("parts.html", parts=parts), numbers), Section(about)]


class _Part(NamedTuple):
    """A tab: its address, its title, and what stands in it."""

    key: str
    title: str
    sections: Sequence[Markup]


def _formulas(evaluation: Evaluation) -> str:
    """The registry's formulas of the metrics that a table has, for the script."""
    specs = [row.spec for row in evaluation.metrics if not row.spec.reads_scores(evaluation.scores)]
    return metric_facts.formulas(specs, evaluation.positive)


def _classes_page(evaluation: Evaluation, source: str, more: Sequence[Section]) -> str:
    """Several classes: the table of all, then each against the rest."""
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - a table of classes
    rarest = class_evaluation(evaluation, rarest_class(table))
    data = payload(rarest, source) | {"classes": map_data(evaluation, table)}
    apart = rows_by_class(evaluation)
    data |= {"all": [metric_facts.fact(row) for row in evaluation.metrics if row.name not in apart]}
    data |= page_sentences(evaluation)
    data |= {
        "assumed": list(evaluation.assumed),
        "explained": metric_facts.explained([*rarest.metrics, *evaluation.metrics]),
    }
    context = page_context(rarest, source, data, evaluation.verdict) | classes_context(evaluation, table, source)
    context |= {"more": [*risk_section(evaluation), *more], "decision": None}
    return _fitting(evaluation, context, data, _formulas(rarest))


@names_wrong_arguments
def comparison_page(
    comparison: Comparison,
    *,
    source: str = "predictions",
    more: Sequence[Section] = (),
    verdict: Sequence[Statement] | None = None,
) -> str:
    """The comparison of models as one HTML file: leaderboards, curves, wins, and who leads at which prevalence.

    >>> from steelyard import compare
    >>> comparison = compare([0] * 90 + [1] * 10, y_pred={"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2})
    >>> "on the same 100 rows" in comparison_page(comparison)
    True
    """
    from steelyard.report.pages import comparison_sections as parts
    from steelyard.report.pages.comparison_data import slider_formulas

    if not all(isinstance(section, Section) for section in more):
        raise InputTypeError("more= lists further sections of the page.")
    opening, *others = parts.comparison_sections(comparison, source, verdict)
    return framed(
        "comparison",
        f"{parts.comparison_title(comparison)} · Steelyard",
        parts.comparison_facts(comparison, source),
        [opening, *more, *others, parts.about_section(comparison)],
        exports=_EXPORTS,
        formulas=slider_formulas(comparison),
    )


@names_wrong_arguments
def audit_page(decisions: Iterable[Decision]) -> str:
    """The audit as one HTML file: which properties are proved, and the smallest table where one fails.

    >>> from steelyard import audit
    >>> "class_symmetry" in audit_page(audit("recall", properties=["class_symmetry"]))
    True
    """
    from steelyard.report.pages.audit_sections import audit_facts, audit_section

    rows = list(decisions)
    if not all(hasattr(row, "property") for row in rows):
        raise InputTypeError("audit_page takes what audit() gives, the decisions on some properties.")
    return framed(
        "audit", "Audit of metrics · Steelyard", audit_facts(rows), [audit_section(rows)], exports=("CSV", "JSON")
    )
