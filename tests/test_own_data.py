"""A paper's experiment on a table of one's own: how the table is read, what is refused, and the studies end to end."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command
from sklearn.datasets import load_breast_cancer
from study_tools import Study, own_table, run_own, study_files, table_of

from steelyard import Result, slices
from steelyard.results import CrossEvaluation
from steelyard.studies import ratio_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables: one that scikit-learn ships, and one made here with text, gaps, an identifier and predictions."""
    folder = tmp_path_factory.mktemp("own")
    X, y = load_breast_cancer(return_X_y=True)
    columns = {f"x{i}": X[:, i] for i in range(6)}
    pl.DataFrame({**columns, "malignant": 1 - y}).write_parquet(folder / "cancer.parquet")
    rng = np.random.default_rng(3)
    fraud, colour = rng.random(400) < 0.2, rng.choice(["red", "blue"], 400)
    size = [None if gap else float(x) for gap, x in zip(rng.random(400) < 0.05, rng.normal(fraud * 1.5), strict=True)]
    made = {"row": [f"r{i}" for i in range(400)], "size": size, "colour": colour}
    score = np.clip(0.3 * fraud + 0.7 * rng.random(400), 0, 1).round(3)
    made |= {"kind": np.where(fraud, "fraud", "fine"), "score": score}
    made |= {"gaps": [None if i == 3 else "fraud" for i in range(400)]}
    made |= {"pred": np.where(score > 0.5, "fraud", "fine"), "three": rng.choice(["a", "b", "c"], 400)}
    pl.DataFrame(made).write_csv(folder / "made.csv")
    pl.DataFrame(made).head(5).write_csv(folder / "few.csv")
    pl.DataFrame({"size": range(30), "kind": ["fine"] * 30}).write_csv(folder / "constant.csv")
    return folder


def shell(*words):
    return run_command("study", *words)


def written(folder, name, table, target, *words):
    """The study that the shell wrote."""
    out = folder / f"{name}-{table}-{len(words)}"
    result = shell(name, "--data", folder / table, "--target", target, *words, "-o", out)
    assert result.exit_code == 0, result.output
    return Study.from_json(out / "study.json"), result.output, (out / "page.html").read_text()


def test_a_table_is_read_into_features_labels_and_predictions(folder):
    table = own_table(pl.read_csv(folder / "made.csv"), "kind", pred=["pred"], score=["score"], pos_label="fraud")
    assert table.X.shape == (400, 4) and table.words.tolist() == [False, True, True, True]
    assert np.isnan(table.X[:, 0]).any() and list(table.preds) == ["pred"] and table.positive == "fraud"
    assert table.notes[0].startswith("The column 'row' was left out")
    assert table.choices()["features"].endswith("3 of text (one column for each word)")
    model = table.prepared("sklearn.naive_bayes:GaussianNB").fit(table.X, table.two_class_y)
    assert set(model.predict(table.X)) == {0, 1}


def test_numbers_stay_numbers_however_what_is_missing_is_spelled(tmp_path):
    (tmp_path / "gaps.csv").write_text(
        "age,size,note,y\n" + "41,NA,n/a,yes\n  ,2.5,x,no\nnull,3,y,no\n52,NaN,NA,yes\n" * 10
    )
    study, _, _ = written(tmp_path, "nguyen", "gaps.csv", "y", "--model", "tree", "--repeats", 2)
    assert re.fullmatch(r"2 of numbers .*, 1 of text .*", study.choices["features"])
    said = "Values are missing in 'age' (20 rows), 'size' (20 rows) and 'note' (20 rows): numbers take the median of"
    assert said in " ".join(study.summary)


def gapped(folder, cell, others=None):
    """A file of forty rows whose column of numbers holds this cell in row 8, and perhaps other numbers elsewhere."""
    rows = [f"{(others or '{}.5').format(i)};{'north' if i % 3 else 'south'};{i % 2}" for i in range(40)]
    rows[7] = f"{cell};south;1"
    (folder / "cells.csv").write_text("\n".join(["size;town;y", *rows]) + "\n")
    return "cells.csv"


