"""Recorded calls: measures, tables, counted frames and scikit-learn's names."""

from __future__ import annotations

import functools
import json

import good_calls
import numpy as np
from checks import function

import steelyard
import steelyard.sklearn as dropins
from recorded import inputs as i
from recorded.values import differences, recorded, shortened
from steelyard import Accumulator, Confusion, Counts, list_metrics
from steelyard.tables import Tally


def value(metric, *given, **options):
    """A metric's value, or why it is undefined."""
    found = metric(*given, **options)
    why = "" if np.ndim(found) or not np.isnan(found) else metric.why(*given, **options)
    return why or found


def values(*given, **options):
    """Every metric of what is given, by name; those that are refused together, with their sentences."""
    found, refused = {}, []
    for metric in list_metrics():
        try:
            found[metric.name] = value(metric, *given, **options)
        except steelyard.SteelyardError as error:
            refused.append(f"{metric.name}: {error}")
    return {**found, "refused": shortened(refused, refused, 1)} if refused else found


def facts():
    """What is declared and derived of every metric."""
    names = [
        "title",
        "family",
        "range",
        "best",
        "direction",
        "aliases",
        "cite",
        "sklearn",
        "meaning",
        "parameters",
        "phrase",
    ]
    return {metric.name: {name: getattr(metric, name) for name in names} for metric in list_metrics()}


def averages(*given, **options):
    """Every metric's values for each class, and by each average."""
    return {str(name): values(*given, average=name, **options) for name in (None, "macro", "weighted", "micro")}


def like_polars(ask, made):
    """What a frame of another engine gives, or that it is what Polars gives."""
    found, first = recorded(ask(made())), recorded(ask(i.FRAME))
    return found if made is POLARS or any(differences(first, found)) else "as of Polars"


MEASURES = {
    "facts": facts,
    "counts": lambda: values(i.COUNTS),
    "counts with nothing flagged": lambda: values(Counts(0, 20, 0, 100)),
    "counts without positives": lambda: values(Counts(0, 0, 5, 100)),
    "perfect counts": lambda: values(Counts(20, 0, 0, 100)),
    "an array of tables": lambda: values(Counts([1, 5, 9], [9, 5, 1], [2, 2, 2], [80, 80, 80])),
    "labels": lambda: values(i.Y, i.P),
    "labels, the other class": lambda: values(i.Y, i.P, pos_label=0),
    "weighted labels": lambda: values(i.Y, i.P, sample_weight=i.W),
    "labels with frequencies": lambda: values(i.Y, i.P, frequency=i.F),
    "words": lambda: values(i.YES[i.Y], i.YES[i.P], pos_label="yes"),
    "scores": lambda: values(i.Y, i.S),
    "weighted scores": lambda: values(i.Y, i.S, sample_weight=i.W),
    "scores with frequencies": lambda: values(i.Y, i.S, frequency=i.F),
    "a score table": lambda: values(i.SCORES),
    "four classes": lambda: values(i.Y4, i.L4),
    "four classes, weighted": lambda: values(i.Y4, i.L4, sample_weight=i.W),
    "four classes, one against the rest": lambda: values(i.Y4, i.L4, pos_label=3),
    "four classes, averages": lambda: averages(i.Y4, i.L4),
    "a confusion matrix, averages": lambda: averages(i.CLASSES),
    "probabilities of four classes": lambda: values(i.Y4, i.P4),
    "probabilities of four classes, weighted": lambda: values(i.Y4, i.P4, sample_weight=i.W),
    "probabilities, averages": lambda: averages(i.Y4, i.P4),
    "label sets": lambda: values(i.LABEL_SETS),
    "label sets, averages": lambda: averages(i.SETS, i.SETS_P),
    "scores of label sets, averages": lambda: averages(i.SETS, i.SET_SCORES),
    "labels where undefined is 0": lambda: averages(i.Y4, np.zeros(i.N, int), undefined=0.0),
    "f_beta": lambda: [steelyard.f_beta(i.COUNTS, beta=beta) for beta in (0.5, 1, 2)],
    "class_weighted_accuracy": lambda: [steelyard.class_weighted_accuracy(i.COUNTS, w=w) for w in (0.1, 0.5, 0.9)],
    "iba": lambda: steelyard.iba(i.COUNTS, alpha=0.1, of="recall"),
    "net_benefit": lambda: [steelyard.net_benefit(i.Y, t <= i.S, threshold=t) for t in (0.1, 0.45, 0.8)],
    "weighted_auc": lambda: steelyard.weighted_auc(i.Y, i.S, rho=0.2, bands=5),
    "kappa by weights": lambda: [steelyard.kappa(i.Y4, i.L4, weights=weights) for weights in ("linear", "quadratic")],
    "expected_cost": lambda: steelyard.get_metric("expected_cost")(i.COUNTS, cost_fn=5, cost_fp=1),
    "precision_at_k": lambda: [steelyard.get_metric("precision_at_k")(i.Y, i.S, k=k) for k in (5, 20, 100)],
    "partial areas": lambda: [steelyard.get_metric(name)(i.Y, i.S) for name in ("roc_auc", "average_precision", "ks")],
    "a written form": lambda: steelyard.get_metric("f_beta[beta=2]")(i.COUNTS),
    "a name of scikit-learn": lambda: steelyard.get_metric("matthews_corrcoef")(i.COUNTS),
    "an own metric": lambda: steelyard.metrics.Metric.from_function(flag_rate, "Flag rate", range=(0, 1), best=0.1)(
        i.COUNTS
    ),
    "roots and cases": lambda: [
        steelyard.metrics.sqrt(2.0),
        steelyard.metrics.where(False, 1.0, 2.0),
        steelyard.metrics.ratio(1.0, 0.0),
    ],
    "metrics of a family": lambda: [metric.name for metric in list_metrics("rates")],
    "names of the package": lambda: dir(steelyard),
}


