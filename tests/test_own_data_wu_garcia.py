"""Wu's and García's experiments on a table of one's own, from the shell to the page, and what they refuse."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from study_tools import Study, published, run_own, table_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table that scikit-learn ships, one made here with text, gaps and predictions, and others that are refused."""
    folder = tmp_path_factory.mktemp("own")
    X, y = load_breast_cancer(return_X_y=True)
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(3)}, "malignant": 1 - y}).write_parquet(folder / "cancer.parquet")
    rng = np.random.default_rng(5)
    ill = rng.random(320) < 0.3
    age = [None if gap else float(x) for gap, x in zip(rng.random(320) < 0.1, rng.normal(ill * 2.0), strict=True)]
    made = {"age": age, "town": np.where(rng.random(320) < 0.4 + 0.3 * ill, "north", "south")}
    made["ill"] = np.where(ill, "yes", "no")
    for i in range(5):
        made[f"s{i}"] = np.clip(0.5 * ill + rng.normal(0.2, 0.1 + 0.08 * i, 320), 0, 1).round(3)
    made |= {"label": np.where(made["s0"] > 0.4, "yes", "no"), "wide": 9 * made["s1"]}
    pl.DataFrame(made).write_csv(folder / "made.csv")
    pl.DataFrame({"one": [1.0] * 60, "ill": ["yes", "no"] * 30}).write_csv(folder / "flat.csv")
    pl.DataFrame({"x": range(60), "ill": ["yes"] * 4 + ["no"] * 56}).write_csv(folder / "few.csv")
    return folder


def shell(folder, name, table, target, *words):
    arguments = ["study", name, "--data", folder / table, "--target", target, *words]
    return run_command(*arguments)


def written(folder, name, table, target, *words):
    out = folder / f"{name}-{table}-{len(words)}"
    result = shell(folder, name, table, target, *words, "-o", out)
    assert result.exit_code == 0, result.output
    return Study.from_json(out / "study.json"), result.output, (out / "page.html").read_text()


def test_wu_on_a_shipped_table_compares_both_at_each_ratio_and_draws_figure_2(folder):
    words = ("--ratios", "3:1", "--repeats", 2)
    study, text, page = written(folder, "wu", "cancer.parquet", "malignant", *words)
    rows = table_of(study, "comparison")
    assert {row["N:P and metric"] for row in rows} == {f"3:1  {short}" for short in published("wu")["metrics"]}
    differences = [row["difference"] for row in rows]
    assert differences == sorted(differences, reverse=True)  # as in Figure 2d to f
    for row in rows:
        assert row["difference"] == pytest.approx(row["nearest mean"] - row["lda"], abs=1e-9)
        assert row["low"] <= row["difference"] <= row["high"]
    control = [row["N:P and model"] for row in table_of(study, "control")]
    assert control == [f"3:1  {m}" for m in ("nearest mean", "lda", "nearest mean + search", "lda + search")]
    assert [p.name for p in study.pictures] == ["projections_3_to_1", "ranking_3_to_1", "control_3_to_1"]
    assert "At N:P = 3:1 by AC-score" in text and "with the same search for a threshold" in " ".join(text.split())
    assert "--ratios 3:1 --repeats 2" in page and "<h2>Claims" not in page


def test_wu_on_a_made_table_takes_text_gaps_and_any_model(folder):
    frame = pl.read_csv(folder / "made.csv")
    study = run_own("wu", frame, "ill", model=["tree"], ratios=["1:1", "1:2"], repeats=2)
    rows = {row["N:P and metric"]: row for row in table_of(study, "comparison")}
    assert len(rows) == 24 and "tree" in rows["1:1  AC-score"] and rows["1:1  AC-score"]["nearest mean"] > 0.7
    assert "'yes' by convention" in repr(study) and "at both ratios by" in " ".join(repr(study).split())
    places = [sorted(row[f"place at {ratio}"] for row in table_of(study, "stability")) for ratio in ("1:1", "1:2")]
    assert [len(ordered) for ordered in places] == [12, 12]
    assert all(place == ordered.index(place) + 1 for ordered in places for place in ordered)  # equal ones share a place


def test_garcia_on_a_shipped_table_distorts_scores_of_rows_left_out(folder):
    words = ("--positives", "0.1,0.3", "--quick")
    study, text, page = written(folder, "garcia", "cancer.parquet", "malignant", *words)
    rows = {row["positives and metric"]: row for row in table_of(study, "correlations")}
    assert len(rows) == 26 and rows["10 %  Acc"]["specificity"] > 0.9
    assert rows["10 %  TPr"]["recall"] == 1 and abs(rows["10 %  TPr"]["specificity"]) < 1
    square = {row["metric"]: row for row in table_of(study, "pearson_1")}
    assert square["Acc"]["TNr"] == square["TNr"]["Acc"] == rows["10 %  Acc"]["specificity"]
    ranks = {row["metric"]: row for row in table_of(study, "rank_2")}
    assert ranks["F1"]["TPr"] == rows["30 %  F1"]["recall, rank"]
    table = {row["metric"]: row for row in table_of(study, "invariance")}
    assert table["Acc"]["p1: classes exchanged"] == "stays" and table["TPr"]["p2: TN"] == "stays"
    assert table["TPr"]["p5: FN"].startswith("−")
    assert [p.name for p in study.pictures] == ["pearson_1", "rank_1", "pearson_2", "rank_2"]
    assert "of 5 seeds" in " ".join(text.split()) and "5 folds" in page


