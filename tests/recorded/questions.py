"""Recorded calls: the questions asked of predictions."""

from __future__ import annotations

import numpy as np

import steelyard
from recorded import inputs as i
from steelyard import (
    Evaluation,
    Monitor,
    at_prevalence,
    best_decision,
    best_threshold,
    calibration,
    compare,
    compare_groups,
    drift,
    errors,
    evaluate,
    gate,
    get_metric,
    interval,
    unlabelled,
)

FEW = ["recall", "precision", "f1", "mcc"]
RANKED = ["roc_auc", "average_precision", "brier"]
MACRO = ["accuracy", "recall[average=macro]", "f1[average=macro]", "mcc"]


def read_back(evaluation):
    """Whether JSON gives back the same."""
    return Evaluation.from_json(evaluation.to_json()) == evaluation


EVALUATE = {
    "labels": lambda: evaluate(i.Y, i.P),
    "scores": lambda: evaluate(i.Y, y_score=i.S),
    "scores at a threshold": lambda: evaluate(i.Y, y_score=i.S, threshold=0.45, metrics=[*FEW, *RANKED]),
    "scores without a threshold": lambda: evaluate(i.Y, y_score=10 * i.S, metrics=RANKED[:2]),
    "weighted labels": lambda: evaluate(i.Y, i.P, sample_weight=i.W, metrics=FEW),
    "weighted scores": lambda: evaluate(i.Y, y_score=i.S, sample_weight=i.W, metrics=[*FEW, *RANKED]),
    "frequencies": lambda: evaluate(i.Y, i.P, frequency=i.F, metrics=FEW),
    "weights and frequencies": lambda: evaluate(i.Y, y_score=i.S, sample_weight=i.W, frequency=i.F, metrics=FEW),
    "clusters": lambda: evaluate(i.Y, i.P, cluster=i.PATIENT, metrics=FEW),
    "clusters of scores": lambda: evaluate(i.Y, y_score=i.S, cluster=i.PATIENT, metrics=RANKED),
    "stratified": lambda: evaluate(i.Y, i.P, design="stratified", metrics=FEW),
    "stratified scores": lambda: evaluate(i.Y, y_score=i.S, design="stratified", metrics=[*FEW, *RANKED]),
    "label plan": lambda: evaluate(i.PLANNED, design=i.PLAN, metrics=FEW),
    "label plan, every metric": lambda: evaluate(i.PLANNED, design=i.PLAN),
    "at a prevalence": lambda: evaluate(i.Y, i.P, prevalence=0.02, metrics=FEW),
    "at a counted prevalence": lambda: evaluate(
        i.Y, i.P, prevalence=steelyard.Prevalence(positives=12, rows=400), metrics=FEW
    ),
    "groups": lambda: evaluate(i.Y, i.P, by=i.SITE, metrics=FEW),
    "groups of a frame": lambda: evaluate(i.FRAME, true="y", score="s", by=["site", "age"], bins={"age": 3}, metrics=FEW),
    "level": lambda: evaluate(i.Y, i.P, level=0.8, metrics=FEW),
    "draws and seed": lambda: evaluate(i.Y, i.P, draws=100, rng=7, metrics=["mcc", "g_mean", "ac_score"]),
    "counts": lambda: evaluate(i.COUNTS),
    "counts with zeros": lambda: evaluate(steelyard.Counts(0, 5, 0, 40)),
    "few positives": lambda: evaluate(steelyard.Counts(3, 1, 2, 20), metrics=FEW),
    "words": lambda: evaluate(i.YES[i.Y], i.YES[i.P], metrics=FEW),
    "the rarer class": lambda: evaluate(i.ANIMALS[i.Y], i.ANIMALS[i.P], pos_label=steelyard.RARER, metrics=FEW),
    "the other class": lambda: evaluate(i.Y, i.P, pos_label=0, metrics=FEW),
    "more classes than are there": lambda: evaluate(i.Y4, i.L4, labels=[0, 1, 2, 3, 4], metrics=MACRO),
    "muted": lambda: evaluate(i.Y, i.P, mute=["outcomes", "rates"], metrics=FEW),
    "four classes": lambda: evaluate(i.Y4, i.L4),
    "four classes, weighted": lambda: evaluate(i.Y4, i.L4, sample_weight=i.W, metrics=MACRO),
    "four classes, clusters": lambda: evaluate(i.Y4, i.L4, cluster=i.PATIENT, metrics=MACRO),
    "four classes, groups": lambda: evaluate(i.ANIMALS[i.Y4], i.ANIMALS[i.L4], by=i.SITE, metrics=MACRO),
    "four classes, one positive": lambda: evaluate(i.ANIMALS[i.Y4], i.ANIMALS[i.L4], pos_label="dog", metrics=FEW),
    "probabilities": lambda: evaluate(i.Y4, y_score=i.P4),
    "probabilities, one positive": lambda: evaluate(i.Y4, y_score=i.P4, pos_label=3, threshold=0.3, metrics=FEW),
    "probabilities of a frame": lambda: evaluate(i.FRAME, true="kind", score="p_*", metrics=MACRO),
    "hierarchy of paths": lambda: evaluate(i.PATHS[i.Y4], i.PATHS[i.L4], hierarchy="/", metrics=MACRO),
    "hierarchy of parents": lambda: evaluate(
        i.ANIMALS[i.Y4], i.ANIMALS[i.L4], metrics=MACRO,
        hierarchy={"ant": "insect", "bee": "insect", "cat": "mammal", "dog": "mammal"},
    ),
    "a confusion matrix": lambda: evaluate(i.CLASSES, metrics=MACRO),
    "label sets": lambda: evaluate(i.SETS, i.SETS_P),
    "label sets by scores": lambda: evaluate(i.SETS, y_score=i.SET_SCORES, threshold=0.5),
    "label sets with groups": lambda: evaluate(i.SETS, i.SETS_P, by=i.SITE, metrics=["f1[average=macro]"]),
    "label sets with weights": lambda: evaluate(i.SETS, i.SETS_P, sample_weight=i.W, metrics=["f1[average=macro]"]),
    "label sets with clusters": lambda: evaluate(i.SETS, i.SETS_P, cluster=i.PATIENT, metrics=["f1[average=macro]"]),
    "label sets of a frame": lambda: evaluate(i.FRAME, true="y_*", pred="a_*", metrics=["f1[average=micro]"]),
    "label sets of lists": lambda: evaluate(i.NAMED_SETS, i.NAMED_P, metrics=["f1[average=samples]"]),
    "label sets of texts": lambda: evaluate(
        steelyard.tables.multilabel(i.SETS_TEXT, true="y", pred="p", label_sep=";"), metrics=["f1[average=macro]"]
    ),
    "a tally": lambda: evaluate(i.TALLY, metrics=FEW),
    "a tally of scores": lambda: evaluate(i.SCORE_TALLY, metrics=RANKED),
    "a score table": lambda: evaluate(i.SCORES, metrics=RANKED),
    "scores in bins": lambda: evaluate(i.FRAME, true="y", score="s", exact=False, metrics=[*FEW, *RANKED]),
    "metrics in written form": lambda: evaluate(i.Y, i.P, metrics=["f_beta[beta=2]", "iba[alpha=0.1,of=recall]"]),
    "as Markdown": lambda: evaluate(i.Y, y_score=i.S, metrics=FEW).to_markdown(),
    "as a frame": lambda: evaluate(i.Y, y_score=i.S, metrics=FEW).to_frame("polars"),
    "as a frame of pandas": lambda: evaluate(i.Y, y_score=i.S, metrics=FEW).to_frame("pandas"),
    "read back": lambda: read_back(evaluate(i.Y, y_score=i.S, by=i.SITE, metrics=FEW)),
    "confused pairs": lambda: evaluate(i.Y4, i.L4).confused_pairs(5),
    "of some groups": lambda: evaluate(i.Y, i.P, by=i.SITE, metrics=FEW).of_groups([("north",)]),
}  # fmt: skip

