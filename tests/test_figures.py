"""Figures: every one drawn from real predictions; its rows are the library's numbers, its file the same every time."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from checks import assert_refused
from command_line import run_command
from figure_kinds import FIGURE_KINDS, figure
from matplotlib import pyplot as plt
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnchoredOffsetbox
from mpl_toolkits.mplot3d import Axes3D
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_validate,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import steelyard
from steelyard import Counts, ThresholdClassifier, evaluate
from steelyard.exceptions import InputError
from steelyard.figures import (
    ConfusionDisplay,
    CorrelationDisplay,
    CostCurveDisplay,
    DensityDisplay,
    DotsDisplay,
    GainDisplay,
    IntervalDisplay,
    MurphyDisplay,
    PrecisionRecallDisplay,
    PrevalenceDisplay,
    RankingDisplay,
    RocDisplay,
    RunsDisplay,
    SurfaceDisplay,
    ThresholdDisplay,
    plot,
)
from steelyard.report.figures.line_labels import Line, label_lines
from steelyard.studies import correlation_study

TORNADO = Counts(tp=28, fn=23, fp=72, tn=2680)


@pytest.fixture(scope="module")
def digits():
    """The digit 8 against the others in pictures of 4 x 4 dots, split in halves, with two fitted classifiers."""
    images, labels = load_digits(return_X_y=True)
    X = images.reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16)
    y = (labels == 8).astype(int)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    models = {"logistic": LogisticRegression(max_iter=2_000), "naive Bayes": GaussianNB()}
    fitted = {name: model.fit(train, y_train) for name, model in models.items()}
    return {"X": X, "y": y, "test": test, "y_test": y_test, "models": fitted, "labels": labels}


@pytest.fixture(scope="module")
def scores(digits):
    return digits["models"]["logistic"].predict_proba(digits["test"])[:, 1]


@pytest.fixture(scope="module")
def report(digits, scores):
    return evaluate(digits["y_test"], y_score=scores)


@pytest.fixture(scope="module")
def folds(digits):
    model = LogisticRegression(max_iter=2_000)
    return cross_validate(model, digits["X"], digits["y"], cv=4, return_estimator=True, return_indices=True)


@pytest.fixture(scope="module")
def study():
    return correlation_study(["accuracy", "g_mean", "mcc"], n=200, positives=[0.1, 0.2])


@pytest.fixture(scope="module")
def results(digits, report, study):
    """What each kind of figure is drawn from."""
    told = {name: model.predict(digits["test"]) for name, model in digits["models"].items()}
    compared = steelyard.compare(digits["y_test"], told)
    runs = Counts(tp=[8, 9, 7, 10], fn=[2, 1, 3, 0], fp=[5, 10, 4, 12], tn=[85, 80, 86, 78])
    return dict.fromkeys(FIGURE_KINDS, report) | {
        **dict.fromkeys(("ranking", "leaderboard", "wins", "leaders"), compared), "correlation": study, "runs": {"small": runs, "large": runs + runs}, "surface": None, "risk": many_classes(),
    }  # fmt: skip


def many_classes():
    """Four classes with a column of probabilities for each."""
    rng, y = np.random.default_rng(0), np.arange(200) % 4
    return steelyard.evaluate(
        y, y_score=0.6 * rng.dirichlet(np.ones(4), 200) + 0.4 * np.eye(4)[y], metrics=["accuracy"]
    )


def svg(drawn):
    picture = io.BytesIO()
    drawn.figure_.savefig(picture, format="svg")
    return picture.getvalue()


# ---------------------------------------------------------------- every kind


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_every_kind_is_saved_as_svg_pdf_and_png_with_its_text_as_text(kind, results, tmp_path):
    drawn = figure(kind, results[kind])
    saved = {ending: drawn.save(tmp_path / f"{kind}.{ending}").read_bytes() for ending in ("svg", "pdf", "png")}
    assert saved["svg"].startswith(b"<?xml") and saved["svg"].count(b"<text") > 3
    assert saved["pdf"].startswith(b"%PDF") and b"/Type3" not in saved["pdf"]
    assert saved["png"].startswith(b"\x89PNG")
    assert isinstance(drawn.figure_, Figure)
    assert drawn.figure_.get_size_inches()[0] == (7 if kind == "triptych" else 3.5)
    assert isinstance(drawn, getattr(steelyard.figures, FIGURE_KINDS[kind]))


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_drawing_twice_gives_the_same_file(kind, results, tmp_path):
    one, other = (figure(kind, results[kind]).save(tmp_path / f"{name}.svg").read_bytes() for name in "ab")
    assert one == other


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_what_the_user_has_set_is_untouched_and_pyplot_keeps_no_figure(kind, results):
    with mpl.rc_context({"font.size": 13, "svg.fonttype": "path", "axes.facecolor": "black"}):
        before, open_before = dict(mpl.rcParams), plt.get_fignums()
        drawn = figure(kind, results[kind])
        drawn.plot()
        svg(drawn)
        assert dict(mpl.rcParams) == before
        assert plt.get_fignums() == open_before
        assert drawn.figure_.axes[0].get_facecolor()[:3] != (0, 0, 0)


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_a_figure_is_drawn_into_the_axes_it_is_given(kind, results):
    whole = Figure(figsize=(7, 5))
    left, _ = whole.subplots(1, 2)
    drawn = figure(kind, results[kind])
    assert drawn.plot(ax=left) is drawn
    assert drawn.figure_ is whole
    first = drawn.ax_.flat[0] if hasattr(drawn.ax_, "flat") else drawn.ax_
    assert first.xaxis.label.get_size() == 8


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_rows_and_caption_come_without_drawing(kind, results):
    drawn = figure(kind, results[kind])
    rows = drawn.frame().to_dicts()
    assert rows and all(set(row) == set(rows[0]) for row in rows)
    assert not any(isinstance(value, np.generic) for row in rows for value in row.values())
    assert len(drawn.frame().to_frame("pandas")) == len(rows)
    assert drawn.caption().endswith(".") and "\n" not in drawn.caption()
    assert drawn._drawn is None


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_no_words_are_cut_off_at_the_edge_of_the_figure(kind, results):
    drawn = figure(kind, results[kind])
    whole = drawn.figure_
    whole.draw_without_rendering()
    page = whole.bbox
    for text in whole.findobj(mpl.text.Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            if box.width and text.axes is not None:
                assert box.x0 > page.x0 - 2 and box.x1 < page.x1 + 2, text.get_text()
                assert box.y0 > page.y0 - 2 and box.y1 < page.y1 + 2, text.get_text()


# ---------------------------------------------------------------- the numbers are the library's


def test_the_rows_of_a_confusion_figure_are_the_table(report):
    rows = ConfusionDisplay.from_evaluation(report).frame()
    matrix = report.confusion.matrix
    assert [row["rows"] for row in rows] == matrix.ravel().tolist()
    assert [row["share"] for row in rows] == pytest.approx((matrix / matrix.sum(1, keepdims=True)).ravel())


def test_the_caption_of_a_confusion_figure_has_the_digits_of_the_evaluation():
    said = ConfusionDisplay.from_evaluation(evaluate(TORNADO)).caption()
    assert "54.9 % (41.4 to 68.1) of the 51 rows of 1" in said and "posterior" in said


def test_the_rows_of_a_roc_figure_are_the_curve_and_its_simultaneous_band(digits, scores):
    drawn = RocDisplay.from_predictions(digits["y_test"], scores)
    curve = steelyard.roc_curve(digits["y_test"], scores)
    rows = drawn.frame()
    assert np.array_equal([row["recall"] for row in rows], curve.tpr)
    assert np.array_equal([row["false_positive_rate"] for row in rows], curve.fpr)
    band = steelyard.figures.confidence_band(digits["y_test"], scores, over="false_positive_rate")
    assert [(row["low"], row["high"]) for row in rows] == [(point.low, point.high) for point in band]
    (x, low), (_, high) = (
        (drawn.curves[0].band.x, side) for side in (drawn.curves[0].band.lowest, drawn.curves[0].band.highest)
    )
    assert (x[0], low[0], x[-1], high[-1]) == (0, 0, 1, 1)
    auc = steelyard.interval("roc_auc", digits["y_test"], y_score=scores)
    assert (drawn.curves[0].area.low, drawn.curves[0].area.high) == (auc.low, auc.high)
    assert "95 % simultaneous confidence band" in drawn.caption() and auc.method in drawn.caption()


def test_the_rows_of_a_precision_recall_figure_are_the_curve(digits, scores):
    drawn = PrecisionRecallDisplay.from_predictions(digits["y_test"], scores)
    curve = steelyard.precision_recall_curve(digits["y_test"], scores)
    rows = drawn.frame()
    assert np.array_equal([row["precision"] for row in rows], curve.precision)
    assert all(row["low"] <= row["precision"] <= row["high"] for row in rows)
    assert drawn.prevalence == digits["y_test"].mean()


def test_the_area_covers_neither_curve_nor_the_words_of_the_baseline():
    rng = np.random.default_rng(1)
    y_true = (rng.random(2_000) < 0.05).astype(int)
    ax = PrecisionRecallDisplay.from_predictions(y_true, rng.normal(2 * y_true, 1)).ax_
    ax.figure.draw_without_rendering()
    (box,) = (part for part in ax.artists if isinstance(part, AnchoredOffsetbox))
    taken, curve = box.get_window_extent(), max(ax.lines, key=lambda line: len(line.get_xdata()))
    assert not curve.get_path().transformed(ax.transData).intersects_bbox(taken, filled=False)
    (baseline,) = (text for text in ax.texts if text.get_text().startswith("no skill"))
    assert not baseline.get_window_extent().overlaps(taken)


def test_the_point_on_a_curve_is_the_cut_in_use(digits, scores):
    drawn = RocDisplay.from_predictions(digits["y_test"], scores, threshold=0.2)
    counts = steelyard.score_table(digits["y_test"], scores).at(0.2)
    assert drawn.curves[0].point == (1 - steelyard.specificity(counts), steelyard.recall(counts))
    assert "threshold 0.200" in drawn.caption()


def test_a_weighted_band_is_as_wide_as_that_of_as_many_equal_rows(digits, scores):
    plain = RocDisplay.from_predictions(digits["y_test"], scores).frame()
    even = RocDisplay.from_predictions(digits["y_test"], scores, sample_weight=np.full(len(scores), 7.0)).frame()
    assert [row["low"] for row in even] == pytest.approx([row["low"] for row in plain])
    weights = np.random.default_rng(0).exponential(size=len(scores))
    uneven = PrecisionRecallDisplay.from_predictions(digits["y_test"], scores, sample_weight=weights)
    curve = steelyard.precision_recall_curve(digits["y_test"], scores, sample_weight=weights)
    assert [row["precision"] for row in uneven.frame()] == pytest.approx(curve.precision)
    assert all(row["low"] <= row["precision"] <= row["high"] for row in uneven.frame())


def test_a_curve_at_another_prevalence_is_read_there(digits, scores):
    elsewhere = evaluate(digits["y_test"], y_score=scores, prevalence=0.5)
    drawn = PrecisionRecallDisplay.from_evaluation(elsewhere)
    table = steelyard.at_prevalence(steelyard.score_table(digits["y_test"], scores), 0.5)
    assert [row["precision"] for row in drawn.frame()] == pytest.approx(
        steelyard.precision_recall_curve(table).precision
    )
    assert all(
        row["low"] <= row["precision"] + 1e-12 and row["precision"] <= row["high"] + 1e-12 for row in drawn.frame()
    )
    band = steelyard.figures.confidence_band(
        digits["y_test"], scores, metric="precision", over="recall", prevalence=0.5
    )[1:]
    assert [row["high"] for row in drawn.frame()] == pytest.approx([point.high for point in band])
    assert drawn.prevalence == 0.5 and "simultaneous" in drawn.caption()


@pytest.mark.parametrize("n", [12, 5_000])
def test_the_lines_over_the_threshold_pass_between_scores_where_the_evaluation_does(n):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 4 == 0
    score = np.where(y, rng.beta(3, 2, n), rng.beta(2, 3, n))
    cut = 0.5
    assert cut not in score
    found = evaluate(y.astype(int), y_score=score, threshold=cut, draws=50)
    for names in (["recall", "precision"], ["recall", "precision", "mcc"]):
        drawn = ThresholdDisplay.from_evaluation(found, metrics=names)
        for name, line in zip(names, drawn.ax_.lines, strict=False):
            x, height = STEP_LOOKUP_MAP[line.get_drawstyle()](*line.get_data())
            left = np.flatnonzero((x[:-1] > cut) & (x[1:] < cut)).item()
            assert height[left] == height[left + 1] == pytest.approx(found[name].value), name
        bands = [band.get_paths()[0].vertices for band in drawn.ax_.collections]
        for name, band in zip(names, bands, strict=False):
            sides = [(a, b) for a, b in itertools.pairwise(band) if (a[0] - cut) * (b[0] - cut) < 0]
            low, high = sorted(a[1] for a, _ in sides)
            assert all(a[1] == b[1] for a, b in sides)
            assert low <= found[name].value <= high, name
        plt.close(drawn.figure_)


def test_the_rows_over_the_threshold_are_the_metric_at_each_cut(digits, scores):
    drawn = ThresholdDisplay.from_predictions(digits["y_test"], scores, metrics=["mcc", "recall"])
    table = steelyard.score_table(digits["y_test"], scores)
    for row in drawn.frame()[::37]:
        assert row["value"] == pytest.approx(
            steelyard.get_metric(row["metric"])(table.at(row["threshold"])), nan_ok=True
        )
    best = steelyard.best_threshold(table, metric="mcc", draws=0)
    assert [(b.metric, b.threshold, b.value) for b in drawn.best] == [("mcc", best.threshold, best.value)]
    band = steelyard.figures.confidence_band(table, metric="mcc")[1:]
    assert np.array_equal(drawn.tracks[0].low, [point.low for point in band])
    assert "95 % simultaneous confidence bands" in drawn.caption()


def test_rows_in_clusters_have_no_band_and_the_caption_says_why(digits, scores):
    patients = np.arange(len(scores)) // 5
    clustered = evaluate(digits["y_test"], y_score=scores, cluster=patients, draws=50)
    for kind, options in ((RocDisplay, {}), (PrecisionRecallDisplay, {}), (ThresholdDisplay, {"metrics": ["recall"]})):
        drawn = kind.from_evaluation(clustered, **options)
        assert all(np.isnan(row["low"]) for row in drawn.frame()), kind
        assert "no band: rows in clusters are not independent" in drawn.caption()
        plt.close(drawn.figure_)


def rare(n=5_000, share=0.007):
    rng = np.random.default_rng(8)
    y = (rng.random(n) < share).astype(int)
    return y, 1 / (1 + np.exp(-(rng.normal(-4, 1.2, n) + 3 * y)))


def overlapping(boxes):
    return [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]


@pytest.mark.parametrize("share", [0.007, 0.05, 0.3, 0.8])
def test_no_words_of_a_precision_recall_figure_lie_over_others(share):
    y, score = rare(share=share)
    drawn = PrecisionRecallDisplay.from_predictions(y, score)
    drawn.figure_.draw_without_rendering()
    blocks = [a for a in drawn.ax_.get_children() if isinstance(a, AnchoredOffsetbox)]
    assert blocks
    assert overlapping([part.get_window_extent() for part in (*blocks, *drawn.ax_.texts)]) == []
    plt.close(drawn.figure_)


def test_correlations_fit_their_cells_and_only_one_is_written_as_one():
    drawn = CorrelationDisplay.from_study()
    drawn.figure_.draw_without_rendering()
    written = [text for text in drawn.ax_.texts if text.get_text()]
    assert overlapping([text.get_window_extent() for text in written]) == []
    near = [row["correlation"] for row in drawn.frame() if 0.995 <= row["correlation"] < 1]
    assert near
    assert sum(text.get_text() == ">.99" for text in written) == len(near)
    plt.close(drawn.figure_)


def test_the_ticks_of_a_surface_do_not_lie_over_each_other():
    drawn = SurfaceDisplay.from_evaluation(evaluate(TORNADO, draws=50), metrics=["ac_score", "mcc"])
    drawn.figure_.draw_without_rendering()
    for ax in (a for a in drawn.figure_.findobj(Axes3D)):
        # Not get_ticklabels, which moves the labels of 3-D axes as if they were flat.
        labels = [tick.label1 for axis in (ax.xaxis, ax.yaxis, ax.zaxis) for tick in axis.majorTicks]
        ticks = [label for label in labels if label.get_text()]
        assert len(ticks) >= 5
        assert overlapping([tick.get_window_extent() for tick in ticks]) == []
    plt.close(drawn.figure_)


def test_probabilities_are_drawn_from_0_to_1_though_none_comes_near_1():
    y, score = rare(share=0.2)
    drawn = DensityDisplay.from_predictions(y, score * 0.84)
    assert drawn.ax_.get_xlim() == (0, 1)
    plt.close(drawn.figure_)


def test_captions_never_round_to_all():
    almost = evaluate(Counts(tp=9, fn=26, fp=2, tn=4963), draws=50)
    drawn = ConfusionDisplay.from_evaluation(almost)
    assert "99.95 %" in drawn.caption() and "100 %" not in drawn.caption()
    surface = SurfaceDisplay.from_evaluation(almost)
    assert "TNR 99.95 %" in surface.caption()
    plt.close("all")


def test_four_metrics_have_no_bands_unless_asked_for(report):
    assert all(t.low is None for t in ThresholdDisplay.from_evaluation(report).tracks)
    asked = ThresholdDisplay.from_evaluation(report, band=True)
    assert all(t.low is not None for t in asked.tracks)


def test_the_rows_over_prevalence_are_the_metric_there(report):
    drawn = PrevalenceDisplay.from_evaluation(report, metrics=["precision"])
    for row in drawn.frame():
        there = steelyard.at_prevalence(report.counts, row["prevalence"])
        assert row["value"] == pytest.approx(steelyard.precision(there))
        assert row["low"] <= row["value"] <= row["high"]
    assert "9.68 %" in drawn.caption() and "posterior" in drawn.caption()


def test_the_rows_of_a_forest_are_the_rows_of_the_evaluation(report):
    rows = IntervalDisplay.from_evaluation(report).frame()
    for row, shown in zip(rows, report.shown(), strict=True):
        assert (row["metric"], row["value"], row["low"], row["high"], row["chance"]) == (
            shown.name, shown.value, shown.low, shown.high, shown.chance,
        )  # fmt: skip


def test_surfaces_are_the_metric_of_the_table_with_those_rates():
    drawn = SurfaceDisplay.of(["ac_score", "mcc"], prevalence=0.1)
    for row in drawn.frame()[::211]:
        tpr, tnr = row["tpr"], row["tnr"]
        counts = Counts(100 * tpr, 100 * (1 - tpr), 900 * (1 - tnr), 900 * tnr)
        expected = steelyard.get_metric(row["metric"])(counts)
        assert row["value"] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_wus_surfaces_stand_in_his_order_everywhere():
    values = SurfaceDisplay.of().values
    assert (values[0] >= values[1] - 1e-12).all() and (values[1] >= values[2] - 1e-12).all()
    drawn = SurfaceDisplay.of().plot()
    titles = [ax.get_title(loc="center") for ax in drawn.ax_]
    assert titles[3:] == ["TNR = 1", "TNR = 0.5", "TNR = 0", "TPR = 1", "TPR = 0.5", "TPR = 0"]


def test_the_ranking_is_that_of_the_comparison(digits):
    told = {name: model.predict(digits["test"]) for name, model in digits["models"].items()}
    compared = steelyard.compare(digits["y_test"], told)
    drawn = RankingDisplay.from_comparison(compared)
    assert [row["metric"] for row in drawn.frame()] == [s.metric for s in compared.ranking().order]
    turned = RankingDisplay.from_comparison(compared, "naive Bayes", "logistic")
    assert [row["difference"] for row in turned.frame()] == [-row["difference"] for row in drawn.frame()][::-1]
    assert all(row["low"] <= row["difference"] <= row["high"] for row in turned.frame())


def test_the_correlations_are_those_of_the_study(study):
    drawn = CorrelationDisplay.from_study(study, positives=0.2, rank=True)
    matrix = study.matrix(0.2, rank=True)
    for row in drawn.frame():
        place = study.names.index(row["metric"]), study.names.index(row["other"])
        assert row["correlation"] == matrix[place]


def test_the_runs_are_the_folds(digits, folds):
    drawn = RunsDisplay.from_cv_results(folds, digits["X"], digits["y"], metrics=["recall", "mcc"])
    X, y = digits["X"], digits["y"]
    for metric in ("recall", "mcc"):
        expected = [
            steelyard.get_metric(metric)(y[rows], model.predict(X[rows]))
            for model, rows in zip(folds["estimator"], folds["indices"]["test"], strict=True)
        ]
        assert [row["value"] for row in drawn.frame() if row["metric"] == metric] == expected


def test_densities_are_shares_of_rows_and_have_area_one(digits, scores):
    drawn = DensityDisplay.from_predictions(digits["y_test"], scores, n_bins=20)
    spread = drawn.spreads[0]
    for side, density in ((1, spread.positives), (0, spread.negatives)):
        expected, _ = np.histogram(scores[digits["y_test"] == side], bins=spread.edges, density=True)
        assert density == pytest.approx(expected)
        assert (density * np.diff(spread.edges)).sum() == pytest.approx(1)


# ---------------------------------------------------------------- where figures come from


BINARY = [ConfusionDisplay, RocDisplay, PrecisionRecallDisplay, ThresholdDisplay, PrevalenceDisplay, DensityDisplay]
BINARY += [MurphyDisplay, GainDisplay, CostCurveDisplay, DotsDisplay]


@pytest.mark.parametrize("kind", [*BINARY, SurfaceDisplay], ids=lambda kind: kind.__name__)
def test_an_estimator_gives_the_figure_of_its_predictions(kind, digits, scores):
    model = digits["models"]["logistic"]
    one = kind.from_estimator(model, digits["test"], digits["y_test"]).frame()
    given = model.predict(digits["test"]) if kind.reads == "labels" else scores
    other = kind.from_predictions(digits["y_test"], given).frame()
    assert repr(one.to_dicts()) == repr(other.to_dicts())  # as text, where NaN equals NaN


def test_an_estimator_without_probabilities_is_cut_where_it_predicts(digits):
    X, y = digits["test"], digits["y_test"]
    model = LinearSVC(random_state=0, dual=False).fit(X, y)
    drawn = RocDisplay.from_estimator(model, X, y)
    told = steelyard.confusion(y, model.predict(X)).counts()
    assert drawn.curves[0].point == pytest.approx((1 - steelyard.specificity(told), steelyard.recall(told)))
    turned = RocDisplay.from_estimator(model, X, y, pos_label=0)
    assert turned.curves[0].area.value == pytest.approx(drawn.curves[0].area.value)


@pytest.mark.parametrize("kind", [*BINARY, IntervalDisplay, SurfaceDisplay], ids=lambda kind: kind.__name__)
def test_cross_validation_results_are_drawn(kind, digits, folds):
    drawn = kind.from_cv_results(folds, digits["X"], digits["y"])
    assert svg(drawn)
    assert len(digits["y"]) == 1797 and ("1,797 rows" in drawn.caption() or kind is SurfaceDisplay)


def test_two_models_of_the_same_folds_are_ranked_on_all_rows(digits, folds):
    X, y = digits["X"], digits["y"]
    other = cross_validate(GaussianNB(), X, y, cv=4, return_estimator=True, return_indices=True)
    drawn = RankingDisplay.from_cv_results({"a": folds, "b": other}, X, y, metrics=["recall", "accuracy"])
    told = np.empty_like(y)
    for model, rows in zip(other["estimator"], other["indices"]["test"], strict=True):
        told[rows] = model.predict(X[rows])
    by_metric = {row["metric"]: row["value_b"] for row in drawn.frame()}
    assert by_metric["recall"] == steelyard.recall(y, told) and by_metric["accuracy"] == steelyard.accuracy(y, told)
    less = cross_validate(GaussianNB(), X, y, cv=3, return_estimator=True, return_indices=True)
    split = {"a": folds, "b": less}
    assert_refused(lambda: RankingDisplay.from_cv_results(split, X, y), ValueError, "the same splits")


def test_each_fold_has_a_curve_with_its_own_area(digits, folds):
    drawn = RocDisplay.from_cv_results(folds, digits["X"], digits["y"])
    X, y = digits["X"], digits["y"]
    expected = [
        steelyard.roc_auc(y[rows], model.predict_proba(X[rows])[:, 1])
        for model, rows in zip(folds["estimator"], folds["indices"]["test"], strict=True)
    ]
    assert [curve.area.value for curve in drawn.curves] == expected


@pytest.mark.parametrize("kind", [RocDisplay, PrecisionRecallDisplay, DensityDisplay, IntervalDisplay, *BINARY[-3:]])
def test_several_models_stand_in_one_figure_by_name(kind, digits):
    drawn = kind.from_estimator(digits["models"], digits["test"], digits["y_test"])
    assert {row["model"] for row in drawn.frame()} == set(digits["models"])
    assert b"naive Bayes" in svg(drawn)


def test_labels_that_are_words_of_any_kind_are_shown_as_text(tmp_path):
    positive = "$\\frac{1}$ </script>" + 10_000 * "x"
    y_true, y_pred = [positive, "b & c", "b & c", "b & c"] * 5, [positive, "b & c", positive, "b & c"] * 5
    drawn = ConfusionDisplay.from_predictions(y_true, y_pred, pos_label=positive)
    text = drawn.save(tmp_path / "a.svg").read_text()
    assert "</script>" not in text and "b &amp; c" in text


def test_many_classes_are_a_heat_map_of_shares(digits):
    images, labels = load_digits(return_X_y=True)
    model = GaussianNB().fit(images[::2], labels[::2])
    drawn = ConfusionDisplay.from_estimator(model, images[1::2], labels[1::2])
    assert len(drawn.frame()) == 100 and svg(drawn)
    assert "Shades" in drawn.caption()


@pytest.mark.parametrize("kind", [RocDisplay, PrecisionRecallDisplay, ThresholdDisplay, DensityDisplay, *BINARY[-2:]])
@pytest.mark.parametrize("given", [[0.1, 0.9], [0.5, 0.5], [0.9, 0.1], [-3.0, 1e6]])
def test_two_rows_and_odd_scores_can_be_drawn(kind, given):
    assert svg(kind.from_predictions([0, 1], given))


@pytest.mark.parametrize("counts", [(0, 3, 0, 5), (3, 0, 5, 0), (1, 0, 0, 1), (10**9, 5, 7, 10**6)])
def test_odd_tables_can_be_drawn(counts):
    report = evaluate(Counts(*counts))
    for kind in (ConfusionDisplay, IntervalDisplay):
        assert svg(kind.from_evaluation(report))


def test_a_curve_of_many_points_is_thinned_to_exact_ones():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.02
    score = rng.normal(size=50_000) + 2 * y
    rows = RocDisplay.from_predictions(y, score).frame()
    assert len(rows) <= 1_001
    curve = steelyard.roc_curve(y, score)
    places = np.searchsorted(-curve.thresholds, [-row["threshold"] for row in rows])
    assert np.array_equal(curve.tpr[places], [row["recall"] for row in rows])
    assert np.abs(np.diff(curve.tpr[places])).max() < 0.01


def test_names_of_lines_do_not_cover_lines_or_each_other():
    whole = Figure(figsize=(3.5, 2.8))
    ax = whole.add_subplot()
    x = np.linspace(0, 1, 200)
    lines = [Line(x, y, name, "black") for name, y in (("rising", x), ("falling", 1 - x), ("humped", 4 * x * (1 - x)))]
    for line in lines:
        ax.plot(line.x, line.y)
    label_lines(ax, lines)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    for box in boxes:
        for line in lines:
            assert not box.count_contains(ax.transData.transform(np.column_stack([line.x, line.y])))


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("attempt", "builtin", "words"),
    [
        (lambda: figure("roc", 3), TypeError, "not int"),
        (lambda: figure("roc", evaluate(TORNADO)), ValueError, "needs scores"),
        (lambda: figure("ranking", None), TypeError, "drawn from a Comparison"),
        (lambda: figure("correlation", 3), TypeError, "correlation_study"),
        (lambda: figure("runs", TORNADO), ValueError, "the one axis of Counts"),
        (lambda: figure("runs", "abc"), TypeError, "not str"),
        (lambda: figure("confusion", {"a": evaluate(TORNADO), "b": evaluate(TORNADO)}), ValueError, "one model, not 2"),
        (lambda: RocDisplay.from_predictions([0, 1]), TypeError, "nothing to ask about"),
        (lambda: RocDisplay.from_predictions([0, 0], [0.1, 0.2]), ValueError, "class"),
        (lambda: RocDisplay.from_cv_results({"test_score": []}, [], []), ValueError, "return_indices=True"),
        (lambda: ConfusionDisplay.from_predictions([0, 1], [0, 1], threshold=0.5), ValueError, "contradict"),
        (lambda: ConfusionDisplay.from_predictions([0, 1], y_score=[3.0, 5.0]), ValueError, "give threshold="),
        (lambda: PrevalenceDisplay.from_predictions(list("abc"), list("abc")), ValueError, "pos_label="),
        (lambda: PrevalenceDisplay.from_predictions([0, 1], [0, 1], low=0.5, high=0.2), ValueError, "rising"),
        (lambda: ThresholdDisplay.from_predictions([0, 1], [0.1, 0.2], metrics="mcc"), TypeError, r"write \['mcc'\]"),
        (lambda: ThresholdDisplay.from_predictions([0, 1], [0.1, 0.2], metrics=["roc_auc"]), ValueError, "all scores"),
        (lambda: SurfaceDisplay.of(["mcc"], prevalence=2), ValueError, "prevalence"),
        (lambda: SurfaceDisplay.of(shape="cube"), ValueError, "surface, contour"),
        (lambda: DensityDisplay.from_predictions([0, 1], [0.1, 0.2], n_bins=0), ValueError, "n_bins"),
        (lambda: figure("confusion", evaluate(TORNADO)).save("a.gif"), ValueError, "'a.gif' ends in none"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_one_sentence(attempt, builtin, words):
    assert_refused(attempt, builtin, words)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_and_computing_does_not_load_matplotlib():
    code = "import sys, steelyard; d = steelyard.figures.RocDisplay.from_predictions([0, 1], [0.1, 0.2]); d.frame(); d.caption()"
    assert run(f"{code}; print('matplotlib' in sys.modules)") == "False\n"


def test_a_missing_matplotlib_is_told_in_one_sentence_with_the_command():
    code = """
