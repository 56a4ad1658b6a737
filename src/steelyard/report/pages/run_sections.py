"""Run sections: what a cross-evaluation did run by run, what it cost, and how its models differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.leaderboard import RankedModel
from steelyard.analysis.results.formatting import LABEL_WIDTH, bounds_text, cell_text, value_text
from steelyard.exceptions import SteelyardError
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import cross_evaluation
from steelyard.protocol.run_verdict import order_sentences
from steelyard.protocol.runs import COST_KINDS
from steelyard.report.pages.compared_marks import model_marks
from steelyard.report.pages.document import clipped, label_html, rendered_html
from steelyard.report.pages.frame import Section
from steelyard.report.pages.html_tables import HtmlTable
from steelyard.report.pages.leaderboard_section import board_context, round_ends, run_dots, value_bar
from steelyard.report.pages.page_numbers import exact_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult
    from steelyard.protocol.run_values import RunDifference, Summary
    from steelyard.report.pages.compared_marks import ModelMark

_MOST_RUNS = 100
_FIXED = (
    "The intervals of the rows treat the fitted models as given: they are of these models on such rows. "
    "Those of the runs are Nadeau and Bengio's, which allow for the rows trained on as well: they are of the "
    "learning algorithm."
)


def runs_section(result: CrossEvaluation, comparison: Comparison | None = None) -> Section:
    """The models over their runs by each metric, what they cost, and all numbers; `comparison` is that of several."""
    first = next(iter(result.models.values()))
    several = comparison is not None
    ranked = [*order_sentences(result), *cross_evaluation.mean_f_sentence(result)] if several else []
    order = [_short_names(sentence, result) for sentence in ranked]
    html = rendered_html(
        "runs.html",
        sentences=[cross_evaluation.head(result), _FIXED, *order, *result.notes],
        boards=[] if comparison is None else _boards(result, model_marks(comparison)),
        one=None if several else [_metric_runs(first, row) for row in _metric_rows(first)],
        run_count=len(first.runs),
        level=f"{100 * first.level:g} %",
        cost=_costs(result),
        models=[_of_model(model, result.default_spec) for model in result.models.values()],
        differences=_table(map(_difference, result.differences())) if several else None,
    )
    return Section(html)


def _short_names(sentence: str, result: CrossEvaluation) -> str:
    """The sentence with the names of models no longer than a page shows them."""
    for name in sorted(result.models, key=len, reverse=True):
        sentence = sentence.replace(name, clipped(name, LABEL_WIDTH))
    return sentence


def _difference(row: RunDifference) -> dict[str, Any]:
    return row.row() | {"a": clipped(row.a, LABEL_WIDTH), "b": clipped(row.b, LABEL_WIDTH)}


def _metric_rows(model: ModelResult) -> list[Summary]:
    return [row for row in cross_evaluation.first_rows(model) if isinstance(row.spec, MetricSpec)]


def _boards(result: CrossEvaluation, marks: Mapping[str, ModelMark]) -> list[dict[str, Any]]:
    """A leaderboard for each metric that is read first, the default one before the others."""
    rows = (row for model in result.models.values() for row in _metric_rows(model))
    specs = dict.fromkeys(row.spec for row in rows if isinstance(row.spec, MetricSpec) and row.spec.sign)
    default = result.default_spec
    boards = []
    for spec in [spec for spec in (default,) if spec in specs] + [spec for spec in specs if spec != default]:
        try:
            board = result.leaderboard(spec)
        except SteelyardError:  # one that some model does not allow
            continue
        boards.append(board_context(board, marks, {name: result[name].values(spec).tolist() for name in result.models}))
    return boards


def _metric_runs(model: ModelResult, row: Summary) -> dict[str, Any]:
    """A metric of the only model: its mean, its interval, and each run as a dot."""
    spec = row.spec
    assert isinstance(spec, MetricSpec)  # noqa: S101 - no cost
    values = [] if row.why is not None else model.values(spec).tolist()
    ends, share = round_ends([*values, row.mean, row.low, row.high]), spec.is_share
    mean = RankedModel(None, model.name, row.mean, row.low, row.high, "")
    return {
        "name": row.name,
        "title": spec.title,
        "exact": exact_digits(row.mean),
        "value": value_text(row.mean, share=share),
        "between": "–" if math.isnan(row.low) else bounds_text(row.low, row.high, share=share) + "*" * row.of_rows,
        "ends": [value_text(end, share=share) for end in ends],
        "bar": value_bar(mean, ends),
        "dots": run_dots(values, ends),
    }


def _costs(result: CrossEvaluation) -> HtmlTable:
    """Time, memory and space of each model, a column for each kind that was measured."""
    costs = {name: {row.name: row for row in model.cost} for name, model in result.models.items()}
    measured = [kind for kind in COST_KINDS if any(rows[kind].why is None for rows in costs.values())]
    rows = [
        [label_html(name, LABEL_WIDTH), *(cell_text(kind, rows[kind].median) for kind in measured)]
        for name, rows in costs.items()
    ]
    timed = any(row.noise is not None for rows in costs.values() for row in rows.values())
    heads = [kind.replace("_", " ") for kind in measured]
    return HtmlTable(["model", *heads], rows if measured else [], notes=[] if timed else [cross_evaluation.ONE_TIMING])


def _of_model(model: ModelResult, ranked_by: MetricSpec) -> dict[str, object]:
    """A model over its runs, and each run, the first of them where they are very many."""
    many = len(model.runs) > _MOST_RUNS
    return {
        "name": model.name,
        "summary": _table(cross_evaluation.shown_row(row) for row in cross_evaluation.first_rows(model)),
        "remarks": cross_evaluation.remarks(model),
        "notes": [f"The first {_MOST_RUNS} of {len(model.runs):,} runs are shown."] if many else [],
        "runs": _table(_runs(model, ranked_by)),
    }


def _runs(model: ModelResult, ranked_by: MetricSpec) -> Iterable[dict[str, Any]]:
    """Each run with the value that models are ranked by."""
    name, values = ranked_by.name, model.values(ranked_by)
    for i, run in enumerate(model.runs[:_MOST_RUNS]):
        row = {key: value for key, value in run.row().items() if key != "model"}
        yield {"run": i + 1, **row, name: float(values[i])}


def _table(rows: Iterable[Mapping[str, Any]]) -> HtmlTable:
    """A table of dictionaries; columns without a value are left out."""
    listed = list(rows)
    names = [key for key in listed[0] if any(row.get(key) is not None for row in listed)] if listed else []
    return HtmlTable(names, [[cell_text(key, row.get(key)) for key in names] for row in listed])
