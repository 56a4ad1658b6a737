"""Slices: what is counted, tested, merged, stated and refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from command_line import run_command
from engines import ENGINES
from scipy.stats import hypergeom, norm

from steelyard import Predictions, Result, get_metric, slices
from steelyard.analysis.slices import count_tests, score_test
from steelyard.analysis.slices import slices as slice_question
from steelyard.exceptions import SteelyardError
from steelyard.frames import features
from steelyard.frames import slices as slice_queries

LETTERS = np.array(list("ABCDEF"))


def table(rows=4000, bad_recall=0.3, seed=0):
    """Rows of which those of 75 years and more at site B have a lower recall and lower scores."""
    rng = np.random.default_rng(seed)
    age, site = rng.integers(20, 90, rows), rng.choice(["A", "B", "C"], rows).astype(object)
    site[rng.random(rows) < 0.05] = None
    dose, zero = rng.lognormal(size=rows), np.where(rng.random(rows) < 0.5, 0, rng.gamma(2, size=rows))
    bad, y = (age >= 75) & (site == "B"), rng.random(rows) < 0.3
    p = np.where(y, rng.random(rows) < np.where(bad, bad_recall, 0.8), rng.random(rows) < 0.05)
    score = np.clip((p + rng.random(rows)) / 2, 0, 0.999)
    columns = {
        "age": age,
        "site": site.tolist(),
        "dose": pa.array([None if i < 300 else d for i, d in enumerate(dose)]),
    }
    return pa.table({**columns, "zero": zero, "few": rng.integers(0, 3, rows), "y": y * 1, "p": p * 1, "s": score})


FEATURES = ["age", "site", "dose", "zero", "few"]
ASKED = {"true": "y", "pred": "p", "features": FEATURES}


@pytest.fixture(scope="module")
def frame():
    return ENGINES["polars"](table())


def test_a_planted_slice_is_stated_once_and_holds_its_rows(frame):
    found = slices(frame, **ASKED, conditions=3)
    (row,) = found
    assert row.slice == "age >= 76 and site = B"
    inside = ((frame["age"] >= 76) & (frame["site"] == "B").fill_null(False)).to_numpy()
    y, p = frame["y"].to_numpy() == 1, frame["p"].to_numpy() == 1
    assert row.rows == inside.sum()
    assert row.count == (inside & y).sum()
    assert row.value == pytest.approx((inside & y & p).sum() / (inside & y).sum())
    assert row.elsewhere == pytest.approx((~inside & y & p).sum() / (~inside & y).sum())
    assert row.error_share == pytest.approx((inside & y & ~p).sum() / (y & ~p).sum())
    assert row.p_value == pytest.approx(
        hypergeom.cdf((inside & y & p).sum(), y.sum(), (y & p).sum(), (inside & y).sum())
    )
    assert row.low < row.value < row.high < row.elsewhere
    assert found.discoveries == len(found.found) > 3
    assert {each.explained_by for each in found.found} == {None, row.slice}
    assert "age >= 76 and site = B: recall 3" in found.sentences[1]
    assert "of the misses" in found.sentences[1]
    assert "1 slice is worse by recall, among" in repr(found)


@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy", "false_negative_rate", "roc_auc", "log_loss", "brier"])
def test_every_kind_of_metric_finds_it(frame, metric):
    found = slices(frame, true="y", score="s", features=FEATURES, metric=metric)
    assert [each.slice for each in found] == ["age >= 76 and site = B"]
    each = next(iter(found))
    assert each.low <= each.value <= each.high
    sign = get_metric(metric).sign
    assert sign * each.value < sign * found.value < sign * each.elsewhere
    assert all(sign * row.value < sign * found.value for row in found.findable if not np.isnan(row.value))


def test_nothing_found_is_an_answer_that_says_what_could_have_been_found(frame):
    found = slices(ENGINES["polars"](table(bad_recall=0.8, seed=1)), **ASKED)
    assert len(found) == 0
    assert (
        found.headline
        == f"No slice is shown to be worse by recall, among {found.tested} tested at a false discovery rate of 5 %."
    )
    assert "Findable: of all rows recall is" in repr(found)
    counts = [row.count for row in found.findable]
    values = [row.value for row in found.findable]
    assert counts == sorted(counts)
    assert values == sorted(values)


def test_a_slice_result_is_saved_and_shown(frame, tmp_path):
    found = slices(frame, **ASKED)
    assert Result.from_json(found.to_json()) == found
    assert found.to_frame("polars").height == 1
    assert "age &gt;= 76" in found.to_html()
    assert "| slice" in found.to_markdown()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_slices(engine, frame):
    expected = slices(frame, **ASKED)
    assert slices(ENGINES[engine](table()), **ASKED).to_json() == expected.to_json()


@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb"])
def test_rows_are_counted_where_they_live_by_blocks_and_bins_found_by_halving(engine, frame, monkeypatch):
    monkeypatch.setattr(slice_question, "fits_memory", lambda *_: False)
    monkeypatch.setattr(slice_queries, "MOST_DISTINCT", 100)
    monkeypatch.setattr(slice_queries.RemoteRows, "most_cells", 600)
    for asked in (ASKED, {"true": "y", "score": "s", "features": FEATURES, "metric": "f1"}):
        remote = slices(ENGINES[engine](table()), **asked)
        monkeypatch.undo()
        assert remote.to_json() == slices(frame, **asked).to_json()


def test_a_frequency_counts_rows_as_often_as_it_states(frame):
    import polars as pl

    counted = frame.group_by(*FEATURES, "y", "p").agg(pl.len().alias("n"))
    assert slices(counted, **ASKED, frequency="n").to_json() == slices(frame, **ASKED).to_json()


def test_a_condition_that_changes_nothing_makes_no_slice():
    import polars as pl

    frame = ENGINES["polars"](table()).with_columns(
        region=pl.col("site").replace({"A": "north", "B": "south", "C": "south"})
    )
    alone = slices(frame, true="y", pred="p", features=["site"], conditions=1)
    both = slices(frame, true="y", pred="p", features=["site", "region"])
    assert both.candidates == alone.candidates + 3  # the regions; with a site they would hold what it holds alone
    assert all("and" not in each.slice for each in both.found)


def test_a_parent_explains_its_children_and_a_child_its_parent():
    import polars as pl

    rng = np.random.default_rng(3)
    n = 8000
    x, z = rng.integers(0, 4, n), rng.integers(0, 4, n)
    y = rng.random(n) < 0.5
    for worse, stated in ((x == 2, ["x = 2"]), ((x == 2) & (z == 1), ["x = 2 and z = 1"])):
        p = y & (rng.random(n) < np.where(worse, 0.5, 0.85))
        found = slices(pl.DataFrame({"x": x, "z": z, "y": y, "p": p}), true="y", pred="p")
        assert [each.slice for each in found] == stated
        assert found.discoveries > 1


@pytest.mark.parametrize("metric", ["recall", "f1", "brier"])
def test_neighbouring_bins_are_joined_and_a_parent_that_is_no_worse_without_them_is_not_stated(metric):
    import polars as pl

    rng = np.random.default_rng(1)
    n = 20_000
    age, site = rng.integers(18, 90, n), rng.choice(list("ABCD"), n, p=[0.4, 0.3, 0.2, 0.1])
    y, bad = rng.random(n) < 0.1, (age >= 60) & (site == "B")
    score = 1 / (1 + np.exp(-np.where(y, rng.normal(np.where(bad, -0.3, 1.3), 1), rng.normal(-2.2, 1, n))))
    frame = pl.DataFrame({"age": age, "site": site, "other": rng.integers(0, 3, n), "y": y, "s": score})
    found = slices(frame, true="y", score="s", metric=metric)
    (row,) = found
    assert (row.slice, row.joined, row.rows) == ("age >= 60 and site = B", 2, bad.sum())
    members = [each for each in found.found if each.explained_by == row.slice and "<= age < " in each.slice]
    assert row.rows == sum(each.rows for each in found.found if each.slice.endswith("and site = B") and not each.joined)
    assert row.p_value < min(each.p_value for each in found.found if each is not row)
    assert row.p_adjusted == max(each.p_adjusted for each in found.found if each.slice.endswith("and site = B"))
    assert members
    assert found.discoveries == len(found.found) - 1
    assert f"{found.discoveries - 2} more overlap it" in found.headline
    assert "joins 2 slices in neighbouring bins" in repr(found)
    if metric == "recall":
        caught = y & (score >= 0.5)
        assert row.value == pytest.approx((bad & caught).sum() / (bad & y).sum())


def test_more_discoveries_than_are_merged_are_still_rows():
    rng = np.random.default_rng(0)
    y, bad = np.repeat([1, 0], [1_500, 500]), rng.random(2_000) < 0.3
    p = np.where(y == 1, rng.random(2_000) < np.where(bad, 0.3, 0.9), 0).astype(int)
    alike = {f"f{i}": np.where(rng.random(2_000) < 0.02, ~bad, bad) for i in range(140)}
    found = slices(ENGINES["polars"](pa.table({**alike, "y": y, "p": p})), true="y", pred="p", conditions=1)
    assert len(found.found) == found.discoveries >= 140


def test_bins_beside_each_other_of_which_one_is_worse_are_not_joined():
    import polars as pl

    rng = np.random.default_rng(5)
    n = 20_000
    x, y = rng.integers(0, 100, n), rng.random(n) < 0.4
    p = y & (rng.random(n) < np.select([x >= 80, x >= 60], [0.4, 0.65], 0.85))
    found = slices(pl.DataFrame({"x": x, "y": y, "p": p}), true="y", pred="p")
    assert [(each.slice, each.joined) for each in found] == [("x >= 80", 0), ("60 <= x < 80", 0)]


def test_the_second_statement_may_have_twice_the_p_value_of_the_first():
    """By itself w is missed with p = .018, above .05 / 4 and below 2 * .05 / 4; its caught and missed rows are planted."""
    planted = {("x", "v"): (460, 40), ("x", "w"): (439, 61), ("z", "v"): (50, 50), ("z", "w"): (38, 62)}
    kinds = [
        (a, b, 1, p)
        for (a, b), counts in planted.items()
        for p, n in zip((1, 0), counts, strict=True)
        for _ in range(n)
    ]
    columns = zip(*kinds, *[("x", "v", 0, 0)] * 30, strict=True)
    rows = pa.table(dict(zip(("a", "b", "y", "p"), map(list, columns), strict=True)))
    found = slices(rows, true="y", pred="p", conditions=1)
    assert found.tested == 4
    assert [each.slice for each in found] == ["a = z", "b = w"]


@pytest.mark.parametrize("metric", ["roc_auc", "brier"])
def test_two_slices_of_scores_that_are_worse_are_two_statements(metric):
    rng = np.random.default_rng(4)
    n = 6_000
    a, b, y = rng.integers(0, 6, n), rng.integers(0, 6, n), rng.random(n) < 0.3
    signal = np.where((a == 2) | (b == 4), 0.3, 2.0)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + np.where(y, signal, -signal))))
    rows = pa.table({"a": LETTERS[a], "b": LETTERS[b], "y": y, "s": score})
    found = slices(rows, true="y", score="s", metric=metric, conditions=1)
    assert {each.slice for each in found} == {"a = C", "b = E"}


def test_accuracy_of_many_classes_needs_no_positive_one(monkeypatch):
    import polars as pl

    rng = np.random.default_rng(2)
    n = 6000
    site, y = rng.choice(list("ABC"), n), rng.choice(list("abcd"), n)
    p = np.where(rng.random(n) < np.where(site == "C", 0.35, 0.1), rng.choice(list("abcd"), n), y)
    frame = pl.DataFrame({"site": site, "y": y, "p": p})
    found = slices(frame, true="y", pred="p", metric="accuracy")
    (row,) = found
    assert (row.slice, found.positive) == ("site = C", None)
    assert row.value == pytest.approx((y == p)[site == "C"].mean())
    assert [each.slice for each in slices(frame, true="y", pred="p", metric="error_rate")] == ["site = C"]
    with pytest.raises(SteelyardError, match="positive"):
        slices(frame, true="y", pred="p", metric="recall")
    monkeypatch.setattr(slice_question, "fits_memory", lambda *_: False)
    assert slices(frame.lazy(), true="y", pred="p", metric="accuracy").to_json() == found.to_json()


# ---------------------------------------------------------------- tests and their correction


def test_hypergeometric_tails_are_those_of_scipy():
    rng = np.random.default_rng(0)
    drawn = rng.integers(1, 900, 300)
    good = rng.hypergeometric(700, 300, drawn)
    tails = count_tests.tail_below(good, drawn, np.array(700), np.array(1000))
    below = good * 1000 < drawn * 700
    assert tails[below] == pytest.approx(hypergeom.cdf(good, 1000, 700, drawn)[below], rel=1e-10)
    assert (tails[~below] == 1).all()
    least = hypergeom.cdf(np.maximum(0, drawn - 300), 1000, 700, drawn)
    assert count_tests.least_tail(drawn, np.array(700), np.array(1000)) == pytest.approx(least, rel=1e-10)
    assert count_tests.tail_below(np.array([12]), np.array([60]), np.array(8000), np.array(10000))[0] == pytest.approx(
        hypergeom.cdf(12, 10000, 8000, 60), rel=1e-9
    )


@pytest.mark.parametrize("metric", ["f1", "mcc", "g_mean", "cohen_kappa"])
def test_the_class_test_sums_the_probability_of_every_table_as_bad(metric):
    test, whole, (positives, negatives) = count_tests.ClassTest(get_metric(metric)), np.array([30, 10, 12, 60]), (8, 15)
    tp, fp = (part.ravel() for part in np.meshgrid(np.arange(9), np.arange(13), indexing="ij"))
    tables = np.stack([tp, positives - tp, fp, negatives - fp], -1)
    mass = hypergeom.pmf(tp, 40, 30, positives) * hypergeom.pmf(fp, 72, 12, negatives)
    values = test.values(tables)
    for seen in ([3, 5, 6, 9], [4, 4, 5, 10], [2, 6, 2, 13]):
        at = float(test.values(np.array(seen)))
        expected = mass[~(values > at + 1e-12)].sum()
        assert test.p_values(features.SliceTable(np.array([seen])), features.SliceTable(whole))[0] == pytest.approx(
            expected, rel=1e-9
        )


def test_the_saddlepoint_is_near_the_exact_tail_far_out():
    ranks = [np.arange(40.0), np.arange(30.0)]
    rng = np.random.default_rng(0)
    drawn = np.array([[rng.permutation(40)[:12].sum(), rng.permutation(30)[:9].sum()] for _ in range(40_000)])
    sums = (drawn - [12 * 19.5, 9 * 14.5]).sum(-1)
    seen = np.quantile(sums, [0.95, 0.99, 0.999])
    exact = np.array([(sums >= at).mean() for at in seen])
    tails = score_test.tail_above(
        seen - 0.5, np.tile([12, 9], (3, 1)), np.ones((3, 2)), [score_test.Atoms.of(each) for each in ranks]
    )
    assert tails == pytest.approx(exact, rel=0.25)
    ones = [np.repeat([0.0, 1.0], [800, 200]), np.linspace(0, 1e-9, 50)]
    far = score_test.tail_above(
        np.array([29.5]), np.array([[100, 10]]), np.ones((1, 2)), [score_test.Atoms.of(each) for each in ones]
    )
    assert far[0] == pytest.approx(hypergeom.sf(49, 1000, 200, 100), rel=0.1)  # 8.7e-13


@pytest.mark.parametrize("metric", ["roc_auc", "brier"])
def test_within_rows_that_are_left_a_sum_is_taken_as_normal_with_the_moments_of_draws_without_replacement(metric):
    rng = np.random.default_rng(0)
    values = [rng.normal(1, 2, 50), rng.normal(-3, 1, 80)]
    inside = [np.arange(50) < 15, np.arange(80) < 10]
    sums = lambda parts: np.array([part.sum() for part in parts] + [(part**2).sum() for part in parts])
    parts = [value[which] for value, which in zip(values, inside, strict=True)]
    test = score_test.ScoreTest(get_metric(metric), None, None)
    found = test.merged_p_values(
        features.SliceTable(np.array([[15, 10]]), sums(parts)[None]),
        features.SliceTable(np.array([[50, 80]]), sums(values)[None]),
    )
    weights = (130 / 25, 130 / 25) if metric == "brier" else (50 / 15, 80 / 10)
    off = sum(
        w * (part.sum() - len(part) * value.mean()) for w, part, value in zip(weights, parts, values, strict=True)
    )
    variance = sum(
        w**2 * len(part) * (1 - len(part) / len(value)) * value.var(ddof=1)
        for w, part, value in zip(weights, parts, values, strict=True)
    )
    assert found == pytest.approx(norm.sf(off / np.sqrt(variance)), rel=1e-9)


def test_discoveries_are_those_of_benjamini_and_hochberg_and_leave_out_what_cannot_be_one():
    p = np.array([0.001, 0.045, 0.012, 0.9, 0.035])
    assert slice_question.discoveries(p, 0.05).places.tolist() == [0, 2]
    assert slice_question.discoveries(p, 0.05, "by").places.tolist() == [0]
    assert slice_question.discoveries(p, 0.05).adjusted == pytest.approx([0.005, 0.03])
    able = slice_question.discoveries(p, 0.05, least=np.array([1e-4, 0.5, 1e-3, 0.5, 0.5]))
    assert (able.tested, able.places.tolist()) == (2, [0, 2])
    few = slice_question.discoveries(np.full(5, 0.02), 0.05, least=np.array([0.001, 0.02, 0.03, 0.04, 0.5]))
    assert (few.tested, few.places.tolist()) == (2, [0, 1])  # two can reach 0.05 / 2, and one of four 0.05 / 4
    assert slice_question.discoveries(np.ones(5), 0.05).level == pytest.approx(0.99)


def test_what_is_findable_is_found_in_four_of_five():
    rng = np.random.default_rng(0)
    value = count_tests.findable_rate(200, 80_000, 100_000, 0.05 / 150_000)
    good = rng.binomial(200, value, 4000)
    share = (count_tests.tail_below(good, np.array(200), np.array(80_000), np.array(100_000)) <= 0.05 / 150_000).mean()
    assert 0.78 < share < 0.86
    assert np.isnan(count_tests.findable_rate(20, 90, 1000, 1e-3))


def test_bins_hold_about_equally_many_rows_and_end_at_round_numbers():
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=5000), rng.lognormal(3, 2, 5000), rng.integers(0, 100, 5000) * 1.0):
        (edges,) = features.bin_edges(features.MemoryColumns([values], [None]), 5)
        shares = np.diff([0, *((values < edge).mean() for edge in edges), 1])
        assert len(edges) == 4
        assert (np.abs(shares - 0.2) < 0.045).all()
        assert all(len(f"{edge:.6g}".strip("-0.").replace(".", "")) <= 3 for edge in edges)
    (edges,) = features.bin_edges(
        features.MemoryColumns([np.where(rng.random(5000) < 0.7, 0, rng.random(5000))], [None]), 5
    )
    assert edges[0] > 0
    assert len(edges) == 2


# ---------------------------------------------------------------- refusals and the shell


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"features": ["age", "y"]}, "'y' is the truth itself"),
        ({"features": ["agee"]}, "no column 'agee'"),
        ({"conditions": 4}, "at most 3, not 4.*give 1, 2 or 3"),
        ({"fdr": 2}, "fdr= is"),
        ({"method": "holm"}, "'bh'"),
        ({"metric": "prevalence"}, "no better and worse"),
        ({"metric": "roc_auc"}, "needs scores"),
        ({"weight": "dose"}, "weight= has no place in slices"),
        ({"cluster": "site"}, "cluster= has no place in slices"),
        ({"pred": None}, "pred="),
        ({"min_rows": 0}, "min_rows= is a whole number"),
        ({"n_bins": 1}, "n_bins is 2 or more, not 1"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(frame, asked, sentence):
    with pytest.raises(SteelyardError, match=sentence):
        slices(frame, **{**ASKED, **asked})


def test_a_column_of_names_is_left_out_by_name(frame):
    import polars as pl

    found = slices(
        frame.with_columns(name=pl.int_range(pl.len()).cast(pl.String)), **{**ASKED, "features": ["site", "name"]}
    )
    assert found.left_out == ("name",)
    assert "Left out, as no level or bin has 20 rows: name." in repr(found)


def test_nothing_tested_is_not_nothing_found(frame):
    import polars as pl

    wide = frame.with_columns(name=pl.int_range(pl.len()).cast(pl.String), one=pl.lit("a"))
    for feature in ("name", "one"):
        found = slices(wide, **{**ASKED, "features": feature})
        assert found.headline == (
            "No slice could be tested by recall: no level or bin has at least 20 positives in it, and as many outside."
        )
        assert "Findable" not in repr(found)
        assert "Benjamini" not in repr(found)


def test_a_slice_of_one_condition_is_singular(frame):
    assert "slices of 1 condition with at least 20 positives" in repr(slices(frame, **ASKED, conditions=1))


def test_no_rows_and_scores_that_are_missing_are_named(frame, tmp_path):
    import polars as pl

    with pytest.raises(SteelyardError, match="There are no rows to count; give at least one"):
        slices(frame.head(0), **ASKED)
    gone = frame.with_columns(s=pl.when(pl.int_range(pl.len()) == 6).then(None).otherwise("s"))
    with pytest.raises(SteelyardError, match="the first in row 7"):
        slices(gone, true="y", score="s", features="site")


def run(*words, code=0):
    return run_command("slices", *words, code=code)


def test_the_shell_finds_slices(frame, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    file, page = tmp_path / "rows.csv", tmp_path / "page.html"
    frame.write_csv(file)
    columns = ["--true", "y", "--pred", "p", "--features", ",".join(FEATURES)]
    expected = slices(frame, **ASKED)
    assert run(file, *columns).stdout == f"{expected!r}\n"
    assert Result.from_json(run(file, *columns, "--format", "json").stdout).found == expected.found
    assert run(file, *columns, "--format", "csv").stdout.startswith("slice,value,low,high")
    run(file, *columns, "-o", page)
    assert "age &gt;= 76" in page.read_text()
    assert "no column 'agee'" in run(file, "--true", "y", "--pred", "p", "--features", "agee", code=2).stderr
    assert "No metric is called" in run(file, *columns, "--metric", "recall,f1", code=2).stderr


@pytest.mark.parametrize("kind", ["frame", "s.parquet", "s.csv", "arrays"])
def test_dates_identifiers_and_what_other_models_gave_are_no_features(kind, tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    y, days = rng.random(n) < 0.2, np.datetime64("2024-01-01") + np.arange(n) % 300
    signal = rng.normal(size=n) + 2 * y
    columns = {"id": np.arange(n) + 1000, "code": [f"c{i:05d}" for i in range(n)], "day": days.tolist()}
    columns |= {"age": rng.integers(20, 90, n), "share": rng.random(n), "smoker": rng.random(n) < 0.3}
    columns |= {"lr": 1 / (1 + np.exp(2 - signal)), "other": (signal > 1) * 1}
    rows = {"y": y * 1, "p": 1 / (1 + np.exp(2 - signal - rng.normal(size=n)))}
    frame = pl.DataFrame({**columns, **rows})
    if kind == "frame":
        found = slices(frame, true="y", score="p", threshold=0.3)
    elif kind == "arrays":
        found = slices(rows["y"], y_score=rows["p"], columns=columns, threshold=0.3)
    else:
        getattr(frame, f"write_{kind[2:]}")(tmp_path / kind)
        found = slices(tmp_path / kind, true="y", score="p", threshold=0.3)
    assert found.features == ("age", "share", "smoker")
    said = " ".join(found.assumed)
    for words in (
        "id, code (identifiers)",
        "day (dates)",
        "lr, other (follows the truth as a model does)",
        "features=",
    ):
        assert words in said
    assert "Scores were thresholded at 0.3." in found.notes and "Scores were thresholded at 0.3." in found.to_markdown()
    named = slices(frame, true="y", score="p", features=["id", "lr"])
    assert named.features == ("id", "lr") and not any("thresholded at 0.3." in text for text in named.assumed)


def test_the_shell_states_which_columns_it_took_and_takes_names_with_commas(frame, tmp_path):
    file = tmp_path / "rows.csv"
    frame.select("site", "y", "p", few="few").rename({"few": "few, some"}).write_csv(file)
    asked = [file, "--true", "y", "--pred", "p", "--format", "json"]
    taken = Result.from_json(run(*asked).stdout)
    assert "The features are all other columns: site, few, some; --features names them." in taken.assumed
    named = Result.from_json(run(*asked, "--features", "site", "--features", "few, some").stdout)
    assert named.features == ("site", "few, some")
    assert named.found == taken.found


def test_arrays_and_files_have_the_slices_of_their_frame(frame, tmp_path):
    columns = {name: frame[name].to_numpy() for name in ("age", "site", "few")}
    truth, score = frame["y"].to_numpy(), frame["s"].to_numpy()
    words = np.where(truth == 1, "yes", "no")
    asked = {"features": ["age", "site", "few"], "metric": "f1"}
    expected = slices(frame, true="y", score="s", **asked)
    given = Predictions(words, y_score=score, columns=columns).slices(**asked)
    assert [each.row() for each in given.found] == [each.row() for each in expected.found]
    assert "The positive class is 'yes' by convention" in given.assumed[0]
    assert (
        expected.assumed[0]
        == given.assumed[1]
        == "Scores were thresholded at 0.5; operating_points compares it with others."
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    assert slices(tmp_path / "rows.parquet", true="y", score="s", **asked).to_json() == expected.to_json()
    in_site = slices(words, y_score=score, columns=columns, filter="site = B", features="age", metric="f1")
    assert in_site.rows == int((columns["site"] == "B").sum())
    with pytest.raises(SteelyardError, match="scores of one class, and there is a column for each; give pos_label="):
        slices(np.arange(60) % 3, y_score=np.full((60, 3), 1 / 3), columns={"x": np.arange(60)}, metric="roc_auc")
