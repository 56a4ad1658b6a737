"""Comparison beyond two plain columns: weights, clusters, several models, margins, and models of different rows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import assert_refused
from scipy import stats

import steelyard
from steelyard import Counts, Prevalence, Result, compare, evaluate, interval, score_table
from steelyard.exceptions import InputError, InputTypeError

RNG = np.random.default_rng(3)
N = 600
Y = RNG.random(N) < 0.2
COMMON = RNG.normal(size=N)
SCORES = {name: stats.norm.cdf(0.6 * COMMON + 0.8 * RNG.normal(size=N) + shift * Y - 1.2) for name, shift in zip("abc", (1.2, 0.9, 0.9), strict=True)}  # fmt: skip
PRED = {name: (score > 0.3).astype(int) for name, score in SCORES.items()}
TWO = {name: SCORES[name] for name in "ab"}
WEIGHT, CLUSTER = RNG.uniform(0.5, 3, N), RNG.integers(0, 30, N)
FRAME = pd.DataFrame({"y": Y.astype(int), **PRED, **{f"s{name}": score for name, score in SCORES.items()}, "w": WEIGHT, "c": CLUSTER})  # fmt: skip
RANKED = ["roc_auc", "average_precision", "brier"]
LABELLED = ["recall", "precision", "mcc"]


def numbers(comparison):
    return [(r.metric, r.value_a, r.value_b, r.difference, r.low, r.high, r.p_value) for r in comparison]


def close(one, other, **tolerance):
    for (name, *mine), (other_name, *theirs) in zip(numbers(one), numbers(other), strict=True):
        assert name == other_name
        assert mine == pytest.approx(theirs, **tolerance), name


# ---------------------------------------------------------------- weights


def test_weights_of_one_change_nothing():
    plain = compare(Y, y_score=TWO, metrics=RANKED)
    close(compare(Y, y_score=TWO, metrics=RANKED, sample_weight=np.ones(N)), plain, rel=1e-9, abs=1e-12)
    labels, weighted = (compare(Y, {n: PRED[n] for n in "ab"}, metrics=LABELLED, **w) for w in ({}, {"sample_weight": np.full(N, 7.0)}))  # fmt: skip
    close(weighted, labels, rel=0.03, abs=0.01)


def test_values_are_weighted_and_fewer_effective_rows_give_wider_intervals():
    plain, weighted = (compare(Y, y_score=TWO, metrics=["roc_auc"], **w).rows[0] for w in ({}, {"sample_weight": WEIGHT**3}))  # fmt: skip
    assert weighted.value_a == pytest.approx(steelyard.roc_auc(Y, SCORES["a"], sample_weight=WEIGHT**3))
    assert weighted.high - weighted.low > 1.1 * (plain.high - plain.low)
    plain, weighted = (compare(Y, {n: PRED[n] for n in "ab"}, metrics=["recall"], **w).rows[0] for w in ({}, {"sample_weight": WEIGHT**3}))  # fmt: skip
    assert weighted.value_b == pytest.approx(steelyard.recall(Y, PRED["b"], sample_weight=WEIGHT**3))
    assert weighted.high - weighted.low > 1.1 * (plain.high - plain.low)


def test_rows_of_no_weight_are_left_out():
    weight = np.where(np.arange(N) < 500, 1.0, 0.0)
    first = {name: score[:500] for name, score in TWO.items()}
    left, whole = compare(Y[:500], y_score=first, metrics=RANKED), compare(Y, y_score=TWO, metrics=RANKED, sample_weight=weight)  # fmt: skip
    close(whole, left, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("engine", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
@pytest.mark.parametrize("options", [{"weight": "w"}, {"cluster": "c"}, {"weight": "w", "cluster": "c"}])
def test_columns_of_a_frame_are_the_arrays_themselves(engine, options):
    arrays = {{"weight": "sample_weight"}.get(use, use): FRAME[name].to_numpy() for use, name in options.items()}
    labels = compare(Y, {n: PRED[n] for n in "ab"}, metrics=LABELLED, **arrays)
    close(compare(engine(FRAME), true="y", pred=["a", "b"], metrics=LABELLED, **options), labels, rel=0.1, abs=0.03)
    scores = compare(Y, y_score={"sa": SCORES["a"], "sb": SCORES["b"]}, metrics=RANKED, **arrays)
    close(compare(engine(FRAME), true="y", score=["sa", "sb"], metrics=RANKED, **options), scores, rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------- clusters


def obuchowski(y, score, cluster, other=None):
    """The variance of clustered AUCs, or of their difference, as Obuchowski (1997, Biometrics 53) writes it."""
    names, total = np.unique(cluster), 0.0
    positives, negatives = np.flatnonzero(y), np.flatnonzero(~y)
    up, down = np.zeros(len(y)), np.zeros(len(y))
    for values, sign in ((score, 1), *([] if other is None else [(other, -1)])):
        wins = (np.sign(values[positives][:, None] - values[negatives]) + 1) / 2
        up[positives] += sign * wins.mean(1)
        down[negatives] += sign * wins.mean(0)
    area, m, n = up[positives].mean(), len(positives), len(negatives)
    x = np.array([(up[(cluster == g) & y] - area).sum() for g in names])
    z = np.array([(down[(cluster == g) & ~y] - area).sum() for g in names])
    with_x, with_z = (len(np.unique(cluster[rows])) for rows in (y, ~y))
    total += with_x / ((with_x - 1) * m) * (x**2).sum() / m + with_z / ((with_z - 1) * n) * (z**2).sum() / n
    return total + 2 * len(names) / (len(names) - 1) * (x * z).sum() / (m * n)


def test_the_areas_of_clusters_differ_as_obuchowskis_formula_says():
    effect = np.random.default_rng(5).normal(size=30)[CLUSTER]
    models = {name: score + 0.2 * effect for name, score in TWO.items()}
    row = compare(Y, y_score=models, metrics=["roc_auc"], cluster=CLUSTER).rows[0]
    expected = obuchowski(Y, models["a"], CLUSTER, models["b"])
    reach = (row.high - row.low) / 2
    assert row.method == "cluster"
    assert stats.t.ppf(0.975, 60) < reach / math.sqrt(expected) < 1.05 * stats.t.ppf(0.975, 25)


def test_copies_of_a_row_in_one_cluster_are_no_more_rows():
    once = compare(Y, y_score=TWO, metrics=RANKED)
    repeated = {name: np.repeat(score, 5) for name, score in TWO.items()}
    close(compare(np.repeat(Y, 5), y_score=repeated, metrics=RANKED, cluster=np.repeat(np.arange(N), 5)), once, rel=0.03, abs=0.002)  # fmt: skip
    labels = {name: np.repeat(PRED[name], 5) for name in "ab"}
    of_labels = compare(np.repeat(Y, 5), labels, metrics=LABELLED, cluster=np.repeat(np.arange(N), 5))
    close(of_labels, compare(Y, {n: PRED[n] for n in "ab"}, metrics=LABELLED), rel=0.06, abs=0.02)
    assert not of_labels.mcnemar and "The rows are clustered" in of_labels.assumed[-1]


def test_a_metric_without_influence_draws_whole_clusters():
    repeated = {name: np.repeat(score, 5) for name, score in TWO.items()}
    once, copies = (compare(y, y_score=models, metrics=["lift"], **c).rows[0] for y, models, c in ((Y, TWO, {}), (np.repeat(Y, 5), repeated, {"cluster": np.repeat(np.arange(N), 5)})))  # fmt: skip
    assert once.method == copies.method == "bayesian-bootstrap"
    assert copies.high - copies.low == pytest.approx(once.high - once.low, rel=0.1)


def test_equal_models_on_uneven_clusters_are_told_apart_no_more_often_than_stated():
    rng, p_values = np.random.default_rng(7), []
    for _ in range(250):
        sizes = np.exp(rng.normal(size=15))
        cluster, y = rng.choice(15, 150, p=sizes / sizes.sum()), rng.random(150) < 0.3
        models = {name: y + rng.normal(size=15)[cluster] + rng.normal(size=150) for name in "ab"}
        found = compare(y, y_score=models, threshold=0.8, metrics=["roc_auc", "recall", "accuracy"], cluster=cluster, draws=1_000)  # fmt: skip
        p_values.append([row.p_value for row in found])
    assert (np.mean(np.array(p_values) < 0.05, axis=0) <= 0.09).all()


# ---------------------------------------------------------------- several models


def test_the_omnibus_test_is_hotellings_of_the_rows_losses():
    found = compare(Y, y_score=SCORES, metrics=["brier"])
    losses = np.stack([(Y - score) ** 2 for score in SCORES.values()])
    apart, (test,) = losses[:2] - losses[2], found.omnibus
    t_square = apart.mean(1) @ np.linalg.solve(np.cov(apart) / N, apart.mean(1))
    assert test.numerator == 2
    assert test.statistic * 2 == pytest.approx(t_square, rel=0.02)
    assert "Are all 3 models equal? Wald's F test" in repr(found)
    assert Result.from_json(found.to_json()) == found


def test_the_page_and_markdown_state_the_omnibus_test_the_margin_and_different_rows():
    found = compare(Y, y_score=SCORES, metrics=["roc_auc"], margin=0.1)
    for text in (found.to_html(), found.to_markdown()):
        assert "Are all 3 models equal?" in text and "is not worse than b by more than 0.1" in text
    apart = compare({"old": Counts(30, 10, 40, 400), "new": Counts(45, 35, 50, 600)}, metrics=["recall"]).to_html()
    assert "on different rows, 1,210 in all" in apart and "taken as independent" in apart


def test_simultaneous_intervals_lie_around_those_of_each_pair():
    rows = compare(Y, y_score=SCORES, threshold=0.3, metrics=["roc_auc", "recall"]).rows
    assert all(row.simultaneous_low < row.low < row.high < row.simultaneous_high for row in rows)
    pair = compare(Y, y_score=TWO, metrics=["roc_auc"])
    assert (pair.rows[0].simultaneous_low, pair.rows[0].simultaneous_high) == (pair.rows[0].low, pair.rows[0].high)
    assert not pair.omnibus and "simultaneous" not in repr(pair)


def test_three_equal_models_are_all_called_equal_nineteen_times_in_twenty():
    rng, found = np.random.default_rng(8), []
    for _ in range(200):
        y, common = np.arange(200) < 50, rng.normal(size=200)
        models = {name: y + 0.7 * common + rng.normal(size=200) for name in "abc"}
        comparison = compare(y, y_score=models, metrics=["roc_auc", "average_precision"], draws=2_000)
        apart = [[r.simultaneous_low > 0 or r.simultaneous_high < 0 for r in comparison if r.metric == m] for m in ("roc_auc", "average_precision")]  # fmt: skip
        found.append([*(test.p_value < 0.05 for test in comparison.omnibus), *map(any, apart)])
    shares = np.mean(found, axis=0)
    assert (shares <= 0.095).all() and (shares >= 0.01).all()


def test_three_models_of_equal_recall_and_few_positives_are_told_apart_no_more_often_than_stated():
    """Wald's chi-square of their covariance would call a tenth of them different."""
    rng, y, found = np.random.default_rng(9), np.arange(150) < 12, []
    for _ in range(120):
        common = rng.normal(size=150)
        models = {name: (y + 0.7 * (common + rng.normal(size=150)) > 0.6).astype(int) for name in "abc"}
        comparison = compare(y.astype(int), models, metrics=["recall"], draws=500, rng=rng)
        for test in comparison.omnibus:
            pairs = [row for row in comparison if row.metric == test.metric]
            assert test.method == "largest of all pairs" and test.p_value >= min(row.p_value for row in pairs)
            for row in pairs:  # an interval holds 0 where the test does not reject it
                assert row.p_value < 0.05 or row.low <= 0 <= row.high
        found.append(comparison.omnibus[0].p_value < 0.05)
    assert np.mean(found) <= 0.05


