"""Scores weighed into a ScoreTable: golden values, peers, invariances, and what is refused."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from checks import assert_refused, close
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard
from steelyard import (
    Counts,
    ScoreTable,
    confusion,
    get_metric,
    list_metrics,
    precision_recall_curve,
    roc_curve,
    score_table,  # fmt: skip
)

RANKING = [m for m in list_metrics() if m.scores]
RANK_ONLY = [m for m in RANKING if not m.of_probabilities]
every = pytest.mark.parametrize("metric", RANKING, ids=lambda m: m.name)


def test_every_golden_value_of_every_score_vector(golden):
    names = {
        "auc": "roc_auc", "average_precision_pos": "average_precision", "average_precision_neg": "negative_average_precision",
        "aupr_mean_both_ap": "mean_average_precision", "aupr_trapz_pos_firstprec": "pr_auc",
        "wauc_10band_rho0.1": "weighted_auc", "wauc_10band_rho0": "weighted_auc[rho=0]",
    }  # fmt: skip
    for case in golden("scores")["scores"]:
        table = score_table(case["y"], case["score"])
        bands = f"weighted_auc[bands={sum(case['y'])}]"
        for key, name in {**names, "wauc_Pband_rho0.1": bands}.items():
            assert get_metric(name)(table) == pytest.approx(case[key], rel=1e-12, abs=1e-14), (case["name"], key)
        curve = roc_curve(table)
        assert curve.fpr.tolist() == pytest.approx(case["roc_fpr"], abs=1e-15)
        assert curve.tpr.tolist() == pytest.approx(case["roc_tpr"], abs=1e-15)
        assert [None if math.isinf(t) else t for t in curve.thresholds] == case["thresholds_ge"]
        assert steelyard.pr_auc(table.swapped()) == pytest.approx(case["aupr_trapz_neg_firstprec"])


def test_the_weights_of_the_bands_are_the_corrected_ones(golden):
    """A staircase ROC that wins only band i isolates the weight of that band."""
    for case in golden("scores")["weighted_auc_weights"]:
        k, rho = case["areas"], float(Fraction(case["rho"]))
        for i, weight in enumerate(case["corrected"]):
            # k positives, one a band, bottom first; those below band i+1 beat all negatives, the others beat none
            def value(winners, k=k, rho=rho):
                scores = [2.0] * winners + [1.0] + [0.0] * (k - winners)
                return steelyard.weighted_auc([1] * winners + [0] + [1] * (k - winners), scores, rho=rho, bands=k)

            assert value(i + 1) - value(i) == pytest.approx(weight / k, abs=1e-12)


rows = st.lists(st.tuples(st.booleans(), st.integers(-4, 4), st.integers(1, 4)), min_size=2, max_size=30).filter(
    lambda r: len({positive for positive, _, _ in r}) == 2
)


def columns(data):
    return [list(column) for column in zip(*data, strict=True)]


@given(rows)
def test_rank_metrics_are_the_same_to_the_bit_under_a_monotone_transform(data):
    y, score, _ = columns(data)
    for metric in RANK_ONLY:
        value = metric(y, score)
        assert metric(y, [math.exp(s) * 3 for s in score]) == value or math.isnan(value), metric.name


@given(rows, st.integers(0, 30))
def test_parts_merge_to_the_whole_and_are_saved(data, cut):
    y, score, times = columns(data)
    whole = score_table(y, score)
    parts = score_table(y[:cut], score[:cut], labels=[False, True]) + score_table(
        y[cut:], score[cut:], labels=[False, True]
    )
    assert parts == whole
    assert parts.counts == whole.counts
    weighted = score_table(y, score, sample_weight=times)
    halves = [
        score_table(y[a:b], score[a:b], sample_weight=times[a:b], labels=[False, True])
        for a, b in ((0, cut), (cut, 99))
        if y[a:b]
    ]
    assert sum(halves) == weighted
    for table in (whole, weighted):
        assert ScoreTable.from_json(table.to_json()) == table
        assert ScoreTable.from_json(table.to_json()).counts == table.counts


@given(rows)
def test_frequency_is_repetition_and_zero_weight_is_absence(data):
    y, score, times = columns(data)
    repeated, counted = (
        score_table(np.repeat(y, times), np.repeat(score, times)),
        score_table(y, score, frequency=times),
    )
    weighted = score_table([*y, True], [*score, 99], sample_weight=[*times, 0])
    assert counted.counts == repeated.counts == weighted.counts
    assert counted.thresholds.tolist() == weighted.thresholds.tolist()
    for metric in RANK_ONLY:
        values = [metric(table) for table in (repeated, counted, weighted)]
        assert values == pytest.approx([values[0]] * 3, nan_ok=True), metric.name


@given(rows)
def test_counts_at_every_threshold_are_those_of_the_labels(data):
    y, score, _ = columns(data)
    table = score_table(y, score)
    for i, threshold in enumerate(table.thresholds):
        cut = [s >= threshold for s in score]
        assert (
            table.counts[i] == confusion(y, cut, labels=[False, True], pos_label=True).counts() == table.at(threshold)
        )


@given(rows)
def test_roc_auc_is_the_share_of_pairs_won(data):
    y, score, _ = columns(data)
    pos, neg = ([s for s, p in zip(score, y, strict=True) if p is which] for which in (True, False))
    won = sum((a > b) + (a == b) / 2 for a in pos for b in neg)
    assert steelyard.roc_auc(y, score) == won / (len(pos) * len(neg))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [200, 70_000])
def test_equal_to_scikit_learn(n, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(n)
    for share, digits in ((0.5, 2), (0.01, 9), (0.97, 1)):
        y = (rng.random(n) < share).astype(int)
        y[:2] = 0, 1
        score = (rng.random(n) * 0.7 + 0.3 * y).round(digits)
        options = {"sample_weight": rng.integers(0, 4, n) + 0.5} if weighted else {}
        pairs = {
            "roc_auc": metrics.roc_auc_score(y, score, **options),
            "roc_auc[max_fpr=0.2]": metrics.roc_auc_score(y, score, max_fpr=0.2, **options),
            "average_precision": metrics.average_precision_score(y, score, **options),
            "negative_average_precision": metrics.average_precision_score(1 - y, -score, **options),
            "brier": metrics.brier_score_loss(y, score, **options),
        }
        for name, expected in pairs.items():
            assert get_metric(name)(y, score, **options) == pytest.approx(expected, rel=1e-9), (name, share)
        precision, recall, _ = metrics.precision_recall_curve(y, score, **options)
        ours = precision_recall_curve(y, score, **options)
        np.testing.assert_allclose(ours.precision, precision[:-1][::-1], rtol=1e-9)
        np.testing.assert_allclose(ours.recall, recall[:-1][::-1], rtol=1e-9)
        inside = score.clip(0.01, 0.99)
        assert steelyard.log_loss(y, inside, **options) == pytest.approx(metrics.log_loss(y, inside, **options))
        assert steelyard.d2_log_loss(y, inside, **options) == pytest.approx(
            metrics.d2_log_loss_score(y, inside, **options)
        )


@pytest.mark.parametrize("options", [{"multi_class": "ovr"}, {"multi_class": "ovo"}], ids=str)
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_columns_of_scores_equal_scikit_learns(options, average):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    y = np.array(["a", "b", "c", "d"])[rng.choice(4, 300, p=[0.5, 0.3, 0.15, 0.05])]
    score = rng.dirichlet(np.ones(4), 300)
    score[np.arange(300), [ord(label) - 97 for label in y]] += 0.3
    score /= score.sum(1, keepdims=True)
    expected = metrics.roc_auc_score(y, score, average=average, **options)
    assert steelyard.roc_auc(y, score, average=average, **options) == pytest.approx(expected, rel=1e-12)
    each = steelyard.roc_auc(y, score, average=None)
    assert each.tolist() == [steelyard.roc_auc(y, score[:, i], pos_label=label) for i, label in enumerate("abcd")]
    assert steelyard.average_precision(y, score, average="macro") == pytest.approx(
        np.mean([metrics.average_precision_score(y == label, score[:, i]) for i, label in enumerate("abcd")])
    )


def test_no_overflow_when_pairs_exceed_64_bits():
    table = score_table([0, 1, 0, 1], [0.1, 0.9, 0.9, 0.1], frequency=[3 * 10**12] * 4)
    assert steelyard.roc_auc(table) == pytest.approx(0.5)
    assert steelyard.average_precision(table) == pytest.approx(0.5)


def test_points_of_the_curve():
    y, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.7, 0.2, 0.1]
    assert steelyard.precision_at_k(y, score, k=1) == 1
    assert steelyard.precision_at_k(y, score, k=3) == pytest.approx((1 + 0.5) / 3)  # the tie at 0.7 counts half
    assert math.isnan(steelyard.precision_at_k(y, score, k=7))
    assert steelyard.precision_at_k.why(y, score, k=7) == "fewer than 7 rows"
    assert steelyard.lift(y, score, share=0.5) == pytest.approx(1.0)
    assert steelyard.recall_at_precision(y, score, at=0.6) == 1.0
    assert steelyard.recall_at_precision(y, score, at=1.0) == pytest.approx(1 / 3)
    assert steelyard.precision_at_recall(y, score, at=0.5) == 0.6
    worst = steelyard.recall_at_precision.why([1, 0], [0.1, 0.9], at=0.9)
    assert worst == "no threshold reaches a precision of 0.9"


def test_calibration_of_probabilities():
    y, score = [0, 0, 1, 1], [0.1, 0.3, 0.35, 0.8]
    gaps = [abs(0.1 + 0.3 + 0.35 - 1), abs(0.8 - 1)]
    assert steelyard.expected_calibration_error(y, score, bins=2) == pytest.approx(sum(gaps) / 4)
    impossible = steelyard.log_loss([0, 1, 1], [0.2, 0.0, 0.9])
    assert impossible == math.inf
    assert steelyard.log_loss.why([0, 1, 1], [0.2, 0.0, 0.9]) == "1 row was given probability 0 for what came true"


def test_weighted_auc_of_two_valued_scores_is_that_of_the_counts():
    rng = np.random.default_rng(8)
    for _ in range(50):
        tp, fn, fp, tn = rng.integers(0, 6, 4)
        y, score = [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn
        if tp + fn and fp + tn:
            for options in ({}, {"rho": 0.5, "bands": 3}):
                expected = steelyard.weighted_auc(Counts(tp, fn, fp, tn), **options)
                assert steelyard.weighted_auc(y, score, **options) == pytest.approx(expected, abs=1e-14)


def test_weighted_auc_never_exceeds_the_auc_and_a_random_curve_gives_its_known_value():
    assert steelyard.weighted_auc([0, 1], [0.5, 0.5]) == pytest.approx(0.49012345679)
    rng = np.random.default_rng(4)
    for _ in range(30):
        y, score = rng.integers(0, 2, 40), rng.random(40).round(1)
        y[:2] = 0, 1
        assert steelyard.weighted_auc(y, score) <= steelyard.roc_auc(y, score) + 1e-12


@every
def test_a_perfect_ranking_reaches_the_best(metric):
    parameters = {"k": 2} if metric.name == "precision_at_k" else {}
    value = metric([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], **parameters)
    is_undefined = metric.direction is None and math.isnan(value)  # probabilities of 0 and 1 have no logit
    assert metric.best is None or is_undefined or value == pytest.approx(metric.best)


@every
def test_in_range(metric):
    rng = np.random.default_rng(6)
    parameters = {"k": 5} if metric.name == "precision_at_k" else {}
    for _ in range(40):
        y, score = rng.integers(0, 2, 20), rng.random(20).round(1).clip(0.05, 0.95)
        y[:2] = 0, 1
        value = metric(y, score, **parameters)
        assert math.isnan(value) or metric.range[0] <= value <= metric.range[1]


@every
def test_tables_of_one_class_are_undefined_with_a_reason(metric):
    parameters = {"k": 1} if metric.name == "precision_at_k" else {}
    for y in ([0, 0], [1, 1]):
        table = score_table(y, [0.2, 0.4], labels=[0, 1])
        value, why = metric(table, **parameters), metric.why(table, **parameters)
        assert (why is None) != math.isnan(value)


ClassScores = type(score_table([0, 1], [0.2, 0.7]).positive)
SOME = st.lists(st.integers(0, 12), max_size=12, unique=True).map(lambda found: np.sort(np.array(found, dtype=float)))


@settings(max_examples=100)
@given(SOME, SOME)
def test_two_ordered_lists_merge_into_one_and_keep_their_places(one, other):
    table = score_table(np.repeat([1, 0], [len(one), len(other)]), np.concatenate([one, other]), labels=[0, 1])
    nobody, *scores = table.thresholds.tolist()
    assert nobody == np.inf and scores == sorted({*one, *other}, reverse=True)
    assert table.counts.tp.tolist() == [(one >= score).sum() for score in (np.inf, *scores)]
    assert table.counts.fp.tolist() == [(other >= score).sum() for score in (np.inf, *scores)]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 9), st.floats(0, 9)), min_size=1, max_size=9))
def test_classes_that_share_their_list_of_scores_have_the_curve_of_two_lists(rows):
    scores, *masses = np.array(sorted(rows)).T
    shared = ScoreTable(*(ClassScores(scores, mass, mass, mass) for mass in masses))
    apart = ScoreTable(*(ClassScores(scores.copy(), mass, mass, mass) for mass in masses))
    assert shared.thresholds.tolist() == apart.thresholds.tolist()
    for one, other in zip(shared.counts, apart.counts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_negative_zero_is_zero_and_float32_is_ranked_as_given():
    assert steelyard.roc_auc([0, 1], [0.0, -0.0]) == 0.5
    close = np.array([0.1, 0.1 + 1e-9], dtype=np.float32)
    assert steelyard.roc_auc([0, 1], close) == 0.5


def test_a_table_keeps_its_scores_when_the_array_changes():
    score = np.random.default_rng(0).random(5_000)
    y = (np.arange(5_000) < 10).astype(int)
    table, before = score_table(y, score), steelyard.roc_auc(y, score)
    score[:] = 0
    assert steelyard.roc_auc(table) == before


def test_labels_of_any_kind_name_the_positive():
    y, score = ["ham", "spam", "spam"], [0.1, 0.4, 0.9]
    assert steelyard.roc_auc(y, score, pos_label="spam") == 1
    assert steelyard.roc_auc([False, True], [0, 1]) == steelyard.roc_auc([-1, 1], [0, 1]) == 1
    assert repr(score_table(y, score, pos_label="spam")) == "<ScoreTable of 3 rows, 2 of them 'spam'>"


Y, S = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3]
BAD = {
    "lengths": (lambda: score_table(Y, S[:2]), ValueError, "y_true has 4, y_score has 2"),
    "NaN": (lambda: score_table(Y, [0.1, math.nan, 0.4, 0.3]), ValueError, "y_score holds nan in row 2"),
    "infinite": (lambda: score_table(Y, [0.1, 0.2, math.inf, 0.3]), ValueError, "y_score holds inf in row 3"),
    "text": (lambda: score_table(Y, list("abcd")), TypeError, "y_score must hold numbers"),
    "missing": (lambda: score_table(Y, [0.1, None, 0.2, 0.3]), ValueError, "y_score"),
    "negative weight": (lambda: score_table(Y, S, sample_weight=[1, -1, 1, 1]), ValueError, "cannot be negative"),
    "one class": (lambda: steelyard.roc_auc([1, 1], [0.2, 0.3]), ValueError, "no negatives"),
    "ambiguous": (lambda: steelyard.roc_auc(list("abab"), S), ValueError, "pos_label="),
    "absent": (lambda: steelyard.roc_auc(Y, S, pos_label=7), ValueError, "no positives \\(7 is the positive class\\)"),
    "probabilities": (lambda: steelyard.brier(Y, [0.1, 1.5, 0.2, 0.3]), ValueError, "brier needs probabilities from 0 to 1, not a score of 1.5"),
    "columns": (lambda: steelyard.roc_auc(["a", "b", "c"], np.ones((3, 2)), average="macro"), ValueError, "a column for each"),
    "columns' average": (lambda: steelyard.roc_auc(["a", "b", "c"], np.ones((3, 3))), ValueError, "needs average="),
    "labels needed": (lambda: steelyard.accuracy(score_table(Y, S)), TypeError, "needs a threshold"),
    "counts": (lambda: steelyard.roc_auc(Counts(1, 2, 3, 4)), TypeError, "metric of scores"),
    "positives differ": (lambda: score_table(Y, S) + score_table(Y, S, pos_label=0), ValueError, "different positives"),
    "saved": (lambda: ScoreTable.from_json(saved(scores=[2, 1])), ValueError, "finite and ascending"),
    "saved rows": (lambda: ScoreTable.from_json(saved(rows=[-1, 1])), ValueError, "not negative"),
    "saved lacks": (lambda: ScoreTable.from_json(saved(scores=None)), ValueError, "saved"),
    "empty": (lambda: steelyard.roc_auc([], []), ValueError, "no positives|empty"),
}  # fmt: skip


def saved(**changes):
    data = score_table([0, 1, 1], [0.1, 0.9, 0.4]).saved()
    data["positive"].update(changes)
    return json.dumps(data)


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_places_summed_by_parts_are_those_of_all_at_once(monkeypatch):
    rng = np.random.default_rng(3)
    y = np.arange(700_000) % 2  # more of each class than are placed among the other's at a time
    score = np.round(rng.normal(size=700_000) + y, 4)
    positives, negatives = score[y == 1], np.sort(score[y == 0])
    below = sum(np.searchsorted(negatives, positives, side).sum() for side in ("left", "right"))
    area = below / 2 / len(positives) / len(negatives)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    precisions = set()
    for threads in ("1", "3"):  # whoever places which part
        monkeypatch.setenv("POLARS_MAX_THREADS", threads)
        assert close(steelyard.roc_auc(y, score), area)
        precisions.add(steelyard.average_precision(y, score))
    assert len(precisions) == 1


# ---------------------------------------------------------------- one column of probabilities for each class


def _classes(k=4, n=300, seed=5):
    rng = np.random.default_rng(seed)
    y = np.array(list("abcdef"))[rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))]
    return y, rng.dirichlet(np.ones(k), n), rng.integers(1, 4, n)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_log_loss_and_brier_of_many_classes_equal_scikit_learns(k):
    metrics = pytest.importorskip("sklearn.metrics")
    y, probabilities, times = _classes(k)
    for options in ({}, {"sample_weight": times / 3}):
        ours = steelyard.log_loss(y, probabilities, **options)
        assert ours == pytest.approx(metrics.log_loss(y, probabilities, **options), rel=1e-12)
        try:
            theirs = metrics.brier_score_loss(y, probabilities, labels=sorted(set(y)), **options)
        except (TypeError, ValueError):  # before scikit-learn 1.7 two classes only
            each = (probabilities - (y[:, None] == np.array(list("abcdef"))[:k])) ** 2
            theirs = np.average(each.sum(1) / (2 if k == 2 else 1), weights=options.get("sample_weight"))
        assert steelyard.brier(y, probabilities, **options) == pytest.approx(theirs, rel=1e-12)
    rows = np.repeat(np.arange(len(y)), times)
    for metric in (steelyard.log_loss, steelyard.brier):
        repeated = metric(y[rows], probabilities[rows])
        assert metric(y, probabilities, frequency=times) == pytest.approx(repeated, rel=1e-12)
        padded = np.column_stack([probabilities, np.zeros(len(y))])
        assert metric(y, padded, labels=[*"abcdef"[:k], "z"]) == pytest.approx(
            metric(y, probabilities) * (2 if k == 2 and metric is steelyard.brier else 1)
        )


def test_a_column_for_each_of_two_classes_gives_what_the_positive_column_does():
    y, probabilities, _ = _classes(2)
    codes = (y == "b").astype(int)
    for name in ("log_loss", "brier", "roc_auc", "average_precision", "expected_calibration_error"):
        metric = get_metric(name)
        assert metric(codes, probabilities) == pytest.approx(metric(codes, probabilities[:, 1]), rel=1e-12), name
        one = metric(y, probabilities, pos_label="a")
        assert one == pytest.approx(metric(y, probabilities[:, 0], pos_label="a"), rel=1e-12), name
    with pytest.raises(ValueError, match="pos_label="):
        steelyard.roc_auc(y, probabilities)


def test_one_class_of_many_by_its_own_column():
    y, probabilities, _ = _classes(4)
    for i, label in enumerate("abcd"):
        for name in ("roc_auc", "log_loss", "brier", "average_precision"):
            expected = get_metric(name)(y == label, probabilities[:, i])
            assert get_metric(name)(y, probabilities, pos_label=label) == expected


def test_rows_that_were_given_no_probability_are_counted_however_they_are_stored():
    y, score = [0, 0, 0, 1, 1, 1, 1], [1.0, 1.0, 0.2, 0.0, 0.0, 0.7, 0.8]
    seen = steelyard.Accumulator(score_table, labels=[0, 1], pos_label=1)
    seen.update(y * 10, y_score=score * 10)
    reason = "40 rows were given probability 0 for what came true"
    columns = np.column_stack([1 - np.array(score), score])
    for given in [(y * 10, score * 10), (seen.result(),), (score_table(y, score, frequency=[10] * 7),)]:
        assert steelyard.log_loss.why(*given) == reason
    assert steelyard.log_loss.why(y, columns, labels=[0, 1], frequency=[10] * 7) == reason


def test_intervals_are_the_same_however_tied_scores_are_stored():
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.1).astype(int)
    score = 1 / (1 + np.exp(-rng.normal(size=20_000) - y))
    score = np.where(y == 0, np.round(score, 2), score)  # the common class has fewer distinct scores than the rare one
    names = ["average_precision", "precision_at_recall", "brier"]
    stored = [steelyard.interval(names, table) for table in (score_table(y, score), score_table(y, score).compact())]
    ends = [[(row.low, row.high) for row in rows] for rows in stored]
    assert ends[0] == [pytest.approx(pair, abs=1e-12) for pair in ends[1]]


def test_a_class_that_was_given_no_probability_and_came_true_makes_the_log_loss_infinite():
    probabilities = [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]
    assert steelyard.log_loss([0, 1, 2], probabilities) == math.inf
    assert steelyard.log_loss.why([0, 1, 2], probabilities) == "1 row was given probability 0 for what came true"
    assert steelyard.brier([0, 1, 2], probabilities) == pytest.approx(1.5 / 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, p: steelyard.log_loss(y, p * 2), r"sum to 1 in each row; row 1 sums to 2 and"),
        (lambda y, p: steelyard.brier(y, p - 0.5), "needs probabilities: numbers from 0 to 1"),
        (lambda y, p: steelyard.log_loss(y, p, pos_label="z"), "The positive class 'z'"),
        (lambda y, p: steelyard.roc_auc(y, p, pos_label="a", average="macro"), "contradict each other"),
    ],
)
def test_what_columns_of_scores_cannot_give_is_refused_in_one_sentence(call, words):
    y, probabilities, _ = _classes(4)
    assert_refused(lambda: call(y, probabilities), ValueError, words)


def brute_curves(y, score):
    """Both rates and the share of positives at each threshold, from nobody flagged to all."""
    cuts = [np.inf, *np.unique(score)[::-1]]
    return np.array([((score[y == 1] >= c).mean(), (score[y == 0] >= c).mean()) for c in cuts])


@pytest.mark.parametrize("seed", range(4))
def test_points_and_distances_of_the_roc_curve_are_those_of_every_threshold(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) < 15).astype(int)
    score = np.round(rng.normal(size=60) + y, 1)
    curve = brute_curves(y, score)
    assert steelyard.ks(y, score) == pytest.approx((curve[:, 0] - curve[:, 1]).max(), abs=1e-15)
    assert steelyard.ks(y, -score) >= 0 == steelyard.ks([1, 0], [0.1, 0.9])
    assert steelyard.gini(y, score) == pytest.approx(2 * steelyard.roc_auc(y, score) - 1, abs=1e-15)
    for at in (0.0, 0.1, 0.5, 1.0):
        assert steelyard.recall_at_fpr(y, score, at=at) == pytest.approx(curve[curve[:, 1] <= at, 0].max())
    for at in (0.1, 0.9, 1.0):
        expected = 1 - curve[curve[:, 0] >= at, 1].min()
        assert steelyard.specificity_at_recall(y, score, at=at) == pytest.approx(expected)
    p = 1 / (1 + np.exp(-score))
    assert steelyard.discrimination_slope(y, p) == pytest.approx(p[y == 1].mean() - p[y == 0].mean(), abs=1e-15)


@pytest.mark.parametrize(
    "name", ["recall_at_fpr", "specificity_at_recall", "recall_at_precision", "precision_at_recall"]
)
def test_equal_weights_leave_a_point_of_a_curve_where_it_is(name):
    """A third of a row ten times is not 10/3 in floating point, and a rate of 0.1 must still be one of at most 0.1."""
    metric, weights = steelyard.get_metric(name), np.full(20, 1 / 3)
    y, score = np.arange(20) >= 10, np.r_[np.linspace(0.1, 0.9, 10), np.linspace(0.15, 0.95, 10)]
    for at in np.arange(1, 11) / 10:
        plain, weighted = metric(y, score, at=at), metric(y, score, at=at, sample_weight=weights)
        assert weighted == pytest.approx(plain, nan_ok=True)
    assert steelyard.recall_at_fpr(y, score, at=0.1) == 0.2 > steelyard.recall_at_fpr(y, score, at=0.0999)
    assert steelyard.recall_at_fpr(y, score, at=0.0999, sample_weight=weights) == pytest.approx(0.1)


@pytest.mark.parametrize("ratio", [None, 0.3, 2.0])
def test_h_measure_is_what_the_best_threshold_for_every_cost_removes(ratio):
    """By adding up costs on a fine grid, each at its best threshold."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(80) < 20).astype(int)
    score = rng.normal(size=80) + y
    curve, shape = brute_curves(y, score), 1 + 1 / (ratio or y.mean() / (1 - y.mean()))
    cost = (np.arange(20_000) + 0.5) / 20_000
    density = cost * (1 - cost) ** (shape - 1)
    share = y.mean()
    least = (cost[:, None] * (1 - share) * curve[:, 1] + (1 - cost[:, None]) * share * (1 - curve[:, 0])).min(1)
    without = np.minimum(cost * (1 - share), (1 - cost) * share)
    expected = 1 - (least * density).sum() / (without * density).sum()
    assert steelyard.h_measure(y, score, severity_ratio=ratio) == pytest.approx(expected, abs=1e-6)


