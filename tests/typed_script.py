"""A user's script over the public names, which test_types.py runs, and has mypy and pyright check in strict mode.

`assert_type` does nothing when it runs; a type checker refuses one that is not so, and any name that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import LogisticRegression

import steelyard
from steelyard import Counts
from steelyard.metrics import Metric

if TYPE_CHECKING:
    from steelyard.interop.scorers import LightGBMMetric, XGBoostMetric

Array = np.ndarray[Any, np.dtype[Any]]

rng = np.random.default_rng(0)
y_true = (rng.random(200) < 0.3).astype(int)
y_score = np.clip(0.35 * y_true + rng.random(200) * 0.6, 0, 1)
y_pred = (y_score >= 0.5).astype(int)
words = np.where(y_true, "yes", "no")

# ---------------------------------------------------------------- a metric: of labels, tables, arrays of tables

assert_type(steelyard.f1(y_true, y_pred), float)
assert_type(steelyard.f1([0, 1, 1], [0, 1, 0], pos_label=1, sample_weight=[1.0, 2.0, 1.0]), float)
assert_type(steelyard.recall(words, np.where(y_pred, "yes", "no"), pos_label="yes"), float)
assert_type(steelyard.f1(["a", "b", "c"], ["a", "b", "b"], average="macro", zero_division=0), float)
assert_type(steelyard.f1(y_true, y_pred, average=None), Array)
assert_type(steelyard.mcc(pd.Series(y_true), pd.Series(y_pred)), float)
assert_type(steelyard.mcc(pl.Series(y_true), pl.Series(y_pred)), float)
assert_type(steelyard.f_beta(y_true, y_pred, beta=2, labels=[0, 1]), float)
assert_type(steelyard.kappa(y_true, y_pred, weights="linear", undefined="raise"), float)
assert_type(steelyard.iba(y_true, y_pred, alpha=0.1, of=steelyard.f1), float)
assert_type(steelyard.roc_auc(y_true, y_score, max_fpr=0.2), float)
assert_type(steelyard.roc_auc(y_true=y_true, y_score=y_score), float)
assert_type(steelyard.precision_at_k(y_true, y_score, k=20), float)
assert_type(steelyard.weighted_auc(y_true, y_score), float)
assert_type(steelyard.sensitivity(y_true, y_pred), float)

counts = Counts(tp=28, fn=23, fp=72, tn=2680)
runs = Counts(tp=[8, 9], fn=[2, 1], fp=[5, 10], tn=[85, 80])
assert_type(counts, Counts)
assert_type(counts.tp, float)
assert_type(counts.positives, float)
assert_type(runs, Counts[Array])
assert_type(runs.total, Array)
assert_type(steelyard.precision(counts), float)
assert_type(steelyard.precision(runs), Array)
assert_type(steelyard.precision.why(counts), str | None)
assert_type(counts + counts, Counts)
assert_type(runs.sum(), Counts)
assert_type(Counts.from_matrix([[2680, 72], [23, 28]]), Counts)
assert_type(steelyard.f1.name, str)
assert_type(steelyard.f1.range, tuple[float, float])
assert_type(steelyard.f_beta.fixed(beta=2), Metric)


def cost(table: Counts) -> float:
    """A function of one table, as users write them."""
    return 5 * table.fn + table.fp


assert_type(steelyard.get_metric(cost), Metric)
assert_type(steelyard.get_metric("f_beta[beta=2]")(counts), float)
assert_type([metric.title for metric in steelyard.list_metrics("decision")], list[str])

# ---------------------------------------------------------------- tables

table = steelyard.confusion(y_true, y_pred, pos_label=1)
scores = steelyard.score_table(y_true, y_score)
assert_type(table, steelyard.Confusion)
assert_type(scores, steelyard.ScoreTable)
assert_type(scores.at(0.5), Counts)
assert_type(scores.at([0.2, 0.5]), Counts[Array])
assert_type(steelyard.f1(table), float)
assert_type(steelyard.f1(table, average=None), Array)
assert_type(steelyard.roc_auc(scores), float)
assert_type(steelyard.roc_curve(y_true, y_score, pos_label=1).fpr, Array)
assert_type(steelyard.at_prevalence(counts, 0.2), Counts)
assert_type(steelyard.at_prevalence(counts, [0.1, 0.2]), Counts[Array])

# ---------------------------------------------------------------- results

evaluation = steelyard.evaluate(y_true, y_score=y_score, metrics=["recall", steelyard.mcc], rng=0)
assert_type(evaluation, steelyard.Evaluation)
assert_type(evaluation["recall"].value, float)
assert_type([row.low for row in evaluation], list[float])
assert_type(evaluation.threshold, float | None)
assert_type(evaluation.to_json(), str)
assert_type(steelyard.Evaluation.from_json(evaluation.to_json()), steelyard.Evaluation)
assert_type(evaluation.to_frame("polars"), pl.DataFrame)
assert_type(evaluation.to_frame(), pd.DataFrame)
polars_frame = pl.DataFrame({"y": y_true, "p": y_score})
pandas_frame = pd.DataFrame({"y": y_true, "p": y_score})
assert_type(steelyard.evaluate(polars_frame, true="y", score="p").rows, int)
assert_type(steelyard.evaluate(pandas_frame, true="y", score="p").rows, int)

interval = steelyard.interval("f_beta[beta=2]", y_true, y_pred, level=0.9)
assert_type(interval.level, float)
assert_type(interval.method, str)
assert_type(interval.low, float)
assert_type(steelyard.interval("recall", runs).low, Array)
assert_type(steelyard.best_threshold(y_true, y_score, "f1", draws=0).threshold, float)
assert_type(steelyard.best_threshold(y_true, y_score, "f1", draws=0).counts, Counts)
assert_type(steelyard.beats_chance(y_true, y_pred, pos_label=1).p_value, float)
comparison = steelyard.compare(y_true, {"a": y_pred, "b": 1 - y_pred}, draws=50)
assert_type([difference.metric for difference in comparison], list[str])
assert_type(steelyard.sample_size("recall", at=(0.8, 0.9), prevalence=0.1, width=0.1).rows, int)

X = np.column_stack([y_score, rng.random(200)])
assert_type(steelyard.cross_evaluate(LogisticRegression(), X, y_true, split=3), steelyard.results.CrossEvaluation)

# ---------------------------------------------------------------- scorers

scorer = steelyard.scorer("mcc", pos_label=1)
boosted: XGBoostMetric = scorer.xgboost
lit: LightGBMMetric = scorer.lightgbm
assert_type(boosted(y_true, y_score), float)
assert_type(lit(y_true, y_score), tuple[str, float, bool])


@steelyard.metrics.metric("Share of flags", range=(0, 1), best=None)
def share_of_flags(tp: float, fn: float, fp: float, tn: float) -> float:
    """Share of the rows that are predicted positive."""
    return steelyard.metrics.ratio(tp + fp, tp + fn + fp + tn)


assert_type(share_of_flags, Metric)
assert_type(share_of_flags(counts), float)