def flag_rate(c):
    """Share of the rows that are flagged; no metric of the catalogue, which it would enlarge for all that follows."""
    return steelyard.metrics.ratio(c.tp + c.fp, c.tp + c.fn + c.fp + c.tn)


TABLES = {
    "loaded": lambda: steelyard.load(good_calls.saved(steelyard.evaluate(i.COUNTS, metrics=["recall"]))),
    "counts": lambda: i.COUNTS,
    "counts of a matrix": lambda: Counts.from_matrix([[30, 5], [4, 20]], positive=0),
    "counts added and scaled": lambda: (i.COUNTS + i.OTHER).scaled(0.5),
    "counts stacked": lambda: Counts.stack([i.COUNTS, i.OTHER]),
    "labels": lambda: i.TABLE,
    "weighted labels": lambda: steelyard.confusion(i.Y, i.P, sample_weight=i.W),
    "labels with frequencies": lambda: steelyard.confusion(i.Y, i.P, frequency=i.F),
    "words with a positive class": lambda: steelyard.confusion(i.YES[i.Y], i.YES[i.P], pos_label="yes"),
    "more labels than are there": lambda: steelyard.confusion(i.Y, i.P, labels=[2, 1, 0]),
    "four classes": lambda: i.TABLE4,
    "four classes by name": lambda: steelyard.confusion(i.ANIMALS[i.Y4], i.ANIMALS[i.L4]),
    "one class of four": lambda: i.TABLE4.counts(3),
    "relabelled": lambda: i.TABLE.relabelled([0, 1, 2]),
    "renamed": lambda: i.TABLE.renamed({0: "no", 1: "yes"}),
    "two parts added": lambda: steelyard.confusion(i.Y[:90], i.P[:90]) + steelyard.confusion(i.Y[90:], i.P[90:]),
    "read back": lambda: Confusion.from_json(i.CLASSES.to_json()),
    "scores": lambda: i.SCORES,
    "weighted scores": lambda: steelyard.score_table(i.Y, i.S, sample_weight=i.W),
    "scores with frequencies": lambda: steelyard.score_table(i.Y, i.S, frequency=i.F),
    "scores of words": lambda: steelyard.score_table(i.YES[i.Y], i.S, pos_label="yes"),
    "scores at thresholds": lambda: [i.SCORES.at(threshold) for threshold in (0.0, 0.3, 0.45, 0.9, 2.0)],
    "scores added": lambda: i.SCORES + steelyard.score_table(i.Y, i.S2),
    "two models": lambda: i.PAIR,
    "two models of four classes": lambda: steelyard.tables.paired(i.Y4, i.L4, i.M4),
    "two models collapsed": lambda: steelyard.tables.paired(i.Y4, i.L4, i.M4).collapsed(1),
    "two models, each": lambda: [i.PAIR.confusion(0), i.PAIR.confusion(1)],
    "two models with frequencies": lambda: steelyard.tables.paired(i.Y, i.P, i.P2, frequency=i.F),
    "label sets": lambda: [i.LABEL_SETS.true_column(place).sum() for place in range(3)],
    "label sets by name": lambda: steelyard.tables.multilabel(i.NAMED_SETS, i.NAMED_P, labels=["a", "b", "c"]),
    "label sets of columns": lambda: steelyard.tables.multilabel(i.FRAME, true="y_*", pred="a_*").labels,
    "label sets of a text": lambda: values(steelyard.tables.multilabel(i.SETS_TEXT, true="y", pred="p", label_sep=";")),
    "propensities of labels": lambda: steelyard.metrics.label_propensities(i.SETS),
    "accumulated": lambda: _accumulated().result(),
    "accumulated scores": lambda: _accumulated(steelyard.score_table, i.S).result(),
    "curves of scores": lambda: steelyard.roc_curve(i.SCORES),
    "curves of rows": lambda: steelyard.roc_curve(i.Y, i.S2, sample_weight=i.W),
    "precision and recall": lambda: steelyard.precision_recall_curve(i.Y, i.S),
    "precision and recall, weighted": lambda: steelyard.precision_recall_curve(i.Y, i.S, sample_weight=i.W),
    "curves of a frame": lambda: steelyard.precision_recall_curve(i.FRAME, true="y", score="s2"),
}