@pytest.mark.parametrize("cell", ["?", " ? ", "NA", ""])
def test_a_question_mark_is_a_missing_value_as_na_is(tmp_path, cell):
    study, _, _ = written(tmp_path, "nguyen", gapped(tmp_path, cell), "y", "--model", "tree", "--repeats", 2)
    assert study.choices["features"].startswith("1 of numbers ")
    assert "Values are missing in 'size' (1 row): numbers take" in " ".join(study.summary)


def test_blanks_around_a_number_leave_it_a_number(tmp_path):
    study, _, _ = written(tmp_path, "nguyen", gapped(tmp_path, " 7.5 "), "y", "--model", "tree", "--repeats", 2)
    assert study.choices["features"].startswith("1 of numbers ") and "missing" not in " ".join(study.summary)


def of_file(command, path):
    """The command line with its table."""
    return [*command, path] if command[0] == "crossval" else [*command, "--data", path]


OWN_COMMANDS = [["study", "kalita"], ["study", "asawa"], ["crossval"], ["crossval", "--select-tree"], ["resampling"]]


@pytest.mark.parametrize("command", OWN_COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("cell", "others", "words"),
    [
        ("oops", None, "The column 'size' holds 'oops' in row 8; a number was expected. Mend the cell or"),
        ("7.5", "{},25", "The column 'size' holds '0,25' in row 1, a number with a decimal comma; write numbers with"),
    ],
)
def test_a_cell_that_would_turn_numbers_into_text_is_refused_by_its_row(tmp_path, command, cell, others, words):
    refused = run_command(*of_file(command, tmp_path / gapped(tmp_path, cell, others)), "--target", "y")
    assert refused.exit_code == 2 and words in refused.output


def test_text_of_which_fewer_cells_are_numbers_stays_text():
    y = [0, 1] * 20
    codes = {"V{}": 5, "{}": 35}  # such as codes of diagnoses, an eighth of them with a letter
    table = {"code": [text.format(i % 9) for text, rows in codes.items() for i in range(rows)]}
    assert own_table({**table, "y": y}, "y").words.tolist() == [True]
    assert own_table({"code": ["1", "2"] * 20, "y": y}, "y").words.tolist() == [True]  # text of a frame, not of a file
    table["code"][1:5] = table["code"][5:9]
    assert_refused(lambda: own_table({**table, "y": y}, "y"), TypeError, "'code' holds 'V0' in row 1; a number was")


@pytest.mark.parametrize(
    ("study", "option", "cell", "words"),
    [
        (
            "asawa",
            "--pred",
            "maybe",
            "The column 'p' holds 'maybe' in row 8, which is none of the classes of the truth, 0, 1;",
        ),
        ("garcia", "--pred", "2", "The column 'p' holds 2 in row 8, which is none of the classes of the truth, 0, 1;"),
        ("nguyen", "--pred", "maybe", "holds 'maybe' in row 8, which is none of the classes of the truth, 0, 1;"),
        (
            "asawa",
            "--score",
            "high",
            "The column 'p' holds 'high' in row 8; a number was expected. Mend the cell, drop",
        ),
        (
            "garcia",
            "--score",
            "NA",
            "The column 'p' holds nothing in row 8; a score is a finite number. Drop such rows",
        ),
        ("asawa", "--score", "", "The column 'p' holds nothing in row 8; a score is a finite number. Drop such rows"),
        ("asawa", "--score", "inf", "The column 'p' holds inf in row 8; a score is a finite number. Drop such rows"),
    ],
)
def test_a_wrong_prediction_is_refused_by_its_column_and_row(tmp_path, study, option, cell, words):
    rows = [f"{i % 2},{(i + i // 7) % 2}" for i in range(40)]
    rows[7] = f"1,{cell}"
    (tmp_path / "preds.csv").write_text("\n".join(["y,p", *rows]) + "\n")
    asked = ["study", study, "--data", str(tmp_path / "preds.csv"), "--target", "y", option, "p"]
    refused = run_command(*asked)
    assert refused.exit_code == 2 and words in refused.output


