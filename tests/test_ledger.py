"""The ledger: evaluations that are kept, read back equal, listed over time, in a folder of its own."""

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
    with pytest.raises(InputError, match=r"^Of the tag 'a' '\\ud800' is no text that UTF-8 can hold"):
        ledger.log(evaluate(TABLE), {"a": "\ud800"})
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


def test_the_part_of_an_id_that_tables_show_reads_as_no_number(ledger):
    ids = [ledger.log(evaluate(TABLE, metrics=["recall"])) for _ in range(20)]
    assert len(set(ids)) == 20 and all(each[-8].isalpha() for each in ids)


def test_an_id_that_names_none_or_several_is_refused(three):
    with pytest.raises(InputError, match=r"No evaluation of .* has the id"):
        three.read("nothing")
    with pytest.raises(InputError, match=r"3 evaluations of .* have the id"):
        three.read("20")
    with pytest.raises(InputError, match="has the tag 'model=v9'"):
        three.read("model=v9")
    with pytest.raises(InputError, match="No evaluation"):
        three.read("")


# ---------------------------------------------------------------- a folder of its own


def contents(folder):
    """Everything in a folder: the bytes of files, where links point, and when each was changed."""
    return {
        path.name: (
            path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes(),
            path.lstat().st_mtime_ns,
        )
        for path in folder.iterdir()
    }


ID = "20200101T000000-0123456789ab"
OTHERS = {  # files that other programs may have, which an earlier version removed or wrote over
    "rows": {"orders.rows.parquet": b"PAR1"},
    "rows under an id": {f"{ID}.rows.parquet": b"PAR1"},
    "a draft": {".draft.tmp": b"text"},
    "a draft under an id": {f".{ID}.json.0123456789abcdef.tmp": b"text"},
    "an empty file": {"lock.json": b""},
    "an empty file under an id": {f"{ID}.json": b""},
    "an index": {"index.parquet": b"PAR1"},
    "a report": {"report.json": b"{}"},
    "what git ignores": {".gitignore": b"*.tmp"},
}


@pytest.mark.parametrize("others", OTHERS)
def test_a_folder_with_files_of_others_is_refused_and_left_as_it_is(tmp_path, others):
    for name, content in OTHERS[others].items():
        (tmp_path / name).write_bytes(content)
        aged(tmp_path / name, 48)
    before, ledger = contents(tmp_path), Ledger(tmp_path)
    for use in (
        ledger.history,
        lambda: ledger.read("model=v1"),
        lambda: ledger.read(ID),
        lambda: ledger.compare(ID, ID),
        lambda: ledger.log(evaluate(TABLE)),
    ):
        with pytest.raises(InputError, match=r"is no ledger: it holds other files and no '\.steelyard-ledger'"):
            use()
    assert contents(tmp_path) == before


def test_an_empty_folder_becomes_a_ledger_by_the_first_log(tmp_path):
    ledger = Ledger(tmp_path)
    assert len(ledger.history()) == 0 and not names(ledger)
    assert ledger.history().ids == [] and ledger.log(evaluate(TABLE)) == ledger.history().ids[0]
    assert names(ledger)[:2] == [".gitignore", ".steelyard-ledger"]


def test_a_writer_that_is_marking_the_folder_does_not_make_it_one_of_others(tmp_path):
    (tmp_path / "..steelyard-ledger.0123456789abcdef.tmp").touch()
    assert len(Ledger(tmp_path).history()) == 0
    Ledger(tmp_path).log(evaluate(TABLE))
    assert len(Ledger(tmp_path).history(["recall"])) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets few users make links")
def test_a_marker_is_a_file_and_no_link(tmp_path):
    (tmp_path / "marker").touch()
    (tmp_path / ".steelyard-ledger").symlink_to(tmp_path / "marker")
    with pytest.raises(InputError, match="is no ledger"):
        Ledger(tmp_path).log(evaluate(TABLE))


def test_a_ledger_without_its_marker_says_how_it_is_adopted(three):
    before = three.history()
    marker = three.folder / ".steelyard-ledger"
    marker.unlink()
    (three.folder / "index.parquet").write_bytes(b"PAR1")
    for use in (three.history, lambda: three.log(evaluate(TABLE))):
        with pytest.raises(InputError, match=r"holds entries of a ledger but no file .*touch .*\.steelyard-ledger"):
            use()
    assert not marker.exists()
    marker.touch()
    assert three.history() == before
    marker.unlink()
    (three.folder / f"{before.ids[0]}.json").write_text("{}")
    with pytest.raises(InputError, match="is no ledger"):
        three.history()


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_names_no_folder_is_refused(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="A ledger is a folder, which"):
        Ledger(path)
    with pytest.raises(InputTypeError, match="the path of a folder, not int"):
        Ledger(3)
    assert not [*tmp_path.iterdir()]


