"""Compared marks: the number and the colour that stand for a model wherever a page of several models shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from steelyard.report.pages.document import clipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.leaderboard import Statement

MOST_COLOURS = 6
_DASHES = 4  # patterns of lines beyond the colours
_SHORT = 24  # characters, up to which a name stands in a sentence as any word does
_NAME, _LONG_NAME = Markup("<bdi>{}</bdi>"), Markup('<span class="name24" title="{0}"><bdi>{0}</bdi></span>')


@dataclass(frozen=True)
class ModelMark:
    """A model as a page shows it: its name, its number, the class of its colour or dashes, and its place."""

    name: str
    number: int
    kind: str
    place: int  # among the models as they were given

    @property
    def title(self) -> str:
        """The whole name, where it may be too long."""
        return clipped(self.name) if len(self.name) > _SHORT else ""


def model_marks(comparison: Comparison) -> dict[str, ModelMark]:
    """The marks of all models, in the order given; of more than six the best ones have the colours."""
    order: Sequence[str] = comparison.models
    if len(order) > MOST_COLOURS:
        order = [row.model for row in comparison.leaderboard()]
    places = {name: place for place, name in enumerate(comparison.models)}
    return {name: ModelMark(name, i + 1, _kind(i), places[name]) for i, name in enumerate(order)}


def _kind(place: int) -> str:
    return f"m{place}" if place < MOST_COLOURS else f"m{MOST_COLOURS} d{(place - MOST_COLOURS) % _DASHES}"


def name_html(name: str) -> Markup:
    """The name of a model, at most as wide as 24 characters, whole in its title."""
    return (_NAME if len(name) <= _SHORT else _LONG_NAME).format(clipped(name))


def statement_html(statement: Statement) -> Markup:
    """A sentence whose names of models are marked as such."""
    names = {key: name_html(model) for key, model in statement.models.items()}
    return Markup.escape(statement.template).format(**names)


def statements_html(statements: Iterable[Statement]) -> list[Markup]:
    """Several of them."""
    return [statement_html(statement) for statement in statements]
