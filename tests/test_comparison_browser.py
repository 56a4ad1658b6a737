"""The page of a comparison in a real browser: leaderboards, curves, sliders, wins, pairs, its address, its paper."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from accessible import accessible
from pages_open import page_data, press, slide, until

from steelyard import Counts, Folds, compare, cross_evaluate, get_metric
from steelyard.results import CrossEvaluation

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the browser tests are skipped")
WIDTHS = (1440, 1024, 768, 390)
NAMES = ("logistic", "boosting", "forest", "nearest mean", "tree", "Bayes", "k-NN", "SVM", "baseline", "mean of all")
HOSTILE = {
    "markup": '</script><img src=x onerror="window.hit=1">\'"&\u2028',
    "long": "W" * 10_000,
    "rtl": "\u202e" + "שלום" * 100,
    "emoji": "\U0001f9ea" * 10_000,
}
MEDIA = [pytest.param(scheme, id=scheme) for scheme in ("light", "dark")]


def scored(count, rows=900, names=NAMES, seed=3):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.12).astype(int)
    common, shifts = rng.normal(size=rows), (1.5, 1.7, 1.6, 1.0, 0.8, 1.2, 0.9, 1.6, 0.1, 1.7)
    models = {
        name: 1 / (1 + np.exp(-(0.7 * common + 0.7 * rng.normal(size=rows) + shift * (2 * y - 1) - 1.4)))
        for name, shift in zip(names[:count], shifts, strict=False)
    }
    return y, models


def of_scores(count, threshold=0.4, **options):
    y, models = scored(count, **options)
    return compare(y, y_score=models, threshold=threshold, draws=200)


def of_labels(count, **options):
    y, models = scored(count, **options)
    return compare(y, {name: score >= 0.4 for name, score in models.items()}, draws=200)


@pytest.fixture(scope="module")
def five():
    return of_scores(5)


@pytest.fixture(scope="module")
def five_page(five):
    return five.to_html(source="predictions.parquet")


def at_thresholds(tab):
    """The threshold of each model and the values there, as the page carries them."""
    script = """rows => rows.map(row => [Number(row.dataset.at), row.dataset.threshold,
        Object.fromEntries([...row.querySelectorAll('[data-shown]')].map(c => [c.dataset.shown, c.dataset.number]))])"""
    return {
        place: (float(t), values) for place, t, values in tab.locator("#at-thresholds [data-at]").evaluate_all(script)
    }


def assert_as_python_has_it(tab, comparison):
    for place, (threshold, values) in at_thresholds(tab).items():
        counts = comparison.tables.scores[comparison.models[place]].at(threshold)
        for name, shown in values.items():
            expected = float(get_metric(name)(counts))
            if math.isnan(expected):
                assert shown == "", name
            else:
                assert float(shown) == pytest.approx(expected, rel=1e-9, abs=1e-9), (place, name)


# ---------------------------------------------------------------- numbers


def test_every_leaderboard_shows_what_python_has(show, five, five_page):
    with show(five_page) as tab:
        numbers = {mark["number"]: mark["name"] for mark in page_data(five_page)["comparison"]["models"]}
        titles = tab.locator("#board-metric option").evaluate_all("all => all.map(o => o.value)")
        assert titles[0] == five.leaderboard().metric
        assert sorted(titles) == sorted(spec.name for spec in five.tables.specs)
        for name in titles:
            tab.select_option("#board-metric", name)
            rows = tab.locator(f'#leaderboard [data-board="{name}"] tbody tr')
            shown = rows.evaluate_all(
                "all => all.map(r => [Number(r.dataset.model), r.dataset.number, r.querySelector('.letters').textContent])"
            )
            board = five.leaderboard(name)
            assert [(numbers[n], float(v), letters) for n, v, letters in shown] == [
                (row.model, row.value, row.letters) for row in board
            ]
            headline = tab.locator(f'#leaderboard [data-board="{name}"] .board-words')
            assert headline.is_visible()
            sentences = headline.locator("p").all_text_contents()
            assert " ".join(sentences).replace("\u00a0", " ") == board.headline


def test_own_thresholds_give_every_model_its_own_numbers(show, five, five_page):
    with show(five_page) as tab:
        assert_as_python_has_it(tab, five)
        assert {t for t, _ in at_thresholds(tab).values()} == {0.4}
        for place in range(5):
            last = int(tab.locator(f"[data-own='{place}']").get_attribute("max"))
            for step in (0, last // 3, last):
                tab.evaluate(
                    "([m, v]) => { const s = document.querySelector(`[data-own='${m}']`); s.value = v; s.dispatchEvent(new Event('input')); }",
                    [place, step],
                )
                assert_as_python_has_it(tab, five)
        moved = {t for t, _ in at_thresholds(tab).values()}
        assert moved == {math.inf}


@pytest.mark.parametrize("recall", [1, 37, 80, 100])
def test_the_same_recall_is_the_highest_threshold_that_has_it(show, five, five_page, recall):
    with show(five_page) as tab:
        tab.check("[name=compared-mode][value=recall]")
        slide(tab, "same-recall", recall)
        assert_as_python_has_it(tab, five)
        for place, (threshold, values) in at_thresholds(tab).items():
            table = five.tables.scores[five.models[place]]
            assert float(values["recall"]) >= recall / 100 - 1e-12
            higher = table.thresholds[table.thresholds > threshold]
            recalls = [float(get_metric("recall")(table.at(t))) for t in higher]
            assert all(other < recall / 100 for other in recalls if len(table.thresholds) <= 240)


def test_chosen_metrics_follow_the_sliders_too(show, five, five_page):
    with show(five_page) as tab:
        tab.click("#compared-choice summary")
        for name in ("mcc", "kappa", "specificity"):
            tab.check(f"#compared-choice input[value={name}]")
        tab.check("[name=compared-mode][value=recall]")
        slide(tab, "same-recall", 66)
        assert {"mcc", "kappa", "specificity"} <= set(at_thresholds(tab)[0][1])
        assert_as_python_has_it(tab, five)


def test_weighted_rows_give_weighted_numbers(show):
    y, models = scored(3)
    weight = np.random.default_rng(1).gamma(2, 1, len(y))
    comparison = compare(y, y_score=models, threshold=0.3, sample_weight=weight, draws=200)
    with show(comparison.to_html()) as tab:
        tab.check("[name=compared-mode][value=recall]")
        slide(tab, "same-recall", 71)
        assert_as_python_has_it(tab, comparison)


def test_without_thresholds_each_model_starts_where_the_default_metric_is_best(show):
    y, models = scored(3)
    comparison = compare(y, y_score=models)
    with show(comparison.to_html()) as tab:
        assert_as_python_has_it(tab, comparison)
        for place, (_, values) in at_thresholds(tab).items():
            table = comparison.tables.scores[comparison.models[place]]
            best = max(float(get_metric("ac_score")(table.at(t))) for t in table.thresholds)
            assert float(values["ac_score"]) == pytest.approx(best, abs=1e-9)


def test_pairs_hold_their_differences_and_a_win_opens_its_pair(show, five, five_page):
    with show(five_page) as tab:
        shown = tab.locator("#pairs tr[data-metric]").evaluate_all(
            "rows => rows.map(r => [r.closest('details').dataset.a, r.closest('details').dataset.b, r.dataset.metric, r.dataset.value])"
        )
        assert {(a, b, m): float(v) for a, b, m, v in shown} == {(r.a, r.b, r.metric): r.difference for r in five.rows}
        wins = {(row.a, row.b): len(row.by_a) for row in five.wins()} | {(r.b, r.a): len(r.by_b) for r in five.wins()}
        cells = tab.locator("#wins tbody tr").evaluate_all(
            "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => c.textContent))"
        )
        for i, a in enumerate(five.models):
            assert cells[i] == ["" if a == b else str(wins[a, b]) for b in five.models]
        assert not tab.locator("#pair-1-3").get_attribute("open")
        tab.locator("[data-opens='pair-1-3']").first.focus()
        tab.keyboard.press("Enter")
        assert tab.locator("#pair-1-3 table").is_visible()
        until(tab, "location.hash.includes('pair-1-3')")
        assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_the_leader_of_each_cell_is_the_one_of_python(show, five, five_page):
    with show(five_page) as tab:
        numbers = {mark["name"]: str(mark["number"]) for mark in page_data(five_page)["comparison"]["models"]}
        leaders = five.leaders()
        cells = [cell for row in tab.locator(".led tbody tr").all() for cell in row.locator("td").all_text_contents()]
        assert cells == [numbers[row.models[0]] if len(row.models) == 1 else "=" for row in leaders]
        assert tab.locator(".led .flip").count() == len(leaders.flips)


# ---------------------------------------------------------------- moving about


def test_the_address_holds_the_whole_state(show, five, five_page):
    with show(five_page) as tab:
        tab.select_option("#board-metric", "roc_auc")
        tab.locator("[data-own='2']").focus()
        for _ in range(4):
            tab.keyboard.press("ArrowRight")
        tab.locator("[data-only='3']").focus()
        tab.keyboard.press("Enter")
        tab.click("[data-opens='pair-0-1'] >> nth=0")
        before, address = at_thresholds(tab), tab.evaluate("location.hash")
        assert before[2][0] > 0.4
    with show(five_page, hash=address) as tab:
        assert at_thresholds(tab) == before
        assert tab.locator("#board-metric").input_value() == "roc_auc"
        assert tab.locator("[data-only='3']").get_attribute("aria-pressed") == "true"
        assert tab.locator("#pair-0-1").get_attribute("open") is not None
        assert tab.locator('#leaderboard [data-board="roc_auc"]').is_visible()
        assert tab.evaluate("location.hash") == address
    with show(five_page, hash="#recall=63&metrics=mcc+f1") as tab:
        assert set(at_thresholds(tab)[0][1]) == {"mcc", "f1"}
        assert tab.locator("#same-recall").is_visible()
        assert_as_python_has_it(tab, five)


@pytest.mark.parametrize(
    "hash", ["#recall=abc", "#thresholds=1 2", "#thresholds=&only=99&metric=none&metrics=x", "#only=-1"]
)
def test_an_address_that_means_nothing_is_as_none(show, five_page, hash):
    with show(five_page) as tab:
        first = at_thresholds(tab)
    with show(five_page, hash=hash) as tab:
        assert at_thresholds(tab) == first
        assert tab.locator("[data-only][aria-pressed=true]").count() == 0


def test_a_name_or_a_line_isolates_one_model(show, five_page):
    faded = "es => es.filter(e => e.classList.contains('faded')).map(e => e.dataset.line)"
    with show(five_page) as tab:
        tab.locator("[data-only='1']").hover()
        assert set(tab.locator("[data-line]").evaluate_all(faded)) == {"0", "2", "3", "4"}
        tab.mouse.move(0, 0)
        assert tab.locator("[data-line]").evaluate_all(faded) == []
        tab.locator("[data-own='4']").focus()
        assert "4" not in tab.locator("[data-line]").evaluate_all(faded)
        tab.locator("[data-own='4']").blur()
        tab.locator("#compared-roc").scroll_into_view_if_needed()
        point = tab.locator("#compared-roc [data-line='2'] .model-point").bounding_box()
        tab.mouse.move(point["x"] + 5, point["y"] + 5)
        assert len(set(tab.locator("[data-line]").evaluate_all(faded))) == 4


def test_as_it_was_goes_back(show, five_page):
    with show(five_page) as tab:
        first = at_thresholds(tab)
        tab.check("[name=compared-mode][value=recall]")
        slide(tab, "same-recall", 30)
        tab.click("#compared-reset")
        assert at_thresholds(tab) == first
        assert tab.evaluate("location.hash") == ""


# ---------------------------------------------------------------- taking along


def test_numbers_are_taken_along(show, five, five_page):
    with show(five_page) as tab:
        saved = {}
        for name in ("json", "csv", "markdown"):
            with tab.expect_download() as download:
                press(tab, "save", name)
            saved[name] = download.value.path().read_text(encoding="utf-8")
            tab.keyboard.press("Escape")
        data = json.loads(saved["json"])
        assert len(data["differences"]) == len(five.rows)
        assert {(row["metric"], row["model"]): row["value"] for row in data["leaderboards"]} == {
            (board.metric, row.model): row.value for board in map(five.leaderboard, five.tables.specs) for row in board
        }
        rows = list(csv.DictReader(io.StringIO(saved["csv"])))
        assert len(rows) == 5 * len(five.tables.specs)
        assert saved["markdown"].splitlines()[2].startswith("| place | model | Average precision")
        for key in ("roc", "pr", "reliability", "decision"):
            tab.click(f"figure:has(#compared-{key}) .take summary")
            with tab.expect_download() as download:
                tab.click(f"figure:has(#compared-{key}) .take button:has-text('CSV')")
            assert download.value.path().read_text().count("\n") > 5
            tab.keyboard.press("Escape")


# ---------------------------------------------------------------- over the runs of a cross-evaluation


@pytest.fixture(scope="module")
def crossed():
    pytest.importorskip("sklearn")
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    y, models = scored(4, rows=400)
    stump, tree = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=4, random_state=0)
    given = {"naive Bayes": GaussianNB(), "stump": stump, HOSTILE["long"]: tree}
    return cross_evaluate(given, np.column_stack(list(models.values())), y, split=Folds(4, repeats=2), resources=True)


def test_runs_are_dots_around_their_means(show, crossed):
    with show(crossed.to_html()) as tab:
        names = tab.locator("#runs-metric option").evaluate_all("all => all.map(o => o.value)")
        assert names[0] == crossed.default_spec.name == "average_precision"
        numbers = {mark["number"]: i for i, mark in enumerate(page_data(crossed.to_html())["comparison"]["models"])}
        for name in names:
            tab.select_option("#runs-metric", name)
            rows = tab.locator(f'[data-run-board="{name}"] tbody tr')
            shown = rows.evaluate_all(
                "all => all.map(r => [Number(r.dataset.model), r.dataset.number, r.querySelectorAll('.run').length])"
            )
            board, models = crossed.leaderboard(name), list(crossed.models)
            assert [(models[numbers[n]], float(v)) for n, v, _ in shown] == [(row.model, row.value) for row in board]
            defined = [int(np.isfinite(crossed[row.model].values(name)).sum()) for row in board]
            assert [dots for *_, dots in shown] == defined
        address = tab.evaluate("location.hash")
    with show(crossed.to_html(), hash=address) as tab:
        assert tab.locator("#runs-metric").input_value() == names[-1]


def test_the_place_of_each_dot_is_the_value_of_its_run(show, crossed):
    with show(crossed.to_html()) as tab:
        board = tab.locator('[data-run-board="ac_score"]')
        low, high = (float(end) for end in board.locator(".scale span").all_text_contents())
        first = crossed.leaderboard("ac_score").rows[0].model
        dots = board.locator("tbody tr").first.locator(".run")
        places = dots.evaluate_all("all => all.map(d => parseFloat(d.getAttribute('cx')))")
        expected = [100 * (value - low) / (high - low) for value in crossed[first].values("ac_score")]
        assert places == pytest.approx(expected, abs=0.01)


def test_the_pages_of_runs_fit_every_screen_and_paper(show, crossed):
    one = CrossEvaluation({"stump": replace(crossed["stump"], alone=True)}, crossed.notes, crossed.setting)
    for result in (crossed, one):
        with show(result.to_html()) as tab:
            assert tab.locator("#cost tbody tr").count() == len(result.models)
            for width in WIDTHS:
                tab.set_viewport_size({"width": width, "height": 900})
                assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
            tab.set_viewport_size({"width": 704, "height": 1000})
            tab.emulate_media(media="print")
            tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            assert tab.evaluate("document.documentElement.scrollWidth") <= 704


# ---------------------------------------------------------------- every size, every name, every reader

KINDS = {
    "two": lambda: of_scores(2),
    "ten": lambda: of_scores(10),
    "labels": lambda: of_labels(5),
    "classes": lambda: compare(
        np.arange(300) % 3, {name: (np.arange(300) // by) % 3 for name, by in (("A", 1), ("B", 2), ("C", 3))}, draws=200
    ),
    "different rows": lambda: compare({"old": Counts(28, 23, 72, 2680), "new": Counts(41, 12, 95, 2510)}, draws=200),
    "none best": lambda: compare(
        np.arange(90) % 3 == 0, {c: np.arange(90) % 4 == i for i, c in enumerate("ABC")}, metrics=["prevalence"]
    ),
    "undefined": lambda: compare([0] * 20 + [1] * 5, {"none": [0] * 25, "some": [0] * 21 + [1] * 4}, draws=200),
}


@cache
def kind_page(kind):
    return KINDS[kind]().to_html()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_comparison_fits_every_screen_and_paper(show, kind):
    with show(kind_page(kind)) as tab:
        assert tab.locator("#compared-thresholds").count() == (kind in ("two", "ten"))
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
        tab.set_viewport_size({"width": 704, "height": 1000})
        tab.emulate_media(media="print")
        tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 704
        assert tab.evaluate(OUTSIDE, 704) == []
        assert not tab.locator("#board-metric").is_visible()
        assert tab.locator("#leaderboard").count() == (kind != "none best")
        assert tab.pdf(format="A4").startswith(b"%PDF")


OUTSIDE = """wide => [...document.querySelectorAll('svg text, th, td')].map(e => [e.textContent, e.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.left < -1 || box.right > wide + 1)).map(([words]) => words)"""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_words_and_never_widen_the_page(show, name):
    words = HOSTILE[name]
    comparison = of_scores(4, names=(words, words + "2", "plain", "=1+1"), rows=300)
    with show(comparison.to_html(source=words)) as tab:
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
            wide = tab.locator(".name24").evaluate_all(
                "es => Math.max(...es.map(e => e.getBoundingClientRect().width / parseFloat(getComputedStyle(e).fontSize)))"
            )
            assert wide <= 24
        tab.check("[name=compared-mode][value=recall]")
        slide(tab, "same-recall", 50)
        assert tab.evaluate("window.hit") is None
        assert tab.locator("img").count() == 0
        with tab.expect_download() as download:
            press(tab, "save", "csv")
        assert "'=1+1" in download.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["ten", "labels", "different rows", "runs"])
def test_an_accessibility_check_finds_nothing(show, kind, crossed):
    with show(crossed.to_html() if kind == "runs" else kind_page(kind)) as tab:
        if tab.locator("[data-opens]").count():
            tab.locator("[data-opens]").first.click()
        accessible(tab)


def test_without_a_script_the_leaderboard_stands(browser, tmp_path, five, five_page):
    path = tmp_path / "comparison.html"
    path.write_text(five_page, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    shown = tab.locator("#leaderboard tbody tr:visible").evaluate_all("all => all.map(r => Number(r.dataset.number))")
    assert shown == [row.value for row in five.leaderboard()]
    context.close()
