"""The examples that a newcomer is shown first, on small files of the same names: each gives what is written beside it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.exceptions import InputError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files of predictions in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    n = 4_000
    fraud = rng.random(n) < 0.05
    lgbm = np.clip(rng.beta(1, 8, n) + 0.5 * fraud * rng.random(n), 0, 1)
    columns = {
        "is_fraud": fraud.astype(int), "lgbm": lgbm, "lr": np.clip(lgbm + 0.15 * rng.standard_normal(n), 0, 1),
        "country": rng.choice(["DE", "FR", "IT"], n), "amount": rng.integers(1, 900, n) * 1.0, "card": rng.integers(0, 900, n),
        "age": rng.integers(18, 90, n), "site": rng.choice(["north", "south"], n), "id": np.arange(n), "month": rng.choice(["01", "02", "03"], n),
    }  # fmt: skip
    pl.DataFrame(columns).write_parquet("fraud.parquet")
    for month in ("01", "02", "03"):
        pl.DataFrame(columns).filter(pl.col("month") == month).write_parquet(f"{month}.parquet")
    died = rng.random(n) < 0.2
    risk = np.clip(0.2 * rng.random(n) + 0.4 * died * rng.random(n), 0.001, 0.999)
    cohort = {
        "died": died.astype(int),
        "risk": risk,
        "patient": rng.integers(0, 1_500, n),
        "ipw": rng.integers(1, 5, n) / 2,
    }
    pl.DataFrame(cohort).write_csv("cohort.csv")
    tags = {f"y_{name}": rng.integers(0, 2, 300) for name in "abc"}
    tags |= {f"s_{name}": np.round(0.6 * tags[f"y_{name}"] + 0.4 * rng.random(300), 3) for name in "abc"}
    pl.DataFrame(tags).write_parquet("posts.parquet")
    return tmp_path


def test_fraud():
    p = sy.Predictions.read("fraud.parquet", true="is_fraud", score=["lgbm", "lr"], by="country")
    compared = p.compare(use="alerts", capacity="200 of 10000")
    assert any("Choose lgbm" in sentence for sentence in map(str, compared.verdict))
    menu = p["lgbm"].operating_points(cost={"cost_fn": "amount", "cost_fp": 15})
    assert any(0 < point.threshold < 1 for point in menu)


def test_clinical_risk(folder):
    risk = sy.Predictions.read("cohort.csv", true="died", score="risk", cluster="patient", weight="ipw")
    assert risk.with_options(cluster=None).calibration(prevalence="12/400").prevalence == pytest.approx(
        12 / 400, abs=1e-9
    )
    assert len(list(risk.decision_curve(thresholds=[0.05, 0.1, 0.2]))) >= 3
    evaluation = risk.evaluate(use="clinical")
    evaluation.save("report.html")
    assert (folder / "report.html").read_text().startswith("<!")
    with pytest.raises(InputError, match="force"):
        evaluation.save("report.html")


def test_many_classes():
    rng = np.random.default_rng(2)
    y, classes = rng.choice(["ash", "birch", "cedar"], 600), ["ash", "birch", "cedar"]
    proba = rng.dirichlet(np.ones(3), 600)
    proba[np.arange(600), np.searchsorted(classes, y)] += 0.8
    proba /= proba.sum(1, keepdims=True)
    p = sy.Predictions(y, y_score=proba, labels=classes)
    assert len(p.evaluate().per_class) == 3
    decided = p.best_decision("f1[average=macro]", reject=0.05).decide(proba)
    assert len(decided) == 600


def test_tags():
    p = sy.Predictions.read("posts.parquet", true="y_*", score="s_*")
    assert p.kind == "label sets"
    assert p.evaluate().rows == 300
    assert len(p.best_threshold("f1[average=micro]").thresholds) == 3


def test_where_the_data_live():
    t = duckdb.sql("FROM 'fraud.parquet'")
    p = sy.Predictions.read(t, true="is_fraud", score="lgbm", by=["site", "age"], bins={"age": [40, 60]})
    assert len(p.evaluate(metrics=["recall"], draws=40).groups) == 6
    assert len(p.compare_groups(metrics=["recall"], draws=40).differences) == 6
    p.tally().save("march.json")
    assert sy.load("march.json") == p.tally()


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (200,), generator=rng)
    logits = torch.randn(200, 3, generator=rng)
    assert sy.evaluate(labels, y_score=logits.softmax(1), draws=40).rows == 200
    seen = sy.Accumulator(labels=range(3))
    for part in (slice(0, 100), slice(100, 200)):
        seen.update(labels[part], logits[part].argmax(1))
    assert sy.evaluate(seen.result(), metrics=["f1[average=macro]"], draws=40).rows == 200


def test_cross_validation():
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(400, weights=[0.8], random_state=0)
    result = sy.cross_evaluate(
        {"lr": LogisticRegression(), "nb": GaussianNB()}, X, y, split=sy.Folds(5, repeats=2), use="alerts"
    )
    assert result.predictions.models == ("lr", "nb")
    assert result.predictions["nb"].best_threshold("f1").threshold < 1
    assert result.predictions.compare(metrics=["roc_auc"]).models == ("lr", "nb")
    assert result.predictions["nb"].calibration().rows == 800


def test_a_threshold_with_a_guarantee():
    p = sy.Predictions.read("fraud.parquet", true="is_fraud", score="lgbm")
    p.best_threshold("precision", where="recall >= 0.9", confidence=0.95).save("threshold.json")
    limit = sy.load("threshold.json").threshold
    march = sy.Predictions.read("03.parquet", true="is_fraud", score="lgbm")
    held = sy.gate(march, guarantee="threshold.json")
    assert held.passed
    assert march.at(limit).evaluate(draws=40)["recall"].value >= 0.9


def test_comparison():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    s1, s2 = 0.5 * y + rng.random(300), 0.3 * y + rng.random(300)
    compared = sy.compare(y, {"lgbm": s1, "lr": s2}, use="ranking")
    assert any("scores" in sentence for sentence in compared.assumed)
    new, old = sy.evaluate(y, y_score=s1 / 2, threshold=0.5), sy.evaluate(y, y_score=s2 / 2, threshold=0.5)
    new.save("new.json")
    old.save("old.json")
    apart = sy.compare({"new": "new.json", "old": "old.json"}, prevalence=0.01)
    recall = next(row for row in apart if row.metric == "recall")
    assert recall.difference == pytest.approx(new["recall"].value - old["recall"].value)


def test_for_whom_it_fails():
    frame = pl.read_parquet("fraud.parquet")
    p = sy.Predictions(
        frame["is_fraud"], y_score=frame["lgbm"], columns=frame.select("site", "age", "card"), threshold=0.31
    )
    assert p.compare_groups(by="site").tests
    found = p.slices(features=["site", "age"])
    for each in list(found)[:1]:
        assert p.filter(each.slice).errors(first=20, key="card").rows
    assert p.filter("age >= 60").errors(first=20, key="card").errors > 0


def test_no_labels_then_a_few(folder):
    p = sy.Predictions.read("01.parquet", true="is_fraud", score="lgbm", threshold=0.31)
    p.evaluate().save("validation.json")
    new = sy.Predictions.read("03.parquet", score="lgbm", threshold=0.31)
    assert 0 <= new.unlabelled(reference="validation.json").shares[0].value <= 1
    plan = new.label_plan(300, "f1", key="id")
    plan.save("sheet.csv")
    sheet = pl.read_csv("sheet.csv", infer_schema=False)
    truth = dict(pl.read_parquet("03.parquet").select("id", "is_fraud").iter_rows())
    sheet.with_columns(label=pl.Series([str(truth[int(key)]) for key in sheet["id"]])).write_csv("sheet.csv")
    assert 0 <= sy.evaluate("sheet.csv", true="label", design="sheet.csv")["recall"].value <= 1


def test_monitor():
    sy.Predictions.read("01.parquet", true="is_fraud", score="lgbm").evaluate().save("validation.json")
    monitor = sy.Monitor(["recall >= 0.01", "precision >= reference - 0.5"], reference="validation.json")
    for file in (Path("02.parquet"), Path("03.parquet")):
        monitor.update(file, true="is_fraud", score="lgbm", period=file.stem)
    assert not monitor.alarms
    monitor.save("state.json")
    assert sy.load("state.json").result().to_dict() == monitor.result().to_dict()
