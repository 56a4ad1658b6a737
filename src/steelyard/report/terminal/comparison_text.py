"""Terminal comparison: the verdict, a leaderboard with bars and brackets, then the differences."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.leaderboard import best_value_sentences, letters_note
from steelyard.analysis.results.formatting import (
    interval_text,
    terminal_width,
    text_width,
    unbroken,
    value_text,
    wrapped_lines,
)
from steelyard.analysis.results.result import table_text
from steelyard.report.terminal.layout import bold, clean_label, coloured, print_table, safe_paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.leaderboard import Leaderboard, RankedModel, Statement

_BAR_CELLS, _LEAST_BAR_CELLS = 30, 8
_NAME_CELLS, _NARROW_NAME_CELLS, _NARROW = 24, 16, 70
_MOST_PAIRS = 3  # of which every difference is printed


def comparison_summary(comparison: Comparison, assumed: Sequence[str]) -> str:
    """The verdict, the leaderboard, the leader by every metric, the differences, and the tests."""
    ranked = any(spec.sign for spec in comparison.tables.specs)
    board = comparison.leaderboard() if ranked else None
    parts = [safe_paragraph(_title(comparison)), _verdict(comparison)]
    if board is not None:
        parts += [leaderboard_text(board), _leaders(comparison), _wins(comparison)]
    many = board is not None and len(board.pairs) > _MOST_PAIRS
    parts += [_pair_tests(comparison, board)] if many and board is not None else _differences(comparison)
    parts.append("\n".join(map(safe_paragraph, _untested(comparison))))
    notes = comparison.statements if many else comparison.notes
    parts.append("\n".join(map(safe_paragraph, (*notes, *assumed, *_next(comparison, many=many)))))
    return "\n\n".join(part for part in parts if part)


def _title(comparison: Comparison) -> str:
    """Which models on which rows; of many how many."""
    head = comparison.headline.rpartition(":")[0]
    models, _, rows = head.rpartition(" on ") if comparison.paired else head.rpartition(" on different ")
    if len(comparison.models) <= _MOST_PAIRS:
        models = " against ".join(map(clean_label, comparison.models))
    else:
        models = f"{len(comparison.models)} models"
    return f"{models} on {'' if comparison.paired else 'different '}{rows}"


def _verdict(comparison: Comparison) -> str:
    """The sentences of the verdict; the first and the decision stand out."""
    sentences = [_sentence(statement) for statement in comparison.verdict_statements()]
    return "\n".join(bold(text) if i in (0, len(sentences) - 1) else text for i, text in enumerate(sentences))


def _wins(comparison: Comparison) -> str:
    """Of more than two models, how often each has the best value."""
    wins = best_value_sentences(comparison) if len(comparison.models) > 2 and len(comparison.tables.specs) > 1 else []
    return "\n".join(map(_sentence, wins))


def _sentence(statement: Statement) -> str:
    """A sentence in lines that fit, whose names may be of wide letters."""
    lines = wrapped_lines(unbroken(statement.text(clean_label)), terminal_width())
    return "\n".join(lines).replace("\u00a0%", " %")


# ---------------------------------------------------------------- the leaderboard


def leaderboard_text(board: Leaderboard) -> str:
    """One line per model: place, name, value, a bar with its interval, the interval, letters and brackets."""
    names = _NARROW_NAME_CELLS if terminal_width() < _NARROW else _NAME_CELLS
    share, brackets = board.spec.is_share, _bracket_columns(board)
    most = max(len(row.letters) for row in board)
    cells = [
        [
            "–" if row.place is None else str(row.place),
            clean_label(row.model, names),
            value_text(row.value, share=share),
            _between(row, share=share),
            f"{row.letters:<{most}} {brackets[row.model]}".rstrip(),
        ]
        for row in board
    ]
    title, level = clean_label(board.spec.title), f"{100 * board.level:g} % interval"
    head = ["", "model", title, level, ""]
    beside = (max(map(text_width, (head[i], *(row[i] for row in cells)))) for i in range(len(head)))
    room = terminal_width() - sum(2 + width for width in beside)
    size = min(room, _BAR_CELLS) if room >= _LEAST_BAR_CELLS else 0
    scale = _scale(board)
    lines = [[*row[:3], _bar(each, scale, size), *row[3:]] for row, each in zip(cells, board, strict=True)]
    ends = " to ".join(value_text(end, share=share) for end in scale)
    note = letters_note(board, title, ", Holm")
    bars = f" Bars run from {ends}." if size else ""
    table = print_table([*head[:3], "", *head[3:]], lines, wrap=(), optional=(3, 4))
    return f"{table}\n{safe_paragraph(note + bars)}"


def _between(row: RankedModel, *, share: bool) -> str:
    if math.isnan(row.low):
        return "–"
    return interval_text(row.value, row.low, row.high, share=share).partition("(")[2].removesuffix(")")


def _scale(board: Leaderboard) -> tuple[float, float]:
    numbers = [end for row in board for end in (row.value, row.low, row.high) if math.isfinite(end)]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _bar(row: RankedModel, scale: tuple[float, float], size: int) -> str:
    """Cells over all intervals together: the model's own drawn, its value in it."""
    if not size or math.isnan(row.value):
        return ""
    low, high = scale

    def place(value: float) -> int:
        return min(int((value - low) / ((high - low) or 1.0) * size), size - 1)

    cells = ["·"] * size
    if math.isfinite(row.low) and math.isfinite(row.high):
        for i in range(place(row.low), place(row.high) + 1):
            cells[i] = "━"
    cells[place(row.value)] = "●"
    return re.sub("[━●]+", lambda drawn: coloured(drawn[0]), "".join(cells))


