"""Rendering: where an evaluation finds what shows it, the one name of a floor below that is written above it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

Kind: TypeAlias = Literal["text", "markdown", "html", "notebook"]
_HOME = "steelyard.report.renderers"  # loaded when something is shown; tests/test_house.py lists this place


class Renderer(Protocol):
    """An evaluation as the text of one kind of surface."""

    def __call__(self, evaluation: Evaluation, /, **options: str) -> str:
        """The text."""


def rendered(kind: Kind, evaluation: Evaluation, **options: str) -> str:
    """The evaluation as text of that kind."""
    renderers: dict[Kind, Renderer] = import_module(_HOME).RENDERERS
    return renderers[kind](evaluation, **options)
