"""Calibration: the metrics of probabilities, against R, scikit-learn and their identities."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import d2_brier_score

import steelyard
from steelyard import Prevalence, Result, ScoreTable, calibration, get_metric, interval, score_table, tally
from steelyard.arrays import sorting
from steelyard.exceptions import InputError
from steelyard.figures import ReliabilityDisplay

PARTS = ("brier_miscalibration", "brier_discrimination", "brier_uncertainty")


def outcomes(rows, seed=0, *, slope=1.0, shift=0.0):
    """Probabilities around 8 %, and outcomes that they are calibrated for, or over- or underconfident."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-3, 1.2, rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-shift - slope * logits))
    return y.astype(int), 1 / (1 + np.exp(-logits))


@pytest.mark.parametrize("case", ["overconfident", "ties", "rare"])
def test_values_are_those_of_glm_and_val_prob_in_r(golden, case):
    case = golden("r")["cases"][case]
    y, p = case["input"]["y"], case["input"]["p"]
    glm, val_prob = case["expected"]["calibration"], case["expected"]["rms_val_prob"]
    assert steelyard.calibration_slope(y, p) == pytest.approx(glm["slope"], abs=1e-8)
    assert steelyard.calibration_intercept(y, p) == pytest.approx(glm["intercept_in_the_large"], abs=1e-8)
    assert steelyard.observed_to_expected(y, p) == pytest.approx(glm["o_to_e"], rel=1e-12)
    assert steelyard.brier(y, p) == pytest.approx(val_prob["Brier"], rel=1e-12)
    # Its Eavg follows lowess, which is smoother than the isotonic curve: near, and not equal.
    ici = steelyard.integrated_calibration_index(y, p)
    assert 0.002 < abs(ici - val_prob["Eavg"]) < 0.03


@pytest.mark.parametrize("weighted", [False, True])
def test_the_isotonic_curve_is_that_of_scikit_learn(weighted):
    rng = np.random.default_rng(3)
    y, p = outcomes(400)
    p, w = p.round(2).clip(0.01, 0.99), rng.integers(0, 4, 400) if weighted else np.ones(400)
    fitted = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    given = {"sample_weight": w} if weighted else {}
    index = steelyard.integrated_calibration_index(y, p, **given)  # the mean distance of the curve from the diagonal
    assert index == pytest.approx(np.average(abs(fitted - p), weights=w), abs=1e-12)
    discrimination = np.average((fitted - np.average(y, weights=w)) ** 2, weights=w)
    assert steelyard.brier_discrimination(y, p, **given) == pytest.approx(discrimination, abs=1e-12)


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.6])
def test_the_parts_add_up_to_the_brier_score(slope):
    for seed in range(20):
        y, p = outcomes(300, seed, slope=slope)
        w = np.random.default_rng(seed).gamma(1.0, 1.0, 300)
        for options in ({}, {"sample_weight": w}):
            mcb, dsc, unc = (get_metric(name)(y, p, **options) for name in PARTS)
            assert mcb - dsc + unc == pytest.approx(steelyard.brier(y, p, **options), abs=1e-12)
            skill = steelyard.brier_skill_score(y, p, **options)
            assert skill == pytest.approx((dsc - mcb) / unc, abs=1e-12)
            assert skill == pytest.approx(d2_brier_score(y, p, **options), abs=1e-12)


def test_slope_and_intercept_are_those_of_a_logistic_regression_with_weights():
    y, p = outcomes(500, 4, slope=0.6)
    w, logits = np.random.default_rng(4).gamma(2.0, 1.0, 500), np.log(p / (1 - p))
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logits[:, None], y, sample_weight=w)
    assert steelyard.calibration_slope(y, p, sample_weight=w) == pytest.approx(fitted.coef_[0, 0], abs=1e-6)
    shift = steelyard.calibration_intercept(y, p, sample_weight=w)
    moved = 1 / (1 + np.exp(-logits - shift))
    assert steelyard.observed_to_expected(y, moved, sample_weight=w) == pytest.approx(1, abs=1e-12)


def test_many_rows_are_fitted_as_few_are():
    y, p = outcomes(200_000, 5, slope=0.8)
    coarse = steelyard.calibration_slope(y, p)
    assert coarse == pytest.approx(steelyard.calibration_slope(y, p, frequency=np.ones(len(y), dtype=int)), abs=1e-10)
    off = y - 1 / (1 + np.exp(-np.log(p / (1 - p)) - steelyard.calibration_intercept(y, p)))
    assert off.sum() == pytest.approx(0, abs=1e-5)