def test_the_area_under_precision_recall_gain_is_what_is_missing_of_one():
    """One less (P / N) x the integral of the false positive rate over recall^3, from the prevalence to 1."""
    rng = np.random.default_rng(4)
    y = rng.permutation(np.arange(100) < 30).astype(int)
    score = rng.normal(size=100) + y
    curve, share = brute_curves(y, score), 0.3
    recall = np.linspace(share, 1, 200_001)
    points = {r: f for r, f in reversed(list(map(tuple, curve)))}  # of one recall the fewest false positives
    at, first = np.array(sorted(points)), [points[r] for r in sorted(points)]
    last = dict(map(tuple, curve))
    place = np.clip(np.searchsorted(at, recall, side="left"), 1, len(at) - 1)
    into = (recall - at[place - 1]) / (at[place] - at[place - 1])
    left, right = np.array([last[r] for r in at])[place - 1], np.array(first)[place]
    false_rate = left + into * (right - left)
    missing = share / (1 - share) * np.trapezoid(false_rate / recall**3, recall)
    assert steelyard.auprg(y, score) == pytest.approx(1 - missing, abs=2e-4)
    assert steelyard.auprg(y, y) == 1 and steelyard.auprg(y, np.ones(100)) == pytest.approx(0, abs=1e-15)


