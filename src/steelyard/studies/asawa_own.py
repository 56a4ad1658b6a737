"""Asawa's two tests on a table of one's own: the test set balanced, the labels swapped, for every metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import number_of
from steelyard.auditing.model_tables import (
    counts_at_half,
    counts_of_predictions,
    metric_values,
    named_metrics,
    score_metrics,
    scores_of_models,
    value_change,
)
from steelyard.auditing.robustness import TOLERANCE, Robustness, is_constant, refit_robustness, robustness, undersampled
from steelyard.exceptions import InputError
from steelyard.ingest.predicted_labels import predicted_codes
from steelyard.metrics.registry import get_metric
from steelyard.protocol.named_models import model as named_model
from steelyard.protocol.splits import HoldOut
from steelyard.report.figures.roc import RocDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.statistics.counts import Counts
from steelyard.studies.asawa import ASAWA_METRICS, ASAWA_STUDY, COUNTED, TESTED, TREES
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from steelyard._types import Array, Estimator
    from steelyard.auditing.robustness import MetricVerdict
    from steelyard.metrics.metric import Metric
    from steelyard.studies.claims import TableRow
    from steelyard.studies.declared_study import RunPlan

_SPLITS, _QUICK_SPLITS, _DRAWS = 10, 3, 200
_WORDS = {
    (True, True): "yes, proved for all tables",
    (True, False): "within tolerance here, refuted in general",
    (True, None): "within tolerance here, not decided in general",
    (False, True): "no: the refitted model differs, the metric does not",
}
_NOTE = (
    "Balanced: the value less that of the test rows weighted to equal classes, the largest over models and splits. "
    "Sampling: the standard deviation of that change where rows of the larger class are left out at random instead. "
    "Swapped: the value less that with the classes swapped. Refuted in general: the audit has a table on which the "
    "metric changes."
)


@ASAWA_STUDY.own_data
def _own(
    table: OwnTable,
    plan: RunPlan,
    *,
    repeats: int | None = None,
    tolerance: float = TOLERANCE,
    metrics: list[str] | None = None,
) -> OwnFindings:
    table.check_two_classes()
    given = bool(table.preds or table.scores)
    if given and table.models:
        raise InputError("--model names models to fit, and --pred and --score predictions; give one of both.")
    times = 1 if given else plan.times(repeats, _SPLITS, _QUICK_SPLITS)
    options: dict[str, Any] = {"tolerance": tolerance, "metrics": metrics, "resamples": _DRAWS, "rng": plan.seeds(1)[0]}
    parts = {"": _of_predictions(table, options)} if given else _refitted(table, plan, times, options)
    every = parts[""] if given else Robustness.joined(parts)
    how = {"models": next(iter(parts.values())).models, "tolerance": tolerance}
    how |= {} if given else {"splits": f"{times}, {TESTED:.0%} of the rows tested", "swapped": "refitted"}
    return OwnFindings(
        _summary(every),
        [
            Table("verdicts", "Both tests for every metric", _verdict_rows(every, times), _NOTE, unfolded=True),
            Table("changes", "Every model at equal classes", _change_rows(every)),
        ],
        _pictures(table, parts),
        how,
        "Which metrics balancing and swapping leave as they are",
    )


def _summary(every: Robustness) -> list[str]:
    """How many metrics are proved to stand both tests, how many stay within tolerance here, then which."""
    verdicts = every.verdicts
    proved = [v.metric for v in verdicts if v.proved]
    refuted = [v.metric for v in verdicts if v.only_here]
    open_ones = [metric for metric in every.winners if metric not in (*proved, *refuted)]
    of_models = [v.metric for v in verdicts if v.in_general and not v.winner and v.robust is not None]
    head = f"{len(proved)} of {number_of(len(every.metrics), 'metric')} stand both tests, by proof{_of_paper(proved)}"
    more = [
        f"{len(of_models)} more are proved to, and move here because the models fitted on swapped labels differ"
        f"{_of_paper(of_models)}"
    ] * bool(of_models)
    more += [
        f"{len(metrics)} more within tolerance here, {words} in general{_of_paper(metrics)}"
        for metrics, words in ((open_ones, "not decided"), (refuted, "refuted"))
        if metrics
    ]
    return [f"{'; '.join([head, *more])}.", every.headline]


def _of_paper(metrics: list[str]) -> str:
    names = [metric for metric in metrics if metric in ASAWA_METRICS]
    return f" (in the paper {', '.join(names)})" if names else ""


# ---------------------------------------------------------------- predictions and refitted models


def _of_predictions(table: OwnTable, options: dict[str, Any]) -> Robustness:
    """Both tests on columns of predictions; a column of labels belongs to the column of scores in the same place."""
    y = table.two_class_y
    preds, scores = table.preds, table.scores
    if preds and scores and len(preds) != len(scores):
        raise InputError(
            f"{len(preds)} columns of labels and {len(scores)} of scores are not of the same models; give one --score "
            "for each --pred, or only one kind."
        )
    labels = _labels(table)
    given: dict[str, Any] = {"y_pred": labels or None, "y_score": scores or None, **options}
    if options["metrics"] is None:
        probable = all(part.has_probabilities for part in scores_of_models(y, scores).values()) if scores else False
        counted = named_metrics(None) if labels or probable else []
        given["metrics"] = [*counted, *(_telling(score_metrics(probabilities=probable)) if scores else [])]
    return robustness(y, **given)


def _labels(table: OwnTable) -> dict[str, Array]:
    """The predicted labels as 1 for the positive class, by the name of the column of scores beside them."""
    place = table.labels.index(table.positive)
    names = [*(table.scores or table.preds)]
    coded = {
        name: predicted_codes(column, table.labels, f"The column {column_name!r}")
        for name, (column_name, column) in zip(names, table.preds.items(), strict=False)
    }
    return {name: np.asarray(codes == place, dtype=np.int64) for name, codes in coded.items()}


def _refitted(table: OwnTable, plan: RunPlan, times: int, options: dict[str, Any]) -> dict[str, Robustness]:
    """Both tests on models fitted on the labels and on the labels swapped, split by split."""
    models = table.models or {name: table.prepared(_tree(splits)) for name, splits in TREES.items()}
    y, rng = table.two_class_y, np.random.default_rng(plan.seeds(1)[0])
    parts = {}
    for part in HoldOut((1 - TESTED) / TESTED, repeats=times).split(y, (0, 1), rng):
        plan.progress(f"split {part.repeat} of {times}")
        rows = (table.X[part.train], y[part.train], table.X[part.test], y[part.test])
        own = options if options["metrics"] is not None else {**options, "metrics": _all_metrics(models)}
        parts[f"repeat {part.repeat}"] = refit_robustness(models, *rows, **own)
    return parts


def _all_metrics(models: dict[str, Estimator]) -> list[str]:
    """Those of labels, and those of scores where every model has probabilities, or scores."""
    have = [m for m in ("predict_proba", "decision_function") if all(hasattr(model, m) for model in models.values())]
    ranked = _telling(score_metrics(probabilities="predict_proba" in have)) if have else []
    return [metric.name for metric in (*named_metrics(None), *ranked)]


def _telling(metrics: list[Metric]) -> list[Metric]:
    """Those that can differ between models of two classes; the best two of two classes always hold the true one."""
    return [metric for metric in metrics if not is_constant(metric)]


def _tree(splits: int | None) -> Estimator:
    tree: Any = named_model("tree")
    estimator: Estimator = tree.set_params(max_leaf_nodes=None if splits is None else splits + 1)
    return estimator


# ---------------------------------------------------------------- shown


def _verdict_rows(every: Robustness, splits: int) -> list[TableRow]:
    """One row for each metric, those of the paper first."""
    verdicts = sorted(every.verdicts, key=lambda verdict: verdict.metric not in ASAWA_METRICS)
    return [_row(verdict, every, splits) for verdict in verdicts]


def _row(verdict: MetricVerdict, every: Robustness, splits: int) -> TableRow:
    row: TableRow = {"metric": verdict.metric, "balanced": verdict.change, "sampling": verdict.resampling_sd}
    row |= {"robust": _word(verdict.robust, verdict.robust_in_general)}
    row |= {"swapped": verdict.swap_change, "symmetric": _word(verdict.symmetric, verdict.symmetric_in_general)}
    return row | ({} if splits == 1 else {"splits robust": _within(every, verdict.metric, splits)})


def _within(every: Robustness, metric: str, splits: int) -> str:
    """In how many splits no model's value moves by more than the tolerance when the classes are balanced."""
    changes = np.abs(every.changes[..., every.metrics.index(metric)]).reshape(splits, -1)
    return f"{int((changes <= every.tolerance).all(1).sum())} of {splits}"


