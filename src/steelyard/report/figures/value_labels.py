"""Value labels: a number of each model in the colour of its line, with its interval or, where too long, alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from steelyard.analysis.results.formatting import value_text
from steelyard.report.figures import caption_text, style
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import MetricRow

InkedWords: TypeAlias = list[tuple[str, str]]  # lines of words, each with its colour
_ONE_LINE = 32  # letters that fit beside a curve


def row_labels(what: str, level: float, named: list[tuple[str, MetricRow | Interval]]) -> list[InkedWords]:
    """The value of a metric of each model, with intervals and without."""
    if len(named) == 1:
        row = named[0][1]
        return [in_lines(f"{what} {text}") for text in (caption_text.area_text(row), _value(row))]
    headed = [(f"{what} ({caption_text.percent(level)} interval)", inks().soft)]
    headed += named_values((name, caption_text.area_text(row)) for name, row in named)
    return [headed, [(what, inks().soft), *named_values((name, _value(row)) for name, row in named)]]


def _value(row: MetricRow | Interval) -> str:
    return value_text(row.value, share=row.spec.is_share)


def in_lines(text: str) -> InkedWords:
    """Words of one model, what stands in brackets below where they are long."""
    first, _, rest = text.partition(" (") if len(text) > _ONE_LINE else (text, "", "")
    return [(part, inks().this) for part in (first, f"({rest}" if rest else "") if part]


def named_values(named: Iterable[tuple[str, str]]) -> InkedWords:
    """A value of each model, after the sign of its line and its name, in its colour."""
    return [
        (f"{style.sample(i)}{caption_text.drawn_label(name, 20)} {value}".replace("  ", " ").rstrip(), style.colour(i))
        for i, (name, value) in enumerate(named)
    ]