def test_metrics_of_curves_do_not_depend_on_how_rows_are_weighted_together():
    rng = np.random.default_rng(5)
    y, score, times = (
        rng.permutation(np.arange(50) < 12).astype(int),
        rng.integers(1, 20, 50) / 20,
        rng.integers(1, 4, 50),
    )
    names = [
        "gini",
        "ks",
        "recall_at_fpr",
        "specificity_at_recall",
        "h_measure",
        "auprg",
        "mcc_f1",
        "discrimination_slope",
    ]
    for name in names:
        weighted = steelyard.get_metric(name)(y, score, sample_weight=times)
        assert weighted == pytest.approx(
            steelyard.get_metric(name)(np.repeat(y, times), np.repeat(score, times)), abs=1e-12
        )
        alone = ScoreTable(ClassScores(np.zeros(0)), ClassScores(np.arange(5) / 5))
        assert steelyard.get_metric(name).why(alone) == "no positives"


def test_intervals_of_the_best_thresholds_reach_down_to_chance_and_what_depends_on_rows_has_none():
    rng = np.random.default_rng(6)
    y = rng.permutation(np.arange(200) < 20).astype(int)
    for name in ("ks", "h_measure"):
        random = steelyard.interval(name, y, y_score=rng.random(200))
        skilled = steelyard.interval(name, y, y_score=rng.normal(size=200) + 2 * y)
        assert random.low == 0 < random.value <= random.high
        assert 0.2 < skilled.low < skilled.value < skilled.high < 1
        assert skilled.method == "isotonic"
    alone = steelyard.interval("mcc_f1", y, y_score=rng.random(200))
    assert np.isnan(alone.low) and "how many rows" in alone.why and alone.method == ""
    area, doubled = (steelyard.interval(name, y, y_score=rng.random(200) + 0 * y) for name in ("roc_auc", "gini"))
    assert area.method == doubled.method


