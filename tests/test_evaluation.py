"""The evaluation: one call for all questions, words first, strict JSON."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from checks import assert_refused

import steelyard
from steelyard import Counts, confusion, evaluate, get_metric, interval, list_metrics, score_table
from steelyard.auditing.exact_values import exact_expression
from steelyard.exceptions import InputError
from steelyard.metrics import Metric

FINLEY = Counts(28, 23, 72, 2680)
RNG = np.random.default_rng(0)
Y = (RNG.random(600) < 0.15).astype(int)
S = (1 / (1 + np.exp(-(RNG.normal(size=600) + 2 * Y - 1)))).round(3)
PRED = (S >= 0.5).astype(int)


def test_more_of_the_highest_rows_than_there_are_is_said_to_be_that():
    y, score = [0, 1] * 15, np.linspace(0, 1, 30)
    reason = "of the 100 rows that score highest, and there are 30; ask for fewer, as in precision_at_k[k=15]."
    for given in ({}, {"cluster": np.arange(30) // 2}):
        with pytest.raises(steelyard.SteelyardError, match=re.escape(reason)):
            evaluate(y, y_score=score, metrics=["precision_at_k"], threshold=0.5, **given)
    assert evaluate(y, y_score=score, metrics=["precision_at_k[k=15]"], threshold=0.5).metrics[0].value > 0.5


def test_every_metric_stands_with_its_interval_beside_chance():
    report = evaluate(FINLEY)
    on_request = {"symmetric_balanced_accuracy", "correlation_distance", "standardized_net_benefit"}
    on_request |= {"normalized_expected_cost", "mean_absolute_class_error", "macro_mean_absolute_class_error"}
    assert [row.name for row in report.metrics] == [
        m.name for m in list_metrics() if m.function and m.name not in on_request
    ]
    for row in report.metrics:
        assert row.value == pytest.approx(get_metric(row.name)(FINLEY))
        assert row.low <= row.value <= row.high
    assert report["tpr"] is report["recall"]
    assert report["precision"].chance == pytest.approx(51 / 2803)
    assert report["balanced_accuracy"].chance == pytest.approx(0.5)


def test_the_sentences_follow_from_the_formulas(monkeypatch):
    """A formula that came to be another would no longer be said to fall to 0 with either recall."""
    told = "it falls to 0 with either recall and stays the same at any prevalence"
    assert told in " ".join(evaluate(FINLEY).verdict)
    moved = get_metric("ac_score")
    exact_expression.cache_clear()
    monkeypatch.setitem(moved.__dict__, "function", lambda c: (c.tp + c.tn) / c.total)
    assert told not in " ".join(evaluate(FINLEY).verdict)
    exact_expression.cache_clear()


def test_labels_scores_and_tables_agree():
    by_rows, by_table = evaluate(Y, PRED), evaluate(confusion(Y, PRED))
    assert by_rows.to_dict() == by_table.to_dict()
    by_scores = evaluate(Y, y_score=S)
    assert by_scores.threshold == 0.5
    assert by_scores["mcc"] == by_rows["mcc"]
    assert by_scores.assumed == ("Scores were thresholded at 0.5; operating_points compares it with others.",)
    assert evaluate(score_table(Y, S))["roc_auc"] == by_scores["roc_auc"]
    both = evaluate(Y, PRED, y_score=S)
    assert both["roc_auc"].value == steelyard.roc_auc(Y, S)
    assert both["recall"] == by_rows["recall"]


def test_scores_that_are_no_probabilities_are_only_ranked():
    report = evaluate(Y, y_score=10 * S - 3)
    assert report.confusion is None
    assert "recall" not in report and "brier" not in report
    assert "order the rows" in report.assumed[0]
    cut = evaluate(Y, y_score=10 * S - 3, threshold=2.0)
    assert cut["recall"].value == steelyard.recall(Y, (10 * S - 3 >= 2.0).astype(int))
    assert any("outranks" in sentence for sentence in report.verdict)


def test_the_cut_and_the_curves_are_at_hand():
    report = evaluate(Y, y_score=S)
    best = report.best_threshold("mcc", draws=0)
    assert best.value == max(steelyard.mcc(score_table(Y, S).counts)[1:-1])
    assert report.roc_curve().tpr[-1] == report.precision_recall_curve().recall[-1] == 1
    with pytest.raises(ValueError, match="need scores"):
        evaluate(Y, PRED).roc_curve()


def test_labels_beside_scores_are_those_of_the_truth():
    assert evaluate(np.where(Y, 1, -1), y_score=S).labels == (-1, 1)
    assert evaluate(np.where(Y, "ill", "well"), y_score=S, pos_label="ill").labels == ("well", "ill")
    assert [row.name for row in evaluate(Y, y_score=S).metrics].count("weighted_auc") == 1


def test_weights_reach_the_cut_scores():
    w = RNG.integers(1, 5, 600).astype(float)
    scored, labelled = evaluate(Y, y_score=S, sample_weight=w), evaluate(Y, PRED, sample_weight=w)
    for name in ("recall", "mcc", "accuracy"):
        assert (scored[name].value, scored[name].low) == pytest.approx((labelled[name].value, labelled[name].low))


def test_many_classes():
    true = RNG.choice(["a", "b", "c"], 400, p=[0.7, 0.2, 0.1])
    pred = np.where(RNG.random(400) < 0.7, true, RNG.choice(["a", "b", "c"], 400))
    report = evaluate(true, pred)
    assert report.positive is None
    assert "f1[average=macro]" in report
    assert [row.label for row in report.per_class] == ["a", "b", "c"]
    assert report.to_dict()["confusion"] == confusion(true, pred).matrix.tolist()
    assert report.verdict[0].startswith("Of these 400 rows, in 3 classes, the classifier gets ")
    one = evaluate(true, pred, pos_label="c")
    assert one.positive == "c"
    assert one["recall"].value == steelyard.recall(true, pred, pos_label="c")


def test_another_prevalence_is_said():
    report = evaluate(FINLEY, prevalence=0.5)
    assert report["accuracy"].value == pytest.approx(steelyard.alpha_accuracy(FINLEY))
    assert report["precision"].chance == pytest.approx(0.5, abs=0.02)
    assert report.verdict[0].startswith("Of 1,000 rows at a prevalence of 50.0 %, 500 are positive.")
    said = " ".join(evaluate(FINLEY, prevalence=0.3).verdict)
    assert "than always predicting 0 (70.0 %)" in said
    assert evaluate(FINLEY, prevalence=0.3).to_dict()["prevalence"] == 0.3
    assert evaluate(list("aabbcc"), list("ababcb"), pos_label="c", prevalence=0.5)["prevalence"].value == pytest.approx(
        0.5
    )


def test_json_is_strict_and_holds_the_schema():
    report = evaluate(Counts(0, 10, 0, 990))
    data = json.loads(report.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert list(data)[:3] == ["schema", "kind", "version"]
    assert data["rows"] == 1000
    assert data["counts"] == {"tp": 0, "fn": 10, "fp": 0, "tn": 990}
    precision = next(row for row in data["metrics"] if row["name"] == "precision")
    assert precision == {
        "name": "precision",
        "value": None,
        "low": None,
        "high": None,
        "chance": None,
        "undefined_share": precision["undefined_share"],
        "undefined": "no predicted positives",
        "method": precision["method"],
    }
    assert all((row["value"] is None) == (row["undefined"] is not None) for row in data["metrics"])
    assert evaluate(Y, y_score=S, threshold=math.inf).to_dict()["threshold"] is None
    assert report.to_json() == evaluate(Counts(0, 10, 0, 990)).to_json()


def test_frames_markdown_html_and_repr():
    report = evaluate(Y, y_score=S)
    assert "ac_score" in list(report.to_frame("pandas")["name"])
    assert report.to_frame("polars").height == len(report.metrics)
    assert "| ac_score |" in report.to_markdown()
    assert max(map(len, repr(report).splitlines())) <= 100
    nasty = evaluate(np.where(Y, "<script>", "no"), np.where(PRED, "<script>", "no"), pos_label="<script>")
    assert "<script>alert" not in nasty._repr_html_()


def test_own_metrics_and_a_choice_of_metrics():
    report = evaluate(FINLEY, metrics=["recall", "f_beta[beta=2]", "accuracy", "specificity", "precision", "ac_score"])
    assert [row.name for row in report.metrics] == [
        "recall",
        "f_beta[beta=2]",
        "accuracy",
        "specificity",
        "precision",
        "ac_score",
    ]
    few = evaluate(FINLEY, metrics=["mcc"])
    assert few.verdict  # the words need more than was asked for, and find it


BAD = {
    "both": (lambda: evaluate(Y, PRED, threshold=0.5), ValueError, "contradict"),
    "nothing": (lambda: evaluate(Y), TypeError, "nothing to ask about"),
    "table and rows": (lambda: evaluate(FINLEY, PRED), TypeError, "not both"),
    "many tables": (lambda: evaluate(Counts([1, 2], 3, 4, 5)), ValueError, "One table"),
    "one class": (lambda: evaluate([1, 1], [1, 0]), ValueError, "one class only"),
    "scores needed": (lambda: evaluate(Y, PRED, metrics=["roc_auc"]), ValueError, "roc_auc needs scores"),
    "no metrics": (lambda: evaluate(FINLEY, metrics=[]), ValueError, "No metric was named"),
    "one string": (lambda: evaluate(FINLEY, metrics="mcc"), TypeError, "a list of metrics"),
    "weights of a table": (lambda: evaluate(FINLEY, sample_weight=[1]), ValueError, "about rows"),
    "cut of a table": (lambda: evaluate(FINLEY, threshold=0.5), ValueError, "holds predicted labels"),
    "NaN cut": (lambda: evaluate(Y, y_score=S, threshold=math.nan), ValueError, "A threshold is a number"),
    "missing": (lambda: evaluate(FINLEY)["roc_auc"], ValueError, "was not evaluated"),
    "level": (lambda: evaluate(FINLEY, level=2), ValueError, "level= is a probability"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_sure_and_right_scores_have_an_interval_that_may_be_infinite():
    row = evaluate([0, 0, 1, 1] * 10, y_score=[0, 0, 1, 1] * 10)["log_loss"]
    assert row.value == row.low == 0 and row.high == math.inf
    assert row.row()["high"] is None  # strict JSON has no infinity


def test_clusters_of_a_frame_widen_the_intervals_as_those_of_arrays_do(tmp_path):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    member = np.repeat(np.arange(60), 20)
    y = (rng.random(60) < 0.3)[member].astype(int)
    guess = np.where(rng.random(60)[member] < 0.8, y, 1 - y)
    frame = pl.DataFrame({"y": y, "guess": guess, "patient": member})
    clustered = evaluate(frame.lazy(), true="y", pred="guess", cluster="patient")
    alone = evaluate(frame, true="y", pred="guess")
    expected = interval("mcc", y, guess, cluster=member)
    assert clustered["mcc"].value == alone["mcc"].value
    assert clustered["mcc"].low == pytest.approx(expected.low, abs=0.02)
    assert clustered["mcc"].high == pytest.approx(expected.high, abs=0.02)
    assert clustered["mcc"].low < alone["mcc"].low - 0.1
    assert clustered.beats is None and not any("would give" in said for said in clustered.verdict)
    rarer = evaluate(frame, true="y", pred="guess", cluster="patient", prevalence=0.1)["precision"]
    expected = interval("precision", y, guess, cluster=member, prevalence=0.1)
    assert [rarer.value, rarer.low, rarer.high] == pytest.approx(
        [expected.value, expected.low, expected.high], abs=0.02
    )


def test_a_named_metric_that_the_data_have_no_form_of_is_refused_and_not_left_out():
    three = np.arange(90) % 3
    for metrics in (["net_benefit"], ["correlation_distance", "net_benefit"]):
        with pytest.raises(InputError, match=r"net_benefit is of one class.*pos_label=") as refused:
            evaluate(three, np.roll(three, 1), metrics=metrics)
        with pytest.raises(InputError, match=re.escape(str(refused.value))):
            evaluate(three, np.roll(three, 1))["net_benefit"]
    assert evaluate(three, three, metrics=["net_benefit"], pos_label=1).metrics[0].name == "net_benefit"
    averaged = evaluate(three, three, metrics=["precision", "net_benefit[average=macro]"]).metrics
    assert {row.spec.metric.name for row in averaged} == {"precision", "net_benefit"}
    with pytest.raises(InputError, match="brier needs probabilities"):
        evaluate(Y, y_score=S * 3, metrics=["roc_auc", "brier"])
    assert "brier" not in evaluate(Y, y_score=S * 3)
    with pytest.raises(InputError, match="clusters it needs scores"):
        evaluate(Y, PRED, metrics=["weighted_auc"], cluster=np.arange(600) // 4)


def test_odds_of_another_threshold_than_the_one_applied_are_stated():
    def stated(metrics, **options):
        return [text for text in evaluate(Y, metrics=metrics, **options).assumed if "by the odds of" in text]

    (text,) = stated(["standardized_net_benefit", "recall"], y_score=S, threshold=0.2)
    assert "by the odds of 0.5, while rows are flagged at 0.2; ask for standardized_net_benefit[threshold=0.2]" in text
    assert stated(["net_benefit[threshold=0.1]"], y_score=S)[0].endswith(
        "ask for net_benefit[threshold=0.5], or flag them at 0.1."
    )
    assert not stated(["net_benefit[threshold=0.2]"], y_score=S, threshold=0.2)
    assert not stated(["net_benefit"], y_score=5 * S, threshold=0.2)  # no probability, which has no odds
    assert not stated(["net_benefit[threshold=0.1]"], y_pred=PRED) and not stated(None, y_score=S, threshold=0.2)


def test_groups_show_every_metric_that_was_named():
    named = ["roc_auc", "brier", "recall", "precision", "f1", "mcc", "kappa", "specificity"]
    found = evaluate(Y, y_score=S, by=np.arange(600) % 2, metrics=named)
    assert {"group", "rows", *named} == found.groups[0].summary(named=True).keys()
    for text in (str(found), found.to_markdown()):
        shown = text[text.index("group") :]
        assert all(name in shown for name in named)
    usual = evaluate(Y, y_score=S, by=np.arange(600) % 2).groups[0].summary()
    assert {"recall", "roc_auc"} <= usual.keys() and len(usual) < 8


def _patients(seed=0):
    """Rows of 40 patients, each with luck of its own, at two sites and of three years."""
    rng = np.random.default_rng(seed)
    patient, y = np.repeat(np.arange(40), 25), (rng.random(1000) < 0.4).astype(int)
    pred = np.where(rng.random(1000) < rng.beta(2, 1, 40)[patient], y, 1 - y)
    site = np.where(patient < 15, "north", "south")
    return {"y": y, "p": pred, "patient": patient, "site": site, "year": rng.integers(2021, 2024, 1000)}


def test_the_intervals_of_groups_resample_whole_clusters_as_those_of_the_whole_do():
    r = _patients()
    report = evaluate(r["y"], r["p"], cluster=r["patient"], by={"site": r["site"]}, metrics=["recall", "mcc", "f1"])
    assert report.assumed == ("The rows are clustered; the intervals resample whole clusters.",)
    for group in report.groups:
        part = {name: column[r["site"] == group.key[0]] for name, column in r.items()}
        alone = evaluate(part["y"], part["p"], cluster=part["patient"], metrics=["recall", "mcc", "f1"])
        assert group.metrics == alone.metrics and {row.method for row in group.metrics} == {"cluster"}
        free = evaluate(part["y"], part["p"], metrics=["recall"])["recall"]
        assert group["recall"].high - group["recall"].low > 1.5 * (free.high - free.low)
    assert steelyard.Evaluation.from_json(report.to_json()) == report
    times = RNG.integers(0, 3, 1000)
    rows = np.repeat(np.arange(1000), times)
    counted, repeated = (
        evaluate(r["y"][at], r["p"][at], cluster=r["patient"][at], by=r["year"][at], frequency=n, metrics=["mcc"])
        for at, n in ((slice(None), times), (rows, None))
    )
    assert [group.row() for group in counted.groups] == [group.row() for group in repeated.groups]
    for group, its in zip(counted.groups, repeated.groups, strict=True):
        assert (group["mcc"].low, group["mcc"].high) == pytest.approx((its["mcc"].low, its["mcc"].high))


def test_a_group_of_one_cluster_has_its_values_and_no_interval_and_the_result_says_so():
    r = _patients()
    ward = np.where(r["patient"] < 1, "lone", "other")
    report = evaluate(r["y"], r["p"], cluster=r["patient"], by={"ward": ward}, metrics=["recall"])
    lone, other = report.groups
    assert lone["recall"].value == steelyard.recall(r["y"][:25], r["p"][:25])
    assert math.isnan(lone["recall"].low) and math.isnan(lone["recall"].high)
    assert other["recall"].low < other["recall"].value
    assert report.assumed[-1] == "A group whose rows are all of one cluster has no interval: 'ward = lone'."
    assert steelyard.Evaluation.from_json(report.to_json()) == report
    assert report.assumed[-1].replace("'", "&#39;") in report.to_html()
    for wrong in ({"by": ward[:-1]}, {"by": {"ward": ward, "year": r["year"][1:]}}):
        assert_refused(lambda w=wrong: evaluate(r["y"], r["p"], cluster=r["patient"], **w), ValueError, "999")


def shown(value):
    """A value of a metric as it is shown."""
    own = Metric.from_function(lambda c: value + 0 * c.tp, "Own", range=(-4, 4))
    return repr(interval(own, FINLEY, draws=20)).split()[1]


@pytest.mark.parametrize("value", [s * (1 + t * 10.0**-e) for s in (1, -1) for t in (1, -3) for e in range(2, 12)])
def test_what_is_not_one_or_zero_does_not_read_as_such(value):
    assert abs(float(shown(value))) != 1
    assert (abs(float(shown(value))) < 1) == (abs(value) < 1)
    assert float(shown(value - math.copysign(1, value))) != 0


def test_what_is_one_or_zero_but_for_rounding_reads_as_such():
    assert [shown(v) for v in (1.0, 1 - 2**-53, 1 + 2**-52, 0.0, -0.0)] == ["1.00", "1.00", "1.00", "0", "0"]


def test_predictions_of_foreign_labels_are_refused_unless_the_labels_are_declared():
    true, pred = ["fraud", "ok", "ok"], ["Fraud", "Fraud", "OK"]
    for weigh in (evaluate, get_metric("accuracy")):
        words = r"'Fraud', 'OK', occurs in the truth, which holds 'fraud', 'ok'; .* Did you mean 'fraud'\?"
        assert_refused(lambda weigh=weigh: weigh(true, pred), ValueError, words)
        assert_refused(lambda weigh=weigh: weigh([0, 1, 1], [2, 3, 3]), ValueError, "holds 0, 1; .* alike[.]$")
        weigh(true, ["ok"] * 3)
    labels = ["Fraud", "OK", *true[:2]]
    assert get_metric("accuracy")(true, pred, labels=labels) == 0
    for shard in (evaluate(true, pred, labels=labels), evaluate(confusion(true, pred))):
        assert any("occurs in the truth" in line for line in shard.assumed)
