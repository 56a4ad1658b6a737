"""Recorded calls: fitted models, protocols, what is proved of metrics, kept evaluations and figures."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np

import steelyard
from recorded import inputs as i
from steelyard import Folds, HoldOut, Ledger, Recalibrator, ThresholdClassifier, cross_evaluate, evaluate
from steelyard.studies import NearestMeanClassifier

mpl.use("agg")

FEW = ["recall", "precision", "mcc"]

ESTIMATORS = {
    **{f"nearest mean, {centroid}": lambda centroid=centroid: NearestMeanClassifier(centroid).fit(i.X, i.Y) for centroid in ("best", "mean", "median")},
    "nearest mean, predictions": lambda: NearestMeanClassifier().fit(i.X, i.Y).predict(i.X),
    "nearest mean, projections": lambda: NearestMeanClassifier().fit(i.X, i.Y).project(i.X[:8]),
    "nearest mean, another criterion": lambda: NearestMeanClassifier(criterion="mcc").fit(i.X, i.Y),
    **{f"recalibrator, {method}": lambda method=method: Recalibrator(method).fit(i.S, i.Y).transform(i.NEW[:8]) for method in ("auto", "logistic", "isotonic", "temperature")},
    "recalibrator, columns": lambda: Recalibrator("temperature").fit(i.P4, i.Y4).predict_proba(i.Q4[:4]),
    "recalibrator, deployed": lambda: Recalibrator("logistic", deployed=0.05).fit(i.S, i.Y).predict_proba(i.NEW[:4]),
    "threshold by f1": lambda: ThresholdClassifier(i.logistic(), "f1").fit(i.X, i.Y),
    "threshold by limits": lambda: ThresholdClassifier(i.logistic(), "precision", where="recall >= 0.6").fit(i.X, i.Y),
    "threshold by costs": lambda: ThresholdClassifier(i.logistic(), cost={"cost_fn": 5, "cost_fp": 1}).fit(i.X, i.Y).predict(i.X),
    "threshold of four classes": lambda: ThresholdClassifier(i.logistic(), "f1[average=macro]").fit(i.X, i.Y4).predict(i.X),
    "threshold that rejects": lambda: ThresholdClassifier(i.logistic(), reject=0.1).fit(i.X, i.Y4).predict(i.X),
    "scorers": lambda: [steelyard.scorer(name)(i.logistic().fit(i.X, i.Y), i.X, i.Y) for name in (*FEW, "roc_auc", "brier", "f_beta[beta=2]")],
    "scorer of an average": lambda: steelyard.scorer("f1", average="macro")(i.logistic().fit(i.X, i.Y4), i.X, i.Y4),
}  # fmt: skip


def two(**options):
    """A cross-evaluation of two models."""
    models = {"logistic": i.logistic(), "tree": i.tree()}
    return cross_evaluate(models, i.XF, i.YF, **{"split": 3, "metrics": [*FEW, "roc_auc"], **options})


@cache
def one():
    return cross_evaluate(i.logistic(), i.XF, i.YF, split=3)


PROTOCOL = {
    "one model": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split=3, metrics=FEW),
    "one model, every metric": lambda: str(one()),
    "two models": two,
    "two models compared": lambda: two().compare(),
    "two models ranked": lambda: [two().ranking("recall"), two().leaderboard("recall"), two().differences("recall")],
    "repeated folds": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split=Folds(2, repeats=2), metrics=FEW).to_frame("polars"),
    "hold-outs": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split=HoldOut(3, repeats=3), metrics=FEW).to_frame("polars"),
    "groups": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split="groups", groups=i.PATIENT[: i.FEW], metrics=FEW).to_frame("polars"),
    "resampled": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split=2, resample={"over": "over", "under": "under", "weighted": "class_weight"}, metrics=FEW).to_frame("polars"),
    "weights": lambda: cross_evaluate(i.logistic(), i.XF, i.YF, split=2, sample_weight=i.W[: i.FEW], metrics=FEW).to_frame("polars"),
    "three classes": lambda: cross_evaluate(i.logistic(), i.XF, i.YF3, split=2, metrics=["accuracy", "f1[average=macro]"]),
    "label sets": lambda: cross_evaluate(i.tree(), i.XF, i.SETS[: i.FEW], split=2, metrics=["f1[average=macro]"]).to_frame("polars"),
    "threshold of one": lambda: one().best_threshold("f1", draws=10),
    "values of one": lambda: [one().values("recall"), one().summarised("mcc")],
    "resampling": lambda: steelyard.studies.resampling_study(i.logistic(), i.XF, i.YF, ["over", "class_weight"], split=2, inner=2),
    "resampling by a metric": lambda: str(steelyard.studies.resampling_study(i.tree(), i.XF, i.YF, ["under"], split=2, inner=2, metric="mcc", margin=0.1)),
    "tree": lambda: steelyard.studies.select_tree(i.tree(), i.XF, i.YF, split=Folds(2), most=6),
    "another model for a tree": lambda: steelyard.studies.select_tree(i.logistic(), i.XF, i.YF, split=Folds(2), variants={"C": [0.1, 1.0]}, complexity=lambda model: model.C),
    "nearest mean": lambda: steelyard.studies.nearest_mean_study(i.logistic(), i.XF, i.YF, ratios=["1:1", "1:2"], draws=2, metrics=["recall", "mcc"]),
    "ratios": lambda: steelyard.studies.ratio_study(i.logistic(), i.X, i.Y, ["50:50", "40:60"], repeats=2, metrics=FEW),
}  # fmt: skip

ALL = {"first": i.COUNTS, "second": i.OTHER}
AUDIT = {
    "explained": lambda: [steelyard.explain("f1[average=macro]"), steelyard.explain("average_precision")],
    "one metric": lambda: steelyard.audit("recall"),
    "several metrics": lambda: steelyard.audit("f1", "mcc", "ac_score", "g_mean"),
    "some properties": lambda: steelyard.audit("precision", "kappa", properties=["bounds_attained", "class_symmetry"]),
    "every metric, as counts": lambda: [f"{row.row()}" for row in steelyard.audit()],
    "decided": lambda: [
        steelyard.audit(name, properties=["class_symmetry"])[0] for name in ("accuracy", "recall", "mcc", "f1")
    ],
    "harsher": lambda: [steelyard.metrics.harsher("f1", "recall"), steelyard.metrics.harsher("ac_score", "g_mean"), steelyard.metrics.harsher("jaccard", "f1")],
    "identities": lambda: steelyard.metrics.identities(["f1", "jaccard", "recall", "false_negative_rate", "balanced_accuracy", "youden"]),
    "correlation": lambda: steelyard.studies.correlation_study(["recall", "f1", "precision", "mcc"], n=100, steps=3, tuples=2),
    "correlation by seeds": lambda: steelyard.studies.correlation_study(["f1", "mcc"], n=100, steps=3, tuples=2, seeds=2, rng=4, positives=[0.1]),
    "correlation on rows": lambda: steelyard.studies.metric_correlation(i.Y, i.S, metrics=FEW, steps=3, tuples=2, seeds=2),
    "correlation on models": lambda: steelyard.studies.metric_correlation(i.Y, {f"model {n}": np.round(np.roll(i.S, n) / 2 + i.S2 / 2, 3) for n in range(4)}, metrics=FEW),
    "robustness": lambda: steelyard.studies.robustness(i.Y, i.BOTH, metrics=FEW, draws=20),
    "robustness of tables": lambda: steelyard.studies.robustness(ALL, balanced={"first": steelyard.Counts(28, 23, 4, 47), "second": steelyard.Counts(30, 21, 3, 48)}, metrics=FEW),
    "robustness at prevalences": lambda: steelyard.studies.robustness(i.Y, i.P, metrics=FEW, prevalences=[0.1, 0.5], draws=10, tolerance=0.1),
    "robustness of fits": lambda: steelyard.studies.refit_robustness(i.tree(), i.X[:120], i.Y[:120], i.X[120:], i.Y[120:], metrics=FEW, draws=10),
    "spread over ratios": lambda: steelyard.studies.ratio_spread({"1:1": ALL, "1:2": ALL}),
    "discrimination": lambda: steelyard.studies.discrimination((0.8, 0.9), (0.7, 0.95), prevalences=[0.1, 0.5], metrics=["recall", "f1", "mcc"]),
    "disagreement": lambda: steelyard.studies.disagreement("f1", "mcc", [0.1, 0.5], size=50),
    "disagreement on a grid": lambda: steelyard.studies.disagreement("f1", "ac_score", 0.1, points="grid", size=20),
    "recommended": steelyard.recommend,
    "recommended for costs": lambda: steelyard.recommend(use="alerts", cost={"cost_fn": 5}),
    "recommended for balance": lambda: steelyard.recommend(use="balance"),
    "recommended for a ranking": lambda: steelyard.recommend(use="ranking", capacity=200),
    "recommended for probabilities": lambda: steelyard.recommend(use="probabilities", stable_prevalence=True),
    "recommended for few": lambda: steelyard.recommend(positives=12, cluster="patient", allow_zero_recall=True),
    "recommended for an order": lambda: steelyard.recommend(ordered=True, threshold=0.2),
    "recommended for data": lambda: steelyard.recommend(evaluate(i.Y, y_score=i.S)),
}  # fmt: skip


def kept():
    """A new ledger of two evaluations."""
    ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger")
    ids = [ledger.log(evaluate(i.Y, p, metrics=FEW), {"model": name}) for name, p in i.BOTH.items()]
    return ledger, ids


def of_ledger(ask):
    """What is read of a new ledger."""
    return ask(*kept())


LEDGER = {
    "history": lambda: of_ledger(lambda ledger, ids: ledger.history(["recall", "mcc"])),
    "read": lambda: of_ledger(lambda ledger, ids: ledger.read(ids[0])),
    "found by tag": lambda: of_ledger(lambda ledger, ids: ledger.found("model=second") == ids[1]),
    "diff": lambda: of_ledger(lambda ledger, ids: ledger.compare(*ids[::-1])),
    "not found": lambda: of_ledger(lambda ledger, ids: ledger.read("20200101")),
}

FIGURES = {
    "confusion": lambda: steelyard.figures.ConfusionDisplay.from_predictions(i.Y, i.P),
    "confusion of four classes": lambda: steelyard.figures.ConfusionDisplay.from_predictions(
        i.ANIMALS[i.Y4], i.ANIMALS[i.L4]
    ),
    "correlation of columns": lambda: steelyard.figures.CorrelationDisplay.from_columns({"a": i.S, "b": i.S2}),
    "correlation of a study": lambda: steelyard.figures.CorrelationDisplay.from_study(AUDIT["correlation"]()),
    "cost curves": lambda: steelyard.figures.CostCurveDisplay.from_predictions(i.Y, i.SCORED),
    "decision curves": lambda: steelyard.figures.DecisionCurveDisplay.from_predictions(i.Y, i.SCORED),
    "density": lambda: steelyard.figures.DensityDisplay.from_predictions(i.Y, i.S),
    "dots": lambda: steelyard.figures.DotsDisplay.from_predictions(i.Y, i.S),
    "gain": lambda: steelyard.figures.GainDisplay.from_predictions(i.Y, i.S),
    "intervals": lambda: steelyard.figures.IntervalDisplay.from_predictions(i.Y, i.BOTH),
    "leaderboard": lambda: steelyard.figures.LeaderboardDisplay.from_comparison(three()),
    "leaders": lambda: steelyard.figures.LeadersDisplay.from_comparison(three()),
    "murphy": lambda: steelyard.figures.MurphyDisplay.from_predictions(i.Y, i.SCORED),
    "precision and recall": lambda: steelyard.figures.PrecisionRecallDisplay.from_predictions(i.Y, i.SCORED),
    "prevalence": lambda: steelyard.figures.PrevalenceDisplay.from_predictions(i.Y, i.P),
    "ranking": lambda: steelyard.figures.RankingDisplay.from_comparison(
        steelyard.compare(i.Y, y_pred=i.BOTH, metrics=FEW)
    ),
    "reliability": lambda: steelyard.figures.ReliabilityDisplay.from_predictions(i.Y, i.SCORED),
    "risk and coverage": lambda: steelyard.figures.RiskCoverageDisplay.from_predictions(i.Y4, i.P4),
    "roc": lambda: steelyard.figures.RocDisplay.from_predictions(i.Y, i.SCORED),
    "roc of weights": lambda: steelyard.figures.RocDisplay.from_predictions(i.Y, i.S, sample_weight=i.W),
    "roc of an estimator": lambda: steelyard.figures.RocDisplay.from_estimator(i.logistic().fit(i.X, i.Y), i.X, i.Y),
    "roc of an evaluation": lambda: steelyard.figures.RocDisplay.from_evaluation(evaluate(i.Y, y_score=i.S)),
    "runs": lambda: steelyard.figures.RunsDisplay.from_predictions([i.Y, i.Y], [i.P, i.P2]),
    "surface": lambda: steelyard.figures.SurfaceDisplay.of(["recall", "mcc"], prevalence=0.1),
    "thresholds": lambda: steelyard.figures.ThresholdDisplay.from_predictions(i.Y, i.S),
    "triptych": lambda: steelyard.figures.TriptychDisplay.from_predictions(i.Y, i.S),
    "wins": lambda: steelyard.figures.WinsDisplay.from_comparison(three()),
    "drawn": lambda: [
        len(shown().plot().ax_.get_lines()) if not isinstance(shown().ax_, np.ndarray) else shown().ax_.shape
        for shown in (FIGURES["roc"], FIGURES["reliability"], FIGURES["decision curves"])
    ],
}


@cache
def three():
    return steelyard.compare(i.Y, y_pred=i.THREE, metrics=FEW)


QUESTIONS = {
    "estimators": ESTIMATORS,
    "protocol": PROTOCOL,
    "audit": AUDIT,
    "ledger": LEDGER,
    "figures": FIGURES,
}
