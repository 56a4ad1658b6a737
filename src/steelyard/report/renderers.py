"""Renderers: what a result is shown as, each loaded when it is asked for; without a page of its own it is a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.monitoring.alarms import Monitoring
from steelyard.analysis.results.result import Rows
from steelyard.auditing.decisions import Decision
from steelyard.evaluation.evaluation import Evaluation
from steelyard.ledger.history import History
from steelyard.protocol.cross_evaluation import CrossEvaluation
from steelyard.protocol.resampling_result import ResamplingStudy

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result
    from steelyard.analysis.results.result_homes import Renderer, Surface


def _text(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.text import evaluation_text

    return evaluation_text(result) if isinstance(result, Evaluation) else repr(result)


def _markdown(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.markdown import evaluation_markdown
    from steelyard.report.result_view import result_markdown

    return evaluation_markdown(result) if isinstance(result, Evaluation) else result_markdown(result)


def _html(result: Result[Any], /, **options: Any) -> str:
    from steelyard.report.pages.page import audit_page, comparison_page, page
    from steelyard.report.result_view import result_page

    match result:
        case Evaluation() | CrossEvaluation():
            return page(result, source=options.get("source"), errors=options.get("errors"))
        case Comparison():
            return comparison_page(result, source=options.get("source", "predictions"))
        case History():
            from steelyard.report.pages.history_page import history_page

            return history_page(result)
        case Monitoring():
            from steelyard.report.pages.monitor_section import monitor_page

            return monitor_page(result, source=options.get("source", "predictions"))
        case ResamplingStudy():
            from steelyard.report.pages.resampling_section import resampling_page

            return resampling_page(result, source=options.get("source", "predictions"))
        case Rows([Decision(), *_]):
            return audit_page(result)
    return result_page(result)


def _notebook(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.pages.notebook_view import notebook_view
    from steelyard.report.result_view import result_notebook

    return notebook_view(result) if isinstance(result, Evaluation) else result_notebook(result)


RENDERERS: dict[Surface, Renderer] = {"text": _text, "markdown": _markdown, "html": _html, "notebook": _notebook}