def test_the_probabilities_of_each_class_are_sorted_once_and_no_table_of_counts_is_made(monkeypatch):
    sorted_sizes, sort = [], sorting.sort
    monkeypatch.setattr(sorting, "sort", lambda entries: sorted_sizes.append(len(entries)) or sort(entries))
    monkeypatch.setattr(ScoreTable, "counts", property(lambda table: pytest.fail("counts at every threshold")))
    y, p = outcomes(5_000, 5)
    calibration(y, p)
    assert sorted(sorted_sizes) == [y.sum(), len(y) - y.sum()]


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_intercept", *PARTS, "integrated_calibration_index"])
def test_draws_of_weights_give_the_value_of_each(name):
    y, p = outcomes(200, 6)
    p, rng = p.round(2).clip(0.01, 0.99), np.random.default_rng(6)
    draws = rng.integers(0, 3, (5, 200)).astype(float)
    sides = []
    for of_class in (y == 1, y == 0):
        order = np.argsort(p[of_class])
        weights = draws[:, of_class][:, order]
        sides.append(type(score_table(y, p).positive)(p[of_class][order], weights, weights, weights))
    metric = get_metric(name)
    together = metric.scores(ScoreTable(*sides))
    assert together == pytest.approx([metric(y, p, sample_weight=w) for w in draws], abs=1e-9)


@pytest.mark.parametrize(
    ("y", "p", "name", "why"),
    [
        ([0, 1, 0, 1], [0.0, 0.4, 0.5, 0.9], "calibration_slope", "a probability of exactly 0 or 1 has no logit"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.5, 1.0], "calibration_intercept", "a probability of exactly 0 or 1 has no logit"),
        ([0, 1, 0, 1], [0.3] * 4, "calibration_slope", "all probabilities are equal"),
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], "calibration_slope", "the scores separate the classes"),
    ],
)
def test_what_has_no_slope_says_why(y, p, name, why):
    assert math.isnan(get_metric(name)(y, p)) and get_metric(name).why(y, p) == why


def test_a_calibrated_model_has_intervals_that_hold_what_is_right_and_an_overconfident_one_has_not():
    names = ["calibration_slope", "calibration_intercept", "observed_to_expected", "integrated_calibration_index"]
    right = interval([*names, "brier_miscalibration"], *outcomes(3_000, 7)[:1], y_score=outcomes(3_000, 7)[1])
    assert all(found.low <= best <= found.high for found, best in zip(right, (1, 0, 1, 0, 0), strict=True))
    y, p = outcomes(3_000, 7, slope=0.4)
    wrong = interval(names, y, y_score=p)
    assert wrong[0].high < 1 and wrong[3].low > 0 and wrong[3].method == "isotonic"


def test_intervals_hold_the_true_values_of_overconfident_models():
    """Of 30 test sets of 60 positives; the bar leaves room for noise at a coverage of 92 %."""
    rng = np.random.default_rng(8)
    logits = rng.normal(-3, 1.2, 400_000)
    p, share = (1 / (1 + np.exp(-part)) for part in (logits, -0.8 + 0.7 * logits))
    truth = {"brier_miscalibration": np.mean((share - p) ** 2), "brier_discrimination": np.var(share)}
    truth |= {"integrated_calibration_index": np.mean(np.abs(share - p)), "calibration_slope": 0.7}
    truth["observed_to_expected"] = share.mean() / p.mean()
    held = dict.fromkeys(truth, 0)
    for seed in range(30):
        y, scores = outcomes(int(60 / share.mean()), 100 + seed, slope=0.7, shift=-0.8)
        for found in interval(list(truth), y, y_score=scores):
            held[found.metric] += found.low <= truth[found.metric] <= found.high
    assert min(held.values()) >= 24, held


# ---------------------------------------------------------------- calibration


def test_calibration_gives_the_metrics_the_curve_and_what_to_do():
    y, p = outcomes(3_000, 1, slope=0.5, shift=-1.5)
    found = calibration(y, p)
    assert [row.metric for row in found][1] == "calibration_slope" and found.is_rejected and found.leaves_band
    assert found.verdict[0].startswith(f"Overconfident: the calibration slope is {found['calibration_slope'].text()}")
    assert found["brier"].value == pytest.approx(steelyard.brier(y, p))
    probability, observed = (
        np.array([getattr(point, key) for point in found.curve]) for key in ("probability", "observed")
    )
    assert (np.diff(observed) >= 0).all() and (np.diff(probability) > 0).all()
    assert sum(point.weight for point in found.curve) == 3_000