METHODS = ("posterior", "stratified", "deviance", "bootstrap", "stratified-bootstrap", "bca")
SCORE_METHODS = ("score", "delong", "logit-delong", "influence", "bayesian-bootstrap")
INTERVAL = {
    **{f"recall, {method}": lambda method=method: interval("recall", i.COUNTS, method=method) for method in ("wilson", "jeffreys", "exact")},
    **{f"mcc, {method}": lambda method=method: interval("mcc", i.Y, i.P, method=method, draws=200) for method in METHODS},
    **{f"roc_auc, {method}": lambda method=method: interval("roc_auc", i.Y, y_score=i.S, method=method, draws=200) for method in SCORE_METHODS},
    **{f"{name} of scores": lambda name=name: interval(name, i.Y, y_score=i.S) for name in ("average_precision", "brier", "log_loss", "ece", "ks", "pr_auc")},
    **{f"{name} of labels": lambda name=name: interval(name, i.Y, i.P) for name in ("precision", "f1", "g_mean", "kappa", "ac_score", "accuracy", "tpnr")},
    "weights": lambda: interval("f1", i.Y, i.P, sample_weight=i.W),
    "weighted scores": lambda: interval("roc_auc", i.Y, y_score=i.S, sample_weight=i.W),
    "frequencies": lambda: interval("f1", i.Y, i.P, frequency=i.F),
    "clusters": lambda: interval("f1", i.Y, i.P, cluster=i.PATIENT),
    "clusters, weighted": lambda: interval("recall", i.Y, i.P, cluster=i.PATIENT, sample_weight=i.W),
    "clusters of scores": lambda: interval("roc_auc", i.Y, y_score=i.S, cluster=i.PATIENT),
    "stratified": lambda: interval("precision", i.Y, i.P, design="stratified"),
    "label plan": lambda: interval("f1", i.PLANNED, design=i.PLAN),
    "prevalence": lambda: interval("precision", i.Y, i.P, prevalence=0.05),
    "counted prevalence": lambda: interval("precision", i.Y, i.P, prevalence=steelyard.Prevalence(positives=3, rows=90)),
    "level": lambda: interval("recall", i.Y, i.P, level=0.5),
    "an array of tables": lambda: interval("recall", steelyard.Counts([1, 5, 9], [9, 5, 1], [2, 2, 2], [80, 80, 80])),
    "nothing flagged": lambda: interval("precision", steelyard.Counts(0, 20, 0, 100)),
    "all hits": lambda: interval("recall", steelyard.Counts(20, 0, 5, 100)),
    "macro of four classes": lambda: interval("f1[average=macro]", i.Y4, i.L4),
    "one class of four": lambda: interval("recall[class=3]", i.Y4, i.L4),
    "probabilities": lambda: interval("roc_auc[average=macro]", i.Y4, y_score=i.P4),
    "log loss of probabilities": lambda: interval("log_loss", i.Y4, y_score=i.P4),
    "ordinal": lambda: interval("mean_absolute_class_error", i.Y4, i.L4),
    "label sets": lambda: interval("f1[average=micro]", i.LABEL_SETS),
    "label sets, clusters": lambda: interval("f1[average=samples]", i.SETS, i.SETS_P, cluster=i.PATIENT),
    "many": lambda: interval([*FEW, "g_mean"], i.Y, i.P),
    "many of scores": lambda: interval([*RANKED, "ks"], i.Y, y_score=i.S),
    "many, clusters": lambda: interval(FEW, i.Y, i.P, cluster=i.PATIENT),
    "many, draws": lambda: interval(["mcc", "g_mean"], i.Y, i.P, method="bootstrap", draws=100, rng=3),
    "many of four classes": lambda: interval(MACRO, i.Y4, i.L4),
}  # fmt: skip