def test_intervals_of_the_best_thresholds_do_not_depend_on_prevalence_or_on_clusters_of_one_row():
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(50, dtype=int), np.zeros(250, dtype=int)]
    score = rng.normal(size=300) + 1.2 * y
    plain = steelyard.interval("ks", y, y_score=score)
    for prevalence in (0.001, 0.05, 0.5):
        there = steelyard.interval("ks", y, y_score=score, prevalence=prevalence)
        assert (there.low, there.high) == pytest.approx((plain.low, plain.high))
    for name in ("ks", "h_measure"):
        alone, found = (
            steelyard.interval(name, y, y_score=score, **given) for given in ({}, {"cluster": np.arange(300)})
        )
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=0.01)
    pairs = steelyard.interval("ks", np.repeat(y, 2), y_score=np.repeat(score, 2), cluster=np.repeat(np.arange(300), 2))
    assert (pairs.low, pairs.high) == pytest.approx((plain.low, plain.high), abs=0.02)


def test_an_area_that_starts_before_the_first_positive_has_no_interval():
    rng = np.random.default_rng(0)
    y = (np.arange(1_000) < 20).astype(int)
    few = steelyard.interval("auprg", y, y_score=rng.normal(size=1_000) + y)
    assert np.isnan(few.low) and "before the first positive" in few.why
    assert steelyard.interval("auprg", y[:200], y_score=rng.normal(size=200) + y[:200]).low < 1