@pytest.mark.parametrize(
    ("slope", "shift", "words"),
    [
        (1.0, 0.0, "The test shows no miscalibration"),
        (1.8, 2.2, "Underconfident: the calibration slope is"),
        (1.0, -1.0, "Too high on average: 0."),
        (1.0, 0.8, "Too low on average: 1."),
    ],
)
def test_the_verdict_names_what_is_wrong(slope, shift, words):
    verdict = calibration(*outcomes(4_000, 2, slope=slope, shift=shift)).verdict
    assert any(sentence.startswith(words) for sentence in verdict), verdict


def test_few_positives_are_said_to_show_little():
    found = calibration(*outcomes(250, 3))
    assert "collect more" in found.verdict[0] and found.headline == found.verdict[0]


def test_the_test_and_the_band_hold_their_level():
    """Of 40 calibrated test sets, 2 are expected; a bar of 7 is passed by chance once in 200."""
    found = [calibration(*outcomes(250, 50 + seed)) for seed in range(40)]
    assert sum(each.p_value < 0.05 for each in found) <= 7
    assert sum(any(not point.low <= point.observed <= point.high for point in each.curve) for each in found) <= 7


def test_bins_are_those_of_scikit_learns_calibration_curve():
    y, p = outcomes(1_000, 5)
    for strategy in ("uniform", "quantile"):
        curve = calibration(y, p, strategy=strategy, n_bins=5).curve
        observed, predicted = calibration_curve(y, p, n_bins=5, strategy=strategy)
        assert [point.observed for point in curve] == pytest.approx(observed.tolist())
        assert [point.probability for point in curve] == pytest.approx(predicted.tolist())
        assert all(point.low <= point.probability <= point.high for point in curve)


def test_weights_clusters_groups_prevalence_and_tallies_are_taken():
    y, p = outcomes(2_000, 6)
    even = calibration(y, p, sample_weight=np.full(2_000, 3.0))
    assert [row.value for row in even] == pytest.approx([row.value for row in calibration(y, p)])
    assert even["calibration_slope"].low == pytest.approx(calibration(y, p)["calibration_slope"].low)
    twice = calibration(np.tile(y, 2), np.tile(p, 2), cluster=np.tile(np.arange(2_000), 2))
    assert twice.test == "wald" and np.isnan(twice.curve[0].low) and "no band" in twice.notes[-1]
    once = calibration(y, p)["calibration_slope"]
    assert twice["calibration_slope"].high == pytest.approx(once.high, rel=0.05)
    assert twice.p_value == pytest.approx(calibration(y, p).p_value, abs=0.1)
    groups = calibration(y, p, by={"site": np.arange(2_000) % 2}).groups
    assert groups["site = 1"] == calibration(y[1::2], p[1::2])
    by_site = calibration(y, p, by={"site": np.arange(2_000) % 2})
    untested = replace(by_site.groups["site = 1"], p_value=np.nan)
    edited = replace(by_site, groups={**by_site.groups, "site = 1": untested})
    assert edited.verdict[-1] == "No test of calibration applies in site = 1."
    shifted = calibration(y, p, prevalence=0.3)
    assert shifted.prevalence == 0.3 and shifted["brier_uncertainty"].value == pytest.approx(0.21)
    assert any(sentence.startswith("Too low on average") for sentence in shifted.verdict)
    frame = pl.DataFrame({"y": y, "p": p})
    assert calibration(tally(frame, true="y", score="p")) == calibration(y, p) == calibration(score_table(y, p))


def test_an_estimated_prevalence_widens_intervals_band_and_test():
    y, p = outcomes(2_000, 6)
    known, estimated = (calibration(y, p, prevalence=pi) for pi in (0.01, Prevalence(positives=3, rows=300)))
    for a, b in zip(known, estimated, strict=True):
        assert b.value == pytest.approx(a.value)
        slope = a.metric == "calibration_slope"  # which does not move with the prevalence
        assert slope or ((b.low < a.low or a.low == 0) and b.high > a.high)
    low, high = Prevalence(positives=3, rows=300).interval()
    ends = estimated["brier_uncertainty"]
    assert (ends.low, ends.high) == pytest.approx((low * (1 - low), high * (1 - high)), rel=0.1)
    assert estimated.statistic < known.statistic and estimated.p_value > known.p_value
    assert sum(q.high - q.low for q in estimated.curve) > 1.2 * sum(q.high - q.low for q in known.curve)
    sure = calibration(y, p, prevalence=Prevalence(positives=3e7, rows=3e9))
    assert sure["brier_miscalibration"].high == pytest.approx(known["brier_miscalibration"].high, rel=0.01)


