"""Groups compared: one test that all are equal, differences that hold together, and gaps as fairlearn has them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest
from command_line import run_command

import steelyard
from steelyard import Counts, compare_groups, evaluate, group_thresholds, interval
from steelyard.exceptions import InputError, InputTypeError

N = 900
RNG = np.random.default_rng(5)
Y = (RNG.random(N) < 0.3).astype(int)
SITE = RNG.choice(["a", "b", "c"], N, p=[0.2, 0.3, 0.5])
S = np.clip(0.4 * Y * (SITE != "a") + 0.6 * RNG.random(N), 0, 1)
P = (S > 0.45).astype(int)
W, PATIENT = RNG.integers(1, 4, N) / 2, RNG.integers(0, 150, N)
FRAME = pl.DataFrame({"y": Y, "p": P, "s": S, "site": SITE, "w": W, "patient": PATIENT})
FEW = {"metrics": ["recall"], "draws": 200}


def of_rates(weight=None, draws=200, rng=0, **rates):
    """Groups of so many hits in so many positives, compared by their recall."""
    counts = {name: (hits, trials - hits, 10) for name, (hits, trials) in rates.items()}
    y_true = [label for hits, misses, rest in counts.values() for label in [1] * (hits + misses) + [0] * rest]
    y_pred = [label for hits, misses, rest in counts.values() for label in [1] * hits + [0] * (misses + rest)]
    site = [name for name, cells in counts.items() for _ in range(sum(cells))]
    weight = None if weight is None else [weight[name] for name in site]
    return compare_groups(
        y_true, y_pred, by={"site": site}, metrics=["recall"], draws=draws, rng=rng, sample_weight=weight
    )


def gap(kind, **rates):
    found = of_rates(**rates).gap(f"equal_opportunity_{kind}")
    return [found.value, found.low, found.high]


def wilson(hits, trials, level=0.95):
    found = interval("recall", Counts(hits, trials - hits, 0, 10), method="wilson", level=level)
    return found.value, found.low, found.high


def difference_of(one, other):
    """Newcombe's hybrid: the difference of two values from the ends of each."""
    (value, low, high), (less, less_low, less_high) = one, other
    middle = value - less
    return [
        middle,
        middle - math.hypot(value - low, less_high - less),
        middle + math.hypot(high - value, less - less_low),
    ]


def test_the_difference_of_two_rates_is_newcombes():
    """Newcombe (1998), example (a): 56 of 70 and 48 of 80."""
    np.testing.assert_allclose(gap("difference", a=(56, 70), b=(48, 80)), [0.2, 0.0524, 0.3339], atol=5e-5)


def test_a_ratio_holds_the_values_at_its_ends_and_is_undefined_of_nothing():
    value, low, high = gap("ratio", a=(100, 200), b=(40, 200))
    assert low < value < high < 1 and value == pytest.approx(0.4)
    # Donner and Zou's ends solve (value - r * other)**2 = (value - its end)**2 + r**2 * (other - its end)**2.
    (less, less_low, less_high), (more, more_low, more_high) = wilson(40, 200), wilson(100, 200)
    for end, near, far in ((low, less_low, more_high), (high, less_high, more_low)):
        assert (less - end * more) ** 2 == pytest.approx((less - near) ** 2 + end**2 * (more - far) ** 2, rel=1e-9)
    assert gap("ratio", a=(40, 200), b=(100, 200)) == [value, low, high]
    assert gap("ratio", a=(0, 9), b=(5, 10))[:2] == [0, 0]
    assert np.isnan(gap("ratio", a=(0, 9), b=(0, 8))).all()


def test_the_largest_difference_is_that_of_the_pair_farthest_apart():
    rates = {"a": (20, 40), "b": (72, 80), "c": (30, 50)}
    each = 0.95 ** (1 / 3)  # at which the three differences hold together
    expected = difference_of(wilson(*rates["b"], each), wilson(*rates["a"], each))
    assert gap("difference", **rates) == pytest.approx(expected, rel=1e-9)
    assert gap("difference", a=(20, 40), b=(22, 40))[1] == 0