def test_a_metric_without_an_interval_states_why_everywhere_and_is_not_tested(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    rng = np.random.default_rng(7)
    y = rng.permutation(np.arange(80) < 10).astype(int)
    a, b = (rng.normal(size=80) + shift * y for shift in (1, 2))
    why = "no interval: its value depends on how many rows there are"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        e = steelyard.evaluate(y, y_score=a, metrics=["mcc_f1", "ks"])
        steelyard.interval("mcc_f1", [0, 0, 1, 1], y_score=[0, 1, 0, 1])
    assert e["mcc_f1"].no_interval == e.to_dict()["metrics"][0]["no_interval"] == why and e["ks"].no_interval is None
    assert why in str(e) and why in repr(e["mcc_f1"]) and "bootstrap" not in e.method
    page = e.to_html()
    assert f">{why}<" in page and "mcc_f1: a Bayesian bootstrap" not in page
    assert steelyard.Evaluation.from_json(e.to_json()) == e
    evaluated = {name: steelyard.evaluate(y, y_score=score) for name, score in (("a", a), ("b", b))}
    paired = steelyard.compare(y, y_score={"a": a, "b": b}, metrics=["mcc_f1", "roc_auc"])
    for compared in (paired, steelyard.compare(evaluated, metrics=["mcc_f1", "roc_auc"])):
        row, area = compared
        assert row.value_a == steelyard.mcc_f1(y, a) and row.value_b == steelyard.mcc_f1(y, b)
        assert np.isnan([row.low, row.high, row.p_value, row.p_holm]).all() and row.why == why and row.method == ""
        assert area.p_value < 1


def test_a_perfect_ranking_of_few_rows_does_not_reach_an_mcc_f1_of_one():
    """Each of the three thresholds of four rows has its own range: MCC 1 and 1/sqrt(3) twice, F1 1, 2/3 and 4/5."""
    height = (1 + 1 / 3**0.5) / 2
    distances = [0, *(np.hypot(1 - height, 1 - f1) / 2**0.5 for f1 in (2 / 3, 4 / 5))]
    value = steelyard.mcc_f1([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert value == pytest.approx(1 - np.mean(distances)) == pytest.approx(0.838, abs=5e-4)