@pytest.mark.parametrize("kind", [str, Path])
def test_the_path_of_a_file_is_read_by_its_columns_and_refused_in_the_place_of_one(kind, tmp_path):
    y, p = outcomes(300)
    path = kind(tmp_path / "scores.csv")
    pl.DataFrame({"y": y, "p": p}).write_csv(path)
    assert calibration(path, true="y", score="p")["brier"].value == pytest.approx(calibration(y, p)["brier"].value)
    found = interval(["brier"], path, true="y", score="p")
    assert found[0].value == pytest.approx(calibration(y, p)["brier"].value)
    with pytest.raises(InputError, match=r"There is no file 'absent.csv'; check the name and the folder"):
        calibration(kind("absent.csv"), true="y", score="p")
    with pytest.raises(TypeError, match="holds rows; name its columns with true="):
        calibration(path)
    for call in (lambda: calibration([0, 1], path), lambda: steelyard.evaluate([0, 1], path)):
        with pytest.raises(
            TypeError,
            match=r"read the file first, such as by polars.read_csv, and give its columns|names a column of a frame",
        ):
            call()


NO_SLOPE = {
    "the scores separate the classes": ([0, 1] * 20, [0.3, 0.6] * 20),
    "all probabilities are equal": ([0, 0, 1] * 20, [0.3] * 60),
    "no slope up to 50 fits best": ([0] * 50 + [1, 0] + [1] * 48, np.linspace(0.4999, 0.5001, 100)),
    "a probability of exactly 0 or 1 has no logit": ([0, 1, 1, 0] * 20, [0.0] * 80),
}


@pytest.mark.parametrize("why", NO_SLOPE)
@pytest.mark.parametrize("options", [{}, {"prevalence": 0.1}, {"cluster": True}])
def test_what_has_no_value_or_interval_has_its_reason_in_words(why, options):
    y, p = NO_SLOPE[why]
    found = calibration(y, p, **({"cluster": np.arange(len(y)) // 2} if "cluster" in options else options))
    for row in found:
        assert not np.isinf([row.low, row.high]).any() and (row.why or not np.isnan(row.low))
        assert not np.isnan(row.low) or any(row.metric in note and str(row.why)[13:] in note for note in found.notes)
    assert found["calibration_slope"].why == why and "nan" not in repr(found) and "p = –" not in repr(found)
    if why == "all probabilities are equal":
        lead = {(): "The test shows no", ("prevalence",): "Too high on average", ("cluster",): "No test"}
        assert found.headline.startswith(lead[tuple(options)])


def test_a_reliability_figure_says_why_there_is_no_slope():
    caption = ReliabilityDisplay.from_predictions([0, 1] * 20, [0.3, 0.6] * 20).caption()
    assert "Calibration slope – (the scores separate the classes); band" in caption


def test_probabilities_of_0_and_1_take_spiegelhalters_test(golden):
    y, p = outcomes(500, 7)
    found = calibration(y, p.round(2))
    assert found.test == "spiegelhalter" and math.isnan(found["calibration_slope"].value)
    case = golden("r")["cases"]["overconfident"]
    given = [*case["input"]["y"], 1], [*case["input"]["p"], 1.0]  # a sure row that is right adds nothing
    z = case["expected"]["rms_val_prob"]["S:z"]
    found = calibration(*given)
    assert (found.test, found.statistic) == ("spiegelhalter", pytest.approx(z**2, rel=1e-6))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "kernel"}, "strategy= is one of isotonic, uniform, quantile, not 'kernel'"),
        ({"n_bins": 0}, "n_bins= is a whole number of 1 or more, not 0"),
        ({"cluster": [1, 2] * 100, "by": [1, 2] * 100}, "by= and cluster= cannot be given together"),
        ({"cluster": [1, 2] * 100, "prevalence": 0.2}, "prevalence= and cluster= cannot be given together"),
        ({"level": 2}, "level= is a probability"),
    ],
)
def test_what_calibration_refuses(options, words):
    with pytest.raises(InputError, match=words):
        calibration(*outcomes(200), **options)


