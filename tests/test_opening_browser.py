"""The first screen of a page in a real browser: the headline, the dots, the threshold that one can drag."""

from __future__ import annotations

import numpy as np
import pytest
from pages_open import caught_up, dot_outcomes, rested, sentences, slide, turn, until, widened

from steelyard import Counts, at_prevalence, evaluate, get_metric, operating_points
from steelyard.analysis.results.formatting import percent_text

LONG = "a very long label " * 600
HOSTILE = '</script><img src=x onerror="window.hit=1">\u202eשלום مرحبا \U0001f600 分类'
OUTCOMES = ("tp", "fn", "fp", "tn")


def scored(n=700, share=0.08, seed=1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, np.round(1 / (1 + np.exp(-(1.4 * rng.normal(size=n) + 2.2 * y - 2.4))), 4)


@pytest.fixture(scope="module")
def evaluation():
    y, score = scored()
    return evaluate(y, y_score=score, draws=200)


@pytest.fixture(scope="module")
def html(evaluation):
    return evaluation.to_html(source="predictions.parquet")


def drawn(tab):
    """How many dots of each outcome are drawn."""
    return tuple(tab.locator(f"#dots circle.{kind}:not([display])").count() for kind in OUTCOMES)


def at(tab):
    return (
        float(tab.get_attribute("#threshold", "data-threshold")),
        float(tab.get_attribute("#prevalence", "data-prevalence")),
    )


@pytest.mark.parametrize("rows", [700, 4000])
def test_the_dots_are_those_of_python_at_every_setting(show, rows):
    y, score = scored(rows)
    evaluation = evaluate(y, y_score=score, draws=100)
    with show(evaluation.to_html()) as tab:
        dots = min(evaluation.denominator, 1_000)
        assert drawn(tab) == dot_outcomes(evaluation.scores, 0.5, dots=dots)
        last = tab.evaluate("steelyard.last")
        for part in (0, 3, 6, 9, 10):
            slide(tab, "threshold", last * part // 10)
            assert drawn(tab) == dot_outcomes(evaluation.scores, at(tab)[0], dots=dots)
        for place in (0, 4, 9, 14):
            slide(tab, "prevalence", place)
            slide(tab, "threshold", last // 2)
            assert drawn(tab) == dot_outcomes(evaluation.scores, *at(tab), dots=dots)


@pytest.mark.parametrize(("rows", "share"), [(700, 0.08), (4000, 0.08), (20_000, 0.004)])
def test_headline_strip_dots_and_matrix_are_the_same_four_numbers_after_random_moves(show, rows, share):
    y, score = scored(rows, share)
    evaluation, rng = evaluate(y, y_score=score, draws=100), np.random.default_rng(3)
    base = evaluation.denominator
    with show(evaluation.to_html()) as tab:
        last, stops = tab.evaluate("steelyard.last"), int(tab.get_attribute("#prevalence", "max"))
        for _ in range(15):
            tab.evaluate(
                "([index, stop]) => steelyard.move({ index, stop })",
                [int(rng.integers(last + 1)), int(rng.integers(stops + 1))],
            )
            caught_up(tab)
            threshold, prevalence = at(tab)
            own = prevalence == evaluation.counts.positives / evaluation.counts.total
            counts = evaluation.scores.at(threshold)
            counts = counts if own else at_prevalence(counts, prevalence)
            exact = tab.locator("#cells [data-cell]").evaluate_all("cells => cells.map(e => Number(e.dataset.value))")
            assert exact == pytest.approx([float(cell) for cell in counts], rel=1e-9)
            whole = sentences.whole_outcomes(counts, base)
            four = [whole.found, whole.missed, whole.false_alarms, base - whole.positives - whole.false_alarms]
            keys = ("found", "missed", "false_alarms", "")
            words = ["< 1" if key in whole.scant else f"{n:,}" for key, n in zip(keys, four, strict=True)]
            assert tab.locator("#legend b").all_text_contents() == words
            assert tab.locator("#cells [data-cell]").all_text_contents() == words
            if base <= 1_000:
                assert drawn(tab) == tuple(four)
            said = tab.locator("h1 .live").text_content()
            assert f"{base:,}" in said and ("found" in whole.scant or four[0] < 1 or f"finds {four[0]:,}" in said)
            for name in ("recall", "precision", "specificity"):
                value = get_metric(name)(counts)
                shown = tab.locator("#rates tr", has_text=name.title()).locator(".value").text_content()
                assert shown == ("–" if np.isnan(value) else percent_text(value).replace(" ", "\u00a0"))


def test_after_a_move_no_sentence_stays_that_no_longer_holds(show):
    y, score = scored(4000)
    with show(evaluate(y, y_score=score, draws=100).to_html()) as tab:
        slide(tab, "threshold", 90)
        rested(tab)
        threshold = at(tab)[0]
        there = evaluate(y, y_score=score, threshold=threshold, draws=400)
        verdict = {sentence.code: sentence for sentence in there.verdict}
        for code in ("for-alerts", "for-balance", "for-ranking", "for-probabilities"):
            shown = tab.locator(f".numbers [data-code={code}]").text_content().replace("\u00a0", " ")
            number = shown.partition(" is ")[2].partition(" (")[0]
            assert number == verdict[code].partition(" is ")[2].partition(" (")[0], code
            assert shown.rpartition("no skill ")[2] == verdict[code].rpartition("no skill ")[2]
        assert "more found" in tab.locator("#now").text_content()
        numbers = tab.locator(".numbers [data-code]")
        assert numbers.count() == numbers.and_(tab.locator(":visible")).count() == 4
        slide(tab, "prevalence", 3)
        assert not tab.locator(".numbers [data-code=for-probabilities]").is_visible()
        tab.click("#reset")
        assert tab.locator("#now").text_content().startswith("As evaluated")


def test_the_parts_are_tabs_with_addresses_and_keys_and_all_on_paper(show, html):
    parts = ("metrics", "groups", "probabilities", "curves")
    visible = "parts => parts.filter(p => getComputedStyle(p).display !== 'none').map(p => p.id)"
    with show(html) as tab:
        assert tab.locator(".part").evaluate_all(visible) == ["part-metrics"]
        tab.focus("#tab-metrics")
        tab.keyboard.press("ArrowLeft")
        assert tab.locator(".part").evaluate_all(visible) == ["part-curves"]
        assert tab.evaluate("document.activeElement.id") == "tab-curves"
        assert tab.locator("#roc svg").bounding_box()["width"] > 300
        until(tab, "location.hash === '#part=curves'")
        tab.keyboard.press("ArrowRight")
        assert tab.locator(".part").evaluate_all(visible) == ["part-metrics"]
        tab.emulate_media(media="print")
        assert tab.locator(".part").evaluate_all(visible) == [f"part-{part}" for part in parts]
    with show(html, hash="#part=probabilities") as tab:
        assert tab.locator("#tab-probabilities").get_attribute("aria-selected") == "true"
        assert tab.locator("#reliability").is_visible()


def test_the_menu_of_operating_points_is_pythons_and_nothing_is_advised_before(show):
    y, score = scored(900)
    evaluation = evaluate(y, y_score=score, draws=100)
    menu = operating_points(y, score, rng=0)
    with show(evaluation.to_html()) as tab:
        assert tab.locator("#decision-sentence").text_content().startswith("Nothing is advised")
        assert not tab.locator("#decision-use").is_visible()
        tab.click("#points summary")
        names = tab.locator("#points b").all_text_contents()
        assert names == [point.point for point in menu]
        for name in names:
            tab.evaluate("() => { document.getElementById('points').open = true; }")
            tab.locator("#points button", has=tab.get_by_text(name, exact=True)).click()
            point, threshold = menu[name], at(tab)[0]
            counts = evaluation.scores.at(threshold)
            found = (float(counts.tp), float(counts.fp))
            rows = evaluation.counts.total / menu.per
            assert found == pytest.approx((point.found * rows, point.false_alarms * rows)), name


def test_the_group_in_which_nothing_is_found_is_on_the_first_screen_whatever_its_size(show):
    y, score = scored(6000)
    rng = np.random.default_rng(0)
    site = rng.integers(40, size=6000)
    site[:60] = 99
    y[:30], score[:60] = 1, 0.01
    evaluation = evaluate(y, y_score=score, by={"site": site}, draws=50)
    with show(evaluation.to_html()) as tab:
        said = tab.locator("#failing").text_content()
        assert said.startswith(f"For whom it fails: site = 99, 0 of {y[site == 99].sum()} found")
        turn(tab, "groups")
        assert tab.locator("#group-table tbody tr").filter(has_text="site = 99").count() == 1
        slide(tab, "threshold", 0)  # everybody is flagged, and all are found
        rested(tab)
        assert tab.locator("#failing").text_content() == ""
        tab.click("#reset")
        caught_up(tab)
        assert tab.locator("#failing").text_content() == said


def test_a_dot_lies_on_the_side_of_the_threshold_that_its_colour_says(show, html):
    script = """() => {
        const x = Number(/translate\\(([\\d.]+)/.exec(document.querySelector('#dots .handle').getAttribute('transform'))[1]);
        return [...document.querySelectorAll('#dots circle:not([display])')].map(
            c => (Number(c.getAttribute('cx')) >= x) === (c.classList.contains('tp') || c.classList.contains('fp')));
    }"""
    with show(html) as tab:
        for place in (20, 90, 200):
            slide(tab, "threshold", place)
            assert all(tab.evaluate(script))


def test_the_legend_states_the_dots(show, html):
    with show(html) as tab:
        slide(tab, "threshold", 60)
        assert tuple(int(words.replace(",", "")) for words in tab.locator("#legend b").all_text_contents()) == drawn(
            tab
        )


def test_a_table_without_scores_has_its_dots_by_prediction(show):
    with show(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)).to_html()) as tab:
        assert drawn(tab) == (10, 8, 26, 956)
        assert tab.locator("#dots .handle").count() == 0
        assert "predicted positive" in tab.locator("#dots").text_content()


def test_the_threshold_is_dragged_through_the_dots(show, html):
    with show(html) as tab:
        before = tab.locator("h1").text_content()
        box = tab.locator("#dots svg").bounding_box()
        tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6)
        tab.mouse.down()
        for part in (0.45, 0.35, 0.25):
            tab.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] * 0.6)
        reached = at(tab)[0]
        assert 0 < reached < 0.3
        assert tab.locator("h1").text_content() != before
        tab.mouse.up()
        tab.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.6)
        assert at(tab)[0] == reached