import sys
sys.modules["matplotlib"] = None
import steelyard
drawn = steelyard.figures.RocDisplay.from_predictions([0, 1], [0.1, 0.2])
try:
    drawn.plot()
except ImportError as error:
    print(isinstance(error, steelyard.SteelyardError), error)
"""
    assert run(code) == (
        "True Figures need matplotlib, which is not installed; run pip install 'steelyard[figures]'.\n"
    )


def test_every_kind_is_a_public_name_and_a_word_of_the_shell():
    refused = run_command("plot", "rocket", "rows.csv", code=2).stderr
    assert f"there are {', '.join(FIGURE_KINDS)}. Did you mean 'roc'" in refused
    assert {n for n in dir(steelyard.figures) if n.endswith("Display")} == set(FIGURE_KINDS.values())


# ---------------------------------------------------------------- the threshold by which a classifier predicts

LOGISTIC = LogisticRegression(max_iter=2_000, tol=0.01)  # near enough: each is compared with itself
OWN_THRESHOLDS = {
    "probabilities": ThresholdClassifier(LOGISTIC, "f1"),
    "distances": ThresholdClassifier(LinearSVC(random_state=0), "f1"),
    "named distances": ThresholdClassifier(LOGISTIC, "f1", response_method="decision_function"),
    "the other class": ThresholdClassifier(LOGISTIC, "f1", pos_label=0),
    "in a pipeline": make_pipeline(StandardScaler(), ThresholdClassifier(LOGISTIC, "f1")),
    "in a search": GridSearchCV(ThresholdClassifier(LOGISTIC), {"metric": ["f1", "mcc"]}, cv=2),
    "scikit-learn's": TunedThresholdClassifierCV(LOGISTIC),
    "scikit-learn's, fixed": FixedThresholdClassifier(LOGISTIC, threshold=0.2),
    "none of its own": LOGISTIC,
}


@pytest.mark.parametrize("name", OWN_THRESHOLDS)
def test_figures_of_an_estimator_state_the_threshold_by_which_it_predicts(digits, name):
    X, y = digits["test"][::2], digits["y_test"][::2]
    model = clone(OWN_THRESHOLDS[name]).fit(X, y)
    predicted = model.predict(X)
    for positive in (0, 1):
        counts = steelyard.confusion(y, predicted).counts(positive)
        rates = {"recall": steelyard.recall(counts), "specificity": steelyard.specificity(counts)}
        shown = IntervalDisplay.from_estimator(model, X, y, pos_label=positive, metrics=list(rates))
        assert {row["metric"]: row["value"] for row in shown.frame()} == pytest.approx(rates)
        display = ThresholdDisplay.from_estimator(model, X, y, pos_label=positive, metrics=["recall"])
        above, below = (
            [row["value"] for row in display.frame() if (row["threshold"] >= display.threshold) == is_above]
            for is_above in (True, False)
        )
        assert max(above, default=0) <= rates["recall"] <= min(below, default=1)
    given = ThresholdDisplay.from_estimator(model, X, y, threshold=0.37)
    assert given.threshold == 0.37


def test_a_figure_by_other_scores_than_those_of_the_threshold_is_refused(digits):
    X, y = digits["test"], digits["y_test"]
    model = clone(OWN_THRESHOLDS["probabilities"]).fit(X, y)
    with pytest.raises(InputError, match=r"predicts by predict_proba, so response_method='decision_function' has no"):
        RocDisplay.from_estimator(model, X, y, response_method="decision_function")
    assert RocDisplay.from_estimator(model, X, y, response_method="decision_function", threshold=0.0)


def test_folds_that_predict_at_thresholds_of_their_own_have_no_common_one(digits):
    X, y = digits["X"], digits["y"]
    results = cross_validate(OWN_THRESHOLDS["probabilities"], X, y, cv=3, return_estimator=True, return_indices=True)
    with pytest.raises(
        InputError, match=r"The folds predict at thresholds from 0\.\d+ to 0\.\d+; name one by threshold="
    ):
        ThresholdDisplay.from_cv_results(results, X, y)
    assert ThresholdDisplay.from_cv_results(results, X, y, threshold=0.3).threshold == 0.3


def test_a_figure_of_a_kind_is_drawn_of_predictions_as_of_their_evaluations():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 4 == 0
    models = {name: rng.random(200) / 2 + y / each for name, each in (("a", 2), ("b", 4))}
    p = steelyard.Predictions(y, y_score=models)
    evaluated = {name: evaluate(y, y_score=scores, draws=40) for name, scores in models.items()}
    for kind in ("roc", "gain", "lift", "density"):
        drawn = plot(kind, p).frame().to_json()
        assert drawn == plot(kind, evaluated).frame().to_json() == figure(kind, evaluated).frame().to_json(), kind
    with pytest.raises(TypeError, match="correlation_study"):
        plot("correlation", p)


@pytest.mark.parametrize("kind", ["reliability", "density", "decision"])
def test_rare_positives_are_drawn_over_log_odds(kind):
    rng = np.random.default_rng(0)
    for share, scale in ((0.01, "logit"), (0.3, "linear")):
        y = (rng.random(4_000) < share).astype(int)
        p = 1 / (1 + np.exp(-np.log(share / (1 - share)) + 2 - 2 * (rng.normal(size=4_000) + 2 * y)))
        display = steelyard.figures.plot(kind, evaluate(y, y_score=p))
        ax = display.figure_.axes[0]
        assert ax.get_xscale() == scale and ("log-odds" in display.caption()) == (scale == "logit")
        if kind == "density":
            rows = [row for row in display.frame() if row["class"] == "positive"]
            ends = np.array([(row["from"], row["to"]) for row in rows])
            widths = np.diff(np.log(ends / (1 - ends)) if scale == "logit" else ends)[:, 0]
            assert np.dot(widths, [row["density"] for row in rows]) == pytest.approx(1)


def test_a_use_decides_which_metrics_a_figure_draws_where_none_are_named():
    y, score = rare(share=0.2)
    for kind in ("threshold", "prevalence"):
        drawn = {}
        for use in (None, "alerts", "balance", "ranking"):
            display = steelyard.figures.plot(kind, evaluate(y, y_score=score, use=use))
            drawn[use] = list(dict.fromkeys(row["metric"] for row in display.frame()))
            plt.close(display.figure_)
        assert drawn["alerts"] == ["f1", "precision", "recall"]
        assert drawn["balance"][:3] == ["ac_score", "recall", "specificity"]
        assert drawn["ranking"] == drawn[None] != drawn["alerts"]
    forest = steelyard.figures.plot("intervals", evaluate(y, y_score=score, use="alerts")).frame()
    assert forest[0]["metric"] == "average_precision"
