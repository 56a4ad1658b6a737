"""Decision curves: net benefit by hand, by dcurves, at another prevalence, of two models, and how often it is held."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from steelyard import Prevalence, Result, SteelyardError, decision_curve, evaluate, net_benefit, score_table
from steelyard.figures import DecisionCurveDisplay, PrecisionRecallDisplay, RocDisplay

# Net benefit by dcurves 1.1.7 (Python) at thresholds .05, .1 and .25: of p, of p2, of treating all; of p and of
# treating all where 30 % are positive.
CUTS = (0.05, 0.1, 0.25)
DCURVES = {
    "overconfident": (
        (0.09122807017543857, 0.04953703703703704, 0.009722222222222215),
        (0.09232456140350875, 0.05324074074074074, 0.0069444444444444475),
        (0.09649122807017543, 0.04629629629629628, -0.14444444444444443),
        (0.2263127836724879, 0.15975950250650423, 0.10558728345707215),
        (0.2631578947368421, 0.2222222222222222, 0.06666666666666668),
    ),
    "rare": (
        (0.023508771929824562, 0.009259259259259259, 0.0005555555555555557),
        (0.0206140350877193, 0.007962962962962963, 0.0011111111111111113),
        (0.0035087719298245584, -0.05185185185185185, -0.2622222222222222),
        (0.20466317642698292, 0.0882726917057903, 0.008553403755868544),
        (0.2631578947368421, 0.2222222222222222, 0.06666666666666668),
    ),
}


def column(points, name, model=""):
    return np.array([getattr(point, name) for point in points if point.model == model], dtype=float)


def rows(n, share, seed, *, noise=1.0):
    """Truth and two models' probabilities."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(size=n) + 1.5 * y
    odds = np.log(share / (1 - share))
    return y, *(1 / (1 + np.exp(-(odds + 1.5 * (x + extra * rng.normal(size=n) - 0.75)))) for extra in (0, noise))


@pytest.mark.parametrize("case", DCURVES)
def test_net_benefits_are_those_of_dcurves(golden, case):
    given, (of_p, of_p2, of_all, shifted, shifted_all) = golden("r")["cases"][case]["input"], DCURVES[case]
    points = decision_curve(given["y"], {"p": given["p"], "p2": given["p2"]}, thresholds=CUTS)
    assert column(points, "net_benefit", "p") == pytest.approx(of_p, abs=1e-12)
    assert column(points, "net_benefit", "p2") == pytest.approx(of_p2, abs=1e-12)
    assert column(points, "treat_all", "p") == pytest.approx(of_all, abs=1e-12)
    elsewhere = decision_curve(given["y"], given["p"], thresholds=CUTS, prevalence=0.3)
    assert column(elsewhere, "net_benefit") == pytest.approx(shifted, abs=1e-12)
    assert column(elsewhere, "treat_all") == pytest.approx(shifted_all, abs=1e-12)


def test_a_point_is_the_metric_at_its_threshold_and_differences_are_those_of_the_rows():
    y, a, b = rows(2_000, 0.05, 1)
    points = decision_curve(y, {"a": a, "b": b}, versus="b")
    assert len(points) == 200 and points[100].difference is None  # b, which gains nothing over itself
    for point in points[:100:7]:
        cut, odds = point.threshold, point.threshold / (1 - point.threshold)
        assert point.net_benefit == pytest.approx(net_benefit(y, a >= cut, threshold=cut), abs=1e-12)
        gained = ((a >= cut).astype(float) - (b >= cut)) * np.where(y == 1, 1, -odds)
        assert point.difference == pytest.approx(gained.mean(), abs=1e-12)
        error = 1.96 * gained.std() / np.sqrt(len(y))
        assert (point.difference_low, point.difference_high) == pytest.approx(
            (gained.mean() - error, gained.mean() + error), abs=0.25 * error + 1e-3
        )
    over_all = decision_curve(y, a, versus="treat all")
    expected = column(over_all, "net_benefit") - column(over_all, "treat_all")
    assert column(over_all, "difference") == pytest.approx(expected, abs=1e-12)