def test_predictions_of_another_kind_than_the_truth_are_named_as_such():
    y = np.array([0, 1] * 20)
    words = "holds text such as '0' and the truth numbers such as 0; give both the same labels"
    assert_refused(lambda: ratio_study(y.astype(str), None, y), TypeError, words)
    words = "holds numbers such as 0 and the truth text such as '0'; give both the same labels"
    assert_refused(lambda: ratio_study(y, None, y.astype(str)), TypeError, words)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["study", "nguyen", "--target", "size"],
            "The column 'size' to predict holds 0.5: the target is continuous; turn",
        ),
        (
            ["resampling", "--target", "size"],
            "The column 'size' to predict holds 0.5: the target is continuous; turn it",
        ),
        (
            ["crossval", "--target", "size"],
            "The target holds 0.5: the target is continuous; turn it into classes first",
        ),
        (["resampling", "--target", "y", "--margin", "-1"], "steelyard: --margin is 0 or more, not -1.0."),
        (["resampling", "--target", "y", "--samplers", ""], "steelyard: --samplers is empty; name one"),
    ],
)
def test_a_continuous_target_and_wrong_options_are_refused_in_words_of_the_shell(tmp_path, command, words):
    refused = run_command(*of_file(command, tmp_path / gapped(tmp_path, "7.5")))
    assert refused.exit_code == 2 and words in refused.output


def test_missing_text_is_a_word_of_its_own_and_the_note_names_the_columns(tmp_path):
    (tmp_path / "gaps.csv").write_text("age,town,y\n" + "41,NA,yes\n,north,no\n30,n/a,no\n52,,yes\n50,NA,yes\n" * 10)
    table = own_table(pl.read_csv(tmp_path / "gaps.csv", null_values=["NA", "n/a"]), "y")
    model = table.prepared("tree").fit(table.X, table.two_class_y)
    assert model[0].transform(table.X).shape == (50, 3)  # age, north, and missing
    sentence = (
        "Values are missing in 'town' (40 rows) and 'age' (10 rows): numbers take the median of the training rows, and "
        "missing text is a word of its own."
    )
    assert table.notes[0] == sentence
    words = ["crossval", str(tmp_path / "gaps.csv"), "--target"]
    assert sentence in " ".join(run_command(*words, "y", "--split", "2").output.split())
    for command in (
        words,
        ["study", "kalita", "--data", *words[1:]],
        ["resampling", "--data", *words[1:]],
        [*words[:-1], "--select-tree", "--target"],
    ):
        refused = run_command(*command, "town", code=2)
        assert (
            "The column 'town' to predict holds missing labels in 40 of 50 rows (in a file an empty cell, NA"
            in refused.output
        )


def test_nguyen_on_a_shipped_table_moves_precision_and_the_factor_holds_it(folder):
    words = ("--model", "naive-bayes", "--repeats", 4, "--ratios", "1:4,4:1")
    study, text, page = written(folder, "nguyen", "cancer.parquet", "malignant", *words)
    rows = {row["metric"]: row for row in table_of(study, "spread")}
    assert rows["precision"]["spread by weights"] > 0.05 and rows["alpha_precision"]["spread by weights"] == 0
    assert rows["recall"]["4:1"] == pytest.approx(rows["recall"]["1:4"], abs=0.1)
    sets = table_of(study, "test_sets")
    assert [row["positives"] + row["negatives"] for row in sets] == [sets[0]["positives"] + sets[0]["negatives"]] * 2
    assert sets[0]["negatives"] == pytest.approx(4 * sets[0]["positives"], abs=4)
    end = " --target malignant --model naive-bayes --ratios 1:4,4:1 --repeats 4 --seed 0"
    assert study_files.shell_command(study).endswith(end)
    assert (
        "alpha_precision" in text
        and "Claims:" not in text
        and "<h2>Claims" not in page
        and "<figcaption>naive-bayes" in page
    )
    assert len(list(study)) == 8 and json.loads(study.to_json())["own"]["target"] == "malignant"


def test_nguyen_on_given_predictions_draws_the_rows_alone(folder):
    words = ("--pred", "pred", "--pos-label", "fraud", "--repeats", 3)
    study, _, page = written(folder, "nguyen", "made.csv", "kind", *words)
    assert table_of(study, "spread")[0]["model"] == "pred"
    assert study.choices["positive class"] == "'fraud'" and "--pos-label fraud" in page


