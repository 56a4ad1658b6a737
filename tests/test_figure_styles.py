"""The look of figures: one palette for page and figures, dark styles, many models, labels of any script."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from figure_kinds import FIGURE_KINDS, figure
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.offsetbox import AnchoredOffsetbox
from matplotlib.text import Text

import steelyard
from steelyard import Counts, evaluate
from steelyard.figures import DotsDisplay
from steelyard.report import palette
from steelyard.report.figures import canvas, font_fallback, style
from steelyard.studies import correlation_study

METRICS = ["roc_auc", "average_precision", "brier", "recall", "specificity", "precision", "f1"]
SEVERAL = ["roc", "pr", "reliability", "decision", "murphy", "gain", "lift", "cost", "brier", "triptych", "density"]
SEVERAL += ["dots", "intervals"]
PAGE_NAMES = {"paper": "paper", "ink": "ink", "soft": "soft", "grey": "grey", "line": "line"}
LINE_NAMES = ("blue", "other", "green", "pink", "gold", "sky")


@pytest.fixture(scope="module")
def models():
    """Five models of 2,000 rows, 6 % of them positive."""
    rng = np.random.default_rng(5)
    y = (rng.random(2_000) < 0.06).astype(int)
    names = ["logistic", "naive Bayes", "gradient boosting", "random forest", "nearest mean"]
    logits = [rng.normal(size=2_000) + gap * y - 2.4 for gap in (2.6, 1.8, 2.9, 2.2, 1.0)]
    scores = {name: 1 / (1 + np.exp(-logit)) for name, logit in zip(names, logits, strict=True)}
    return {name: evaluate(y, y_score=p, threshold=0.3, metrics=METRICS) for name, p in scores.items()}


@pytest.fixture(scope="module")
def results(models):
    """What each kind of figure is drawn from."""
    first = next(iter(models.values()))
    labels = {name: np.arange(200) % (3 + place) == 0 for place, name in enumerate("ab")}
    runs = Counts(tp=[8, 9, 7], fn=[2, 1, 3], fp=[5, 10, 4], tn=[85, 80, 86])
    study = correlation_study(["accuracy", "g_mean", "mcc"], n=200, positives=[0.1])
    return dict.fromkeys(FIGURE_KINDS, first) | {
        "risk": steelyard.evaluate(
            np.arange(90) % 3, y_score=np.random.default_rng(0).dirichlet([2, 2, 2], 90), metrics=["accuracy"]
        ),
        **dict.fromkeys(
            ("ranking", "leaderboard", "wins", "leaders"), steelyard.compare(np.arange(200) % 6 == 0, labels)
        ),
        "correlation": study,
        "runs": {"small": runs, "large": runs + runs},
        "surface": None,
    }


def _luminance(colour):
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(one, other):
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


# ---------------------------------------------------------------- one palette


def test_the_two_colours_with_a_meaning_are_those_of_the_handbook():
    assert (palette.ON_WHITE.this, palette.ON_WHITE.other) == ("#0072b2", "#d55e00")


@pytest.mark.parametrize(("colours", "dark"), [(palette.ON_WHITE, False), (palette.ON_DARK, True)])
def test_the_page_has_the_colours_of_the_figures(colours, dark):
    css = Path(palette.__file__).parent.joinpath("pages", "templates", "page.css").read_text(encoding="utf-8")
    light, _, rest = css.partition("prefers-color-scheme: dark")
    stated = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", rest.partition("* {")[0] if dark else light))
    assert {key: stated[key] for key in PAGE_NAMES} == {key: getattr(colours, name) for key, name in PAGE_NAMES.items()}
    assert tuple(stated[name] for name in LINE_NAMES) == colours.lines


def test_a_notebook_has_no_colours_of_its_own():
    css = Path(palette.__file__).parent.joinpath("pages", "templates", "notebook_view.css").read_text(encoding="utf-8")
    known = {*palette.ON_WHITE.lines, palette.ON_WHITE.grey, *palette.ON_DARK.lines}
    assert set(re.findall(r"#[0-9a-f]{6}\b", css.lower())) <= known


@pytest.mark.parametrize("colours", [palette.ON_WHITE, palette.ON_DARK])
def test_lines_and_words_stand_out_from_the_paper(colours):
    assert all(_contrast(line, colours.paper) >= 3 for line in colours.lines)
    assert _contrast(colours.ink, colours.paper) >= 7
    assert _contrast(colours.soft, colours.paper) >= 4.5


def test_no_two_of_forty_lines_look_alike():
    assert len({(style.colour(i), str(style.dash(i))) for i in range(42)}) == 42
    assert len({style.sample(i) for i in range(7)}) == 7


# ---------------------------------------------------------------- dark styles


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_in_a_dark_style_a_figure_is_dark_and_its_words_are_light(kind, results):
    with plt.style.context("dark_background"):
        drawn = figure(kind, results[kind]).plot()
    assert to_rgb(drawn.figure_.get_facecolor()) == (0, 0, 0)
    for text in drawn.figure_.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            seen = text.get_color()  # on a filled cell in the colour of the paper
            assert to_rgb(seen) == (0, 0, 0) or _contrast(seen, "black") >= 4, (text.get_text(), seen)


@pytest.mark.parametrize("kind", ["roc", "confusion", "dots", "intervals"])
def test_axes_of_a_dark_style_get_its_twins_and_the_style_stays_as_it_was(kind, results):
    with plt.style.context("dark_background"):
        before = dict(plt.rcParams)
        whole, ax = plt.subplots()
        drawn = figure(kind, results[kind], ax=ax)
        assert dict(plt.rcParams) == before
        plt.close(whole)
    colours = {to_rgb(text.get_color()) for text in drawn.figure_.findobj(Text) if text.get_text().strip()}
    assert to_rgb(palette.ON_WHITE.ink) not in colours


@pytest.mark.parametrize("ground", ["none", "white", "#fdf6e3"])
def test_axes_that_are_seen_through_are_as_light_as_what_is_behind_them(ground):
    whole, ax = plt.subplots(facecolor="white")
    ax.set_facecolor(ground)
    assert canvas.palette_of(ax).ink == palette.ON_WHITE.ink
    whole.set_facecolor("#101010")
    ax.set_facecolor("none")
    assert canvas.palette_of(ax).ink == palette.ON_DARK.ink
    plt.close(whole)


def test_saving_a_dark_figure_outside_its_style_keeps_it_dark(results, tmp_path):
    with plt.style.context("dark_background"):
        drawn = figure("roc", results["roc"]).plot()
    text = drawn.save(tmp_path / "roc.svg").read_text(encoding="utf-8")
    assert palette.ON_DARK.this in text.lower() and palette.ON_WHITE.ink not in text.lower()


# ---------------------------------------------------------------- five models


@pytest.mark.parametrize("kind", SEVERAL)
def test_the_words_of_five_models_lie_over_no_line(kind, models):
    options = {"metrics": ["recall", "f1"]} if kind == "intervals" else {}
    drawn = figure(kind, models, **options).plot()
    drawn.figure_.draw_without_rendering()
    for ax in drawn.figure_.axes:
        frame = ax.get_window_extent()
        blocks = [box.get_window_extent() for box in ax.findobj(AnchoredOffsetbox)]
        assert all(block.y0 >= frame.y1 - 1 for block in blocks if len(models) > 3)


@pytest.mark.parametrize("kind", SEVERAL)
def test_nothing_of_five_models_is_cut_off(kind, models):
    options = {"metrics": ["recall", "f1"]} if kind == "intervals" else {}
    drawn = figure(kind, models, **options).plot()
    drawn.figure_.draw_without_rendering()
    width, height = drawn.figure_.bbox.size
    ticks = {label for ax in drawn.figure_.axes for label in (*ax.get_xticklabels(), *ax.get_yticklabels())}
    for text in set(drawn.figure_.findobj(Text)) - ticks:  # some of which lie beyond the ends of their axis, unseen
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text.get_text()


def test_bands_of_many_models_are_outlines_and_hardly_filled(models):
    two = figure("roc", dict(list(models.items())[:2])).plot().ax_
    five = figure("roc", models).plot().ax_
    assert {band.get_alpha() for band in two.collections} == {style.BAND}
    filled = [band for band in five.collections if band.get_facecolor().size]
    outlines = [band for band in five.collections if not band.get_facecolor().size]
    assert len(filled) == len(outlines) == 5 and max(band.get_alpha() for band in filled) < style.BAND / 2


def test_the_band_of_a_roc_curve_is_closed_at_both_corners(models):
    band = figure("roc", next(iter(models.values()))).curves[0].band
    for side in (band.lowest, band.highest):
        assert (band.x[0], side[0]) == (0, 0) and (band.x[-1], side[-1]) == (1, 1)


# ---------------------------------------------------------------- any script


@pytest.mark.parametrize("name", ["逻辑回归", "モデル 😀", "랜덤 포레스트", "שלום", "a$b_c^d{e}"])
def test_labels_of_any_script_are_drawn_without_a_warning(name, models, tmp_path):
    two = {name: next(iter(models.values())), "other": list(models.values())[1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = figure("roc", two)
        drawn.save(tmp_path / "roc.png")
        text = drawn.save(tmp_path / "roc.svg").read_text(encoding="utf-8")
    assert name.split()[0].replace("$", "$") in text


def test_words_from_right_to_left_leave_the_numbers_beside_them_in_order(models):
    drawn = figure("roc", {"שלום": next(iter(models.values())), "other": list(models.values())[1]}).plot()
    words = next(text.get_text() for text in drawn.figure_.findobj(Text) if "שלום" in text.get_text())
    assert re.fullmatch(r"— \u200eשלום\u200e 0\.\d+( \(0\.\d+ to 0\.\d+\))?", words)


def test_fallback_fonts_are_those_of_the_machine_and_looked_up_again_when_one_is_added(monkeypatch):
    fonts = font_fallback.font_manager.fontManager.ttflist
    assert font_fallback.font_families()[0] == "DejaVu Sans"
    entry = type(fonts[0])(fname="none.ttf", name="Noto Sans CJK SC")
    monkeypatch.setattr(font_fallback.font_manager.fontManager, "ttflist", [*fonts, entry])
    assert "Noto Sans CJK SC" in font_fallback.font_families()


# ---------------------------------------------------------------- dots


def test_the_rows_of_a_figure_of_dots_are_the_outcomes_of_its_caption(models):
    first = next(iter(models.values()))
    drawn = DotsDisplay.from_evaluation(first)
    outcomes = [row["outcome"] for row in drawn.frame()]
    dots = drawn.panels[0].dots.outcomes
    assert (outcomes.count("true positive"), outcomes.count("missed")) == (dots.found, dots.missed)
    assert outcomes.count("false alarm") == dots.false_alarms and len(outcomes) == dots.base == 1_000
    assert f"{dots.found} positives are found and {dots.missed} missed" in drawn.caption()


def test_dots_are_blue_where_found_vermilion_where_wrong_and_grey_where_rightly_left_alone():
    drawn = DotsDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], threshold=0.4)
    blue, vermilion, grey, paper = (
        to_rgb(c) for c in (palette.ON_WHITE.this, palette.ON_WHITE.other, palette.ON_WHITE.grey, "white")
    )
    shown = {
        (round(float(x), 1), y > 0): (tuple(part.get_facecolor()[0][:3]), tuple(part.get_edgecolor()[0][:3]))
        for part in drawn.ax_.collections
        for x, y in part.get_offsets()
    }
    by_class = {(y, colours) for (_, y), colours in shown.items()}
    assert by_class == {
        (True, (blue, blue)),
        (True, (vermilion, vermilion)),
        (False, (paper, vermilion)),
        (False, (paper, grey)),
    }


@pytest.mark.parametrize("share", [0.004, 0.06, 0.5, 0.97])
def test_all_dots_stand_inside_the_axes_flagged_ones_right_of_the_threshold(share):
    rng = np.random.default_rng(1)
    y = (rng.random(5_000) < share).astype(int)
    scores = 1 / (1 + np.exp(-rng.normal(2 * y - 2)))
    ax = DotsDisplay.from_predictions(y, scores, threshold=0.3).ax_
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    points = np.concatenate([part.get_offsets() for part in ax.collections])
    assert len(points) == 1_000
    assert (points[:, 0] > left).all() and (points[:, 0] < right).all()
    assert (points[:, 1] > bottom).all() and (points[:, 1] < top).all()
    flagged = np.concatenate([np.full(len(p.get_offsets()), i % 2 == 1) for i, p in enumerate(ax.collections)])
    assert (points[flagged, 0] > 0.3).all() and (points[~flagged, 0] < 0.3).all()


@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_dots_of_labels_are_blocks_by_what_was_predicted(prevalence):
    evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680), prevalence=prevalence)
    drawn = DotsDisplay.from_evaluation(evaluation)
    headline = str(evaluation.verdict[0])
    outcomes = [row["outcome"] for row in drawn.frame()]
    if prevalence is None:
        assert "18 are positive" in headline and outcomes.count("true positive") == 10
        assert (outcomes.count("missed"), outcomes.count("false alarm"), len(outcomes)) == (8, 26, 1_000)
    missed, found, rejected, alarms = (part.get_offsets() for part in drawn.ax_.collections)
    assert (missed[:, 0] < 0.5).all() and (rejected[:, 0] < 0.5).all()
    assert (found[:, 0] > 0.5).all() and (alarms[:, 0] > 0.5).all()
    assert (found[:, 1] > 0).all() and (rejected[:, 1] < 0).all() and "as predicted" in drawn.caption()
    assert len(missed) + len(found) + len(rejected) + len(alarms) == 1_000


def test_few_labels_are_all_of_them_and_many_classes_are_refused():
    drawn = DotsDisplay.from_evaluation(evaluate([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]))
    assert len(drawn.frame()) == 5
    with pytest.raises(steelyard.SteelyardError, match="one positive class"):
        DotsDisplay.from_evaluation(evaluate([0, 1, 2, 2], [0, 1, 2, 1]))


def test_scores_without_a_threshold_are_read_where_the_default_metric_is_best():
    drawn = DotsDisplay.from_predictions([0, 0, 1, 1], [-3.0, 5.0, 4.0, 9.0])
    assert "is best on these rows" in drawn.caption()


# ---------------------------------------------------------------- compared models


@pytest.fixture(scope="module")
def compared():
    """Four models, two of which are alike."""
    rng = np.random.default_rng(2)
    y = (rng.random(1_500) < 0.2).astype(int)
    gaps = {"first": 2.4, "second": 2.38, "third": 1.2, "fourth": 0.1}
    scores = {name: 1 / (1 + np.exp(-(rng.normal(size=1_500) + gap * y - 1.5))) for name, gap in gaps.items()}
    return steelyard.compare(y, y_score=scores, threshold=0.4)


def test_the_rows_of_a_leaderboard_figure_are_those_of_the_comparison_with_its_brackets(compared):
    drawn = steelyard.figures.LeaderboardDisplay.from_comparison(compared, metric="roc_auc")
    board = compared.leaderboard("roc_auc")
    assert [(row["model"], row["value"], row["low"]) for row in drawn.frame()] == [
        (row.model, row.value, row.low) for row in board.rows
    ]
    joined = [bracket for bracket in board.brackets if len(bracket) > 1]
    assert joined and {"first", "second"} <= set(joined[0])
    places = {row.model: place for place, row in enumerate(board.rows)}
    lines = [line for line in drawn.ax_.lines if line.get_color() == palette.ON_WHITE.soft]
    assert [list(line.get_ydata()) for line in lines] == [[places[name] for name in bracket] for bracket in joined]
    assert "brackets join models that no test distinguishes" in drawn.caption()


def test_each_model_keeps_its_colour_from_the_curves_to_the_leaderboard(compared):
    ax = steelyard.figures.LeaderboardDisplay.from_comparison(compared, metric="roc_auc").ax_
    for label in ax.get_yticklabels():
        name = label.get_text().split()[-1]
        assert label.get_color() == style.colour(compared.models.index(name))


def test_a_win_matrix_counts_the_wins_of_the_comparison(compared):
    rows = {(row["model"], row["than"]): row for row in steelyard.figures.WinsDisplay.from_comparison(compared).frame()}
    for pair in compared.wins():
        assert rows[pair.a, pair.b]["wins"] == len(pair.by_a) and rows[pair.b, pair.a]["wins"] == len(pair.by_b)
        assert rows[pair.a, pair.b]["metrics"] == len(pair.by_a) + len(pair.by_b) + len(pair.undecided)


def test_the_leaders_of_a_figure_are_those_of_the_comparison(compared):
    drawn = steelyard.figures.LeadersDisplay.from_comparison(compared, prevalences=[0.01, 0.2, 0.5])
    leaders = compared.leaders([0.01, 0.2, 0.5])
    assert [(row["metric"], row["prevalence"], row["leader"]) for row in drawn.frame()] == [
        (row.metric, row.prevalence, " = ".join(row.models)) for row in leaders.rows
    ]
    assert leaders.headline in drawn.caption()


@pytest.mark.parametrize("kind", ["leaderboard", "wins", "leaders"])
def test_figures_of_compared_models_come_from_predictions_too_and_refuse_what_is_none(kind):
    y, models = [0, 0, 0, 1, 1, 1], {"a": [0, 0, 0, 1, 1, 0], "b": [0, 1, 0, 1, 0, 1]}
    display = getattr(steelyard.figures, FIGURE_KINDS[kind])
    assert len(display.from_predictions(y, models, metrics=["recall", "f1"]).frame()) >= 2
    with pytest.raises(steelyard.SteelyardError, match="drawn from a Comparison"):
        display.from_result(None)


# Deuteranopia and protanopia as Machado, Oliveira and Fernandes (2009) simulate them on linear RGB.
SEEN = {
    "by most": np.eye(3),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
}


def _lab(colour, sight):
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)])
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = matrix @ np.clip(sight @ linear, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("colours", [palette.ON_WHITE, palette.ON_DARK])
def test_six_lines_can_be_told_apart_with_any_sight_of_colours(colours, sight):
    labs = [_lab(line, SEEN[sight]) for line in colours.lines]
    apart = {(i, j): np.linalg.norm(labs[i] - labs[j]) for i in range(6) for j in range(i)}
    assert min(apart.values()) > 12, {pair: round(float(gap), 1) for pair, gap in apart.items() if gap < 14}


def test_a_cost_over_the_threshold_fills_its_axis(models):
    drawn = figure("threshold", next(iter(models.values())), metrics=["expected_cost[cost_fn=10]"])
    least, top = (float(pick(drawn.tracks[0].value)) for pick in (np.nanmin, np.nanmax))
    assert 1.5 * least < drawn.ax_.get_ylim()[1] <= 1.1 * top  # what is far dearer is left outside
