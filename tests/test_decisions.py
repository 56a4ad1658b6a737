"""Decisions of many classes: thresholds, costs, deployment shares and rows sent to a person, each by brute force."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from command_line import run_command
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

import steelyard
from steelyard import Predictions, Result, best_decision, best_threshold
from steelyard.analysis.decisions.search import dealt_folds
from steelyard.exceptions import InputError, InputTypeError, UndefinedError
from steelyard.figures import RiskCoverageDisplay

MACRO_F1 = "f1[average=macro]"


def world(n=400, k=4, seed=0, apart=1.7):
    """Labels of classes of falling shares, and their probabilities."""
    rng = np.random.default_rng(seed)
    shares = 6.0 ** -np.linspace(0, 1, k)
    shares /= shares.sum()
    y = rng.choice(k, n, p=shares)
    y[: 3 * k] = np.repeat(np.arange(k), 3)
    odds = apart * (rng.standard_normal((n, k)) + apart * np.eye(k)[y]) + np.log(shares)
    p = np.exp(odds - odds.max(1, keepdims=True))
    return y, p / p.sum(1, keepdims=True)


Y, P = world()
COSTS = np.array([[0, 1, 2, 9], [1, 0, 3, 1], [4, 1, 0, 2], [20, 5, 5, 0]], dtype=float)


# ---------------------------------------------------------------- by a metric


@pytest.mark.parametrize("metric", ["ac_score", "f1", "mcc", "balanced_accuracy", "accuracy", "g_mean", "kappa"])
@pytest.mark.parametrize("seed", range(3))
def test_of_two_classes_it_is_the_best_threshold(metric, seed):
    y, p = world(300, 2, seed)
    weight = np.random.default_rng(seed).integers(1, 4, 300)
    for weights in (None, weight):
        two = best_threshold(y, p[:, 1], metric, draws=0, sample_weight=weights)
        many = best_decision(y, p, metric, folds=0, sample_weight=weights)
        assert many.value == pytest.approx(two.value, abs=1e-12)
        assert many.thresholds[1] == pytest.approx(two.threshold, abs=1e-12)
        assert many.thresholds[0] == pytest.approx(1 - two.threshold, abs=1e-12)


@pytest.mark.parametrize(
    "metric", [MACRO_F1, "balanced_accuracy", "g_mean", "accuracy", "mcc", "kappa[weights=linear]"]
)
def test_thresholds_are_as_good_as_those_of_a_grid(metric):
    y, p = world(200, 3, 5)
    best = best_decision(y, p, metric, folds=0)
    spec = steelyard.metrics.spec.MetricSpec.of(metric)
    options = {} if spec.is_native else {"average": spec.average}
    value = lambda decided: spec.metric(y, decided, labels=range(3), **options)
    assert best.value == pytest.approx(value(best.decide(p)), abs=1e-12)
    grid = [value((p * [1, a, b]).argmax(1)) for a, b in itertools.product(np.geomspace(0.1, 10, 21), repeat=2)]
    assert best.value >= np.nanmax(grid) - 0.005
    assert best.value >= best.argmax_value == pytest.approx(value(p.argmax(1)))


def test_the_value_is_that_of_scikit_learn_on_what_is_decided():
    weight = np.random.default_rng(1).random(len(Y))
    cases = [
        (MACRO_F1, lambda *a, **w: f1_score(*a, average="macro", **w)),
        ("balanced_accuracy", balanced_accuracy_score),
        ("accuracy", accuracy_score),
    ]
    for metric, theirs in cases:
        for weights in (None, weight):
            best = best_decision(Y, P, metric, folds=0, sample_weight=weights)
            assert best.value == pytest.approx(theirs(Y, best.decide(P), sample_weight=weights))
            assert best.argmax_value == pytest.approx(theirs(Y, P.argmax(1), sample_weight=weights))


def test_on_noise_the_value_flatters_and_the_one_of_new_rows_does_not():
    rng = np.random.default_rng(3)
    values = [
        best_decision(rng.permutation(np.arange(120) % 3), rng.dirichlet([1, 1, 1], 120), "balanced_accuracy", rng=i)
        for i in range(10)
    ]
    assert np.mean([best.value for best in values]) > 0.38
    assert np.mean([best.out_of_sample for best in values]) == pytest.approx(1 / 3, abs=0.04)
    assert sum(best.out_of_sample_interval[0] <= 1 / 3 <= best.out_of_sample_interval[1] for best in values) >= 8
    assert sum(best.gain_interval[0] > 0 for best in values) <= 1


def test_a_row_is_judged_by_a_rule_that_was_chosen_without_it():
    y, p = world(90, 3, 2)
    best = best_decision(y, p, "balanced_accuracy", folds=3, rng=4)
    folds = dealt_folds(y, None, 3, np.random.default_rng(4))
    decided = np.empty(90, int)
    for fold in range(3):
        out = folds == fold
        decided[out] = best_decision(y[~out], p[~out], "balanced_accuracy", folds=0).decide(p[out])
    assert best.out_of_sample == pytest.approx(balanced_accuracy_score(y, decided))
    assert best.optimism == pytest.approx(best.value - best.out_of_sample)
    assert best.gain == pytest.approx(best.out_of_sample - best.argmax_value)
    assert [row.recall for row in best] == pytest.approx([np.mean(decided[y == i] == i) for i in range(3)])


def test_folds_hold_every_class_and_keep_clusters_whole():
    folds = dealt_folds(Y, None, 5, np.random.default_rng(0))
    for code in range(4):
        assert np.ptp(np.bincount(folds[code == Y], minlength=5)) <= 1
    clusters = np.random.default_rng(0).integers(0, 40, len(Y))
    dealt = dealt_folds(Y, clusters, 5, np.random.default_rng(0))
    assert all(len(np.unique(dealt[clusters == c])) == 1 for c in range(40))


def test_eighteen_classes_of_many_rows_take_seconds_and_gain():
    y, p = world(1_500, 18, 1, apart=2.0)
    best = best_decision(y, p, "balanced_accuracy", folds=3)
    assert len(best.labels) == len(best) == 18
    assert sum(best.thresholds.values()) == pytest.approx(1)
    assert best.gain > 0
    assert best.optimism > -0.01


# ---------------------------------------------------------------- by costs, and at other shares


def test_the_decision_of_least_expected_cost_is_that_of_brute_force():
    best = best_decision(Y, P, cost_matrix=COSTS)
    decided = [min(range(4), key=lambda j: sum(p[i] * COSTS[i, j] for i in range(4))) for p in P]
    assert best.decide(P).tolist() == decided
    assert (
        best.value
        == best.out_of_sample
        == pytest.approx(np.mean([COSTS[i, j] for i, j in zip(Y, decided, strict=True)]))
    )
    assert best.argmax_value == pytest.approx(COSTS[Y, P.argmax(1)].mean())
    assert best.regret == pytest.approx(best.value)
    assert best.optimism == 0
    assert best.expected == pytest.approx((P @ COSTS).min(1).mean())
    assert best.gain == pytest.approx(best.argmax_value - best.value)
    low, high = best.out_of_sample_interval
    assert low < best.value < high


def test_the_best_possible_is_what_knowing_the_class_costs():
    costs = COSTS + np.diag([1.0, 2, 0, 3])
    weight = np.random.default_rng(0).random(len(Y))
    best = best_decision(Y, P, cost_matrix=costs, sample_weight=weight)
    assert best.best_possible == pytest.approx(np.average(costs.min(1)[Y], weights=weight))
    assert best.regret == pytest.approx(best.value - best.best_possible)
    assert "Knowing every class would cost" in " ".join(best.notes)


def test_of_very_many_classes_costs_have_an_interval():
    rng, k = np.random.default_rng(0), 200
    y = np.arange(1_000) % k
    p = 0.5 * rng.dirichlet(np.full(k, 0.2), 1_000) + 0.5 * np.eye(k)[np.where(rng.random(1_000) < 0.8, y, (y + 1) % k)]
    best = best_decision(y, p, cost_matrix=1 - np.eye(k))
    assert best.value == pytest.approx(np.mean(p.argmax(1) != y))
    assert best.out_of_sample_interval[0] < best.value < best.out_of_sample_interval[1]


def test_of_two_classes_costs_give_the_threshold_of_elkan():
    y, p = world(200, 2)
    best = best_decision(y, p, cost_matrix=[[0, 1], [4, 0]])
    assert np.array_equal(best.decide(p) == 1, p[:, 1] > 1 / 5)


def test_shares_move_the_probabilities_as_correct_prior_does_and_count_rows_by_them():
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    seen = np.bincount(Y) / len(Y)
    best = best_decision(Y, P, cost_matrix=COSTS, prevalence=dict(zip(range(4), shares, strict=True)))
    moved = steelyard.correct_prior(P, seen, shares)
    decided = (moved @ COSTS).argmin(1)
    assert np.array_equal(best.decide(P), decided)
    assert best.value == pytest.approx(np.average(COSTS[Y, decided], weights=(shares / seen)[Y]))
    assert best.prevalence == pytest.approx(tuple(shares))
    by_metric = best_decision(Y, P, "accuracy", prevalence=shares, folds=0)
    assert by_metric.value == pytest.approx(np.average(by_metric.decide(P) == Y, weights=(shares / seen)[Y]))
    assert by_metric.value >= np.average(moved.argmax(1) == Y, weights=(shares / seen)[Y]) - 0.01


def test_probabilities_that_expect_another_cost_are_said_to_be_uncalibrated():
    sharp = P**4 / (P**4).sum(1, keepdims=True)
    assert "not calibrated" in " ".join(best_decision(Y, sharp, cost_matrix=COSTS).notes)
    assert "not calibrated" not in " ".join(best_decision(Y, P, cost_matrix=COSTS).notes)


def test_a_frame_of_costs_is_matched_by_its_names():
    names = np.array(["a", "b", "c", "d"])
    frame = pd.DataFrame(COSTS, names, names).loc[["d", "a", "c", "b"], ["b", "d", "a", "c"]]
    scores = pd.DataFrame(P, columns=[f"p_{name}" for name in names])[["p_c", "p_a", "p_d", "p_b"]]
    best = best_decision(names[Y], scores, cost_matrix=frame)
    assert best.value == best_decision(Y, P, cost_matrix=COSTS).value
    assert np.array_equal(best.decide(scores), names[best_decision(Y, P, cost_matrix=COSTS).decide(P)])


# ---------------------------------------------------------------- sent to a person


def test_a_share_of_the_rows_goes_to_a_person_and_the_errors_of_the_rest_are_counted():
    best = best_decision(Y, P, reject=0.1, folds=0)
    certain = np.sort(P.max(1))
    kept = P.max(1) > (certain[39] + certain[40]) / 2
    assert np.array_equal(~best.sent(P), kept)
    assert best.metric == "error_rate"
    assert best.coverage == pytest.approx(0.9)
    assert best.value == pytest.approx(np.mean(P.argmax(1)[kept] != Y[kept]))
    assert best.argmax_value == pytest.approx(np.mean(P.argmax(1) != Y))
    crossed = best_decision(Y, P, reject=0.1)
    assert crossed.coverage == best.coverage
    assert crossed.out_of_sample_coverage == pytest.approx(0.9, abs=0.03)
    assert crossed.out_of_sample == pytest.approx(best.value, abs=0.02)


def test_a_person_with_a_cost_gets_the_rows_of_chow():
    best = best_decision(Y, P, reject_cost=0.25)
    sent = P.max(1) < 0.75
    assert np.array_equal(best.sent(P), sent)
    assert best.value == pytest.approx((0.25 * sent.sum() + (P.argmax(1) != Y)[~sent].sum()) / len(Y))
    costly = best_decision(Y, P, cost_matrix=COSTS, reject_cost=1.0)
    risks = (P @ COSTS).min(1)
    assert np.array_equal(costly.sent(P), risks > 1)
    paid = np.where(risks > 1, 1.0, COSTS[Y, (P @ COSTS).argmin(1)])
    assert costly.value == pytest.approx(paid.mean())
    assert costly.expected == pytest.approx(np.minimum(risks, 1).mean())
    assert costly.gain_interval[0] > 0


def test_rows_of_one_risk_are_kept_together():
    p = np.array([[0.6, 0.2, 0.2]] * 50 + [[0.2, 0.6, 0.2]] * 49 + [[0.4, 0.3, 0.3]])
    y = np.array([0] * 50 + [1] * 49 + [2])
    assert best_decision(y, p, reject=0.5, folds=0).coverage == pytest.approx(0.99)
    assert best_decision(y, p, reject=0.005, folds=0).coverage == 1


def test_the_curve_is_that_of_every_limit():
    curve = best_decision(Y, P, reject=0.1).curve
    confidence, wrong = P.max(1), P.argmax(1) != Y
    full = best_decision(Y, P, reject_cost=5.0).curve  # whose rule no row chooses
    for point in full:
        kept = 1 - confidence <= point.limit
        assert point.coverage == pytest.approx(kept.mean())
        assert point.coverage >= 1 - point.asked - 1e-9
        assert point.risk == pytest.approx(wrong[kept].mean())
        assert point.low <= point.risk <= point.high
        assert point.least_coverage == pytest.approx(min(kept[i == Y].mean() for i in range(4)))
    order = np.argsort(1 - confidence, kind="stable")
    running = np.cumsum(wrong[order]) / np.arange(1, len(Y) + 1)
    assert full.area == pytest.approx(running.mean(), abs=0.005)
    best_order = np.cumsum(np.sort(wrong)) / np.arange(1, len(Y) + 1)
    assert full.least_area == pytest.approx(best_order.mean(), abs=0.005)
    thousand = best_decision(np.tile(Y, 100), np.tile(P, (100, 1)), reject_cost=5.0).curve
    assert thousand.area == pytest.approx(full.area)
    ordered = np.repeat(wrong[order], 100)
    assert full.area == pytest.approx((np.cumsum(ordered) / np.arange(1, len(ordered) + 1)).mean(), abs=2e-4)
    assert full.whole == pytest.approx(wrong.mean())
    assert full.least_area < full.area < full.whole
    assert full.at(0.055).asked == 0.05
    assert curve.at(0.1).risk < curve.whole


def test_the_area_of_equal_risks_is_that_of_a_random_order():
    rng = np.random.default_rng(0)
    y, p = np.arange(60) % 3, np.repeat([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], 30, axis=0)
    wrong, areas = p.argmax(1) != y, []
    for _ in range(1000):
        order = rng.permutation(60)
        areas.append((np.cumsum(wrong[order]) / np.arange(1, 61)).mean())
    curve = best_decision(y, p, reject_cost=5.0).curve
    assert curve.area == pytest.approx(curve.whole)
    assert curve.area == pytest.approx(np.mean(areas), abs=0.01)


# ---------------------------------------------------------------- weights, classes without rows, saving


@pytest.mark.parametrize(
    "options",
    [{"metric": MACRO_F1}, {"cost_matrix": COSTS}, {"reject": 0.1}, {"cost_matrix": COSTS, "reject_cost": 1.0}],
    ids=str,
)
def test_a_weight_counts_as_so_many_rows(options):
    times = np.random.default_rng(0).integers(0, 4, len(Y))
    repeated = best_decision(np.repeat(Y, times), np.repeat(P, times, axis=0), **options, folds=0)
    for weights in ({"sample_weight": times}, {"frequency": times}):
        weighted = best_decision(Y, P, **options, **weights, folds=0)
        assert weighted.value == pytest.approx(repeated.value)
        assert weighted.argmax_value == pytest.approx(repeated.argmax_value)
        assert weighted.limit == pytest.approx(repeated.limit)
        assert [point.risk for point in weighted.curve] == pytest.approx([point.risk for point in repeated.curve])
        assert weighted.curve.area == pytest.approx(repeated.curve.area)


def test_clusters_stay_together_and_widen_the_interval():
    y, p = np.repeat(Y[:100], 8), np.repeat(P[:100], 8, axis=0)
    cluster = np.repeat(np.arange(100), 8)
    alone, together = (best_decision(y, p, "accuracy", **more) for more in ({}, {"cluster": cluster}))
    width = lambda best: np.ptp(best.out_of_sample_interval)
    assert width(together) > 1.8 * width(alone)
    assert together.gain_interval is None
    assert math.isnan(together.curve.points[5].low)


def test_a_class_without_rows_is_named_where_a_metric_needs_it():
    labels, p = [0, 1, 2, 3, 4], np.column_stack([0.9 * P, np.full(len(P), 0.1)])
    with pytest.raises(
        UndefinedError, match="balanced_accuracy is undefined at every decision: class 4 has no rows in the truth"
    ):
        best_decision(Y, p, "balanced_accuracy", labels=labels)
    best = best_decision(Y, p, "accuracy", labels=labels)
    assert best.labels == (0, 1, 2, 3, 4)
    assert best.classes[4].rows == 0
    assert math.isnan(best.classes[4].recall)
    costly = best_decision(Y, p, cost_matrix=1 - np.eye(5), labels=labels)
    assert costly.value == pytest.approx(np.mean(p.argmax(1) != Y))


def test_a_class_of_one_row_leaves_the_value_on_new_rows_unknown():
    y, p = np.append(Y[Y < 3], 3), np.vstack([P[Y < 3], [0.1, 0.1, 0.1, 0.7]])
    best = best_decision(y, p, "balanced_accuracy")
    assert best.out_of_sample is None
    assert "not known" in best.notes[0]
    assert best_decision(y, p, "accuracy").out_of_sample is not None


def test_a_saved_rule_decides_as_before():
    for options in ({"metric": "g_mean", "reject": 0.2}, {"cost_matrix": COSTS, "reject_cost": 2.0}):
        best = best_decision(Y, P, **options)
        again = Result.from_json(best.to_json())
        assert again == best
        assert np.array_equal(again.decide(P), best.decide(P))
        assert np.array_equal(again.sent(P), best.sent(P))
    assert best.to_dict()["regret"] == pytest.approx(best.regret)
    assert {*best.to_frame("pandas").columns} == {"class", "rows", "recall", "argmax_recall", "sent"}


@pytest.mark.parametrize("shares", [None, [0.1, 0.2, 0.3, 0.4]])
def test_thresholds_are_the_rule_or_there_are_none(shares):
    for options in ({"cost_matrix": COSTS}, {"cost_matrix": COSTS, "reject": 0.1}):
        best = best_decision(Y, P, prevalence=shares, **options)
        assert best.thresholds is None
        assert "threshold" not in best.to_frame("pandas") and "threshold" not in best.to_dicts()[0]
        moved = P if shares is None else P * np.array(shares) / (np.bincount(Y) / len(Y))
        assert np.array_equal(best.decide(P), (moved @ COSTS).argmin(1))
        assert np.array_equal(Result.from_json(best.to_json()).decide(P), best.decide(P))
    for options in ({"metric": "mcc"}, {"reject": 0.1}, {"cost_matrix": 3 * (1 - np.eye(4))}, {"reject_cost": 0.3}):
        best = best_decision(Y, P, prevalence=shares, **options)
        assert np.array_equal((P / [*best.thresholds.values()]).argmax(1), best.decide(P))
        assert "threshold" in best.to_frame("pandas")


def test_each_value_has_the_share_of_rows_that_it_is_of():
    y, p = world(997)
    best = best_decision(y, p, reject=0.05)
    assert 1 - best.coverage == pytest.approx(best.sent(p).mean())
    assert best.out_of_sample_coverage != best.coverage
    here, new = (
        steelyard.analysis.results.formatting.percent_text(c) for c in (best.coverage, best.out_of_sample_coverage)
    )
    assert f"of the {here} of rows that are kept" in best.headline
    assert f"of the {new} kept;" in best.headline


# ---------------------------------------------------------------- evaluated, drawn, and from the shell


def test_an_evaluation_holds_the_curve_and_its_page_the_same_numbers():
    from pages_open import page_data

    evaluation = steelyard.evaluate(Y, y_score=P)
    curve = best_decision(Y, P, reject_cost=5.0).curve
    assert [point.risk for point in evaluation.risk_coverage] == [point.risk for point in curve]
    assert steelyard.Evaluation.from_json(evaluation.to_json()) == evaluation
    data = page_data(evaluation.to_html())["risk"]
    for name in ("asked", "coverage", "risk", "low", "high", "least_coverage"):
        assert data[name] == pytest.approx(getattr(evaluation.risk_coverage, name), abs=1e-9)
    assert len(json.dumps(data)) < 6_000
    assert len(json.dumps(evaluation.to_dict()["risk_coverage"])) < 6_000
    clustered = steelyard.evaluate(Y, y_score=P, cluster=np.arange(len(Y)) // 2, metrics=["accuracy"])
    assert np.isnan(clustered.risk_coverage.low).all()
    assert page_data(clustered.to_html())["risk"]["low"][0] is None
    for other in (
        steelyard.evaluate(Y, P.argmax(1)),
        steelyard.evaluate(Y, y_score=2 * P),
        steelyard.evaluate(Y, y_score=P, prevalence=[0.25] * 4),
    ):
        assert other.risk_coverage is None
        assert "risk" not in page_data(other.to_html())


def test_the_figure_draws_the_curve():
    display = RiskCoverageDisplay.from_predictions(Y, {"one": P, "two": np.roll(P, 1, axis=0)})
    rows = display.frame().to_frame("pandas")
    assert rows[rows.model == "one"].risk.tolist() == steelyard.evaluate(Y, y_score=P).risk_coverage.risk.tolist()
    assert "random order" in display.caption()
    assert display.ax_.get_xlabel().startswith("Coverage")
    by_cost = RiskCoverageDisplay.from_result(best_decision(Y, P, cost_matrix=COSTS))
    assert by_cost.ax_.get_ylabel() == "Mean cost of the rows decided"
    with pytest.raises(InputError, match="three classes or more"):
        RiskCoverageDisplay.from_evaluation(steelyard.evaluate(Y, P.argmax(1)))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    names = np.array(["a", "b", "c", "d"])
    pd.DataFrame(
        {"y": names[Y], **{f"p_{name}": P[:, i] for i, name in enumerate(names)}, "w": np.arange(len(Y)) % 3 + 1}
    ).to_csv(folder / "rows.csv", index=False)
    pd.DataFrame(COSTS, names, names).loc[["d", "a", "c", "b"]].to_csv(folder / "costs.csv")
    (folder / "bare.csv").write_text("\n".join(",".join(map(str, row)) for row in COSTS))
    (folder / "bad.csv").write_text("true,a,b\na,0,x\nb,1,0\n")
    return folder


def shell(files, *words):
    return run_command("threshold", files / "rows.csv", "--score", "p_*", *words)


def test_the_shell_decides_as_python_does(files):
    for costs in ("costs.csv", "bare.csv"):
        answer = json.loads(
            shell(files, "--cost-matrix", str(files / costs), "--reject", "5%", "--format", "json").stdout
        )
        best = best_decision(Y, P, cost_matrix=COSTS, reject=0.05)
        assert answer["value"] == pytest.approx(best.value)
        assert answer["out_of_sample"] == pytest.approx(best.out_of_sample)
        assert [row["label"] for row in answer["classes"]] == ["a", "b", "c", "d"]
    weighted = json.loads(shell(files, "--metric", MACRO_F1, "--weight", "w", "--format", "json").stdout)
    assert weighted["value"] == pytest.approx(
        best_decision(Y, P, MACRO_F1, sample_weight=np.arange(len(Y)) % 3 + 1).value
    )
    moved = json.loads(
        shell(files, "--metric", "accuracy", "--prevalence", "a=0.1,b=0.2,c=0.3,d=0.4", "--format", "json").stdout
    )
    assert moved["prevalence"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    text = shell(files, "--metric", "balanced_accuracy").stdout
    assert "by a threshold for each class" in text
    assert "steelyard report" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "| class |" in shell(files, "--reject-cost", "0.3", "--format", "md").stdout


def test_the_shell_finds_the_threshold_of_a_class_that_is_named(files):
    assert "At threshold " in shell(files, "--pos-label", "a", "--metric", "f1").stdout
    assert "positive" in shell(files, "--pos-label", "a").stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cost-matrix", "nowhere.csv"], "'nowhere.csv' cannot be read"),
        (["--cost-matrix", "bad.csv"], "holds something else"),
        (["--reject", "1.5"], "from 0 to below 1, not 1.5"),
        (["--reject", "many"], "--reject is the share"),
        (["--where", "recall >= 0.9"], "--where is of one threshold between two classes"),
        (["--cost-fn", "3"], "--cost-fn and the like is of one threshold"),
        (["--prevalence", "a=x"], "--prevalence of classes is their shares"),
        (["--prevalence", "0.2,0.3,0.5"], "each by name, such as low=0.2,mid=0.3,high=0.5, not"),
        (["--score", "p_a"], "--score takes one value and was given 2"),
    ],
)
def test_the_shell_refuses_in_one_sentence(files, words, sentence):
    words = [str(files / word) if word == "bad.csv" else word for word in words]
    ran = shell(files, *words)
    assert ran.exit_code
    assert sentence in f"{ran.output} {ran.exception}"


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cost_matrix": [[0, 1], [1, 0]]}, "4 x 4 numbers, 0 or more, rows true and columns decided.*shape"),
        ({"cost_matrix": -COSTS}, "true 0, decided 1 costs -1"),
        ({"cost_matrix": COSTS * np.nan}, "costs nan"),
        ({"cost_matrix": [["a"] * 4] * 4}, "something else than numbers"),
        ({"cost_matrix": np.ones((4, 4))}, "costs the same whatever is decided"),
        ({"cost_matrix": pd.DataFrame(COSTS, columns=list("wxyz"))}, "names 'w', 'x'"),
        ({"metric": "accuracy", "cost_matrix": COSTS}, "both say what is best"),
        ({"reject": 1.0}, "from 0 to below 1, not 1.0"),
        ({"reject": -0.1}, "from 0 to below 1, not -0.1"),
        ({"reject": "5%"}, "from 0 to below 1, not '5%'"),
        ({"reject_cost": -1}, "a number of 0 or more, not -1"),
        ({"reject_cost": 0.1, "reject": 0.1}, "give one"),
        ({"reject_cost": 0.1, "metric": "accuracy"}, "give cost_matrix=, or no metric"),
        ({"prevalence": [0.5, 0.5]}, "4 shares of the classes"),
        ({"prevalence": {0: 0.5, 1: 0.5}}, "has shares of 0, 1"),
        ({"folds": 1}, "folds= is a whole number"),
        ({"metric": "roc_auc"}, "judges the probabilities themselves"),
        ({"metric": "prevalence"}, "No value of prevalence is best"),
        ({"metric": "f1"}, "average="),
        ({"cost_matrix": COSTS, "beta": 2.0}, "takes no beta="),
        ({"cost_matrx": COSTS}, "Did you mean cost_matrix="),
        ({"cluster": [1, 2]}, "differ in length"),
    ],
    ids=str,
)
def test_bad_input_is_refused_in_one_sentence(options, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        best_decision(Y, P, **options)


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(InputError, match="row 1 sums to 2"):
        best_decision(Y, 2 * P)
    with pytest.raises(InputError, match="of one use best_threshold"):
        best_decision(Y, P[:, 0])
    with pytest.raises(InputError, match="one class only"):
        best_decision(np.zeros(5, int), np.full((5, 2), 0.5), labels=[0, 1])
    with pytest.raises(InputError, match="a column for each of 0, 1, 2, 3"):
        best_decision(Y, P, "accuracy", folds=0).decide(P[:, :3] / P[:, :3].sum(1, keepdims=True))


def test_the_columns_of_a_frame_are_decided_as_arrays_are():
    frame = pd.DataFrame(P, columns=[f"p_{i}" for i in range(P.shape[1])]).assign(y=Y, w=np.arange(len(Y)) % 3 + 1.0)
    frame["site"] = np.arange(len(Y)) // 4
    named = best_decision(frame, true="y", score="p_*", weight="w", cluster="site", metric="f1[average=macro]")
    alone = best_decision(Y, P, "f1[average=macro]", sample_weight=frame["w"], cluster=frame["site"])
    assert named.thresholds == alone.thresholds and named.out_of_sample == alone.out_of_sample
    p = Predictions.read(frame, true="y", score="p_*", weight="w", cluster="site")
    assert best_decision(p, "f1[average=macro]") == p.best_decision("f1[average=macro]") == named
    with pytest.raises(InputTypeError, match="a column of probabilities for each class"):
        best_decision(frame, P, true="y")


def test_two_classes_are_decided_by_both_columns_of_whatever_holds_them():
    y, both = (Y > 1).astype(int), np.column_stack([P[:, :2].sum(1), P[:, 2:].sum(1)])
    frame = pd.DataFrame(both, columns=["p_0", "p_1"]).assign(y=y)
    named = best_decision(frame, "recall", true="y", score="p_*", pos_label=0)
    assert named == best_decision(y, both, "recall", pos_label=0) != best_decision(y, both, "recall")


def test_best_threshold_points_to_the_decision_of_many_classes():
    frame = pd.DataFrame(P, columns=[f"p_{i}" for i in range(P.shape[1])]).assign(y=Y)
    for asked in (lambda: best_threshold(Y, P, "f1"), lambda: best_threshold(frame, "f1", true="y", score="p_*")):
        with pytest.raises(InputError, match="best_decision finds a threshold for each class"):
            asked()