def test_models_that_are_alike_are_equal_and_their_omnibus_says_so():
    alike = dict.fromkeys("abc", SCORES["a"])
    assert [test.p_value for test in compare(Y, y_score=alike, metrics=["roc_auc"]).omnibus] == [1]
    two_alike = compare(Y, y_score={**TWO, "c": SCORES["b"]}, metrics=["roc_auc"])
    assert two_alike.omnibus[0].p_value == pytest.approx(two_alike.rows[0].p_value, rel=0.05)


# ---------------------------------------------------------------- margins


def test_a_model_is_not_worse_where_its_interval_lies_above_the_margin():
    for margin in (0.001, 0.02, 0.1):
        for row in compare(Y, y_score=TWO, threshold=0.3, metrics=["roc_auc", "recall", "precision"], margin=margin):  # fmt: skip
            assert (row.p_not_worse < 0.025) == (row.low > -margin), (row.metric, margin)
    turned = compare(Y, y_score=TWO, metrics=["brier"], margin=0.005).rows[0]
    assert (turned.p_not_worse < 0.025) == (turned.high < 0.005)  # lower is better


def test_a_margin_has_a_sentence_and_a_column():
    found = compare(Y, y_score=TWO, metrics=["roc_auc"], margin=0.3)
    assert "a is not worse than b by more than 0.3: shown by roc_auc (one-sided p" in repr(found)
    assert found.to_frame()["p_not_worse"][0] < 0.025 and found.to_dict()["margin"] == 0.3
    backwards = compare(Y, y_score={"b": SCORES["b"], "a": SCORES["a"]}, metrics=["roc_auc"], margin=0.001)
    assert "b is not worse than a by more than 0.001: not shown by roc_auc" in repr(backwards)
    assert compare(Y, y_score=TWO, metrics=["roc_auc"]).rows[0].p_not_worse is None