def test_standardized_curves_end_at_1_and_prevalences_shift_them():
    y, a, _ = rows(3_000, 0.1, 2)
    perfect = decision_curve(y, y * 0.98 + 0.01, standardized=True, thresholds=[0.2, 0.5])
    assert column(perfect, "net_benefit") == pytest.approx(1)
    plain, scaled = (decision_curve(y, a, standardized=is_scaled) for is_scaled in (False, True))
    assert column(scaled, "net_benefit") == pytest.approx(column(plain, "net_benefit") / y.mean())
    same = decision_curve(y, a, prevalence=y.mean())
    assert column(same, "net_benefit") == pytest.approx(column(plain, "net_benefit"))
    assert (column(same, "high") - column(same, "low") <= column(plain, "high") - column(plain, "low") + 1e-12).all()
    known, seen = (
        decision_curve(y, a, prevalence=pi, thresholds=[0.05]) for pi in (0.03, Prevalence(positives=3, rows=100))
    )
    assert known[0].net_benefit == pytest.approx(seen[0].net_benefit)
    assert seen[0].low < known[0].low and known[0].high < seen[0].high


def test_a_prevalence_by_the_rows_of_each_class_is_that_of_the_positives():
    y, a, _ = rows(500, 0.2, 3)
    counted, seen = Prevalence(counts={0: 97, 1: 3}), Prevalence(positives=3, rows=100)
    assert decision_curve(y, a, prevalence=counted).to_json() == decision_curve(y, a, prevalence=seen).to_json()
    for kind in (RocDisplay, PrecisionRecallDisplay, DecisionCurveDisplay):
        drawn = [kind.from_predictions(y, a, prevalence=each).frame() for each in (counted, seen)]
        assert drawn[0].to_json() == drawn[1].to_json()


def test_tables_frames_and_weights_say_the_same():
    y, a, b = rows(500, 0.2, 3)
    frame, arrays = pd.DataFrame({"y": y, "a": a, "b": b, "w": 2.0}), decision_curve(y, {"a": a, "b": b}, versus="a")
    assert decision_curve(frame, true="y", score=["a", "b"], versus="a").to_json() == arrays.to_json()
    assert decision_curve(score_table(y, a)).to_json() == decision_curve(y, a).to_json()
    even = decision_curve(y, a, sample_weight=np.full(500, 7.0))
    assert column(even, "low") == pytest.approx(column(decision_curve(y, a), "low"))
    twice = decision_curve(np.tile(y, 2), {"a": np.tile(a, 2), "b": np.tile(b, 2)}, versus="a", thresholds=[0.2])
    counted = decision_curve(y, {"a": a, "b": b}, versus="a", thresholds=[0.2], frequency=np.full(500, 2))
    assert counted.to_json() == twice.to_json()


def test_several_models_with_weights_that_count_for_several_rows_are_each_of_them_alone():
    y, a, b = rows(400, 0.2, 3)
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"y": y, "a": a, "b": b, "w": rng.random(400), "times": rng.integers(1, 4, 400)})
    together = decision_curve(frame, true="y", score=["a", "b"], weight="w", frequency="times", thresholds=CUTS)
    arrays = decision_curve(y, {"a": a, "b": b}, sample_weight=frame.w, frequency=frame.times, thresholds=CUTS)
    alone = decision_curve(frame, true="y", score="b", weight="w", frequency="times", thresholds=CUTS)
    for name in ("net_benefit", "low", "high", "treat_all"):
        assert column(together, name, "b") == pytest.approx(column(alone, name, "b"), abs=1e-12)
        assert column(arrays, name, "b") == pytest.approx(column(alone, name, "b"), abs=1e-12)


def test_groups_are_the_curves_of_their_rows_for_every_model():
    y, a, b = rows(900, 0.2, 3)
    site = np.repeat(["south", "north"], [500, 400])
    frame = pd.DataFrame({"y": y, "a": a, "b": b, "site": site})
    points = decision_curve(frame, true="y", score=["a", "b"], by="site", versus="b", thresholds=CUTS)
    assert list(dict.fromkeys(point.group for point in points)) == ["site = north", "site = south"]
    of_rows = decision_curve(y[500:], {"a": a[500:], "b": b[500:]}, versus="b", thresholds=CUTS)
    assert [{**point.row(), "group": None} for point in points[:6]] == [point.row() for point in of_rows]
    arrays = decision_curve(y, {"a": a, "b": b}, by=pd.Series(site, name="site"), versus="b", thresholds=CUTS)
    assert arrays.to_json() == points.to_json()
    shown = decision_curve(frame, true="y", score="a", by="site")
    assert len(shown) == 200 and {point.threshold for point in shown[:100]} == {p.threshold for p in shown[100:]}