def test_a_finger_moves_the_threshold(show, html):
    with show(html, has_touch=True, width=390) as tab:
        tab.locator("#dots svg").scroll_into_view_if_needed()
        box = tab.locator("#dots svg").bounding_box()
        tab.touchscreen.tap(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
        assert 0 < at(tab)[0] < 0.35


def test_the_line_in_the_dots_goes_from_threshold_to_threshold_by_keyboard(show, html, evaluation):
    with show(html) as tab:
        tab.focus("#dots .handle")
        tab.keyboard.press("ArrowLeft")
        first = at(tab)[0]
        tab.keyboard.press("ArrowLeft")
        assert at(tab)[0] < first < 0.5
        tab.keyboard.press("End")
        assert at(tab)[0] == float("inf")
        assert tab.get_attribute("#dots .handle", "aria-valuetext") == "nobody flagged"


def test_the_slider_is_linear_in_the_score(show, html):
    with show(html) as tab:
        for place, wanted in ((250, 0.25), (500, 0.5), (100, 0.1)):
            tab.evaluate(
                "v => { const s = document.getElementById('threshold'); s.value = v; s.dispatchEvent(new Event('input')); }",
                place,
            )
            assert at(tab)[0] == pytest.approx(wanted, abs=0.02)


def test_accuracy_beside_the_majority_class_follows_the_threshold_in_pythons_words(show, html):
    y, score = scored()
    with show(html) as tab:
        for place in (30, 120, 260):
            slide(tab, "threshold", place)
            rested(tab)
            verdict = evaluate(y, y_score=score, threshold=at(tab)[0], draws=400).verdict
            sentence = next(s for s in verdict if s.code.startswith("accuracy")).split(", but")[0].split(", and")[0]
            said = tab.locator("#lead p").last.text_content().replace("\u00a0", " ")
            assert said.rstrip(".") == sentence.rstrip(".")


@pytest.mark.parametrize("label", [LONG, HOSTILE, "x"], ids=["long", "hostile", "short"])
def test_the_strip_stays_low_and_nothing_is_wider_than_the_screen(show, label):
    y, score = scored(300)
    names = np.where(y == 1, label, "no")
    html = evaluate(names, y_score=score, pos_label=label, draws=100).to_html(source=label)
    with show(html, width=390) as tab:
        for width in (390, 768, 1024, 1440):
            widened(tab, width)
            assert tab.evaluate("document.querySelector('.controls').getBoundingClientRect().height") <= 96
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("window.hit") is None


def test_the_other_sentences_are_folded_and_the_address_knows_what_is_open(show, html):
    with show(html) as tab:
        assert tab.evaluate("document.querySelector('#why').open") is False
        tab.click("#why summary")
        until(tab, "location.hash.includes('open=why')")
        address = tab.evaluate("location.hash")
    with show(html, hash=address) as tab:
        assert tab.evaluate("document.querySelector('#why').open") is True


def test_every_chart_is_saved_as_text_and_as_a_picture(show, html):
    with show(html) as tab:
        ids = tab.locator("figure .take").evaluate_all("ms => ms.map(m => m.parentNode.querySelector('.chart').id)")
    assert {"dots", "roc", "pr", "over-threshold", "over-prevalence", "expected-cost"} <= set(ids)
    for first in range(0, len(ids), 3):  # a browser holds back a page that asks for very many files at once
        with show(html) as tab:
            found = [saved(tab, chart) for chart in ids[first : first + 3]]
        for files in found:
            assert files["CSV"].count(b"\r\n") > 1
            assert files["SVG"].startswith(b"<svg") and b"class=" not in files["SVG"]
            assert files["PNG"].startswith(b"\x89PNG") and len(files["PNG"]) > 5000


def saved(tab, chart):
    menu, files = tab.locator(f"figure:has(#{chart}) .take"), {}
    part = tab.locator(f"#{chart}").evaluate("e => e.closest('.part') && e.closest('.part').id.replace('part-', '')")
    if part:
        turn(tab, part)
    menu.locator("summary").click()
    for kind in ("CSV", "SVG", "PNG"):
        with tab.expect_download() as download:
            menu.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename == f"steelyard-{chart}.{kind.lower()}"
        files[kind] = download.value.path().read_bytes()
    tab.keyboard.press("Escape")
    assert not menu.locator("div").is_visible()
    return files


def test_what_is_out_of_view_follows_when_it_is_scrolled_to_or_taken_away(show, html):
    recall, wanted = "document.querySelector('[data-metric=recall]').dataset.value", "steelyard.numbers().metrics"
    with show(html) as tab:
        first, headline = tab.evaluate(recall), tab.text_content("h1")
        tab.evaluate("() => { window.setTimeout = () => 1; steelyard.move({ index: 90 }); }")  # it never rests
        assert (tab.evaluate(recall), tab.text_content("h1") == headline) == (first, False)
        tab.locator("[data-metric=recall]").scroll_into_view_if_needed()
        until(tab, f"{recall} !== '{first}'")
        second = tab.evaluate(recall)
        tab.evaluate("() => { scrollTo(0, 0); }")
        until(tab, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        tab.evaluate("() => { steelyard.move({ index: 5 }); }")
        taken = tab.evaluate(f"{wanted}.find(({{ name }}) => name === 'recall').value")
        assert float(tab.evaluate(recall)) == taken != float(second)


def test_a_step_of_the_threshold_touches_the_dots_beside_it_alone(show):
    y, score = scored(4000)
    counting = """place => {
        const seen = new MutationObserver(() => {});
        for (const dot of document.querySelectorAll('#dots circle')) seen.observe(dot, { attributes: true });
        steelyard.move({ index: place });
        return new Set(seen.takeRecords().map(record => record.target)).size;
    }"""
    with show(evaluate(y, y_score=score, draws=100).to_html()) as tab:
        last = tab.evaluate("steelyard.last")
        slide(tab, "threshold", last // 2)
        touched = [tab.evaluate(counting, last - last // 2 + step) for step in (1, 2, 3)]
        assert max(touched) < 150