def test_the_exact_test_has_the_p_value_of_all_tables_with_these_margins():
    from scipy.stats import hypergeom

    tables = np.arange(13)
    chi_square = (tables - 6) ** 2
    share = hypergeom.pmf(tables, 24, 12, 12)[chi_square >= 9].sum()
    p = [of_rates(a=(3, 12), b=(9, 12), rng=rng).tests[0].p_value for rng in range(20)]  # of 1,999 draws each
    assert np.mean(p) == pytest.approx(share, abs=4 * math.sqrt(share / 40_000))
    alike = of_rates(a=(0, 12), b=(0, 12)).tests[0]
    assert (alike.statistic, alike.p_value) == (0, 1)


def test_a_p_value_that_no_draw_reaches_is_shown_as_a_bound():
    y_true, site = [1] * 200 + [0] * 20, ["a"] * 100 + ["b"] * 100 + ["a", "b"] * 10
    y_pred = [1] * 95 + [0] * 5 + [1] * 30 + [0] * 70 + [0] * 20
    groups = compare_groups(y_true, y_pred, by={"site": site}, metrics=["recall", "specificity"], rng=0)
    shown = {row["metric"]: row["all groups equal"] for row in groups.test_rows()}
    assert shown == {"recall": "p <= 0.0005", "specificity": "p = 1.00"}
    saved = json.loads(groups.to_json())["tests"][0]
    assert saved["p_value"] == 0.0005 and saved["is_bound"] and saved["method"] == "Monte Carlo"
    assert [test.is_bound for test in steelyard.Result.from_json(groups.to_json()).tests] == [True, False]
    assert any("no draw differed as much" in note for note in groups.notes)


def test_the_test_by_intervals_is_cochrans_where_they_are_nearly_symmetric():
    from scipy.stats import chi2

    rates = {"a": (4_000, 8_000), "b": (4_080, 8_000), "c": (2_100, 4_000)}
    weight = dict.fromkeys(rates, 0.5)
    found = of_rates(weight=weight | {"c": 1.5}, draws=2_000, **rates).tests[0]
    values = np.array([hits / trials for hits, trials in rates.values()])
    errors = np.sqrt(values * (1 - values) / np.array([trials for _, trials in rates.values()]))
    mean = (values / errors**2).sum() / (1 / errors**2).sum()
    expected = (((values - mean) / errors) ** 2).sum()
    assert found.method == "intervals"
    assert found.statistic == pytest.approx(expected, rel=0.1)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2), rel=1e-6)


@pytest.mark.parametrize("weight", [None, W], ids=["rows", "weights"])
def test_gaps_have_fairlearns_values(weight):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    gaps = compare_groups(Y, P, by={"site": SITE}, sample_weight=weight, **FEW).gaps
    peers = [gap for gap in gaps if hasattr(fairlearn, gap.name.partition("[")[0])]
    assert len(peers) == 8  # predictive parity is ours alone
    for gap in peers:
        aggregate = {"agg": "mean"} if "agg" in gap.name else {}
        peer = getattr(fairlearn, gap.name.partition("[")[0])
        assert gap.value == pytest.approx(peer(Y, P, sensitive_features=SITE, sample_weight=weight, **aggregate))
        assert gap.low <= gap.value <= gap.high


