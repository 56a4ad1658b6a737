"""Advice that follows from decided properties, and the audit on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from checks import assert_refused, decide
from command_line import run_command

import steelyard
from steelyard import Counts, audit, get_metric, recommend
from steelyard.auditing import decisions, properties
from steelyard.metrics import identities

pytest.importorskip("sympy")
DOCS = Path(__file__).parent.parent / "docs" / "properties.md"


def names(advice):
    return [item.metric for item in advice]


def test_the_answers_decide_the_metrics():
    assert names(recommend(allow_zero_recall=False).use) == ["g_mean", "ac_score", "tpnr"]
    assert repr(recommend()) == repr(recommend(allow_zero_recall=False))
    half = recommend(allow_zero_recall=True)
    assert {"g_mean", "ac_score"} <= {*names(half.use)}
    assert "balanced_accuracy" not in names(half.avoid)
    assert "balanced_accuracy" in names(recommend(allow_zero_recall=False).avoid)
    assert "mcc" not in names(recommend(stable_prevalence=True).avoid)
    assert names(recommend(cost={"cost_fn": 5}).use) == ["expected_cost", "normalized_expected_cost", "net_benefit"]
    assert names(recommend(ranking=True).use) == ["roc_auc"]
    assert "12 positives" in " ".join(recommend(positives=12).beside)


def test_a_ranking_heeds_every_other_answer():
    alike = recommend(ranking=True)
    assert names(alike.use) == ["roc_auc"] and "average precision of both classes" in " ".join(alike.beside)
    rare = recommend(ranking=True, equal_class_weight=False)
    assert names(rare.use) == ["average_precision"] and "deployment prevalence" not in " ".join(rare.beside)
    there = recommend(ranking=True, stable_prevalence=True)
    assert names(there.use) == ["roc_auc"] and "average_precision at the deployment prevalence" in there.beside[-1]
    assert (
        "at the deployment prevalence"
        in recommend(ranking=True, equal_class_weight=False, stable_prevalence=True).use[0].why
    )
    assert "allow_zero_recall" in recommend(ranking=True, allow_zero_recall=True).beside[-1]
    assert "10 positives" in recommend(ranking=True, positives=10).beside[-1]


def test_where_the_verdict_calls_accuracy_fair_it_is_not_advised_against():
    even, rare = Counts(40, 10, 8, 42), Counts(4, 1, 8, 87)
    fair = recommend(steelyard.evaluate(even))
    assert "accuracy" not in names(fair.avoid) and "accuracy, a fair summary here" in " ".join(fair.beside)
    assert any("fair summary" in sentence for sentence in steelyard.evaluate(even).verdict)
    assert "accuracy" in names(recommend(rare).avoid) and "fair" not in " ".join(recommend(rare).beside)
    assert not any("fair summary" in sentence for sentence in steelyard.evaluate(rare).verdict)
    assert "accuracy" in names(recommend(even, equal_class_weight=False).avoid)


def test_classes_that_do_not_matter_alike_get_metrics_that_do_not_weigh_them_alike():
    fit = recommend(equal_class_weight=False, allow_zero_recall=True)
    assert names(fit.use) == ["iba", "alpha_f1", "class_weighted_accuracy"]
    for item in fit.use:
        assert decide(item.metric, "class_symmetry").holds is False and decide(item.metric, "leans_to_positives").holds
        assert "gives the two classes different weights (" in item.why
    blamed = {item.metric: item for item in fit.avoid}
    assert blamed["g_mean"].why == "counts errors on either class alike (proved)"
    assert blamed["g_mean"].cite == "garcia2012"


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("may_fail", [True, False])
def test_a_prevalence_in_use_asks_for_metrics_that_move_with_it(alike, may_fail):
    fit = recommend(equal_class_weight=alike, allow_zero_recall=may_fail, stable_prevalence=True)
    moving = [decide(name, "prevalence_invariance").holds is False for name in names(fit.use)]
    none_fits = "no metric both moves with it" in " ".join(fit.beside)
    assert moving and all(moving) != none_fits
    assert none_fits == (not alike and not may_fail)


def test_a_metric_that_falls_below_zero_is_not_said_to_look_well():
    """MCC and kappa are at most 0 where a class has zero recall."""
    fit = recommend(allow_zero_recall=False, stable_prevalence=True)
    assert not {"mcc", "kappa"} & {*names(fit.avoid)} and {"mcc", "kappa"} <= {*names(fit.use)}
    assert decide("mcc", "no_credit_when_a_class_fails").verdict == "proved"
    assert decide("mcc", "zero_when_a_class_fails").verdict == "refuted"
    accuracy = next(item.why for item in fit.avoid if item.metric == "accuracy")
    assert accuracy.endswith("zero recall: 1/2 on tp=0, fn=1, fp=0, tn=1, where 0 was asked")


def test_costs_and_ranks_are_reasoned_and_blamed_as_well():
    costs = recommend(cost={"cost_fn": 5})
    assert "is never better for one more false negative (proved)" in costs.use[0].why
    assert {"accuracy", "mcc", "precision"} <= {*names(costs.avoid)}
    assert "precision" not in names(recommend(cost={"cost_fn": 5}, allow_zero_recall=True).avoid)
    ranks = recommend(ranking=True)
    assert "recall and specificity" not in " ".join(ranks.beside)
    assert "stays the same at any prevalence" in ranks.use[0].why and "moves with the prevalence" in ranks.avoid[0].why
    assert "not the order" in ranks.avoid[1].why


def test_a_changed_metric_of_scores_changes_the_advice_on_ranks(registry):
    registry._REGISTRY["roc_auc"] = replace(get_metric("average_precision"), name="roc_auc")
    assert "moves with the prevalence" in recommend(ranking=True).use[0].why


def test_the_text_names_its_sources():
    told = repr(recommend())
    assert "[wu2025]" in told and "Sources:" in told and "Wu, " in told.split("Sources:")[1]
    assert recommend().to_dict()["sources"].keys() >= {"wu2025", "asawa"}


def test_the_rarer_class_is_named_and_many_classes_are_owned_up_to():
    assert "5 negatives leave" in recommend(steelyard.Counts(900, 10, 3, 2)).beside[-1]
    assert "1 negative leaves" in recommend(steelyard.Counts(900, 10, 1, 0)).beside[-1]
    three = recommend(steelyard.confusion(list("aabbbcccc"), list("aabbccccc")))
    assert any("proven for two classes" in line for line in three.beside)
    assert "2 rows of 'a' leave" in three.beside[-1]


def test_without_sympy_the_search_decides(monkeypatch, tmp_path):
    script = "import sys; sys.modules['sympy'] = None; import steelyard; print([a.metric for a in steelyard.recommend(allow_zero_recall=False).use])"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "['g_mean', 'ac_score', 'tpnr']\n"


def test_every_reason_is_a_decided_property():
    found = recommend(allow_zero_recall=False)
    for item in found.use:
        assert item.why.count("(proved)") == item.why.count(";") + 1
    accuracy = next(item for item in found.avoid if item.metric == "accuracy")
    assert "moves with the prevalence" in accuracy.why
    assert "tp=0, fn=1, fp=0, tn=1" in accuracy.why


def test_changing_a_formula_changes_the_advice(registry):
    wrong = replace(get_metric("g_mean"), function=lambda c: (c.tp + c.tn) / c.total)
    registry._REGISTRY["g_mean"] = wrong
    advice = recommend(allow_zero_recall=False)
    assert "g_mean" not in names(advice.use)
    assert "g_mean" in names(advice.avoid)


def test_the_command_line_recommends_and_audits(tmp_path, monkeypatch):
    out = run_command("recommend", "--no-zero-recall").stdout
    assert "Read first:" in out and "ac_score" in out
    assert json.loads(run_command("recommend", "--format", "json").stdout)["use"]
    rows = json.loads(run_command("audit", "tpnr", "--format", "json").stdout)
    assert {row["verdict"] for row in rows} >= {"proved", "refuted"}
    (tmp_path / "mine.py").write_text("def hits(tp, fn, fp, tn):\n    return tp / (tp + fn)\n")
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard.cli", "audit", "mine:hits", "--format", "md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "| hits |" in ran.stdout
    missing = run_command("audit", "nowhere:function", code=2)
    assert "MODULE:FUNCTION" in missing.stderr


@pytest.mark.parametrize("name", [":good", ".mine:good", "broken:good", "absent:good", "fine:absent", "quits:good"])
def test_a_function_that_cannot_be_imported_gets_one_sentence(tmp_path, monkeypatch, name):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "quits.py").write_text("def good(:\n")
    (tmp_path / "fine.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = run_command("audit", name)
    assert ran.exit_code == 2 and "MODULE:FUNCTION" in ran.stderr and "Traceback" not in ran.stderr


def test_the_table_in_the_documentation_is_the_audits():
    assert DOCS.read_text().split("\n\n", 2)[2].strip() == run_command("audit", "--format", "md").stdout.strip()


BAD = {
    "positives": (lambda: recommend(positives=0), ValueError, "1 or more"),
    "a truth for a number": (lambda: recommend(positives=True), ValueError, "1 or more"),
    "a word for an answer": (lambda: recommend(ordered="no"), TypeError, "ordered= is True or False"),
    "a word for costs": (lambda: recommend(cost="no"), TypeError, "cost= is what each kind of error costs"),
    "ranks and costs": (lambda: recommend(ranking=True, cost={"cost_fn": 5}), ValueError, "not both"),
    "many tables": (lambda: recommend(steelyard.Counts([9, 1], [1, 2], [3, 3], [2, 2])), ValueError, "one table"),
    "a text of properties": (lambda: audit("f1", properties="p1"), TypeError, "a list of names"),
    "a text of metrics": (lambda: identities("f1"), TypeError, "a list of names"),
    "metric": (lambda: audit("nonsense"), KeyError, "No metric is called"),
    "property": (lambda: audit("f1", properties=["nonsense"]), KeyError, "nonsense"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_the_answers_are_read_from_the_data():
    few = steelyard.Counts(tp=9, fn=1, fp=12, tn=978)
    assert repr(recommend(few)) == repr(recommend(positives=10))
    assert repr(recommend(steelyard.evaluate(few))) == repr(recommend(positives=10))
    assert repr(recommend(positives=np.int64(10))) == repr(recommend(positives=10))
    assert repr(recommend(few, positives=100)) == repr(recommend(positives=100))
    ranked = steelyard.score_table([0] * 40 + [1] * 40, list(range(80)))
    assert names(recommend(ranked).use) == names(recommend(ranking=True).use)
    with pytest.raises(steelyard.SteelyardError, match="nothing to ask about: give y_pred"):
        recommend([0, 1])


def test_rows_of_every_kind_are_read():
    y, score = np.repeat(["no", "yes"], [990, 10]), np.linspace(0, 1, 1000)
    few = steelyard.confusion(y, np.where(score > 0.9, "yes", "no"), pos_label="yes")
    p = steelyard.Predictions(y, y_score=score)
    for found in (recommend(y, y_score=score), p.recommend(), recommend(y, np.where(score > 0.9, "yes", "no"))):
        assert repr(found) == repr(recommend(few))
    frame = pl.DataFrame({"y": y, "s": np.log(score + 0.1), "patient": np.arange(1000) // 3})
    ranked = recommend(frame, true="y", score="s")
    assert names(ranked.use) == ["roc_auc"] and "10 positives" in ranked.beside[-1]
    cut = recommend(frame, true="y", score="s", threshold=-0.2, cluster="patient")
    assert names(cut.use) == names(recommend().use) and "cluster=" in " ".join(cut.beside)
    assert names(p.at(0.2).recommend().use)[0] == "net_benefit[threshold=0.2]"
    with pytest.raises(steelyard.SteelyardError, match="rows with one label each"):
        recommend([["a"], ["b"]], [["a"], []])


def test_a_changed_formula_changes_the_verdict_of_an_evaluation(monkeypatch):
    """The words rest on decided properties: where the recommended metric loses one, it is no longer named."""
    from steelyard.auditing import recommend as module

    counts = steelyard.Counts(28, 23, 72, 2680)
    told = " ".join(steelyard.evaluate(counts).verdict)
    assert "read G-mean, AC-score or TPNR;" in told
    decide = module.decide
    lost = replace(decide("g_mean", "prevalence_invariance"), verdict="refuted")
    monkeypatch.setattr(
        module,
        "decide",
        lambda m, p: lost if (getattr(m, "name", m), p) == ("g_mean", "prevalence_invariance") else decide(m, p),
    )
    assert "read AC-score, TPNR or informedness;" in " ".join(steelyard.evaluate(counts).verdict)


def test_the_verdict_of_an_evaluation_starts_no_proof_and_no_search(registry, monkeypatch, tmp_path):
    """A metric of the user's own, slow, opaque and undecided, changes nothing and costs nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    decisions.stored_decisions.cache_clear()
    counts = steelyard.Counts(28, 23, 72, 2680)
    sentences = steelyard.evaluate(counts).verdict
    calls = []

    @steelyard.metrics.metric("Slow", range=(0, 1))
    def slow(tp, fn, fp, tn):
        calls.append(tp)
        time.sleep(0.05)
        return np.tanh((tp + 1) / (tp + fn + 1))

    @steelyard.metrics.metric("Readable", range=(0, 1))
    def readable(tp, fn, fp, tn):
        return steelyard.metrics.ratio(tp * tn, (tp + fn) * (fp + tn) + 7 * tp)

    monkeypatch.setattr(properties, "_decided", None)  # would fail if called
    evaluation = steelyard.evaluate(counts)
    calls.clear()
    assert evaluation.verdict == sentences and "read G-mean" in " ".join(sentences)
    assert len(calls) <= 1  # to see whether it can be read
    decisions.stored_decisions.cache_clear()