CHANCE = {
    **{f"{name} of labels": lambda name=name: steelyard.chance(name, i.Y, i.P) for name in (*FEW, "g_mean", "kappa", "accuracy")},
    **{f"{name} of scores": lambda name=name: steelyard.chance(name, i.Y, y_score=i.S) for name in (*RANKED, "pr_auc", "precision_at_k[k=20]")},
    **{f"test of {name}": lambda name=name: steelyard.beats_chance(i.Y, i.P, metric=name) for name in FEW},
    "weighted": lambda: steelyard.chance("f1", i.Y, i.P, sample_weight=i.W),
    "frequencies": lambda: steelyard.chance("f1", i.Y, i.P, frequency=i.F),
    "four classes": lambda: steelyard.chance("f1[average=macro]", i.Y4, i.L4),
    "test of four classes": lambda: steelyard.beats_chance(i.Y4, i.L4, metric="recall", pos_label=3),
    "counts": lambda: steelyard.chance("mcc", i.COUNTS),
    "beats_chance by labels": lambda: steelyard.beats_chance(i.Y, i.P),
    "beats_chance by scores": lambda: steelyard.beats_chance(i.Y, y_score=i.S),
    "beats_chance, weighted": lambda: steelyard.beats_chance(i.Y, i.P, sample_weight=i.W),
    "beats_chance of four classes": lambda: steelyard.beats_chance(i.Y4, i.L4),
    "beats_chance of nothing flagged": lambda: steelyard.beats_chance(steelyard.Counts(0, 20, 0, 100)),
}  # fmt: skip

PREVALENCE = {
    "counts": lambda: at_prevalence(i.COUNTS, 0.2),
    "labels": lambda: at_prevalence(i.Y, 0.02, y_pred=i.P),
    "scores": lambda: at_prevalence(i.Y, 0.02, y_score=i.S),
    "weighted scores": lambda: at_prevalence(i.Y, 0.5, y_score=i.S, sample_weight=i.W),
    "four classes": lambda: at_prevalence(i.TABLE4, [0.1, 0.2, 0.3, 0.4]),
    "counted": lambda: [steelyard.Prevalence(positives=5, rows=100).interval(0.9), steelyard.Prevalence(positives=0, rows=50).text(0.95)],
    "counted classes": lambda: steelyard.Prevalence(counts={"a": 5, "b": 10, "c": 85}),
    "drawn": lambda: steelyard.Prevalence.from_draws([0.1, 0.2, 0.15, 0.12] * 40).interval(0.9),
    "where two models change places": lambda: steelyard.studies.swap_prevalences("f1", i.COUNTS, i.OTHER),
    "scores corrected": lambda: steelyard.correct_prior(i.S[:10], 0.4, 0.02),
    "columns of scores corrected": lambda: steelyard.correct_prior(i.P4[:5], [0.5, 0.25, 0.2, 0.05], [0.25] * 4),
}  # fmt: skip

UNLABELLED = {
    "scores": lambda: unlabelled(i.NEW, reference=(i.Y, i.S), metrics=FEW, threshold=0.45, draws=200),
    "scores at a level": lambda: unlabelled(i.NEW, reference=i.SCORES, metrics=FEW[:2], threshold=0.45, draws=100, level=0.8),
    "of a tally": lambda: unlabelled(i.NEW, reference=i.SCORE_TALLY, metrics=FEW[:2], threshold=0.45, draws=100),
    "four classes": lambda: unlabelled(i.Q4[:100], reference=(i.Y4, i.P4), metrics=MACRO[:2], draws=100),
    "label shift refused": lambda: unlabelled(np.round(i.S2**2, 2), reference=(i.Y, i.S), metrics=FEW[:2], threshold=0.45, draws=100),
    "predicted labels": lambda: unlabelled(y_pred=i.P2, reference=i.TABLE, metrics=FEW[:2], draws=100),
}  # fmt: skip