def test_groups_that_differ_are_shown_and_what_equal_ones_would_show_stands_beside():
    groups = compare_groups(Y, P, by={"site": SITE})
    assert groups.test("recall").p_value < 0.01 and groups.test("recall").method == "Monte Carlo"
    assert groups.test("f1").method == "intervals"
    by_group = {row.group: row for row in groups if row.metric == "recall"}
    assert by_group["site = a"].high < 0 and by_group["site = a"].differs
    gap = groups.gap("equal_opportunity_difference")
    assert gap.low > 0 and gap.lowest == "site = a" and 0 < gap.if_equal < gap.value
    assert groups.headline.startswith("3 groups by site differ by recall")
    assert "minus" in repr(groups) and "if equal" in repr(groups)
    predictive = groups.gap("predictive_parity_difference")
    rates = [evaluate(Y[site == SITE], P[site == SITE], metrics=["precision"])["precision"].value for site in "abc"]
    assert predictive.value == pytest.approx(max(rates) - min(rates))


def test_each_group_is_compared_with_the_rest_with_each_other_or_with_one():
    rest, pairs, one = (
        compare_groups(Y, P, by={"site": SITE}, versus=versus, **FEW) for versus in ("rest", "pairs", "c")
    )
    assert [row.other for row in rest] == ["all other rows"] * 3
    others = evaluate(Y[SITE != "a"], P[SITE != "a"], metrics=["recall"], draws=20)["recall"].value
    assert rest.differences[0].other_value == pytest.approx(others)
    assert [(row.group[-1], row.other[-1]) for row in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(row.group[-1], row.other[-1]) for row in one] == [("a", "c"), ("b", "c")]
    same = [next(row for row in groups if row.group[-1] == "a" and row.other[-1] == "c") for groups in (pairs, one)]
    assert same[0].difference == same[1].difference
    assert same[0].high - same[0].low > same[1].high - same[1].low  # three hold together, or two
    two = compare_groups(Y, P, by=np.where(SITE == "a", "a", "b"), **FEW)
    assert [(row.group, row.other) for row in two] == [("group = a", "group = b")]


def test_frames_evaluations_and_arrays_give_one_answer():
    arrays = compare_groups(Y, P, by={"site": SITE}, **FEW)
    assert compare_groups(FRAME.lazy(), true="y", pred="p", by="site", **FEW) == arrays
    assert compare_groups(evaluate(Y, P, by={"site": SITE}, **FEW), metrics=["recall"], draws=200) == arrays
    saved = steelyard.Evaluation.from_json(evaluate(Y, P, by={"site": SITE}, **FEW).to_json())
    assert compare_groups(saved, draws=200) == arrays
    assert compare_groups(steelyard.tally(FRAME, true="y", pred="p", by="site"), **FEW) == arrays


def test_scores_weights_clusters_and_many_classes_are_compared_too():
    scores = compare_groups(FRAME, true="y", score="s", by="site", metrics=["roc_auc", "recall"], threshold=0.45)
    assert scores.test("roc_auc").p_value < 0.01 and scores.test("roc_auc").method == "intervals"
    weighted = compare_groups(FRAME, true="y", pred="p", weight="w", by="site", **FEW)
    assert weighted.test("recall").method == "intervals" and weighted.gaps[0].if_equal is None
    clustered = compare_groups(FRAME, true="y", pred="p", by="site", cluster="patient", **FEW)
    assert clustered.test("recall").p_value < 0.05 and any("clustered" in note for note in clustered.notes)
    labels = np.array(["x", "y", "z"])
    true, pred = labels[RNG.integers(0, 3, N)], labels[RNG.integers(0, 3, N)]
    classes = compare_groups(true, pred, by={"site": SITE}, metrics=["accuracy", "f1[average=macro]"], draws=200)
    assert [test.metric for test in classes.tests] == ["accuracy", "f1[average=macro]"] and not classes.gaps


def test_a_group_without_positives_has_no_recall_and_says_so():
    y = np.where(SITE == "a", 0, Y)
    groups = compare_groups(y, P, by={"site": SITE}, **FEW)
    row, gap = groups.differences[0], groups.gap("equal_opportunity_difference")
    assert math.isnan(row.difference) and row.undefined == "no positives where site = a"
    assert math.isnan(gap.value) and gap.undefined == "no positives where site = a"
    assert groups.test("recall").groups == 2
    assert not math.isnan(groups.gap("demographic_parity_ratio").value)