@pytest.mark.parametrize(
    ("table", "target", "words", "sentence"),
    [
        ("made.csv", "knd", (), "There is no column 'knd' to predict. Did you mean 'kind'?"),
        ("made.csv", "three", (), "is not clear from the labels 'a', 'b', 'c'"),
        ("made.csv", "kind", (), "not clear from the labels 'fine', 'fraud'; name it with --pos-label"),
        ("made.csv", "kind", ("--pos-label", "frod"), "'frod' does not occur"),
        ("made.csv", "kind", ("--pos-label", "fraud", "--ratios", "1:999,1:1"), "The ratio 1:999 cannot be drawn"),
        ("made.csv", "kind", ("--pos-label", "fraud", "--ratios", "half,1:1"), "A ratio is positives:negatives"),
        (
            "made.csv",
            "kind",
            ("--pos-label", "fraud", "--model", "tre"),
            "No model is called 'tre'. Did you mean 'tree'",
        ),
        ("made.csv", "kind", ("--pos-label", "fraud", "--model", "math:floor"), "cannot be made without arguments"),
        ("made.csv", "gaps", (), "The column 'gaps' to predict holds missing labels"),
        (
            "made.csv",
            "kind",
            ("--pos-label", "fraud", "--repeats", 0),
            "--repeats is a whole number of 1 or more, not 0",
        ),
        ("made.csv", "kind", ("--pos-label", "fraud", "--pred", "gaps"), "The prediction 'gaps' holds missing labels"),
        (
            "made.csv",
            "kind",
            ("--pos-label", "fraud", "--score", "colour"),
            "The column 'colour' holds 'blue' in row 1; a number was",
        ),
        ("made.csv", "kind", ("--pos-label", "fraud", "--tolerance", 1), "has no option 'tolerance'"),
        ("constant.csv", "kind", (), "The column 'kind' to predict holds one class only, 'fine'"),
        ("few.csv", "kind", (), "The table has 5 rows; an experiment needs 20 or more."),
        (".", "kind", (), "--data-dir is the papers' folder"),
        ("made.csv", "kind", ("--overlap",), "are about the papers' data"),
    ],
)
def test_what_cannot_be_studied_is_one_sentence(folder, table, target, words, sentence):
    result = shell("nguyen", "--data", folder / table, "--target", target, *words)
    assert result.exit_code == 2 and sentence in result.output.replace("\n", " ")
    assert len(result.output.strip().splitlines()) <= 2


def test_options_of_a_table_without_one_are_refused(folder):
    assert "--target is about a table of your own" in shell("nguyen", "--target", "y").output
    assert "name the column to predict with --target" in shell("nguyen", "--data", folder / "made.csv").output
    assert_refused(lambda: own_table({"a": [0, 1] * 20}, "a", model=["tree"]), ValueError, "no column to predict from")


def test_asawa_on_refitted_models_tries_every_metric_and_states_what_the_audit_knows(folder):
    words = ("--model", "tree", "--model", "naive-bayes", "--repeats", 2)
    study, text, page = written(folder, "asawa", "cancer.parquet", "malignant", *words)
    rows = {row["metric"]: row for row in table_of(study, "verdicts")}
    assert len(rows) > 50 and {"roc_auc", "average_precision", "brier", "mcc", "tpnr"} <= set(rows)
    assert rows["recall"]["balanced"] == rows["roc_auc"]["balanced"] == 0
    assert rows["recall"]["robust"] == "yes, proved for all tables" and rows["recall"]["symmetric"] == "no"
    assert rows["accuracy"]["splits robust"].endswith("of 2") and rows["precision"]["robust"] == "no"
    general = {row["robust"] for row in rows.values()}
    assert "within tolerance here, refuted in general" in general
    assert "Within tolerance here, refuted in general:" in " ".join(text.split())
    assert "top_k_accuracy" not in rows  # the best two of two classes: 1 for every model
    assert page.count("<figure") == 2 and {row["model"] for row in table_of(study, "changes")} > {"tree, repeat 1"}


