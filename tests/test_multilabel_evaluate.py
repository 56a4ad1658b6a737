"""Rows of several labels evaluated: from arrays, frames, lists and text to the result and its faces."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import run_command
from jsonschema import validate
from test_multilabel_intervals import drawn

from steelyard import Evaluation, Result, best_threshold, compare, confusion, evaluate, f1
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables import multilabel


@pytest.fixture(scope="module")
def table():
    return drawn()


@pytest.fixture(scope="module")
def frame(table):
    columns = {
        f"{use}_{i}": matrix[:, i] for use, matrix in [("y", table.true), ("p", table.predicted)] for i in range(6)
    }
    columns |= {f"s_{i}": table.scores[:, i] for i in range(6)}
    return pd.DataFrame(
        {**columns, "site": np.where(np.arange(500) % 2, "north", "south"), "patient": np.arange(500) // 5}
    )


@pytest.fixture(scope="module")
def report(table):
    return evaluate(table)


def test_every_average_stands_beside_its_interval_and_baseline(report, table):
    for row in report:
        assert row.low <= row.value <= row.high
        assert row.chance < row.value or row.spec.sign < 0
    assert report["f1[average=macro]"].value == f1(table, average="macro")


def test_each_label_has_its_rows_its_imbalance_and_its_metrics(report, table):
    assert [row.rows for row in report.per_label] == table.true.sum(0).tolist()
    assert [row.predicted for row in report.per_label] == table.predicted.sum(0).tolist()
    assert min(row.imbalance for row in report.per_label) == 1
    assert report.mean_imbalance == pytest.approx(np.mean([row.imbalance for row in report.per_label]))
    assert report.per_label[3].metrics["f1"].value == f1(table, pos_label=3)


def test_the_verdict_counts_whole_rows(report, table):
    right = (table.true == table.predicted).all(1).mean()
    found, missed, false = (
        round(100 * (part.sum(1).mean()))
        for part in (table.true & table.predicted, table.true & ~table.predicted, ~table.true & table.predicted)
    )
    assert report.verdict[0] == (
        f"100 rows like these have {found + missed} labels. The classifier finds {found}, misses {missed} and adds {false} "
        f"false ones; predicting nothing misses all {found + missed}."
    )
    assert report.verdict[1].startswith(f"{100 * right:.0f} of 100 rows have all labels right; ")
    assert report.outcomes.all_right == right


def test_arrays_frames_lists_and_text_give_one_answer(report, table, frame):
    lists = [[[str(i) for i in np.flatnonzero(row)] for row in matrix] for matrix in (table.true, table.predicted)]
    text = pd.DataFrame(
        {name: [";".join(labels) for labels in column] for name, column in zip("tp", lists, strict=True)}
    )
    pairs = [
        pd.DataFrame([(i, label) for i, labels in enumerate(column) for label in labels], columns=["id", "tag"])
        for column in lists
    ]
    given = [
        evaluate(table.true, table.predicted),
        evaluate(*lists),
        evaluate(frame, true="y_*", pred="p_*"),
        evaluate(pl.from_pandas(frame), true=[f"y_{i}" for i in range(6)], pred=[f"p_{i}" for i in range(6)]),
        evaluate(pl.DataFrame({"t": lists[0], "p": lists[1]}), true="t", pred="p"),
        evaluate(pd.DataFrame({"t": lists[0], "p": lists[1]}), true="t", pred="p"),
        evaluate(multilabel(text, true="t", pred="p", label_sep=";")),
        evaluate(multilabel(*pairs, long=("id", "tag"))),
    ]
    for other in given:
        assert other["f1[average=macro]"] == report["f1[average=macro]"]


def test_a_long_frame_of_scores_has_a_line_for_each_row_and_label(table):
    rows, labels = (each.ravel() for each in np.indices(table.true.shape))
    lines = pd.DataFrame({"row": rows, "label": labels, "y": table.true.ravel(), "s": table.scores.ravel()})
    long = multilabel(lines, long=("row", "label"), true="y", score="s")
    assert (
        evaluate(long)["roc_auc[average=macro]"] == evaluate(table.true, y_score=table.scores)["roc_auc[average=macro]"]
    )


def test_scores_alone_are_thresholded_at_a_half_and_it_is_stated(table, frame):
    half = evaluate(frame, true="y_*", score="s_*")
    assert half.threshold == 0.5
    assert half.assumed[0] == "Scores were thresholded at 0.5, those of every label alike."
    assert half["recall[average=micro]"].value > evaluate(table.true, y_score=table.scores, threshold=0.9)["recall[average=micro]"].value  # fmt: skip
    ranked = evaluate(table.true, y_score=np.log(table.scores))
    assert "f1[average=macro]" not in ranked and "need a threshold" in ranked.assumed[0]
    assert "roc_auc" in ranked.per_label[0].metrics


def test_groups_and_clusters_come_by_columns(frame):
    by = evaluate(frame, true="y_*", pred="p_*", by="site", cluster="patient", metrics=["f1[average=macro]"])
    assert [group.label for group in by.groups] == ["site = north", "site = south"]
    assert [row.name for row in by.groups[0].metrics] == ["f1[average=macro]"]
    assert any("clustered" in sentence for sentence in by.assumed)


def test_the_result_has_every_face_and_is_read_back(report):
    saved = report.to_json()
    assert isinstance(report, Evaluation) and Evaluation.from_json(saved) == Result.from_json(saved) == report
    validate(json.loads(saved), type(report).json_schema())
    assert len(report.to_frame()) == len(report.metrics)
    assert "f1\\[average=macro" in report.to_markdown() or "f1[average=macro]" in report.to_markdown()
    assert "label" in report.to_markdown() and "label" in repr(report.per_label)
    assert report.verdict[0] in repr(report).replace("\n", " ")


def test_labels_that_stand_in_for_each_other_are_found():
    rng = np.random.default_rng(0)
    true = (rng.random((400, 5)) < 0.3).astype(int)
    predicted = true.copy()
    swapped = (true[:, 1] == 1) & (true[:, 2] == 0) & (rng.random(400) < 0.6)
    predicted[swapped, 1], predicted[swapped, 2] = 0, 1
    pair = evaluate(true, predicted).pairs[0]
    assert (pair.missed, pair.predicted, pair.rows) == (1, 2, int(swapped.sum()))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda f, t: evaluate(t, metrics=["f1"]), r"is averaged or of one label; ask for f1\[average=macro\]"),
        (lambda f, t: evaluate(t, threshold=0.4), "Predictions and a threshold together contradict"),
        (lambda f, t: evaluate(f, true="y_*", pred="q_*"), "0 columns are named like 'q_\\*'"),
        (
            lambda f, t: evaluate(f, true="y_*", pred=["p_0", "p_1"]),
            "2 models, 'p_0', 'p_1', and one is asked about",
        ),
        (lambda f, t: evaluate(f, true="y_*", score="s_0"), "a column for each label"),
        (lambda f, t: evaluate(t, prevalence=0.2), "have no one prevalence"),
        (lambda f, t: evaluate(t, t.true), "Give either a table or rows"),
        (lambda f, t: multilabel(f, true="site", pred="site"), "name what divides them with label_sep="),
        (lambda f, t: multilabel(f, row="site"), "multilabel takes long= in place of row="),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_one_sentence(ask, words, frame, table):
    with pytest.raises((InputError, InputTypeError), match=words):
        ask(frame, table)


# ---------------------------------------------------------------- the shell and the page


@pytest.fixture(scope="module")
def files(frame, table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("label_sets")
    frame.to_csv(folder / "wide.csv", index=False)
    lists = [[[f"tag {i}" for i in np.flatnonzero(row)] for row in matrix] for matrix in (table.true, table.predicted)]
    pl.DataFrame({"tags": lists[0], "guess": lists[1]}).write_parquet(folder / "lists.parquet")
    text = {name: [";".join(tags) for tags in column] for name, column in zip(("tags", "guess"), lists, strict=True)}
    pd.DataFrame(text).to_csv(folder / "text.csv", index=False)
    return folder


def shell(*arguments):
    result = run_command(*arguments)
    return result.exit_code, result.output


def test_the_shell_reads_patterns_lists_and_divided_text(files, report):
    asked = [
        (files / "wide.csv", "--true", "y_*", "--pred", "p_*"),
        (files / "lists.parquet", "--true", "tags", "--pred", "guess"),
        (files / "text.csv", "--true", "tags", "--pred", "guess", "--label-sep", ";"),
    ]
    for arguments in asked:
        code, output = shell("report", *arguments, "--format", "json")
        assert code == 0
        saved = Evaluation.from_json(output)
        assert saved["f1[average=macro]"].value == report["f1[average=macro]"].value
    assert "Scores were thresholded at 0.5" in shell("report", files / "wide.csv", "--true", "y_*", "--score", "s_*")[1]


def test_the_shell_shows_labels_in_a_hundred_columns_and_reads_its_json_back(files, monkeypatch):
    monkeypatch.chdir(files)  # the next command is shown where it is short enough
    wide = ("wide.csv", "--true", "y_*", "--pred", "p_*")
    code, output = shell("report", *wide, "--by", "site")
    assert code == 0 and max(map(len, output.splitlines())) <= 100
    assert "label  rows" in output and "site = north" in output
    assert "--true 'y_*' --pred 'p_*'" in " ".join(output.replace("\\\n", " ").split())
    assert shell("report", *wide, "--format", "json", "-o", files / "old.json")[0] == 0
    assert "100 rows like these have 242 labels." in shell("report", files / "old.json")[1]
    assert shell("report", *wide, "--format", "md")[1].count("| 0 |") == 1


def test_a_gate_holds_averages_and_labels(files):
    wide = (files / "wide.csv", "--true", "y_*", "--pred", "p_*")
    assert shell("gate", *wide, "--require", "f1[average=macro]>=0.5", "--require", "low(recall[class=3])>=0.5")[0] == 0
    assert shell("gate", *wide, "--require", "f1[average=samples]>=0.99")[0] == 1
    shell("report", *wide, "--format", "json", "-o", files / "before.json")
    against = ("--baseline", files / "before.json")
    assert shell("gate", *wide, "--require", "f1[average=micro]>=baseline-0.01", *against)[0] == 0
    code, output = shell("gate", *wide, *against)
    assert code == 2 and "is of label sets" in output and 'give rules such as "f1' in output


def test_what_the_shell_cannot_read_as_label_sets_is_one_sentence(files):
    code, output = shell("report", files / "wide.csv", "--true", "y_*", "--pred", "p_*", "--pos-label", "1")
    assert code == 2 and "--pos-label is of rows with one label each" in output
    code, output = shell("report", files / "wide.csv", "--true", "y_*")
    assert code == 2 and "Name the predictions with --pred or --score" in output
    code, output = shell("report", files / "wide.csv", "--true", "site", "--pred", "site", "--label-sep", "")
    assert code == 2 and "--label-sep is empty; give the sign between the labels of a row" in output
    wide = (files / "wide.csv", "--true", "y_*", "--pred", "p_*")
    for option, value in (("--hierarchy", "/"), ("--design", "stratified")):
        code, output = shell("report", *wide, option, value)
        assert code == 2 and f"{option} is of rows with one label each" in output


def test_csv_has_a_column_for_what_some_rows_have():
    words = ["report", "--counts", "0,9,0,9", "--metrics", "recall,precision", "--format", "csv"]
    read = pd.read_csv(StringIO(run_command(*words, code=0).stdout))
    assert list(read["name"]) == ["recall", "precision"] and read["undefined"][1] == "no predicted positives"
    assert pd.isna(read["undefined"][0]) and read["value"][0] == 0


@pytest.mark.parametrize("given", [{"pos_label": 1}, {"design": "stratified"}, {"hierarchy": "/"}])
def test_what_is_of_rows_with_one_label_is_refused(given, table):
    with pytest.raises(InputError, match=f"{next(iter(given))}= is of rows with one label each"):
        evaluate(table.true, table.predicted, **given)
    with pytest.raises(InputTypeError, match="exact= is about the scores of a frame"):
        evaluate(table.true, table.predicted, exact=True)


def test_the_title_names_k_and_a_matrix_is_told_where_it_is_taken(table):
    report = evaluate(table.true, y_score=table.scores, metrics=["precision_at_k[k=2]"])
    assert report["precision_at_k[k=2]"].spec.title == "Precision at k (k = 2)"
    with pytest.raises(InputError, match="are taken by evaluate, compare, interval"):
        confusion(table.true, table.predicted)


def test_hostile_and_many_labels_stay_inert_and_small(table):
    names = ["</script><script>alert(1)</script>", "x" * 10_000, "\u202eabc", "<b>", "a", "b"]
    html = evaluate(table.true, table.predicted, labels=names).to_html("tags.csv")
    assert "alert(1)</script>" not in html and "x" * 100 not in html and "https:" not in html
    assert 'data-metric="f1[average=macro]"' in html
    rng = np.random.default_rng(0)
    many = multilabel(*(rng.random((300, 1000)) < 0.05 for _ in range(2)))
    assert len(evaluate(many, metrics=["f1[average=micro]"]).to_html().encode()) < 400_000


def test_a_notebook_shows_the_verdict_and_the_metrics(report):
    html = report._repr_html_()
    assert "100 rows like these have 242 labels." in html and "F1, macro" in html and "<script" not in html


def test_scores_beside_a_frame_stand_in_the_order_of_its_columns(table):
    names = [f"Class{i}" for i in (9, 10, 1, 2, 3, 4)]  # which sorted would be another order
    truth = pd.DataFrame(table.true, columns=names)
    beside = evaluate(truth, y_score=table.scores)
    assert beside.labels == tuple(names)
    named = evaluate(truth, y_score=pd.DataFrame(table.scores, columns=names)[sorted(names)])
    for other in (named, evaluate(table.true, y_score=table.scores)):
        assert other["roc_auc[average=macro]"].value == pytest.approx(beside["roc_auc[average=macro]"].value)


def test_rows_that_are_all_alike_have_intervals():
    report = evaluate(np.tile([1, 1, 0], (20, 1)), np.tile([1, 0, 0], (20, 1)))
    row = report["recall[average=micro]"]
    assert row.value == 0.5 and 0 < row.low < 0.5 < row.high < 1


def test_each_label_may_have_a_threshold_of_its_own(table):
    best = best_threshold(table.true, table.scores, metric="f1[average=macro]")
    by_label = evaluate(table.true, y_score=table.scores, threshold=best.thresholds)
    in_order = evaluate(table.true, y_score=table.scores, threshold=list(best.thresholds.values()))
    of_labels = evaluate(table.true, best.predict(table.scores))
    for found in (by_label, in_order):
        assert found["f1[average=macro]"].value == pytest.approx(of_labels["f1[average=macro]"].value)
        assert found.threshold is None and found.assumed[0] == "Each label was thresholded at a threshold of its own."
    for wrong in ([0.5, 0.5], {"other": 0.5}, "high", [float("nan")] * 6):
        with pytest.raises(InputError, match="threshold= "):
            evaluate(table.true, y_score=table.scores, threshold=wrong)


# ---------------------------------------------------------------- lines, text and thresholds in the shell


@pytest.fixture
def tagged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    true = (rng.random((90, 3)) < 0.35).astype(int)
    scores = np.clip(true * 0.4 + rng.random((90, 3)) * 0.6, 0, 1).round(3)
    wide = pd.DataFrame(true, columns=["y_a", "y_b", "y_c"])
    wide[["p_a", "p_b", "p_c"]] = scores
    wide.to_csv("wide.csv", index=False)
    lines = [
        (row, "abc"[i], true[row, i], scores[row, i], int(scores[row, i] >= 0.5)) for row in range(90) for i in range(3)
    ]
    pd.DataFrame(lines, columns=["id", "tag", "y", "s", "d"]).to_csv("long.csv", index=False)
    texts = {name: [";".join("abc"[i] for i in np.flatnonzero(row)) for row in sets] for name, sets in
             {"tags": true, "m": scores >= 0.5, "n": scores >= 0.7}.items()}  # fmt: skip
    pd.DataFrame(texts).to_csv("text.csv", index=False)
    return true, scores


def shell_json(*words):
    result = run_command(*words, "--format", "json", code=0)
    return json.loads(result.stdout)


def test_a_file_with_a_line_for_each_row_and_label_is_reported(tagged):
    true, scores = tagged
    report = shell_json("report", "long.csv", "--true", "y", "--pred", "d", "--long", "id,tag")
    alone = evaluate(true, (scores >= 0.5).astype(int))
    values = {row["name"]: row["value"] for row in report["metrics"]}
    for name in ("f1[average=macro]", "accuracy"):
        assert values[name] == pytest.approx(alone[name].value)
    shown = run_command("report", "long.csv", "--true", "y", "--pred", "d", "--long", "id,tag")
    assert "--long id,tag -o page.html" in " ".join(shown.stdout.replace("\\\n", " ").split())


def test_each_label_of_a_file_gets_a_threshold(tagged):
    true, scores = tagged
    best = best_threshold(true, scores, "f1[average=macro]", labels=["a", "b", "c"])
    wide = shell_json("threshold", "wide.csv", "--true", "y_*", "--score", "p_*", "--metric", "f1[average=macro]")
    long = shell_json("threshold", "long.csv", "--true", "y", "--score", "s", "--long", "id,tag",
                      "--metric", "f1[average=macro]")  # fmt: skip
    for saved in (wide, long):
        assert Result.from_json(json.dumps(saved)).thresholds == best.thresholds
    shown = run_command("threshold", "wide.csv", "--true", "y_*", "--score", "p_*", "--metric", "f1[average=macro]")
    assert "a threshold for each of 3 labels" in shown.stdout and "out_of_sample" in shown.stdout


def test_texts_of_labels_are_compared(tagged):
    true, scores = tagged
    rows = shell_json("compare", "text.csv", "--true", "tags", "--pred", "m", "--pred", "n", "--label-sep", ";",
                      "--metrics", "hamming_loss")["differences"]  # fmt: skip
    (alone,) = compare(
        true, {"m": (scores >= 0.5).astype(int), "n": (scores >= 0.7).astype(int)}, metrics=["hamming_loss"]
    )
    assert rows[0]["difference"] == pytest.approx(alone.difference)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["report", "long.csv", "--true", "y", "--pred", "d", "--row", "id"], "takes --long ROW,LABEL in place of --row"),
        (["report", "long.csv", "--true", "y", "--pred", "d", "--long", "id,tag", "--by", "id"],
         "--by has no place where a row has several lines"),
        (["threshold", "wide.csv", "--true", "y_*", "--score", "p_*", "--reject", "0.1"], "labels take --metric alone"),
    ],
)  # fmt: skip
def test_what_lines_and_labels_do_not_allow_in_the_shell_is_refused(tagged, words, sentence):
    result = run_command(*words)
    assert result.exit_code == 2 and sentence in result.stderr


def test_signs_that_turn_the_direction_of_text_are_dots_on_pages_and_in_markdown():
    turned = "a\u202eb\u2066c\u200f"
    sets = [[turned], ["plain"], [turned, "plain"], []] * 10
    classes = [labels[0] if labels else "plain" for labels in sets]
    for evaluation in (
        evaluate(sets, sets[1:] + sets[:1]),
        evaluate(classes, classes[1:] + classes[:1], pos_label=turned),
    ):
        for text in (evaluation.to_html(), evaluation._repr_html_(), evaluation.to_markdown()):
            assert not {"\u202e", "\u2066", "\u200f"} & {*text}
        assert "a·b·c·" in evaluation.to_html()


def test_reports_of_long_files_state_that_rows_without_a_line_are_not_counted(tagged):
    asked = ["report", "long.csv", "--long", "id,tag"]
    code, output = shell(*asked, "--true", "y", "--pred", "d")
    assert code == 0 and "Rows without a line are not counted; give a row that has no labels" in output
    code, output = shell(*asked)
    assert code == 2 and "needs two columns of 0 and 1 or scores" in output


def test_sentences_of_the_shell_name_the_missing_label_and_the_column_to_draw(tagged):
    pd.read_csv("wide.csv").drop(columns="p_b").to_csv("lacking.csv", index=False)
    code, output = shell("report", "lacking.csv", "--true", "y_*", "--score", "p_*")
    assert code == 2 and "--score are 2, and those of --true 3; name one for each label, also 'b'." in output
    code, output = shell("plot", "roc", "wide.csv", "--true", "y_*", "--score", "p_*", "-o", "x.svg")
    assert code == 2 and "name the column of the truth of one label" in output and "MultilabelEvaluation" not in output
