"""`steelyard watch`: files and rows as they come, a state that is gone on with, a page and JSON after each batch."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import run_command

import steelyard
from steelyard import Monitor, Result

RULE = "recall >= 0.8"


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Eight days in files, of which the last four are bad; and the predictions and the labels of each apart."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for day in range(1, 9):
        truth = rng.random(300) < 0.1
        predicted = np.where(truth, rng.random(300) < (0.92 if day < 5 else 0.45), rng.random(300) < 0.04)
        key = [f"{day}-{row}" for row in range(300)]
        frame = pl.DataFrame({"id": key, "y_true": truth.astype(int), "y_pred": predicted.astype(int)})
        frame.write_csv(f"day{day}.csv")
        frame.select("id", "y_pred").write_csv(f"p{day}.csv")
        frame.select("id", "y_true").write_csv(f"late{day}.csv")
    Path("far.csv").write_text("y_true,score\n1,3\n0,-1\n")
    return tmp_path


def run(*words, code=0, stdin=None):
    return run_command("watch", *words, input=stdin, code=code)


def test_a_reference_states_its_limits_and_delays_first_and_an_alarm_that_stands_exits_with_1_or_0(days):
    steelyard.evaluate(steelyard.Counts(tp=270, fn=30, fp=110, tn=2_590)).save("release.json")
    words = ("--require", "recall >= reference - 0.05", "--reference", "release.json", "--state", "s.json")
    first = run("day[1-4].csv", *words)
    assert "The limit of recall is 8" in first.stderr and "Recall falling from 90.0 % to 7" in first.stderr
    second = run("day*.csv", *words, code=1)
    assert "The limit of recall" not in second.stderr
    assert "(last 3 batches); ALARM" in second.stdout
    run("day*.csv", *words, code=1)  # it stands, though no batch is new
    assert run("day*.csv", *words, "--exit-zero").stdout.startswith("No batch was read. ALARM")


def test_files_are_batches_and_a_later_run_goes_on_with_the_new_ones(days):
    outputs = ("--state", "s.json", "--page", "m.html", "--json", "m.json")
    first = run("day[1-4].csv", "--require", RULE, *outputs)
    assert [line.partition(":")[0] for line in first.stdout.splitlines()] == [f"day{n}.csv" for n in range(1, 5)]
    assert "no alarm" in first.stdout
    second = run("day*.csv", "--require", RULE, *outputs, "--stop", code=1)
    lines = second.stdout.splitlines()
    assert lines[0].startswith("day5.csv") and f"ALARM {RULE}" in lines[-1] and len(lines) < 4
    whole = Monitor(RULE)
    for n in range(1, 5 + len(lines)):
        whole.update(pl.read_csv(f"day{n}.csv"), true="y_true", pred="y_pred", period=f"day{n}.csv")
    assert Result.from_json(Path("m.json")) == whole.result()
    page = Path("m.html").read_text()
    assert whole.result().headline.replace(">", "&gt;") in page and "https:" not in page
    again = run("day*.csv", "--require", RULE, *outputs, "--stop", code=1).stdout  # the alarm stays
    assert again.startswith("No batch was read. ALARM") and len(again.splitlines()) == 1
    assert not [path for path in days.iterdir() if path.suffix not in (".csv", ".json", ".html")]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_rows_of_the_standard_input_are_batches_of_so_many(days, form):
    frame = pl.concat([pl.read_csv(f"day{n}.csv") for n in range(1, 9)])
    text = frame.write_csv() if form == "csv" else frame.write_ndjson()
    ran = run("-", "--require", RULE, "--batch-rows", 500, "--stop", code=1, stdin=text)
    assert ran.stdout.splitlines()[0].startswith("rows to 500: 500 labelled rows so far")
    assert "ALARM" in ran.stdout.splitlines()[-1]


def test_labels_that_come_later_join_by_key(days):
    ran = run("p1.csv", "p2.csv", "late1.csv", "p3.csv", "late2.csv", "late2.csv", "--key", "id", "--true", "y_true",
              "--pred", "y_pred", "--require", RULE, "--json", "m.json")  # fmt: skip
    assert "late1.csv: labels: 300 joined, 300 still awaited" in ran.stderr
    result = Result.from_json(Path("m.json"))
    assert result.waiting == 300 and result.rows.tolist() == [300, 300]
    mature = run("p1.csv", "late1.csv", "p2.csv", "p3.csv", "--key", "id", "--true", "y_true", "--pred", "y_pred",
                 "--require", RULE, "--mature", 2, "--json", "m.json", "--force")  # fmt: skip
    assert "p2.csv: 0 labelled rows" in mature.stdout and "p3.csv: 300 labelled rows" in mature.stdout


def test_scores_take_one_half_and_the_reference_is_read_there(days):
    frame = pl.read_csv("day1.csv").with_columns(p=0.05 + 0.5 * pl.col("y_pred"), site=pl.Series(["a", "b"] * 150))
    frame.drop("y_pred").write_csv("scores.csv")
    pl.read_csv("day2.csv").with_columns(p=0.05 + 0.5 * pl.col("y_pred")).drop("y_pred").write_csv("more.csv")
    old = steelyard.evaluate(frame, true="y_true", score="p", threshold=0.01)
    Path("old.json").write_text(old.to_json())
    words = ("--true", "y_true", "--score", "p", "--require", "recall >= reference", "--reference", "old.json")
    ran = run("scores.csv", *words, "--state", "s.json", "--json", "m.json")
    half = "Scores were thresholded at 0.5; steelyard threshold compares it with others."
    assert ran.stderr == f"scores.csv: {half}\n" and half in Path("m.json").read_text()
    at = steelyard.evaluate(frame, true="y_true", score="p", threshold=0.5)
    expected = Monitor("recall >= reference", reference=at).result().tracks[0].limit
    assert Result.from_json(Path("m.json")).tracks[0].limit == expected < 0.9
    assert "more.csv: 600 labelled" in run("scores.csv", "more.csv", *words, "--state", "s.json").stdout
    without = steelyard.Evaluation.from_json({**old.to_dict(), "scores": None}).to_json()
    Path("old.json").write_text(without)
    refused = run("scores.csv", *words, code=2).stderr
    assert "thresholded at 0.01 and the monitor at 0.5, and its scores are not there" in refused
    assert len(refused.splitlines()) == 1


def test_a_label_that_contradicts_an_earlier_one_is_named(days):
    Path("other.csv").write_text(
        "id,y_true\n" + "".join(f"{key},{1 - label}\n" for key, label in pl.read_csv("late1.csv").rows()[:2])
    )
    words = ("--key", "id", "--true", "y_true", "--pred", "y_pred", "--require", RULE, "--mature", 1)
    ran = run("p1.csv", "late1.csv", "other.csv", "p2.csv", "p3.csv", *words, "--json", "m.json")
    sentence = "2 labels contradict an earlier one of the same key ('1-0', '1-1'), and the first counts: find out which"
    assert f"other.csv: labels: 0 joined; {sentence}" in ran.stderr
    assert sentence in Path("m.json").read_text() and "mature=" not in ran.stderr + Path("m.json").read_text()
    assert Result.from_json(Path("m.json")).rows.tolist() == [300]


def test_a_reference_costs_and_groups_are_options(days):
    frame = pl.read_csv("day1.csv")
    Path("old.json").write_text(steelyard.evaluate(frame["y_true"], frame["y_pred"]).to_json())
    frame.with_columns(cost=pl.lit(2.0), site=pl.Series(["a", "b"] * 150)).write_csv("costs.csv")
    ran = run("costs.csv", "--require", "mcc >= reference - 0.1", "--require", "cost <= 1", "--reference", "old.json",
              "--cost", "cost", "--cost-between", "0,10", "--by", "site", "--json", "m.json", code=1)  # fmt: skip
    assert "ALARM cost <= 1" in ran.stdout
    assert {track.group for track in Result.from_json(Path("m.json"))} == {None, "a", "b"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("day1.csv", "--require", "recall"), "cannot be read"),
        (("--require", RULE), "No input was named"),
        (("none*.csv", "--require", RULE), "No file fits"),
        (("day1.csv", "--require", RULE, "--json", "day2.csv"), "exists and was kept"),
        (("day1.csv", "--require", RULE, "--state", "day2.csv"), "no state"),
        (("day1.csv", "--require", RULE, "--reference", "day2.csv"), "neither a report nor a tally"),
        (("day1.csv", "--require", RULE, "--key", "id"), "With --key the columns are named"),
        (("day1.csv", "-", "--require", RULE), "two inputs"),
        (("day1.csv", "--require", "recall >= reference"), "A rule speaks of a reference; give it as --reference."),
        (("day1.csv", "--require", "cost <= 1"), "--cost-between 0,500 need each other"),
        (("day1.csv", "--require", RULE, "--mature", 0), "--mature is an age"),
        (
            ("far.csv", "--require", RULE),
            "Scores such as 3 are no probabilities and need a threshold to be predictions; give --threshold.",
        ),
        (("day1.csv", "--require", "cost <= 1", "--cost-between", "5"), "two numbers"),
        (("day1.csv", "--require", RULE, "--by", "id", "--by", "y_pred"), "give --by once"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_one_sentence(days, words, sentence):
    ran = run(*words, code=2)
    assert sentence in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_a_state_of_other_rules_is_refused(days):
    run("day1.csv", "--require", RULE, "--state", "s.json")
    assert "other rules" in run("day*.csv", "--require", "recall >= 0.7", "--state", "s.json", code=2).stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--true", "y_pred", "--pred", "y_true"), "read with --true y_true, --pred y_pred; give the same columns"),
        (("--pred", "id"), "read with --pred y_pred; give the same columns"),
        (("--true", "y_true", "--pred", "y_pred", "--key", "id"), "read with no --key"),
        (("--pos-label", "0"), "is of the positive class 1, not '0'"),
        (("--threshold", "0.3"), "other rules or options"),
        (("--by", "id"), "other rules or options"),
        (("--level", "0.9"), "other rules or options"),
    ],
)
def test_a_state_of_other_columns_is_refused_and_stays(days, words, sentence):
    run("day1.csv", "--require", RULE, "--state", "s.json")
    before = Path("s.json").read_bytes()
    refused = run("day*.csv", "--require", RULE, "--state", "s.json", *words, code=2).stderr
    assert sentence in refused and len(refused.splitlines()) == 1
    assert Path("s.json").read_bytes() == before


def test_rows_that_were_read_before_are_refused_under_another_name(days):
    frame = pl.read_csv("day1.csv")
    Path("copy.csv").write_bytes(Path("day1.csv").read_bytes())
    frame.reverse().with_columns(p=pl.col("y_pred") * 0.5 + pl.arange(300) / 1000).write_csv("scored.csv")
    pl.read_csv("scored.csv").sample(fraction=1, shuffle=True, seed=1).write_parquet("shuffled.parquet")
    frame.write_parquet("day1.parquet")
    run("day1.csv", "--require", RULE, "--state", "s.json")
    run("scored.csv", "--require", RULE, "--true", "y_true", "--score", "p", "--state", "p.json")
    for name, state, words in (
        ("copy.csv", "s.json", ()),
        ("day1.parquet", "s.json", ()),
        ("shuffled.parquet", "p.json", ("--true", "y_true", "--score", "p")),
    ):
        before = Path(state).read_bytes()
        refused = run(name, "--require", RULE, *words, "--state", state, code=2).stderr
        assert "already; leave" in refused and len(refused.splitlines()) == 1
        assert Path(state).read_bytes() == before
    for name in ("p1.csv", "late1.csv"):
        Path(f"copy-{name}").write_bytes(Path(name).read_bytes())
    keyed = ("--key", "id", "--true", "y_true", "--pred", "y_pred", "--require", RULE)
    assert "already; leave" in run("p1.csv", "late1.csv", "copy-p1.csv", *keyed, code=2).stderr


def test_small_files_may_look_alike_and_files_of_one_name_lie_in_several_folders(days):
    for name in ("quiet1.csv", "quiet2.csv"):
        Path(name).write_text("y_true,y_pred\n" + "0,0\n" * 3 + "1,1\n")
    assert "8 labelled rows" in run("quiet*.csv", "--require", RULE).stdout
    for n in (1, 2):
        Path(f"week{n}").mkdir()
        Path(f"week{n}/preds.csv").write_bytes(Path(f"day{n}.csv").read_bytes())
    ran = run("week*/preds.csv", "--require", RULE, "--state", "s.json")
    assert "600 labelled rows" in ran.stdout
    names = [batch["name"] for batch in json.loads(Path("s.json").read_text())["monitor"]["batches"]]
    assert names == ["preds.csv", str(Path("week2/preds.csv"))]


@pytest.mark.parametrize("option", ["--page", "--json"])
def test_a_state_replaces_what_was_written_for_it_and_nothing_else(days, option):
    words = ("--require", RULE, "--state", "s.json", option)
    run("day1.csv", *words, "mine")
    run("day1.csv", "--require", RULE, "--state", "other.json", option, "others")
    state = Path("s.json").read_bytes()
    for name in ("day8.csv", "others", "other.json"):
        before = Path(name).read_bytes()
        assert "exists and was kept" in run("day2.csv", *words, name, code=2).stderr
        assert Path(name).read_bytes() == before and Path("s.json").read_bytes() == state
    first = Path("mine").read_bytes()
    run("day2.csv", *words, "mine")
    assert Path("mine").read_bytes() != first
    Path("mine").write_bytes(first)  # as a kill leaves it after the state was written
    run("day3.csv", *words, "mine")
    Path("mine").unlink()
    run("day4.csv", *words, "mine")
    Path("mine").write_text("notes")
    refused = run("day5.csv", *words, "mine", code=2).stderr
    assert "'mine' was changed since it was written for this state and was kept" in refused
    assert len(refused.splitlines()) == 1 and Path("mine").read_text() == "notes"
    run("day5.csv", *words, "mine", "--force", code=1)
    run("day6.csv", *words, "mine", code=1)
    assert len(json.loads(Path("s.json").read_text())["seen"]) == 6


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        (("--state", "s", "--page", "s"), "--state and --page both name 's'; give each a file of its own."),
        (("--state", "s", "--json", "./s"), "--state and --json both name './s'; give each"),
        (("--page", "p", "--json", "link"), "--page and --json both name 'link'; give each"),
        (("--page", "day1.csv", "--force"), "'day1.csv' is an input as well"),
        (("--json", "old.json", "--reference", "old.json", "--force"), "'old.json' is an input as well"),
        (("--state", "day1.csv"), "'day1.csv' is an input as well"),
    ],
)
def test_no_file_has_two_uses(days, outputs, sentence):
    Path("link").symlink_to("p")
    Path("old.json").write_text(steelyard.evaluate(steelyard.Counts(tp=43, fn=7, fp=38, tn=912)).to_json())
    before = {path.name: path.exists() and path.read_bytes() for path in days.iterdir()}
    for _ in range(2):  # a second run has no state to go on with either
        assert sentence in run("day[12].csv", "--require", RULE, *outputs, code=2).stderr
    assert {path.name: path.exists() and path.read_bytes() for path in days.iterdir()} == before


def test_the_exit_code_says_whether_an_alarm_stands(days):
    words = ("--require", RULE, "--state", "s.json")
    run("day[1-4].csv", *words)
    ran = run("day*.csv", *words, code=1)
    assert len(ran.stdout.splitlines()) == 4 and "ALARM" in ran.stdout
    assert run("day*.csv", *words, code=1).stdout.startswith("No batch was read. ALARM")


def test_a_watch_state_that_was_changed_is_refused_in_one_sentence(days):
    run("day1.csv", "--require", RULE, "--state", "s.json")
    state = json.loads(Path("s.json").read_text())
    for whole in (True, False):
        kept = state if whole else {name: part for name, part in state.items() if name != "digest"}
        for name, wrong in itertools.product(kept, (None, "x", 5, [1], {"a": 1}, [None], True)):
            Path("s.json").write_text(json.dumps({**kept, name: wrong}))
            refused = run("day1.csv", "--require", RULE, "--state", "s.json", code=2).stderr
            assert len(refused.splitlines()) == 1
    for text in ("", "[]", "3", json.dumps(state)[:-40]):
        Path("s.json").write_text(text)
        assert len(run("day1.csv", "--require", RULE, "--state", "s.json", code=2).stderr.splitlines()) == 1


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_an_interrupted_watch_leaves_a_state_that_is_gone_on_with(days):
    words = ["watch", "day*.csv", "--require", "recall >= 0.1", "--state", "s.json", "--follow", "0.05"]
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard.cli", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for _ in range(8):
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert len(json.loads(Path("s.json").read_text())["seen"]) == 8
    assert run("day*.csv", "--require", "recall >= 0.1", "--state", "s.json").stdout.startswith("No batch was read. No")


@pytest.mark.parametrize("cell", ["nan", "", "inf"])
def test_a_score_that_is_no_number_is_refused_and_the_state_stays(days, cell):
    Path("good.csv").write_text("id,y,p\n1,1,0.9\n2,0,0.1\n")
    Path("bad.csv").write_text(f"id,y,p\n3,1,{cell}\n4,0,0.1\n")
    words = ("--true", "y", "--score", "p", "--threshold", 0.2, "--require", RULE)
    for keys in ((), ("--key", "id")):
        state = f"s{len(keys)}.json"
        run("good.csv", *words, *keys, "--state", state)
        before = Path(state).read_text()
        refused = run("good.csv", "bad.csv", *words, *keys, "--state", state, code=2)
        assert "The column 'p' holds scores that are not numbers: 1 " in refused.stderr
        assert len(refused.stderr.splitlines()) == 1 and Path(state).read_text() == before


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_with_keys_a_blank_label_is_awaited_and_without_them_it_is_refused(days, form):
    frame = pl.DataFrame({"id": list("abcd"), "yhat": [1, 0, 1, 0], "y": [1, None, None, 0]})
    blank = frame.with_columns(y=pl.lit(None, pl.Int64)).select("id", "y")
    for name, part in (("kb", frame), ("blank", blank), ("rest", frame[1:3].with_columns(y=1).select("id", "y"))):
        getattr(part, f"write_{form}")(f"{name}.{form}")
    words = ("--true", "y", "--pred", "yhat", "--require", "recall >= 0.5")
    files = (f"kb.{form}", f"blank.{form}", f"rest.{form}")
    ran = run(*files, *words, "--key", "id", "--json", "m.json")
    assert f"kb.{form}: labels: 2 joined, 2 still awaited" in ran.stderr
    assert f"blank.{form}: no label in the column 'y' yet." in ran.stderr
    assert Result.from_json(Path("m.json")).rows.tolist() == [2, 2]
    assert len(run(files[0], *words, code=2).stderr.splitlines()) == 1


def test_files_of_labels_may_come_before_those_of_predictions(days):
    words = ("--key", "id", "--true", "y_true", "--pred", "y_pred", "--require", RULE)
    run("late1.csv", *words, "--state", "s.json")
    run("late1.csv", "p1.csv", *words, "--state", "s.json", "--json", "m.json")
    assert Result.from_json(Path("m.json")).rows.tolist() == [300]


def test_a_file_is_read_once_however_its_path_is_spelled_and_a_changed_one_is_named(days):
    words = ("--require", RULE, "--state", "s.json")
    run("day1.csv", "./day1.csv", *words)
    again = run(days / "day1.csv", f"../{days.name}/day1.csv", *words)
    assert again.stdout == "No batch was read. No alarm after 1 batch, 300 labelled rows.\n" and not again.stderr
    Path("day1.csv").write_text(Path("day2.csv").read_text())
    changed = run("day1.csv", *words)
    assert "day1.csv was read before and has changed since" in changed.stderr and "1 batch, 300" in changed.stdout


def test_two_models_are_compared_by_all_files_so_far_as_often_as_one_likes(days):
    for n in (1, 2):
        frame = pl.read_csv(f"day{n}.csv").with_columns(other=pl.col("y_true") * (pl.arange(300) % 2))
        frame.write_csv(f"both{n}.csv")
    words = ["compare", "both*.csv", "--true", "y_true", "--pred", "y_pred", "--pred", "other", "--anytime"]
    ran = run_command(*words, "--metrics", "recall,mcc", "--format", "json")
    frames = [pl.read_csv(f"both{n}.csv") for n in (1, 2)]
    table = sum(steelyard.tables.paired(frame["y_true"], frame["y_pred"], frame["other"]) for frame in frames)
    expected = steelyard.compare(table, ["y_pred", "other"], metrics=["recall", "mcc"], method="anytime")
    found = Result.from_json(ran.stdout)
    assert found.rows == expected.rows and expected.rows[0].p_value < 0.01
    assert any("Each interval holds at all looks" in sentence for sentence in found.assumed) and not ran.stderr
    for extra, sentence in ((["--weight", "id"], "--weight has no place in"), (["--margin", "0.1"], "--margin has no")):
        refused = run_command(*words, *extra)
        assert refused.exit_code == 2 and sentence in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_a_misspelt_class_a_third_label_and_repeated_headers_are_stated(days):
    rows = ["fraud,fraud", *["ok,ok"] * 20, "fraud,ok"]
    Path("a.csv").write_text("\n".join(["truth,flag", *rows]))
    Path("b.csv").write_text("\n".join(["truth,flag", *rows, "pending,ok", "Fraud,fraud"]))
    words = ("--true", "truth", "--pred", "flag", "--require", "recall >= 0.7", "--pos-label")
    refused = run("a.csv", *words, "Fraud", code=2).stderr
    assert "The positive class 'Fraud' does not occur; there are 'fraud', 'ok'. Did you mean 'fraud'?" in refused
    ran = run("a.csv", "b.csv", *words, "fraud", "--json", "m.json")
    assert "a.csv: " not in ran.stderr
    assert "b.csv: All labels but 'fraud' count as negative: 'Fraud', 'ok', 'pending'." in ran.stderr
    assert "The label 'pending' is new in b.csv; check its rows." in ran.stderr + Path("m.json").read_text()
    assert "'fraud' and 'Fraud' differ in blanks or case alone" in ran.stderr
    joined = run("-", *words, "fraud", stdin=Path("a.csv").read_text() + "\n" + Path("a.csv").read_text())
    assert "1 line repeats the names of the columns; skipped." in joined.stderr and "44 labelled" in joined.stdout


def test_labels_later_than_mature_are_counted_at_the_end(days):
    ran = run("p[1-4].csv", "late[1-4].csv", "--key", "id", "--true", "y_true", "--pred", "y_pred",
              "--require", RULE, "--mature", 1)  # fmt: skip
    sentence = "900 labels came after their cohort was mature and were left out; give files in the order in which they"
    assert ran.stderr.splitlines()[-1] == f"{sentence} came, or leave out --mature."
