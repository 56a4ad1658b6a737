"""The text of a cross-evaluation, and its values for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import bounds_text, filled, interval_text
from steelyard.analysis.results.rows import table_text
from steelyard.analysis.results.strict_json import strict
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.ranked_metrics import ranked_metrics
from steelyard.protocol.run_values import KALITA_MEAN_F

if TYPE_CHECKING:
    from steelyard.analysis.results.rows import Rows
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult
    from steelyard.protocol.run_summary import Summary

STARRED = "* All runs gave the same value, so this is the interval of the rows tested."
UNNAMED = (
    "No class is the positive one, so recall, precision, F1 and the areas of one class are left out; name it with "
    "pos_label= (--positive on the command line)."
)
ONE_TIMING = "Each timing is one of its kind; cost=True (--cost) repeats short ones and measures the peak memory."


def result_text(result: CrossEvaluation) -> str:
    """The result as text: what was done, the metrics and the costs, and what is to be known about them."""
    body = _model_text(next(iter(result.models.values()))) if len(result.models) == 1 else _models_text(result)
    failed = [f"{run.model}, repeat {run.part.repeat}, fold {run.part.fold}: {run.error}" for run in result.failures]
    lost = [f"{len(failed)} of {len(result.runs)} runs failed:", *failed[:5]] if failed else []
    return "\n".join([filled(head(result)), "", body, *map(filled, (*lost, *result.notes))])


def head(result: CrossEvaluation) -> str:
    """How many runs of what on which rows, and whose intervals these are."""
    model = next(iter(result.models.values()))
    sizes = [run.part.sizes for run in model.runs]
    train, test = (f"{round(np.mean(column)):,}" for column in zip(*sizes, strict=True))
    who = model.name if len(result.models) == 1 else f"{len(result.models)} models"
    runs = "1 run" if len(model.runs) == 1 else f"{len(model.runs)} runs"
    sentence = f"{runs} of {who} on {len(model.data.codes):,} rows, {train} trained on and {test} tested in each."
    if len(model.runs) == 1:
        return f"{sentence} One run has no spread; the intervals of its rows are in `evaluation`."
    return f"{sentence} The {100 * model.level:g} % intervals are Nadeau and Bengio's."


def first_rows(model: ModelResult) -> list[Summary]:
    """The metrics that were asked for, or the headline ones, then the costs that were measured."""
    rows = [row for row in model.summary if model.metrics is not None or _is_shown_first(row, model)]
    return [*rows, *(row for row in model.cost if row.why is None)]


def _is_shown_first(row: Summary, model: ModelResult) -> bool:
    if not isinstance(row.spec, MetricSpec):
        return False
    is_own = model.data.are_label_sets and row.spec.metric.is_of_label_sets
    is_average = model.data.are_label_sets and row.spec.average in ("micro", "macro")
    is_headline = row.spec.is_headline or (is_average and "headline" in row.spec.metric.roles)
    return is_own or is_headline or row.spec in (model.default_spec, MetricSpec.of(KALITA_MEAN_F))


def remarks(model: ModelResult) -> list[str]:
    """What is to be known about these rows."""
    rows = first_rows(model)
    sentences = [STARRED] if any(row.of_rows for row in rows) else []
    sentences += [f"{row.name}: {row.why}" for row in rows if row.why is not None]
    is_unnamed = model.data.positive is None and not model.data.are_label_sets
    sentences += [UNNAMED] if model.metrics is None and is_unnamed else []
    return sentences + ([] if any(row.noise is not None for row in model.cost) else [ONE_TIMING])


def shown_row(row: Summary) -> dict[str, str | float | None]:
    """A row as it is printed."""
    interval = None if np.isnan(row.low) else bounds_text(row.low, row.high) + "*" * row.of_rows
    return {
        "metric": row.name,
        "mean": row.mean,
        "median": row.median,
        "sd": row.sd,
        "interval": interval,
        "best": row.best,
        "worst": row.worst,
        "pooled": row.pooled,
        "chance": row.chance,
        "noise": row.noise,
        "undefined": row.undefined,
    }


def _model_text(model: ModelResult) -> str:
    table = table_text([shown_row(row) for row in first_rows(model)])
    return "\n".join([table, *map(filled, remarks(model))])


def _models_text(result: CrossEvaluation) -> str:
    ranked = result.ranking()
    first = ranked[0]
    why = [] if first.why is None else [filled(f"{first.name} is {first.why}.")]
    return "\n".join([table_text([_ranked_row(result, row) for row in ranked]), *why, filled(order(result))])


def _ranked_row(result: CrossEvaluation, row: Summary) -> dict[str, Any]:
    model = result[str(row.model)]
    costs = {cost.name: cost.mean for cost in model.cost}
    return {
        "model": row.model,
        f"mean {row.name}": interval_text(row.mean, row.low, row.high),
        "undefined": row.undefined,
        "pooled": row.pooled,
        **{f"mean {other.name}": other.mean for other in _beside(model, row)},
        "fit s": costs["fit_seconds"],
        "predict s / 1000": costs["predict_seconds_per_1000"],
        "bytes": costs["model_bytes"],
    }


def _beside(model: ModelResult, ranked: Summary) -> list[Summary]:
    """The other metrics that were asked for, or Kalita's mean F."""
    if model.metrics is None:
        return [model.summarised(KALITA_MEAN_F)]
    return [row for row in model.summary if row.spec != ranked.spec]


def order(result: CrossEvaluation) -> str:
    """By which metric the models are ranked and why, and whom Kalita's mean F puts first."""
    name, first = result.default_spec.name, str(result.ranking()[0].model)
    if ranked_metrics(result):
        is_first = result.default_spec == next(iter(result.models.values())).specs[0]
        return f"Ranked by {name}, the first metric asked for{'' if is_first else ' by which models can be ranked'}."
    by_mean_f = result.ranking(KALITA_MEAN_F)[0]
    sentence = f"Ranked by {name}, which gives the classes equal weight at any prevalence"
    if np.isnan(by_mean_f.mean) and (by_mean_f.pooled is None or np.isnan(by_mean_f.pooled)):
        return f"{sentence}."
    about = "the mean F of the classes, by which Kalita's study ranks models,"
    about = "the mean F of the labels," if result.runs[0].data.are_label_sets else about
    sentence += f"; {KALITA_MEAN_F}, {about} puts"
    if first == by_mean_f.model:
        return f"{sentence} {first} first as well."
    return f"{sentence} {by_mean_f.model} first and not {first}: ranking({KALITA_MEAN_F!r}) gives that order in Python."


# ---------------------------------------------------------------- JSON


def json_values(result: CrossEvaluation) -> dict[str, Any]:
    """The result as plain values, ready for strict JSON."""
    data = next(iter(result.models.values())).data
    where = {"rows": len(data.codes), "labels": list(data.labels), "positive": data.positive, **result.setting}
    models = [_model_values(model) for model in result.models.values()]
    return {**where, "notes": list(result.notes), "models": models}


def _model_values(model: ModelResult) -> dict[str, Any]:
    """What one model did, as plain values."""
    tables: dict[str, Rows[Any]] = {"summary": model.summary, "cost": model.cost}
    tables |= {"per_class": model.per_class, "runs": model.runs}
    rows = {name: strict(part.to_dicts()) for name, part in tables.items()}
    failed = len(model.failures) == len(model.runs)
    return {
        "name": model.name,
        "level": model.level,
        **rows,
        "evaluation": None if failed else model.evaluation.to_dict(),
    }
