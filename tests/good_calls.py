"""One good call of every public function, constructor and method, from which tests of bad arguments start."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl

import steelyard

mpl.use("agg")

N = 60
RNG = np.random.default_rng(5)
Y = (np.arange(N) % 3 == 0).astype(int)
S = np.clip(0.3 * Y + 0.6 * RNG.random(N), 0, 1)
S2 = np.clip(S + 0.2 * RNG.standard_normal(N), 0, 1)
P, P2 = (S > 0.5).astype(int), (S2 > 0.5).astype(int)
X = np.column_stack([S, S2, RNG.random(N)])
SITE = np.array(["north", "south"])[np.arange(N) % 2]
DAY = np.array(["d1", "d2"])[(np.arange(N) // 30)]
Y3, S3 = np.arange(N) % 3, RNG.dirichlet([1, 1, 1], N)
SETS, SETS2 = (RNG.random((N, 3)) < 0.4).astype(int), (RNG.random((N, 3)) < 0.4).astype(int)
FRAME = pl.DataFrame({"y": Y, "p": P, "s": S, "site": SITE, "day": DAY, "age": np.arange(N) % 40})
COUNTS, OTHER = steelyard.Counts(28, 23, 72, 268), steelyard.Counts(30, 21, 90, 250)
BOTH = {"first": P, "second": P2}
SCORED = {"first": S, "second": S2}
MODELS = {"first": COUNTS, "second": OTHER}


@functools.cache
def made(name):
    """A result that other calls start from; made once."""
    s = steelyard
    return {
        "evaluation": lambda: s.evaluate(Y, y_score=S, metrics=["recall", "f1"], draws=50),
        "sets": lambda: s.evaluate(SETS, SETS2, metrics=["recall[average=macro]"], draws=50),
        "comparison": lambda: s.compare(Y, y_pred=BOTH, metrics=["recall", "f1"], draws=50),
        "leading": lambda: s.compare(Y, y_pred={**BOTH, "third": Y[::-1]}, metrics=["recall"], draws=50),
        "confusion": lambda: s.confusion(Y, P),
        "scores": lambda: s.score_table(Y, S),
        "paired": lambda: s.tables.paired(Y, P, P2),
        "tally": lambda: s.tally(FRAME, true="y", score="s", by="site"),
        "multilabel": lambda: s.tables.multilabel(SETS, SETS2),
        "cross": lambda: s.cross_evaluate(
            {"logistic": logistic(), "mean": s.studies.NearestMeanClassifier()}, X, Y, split=3
        ),
        "one": lambda: s.cross_evaluate(logistic(), X, Y, split=3),
        "audit": lambda: s.audit("recall", "f1"),
        "plan": lambda: s.label_plan(S, 20, "precision", threshold=0.5),
        "prevalence": lambda: s.Prevalence(positives=5, rows=100),
        "gate": lambda: s.gate(made("evaluation"), "recall >= 0.1"),
        "resampling": lambda: s.studies.resampling_study(logistic(), X, Y, ["over"], split=2, inner=2),
        "study": lambda: s.studies.correlation_study(["recall", "f1", "precision"], n=100, steps=3, tuples=2),
        "errors": lambda: s.errors(Y, P),
        "folder": lambda: Path(tempfile.mkdtemp()),
        "kept": lambda: s.Ledger(made("folder") / "ledger").log(made("evaluation"), {"model": "v1"}),
        "nearest": lambda: s.studies.NearestMeanClassifier().fit(X, Y),
        "recalibrator": lambda: s.Recalibrator("logistic").fit(S, Y),
        "threshold": lambda: s.ThresholdClassifier(logistic(), "f1").fit(X, Y),
    }[name]()


def logistic():
    """A plain estimator."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def monitor():
    """A monitor with a batch and rows that wait for labels."""
    watched = steelyard.Monitor("recall >= 0.2")
    watched.update(Y, P)
    watched.predict(y_pred=[0, 1], key=["a", "b"])
    return watched