def test_groups_that_no_test_compares_are_not_said_to_be_alike():
    groups = compare_groups(Y, P, by={"site": SITE}, **FEW)
    untested = [replace(test, p_value=math.nan) for test in groups.tests]
    assert replace(groups, tests=type(groups.tests)(untested)).headline.startswith("Whether ")
    one = [replace(untested[0], p_value=0.9), *untested[1:]]
    headline = replace(groups, tests=type(groups.tests)(one)).headline
    assert f"by any of 1 metrics; {len(one) - 1} could not be tested" in headline or len(one) == 1


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: compare_groups(Y, P), "by= names the groups"),
        (lambda: compare_groups(Y, P, by=np.zeros(N)), "there is one group alone"),
        (lambda: compare_groups(Y, P, by=SITE, versus="d"), "versus= is 'rest', 'pairs' or a group, not 'd'"),
        (lambda: compare_groups(evaluate(Y, P, **FEW)), "there are no groups"),
        (lambda: compare_groups(evaluate(Y, P, by=SITE, **FEW), by=SITE), "an Evaluation holds its groups"),
        (lambda: compare_groups(evaluate(Y, P, by=SITE, cluster=PATIENT, **FEW)), "does not keep them; give the rows"),
        (lambda: compare_groups(Y, P, by=SITE, **FEW).gap("odds"), "There is no gap 'odds'"),
        (lambda: compare_groups(Y, P, by=SITE, **FEW).test("recal"), "recal was not compared"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(ask, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        ask()


def test_very_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr("steelyard.evaluation.compare_groups.MOST_COMPARED", 2)
    with pytest.raises(InputError, match="There are 3 groups; at most 2 are compared"):
        compare_groups(Y, P, by=SITE, **FEW)


def test_the_shell_compares_the_groups_of_a_file(tmp_path):
    FRAME.write_csv(tmp_path / "rows.csv")
    named = ["groups", str(tmp_path / "rows.csv"), "--true", "y", "--pred", "p", "--metrics", "recall"]

    def run(*more, code=0):
        ran = run_command(*named, *more, code=code)
        return ran.stdout if code == 0 else ran.stderr

    table = run("--by", "site")
    assert table.startswith("3 groups by site differ by recall.") and "equalized_odds_difference" in table
    assert steelyard.Result.from_json(run("--by", "site", "--format", "json")).versus == "all other rows"
    clustered = run("--by", "site", "--versus", "pairs", "--cluster", "patient", "--format", "csv")
    assert clustered.count("\n") == 4 and "site = b" in clustered
    assert "equal_opportunity_ratio" in run("--by", "site", "--format", "md")
    assert "--by names the groups to compare" in run(code=2)
    assert "'rest', 'pairs' or a group" in run("--by", "site", "--versus", "z", code=2)


AGE = np.where(np.arange(N) % 90 == 0, math.nan, RNG.integers(18, 90, N))
BINNED = FRAME.with_columns(age=pl.Series([None if math.isnan(age) else age for age in AGE]))


def test_a_column_of_numbers_is_divided_into_bins_by_its_quantiles():
    bins = {"bins": 4, "metrics": ["recall"], "draws": 20}
    arrays = evaluate(Y, P, by={"age": AGE}, **bins).groups
    sizes = [group.rows for group in arrays]
    assert len(sizes) == 5 and max(sizes[:4]) - min(sizes[:4]) < 0.06 * N and sizes[4] == 10
    assert (
        arrays[0].label.startswith("age < ")
        and arrays[3].label.startswith("age >= ")
        and " <= age < " in arrays[1].label
    )
    assert arrays[4].label == "age is missing"
    for frame in (BINNED, BINNED.to_pandas()):
        again = evaluate(frame, true="y", pred="p", by="age", **bins).groups
        assert [(group.label, group.rows) for group in again] == [(group.label, group.rows) for group in arrays]
    for frame in (BINNED.lazy(), duckdb.from_arrow(BINNED.to_arrow())):  # whose quantiles lie between rows
        again = evaluate(frame, true="y", pred="p", by="age", **bins).groups
        assert [group.label[:5] for group in again] == [group.label[:5] for group in arrays]
        assert all(abs(group.rows - own.rows) < 0.03 * N for group, own in zip(again, arrays, strict=True))
    edges = evaluate(BINNED, true="y", pred="p", by=["site", "age"], **{**bins, "bins": {"age": [40, 60]}}).groups
    assert [group.label for group in edges[:3]] == [
        f"site = a, {bin_}" for bin_ in ("age < 40", "40 <= age < 60", "age >= 60")
    ]
    few = evaluate(Y, P, by={"site": SITE, "ward": np.arange(N) % 3}, **bins).groups
    assert few[0].label == "site = a, ward = 0"  # text, and no more values than bins


def test_a_missing_level_has_the_words_of_a_slice_wherever_it_is_named(tmp_path):
    ages = [None if i % 3 == 0 else "old" if i % 3 == 1 else "young" for i in range(len(FRAME))]
    frame = FRAME.with_columns(pl.Series("age", ages))
    frame.write_csv(tmp_path / "rows.csv")
    named = [str(tmp_path / "rows.csv"), "--true", "y", "--pred", "p"]
    compared = run_command("groups", *named, "--by", "age")
    assert "age is missing" in compared.stdout and "age = –" not in compared.stdout
    gated = run_command("gate", *named, "--by", "age", "--require", "recall>=0.001")
    assert "age is missing" in gated.stdout and "age = –" not in gated.stdout
    listed = run_command("errors", *named, "--filter", "age is missing")
    rows = compare_groups(frame, true="y", pred="p", by="age", metrics=["recall"]).sizes[-1]
    assert f"of {rows} rows with age is missing are wrong" in listed.stdout


def test_bins_that_cannot_be_are_refused():
    for bins, words in (
        ({"agee": 4}, "no column of by=.*Did you mean 'age'"),
        ({"age": 1}, "cannot be divided"),
        ({"age": [3, 2]}, "edges that increase"),
    ):
        with pytest.raises(InputError, match=words):
            evaluate(Y, P, by={"age": AGE}, bins=bins)
    with pytest.raises(InputTypeError, match="name the groups with by="):
        evaluate(Y, P, bins=3)
    with pytest.raises(InputTypeError, match="edges divide numbers"):
        evaluate(FRAME, true="y", pred="p", by="site", bins={"site": [1.0]})


def test_bins_take_the_place_of_no_column_that_is_read_as_numbers(tmp_path):
    frame = FRAME.with_columns(pl.Series("age", AGE), pl.Series("s", np.linspace(0, 1, N)))
    for columns in ({"pred": "p", "cluster": "age"}, {"pred": "p", "weight": "age"}, {"pred": "p", "frequency": "age"}):
        (use,) = set(columns) - {"pred"}
        with pytest.raises(InputError, match=f"{use}= and by= both name the column 'age', and bins would take"):
            evaluate(frame, true="y", by="age", bins=3, **columns)
    with pytest.raises(InputError, match="score= and by= both name the column 's'"):
        evaluate(frame, true="y", score="s", by="s", bins=10**6)
    with pytest.raises(InputError, match="cluster= and by= both name"):
        compare_groups(frame, true="y", pred="p", by="age", bins=3, cluster="age")
    with pytest.raises(InputError, match="score= and by= both name"):
        group_thresholds(frame, true="y", score="s", by="s", bins=3)
    frame.write_parquet(tmp_path / "rows.parquet")
    words = ("--true", "y", "--pred", "p", "--cluster", "age", "--by", "age", "--bins", "age=3")
    ran = run_command("report", tmp_path / "rows.parquet", *words, code=2)
    assert "--cluster and --by both name the column 'age'" in ran.stderr


def test_a_column_of_groups_is_named_once(tmp_path):
    with pytest.raises(InputError, match="by= names the column 'site' twice"):
        compare_groups(FRAME, true="y", pred="p", by=["site", "site"])
    FRAME.write_csv(tmp_path / "rows.csv")
    words = ("--true", "y", "--pred", "p", "--by", "site", "--by", "site")
    assert "--by names the column 'site' twice" in run_command("report", tmp_path / "rows.csv", *words, code=2).stderr


def test_the_shell_divides_numbers_into_bins(tmp_path):
    BINNED.write_csv(tmp_path / "rows.csv")
    ran = run_command(
        "groups", tmp_path / "rows.csv", "--true", "y", "--pred", "p", "--by", "age", "--bins", "age=3", code=0
    )
    assert "by age" in ran.stdout and "age < " in ran.stdout and "age >= " in ran.stdout


def test_the_shell_refuses_bins_of_text_and_very_many_groups_and_hints_at_bins(tmp_path):
    rows = FRAME.with_columns(
        pl.Series("id", range(len(FRAME))), pl.Series("age", [20 + i % 24 for i in range(len(FRAME))])
    )
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")

    def run(name, by, *bins):
        named = ["groups", str(tmp_path / name), "--true", "y", "--pred", "p", "--metrics", "recall", "--by", by, *bins]
        ran = run_command(*named)
        return ran.exit_code, ran.stdout + ran.stderr

    for name in ("rows.csv", "rows.parquet"):
        code, words = run(name, "site", "--bins", "site=3")
        assert code == 0 and "site = a" in words  # a column of text has its groups already
    assert "--by age:4 is now --by age --bins age=4." in run("rows.csv", "age:4")[1]
    code, words = run("rows.csv", "id")
    assert code == 2 and f"There are {len(rows):,} groups; at most 200 are compared." in words
    code, words = run("rows.csv", "age")
    assert code == 0 and "--bins age=4 makes four groups of them" in " ".join(words.split())
    assert "makes four groups" not in run("rows.csv", "age", "--bins", "age=4")[1]


def test_the_shell_compares_thresholds_of_groups(tmp_path):
    FRAME.write_csv(tmp_path / "rows.csv")
    named = ["groups", str(tmp_path / "rows.csv"), "--true", "y", "--score", "s", "--by", "site", "--cost-fn", "5"]
    ran = run_command(*named, "--thresholds", code=0)
    assert "equal flag rate" in ran.stdout and "A miss costs 5, a false alarm 1" in ran.stdout
    saved = run_command(*named, "--thresholds", "--format", "json")
    assert len(steelyard.Result.from_json(saved.stdout).totals) == 3
    refused = run_command(*named)
    assert refused.exit_code == 2 and "add --thresholds" in refused.stderr
    labels = [*named[:4], "--pred", "p", *named[6:8], "--thresholds"]
    assert "give --score and --by." in run_command(*labels).stderr


@pytest.mark.parametrize("width", ["60", "80", "100"])
def test_every_part_of_the_table_of_thresholds_names_the_policy_and_the_group(tmp_path, width):
    FRAME.write_csv(tmp_path / "rows.csv")
    named = ["groups", str(tmp_path / "rows.csv"), "--true", "y", "--score", "s", "--by", "site", "--thresholds"]
    printed = run_command(*named, columns=width).stdout
    heads = [line.split() for line in printed.splitlines() if line.startswith("policy")]
    assert len(heads) > 1 and all(head[:2] == ["policy", "group"] for head in heads)
    assert printed.count("site = a") == 3 * len(heads)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["groups", "--by", "site"], "3 groups by site"),
        (["groups", "--by", "site", "--thresholds"], "equal flag rate"),
        (["errors", "--key", "site"], "farthest beyond the threshold"),
    ],
)
def test_groups_and_errors_are_written_as_a_page(tmp_path, words, shown):
    FRAME.write_csv(tmp_path / "rows.csv")
    named = [words[0], str(tmp_path / "rows.csv"), "--true", "y", "--score", "s", *words[1:]]
    run_command(*named, "-o", tmp_path / "page.html", code=0)
    html = (tmp_path / "page.html").read_text()
    assert html.startswith("<!doctype html>") and shown in html