def test_asawas_headline_counts_what_its_table_says(folder):
    words = ("--model", "logistic", "--repeats", 2, "--tolerance", 0.05, "--seed", 1)
    study, _, _ = written(folder, "asawa", "cancer.parquet", "malignant", *words)
    rows = table_of(study, "verdicts")
    both = [(row["metric"], row["robust"], row["symmetric"]) for row in rows]
    stand = [row for row in both if all(word.startswith(("yes", "within")) for word in row[1:])]
    proved = [name for name, *verdicts in stand if all(word.startswith("yes") for word in verdicts)]
    refuted = [name for name, *verdicts in stand if any(word.endswith("refuted in general") for word in verdicts)]
    undecided = [name for name, *_ in stand if name not in (*proved, *refuted)]
    assert "roc_auc" in undecided and "tpnr" in proved and refuted
    head = study.summary[0]
    assert head.startswith(f"{len(proved)} of {len(rows)} metrics stand both tests, by proof (in the paper ")
    assert f"; {len(undecided)} more within tolerance here, not decided in general (in the paper roc_auc)" in head
    assert f"; {len(refuted)} more within tolerance here, refuted in general" in head
    assert all(name in study.summary[1] for name, *_ in stand)


def test_asawas_headline_names_metrics_that_only_refitted_models_move():
    x = np.repeat(np.arange(30), 20)  # leaves with as many rows of both classes, which a tree gives to the first one
    y = np.where(x < 10, np.arange(600) % 2, (x > 24).astype(int))
    study = run_own("asawa", {"x": x, "y": y}, "y", model=["tree"], repeats=3)
    rows = [row for row in table_of(study, "verdicts") if "proved" in row["robust"]]
    moved = [row["metric"] for row in rows if row["symmetric"].startswith("no: the refitted model")]
    assert "tpnr" in moved
    words = "more are proved to, and move here because the models fitted on swapped labels differ"
    assert f"; {len(moved)} {words}" in study.summary[0]


def test_what_rounding_leaves_of_a_zero_is_a_zero(folder):
    rng = np.random.default_rng(0)
    useless = {"x": np.zeros(300), "y": (rng.random(300) < 0.1).astype(int)}  # a model of these has Gini 0
    study = run_own("asawa", useless, "y", model=["tree"], repeats=4)
    cells = [row[name] for row in table_of(study, "changes") for name in ("value", "balanced", "swapped")]
    assert not [cell for cell in cells if cell is not None and 0 < abs(cell) < 1e-12]


def test_asawa_on_predictions_takes_labels_and_scores_of_one_model_together(folder):
    words = ("--pred", "pred", "--score", "score", "--pos-label", "fraud", "--tolerance", 0.05)
    study, _, page = written(folder, "asawa", "made.csv", "kind", *words)
    rows = {row["metric"]: row for row in table_of(study, "verdicts")}
    assert rows["roc_auc"]["balanced"] == rows["roc_auc"]["swapped"] == 0 and rows["brier"]["swapped"] == 0
    assert rows["average_precision"]["robust"] == "no" and study.own["tolerance"] == 0.05
    assert {row["model"] for row in table_of(study, "changes")} == {"score"}
    assert 'id="roc"' in page and 'id="balanced"' in page
    refused = shell(
        "asawa", "--data", folder / "made.csv", "--target", "kind", "--pos-label", "fraud", "--pred", "gaps"
    )
    assert "The column 'gaps' holds missing labels" in " ".join(refused.output.split())
    refused = shell("asawa", "--data", folder / "made.csv", "--target", "three", "--pos-label", "a")
    assert "holds 3 classes and this study needs two" in " ".join(refused.output.split())


def test_kalita_on_a_table_of_three_classes_gives_every_step_on_one_page(folder):
    words = ("--model", "tree", "--repeats", 1, "--folds", 3)
    study, text, page = written(folder, "kalita", "made.csv", "three", *words)
    names = [table.name for table in study.tables]
    assert names == ["folds", "holdout", "differences", "classes", "four_things", "selection"]
    assert [row["model"] for row in table_of(study, "folds")] == [
        "tree",
        *(f"tree + {way}" for way in ("over", "under", "class_weight")),
    ]
    sizes = [(row["k"], row["trained"], row["tested"]) for row in table_of(study, "holdout")]
    assert sizes[0] == (2, 267, 133) and sizes[-1] == (9, 360, 40) and len(sizes) == 8
    assert [row["class"] for row in table_of(study, "classes")] == ["a", "b", "c", "macro", "class shares"]
    assert all(row["peak memory, bytes"] > 0 and row["nodes"] > 1 for row in table_of(study, "four_things"))
    chosen, best = table_of(study, "selection")
    assert chosen["nodes"] <= best["nodes"] and 0 <= chosen["mean F on unseen rows"] <= 1
    assert page.count("<figure") == 3 and "rows that no choice has seen" in text
    refused = shell("kalita", "--data", folder / "made.csv", "--target", "kind", "--pred", "pred")
    assert "name them with --model, no predictions" in " ".join(refused.output.split())