def test_scores_that_are_no_probabilities_or_were_counted_in_bins_are_refused():
    with pytest.raises(InputError, match="needs probabilities from 0 to 1"):
        calibration([0, 1, 0, 1], [-2.0, 3.0, 1.0, 0.5])
    y, p = outcomes(300)
    with pytest.raises(InputError, match="counted in bins"):
        calibration(tally(pl.DataFrame({"y": y, "p": p}), true="y", score="p", exact=False))


def test_a_column_for_each_class_is_judged_class_by_class_and_together():
    rng = np.random.default_rng(12)
    logits = rng.normal(0, 1.5, (1_500, 3))
    shares = np.exp(0.5 * logits) / np.exp(0.5 * logits).sum(1, keepdims=True)
    y = np.array(["a", "b", "c"])[(rng.random(1_500)[:, None] > shares.cumsum(1)).sum(1)]
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    found = calibration(y, p)
    assert found.rows == 1_500 and found.classes == 3 and "Calibration of 1,500 rows, all columns" in repr(found)
    with pytest.raises(KeyError, match="There is no 'observed_to_expected'"):  # 1 by the sum of a row's probabilities
        found["observed_to_expected"]
    assert "cluster" not in " ".join(found.notes) and "class = c  1,500" in repr(found)
    assert "| class = c | 1,500 |" in found.to_markdown()
    assert calibration(y, 0.9 * p)["observed_to_expected"].value == pytest.approx(1 / 0.9)
    assert found["calibration_slope"].high < 1 and found.verdict[0].startswith("Overconfident")
    assert found.groups["class = b"] == calibration(y, p, pos_label="b") == calibration(y, p[:, 1], pos_label="b")
    with pytest.raises(InputError, match="prevalence= is about one class"):
        calibration(y, p, prevalence=0.2)
    with pytest.raises(InputError, match="by= takes the probabilities of one class"):
        calibration(y, p, by=y)


def test_the_shell_reads_a_column_for_each_class(tmp_path):
    rng = np.random.default_rng(13)
    p = rng.dirichlet([1, 1, 1], 300)
    y = np.array(["a", "b", "c"])[(rng.random(300)[:, None] > p.cumsum(1)).sum(1)]
    path = tmp_path / "three.csv"
    pl.DataFrame({"y": y, **{f"p_{name}": p[:, i] for i, name in enumerate("abc")}}).write_csv(path)
    run = lambda *words: run_command("calibration", path, "--score", "p_*", *words)
    answer = json.loads(run("--format", "json").stdout)
    assert answer["classes"] == 3 and list(answer["groups"]) == ["class = a", "class = b", "class = c"]
    assert run("--pos-label", "b").stdout.startswith(repr(calibration(y, p, pos_label="b"))[:400])
    assert "--by takes the probabilities of one class" in run("--by", "y").stderr


def test_the_figure_of_a_column_for_each_class_has_a_curve_for_each():
    rng = np.random.default_rng(13)
    p = rng.dirichlet([1, 1, 1], 300)
    y = np.array(["a", "b", "c"])[(rng.random(300)[:, None] > p.cumsum(1)).sum(1)]
    display = ReliabilityDisplay.from_predictions(y, p)
    assert [line.name for line in display.lines] == ["a", "b", "c"]
    alone = ReliabilityDisplay.from_predictions(y, p[:, 1], pos_label="b").lines[0]
    assert (display.lines[1].observed == alone.observed).all()
    with pytest.raises(InputError, match="prevalence= is about one class"):
        ReliabilityDisplay.from_predictions(y, p, prevalence=0.2)
    with pytest.raises(InputError, match="too much for one figure; give pos_label="):
        ReliabilityDisplay.from_predictions(y, {"one": p, "other": p})
    with pytest.raises(InputError, match=r"needs scores, those of one class; .* with pos_label="):
        ReliabilityDisplay.from_evaluation(steelyard.evaluate(y, y_score=p))


# ---------------------------------------------------------------- the figure


def test_the_figure_shows_the_curve_the_slope_and_the_scores_beneath():
    y, p = outcomes(2_000, 9, slope=0.5, shift=-1.5)
    drawn, found = ReliabilityDisplay.from_predictions(y, p), calibration(y, p)
    rows = [{"model": "", **point.row()} for point in found.curve]
    assert drawn.frame().to_dicts() == [{key: row[key] for key in drawn.frame()[0]} for row in rows]
    assert f"Calibration slope {found['calibration_slope'].text()} (95 % interval)" in drawn.caption()
    above, beneath = drawn.ax_
    assert above.get_ylim()[1] == pytest.approx(1.01) and beneath.get_xlim() == pytest.approx(above.get_xlim())
    assert [part.sum() for part in drawn.lines[0].spread] == pytest.approx([1, 1])