def test_wu_says_why_a_metric_favours_no_model(folder):
    frame, dummy = pl.read_csv(folder / "made.csv").drop("town"), "sklearn.dummy:DummyClassifier"  # which flags no row
    study = run_own("wu", frame, "ill", model=[dummy], ratios=["3:1"], repeats=2)
    favoured = {row["metric"]: row["favours at 3:1"] for row in table_of(study, "stability")}
    assert favoured["precision (P)"] == f"– ({dummy}: no predicted positives)"
    assert favoured["sensitivity"] == "nearest mean"


def test_garcia_over_the_models_of_a_made_table_needs_no_features(folder):
    frame = pl.read_csv(folder / "made.csv")
    study = run_own("garcia", frame.drop("age", "town"), "ill", score=[f"s{i}" for i in range(5)])
    areas = [roc_auc_score(frame["ill"] == "yes", frame[f"s{i}"]) for i in range(5)]
    recalls = [(frame.filter(pl.col("ill") == "yes")[f"s{i}"] >= 0.5).mean() for i in range(5)]
    rows = {row["metric"]: row for row in table_of(study, "correlations")}
    assert rows["roc_auc"]["recall"] == pytest.approx(np.corrcoef(areas, recalls)[0, 1], abs=0.001)
    low, high = (float(end.replace("−", "-")) for end in rows["roc_auc"]["recall, left out"].split(" to "))
    assert low <= rows["roc_auc"]["recall"] + 0.006 and high >= rows["roc_auc"]["recall"] - 0.006
    assert study.headline.startswith("Over 5 models") and "0.88" in study.headline


def test_the_verb_follows_the_number_of_metrics(folder):
    frame = pl.read_csv(folder / "made.csv").drop("age", "town")

    def headline(models, metrics):
        return run_own("garcia", frame, "ill", score=[f"s{i}" for i in range(models)], metrics=metrics).headline

    assert "2 metrics (F1 and kappa) follow recall" in headline(5, ["f1", "kappa"])
    assert "1 metric (F1) follows recall" in headline(5, ["f1"])
    assert {"1 metric (F1) correlates", "no metric correlates"} == {
        *re.findall(r"(?:1|no) metric(?: \(F1\))? \w+", headline(1, ["f1"]))
    }


def test_garcia_judges_conclusions_on_the_metrics_asked_for(folder):
    asked = shell(folder, "garcia", "made.csv", "ill", "--score", "s0", "--metrics", "f1", "--quick")
    words = " ".join(asked.output.split())
    assert "conclusion 3, that F1 follows specificity more than recall, holds" in words
    assert "conclusion 1" not in words and "IBA" not in words
    other = shell(folder, "garcia", "made.csv", "ill", "--score", "s0", "--metrics", "mcc", "--quick")
    assert "leave --metrics out to try his conclusions." in " ".join(other.output.split())


REFUSED = {
    "a ratio that cannot be drawn": (("wu", "made.csv", "ill", "--ratios", "200:1"), "At N:P = 200:1 the data's"),
    "too few positives": (("wu", "few.csv", "ill"), "4 positives and 56 negatives leave"),
    "constant features": (("wu", "flat.csv", "ill", "--ratios", "1:1"), "Every feature holds one value only"),
    "predictions for wu": (("wu", "made.csv", "ill", "--score", "s0"), "name one with --model"),
    "two models for wu": (("wu", "made.csv", "ill", "--model", "tree", "--model", "lda"), "compared with one model"),
    "a ratio that is none": (("wu", "made.csv", "ill", "--ratios", "1"), "A ratio is N:P"),
    "scores that are none": (("garcia", "made.csv", "ill", "--score", "wide"), "lie outside 0 to 1"),
    "labels of one model": (("garcia", "made.csv", "ill", "--pred", "label"), "cannot be distorted"),
    "two models": (("garcia", "made.csv", "ill", "--score", "s0", "--score", "s1"), "2 models are too few"),
    "a share that cannot be drawn": (("garcia", "made.csv", "ill", "--score", "s0", "--positives", "0.999"), "99.9 % positives"),
    "a share that is none": (("garcia", "made.csv", "ill", "--score", "s0", "--positives", "few"), "such as 0.05,0.1, not 'few'"),
    "a threshold that is none": (("garcia", "made.csv", "ill", "--threshold", "7"), "from 0 to 1, or prior, not '7'"),
    "too few rows for folds": (("garcia", "few.csv", "ill"), "One class has 4 rows"),
    "an area of distorted scores": (("garcia", "made.csv", "ill", "--score", "s0", "--metrics", "roc_auc"), "reads the order of scores"),
    "an option of the other": (("garcia", "made.csv", "ill", "--ratios", "1:1"), "ratios"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_run_is_refused_in_one_sentence(folder, case):
    words, sentence = REFUSED[case]
    result = shell(folder, *words)
    assert result.exit_code == 2, result.output
    assert sentence in " ".join(result.output.split()) and "Traceback" not in result.output


def test_scores_that_never_reach_a_half_are_read_at_the_prior(folder):
    frame = pl.read_csv(folder / "made.csv").select("ill", low=pl.col("s0") / 3)
    study = run_own("garcia", frame, "ill", score=["low"], quick=True)
    assert study.choices["threshold"] == "prior" and "by design" in study.summary[1]
    at_half = run_own("garcia", frame, "ill", score=["low"], threshold="0.5", quick=True)
    assert "try the threshold prior" in at_half.summary[1]  # distorted positives pass it, and recall rises