COMPARE = {
    "labels": lambda: compare(i.Y, y_pred=i.BOTH),
    "three models": lambda: compare(i.Y, y_pred=i.THREE, metrics=FEW),
    "scores": lambda: compare(i.Y, y_score=i.SCORED),
    "scores at a threshold": lambda: compare(i.Y, y_score=i.SCORED, threshold=0.45, metrics=[*FEW, *RANKED]),
    "scores at a threshold each": lambda: compare(
        i.Y, y_score=i.SCORED, threshold={"first": 0.45, "second": 0.5}, metrics=FEW
    ),
    "told apart": lambda: compare(i.Y, i.SCORED, metrics=RANKED),
    "read at a prevalence": lambda: compare(i.Y, y_score=i.SCORED, threshold=0.45, metrics=FEW, prevalence=0.05),
    "weights": lambda: compare(i.Y, y_pred=i.BOTH, metrics=FEW, sample_weight=i.W),
    "weighted scores": lambda: compare(i.Y, y_score=i.SCORED, metrics=RANKED, sample_weight=i.W),
    "frequencies": lambda: compare(i.Y, y_pred=i.BOTH, metrics=FEW, frequency=i.F),
    "clusters": lambda: compare(i.Y, y_pred=i.BOTH, metrics=FEW, cluster=i.PATIENT),
    "clusters of scores": lambda: compare(i.Y, y_score=i.SCORED, metrics=RANKED, cluster=i.PATIENT),
    "margin": lambda: compare(i.Y, y_pred=i.BOTH, metrics=FEW, margin=0.05),
    "level and draws": lambda: compare(i.Y, y_pred=i.BOTH, metrics=["mcc"], level=0.8, draws=100, rng=5),
    "four classes": lambda: compare(i.Y4, y_pred={"first": i.L4, "second": i.M4}, metrics=MACRO),
    "four classes by the other average": lambda: compare(
        i.Y4, y_pred={"first": i.L4, "second": i.M4}, metrics=["recall[average=macro]", "f1[average=macro]"]
    ),
    "one class of four": lambda: compare(i.Y4, y_pred={"first": i.L4, "second": i.M4}, metrics=FEW, pos_label=3),
    "probabilities": lambda: compare(
        i.Y4, y_score={"first": i.P4, "second": i.Q4}, metrics=["log_loss", "roc_auc[average=macro]"]
    ),
    "label sets": lambda: compare(
        i.SETS, y_pred={"first": i.SETS_P, "second": i.SETS_Q}, metrics=["f1[average=macro]", "f1[average=samples]"]
    ),
    "scores of label sets": lambda: compare(
        i.SETS, y_score={"first": i.SET_SCORES, "second": i.SET_SCORES2}, metrics=["roc_auc[average=macro]"]
    ),
    "label sets of a frame": lambda: compare(
        i.FRAME, pred=["a_*", "b_*"], true="y_*", metrics=["f1[average=micro]"], cluster="patient"
    ),
    "a paired table": lambda: compare(i.PAIR, metrics=FEW),
    "tables of other rows": lambda: compare({"old": i.COUNTS, "new": i.OTHER}, metrics=FEW),
    "score tables of other rows": lambda: compare(
        {"old": i.SCORES, "new": steelyard.score_table(i.Y, i.S2)}, metrics=["roc_auc"]
    ),
    "columns of a frame": lambda: compare(i.FRAME, true="y", score=["s", "s2"], weight="w", metrics=RANKED),
    "equal models": lambda: compare(i.Y, y_pred={"one": i.P, "two": i.P}, metrics=FEW),
    "as Markdown": lambda: compare(i.Y, y_pred=i.THREE, metrics=FEW).to_markdown(),
    "as a frame": lambda: compare(i.Y, y_pred=i.THREE, metrics=FEW).to_frame("polars"),
    "friedman": lambda: steelyard.studies.friedman(
        {"a": [0.9, 0.8, 0.9, 0.85, 0.7], "b": [0.8, 0.7, 0.7, 0.8, 0.6], "c": [0.7, 0.6, 0.8, 0.6, 0.65]}
    ),
    "friedman by mean ranks": lambda: steelyard.studies.friedman(
        [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.85, 0.8, 0.6]], models=["a", "b", "c"], post_hoc="nemenyi"
    ),
    "friedman, lower is better": lambda: steelyard.studies.friedman(
        [[0.9, 0.8], [0.8, 0.7], [0.9, 0.7], [0.85, 0.8]], higher=False
    ),
    "corrected t test": lambda: steelyard.studies.corrected_t_test([0.1, 0.2, 0.15, 0.05, -0.02], test_share=0.2),
    "corrected t test of sizes": lambda: steelyard.studies.corrected_t_test(
        [0.01, 0.02, -0.01, 0.03], n_train=90, n_test=10, worth=0.05, level=0.9
    ),
}  # fmt: skip

