"""The ledger: evaluations that are kept, read back equal, listed over time, whatever became of the index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import jsonschema
import numpy as np
import polars as pl
import pytest

from steelyard import Counts, Evaluation, Ledger, Result, evaluate
from steelyard.exceptions import InputError, InputTypeError

RNG = np.random.default_rng(3)
Y = (RNG.random(400) < 0.2).astype(int)
S = np.clip(0.3 * Y + 0.6 * RNG.random(400), 0, 1)
FRAME = pl.DataFrame({"y": Y, "s": S, "site": np.where(np.arange(400) % 3, "a", "b")})
TABLE = Counts(tp=28, fn=23, fp=72, tn=2680)
VERSIONS = {
    version: evaluate(Counts(tp=tp, fn=51 - tp, fp=72, tn=2680), metrics=["recall", "mcc"])
    for version, tp in (("v1", 20), ("v2", 28), ("v3", 35))
}
KEPT = {
    "counts": lambda: evaluate(TABLE),
    "scores by groups": lambda: evaluate(FRAME, true="y", score="s", by="site"),
    "three classes": lambda: evaluate(["a", "b", "c", "a"] * 20, ["a", "b", "b", "a"] * 20),
    "at a prevalence": lambda: evaluate(Y, y_score=S, prevalence=0.03, metrics=["precision", "f_beta[beta=2]"]),
    "undefined, odd labels": lambda: evaluate(["\ud800<b>", "n\u202eo"] * 9, ["n\u202eo"] * 18, pos_label="\ud800<b>"),
    "label sets": lambda: evaluate([["war"], ["war", "trade"], ["trade"]], [["war"], ["war"], ["trade"]]),
}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "kept")


@pytest.fixture
def three(ledger):
    """A ledger of three evaluations."""
    for version, evaluation in VERSIONS.items():
        ledger.log(evaluation, {"model": version, "data": "finley"})
    return ledger


def names(ledger):
    return sorted(path.name for path in ledger.folder.iterdir())


def aged(path, hours):
    then = time.time() - 3600 * hours
    os.utime(path, (then, then))


# ---------------------------------------------------------------- kept and read back


@pytest.mark.parametrize("kind", KEPT)
def test_an_evaluation_is_read_back_equal(ledger, kind):
    evaluation = KEPT[kind]()
    if "odd" in kind:  # half a surrogate pair cannot be written, here as in any JSON file
        evaluation = Evaluation.from_json(json.loads(evaluation.to_json().encode("utf-8", "replace")))
    entry_id = ledger.log(evaluation, {"model": "v1"})
    assert ledger.read(entry_id) == evaluation
    assert ledger.read(entry_id[:20]) == ledger.read(entry_id[-6:]) == ledger.read("model=v1") == evaluation
    values = {row.metric: row.value for row in ledger.history(all_metrics=True)}
    np.testing.assert_equal(values, {row.name: row.value for row in evaluation})
    assert [row.metric for row in ledger.history()] == [
        row.name for row in evaluation if row.name in {shown.name for shown in evaluation.shown()}
    ]


def test_an_entry_is_a_report_with_one_more_key(ledger):
    evaluation = evaluate(FRAME, true="y", score="s")
    entry_id = ledger.log(evaluation, {"model": 3})
    data = json.loads((ledger.folder / f"{entry_id}.json").read_text())
    jsonschema.Draft202012Validator(Evaluation.json_schema()).validate(data)
    assert Evaluation.from_json(data) == evaluation
    entry = data.pop("entry")
    assert data == json.loads(evaluation.to_json())
    assert entry["id"] == entry_id and entry["tags"] == {"model": "3"} and entry["versions"]["steelyard"]


def test_what_is_no_evaluation_or_no_tag_is_refused_and_leaves_no_ledger(ledger):
    with pytest.raises(InputTypeError, match=r"what evaluate\(\) returns"):
        ledger.log(TABLE)
    for tags in ({"": 1}, {"a=b": 1}, {"a\x1b": 1}, {"a": "x" * 2_000}):
        with pytest.raises(InputError, match="tag"):
            ledger.log(evaluate(TABLE), tags)
    with pytest.raises(InputTypeError, match="dictionary"):
        ledger.log(evaluate(TABLE), "model=v3")
    assert not ledger.folder.exists()
    with pytest.raises(InputError, match="There is no ledger at"):
        ledger.history()


def test_the_folder_is_named_or_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert str(Ledger().folder) == "steelyard-ledger"
    monkeypatch.setenv("STEELYARD_LEDGER", "elsewhere")
    Ledger().log(evaluate(TABLE))
    assert len(Ledger("elsewhere").history(metrics=["mcc"])) == 1


# ---------------------------------------------------------------- history


def test_history_lists_values_intervals_tags_and_times_in_order(three):
    history = three.history(metrics=["recall", "mcc"])
    assert [(row.tags["model"], row.metric) for row in history] == [
        (version, metric) for version in ("v1", "v2", "v3") for metric in ("recall", "mcc")
    ]
    expected = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))["recall"]
    row = history.rows[2]
    assert (row.value, row.low, row.high, row.chance) == (
        expected.value,
        expected.low,
        expected.high,
        expected.chance,
    )
    assert (row.rows, row.level) == (2803, 0.95)
    assert [row.time for row in history] == sorted(row.time for row in history)
    assert Result.from_json(history.to_json()) == history
    assert history.to_frame("polars")["value"].to_list() == [row.value for row in history]
    assert "model=v2, data=finley" in history.to_markdown()
    assert f"54.9 % ({expected.interval_or_reason().removesuffix(' %')})" in repr(history)


def test_history_is_filtered_by_tag_metric_and_number(three):
    assert [row.tags["model"] for row in three.history(metrics=["recall"], last=2)] == ["v2", "v3"]
    assert [row.value for row in three.history(["recall"], {"model": "v2"})] == [28 / 51]
    assert len(three.history(["recall"], {"data": "finley"})) == 3
    nothing = three.history(["recall"], {"model": "v9"})
    assert len(nothing) == 0 and "No evaluation of kept" in repr(nothing) and "No evaluation" in nothing.to_html()
    with pytest.raises(InputError, match="last= is how many"):
        three.history(last=0)


def test_an_id_that_names_none_or_several_is_refused(three):
    with pytest.raises(InputError, match=r"No evaluation of .* has the id"):
        three.read("nothing")
    with pytest.raises(InputError, match=r"3 evaluations of .* have the id"):
        three.read("20")
    with pytest.raises(InputError, match="has the tag 'model=v9'"):
        three.read("model=v9")
    with pytest.raises(InputError, match="No evaluation"):
        three.read("")


# ---------------------------------------------------------------- the index


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-200]),
    "no Parquet": lambda path: path.write_text("{}"),
    "of another program": lambda path: pl.DataFrame({"file": ["x"]}).write_parquet(path),
    "of other rows": lambda path: pl.read_parquet(path).with_columns(size=pl.lit(1)).write_parquet(path),
    "lacking rows": lambda path: pl.read_parquet(path).filter(pl.col("file").str.len_chars() < 0).write_parquet(path),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_index_that_is_missing_torn_or_old_is_made_again(three, damage):
    index = three.folder / "index.parquet"
    before, whole = three.history(all_metrics=True), index.read_bytes()
    DAMAGES[damage](index)
    assert three.history(all_metrics=True) == before
    assert pl.read_parquet(index).equals(pl.read_parquet(whole))


def test_logging_leaves_the_index_as_it_is_and_reading_brings_it_up_to_date(three):
    three.history()
    index = three.folder / "index.parquet"
    before = index.stat()
    entry_id = three.log(evaluate(TABLE), {"model": "v4"})
    assert index.stat().st_mtime_ns == before.st_mtime_ns
    assert three.history(metrics=["recall"]).ids[-1] == entry_id
    after = index.stat()
    assert after.st_ino != before.st_ino  # a whole new file took its place
    three.history()
    assert index.stat().st_ino == after.st_ino  # and is not written again without need


def test_entries_that_go_or_come_otherwise_are_noticed(three, tmp_path):
    ids = three.history(["recall"]).ids
    other = Ledger(tmp_path / "other")
    (three.folder / f"{ids[0]}.json").unlink()
    foreign = other.log(evaluate(TABLE), {"model": "of a colleague"})
    (other.folder / f"{foreign}.json").rename(three.folder / f"{foreign}.json")  # as git merges them
    assert three.history(["recall"]).ids == [*ids[1:], foreign]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda text: text[:300], "is no entry of a ledger, or was truncated"),
        (lambda text: text.replace('"fp": 72', '"fp": 71'), "was changed after it was logged"),
        (lambda text: '{"schema": 2}', "is no entry of a ledger"),
        (lambda text: "[" * 100_000, "is no entry of a ledger"),
        (lambda text: text.replace('"schema": 1', '"schema": 9'), "by a later version"),
    ],
)
def test_a_damaged_entry_is_left_out_by_name_and_the_others_are_listed(three, content, words):
    ids = three.history(["recall"]).ids
    path = three.folder / f"{ids[1]}.json"
    path.write_text(content(path.read_text()))
    history = three.history(["recall"])
    assert history.ids == [ids[0], ids[2]]
    (reason,) = history.left_out
    assert path.name in reason and words in reason and reason in repr(history)
    with pytest.raises(InputError, match=words):
        three.read(ids[1])


# ---------------------------------------------------------------- writers that were killed, and disks that are full


def test_what_killed_writers_left_is_removed_when_it_is_old(three):
    for name in (".old.json.tmp", ".new.json.tmp", "20200101T000000-00.json", "20200101T000000-00.rows.parquet"):
        (three.folder / name).write_bytes(b"" if name.endswith("0.json") else b"{")
    history = three.history(["recall"])
    assert len(history) == 3 and history.left_out == () and ".old.json.tmp" in names(three)
    for path in three.folder.iterdir():
        if "new" not in path.name:
            aged(path, 25)
    assert three.history(["recall"]) == history
    assert [name for name in names(three) if not name.endswith(".json")] == [
        ".gitignore",
        ".new.json.tmp",
        "index.parquet",
    ]
    assert len([name for name in names(three) if name.endswith(".json")]) == 3


FULL = """
import resource, sys
from steelyard import Counts, Ledger, evaluate
ledger, evaluation = Ledger(sys.argv[1]), evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
ledger.log(evaluation)
sys.dont_write_bytecode = True  # which would be cut off, and read later
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))  # bytes that a file may have, as where a disk is full
try:
    ledger.log(evaluation)
