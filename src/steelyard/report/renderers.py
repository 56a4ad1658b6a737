"""Renderers: what a result is shown as, each loaded when it is asked for: its blocks, or a page of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.result import Rows
from steelyard.evaluation.evaluation import Evaluation

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result
    from steelyard.analysis.results.result_homes import Renderer, Surface

_PAGES = {  # by kind of result, or of what rows are made of: the module and the function of its page
    "evaluation": ("page", "page"),
    "multilabel_evaluation": ("page", "page"),
    "cross_evaluation": ("page", "page"),
    "comparison": ("page", "comparison_page"),
    "decision": ("page", "audit_page"),
    "history": ("history_page", "history_page"),
    "monitoring": ("monitor_section", "monitor_page"),
    "resampling_study": ("resampling_section", "resampling_page"),
}
_OF_NO_SOURCE = ("decision", "history")


def _text(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.terminal.blocks import blocks_text
    from steelyard.report.terminal.layout import plain
    from steelyard.report.text import evaluation_text

    if isinstance(result, Evaluation):
        return evaluation_text(result)
    return plain(blocks_text(result.blocks()))


def _markdown(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.markdown import blocks_markdown, evaluation_markdown

    if isinstance(result, Evaluation):
        return evaluation_markdown(result)
    return blocks_markdown(result.blocks())


def _html(result: Result[Any], /, **options: Any) -> str:
    kind = getattr(result[0], "kind", "") if isinstance(result, Rows) and result else result.kind
    if kind not in _PAGES:
        from steelyard.report.html import blocks_page

        return blocks_page(result.blocks(), _title(result))
    module, function = _PAGES[kind]
    page = getattr(import_module(f"steelyard.report.pages.{module}"), function)
    html: str = page(result) if kind in _OF_NO_SOURCE else page(result, **options)
    return html


def _notebook(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.html import blocks_notebook
    from steelyard.report.pages.notebook_view import notebook_view

    if isinstance(result, Evaluation):
        return notebook_view(result)
    return blocks_notebook(result.blocks(), _title(result))


def _csv(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.csv_text import blocks_csv, evaluation_csv

    if isinstance(result, Evaluation):
        return evaluation_csv(result)
    return blocks_csv(result.blocks(), result.kind)


def _latex(result: Result[Any], /, **_: Any) -> str:
    from steelyard.report.latex import blocks_latex

    return blocks_latex(result.blocks())


def _title(result: Result[Any]) -> str:
    return "" if isinstance(result, Rows) else result.kind.replace("_", " ").capitalize()


RENDERERS: dict[Surface, Renderer] = {
    "text": _text,
    "markdown": _markdown,
    "html": _html,
    "notebook": _notebook,
    "csv": _csv,
    "latex": _latex,
}