# ---------------------------------------------------------------- different rows


def test_areas_of_different_rows_are_compared_by_delongs_variances():
    rows = [(Y[:350], SCORES["a"][:350]), (Y[350:], SCORES["b"][350:])]
    found = compare(dict(zip(("one", "two"), (score_table(*each) for each in rows), strict=True)), metrics=["roc_auc"])
    parts, sizes = [], []
    for y, score in rows:
        above = score[y == 1][:, None] > score[y == 0]
        for placements in (above.mean(1), above.mean(0)):
            parts.append(placements.var(ddof=1) / len(placements))
            sizes.append(len(placements))
    degrees = sum(parts) ** 2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    row, error = found.rows[0], math.sqrt(sum(parts))
    reach = stats.t.ppf(0.975, degrees) * error
    assert (row.low, row.high) == pytest.approx((row.difference - reach, row.difference + reach), rel=1e-9)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(row.difference) / error, degrees))
    assert not found.paired and found.n == N and "on different rows" in repr(found)
    assert Result.from_json(found.to_json()) == found


def test_counts_of_different_rows_are_compared():
    row = compare({"old": Counts(30, 10, 40, 400), "new": Counts(45, 35, 50, 600)}, metrics=["recall"]).rows[0]
    assert (row.value_a, row.value_b) == (0.75, 45 / 80)
    low, high = 0.1875 + np.array([-1, 1]) * 1.96 * math.sqrt(0.75 * 0.25 / 40 + 0.5625 * 0.4375 / 80)
    assert (row.low, row.high) == pytest.approx((low, high), abs=0.03)
    assert row.p_value == pytest.approx(stats.boschloo_exact([[30, 10], [45, 35]]).pvalue, abs=0.02)


