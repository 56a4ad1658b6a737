"""Telling: a cross-evaluation as text and as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard import __version__
from steelyard.analysis.formatting import filled, interval_text, three_digits
from steelyard.analysis.rows import table_text
from steelyard.analysis.strict_json import strict
from steelyard.protocol.run_values import KALITA, Summary

if TYPE_CHECKING:
    from steelyard.analysis.rows import Rows
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.model_result import ModelResult

_SCHEMA = 1
BALANCED = "ac_score"
STARRED = "* All runs gave the same value, so this is the interval of the rows tested."
UNNAMED = (
    "No class is the positive one, so recall, precision, F1 and the areas of one class are left out; name it with "
    "pos_label= (--positive on the command line)."
)
ONE_TIMING = "Each timing is one of its kind; cost=True (--cost) repeats short ones and measures the peak memory."
_FIRST = (
    KALITA,
    "recall",
    "specificity",
    "precision",
    "f1",
    "balanced_accuracy",
    "ac_score",
    "mcc",
    "accuracy",
    "roc_auc",
    "average_precision",
)


def told(result: CrossEvaluation) -> str:
    """The result as text: what was done, the metrics and the costs, and what is to be known about them."""
    body = _one_model(next(iter(result.models.values()))) if len(result) == 1 else _several(result)
    failed = [f"{run.model}, repeat {run.part.repeat}, fold {run.part.fold}: {run.error}" for run in result.failures]
    lost = [f"{len(failed)} of {len(result.runs)} runs failed:", *failed[:5]] if failed else []
    return "\n".join([filled(head(result)), "", body, *map(filled, (*lost, *result.notes))])


def head(result: CrossEvaluation) -> str:
    """How many runs of what on which rows, and whose intervals these are."""
    model = next(iter(result.models.values()))
    sizes = [run.part.sizes for run in model.runs]
    train, test = (f"{round(np.mean(column)):,}" for column in zip(*sizes, strict=True))
    who = model.name if len(result) == 1 else f"{len(result)} models"
    runs = "1 run" if len(model.runs) == 1 else f"{len(model.runs)} runs"
    said = f"{runs} of {who} on {len(model.data.codes):,} rows, {train} trained on and {test} tested in each."
    if len(model.runs) == 1:
        return f"{said} One run has no spread; the intervals of its rows are in `evaluation`."
    return f"{said} The {100 * model.level:g} % intervals are Nadeau and Bengio's."


def first_rows(model: ModelResult) -> list[Summary]:
    """The metrics that were asked for, or the usual ones, then the costs that were measured."""
    known = [row for row in model.summary if model.metrics is not None or row.name in _FIRST]
    return [*known, *(row for row in model.cost if row.why is None)]


def remarks(model: ModelResult) -> list[str]:
    """What is to be known about these rows."""
    rows = first_rows(model)
    said = [STARRED] if any(row.of_rows for row in rows) else []
    said += [f"{row.name}: {row.why}" for row in rows if row.why is not None]
    said += [UNNAMED] if model.metrics is None and model.data.positive is None else []
    return said + ([] if any(row.noise is not None for row in model.cost) else [ONE_TIMING])


def shown(row: Summary) -> dict[str, Any]:
    """A row as it is printed."""
    interval = f"{three_digits(row.low)} to {three_digits(row.high)}{'*' * row.of_rows}"
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


def _one_model(model: ModelResult) -> str:
    table = table_text([shown(row) for row in first_rows(model)])
    return "\n".join([table, *map(filled, remarks(model))])


def _several(result: CrossEvaluation) -> str:
    ranked, rows = result.ranking(KALITA), []
    for row in ranked:
        model = result[str(row.model)]
        costs = {each.name: each.mean for each in model.cost}
        rows.append(
            {
                "model": row.model,
                f"mean {KALITA}": interval_text(row.mean, row.low, row.high),
                "undefined": row.undefined,
                "pooled": row.pooled,
                "mean ac_score": model.summarised("ac_score").mean,
                "fit s": costs["fit_seconds"],
                "predict s / 1000": costs["predict_seconds_per_1000"],
                "bytes": costs["model_bytes"],
            }
        )
    said = [] if ranked[0].why is None else [filled(f"{KALITA} is {ranked[0].why}.")]
    return "\n".join([table_text(rows), *said, filled(order(result))])


def order(result: CrossEvaluation) -> str:
    """By which metric the models are ranked and why, and whom the one that weighs the classes alike puts first."""
    best = result.ranking(BALANCED)[0]
    first, alike = str(result.ranking(KALITA)[0].model), str(best.model)
    told = f"Ranked by {KALITA}, the mean F of the classes, by which Kalita's study ranks models"
    if np.isnan(best.mean) and (best.pooled is None or np.isnan(best.pooled)):
        return f"{told}."
    if first == alike:
        return f"{told}; {BALANCED}, which weighs the classes alike at any prevalence, puts {alike} first as well."
    told = f"{told}; {BALANCED}, which weighs the classes alike at any prevalence, puts {alike} first and not {first}"
    return f"{told}: prefer that order where positives are rare. ranking({BALANCED!r}) gives it in Python."


# ---------------------------------------------------------------- plain values


def plain(result: CrossEvaluation) -> dict[str, Any]:
    """The result as plain values, ready for strict JSON."""
    data = next(iter(result.models.values())).data
    where = {"rows": len(data.codes), "labels": list(data.labels), "positive": data.positive, **result.setting}
    models = [_plain_model(model) for model in result.models.values()]
    return {"schema": _SCHEMA, "version": __version__, **where, "notes": list(result.notes), "models": models}


def _plain_model(model: ModelResult) -> dict[str, Any]:
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
