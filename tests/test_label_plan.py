"""Label plans: which rows to label, and what their labels show of all rows."""

import csv
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command

from steelyard import (
    Evaluation,
    Predictions,
    SteelyardError,
    best_threshold,
    evaluate,
    interval,
    label_plan,
    sample_size,
)
from steelyard.exceptions import InputError
from steelyard.results import LabelPlan

ROWS, PREVALENCE, APART, THRESHOLD = 20_000, 0.02, 1.8, 0.2


def scored(seed, apart=APART, rows=ROWS):
    """Labels, and calibrated probabilities of two normal distributions."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(rows) < PREVALENCE).astype(int)
    logits = np.log(PREVALENCE / (1 - PREVALENCE)) + APART * (rng.normal(size=rows) + apart * labels) - APART**2 / 2
    return labels, 1 / (1 + np.exp(-logits))


LABELS, SCORES = scored(11)
PLAN = label_plan(SCORES, 600, "f1", threshold=THRESHOLD)
SEEN = LABELS[PLAN.index]


def planned(plan, labels):
    return evaluate(labels, design=plan, metrics=["recall"], draws=20)


# ---------------------------------------------------------------- the plan


def test_a_plan_chooses_so_many_rows_each_once_and_keeps_the_probability_of_each():
    assert len(PLAN) == len({*PLAN.index.tolist()}) == 600
    assert np.array_equal(PLAN.score, SCORES[PLAN.index])
    rows = [stratum.rows for stratum in PLAN.strata]
    assert sum(rows) == ROWS and (1 / PLAN.probability).sum() == pytest.approx(ROWS)
    assert [row.probability for row in PLAN] == PLAN.probability.tolist()


def test_every_stratum_lies_on_one_side_of_the_threshold():
    sides = [{*(PLAN.score[PLAN.stratum == code] >= THRESHOLD).tolist()} for code in range(len(PLAN.strata))]
    assert all(len(side) == 1 for side in sides) and {True} in sides and {False} in sides


def test_four_ninths_of_the_labels_are_drawn_from_all_rows_alike():
    rows, labels = (np.array([getattr(each, name) for each in PLAN.strata]) for name in ("rows", "labels"))
    assert (labels >= 4 / 9 * 600 * rows / ROWS - 1).all()


def test_one_seed_gives_one_plan_and_another_another():
    assert label_plan(SCORES, 600, "f1", threshold=THRESHOLD) == PLAN
    assert label_plan(SCORES, 600, "f1", threshold=THRESHOLD, rng=1) != PLAN


def test_the_default_seed_is_apart_from_that_of_data_simulated_by_seed_0():
    labels, scores = scored(0)
    plan = label_plan(scores, 600, "f1", threshold=THRESHOLD)
    low = plan.index[plan.stratum == 0]
    assert labels[low].mean() < 0.05  # by the same stream the rows with the least numbers, the positives, came first


def test_labels_go_where_the_metric_needs_them():
    precision = label_plan(SCORES, 600, "precision", threshold=THRESHOLD)
    flagged = [(plan.score >= THRESHOLD).sum() for plan in (precision, PLAN)]
    assert flagged[0] > flagged[1]
    assert label_plan(SCORES, 600, "roc_auc").threshold is None


def test_a_plan_is_saved_as_json_and_as_a_sheet_and_read_back(tmp_path):
    assert LabelPlan.from_json(PLAN.to_json()) == PLAN
    path = tmp_path / "plan.csv"
    path.write_text(PLAN.to_csv())
    read = LabelPlan.from_csv(path)
    assert read.to_csv() == PLAN.to_csv()
    assert evaluate(SEEN, design=read)["f1"].value == evaluate(SEEN, design=PLAN)["f1"].value
    assert json.loads(PLAN.to_json())["metric"] == "f1"


def test_a_budget_for_all_rows_labels_them_all_and_equals_the_usual_value():
    labels, scores = scored(3, rows=400)
    plan = label_plan(scores, 1_000, "recall", threshold=0.1)
    assert sorted(plan.index.tolist()) == list(range(400)) and "label them all" in plan.stated[0]
    everything = evaluate(labels, y_score=scores, threshold=0.1)
    assert evaluate(labels[plan.index], design=plan)["recall"].value == pytest.approx(
        everything["recall"].value, abs=0.05
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"budget": 0}, "whole number of 1 or more, not 0"),
        ({"budget": 2.5}, "whole number of 1 or more"),
        ({"y_score": [0.1, np.nan, 0.3]}, "y_score holds nan in row 2"),
        ({"y_score": []}, "no rows to choose from"),
        ({"threshold": 2.0}, "No score reaches the threshold 2"),
        ({"threshold": -1.0}, "All scores reach the threshold -1"),
        ({"y_score": [-1.0, 2.0, 3.0], "threshold": None}, "needs a threshold="),
        ({"metric": "ece"}, "Labels cannot be planned for"),
        ({"metric": "f1[average=macro]"}, "of many classes"),
        ({"prevalence": 2.0}, "A prevalence is a share"),
        ({"key": "id"}, r"There is no column 'id'; columns=\{\.\.\.\} gives columns beside arrays"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(asked, sentence):
    given = {"y_score": SCORES, "budget": 100, "metric": "f1", "threshold": THRESHOLD, **asked}
    with pytest.raises(SteelyardError, match=sentence):
        label_plan(given.pop("y_score"), **given)


def test_scores_that_are_no_probabilities_are_planned_by_rank_and_the_plan_states_it():
    margins = np.log(SCORES / (1 - SCORES))
    plan = label_plan(margins, 300, "f1", threshold=float(np.log(0.25)), prevalence=0.02)
    assert "as if 2 % were positive" in plan.stated[0] and len(plan) == 300


def test_tied_scores_stay_in_one_stratum():
    tied = np.round(SCORES, 1)
    plan = label_plan(tied, 300, "f1", threshold=0.2)
    assert all(len({*plan.stratum[plan.score == score].tolist()}) == 1 for score in np.unique(plan.score))


# ---------------------------------------------------------------- its labels


def test_labels_in_the_plans_order_or_of_all_rows_give_one_evaluation():
    whole = np.full(ROWS, np.nan)
    whole[PLAN.index] = SEEN
    short, long = evaluate(SEEN, design=PLAN), evaluate(whole, y_score=SCORES, design=PLAN)
    assert short["f1"] == long["f1"] and short["roc_auc"] == long["roc_auc"]
    assert short.rows == 600 and short.threshold == THRESHOLD


def test_the_table_is_that_of_all_rows_whose_strata_are_known():
    table = evaluate(SEEN, design=PLAN).confusion
    assert table.matrix.sum() == pytest.approx(ROWS)
    assert table.matrix[:, 1].sum() == pytest.approx((SCORES >= THRESHOLD).sum())


def test_values_are_near_those_of_all_rows_and_intervals_hold_them():
    every, found = evaluate(LABELS, y_score=SCORES, threshold=THRESHOLD), evaluate(SEEN, design=PLAN)
    for name in ("recall", "precision", "f1", "mcc", "ac_score", "roc_auc", "average_precision", "brier"):
        row = found[name]
        assert row.low <= every[name].value <= row.high, name
        assert row.low <= row.value <= row.high and row.method == "plan"


def test_the_mean_of_many_plans_is_the_value_of_all_rows():
    rng, values = np.random.default_rng(2), []
    for _ in range(80):
        plan = label_plan(SCORES, 600, "precision", threshold=THRESHOLD, rng=rng)
        values.append(planned(plan, LABELS[plan.index]).counts)
    truth = evaluate(LABELS, y_score=SCORES, threshold=THRESHOLD).counts
    tp, fn = (np.mean([getattr(each, cell) for each in values]) for cell in ("tp", "fn"))
    assert tp == pytest.approx(truth.tp, rel=0.04) and fn == pytest.approx(truth.fn, rel=0.15)


def test_a_side_without_a_positive_is_not_taken_to_have_none():
    plan = label_plan(SCORES, 200, "recall", threshold=THRESHOLD)
    labels = (plan.score >= THRESHOLD).astype(int)
    recall = interval("recall", labels, design=plan)
    assert recall.value < 1 and recall.high > recall.value > recall.low


def test_an_evaluation_with_cells_that_no_label_is_in_is_saved_shown_and_searched():
    plan = label_plan(SCORES, 100, "f1", threshold=THRESHOLD)
    labels = (plan.score >= np.sort(plan.score)[-3]).astype(int)
    found = evaluate(labels, design=plan)
    assert found.rows == 100 and found.confusion.rows.sum() == 100 and found.confusion.rows[1, 0] == 0
    assert Evaluation.from_json(found.to_json()) == found and found.counts.fn > 0
    assert "3 positives" in repr(found) and len(found.to_html()) > 100_000
    assert found.best_threshold("f1", draws=20).value > 0


def test_gains_are_stated_before_and_after():
    assert PLAN.gain > 2 and "labels at random if the scores are right" in PLAN.headline
    stated = " ".join(evaluate(SEEN, design=PLAN).assumed)
    assert "600 labels show f1 as well as about" in stated and "population that the 20,000 rows came from" in stated


def test_another_threshold_than_the_plans_is_read_by_all_scores_or_by_the_labels():
    whole = np.full(ROWS, np.nan)
    whole[PLAN.index] = SEEN
    by_all = evaluate(whole, y_score=SCORES, threshold=0.1, design=PLAN)
    by_labels = evaluate(SEEN, y_score=PLAN.score, threshold=0.1, design=PLAN)
    truth = evaluate(LABELS, y_score=SCORES, threshold=0.1)["recall"].value
    assert by_all.confusion.matrix[:, 1].sum() == pytest.approx((SCORES >= 0.1).sum(), rel=0.02)
    assert all(each["recall"].low <= truth <= each["recall"].high for each in (by_all, by_labels))


def test_predicted_labels_are_taken_in_place_of_a_threshold():
    predicted = (PLAN.score >= THRESHOLD).astype(int)
    by_label, by_score = evaluate(SEEN, predicted, design=PLAN), evaluate(SEEN, design=PLAN)
    assert by_label.threshold is None and by_label["f1"].value == pytest.approx(by_score["f1"].value, rel=0.02)


def test_missing_labels_and_labels_of_other_rows_are_stated():
    some = SEEN.astype(float)
    some[::10] = np.nan
    assert any("60 of the plan's 600 rows have no label" in each for each in evaluate(some, design=PLAN).assumed)
    assert any("19,400 labels are of rows" in each for each in evaluate(LABELS, design=PLAN).assumed)


def test_strata_without_labels_join_the_next():
    some = SEEN.astype(float)
    some[PLAN.stratum == 1] = np.nan
    found = planned(PLAN, some)
    assert any("1 strata have no label" in each for each in found.assumed)
    assert found.confusion.matrix.sum() == pytest.approx(ROWS)


@pytest.mark.parametrize(
    ("labels", "options", "sentence"),
    [
        (SEEN[:100], {}, "y_true has 100 rows, and the plan chose 600 of 20,000"),
        (np.full(600, np.nan), {}, "None of the 600 rows of the plan has a label"),
        (np.zeros(600, int), {}, "All 600 labels are 0"),
        (SEEN, {"y_score": PLAN.score[::-1]}, "are not those that it was made for"),
        (SEEN, {"sample_weight": np.ones(600)}, "sample_weight= does not go with a label plan"),
        (SEEN, {"prevalence": 0.1}, "prevalence= does not go with a label plan"),
        (SEEN, {"by": SEEN}, "by= does not go with a label plan"),
        (SEEN, {"design": 5}, "design= is 'random', 'stratified' or a plan"),
    ],
)
def test_labels_that_do_not_fit_the_plan_are_refused_in_a_sentence(labels, options, sentence):
    with pytest.raises(SteelyardError, match=sentence):
        evaluate(labels, **{"design": PLAN, **options})


def test_the_plan_of_another_data_set_is_refused():
    other, others = scored(12)
    with pytest.raises(InputError, match="are not those that it was made for"):
        evaluate(other, y_score=others, design=PLAN)


def test_rows_of_a_frame_are_found_by_their_key_in_any_order():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(ROWS)], "p": SCORES, "y": LABELS})
    plan = label_plan(frame, 300, "f1", threshold=THRESHOLD, score="p", key="id")
    chosen = frame[frame["id"].isin(plan.keys)].sample(frac=1, random_state=1)
    found = evaluate(chosen, true="y", score="p", design=plan)
    assert found["f1"] == evaluate(LABELS[plan.index], design=plan)["f1"] and found.columns["score"] == "p"
    assert plan.to_csv().splitlines()[0].startswith("index,id,label,score,stratum")
    with pytest.raises(InputError, match="There is no column 'q'"):
        label_plan(frame, 300, "f1", score="q")


def test_intervals_and_thresholds_take_a_plan():
    by_name = {row.metric: row for row in interval(["f1", "roc_auc"], SEEN, design=PLAN)}
    whole = evaluate(SEEN, design=PLAN)
    assert by_name["f1"].value == whole["f1"].value and by_name["roc_auc"].value == whole["roc_auc"].value
    best = best_threshold(SEEN, metric="f1", design=PLAN, draws=0)
    assert best.value == pytest.approx(best_threshold(LABELS, SCORES, "f1", draws=0).value, abs=0.12)
    with pytest.raises(InputError, match="confidence= does not go with a label plan"):
        best_threshold(SEEN, metric="f1", design=PLAN, confidence=0.95)
    with pytest.raises(InputError, match="needs design="):
        interval("f1", SEEN, SEEN, method="plan")


# ---------------------------------------------------------------- top-ups, useless scores, sizes


def test_a_top_up_keeps_the_rows_and_adds_others():
    more = PLAN.top_up(SCORES, 200, SEEN)
    assert len(more) == len({*more.index.tolist()}) == 800 and np.array_equal(more.index[:600], PLAN.index)
    assert len(more.latest) == 200 and {*more.batch.tolist()} == {1, 2}
    assert np.array_equal(np.bincount(more.stratum), [stratum.labels for stratum in more.strata])
    assert evaluate(LABELS[more.index], design=more).rows == 800
    assert LabelPlan.from_csv(more.to_csv()).batch.max() == 2


def test_a_top_up_carries_the_labels_so_far_and_needs_those_of_its_last_batch_alone():
    more = PLAN.top_up(SCORES, 200, SEEN)
    whole = planned(more, LABELS[more.index]).confusion
    assert more.label == (*SEEN.tolist(), *[None] * 200)
    assert planned(more, LABELS[more.latest]).confusion == whole
    read = LabelPlan.from_csv(more.to_csv())
    assert read.label == more.label == LabelPlan.from_json(more.to_json()).label
    assert planned(read, LABELS[more.latest]).confusion == whole
    third = more.top_up(SCORES, 100, LABELS[more.latest])
    assert third.label[:800] == tuple(LABELS[more.index].tolist()) and len(third.latest) == 100


def test_a_pilot_without_a_positive_is_topped_up_as_it_was_drawn():
    more = PLAN.top_up(SCORES, 300, np.zeros(600, int))
    labels = [np.array([stratum.labels for stratum in plan.strata]) for plan in (PLAN, more)]
    assert np.abs(labels[1] - 1.5 * labels[0]).max() <= 1 and "of one class" in more.stated[-1]


def test_a_mean_of_many_top_ups_is_the_value_of_all_rows():
    rng, found = np.random.default_rng(5), []
    for _ in range(40):
        pilot = label_plan(SCORES, 200, "recall", threshold=THRESHOLD, rng=rng)
        more = pilot.top_up(SCORES, 400, LABELS[pilot.index], rng=rng)
        found.append(planned(more, LABELS[more.latest]).counts)
    truth = evaluate(LABELS, y_score=SCORES, threshold=THRESHOLD).counts
    for cell in ("tp", "fn"):
        values = np.array([getattr(each, cell) for each in found])
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - getattr(truth, cell)) < 3 * error + 0.03 * getattr(truth, cell), cell


def test_a_top_up_of_other_scores_is_refused():
    with pytest.raises(InputError, match="not those that the plan was made for"):
        PLAN.top_up(SCORES[::-1], 200, SEEN)


def test_useless_scores_are_warned_of_and_a_top_up_spreads_more_evenly():
    useless = np.random.default_rng(4).permutation(LABELS)
    plan = label_plan(SCORES, 1_000, "recall", threshold=THRESHOLD)
    warned = [each for each in evaluate(useless[plan.index], design=plan).assumed if "do not show" in each]
    assert len(warned) == 1
    assert not [each for each in evaluate(LABELS[plan.index], design=plan).assumed if "do not show" in each]
    more = plan.top_up(SCORES, 1_000, useless[plan.index])
    rows, labels = (np.array([getattr(each, name) for each in more.strata]) for name in ("rows", "labels"))
    assert (labels >= 0.9 * 2 / 3 * 2_000 * rows / ROWS).all()


def test_scores_that_are_all_equal_are_one_stratum_which_no_warning_calls_useless():
    plan = label_plan(np.repeat(0.3, 300), 100, "roc_auc")
    labels = np.tile([1, 0, 0, 0, 0], 60)[plan.index]
    assert len(plan.strata) == 1
    assert not [each for each in evaluate(labels, design=plan, metrics=["roc_auc"]).assumed if "do not show" in each]


def test_useless_scores_of_two_positives_are_seldom_called_good():
    rng, sharp = np.random.default_rng(6), 0
    for _ in range(300):
        labels = np.zeros(600, int)
        labels[rng.choice(600, 2, replace=False)] = 1
        sharp += not any("not show that the scores find them" in each for each in planned(PLAN, labels).assumed)
    assert sharp <= 30  # 15 are expected, and 30 are four standard errors more


def test_too_few_positives_to_show_anything_are_called_so():
    plan = label_plan(SCORES, 100, "recall", threshold=THRESHOLD)
    labels = np.zeros(100, int)
    labels[np.argmin(plan.score)] = 1
    stated = evaluate(labels, design=plan).assumed[-1]
    assert "one positive found does not show" in stated and "so few could not, whatever their scores" in stated


def test_a_sample_size_states_how_many_labels_a_plan_needs():
    asked = {"at": (0.5, 0.99), "prevalence": 0.02, "width": 0.2, "assurance": None}
    size = sample_size("recall", **asked, like=Predictions(y_score=SCORES, threshold=THRESHOLD))
    assert sample_size("recall", **asked).planned_labels is None
    assert size.planned_labels < size.rows and f"{size.planned_labels:,} labels that label_plan" in repr(size)
    frame = pl.DataFrame({"s": SCORES})
    named = Predictions.read(frame, score="s", threshold=THRESHOLD)
    assert sample_size("recall", **asked, like=named).planned_labels == size.planned_labels


# ---------------------------------------------------------------- the shell


def run(*words, code=0):
    ran = run_command(*words, code=code)
    return ran.output


def test_the_shell_plans_reports_and_tops_up(tmp_path):
    frame, sheet, filled = (
        pl.DataFrame({"id": range(ROWS), "p": SCORES}),
        tmp_path / "plan.csv",
        tmp_path / "filled.csv",
    )
    frame.write_parquet(tmp_path / "new.parquet")
    asked = ("plan", tmp_path / "new.parquet", "--score", "p", "--key", "id")
    run(*asked, "--budget", 300, "--metric", "f1", "--threshold", THRESHOLD, "-o", sheet)
    lines = pl.read_csv(sheet)
    lines.with_columns(label=pl.Series(LABELS[lines["index"].to_numpy()])).write_csv(filled)
    report = run("report", filled, "--true", "label", "--score", "score", "--design", filled, "--format", "json")
    plan = label_plan(frame, 300, "f1", threshold=THRESHOLD, score="p", key="id", rng=0)
    f1 = next(row for row in json.loads(report)["metrics"] if row["name"] == "f1")
    assert f1["value"] == evaluate(LABELS[plan.index], design=plan)["f1"].value
    more = LabelPlan.from_csv(run_command(*asked[:4], "--budget", 100, "--top-up", filled).stdout)
    assert len(more) == 400 and more.label == (*LABELS[plan.index].tolist(), *[None] * 100)
    renamed = pl.read_csv(filled).rename({"label": "checked"})
    renamed.write_csv(filled)
    again = run_command(*asked[:4], "--budget", 100, "--top-up", filled, "--true", "checked").stdout
    assert again.splitlines()[0].startswith("index,id,checked,score") and f",{LABELS[plan.index[0]]}," in again


@pytest.mark.parametrize("written", [[], ["-o", "sheet.csv"], ["-o", "plan.json"], ["--format", "md"]])
def test_the_shell_says_what_a_plan_gains_wherever_it_is_written(tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("p\n" + "\n".join(f"{(i * 37 % 1000) / 1000:.3f}" for i in range(1000)))
    ran = run_command("plan", "rows.csv", "--score", "p", "--budget", "100", "--metric", "f1", *written)
    assert "labels at random" in ran.stderr + (ran.stdout if "md" in written else "")
    assert "labels at random" not in ran.stdout or "md" in written


def test_the_shell_reports_a_plan_in_whole_estimated_rows_and_recommends_only_what_reads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    sheet = Path("sheet.csv")
    sheet.write_text(replace(PLAN, label=tuple(SEEN.tolist())).to_csv())
    shown = run("report", sheet, "--design", sheet)
    assert "Estimated numbers of all rows" in shown and "e+0" not in shown and "20,000" in shown
    assert "as the plan's labels show" in shown and "sample weight" not in shown
    advice = shown.splitlines()[-1]
    assert advice.startswith("  steelyard threshold") and advice.endswith(f"--design {sheet}")
    found = json.loads(run(*shlex.split(advice)[1:], "--metric", "f1", "--format", "json"))
    assert found["threshold"] == best_threshold(SEEN, metric="f1", design=PLAN).threshold
    assert any("600 labels show f1" in sentence for sentence in found["assumed"])
    markdown = run("report", sheet, "--design", sheet, "--format", "md")
    assert "Estimated numbers of all rows" in markdown
    html = run("report", sheet, "--design", sheet, "--format", "html")
    assert "rows, estimated" in html and "by sample weight" not in html


def broken(change):
    """The sheet of the plan, of which the lines after the head were changed."""
    head, *lines = PLAN.to_csv().splitlines()
    return "\n".join(change(head.split(","), [line.split(",") for line in lines])) + "\n"


def joined(head, lines):
    return [",".join(line) for line in (head, *lines)]


def with_cell(name, text):
    def change(head, lines):
        lines[4][head.index(name)] = text
        return joined(head, lines)

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda head, lines: joined(head, lines[:-50]), "rows are missing or were added; give the whole plan"),
        (lambda head, lines: joined(head, [*lines, lines[0]]), "is named twice"),
        (lambda head, lines: joined(head, [x for x in lines if x[3] != "0"]), "lacks the rows of a stratum"),
        (lambda head, lines: joined(head, [x for x in lines if x[3] != "7"]), "strata of this label plan have"),
        (lambda head, lines: joined(head, []), "This label plan has no rows"),
        (lambda head, lines: joined(head[:-1], [x[:-1] for x in lines]), "it lacks the column 'key_column'"),
        (with_cell("probability", ""), "column 'probability' is empty in line 6, not a number above 0 and at most 1"),
        (with_cell("probability", "1.5"), "column 'probability' holds '1.5' in line 6"),
        (with_cell("probability", "0"), "column 'probability' holds '0' in line 6"),
        (with_cell("score", "high"), "column 'score' holds 'high' in line 6, not a number"),
        (with_cell("stratum", "1.5"), "column 'stratum' holds '1.5' in line 6, not a whole number"),
        (with_cell("stratum_rows", "5"), "column 'stratum_rows' differs within a stratum"),
        (with_cell("score", "nan"), "column 'score' holds 'nan' in line 6, not a number"),
        (with_cell("score", "0.9"), "score 0.9 of row .* of this label plan is not in its stratum"),
        (with_cell("metric", "recall"), "column 'metric' differs within the sheet, in line 6"),
        (
            lambda head, lines: joined(head, [[*x[:-3], "0.9", *x[-2:]] for x in lines]),
            "threshold 0.9 of this label plan is not one",
        ),
        (with_cell("label", "maybe"), "A label plan is of two classes, and the labels are"),
    ],
)
def test_a_sheet_that_is_not_whole_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(InputError, match=sentence):
        evaluated_sheet(broken(change))


def changed_json(*path, to, digest=False):
    """The JSON of the plan with one value changed, or left out where it is `...`."""
    data = json.loads(PLAN.to_json())
    held = data
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = to(held[path[-1]]) if callable(to) else to
    return {name: value for name, value in data.items() if value is not ... and (digest or name != "digest")}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (changed_json("threshold", to=float("nan")), "holds NaN, which strict JSON does not"),
        (changed_json("threshold", to="high"), "threshold is 'high', not a number"),
        (changed_json("threshold", to=None), "has no threshold, which f1 needs"),
        (changed_json("threshold", to=0.4), "threshold 0.4 of this label plan is not one that its strata lie on"),
        (changed_json("threshold", to=20.0), "threshold 20 of this label plan is not one"),
        (changed_json("metric", to=5), "metric is 5, not a text"),
        (changed_json("metric", to=...), "lacks the field metric"),
        (changed_json("rows", to="20000"), "rows is '20000', not a whole number"),
        (changed_json("rows", to=10**30), "not a whole number of at most"),
        (changed_json("rows", to=20_001), "have 20,000 of its 20,001 rows"),
        (changed_json("index", 0, to=None), r"index\[0\] is None, not a whole number"),
        (changed_json("index", 0, to=0.5), r"index\[0\] is 0.5, not a whole number"),
        (changed_json("index", 0, to=ROWS), "is named twice, or is none of its 20,000 rows"),
        (changed_json("index", to=[]), "differ in length"),
        (changed_json("score", to=lambda scores: [100 * score for score in scores]), "is not in its stratum"),
        (changed_json("score", to=lambda scores: scores[::-1]), "is not in its stratum"),
        (changed_json("score", to=[None] * 600), "score nan of row [0-9,]+ of this label plan is not in its stratum"),
        (changed_json("score", 0, to="high"), r"score\[0\] is 'high', not a number"),
        (changed_json("stratum", to=lambda codes: [codes[0], *codes[:-1]]), "in stratum|not in its stratum"),
        (changed_json("stratum", 0, to=99), "is of none of its 8 strata"),
        (changed_json("stratum", 0, to=-1), r"stratum\[0\] is -1, not a whole number"),
        (changed_json("batch", 0, to=3), "lacks those of a batch"),
        (changed_json("strata", to=[]), "strata of this label plan cannot be"),
        (changed_json("strata", to=5), "strata is 5, not a list"),
        (changed_json("strata", 0, to=5), r"strata\[0\] is 5, not an object"),
        (changed_json("strata", 0, "rows", to=0), "strata of this label plan cannot be"),
        (changed_json("strata", 0, "labels", to="many"), r"strata\[0\].labels is 'many', not a whole number"),
        (changed_json("strata", 0, "labels", to=10**6), "strata of this label plan cannot be"),
        (changed_json("strata", 0, "labels", to=1), "in stratum 0, of which it chose 1"),
        (changed_json("strata", 0, "expected", to=1.5), "strata of this label plan cannot be"),
        (changed_json("strata", 0, "expected", to=0), "strata of this label plan cannot be"),
        (changed_json("strata", 1, "lowest_score", to=-1.0), "strata of this label plan cannot be"),
        (changed_json("gain", to=-1.0), "gain of this label plan is -1"),
        (changed_json("gain", to="much"), "gain is 'much', not a number"),
        (changed_json("key", to="id"), "keys of this label plan are of no column"),
        (changed_json("keys", to=["a"] * 600), "keys of this label plan are of no column"),
        (changed_json("precision", to="float8"), "precision is 'float8', not one of float16"),
        (changed_json("stated", to=5), "stated is 5, not a list"),
        (changed_json("label", to=5), "label is 5, not a list"),
        (changed_json("label", to=[[1]] * 600), r"label\[0\] is \[1\], not a single value"),
        (changed_json("score_column", to=5), "score_column is 5, not a text"),
        (json.loads(PLAN.to_json()) | {"not_finite": {"/gain/x": "inf"}}, '"not_finite" names no infinite numbers'),
        (changed_json("metric", to="recall", digest=True), "its digest is another one"),
        (changed_json("threshold", to=lambda at: at - 1e-9, digest=True), "its digest is another one"),
        (changed_json("strata", 0, "expected", to=0.01, digest=True), "its digest is another one"),
        (changed_json("gain", to=1.5, digest=True), "its digest is another one"),
        (changed_json("score", 0, to=lambda score: score * (1 + 1e-12), digest=True), "its digest is another one"),
        (changed_json("digest", to=5, digest=True), "its digest is another one"),
    ],
)  # fmt: skip
def test_a_saved_plan_that_was_changed_is_refused_in_a_sentence(changed, sentence):
    assert_refused(lambda: LabelPlan.from_json(json.dumps(changed)), InputError, sentence)


def test_a_saved_plan_without_a_digest_is_read_as_earlier_versions_wrote_it():
    early = {name: value for name, value in json.loads(PLAN.to_json()).items() if name != "digest"}
    assert LabelPlan.from_json(early) == PLAN == LabelPlan.from_json(PLAN.to_json(indent=1))
    frame = pl.DataFrame({"id": [f"c{i}" for i in range(ROWS)], "p": SCORES.astype(np.float32)})
    plan = label_plan(frame, 300, "roc_auc", score="p", key="id").top_up(frame, 20, np.tile([0, 1], 150))
    assert LabelPlan.from_json(plan.to_json()) == plan


def test_keys_that_a_spreadsheet_would_run_are_quoted_in_the_sheet_and_found_again():
    names = np.array(['=HYPERLINK("http://x")', "+49 30", "-a", "@b", "'=quoted", "plain"], dtype=object)
    keys = np.array([f"{names[i % 6]}{i}" for i in range(ROWS)], dtype=object)
    frame = pl.DataFrame({"id": keys, "p": SCORES, "y": LABELS}, schema_overrides={"id": pl.String})
    plan = label_plan(frame, 300, "f1", threshold=THRESHOLD, score="p", key="id")
    sheet = plan.to_csv()
    cells = [line["id"] for line in csv.DictReader(io.StringIO(sheet))]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    read = LabelPlan.from_csv(sheet)
    assert read.keys == plan.keys
    found = evaluate(frame, true="y", score="p", design=read)["f1"]
    filled = pl.read_csv(io.StringIO(sheet)).with_columns(label=pl.Series(LABELS[plan.index]))
    for own in (plan, read):
        assert evaluate(filled, true="label", score="score", design=own)["f1"] == found
    odd = label_plan(frame.rename({"id": "=id"}), 50, "f1", threshold=THRESHOLD, score="p", key="=id")
    assert_refused(odd.to_csv, InputError, "would run the column '=id' as a formula; rename it")
    numbers = label_plan(frame.with_columns(id=-pl.int_range(1, ROWS + 1)), 50, "f1", score="p", key="id")
    assert "'" not in numbers.to_csv() and LabelPlan.from_csv(numbers.to_csv()).keys == numbers.keys


def evaluated_sheet(text):
    """The labels of a sheet, of which some were filled in, after the others were."""
    read = LabelPlan.from_csv(text)
    filled = read.label or [None] * len(read)
    return planned(read, [str(a if b is None else b) for a, b in zip(SEEN, filled, strict=True)])


def test_labels_of_several_kinds_are_negative_only_where_the_positive_one_is_named():
    kinds = np.where(SEEN == 1, "spam", "mail").astype(object)
    kinds[:3] = "draft"
    with pytest.raises(InputError, match="two classes, and the labels are"):
        evaluate(kinds, design=PLAN)
    stated = evaluate(kinds, pos_label="spam", design=PLAN).assumed
    assert any("All labels but 'spam' count as negative" in each for each in stated)


def test_a_key_that_is_named_like_a_column_of_the_sheet_is_refused():
    frame = pl.DataFrame({"rows": range(ROWS), "p": SCORES})
    plan = label_plan(frame, 50, "f1", threshold=THRESHOLD, score="p", key="rows")
    with pytest.raises(InputError, match="has a column 'rows' of its own"):
        plan.to_csv()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--budget", 10, "--metric", "f1"), "name their column with --score"),
        (("--budget", 10, "--score", "p"), "Name the metric that the labels are for with --metric"),
        (("--budget", 10, "--score", "p", "--metric", "f1", "--true", "y"), "--true is of a plan that is topped up"),
        (("--budget", 10, "--score", "p", "--top-up", "none.csv"), "There is no file 'none.csv'"),
    ],
)
def test_the_shell_refuses_a_plan_in_a_sentence(words, sentence, tmp_path):
    pl.DataFrame({"p": SCORES[:50]}).write_csv(tmp_path / "new.csv")
    assert sentence in run("plan", tmp_path / "new.csv", *words, code=2)


# ---------------------------------------------------------------- coverage


def test_intervals_hold_the_truth_in_a_quick_look():
    inside, truth = [], interval("f1", *_of_population())
    for seed in range(60):
        labels, scores = scored(seed + 100, rows=5_000)
        plan = label_plan(scores, 300, "f1", threshold=THRESHOLD)
        found = interval("f1", labels[plan.index], design=plan, draws=500)
        inside.append(found.low <= truth.value <= found.high)
    assert np.mean(inside) > 0.86  # of 60 runs that cover .95, .86 is three standard errors away


def _of_population():
    labels, scores = scored(99, rows=200_000)
    return labels, (scores >= THRESHOLD).astype(int)


def test_a_budget_for_all_rows_is_stated_in_the_headline():
    plan = label_plan(np.linspace(0.01, 0.9, 50), 80, "f1")
    assert plan.headline == "Label all 50 rows for f1 where score >= 0.5: the budget is enough for each of them."
    with pytest.raises(InputError, match=r"No score reaches the threshold 0.95, so all rows are predicted alike"):
        label_plan(np.linspace(0.01, 0.9, 50), 20, "f1", threshold=0.95)