def test_thresholds_of_groups_have_equal_recalls_or_flag_rates_and_what_they_cost():
    found = group_thresholds(FRAME, true="y", score="s", by="site", cost={"cost_fn": 5}, rng=1)
    by_policy = {
        policy: [row for row in found if row.policy == policy] for policy in dict.fromkeys(r.policy for r in found)
    }
    same, recalls, flags = by_policy.values()
    at = evaluate(Y, y_score=S, threshold=0.5, metrics=["recall"], draws=20)
    assert same[-1].recall == at["recall"].value and same[-1].threshold == 0.5
    for row in recalls[:-1]:
        positives = int(((row.group[-1] == SITE) & (Y == 1)).sum())
        assert abs(row.recall - same[-1].recall) <= 0.5 / positives + 1e-9
        flagged = (row.threshold <= S) & (row.group[-1] == SITE)
        assert row.flagged == flagged.sum() and row.false_alarms == (flagged & (Y == 0)).sum()
        assert row.low <= row.threshold <= row.high
    for row in flags[:-1]:
        assert abs(row.flag_rate - same[-1].flag_rate) <= 0.5 / int((row.group[-1] == SITE).sum()) + 1e-9
    for rows in by_policy.values():
        assert rows[-1].cost == 5 * rows[-1].misses + rows[-1].false_alarms == sum(row.cost for row in rows[:-1])
    assert found == group_thresholds(Y, S, by={"site": SITE}, cost={"cost_fn": 5}, rng=1)
    assert "new rows" in found.headline and "equal recall" in repr(found)


