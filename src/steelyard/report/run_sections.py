"""Run sections: what a cross-evaluation did run by run, what it cost, and how its models differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import cell_text
from steelyard.metrics.registry import default_metric
from steelyard.protocol import summary_text
from steelyard.report.document import rendered_html
from steelyard.report.html_tables import HtmlTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from markupsafe import Markup

    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult

_MOST_RUNS = 100
_FIXED = (
    "The intervals of the rows treat the fitted models as given: they are of these models on such rows. "
    "Those of the runs are Nadeau and Bengio's, which allow for the rows trained on as well: they are of the "
    "learning algorithm."
)


def runs_html(result: CrossEvaluation) -> Markup:
    """What was done, a table of each model over its runs, each run, and the differences of the models."""
    several = len(result.models) > 1
    order = [summary_text.order(result)] if several else []
    return rendered_html(
        "runs.html",
        sentences=[summary_text.head(result), _FIXED, *order, *result.notes],
        models=[_of_model(model) for model in result.models.values()],
        differences=_table(row.row() for row in result.differences()) if several else None,
    )


def _of_model(model: ModelResult) -> dict[str, object]:
    """A model over its runs, and each run, the first of them where they are very many."""
    many = len(model.runs) > _MOST_RUNS
    return {
        "name": model.name,
        "summary": _table(summary_text.shown_row(row) for row in summary_text.first_rows(model)),
        "remarks": summary_text.remarks(model),
        "notes": [f"The first {_MOST_RUNS} of {len(model.runs):,} runs are shown."] if many else [],
        "runs": _table(_runs(model)),
    }


def _runs(model: ModelResult) -> Iterable[dict[str, Any]]:
    """Each run with the value that models are ranked by."""
    name, values = default_metric().name, model.values()
    for i, run in enumerate(model.runs[:_MOST_RUNS]):
        row = {key: value for key, value in run.row().items() if key != "model"}
        yield {"run": i + 1, **row, name: float(values[i])}


def _table(rows: Iterable[Mapping[str, Any]]) -> HtmlTable:
    """A table of dictionaries; columns without a value are left out."""
    listed = list(rows)
    names = [key for key in listed[0] if any(row.get(key) is not None for row in listed)] if listed else []
    return HtmlTable(names, [[cell_text(key, row.get(key)) for key in names] for row in listed])