def test_reading_writes_and_removes_nothing(three):
    for name in (f".{ID}.json.0123456789abcdef.tmp", f"{ID}.rows.parquet", f"{ID}.json", "index.parquet"):
        (three.folder / name).write_bytes(b"")
        aged(three.folder / name, 48)
    before = contents(three.folder)
    assert len(three.history(["recall"])) == 3 and three.history().left_out == ()
    three.read("model=v1")
    three.compare("model=v2", "model=v1", metrics=["recall"])
    assert contents(three.folder) == before


def test_no_file_but_the_entries_gives_a_number(three):
    """An index that an earlier version kept, with other numbers, is not believed and not touched."""
    before = three.history(all_metrics=True)
    files = [path for path in three.folder.iterdir() if path.name.endswith(".json")]
    forged = {"file": [path.name for path in files], "metric": ["recall"] * 3, "value": [0.999] * 3}
    pl.DataFrame(forged).write_parquet(three.folder / "index.parquet")
    assert three.history(all_metrics=True) == before and 0.999 not in [row.value for row in before]


@pytest.mark.parametrize(
    "field", [{"shown": 5}, {"shown": "recall"}, {"time": 5}, {"tags": [1]}, {"rows": {}}, {"id": 7}]
)
def test_an_entry_that_says_of_itself_what_it_cannot_is_left_out(three, field):
    ids = three.history(["recall"]).ids
    path = three.folder / f"{ids[1]}.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "entry": data["entry"] | field}))
    history = three.history(["recall"])
    assert history.ids == [ids[0], ids[2]] and "is no entry of a ledger" in history.left_out[0]


def test_the_last_ones_are_found_without_reading_all(three):
    (three.folder / f"{ID}.json").write_text("{}")  # of an earlier second
    assert len(three.history(["recall"], last=2)) == 2 and three.history(["recall"], last=2).left_out == ()
    assert len(three.history(["recall"]).left_out) == 1


def test_entries_that_go_or_come_otherwise_are_noticed(three, tmp_path):
    ids = three.history(["recall"]).ids
    other = Ledger(tmp_path / "other")
    (three.folder / f"{ids[0]}.json").unlink()
    foreign = other.log(evaluate(TABLE), {"model": "of a colleague"})
    (other.folder / f"{foreign}.json").rename(three.folder / f"{foreign}.json")  # as git merges them
    assert three.history(["recall"]).ids == [*ids[1:], foreign]


@pytest.mark.parametrize(
    "changed",
    [
        {"tags": {"model": "v9", "data": "finley"}},
        {"tags": {}},
        {"time": "2020-01-01T00:00:00.000000Z"},
        {"versions": {"steelyard": "9.9"}},
        {"shown": ["mcc"]},
        {"rows": {"count": 5, "digest": "sha256:0", "key": "0"}},
        {"by": "somebody"},
    ],
)
def test_whatever_an_entry_says_of_itself_is_covered_by_its_digest(three, changed):
    ids = three.history(["recall"]).ids
    path = three.folder / f"{ids[1]}.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "entry": data["entry"] | changed}))
    history = three.history(["recall"])
    assert history.ids == [ids[0], ids[2]]
    assert history.left_out == (f"{path.name!r} was changed after it was logged: its digest is another one.",)


def test_an_entry_under_the_id_of_another_is_left_out(three):
    ids = three.history(["recall"]).ids
    path, new = three.folder / f"{ids[1]}.json", three.folder / f"{ID}.json"
    new.write_text(path.read_text().replace(ids[1], ID))
    history = three.history(["recall"])
    assert history.ids == ids and new.name in history.left_out[0]


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
    assert path.name in reason and words in reason and reason in " ".join(repr(history).split())
    with pytest.raises(InputError, match=words):
        three.read(ids[1])


# ---------------------------------------------------------------- writers that were killed, and disks that are full


OWN = {  # what a writer that was killed leaves unfinished
    f".{ID}.json.0123456789abcdef.tmp": b'{\n "schema": 2,\n "ki',
    f".{ID}.rows.parque.0123456789abcdef.tmp": b"PAR1\0",
}
KEPT_FILES = {  # of others, or halves of entries whose other half is elsewhere
    ".draft.tmp": b"",
    ".old.json.tmp": b"",
    "orders.rows.parquet": b"PAR1",
    "empty.json": b"",
    f"{ID}.json": b"",
    f"{ID[:-1]}.json": b"",
    "20200101T000000-ba9876543210.rows.parquet": b"PAR1",
    f"{ID}.rows.parquet.tmp": b"PAR1",
    f".{ID}.json.aaaaaaaaaaaaaaaa.tmp": b"notes",
    f".{ID}.json.bbbbbbbbbbbbbbbb.tmp": b"",
    f".{ID}.rows.parque.aaaaaaaaaaaaaaaa.tmp": b"notes",
    "..steelyard-ledger.aaaaaaaaaaaaaaaa.tmp": b"notes",
    "..gitignore.aaaaaaaaaaaaaaaa.tmp": b"notes",
}