def _word(here: bool | None, in_general: bool | None) -> str:
    if here is None:
        return "undefined"
    return _WORDS.get((here, in_general), "no")


def _change_rows(every: Robustness) -> list[TableRow]:
    """Each model's values, as they are, balanced and swapped; what rounding leaves of 0 is 0."""
    values, balanced, swapped = (
        value_change(part, np.zeros(())) for part in (every.values, every.balanced, every.swapped)
    )
    return [
        {
            "model": model,
            "metric": metric,
            "value": float(values[m, i]),
            "balanced": float(balanced[m, 0, i]),
            "swapped": float(swapped[m, i]),
        }
        for m, model in enumerate(every.models)
        for i, metric in enumerate(every.metrics)
    ]


def _drawn_changes(table: OwnTable) -> list[Picture]:
    """The changes of Asawa's metrics of labels over balanced test sets, drawn from the rows."""
    y = table.two_class_y
    labels = _labels(table)
    tables = counts_of_predictions(y, labels) if labels else counts_at_half(scores_of_models(y, table.scores))
    if not tables:
        return []
    counts, metrics = Counts.stack(tables.values()), [get_metric(name) for name in COUNTED]
    draws = undersampled(counts, np.array([0.5]), _DRAWS, np.random.default_rng(0))
    if draws is None:
        return []
    changes = metric_values(metrics, counts) - metric_values(metrics, draws)[:, :, 0]
    values = tuple(changes[:, m].T for m in range(len(tables)))
    caption = f"Changes of the metrics over {_DRAWS} balanced test sets drawn from the rows, by model."
    return [Picture("balanced", RunsDisplay(tuple(tables), tuple(metrics), values), caption, columns=2, width=7)]


def _pictures(table: OwnTable, parts: dict[str, Robustness]) -> list[Picture]:
    """The changes of Asawa's metrics over the splits, and the ROC curves of given scores."""
    if table.scores or table.preds:
        curves = [Picture("roc", RocDisplay.from_predictions(table.two_class_y, table.scores))] * bool(table.scores)
        return [*_drawn_changes(table), *curves]
    first = next(iter(parts.values()))
    shown = [i for i, metric in enumerate(first.metrics) if metric in ASAWA_METRICS]
    about = {"balanced": "the test set is balanced", "swapped": "the models are refitted on swapped labels"}
    figures = []
    for name, words in about.items():
        each = np.stack([p.changes[:, 0] if name == "balanced" else p.swap_changes for p in parts.values()])
        values = tuple(each[:, m][:, shown].T for m in range(len(first.models)))
        display = RunsDisplay(first.models, tuple(get_metric(first.metrics[i]) for i in shown), values)
        caption = f"Changes of the metrics when {words}, over {number_of(len(parts), 'split')}, by model."
        figures.append(Picture(name, display, caption, columns=2, width=7))
    return figures
