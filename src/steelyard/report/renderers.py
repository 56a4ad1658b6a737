"""Renderers: the kinds of text that an evaluation can be shown as, each loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.rendering import Kind, Renderer


def _text(evaluation: Evaluation, /, **_: str) -> str:
    from steelyard.report.text import evaluation_text

    return evaluation_text(evaluation)


def _markdown(evaluation: Evaluation, /, **_: str) -> str:
    from steelyard.report.markdown import evaluation_markdown

    return evaluation_markdown(evaluation)


def _html(evaluation: Evaluation, /, **options: str) -> str:
    from steelyard.report.page import page

    return page(evaluation, **options)


def _notebook(evaluation: Evaluation, /, **_: str) -> str:
    from steelyard.report.page import notebook

    return notebook(evaluation)


RENDERERS: dict[Kind, Renderer] = {"text": _text, "markdown": _markdown, "html": _html, "notebook": _notebook}
