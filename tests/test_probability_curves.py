"""Murphy, cost and gain curves: their areas are known scores, their points are those of counting row by row."""

from __future__ import annotations

from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import steelyard
from steelyard import Prevalence, at_prevalence, decision_curve, evaluate, score_table
from steelyard.analysis.thresholds.costs import ExpectedCosts
from steelyard.exceptions import SteelyardError
from steelyard.figures import (
    CostCurveDisplay,
    GainDisplay,
    MurphyDisplay,
    ReliabilityDisplay,
    RocDisplay,
    TriptychDisplay,
)

GRID = np.linspace(0.003, 0.997, 200)


def rows(n, share, seed, *, noise=1.0, digits=16):
    """Truth and two models' probabilities, the second overconfident."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(size=n) + 1.5 * y
    odds = np.log(share / (1 - share))
    logits = [scale * (odds + 1.5 * (x + noise * i * rng.normal(size=n) - 0.75)) for i, scale in enumerate((1, 2))]
    return y, *(np.round(1 / (1 + np.exp(-logit)), digits) for logit in logits)


def costs(y, p, threshold, proportion, w):
    """Twice the mean cost of flagging at a threshold, counted row by row."""
    return (2 * w * np.where(y == 1, (1 - proportion) * (p < threshold), proportion * (p >= threshold))).sum() / w.sum()


def area(frame, x, y, model=""):
    """The area under a drawn line."""
    line = np.array([(row[x], row[y]) for row in frame if row["model"] == model])
    return float(np.trapezoid(line[:, 1], line[:, 0]))


def words(ax):
    """The words of a figure and their boxes in pixels."""
    ax.figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in ax.findobj(mpl.text.Text) if text.get_text()}


# ---------------------------------------------------------------- expected costs


@pytest.mark.parametrize("digits", [1, 2, 16])
@pytest.mark.parametrize("weighted", [False, True])
def test_costs_over_the_proportion_are_those_of_counting_the_rows(digits, weighted):
    y, p, _ = rows(300, 0.3, digits, digits=digits)
    w = np.random.default_rng(0).random(300) if weighted else np.ones(300)
    table = score_table(y, p, sample_weight=w if weighted else None)
    own, best = ExpectedCosts.at_own_thresholds(table), ExpectedCosts.at_best_thresholds(table)
    assert own.at(GRID) == pytest.approx([costs(y, p, c, c, w) for c in GRID], abs=1e-12)
    every = np.append(np.unique(p), np.inf)
    least = [min(costs(y, p, threshold, c, w) for threshold in every) for c in GRID]
    assert best.at(GRID) == pytest.approx(least, abs=1e-12)
    chosen = best.thresholds[np.searchsorted(best.edges[1:-1], GRID)]
    assert [costs(y, p, t, c, w) for t, c in zip(chosen, GRID, strict=True)] == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.5])
@pytest.mark.parametrize(("n", "share", "digits"), [(50, 0.3, 1), (2_000, 0.05, 16), (400, 0.5, 2)])
def test_the_area_is_the_brier_score_and_that_of_the_best_thresholds_what_recalibration_leaves(
    n, share, digits, prevalence
):
    y, p, _ = rows(n, share, 7, digits=digits)
    w = np.random.default_rng(1).random(n)
    table = score_table(y, p, sample_weight=w)
    if prevalence is not None:
        table = at_prevalence(table, prevalence)
        w = np.where(y == 1, w * prevalence / w[y == 1].sum(), w * (1 - prevalence) / w[y == 0].sum())
    own, best = ExpectedCosts.at_own_thresholds(table), ExpectedCosts.at_best_thresholds(table)
    assert own.mean == pytest.approx(brier_score_loss(y, p, sample_weight=w), abs=1e-12)
    left = steelyard.brier_uncertainty(table) - steelyard.brier_discrimination(table)
    assert best.mean == pytest.approx(left, abs=1e-12)
    assert own.mean - best.mean == pytest.approx(steelyard.brier_miscalibration(table), abs=1e-12)


def test_probabilities_of_0_and_1_are_the_ends_and_a_constant_one_has_a_leap():
    certain = ExpectedCosts.at_own_thresholds(score_table([0, 1, 0, 1], [0, 0, 1, 1]))
    assert certain.edges.tolist() == [0, 1] and certain.mean == 0.5
    constant = ExpectedCosts.at_own_thresholds(score_table([0, 1, 1, 1], [0.75] * 4))
    assert constant.values.tolist() == [0, 0.375, 0.375, 0] and constant.mean == pytest.approx(0.1875)


# ---------------------------------------------------------------- Murphy diagrams


def test_a_murphy_diagram_is_the_net_benefit_that_a_perfect_model_would_add():
    y, p, q = rows(800, 0.2, 2, digits=2)
    drawn = MurphyDisplay.from_predictions(y, {"p": p, "q": q})
    for name, probabilities in (("p", p), ("q", q)):
        benefit = decision_curve(y, probabilities, thresholds=GRID)
        expected = [2 * (1 - point.threshold) * (y.mean() - point.net_benefit) for point in benefit]
        assert ExpectedCosts.at_own_thresholds(score_table(y, probabilities)).at(GRID) == pytest.approx(expected)
        score = brier_score_loss(y, probabilities)
        assert area(drawn.frame(), "threshold", "elementary_score", name) == pytest.approx(score, abs=1e-12)
    for row in drawn.frame():
        assert row["low"] - 1e-12 <= row["elementary_score"] <= row["high"] + 1e-12
        assert row["recalibrated"] <= min(row["elementary_score"], row["no_skill"]) + 1e-12


@pytest.mark.parametrize("prevalence", [None, 0.01, Prevalence(positives=3, rows=100)])
def test_no_end_of_an_elementary_score_is_below_0_and_at_the_threshold_0_it_is_known(prevalence):
    y, p, _ = rows(200, 0.1, 9)
    frame = MurphyDisplay.from_predictions(y, p, prevalence=prevalence).frame()
    assert all(0 <= row["low"] <= row["elementary_score"] <= row["high"] for row in frame)
    assert frame[0]["threshold"] == frame[0]["low"] == frame[0]["high"] == 0


def test_the_lines_of_a_murphy_diagram_part_the_brier_score():
    y, p, _ = rows(300, 0.3, 3)
    frame, table = MurphyDisplay.from_predictions(y, p).frame(), score_table(y, p)
    score, no_skill = (area(frame, "threshold", key) for key in ("elementary_score", "no_skill"))
    assert score == pytest.approx(steelyard.brier(table), abs=1e-12)
    assert no_skill == pytest.approx(steelyard.brier_uncertainty(table), abs=1e-4)  # drawn at the model's thresholds
    miscalibration = score - area(frame, "threshold", "recalibrated")
    assert miscalibration == pytest.approx(steelyard.brier_miscalibration(table), abs=1e-4)


@pytest.mark.parametrize(("n", "share", "at"), [(300, 0.05, 0.05), (1_000, 0.02, 0.1), (200, 0.3, 0.5)])
def test_intervals_hold_the_elementary_score_of_the_population(n, share, at):
    y, p, _ = rows(400_000, share, 5, digits=2)
    at += 0.001  # between two probabilities
    truth, held, runs = ExpectedCosts.at_own_thresholds(score_table(y, p)).at(np.array([at]))[0], 0, 250
    for start in range(0, runs * n, n):
        table = score_table(y[start : start + n], p[start : start + n])
        here = ExpectedCosts.at_own_thresholds(table)
        low, high = here.ends(table, None, 0.95, np.array([at]), np.searchsorted(here.edges[1:-1], [at]))
        held += low[0] <= truth <= high[0]
    assert 0.915 <= held / runs <= 0.995


def test_murphy_diagrams_of_frames_tallies_weights_and_prevalences_agree():
    y, p, _ = rows(400, 0.2, 4, digits=2)
    arrays = MurphyDisplay.from_predictions(y, p).frame()
    frame = pd.DataFrame({"y": y, "p": p})
    assert MurphyDisplay.from_predictions(frame, true="y", score="p").frame().to_json() == arrays.to_json()
    counted = evaluate(steelyard.tally(frame, true="y", score="p"))
    assert MurphyDisplay.from_evaluation(counted).frame().to_json() == arrays.to_json()
    even = MurphyDisplay.from_predictions(y, p, sample_weight=np.full(400, 7.0)).frame()
    assert [row["low"] for row in even] == pytest.approx([row["low"] for row in arrays])
    known, seen = (
        MurphyDisplay.from_predictions(y, p, prevalence=pi) for pi in (0.03, Prevalence(positives=3, rows=100))
    )
    here = steelyard.brier(at_prevalence(score_table(y, p), 0.03))
    assert area(known.frame(), "threshold", "elementary_score") == pytest.approx(here, abs=1e-12)
    wider = [b["high"] - b["low"] - a["high"] + a["low"] for a, b in zip(known.frame(), seen.frame(), strict=True)]
    assert min(wider) > -1e-12 and max(wider) > 0.005
    assert "at a prevalence of 3.00 %" in known.caption()


def test_no_words_of_a_murphy_diagram_lie_over_a_line_and_clusters_have_no_band():
    y, p, q = rows(900, 0.1, 6)
    drawn = MurphyDisplay.from_predictions(y, {"logistic": p, "naive Bayes": q})
    boxes = [box for text, box in words(drawn.ax_).items() if " (0." in text or "prevalence" in text]
    assert len(boxes) == 3
    for line in drawn.ax_.lines:
        assert not any(box.count_contains(drawn.ax_.transData.transform(line.get_xydata())) for box in boxes)
    clustered = MurphyDisplay.from_evaluation(evaluate(y, y_score=p, cluster=np.arange(900) // 5, draws=20))
    assert "no band" in clustered.caption() and not clustered.ax_.collections
    assert clustered.frame()[0]["low"] is None or np.isnan(clustered.frame()[0]["low"])


def test_words_on_dark_axes_are_light():
    with mpl.style.context("dark_background"):
        ax = Figure().add_subplot()
    MurphyDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], ax=ax)
    assert sum(mpl.colors.to_rgb(ax.xaxis.label.get_color())) > 2
    assert sum(mpl.colors.to_rgb(ax.artists[-1].patch.get_facecolor())) == 0


# ---------------------------------------------------------------- gain and lift


@pytest.mark.parametrize("prevalence", [None, 0.02])
@pytest.mark.parametrize("digits", [1, 16])
def test_the_accuracy_ratio_of_a_gain_curve_is_ginis_coefficient(digits, prevalence):
    y, p, _ = rows(500, 0.2, 8, digits=digits)
    w = np.random.default_rng(2).random(500)
    drawn = GainDisplay.from_predictions(y, p, sample_weight=w, prevalence=prevalence)
    share = np.average(y, weights=w) if prevalence is None else prevalence
    gini = 2 * roc_auc_score(y, p, sample_weight=w) - 1
    ratio = (area(drawn.frame(), "flagged", "recall") - 0.5) / (0.5 * (1 - share))
    assert ratio == pytest.approx(gini, abs=1e-12)
    assert drawn.lines[0].number.value == pytest.approx(gini, abs=1e-12)


def test_gains_and_lifts_are_those_of_counting_the_rows():
    y, p, _ = rows(300, 0.2, 9, digits=2)
    for row in GainDisplay.from_predictions(y, p, kind="lift").frame()[1:]:
        flagged = p >= row["threshold"]
        assert row["flagged"] == pytest.approx(flagged.mean(), abs=1e-12)
        assert row["recall"] == pytest.approx(flagged[y == 1].mean(), abs=1e-12)
        assert row["lift"] == pytest.approx(y[flagged].mean() / y.mean(), abs=1e-12)
        assert row["low"] <= row["lift"] <= row["high"]
    here = at_prevalence(score_table(y, p), 0.03)
    for row in GainDisplay.from_predictions(y, p, prevalence=0.03).frame()[1:]:
        counts = here.at(row["threshold"])
        assert row["flagged"] == pytest.approx((counts.tp + counts.fp) / here.total, abs=1e-12)
        assert row["lift"] == pytest.approx(steelyard.precision(counts) / 0.03, rel=1e-10)


@pytest.mark.parametrize(("n", "share"), [(400, 0.1), (1_000, 0.02)])  # the second with many ties at the lowest score
def test_the_band_of_a_gain_curve_holds_all_of_the_population_curve(n, share):
    y, p, _ = rows(300_000, share, 10, digits=2)
    x = np.linspace(0.01, 0.99, 99)
    flagged, recall, *_ = GainDisplay.from_predictions(y, p).lines[0].drawn
    truth, held, runs = np.interp(x, flagged, recall), 0, 150
    for start in range(0, runs * n, n):
        part = slice(start, start + n)
        line = GainDisplay.from_predictions(y[part], p[part]).lines[0]
        flagged, _, low, high = line.drawn
        held += bool(((np.interp(x, flagged, low) <= truth) & (truth <= np.interp(x, flagged, high))).all())
    assert held / runs >= 0.94


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_the_words_of_a_lift_curve_lie_over_no_band(share):
    y, p, q = rows(2_000, share, 6)
    drawn = GainDisplay.from_predictions(y, {"p": p, "q": q}, kind="lift")
    ax = drawn.ax_
    drawn.figure_.draw_without_rendering()
    words = ax.artists[0].get_window_extent()
    for band in ax.collections:
        (path,) = band.get_paths()
        assert not path.transformed(ax.transData).intersects_bbox(words)


def test_a_figure_of_gain_shows_no_skill_and_of_one_prevalence_a_perfect_model():
    y, p, q = rows(900, 0.1, 11)
    for kind in ("gain", "lift"):
        drawn = GainDisplay.from_predictions(y, {"a": p, "b": q}, kind=kind)
        assert {"no skill", "perfect"} <= {text.get_text() for text in drawn.ax_.texts}
        several = {
            name: evaluate(y[part], y_score=p[part]) for name, part in (("first", y >= 0), ("last", y * p < 0.2))
        }
        assert "perfect" not in {text.get_text() for text in GainDisplay.from_evaluation(several, kind=kind).ax_.texts}
    rare = GainDisplay.from_predictions(y, p, kind="lift", prevalence=0.01)
    assert rare.ax_.get_xscale() == rare.ax_.get_yscale() == "log"
    clustered = GainDisplay.from_evaluation(evaluate(y, y_score=p, cluster=np.arange(900) // 5, draws=20))
    assert "no band" in clustered.caption() and not clustered.ax_.collections


# ---------------------------------------------------------------- cost curves and Brier curves


@pytest.mark.parametrize("digits", [1, 16])
def test_a_cost_curve_is_the_least_cost_of_all_thresholds_and_of_always_and_never_positive(digits):
    y, p, _ = rows(300, 0.2, 12, digits=digits)
    w = np.random.default_rng(3).random(300)
    frame = CostCurveDisplay.from_predictions(y, p, sample_weight=w).frame()
    flagged = p[None, :] >= np.append(np.unique(p), np.inf)[:, None]
    fnr, fpr = ((w * (flagged == (side == 0)) * (y == side)).sum(1) / w[y == side].sum() for side in (1, 0))
    for row in frame:
        x = row["probability_cost"]
        assert row["cost"] == pytest.approx((x * fnr + (1 - x) * fpr).min(), abs=1e-12)
        assert row["cost"] <= min(x, 1 - x) + 1e-12 and row["low"] <= row["cost"] <= row["high"]
        chosen = p >= row["best_threshold"]
        misses, alarms = np.average(~chosen[y == 1], weights=w[y == 1]), np.average(chosen[y == 0], weights=w[y == 0])
        assert x * misses + (1 - x) * alarms == pytest.approx(row["cost"], abs=1e-12)


@pytest.mark.parametrize("digits", [1, 16])
def test_the_area_of_a_cost_curve_is_the_brier_score_of_recalibrated_scores_of_classes_as_large(digits):
    y, p, _ = rows(400, 0.2, 13, digits=digits)
    frame = CostCurveDisplay.from_predictions(y, 5 * p - 1).frame()  # any scores
    even = np.where(y == 1, 1 / y.sum(), 1 / (1 - y).sum())
    recalibrated = IsotonicRegression().fit(p, y, sample_weight=even).predict(p)
    expected = brier_score_loss(y, np.clip(recalibrated, 0, 1), sample_weight=even)
    assert area(frame, "probability_cost", "cost") == pytest.approx(expected, abs=1e-12)
    hull = np.clip(IsotonicRegression().fit(p, y).predict(p), 0, 1)
    best = ExpectedCosts.at_best_thresholds(score_table(y, p))
    assert best.mean == pytest.approx(brier_score_loss(y, hull), abs=1e-12)


def test_a_brier_curve_is_the_murphy_curve_read_as_costs():
    y, p, q = rows(400, 0.2, 14, digits=2)
    drawn = CostCurveDisplay.from_predictions(y, {"p": p, "q": q}, kind="brier")
    assert area(drawn.frame(), "cost_proportion", "cost", "q") == pytest.approx(brier_score_loss(y, q), abs=1e-12)
    murphy = MurphyDisplay.from_predictions(y, {"p": p, "q": q}).frame()
    assert [row["cost"] for row in drawn.frame()] == [row["elementary_score"] for row in murphy]
    assert [row["best_cost"] for row in drawn.frame()] == [row["recalibrated"] for row in murphy]
    assert drawn.ax_.get_xlabel() == "Cost proportion of a false alarm" and "best threshold" in drawn.caption()


def test_the_band_of_a_cost_curve_holds_all_of_the_population_curve():
    y, p, _ = rows(300_000, 0.1, 15, digits=2)
    x = np.linspace(0.01, 0.99, 99)
    whole = CostCurveDisplay.from_predictions(y, p).curves.lines[0]
    truth, held, runs, n = np.interp(x, whole.probability_cost, whole.cost), 0, 150, 400
    for start in range(0, runs * n, n):
        line = CostCurveDisplay.from_predictions(y[start : start + n], p[start : start + n]).curves.lines[0]
        low, high = (np.interp(x, line.probability_cost, side) for side in (line.low, line.high))
        held += bool(((low <= truth + 1e-9) & (truth <= high + 1e-9)).all())
    assert held / runs >= 0.94


def test_a_figure_of_costs_marks_equal_costs_and_of_one_model_the_threshold_in_use():
    y, p, q = rows(900, 0.1, 16)
    one, two = (CostCurveDisplay.from_predictions(y, given) for given in (p, {"a": p, "b": q}))
    shown = [{text.get_text() for text in drawn.ax_.texts} for drawn in (one, two)]
    assert all({"always positive", "never positive", "equal costs"} <= texts for texts in shown)
    assert "threshold 0.500" in shown[0] and "threshold 0.500" not in shown[1]
    boxes = [text.get_window_extent() for text in one.ax_.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    elsewhere = CostCurveDisplay.from_predictions(y, p, prevalence=0.01)
    assert "equal costs, 1.00 %" in elsewhere.caption()
    assert [row["cost"] for row in elsewhere.frame()] == pytest.approx([row["cost"] for row in one.frame()])
    clustered = CostCurveDisplay.from_evaluation(evaluate(y, y_score=p, cluster=np.arange(900) // 5, draws=20))
    assert "no band" in clustered.caption() and not clustered.ax_.collections


# ---------------------------------------------------------------- triptychs


def test_a_triptych_is_its_three_panels_with_the_names_of_the_models_once():
    y, p, q = rows(500, 0.2, 17)
    drawn = TriptychDisplay.from_predictions(y, {"logistic": p, "naive Bayes": q})
    frames = {
        "reliability": ReliabilityDisplay.from_predictions(y, {"logistic": p, "naive Bayes": q}).frame(),
        "roc": RocDisplay.from_predictions(y, {"logistic": p, "naive Bayes": q}).frame(),
        "murphy": MurphyDisplay.from_predictions(y, {"logistic": p, "naive Bayes": q}).frame(),
    }
    for panel, key in (("reliability", "observed"), ("roc", "recall"), ("murphy", "elementary_score")):
        shown = [(row["model"], row["y"]) for row in drawn.frame() if row["panel"] == panel]
        assert shown == [(row["model"], row[key]) for row in frames[panel]]
    assert len(drawn.ax_) == 3 and drawn.murphy.frame().to_json() == frames["murphy"].to_json()
    named = [text.get_text() for text in drawn.figure_.findobj(mpl.text.Text) if "logistic" in text.get_text()]
    assert named == ["logistic"] and all(part in drawn.caption() for part in ("Left: Rel", "Middle: ROC", "Right: Mur"))


def test_the_words_of_a_triptych_lie_within_its_panels_and_over_no_line():
    y, *models = rows(2_000, 0.4, 18)
    given = {"boosted trees": models[0], "logistic regression": models[1], "naive Bayes": np.sqrt(models[1])}
    for axes in TriptychDisplay.from_predictions(y, given).ax_:
        axes.figure.get_figure(root=True).draw_without_rendering()
        (block,) = axes.artists
        box = block.get_window_extent()
        assert axes.get_window_extent().x0 <= box.x0 and box.x1 <= axes.get_window_extent().x1 + 2
        for line in axes.lines[1:]:
            assert box.count_contains(axes.transData.transform(line.get_xydata())) == 0


DRAWN = {
    "murphy": MurphyDisplay.from_evaluation,
    "gain": GainDisplay.from_evaluation,
    "lift": partial(GainDisplay.from_evaluation, kind="lift"),
    "cost": CostCurveDisplay.from_evaluation,
    "brier": partial(CostCurveDisplay.from_evaluation, kind="brier"),
    "triptych": TriptychDisplay.from_evaluation,
}


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize(
    ("y", "p"), [([0, 1], [0.2, 0.7]), ([0, 1, 1], [0.5] * 3), ([0, 0, 1, 1], [0, 0, 1, 1]), ([0, 1] * 2, [0.0] * 4)]
)
def test_few_rows_and_probabilities_that_are_all_equal_or_certain_can_be_drawn(kind, y, p):
    drawn = DRAWN[kind](evaluate(y, y_score=p, draws=20))
    assert drawn.frame() and drawn.plot().figure_


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: TriptychDisplay.from_predictions([0, 1], [0.2, 1.7]), "from 0 to 1"),
        (lambda: TriptychDisplay.from_evaluation(3), "A triptych is drawn from an Evaluation"),
        (lambda: CostCurveDisplay.from_predictions([0, 1], [0.2, 0.7], kind="roc"), "cost, brier, not 'roc'"),
        (lambda: CostCurveDisplay.from_predictions([0, 1], [0.2, 7], kind="brier"), "from 0 to 1"),
        (lambda: GainDisplay.from_predictions([0, 1], [0.2, 0.7], kind="gains"), "gain, lift, not 'gains'"),
        (lambda: MurphyDisplay.from_predictions([0, 1], [0.2, 1.7]), "from 0 to 1"),
        (lambda: MurphyDisplay.from_predictions([0, 0], [0.2, 0.7]), "class"),
        (lambda: MurphyDisplay.from_evaluation(evaluate([0, 1, 1], [0, 1, 0])), "needs scores"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(ask, sentence):
    with pytest.raises(SteelyardError, match=sentence):
        ask()


# ---------------------------------------------------------------- what figures of scores read

OF_SCORES = (
    MurphyDisplay,
    GainDisplay,
    CostCurveDisplay,
    TriptychDisplay,
    steelyard.figures.DecisionCurveDisplay,
    RocDisplay,
)


@pytest.mark.parametrize("display", OF_SCORES)
def test_several_columns_of_a_frame_are_as_many_models(display):
    y, p, q = rows(200, 0.3, 5)
    frame = pd.DataFrame({"y": y, "p": p, "q": q})
    arrays = display.from_predictions(y, {"p": p, "q": q}).frame().to_json()
    assert display.from_predictions(frame, true="y", score=["p", "q"]).frame().to_json() == arrays
    named = display.from_predictions(frame, true="y", score={"one": "p"}).frame()
    assert {row["model"] for row in named} == {"one"}


@pytest.mark.parametrize("display", OF_SCORES)
def test_of_scores_of_three_classes_the_one_that_is_drawn_is_asked_for(display):
    rng = np.random.default_rng(6)
    scores, y = rng.dirichlet(np.ones(3), 90), rng.permutation(np.repeat(["low", "mid", "high"], 30))
    with pytest.raises(SteelyardError, match="a column for each of 3; name the class with pos_label="):
        display.from_predictions(y, scores)
    assert display.from_predictions(y, scores, pos_label="low").frame()
    with pytest.raises(SteelyardError, match="labels alone were given; name the scores with score="):
        display.from_predictions(pd.DataFrame({"y": [0, 1], "p": [0, 1]}), true="y", pred="p")