def test_evaluations_of_different_rows_are_compared_by_labels_and_scores():
    first, second = (evaluate(Y[rows], y_score=SCORES["a"][rows]) for rows in (slice(0, 300), slice(300, N)))
    found = compare({"first": first, "second": second})
    assert {"roc_auc", "average_precision", "recall", "mcc"} <= {row.metric for row in found}
    assert all(row.low <= row.difference <= row.high for row in found)
    assert "taken as independent" in found.assumed[0]


def test_evaluations_are_compared_at_their_prevalence_and_design():
    rng = np.random.default_rng(8)
    y = rng.random((2, 500)) < 0.2
    scores = 1 / (1 + np.exp(-(rng.normal(size=y.shape) + 2 * y - 1)))
    names, widths = ["precision", "recall", "average_precision", "recall_at_precision"], {}
    for options in ({}, {"prevalence": 0.2}, {"design": "stratified"}, {"prevalence": 0.01}):
        models = {
            name: evaluate(rows[0], y_score=rows[1], **options) for name, *rows in zip("AB", y, scores, strict=True)
        }
        found = compare(models, metrics=names)
        for row in found:
            assert row.value_a == pytest.approx(models["A"][row.metric].value), (options, row.metric)
            widths[str(options), row.metric] = row.high - row.low
    assert "evaluated at, 1.00 %" in str(found)
    random, at_a_fifth, stratified = (str(each) for each in ({}, {"prevalence": 0.2}, {"design": "stratified"}))
    for name in ("precision", "average_precision"):  # shares that are known do not move them
        assert widths[stratified, name] < 0.95 * widths[random, name]
        assert widths[at_a_fifth, name] < 0.97 * widths[random, name]
    assert widths[stratified, "recall"] == pytest.approx(widths[random, "recall"], rel=0.05)
    assert_refused(
        lambda: compare({**models, "B": evaluate(y[0], y_score=scores[0])}), ValueError, "different prevalences"
    )
    uncertain = evaluate(y[0], y_score=scores[0], prevalence=Prevalence(positives=1, rows=100))
    assert_refused(lambda: compare({"A": uncertain, "B": uncertain}), ValueError, r"prevalence=float\(prevalence\)")


