"""Leaderboards: brackets against brute force, intervals of each model, wins, and who leads at which prevalence."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest
from checks import holm
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard
from steelyard import Counts, Result, SteelyardError, at_prevalence, compare, get_metric
from steelyard.analysis.comparison.leaderboard import brackets, letters

RNG = np.random.default_rng(7)
ROWS = 1_500
Y = (RNG.random(ROWS) < 0.15).astype(int)
COMMON = RNG.normal(size=ROWS)
SCORES = {
    f"m{i}": 1 / (1 + np.exp(-(0.6 * COMMON + 0.8 * RNG.normal(size=ROWS) + shift * (2 * Y - 1) - 1)))
    for i, shift in enumerate((1.4, 1.3, 0.9, 0.8, 0.2))
}
SCORED = compare(Y, y_score=SCORES, threshold=0.4)
LABELLED = compare(Y, {name: score >= 0.4 for name, score in SCORES.items()})
K = RNG.integers(0, 3, 400)
CLASSES = compare(K, {name: np.where(RNG.random(400) < share, K, 0) for name, share in (("A", 0.8), ("B", 0.5))})


# ---------------------------------------------------------------- brackets


def cliques(order, distinguished):
    """Every set of models without a distinguished pair to which no other can be added, by trying all."""
    fitting = [
        set(members)
        for size in range(1, len(order) + 1)
        for members in combinations(order, size)
        if not any(frozenset(pair) in distinguished for pair in combinations(members, 2))
    ]
    return [members for members in fitting if not any(members < other for other in fitting)]


@st.composite
def orders(draw, most=7):
    order = [f"m{i}" for i in range(draw(st.integers(1, most)))]
    pairs = [frozenset(pair) for pair in combinations(order, 2)]
    return order, set(draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()


@given(orders())
@settings(max_examples=300, deadline=None)
def test_models_share_a_letter_exactly_where_no_test_distinguishes_them(drawn):
    order, distinguished = drawn
    joined = brackets(order, distinguished)
    shown = letters(order, joined)
    assert all(set(bracket) in cliques(order, distinguished) for bracket in joined)
    for a, b in combinations(order, 2):
        assert bool(set(shown[a]) & set(shown[b])) == (frozenset((a, b)) not in distinguished)
    assert all(shown.values())


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_brackets_of_a_test_by_distance_are_all_the_maximal_runs(reaches):
    order = [f"m{i}" for i in range(len(reaches))]
    last = [max(i + reach for i, reach in enumerate(reaches[: at + 1])) for at in range(len(order))]
    distinguished = {frozenset((order[i], order[j])) for i, j in combinations(range(len(order)), 2) if j > last[i]}
    runs = [set(order[i : min(last[i], len(order) - 1) + 1]) for i in range(len(order))]
    maximal = [run for i, run in enumerate(runs) if not any(run < other for other in runs) and run not in runs[:i]]
    assert [set(bracket) for bracket in brackets(order, distinguished)] == maximal


def test_thirty_brackets_have_thirty_names():
    order = [f"m{i}" for i in range(31)]
    far = {frozenset((order[i], order[j])) for i, j in combinations(range(31), 2) if j > i + 1}
    shown = letters(order, brackets(order, far))
    assert shown["m0"] == "a"
    assert shown["m26"] == "z,a1"
    assert set(shown["m29"].split(",")) & set(shown["m30"].split(","))


# ---------------------------------------------------------------- the leaderboard


@pytest.mark.parametrize("comparison", [SCORED, LABELLED, CLASSES], ids=["scores", "labels", "classes"])
def test_models_stand_in_the_order_of_their_values_with_the_tests_of_their_pairs(comparison):
    for spec in comparison.tables.specs:
        board = comparison.leaderboard(spec)
        values = [row.value for row in board]
        assert values == sorted(values, reverse=spec.sign > 0)
        tests = [row for row in comparison.rows if row.spec == spec]
        for row, p in zip(tests, holm(row.p_value for row in tests), strict=True):
            pair = board.pair(row.a, row.b)
            assert pair.p_holm == pytest.approx(p, rel=1e-12)
            assert abs(pair.difference) == abs(row.difference)
            shared = {r.model: set(r.letters) for r in board}
            assert bool(shared[row.a] & shared[row.b]) == (p >= 0.05)
            assert {row.a: row.value_a, row.b: row.value_b}[pair.better] == max(row.value_a, row.value_b)


@pytest.mark.parametrize("comparison", [SCORED, LABELLED], ids=["scores", "labels"])
def test_the_interval_of_each_model_is_that_of_its_own_evaluation(comparison):
    board = comparison.leaderboard("recall")
    for row in board:
        own = steelyard.interval("recall", Y, SCORES[row.model] >= 0.4)
        assert (row.value, row.low, row.high) == (own.value, own.low, own.high)


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_clustered_rows_are_those_of_their_clusters(weighted):
    clusters = np.arange(ROWS) // 6
    weight = RNG.random(ROWS) + 0.5 if weighted else None
    by = {"cluster": clusters, "sample_weight": weight}
    comparison = compare(Y, y_score=SCORES, threshold=0.4, metrics=["roc_auc", "recall", "mcc"], **by)
    for name, score in SCORES.items():
        area, recall, mcc = comparison.intervals[name]
        assert area.method == recall.method == "cluster"
        for each, column in (
            (area, {"y_score": score}),
            (recall, {"y_pred": score >= 0.4}),
            (mcc, {"y_pred": score >= 0.4}),
        ):
            own = steelyard.interval(each.metric, Y, **column, **by)
            assert (each.value, each.low, each.high) == pytest.approx((own.value, own.low, own.high), abs=1e-12)


def test_models_of_different_rows_have_the_intervals_of_their_evaluations():
    tables = {"old": Counts(28, 23, 72, 2680), "new": Counts(41, 12, 95, 2510)}
    board = compare(tables, metrics=["recall"]).leaderboard()
    assert [row.model for row in board] == ["new", "old"]
    assert board.rows[1].low == pytest.approx(steelyard.interval("recall", tables["old"]).low, abs=1e-12)


def test_scores_are_ranked_by_the_number_of_their_use_and_labels_by_the_default_metric():
    assert SCORED.leaderboard().metric == compare(Y, y_score=SCORES).leaderboard().metric == "average_precision"
    assert compare(Y, y_score=SCORES, use="ranking").leaderboard().metric == "roc_auc"
    labels = {name: (scores > np.median(scores)).astype(int) for name, scores in SCORES.items()}
    assert compare(Y, labels).leaderboard().metric == "ac_score"
    assert compare(Y, labels, use="alerts").leaderboard().metric == "f1"
    assert compare(Y, labels, metrics=["recall", "mcc"]).leaderboard().metric == "recall"


def test_lower_is_better_where_the_metric_says_so():
    board = compare(Y, y_score=SCORES, metrics=["brier"]).leaderboard()
    assert board.rows[0].value == min(row.value for row in board)
    assert f"{board.rows[0].model} and {board.rows[1].model} lead by Brier score" in board.headline


def test_a_metric_that_was_not_compared_or_has_no_best_value_is_refused():
    with pytest.raises(SteelyardError, match="Did you mean"):
        SCORED.leaderboard("kapa")
    with pytest.raises(SteelyardError, match="The models were not compared by informedness"):
        SCORED.leaderboard("informedness")
    with pytest.raises(SteelyardError, match="no model leads by it"):
        compare(Y, y_score=SCORES, threshold=0.4, metrics=["prevalence", "recall"]).leaderboard("prevalence")


def test_every_sentence_names_both_sides():
    two = compare(Y, y_score={"left": SCORES["m0"], "right": SCORES["m4"]}, metrics=["roc_auc"]).leaderboard()
    assert two.headline.startswith("left has a higher ROC AUC than right: ")
    same = compare(Y, y_score={"left": SCORES["m0"], "right": SCORES["m0"]}, metrics=["roc_auc"]).leaderboard()
    assert same.headline.startswith("left and right are not distinguishable by ROC AUC: ")
    assert [row.place for row in same] == [1, 1]
    many = SCORED.leaderboard("roc_auc").headline
    assert "than m0 (p < 0.05, Holm over all pairs)" in many
    assert re.match(r"m0(, m\d)* and m\d lead by ROC AUC \(.*no test distinguishes", many)


def test_an_undefined_value_comes_last_with_its_reason_and_no_letter():
    truth = [0] * 20 + [1] * 5
    comparison = compare(truth, {"none": [0] * 25, "some": [0] * 21 + [1] * 4}, metrics=["precision"])
    board = comparison.leaderboard()
    assert [row.model for row in board] == ["some", "none"]
    assert (board.rows[1].place, board.rows[1].letters) == (None, "")
    assert math.isnan(board.rows[1].value)
    assert board.rows[1].why
    assert board.headline == "Precision of some is 100 % (55.6 to 100). Precision is undefined for none."


def test_a_leaderboard_and_its_parts_are_saved_and_read_back():
    for result in (SCORED, SCORED.leaderboard(), SCORED.wins(), SCORED.leaders()):
        assert Result.from_json(result.to_json()) == result
    old = SCORED.to_dict()
    del old["intervals"]
    assert Result.from_json(old).leaderboard() == SCORED.leaderboard()


# ---------------------------------------------------------------- wins


def test_wins_are_the_metrics_whose_corrected_p_value_is_small():
    wins = SCORED.wins()
    assert [(row.a, row.b) for row in wins] == list(combinations(SCORED.models, 2))
    for row in wins:
        for difference in SCORED.rows:
            if (difference.a, difference.b) == (row.a, row.b):
                by = row.undecided if difference.p_holm >= 0.05 else row.by_a if difference.difference > 0 else row.by_b
                assert difference.metric in by
        assert len(row.by_a) + len(row.by_b) + len(row.undecided) == len(SCORED.tables.specs)


# ---------------------------------------------------------------- leaders over the prevalence

TABLES = {"wide": Counts(45, 5, 200, 750), "narrow": Counts(25, 25, 20, 930), "middle": Counts(36, 14, 90, 860)}


def test_the_leader_at_each_prevalence_is_the_one_that_compare_finds_there():
    names = ["precision", "f1", "mcc", "accuracy", "recall"]
    comparison = compare(TABLES, metrics=names)
    leaders = comparison.leaders()
    for share in leaders.prevalences:
        there = compare({name: at_prevalence(table, share) for name, table in TABLES.items()}, metrics=names, draws=20)
        for row in (row for row in leaders if row.prevalence == share):
            values = {name: there.tables.value(get_spec(there, row.metric), name).value for name in TABLES}
            best = max(values.values())
            assert row.value == pytest.approx(best, abs=1e-12)
            assert row.models == tuple(name for name, value in values.items() if value >= best - 1e-12)


def get_spec(comparison, name):
    return next(spec for spec in comparison.tables.specs if spec.name == name)


def test_leaders_by_metrics_of_scores_are_those_of_the_table_at_the_prevalence():
    comparison = compare(Y, y_score=SCORES, metrics=["average_precision", "roc_auc"])
    for row in comparison.leaders([0.01, 0.3]):
        tables = {name: at_prevalence(table, row.prevalence) for name, table in comparison.tables.scores.items()}
        values = {name: float(get_metric(row.metric)(table)) for name, table in tables.items()}
        assert values[row.models[0]] == pytest.approx(max(values.values()), abs=1e-12)


def test_flips_stand_between_two_prevalences_with_another_leader_each():
    leaders = compare(TABLES, metrics=["accuracy", "recall", "f1"]).leaders()
    flips = leaders.flips
    assert {flip.metric for flip in flips} >= {"accuracy"}
    assert "recall" not in {flip.metric for flip in flips}
    for flip in flips:
        at = {row.prevalence: row.models for row in leaders if row.metric == flip.metric}
        assert (at[flip.low], at[flip.high]) == ((flip.before,), (flip.after,))
        assert flip.before != flip.after


def test_many_classes_have_no_prevalence_of_one_class():
    with pytest.raises(SteelyardError, match="A prevalence is that of one class"):
        CLASSES.leaders()


# ---------------------------------------------------------------- means over runs


def test_a_cross_evaluation_ranks_means_and_joins_what_the_corrected_tests_do_not_distinguish():
    pytest.importorskip("sklearn")
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    data = np.column_stack(list(SCORES.values()))[:500]
    models = {"nb": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1), "prior": DummyClassifier()}
    result = steelyard.cross_evaluate(models, data, Y[:500], split=5)
    board = result.leaderboard("balanced_accuracy")
    assert board.runs == 5
    means = {name: result[name].values("balanced_accuracy").mean() for name in models}
    assert {row.model: row.value for row in board} == pytest.approx(means)
    shared = {row.model: set(row.letters) for row in board}
    for row in result.differences("balanced_accuracy"):
        assert bool(shared[row.a] & shared[row.b]) == (row.p_holm >= 0.05)
    assert board.rows[-1].model == "prior"
    assert board.headline.startswith(f"{board.rows[0].model} ")
    assert "mean balanced accuracy" in board.headline
    assert Result.from_json(board.to_json()) == board