def crossval(folder, *words):
    table = [str(folder / "cancer.parquet"), "--target", "malignant", "--model", "tree"]
    return run_command("crossval", *table, *words)


def test_crossval_holds_out_parts_of_every_size_and_shows_each_class(folder):
    result = crossval(folder, "--split", "holdout:2-4x2", "--metrics", "mcc", "--format", "json")
    rows = Result.from_json(result.output).to_dicts()
    assert [(row["k"], row["trained"], row["tested"]) for row in rows] == [(2, 379, 190), (3, 427, 142), (4, 455, 114)]
    assert {row["metric"] for row in rows} == {"mcc"} and all(
        row["worst"] <= row["mean"] <= row["best"] for row in rows
    )
    text = crossval(folder, "--split", "holdout:4x2").output
    assert "2 runs of tree on 569 rows, 455 trained on and 114 tested" in " ".join(text.split())
    assert "class shares" in text


def test_crossval_of_several_models_shows_and_ranks_by_what_was_asked_for(folder):
    two = ("--model", "logistic", "--split", 3, "--metrics", "specificity,mcc,roc_auc")
    text = crossval(folder, *two).output
    head = " ".join(line for line in text.splitlines() if line.startswith("model"))  # how wide times are is the clock's
    asked = ("mean specificity", "mean mcc", "mean roc_auc")
    assert [head.index(words) for words in asked] == sorted(head.index(words) for words in asked)
    assert "ac_score" not in text and "f1" not in text and "\nRanked by specificity.\n" in text
    result = CrossEvaluation.from_json(crossval(folder, *two, "--format", "json").output)
    values = {name: model.values("specificity").mean() for name, model in result.models.items()}
    assert [row.model for row in result.ranking()] == sorted(values, key=values.get, reverse=True)
    assert {row.metric for row in result.differences()} == {"specificity", "mcc", "roc_auc"}
    page = crossval(folder, *two, "--format", "html").output
    assert "Ranked by specificity" in page and "AC-score" not in page[page.index("Ranked by") :].partition("</p>")[0]


@pytest.mark.parametrize("name", ["nguyen", "asawa", "kalita", "wu", "garcia"])
def test_one_of_a_kind_has_no_plural(folder, name):
    words = ("--data", folder / "cancer.parquet", "--target", "malignant", "--repeats", 2 if name == "wu" else 1)
    study = shell(name, *words, *(("--ratios", "1:1,1:2") if name in ("nguyen", "wu") else ()))
    assert study.exit_code == 0, study.output
    text = " ".join(study.output.split())
    refused = shell(name, *words[:-1], 1 if name == "wu" else 0)
    assert refused.exit_code == 2 and "--repeats is a whole number of" in refused.output
    assert re.search(r"\b1 (tables|figures|draws|splits|seeds|repetitions|times|runs|rows)\b", text) is None


def test_what_leaves_the_shell_names_options_of_the_shell(folder):
    frame = pl.read_csv(folder / "made.csv").select(
        "size", "score", ill=pl.col("kind").replace({"fraud": "yes", "fine": "no"})
    )
    frame.write_csv(folder / "ill.csv")
    table, target = str(folder / "ill.csv"), ["--target", "ill"]
    made = ["--data", table, *target]
    runs = {
        "study": ["study", "nguyen", *made, "--quick"],
        "crossval": ["crossval", table, *target, "--split", "2"],
        "sizes": ["crossval", table, *target, "--split", "holdout:2-3x2"],
        "tree": ["crossval", table, *target, "--select-tree", "--split", "holdout:2x2"],
        "page": ["crossval", table, *target, "--split", "2", "--format", "html"],
        "resampling": ["resampling", *made, "--samplers", "over", "--folds", "2", "--repeats", "1"],
    }
    for name, words in runs.items():
        result = run_command(*words)
        text = " ".join(result.output.split()).replace("&#39;", "'")
        assert "The positive class is 'yes' by convention; --pos-label no would take the other one." in text, name
        assert "pos_label" not in text.partition("<script")[0], name