def _accumulated(count=steelyard.confusion, given=i.P):
    seen = Accumulator(count)
    for start in range(0, i.N, 80):
        seen.update(i.Y[start : start + 80], given[start : start + 80])
    return seen


TALLIES = {
    "labels": lambda: steelyard.tally(i.FRAME, true="y", pred="p"),
    "labels by group": lambda: i.TALLY,
    "scores by group": lambda: i.SCORE_TALLY,
    "two models": lambda: steelyard.tally(i.FRAME, true="y", pred=["p", "p2"]),
    "two groups": lambda: steelyard.tally(i.FRAME, true="y", pred="p", by=["site", "month"]),
    "weights": lambda: steelyard.tally(i.FRAME, true="y", pred="p", weight="w"),
    "frequencies": lambda: steelyard.tally(i.FRAME, true="y", pred="p", frequency="n"),
    "scores in bins": lambda: steelyard.tally(i.FRAME, true="y", score="s", exact=False),
    "scores at a threshold": lambda: steelyard.tally(i.FRAME, true="y", score="s", threshold=0.45),
    "costs": lambda: steelyard.tally(i.FRAME, true="y", score="s", cost="amount"),
    "four classes": lambda: steelyard.tally(i.FRAME, true="kind", pred="guess"),
    "added": lambda: (
        steelyard.tally(i.FRAME[:100], true="y", pred="p") + steelyard.tally(i.FRAME[100:], true="y", pred="p")
    ),
    "read back": lambda: Tally.from_json(i.SCORE_TALLY.to_json()),
    "groups of three or more": lambda: i.TALLY.with_groups_of(75),
}

SQL = {
    f"{dialect}, {name}": lambda dialect=dialect, options=options: steelyard.sql(
        "lab.preds", true="y", dialect=dialect, **options
    )
    for dialect in ("postgres", "bigquery", "snowflake", "redshift", "mysql", "sqlite", "spark", "duckdb")
    for name, options in {
        "labels": {"pred": "p"},
        "two models by group": {"pred": ["p", "p2"], "by": "site"},
        "scores": {"score": "s", "weight": "w", "threshold": 0.45, "score_range": (0, 10)},
    }.items()
}

