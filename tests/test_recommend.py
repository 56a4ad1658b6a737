"""Advice that follows from decided properties, and the audit on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import steelyard
from conftest import assert_refused
from steelyard import audit, get_metric, recommend
from steelyard.auditing.table import markdown
from steelyard.cli.commands import commands

pytest.importorskip("sympy")
DOCS = Path(__file__).parent.parent / "docs" / "properties.md"


def names(advice):
    return [item.metric for item in advice]


def test_the_answers_decide_the_measures():
    assert names(recommend(a_class_may_fail=False).use) == ["g_mean", "ac_score", "tpnr"]
    half = recommend()
    assert {"g_mean", "ac_score"} <= {*names(half.use)}
    assert "balanced_accuracy" not in names(half.avoid)
    assert "balanced_accuracy" in names(recommend(a_class_may_fail=False).avoid)
    assert "mcc" not in names(recommend(prevalence_in_use=True).avoid)
    assert names(recommend(costs=True).use) == ["expected_cost", "net_benefit"]
    assert names(recommend(ranking=True).use) == ["roc_auc", "average_precision"]
    assert "12 positives" in " ".join(recommend(positives=12).beside)


def test_without_sympy_the_search_decides(monkeypatch, tmp_path):
    script = "import sys; sys.modules['sympy'] = None; import steelyard; print([a.metric for a in steelyard.recommend(a_class_may_fail=False).use])"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "['g_mean', 'ac_score', 'tpnr']\n"


def test_every_reason_is_a_decided_property():
    found = recommend(a_class_may_fail=False)
    for item in found.use:
        assert item.why.count("(proved)") == item.why.count(";") + 1
    accuracy = next(item for item in found.avoid if item.metric == "accuracy")
    assert "moves with the prevalence" in accuracy.why
    assert "tp=0, fn=1, fp=0, tn=1" in accuracy.why


def test_changing_a_formula_changes_the_advice(registry):
    wrong = replace(get_metric("g_mean"), function=lambda c: (c.tp + c.tn) / c.total)
    registry._REGISTRY["g_mean"] = wrong
    advice = recommend(a_class_may_fail=False)
    assert "g_mean" not in names(advice.use)
    assert "g_mean" in names(advice.avoid)


def test_the_command_line_recommends_and_audits(tmp_path, monkeypatch):
    out = CliRunner().invoke(commands, ["recommend", "--no-class-may-fail"]).stdout
    assert "Read first:" in out and "ac_score" in out
    assert json.loads(CliRunner().invoke(commands, ["recommend", "--format", "json"]).stdout)["use"]
    rows = json.loads(CliRunner().invoke(commands, ["audit", "tpnr", "--format", "json"]).stdout)
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
    missing = CliRunner().invoke(commands, ["audit", "nowhere:function"])
    assert missing.exit_code == 2
    assert "MODULE:FUNCTION" in missing.stderr


def test_the_table_in_the_documentation_is_the_audits():
    assert DOCS.read_text().split("\n\n", 2)[2].strip() == markdown(audit()).strip()


BAD = {
    "positives": (lambda: recommend(positives=0), ValueError, "1 or more"),
    "measure": (lambda: audit("nonsense"), KeyError, "No measure is called"),
    "property": (lambda: audit("f1", properties=["nonsense"]), KeyError, "nonsense"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_the_answers_are_read_from_the_data():
    few = steelyard.Counts(tp=9, fn=1, fp=12, tn=978)
    assert repr(recommend(few)) == repr(recommend(positives=10))
    assert repr(recommend(steelyard.evaluate(few))) == repr(recommend(positives=10))
    assert repr(recommend(few, positives=100)) == repr(recommend(positives=100))
    ranked = steelyard.score_table([0] * 40 + [1] * 40, list(range(80)))
    assert names(recommend(ranked).use) == names(recommend(ranking=True).use)
    with pytest.raises(steelyard.SteelyardError, match="recommend reads an Evaluation"):
        recommend([0, 1])


def test_a_changed_formula_changes_the_verdict_of_an_evaluation(monkeypatch):
    """The words rest on decided properties: where the recommended measure loses one, it is no longer named."""
    from steelyard.auditing import recommend as module

    counts = steelyard.Counts(28, 23, 72, 2680)
    told = " ".join(steelyard.evaluate(counts).verdict)
    assert "Read G-mean, AC-score and TPNR first" in told
    decide = module.decide
    lost = replace(decide("g_mean", "prevalence_invariance"), verdict="refuted")
    monkeypatch.setattr(
        module,
        "decide",
        lambda m, p: lost if (getattr(m, "name", m), p) == ("g_mean", "prevalence_invariance") else decide(m, p),
    )
    assert "Read AC-score and TPNR" in " ".join(steelyard.evaluate(counts).verdict)


@pytest.mark.parametrize("form", ["table", "json", "md"])
def test_an_audit_against_predictions_tells_what_balancing_and_swapping_move(tmp_path, form):
    pl = pytest.importorskip("polars")
    path = tmp_path / "preds.csv"
    pl.DataFrame({"y": [0] * 90 + [1] * 10, "a": [0] * 85 + [1] * 13 + [0] * 2, "b": [0] * 95 + [1] * 5}).write_csv(
        path
    )
    words = ["audit", "tpnr", "accuracy", "f1", "--against", str(path), "--true", "y", "--pred", "a", "--pred", "b"]
    ran = CliRunner().invoke(commands, [*words, "--format", form])
    assert ran.exit_code == 0, ran.output
    if form == "json":
        told = {row["metric"]: row for row in json.loads(ran.stdout)["verdicts"]}
        assert told["tpnr"]["robust"] and told["tpnr"]["symmetric"] and not told["accuracy"]["robust"]
    else:
        assert "Robust and symmetric: tpnr" in ran.stdout
