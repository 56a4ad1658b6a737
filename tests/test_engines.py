"""Every engine weighs the same rows into the same tables, and refuses the same rows in the same words."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest
from checks import assert_refused
from engines import ENGINES

import steelyard
from steelyard import SteelyardError, compare, evaluate, tally
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames import scores as score_queries
from steelyard.metrics.binned_bounds import binned_bounds

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:.*pandas:FutureWarning", "ignore:unclosed.*:ResourceWarning")
ROWS = 400


@pytest.fixture(params=ENGINES)
def engine(request):
    """The name of an engine."""
    return request.param


@pytest.fixture
def frame(engine):
    """A maker of frames of one engine, from columns by name."""
    return lambda columns: ENGINES[engine](columns if isinstance(columns, pa.Table) else pa.table(columns))


@cache
def rows():
    """Rows with two models, scores with ties, weights and frequencies with zeros, and groups."""
    rng = np.random.default_rng(0)
    truth = rng.random(ROWS) < 0.2
    score = np.round(1 / (1 + np.exp(-rng.normal(2 * truth - 1))), 3)
    return {
        "y": truth.astype(np.int64),
        "a": (score > 0.5).astype(np.int64),
        "b": (rng.random(ROWS) < 0.3).astype(np.int64),
        "s": score,
        "wide": np.round(rng.normal(truth, 2), 2) * 100,
        "w": rng.random(ROWS) * (rng.random(ROWS) < 0.9),
        "n": rng.integers(0, 4, ROWS),
        "site": rng.choice(["north", "south", "west"], ROWS),
        "year": rng.integers(2023, 2025, ROWS),
    }


def held(where):
    return {name: column[where] for name, column in rows().items()}


def same_confusion(one, other):
    assert one.labels == other.labels
    assert one.rows.dtype == other.rows.dtype == np.int64
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-12, atol=0)
    np.testing.assert_allclose(one.squares, other.squares, rtol=1e-12, atol=0)


def same_scores(one, other):
    assert one.label == other.label and not len(one.bins)
    for side, its in ((one.positive, other.positive), (one.negative, other.negative)):
        side, its = side.compact(), its.compact()  # noqa: PLW2901
        np.testing.assert_array_equal(side.scores, its.scores)
        assert side.n == its.n
        np.testing.assert_allclose(side.distinct[1], its.distinct[1], rtol=1e-12, atol=0)


# ---------------------------------------------------------------- thresholds

CENTS = np.arange(1, 100) / 100


def flagged(truth, scores):
    """True and false positives at each two-digit threshold as NumPy compares them, in the scores' own precision."""
    return [[int(((scores >= cent) & (truth == which)).sum()) for cent in CENTS.tolist()] for which in (1, 0)]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_every_two_digit_threshold_flags_the_scores_that_equal_it(frame, kind):
    scores = np.tile(CENTS.astype(kind), 2)
    columns = {"y": np.repeat([1, 0], 99), "s": scores}
    tables = [tally(frame(columns), true="y", score="s").scores, steelyard.score_table(columns["y"], scores)]
    tables += [steelyard.ScoreTable.from_json(tables[0].to_json()), sum(tables), tables[0].compact()]
    for table in tables:
        assert table.precision == kind
        counts, times = table.at(CENTS), table.n // 198
        assert [(counts.tp // times).tolist(), (counts.fp // times).tolist()] == flagged(columns["y"], scores)
    assert evaluate(frame(columns), true="y", score="s", threshold=0.7).counts.tp == 30
    binned = evaluate(frame(columns), true="y", score="s", threshold=0.7, exact=False)
    assert binned.counts.tp == 30 and binned.threshold == 0.7


# ---------------------------------------------------------------- labels


def test_counts_are_those_of_the_arrays(frame):
    r = rows()
    found = tally(frame(r), true="y", pred="a")
    assert found.confusion == steelyard.confusion(r["y"], r["a"])
    assert (found.rows, found.labels, found.scores, found.paired) == (ROWS, (0, 1), None, None)


@pytest.mark.parametrize(("weight", "frequency"), [("w", None), (None, "n"), ("w", "n")])
def test_weights_and_frequencies_are_those_of_the_arrays(frame, weight, frequency):
    r = rows()
    expected = steelyard.confusion(r["y"], r["a"], sample_weight=r.get(weight), frequency=r.get(frequency))
    same_confusion(tally(frame(r), true="y", pred="a", weight=weight, frequency=frequency).confusion, expected)


def test_weights_of_many_decades_keep_their_digits(frame):
    r = {"y": [0, 1, 0], "p": [0, 1, 1], "w": [1.0, 0.1, 1e-9]}
    expected = steelyard.confusion(r["y"], r["p"], sample_weight=r["w"])
    same_confusion(tally(frame(r), true="y", pred="p", weight="w").confusion, expected)


@pytest.mark.parametrize("frequency", [None, "n"])
def test_costs_by_column_are_those_of_the_rows_in_frames_and_tallies(frame, frequency):
    data = held(slice(None))
    times, wrong = np.ones(ROWS) if frequency is None else data[frequency], []
    thresholds = [np.inf, *np.unique(data["s"][times > 0])[::-1]]
    for threshold in thresholds:
        flagged = data["s"] >= threshold
        costs = np.where(data["y"] == 1, np.where(flagged, 0, 9 * data["w"]), np.where(flagged, 1, 0))
        wrong.append((costs * times).sum() / times.sum())
    best = int(np.argmin(wrong))
    rows = frame({**data, "cost": 9 * data["w"]})
    asked = {"cost": {"cost_fn": "cost", "cost_fp": 1}, "draws": 0}
    columns = {"true": "y", "score": "s", "frequency": frequency}
    kept = type(counted := tally(rows, **columns, cost="cost")).from_json(counted.to_json())
    assert kept == counted and counted.rows == times.sum()
    for found in (steelyard.best_threshold(rows, **columns, **asked), steelyard.best_threshold(kept, **asked)):
        assert found.value == pytest.approx(wrong[best], rel=1e-9) and found.observed == thresholds[best]
    binned = steelyard.best_threshold(tally(rows, **columns, cost="cost", exact=False), **asked)
    assert binned.value == pytest.approx(wrong[best], rel=1e-9)  # scores of three digits have a bin each


def test_groups_are_more_keys_of_the_query_and_add_up(frame):
    r = rows()
    found = tally(frame(r), true="y", pred="a", score="s", weight="w", by=["site", "year"], exact=True)
    assert list(found.groups) == sorted(set(zip(r["site"].tolist(), r["year"].tolist(), strict=True)))
    for (site, year), group in found.groups.items():
        part = held((r["site"] == site) & (r["year"] == year))
        same_confusion(
            group.confusion, steelyard.confusion(part["y"], part["a"], sample_weight=part["w"], labels=[0, 1])
        )
        same_scores(group.scores, steelyard.score_table(part["y"], part["s"], sample_weight=part["w"]))
    whole = sum(group.confusion for group in found.groups.values())
    same_confusion(whole, found.confusion)


def test_the_intervals_of_groups_resample_the_clusters_of_every_engine(frame):
    r = {**rows(), "patient": np.arange(ROWS) // 8}
    options = {"metrics": ["recall", "mcc"], "draws": 50}
    found = evaluate(frame(r), true="y", pred="a", by=["site", "year"], cluster="patient", **options)
    by = {"site": r["site"], "year": r["year"]}
    expected = evaluate(r["y"], r["a"], by=by, cluster=r["patient"], **options)
    assert [(group.key, group.confusion) for group in found.groups] == [(g.key, g.confusion) for g in expected.groups]
    numbers, others = (
        [[row.value, row.low, row.high] for group in part.groups for row in group.metrics] for part in (found, expected)
    )
    assert np.array(numbers) == pytest.approx(np.array(others), rel=1e-12)  # sums of clusters in another order
    assert {row.method for group in found.groups for row in group.metrics} == {"cluster"}


def test_a_missing_group_is_a_group_of_its_own(frame):
    found = tally(frame({"y": [0, 1, 1], "p": [0, 1, 0], "g": pa.array(["x", None, None])}), true="y", pred="p", by="g")
    assert list(found.groups) == [("x",), (None,)]
    assert found.groups[None,].rows == 2


MISSING = {
    "NaN": pa.array([2023.0, math.nan, math.nan, 2024.0, math.nan, 2023.0]),
    "null": pa.array([2023.0, None, None, 2024.0, None, 2023.0]),
    "NaN beside null": pa.array([2023.0, math.nan, None, 2024.0, math.nan, 2023.0]),
}


@pytest.mark.parametrize("options", [{"pred": "p"}, {"score": "s"}, {"score": "s", "exact": False}, {"pred": ["p", "q"]}], ids=str)  # fmt: skip
@pytest.mark.parametrize("kind", MISSING)
def test_missing_numbers_are_one_group_that_loses_no_row(frame, kind, options):
    r = {
        "y": [0, 1, 1, 1, 0, 0],
        "p": [0, 1, 0, 1, 1, 1],
        "q": [0, 1, 1, 0, 0, 1],
        "s": [0.1, 0.9, 0.4, 0.8, 0.3, 0.2],
        "g": MISSING[kind],
    }
    found = tally(frame(r), true="y", by="g", **options)
    assert {key: group.rows for key, group in found.groups.items()} == {(2023,): 2, (2024,): 1, (None,): 3}
    assert steelyard.tables.Tally.from_json(found.to_json()) == found


def test_an_endless_group_is_called_by_its_name(frame):
    found = tally(frame({"y": [0, 1, 1], "p": [0, 1, 0], "g": [math.inf, 0.5, -math.inf]}), true="y", pred="p", by="g")
    assert set(found.groups) == {("inf",), (0.5,), ("-inf",)}
    assert steelyard.tables.Tally.from_json(found.to_json()) == found


@pytest.mark.parametrize("options", [{"pred": "p"}, {"score": "p", "exact": True}], ids=str)
def test_lists_are_no_groups(engine, frame, options):
    if engine in ("dask", "ibis-sqlite"):
        pytest.skip(f"{engine} has no lists: Dask makes text of them")
    r = {"y": [0, 1], "p": [0, 1], "g": pa.array([[1], [1, 2]])}
    words = "a label or a group is one value per row"
    assert_refused(lambda: tally(frame(r), true="y", by="g", **options), InputTypeError, words)


def test_two_models_side_by_side(frame):
    r = rows()
    assert tally(frame(r), true="y", pred=["a", "b"]).paired == steelyard.tables.paired(r["y"], r["a"], r["b"])
    repeated = {name: np.repeat(column, r["n"]) for name, column in r.items()}
    expected = steelyard.tables.paired(repeated["y"], repeated["a"], repeated["b"])
    assert tally(frame(r), true="y", pred=("a", "b"), frequency="n").paired == expected


LABELS = {
    "booleans": [True, False, True, True],
    "small integers": np.array([1, 0, 1, 1], dtype=np.int8),
    "unsigned": np.array([1, 0, 1, 1], dtype=np.uint8),
    "large integers": [2**62, -(2**62), 2**62, 2**62],
    "whole floats": [1.0, -0.0, 1.0, 1.0],
    "narrow floats": np.array([1, 0, 1, 1], dtype=np.float32),
    "text": ["yes", "no", "yes", "yes"],
    "hostile text": ["\x1b[31m", "[bold]", "\x1b[31m", "\x1b[31m"],
    "categories": pa.array(["yes", "no", "yes", "yes"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(frame, kind):
    truth = LABELS[kind] if isinstance(LABELS[kind], pa.Array) else pa.array(LABELS[kind])
    pred = truth.take(pa.array([0, 1, 1, 0]))
    found = tally(frame({"y": truth, "p": pred}), true="y", pred="p")
    expected = steelyard.confusion(truth.to_pylist(), pred.to_pylist())
    assert found.confusion == expected
    assert list(map(type, found.confusion.labels)) == list(map(type, expected.labels))


@pytest.mark.parametrize("options", [{"pred": "p"}, {"score": "s"}, {"score": "s", "exact": False}], ids=str)
def test_whole_decimals_are_labels(engine, frame, options):
    if engine in ("pandas", "dask"):
        pytest.skip(f"{engine} has no decimals")
    whole, broken = (pa.array(values).cast(pa.decimal128(22, 3)) for values in ([0, 1, 1], [0.0, 0.5, 1.0]))
    r = {"y": whole, "p": [0, 1, 0], "s": [0.1, 0.9, 0.3]}
    assert tally(frame(r), true="y", **options).labels == (0, 1)
    words = "holds 0.5: a label is text or a whole number"
    assert_refused(lambda: tally(frame({**r, "y": broken}), true="y", **options), InputError, words)


def test_a_label_that_only_one_column_has_is_still_a_class(frame):
    r = {"y": [0, 0, 1, 2], "p": [0, 3, 1, 1], "w": [1.0, 1.0, 1.0, 0.0]}
    assert tally(frame(r), true="y", pred="p").confusion == steelyard.confusion(r["y"], r["p"])
    assert tally(frame(r), true="y", pred="p", weight="w").labels == (0, 1, 3)
    declared = tally(frame(r), true="y", pred="p", labels=[3, 2, 1, 0, 9], pos_label=2)
    assert declared.confusion == steelyard.confusion(r["y"], r["p"], labels=[3, 2, 1, 0, 9], pos_label=2)


def test_a_thousand_labels_are_counted_and_more_than_have_rows_are_refused(frame):
    labels = np.arange(1_000)
    assert len(tally(frame({"y": labels, "p": labels[::-1]}), true="y", pred="p").labels) == 1_000
    more = {"y": np.arange(1_001), "p": np.zeros(1_001, dtype=int)}
    assert_refused(
        lambda: tally(frame(more), true="y", pred="p"), InputError, "'y' holds 1,001 different values in its"
    )
    split = {"y": np.arange(600), "p": np.arange(500, 1_100)}
    assert_refused(lambda: tally(frame(split), true="y", pred="p"), InputError, "1,100 different labels in 600 rows")


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"frequency": "n"}, {"weight": "w", "frequency": "n"}], ids=str
)
@pytest.mark.parametrize("score", ["s", "wide"])
def test_exact_scores_are_those_of_the_arrays(frame, score, options):
    r = rows()
    weights = {"sample_weight": r.get(options.get("weight")), "frequency": r.get(options.get("frequency"))}
    expected = steelyard.score_table(r["y"], r[score], **weights)
    same_scores(tally(frame(r), true="y", score=score, exact=True, **options).scores, expected)


def inside(table, exact):
    """The bounds of a table of bins hold the areas of the exact one."""
    for name, (low, high) in binned_bounds(table).items():
        assert low - 1e-12 <= steelyard.get_metric(name)(exact) <= high + 1e-12
        assert low - 1e-12 <= steelyard.get_metric(name)(table) <= high + 1e-12


def same_cuts(table, exact):
    """Every cut that a table of bins keeps has the counts of the exact table."""
    for cell in ("tp", "fn", "fp", "tn"):
        cuts = table.thresholds
        np.testing.assert_allclose(getattr(table.counts, cell), getattr(exact.at(cuts), cell), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("score", "options"), [("s", {}), ("wide", {"weight": "w"}), ("wide", {"frequency": "n"})], ids=str
)
def test_binned_scores_keep_exact_cuts_and_bound_the_areas(frame, monkeypatch, score, options):
    monkeypatch.setattr(score_queries, "BINS", 16)  # so few that most bins hold rows of both classes
    r = rows()
    weights = {"sample_weight": r.get(options.get("weight")), "frequency": r.get(options.get("frequency"))}
    exact = steelyard.score_table(r["y"], r[score], **weights)
    found = tally(frame(r), true="y", score=score, exact=False, threshold=0.3, **options).scores
    assert len(found.bins) and len(found.thresholds) < 60
    assert (found.positive.n, found.negative.n) == (exact.positive.n, exact.negative.n)
    same_cuts(found, exact)
    inside(found, exact)
    np.testing.assert_allclose(found.at(0.3).tp, exact.at(0.3).tp, rtol=1e-12)


def test_binned_halves_merge_into_valid_bounds(frame, monkeypatch):
    monkeypatch.setattr(score_queries, "BINS", 16)
    r = rows()
    halves = [held(np.arange(ROWS) % 3 == 0), held(np.arange(ROWS) % 3 > 0)]
    one, other = (tally(frame(half), true="y", score="wide", exact=False) for half in halves)
    exact = steelyard.score_table(r["y"], r["wide"])
    for merged in (one + other, other + one):
        same_cuts(merged.scores, exact)
        inside(merged.scores, exact)
        assert merged.rows == ROWS


def test_groups_of_binned_scores(frame, monkeypatch):
    monkeypatch.setattr(score_queries, "BINS", 16)
    r = rows()
    found = tally(frame(r), true="y", score="s", by="site", exact=False)
    for (site,), group in found.groups.items():
        part = held(r["site"] == site)
        inside(group.scores, steelyard.score_table(part["y"], part["s"]))


EXTREME = {
    "signed zero": [0.0, -0.0, 0.5, -0.0, 0.5, 0.0],
    "subnormal": [5e-324, 1e-310, 2e-310, 0.0, -1e-320, 1e-310],
    "huge": [1.7e308, -1.7e308, 1e300, 0.0, -1e300, 1.7e308],
    "one value": [1e12] * 6,
    "far from zero": [1e17, 1e17 + 16, 1e17 + 32, 1e17, 1e17 + 16, 1e17],
}


@pytest.mark.parametrize("kind", EXTREME)
@pytest.mark.parametrize("exact", [True, False])
def test_scores_at_the_ends_of_floating_point(frame, kind, exact):
    r = {"y": [0, 1, 1, 0, 0, 1], "s": EXTREME[kind]}
    found = tally(frame(r), true="y", score="s", exact=exact).scores
    same_cuts(found, steelyard.score_table(r["y"], r["s"]))
    inside(found, steelyard.score_table(r["y"], r["s"]))
    if exact:
        same_scores(found, steelyard.score_table(r["y"], r["s"]))


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int8(), pa.float32(), pa.decimal128(22, 3)], ids=str)
def test_scores_of_every_kind_of_number(engine, frame, kind):
    if pa.types.is_decimal(kind) and engine in ("pandas", "dask"):
        pytest.skip(f"{engine} has no decimals")
    values = pa.array([0, 1, 1, 0]).cast(kind)
    found = tally(frame({"y": [0, 1, 0, 0], "s": values}), true="y", score="s").scores
    same_scores(found, steelyard.score_table([0, 1, 0, 0], [0, 1, 1, 0]))


def test_a_named_positive_of_many_classes(frame):
    r = {"y": ["a", "b", "c", "a"], "s": [0.1, 0.9, 0.4, 0.3]}
    found = tally(frame(r), true="y", score="s", pos_label="b").scores
    same_scores(found, steelyard.score_table(r["y"], r["s"], pos_label="b"))


# ---------------------------------------------------------------- whole answers


def test_evaluate_takes_frames(frame):
    r = rows()
    of_arrays, of_frame = evaluate(r["y"], r["a"], y_score=r["s"]), evaluate(frame(r), true="y", pred="a", score="s")
    assert of_frame.metrics.to_dicts() == of_arrays.metrics.to_dicts()
    grouped = evaluate(frame(r), true="y", score="s", threshold=0.4, by="site", metrics=["ac_score", "roc_auc"])
    assert [group.key for group in grouped.groups] == [("north",), ("south",), ("west",)]
    north = held(r["site"] == "north")
    assert grouped.groups[0]["ac_score"].value == steelyard.ac_score(north["y"], (north["s"] >= 0.4).astype(int))
    assert grouped.groups[0]["roc_auc"].value == steelyard.roc_auc(north["y"], north["s"])
    assert "3 groups are not distinguishable by AC-score" in " ".join(grouped.verdict)


def test_compare_takes_frames(frame):
    r = rows()
    names, options = ["a", "b"], {"metrics": ["recall", "mcc"]}
    of_arrays = compare(r["y"], y_pred={"a": r["a"], "b": r["b"]}, **options)
    assert compare(frame(r), pred=names, true="y", **options).to_dict() == of_arrays.to_dict()
    repeated = {name: np.repeat(column, r["n"]) for name, column in r.items()}
    expected = compare(repeated["y"], y_pred={"a": repeated["a"], "b": repeated["b"]}, **options)
    assert compare(frame(r), pred=names, true="y", frequency="n", **options).to_dict() == expected.to_dict()
    by_score = compare(r["y"], y_score={"s": r["s"], "wide": r["wide"]}, metrics=["roc_auc"])
    found = compare(frame(r), score=["s", "wide"], true="y", metrics=["roc_auc"])
    assert found.to_dict() == by_score.to_dict()


# ---------------------------------------------------------------- what is refused, in the same words


def null(*values):
    return pa.array(values)


NAN, INF = math.nan, math.inf
WEIGHED = {"pred": "p", "weight": "w"}
BINNED = {"score": "s", "weight": "w", "exact": False}
TIMES = {"pred": "p", "frequency": "n"}
REFUSED = [
    ("null labels", {"y": null(0, None, 1), "p": [0, 1, 1]}, {"pred": "p"}, InputError, "The column 'y' holds missing labels; drop those rows"),
    ("null predictions", {"y": [0, 1, 1], "p": null(0, None, 1)}, {"pred": "p"}, InputError, "The column 'p' holds missing labels; drop"),
    ("NaN labels", {"y": [0.0, NAN, 1.0], "p": [0.0, 1.0, 1.0]}, {"pred": "p"}, InputError, "The column 'y' holds missing labels; drop"),
    ("null text", {"y": null("a", None, "b"), "p": ["a", "a", "b"]}, {"pred": "p"}, InputError, "The column 'y' holds missing labels"),
    ("null truth values", {"y": null(True, None, False), "p": [True, True, False]}, {"pred": "p"}, InputError, "The column 'y' holds missing labels"),
    ("null truth of scores", {"y": null(0, None, 1), "s": [0.1, 0.2, 0.3]}, {"score": "s"}, InputError, "The column 'y' holds missing labels"),
    ("null truth of bins", {"y": null(0, None, 1), "s": [0.1, 0.2, 0.3]}, {"score": "s", "exact": False}, InputError, "The column 'y' holds missing labels"),
    ("broken labels", {"y": [0.0, 0.5], "p": [0.0, 1.0]}, {"pred": "p"}, InputError, "The column 'y' holds 0.5: a label is text or a whole number"),
    ("infinite labels", {"y": [0.0, INF], "p": [0.0, 1.0]}, {"pred": "p"}, InputError, "The column 'y' holds inf: a label is text"),
    ("text beside numbers", {"y": ["a", "b"], "p": [0, 1]}, {"pred": "p"}, InputTypeError, "The column 'y' holds text such as 'a' and the column 'p' numbers"),
    ("no rows", {"y": pa.array([], pa.int64()), "p": pa.array([], pa.int64())}, {"pred": "p"}, InputError, "There are no rows to count"),
    ("no scores", {"y": pa.array([], pa.int64()), "s": pa.array([], pa.float64())}, {"score": "s"}, InputError, "There are no rows to count"),
    ("null scores", {"y": [0, 1, 1], "s": null(0.1, None, 0.4)}, {"score": "s"}, InputError, "'s' holds scores that are not numbers: 1 missing (null or NaN)"),
    ("NaN scores", {"y": [0, 1, 1], "s": [0.1, NAN, NAN]}, {"score": "s"}, InputError, "'s' holds scores that are not numbers: 2 missing (null or NaN)"),
    ("infinite scores", {"y": [0, 1, 1], "s": [INF, 0.1, -INF]}, {"score": "s", "exact": False}, InputError, "'s' holds scores that are not numbers: 2 infinite"),
    ("both", {"y": [0, 1, 1, 0], "s": null(INF, 0.1, NAN, None)}, {"score": "s"}, InputError, "numbers: 2 missing (null or NaN) and 1 infinite"),
    ("text for scores", {"y": [0, 1], "s": ["0.1", "x"]}, {"score": "s"}, InputTypeError, "The column 's' holds String values; numbers were expected"),
    ("text for weights", {"y": [0, 1], "p": [0, 1], "w": ["1", "2"]}, WEIGHED, InputTypeError, "The column 'w' holds String values; numbers"),
    ("negative weights", {"y": [0, 1], "p": [0, 1], "w": [1.0, -2.0]}, WEIGHED, InputError, "The column 'w' holds -2; a weight cannot be negative"),
    ("NaN weights", {"y": [0, 1], "p": [0, 1], "w": [1.0, NAN]}, WEIGHED, InputError, "The column 'w' holds NaN, a null or an infinity"),
    ("null weights", {"y": [0, 1], "p": [0, 1], "w": null(1.0, None)}, WEIGHED, InputError, "The column 'w' holds NaN, a null or an infinity"),
    ("infinite weights", {"y": [0, 1], "p": [0, 1], "w": [1.0, INF]}, WEIGHED, InputError, "The column 'w' holds NaN, a null or an infinity; a weight is a finite"),
    ("no weight", {"y": [0, 1], "p": [0, 1], "w": [0.0, 0.0]}, WEIGHED, InputError, "The column 'w' is 0 in every row, so nothing would be counted"),
    ("negative weights of bins", {"y": [0, 1], "s": [0.1, 0.2], "w": [1.0, -2.0]}, BINNED, InputError, "The column 'w' holds -2; a weight cannot"),
    ("NaN weights of bins", {"y": [0, 1], "s": [0.1, 0.2], "w": [1.0, NAN]}, BINNED, InputError, "The column 'w' holds NaN, a null"),
    ("no weight of bins", {"y": [0, 1], "s": [0.1, 0.2], "w": [0.0, 0.0]}, BINNED, InputError, "The column 'w' is 0 in every row"),
    ("negative weights of scores", {"y": [0, 1], "s": [0.1, 0.2], "w": [1.0, -2.0]}, {**BINNED, "exact": True}, InputError, "The column 'w' holds -2; a weight cannot"),
    ("null weights of scores", {"y": [0, 1], "s": [0.1, 0.2], "w": null(1.0, None)}, {**BINNED, "exact": True}, InputError, "The column 'w' holds NaN, a null"),
    ("infinite weights of scores", {"y": [0, 1], "s": [0.1, 0.2], "w": [1.0, INF]}, {**BINNED, "exact": True}, InputError, "The column 'w' holds NaN, a null"),
    ("no weight of scores", {"y": [0, 1], "s": [0.1, 0.2], "w": [0.0, 0.0]}, {**BINNED, "exact": True}, InputError, "The column 'w' is 0 in every row"),
    ("broken frequency", {"y": [0, 1], "p": [0, 1], "n": [1.0, 0.5]}, TIMES, InputError, "The column 'n' is how many rows a row counts for, a whole number"),
    ("broken frequency of scores", {"y": [0, 1], "s": [0.1, 0.2], "n": [1.0, 0.5]}, {"score": "s", "frequency": "n"}, InputError, "The column 'n' is how many rows a row counts for"),
    ("negative frequency", {"y": [0, 1], "p": [0, 1], "n": [3, -1]}, TIMES, InputError, "The column 'n' holds -1; a weight cannot be negative"),
    ("frequency beyond counting", {"y": [0, 1], "p": [0, 1], "n": [4e18, 4e18]}, TIMES, OverflowError, "The column 'n' sums to more rows"),
    ("a column not there", {"y_true": [0, 1], "p": [0, 1]}, {"pred": "p"}, InputError, "There is no column 'y'; there are 'y_true', 'p'."),
    ("a column misspelt", {"y": [0, 1], "score": [0.1, 0.2]}, {"score": "scores"}, InputError, "no column 'scores'; there are 'y', 'score'. Did you mean 'score'?"),
    ("a positive not there", {"y": ["yes", "no"], "p": ["yes", "no"]}, {"pred": "p", "pos_label": "yea"}, InputError, "The positive class 'yea' does not occur; there are 'no', 'yes'. Did you mean 'yes'?"),
    ("a positive not clear", {"y": ["fraud", "ok"], "s": [0.1, 0.2]}, {"score": "s"}, InputError, "Which class is the positive one is not clear"),
    ("an undeclared label", {"y": [0, 1], "p": [0, 2]}, {"pred": "p", "labels": [0, 1]}, InputError, "The column 'p' holds 2, which is none of the declared"),
    ("nothing to count", {"y": [0, 1]}, {}, InputTypeError, "There is nothing to count: name a column of labels"),
    ("three models", {"y": [0, 1]}, {"pred": ["a", "b", "c"]}, InputError, "These rows have 3 models, 'a', 'b', 'c', and one is asked about"),
    ("two models and weights", {"y": [0, 1]}, {"pred": ["a", "b"], "weight": "w"}, InputError, "Two models side by side are counted by their labels alone"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "options", "kind", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_cannot_be_weighed_is_refused_in_the_same_words(frame, columns, options, kind, words):
    assert_refused(lambda: tally(frame(columns), true="y", **options), kind, re.escape(words))


ONE_CLASS = {"y": [1, 1], "p": [0, 1], "s": [0.1, 0.9]}


def test_one_class_is_a_table_but_no_evaluation(frame):
    assert tally(frame(ONE_CLASS), true="y", pred="p").confusion == steelyard.confusion([1, 1], [0, 1])
    assert_refused(lambda: evaluate(frame(ONE_CLASS), true="y", pred="p"), InputError, "holds one class only, 1")
    found = tally(frame(ONE_CLASS), true="y", score="s", pos_label=1).scores
    assert (found.positive.n, found.negative.n) == (2, 0)
    assert_refused(
        lambda: evaluate(frame(ONE_CLASS), true="y", score="s", pos_label=1), InputError, "holds no negatives"
    )


def test_an_empty_frame_is_an_empty_table_where_the_labels_are_declared(frame):
    empty = {"y": pa.array([], pa.int64()), "p": pa.array([], pa.int64())}
    assert tally(frame(empty), true="y", pred="p", labels=[0, 1]).rows == 0


def test_rows_of_no_weight_are_absent(frame):
    r = {"y": [0, 1, 2], "p": [0, 1, 2], "s": [0.1, 0.9, 0.5], "w": [1.0, 2.0, 0.0], "n": [1, 2, 0]}
    for options in ({"weight": "w"}, {"frequency": "n"}):
        found = tally(frame(r), true="y", pred="p", score="s", pos_label=1, exact=False, **options)
        assert found.labels == (0, 1)
        assert found.scores.thresholds.tolist() == [INF, 0.9, 0.1]
    assert found.rows == 3


@pytest.mark.parametrize("exact", [True, False])
def test_a_class_whose_rows_have_no_weight_is_still_the_positive_one(frame, exact):
    r = {"y": [0, 1, 0], "s": [0.1, 0.9, 0.5], "w": [1.0, 0.0, 2.0]}
    found = tally(frame(r), true="y", score="s", weight="w", pos_label=1, exact=exact).scores
    assert (found.label, found.positive.n, found.negative.n) == (1, 0, 2)


def test_a_missing_row_number_is_told_where_rows_have_an_order():
    r = pa.table({"y": [0, 1, 1], "s": [0.1, NAN, 0.4]})
    for name in ("pandas", "pandas-pyarrow", "polars", "polars-lazy", "pyarrow"):
        assert_refused(
            lambda make=ENGINES[name]: tally(make(r), true="y", score="s"), InputError, "the first in row 2;"
        )


def test_twenty_thousand_groups_are_told_apart_and_one_more_is_refused(frame):
    y = np.arange(20_001) % 2
    r = {"y": y, "p": 1 - y, "s": np.linspace(0, 1, 20_001), "g": np.arange(20_001)}
    for options in ({"score": "s"}, {"score": "s", "exact": False}, {"pred": "p"}):
        with pytest.raises(SteelyardError, match=r"20,001"):
            tally(frame(r), true="y", by="g", **options)
    r = {name: column[:12_000] for name, column in r.items()}
    found = tally(frame(r), true="y", score="s", by="g", exact=False)
    assert len(found.groups) == 12_000 and {group.rows for group in found.groups.values()} == {1}


@pytest.fixture
def fetched(monkeypatch):
    """How many rows each query brought back."""
    import narwhals as nw

    rows, collect = [], nw.LazyFrame.collect

    def spy(self, *args, **options):
        result = collect(self, *args, **options)
        rows.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", spy)
    return rows


def test_only_bins_of_scores_by_group_come_back(frame, fetched, monkeypatch):
    monkeypatch.setattr(score_queries, "BINS", 8)
    r, bars = rows(), 8 + 1  # the threshold divides one
    for options, names in (({}, []), ({"by": ["site", "year"], "weight": "w"}, ["site", "year"])):
        del fetched[:]
        found = tally(frame(r), true="y", score="s", threshold=0.5, exact=False, **options)
        groups = len({*zip(*(r[name].tolist() for name in names), strict=True)}) if names else 1
        assert max(fetched) <= groups * 2 * bars and sum(fetched) < ROWS
        for key, group in found.groups.items():
            part = held((r["site"] == key[0]) & (r["year"] == key[1]))
            exact = steelyard.score_table(part["y"], part["s"], sample_weight=part["w"])
            inside(group.scores, exact)
            assert group.scores.at(0.5).to_dict() == pytest.approx(exact.at(0.5).to_dict())


def test_rows_of_other_machines_stay_there_unless_every_score_is_asked_for(engine, frame, fetched, monkeypatch):
    monkeypatch.setattr(score_queries, "BINS", 8)
    away = engine in ("dask", "pyspark", "ibis", "ibis-sqlite")
    tally(frame(rows()), true="y", score="s", by="site")
    assert (max(fetched) >= ROWS) != away
    del fetched[:]
    tally(frame(rows()), true="y", pred="a", by="site")
    assert max(fetched) <= 3 * 4
    tally(frame(rows()), true="y", score="s", by="site", exact=True)
    assert max(fetched) >= ROWS


def test_as_many_bins_as_one_query_can_fetch():
    assert score_queries.fitting_bins(np.full(2, 10**9)) == 2**16
    assert score_queries.fitting_bins(np.full(20_000, 100)) == 2**5  # 10,000 groups of two labels
    assert score_queries.fitting_bins(np.full(20_000, 40)) == 2**16  # which have too few rows to fill more
    assert score_queries.fitting_bins(np.full(20_000_000, 10)) == 2


NAMES = [
    ("true", 1, "true= is the name of a column of the frame, as text, not 1; rename the column."),
    ("true", None, "score= names a column of a frame; name that of the truth too, with true=."),
    (
        "pred",
        np.array([0, 1]),
        "pred= is the name of a column of the frame, as text, not array([0, 1]); values are given as y_pred=.",
    ),
    ("by", np.array(["x", "y"]), "by= is the name of a column of the frame, as text, not array(['x', 'y']"),
    ("by", ["y", 3], "by= is the name of a column of the frame, as text, not 3; rename the column."),
    (
        "weight",
        np.array([1.0, 2.0]),
        "weight= is the name of a column of the frame, as text, not array([1., 2.]); values are given as sample_weight=.",
    ),
    ("frequency", [1, 2], "frequency= is the name of a column of the frame, as text, not [1, 2]."),
    ("threshold", "x", "A threshold is a number, not 'x'"),
    ("exact", "no", "exact= is True, False or None, not 'no'"),
]


@pytest.mark.parametrize(("use", "given", "words"), NAMES)
def test_columns_are_named_by_text(use, given, words):
    frame = ENGINES["pandas"](pa.table({"y": [0, 1], "p": [0, 1], "s": [0.1, 0.2]}))
    options = {"true": "y", "pred": "p", "score": "s", use: given}
    assert_refused(lambda: tally(frame, **options), InputTypeError, re.escape(words))
    numbered = frame.set_axis([0, 1, 2], axis=1)
    assert_refused(lambda: tally(numbered, true="y", pred="p"), InputTypeError, "rename them to text")


def test_scores_of_a_frame_are_compared_without_frequencies():
    frame = ENGINES["pandas"](pa.table({"y": [0, 1], "a": [0.5, 1], "b": [0.1, 0.2], "n": [1, 2]}))
    attempt = lambda: compare(frame, score=["a", "b"], true="y", frequency="n")
    assert_refused(attempt, InputError, "Scores are compared row by row, each row once")


def test_evaluate_keeps_every_score_of_a_frame_or_bins_them_as_asked():
    frame = ENGINES["polars"](pa.table({"y": [0, 1, 0, 1], "s": [0.1, 0.2, 0.1000001, 0.2000001]}))
    assert len(evaluate(frame, true="y", score="s", exact=False).scores.bins)
    assert not len(evaluate(frame, true="y", score="s", exact=True).scores.bins)
    assert_refused(
        lambda: evaluate([0, 1], [0, 1], exact=True), InputTypeError, "exact= is about the scores of a frame"
    )


def test_a_thing_that_is_no_frame_is_refused():
    for thing in ([1, 2], np.zeros(3)):
        words = "arrays were given; leave true= out, or give the frame first"
        assert_refused(lambda thing=thing: tally(thing, true="y", pred="p"), InputTypeError, words)
    assert_refused(lambda: tally({"y": [1]}, true="y", pred="p"), InputTypeError, "A frame of pandas, Polars")
    assert_refused(lambda: tally("file.csv", true="y", pred="p"), InputError, "There is no file 'file.csv'")
    assert_refused(lambda: tally(None, true="y", pred="p"), InputTypeError, "give that first")


# ---------------------------------------------------------------- Spark


def plans(monkeypatch):
    """The plan of each query that Spark runs."""
    import narwhals as nw

    seen, collect = [], nw.LazyFrame.collect

    def spy(self, *args, **options):
        seen.append(self.to_native()._jdf.queryExecution().executedPlan().toString())
        return collect(self, *args, **options)

    monkeypatch.setattr(nw.LazyFrame, "collect", spy)
    return seen


def test_no_query_of_spark_runs_python_on_its_workers(monkeypatch):
    made = ENGINES["pyspark"](pa.table(rows()))
    seen = plans(monkeypatch)
    for options in ({"pred": "a", "by": "site", "weight": "w"}, {"score": "s", "exact": False, "by": "site"}):
        tally(made, true="y", **options)
    assert len(seen) > 4 and not any(word in plan for plan in seen for word in ("Python", "Pandas", "MapInArrow"))
    by_python = made.mapInArrow(lambda batches: batches, made.schema)  # a plan does name it
    assert "MapInArrow" in by_python._jdf.queryExecution().executedPlan().toString()


def test_a_failing_task_of_spark_is_one_sentence_and_a_rerun_counts_the_same():
    made = ENGINES["pyspark"](pa.table(rows()))
    whole = tally(made, true="y", pred="a")
    broken = made.selectExpr(
        "y", "case when s > 0.9 then cast(raise_error('sensor 7 is broken') as int) else a end as a"
    )
    with pytest.raises(
        InputError, match=r"^pyspark could not count the rows \(.*sensor 7 is broken.*; nothing was kept"
    ) as raised:
        tally(broken, true="y", pred="a")
    assert "\n" not in str(raised.value)
    assert tally(made, true="y", pred="a") == whole