def test_thresholds_chosen_on_few_rows_keep_less_on_new_ones():
    """Equal recall of 12 positives: on new rows the recalls differ, which the rows that chose them do not show."""
    rng = np.random.default_rng(3)
    true = np.tile([1] * 12 + [0] * 60, 3)
    score, group = np.clip(0.3 * true + 0.6 * rng.random(216), 0, 1), np.repeat(list("abc"), 72)
    rows = [row for row in group_thresholds(true, score, by=group, recall=1.0) if row.policy == "equal recall"]
    assert all(row.recall == 1 and row.new_recall < 0.99 for row in rows)
    bare = group_thresholds(true, score, by=group, draws=0)
    assert bare.each[0].new_cost is None and "these rows" in bare.headline


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: group_thresholds(Y, S), "two groups or more"),
        (lambda: group_thresholds(Y, 3 * S, by=SITE), "give threshold="),
        (lambda: group_thresholds(Y, S, by=SITE, recall=2), "recall= is a share"),
        (lambda: group_thresholds(Y, S, by=SITE, cost={"cost": 2}), "is no cost of groups"),
        (lambda: group_thresholds(Y, S, by=SITE, cost={"cost_fn": "amount"}), "cost_fn is a finite number"),
        (lambda: group_thresholds(Y, S, by=SITE, cluster=PATIENT), "cluster"),
    ],
)
def test_thresholds_of_groups_that_cannot_be_are_refused(ask, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        ask()


def test_the_page_shows_whether_groups_are_equal_and_their_differences():
    html = evaluate(Y, y_score=S, threshold=0.45, by={"site": SITE}).to_html()
    assert "Are all groups equal?" in html and "Recall p &lt;= 0.0005" in html
    assert html.count("all other rows") >= 3 and "group-differences" in html and len(html.encode()) <= 180 * 1024
    clustered = evaluate(Y, P, by={"site": SITE}, cluster=PATIENT, **FEW).to_html()
    assert "Are all groups equal?" not in clustered  # it does not keep the rows