def clusters(count, size, seed):
    """Truth that belongs to the cluster, probabilities whose luck is half its own, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    member = np.repeat(np.arange(count), size)
    y = (rng.random(count) < 0.2).astype(int)[member]
    x = 1.5 * y + np.sqrt(0.5) * (rng.normal(size=count)[member] + rng.normal(size=len(member)))
    return y, 1 / (1 + np.exp(-(np.log(0.25) + 1.5 * (x - 0.75)))), member


def test_intervals_of_rows_in_clusters_are_of_whole_clusters():
    y, a, member = clusters(60, 5, 1)
    by_cluster, by_row = (decision_curve(y, a, cluster=c, thresholds=[0.1]) for c in (member, None))
    assert by_cluster[0].net_benefit == by_row[0].net_benefit and by_cluster[0].low < by_row[0].low
    frame = pd.DataFrame({"y": y, "a": a, "patient": member})
    of_frame = decision_curve(frame, true="y", score="a", cluster="patient", thresholds=[0.1])
    assert of_frame == [replace(point, model="a") for point in by_cluster]
    y, a, member = clusters(20_000, 5, 2)
    truth = decision_curve(y, a, thresholds=[0.1])[0].net_benefit
    held = np.zeros(2)
    for start in range(0, 200 * 300, 300):
        part = slice(start, start + 300)
        both = (decision_curve(y[part], a[part], cluster=c, thresholds=[0.1])[0] for c in (member[part], None))
        held += [point.low <= truth <= point.high for point in both]
    assert held[0] >= 0.91 * 200 and held[1] < 0.75 * 200


@pytest.mark.parametrize("at", [{"prevalence": 0.05}, {"standardized": True}])
def test_positives_of_one_cluster_show_no_variation_whatever_the_negatives_show(at):
    rng, who = np.random.default_rng(0), np.repeat(np.arange(30), 10)
    y = (who == 0) & (rng.random(300) < 0.7)
    p = np.clip(0.2 * y + 0.6 * rng.random(300), 0, 1)
    ends = [(point.low, point.high) for point in decision_curve(y, p, cluster=who, thresholds=[0.1, 0.3], **at)]
    assert np.isnan(ends).all()
    y[who == 1] = True
    ends = [(point.low, point.high) for point in decision_curve(y, p, cluster=who, thresholds=[0.1, 0.3], **at)]
    assert np.isfinite(ends).all()


def test_a_group_of_one_cluster_has_no_interval():
    points = decision_curve(
        [0, 1, 0, 1, 1, 0],
        [0.2, 0.7, 0.4, 0.3, 0.8, 0.1],
        by=list("uuvvvv"),
        cluster=[1, 1, 2, 2, 3, 3],
        thresholds=[0.5],
    )
    assert np.isnan(points[0].low) and points[0].net_benefit == 0.5 and np.isfinite(points[1].low)


def test_thresholds_lie_around_the_prevalence_in_log_odds():
    y, a, _ = rows(20_000, 0.004, 4)
    odds = y.mean() / (1 - y.mean())
    for scores in (a, a**0.2, np.clip(20 * a, 0, 1), np.full(len(y), y.mean())):  # also of models that state too much
        cuts = column(decision_curve(y, scores), "threshold")
        steps = np.diff(np.log(cuts / (1 - cuts)))
        assert len(cuts) == 100 and steps == pytest.approx(steps[0])
        assert (
            cuts[0] / (1 - cuts[0]) == pytest.approx(odds / 10) and 2 * odds - 1e-9 <= cuts[-1] / (1 - cuts[-1]) < 1.01
        )
    often = column(decision_curve(1 - y, 1 - a), "threshold")
    assert often[0] == pytest.approx(0.5) and often[-1] > 0.99


def test_it_first_says_for_which_thresholds_the_model_is_worth_using():
    y, a, b = rows(20_000, 0.01, 4)
    curve = decision_curve(y, a)
    better = [p.low > 0 for p in curve], [p.difference_low > 0 for p in decision_curve(y, a, versus="treat all")]
    assert [point.worth for point in curve] == [*map(all, zip(*better, strict=True))]
    worth = [point.threshold for point in curve if point.worth]
    text = f"Worth using for thresholds from {100 * worth[0]:#.3g} % to "
    assert curve.headline.startswith(text) and repr(curve).startswith(text)
    assert curve.to_markdown().startswith(text) and text in curve._repr_html_() and text in curve.to_html()
    assert json.loads(curve.to_json())["sentences"][0].startswith(text) and Result.from_json(curve.to_json()) == curve
    assert len(repr(curve).splitlines()) < 15 and len(curve) == 100
    useless = decision_curve(y, np.full(len(y), y.mean()))
    assert useless.headline.startswith("Not worth using: at no threshold from") and not any(
        point.worth for point in useless
    )
    both = decision_curve(y, {"a": a, "b": b}, thresholds=[0.01, 0.02, 0.3, 0.9])
    assert [sentence[:30] for sentence in both.sentences[:1]] == ["a: worth using for thresholds "]
    assert any(sentence.startswith("b: ") for sentence in both.sentences)
    assert all(point.miscalibrated is None for point in both)  # of a few thresholds no curve is judged
    who = np.repeat(np.arange(30), 10)
    unknown = decision_curve(who == 0, np.linspace(0.1, 0.9, 300), cluster=who, prevalence=0.05)
    assert "is not known, as these rows give no interval" in unknown.headline


def test_thresholds_at_which_the_probabilities_are_miscalibrated_are_marked():
    y, a, _ = rows(20_000, 0.05, 4)
    rng = np.random.default_rng(0)
    truth = (rng.random(len(y)) < a).astype(int)  # a is calibrated for it
    assert np.mean([point.miscalibrated for point in decision_curve(truth, a)]) < 0.2
    odds = a / (1 - a) * 5  # as after resampling
    inflated = decision_curve(truth, odds / (1 + odds))
    assert np.mean([point.miscalibrated for point in inflated]) > 0.6
    assert "The probabilities are miscalibrated from" in repr(inflated) and "yes" in repr(inflated)
    assert not any(
        point.miscalibrated for point in decision_curve(truth, odds / (1 + odds), cluster=np.arange(len(y)) // 2)
    )


@pytest.mark.parametrize(("n", "share", "cut"), [(300, 0.05, 0.05), (1_000, 0.02, 0.1), (200, 0.3, 0.5)])
def test_intervals_hold_the_net_benefit_of_the_population(n, share, cut):
    y, a, b = rows(400_000, share, 5)
    truth = decision_curve(y, {"a": a, "b": b}, versus="b", thresholds=[cut])[0]
    held = np.zeros(2)
    runs = 250
    for start in range(0, runs * n, n):
        part = slice(start, start + n)
        point = decision_curve(y[part], {"a": a[part], "b": b[part]}, versus="b", thresholds=[cut])[0]
        held += (
            point.low <= truth.net_benefit <= point.high,
            point.difference_low <= truth.difference <= point.difference_high,
        )
    assert (held / runs >= 0.915).all() and (held / runs).min() <= 0.995


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: decision_curve([0, 1], [0.2, 1.7]), "not all from 0 to 1"),
        (lambda: decision_curve([0, 1], [0.2, 0.7], thresholds=[0, 0.5]), "above 0 and below 1"),
        (lambda: decision_curve([0, 1], [0.2, 0.7], versus="treat al"), "Did you mean 'treat all'"),
        (lambda: decision_curve([0, 0], [0.2, 0.7]), "class"),
        (lambda: decision_curve([0, 1], {"a": [0.2, 0.7], "b": [0.1]}), "differ in length"),
        (lambda: decision_curve([0, 1], [0.2, 0.7], cluster=[1, 1]), "one cluster only"),
        (lambda: decision_curve(score_table([0, 1], [0.2, 0.7]), by=["u", "v"]), "by= names the group of each row"),
        (lambda: decision_curve([0, 1, 1], [0.2, 0.7, 0.5], by=["u", "u", "v"]), "group = v has rows of one class"),
        (lambda: decision_curve([0, 1], [0.2, 0.7], by=["u"]), "differ in length"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(ask, said):
    with pytest.raises(SteelyardError, match=said):
        ask()


def wilson(share, rows, z=1.959964):
    middle, reach = share + z**2 / (2 * rows), z * np.sqrt(share * (1 - share) / rows + (z / (2 * rows)) ** 2)
    return (middle - reach) / (1 + z**2 / rows), (middle + reach) / (1 + z**2 / rows)


@pytest.mark.parametrize("standardized", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.02, Prevalence(positives=3, rows=100)])
def test_no_interval_passes_what_is_possible(standardized, prevalence):
    y, p = np.repeat([0, 1], [78, 12]), np.repeat([0.1, 0.4], [78, 12])
    cuts = np.array([0.05, 0.3, 0.5, 0.9, 0.99])
    points = decision_curve(y, p, thresholds=cuts, versus="treat all", standardized=standardized, prevalence=prevalence)
    shares = {None: wilson(12 / 90, 90), 0.02: (0.02, 0.02)}.get(prevalence) or prevalence.interval(0.95)
    most = 1 if standardized else shares[1]
    assert (column(points, "high") <= most + 1e-6).all()
    losses = cuts / (1 - cuts) * ((1 - shares[0]) / (shares[0] if standardized else 1))
    assert (column(points, "low") >= -losses - 1e-6).all() and (
        column(points, "difference_high") <= losses + 1e-6
    ).all()


def test_where_nobody_is_flagged_a_loss_is_what_the_false_positives_may_be():
    y, p = np.repeat([0, 1], [78, 12]), np.repeat([0.1, 0.4], [78, 12])
    share = wilson(0, 90)[1]  # of the rows, none of which is a false positive
    for point in decision_curve(y, p, thresholds=[0.9, 0.99]):
        odds = point.threshold / (1 - point.threshold)
        assert point.net_benefit == 0 and point.high == pytest.approx(share)
        assert point.low == pytest.approx(-odds * share, rel=0.01)


def test_the_figure_is_as_high_as_its_curves_and_not_as_their_bands():
    y, a, _ = rows(120, 0.1, 8)
    drawn = DecisionCurveDisplay.from_predictions(y, a, thresholds=np.linspace(0.01, 0.99, 99))
    low, high = drawn.ax_.get_ylim()
    assert high <= 1.4 * y.mean() and low >= -1.1 * y.mean()
    assert min(row["low"] for row in drawn.frame()) < low


def test_the_figure_shows_the_curves_of_its_models():
    y, a, b = rows(1_000, 0.1, 6)
    drawn = DecisionCurveDisplay.from_predictions(y, {"a": a, "b": b})
    shown, points = drawn.frame(), decision_curve(y, {"a": a, "b": b})
    assert [row["model"] for row in shown] == [point.model for point in points]
    assert [row["low"] for row in shown] == pytest.approx([point.low for point in points])
    words = {text.get_text() for text in drawn.ax_.findobj(Text)}
    assert {"a", "b", "- - treat everybody", "— treat nobody"} <= words
    clustered = DecisionCurveDisplay.from_evaluation(evaluate(y, y_score=a, cluster=np.arange(1_000) // 5, draws=20))
    assert "no band" in clustered.caption() and not clustered.ax_.collections


def test_no_model_at_all_is_refused_in_a_sentence():
    with pytest.raises(SteelyardError, match="names no model; give those of one or more"):
        decision_curve([0, 1], {})
    with pytest.raises(TypeError, match="one value per row, not a mapping"):
        decision_curve({})


def boxes(artists):
    return [artist.get_window_extent() for artist in artists]


def test_the_numbers_of_rare_positives_keep_apart_and_no_name_lies_over_a_curve():
    y, a, b = rows(4_000, 0.2, 6)
    drawn = DecisionCurveDisplay.from_predictions(y, {"a": a, "b": b}, prevalence=0.01)
    ax = drawn.ax_
    drawn.figure_.draw_without_rendering()
    ticks = boxes(label for label in ax.get_xticklabels() if label.get_text())
    assert all(left.x1 < right.x0 for left, right in pairwise(ticks))
    names = boxes([*ax.texts, *ax.artists])
    for line in ax.lines:
        points = ax.transData.transform(line.get_xydata())[1:]
        assert not any(name.contains(*point) for name in names for point in points)


def test_of_groups_of_several_prevalences_treating_everybody_is_drawn_for_each():
    y, a, _ = rows(900, 0.2, 3)
    groups = {f"site = {i}": evaluate(y[i::3], y_score=a[i::3]) for i in range(3)}
    assert len(DecisionCurveDisplay.from_evaluation(groups).ax_.lines) == 1 + 3 + 3