def _bracket_columns(board: Leaderboard) -> dict[str, str]:
    """Of each model the pieces of all brackets that join two or more."""
    order, columns = [row.model for row in board], {row.model: "" for row in board}
    for bracket in (bracket for bracket in board.brackets if len(bracket) > 1):
        first, last = order.index(bracket[0]), order.index(bracket[-1])
        for place, model in enumerate(order):
            within = ("┤" if model in bracket else "│") if first < place < last else " "
            columns[model] += {first: "┐", last: "┘"}.get(place, within)
    return columns


# ---------------------------------------------------------------- every metric


def _leaders(comparison: Comparison) -> str:
    """Of more than two models the leader by every metric, and the models that are not distinguishable from it."""
    if len(comparison.models) == 2:
        return ""
    rows = []
    for board in (comparison.leaderboard(spec) for spec in comparison.tables.specs if spec.sign):
        first = board.rows[0]
        alike = [row.model for row in board.rows[1:] if set(row.letters) & set(first.letters)]
        names = ", ".join(map(clean_label, alike)) or ("–" if board.has_letters else "not tested")
        value = value_text(first.value, share=board.spec.is_share)
        rows.append([board.metric, clean_label(first.model), value, _between(first, share=board.spec.is_share), names])
    head = ["metric", "leader", "value", f"{100 * comparison.level:g} % interval", "not distinguishable from it"]
    return print_table(head, rows, wrap=(4,), optional=(3,))


def _pair_tests(comparison: Comparison, board: Leaderboard) -> str:
    """How far the others are behind the leader by the metric of the leaderboard, and the p-values its letters show."""
    leader, rows = board.rows[0].model, []
    ends = {frozenset((row.a, row.b)): row for row in comparison.rows if row.spec == board.spec}
    for pair in sorted((pair for pair in board.pairs if pair.better == leader), key=lambda pair: abs(pair.difference)):
        row = ends[frozenset((pair.better, pair.worse))]
        low, high = (row.low, row.high) if row.a == pair.better else (-row.high, -row.low)
        numbers = {"difference": pair.difference, "low": low, "high": high}
        rows.append({"model": clean_label(pair.worse), **numbers, "p_value": pair.p_value, "p_holm": pair.p_holm})
    head = f"── {clean_label(leader)} minus each other model by {board.metric}; p_holm of all {len(board.pairs)} pairs"
    return f"{safe_paragraph(head)}\n{table_text(rows, bold)}"


def _differences(comparison: Comparison) -> list[str]:
    """The differences as tables, one for each pair of models."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    for row in comparison.shown_rows():
        del row["why"]  # a column is too narrow for it: the lines below state it
        pair = " - ".join(clean_label(row.pop(name)) for name in ("a", "b")) if len(comparison.models) > 2 else ""
        named = {"value_a": "a", "value_b": "b", "difference": "a - b"} if pair else {}
        pairs.setdefault(pair, []).append({named.get(key, clean_label(key)): _cell(cell) for key, cell in row.items()})
    return [f"── {pair}\n" * bool(pair) + table_text(rows, bold) for pair, rows in pairs.items()]


def _untested(comparison: Comparison) -> list[str]:
    """Which metrics were not tested, and why."""
    reasons: dict[str, list[str]] = {}
    for row in (row for row in comparison.rows if math.isnan(row.p_value)):
        names = reasons.setdefault(row.why or "", [])
        names += [] if row.metric in names else [row.metric]
    return [f"Not tested: {', '.join(names)}{why and f' ({why})'}." for why, names in reasons.items()]


def _cell(value: Any) -> Any:
    return clean_label(value) if isinstance(value, str) else value


def _next(comparison: Comparison, *, many: bool) -> list[str]:
    pairs = len(comparison.models) * (len(comparison.models) - 1) // 2
    more = f"--format json has every difference and test of all {pairs} pairs; " if many else ""
    return [f"Next: {more}--format html is a page with the leaderboards of all metrics."]
