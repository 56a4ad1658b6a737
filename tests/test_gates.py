"""Gates: rules on one model, on another one and on groups, which error they hold, and what they are written as."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from command_line import run_command

import steelyard
from steelyard import assert_gate, compare, evaluate, gate
from steelyard.exceptions import InputError, InputTypeError
from steelyard.results import GateResult

RNG = np.random.default_rng(11)
N = 900
Y = (RNG.random(N) < 0.3).astype(int)
OLD = 1 / (1 + np.exp(-(2.5 * Y - 1.2 + RNG.normal(size=N))))
NEW = 1 / (1 + np.exp(-(2.5 * Y - 1.2 + RNG.normal(size=N))))
BAD = np.clip(OLD - 0.25 * Y, 0, 1)
HOSTILE = 'x"><&\x00\x1b[31m\n::error::planted\u2028,%'
SITE = np.where(np.arange(N) % 30 == 0, HOSTILE, np.where(np.arange(N) % 2, "north", "south"))
FRAME = pl.DataFrame({"y": Y, "new": NEW, "old": OLD, "bad": BAD, "site": SITE, "who": np.arange(N) // 3})
COLUMNS = ["--true", "y", "--score"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("gates") / "rows.parquet"
    FRAME.write_parquet(path)
    return path


def run(*words, code=0):
    return run_command("gate", *words, code=code)


def compared(new=NEW, metrics=("recall", "specificity", "mcc"), **options):
    models = {"new": new >= 0.5, "old": OLD >= 0.5}
    return compare(Y, models, metrics=metrics, pos_label=1, draws=1_999, **options)


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("text", "printed", "quantity", "number", "shown"),
    [
        ("mcc>=0.5", "mcc >= 0.5", "mcc", 0.5, None),
        ("low( mcc ) >= .5", "low(mcc) >= 0.5", "low(mcc)", 0.5, "passes"),
        ("high(fpr) < 1e-1", "high(false_positive_rate) < 0.1", "high(fpr)", 0.1, "passes"),
        ("high(mcc)>=0.5", "high(mcc) >= 0.5", "high(mcc)", 0.5, "fails"),
        ("mcc >= versus - 0.02", "mcc >= versus - 0.02", "mcc", -0.02, None),
        ("mcc - versus >= -0.02", "mcc - versus >= -0.02", "mcc - versus", -0.02, None),
        (
            "low(f_beta[beta=2]-versus)>=-0.02",
            "low(f_beta[beta=2] - versus) >= -0.02",
            "low(f_beta[beta=2] - versus)",
            -0.02,
            "passes",
        ),
        ("low(brier - baseline) <= 0", "low(brier - baseline) <= 0", "low(brier - baseline)", 0.0, "fails"),
    ],
)
def test_a_rule_is_a_metric_or_a_difference_or_an_end_of_either(text, printed, quantity, number, shown):
    if "versus" in text:
        (rule,) = gate(compared(metrics=["mcc", "f_beta[beta=2]"]), text).rules
    else:
        new, old = (evaluate(Y, y_score=s, pos_label=1, metrics=["mcc", "fpr", "brier"]) for s in (NEW, OLD))
        (rule,) = gate(new, text, **({"baseline": old} if "baseline" in text else {})).rules
    assert rule.rule == printed and rule.text.startswith(quantity.replace("fpr", "false_positive_rate") + " is ")
    expected = number + (steelyard.mcc(Y, OLD >= 0.5) if text.startswith("mcc >= versus") else 0)
    assert rule.limit == pytest.approx(expected)
    worse, better = (rule.low, rule.high) if ">" in text else (rule.high, rule.low)
    if shown is None:
        assert rule.value == pytest.approx(
            steelyard.mcc(Y, NEW >= 0.5) - ("- versus" in quantity) * steelyard.mcc(Y, OLD >= 0.5)
        )
    else:
        assert rule.value == (worse if shown == "passes" else better)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mcc - versus >= baseline", "cannot be read"),
        ("low(mcc - other) >= 0", "cannot be read"),
        ("low(mcc) - versus >= 0", "cannot be read"),
        ("low(mcc)>=versus-0.02", r"write 'low\(mcc - versus\) >= -0.02', the end of the interval of the difference"),
        ("mcd - versus >= 0", "No metric is called 'mcd'. Did you mean 'mcc'"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(text, words):
    with pytest.raises((InputError, KeyError), match=words):
        gate(compared(), text)


SURE = evaluate(steelyard.Counts(tp=28, fn=23, fp=72, tn=2680))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("false_positive_rate<=5", "lies between 0 and 1, and the bound of .* does not; did you mean 0.05 or 5 %"),
        ("recall>=80", "did you mean 0.8 or 80 %"),
        ("recall>=-80", "give a bound inside that range"),
        ("low(recall)>=80", "did you mean 0.8 or 80 %"),
        ("high(false_positive_rate)<=5", "did you mean 0.05 or 5 %"),
        ("recall>=800 %", "give a bound inside that range"),
        ("recall>=0", "so that 'recall>=0' is always kept and requires nothing; give a bound inside"),
        ("recall>=0 %", "requires nothing"),
        ("false_positive_rate<=1", "requires nothing; did you mean 0.01 or 1 %"),
        ("false_positive_rate<1", "is nearly always kept; did you mean 0.01 or 1 %"),
        ("recall>1", "'recall>1' can never be kept"),
        ("false_positive_rate<0", "can never be kept"),
        ("mcc>=-1", "requires nothing"),
        ("log_loss<=-1", "lies at 0 or above"),
        (
            "recall-baseline>=-5",
            "A difference of two values of recall lies between -1 and 1.* did you mean -0.05 or -5 %",
        ),
        ("recall>=baseline-5", "did you mean -0.05 or -5 %"),
        ("recall>=baseline-1", "requires nothing; did you mean -0.01 or -1 %"),
        ("low(recall - versus)>=-1", "requires nothing"),
        ("low(recall - versus)>=-2", "did you mean -0.02 or -2 %"),
        ("recall<=0.8", "better the higher it is, .* passes worse models .* turn its sign to >="),
        ("recall<=80", "did you mean 0.8 or 80 %"),
        ("high(recall)<0.9", "turn its sign to >="),
        ("log_loss>=0.2", "better the lower it is"),
        ("mcc - versus <= 0.1", "turn its sign to >="),
        ("recall>=%", "cannot be read"),
        ("recall>=baseline %", "cannot be read"),
        (("recall>=0.1", "recall>=80"), "did you mean"),
    ],
)
def test_a_limit_in_percent_or_of_no_effect_and_a_wrong_direction_are_refused(rule, words):
    rules = rule if isinstance(rule, tuple) else (rule,)
    with pytest.raises(InputError, match=words):
        gate(SURE, *rules)
    told = run("--counts", "28,23,72,2680", *(word for each in rules for word in ("--require", each)), code=2).stderr
    assert told.count("\n") == 1


def test_percents_shares_lists_and_rules_said_twice_are_read():
    for written in ("recall>=50 %", "recall >= 50%", "recall>=0.5", "recall>=.5", "recall>=5e-1"):
        assert gate(SURE, written).rules[0].limit == 0.5
    assert gate(SURE, "recall>=baseline - 5 %", baseline=SURE).rules[0].limit == pytest.approx(28 / 51 - 0.05)
    assert (
        gate(SURE, ["recall>=0.1", "low(mcc)>=0.1"], "f1>=0.1").passed and gate(SURE, ("recall>=0.9",)).passed is False
    )
    assert gate(SURE, "predicted_prevalence<=0.1").passed
    assert gate(SURE, "recall>0", "false_positive_rate<100 %", "false_positive_rate<=1 %").exit_code == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_rows": None}, "min_rows= is a whole number of 0 or more"),
        ({"min_rows": -1}, "min_rows= is"),
        ({"min_rows": 0.5}, "min_rows= is"),
        ({"min_positives": "5"}, "min_positives= is"),
        ({"min_positives": True}, "min_positives= is"),
        ({"margin": True}, "margin= is"),
        ({"margin": "0.1"}, "margin= is"),
        ({"prove": "maybe"}, "prove= is"),
        ({"skip_small": None}, "skip_small= is True or False"),
        ({"baseline": 5}, "A baseline is what evaluate returned"),
        ({"baseline": {}}, "A baseline is what evaluate returned"),
        ({"guarantee": 5}, "A guarantee is what best_threshold"),
    ],
)
def test_an_option_that_means_nothing_is_refused_in_one_sentence(options, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        gate(SURE, "recall>=0.1", **options)


def test_a_gate_of_nothing_of_no_text_and_against_a_comparison_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="no evaluation, an empty mapping"):
        gate({}, "recall>=0.1")
    with pytest.raises(InputTypeError, match="A rule is text"):
        gate(SURE, 0.5)
    with pytest.raises(InputTypeError, match="A rule is text"):
        gate(SURE, [["recall>=0.1"]])
    with pytest.raises(InputError, match="not a comparison; give the evaluation of the earlier model"):
        gate(SURE, "recall>=0.1", baseline=compared(metrics=["recall"]))


def test_what_is_not_evaluated_compared_or_given_is_refused_in_one_sentence(tmp_path):
    evaluation = evaluate(Y, NEW >= 0.5, pos_label=1, metrics=["recall"])
    for attempt, words in (
        (lambda: gate(evaluation), "A gate needs a rule"),
        (lambda: gate(evaluation, "mcc>=0.5"), "mcc was not evaluated here"),
        (lambda: gate(evaluation, "low(recall - versus)>=0"), "compare both models on the same rows"),
        (lambda: gate(evaluation, "recall>=baseline"), "speaks of a baseline; name it with baseline="),
        (lambda: gate(compared(metrics=["recall"]), "mcc>=versus"), "The models were not compared by mcc"),
        (
            lambda: gate(compare(Y, {"a": Y, "b": Y, "c": Y}, metrics=["recall"], draws=99)),
            "3 were compared; compare two",
        ),
        (
            lambda: gate(compared(metrics=["prevalence"])),
            "no usual rule on these metrics: each metric is one that both",
        ),
        (
            lambda: gate(compared(metrics=["prevalence", "mcc"]), metrics=["prevalence", "mcc"]),
            "no usual rule on 'prevalence'",
        ),
        (lambda: gate(compared(), metrics=["roc_auc"]), "no usual rule on 'roc_auc'"),
        (lambda: gate(evaluation, baseline=evaluation, metrics=["mcc"], prove="not-worse"), "no usual rule on 'mcc'"),
        (lambda: gate(compared(), prove="equal"), "prove= is 'worse' or 'not-worse'"),
        (lambda: gate(compared(), margin=0), "margin= is a number above 0"),
        (lambda: gate(compared(), baseline=evaluation), "A baseline is held against one evaluation"),
    ):
        with pytest.raises(InputError, match=words):
            attempt()
    with pytest.raises(InputTypeError, match="takes what evaluate or compare returns"):
        gate(Y)


# ---------------------------------------------------------------- which error is held


def test_far_ends_share_the_level_and_near_ends_keep_it():
    evaluation = evaluate(Y, NEW >= 0.5, pos_label=1, by={"half": np.arange(N) % 2}, metrics=["recall", "mcc"])
    result = gate(evaluation, "high(recall) >= 0.1", "high(mcc) >= 0.1", "low(mcc) >= 0.1", "recall >= 0.1")
    levels = {each.rule: each.level for each in result if each.group == "half = 0"}
    assert levels["high(mcc) >= 0.1"] == pytest.approx(1 - 0.05 / 6) and levels["low(mcc) >= 0.1"] == 0.95
    assert len(result) == 12 and [each.group for each in result][::4] == [None, "half = 0", "half = 1"]
    table = evaluation.groups[1].confusion
    judged = next(each for each in result if each.rule.startswith("high(mcc)") and each.group == "half = 1")
    wide = steelyard.interval("mcc", table, level=1 - 0.05 / 6, pos_label=1)
    assert (judged.low, judged.high) == pytest.approx((wide.low, wide.high))
    assert "any of the 3 rules that pass only where it is shown, this gate lets it through in at most 2.5 %" in repr(
        result
    )
    assert "all 6 rules that fail only where it is shown fails this gate in at most 2.5 %" in repr(result)


@pytest.mark.parametrize(
    "options", [{"y_pred": NEW >= 0.5}, {"y_score": NEW}, {"y_pred": NEW >= 0.5, "prevalence": 0.1}]
)
def test_an_interval_is_made_anew_at_another_level_as_evaluate_makes_it(options):
    names = ["recall", "precision", "mcc", "ac_score", *(["roc_auc"] if "y_score" in options else [])]
    usual, wide = (evaluate(Y, pos_label=1, metrics=names, level=level, **options) for level in (0.95, 0.99))
    # Each of five rules that fail only where it is shown is judged at the level 1 - 0.05 / 5.
    judged = gate(usual, *(f"high({name}) >= 0.001" for name in (names * 2)[:5])).rules
    assert {rule.level for rule in judged} == {0.99}
    for name, there in zip(names, judged, strict=False):
        assert (there.low, there.high) == pytest.approx((wide[name].low, wide[name].high), abs=0.004), name


def test_an_interval_without_a_table_is_widened_by_the_rules_beside_it():
    clustered = evaluate(Y, NEW >= 0.5, pos_label=1, cluster=np.arange(N) // 3, metrics=["recall", "mcc"])
    for judged, rules in (
        (clustered, ("high(recall) >= 0.001", "high(mcc) >= 0.001")),
        (compared(), ("high(recall - versus) >= -0.9", "high(mcc - versus) >= -0.9")),
    ):
        near, far = gate(judged, rules[0]).rules[0], gate(judged, *rules * 3).rules[0]
        assert near.level == 0.95 and far.level == pytest.approx(1 - 0.05 / 6)
        assert far.low < near.low < near.high < far.high <= 1


# ---------------------------------------------------------------- against another model


def test_a_worse_model_fails_and_an_equal_one_does_not():
    assert gate(compared()).passed and not gate(compared(BAD)).passed
    failed = {each.rule for each in gate(compared(BAD)) if each.passed is False}
    assert "high(recall - versus) >= 0" in failed and "high(specificity - versus) >= 0" not in failed
    within = gate(compared(metrics=["recall"]), prove="not-worse", margin=0.2, metrics=["recall"])
    assert within.passed and within.rules[0].rule == "low(recall - versus) >= -0.2" and within.rules[0].power > 0.5
    assert gate(compared(), "low(recall - versus) >= -0.001").passed is False
    assert gate(
        compared(), "recall >= versus - 0.5", "recall - versus >= -0.99", "recall >= 0.1", "low(recall) >= 0.1"
    ).passed


def test_a_loss_is_worse_where_it_is_higher():
    scores = {"new": BAD, "old": OLD}
    losses = compare(Y, y_score=scores, metrics=["brier", "log_loss"], pos_label=1)
    result = gate(losses)
    assert [each.rule for each in result] == ["low(brier - versus) <= 0", "low(log_loss - versus) <= 0"]
    assert result.passed is False and gate(compare(Y, y_score={"a": OLD, "b": BAD}, metrics=["brier"])).passed
    assert gate(losses, prove="not-worse", margin=0.5).rules[0].rule == "high(brier - versus) <= 0.5"


def test_the_shell_gates_a_model_against_another_as_python_does(rows):
    rule = ["low(recall - versus) >= -0.1", "roc_auc >= versus - 0.1"]
    words = [rows, *COLUMNS, "new", "--versus", "old", "--require", rule[0], "--require", rule[1], "--format", "json"]
    ran = run(*words, code=int(not gate(compared(), rule[0]).passed))
    models = {"new": NEW, "old": OLD}
    by_hand = gate(compare(Y, y_score=models, threshold=0.5, metrics=["recall", "roc_auc"], pos_label=1), *rule)
    read = GateResult.from_json(ran.stdout)
    assert [each.value for each in read] == pytest.approx([each.value for each in by_hand])
    assert "Scores were thresholded at 0.5; steelyard threshold compares it with others." in ran.stderr
    assert "FAIL  high(recall - versus) is -" in run(rows, *COLUMNS, "bad", "--versus", "old", code=1).stdout
    assert "high(kappa - versus)" in run(rows, *COLUMNS, "new", "--versus", "old", "--metrics", "kappa").stdout
    clustered = run(rows, *COLUMNS, "new", "--versus", "old", "--metrics", "recall", "--cluster", "who")
    assert "The rows are clustered" in clustered.stderr
    for more, words in (
        (["--versus", "new"], "is the model itself"),
        (["--versus", "older"], "There is no column 'older'"),
        (["--versus", "old", "--baseline", "x.json"], "give --baseline and --guarantee by themselves"),
        (["--versus", "old", "--metrics", "mcc", "--require", "mcc>=0"], "a rule names its own"),
        (["--versus", "old", "--by", "place"], "There is no column 'place'"),
        (["--require", "low(recall - versus)>=-0.1"], "speaks of another model; name its column with --versus COL"),
    ):
        assert words in run(rows, *COLUMNS, "new", *more, code=2).stderr


def test_scores_that_are_no_probabilities_are_ranked_alone(tmp_path):
    path = tmp_path / "odds.parquet"
    FRAME.with_columns(pl.col("new") * 9, pl.col("old") * 9).write_parquet(path)
    ran = run(path, *COLUMNS, "new", "--versus", "old")
    assert [line.split()[1] for line in ran.stdout.splitlines()[:2]] == ["high(roc_auc", "high(average_precision"]
    words = [path, *COLUMNS, "new", "--versus", "old", "--require", "recall>=versus"]
    assert "a metric of labels needs a threshold; give --threshold" in run(*words, code=2).stderr
    run(*words[:-1], "recall>=versus-0.5", "--threshold", "4.5")


def test_a_difference_from_a_baseline_allows_for_the_noise_of_both(tmp_path):
    half = np.arange(N) < N // 2
    old = evaluate(Y[half], OLD[half] >= 0.5, pos_label=1)
    new = evaluate(Y[~half], NEW[~half] >= 0.5, pos_label=1)
    path = tmp_path / "old.json"
    path.write_text(old.to_json())
    rule = "low(recall - baseline) >= -0.05"
    result = gate(new, rule, baseline=path)
    assert result == gate(new, rule, baseline=old) or result.rules[0].value == pytest.approx(
        gate(new, rule, baseline=old).rules[0].value
    )
    unpaired = compare({"new": new, "old": old}, metrics=["recall"])
    assert result.rules[0].value == pytest.approx(unpaired.rows[0].low)
    assert [each.rule[:4] for each in gate(new, baseline=old, prove="not-worse", metrics=["mcc"])] == ["low("]
    assert gate(new, baseline=old).passed and "An unchanged model fails this gate" in repr(gate(new, baseline=old))


# ---------------------------------------------------------------- groups


def test_every_rule_holds_in_every_group_and_a_small_one_is_named(rows):
    words = [rows, *COLUMNS, "new", "--by", "site", "--require", "recall>=0.2", "--min-rows", "50"]
    lines = run(*words, code=3).stdout.splitlines()
    assert [line.partition("recall")[0] for line in lines[:3]] == [
        "pass  ",
        "pass  site = north: ",
        "pass  site = south: ",
    ]
    assert lines[3].startswith("undefined  site = x") and "30 rows, and at least 50 are asked for" in lines[3]
    assert "left out  site = x" in run(*words, "--skip-small").stdout
    assert run(*words, "--min-rows", "50", code=2).stderr  # given twice
    few = run(rows, *COLUMNS, "new", "--require", "recall>=0.2", "--min-positives", "5000", code=3)
    assert "positives, and at least 5,000 are asked for; no rule was judged" in few.stdout


def test_groups_of_two_models_are_compared_and_one_of_one_class_is_undefined(rows, tmp_path):
    words = [*COLUMNS, "new", "--versus", "old", "--by", "site", "--require", "low(recall - versus)>=-0.99"]
    data = GateResult.from_json(run(rows, *words, "--format", "json").stdout)
    assert [each.group for each in data][:3] == [None, "site = north", "site = south"]
    north = SITE == "north"
    models = {"new": NEW[north] >= 0.5, "old": OLD[north] >= 0.5}
    assert data.rules[1].value == pytest.approx(compare(Y[north], models, metrics=["recall"]).rows[0].low, abs=0.02)
    path = tmp_path / "one.parquet"
    FRAME.filter((pl.col("site") != "north") | (pl.col("y") == 0)).write_parquet(path)
    ran = run(path, *words, code=3).stdout
    assert "undefined  site = north: " in ran and "skip" not in ran
    assert run(path, *words, "--skip-small").stdout.count("left out  site = north: ") == 1


def test_groups_of_scores_are_judged_by_the_same_positive_class_whatever_the_labels_are(tmp_path):
    words = [
        "--true",
        "y",
        "--score",
        "bad",
        "--versus",
        "old",
        "--by",
        "site",
        "--require",
        "high(recall - versus)>=0",
    ]
    judged = []
    for negative, positive in ((0, 1), (1, 2), ("no", "yes")):
        path = tmp_path / "rows.csv"
        label = pl.Series("y", [positive if y else negative for y in Y])
        FRAME.with_columns(label, site=pl.Series("site", np.where(north := SITE == "north", "n", "s"))).with_columns(
            bad=pl.when(pl.lit(pl.Series("n", north))).then("bad").otherwise("old")
        ).write_csv(path)
        ran = run(path, *words, "--pos-label", positive, "--skip-small", "--format", "json", code=1)
        judged.append([(each.group, each.outcome, each.value) for each in GateResult.from_json(ran.stdout)])
    assert judged[0] == judged[1] == judged[2]
    assert [outcome for _, outcome, _ in judged[0]] == ["FAIL", "FAIL", "pass"]


@pytest.mark.parametrize(
    "columns",
    [
        "--score new --versus old",
        "--pred a --versus b",
        "--score p_* --versus q_* --threshold 0.5",
        "--score new --versus old --cluster who",
    ],
)
def test_a_group_that_lacks_a_class_or_a_second_cluster_is_left_out(tmp_path, columns):
    labels = [pl.Series("y", np.where(Y, "sick", "well")), pl.Series("a", np.where(NEW > 0.5, "sick", "well"))]
    frame = FRAME.with_columns(*labels, pl.Series("b", np.where(OLD > 0.5, "sick", "well"))).with_columns(
        p_sick="new", p_well=1 - pl.col("new"), q_sick="old", q_well=1 - pl.col("old"), site=pl.lit("all")
    )
    few = frame.filter(pl.col("y") == "well", pl.col("b") == "sick").head(1).with_columns(site=pl.lit("few"))
    path = tmp_path / "rows.parquet"
    pl.concat([frame, few]).write_parquet(path)
    words = [path, "--true", "y", *columns.split(), "--pos-label", "sick", "--by", "site", "--require", "recall>=0.001"]
    assert "left out  site = few: " in run(*words, "--skip-small").stdout
    assert "undefined  site = few: " in run(*words, code=3).stdout


def test_any_other_error_in_a_group_is_raised_with_its_name(tmp_path):
    path = tmp_path / "rows.parquet"
    weights = pl.when(pl.col("site") == "south").then(0.0).otherwise(1.0)
    FRAME.with_columns(w=weights, site=pl.col("site").str.replace(HOSTILE, "east", literal=True)).write_parquet(path)
    words = [path, *COLUMNS, "new", "--versus", "old", "--by", "site", "--pos-label", 1, "--weight", "w"]
    refused = run(*words, "--require", "low(recall - versus) >= -0.9", code=2).stderr
    assert "site = south: The column 'w' is 0 in every row" in refused


def test_columns_of_numbers_are_binned_where_two_models_are_compared(rows):
    words = [
        *COLUMNS,
        "new",
        "--versus",
        "old",
        "--by",
        "who",
        "--bins",
        "who=3",
        "--require",
        "low(recall - versus)>=-0.99",
    ]
    groups = [each.group for each in GateResult.from_json(run(rows, *words, "--format", "json").stdout)]
    assert groups == [None, "who < 100", "100 <= who < 200", "who >= 200"]


def test_a_baseline_is_that_of_the_same_group(rows, tmp_path):
    old, alone = tmp_path / "old.json", tmp_path / "alone.json"
    evaluation = evaluate(FRAME, true="y", score="old", by="site", pos_label=1)
    old.write_text(evaluation.to_json())
    alone.write_text(evaluate(Y, y_score=OLD, pos_label=1).to_json())
    words = [rows, *COLUMNS, "new", "--by", "site", "--require", "recall >= baseline - 0.5", "--format", "json"]
    north = next(
        each for each in GateResult.from_json(run(*words, "--baseline", old).stdout) if each.group == "site = north"
    )
    group = next(group for group in evaluation.groups if group.label == "site = north")
    assert north.limit == pytest.approx(group["recall"].value - 0.5)
    assert "has no groups; make it again with the same --by" in run(*words, "--baseline", alone, code=2).stderr
    assert "takes all rows together" in run(*words[:7], "--baseline", old, code=2).stderr


def test_a_guarantee_is_held_in_every_group_and_shares_its_error(rows, tmp_path):
    best = steelyard.best_threshold(Y, OLD, "specificity", where="recall >= 0.8", confidence=0.95, pos_label=1)
    chosen = tmp_path / "chosen.json"
    chosen.write_text(best.to_json())
    ran = run(rows, *COLUMNS, "old", "--by", "site", "--guarantee", chosen)
    assert ran.stdout.count("limit >= 80 %") == 4 and "in at most 5 % of runs" in ran.stdout
    fallen = run(rows, *COLUMNS, "bad", "--by", "site", "--guarantee", chosen, code=1).stdout
    assert "FAIL  site = north: recall is" in fallen
    evaluation = evaluate(Y, y_score=OLD, threshold=best.threshold, pos_label=1, metrics=["recall"])
    assert_gate(evaluation, guarantee=best)
    with pytest.raises(InputError, match="evaluate them with threshold="):
        gate(evaluate(Y, y_score=OLD, threshold=0.123, pos_label=1), guarantee=best)


def test_label_sets_and_many_classes_are_gated():
    truth = RNG.random((60, 3)) < 0.4
    pred = truth ^ (RNG.random((60, 3)) < 0.1)
    assert_gate(evaluate(truth, pred), "f1[average=macro] >= 0.5", "high(recall[average=micro]) >= 0.5")
    assert gate(compare(truth, {"a": pred, "b": truth})).passed is False
    classes = np.array(list("abc"))[RNG.integers(0, 3, 300)]
    guess = np.where(RNG.random(300) < 0.7, classes, "a")
    assert_gate(evaluate(classes, guess), "low(mcc) >= 0.1", "high(f1[average=macro]) >= 0.1", min_positives=50)
    assert gate(evaluate(classes, guess), "mcc >= 0", min_positives=5_000).exit_code == 3
    with pytest.raises(InputError, match="min_positives= counts the rows of a class"):
        gate(evaluate(truth, pred), "f1[average=macro] >= 0.5", min_positives=1)


# ---------------------------------------------------------------- what is written


def hostile():
    evaluation = evaluate(Y, y_score=NEW, by={"site": SITE}, pos_label=1, metrics=["recall"])
    return gate(evaluation, "recall >= 0.99", "recall >= 0.01", min_rows=40, min_positives=1)


@pytest.fixture
def told(rows):
    """The words of the shell for the same gate."""
    rules = ["--require", "recall >= 0.99", "--require", "recall >= 0.01", "--min-rows", 40, "--min-positives", 1]
    return [rows, *COLUMNS, "new", "--pos-label", 1, "--by", "site", *rules]


def test_junit_is_xml_that_counts_its_cases_whatever_groups_are_called(told):
    text = run(*told, "--format", "junit", code=1).stdout
    assert text.isascii() and "planted" in text
    root = ET.fromstring(text)
    (suite,) = root
    cases = suite.findall("testcase")
    assert root.tag == "testsuites" and suite.tag == "testsuite" and suite.get("name")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(name)) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests")) == int(root.get("tests")) == len(cases) == len(hostile().rules)
    assert all(case.get("name") and case.get("classname") for case in cases)
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    (error,) = suite.findall("testcase/error")
    assert "30 rows" in error.get("message") and "\ufffd" in ET.tostring(root, encoding="unicode")
    assert {child.tag for child in suite} <= {"testcase", "system-out"}


def test_annotations_escape_what_github_would_read_and_nothing_is_planted(told):
    lines = run(*told, "--format", "github", code=1).stdout.removesuffix("\n").split("\n")
    assert [line[:7] for line in lines] == [
        "::error",
        "pass  r",
        "::error",
        "pass  s",
        "::error",
        "pass  s",
        "::error",
        "::notic",
    ]
    error = next(line for line in lines if "planted" in line)
    title, message = re.fullmatch(r"::error title=([^:,]*)::(.*)", error).groups()
    assert title == "steelyard gate%3A rows >= 40" and "%25" in message and "\u2028" not in message
    assert all(re.fullmatch(r"[^\x00-\x1f\u2028]*", line) for line in lines)
    assert len(run(*told, code=1).stdout.splitlines()) == len(hostile().rules)


def test_a_result_goes_to_a_file_and_its_lines_to_the_log(rows, tmp_path):
    path = tmp_path / "gate.xml"
    words = [rows, *COLUMNS, "new", "--require", "recall>=0.99", "-o", path]
    ran = run(*words, code=1)
    assert ran.stdout.startswith("FAIL  recall is ") and ET.parse(path).getroot().get("failures") == "1"
    assert "--force" in run(*words, code=2).stderr


@pytest.mark.parametrize(("line", "form"), [("{} | true", "junit"), ("{} >/dev/full", "github"), ("{} >&-", "junit")])
def test_the_verdict_is_the_exit_code_in_every_format(line, form):
    command = f"{sys.executable} -m steelyard.cli gate --counts 1,1,0,5 --require 'recall>=0.9' --format {form}"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", line.format(command)], capture_output=True, check=False)
    assert ran.returncode == 1 and b"Traceback" not in ran.stderr


def test_a_test_fails_with_the_sentences_of_the_gate():
    evaluation = evaluate(steelyard.Counts(tp=28, fn=23, fp=72, tn=2680))
    assert_gate(evaluation, "recall >= 0.5")
    with pytest.raises(AssertionError, match=r"FAIL  low\(mcc\) is 0.279, required >= 0.5") as caught:
        assert_gate(evaluation, "recall >= 0.5", "low(mcc) >= 0.5")
    assert str(caught.value).startswith("The gate failed: 2 judged, 1 broken, 0 undefined.")
    empty = evaluate(steelyard.Counts(tp=0, fn=5, fp=0, tn=5))
    with pytest.raises(AssertionError, match="undefined  precision, required >= 50 %: no predicted positives"):
        assert_gate(empty, "precision >= 0.5")
    assert math.isnan(gate(empty, "precision >= 0.5").rules[0].value)


# ---------------------------------------------------------------- the page


def page_commands():
    """The gates that the workflows of the page run."""
    yaml = pytest.importorskip("yaml", reason="the documentation's tools are not installed: pip install '.[docs]'")
    text = (Path(__file__).parent.parent / "docs" / "how" / "gate.md").read_text(encoding="utf-8")
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        strings = [yaml.safe_load(block)]
        while strings:
            node = strings.pop()
            if isinstance(node, (dict, list)):
                strings.extend(node.values() if isinstance(node, dict) else node)
            elif isinstance(node, str) and node.startswith("steelyard gate "):
                yield shlex.split(node)[2:]


def test_the_workflows_of_the_page_are_yaml_whose_gates_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.rename({"old": "released"}).with_columns(candidate="new").write_parquet("preds.parquet")
    commands_of_page = list(page_commands())
    assert len(commands_of_page) == 3
    for words in commands_of_page:
        ran = run_command("gate", *words)
        assert ran.exit_code in (0, 1), ran.output
    assert ET.parse("gate.xml").getroot().tag == "testsuites"


# ---------------------------------------------------------------- results that were read from files


SAVED = evaluate(Y, y_score=OLD, by=np.arange(N) % 2)
RULES = ("recall >= 0.5", "low(roc_auc) >= 0.1", "low(precision) >= 0.1", "mcc >= 0.1")


def with_numbers(data, name, **numbers):
    """The saved metrics, or those of a group, with other numbers of one of them."""
    return [row | numbers if row["name"] == name else row for row in data["metrics"]]


EDITS = {
    f"{name} {what}": lambda data, name=name, numbers=numbers: {"metrics": with_numbers(data, name, **numbers)}
    for name in ("recall", "precision", "roc_auc", "mcc", "accuracy", "average_precision", "brier")
    for what, numbers in {
        "better": {"value": 0.999, "low": 0.99, "high": 1.0},
        "moved inside its interval": {"value": 0.5, "low": 0.0, "high": 1.0},
        "undefined": {"value": None, "low": None, "high": None, "undefined": "no rows"},
        "an interval beyond": {"low": -0.9, "high": 1.9},
    }.items()
} | {
    "another threshold": lambda data: {"threshold": 0.1},
    "other counts": lambda data: {"counts": data["counts"] | {"fn": 0}},
    "another table": lambda data: {"table": data["table"] | {"rows": [[630, 0], [0, 270]]}},
    "a table and counts that agree": lambda data: {
        "table": data["table"] | {"rows": [[data["rows"] - 270, 0], [0, 270]]},
        "counts": {"tp": 270, "fn": 0, "fp": 0, "tn": data["rows"] - 270},
    },
    "more rows": lambda data: {"rows": 10 * data["rows"]},
    "the other class": lambda data: {"positive": 0},
    "another prevalence": lambda data: {"prevalence": 0.9},
    "a lower level": lambda data: {"level": 0.1},
    "better groups": lambda data: {
        "groups": [group | {"metrics": with_numbers(group, "recall", value=1.0, high=1.0)} for group in data["groups"]]
    },
    "larger groups": lambda data: {"groups": [group | {"rows": 10**6} for group in data["groups"]]},
}


@pytest.mark.parametrize("edit", EDITS)
def test_numbers_that_the_saved_tables_do_not_give_pass_no_gate(edit):
    data = SAVED.to_dict()
    changed = data | EDITS[edit](data)
    with pytest.raises(InputError, match="it was changed or truncated"):
        steelyard.Evaluation.from_json(changed)


@pytest.mark.parametrize("edit", ["recall better", "other counts", "a lower level"])
def test_a_baseline_that_was_changed_is_refused(edit, tmp_path):
    data = SAVED.to_dict()
    file = tmp_path / "old.json"
    file.write_text(steelyard.Evaluation.to_json(SAVED))
    assert gate(evaluate(Y, y_score=NEW), "recall >= baseline - 0.5", baseline=file).passed
    file.write_text(json.dumps(data | EDITS[edit](data)))
    with pytest.raises(InputError, match=r"The baseline '.*old.json' cannot be read: .* it was changed or truncated"):
        gate(evaluate(Y, y_score=NEW), "recall >= baseline - 0.5", baseline=file)


def test_a_baseline_that_lacks_what_is_asked_is_refused():
    new, old = evaluate(Y, y_score=NEW), evaluate(Y, y_score=OLD, metrics=["jaccard"])
    with pytest.raises(InputError, match="The baseline holds none of the usual metrics; give rules"):
        gate(new, baseline=old)
    with pytest.raises(InputError, match="The baseline has no value of mcc; make it again with this metric"):
        gate(new, "mcc >= baseline", baseline=old)


def test_a_gate_reads_the_ends_that_the_table_gives_and_not_those_of_the_file():
    data, row = SAVED.to_dict(), SAVED["recall"]
    surer = data | {"metrics": with_numbers(data, "recall", low=row.value - 1e-9)}
    rule = f"low(recall) >= {row.value - 1e-3}"
    assert gate(SAVED, rule).passed is False
    assert gate(steelyard.Evaluation.from_json(surer), rule).passed is False


def test_an_honest_file_passes_as_the_evaluation_does_and_nothing_is_said():
    again = steelyard.Evaluation.from_json(SAVED.to_json())
    of_labels = [rule for rule in RULES if "roc_auc" not in rule]
    assert gate(again, *of_labels) == gate(SAVED, *of_labels)
    assert "the value of roc_auc (group = 0) and roc_auc (group = 1), " in str(gate(again, *RULES))


def test_a_gate_names_what_it_took_from_a_file_as_it_stands_there():
    rows = evaluate(Y, (OLD > 0.5).astype(int), cluster=np.arange(N) // 3)
    of_clusters = steelyard.Evaluation.from_json(rows.to_json())
    found = gate(of_clusters, "low(recall) >= 0.1")
    assert found.notes == [
        "Not computed again, but taken as the file has it: the interval of recall, whose clusters a file does not hold."
    ]
    assert found.notes[0] in str(found) and "lets it through in at most" not in str(found)
    sets = evaluate(np.eye(3, dtype=int)[np.arange(60) % 3], np.eye(3, dtype=int)[np.arange(60) % 2])
    of_sets = type(sets).from_json(sets.to_json())
    assert "the value of f1[average=macro], of label sets" in gate(of_sets, "f1[average=macro] >= 0.1").notes[0]
    both = compare(Y, {"new": (NEW > 0.5).astype(int), "old": (OLD > 0.5).astype(int)})
    of_both = type(both).from_json(both.to_json())
    assert "the interval of recall, which need the rows that both" in gate(of_both, "recall >= versus - 0.5").notes[0]
    held = both.to_dict()
    held["differences"][0] |= {"value_a": 0.999}
    with pytest.raises(InputError, match=r"This comparison was changed: it gives 0\.999 as recall's value_a"):
        gate(type(both).from_json(held), "recall >= versus - 0.5")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["groups"].pop(),
        lambda data: data["groups"].__setitem__(0, data["groups"][1]),
        lambda data: data["metrics"][0].update(low=data["metrics"][0]["value"]),
        lambda data: data.update(table=None, scores=None),
        lambda data: data.update(level=0.9),
        lambda data: data["verdict"].clear(),
        lambda data: data["beats"].update(p_value=0.9),
    ],
)
def test_a_saved_result_that_was_changed_in_any_place_is_refused(edit):
    data = json.loads(SAVED.to_json())
    assert steelyard.Evaluation.from_json(json.dumps(data, sort_keys=True, indent=3)) == SAVED
    edit(data)
    with pytest.raises(InputError, match="was changed"):
        steelyard.Evaluation.from_json(json.dumps(data))
    del data["digest"]
    try:
        found = gate(steelyard.Evaluation.from_json(json.dumps(data)), "recall >= 0.5")
    except InputError:
        return
    assert found.notes[0].startswith("It carries no digest")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda data: data["differences"][0].update(low=0.5, high=0.6),
            "an interval of recall does not hold its value",
        ),
        (lambda data: data["models"].reverse(), "its differences are not of its models"),
        (lambda data: data["intervals"]["new"][0].update(low=0.99), "an interval of recall does not hold its value"),
        (lambda data: data.update(tables=None), "it holds other values than to_json"),
    ],
)
def test_a_comparison_that_contradicts_itself_passes_no_gate(edit, words):
    both = compare(Y, {"new": (NEW > 0.5).astype(int), "old": (OLD > 0.5).astype(int)}, metrics=["recall", "f1"])
    data = both.to_dict()
    edit(data)
    with pytest.raises(InputError, match=words):
        gate(type(both).from_json(data), "low(recall - versus) >= 0.4")


@pytest.mark.parametrize(
    "rule", ["recall >= baseline - 0.95", "recall >= baseline - 95 %", "error_rate <= baseline + 0.95"]
)
def test_a_limit_beside_another_value_that_every_model_keeps_is_refused(rule):
    with pytest.raises(InputError, match="so that every model keeps it"):
        gate(evaluate(Y, y_score=NEW), rule, baseline=evaluate(Y, y_score=OLD))


def test_a_limit_beside_another_value_that_no_model_keeps_is_refused():
    both = compare(Y, {"new": (NEW > 0.5).astype(int), "old": (OLD > 0.5).astype(int)}, metrics=["recall"])
    with pytest.raises(InputError, match=r"asks for recall >= 1\.\d+, as versus has .*, so that no model keeps it"):
        gate(both, "recall >= versus + 0.9")


def test_options_that_change_nothing_are_refused():
    evaluation = evaluate(Y, y_score=NEW)
    with pytest.raises(InputError, match="skip_small= leaves out groups, and there are none here"):
        gate(evaluation, "recall >= 0.1", skip_small=True)
    with pytest.raises(InputError, match="prove= is about a gate without rules"):
        gate(evaluation, "recall >= 0.1", prove="not-worse")


def test_metrics_behind_the_named_ones_are_confirmed_too():
    rows = evaluate(Y, (OLD > 0.5).astype(int), cluster=np.arange(N) // 3, metrics=["mcc"])
    found = gate(steelyard.Evaluation.from_json(rows.to_json()), "low(recall) >= 0.1")
    assert found.notes[0].startswith("Not computed again, but taken as the file has it: the interval of recall")


def test_the_headline_counts_what_was_left_out_apart():
    groups = np.where(np.arange(N) < 5, "few", "many")
    found = gate(evaluate(Y, y_score=NEW, by=groups), "recall >= 0.1", min_rows=50, skip_small=True)
    assert found.headline == "The gate is passed: 2 judged, 0 broken, 0 undefined, 1 left out."
    with pytest.raises(InputError, match="The difference from a baseline is known of all rows together"):
        gate(evaluate(Y, y_score=NEW, by=groups), "low(mcc - baseline) >= -0.5", baseline=evaluate(Y, y_score=OLD))


def test_a_gate_takes_predictions_tables_and_files_of_results(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(900) < 0.3
    scores = np.clip(rng.normal(0.3 + 0.3 * truth, 0.15), 0, 1)
    chosen = steelyard.best_threshold(truth, scores, "specificity", where="recall >= 0.7", confidence=0.9)
    p = steelyard.Predictions(truth, y_score=scores)
    cut = evaluate(truth, y_score=scores, threshold=chosen.threshold, metrics=["recall"])
    assert gate(p, guarantee=chosen) == gate(cut, guarantee=chosen)
    with pytest.raises(InputError, match="about scores at its own threshold"):
        gate(p.at(0.9), guarantee=chosen)
    path = tmp_path / "evaluation.json"
    path.write_text(cut.to_json())
    assert gate(path, "recall >= 0.5").passed and gate(str(path), ["recall >= 0.5", "recall >= 0.6"]).passed
    assert gate(p.confusion(), "recall >= 0.1") == gate(p, "recall >= 0.1")
    with pytest.raises(InputError, match="A gate needs a rule"):
        gate(p)


def test_a_guarantee_shares_its_error_among_all_rows_and_the_groups():
    """One of 8 positives is found: 9 in 256 where recall is 0.5, too often at 5 % and seldom enough at a third of it."""
    chosen = steelyard.best_threshold(
        [1] * 60 + [0] * 60, [0.9] * 60 + [0.1] * 60, "specificity", where="recall >= 0.5", confidence=0.95
    )
    truth = np.repeat([1, 0, 1, 0], [8, 8, 20, 20])
    scores = np.where(truth == 1, 0.9, 0.1)
    scores[1:8] = 0.1
    at = {"threshold": chosen.threshold, "pos_label": 1}
    (alone,) = gate(evaluate(truth[:16], y_score=scores[:16], **at), guarantee=chosen).rules
    assert alone.p_value == pytest.approx(9 / 256) and alone.verdict == "broken"
    site = np.repeat(["few", "many"], [16, 40])
    rules = gate(evaluate(truth, y_score=scores, by=site, **at), guarantee=chosen).rules
    assert [rule.verdict for rule in rules] == ["kept", "too few rows to decide", "kept"]
    assert rules[1].p_value == pytest.approx(9 / 256)


def test_a_capacity_is_judged_and_said_in_alerts():
    truth = np.repeat([1, 0], [60, 340])
    scores = np.where(truth == 1, 0.8, 0.2)
    chosen = steelyard.best_threshold(truth, scores, "recall", where="alerts <= 100 of 400", confidence=0.95)
    (rule,) = gate(evaluate(truth, y_score=scores, threshold=chosen.threshold), guarantee=chosen).rules
    assert 0.1 < rule.low < rule.value == 0.15 < rule.high < 0.2
    ends = f"{400 * rule.low:.0f} to {400 * rule.high:.0f}"
    assert rule.text == f"alerts are 60 of 400 rows ({ends}), limit <= 100: kept"


def test_a_difference_that_never_varies_has_no_power_to_state():
    """The same scores twice differ by 0 on any rows: the interval is 0 to 0, and nothing can be caught by chance."""
    truth = np.repeat([1, 0], [40, 160])
    scores = np.linspace(0, 0.5, 200) + truth / 2
    same = compare(truth, y_score={"new": scores, "old": scores}, metrics=["roc_auc"], pos_label=1)
    (rule,) = gate(same, "low(roc_auc - versus) >= -0.05").rules
    assert rule.passed and (rule.value, rule.low, rule.high) == (0, 0, 0) and rule.power is None