GROUPS = {
    "labels": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW),
    "labels, every metric": lambda: compare_groups(i.Y, i.P, by=i.SITE),
    "scores": lambda: compare_groups(i.Y, y_score=i.S, threshold=0.45, by=i.SITE, metrics=[*FEW, "roc_auc"]),
    "pairs": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW, versus="pairs"),
    "versus one": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW, versus="north"),
    "weights": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW, sample_weight=i.W),
    "clusters": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW, cluster=i.PATIENT),
    "stratified": lambda: compare_groups(i.Y, i.P, by=i.SITE, metrics=FEW, design="stratified"),
    "bins": lambda: compare_groups(i.FRAME, true="y", pred="p", by="age", bins={"age": 3}, metrics=FEW),
    "four classes": lambda: compare_groups(i.Y4, i.L4, by=i.SITE, metrics=MACRO),
    "an evaluation": lambda: compare_groups(evaluate(i.Y, i.P, by=i.SITE, metrics=FEW), metrics=FEW),
    "a tally": lambda: compare_groups(i.TALLY, metrics=FEW),
    "thresholds for a recall": lambda: steelyard.group_thresholds(i.Y, i.S, by=i.SITE, recall=0.8, draws=20),
    "thresholds for a share": lambda: steelyard.group_thresholds(i.Y, i.S, by=i.SITE, flag_rate=0.2, draws=20),
    "thresholds with costs": lambda: steelyard.group_thresholds(
        i.Y, i.S, by=i.SITE, threshold=0.45, cost={"cost_fn": 5, "cost_fp": 1}, draws=20, sample_weight=i.W
    ),
}

POINTS = {
    "scores": lambda: steelyard.operating_points(i.Y, i.S),
    "use and capacity": lambda: steelyard.operating_points(i.Y, i.S, use="alerts", capacity="20 of 240"),
    "costs of rows": lambda: steelyard.operating_points(i.Y, i.S, cost={"cost_fn": i.AMOUNT, "cost_fp": 20}),
    "prevalence": lambda: steelyard.operating_points(i.Y, i.S, prevalence=0.05),
    "weights": lambda: steelyard.operating_points(i.Y, i.S, sample_weight=i.W),
    "clusters": lambda: steelyard.operating_points(i.Y, i.S, cluster=i.PATIENT, recall=0.8, confidence=0.8),
    "label plan": lambda: steelyard.operating_points(i.PLANNED, i.PLAN.score, design=i.PLAN),
    "a tally": lambda: steelyard.operating_points(i.SCORE_TALLY),
}
LIMITS = ["recall >= 0.6", "precision >= 0.2"]
THRESHOLDS = {
    **{f"by {name}": lambda name=name: best_threshold(i.Y, i.S, name, draws=20) for name in ("f1", "mcc", "ac_score", "g_mean", "tpnr", "accuracy", "youden")},
    "without resamples": lambda: best_threshold(i.Y, i.S, "f1", draws=0),
    "by f_beta": lambda: best_threshold(i.Y, i.S, "f_beta[beta=2]", draws=20),
    "limits": lambda: best_threshold(i.Y, i.S, "precision", where="recall >= 0.7", draws=20),
    "two limits": lambda: best_threshold(i.Y, i.S, "f1", where=LIMITS, draws=20),
    "limits with confidence": lambda: best_threshold(i.Y, i.S, "precision", where="recall >= 0.5", confidence=0.9, draws=20),
    "alerts": lambda: best_threshold(i.Y, i.S, "recall", where="alerts <= 20 of 240", draws=20),
    "costs": lambda: best_threshold(i.Y, i.S, cost={"cost_fn": 5, "cost_fp": 1}, draws=20),
    "costs of rows": lambda: best_threshold(i.Y, i.S, cost={"cost_fn": i.AMOUNT, "cost_fp": 20}, draws=20),
    "weights": lambda: best_threshold(i.Y, i.S, "f1", sample_weight=i.W, draws=20),
    "frequencies": lambda: best_threshold(i.Y, i.S, "f1", frequency=i.F, draws=20),
    "clusters": lambda: best_threshold(i.Y, i.S, "f1", cluster=i.PATIENT, draws=20),
    "label plan": lambda: best_threshold(i.PLANNED, i.PLAN.score, "f1", design=i.PLAN, draws=20),
    "prevalence": lambda: best_threshold(i.Y, i.S, "f1", prevalence=0.05, draws=20),
    "low scores": lambda: best_threshold(i.Y, i.S - 1, "mcc", draws=20),
    "a score table": lambda: best_threshold(i.SCORES, metric="f1", draws=20),
    "a tally": lambda: best_threshold(i.SCORE_TALLY, metric="f1", draws=20),
    "nobody is best": lambda: best_threshold(i.Y, 1 - i.S, "accuracy", draws=0),
    "label sets": lambda: best_threshold(i.SETS, i.SET_SCORES, "f1[average=macro]", draws=20),
    "label sets together": lambda: best_threshold(i.SETS, i.SET_SCORES, "f1[average=micro]", cluster=i.PATIENT, draws=20),
    "of an evaluation": lambda: evaluate(i.Y, y_score=i.S, metrics=FEW).best_threshold("mcc", draws=20),
    "roc_then_tpnr": lambda: steelyard.studies.roc_then_tpnr(i.Y, i.S, draws=20),
    "roc_then_tpnr, weighted": lambda: steelyard.studies.roc_then_tpnr(i.Y, i.S2, sample_weight=i.W, draws=20),
    "band over thresholds": lambda: steelyard.figures.confidence_band(i.Y, i.S, metric="recall"),
    "band over recall": lambda: steelyard.figures.confidence_band(i.Y, i.S, metric="precision", over="recall"),
    "band of a curve": lambda: steelyard.figures.confidence_band(i.Y, i.S, metric="recall", over="false_positive_rate"),
    "band, stratified": lambda: steelyard.figures.confidence_band(i.Y, i.S, metric="recall", design="stratified", level=0.8),
    "decision curve": lambda: steelyard.decision_curve(i.Y, i.S),
    "decision curve at thresholds": lambda: steelyard.decision_curve(i.Y, i.S, thresholds=[0.1, 0.3, 0.5], standardized=True),
    "decision curve of two models": lambda: steelyard.decision_curve(i.Y, i.SCORED, versus="first", thresholds=[0.1, 0.3]),
    "decision curve, prevalence": lambda: steelyard.decision_curve(i.Y, i.S, thresholds=[0.1, 0.3], prevalence=0.05),
    "decision curve, weights": lambda: steelyard.decision_curve(i.Y, i.S, thresholds=[0.1, 0.3], sample_weight=i.W),
    "decision curve, clusters": lambda: steelyard.decision_curve(i.Y, i.S, thresholds=[0.1, 0.3], cluster=i.PATIENT),
}  # fmt: skip