def ledger():
    """A ledger of one evaluation."""
    made("kept")
    return steelyard.Ledger(made("folder") / "ledger")


def saved(result):
    """The file of a result."""
    path = made("folder") / "result.json"
    result.save(path, force=True)
    return path


def call(*arguments, **options):
    """What a good call gives."""
    return arguments, options


GOOD = {
    "Accumulator": lambda: call(steelyard.confusion, labels=[0, 1], pos_label=1),
    "Monitor": lambda: call("recall >= 0.2", level=0.9),
    "anytime_mean": lambda: call(S, between=(0, 1), level=0.9),
    "Confusion": lambda: call((0, 1), np.array([[30, 5], [4, 20]])),
    "Counts": lambda: call(28, 23, 72, 2680),
    "Paired": lambda: call((0, 1), np.ones((2, 2, 2), dtype=int)),
    "Predictions": lambda: call(Y, P),
    "Prevalence": lambda: call(positives=5, rows=100),
    "ProbabilityTable": lambda: call((0, 1, 2), Y3, S3),
    "ScoreTable": lambda: call(made("scores").positive, made("scores").negative),
    "Tally": lambda: call(made("confusion")),
    "explain": lambda: call("f1"),
    "tally": lambda: call(FRAME, true="y", score="s", by="site"),
    "sql": lambda: call("predictions", true="y", pred="p"),
    "calibration": lambda: call(Y, S),
    "compare": lambda: call(Y, y_pred=BOTH, metrics=["recall"], draws=50),
    "confidence_band": lambda: call(Y, S, metric="recall"),
    "confusion": lambda: call(Y, P),
    "correct_prior": lambda: call(S, 0.5, 0.1),
    "corrected_t_test": lambda: call([0.1, 0.2, 0.15, 0.05], test_share=0.2),
    "decision_curve": lambda: call(Y, S),
    "friedman": lambda: call([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.85, 0.8, 0.6]]),
    "paired": lambda: call(Y, P, P2),
    "precision_recall_curve": lambda: call(Y, S),
    "roc_curve": lambda: call(Y, S),
    "score_table": lambda: call(Y, S),
    "label_propensities": lambda: call(SETS),
    "multilabel": lambda: call(SETS, SETS2),
    "MultilabelTable": lambda: call((0, 1, 2), made("multilabel").true, made("multilabel").predicted),
    "get_metric": lambda: call("recall"),
    "list_metrics": lambda: call(None),
    "metric": lambda: call("Own rate", range=(0, 1), best=1.0),
    "ratio": lambda: call(1.0, 2.0),
    "sqrt": lambda: call(4.0),
    "where": lambda: call(True, 1.0, 2.0),
    "interval": lambda: call("recall", Y, P, draws=50),
    "slices": lambda: call(FRAME, true="y", pred="p", features=["site", "age"]),
    "load": lambda: call(saved(made("evaluation"))),
    "label_plan": lambda: call(S, 20, "precision", threshold=0.5),
    "sample_size": lambda: call("recall", at=(0.8, 0.9), prevalence=0.1, width=0.2),
    "at_prevalence": lambda: call(Y, 0.1, y_pred=P),
    "audit": lambda: call("recall", properties=["bounds_attained"]),
    "recommend": lambda: call(),
    "harsher": lambda: call("recall", "f1"),
    "identities": lambda: call(["recall", "f1"]),
    "correlation_study": lambda: call(["recall", "f1", "precision"], n=100, steps=3, tuples=2),
    "metric_correlation": lambda: call(Y, S, metrics=["recall", "f1", "precision"], steps=3, tuples=2, seeds=1),
    "robustness": lambda: call(Y, BOTH, metrics=["recall"], draws=20),
    "refit_robustness": lambda: call(logistic(), X, Y, X, Y, metrics=["recall"], draws=20),
    "ratio_spread": lambda: call({"1:1": MODELS, "1:2": MODELS}),
    "ratio_study": lambda: call(logistic(), X, Y, ["50:50", "40:60"], repeats=2, metrics=["recall"]),
    "discrimination": lambda: call((0.8, 0.9), (0.7, 0.95), prevalences=[0.1, 0.5], metrics=["recall", "f1"]),
    "disagreement": lambda: call("recall", "f1", [0.1, 0.5], size=50),
    "best_decision": lambda: call(Y3, S3, "f1[average=macro]", folds=2),
    "best_threshold": lambda: call(Y, S, "f1", draws=10),
    "operating_points": lambda: call(Y, S),
    "roc_then_tpnr": lambda: call(Y, S, draws=10),
    "NearestMeanClassifier": lambda: call("best"),
    "Recalibrator": lambda: call("logistic"),
    "scorer": lambda: call("recall"),
    "Folds": lambda: call(5),
    "HoldOut": lambda: call(2),
    "cross_evaluate": lambda: call(logistic(), X, Y, split=2, metrics=["recall"]),
    "nearest_mean_study": lambda: call(logistic(), X, Y, ratios=["1:1", "1:2"], draws=2, metrics=["recall"]),
    "resampling_study": lambda: call(logistic(), X, Y, ["over"], split=2, inner=2),
    "select_tree": lambda: call(logistic(), X, Y, variants={"C": [0.1, 1.0]}, complexity=lambda _: 1.0),
    "ThresholdClassifier": lambda: call(logistic(), "f1"),
    "Ledger": lambda: call(made("folder") / "ledger"),
    "evaluate": lambda: call(Y, P, metrics=["recall"], draws=50),
    "compare_groups": lambda: call(Y, P, by=SITE, metrics=["recall"], draws=50),
    "errors": lambda: call(Y, P),
    "unlabelled": lambda: call(S2, reference=(Y, S), threshold=0.5, metrics=["recall"], draws=50),
    "group_thresholds": lambda: call(Y, S, by=SITE, recall=0.8, draws=5),
    "assert_gate": lambda: call(made("evaluation"), "recall >= 0.1"),
    "gate": lambda: call(made("evaluation"), "recall >= 0.1"),
    "drift": lambda: call(Y, P, period=DAY, metrics=["recall"], draws=50),
    "swap_prevalences": lambda: call("recall", COUNTS, OTHER),
    "beats_chance": lambda: call(Y, P, metric="f1"),
    "chance": lambda: call("f1", Y, P),
    # methods
    "Accumulator.update": lambda: call(steelyard.Accumulator(), Y, P),
    "Monitor.at_threshold_of": lambda: call(monitor(), monitor()),
    "Monitor.from_json": lambda: call(monitor().to_json()),
    "Monitor.label": lambda: call(monitor(), [0, 1], key=["a", "b"]),
    "Monitor.predict": lambda: call(monitor(), y_pred=[0, 1], key=["c", "d"]),
    "Monitor.update": lambda: call(monitor(), Y, P),
    "Confusion.counts": lambda: call(made("confusion"), 1),
    "Confusion.from_json": lambda: call(made("confusion").to_json()),
    "Confusion.index": lambda: call(made("confusion"), 1),
    "Confusion.of_rows": lambda: call((0, 1), np.array([[30, 5], [4, 20]])),
    "Confusion.relabelled": lambda: call(made("confusion"), [0, 1, 2]),
    "Confusion.renamed": lambda: call(made("confusion"), {0: "no", 1: "yes"}),
    "Confusion.with_positive": lambda: call(made("confusion"), 1),
    "Counts.from_json": lambda: call(COUNTS.to_json()),
    "Counts.from_matrix": lambda: call([[30, 5], [4, 20]]),
    "Counts.scaled": lambda: call(COUNTS, 2.0),
    "Counts.stack": lambda: call([COUNTS, OTHER]),
    "Counts.sum": lambda: call(steelyard.Counts([1, 2], [1, 2], [1, 2], [1, 2])),
    "Paired.collapsed": lambda: call(made("paired"), 1),
    "Paired.confusion": lambda: call(made("paired"), 0),
    "Paired.from_json": lambda: call(made("paired").to_json()),
    "Paired.relabelled": lambda: call(made("paired"), [0, 1, 2]),
    "Paired.renamed": lambda: call(made("paired"), {0: "no", 1: "yes"}),
    "Paired.swapped": lambda: call(made("paired"), 1),
    "Prevalence.from_draws": lambda: call([0.1, 0.2, 0.15] * 40),
    "Prevalence.interval": lambda: call(made("prevalence"), 0.9),
    "Prevalence.text": lambda: call(made("prevalence"), 0.9),
    "Result.from_json": lambda: call(made("evaluation").to_json()),
    "ScoreTable.at": lambda: call(made("scores"), 0.5),
    "ScoreTable.from_json": lambda: call(made("scores").to_json()),
    "ScoreTable.renamed": lambda: call(made("scores"), {0: "no", 1: "yes"}),
    "Tally.from_json": lambda: call(made("tally").to_json()),
    "Tally.relabelled": lambda: call(made("tally"), (0, 1)),
    "Tally.renamed": lambda: call(made("tally"), {0: "no", 1: "yes"}),
    "Tally.with_groups_of": lambda: call(made("tally"), 3),
    "MultilabelTable.of_labels": lambda: call(made("multilabel"), [0, 1]),
    "MultilabelTable.place": lambda: call(made("multilabel"), 1),
    "MultilabelTable.true_column": lambda: call(made("multilabel"), 1),
    "Metric.fits_scores": lambda: call(steelyard.roc_auc, made("scores")),
    "Metric.fixed": lambda: call(steelyard.f_beta, beta=2),
    "Metric.trace": lambda: call(steelyard.f_beta, beta=2),
    "Metric.why": lambda: call(steelyard.precision, Y, P),
    "Evaluation.best_threshold": lambda: call(made("evaluation"), "f1", draws=10),
    "Evaluation.confused_pairs": lambda: call(made("evaluation"), 3),
    "Evaluation.from_json": lambda: call(made("evaluation").to_json()),
    "Evaluation.of_groups": lambda: call(made("evaluation"), [("north",)]),
    "Evaluation.to_frame": lambda: call(made("evaluation"), "polars"),
    "Evaluation.to_html": lambda: call(made("evaluation"), "rows.csv"),
    "Evaluation.to_json": lambda: call(made("evaluation"), 1),
    "GateResult.from_json": lambda: call(made("gate").to_json()),
    "GateResult.to_frame": lambda: call(made("gate"), "polars"),
    "GateResult.to_html": lambda: call(made("gate"), "rows.csv"),
    "GateResult.to_json": lambda: call(made("gate"), 1),
    "CrossEvaluation.best_threshold": lambda: call(made("one"), "f1", draws=10),
    "CrossEvaluation.differences": lambda: call(made("cross"), "recall"),
    "CrossEvaluation.from_json": lambda: call(made("cross").to_json()),
    "CrossEvaluation.leaderboard": lambda: call(made("cross"), "recall"),
    "CrossEvaluation.ranking": lambda: call(made("cross"), "recall"),
    "CrossEvaluation.to_frame": lambda: call(made("cross"), "polars"),
    "CrossEvaluation.to_html": lambda: call(made("cross"), "rows.csv"),
    "CrossEvaluation.to_json": lambda: call(made("cross"), 1),
    "CrossEvaluation.values": lambda: call(made("one"), "recall"),
    "CrossEvaluation.summarised": lambda: call(made("one"), "recall"),
    "ResamplingStudy.difference": lambda: call(made("resampling"), "over"),
    "ResamplingStudy.moved": lambda: call(made("resampling")),
    "ResamplingStudy.value": lambda: call(made("resampling"), "over"),
    "ResamplingStudy.from_json": lambda: call(made("resampling").to_json()),
    "ResamplingStudy.to_frame": lambda: call(made("resampling"), "polars"),
    "ResamplingStudy.to_html": lambda: call(made("resampling"), "rows.csv"),
    "ResamplingStudy.to_json": lambda: call(made("resampling"), 1),
    "LabelPlan.from_csv": lambda: call(made("plan").to_csv()),
    "LabelPlan.from_json": lambda: call(made("plan").to_json()),
    "LabelPlan.top_up": lambda: call(made("plan"), S, 10, Y[np.asarray(made("plan").index)]),
    "LabelPlan.to_frame": lambda: call(made("plan"), "polars"),
    "LabelPlan.to_html": lambda: call(made("plan"), "rows.csv"),
    "LabelPlan.to_json": lambda: call(made("plan"), 1),
    "Ledger.compare": lambda: call(ledger(), made("evaluation"), made("evaluation")),
    "Ledger.found": lambda: call(ledger(), made("kept")),
    "Ledger.history": lambda: call(ledger(), ["recall"]),
    "Ledger.log": lambda: call(ledger(), made("evaluation"), {"model": "v2"}),
    "Ledger.read": lambda: call(ledger(), made("kept")),
    "NearestMeanClassifier.fit": lambda: call(steelyard.studies.NearestMeanClassifier(), X, Y),
    "NearestMeanClassifier.predict": lambda: call(made("nearest"), X),
    "NearestMeanClassifier.project": lambda: call(made("nearest"), X),
    "NearestMeanClassifier.decision_function": lambda: call(made("nearest"), X),
    "Recalibrator.fit": lambda: call(steelyard.Recalibrator("logistic"), S, Y),
    "Recalibrator.predict_proba": lambda: call(made("recalibrator"), S),
    "Recalibrator.transform": lambda: call(made("recalibrator"), S),
    "ThresholdClassifier.fit": lambda: call(steelyard.ThresholdClassifier(logistic(), "f1"), X, Y),
    "ThresholdClassifier.predict": lambda: call(made("threshold"), X),
    # figures
    "plot": lambda: call("roc", made("evaluation")),
    "ConfusionDisplay.from_predictions": lambda: call(Y, P),
    "CorrelationDisplay.from_columns": lambda: call({"a": S, "b": S2}),
    "CorrelationDisplay.from_study": lambda: call(made("study")),
    "CostCurveDisplay.from_predictions": lambda: call(Y, S),
    "DecisionCurveDisplay.from_predictions": lambda: call(Y, S),
    "DensityDisplay.from_predictions": lambda: call(Y, S),
    "DotsDisplay.from_predictions": lambda: call(Y, S),
    "GainDisplay.from_predictions": lambda: call(Y, S),
    "IntervalDisplay.from_predictions": lambda: call(Y, P),
    "LeaderboardDisplay.from_comparison": lambda: call(made("leading")),
    "LeadersDisplay.from_comparison": lambda: call(made("leading")),
    "MurphyDisplay.from_predictions": lambda: call(Y, S),
    "PrecisionRecallDisplay.from_predictions": lambda: call(Y, S),
    "PrevalenceDisplay.from_predictions": lambda: call(Y, P),
    "RankingDisplay.from_comparison": lambda: call(made("comparison")),
    "ReliabilityDisplay.from_predictions": lambda: call(Y, S),
    "RiskCoverageDisplay.from_predictions": lambda: call(Y3, S3),
    "RocDisplay.from_predictions": lambda: call(Y, S),
    "RunsDisplay.from_predictions": lambda: call([Y, Y], [P, P2]),
    "SurfaceDisplay.of": lambda: call(["recall"]),
    "ThresholdDisplay.from_predictions": lambda: call(Y, S),
    "TriptychDisplay.from_predictions": lambda: call(Y, S),
    "WinsDisplay.from_comparison": lambda: call(made("leading")),
}