def test_unfinished_files_are_removed_by_a_log_when_they_are_old_and_nothing_else_is(three):
    own = OWN | {
        f".{name}.0123456789abcdef.tmp": (three.folder / name).read_bytes()
        for name in (".steelyard-ledger", ".gitignore")
    }
    for name, content in (own | KEPT_FILES).items():
        (three.folder / name).write_bytes(content)
        aged(three.folder / name, 23)
    before = names(three)
    three.log(evaluate(TABLE), {"model": "v4"})
    assert set(before) <= set(names(three))  # a writer may still be there
    for name in own | KEPT_FILES:
        aged(three.folder / name, 25)
    three.log(evaluate(TABLE), {"model": "v5"})
    assert set(before) - set(names(three)) == set(own)
    assert len(three.history(["recall"])) == 5 and three.history().left_out == ()


def test_rows_whose_entry_is_away_for_a_while_are_kept(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("STEELYARD_LEDGER_KEY", "0" * 32)
    frame = FRAME.with_row_index("key")
    entry_id = ledger.log(evaluate(frame, true="y", score="s"), {"model": "v1"}, predictions=frame, keep_rows="key")
    entry = ledger.folder / f"{entry_id}.json"
    entry.rename(tmp_path / entry.name)  # as another branch of git has it
    aged(ledger.folder / f"{entry_id}.rows.parquet", 48)
    ledger.log(evaluate(frame, true="y", score="s"), {"model": "v2"}, predictions=frame, keep_rows="key")
    (tmp_path / entry.name).rename(entry)
    assert ledger.compare("model=v2", "model=v1", metrics=["roc_auc"]).paired


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets few users make links")
def test_links_and_folders_are_not_removed(three, tmp_path):
    first, second = OWN
    (tmp_path / "precious").write_bytes(OWN[first])
    (three.folder / first).symlink_to(tmp_path / "precious")
    (three.folder / second).mkdir()
    for name in OWN:
        os.utime(three.folder / name, (1, 1), follow_symlinks=False)
    three.log(evaluate(TABLE))
    assert set(OWN) <= set(names(three)) and (tmp_path / "precious").read_bytes() == OWN[first]


LEFT = """
import os, sys
import polars as pl
from steelyard import Ledger, evaluate
from steelyard import written_files
frame = pl.DataFrame({"key": range(40), "y": [0, 1] * 20, "s": [0.2, 0.8] * 20})
evaluation, puts = evaluate(frame, true="y", score="s"), iter(range(9))
put = written_files._put_if_absent
def dying(temporary, path):
    if next(puts) == int(sys.argv[2]):
        os._exit(9)
    put(temporary, path)
written_files._put_if_absent = dying
Ledger(sys.argv[1]).log(evaluation, predictions=frame, keep_rows="key")
"""


@pytest.mark.parametrize(("puts", "left"), [(0, 1), (1, 1), (2, 1), (3, 2)])
def test_a_log_that_dies_anywhere_leaves_what_the_next_one_removes_but_rows(tmp_path, monkeypatch, puts, left):
    monkeypatch.setenv("STEELYARD_LEDGER_KEY", "0" * 32)
    ledger = Ledger(tmp_path / "kept")
    ran = subprocess.run([sys.executable, "-c", LEFT, ledger.folder, str(puts)], check=False)
    assert ran.returncode == 9
    there = [name for name in names(ledger) if name not in (".gitignore", ".steelyard-ledger")]
    assert len(there) == left
    for name in there:
        aged(ledger.folder / name, 25)
    rows = [name for name in there if name.endswith(".rows.parquet")]  # which were there before their entry
    assert len(rows) == (puts == 3)
    entry_id = ledger.log(evaluate(TABLE))
    assert names(ledger) == sorted([".gitignore", ".steelyard-ledger", *rows, f"{entry_id}.json"])
    assert ledger.history().ids == [entry_id] and ledger.history().left_out == ()


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
    three.folder.chmod(0o500)
    try:
        assert three.history(["recall"]) == before
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            three.log(evaluate(TABLE))
    finally:
        three.folder.chmod(0o700)


def test_git_keeps_the_evaluations_and_the_marker_and_not_what_is_unfinished(three):
    (three.folder / next(iter(OWN))).touch()
    subprocess.run(["git", "init", "-q", three.folder], check=True)
    words = ["git", "-C", three.folder, "ls-files", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    entries = [name for name in names(three) if name.endswith(".json")]
    assert sorted(listed) == [".gitignore", ".steelyard-ledger", *entries]
