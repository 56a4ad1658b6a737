"""Advice that follows from decided properties, and the audit on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from html import unescape
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


RNG = np.random.default_rng(3)
Y = (RNG.random(2_000) < 0.05).astype(int)
S = 1 / (1 + np.exp(3 - 2 * (RNG.normal(size=2_000) + Y)))
CLASSES = RNG.choice(["a", "b", "c"], 300, p=[0.6, 0.3, 0.1])
USES = ("alerts", "balance", "ranking", "probabilities")
NUMBERS = ["average_precision", "ac_score", "roc_auc", "brier_skill_score"]
OF_ROWS = {
    "probabilities": {"y_score": S},
    "scores": {"y_score": np.log(S) - np.log1p(-S)},
    "labels": {"y_pred": S >= 0.5},
}


def test_each_use_has_one_number_and_without_a_use_it_is_asked():
    asked = recommend()
    assert names(asked.read) == NUMBERS and [each.use for each in asked.read] == [*USES]
    assert asked.use is None and not asked.unfit
    assert asked.asks[0].startswith("What are the predictions for?") and all(
        f"use={use!r}" in asked.asks[0] for use in USES
    )
    for use, number in zip(USES, NUMBERS, strict=True):
        found = recommend(use=use)
        assert names(found.read) == [number] and found.use == use and f"For {use}, read" in found.headline
        assert not any("predictions for" in question for question in found.asks)


def test_an_evaluation_takes_no_rows_beside_it():
    evaluation = steelyard.evaluate(Y, y_score=S)
    for beside in ({"y_pred": Y}, {"filter": "age >= 3"}, {"frequency": Y}, {"cluster": Y}, {"by": Y}):
        with pytest.raises(steelyard.SteelyardError):
            recommend(evaluation, **beside)
    with pytest.raises(steelyard.SteelyardError, match="either a table or rows"):
        recommend(evaluation, Y)
    with pytest.raises(steelyard.SteelyardError, match="rows with one label each"):
        recommend(steelyard.evaluate(np.column_stack([Y, Y]), np.column_stack([Y, Y])))
    clustered = steelyard.evaluate(Y, y_score=S, cluster=np.arange(len(Y)) // 2)
    assert repr(recommend(clustered).read) == repr(recommend(evaluation).read)


@pytest.mark.parametrize("given", OF_ROWS)
def test_the_number_is_the_one_that_evaluate_leads_with(given):
    rows = OF_ROWS[given]
    numbered = {s.code.removeprefix("for-") for s in steelyard.evaluate(Y, **rows).verdict if s.code.startswith("for-")}
    found = recommend(Y, **rows)
    assert {each.use for each in found.read} == numbered
    assert repr(recommend(steelyard.evaluate(Y, **rows)).read) == repr(found.read)
    for advice in found.read:
        evaluation = steelyard.evaluate(Y, **rows, use=advice.use)
        assert recommend(Y, **rows, use=advice.use).read[0].metric == evaluation.leading[0] == advice.metric
        assert advice.why in evaluation.verdict[0] or advice.why[3:] in evaluation.verdict[0]
    for use in set(USES) - numbered:
        with pytest.raises(steelyard.SteelyardError, match=f"use='{use}'"):
            recommend(Y, **rows, use=use)


def test_of_many_classes_the_number_is_the_one_that_evaluate_leads_with():
    guesses = np.where(RNG.random(300) < 0.7, CLASSES, "a")
    for use in ("alerts", "balance"):
        found = recommend(CLASSES, guesses, use=use)
        assert found.read[0].metric == steelyard.evaluate(CLASSES, guesses, use=use).leading[0]
    assert "macro F1" in recommend(CLASSES, guesses, use="alerts").headline
    assert "each of the 3 classes" in " ".join(found.beside) and "kalita2010" in found.sources
    assert "ordered=True" in " ".join(found.asks)


def test_a_capacity_is_for_alerts_and_stands_beside():
    found = recommend(Y, y_score=S, capacity="200 of 10000")
    assert found.use == "alerts" and "use='alerts'" in found.assumed[-1]
    assert "precision_at_k[k=40]" in found.beside[0] and "lift[share=0.02]" in found.beside[0]
    assert not any("looked at" in question for question in found.asks)
    assert recommend(capacity=50).use == "alerts"


def test_no_metric_is_advised_against_without_the_use_for_which():
    text = repr(recommend()) + "".join(repr(recommend(use=use)) for use in USES)
    assert "avoid" not in text.lower() and all(f"Not for {use}:" in text for use in USES)
    for use in USES:
        assert {advice.use for advice in recommend(use=use).unfit} == {use}


def test_what_does_not_fit_lacks_a_decided_property():
    alerts = {advice.metric: advice.why for advice in recommend(use="alerts").unfit}
    assert alerts.keys() == {"accuracy", "balanced_accuracy", "g_mean", "roc_auc"}
    assert decide("roc_auc", "prevalence_invariance").holds and "stays the same at any prevalence" in alerts["roc_auc"]
    assert alerts["accuracy"].endswith("zero recall: 1/2 on tp=0, fn=1, fp=0, tn=1, where 0 was asked")
    balance = {advice.metric: advice.why for advice in recommend(use="balance").unfit}
    assert {"accuracy", "mcc", "precision", "f1", "average_precision"} <= balance.keys()
    assert "which class is called positive" in balance["f1"] and "moves with the prevalence" in balance["mcc"]
    here = {advice.metric for advice in recommend(use="balance", stable_prevalence=True).unfit}
    assert not {"mcc", "kappa", "average_precision"} & here and {"f1", "precision"} <= here
    given_up = recommend(use="balance", stable_prevalence=True, allow_zero_recall=True)
    assert "accuracy" not in names(given_up.unfit) and "1/2" not in " ".join(given_up.beside)
    assert "it is 1/2 where one class has zero recall" in " ".join(recommend(use="balance").beside)
    for use in ("ranking", "probabilities"):
        assert all("one threshold" in advice.why for advice in recommend(use=use).unfit)


def test_a_changed_formula_changes_the_advice(registry):
    assert "mcc" not in names(recommend(use="alerts").unfit)
    registry._REGISTRY["mcc"] = replace(get_metric("mcc"), function=get_metric("g_mean").function)
    assert "mcc" in names(recommend(use="alerts").unfit)


def test_where_the_verdict_calls_accuracy_fair_it_is_not_advised_against():
    even, rare = Counts(40, 10, 8, 42), Counts(4, 1, 8, 87)
    fair = recommend(steelyard.evaluate(even), use="balance")
    assert "accuracy" not in names(fair.unfit) and "accuracy, a fair summary here" in " ".join(fair.beside)
    assert any("fair summary" in sentence for sentence in steelyard.evaluate(even).verdict)
    assert "accuracy" in names(recommend(rare, use="balance").unfit)
    assert not any("fair" in line for line in (*recommend(rare).beside, *steelyard.evaluate(rare).verdict))


def test_costs_and_an_order_lead_whatever_the_use():
    costs = recommend(use="alerts", cost={"cost_fn": 10, "cost_fp": 1})
    assert names(costs.read) == ["expected_cost[cost_fn=10, cost_fp=1]", "average_precision"]
    assert "give a class up" in " ".join(costs.beside)
    assert names(recommend(cost={"cost_fn": "amount"}).read)[0] == "expected_cost"
    ordered = names(recommend(use="balance", ordered=True).read)
    assert ordered == ["kappa[weights=quadratic]", "macro_mean_absolute_class_error", "ac_score"]
    assert "mean_absolute_class_error" in names(recommend(ordered=True, stable_prevalence=True).read)


def test_the_sources_are_those_that_a_reviewer_knows(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    keys = {key for use in USES for key in recommend(use=use).sources}
    papers = {"saito2015", "davis2006", "hand2009", "chicco2020", "mcdermott2024", "vancalster2025"}
    assert keys >= papers | {"asawa", "garcia2012", "nguyen2019", "wu2025"}
    text = repr(recommend(use="alerts"))
    assert "[saito2015, davis2006]" in text and "Saito, T. and Rehmsmeier" in text.split("Sources:")[1]
    assert recommend(use="alerts").to_dict()["sources"].keys() == recommend(use="alerts").sources.keys()


def test_few_rows_of_the_rarer_class_are_named():
    few = steelyard.Counts(tp=9, fn=1, fp=12, tn=978)
    assert "10 positives leave" in recommend(few).beside[-1]
    assert "100" not in recommend(few, positives=100).beside[-1]
    assert "12 positives leave" in recommend(positives=np.int64(12)).beside[-1]
    assert "5 negatives leave" in recommend(steelyard.Counts(900, 10, 3, 2)).beside[-1]
    assert "1 negative leaves" in recommend(steelyard.Counts(900, 10, 1, 0)).beside[-1]
    three = recommend(steelyard.confusion(list("aabbbcccc"), list("aabbccccc")))
    assert "2 rows of 'a' leave" in three.beside[-1]


def test_rows_of_every_kind_are_read():
    y, score = np.repeat(["no", "yes"], [990, 10]), np.linspace(0, 1, 1000)
    p = steelyard.Predictions(y, y_score=score)
    assert repr(recommend(y, y_score=score)) == repr(p.recommend()) == repr(recommend(p))
    frame = pl.DataFrame({"y": y, "s": np.log(score + 0.1), "patient": np.arange(1000) // 3})
    ranked = recommend(frame, true="y", score="s")
    assert names(ranked.read) == ["average_precision", "roc_auc"] and "10 positives" in ranked.beside[-1]
    cut = recommend(frame, true="y", score="s", threshold=-0.2, cluster="patient")
    assert "ac_score" in names(cut.read) and "cluster=" in " ".join(cut.beside)
    assert "net_benefit[threshold=0.2]" in p.at(0.2).recommend(use="probabilities").beside[0]
    assert not any("acted on" in question for question in p.at(0.2).recommend(use="probabilities").asks)
    with pytest.raises(steelyard.SteelyardError, match="rows with one label each"):
        recommend([["a"], ["b"]], [["a"], []])
    with pytest.raises(steelyard.SteelyardError, match="nothing to ask about: give y_pred"):
        recommend([0, 1])


def test_a_notebook_shows_every_word():
    for use in (None, *USES):
        found = recommend(use=use, ordered=True)
        page, html = unescape(found.to_html()), unescape(found._repr_html_())
        texts = [*found.asks, *found.differs, *(each.why for each in found), *(each.phrase for each in found.read)]
        assert all(text in page and text in html for text in texts)


def test_without_sympy_what_is_stored_decides(monkeypatch, tmp_path):
    script = (
        "import sys; sys.modules['sympy'] = None; import steelyard; print(steelyard.recommend(use='balance').read[0])"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("AC-score: it falls to 0 with either recall and stays the same at any prevalence")


def test_the_command_line_recommends_and_audits(tmp_path, monkeypatch):
    assert "For balance, read AC-score." in run_command("recommend", "--use", "balance").stdout
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
    "a word for an answer": (lambda: recommend(ordered="no"), TypeError, "ordered= is True or False"),
    "a word for costs": (lambda: recommend(cost="no"), TypeError, "cost= is a dictionary"),
    "no cost": (lambda: recommend(cost={"cost_fm": 1}), TypeError, "is no cost; there are cost_fn"),
    "no capacity": (lambda: recommend(capacity=0), ValueError, "1 alert or more"),
    "no use": (lambda: recommend(use="alert"), ValueError, "Did you mean 'alerts'"),
    "ranks and costs": (lambda: recommend(use="ranking", cost={"cost_fn": 5}), ValueError, "no errors to cost"),
    "ranks and a threshold": (lambda: recommend(use="ranking", threshold=0.2), ValueError, "has no threshold"),
    "ranking=": (lambda: recommend(ranking=True), TypeError, "any more: give use='ranking'"),
    "calibration=": (lambda: recommend(calibration=True), TypeError, "any more: give use='probabilities'"),
    "equal_class_weight=": (lambda: recommend(equal_class_weight=True), TypeError, "give use='balance'"),
    "clusters=": (lambda: recommend(clusters="patient"), TypeError, "takes cluster= in place of clusters="),
    "many tables": (lambda: recommend(steelyard.Counts([9, 1], [1, 2], [3, 3], [2, 2])), ValueError, "One table is"),
    "a text of properties": (lambda: audit("f1", properties="p1"), TypeError, "a list of names"),
    "a text of metrics": (lambda: identities("f1"), TypeError, "a list of names"),
    "metric": (lambda: audit("nonsense"), KeyError, "No metric is called"),
    "property": (lambda: audit("f1", properties=["nonsense"]), KeyError, "nonsense"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_a_changed_formula_changes_the_verdict_of_an_evaluation(registry):
    """The words rest on decided properties: of a metric that has another formula what is decided of that is said."""
    counts = steelyard.Counts(28, 23, 72, 2680)
    assert "falls to 0 with either recall and stays the same" in " ".join(steelyard.evaluate(counts).verdict)
    registry._REGISTRY["ac_score"] = replace(get_metric("balanced_accuracy"), name="ac_score")
    said = next(s for s in steelyard.evaluate(counts).verdict if s.code == "for-balance")
    assert said.endswith(": it stays the same at any prevalence.")


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
    assert evaluation.verdict == sentences and "falls to 0 with either recall" in " ".join(sentences)
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


def test_the_shell_asks_the_same_questions():
    asked = "recommend --use probabilities --cost-fn 10 --threshold 0.2 --cluster patient --positives 12"
    found = json.loads(run_command(*asked.split(), "--format", "json").output)
    same = recommend(use="probabilities", cost={"cost_fn": 10}, threshold=0.2, cluster="patient", positives=12)
    assert found["read"] == json.loads(same.to_json())["read"] and found["use"] == "probabilities"
    assert "--use alerts: act on the flagged rows" in " ".join(run_command("recommend").stdout.split())


@pytest.mark.parametrize("old", ["--ranking", "--calibration", "--costs", "--equal-class-weight"])
def test_an_option_that_is_gone_is_answered_by_what_to_give(old):
    assert f"in place of {old}." in run_command("recommend", old, code=2).stderr


def test_the_count_of_decisions_is_that_of_the_audit_wherever_it_stands():
    rows = audit()
    counted = properties.decided_text(rows)
    decided = sum(row.holds is not None for row in rows)
    assert counted == f"{decided:,} of {len(rows):,} properties of {len({row.metric for row in rows})} metrics"
    readme = " ".join((Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8").split())
    assert f"{counted} are proved" in readme and f"Which of {len(steelyard.list_metrics())} metrics" in readme
    assert f"{counted} are decided" in " ".join(rows.to_html().split())
    proved, refuted = (sum(row.holds is holds for row in rows) for holds in (True, False))
    assert f"{proved} proved, {refuted} refuted" in rows.headline and proved + refuted == decided