@pytest.mark.parametrize("form", ["table", "json", "md"])
def test_an_audit_against_predictions_tells_what_balancing_and_swapping_move(tmp_path, form):
    path = tmp_path / "preds.csv"
    pl.DataFrame({"y": [0] * 90 + [1] * 10, "a": [0] * 85 + [1] * 13 + [0] * 2, "b": [0] * 95 + [1] * 5}).write_csv(
        path
    )
    words = ["audit", "tpnr", "accuracy", "f1", "--against", str(path), "--true", "y", "--pred", "a", "--pred", "b"]
    ran = run_command(*words, "--format", form, code=0)
    if form == "json":
        told = {row["metric"]: row for row in json.loads(ran.stdout)["verdicts"]}
        assert told["tpnr"]["robust"] and told["tpnr"]["symmetric"] and not told["accuracy"]["robust"]
    else:
        assert "Robust and symmetric: tpnr" in ran.stdout


def test_an_audit_against_scores_takes_the_auc(tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{i % 5 == 0:d},{(i * 7 % 10) / 10 + (i % 5 == 0)},{(i * 3 % 10) / 10},{i % 4 == 0:d}" for i in range(50)]
    path.write_text("\n".join(["y,a,b,label", *rows]) + "\n")
    words = ["--against", str(path), "--true", "y", "--format", "json", "--score"]
    ran = run_command("audit", "roc_auc", *words, "a")  # no probabilities, and no threshold needed
    assert ran.exit_code == 0, ran.output
    (verdict,) = json.loads(ran.stdout)["verdicts"]
    assert verdict["metric"] == "roc_auc" and verdict["robust"] and verdict["symmetric"]
    both = run_command("audit", "roc_auc", "tpnr", *words, "a", "--score", "b", "--threshold", "0.5")
    assert [row["metric"] for row in json.loads(both.stdout)["verdicts"]] == ["tpnr", "roc_auc"]
    labels = run_command("audit", "tpnr", *words, "a")
    assert labels.exit_code == 2 and "--threshold" in labels.output
    unread = run_command("audit", "roc_auc", *words[:-1], "--pred", "label")
    assert unread.exit_code == 2 and "roc_auc reads scores" in unread.output


def test_json_holds_the_letters_of_a_column_as_they_are(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,gänse,enten\n" + "1,1,1\n0,0,1\n1,0,1\n0,0,0\n" * 5)
    words = ["audit", "tpnr", "--against", str(path), "--true", "y", "--pred", "gänse", "--pred", "enten"]
    told = run_command(*words, "--format", "json").stdout
    assert '"A": "gänse"' in told and json.loads(told)["models"] == {"A": "gänse", "B": "enten"}


def test_the_audit_explains_its_properties_in_every_form():
    meaning = (
        "The value stays when the classes change places: true positives with true negatives, and false negatives with "
        "false positives. García calls noticing"
    )
    told = {form: run_command("audit", "tpnr", "--format", form).stdout for form in ("table", "md")}
    assert all(meaning in " ".join(text.split()) for text in told.values())
    rows = json.loads(run_command("audit", "tpnr", "--format", "json").stdout)
    assert rows[0]["meaning"].startswith(meaning)
    assert all(
        "(bounds_attained): No value" in " ".join(text.split()) or "`bounds_attained`: No value" in text
        for text in told.values()
    )
    assert meaning in DOCS.read_text()


REFUSED = {
    "tolerance": (["--tolerance", "0.1"], "--tolerance is about predictions; name their file with --against"),
    "pred": (["--pred", "a"], "--pred is about predictions"),
    "true": (["--true", "y"], "--true is about predictions"),
    "twice": (["--against", "FILE", "--true", "y", "--pred", "a", "--pred", "a"], "The column 'a' is named twice"),
}


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "p.csv"
    rows = ["y,a,p", *(f"{i % 4 == 0:d},{i % 3 == 0:d},{(i * 7) % 40 / 40}" for i in range(40))]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize("case", REFUSED)
def test_options_without_predictions_and_models_named_twice_are_refused(case, predictions):
    words, sentence = REFUSED[case]
    ran = run_command("audit", "f1", *(str(predictions) if w == "FILE" else w for w in words))
    assert ran.exit_code == 2 and sentence in ran.stderr


def test_an_audit_against_scores_says_where_they_were_cut_and_who_is_who(predictions):
    words = ["audit", "f1", "--against", str(predictions), "--true", "y", "--pred", "a", "--score", "p"]
    ran = run_command(*words, "--format", "json")
    assert json.loads(ran.stdout)["models"] == {"A": "a", "B": "p"}
    assert "0.5" in ran.stderr


def test_the_questions_of_metrics_reloaded_add_to_the_core_set():
    plain, asked = recommend(), recommend(calibration=True, capacity=200, threshold=0.1, cluster="patient")
    decisive = ["precision_at_k[k=200]", "net_benefit[threshold=0.1]", "standardized_net_benefit[threshold=0.1]"]
    assert names(asked.use) == [*decisive, *names(plain.use), "log_loss", "brier_skill_score"]
    by_name = {item.metric: item.why for item in asked.use}
    assert "best flagged at it (proved)" in by_name["net_benefit[threshold=0.1]"]
    assert "the true probability is best (tried" in by_name["log_loss"]
    assert decide("net_benefit[threshold=0.1]", "fixed_threshold").how.endswith(" 1/10")
    beside = " ".join(asked.beside)
    assert all(words in beside for words in ("reliability curve", "decision curve", "cluster=", "alerts <="))
    assert "cluster=" not in " ".join(plain.beside)


def test_where_metrics_reloaded_has_other_metrics_is_stated():
    plain = recommend()
    assert plain.differs[0] == "Metrics Reloaded has no g_mean, ac_score or tpnr in its pool [maierhein2024]"
    assert "balanced_accuracy" in plain.differs[1] and "maierhein2024" in plain.sources
    assert "Where others advise otherwise:" in repr(plain) and plain.to_dict()["differs"] == list(plain.differs)
    costs = recommend(cost={"cost_fn": 5})
    assert not any("has no" in sentence for sentence in costs.differs)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"capacity": 0}, "capacity is how many rows can be looked at, 1 or more, not 0."),
        ({"threshold": 1.5}, "between 0 and 1, not 1.5."),
        ({"calibration": "yes"}, "calibration= is True or False, not 'yes'."),
        ({"ranking": True, "threshold": 0.2}, "give ranking, or costs or a threshold, not both."),
    ],
)
def test_answers_that_do_not_fit_are_refused(given, words):
    with pytest.raises(steelyard.SteelyardError, match=words.replace("(", r"\(")):
        recommend(**given)


def test_the_shell_asks_the_same_questions():
    asked = ["recommend", "--calibration", "--capacity", "50", "--threshold", "0.2", "--cluster", "patient"]
    found = json.loads(run_command(*asked, "--format", "json").output)
    same = recommend(calibration=True, capacity=50, threshold=0.2, cluster="patient")
    assert found["use"] == json.loads(same.to_json())["use"]


def test_a_set_threshold_and_known_costs_name_each_metric_once():
    both = [advice.metric for advice in recommend(cost={"cost_fn": 5}, threshold=0.1).use]
    stems = [name.partition("[")[0] for name in both]
    assert len(stems) == len(set(stems)) and both[0] == "net_benefit[threshold=0.1]"
    assert {"expected_cost", "normalized_expected_cost"} <= set(both)


def test_what_the_deployment_prevalence_does_not_change_is_named():
    beside = recommend(ranking=True, stable_prevalence=True).beside
    assert "average_precision at the deployment prevalence, since it does not change roc_auc" in beside
