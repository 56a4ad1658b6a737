"""Explain: what is known of a metric, in Python and in the shell alike."""

from __future__ import annotations

import json

import pytest
from command_line import run_command

import steelyard
from steelyard import Result, SteelyardError, explain, list_metrics


def words(text):
    return " ".join(text.split())


def parts(name):
    return {part.part: part.lines for part in explain(name)}


def test_python_and_the_shell_explain_alike():
    for name in ("mcc", "f_beta[beta=2]", "f1_macro", "roc_auc", "hamming_loss", "for-alerts"):
        assert words(repr(explain(name))) == words(run_command("explain", name).stdout), name


def test_an_explanation_has_formula_names_range_uses_properties_and_source():
    shown = parts("youden")
    assert shown["formula"][0].startswith("informedness = (tp * tn - fn * fp)")
    assert "youden_j" in shown["also called"][0] and "yardstick: j_index" in shown["other libraries"][0]
    assert shown["range"] == ("[-1, 1], best 1",)
    assert "test sets of different prevalence are compared" in shown["use it where"]
    assert any("which of the two classes is called positive" in line for line in shown["always true (proved)"])
    assert any(
        line.startswith("What a value lacks of the best one") for line in shown["not always true (a table refutes it)"]
    )
    assert "Youden" in shown["source"][0]


def test_an_average_or_one_class_is_explained_with_the_metric():
    assert parts("macro_f1")["average"] == ("macro: the mean of the classes' values",)
    assert parts("recall[class=cat]")["class"] == ("the value with cat as the positive class",)
    assert explain("f1_macro").name == "f1[average=macro]"


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_is_explained_in_every_form(metric):
    explanation = explain(metric)
    assert explanation.headline.startswith(metric.title) and metric.meaning in explanation.headline
    assert metric.title in explanation.to_markdown() and "source" in explanation._repr_html_()
    assert Result.from_json(explanation.to_json()) == explanation
    assert explanation.to_dict()["parts"]


def test_without_a_name_all_metrics_are_listed_as_the_shell_lists_them():
    every = explain()
    assert [facts.name for facts in every] == [metric.name for metric in list_metrics()]
    assert words(repr(every)) == words(run_command("metrics").stdout)
    assert json.loads(run_command("metrics", "--format", "json").stdout) == every.to_dicts()
    assert run_command("metrics", "--format", "md").stdout.strip() == every.to_markdown().strip()
    assert Result.from_json(every.to_json()) == every and "<table" in every._repr_html_()


def test_an_unknown_name_is_answered_as_everywhere():
    with pytest.raises(SteelyardError, match=r"here\. It is brier with a minus sign"):
        steelyard.explain("neg_brier_score")


def test_an_average_has_no_proof_of_two_classes():
    parts = {part.part: part.lines for part in explain("f1_macro")}
    assert parts["properties"] == (
        "What is proved of f1 is proved of two classes, not of an average: explain f1 lists it.",
    )
    assert not {"use it where", "not where", "always true (proved)"} & {*parts}
    assert "always true (proved)" in {part.part for part in explain("recall[class=spam]")}