POLARS = i.ENGINES["polars"]
FRAMES = {
    f"{name}, {engine}": lambda ask=ask, made=made: like_polars(ask, made)
    for engine, made in i.ENGINES.items()
    for name, ask in {
        "evaluate": lambda frame: steelyard.evaluate(frame, true="y", pred="p", by="site", metrics=["recall", "mcc"]),
        "evaluate scores": lambda frame: steelyard.evaluate(
            frame, true="y", score="s", weight="w", metrics=["f1", "roc_auc"]
        ),
        "interval": lambda frame: steelyard.interval("f1", frame, true="y", pred="p", cluster="patient"),
        "compare": lambda frame: steelyard.compare(frame, true="y", pred=["p", "p2"], metrics=["recall"]),
        "best_threshold": lambda frame: steelyard.best_threshold(frame, true="y", score="s", metric="f1"),
        "tally": lambda frame: steelyard.tally(frame, true="kind", pred="guess", by="month"),
    }.items()
}

SKLEARN = {
    name: lambda name=name, given=given: _of_dropin(getattr(dropins, name), given) for name, given in {
        **dict.fromkeys(dropins.__all__, (i.Y, i.P)),
        **dict.fromkeys(["average_precision_score", "precision_recall_curve", "roc_auc_score", "roc_curve"], (i.Y, i.S)),
        **dict.fromkeys(["coverage_error", "label_ranking_average_precision_score", "label_ranking_loss", "ndcg_score"], (i.SETS, i.SET_SCORES)),
        "multilabel_confusion_matrix": (i.SETS, i.SETS_P),
    }.items()
}  # fmt: skip
AVERAGED = ("f1_score", "precision_score", "recall_score", "jaccard_score", "precision_recall_fscore_support")
AVERAGED += ("geometric_mean_score", "sensitivity_score", "specificity_score", "sensitivity_specificity_support")
SKLEARN |= {
    f"{name}, four classes": lambda name=name: [
        getattr(dropins, name)(i.Y4, i.L4, average=average) for average in (None, "macro", "weighted", "micro")
    ]
    for name in AVERAGED
}
SKLEARN |= {
    f"{name}, four classes": lambda name=name: getattr(dropins, name)(i.Y4, i.L4)
    for name in ("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "matthews_corrcoef", "confusion_matrix",
                 "classification_report", "classification_report_imbalanced", "hamming_loss", "zero_one_loss")
}  # fmt: skip
SKLEARN |= {
    "fbeta_score, label sets": lambda: dropins.fbeta_score(i.SETS, i.SETS_P, beta=2, average="samples"),
    "roc_auc_score, four classes": lambda: dropins.roc_auc_score(i.Y4, i.P4, multi_class="ovo", labels=[0, 1, 2, 3]),
    "f1_score of nothing": lambda: dropins.f1_score([0, 1, 1], [0, 0, 0]),
    "classification_report as a dictionary": lambda: dropins.classification_report(i.Y, i.P, output_dict=True),
}


def _of_dropin(function, given):
    return function(*given, beta=2) if function.__name__ == "fbeta_score" else function(*given)


@functools.cache
def made_anew():
    """What good calls start from is made under the clock of the record, not kept from another test."""
    good_calls.made.cache_clear()


def good(name):
    """One good call, as the tests of bad arguments start from it."""
    made_anew()
    given, options = good_calls.GOOD[name]()
    return function(name)(*given, **options)


def printed(name):
    """What a good call gives: of a result its text, as its numbers are recorded with its question."""
    found = good(name)
    if name.endswith("to_json"):
        return list(json.loads(found))
    return str(found) if hasattr(found, "to_dict") or hasattr(found, "columns") else found


# What writes a page is recorded with the pages.
GOOD = {name: lambda name=name: printed(name) for name in good_calls.GOOD if not name.endswith("to_html")}

QUESTIONS = {
    "measures": MEASURES,
    "tables": TABLES,
    "tally": TALLIES,
    "sql": SQL,
    "frames": FRAMES,
    "sklearn": SKLEARN,
    "good-calls": GOOD,
}