except Exception as error:
    print(type(error).__name__, error)
print(len(ledger.history(["recall"])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of file sizes")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    ran = subprocess.run([sys.executable, "-c", FULL, tmp_path / "kept"], capture_output=True, text=True, check=True)
    refusal, count = ran.stdout.splitlines()
    assert refusal.startswith("InputError ") and "cannot be written: File too large" in refusal
    assert count == "1" and len([name for name in names(Ledger(tmp_path / "kept")) if name.endswith(".json")]) == 1


def test_a_place_that_cannot_be_a_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made: (File exists|Not a directory)"):
        Ledger(tmp_path / "file" / "ledger").log(evaluate(TABLE))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_that_may_only_be_read_is_listed_and_refuses_to_log(three):
    before = three.history(["recall"])
    (three.folder / "index.parquet").unlink()
    three.folder.chmod(0o500)
    try:
        assert three.history(["recall"]) == before
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            three.log(evaluate(TABLE))
    finally:
        three.folder.chmod(0o700)


def test_git_keeps_the_evaluations_and_not_the_index(three):
    three.history()
    subprocess.run(["git", "init", "-q", three.folder], check=True)
    words = ["git", "-C", three.folder, "ls-files", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(listed) == [name for name in names(three) if name.endswith(".json") or name == ".gitignore"]
