"""What changed from one evaluation to another: unpaired by its tables, paired where the rows were kept under hashes."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest

from steelyard import Counts, Ledger, compare, evaluate
from steelyard.exceptions import InputError, InputTypeError

RNG = np.random.default_rng(11)
N = 600
Y = (RNG.random(N) < 0.3).astype(int)
A = np.clip(0.25 * Y + 0.6 * RNG.random(N), 0, 1)
B = np.clip(A + 0.06 * Y + 0.02 * RNG.standard_normal(N), 0, 1)
FRAME = pl.DataFrame({"patient": [f"patient-{i}" for i in range(N)], "y": Y, "a": A, "b": B})
METRICS = ["recall", "specificity", "roc_auc"]
OLD, NEW = (evaluate(FRAME, true="y", score=name, metrics=METRICS, threshold=0.5) for name in ("a", "b"))


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("STEELYARD_LEDGER_KEY", raising=False)
    return Ledger(tmp_path / "kept")


def both(ledger, old_frame=FRAME, new_frame=FRAME, new=NEW):
    """The ids of both evaluations with their rows."""
    return (
        ledger.log(OLD, {"model": "v1"}, predictions=old_frame, keep_rows="patient"),
        ledger.log(new, {"model": "v2"}, predictions=new_frame, keep_rows="patient"),
    )


def numbers(comparison):
    return [(row.metric, row.difference, row.low, row.high, row.p_value, row.p_holm) for row in comparison]


# ---------------------------------------------------------------- different rows


def test_two_evaluations_are_compared_as_of_different_rows_the_first_less_the_second(ledger):
    ids = [ledger.log(OLD, {"model": "v1"}), ledger.log(NEW, {"model": "v2"})]
    diff = ledger.compare(*ids[::-1], metrics=METRICS)
    assert diff.models == ("model=v2", "model=v1") and not diff.paired
    assert numbers(diff) == numbers(compare({"model=v2": NEW, "model=v1": OLD}, metrics=METRICS))
    assert numbers(ledger.compare("model=v2", "model=v1", metrics=METRICS)) == numbers(diff)
    assert numbers(ledger.compare(NEW, OLD, metrics=METRICS)) == numbers(diff)
    recall = next(row for row in diff if row.metric == "recall")
    assert recall.difference == NEW["recall"].value - OLD["recall"].value > 0
    assert "where these are the same rows, a comparison that pairs them" in diff.assumed[-1]


def test_another_threshold_and_other_rows_are_stated(ledger):
    other = evaluate(FRAME.head(500), true="y", score="b", metrics=METRICS, threshold=0.4)
    sentences = " ".join(ledger.compare(other, OLD).assumed)
    assert "The threshold of 'b' is 0.5, that of 'a' 0.4." in sentences
    positives = int(FRAME["y"].sum()), int(FRAME.head(500)["y"].sum())
    assert f"'b' is of 600 rows, {positives[0]} of them positive, 'a' of 500 rows, {positives[1]}" in sentences
    assert "Prevalence" not in sentences  # which differs by less than chance does


def test_another_prevalence_is_stated_with_what_it_alone_does_and_both_can_be_read_at_one(ledger):
    old, new = Counts(tp=160, fn=40, fp=80, tn=720), Counts(tp=80, fn=20, fp=90, tn=810)  # the same rates
    first, second = (evaluate(table, metrics=["recall", "precision"]) for table in (old, new))
    diff = ledger.compare(second, first, metrics=["recall", "precision"])
    (sentence,) = [words for words in diff.assumed if words.startswith("Prevalence")]
    assert "Prevalence is 20 % in 'b' and 10.0 % in 'a'" in sentence.replace("20.0 %", "20 %")
    assert "at 10.0 % 'b' would have precision 47.1 %." in sentence and "recall" not in sentence
    level = ledger.compare(second, first, metrics=["recall", "precision"], prevalence=0.1)
    assert [row.difference for row in level] == pytest.approx([0, 0], abs=1e-12)
    assert not any(words.startswith("Prevalence") for words in level.assumed)


def test_evaluations_that_cannot_be_compared_are_refused_in_one_sentence(ledger):
    turned = evaluate(FRAME, true="y", score="a", pos_label=0, threshold=0.5)
    with pytest.raises(InputError, match="'b' is of the positive class 1 and 'a' of the positive class 0"):
        ledger.compare(turned, OLD)
    classes = [evaluate(["x", "y", third] * 9, ["x", "y", "y"] * 9, labels=["x", "y", third]) for third in "zw"]
    with pytest.raises(InputError, match="evaluate both with the same labels="):
        ledger.compare(*classes[::-1])
    sets = evaluate([["war"], ["trade"], ["war"]], [["war"], ["war"], ["trade"]])
    with pytest.raises(InputError, match="'a' is of label sets"):
        ledger.compare(sets, OLD)


# ---------------------------------------------------------------- the same rows


def test_kept_rows_are_paired_whatever_their_order(ledger):
    ids = both(ledger, new_frame=FRAME.sample(fraction=1, shuffle=True, seed=1))
    diff = ledger.compare(*ids[::-1], metrics=METRICS)
    rows = compare(Y, y_score={"n": B, "o": A}, threshold=0.5, metrics=METRICS)
    assert diff.paired and [row[0] for row in numbers(diff)] == [row[0] for row in numbers(rows)]
    np.testing.assert_allclose([row[1:] for row in numbers(diff)], [row[1:] for row in numbers(rows)], rtol=1e-9)
    assert "Paired by the keys of the rows: 600 rows are in both, of 600 and 600" in " ".join(diff.assumed)
    unpaired = ledger.compare(NEW, OLD, metrics=METRICS)
    assert all(x.high - x.low < y.high - y.low for x, y in zip(diff, unpaired, strict=True))


def test_labels_are_paired_too_from_frames_of_other_libraries(ledger):
    frame = FRAME.with_columns(a=(pl.col("a") > 0.5).cast(int), b=(pl.col("b") > 0.5).cast(int)).to_pandas()
    old, new = (evaluate(frame, true="y", pred=name, metrics=["recall"]) for name in ("a", "b"))
    ids = [ledger.log(each, predictions=frame, keep_rows="patient") for each in (old, new)]
    diff = ledger.compare(*ids[::-1], metrics=["recall"])
    rows = compare(Y, {"n": frame["b"], "o": frame["a"]}, metrics=["recall"])
    assert diff.paired and numbers(diff) == numbers(rows)
    assert diff.mcnemar[0].mid_p == rows.mcnemar[0].mid_p
    assert isinstance(frame, pd.DataFrame)


def test_rows_in_one_evaluation_alone_or_of_another_truth_are_left_out_and_counted(ledger):
    later = FRAME.tail(500).with_columns(y=pl.when(pl.int_range(500) < 3).then(1 - pl.col("y")).otherwise(pl.col("y")))
    new = evaluate(later, true="y", score="b", metrics=METRICS, threshold=0.5)
    diff = ledger.compare(*both(ledger, new_frame=later, new=new)[::-1], metrics=METRICS)
    assert diff.paired and diff.n == 497
    words = " ".join(diff.assumed)
    assert "497 rows are in both, of 600 and 500" in words
    assert "3 rows have another true label in 'model=v2', and are left out" in words


def test_too_few_common_rows_or_another_key_are_compared_as_of_different_rows(ledger, monkeypatch):
    others = FRAME.with_columns(
        patient=pl.when(pl.int_range(N) < 500).then("new " + pl.col("patient")).otherwise("patient")
    )
    diff = ledger.compare(*both(ledger, new_frame=others)[::-1])
    assert not diff.paired and any("100 rows are in both, of 600 and 600: too few to pair" in w for w in diff.assumed)
    first = ledger.log(OLD, predictions=FRAME, keep_rows="patient")
    monkeypatch.setenv("STEELYARD_LEDGER_KEY", "k" * 32)
    second = ledger.log(NEW, predictions=FRAME, keep_rows="patient")
    diff = ledger.compare(second, first)
    assert not diff.paired and any("hashed with different keys" in words for words in diff.assumed)


# ---------------------------------------------------------------- what the hashes hide


def test_keys_are_hashed_with_a_secret_outside_the_ledger_and_their_order_is_not_kept(ledger, tmp_path):
    first, _ = both(ledger)
    contents = b"".join(path.read_bytes() for path in ledger.folder.iterdir())
    assert b"patient-7" not in contents
    secret = tmp_path / "config" / "steelyard" / "ledger.key"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and len(secret.read_text().strip()) == 64
    assert secret.read_bytes().strip() not in contents
    kept = pl.read_parquet(ledger.folder / f"{first}.rows.parquet")
    assert kept.columns == ["key", "true", "score"] and kept["key"].is_sorted()
    assert kept["score"].to_list() != A.tolist() and sorted(kept["score"]) == sorted(A.tolist())


def test_the_same_key_hashes_alike_as_number_and_as_text_and_another_secret_otherwise(ledger, monkeypatch):
    hashes = []
    for secret, keys in (
        ("s" * 32, range(N)),
        ("s" * 32, map(str, range(N))),
        ("t" * 32, range(N)),
        ("s" * 32, np.arange(N) * 1.0),
    ):
        monkeypatch.setenv("STEELYARD_LEDGER_KEY", secret)
        frame = FRAME.with_columns(key=pl.Series(list(keys)))
        entry_id = ledger.log(OLD, predictions=frame, keep_rows="key")
        hashes.append(set(pl.read_parquet(ledger.folder / f"{entry_id}.rows.parquet")["key"]))
    assert hashes[0] == hashes[1] == hashes[3] and not hashes[0] & hashes[2]
    assert len(hashes[0]) == N and {len(each) for each in hashes[0]} == {16}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.with_columns(patient=pl.lit("x")), "name several rows"),
        (lambda f: f.with_columns(patient=pl.when(pl.int_range(N) > 3).then("patient")), "4 rows have no key"),
        (lambda f: f.with_columns(patient=pl.int_range(N) + 0.5), "numbers with decimals"),
        (lambda f: f.drop("patient"), "no column 'patient'"),
        (lambda f: f.head(10), "another number was evaluated"),
    ],
)
def test_keys_that_do_not_name_the_rows_are_refused_and_nothing_is_logged(ledger, change, words):
    with pytest.raises(InputError, match=words):
        ledger.log(OLD, predictions=change(FRAME), keep_rows="patient")
    assert not ledger.folder.exists()


def test_rows_need_their_frame_and_count_once(ledger, monkeypatch):
    with pytest.raises(InputTypeError, match="give predictions= too"):
        ledger.log(OLD, keep_rows="patient")
    with pytest.raises(InputError, match="one column of truth and one of predictions"):
        ledger.log(evaluate(Y, y_score=A), predictions=FRAME, keep_rows="patient")
    frame = FRAME.with_columns(w=pl.lit(2.0))
    weighted = evaluate(frame, true="y", score="a", weight="w", metrics=["roc_auc"])
    with pytest.raises(InputError, match="each counts once"):
        ledger.log(weighted, predictions=frame, keep_rows="patient")
    monkeypatch.setenv("STEELYARD_LEDGER_KEY", "short")
    with pytest.raises(InputError, match="has 5 characters, which can be tried out"):
        ledger.log(OLD, predictions=FRAME, keep_rows="patient")


@pytest.mark.skipif(os.name != "posix", reason="this system has no such permissions")
def test_a_secret_that_others_may_read_is_refused(ledger, tmp_path):
    both(ledger)
    (tmp_path / "config" / "steelyard" / "ledger.key").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        ledger.log(OLD, predictions=FRAME, keep_rows="patient")


def test_rows_that_were_changed_are_refused(ledger):
    ids = both(ledger)
    path = ledger.folder / f"{ids[0]}.rows.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="were changed after they were logged"):
        ledger.compare(*ids[::-1])
    path.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        ledger.compare(*ids[::-1])