def test_equal_rates_on_different_rows_keep_the_level():
    rng, p_values = np.random.default_rng(9), []
    for _ in range(300):
        tables = {name: Counts(int(tp), 25 - int(tp), 30, 270) for name, tp in zip("ab", rng.binomial(25, 0.7, 2), strict=True)}  # fmt: skip
        p_values.append(compare(tables, metrics=["recall"], draws=2_000).rows[0].p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.085


def test_an_infinite_loss_leaves_no_interval():
    certain = {name: np.where(np.arange(N) == np.flatnonzero(Y)[0], 0.0, score) for name, score in TWO.items()}
    for models in ({**TWO, "b": certain["b"]}, certain):
        row = compare(Y, y_score=models, metrics=["log_loss"]).rows[0]
        assert row.value_b == math.inf and not math.isfinite(row.difference)
        assert math.isnan(row.p_value) or row.p_value == 1 or math.isinf(row.high)


# ---------------------------------------------------------------- refusals

CLUSTERED = evaluate(Y, PRED["a"], cluster=CLUSTER)
BAD = {
    "one cluster": (lambda: compare(Y, y_score=TWO, cluster=np.zeros(N)), InputError, "one cluster only"),
    "lengths": (lambda: compare(Y, y_score=TWO, cluster=CLUSTER[1:]), InputError, "differ in length"),
    "negative weights": (lambda: compare(Y, y_score=TWO, sample_weight=-WEIGHT), InputError, "sample_weight"),
    "a name beside arrays": (lambda: compare(Y, y_score=TWO, cluster="c"), InputTypeError, "names a column of a frame"),
    "an array beside names": (lambda: compare(FRAME, true="y", pred=["a", "b"], cluster=CLUSTER), InputTypeError, "name of a column"),
    "a paired table": (lambda: compare(steelyard.tables.paired(Y, PRED["a"], PRED["b"]), sample_weight=WEIGHT), InputError, "give it when counting the rows"),
    "no margin": (lambda: compare(Y, y_score=TWO, margin=0), InputError, "margin= is how much worse"),
    "a margin of text": (lambda: compare(Y, y_score=TWO, margin="2 %"), InputError, "margin= is how much worse"),
    "one table": (lambda: compare({"a": Counts(1, 2, 3, 4)}), InputError, "two or more models"),
    "labels and scores": (lambda: compare({"a": Counts(1, 2, 3, 4), "b": score_table(Y, SCORES["a"])}), InputError, "evaluate all by one of the two"),
    "other labels": (lambda: compare({"a": steelyard.confusion([0, 1], [0, 1]), "b": steelyard.confusion(["x", "y"], ["x", "y"])}), InputError, "different labels"),
    "no tables": (lambda: compare({"a": [0, 1], "b": [1, 0]}), InputTypeError, "evaluations, tables or Predictions by name"),
    "clusters that are gone": (lambda: compare({"a": CLUSTERED, "b": CLUSTERED}), InputError, "compare the rows themselves"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_compared_is_refused_in_a_sentence(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()


def test_labels_and_scores_are_told_apart_by_their_values_and_the_result_says_which():
    labels, scores = compare(Y, PRED), compare(Y, TWO, metrics=["roc_auc"])
    assert labels.assumed[0].startswith("The models gave labels: all their values are labels of the truth")
    assert scores.assumed[0].startswith("The models gave scores: not all their values are labels of the truth")
    assert labels.rows == compare(Y, y_pred=PRED).rows and compare(Y, y_pred=PRED).assumed == ()
    assert scores.rows == compare(Y, y_score=TWO, metrics=["roc_auc"]).rows
    words = np.where(Y == 1, "yes", "no")
    text = compare(words, {name: np.where(column == 1, "yes", "no") for name, column in PRED.items()})
    assert text.assumed == ("The positive class is 'yes' by convention; pos_label='no' would take the other one.",)
    as_scores = compare(Y, y_score=PRED, metrics=["roc_auc"])  # the keyword decides
    assert as_scores.tables.scores and not as_scores.tables.labels


def test_every_kind_of_rows_gives_the_same_comparison(tmp_path):
    asked = {"metrics": ["recall", "roc_auc"], "threshold": 0.5}
    expected = compare(Y, y_score=TWO, **asked)
    names = [*TWO]
    frame = pl.DataFrame({"y": Y, **TWO})
    frame.write_parquet(tmp_path / "rows.parquet")
    p = steelyard.Predictions(Y, y_score=TWO, threshold=0.5)
    for found in (
        p.compare(metrics=asked["metrics"]),
        compare(frame, true="y", score=names, **asked),
        compare(tmp_path / "rows.parquet", true="y", score=names, **asked),
        compare(frame.lazy(), names, true="y", score=names, **asked),
        compare(Y, y_score={name: np.column_stack([1 - s, s]) for name, s in TWO.items()}, **asked),
    ):
        assert found.rows == expected.rows
    assert [-row.difference for row in p.compare(names[::-1], metrics=["roc_auc"])] == [expected.rows[1].difference]
    both = compare(Y, y_pred={n: (s >= 0.5).astype(int) for n, s in TWO.items()}, y_score=TWO, metrics=asked["metrics"])
    assert both.rows == expected.rows


def test_models_of_the_same_and_of_other_rows_are_read_at_a_prevalence(tmp_path):
    asked = {"metrics": ["precision", "recall", "brier"], "threshold": 0.5}
    usual, rare = compare(Y, y_score=TWO, **asked), compare(Y, y_score=TWO, **asked, prevalence=0.02)
    sides = {name: steelyard.Predictions(Y, y_score=s, threshold=0.5) for name, s in TWO.items()}
    apart = compare(sides, metrics=asked["metrics"], prevalence=0.02)
    for here, there, before in zip(rare.rows, apart.rows, usual.rows, strict=True):
        at = [interval(here.metric, Y, y_score=s, threshold=0.5, prevalence=0.02).value for s in TWO.values()]
        assert [here.value_a, here.value_b] == pytest.approx(at) and [there.value_a, there.value_b] == pytest.approx(at)
        assert here.low <= here.difference <= here.high
        assert (here.metric == "recall") == (abs(here.difference - before.difference) < 1e-12)
    assert (
        "All are read at a prevalence of 2.00 %." in rare.assumed
        and "All are read at a prevalence of 2.00 %." in apart.assumed
    )
    paths = {}
    for name, side in sides.items():
        (tmp_path / f"{name}.json").write_text(side.evaluate(metrics=["precision"]).to_json())
        paths[name] = tmp_path / f"{name}.json"
    assert (
        compare(paths, metrics=["precision"], prevalence=0.02).rows
        == compare(sides, metrics=["precision"], prevalence=0.02).rows
    )
    for options, words in (
        ({"prevalence": steelyard.Prevalence(positives=1, rows=50)}, "is one number"),
        ({"prevalence": 0.1, "cluster": CLUSTER}, "cluster= has no place in compare at a prevalence"),
        ({"prevalence": 0.1, "method": "anytime"}, "has no place in an anytime comparison"),
        ({"method": "bootstrap"}, "method= is 'auto' or 'anytime'"),
    ):
        with pytest.raises((InputError, InputTypeError), match=words):
            compare(Y, y_pred=PRED, **options)


def test_an_anytime_comparison_is_of_labels_of_any_rows():
    first, second = [*PRED][:2]
    expected = compare(
        steelyard.tables.paired(Y, PRED[first], PRED[second]), ["new", "old"], method="anytime", metrics=["recall"]
    )
    assert expected.models == ("new", "old") and {row.method for row in expected} == {"anytime"}
    frame = pl.DataFrame({"y": Y, **PRED})
    found = compare(frame, true="y", pred=[first, second], method="anytime", metrics=["recall"])
    assert (found.rows[0].low, found.rows[0].high, found.rows[0].p_value) == (
        expected.rows[0].low,
        expected.rows[0].high,
        expected.rows[0].p_value,
    )
    usual = compare(Y, y_pred={name: PRED[name] for name in (first, second)}, metrics=["recall"])
    assert found.rows[0].low < usual.rows[0].low and usual.rows[0].high < found.rows[0].high
    with pytest.raises(InputError, match="of predicted labels"):
        compare(Y, y_score=TWO, method="anytime")


def test_probabilities_are_cut_at_one_half_where_metrics_of_labels_are_asked_and_it_is_said():
    halved = compare(Y, y_score=TWO, metrics=["recall", "roc_auc"])
    assert halved.rows == compare(Y, y_score=TWO, metrics=["recall", "roc_auc"], threshold=0.5).rows
    assert halved.assumed[0] == "Scores were thresholded at 0.5; operating_points compares it with others."
    assert not compare(Y, y_score=TWO, metrics=["roc_auc"]).assumed
    with pytest.raises(InputError, match="give threshold="):
        compare(Y, y_score={name: 5 * score for name, score in TWO.items()}, metrics=["recall"])