COST_MATRIX = [[0, 1, 1, 1], [2, 0, 1, 1], [4, 4, 0, 1], [9, 9, 9, 0]]
DECISIONS = {
    "macro f1": lambda: best_decision(i.Y4, i.P4, "f1[average=macro]", folds=2),
    "accuracy": lambda: best_decision(i.Y4, i.P4, "accuracy", folds=3, rng=2),
    "costs": lambda: best_decision(i.Y4, i.P4, cost_matrix=COST_MATRIX),
    "costs at a prevalence": lambda: best_decision(
        i.Y4, i.P4, cost_matrix=COST_MATRIX, prevalence={0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}
    ),
    "reject a share": lambda: best_decision(i.Y4, i.P4, reject=0.1),
    "reject at a cost": lambda: best_decision(i.Y4, i.P4, reject_cost=0.3),
    "reject with costs": lambda: best_decision(i.Y4, i.P4, cost_matrix=COST_MATRIX, reject_cost=1.0),
    "weights": lambda: best_decision(i.Y4, i.P4, "f1[average=macro]", sample_weight=i.W, folds=2),
    "clusters": lambda: best_decision(i.Y4, i.P4, cost_matrix=COST_MATRIX, cluster=i.PATIENT),
    "a frame": lambda: best_decision(i.FRAME, true="kind", score="p_*", metric="f1[average=macro]", folds=2),
}

CALIBRATION = {
    "scores": lambda: calibration(i.Y, i.S),
    "uniform bins": lambda: calibration(i.Y, i.S, strategy="uniform", n_bins=5),
    "quantile bins": lambda: calibration(i.Y, i.S, strategy="quantile", n_bins=4),
    "weights": lambda: calibration(i.Y, i.S, sample_weight=i.W),
    "frequencies": lambda: calibration(i.Y, i.S, frequency=i.F),
    "clusters": lambda: calibration(i.Y, i.S, cluster=i.PATIENT),
    "groups": lambda: calibration(i.Y, i.S, by=i.SITE),
    "prevalence": lambda: calibration(i.Y, i.S, prevalence=0.05),
    "level": lambda: calibration(i.Y, i.S, level=0.8),
    "a frame": lambda: calibration(i.FRAME, true="y", score="s2"),
    "a score table": lambda: calibration(i.SCORES),
    "four classes": lambda: calibration(i.Y4, i.P4),
}

SLICES = {
    "labels": lambda: steelyard.slices(i.FRAME, true="y", pred="p", features=["site", "age", "month"]),
    "precision": lambda: steelyard.slices(i.FRAME, true="y", pred="p", features=["site", "age"], metric="precision", min_rows=5),
    "scores": lambda: steelyard.slices(i.FRAME, true="y", score="s", threshold=0.45, features=["site", "amount"], n_bins=3, min_rows=5),
    "one condition": lambda: steelyard.slices(i.FRAME, true="y", pred="p2", features="site", conditions=1, method="by", fdr=0.5, min_rows=5),
    "frequencies": lambda: steelyard.slices(i.FRAME, true="y", pred="p2", features=["site", "age"], frequency="n", metric="accuracy", fdr=0.9),
    "four classes": lambda: steelyard.slices(i.FRAME, true="kind", pred="guess", features=["site", "age"], metric="accuracy", fdr=0.9),
    "found": lambda: steelyard.slices(i.FRAME.with_columns(p=(i.FRAME["p"] ^ ((i.FRAME["site"] == "north") & (i.FRAME["age"] > 40)).cast(int))), true="y", pred="p", features=["site", "age"], metric="accuracy"),
}  # fmt: skip

