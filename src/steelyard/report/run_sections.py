"""Runs: the part of a page that says what a cross-evaluation did run by run, what it cost, and how models differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import cell_text
from steelyard.protocol import summary_text
from steelyard.protocol.run_values import KALITA
from steelyard.report.document import name, text
from steelyard.report.html_tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult

MOST_RUNS = 100
FIXED = (
    "The intervals of the rows treat the fitted models as given: they say how well these models did on such rows. "
    "Those of the runs are Nadeau and Bengio's, which allow for the rows trained on as well: they say how well the "
    "learner does."
)


def sections(result: CrossEvaluation) -> str:
    """What was done, a table of each model over its runs, each run, and the differences of the models."""
    ranked = [summary_text.order(result)] if len(result) > 1 else []
    parts = [_section("Over the runs", _said([summary_text.head(result), FIXED, *ranked, *result.notes]))]
    parts += [_section(model.name, _of_model(model)) for model in result.models.values()]
    if len(result) > 1:
        heads = "Run by run, with Nadeau and Bengio's corrected t-test; p-values of all rows of the table are Holm's."
        parts.append(_section("Differences", _said([heads]) + _rows(row.row() for row in result.differences())))
    return "".join(parts)


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{name(title)}</h2>{inside}</section>"


def _said(sentences: Iterable[str]) -> str:
    return "".join(f'<p class="soft">{text(sentence)}</p>' for sentence in sentences)


def _of_model(model: ModelResult) -> str:
    whole = _rows(summary_text.shown(row) for row in summary_text.first_rows(model))
    more = f"<details><summary>Each run</summary>{_each_run(model)}</details>"
    return whole + _said(summary_text.remarks(model)) + more


def _each_run(model: ModelResult) -> str:
    """The runs, the first of them where they are very many, with the value that models are ranked by."""
    values = model.values(KALITA)
    rows = [
        {"run": i + 1, **{key: value for key, value in run.row().items() if key != "model"}, KALITA: float(values[i])}
        for i, run in enumerate(model.runs[:MOST_RUNS])
    ]
    note = [f"The first {MOST_RUNS} of {len(model.runs):,} runs are shown."] if len(model.runs) > MOST_RUNS else []
    return _said(note) + _rows(rows)


def _rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table of dictionaries; columns without a value are left out."""
    held = list(rows)
    names = [key for key in held[0] if any(row.get(key) is not None for row in held)] if held else []
    return table(names, [[text(cell_text(key, row.get(key))) for key in names] for row in held]) if names else ""
