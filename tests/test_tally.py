"""Tallies add up, are saved and checked; bins and weights at their limits."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard
from steelyard import Counts, SteelyardError, tally
from steelyard.cli import progress
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames import queries
from steelyard.frames import scores as score_queries
from steelyard.tables import Tally

FRAME = pl.DataFrame(
    {"y": [0, 0, 1, 1], "p": [0, 1, 1, 1], "q": [0, 0, 0, 1], "s": [0.1, 0.6, 0.4, 0.9], "g": ["a", "a", "b", "b"]}
)


def test_tallies_of_other_things_do_not_add_up():
    labels, scores = tally(FRAME, true="y", pred="p"), tally(FRAME, true="y", score="s")
    grouped = tally(FRAME, true="y", pred="p", by="g")
    assert_refused(lambda: labels + scores, InputError, "hold different things, confusion and scores; tally both alike")
    assert_refused(lambda: labels + grouped, InputError, "hold different things")
    for attempt in (lambda: labels + 1, lambda: 1 + labels):
        with pytest.raises(TypeError):
            attempt()
    assert labels not in ("a tally", scores) and labels == tally(FRAME, true="y", pred="p")


def test_a_tally_tells_what_it_holds():
    assert repr(tally(FRAME, true="y", pred=["p", "q"])) == "<Tally of 4 rows: paired>"
    assert (
        repr(tally(FRAME, true="y", pred="p", score="s", by="g"))
        == "<Tally of 4 rows: confusion and scores, 2 groups by g>"
    )
    assert repr(Tally()) == "<Tally of 0 rows: nothing>"


def test_groups_of_either_side_are_kept_when_tallies_merge():
    one, other = (
        tally(FRAME.filter(pl.col("g") == g), true="y", score="s", pos_label=1, by="g", labels=[0, 1]) for g in "ab"
    )
    merged = one + other
    assert list(merged.groups) == [("a",), ("b",)]
    assert merged == tally(FRAME, true="y", score="s", by="g")


def text_tally(folder, name, rows):
    """The tally of rows of text as a CSV file holds them."""
    path = folder / name
    path.write_text("\n".join(["y,p,g", *(",".join(row) for row in rows)]))
    ran = run_command("tally", path, "--true", "y", "--pred", "p", "--by", "g")
    if ran.exit_code == 2:
        raise InputTypeError(ran.stderr)
    return replace(Tally.from_json(ran.stdout), sources={})  # by which equal shards would be one and the same file


def counted(*words, code=0):
    """The tally that `steelyard tally` prints."""
    ran = run_command("tally", *words, code=code)
    return Tally.from_json(ran.stdout) if code == 0 else " ".join(ran.stderr.split())


WORDS = (("0", "1", "unknown"), ("0.0", "1.0", "2.0", "?"), ("true", "false", "maybe"), ("False", "True", "-"), ("7", "8", "x"))  # fmt: skip


@settings(max_examples=40)
@given(st.data())
def test_shards_of_text_merge_to_the_table_of_all_rows_together(tmp_path_factory, data):
    folder, labels, groups = tmp_path_factory.mktemp("shards"), *(data.draw(st.sampled_from(WORDS)) for _ in "yg")
    row = st.tuples(st.sampled_from(labels), st.sampled_from(labels), st.sampled_from(groups))
    shards = data.draw(st.lists(st.lists(row, min_size=1, max_size=6), min_size=2, max_size=4))
    with suppress(InputTypeError):  # where no number of one shard is among the texts of another
        whole = text_tally(folder, "whole.csv", [row for shard in shards for row in shard])
        merged = sum(text_tally(folder, f"{i}.csv", shard) for i, shard in enumerate(shards))
        assert merged.confusion == whole.confusion
        mine, theirs = ({as_written(key): group for key, group in t.groups.items()} for t in (merged, whole))
        assert mine == theirs


def as_written(key):
    return tuple(str(value).lower().removesuffix(".0") for value in key)


def test_numbers_in_one_part_and_text_in_another_are_one_class_each(tmp_path):
    numbers = text_tally(tmp_path, "a.csv", [("0", "0", "1"), ("1", "1", "2"), ("1", "0", "1")])
    text = text_tally(tmp_path, "b.csv", [("0", "0", "1"), ("unknown", "1", "x"), ("1", "0", "2")])
    for merged in (numbers + text, text + numbers):
        assert merged.labels == ("0", "1", "unknown")
        assert list(merged.groups) == [("1",), ("2",), ("x",)]
        assert merged.groups["1",].confusion.rows.tolist() == [[2, 0, 0], [1, 0, 0], [0, 0, 0]]
    seen = steelyard.Accumulator()
    seen.update([0, 1], [0, 1])
    seen.update(["1", "0"], ["0", "unknown"])
    assert seen.result().labels == ("0", "1", "unknown")
    assert list(tally(pl.DataFrame({"y": [0, 1], "p": [0, 1], "g": pl.Series([1, "1"], dtype=pl.Object)}).to_pandas(), true="y", pred="p", by="g").groups) == [("1",)]  # fmt: skip


def test_numbers_that_none_of_the_texts_reads_like_do_not_merge():
    numbers, text = steelyard.confusion([0, 1], [0, 1]), steelyard.confusion(["cat", "dog"], ["cat", "cat"])
    words = "mixes numbers such as 1 and text such as 'dog'; give all labels as one kind. labels= declares"
    assert_refused(lambda: numbers + text, InputTypeError, words)
    twins = steelyard.confusion(["1", "1.0", "x"], ["1", "1.0", "x"])
    assert_refused(lambda: numbers + twins, InputError, "1 meets the texts '1' and '1.0', which both read like it")


def test_a_file_counted_twice_is_noticed(tmp_path):
    part = replace(text_tally(tmp_path, "a.csv", [("0", "0", "1"), ("1", "1", "1")]), sources={"ab12": "a.csv"})
    other = replace(part, sources={"cd34": "b.csv"})
    merged = Tally.from_json((part + other).to_json())
    assert merged.rows == 4 and merged.sources == {"ab12": "a.csv", "cd34": "b.csv"}
    assert_refused(lambda: merged + part, InputError, "'a.csv' would be counted twice; leave one out")
    copy = tmp_path / "copy.csv"
    copy.write_bytes((tmp_path / "a.csv").read_bytes())
    for names in ([tmp_path / "a.csv", tmp_path / "a.csv"], [tmp_path / "a.csv", copy]):
        assert "would be counted twice" in counted(*names, "--true", "y", "--pred", "p", code=2)


def test_tallies_of_two_models_do_not_merge_without_a_word():
    one, other = (tally(FRAME, true="y", pred=name) for name in "pq")
    words = "count other columns, pred='p' and pred='q'; tally one model at a time"
    assert_refused(lambda: one + other, InputError, words)
    assert_refused(lambda: Tally.from_json(one.to_json()) + Tally.from_json(other.to_json()), InputError, words)
    assert json.loads(one.to_json())["version"] == steelyard.__version__
    assert one + tally(FRAME.with_columns(w=pl.lit(1.0)), true="y", pred="p", weight="w")


@pytest.mark.parametrize("options", [{"pred": "p"}, {"score": "s"}, {"pred": ["p", "q"]}, {"pred": "p", "score": "s", "by": "g"}, {"score": "s", "exact": False, "by": ["g", "q"]}], ids=str)  # fmt: skip
def test_a_saved_tally_is_the_same_again(options):
    found = tally(FRAME, true="y", **options)
    assert Tally.from_json(found.to_json()) == found
    json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def spoiled(**changes):
    data = json.loads(tally(FRAME, true="y", pred="p", score="s", by="g").to_json()) | {"digest": "gone"}
    return json.dumps({key: value for key, value in {**data, **changes}.items() if value != "gone"})


GROUP, OTHER = json.loads(tally(FRAME, true="y", pred="p", score="s", by="g").to_json())["groups"]
CELLS = {"schema": 1, "kind": "confusion", "labels": [0, 1], "positive": None, "rows": [[1, 2], [0, 3]]}
ENTRIES = {"schema": 1, "kind": "scores", "positive_label": 1, "negative": {"scores": [0.1], "rows": [2]}}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (CELLS | {"weights": [[1, 2], [0, 3]], "squares": [[1, 0], [0, 3]]}, "squares of a saved confusion are sums"),
        (CELLS | {"weights": [[1, 0], [0, 3]], "squares": [[1, 0], [0, 3]]}, "squares of a saved confusion are sums"),
        (CELLS | {"weights": [[1, 2], [0, 3]], "squares": [[1, 2], [1, 3]]}, "squares of a saved confusion are sums"),
        (CELLS | {"rows": [[1.5, 2], [0, 3]]}, "rows of a saved confusion are whole"),
        (CELLS | {"rows": [[2**62, 0], [0, 2**62]]}, "holds more than 9223372036854775807 rows"),
        (CELLS | {"schema": True}, "has schema True"),
        (ENTRIES | {"positive": {"scores": [0.5], "rows": [1.5]}}, "rows of a saved score table are whole"),
        (ENTRIES | {"positive": {"scores": [0.5, 0.6], "rows": [2**62, 2**62]}}, "holds more than"),
        (ENTRIES | {"positive": {"scores": [0.5], "rows": [2], "weights": [2], "squares": [0]}}, "squares of a saved score table"),
        (CELLS | {"weights": [[1, 2], [0, 3]]}, "weights and squares together, or neither"),
        (CELLS | {"squares": [[1, 2], [0, 3]]}, "weights and squares together, or neither"),
        (CELLS | {"labels": [0, math.nan]}, "lists each label once, text or finite numbers"),
        (CELLS | {"labels": [0, 10**400]}, "lists each label once, text or finite numbers"),
        (ENTRIES | {"positive": {"scores": [0.5], "rows": [2]}, "negative": {"scores": [], "rows": [2, 1]}}, "finite and ascending, with rows"),
        (ENTRIES | {"positive": {"scores": [10**400], "rows": [2]}}, "lists scores and rows for each class"),
        (ENTRIES | {"positive": {"scores": [0.5], "rows": [2]}, "positive_label": math.inf}, "text or a finite number, not inf"),
        (ENTRIES | {"positive": {"scores": [0.5], "rows": [2]}, "positive_label": [1]}, "text or a finite number"),
    ],
)  # fmt: skip
def test_a_saved_table_that_no_rows_could_give_is_refused(table, words):
    read = {"confusion": steelyard.Confusion, "scores": steelyard.ScoreTable}[table["kind"]].from_json
    with pytest.raises(SteelyardError, match=words):
        read(table)
    with pytest.raises(SteelyardError, match=words):
        Tally.from_json({"schema": 1, "kind": "tally", "labels": [0, 1], table["kind"]: table})


SAVED = {
    "tally": tally(FRAME, true="y", pred="p", score="s", by="g"),
    "confusion": steelyard.confusion([0, 1, 1], [0, 1, 0]),
    "scores": steelyard.score_table([0, 1, 1], [0.1, 0.5, 0.4]),
    "paired": steelyard.tables.paired([0, 1, 1], [0, 1, 0], [1, 1, 1]),
    "counts": steelyard.Counts(28, 23, 72, 2680),
}
EDITS = {
    "tally": lambda data: data["columns"].update(pred="q"),
    "confusion": lambda data: data.update(labels=[0, 2]),
    "scores": lambda data: data["positive"].update(scores=[0.4, 0.6]),
    "paired": lambda data: data.update(labels=[0, 2]),
    "counts": lambda data: data.update(tp=50, fn=1),
}


@pytest.mark.parametrize("kind", SAVED)
def test_a_saved_table_that_was_changed_into_another_one_is_refused(kind):
    table, data = SAVED[kind], json.loads(SAVED[kind].to_json())
    assert type(table).from_json(json.dumps(data, indent=2)).to_json() == table.to_json()
    EDITS[kind](data)
    with pytest.raises(InputError, match=f"^This {kind} was changed after it was saved: its digest is another one.$"):
        type(table).from_json(data)
    assert type(table).from_json({key: data[key] for key in data if key != "digest"}) is not None  # made by hand


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"), ('{"schema": 99, "kind": "tally", "labels": []}', "schema"),
        (spoiled(labels=3), "lists its labels and its tables"),
        (spoiled(confusion="gone", scores="gone"), "holds a confusion, scores or a paired table"),
        (spoiled(groups=3), "groups of a saved tally are a list"), (spoiled(groups=[3]), "groups of a saved tally are a list"),
        (spoiled(by=3), "groups of a saved tally are a list"),
        (spoiled(groups=[{**GROUP, "key": "a"}]), "Each group of a saved tally has a key"),
        (spoiled(groups=[{**GROUP, "key": ["a", "b"]}]), "Each group of a saved tally has a key"),
        (spoiled(groups=[{**GROUP, "labels": None}]), "lists its labels and its tables"),
        (spoiled(groups=[GROUP]), "do not add up to its whole"),
        (spoiled(groups=[GROUP, OTHER, GROUP]), "lists each group once"),
        (spoiled(groups=[{**GROUP, "confusion": {**GROUP["confusion"], "rows": [[0, 2], [0, 0]]}}, OTHER]), "do not add up to its whole"),
        (spoiled(groups=[{**GROUP, "scores": {**GROUP["scores"], "negative": {"scores": [0.1, 0.7], "rows": [1, 1]}}}, OTHER]), "do not add up to its whole"),
        (spoiled(groups=[{key: GROUP[key] for key in ("key", "labels", "scores")}, OTHER]), "do not add up to its whole"),
        (spoiled(groups=[{**GROUP, "confusion": {**GROUP["confusion"], "labels": [0, 5]}}, OTHER]), "do not add up to its whole"),
        (json.loads(spoiled()) | {"labels": [0, math.inf]}, "labels of a saved tally are text or finite numbers"),
        (json.loads(spoiled(groups=[{**GROUP, "key": [math.nan]}, OTHER])), "Each group of a saved tally has a key"),
        (spoiled(labels=[0, math.nan]), "This JSON holds NaN, which strict JSON does not"),
        (spoiled().replace('"labels":', '"labels":[0,1],"labels":', 1), "has the field 'labels' twice"),
        (spoiled(labels=[0, 10**400]), "a number of 401 digits, beyond any"),
        (spoiled(schema=True), "has schema True; this version reads 1"),
        (spoiled(columns=["y"]), "columns and the sources of a saved tally are names"), (spoiled(sources={"a": 1}), "are names"),
    ],
)  # fmt: skip
def test_a_spoiled_tally_is_refused(text, words):
    assert_refused(lambda: Tally.from_json(text), ValueError, words)


@pytest.mark.parametrize(
    ("ranges", "words"),
    [("x", "pairs of numbers"), ([[1, 2, 3]], "pairs of numbers"), ([[2, 1]], "ascending order"), ([[1, 3], [2, 4]], "ascending order")],
)  # fmt: skip
def test_spoiled_blurs_are_refused(ranges, words):
    saved = json.loads(tally(FRAME, true="y", score="s", pos_label=1, labels=[0, 1]).to_json())
    saved["scores"]["blurs"] = ranges
    del saved["digest"]  # as made by hand
    assert_refused(lambda: Tally.from_json(json.dumps(saved)), InputError, words)


def test_a_cut_inside_a_bin_is_refused_and_at_its_ends_is_not(monkeypatch):
    monkeypatch.setattr(score_queries, "BINS", 4)
    found = tally(FRAME.with_columns(s=pl.Series([0.1, 0.2, 0.15, 0.9])), true="y", score="s", exact=False)
    assert found.scores.bins.tolist() == [[0.1, 0.2]]
    for inside in (0.15, 0.2):
        words = f"{inside} would divide the one from 0.1 to 0.2; take an end"
        assert_refused(lambda at=inside: steelyard.evaluate(found, threshold=at), InputError, words)
    for end in (0.1, 0.21):
        exact = steelyard.score_table(FRAME["y"].to_numpy(), [0.1, 0.2, 0.15, 0.9])
        assert steelyard.evaluate(found, threshold=end).counts == exact.at(end)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-40, 40), st.integers(1, 5)), min_size=4, max_size=60),
    st.integers(1, 3),
)
def test_the_bounds_hold_whatever_the_rows_and_the_parts(rows, parts):
    rows = [(0, 0, 1), (1, 1, 1), *rows]
    columns = {"y": [int(y) for y, _, _ in rows], "s": [s / 7 for _, s, _ in rows], "w": [w / 3 for *_, w in rows]}
    frame, before = pl.DataFrame(columns), score_queries.BINS
    score_queries.BINS = 4
    try:
        pieces = [frame[i::parts] for i in range(parts)]
        found = sum(
            tally(piece, true="y", score="s", weight="w", exact=False, pos_label=1, labels=[0, 1]) for piece in pieces
        )
    finally:
        score_queries.BINS = before
    exact = steelyard.score_table(columns["y"], columns["s"], sample_weight=columns["w"])
    saved = steelyard.evaluate(found, metrics=["roc_auc"], threshold=1e9, draws=20).to_dict()
    for name, (low, high) in saved.get("bounds", {}).items():
        assert low - 1e-9 <= steelyard.get_metric(name)(exact) <= high + 1e-9
    assert ("bounds" in saved) == (len(found.scores.bins) > 0)


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="this Polars has no batches")
@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"frequency": "n", "threshold": 0.4}])
def test_bins_of_groups_of_a_lazy_polars_frame_are_counted_a_batch_at_a_time(monkeypatch, tmp_path, options):
    rng = np.random.default_rng(3)
    columns = {"y": rng.integers(0, 2, 90), "s": rng.random(90), "w": rng.random(90), "n": rng.integers(0, 4, 90)}
    frame = pl.DataFrame({**columns, "g": rng.choice(["a", "b", None], 90)})
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=15)
    asked = {"true": "y", "score": "s", "by": "g", "exact": False, **options}
    at_once = tally(frame.to_arrow(), **asked)
    sizes, batches = [], pl.LazyFrame.collect_batches

    def watched(rows, **given):
        for batch in batches(rows, **given):
            sizes.append(len(batch))
            yield batch

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", watched)
    monkeypatch.setattr(queries, "BATCH", 20, raising=False)
    found = tally(pl.scan_parquet(tmp_path / "rows.parquet"), **asked)
    assert found == at_once
    assert len(sizes) > 3 and max(sizes) <= 20


def test_a_lazy_polars_frame_without_batches_is_counted_at_once(monkeypatch):
    found = tally(FRAME.lazy(), true="y", score="s", by="g", exact=False)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # as of Polars before it had them
    assert tally(FRAME.lazy(), true="y", score="s", by="g", exact=False) == found


@pytest.mark.parametrize(
    "weights", [[1e-300, 1.0, 1e-12, 3.0], [1e-280, 0.0, 1e-285, 0.0], [1e150, 1.0, 1e-9, 7.0], [0.1, 0.2, 0.3, 0.4]]
)
def test_weights_keep_their_digits_however_far_apart(weights):
    found = tally(FRAME.with_columns(w=pl.Series(weights)), true="y", pred="q", weight="w").confusion
    expected = steelyard.confusion(FRAME["y"], FRAME["q"], sample_weight=weights)
    np.testing.assert_array_equal(found.rows, expected.rows)
    largest = max(weights)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12, atol=largest * 2.0**-80)


@pytest.mark.parametrize("decades", [12, 30, 100])
def test_weights_over_many_decades_give_the_intervals_of_the_arrays(decades):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    predicted = np.where(rng.random(60) < 0.3, 1 - truth, truth)
    weights = np.where((truth == 1) & (predicted == 0), 1.0, 10.0**-decades)
    frame = pl.DataFrame({"y": truth, "p": predicted, "w": weights})
    found, expected = tally(frame, true="y", pred="p", weight="w").confusion, steelyard.confusion(truth, predicted, sample_weight=weights)  # fmt: skip
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)
    np.testing.assert_allclose(found.squares, expected.squares, rtol=1e-12)
    of_frame = steelyard.interval("recall", frame, true="y", pred="p", weight="w")
    of_arrays = steelyard.interval("recall", truth, predicted, sample_weight=weights)
    assert (of_frame.low, of_frame.high) == pytest.approx((of_arrays.low, of_arrays.high), rel=1e-9)


def test_costs_of_other_rows_are_refused():
    frame = FRAME.with_columns(w=pl.Series([0.0, 2.0, 3.0, 1.0]))
    counted = tally(frame, true="y", score="s", cost="w")
    data = json.loads(counted.to_json())
    del data["digest"]
    data["costs"]["w"]["positive"]["scores"][0] += 0.001
    with pytest.raises(SteelyardError, match="The costs 'w' of this tally are not of the rows it has scores of"):
        Tally.from_json(data)
    with pytest.raises(SteelyardError, match="tables of scores by the name of their column"):
        Tally.from_json({**data, "costs": [1]})
    with pytest.raises(SteelyardError, match="different things, scores and costs by w and scores"):
        counted + tally(frame, true="y", score="s")
    with pytest.raises(SteelyardError, match="cost= is of scores"):
        tally(frame, true="y", pred="q", cost="w")


def test_whole_numbers_beyond_two_to_the_53_stay_apart_or_are_refused(tmp_path):
    big, path = 2**53, tmp_path / "rows.csv"
    words = "holds whole numbers beyond 2..53, some of which are one and the same as float64"
    for scores in ([big, big + 1], np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64)):
        assert_refused(lambda scores=scores: steelyard.roc_auc([0, 1], scores), InputError, words)
        frame = pl.DataFrame({"y": [0, 1], "s": scores})
        assert_refused(lambda frame=frame: tally(frame, true="y", score="s"), InputError, words)
    assert steelyard.roc_auc([0, 1], [big, big + 2]) == 1
    path.write_text(
        f"y,p,n,g,s\n{big}.0,{big}.0,{big + 1},{big}.0,{big}\n{big + 1}.0,{big + 1}.0,1,{big + 1}.0,{big + 1}\n"
    )
    found = counted(path, "--true", "y", "--pred", "p", "--frequency", "n", "--by", "g")
    assert re.search(words, counted(path, "--true", "y", "--score", "s", "--pos-label", big, code=2))
    assert found.confusion.labels == (big, big + 1) and found.confusion.rows.tolist() == [[big + 1, 0], [0, 1]]
    assert list(found.groups) == [(big,), (big + 1,)]


def test_weights_too_large_to_square_are_refused():
    frame = FRAME.with_columns(w=pl.lit(1e200))
    assert_refused(
        lambda: tally(frame, true="y", pred="p", weight="w"), InputError, "squares are too large for a number; divide"
    )


def test_rows_whose_weight_and_frequency_never_meet_weigh_nothing():
    frame = FRAME.with_columns(w=pl.Series([1.0, 0.0, 1.0, 0.0]), n=pl.Series([0, 1, 0, 2]))
    words = "The column 'w' or The column 'n' is 0 in every row"
    assert_refused(lambda: tally(frame, true="y", pred="p", weight="w", frequency="n"), InputError, words)
    assert tally(FRAME.clear().with_columns(w=pl.lit(1.0)), true="y", pred="p", weight="w", labels=[0, 1]).rows == 0


@pytest.mark.parametrize("places", [0, 12, 40])
def test_weights_of_any_size_are_added_exactly_whatever_the_order(places):
    rng = np.random.default_rng(places)
    weights = rng.random(3_000) * 2.0 ** rng.integers(-places, places + 1, 3_000)
    for order in (np.arange(3_000), rng.permutation(3_000)):
        frame = pl.DataFrame({"y": [0, 1] * 1_500, "p": [0] * 3_000, "w": weights[order]})
        found = tally(frame, true="y", pred="p", weight="w").confusion.weights
        assert found[:, 0].tolist() == [math.fsum(weights[order][start::2]) for start in (0, 1)]


def test_more_combinations_than_a_small_table_has_are_refused(monkeypatch):
    monkeypatch.setattr(queries, "MOST_LABEL_KEYS", 2)
    assert_refused(lambda: tally(FRAME, true="y", pred="p"), InputError, "more than 2 combinations of labels")


def test_the_bar_is_shown_on_a_terminal_alone(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.bar("counting") as update:
        update(1, 2)
        update(2, 2)
    assert "counting" in screen.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.bar("counting") as update:
        assert update is None


@pytest.mark.parametrize(
    ("value", "limit", "pair"),
    [(0.5, 0.5, ("0.5", "0.5")), (0.69999999, 0.7, ("0.69999999", "0.7")), (0.3, 0.1 + 0.2, ("0.29999999999999999", "0.30000000000000004")), (12.0, 1.5, ("12", "1.5"))],
)  # fmt: skip
def test_a_gate_shows_as_many_digits_as_tell_the_numbers_apart(value, limit, pair):
    @steelyard.metrics.metric("Own", range=(0, 99))
    def own(tp, fn, fp, tn):
        return value + 0 * tp

    (row,) = steelyard.gate(steelyard.evaluate(Counts(1, 2, 3, 4), metrics=["own"], draws=20), f"own >= {limit!r}")
    assert row.text == f"own is {pair[0]}, required >= {pair[1]}"