ERRORS = {
    "labels": lambda: errors(i.Y, i.P, first=8),
    "scores": lambda: errors(i.Y, y_score=i.S, threshold=0.45, first=8),
    "near the threshold": lambda: errors(i.Y, y_score=i.S, threshold=0.45, near=True, first=8),
    "false negatives": lambda: errors(i.Y, y_score=i.S, kind="fn", first=8),
    "with keys": lambda: errors(i.FRAME, true="y", score="s", key=["key", "site"], first=8),
    "of a slice": lambda: errors(i.FRAME, true="y", score="s", filter="age >= 60 and site = north", first=8),
    "four classes": lambda: errors(i.ANIMALS[i.Y4], i.ANIMALS[i.L4], first=8),
    "four classes with scores": lambda: errors(i.Y4, i.L4, y_score=i.P4.max(1), first=8),
}

DRIFT = {
    "labels": lambda: drift(i.Y, i.P, period=i.MONTH, metrics=FEW, draws=100),
    "scores": lambda: drift(i.Y, y_score=i.S, period=i.MONTH, metrics=[*FEW, "roc_auc"], draws=100),
    "versus another period": lambda: drift(i.Y, i.P, period=i.MONTH, reference="2024-02", metrics=FEW, draws=100),
    "weights": lambda: drift(i.Y, i.P, period=i.MONTH, sample_weight=i.W, metrics=FEW, draws=100),
    "a period without labels": lambda: drift(i.Y, y_score=i.S, period=i.MONTH, unlabelled={"2024-04": i.NEW}, metrics=FEW, draws=100),
    "a frame": lambda: drift(i.FRAME, true="y", pred="p", period="month", metrics=FEW, draws=100),
    "a tally": lambda: drift(steelyard.tally(i.FRAME, true="y", pred="p", by="month"), metrics=FEW, draws=100),
    "four classes": lambda: drift(i.Y4, i.L4, period=i.MONTH, metrics=MACRO, draws=100),
}  # fmt: skip


def watched(*rules, by=None, y_score=None, **options):
    """The result of a monitor after three batches."""
    monitor = Monitor(rules, by=None if by is None else "site", **options)
    for month in np.unique(i.MONTH):
        rows = month == i.MONTH
        given = {"y_pred": i.P[rows]} if y_score is None else {"y_score": y_score[rows]}
        monitor.update(i.Y[rows], **given, **({} if by is None else {"by": by[rows]}))
    return monitor


def labelled_later():
    """A monitor whose labels came after the predictions."""
    monitor = Monitor("recall >= 0.7")
    for start in range(0, i.N, 80):
        monitor.predict(y_pred=i.P[start : start + 80], key=np.arange(start, start + 80))
    for start in range(0, i.N, 120):
        monitor.label(i.Y[start : start + 60], key=np.arange(start, start + 60))
    return monitor


def with_costs():
    """A monitor of what rows cost."""
    monitor = Monitor("cost <= 3", cost_between=(0, 100))
    for start in range(0, i.N, 60):
        rows = slice(start, start + 60)
        monitor.update(i.Y[rows], i.P[rows], cost=np.minimum(i.AMOUNT[rows], 100))
    return monitor


MONITOR = {
    "no alarm": lambda: watched("recall >= 0.2").result(),
    "alarm": lambda: watched("recall >= 0.95", "precision >= 0.9").result(),
    "groups": lambda: watched("recall >= 0.9", by=i.SITE).result(),
    "reference": lambda: watched("recall >= reference - 0.05", reference=i.COUNTS).result(),
    "scores": lambda: watched("mcc >= 0.8", y_score=i.S, threshold=0.45, level=0.9).result(),
    "labels that come later": lambda: labelled_later().result(),
    "costs": lambda: with_costs().result(),
    "saved and gone on": lambda: Monitor.from_json(watched("recall >= 0.95").to_json()).result(),
    "printed": lambda: repr(watched("recall >= 0.95")),
    "as Markdown": lambda: watched("recall >= 0.95").result().to_markdown(),
}

ANYTIME = {
    "interval": lambda: [
        steelyard.interval(name, i.Y, i.P, method="anytime") for name in ("recall", "precision", "specificity")
    ],
    "interval of counts": lambda: steelyard.interval("recall", i.COUNTS, method="anytime", level=0.9),
    "comparison": lambda: steelyard.compare(i.PAIR, metrics=["recall", "specificity", "accuracy"], method="anytime"),
    "mean": lambda: steelyard.studies.anytime_mean(i.S, between=(0, 1)),
    "tested mean": lambda: steelyard.studies.anytime_mean(i.AMOUNT, between=(0, 500), tested=200, level=0.9),
}