def test_the_figure_ends_where_rare_probabilities_do_and_draws_bins_and_several_models():
    y, p = outcomes(2_000, 10)
    drawn = ReliabilityDisplay.from_predictions(y, {"a": p / 3, "b": p / 4}, strategy="uniform", n_bins=20)
    assert drawn.ax_.get_xlim()[1] < 0.5 and {row["model"] for row in drawn.frame()} == {"a", "b"}
    assert "bins of equal width" in drawn.caption()
    clustered = steelyard.evaluate(y, y_score=p, cluster=np.arange(2_000) // 2, metrics=["calibration_slope"])
    unbanded = ReliabilityDisplay.from_evaluation(clustered)
    assert "no band" in unbanded.caption() and math.isnan(unbanded.frame()[0]["low"]) and len(unbanded.ax_) == 2
    with pytest.raises(InputError, match="probabilities from 0 to 1"):
        ReliabilityDisplay.from_predictions([0, 1, 1], [-1.0, 0.5, 2.0])


@pytest.mark.parametrize(("strategy", "rows"), [("quantile", 2_000), ("isotonic", 100)])
def test_the_axes_hold_all_scores_and_the_whole_curve(strategy, rows):
    y, p = outcomes(2_000, 6) if rows == 2_000 else ([0] * 97 + [1] * 3, np.linspace(0.01, 0.5, 100))
    drawn = ReliabilityDisplay.from_predictions(y, p, strategy=strategy, n_bins=5)
    above, beneath = drawn.ax_
    assert above.get_xlim() == beneath.get_xlim() and above.get_xlim()[1] >= max(p)
    assert above.get_ylim()[1] >= min(max(row["observed"] for row in drawn.frame()), 0.999)
    drawn.figure_.draw_without_rendering()
    names = beneath.get_yticklabels()
    assert [name.get_text() for name in names] == ["positives", "negatives"]
    assert all(name.get_window_extent().x1 < beneath.get_window_extent().x0 for name in names)


# ---------------------------------------------------------------- the shell


def test_the_shell_prints_what_python_does(tmp_path):
    y, p = outcomes(600, 11, slope=0.5, shift=-1.5)
    columns = {"y": y, "p": p, "site": np.arange(600) % 2, "patient": np.arange(600) // 2}
    pl.DataFrame(columns).write_csv(tmp_path / "predictions.csv")

    def shell(*words):
        given = ["calibration", str(tmp_path / "predictions.csv"), "--true", "y", "--score", "p", *words]
        ran = run_command(*given, code=0)
        return ran.stdout

    found = calibration(y, p)
    assert found.verdict[0].split(",")[0] in " ".join(shell().split())
    assert Result.from_json(shell("--format", "json")) == found
    assert "site = 1 300" in " ".join(shell("--by", "site").split())
    assert "no band" in shell("--cluster", "patient")
    assert "quantile" in shell("--strategy", "quantile", "--n-bins", "5", "--format", "md")


def coxs_statistic(y, p, w):
    """The score test of intercept 0 and slope 1 by its formula: U' V^-1 U, with U and V over the rows (Cox 1958)."""
    design = np.stack([np.ones(len(p)), np.log(p / (1 - p))])
    score = design @ (w * (y - p))
    information = (design * (w**2 * p * (1 - p))) @ design.T
    return score @ np.linalg.solve(information, score)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_test_is_coxs_quadratic_form(weighted):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y, w = (rng.random(400) < p**1.5).astype(int), rng.random(400) * 3 if weighted else np.ones(400)
    found = steelyard.calibration(y, y_score=p, sample_weight=w if weighted else None)
    assert found.test == "score"
    assert found.statistic == pytest.approx(coxs_statistic(y, p, w), rel=1e-9)
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 2), rel=1e-9)


def test_one_probability_for_all_rows_is_tested_by_its_number_of_positives_alone():
    y = np.repeat([1, 0], [105, 295])
    found = steelyard.calibration(y, y_score=np.full(400, 0.2))
    assert found.statistic == pytest.approx((105 - 80) ** 2 / (400 * 0.2 * 0.8))
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 1))