def test_crossval_chooses_a_tree_and_refuses_what_contradicts(folder):
    text = " ".join(crossval(folder, "--select-tree", "--split", "holdout:2x3").output.split())
    assert "Of 3 fits and" in text and "rows that no choice has seen" in text
    for words, sentence in (
        (("--split", "holdout:9-2"), "for each size from 2 to 9, not 'holdout:9-2'"),
        (("--split", "2-9"), "for each size from 2 to 9, not '2-9'"),
        (("--select-tree", "--resources"), "leave out --resources"),
        (("--select-tree", "--model", "forest"), "chooses among decision trees by one metric"),
    ):
        refused = crossval(folder, *words)
        assert refused.exit_code == 2 and sentence in " ".join(refused.output.split())


FEATURES_OF = {  # commands that make features of all other columns, and the words of their formats
    "crossval": ["crossval", "--target", "y", "--split", "2", "--model", "tree"],
    "holdouts": ["crossval", "--target", "y", "--split", "holdout:2-3x2", "--model", "tree"],
    "select-tree": ["crossval", "--target", "y", "--select-tree"],
    "resampling": ["resampling", "--target", "y", "--folds", "2", "--repeats", "1", "--data"],
    "slices": ["slices", "--true", "y", "--pred", "p"],
}
LEFT_OUT = "was left out: it is the index of a pandas frame"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A frame of pandas with a named index, saved as Parquet under a name that does not say so, and as CSV unnamed."""
    pd = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("indexed")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)  # the rows are in the order of their labels, which an index would give away
    rows = pd.DataFrame({"size": rng.normal(size=200), "p": y & rng.integers(0, 2, 200), "y": y})
    rows.set_index(np.arange(200) ** 2).rename_axis("case").to_parquet(folder / "rows.data")
    rows.to_csv(folder / "rows.csv")
    rows.set_index(np.arange(200) ** 2).to_parquet(folder / "unnamed.parquet")
    return folder


@pytest.mark.parametrize("kind", ["table", "json", "html"])
@pytest.mark.parametrize("command", FEATURES_OF)
def test_every_output_lists_the_features_and_the_index_that_was_left_out(indexed, command, kind):
    for file, name in (("rows.data", "case"), ("rows.csv", ""), ("unnamed.parquet", "__index_level_0__")):
        asked = [*FEATURES_OF[command], str(indexed / file), "--format", kind]
        result = run_command(*asked, columns="100000", code=0)
        text = " ".join(result.stdout.replace("&#39;", "'").replace("&#x27;", "'").split())
        assert f"The column {name!r} {LEFT_OUT}" in text
        assert "The features are" in text and "size" in text
        assert "'case' and" not in text and "case," not in text


def test_a_study_of_own_rows_lists_the_features_and_the_index_that_was_left_out(indexed):
    study, shown, page = written(indexed, "nguyen", "rows.data", "y", "--model", "tree", "--repeats", 2)
    for text in (" ".join(study.summary), " ".join(shown.split()), page.replace("&#39;", "'")):
        assert f"The column 'case' {LEFT_OUT}" in text and "The features are 'size' and 'p'." in text


def test_a_column_that_is_named_is_kept_even_if_it_is_called_as_an_index():
    rows = {"size": np.arange(40) % 7, "Unnamed: 0": np.repeat([0, 1], 20), "": np.repeat([1, 0], 20)}
    table = own_table(rows, "Unnamed: 0", pred=[""])
    assert table.y.sum() == 20 and list(table.preds) == [""] and table.notes[-1] == "The features are 'size'."
    assert not [note for note in table.notes if LEFT_OUT in note]


def test_slices_of_an_arrow_table_leave_the_index_of_pandas_out(indexed):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = pq.read_table(pa.OSFile(str(indexed / "rows.data")))
    found = slices(rows, true="y", pred="p")
    assert found.features == ("size",) and f"The column 'case' {LEFT_OUT}" in " ".join(repr(found).split())
    assert slices(rows, true="y", pred="p", features=["case"]).features == ("case",)
