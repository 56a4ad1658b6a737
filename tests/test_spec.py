"""A metric as asked: one parser, one printer, one meaning wherever it is written."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import (
    Confusion,
    Counts,
    SteelyardError,
    compare,
    confusion,
    evaluate,
    gate,
    get_metric,
    interval,
    list_metrics,
)
from steelyard.exceptions import InputError, InputTypeError

AVERAGES = ("macro", "weighted", "micro")
MetricSpec = type(interval("recall", Counts(1, 2, 3, 4)).spec)
NAMES = [metric.name for metric in list_metrics() if metric.function is not None]
LABELS = st.one_of(
    st.text(min_size=0, max_size=12),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.sampled_from(["a, b]", 'say "no"', "1", "None", "True", " yes", "x=1", "][", "[", "\\", "été", "\n"]),
)
TRUE, PRED = list("aabbccabc"), list("ababccaac")


@given(st.sampled_from(NAMES), LABELS)
def test_a_class_is_read_back_as_it_was_written_whatever_its_label(name, label):
    spec = MetricSpec(get_metric(name), label=label)
    again = MetricSpec.of(spec.name)
    assert again == spec and again.label == label and type(again.label) is type(label)


@given(st.floats(0.001, 1e6), st.sampled_from(AVERAGES))
def test_parameters_and_averages_are_read_back_as_they_were_written(beta, average):
    spec = MetricSpec(get_metric("f_beta").fixed(beta=beta), average)
    assert MetricSpec.of(spec.name) == spec
    assert MetricSpec.of(spec.name).metric.parameters == spec.metric.parameters


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("f1[average=macro]", "f1[average=macro]"),
        ("F1 [ average = macro ]", "f1[average=macro]"),
        ("f_beta[beta=2][average=macro]", "f_beta[beta=2, average=macro]"),
        ("f_beta[average=macro,beta=2.0]", "f_beta[beta=2, average=macro]"),
        ("tpr[class=spam]", "recall[class=spam]"),
        ('recall[class="a, b]"]', 'recall[class="a, b]"]'),
        ("recall[class=1]", "recall[class=1]"),
        ('recall[class="1"]', 'recall[class="1"]'),
        ("iba[of=f_beta[beta=2], alpha=0.1]", "iba[of=f_beta[beta=2], alpha=0.1]"),
        ("mcc", "mcc"),
    ],
)
def test_a_written_form_has_one_printed_form(written, name):
    assert MetricSpec.of(written).name == name == str(MetricSpec.of(name))


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("f1[average=mean]", "asks for the average 'mean'; there are macro, weighted, micro"),
        ("f1[average=macro, class=a]", "one class and for an average"),
        ("f1[average]", "write it like f_beta"),
        ("f1[class=]", "write it like f_beta"),
        ('f1[class="a]', "write it like"),
        ("f_beta[beta=2, beta=3]", "a parameter twice"),
        ("f1[gamma=2]", "has no parameter 'gamma'"),
        ("nonsense[average=macro]", "No metric is called"),
    ],
)
def test_a_form_that_cannot_be_meant_is_refused_in_one_sentence(written, sentence):
    with pytest.raises(SteelyardError, match=sentence.replace("[", r"\[")):
        MetricSpec.of(written)


def test_a_single_name_in_place_of_a_list_is_refused():
    with pytest.raises(SteelyardError, match=r"metrics= is a list of metrics, not 'f1'; write \['f1'\]"):
        MetricSpec.all_of("f1")
    with pytest.raises(InputError, match="No metric was named"):
        MetricSpec.all_of([])


def test_every_place_that_takes_metrics_takes_every_written_form():
    wanted = ["f_beta[beta=2, average=macro]", "recall[class=b]", "accuracy"]
    values = {
        wanted[0]: get_metric("f_beta")(TRUE, PRED, beta=2, average="macro"),
        wanted[1]: get_metric("recall")(TRUE, PRED, pos_label="b"),
        wanted[2]: get_metric("accuracy")(TRUE, PRED),
    }
    report = evaluate(TRUE, PRED, metrics=wanted)
    assert [row.name for row in report.metrics] == wanted
    assert {row.name: row.value for row in report.metrics} == pytest.approx(values)
    assert all(report[name].low <= report[name].value <= report[name].high for name in wanted)
    for name, value in values.items():
        part = interval(name, TRUE, PRED)
        assert (part.metric, part.spec) == (name, MetricSpec.of(name)) and part.value == pytest.approx(value)
    models = {"A": PRED, "B": PRED[::-1]}
    compared = compare(TRUE, models, metrics=wanted)
    assert {row.metric: row.value_a for row in compared.rows} == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "metric", "said"),
    [
        ("recall[class=spam]>=0.8", "recall[class=spam]", "recall[class=spam] is"),
        (
            'low( recall[class="a, b] >= (c"] ) >= 0.8',
            'recall[class="a, b] >= (c"]',
            'low(recall[class="a, b] >= (c"]) is',
        ),
        (
            "high(f_beta[average=macro, beta=2])>0.5",
            "f_beta[beta=2, average=macro]",
            "high(f_beta[beta=2, average=macro]) is",
        ),
    ],
)
def test_a_gates_rule_is_about_any_written_form(text, metric, said):
    odd = "a, b] >= (c"
    found = evaluate(["spam", odd, "x"] * 9, ["spam", odd, odd] * 9, metrics=[metric])
    (result,) = gate(found, text)
    assert result.text.startswith(said)
    assert result.value == {"low": found[metric].low, "high": found[metric].high}.get(
        said.partition("(")[0], found[metric].value
    )


@pytest.mark.parametrize("text", ["low(mcc>=0.5", "mcc)>=0.5", "low(mcc)", "mcc[>=0.5", "mcc>=high", ""])
def test_a_rule_that_cannot_be_read_is_refused(text):
    with pytest.raises(SteelyardError, match=r"cannot be read: .*; write"):
        gate(evaluate(Counts(28, 23, 72, 2680)), text)


def test_the_average_of_an_interval_stands_in_the_written_form_once():
    table = confusion(TRUE, PRED)
    assert interval("f1[average=macro]", table).metric == "f1[average=macro]"
    with pytest.raises(InputTypeError, match="average= is part of a metric's name"):
        interval("f1", table, average="macro")
    with pytest.raises(InputError, match="gives a parameter twice"):
        interval("f1[average=macro, average=weighted]", table)


# ---------------------------------------------------------------- what is declared on a metric


def test_every_metric_of_the_catalogue_belongs_to_a_declared_family():
    families = {"rates", "overall", "balanced", "F", "agreement", "ordinal", "corrected", "skewed", "diagnostic"}
    families |= {"decision", "ranking", "calibration", "description", "label sets"}
    assert {metric.family for metric in list_metrics()} == families
    assert not get_metric("recall").kind.is_summary and get_metric("mcc").kind.is_summary


def test_a_metric_knows_what_scores_it_can_judge():
    probabilities = evaluate([0, 1] * 60, y_score=np.tile([0.2, 0.7], 60)).scores
    ranks = evaluate([0, 1] * 10, y_score=np.tile([-2.0, 7.0], 10)).scores
    assert get_metric("brier").fits_scores(probabilities) and not get_metric("brier").fits_scores(ranks)
    assert get_metric("precision_at_k").fits_scores(probabilities)
    assert not get_metric("precision_at_k").fits_scores(ranks)  # 100 of 20 rows
    assert not get_metric("mcc").fits_scores(ranks)


def test_rows_carry_the_metric_and_not_a_name():
    row = evaluate(Counts(28, 23, 72, 2680))["tpr"]
    assert row.spec == MetricSpec.of("recall") and row.spec.metric is get_metric("recall") and row.name == "recall"


NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_pages_formula_of_an_average_is_the_average(tmp_path):
    matrix = Confusion.of_rows(("no", "yes"), np.array([[2680, 72], [23, 28]]), "yes")
    expected = {}
    for name in (name for name in NAMES if get_metric(name).expression is not None):
        metric = get_metric(name)
        expected |= {f"{name}[average={average}]": metric(matrix, average=average) for average in AVERAGES}
        expected |= {f"{name}[class={label}]": metric(matrix, pos_label=label) for label in ("no", "yes")}
    html = evaluate(matrix, metrics=[*expected], draws=20).to_html()
    script = re.search(r"^const \{ NET_BENEFIT, FORMULAS \} = .*?\}\)\(\);$", html, re.MULTILINE | re.DOTALL)[0]
    script += "\nconst found = Object.entries(FORMULAS).map(([name, { f }]) => [name, f(28, 23, 72, 2680)]);"
    (tmp_path / "run.js").write_text(f"{script}\nconsole.log(JSON.stringify(found))")
    ran = subprocess.run([NODE, tmp_path / "run.js"], capture_output=True, text=True, check=True)
    found = {str(MetricSpec.of(name)): math.nan if value is None else value for name, value in json.loads(ran.stdout)}
    for name, value in expected.items():
        assert found[str(MetricSpec.of(name))] == pytest.approx(value, nan_ok=True), name


def test_pages_and_comparisons_show_averages_and_single_classes():
    y_true, y_pred = ["yes", "no"] * 40, ["yes", "no", "no", "no"] * 20
    wanted = ["f1", "recall[class=no]", "f1[average=macro]"]
    report = evaluate(y_true, y_pred, pos_label="yes", metrics=[*wanted, "f1"])
    assert [row.name for row in report.metrics] == wanted  # in the order asked for, each once
    page = report.to_html()
    assert (
        all(f'data-metric="{name}"' in page for name in wanted)
        and 'Recall, <bdi title="no">no</bdi>' in page
        and "F1, macro" in page
    )
    compared = compare(y_true, {"A": y_pred, "B": y_pred[::-1]}, pos_label="yes", metrics=wanted)
    assert "F1, macro" in compared.to_html()


def test_a_class_has_one_interval_wherever_it_is_shown():
    report = evaluate(TRUE * 9, PRED * 9, metrics=["recall[class=b]", "precision[class=c]"])
    by_class = {row.label: row for row in report.per_class}
    for name, part in (("recall[class=b]", by_class["b"].recall), ("precision[class=c]", by_class["c"].precision)):
        assert (report[name].low, report[name].high) == (part.low, part.high)


def test_the_scores_of_the_class_that_is_asked_for_are_taken():
    y_true, y_score = [0, 1, 1, 0, 1, 0] * 20, np.linspace(0.1, 0.9, 120)
    other = interval("average_precision[class=0]", y_true, y_score=y_score)
    assert other.value == interval("average_precision", y_true, y_score=y_score, pos_label=0).value
    with pytest.raises(SteelyardError, match="'zz'"):
        interval("average_precision[class=zz]", y_true, y_score=y_score)
    with pytest.raises(SteelyardError, match="one column of scores for each class"):
        interval("roc_auc[average=macro]", y_true, y_score=y_score)
    with pytest.raises(SteelyardError, match="of another class than these scores"):
        interval("average_precision[class=1]", y_true, y_score=y_score, pos_label=0)
    asked = [interval("recall[class=1]", y_true, [*y_true[1:], 0], **given) for given in ({}, {"pos_label": 0})]
    assert asked[0].value == asked[1].value  # of the class that is named, whichever is positive
    with pytest.raises(SteelyardError, match="one column of scores is of one positive class"):
        evaluate(y_true, y_score=y_score, metrics=["roc_auc[class=1]"])


def test_where_one_metric_is_meant_an_average_is_refused_with_the_reason():
    with pytest.raises(SteelyardError, match="asks for an average or a class, which is not taken here; name f1 alone"):
        get_metric("f1[average=macro]")


def test_a_scorer_takes_a_written_form():
    from sklearn.dummy import DummyClassifier

    from steelyard import scorer

    X, y = np.zeros((9, 1)), np.array(TRUE)
    model = DummyClassifier(strategy="most_frequent").fit(X, y)
    by_form, by_option = scorer("f1[average=weighted]", undefined=0.0), scorer("f1", average="weighted", undefined=0.0)
    assert by_form(model, X, y) == by_option(model, X, y)
    with pytest.raises(SteelyardError, match="leave pos_label= and average= out"):
        scorer("f1[average=macro]", average="weighted")


def test_two_functions_without_a_name_of_their_own_are_two_rows():
    hits, alarms = (lambda tp, fn, fp, tn: tp + fp), (lambda tp, fn, fp, tn: fn + tn)
    report = evaluate(Counts(28, 23, 72, 2680), metrics=[hits, alarms, hits])
    assert [row.value for row in report.metrics] == [100, 2703]