def _plan():
    return steelyard.label_plan(i.S, 40, "recall", threshold=0.45, rng=3)


PLANNING = {
    "plan for precision": lambda: steelyard.label_plan(i.S, 30, "precision", threshold=0.45),
    "plan for f1": lambda: i.PLAN,
    "plan for an area": lambda: steelyard.label_plan(i.S, 40, "roc_auc"),
    "plan of a frame": lambda: steelyard.label_plan(i.FRAME, 30, "recall", threshold=0.45, score="s", key="key"),
    "plan at a prevalence": lambda: steelyard.label_plan(i.S, 30, "recall", threshold=0.45, prevalence=0.1, rng=5),
    "plan topped up": lambda: _plan().top_up(i.S, 20, i.Y[np.asarray(_plan().index)]),
    "plan as CSV": lambda: _plan().to_csv(),
    "size for a width": lambda: steelyard.sample_size("recall", at=(0.8, 0.9), prevalence=0.1, width=0.2),
    "size for an area": lambda: steelyard.sample_size("roc_auc", at=0.8, prevalence=0.1, width=0.2),
    "size for precision": lambda: steelyard.sample_size("precision", at=(0.8, 0.95), prevalence=0.1, width=0.2),
    "size for a difference": lambda: steelyard.sample_size("recall", at=(0.8, 0.9), versus=(0.7, 0.9), prevalence=0.2, disagreement=0.2),
    "size without assurance": lambda: steelyard.sample_size("recall", at=(0.8, 0.9), prevalence=0.1, width=0.1, assurance=None, level=0.9),
}  # fmt: skip


def guaranteed():
    """A gate of new scores, cut at a threshold that is guaranteed."""
    chosen = best_threshold(i.Y, i.S, "precision", where="recall >= 0.5", confidence=0.9, draws=0)
    return gate(evaluate(i.Y, y_score=i.S2, threshold=chosen.threshold, metrics=FEW), guarantee=chosen)


SURE = evaluate(i.COUNTS, metrics=[*FEW, "predicted_prevalence"])
GATE = {
    "passes": lambda: gate(evaluate(i.Y, i.P, metrics=FEW), "recall >= 0.1", "low(mcc) >= 0.05"),
    "fails": lambda: gate(evaluate(i.Y, i.P, metrics=FEW), ["recall >= 0.99", "high(precision) >= 0.9"]),
    "undefined": lambda: gate(evaluate(steelyard.Counts(0, 5, 0, 40), metrics=FEW), "precision >= 0.1"),
    "counts": lambda: gate(SURE, "recall >= 0.5", "predicted_prevalence <= 0.1"),
    "a table": lambda: gate(i.COUNTS, "recall >= 0.5"),
    "versus": lambda: gate(compare(i.Y, y_pred=i.BOTH, metrics=FEW), "low(recall - versus) >= -0.1", metrics=FEW),
    "versus, worse": lambda: gate(compare(i.Y, y_pred=i.BOTH, metrics=FEW)),
    "versus, not worse": lambda: gate(compare(i.Y, y_pred=i.BOTH, metrics=FEW), prove="not-worse", margin=0.2),
    "baseline": lambda: gate(evaluate(i.OTHER, metrics=FEW), baseline=evaluate(i.COUNTS, metrics=FEW)),
    "baseline with a rule": lambda: gate(
        evaluate(i.OTHER, metrics=FEW), "mcc >= baseline - 0.02", baseline=evaluate(i.COUNTS, metrics=FEW)
    ),
    "groups": lambda: gate(evaluate(i.Y, i.P, by=i.SITE, metrics=FEW), "recall >= 0.5", min_positives=3),
    "small groups left out": lambda: gate(
        evaluate(i.Y, i.P, by=i.SITE, metrics=FEW), "recall >= 0.5", min_rows=80, skip_small=True
    ),
    "guarantee": guaranteed,
    "assert_gate": lambda: steelyard.assert_gate(SURE, "recall >= 0.9"),
    "as Markdown": lambda: gate(SURE, "recall >= 0.5", "precision >= 0.5").to_markdown(),
    "scorer": lambda: repr(steelyard.scorer("f_beta", beta=2)),
    "metric printed": lambda: [repr(get_metric("mcc")), str(get_metric("f_beta[beta=2]"))],
}

QUESTIONS = {
    "evaluate": EVALUATE,
    "interval": INTERVAL,
    "chance": CHANCE,
    "prevalence": PREVALENCE,
    "unlabelled": UNLABELLED,
    "compare": COMPARE,
    "compare_groups": GROUPS,
    "best_threshold": THRESHOLDS,
    "operating_points": POINTS,
    "best_decision": DECISIONS,
    "calibration": CALIBRATION,
    "slices": SLICES,
    "errors": ERRORS,
    "drift": DRIFT,
    "monitor": MONITOR,
    "anytime": ANYTIME,
    "planning": PLANNING,
    "gate": GATE,
}
