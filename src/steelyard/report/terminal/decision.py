"""Terminal decisions: the best decision between many classes as a terminal shows it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.report.terminal.layout import clean_labels, print_table, safe_paragraph
from steelyard.report.terminal.matrix import MOST_SHOWN_LABELS
from steelyard.report.terminal.summary import next_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.analysis.decisions.best_decision_result import BestDecision, ClassDecision


def decision_summary(
    best: BestDecision, notes: Sequence[str], assumed: Sequence[str], then: tuple[str, str] | None
) -> str:
    """The decision in a sentence, the classes, what errors remain where rows go to a person, and what was assumed."""
    parts = [
        safe_paragraph(f"{best.headline}."),
        _classes(best),
        "\n".join(map(safe_paragraph, [*notes, *_curve(best)])),
        "\n".join([*map(safe_paragraph, assumed), *next_lines("--format json gives every number", then)]),
    ]
    return "\n\n".join(part for part in parts if part)


def _classes(best: BestDecision) -> str:
    """A line per class; of many those whose recall changes most."""
    shown, more = list(best), ""
    if len(shown) > MOST_SHOWN_LABELS:
        shown = sorted(shown, key=_change, reverse=True)[:MOST_SHOWN_LABELS]
        more = f"\nThe {MOST_SHOWN_LABELS} classes whose recall changes most, of {len(best):,}."
    columns = _columns(best)
    rows = [
        [label, *(text(row) for text in columns.values())]
        for label, row in zip(clean_labels([row.label for row in shown]), shown, strict=True)
    ]
    return print_table(["class", *columns], rows, wrap=()) + more


def _columns(best: BestDecision) -> dict[str, Callable[[ClassDecision], str]]:
    """What a line says of its class: the threshold where they differ, and who is sent where anybody is."""
    differ = len({*(best.thresholds or {}).values()}) > 1
    thresholds = {"threshold": lambda row: three_digits(row.threshold)} if differ else {}
    sent = {"to a person": lambda row: percent_text(row.sent)} if best.coverage < 1 else {}
    return {
        "rows": lambda row: f"{row.rows:,}",
        **thresholds,
        "recall": lambda row: _percent(row.recall),
        "by argmax": lambda row: _percent(row.argmax_recall),
        **sent,
    }


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else percent_text(share)


def _change(row: ClassDecision) -> float:
    change = abs(row.recall - row.argmax_recall)
    return -1.0 if math.isnan(change) else change


def _curve(best: BestDecision) -> list[str]:
    """What remains where some of the rows go to a person."""
    if best.curve is None:
        return []
    shown = three_digits if best.curve.is_cost else percent_text
    points = [best.curve.at(share) for share in (0.0, 0.05, 0.1, 0.2)]
    kept = ", ".join(f"{shown(point.risk)} with {percent_text(1 - point.coverage)} sent" for point in points)
    what = "Mean cost of the rows kept" if best.curve.is_cost else "Errors among the rows kept"
    return [f"{what}, the least certain sent to a person: {kept}."]
