"""Pages of many classes in a real browser: the heat map, the pairs, the search and the list, on screen and on paper."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import numpy as np
import pytest
from accessible import accessible
from pages_open import caught_up, page_data, slide, until, widened

from steelyard import Confusion, at_prevalence, evaluate, get_metric
from steelyard.analysis.confusions.confused_pairs import confused_pairs, confusion_order
from steelyard.analysis.results.formatting import (
    bounds_text,
    interval_text,
    p_text,
    percent_text,
    three_digits,
    unbroken,
)

WORDS = {  # what is said of a cell
    "cell": "{count} of the {total} rows of {true} were predicted as {predicted}: {share}.",
    "right": "{count} of the {total} rows of {true} were predicted correctly: recall {share}.",
    "empty": "None of the {total} rows of {true} were predicted as {predicted}.",
    "absent": "{true} has no rows in the truth.",
}
HINT = "Point at a cell or move over the cells with the arrow keys; Enter shows the true class against the rest."
HOSTILE = (
    '</script><img src=x onerror="window.hit=1">\'"&\u2028',
    "\u202eשלום مرحبا " * 9,
    "\U0001f600" * 40,
    "漢字" * 60,
    "w" * 10_000,
    "a\nb\tc\x00d",
)


def table(k, seed=0, names=None, weakest=True):
    """Classes of unequal size that are confused within some groups; the rarest of all is never found."""
    rng = np.random.default_rng(seed)
    size = (rng.pareto(1.2, k) * 20 + 5).astype(int)
    group, rows = rng.integers(0, max(2, k // 12), k), np.zeros((k, k), dtype=int)
    for i in range(k):
        mates = np.flatnonzero((group == group[i]) & (np.arange(k) != i))
        wrong = rng.binomial(size[i], rng.beta(2, 5))
        targets = rng.choice(mates, wrong) if len(mates) else rng.integers(0, k, wrong)
        np.add.at(rows[i], np.where(rng.random(wrong) < 0.9, targets, rng.integers(0, k, wrong)), 1)
        rows[i, i] += size[i] - wrong
    if weakest:
        rows[k // 2], rows[k // 2, 0] = 0, 4
    return Confusion.of_rows(names or [f"class {i:03d}" for i in range(k)], rows)


@pytest.fixture(scope="module")
def evaluations():
    """Evaluations and pages by the number of classes, each made once."""
    made = {}

    def of(k):
        if k not in made:
            evaluation = evaluate(table(k), draws=40)
            made[k] = evaluation, evaluation.to_html(source="classes.csv")
        return made[k]

    return of


def hostile_page(k):
    names = [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(k)]
    return evaluate(table(k, names=names), draws=20).to_html(source=HOSTILE[0])


def status(tab):
    return tab.locator("#map-status").text_content()


def words_of(evaluation, i, j):
    """The sentence on a cell, made in Python."""
    matrix, labels = evaluation.confusion.matrix, evaluation.labels
    count, total = int(matrix[i, j]), int(matrix[i].sum())
    kind = "absent" if not total else "empty" if not count else "right" if i == j else "cell"
    parts = {"true": f'"{labels[i]}"', "predicted": f'"{labels[j]}"', "total": f"{total:,}"}
    return WORDS[kind].format(count=f"{count:,}", share=unbroken(percent_text(count / (total or 1))), **parts)


def weakest_first(evaluation):
    """The classes and their places by recall, those without one last."""
    recalls = [row.recall.value for row in evaluation.per_class]
    places = sorted(range(len(recalls)), key=lambda i: (math.isnan(recalls[i]), recalls[i], i))
    return [(i, evaluation.per_class[i]) for i in places]


def interval_cell(part):
    """A value with its interval, alone where it has none, or why there is no value."""
    if math.isnan(part.value):
        return f"– {getattr(part, 'why', None) or getattr(part, 'undefined', None) or ''}"
    share = part.spec.is_share
    alone = percent_text(part.value) if share else three_digits(part.value)
    return unbroken(alone if math.isnan(part.low) else interval_text(part.value, part.low, part.high, share=share))


def walked(tab, key, steps):
    """The sentences of the cells that a key leads over."""
    sentences = [status(tab)]
    for _ in range(steps):
        tab.keyboard.press(key)
        sentences.append(status(tab))
    return sentences


# ---------------------------------------------------------------- numbers


def test_the_slider_of_rows_sent_to_a_person_shows_pythons_numbers(show):
    rng = np.random.default_rng(0)
    y, names = np.arange(300) % 6, np.array([f"{HOSTILE[i]}{i}" for i in range(6)])
    p = 0.5 * rng.dirichlet(np.ones(6), 300) + 0.5 * np.eye(6)[np.where(rng.random(300) < 0.8, y, (y + 1) % 6)]
    evaluation = evaluate(names[y], y_score=p, labels=names.tolist(), draws=40, metrics=["accuracy"])
    curve = evaluation.risk_coverage
    with show(evaluation.to_html()) as tab:
        for place in (5, 0, 10, len(curve.asked) - 1):
            slide(tab, "risk-share", place)
            shown = json.loads(tab.locator("#risk-sentence").get_attribute("data-value"))
            for name in ("coverage", "risk", "low", "high"):
                assert shown[name] == pytest.approx(getattr(curve, name)[place], abs=1e-9)
            said = tab.locator("#risk-sentence").text_content()
            assert unbroken(percent_text(curve.risk[place])) in said
            assert len(tab.locator("#risk-least").text_content()) < 100
            assert tab.url.endswith(f"#sent={curve.asked[place]:g}") or place == 5
        assert not tab.evaluate("window.hit")
        accessible(tab, "section.risk")


@pytest.mark.parametrize("k", [3, 12, 60, 1000])
def test_the_cells_of_the_page_are_those_of_python(show, evaluations, k, tmp_path):
    evaluation, html = evaluations(k)
    with show(html) as tab:
        tab.locator("#map-figure .take summary").click()
        with tab.expect_download() as saved:
            tab.locator("#map-figure .take button", has_text="CSV").click()
        saved.value.save_as(tmp_path / "cells.csv")
    head, *rows = csv.reader(io.StringIO((tmp_path / "cells.csv").read_text(encoding="utf-8")))
    assert head == ["true", "predicted", "rows", "share of the true class"]
    matrix, places = evaluation.confusion.matrix, {label: i for i, label in enumerate(evaluation.labels)}
    copied = np.zeros_like(matrix)
    for true, predicted, count, share in rows:
        i, j = places[true], places[predicted]
        copied[i, j] = int(count)
        assert math.isclose(float(share), matrix[i, j] / matrix[i].sum(), rel_tol=1e-12)
    assert (copied == matrix).all()


def test_every_cell_of_three_classes_is_named_by_the_keyboard_as_in_python(show, evaluations):
    evaluation, html = evaluations(3)
    order = confusion_order(evaluation.confusion).tolist()
    with show(html) as tab:
        tab.focus("#class-map")
        tab.keyboard.press("ArrowDown")
        for v in range(3):
            tab.keyboard.press("Home")
            assert walked(tab, "ArrowRight", 2) == [words_of(evaluation, order[v], order[u]) for u in range(3)]
            tab.keyboard.press("ArrowDown")


@pytest.mark.parametrize("by", ["confusion", "given", "size", "recall"])
def test_the_rows_stand_in_the_chosen_order(show, evaluations, by):
    evaluation, html = evaluations(12)
    matrix, recalls = evaluation.confusion.matrix, [row.recall.value for row in evaluation.per_class]
    wanted = {
        "confusion": confusion_order(evaluation.confusion).tolist(),
        "given": list(range(12)),
        "size": sorted(range(12), key=lambda i: (-matrix[i].sum(), i)),
        "recall": sorted(range(12), key=lambda i: (math.isnan(recalls[i]), recalls[i], i)),
    }[by]
    with show(html) as tab:
        tab.select_option("#class-order", by)
        tab.focus("#class-map")
        tab.keyboard.press("ArrowDown")
        assert walked(tab, "ArrowDown", 11) == [words_of(evaluation, i, wanted[0]) for i in wanted]


@pytest.mark.parametrize("by", ["weight", "share"])
@pytest.mark.parametrize("k", [3, 60])
def test_the_pairs_are_pythons(show, evaluations, k, by):
    evaluation, html = evaluations(k)
    pairs = confused_pairs(evaluation.confusion, evaluation.level, most=10, by=by, tested_first=True)
    with show(html) as tab:
        tab.select_option("#pair-order", by)
        rows = tab.locator(".pair-table tbody tr:visible").evaluate_all(
            "trs => trs.map(tr => [...tr.querySelectorAll('bdi, td')].map(part => part.textContent))"
        )
        assert rows == [
            [
                str(pair.true),
                str(pair.predicted),
                f"{pair.weight:,.0f} {three_digits(pair.expected)}",
                f"{unbroken(percent_text(pair.share))} {unbroken(bounds_text(pair.low, pair.high, share=True))} "
                f"{unbroken(p_text(pair.p_value)) if pair.p_value <= 0.05 else 'may be chance'}",
            ]
            for pair in pairs
        ]
        tab.locator(".pair-table tbody button:visible").nth(1).click()
        assert status(tab) == words_of(
            evaluation, *(evaluation.confusion.index(label) for label in (pairs[1].true, pairs[1].predicted))
        )


@pytest.mark.parametrize("k", [12, 60, 1000])
def test_every_class_is_listed_with_pythons_numbers_the_weakest_first(show, evaluations, k):
    evaluation, html = evaluations(k)
    with show(html) as tab:
        if k > 20:
            assert tab.locator("#class-list tbody tr:visible").count() == 20
            tab.click("#all-classes")
        rows = tab.locator("#class-list tbody tr:visible").evaluate_all(
            "trs => trs.map(tr => [...tr.querySelectorAll('bdi, td:not(.span-cell)')].map(part => part.textContent))"
        )
        assert rows == [
            [str(row.label), f"{row.rows:,}", *map(interval_cell, row.intervals.values())]
            for _, row in weakest_first(evaluation)
        ]
        text = tab.locator("main").text_content()
        assert not re.search(r"(to|\() ?\d\.\d+e-\d+", text), "no end of an interval is a power of ten"


@pytest.mark.parametrize("k", [60, 1000])
def test_the_weakest_class_can_be_looked_at_against_the_rest_and_follows_the_slider(show, evaluations, k):
    evaluation, html = evaluations(k)
    place, weakest = weakest_first(evaluation)[0]
    with show(html) as tab:
        assert tab.locator("#class option").all_text_contents() == [str(label) for label in evaluation.labels]
        tab.locator("#class-list tbody button").first.click()
        assert tab.input_value("#class") == weakest.label
        assert status(tab) == words_of(evaluation, place, place)
        caught_up(tab)
        counts = evaluation.confusion.counts(weakest.label)
        for stop in (None, 5, 30):
            if stop is not None:
                slide(tab, "prevalence", stop)
            share = float(tab.get_attribute("#prevalence", "data-prevalence"))
            at = counts if stop is None else at_prevalence(counts, share)
            for name in ("recall", "specificity", "precision", "accuracy", "balanced_accuracy"):
                value, wanted = tab.get_attribute(f'[data-class-metric="{name}"]', "data-value"), get_metric(name)(at)
                assert (value == "" and math.isnan(wanted)) or math.isclose(float(value), wanted, abs_tol=1e-9), name


def test_the_slider_holds_the_share_of_the_class_that_is_looked_at(show, evaluations):
    evaluation, html = evaluations(60)
    with show(html) as tab:
        for label in (evaluation.labels[3], evaluation.labels[41], evaluation.labels[30]):
            tab.select_option("#class", label)
            counts = evaluation.confusion.counts(label)
            share = float(counts.positives / counts.total)
            assert float(tab.get_attribute("#prevalence", "data-prevalence")) == share
            assert "sample" in tab.text_content("#prevalence-shown")


def test_classes_that_are_numbers_are_named_as_they_are(show):
    rows = np.array([[30, 5, 2], [4, 60, 9], [1, 3, 12]])
    with show(evaluate(Confusion.of_rows((0, 7, 12), rows), draws=40).to_html()) as tab:
        assert tab.locator("#class option").all_text_contents() == ["0", "7", "12"]
        tab.select_option("#class-order", "given")
        tab.focus("#class-map")
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
            tab.keyboard.press(key)
        assert status(tab) == unbroken("9 of the 73 rows of 7 were predicted as 12: 12.3 %.")
        tab.keyboard.press("Enter")
        assert tab.evaluate("steelyard.numbers().positive") == 7


def test_weighted_classes_are_shown_by_weight_and_follow_the_slider(show):
    rng = np.random.default_rng(4)
    y, p, w = rng.integers(0, 4, 300), rng.integers(0, 4, 300), rng.uniform(0.2, 3, 300)
    evaluation = evaluate(np.array(list("abcd"))[y], np.array(list("abcd"))[p], sample_weight=w, draws=40)
    matrix = evaluation.confusion.matrix
    with show(evaluation.to_html()) as tab:
        tab.select_option("#class-order", "given")
        tab.focus("#class-map")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("ArrowRight")
        count, total = (f"{v:,.2f}" for v in (matrix[0, 1], matrix[0].sum()))
        share = percent_text(matrix[0, 1] / matrix[0].sum())
        assert status(tab) == unbroken(f'{count} of the {total} units of weight of "a" were predicted as "b": {share}.')
        for label in "abcd":
            tab.select_option("#class", label)
            slide(tab, "prevalence", 20)
            share = float(tab.get_attribute("#prevalence", "data-prevalence"))
            at = at_prevalence(evaluation.confusion.counts(label), share)
            for name in ("recall", "precision", "mcc"):
                value = float(tab.get_attribute(f'[data-class-metric="{name}"]', "data-value"))
                assert math.isclose(value, get_metric(name)(at), abs_tol=1e-9)


def test_a_table_without_errors_has_no_pairs_and_says_so(show):
    with show(evaluate(Confusion.of_rows("abc", np.diag([5, 60, 9])), draws=40).to_html()) as tab:
        assert "No row was predicted as another class." in tab.locator(".pairs").text_content()
        tab.focus("#class-map")
        tab.keyboard.press("ArrowDown")
        assert "predicted correctly: recall 100" in status(tab)


# ---------------------------------------------------------------- room


def test_a_page_of_many_classes_is_small_whatever_the_rows(evaluations):
    assert len(evaluations(60)[1].encode()) <= 400_000
    assert len(evaluations(1000)[1].encode()) <= 1_000_000


def test_a_dense_table_of_a_thousand_classes_keeps_its_largest_cells_and_says_so(show):
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 900, (1000, 1000)) + np.diag(rng.integers(1, 99_999, 1000))
    weights = rows * rng.uniform(0.5, 2, rows.shape)  # whose digits take more room than counts
    names = [f"{'x' * 200}{i}" for i in range(1000)]
    dense = Confusion(tuple(names), rows, weights, weights**2 / rows)
    html = evaluate(dense, draws=20, metrics=["accuracy"]).to_html()
    assert len(html.encode()) <= 1_000_000
    with show(html) as tab:
        tab.focus("#class-map")
        tab.keyboard.press("ArrowDown")
        found = "\n".join(walked(tab, "ArrowRight", 30))
        assert "At most" in found and "None of" not in found
        data = page_data(tab.content())["classes"]
    kept = np.zeros(1_000_000, dtype=bool)
    kept[np.cumsum(data["gaps"])] = True
    assert kept[::1_001].all() and dense.matrix.ravel()[kept] == pytest.approx(data["counts"], rel=1e-9)
    errors = dense.matrix.ravel() * (1 - np.eye(1_000).ravel())
    assert 0 < errors[~kept].max() == pytest.approx(data["least"]) and errors[kept & (errors > 0)].min() >= data[
        "least"
    ] * (1 - 1e-9)


@pytest.mark.parametrize("k", [3, 12, 60, 1000])
def test_nothing_is_wider_than_the_screen(show, evaluations, k):
    with show(evaluations(k)[1], width=390) as tab:
        for width in (390, 768, 1024, 1440):
            widened(tab, width)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            box = tab.locator("#class-map").bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
            assert box["width"] >= min(200, 40 * k) and box["height"] >= 100


@pytest.mark.parametrize("k", [6, 18])
def test_hostile_labels_are_inert_and_widen_nothing(show, k):
    html = hostile_page(k)
    for width in (1440, 390):
        with show(html, width=width) as tab:
            tab.focus("#class-map")
            for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
                tab.keyboard.press(key)
            tab.fill("#find-class", "</script>")
            assert tab.evaluate("window.hit") is None and tab.locator("img").count() == 0
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            widest = tab.evaluate(
                "Math.max(...[...document.querySelectorAll('.name24')].map(part => part.getBoundingClientRect().width))"
            )
            assert widest <= 24 * 15
            assert tab.locator("#class option").count() == k


# ---------------------------------------------------------------- the map


COLOURS = """() => {
    const canvas = document.querySelector('#class-map canvas'), box = canvas.getBoundingClientRect();
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const data = copy.getImageData(0, 0, canvas.width, canvas.height).data, scale = canvas.width / box.width;
    return [...Array(12)].flatMap((_, v) => [...Array(12)].map((_, u) => {
        const x = box.left + (u + 0.5) * box.width / 12, y = box.top + (v + 0.5) * box.height / 12;
        const at = 4 * (Math.round((y - box.top) * scale) * canvas.width + Math.round((x - box.left) * scale));
        return { x, y, colour: [...data.slice(at, at + 3)] };
    }));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_right_is_blue_and_errors_are_vermilion(show, evaluations, scheme):
    html = evaluations(60)[1]
    with show(html, color_scheme=scheme) as tab:
        tab.locator("#class-map").scroll_into_view_if_needed()
        seen = set()
        for point in tab.evaluate(COLOURS):
            tab.mouse.move(point["x"], point["y"])
            red, _, blue = point["colour"]
            kind = "right" if "correctly" in status(tab) else "error" if re.match(r"\d", status(tab)) else "none"
            gutter = tab.evaluate(f"document.elementFromPoint({point['x']}, {point['y']}).tagName") != "CANVAS"
            if kind != "none" and not gutter and abs(red - blue) > 12:
                seen.add(kind)
                assert (blue > red) == (kind == "right"), (point, status(tab))
        assert "right" in seen or "error" in seen


def test_the_names_stay_in_view_while_the_cells_scroll(show, evaluations):
    with show(evaluations(1000)[1]) as tab:
        where = "document.querySelector('#class-map canvas').getBoundingClientRect().toJSON()"
        inked = """([x, y, w, h]) => {
            const copy = new OffscreenCanvas(w, h).getContext('2d', { willReadFrequently: true });
            copy.drawImage(document.querySelector('#class-map canvas'), -x, -y);
            const data = copy.getImageData(0, 0, w, h).data;
            return [...data].filter((v, i) => i % 4 === 0 && v < 140).length;
        }"""
        before = tab.evaluate(where)
        tab.evaluate("document.getElementById('class-map').scrollTo(5000, 7000)")
        tab.wait_for_timeout(100)
        assert tab.evaluate("document.getElementById('class-map').scrollTop") == 7000
        assert tab.evaluate(where) == before
        assert tab.evaluate(inked, [40, 200, 60, 300]) > 200, "names of rows"
        assert tab.evaluate(inked, [200, 40, 300, 60]) > 200, "names of columns"


def test_the_map_is_read_by_keyboard_alone(show, evaluations):
    evaluation, html = evaluations(60)
    order = confusion_order(evaluation.confusion).tolist()
    with show(html) as tab:
        for _ in range(30):
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.id") == "class-map":
                break
        assert tab.evaluate("document.activeElement.id") == "class-map"
        for keys, cell in (
            (["ArrowRight"], (0, 0)),
            (["ArrowRight", "ArrowDown"], (1, 1)),
            (["Shift+ArrowRight"], (1, 11)),
            (["End"], (1, 59)),
            (["Control+End"], (59, 59)),
            (["PageUp", "Home", "Control+Home"], (0, 0)),
        ):
            for key in keys:
                tab.keyboard.press(key)
            assert status(tab) == words_of(evaluation, *(order[place] for place in cell)), keys
        size = "document.querySelector('.map-room').getBoundingClientRect().width"
        before = tab.evaluate(size)
        tab.keyboard.press("+")
        assert tab.evaluate(size) > before
        tab.keyboard.press("-")
        assert tab.evaluate(size) == before
        tab.keyboard.press("Enter")
        assert tab.input_value("#class") == evaluation.labels[order[0]]
        tab.keyboard.press("Escape")
        assert status(tab) == HINT


def test_a_finger_names_a_cell(show, evaluations):
    evaluation, html = evaluations(12)
    order = confusion_order(evaluation.confusion).tolist()
    with show(html, width=390, has_touch=True) as tab:
        tab.locator("#class-map").scroll_into_view_if_needed()
        box = tab.locator("#class-map").bounding_box()
        tab.touchscreen.tap(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20)
        assert status(tab) in {words_of(evaluation, i, j) for i in order for j in order}


@pytest.mark.parametrize("k", [12, 60, 1000])
def test_the_whole_map_is_saved_as_a_picture(show, evaluations, k, tmp_path):
    with show(evaluations(k)[1]) as tab:
        tab.locator("#map-figure .take summary").click()
        with tab.expect_download() as saved:
            tab.locator("#map-figure .take button", has_text="PNG").click()
        saved.value.save_as(tmp_path / "map.png")
    head = (tmp_path / "map.png").read_bytes()[:24]
    width, height = (int.from_bytes(head[at : at + 4]) for at in (16, 20))
    assert head[1:4] == b"PNG" and min(width, height) >= 4 * k


def test_a_class_is_found_by_its_name(show, evaluations):
    evaluation, html = evaluations(1000)
    with show(html) as tab:
        tab.fill("#find-class", "Class 77")
        assert tab.text_content("#found-classes") == "10 of 1,000 classes match."
        assert status(tab) == words_of(evaluation, 770, 770)
        assert tab.locator("#class-list tbody tr:visible").count() == 10
        tab.fill("#find-class", "no such class")
        assert tab.text_content("#found-classes") == "No class matches."
        assert tab.locator("#class-list tbody tr:visible").count() == 0
        tab.fill("#find-class", "")
        assert tab.text_content("#found-classes") == ""
        assert tab.locator("#class-list tbody tr:visible").count() == 20


def test_what_was_chosen_is_in_the_address(show, evaluations):
    evaluation, html = evaluations(60)
    with show(html) as tab:
        tab.select_option("#class-order", "size")
        tab.select_option("#class-shade", "count")
        tab.select_option("#list-order", "precision")
        tab.select_option("#pair-order", "share")
        tab.locator(".pair-table tbody button:visible").first.click()
        until(tab, "location.hash.includes('cell')")
        address, sentence = tab.evaluate("location.hash"), status(tab)
    with show(html, hash=address) as tab:
        chosen = [tab.input_value(f"#{key}") for key in ("class-order", "class-shade", "list-order", "pair-order")]
        assert chosen == ["size", "count", "precision", "share"]
        assert status(tab) == sentence
        first = tab.locator("#class-list tbody bdi").first.text_content()
        values = {row.label: row.precision.value for row in evaluation.per_class}
        assert values[first] == min(value for value in values.values() if not math.isnan(value))
    with show(html, hash="#order=nothing&shade=&cell=5000+x&list=1") as tab:
        assert tab.input_value("#class-order") == "confusion" and status(tab) == HINT


# ---------------------------------------------------------------- for everybody


@pytest.mark.parametrize("k", [3, 12, 60, 1000])
def test_an_accessibility_check_finds_nothing(show, evaluations, k):
    with show(evaluations(k)[1], width=1440) as tab:
        accessible(tab)


def test_without_a_script_the_numbers_stand(browser, evaluations, tmp_path):
    for k in (12, 60, 1000):
        evaluation, html = evaluations(k)
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        context = browser.new_context(java_script_enabled=False)
        tab = context.new_page()
        tab.goto((tmp_path / "page.html").as_uri())
        assert tab.locator("#class-list tbody tr:visible").count() == (50 if k == 1000 else k)
        assert tab.locator(".pair-table tbody tr:visible").count() == 20
        assert tab.locator(".matrix-table").count() == (k == 12)
        if k == 12:
            written = tab.locator(".matrix-table tbody td").all_text_contents()
            matrix = evaluation.confusion.matrix
            shares = [percent_text(n / matrix[i].sum()) if n else "" for (i, _), n in np.ndenumerate(matrix)]
            assert written == [
                unbroken(f"{n:,} {share}".strip()) for n, share in zip(matrix.ravel(), shares, strict=True)
            ]
            assert tab.locator(".matrix-table").is_visible()
        context.close()


@pytest.mark.parametrize("k", [12, 60, 1000])
def test_paper_cuts_nothing_and_says_what_it_leaves_out(show, evaluations, k):
    with show(evaluations(k)[1], width=704) as tab:
        tab.emulate_media(media="print")
        until(tab, f"{k} !== 60 || !document.getElementById('map-print').hidden")
        assert not tab.locator("#class-map").is_visible() and not tab.locator("#find-class").is_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 704
        assert tab.locator("#class-list tbody tr:visible").count() == (50 if k == 1000 else k)
        assert tab.locator(".matrix-table").count() == (k == 12)
        assert tab.locator("#map-print").is_visible() == (k == 60)
        sentence = tab.locator(".on-paper").first
        assert (sentence.count() > 0 and "cannot be read on paper" in sentence.text_content()) == (k == 1000)
        wide = "parts => Math.max(...parts.map(part => part.getBoundingClientRect().right))"
        assert tab.locator("main table:visible, #map-print:visible").evaluate_all(wide) <= 705
        if k == 60:
            inked = tab.evaluate(
                """() => { const canvas = document.getElementById('map-print');
                const data = canvas.getContext('2d').getImageData(0, canvas.height - 200, canvas.width, 200).data;
                return [...data].filter((v, i) => i % 4 === 0 && v < 140).length; }"""
            )
            assert inked > 200, "the last rows are drawn and named"


# ---------------------------------------------------------------- each class by its scores


def scored(k, name="class {:02d}"):
    """Classes with a column of scores each."""
    rng = np.random.default_rng(1)
    y, names = np.arange(12 * k) % k, np.array([name.format(i) for i in range(k)])
    p = 0.5 * rng.dirichlet(np.ones(k), len(y)) + 0.5 * np.eye(k)[np.where(rng.random(len(y)) < 0.7, y, (y + 1) % k)]
    return evaluate(names[y], y_score=p, labels=names.tolist(), draws=20)


def test_many_classes_stand_folded_after_the_metrics_of_all(show):
    evaluation = scored(20)
    with show(evaluation.to_html()) as tab:
        whole = [row for row in evaluation.metrics if row.spec.label is None]
        assert tab.locator("#all tr[data-value]").count() == len(whole) < len(evaluation.metrics)
        assert not tab.locator("#by-scores table").is_visible()
        tab.click("#by-scores summary")
        shown = tab.locator("#by-scores tbody tr").evaluate_all(
            "trs => trs.map(tr => [...tr.querySelectorAll('bdi, td')].map(part => part.textContent))"
        )
        names = ("roc_auc", "average_precision")
        assert shown == [
            [label, *(interval_cell(evaluation[f'{name}[class="{label}"]']) for name in names)]
            for label in evaluation.labels
        ]
        accessible(tab, "#by-scores")


def test_few_classes_with_long_names_stand_among_the_metrics(show):
    with show(scored(3, "w" * 10_000 + "{}").to_html(), width=390) as tab:
        assert tab.locator("#by-scores").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        names = tab.locator("#all bdi").all_text_contents()
        assert len(names) == len(set(names)) * 2 == 6 and max(map(len, names)) <= 24
