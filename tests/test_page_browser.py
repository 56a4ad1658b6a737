"""The pages in a real browser: opened from disk, moved by keyboard, read back, attacked. Skipped without Chromium."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from accessible import accessible
from pages_open import (
    caught_up,
    dot_outcomes,
    grouped,
    percent_text,
    press,
    rested,
    slide,
    three_digits,
    turn,
    unbroken,
    until,
)

from steelyard import (
    Confusion,
    Counts,
    Evaluation,
    at_prevalence,
    audit,
    best_threshold,
    chance,
    compare,
    evaluate,
    get_metric,
    interval,
)
from steelyard.evaluation.verdict.sentences import STARTS, outcomes_text, whole_outcomes
from steelyard.figures import confidence_band

# A row of metrics as one cell of a class: the percent sign stands behind the value alone.
WITH_INTERVAL = r"""tr => {
    const [value, ends] = ['.value', '.between'].map(part => tr.querySelector(part).textContent);
    return `${value} (${ends.replace(/\s%$/, '')})`;
}"""
HOSTILE = '</script><img src=x onerror="window.hit=1"><script>window.hit=1</script>\'"&\u2028\u2029 \u202eשלום مرحبا \U0001f600'


def scored(n=1500, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.06).astype(int)
    score = np.round(1 / (1 + np.exp(-(1.4 * rng.normal(size=n) + 2.5 * y - 2.6))), 4)
    return y, score, rng.gamma(2, 1, n) if weighted else None


@pytest.fixture(scope="module")
def evaluation():
    y, score, _ = scored()
    return evaluate(y, y_score=score, draws=200)


@pytest.fixture(scope="module")
def html(evaluation):
    return evaluation.to_html(source="predictions.parquet")


def read(tab):
    """Every metric's row as the page carries it."""
    caught_up(tab)
    script = "rows => rows.map(row => [row.dataset.metric || row.dataset.classMetric, row.dataset.value])"
    return dict(tab.locator("#metrics tr[data-value]").evaluate_all(script))


def settings(tab):
    return (
        float(tab.get_attribute("#threshold", "data-threshold")),
        float(tab.get_attribute("#prevalence", "data-prevalence")),
    )


def by_python(evaluation, threshold, prevalence):
    scores = at_prevalence(evaluation.scores, prevalence)
    counts = at_prevalence(evaluation.scores.at(threshold), prevalence)
    return {
        row.name: get_metric(row.name)(scores if get_metric(row.name).scores else counts) for row in evaluation.metrics
    }


def assert_same(shown, expected):
    assert set(shown) == set(expected)
    for name, value in expected.items():
        if not math.isfinite(value):
            assert shown[name] == "", name
        else:
            assert float(shown[name]) == pytest.approx(value, rel=1e-9, abs=1e-9), name


def number(words):
    """A percentage as the page writes it, of a hundred."""
    shown, sign = words.split("\u00a0")
    assert sign == "%"
    return float(shown)


# ---------------------------------------------------------------- the numbers


def test_the_page_opens_with_the_numbers_of_the_evaluation(show, html, evaluation):
    with show(html) as tab:
        assert settings(tab) == (0.5, float(evaluation.counts.positives / evaluation.counts.total))
        assert_same(read(tab), {row.name: row.value for row in evaluation.metrics})
        cells = {
            key: float(tab.get_attribute(f'[data-cell="{key}"]', "data-value")) for key in ("tp", "fn", "fp", "tn")
        }
        assert cells == evaluation.counts.to_dict()
        for row in evaluation.metrics:
            shown = tab.locator(f'[data-metric="{row.name}"] td:not(.bar)').all_text_contents()
            ends = row.interval_or_reason()
            assert shown == [unbroken(text) for text in (row.text(row.value), ends, row.text(row.chance))]
        low, high = tab.locator('[data-metric="recall"] .between').text_content().split(" to ")
        recall = evaluation["recall"]
        assert (float(low), number(high)) == pytest.approx((100 * recall.low, 100 * recall.high), abs=0.05)


def amount(weight):
    """A count of rows, or a sum of weights, with thousands apart; what is not 0 or 1 never reads as such."""
    shown = f"{weight:,.0f}" if weight.is_integer() else f"{weight:,.2f}"
    return three_digits(weight) if shown in ("0.00", "1.00") else shown


def test_numbers_have_the_same_digits_on_the_page_as_in_the_terminal(show, html):
    rng = np.random.default_rng(7)
    beside = [s * (1 + t * 10.0**-e) for s in (1, -1) for t in (1, -1, 4, -4, 5, -5) for e in range(2, 14)]
    plain = [0.0, -0.0, 0.5, 0.125, 1.0, -1.0, 0.9995, 0.99951, 1.0049, 1e-5, 9.995e-5, 999_999.5, 2.5, 1234.5, 0.004]
    grid = [*beside, *plain, *rng.normal(size=200).tolist(), *(10 ** rng.uniform(-9, 9, 200)).tolist()]
    with show(html) as tab:
        assert tab.evaluate("vs => vs.map(steelyard.digits)", grid) == [three_digits(v) for v in grid]
        shares = [v for v in grid if 0 <= v <= 1]
        shown = tab.evaluate("vs => vs.map(steelyard.percent)", shares)
        assert [words.replace("\u00a0", " ") for words in shown] == [percent_text(v) for v in shares]
        weights = [abs(v) for v in grid]
        assert tab.evaluate("vs => vs.map(steelyard.counted)", weights) == [amount(v) for v in weights]


def test_moved_by_keyboard_every_metric_is_what_python_computes(show, html, evaluation):
    with show(html) as tab:
        for keys in (["ArrowLeft"] * 9, ["PageDown"], ["ArrowRight"] * 3, ["Home"], ["End"]):
            tab.focus("#threshold")
            for key in keys:
                tab.keyboard.press(key)
            for steps in (["ArrowRight"] * 4, ["ArrowLeft"] * 13, ["PageUp"]):
                tab.focus("#prevalence")
                for key in steps:
                    tab.keyboard.press(key)
                assert_same(read(tab), by_python(evaluation, *settings(tab)))


@pytest.mark.parametrize("weighted", [False, True])
def test_at_any_cut_and_prevalence_every_metric_is_what_python_computes(show, weighted):
    y, score, weight = scored(700, weighted, seed=3)
    evaluation = evaluate(y, y_score=score, sample_weight=weight, draws=100)
    with show(evaluation.to_html()) as tab:
        last = {"threshold": tab.evaluate("steelyard.last"), "prevalence": int(tab.get_attribute("#prevalence", "max"))}
        for i in range(13):
            slide(tab, "threshold", last["threshold"] * i // 12)
            slide(tab, "prevalence", last["prevalence"] * ((5 * i) % 13) // 12)
            assert_same(read(tab), by_python(evaluation, *settings(tab)))


def test_the_intervals_at_moved_settings_are_those_of_the_same_method(show, html, evaluation):
    with show(html) as tab:
        slide(tab, "threshold", 150)
        slide(tab, "prevalence", 30)
        rested(tab)
        threshold, prevalence = settings(tab)
        counted = [row.name for row in evaluation.metrics if get_metric(row.name).scores is None]
        counts = evaluation.scores.at(threshold)
        for part in interval(counted, counts, prevalence=prevalence, draws=20_000):
            cell = tab.locator(f'[data-metric="{part.metric}"] .between')
            low, high = (float(cell.get_attribute(f"data-{end}")) for end in ("low", "high"))
            slack = 0.15 * (part.high - part.low) + 1e-9
            assert abs(low - part.low) < slack and abs(high - part.high) < slack, part.metric


def test_chance_moves_with_the_settings_as_python_computes_it(show, html, evaluation):
    with show(html) as tab:
        for cut, stop in ((150, 30), (40, 8)):
            slide(tab, "threshold", cut)
            slide(tab, "prevalence", stop)
            threshold, prevalence = settings(tab)
            seen = evaluation.scores.at(threshold)
            table = Confusion.of_rows((0, 1), np.array([[seen.tn, seen.fp], [seen.fn, seen.tp]]), 1)
            scores, counts = (at_prevalence(t, prevalence) for t in (evaluation.scores, table))
            for row in tab.evaluate("steelyard.numbers().metrics"):
                metric = get_metric(row["name"])
                expected = chance(metric, scores if metric.scores else counts).value
                if math.isfinite(expected):
                    assert row["chance"] == pytest.approx(expected, rel=1e-5 if metric.scores else 1e-9, abs=1e-9), (
                        metric
                    )
                else:
                    assert row["chance"] is None, metric


def test_an_evaluation_at_another_prevalence_opens_there(show):
    y, score, _ = scored(500)
    evaluation = evaluate(y, y_score=score, prevalence=0.3, draws=50)
    with show(evaluation.to_html()) as tab:
        assert settings(tab) == (0.5, 0.3)
        assert_same(read(tab), {row.name: row.value for row in evaluation.metrics})
        slide(tab, "threshold", 20)
        assert_same(read(tab), by_python(evaluation, *settings(tab)))
        slide(tab, "prevalence", 11)
        assert_same(read(tab), by_python(evaluation, *settings(tab)))


def test_the_reasons_of_undefined_values_are_given_in_place(show, html):
    with show(html) as tab:
        slide(tab, "threshold", int(tab.get_attribute("#threshold", "max")))
        assert tab.get_attribute("#threshold", "data-threshold") == "Infinity"
        assert read(tab)["precision"] == ""
        assert tab.locator('[data-metric="precision"] .between').text_content() == "no predicted positives"
        assert tab.locator('[data-metric="precision"] .value').text_content() == "–"


def test_jumping_finds_the_best_cut_of_every_metric(show, html, evaluation):
    with show(html) as tab:
        turn(tab, "curves")
        names = tab.locator("#optimise option").evaluate_all("options => options.map(option => option.value)")
        assert len(names) > 30
        for name in names:
            tab.select_option("#optimise", name)
            tab.click("#jump")
            found = best_threshold(evaluation.scores, metric=name, draws=0)
            assert float(read(tab)[name]) == pytest.approx(found.value, rel=1e-9, abs=1e-12), name
            at = float(tab.get_attribute("#threshold", "data-threshold"))
            assert evaluation.scores.at(at) == found.counts, name


def test_rank_metrics_ignore_the_threshold_and_prevalence_free_ones_keep_their_interval(show, html, evaluation):
    with show(html) as tab:
        before = read(tab)
        slide(tab, "threshold", 40)
        moved = read(tab)
        ranks = [row.name for row in evaluation.metrics if get_metric(row.name).scores]
        assert {name: moved[name] for name in ranks} == {name: before[name] for name in ranks}
        slide(tab, "prevalence", 5)
        assert read(tab)["roc_auc"] == before["roc_auc"]
        assert " to " in tab.locator('[data-metric="roc_auc"] .between').text_content()
        assert tab.locator('[data-metric="average_precision"] .between').text_content() == "not at this prevalence"


# ---------------------------------------------------------------- what a person does with it


def test_the_state_is_in_the_address_and_comes_back_from_it(show, html, evaluation):
    with show(html) as tab:
        slide(tab, "threshold", 99)
        slide(tab, "prevalence", 12)
        rested(tab)
        until(tab, "location.hash.includes('prevalence')")
        kept, shown = tab.evaluate("location.hash"), read(tab)
    with show(html, hash=kept) as tab:
        assert read(tab) == shown
        tab.click("#reset")
        assert settings(tab)[0] == 0.5
        assert tab.locator("#now").text_content().startswith("As evaluated")


def test_the_address_forgets_what_is_back_where_it_began(show, html):
    several = Confusion.of_rows(("cat", "dog", "yak"), np.arange(3, 12).reshape(3, 3))
    with show(html) as tab:
        begun = int(tab.get_attribute("#prevalence", "value"))
        slide(tab, "prevalence", 12)
        until(tab, "location.hash.includes('prevalence')")
        slide(tab, "prevalence", begun)
        until(tab, "location.hash === ''")
    with show(evaluate(several, draws=50).to_html()) as tab:
        first = tab.input_value("#class")
        tab.select_option("#class", "yak")
        until(tab, "location.hash === '#class=yak'")
        tab.select_option("#class", first)
        until(tab, "location.hash === ''")


def test_another_address_of_the_open_page_is_followed(show, html):
    with show(html, hash="#threshold=0.2&sort=value") as tab:
        assert abs(settings(tab)[0] - 0.2) < 0.01
        tab.evaluate("location.hash = '#threshold=Infinity&prevalence=0.3'")
        until(tab, "document.querySelector('#threshold').dataset.threshold === 'Infinity'")
        assert settings(tab) == (math.inf, 0.3)
        assert tab.input_value("#sort") == "first"
        tab.evaluate("location.hash = ''")
        until(tab, "document.querySelector('#threshold').dataset.threshold === '0.5'")
        assert tab.locator("#now").text_content().startswith("As evaluated")


@pytest.mark.parametrize("written", ["abc", "NaN", "", "%20", "-Infinity"])
def test_an_address_that_names_no_number_is_ignored(show, html, evaluation, written):
    with show(html, hash=f"#threshold={written}&prevalence={written}") as tab:
        assert settings(tab) == (0.5, float(evaluation.counts.positives / evaluation.counts.total))


def saved(copied):
    """The evaluation that copied numbers are, valid by the published schema."""
    jsonschema.validate(copied, Evaluation.json_schema())
    return Evaluation.from_json(json.dumps(copied))


def test_the_numbers_copied_are_strict_json_and_markdown_of_the_current_state(show, html, evaluation):
    with show(html) as tab:
        slide(tab, "threshold", 99)
        rested(tab)
        data = json.loads(tab.evaluate("JSON.stringify(steelyard.numbers())"))
        saved(data)
        assert data["threshold"] == settings(tab)[0]
        shown = read(tab)
        assert {m["name"]: m["value"] for m in data["metrics"]} == {
            k: float(v) if v else None for k, v in shown.items()
        }
        words = tab.evaluate("steelyard.markdown()")
        assert f"| recall | {percent_text(float(shown['recall']))} |" in words
        assert f"| f1 | {three_digits(float(shown['f1']))} |" in words
        assert "\u00a0" not in words


def test_numbers_copied_in_the_midst_of_a_move_are_those_after_it(show, html):
    copied = """place => {
        const s = document.getElementById('threshold');
        s.value = place;
        s.dispatchEvent(new Event('input'));
        return steelyard.numbers();
    }"""
    with show(html) as tab:
        slide(tab, "threshold", 60)
        rested(tab)
        hasty = tab.evaluate(copied, 150)
        tab.wait_for_timeout(150)
        assert tab.evaluate("steelyard.numbers()") == hasty
        ends = {row["name"]: (row["low"], row["high"]) for row in hasty["metrics"]}
        shown = tab.locator('[data-metric="recall"] .between')
        assert ends["recall"] == tuple(float(shown.get_attribute(f"data-{end}")) for end in ("low", "high"))
        nobody = tab.evaluate(copied, int(tab.get_attribute("#threshold", "max")))
        row = next(row for row in nobody["metrics"] if row["name"] == "precision")
        assert [row[key] for key in ("value", "low", "high", "undefined")] == [
            None,
            None,
            None,
            "no predicted positives",
        ]


def test_the_copied_json_is_that_of_the_evaluation_where_nothing_was_moved(show, evaluation):
    parted = grouped(evaluation, ("north", 2024), ("north", 2025), by=("site", "year"))
    parted = replace(parted, assumed=("Columns were taken by their names.",))
    expected = json.loads(parted.to_json())
    with show(parted.to_html()) as tab:
        found = tab.evaluate("steelyard.numbers()")
        assert saved(found).counts == parted.counts
        for key in expected.keys() - {"source", "metrics", "groups", "scores", "digest"}:
            assert found[key] == expected[key], key
        wholes = {row["name"]: row for row in expected["metrics"]}
        assert {row["name"] for row in found["metrics"]} == wholes.keys()
        for row in found["metrics"]:
            assert row == pytest.approx(wholes[row["name"]]), row["name"]
        assert [part["group"] for part in found["groups"]] == [{"site": "north", "year": year} for year in (2024, 2025)]
        known = {row["name"]: row for row in expected["groups"][0]["metrics"]}
        assert len(found["groups"][0]["metrics"]) >= 5
        for row in found["groups"][0]["metrics"]:
            whole = known[row["name"]]
            assert {key: whole[key] for key in ("value", "undefined")} == {
                key: row[key] for key in ("value", "undefined")
            }
            assert [row[key] for key in ("low", "high", "chance")] == pytest.approx(
                [whole[key] for key in ("low", "high", "chance")]
            )
        slide(tab, "threshold", 60)
        moved = tab.evaluate("steelyard.numbers()")
        assert moved["groups"] == []
        assert "posterior" in moved["method"]
        assert [sentence["code"] for sentence in moved["verdict"]] == ["outcomes", "rates"]
        assert moved["verdict"][0]["text"] == tab.locator("h1 .live").text_content()
        assert moved["verdict"][1]["text"].startswith("Now at threshold") and "above" not in moved["verdict"][1]["text"]
        assert "above" not in tab.evaluate("steelyard.markdown()").split("\n")[0]


@pytest.mark.parametrize("case", ["labels", "weights", "classes", "prevalence", "nobody flagged"])
def test_the_copied_json_can_be_read_back_at_every_state(show, case):
    rng = np.random.default_rng(8)
    y, score = rng.integers(0, 3 if case == "classes" else 2, 90), rng.random(90)
    options = {"sample_weight": rng.random(90)} if case == "weights" else {}
    options |= {"prevalence": 0.1} if case == "prevalence" else {}
    if case in ("labels", "classes"):
        names = np.array(["a", "b", "c"])
        evaluation = evaluate(names[y], names[rng.permutation(y)], pos_label=None if case == "classes" else names[1])
    else:
        evaluation = evaluate(y, y_score=0.8 * score + 0.2 * y, **options)
    with show(evaluation.to_html()) as tab:
        opened = saved(tab.evaluate("steelyard.numbers()"))
        if case != "classes":
            assert opened.counts == evaluation.counts and opened.positive == evaluation.positive
        if evaluation.scores is not None:
            slide(tab, "threshold", int(tab.get_attribute("#threshold", "max")) if case == "nobody flagged" else 12)
            rested(tab)
            moved = saved(tab.evaluate("steelyard.numbers()"))
            assert moved.threshold == settings(tab)[0] and moved.rows == 90
            assert (moved.confusion is None) == (case == "weights")
        slide(tab, "prevalence", 30)
        rested(tab)
        elsewhere = saved(tab.evaluate("steelyard.numbers()"))
        assert elsewhere.prevalence == float(tab.get_attribute("#prevalence", "data-prevalence"))


def headline(counts, evaluation, prevalence=None):
    """The headline of a table in the rows of which a page speaks, whatever was moved."""
    at = counts if prevalence is None else at_prevalence(counts, prevalence)
    base = evaluation.denominator
    start = STARTS["prevalence" if prevalence is not None else "these" if evaluation.speaks_of_rows else "like"]
    start = start.replace("{share}", percent_text(prevalence) if prevalence is not None else "")
    return unbroken(outcomes_text(whole_outcomes(at, base), start, "positive"))


def test_the_headline_follows_the_sliders_in_pythons_words(show, evaluation):
    with show(evaluation.to_html()) as tab:
        live = tab.locator("h1 .live")
        assert live.text_content() == headline(evaluation.counts, evaluation)
        assert live.get_attribute("title") == "outcomes (info): docs/verdict.md#outcomes"
        for place in (0, 40, 90):
            slide(tab, "threshold", place)
            threshold = settings(tab)[0]
            assert live.text_content() == headline(evaluation.scores.at(threshold), evaluation)
        slide(tab, "prevalence", 3)
        share = settings(tab)[1]
        assert live.text_content() == headline(evaluation.scores.at(threshold), evaluation, share)
        tab.click("#reset")
        assert live.text_content() == headline(evaluation.counts, evaluation)


def test_the_script_counts_whole_rows_as_python_does(show, html, evaluation):
    rng = np.random.default_rng(1)
    tables = np.exp(rng.uniform(0, 14, (300, 4))).astype(int) * (rng.random((300, 4)) < 0.9)
    tables = [cells.tolist() for cells in tables if cells[:2].sum() and cells[2:].sum()]
    moved = [[float(cell) for cell in at_prevalence(Counts(*cells), 0.5)] for cells in tables]
    with show(html) as tab:
        found = tab.evaluate("tables => tables.map((cells) => steelyard.headline(cells, 0.5))", moved)
    assert found == [headline(Counts(*cells), evaluation, 0.5) for cells in tables]


def test_the_copy_button_fills_the_clipboard(show, html):
    with show(html, permissions=["clipboard-read", "clipboard-write"]) as tab:
        press(tab, "export")
        until(tab, "document.querySelector('#copied').textContent === 'copied'")
        assert json.loads(tab.evaluate("navigator.clipboard.readText()"))["schema"] == 2


def test_a_copy_that_the_browser_refused_is_not_called_copied(show, html):
    with show(html) as tab:
        tab.evaluate(
            "() => { Object.defineProperty(navigator, 'clipboard', { value: undefined });"
            " document.execCommand = () => false; }"
        )
        press(tab, "export")
        assert tab.locator("#copied").text_content() == "not copied: the browser refused"


def test_a_metric_opens_its_formula_meaning_source_and_properties_by_keyboard(show, html):
    with show(html) as tab:
        tab.focus('[data-metric="ac_score"] button')
        tab.keyboard.press("Enter")
        until(tab, "document.querySelector('tr.detail').textContent !== ''")
        told = tab.locator("tr.detail").text_content()
        for words in (
            "also calledac",
            "use wheretest sets of different prevalence are compared",
            "2 * recall * specificity / (recall + specificity)",
            "Harmonic mean of the two class recalls",
            "Cannistraci",
            "The value is 0 where one of the classes has zero recall.",
            "always true",
        ):
            assert words in told
        tab.keyboard.press("Enter")
        assert tab.locator("tr.detail").count() == 0


def test_rows_can_be_sorted_and_unfolded(show, html):
    with show(html) as tab:
        assert not tab.locator('[data-metric="jaccard"]').is_visible()
        tab.click("#more")
        assert tab.locator('[data-metric="jaccard"]').is_visible()
        tab.select_option("#sort", "value")
        values = [float(v) for v in read(tab).values() if v]
        assert values == sorted(values, reverse=True)
        slide(tab, "threshold", 40)
        tab.evaluate("steelyard.numbers()")
        moved = [float(v) for v in read(tab).values() if v]
        assert moved == sorted(moved, reverse=True) != values
        tab.select_option("#sort", "family")
        assert tab.locator("#metrics tr.family").count() > 8


def test_a_click_on_a_curve_moves_the_cut_and_hovering_tells_the_numbers(show, html):
    with show(html) as tab:
        turn(tab, "curves")
        chart = tab.locator("#roc svg")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        tab.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.25)
        hovered = tab.locator("#roc-readout").text_content()
        assert not hovered.startswith("threshold 0.500")
        assert tab.get_attribute("#threshold", "data-threshold") == "0.5"
        tab.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.25)
        assert tab.get_attribute("#threshold", "data-threshold") != "0.5"


# ---------------------------------------------------------------- other pages


POINTS = (
    "shapes => shapes.map(shape => shape.getAttribute('points').split(' ').map(point => point.split(',').map(Number)))"
)


def test_the_band_of_a_curve_is_pythons_and_touches_both_corners(show, html, evaluation):
    recall, specificity = (confidence_band(evaluation.scores, metric=name) for name in ("recall", "specificity"))
    lows, highs = (
        np.array([[getattr(point, end) for point in band] for band in (specificity, recall)]) for end in ("low", "high")
    )
    with show(html) as tab:
        (outline,) = tab.locator("#roc polygon.band").evaluate_all(POINTS)
        ((origin, end),) = tab.locator("#roc polyline.chance-line").evaluate_all(POINTS)
        assert origin in outline and end in outline
        (left, bottom), (right, top) = origin, end
        sides = np.linspace(outline, np.roll(outline, -1, axis=0), 50).reshape(-1, 2)
        for fpr, recall in ((1 - highs[0], highs[1]), (1 - lows[0], lows[1])):
            pixels = np.stack([left + (right - left) * fpr, bottom + (top - bottom) * recall], axis=1)
            away = np.abs(sides[:, None] - pixels).max(axis=-1).min(axis=0)
            assert np.median(away) < 0.3 and away.max() < 2  # thresholds of other metrics move the grid a little
        assert "95 % simultaneous confidence bands" in tab.locator("#band-words").text_content()
        assert tab.locator("#roc").get_attribute("aria-describedby") == "band-words"


def test_one_metric_or_two_have_a_band_over_the_threshold(show, html):
    with show(html) as tab:
        assert tab.locator("#over-threshold polygon.band").count() == 0
        assert "choose one or two metrics" in tab.locator("#over-threshold-readout").text_content()
        turn(tab, "curves")
        tab.locator("#chosen summary").click()
        while (checked := tab.locator("#chosen input:checked")).count() > 2:
            checked.last.click()
        until(tab, "document.querySelectorAll('#over-threshold polygon.band').length === 2")
        lines = tab.locator("#over-threshold polyline.curve").evaluate_all(POINTS)
        outlines = tab.locator("#over-threshold polygon.band").evaluate_all(POINTS)
        assert len(outlines) == 2
        for line in lines:
            for x, y in line:
                spans = [np.array([v for u, v in outline if abs(u - x) < 0.2]) for outline in outlines]
                assert any(len(span) and span.min() - 0.2 <= y <= span.max() + 0.2 for span in spans)
        assert "simultaneous confidence band" in tab.locator("#over-threshold-readout").text_content()


def test_labels_alone_have_no_threshold_but_a_prevalence(show):
    counts = Counts(tp=28, fn=23, fp=72, tn=2680)
    evaluation = evaluate(counts, draws=200)
    with show(evaluation.to_html()) as tab:
        assert tab.locator("#threshold").count() == 0
        assert tab.locator("#roc").count() == 0
        for place in (0, 20, 44):
            slide(tab, "prevalence", place)
            share = float(tab.get_attribute("#prevalence", "data-prevalence"))
            moved = at_prevalence(counts, share)
            assert_same(read(tab), {row.name: get_metric(row.name)(moved) for row in evaluation.metrics})


def test_a_page_of_clustered_rows_draws_no_interval_that_ignores_them(show):
    rng = np.random.default_rng(0)
    y, patient = rng.integers(0, 2, 400), np.repeat(np.arange(20), 20)
    p = np.where(rng.random(20)[patient] < 0.7, y, 1 - y)
    with show(evaluate(y, p, cluster=patient, draws=200).to_html()) as tab:
        assert " to " in tab.text_content("tr[data-metric=recall]")
        slide(tab, "prevalence", 3)
        rested(tab)
        assert tab.text_content("#how-intervals").startswith("The page does not keep the clusters")
        assert not [row for row in tab.locator("tr[data-metric]").all_text_contents() if " to " in row]


@pytest.mark.parametrize("cells", [(0, 3, 0, 9), (1, 0, 0, 1), (5, 0, 7, 0)])
def test_tables_that_lack_something_say_so_in_place(show, cells):
    evaluation = evaluate(Counts(*cells), draws=200)
    with show(evaluation.to_html()) as tab:
        slide(tab, "prevalence", 7)
        expected = at_prevalence(Counts(*cells), float(tab.get_attribute("#prevalence", "data-prevalence")))
        assert_same(read(tab), {row.name: get_metric(row.name)(expected) for row in evaluation.metrics})


def test_metrics_that_were_asked_for_are_the_only_rows(show):
    y, score, _ = scored(300)
    for names in (["roc_auc"], ["recall", "f_beta[beta=2]"]):
        with show(evaluate(y, y_score=score, metrics=names, draws=50).to_html()) as tab:
            assert list(read(tab)) == names
            slide(tab, "threshold", 50)
            assert tab.locator("#jump").count() == (names != ["roc_auc"])


def test_labels_beside_scores_start_as_predicted(show):
    y, score, _ = scored(600)
    predicted = ((score > 0.3) ^ (np.arange(600) % 50 == 0)).astype(int)
    evaluation = evaluate(y, predicted, y_score=score, draws=100)
    with show(evaluation.to_html()) as tab:
        assert tab.get_attribute("#threshold", "data-threshold") == ""
        assert float(read(tab)["recall"]) == evaluation["recall"].value
        slide(tab, "threshold", 100)
        assert_same(read(tab), by_python(evaluation, *settings(tab)))


def test_scores_that_are_no_probabilities_open_at_a_cut_and_say_so(show):
    y, score, _ = scored(600)
    evaluation = evaluate(y, y_score=score * 10 - 3, draws=100)
    with show(evaluation.to_html()) as tab:
        best = evaluation.best_threshold("informedness", draws=0)
        assert settings(tab)[0] == best.threshold
        assert float(read(tab)["informedness"]) == pytest.approx(best.value)
        assert "No threshold was given" in tab.locator(".about").text_content()
        assert tab.locator("#reliability").count() == 0


def test_scores_that_are_no_probabilities_keep_what_was_evaluated(show):
    y, score, _ = scored(600)
    evaluation = evaluate(y, y_score=score * 10 - 3, metrics=["roc_auc", "average_precision"], draws=100)
    evaluation = grouped(evaluation, ("north",), ("north",))
    evaluation = replace(evaluation, assumed=("Columns were taken by their names.",))
    with show(evaluation.to_html()) as tab:
        assert_same(read(tab), {row.name: row.value for row in evaluation.metrics})
        between = tab.locator('[data-metric="roc_auc"] .between').text_content()
        assert between == f"{evaluation['roc_auc'].low:.3f} to {evaluation['roc_auc'].high:.3f}"
        few, outcomes = tab.locator("h1 span").all_text_contents()
        assert few == evaluation.verdict[0].replace(" %", "\u00a0%") and outcomes.startswith("Of these 600 rows")
        assert "site = north" in tab.locator("main").text_content()
        assert "Columns were taken by their names." in tab.locator(".about").text_content()
        said = tab.locator("#now").text_content()
        assert said.startswith("No threshold was given") and "best on these same rows" in said
        assert tab.evaluate("steelyard.numbers().verdict") == [sentence.row() for sentence in evaluation.verdict]


def test_the_two_classes_follow_the_sliders_and_the_groups_say_that_they_do_not(show, evaluation):
    with show(grouped(evaluation, ("north",), ("north",)).to_html()) as tab:
        rows = "trs => trs.map(tr => [...tr.querySelectorAll('td')].slice(1).map(td => td.textContent))"
        groups = tab.locator("section.stays:has(table.groups)")
        assert "At threshold 0.500, as evaluated" in groups.text_content()
        colour = "e => getComputedStyle(e).color"
        plain = groups.locator("td").first.evaluate(colour)
        begun = tab.locator(".two-classes tbody tr").evaluate_all(rows)
        slide(tab, "threshold", 60)
        rested(tab)
        until(tab, "location.hash.includes('threshold')")
        negative, positive = tab.locator(".two-classes tbody tr").evaluate_all(rows)
        texts = {
            name: tab.locator(f'[data-metric="{name}"]').evaluate(WITH_INTERVAL)
            for name in ("precision", "recall", "f1", "specificity", "negative_predictive_value", "negative_f1")
        }
        assert positive == [texts["precision"], texts["recall"], texts["f1"]]
        assert negative == [texts["negative_predictive_value"], texts["specificity"], texts["negative_f1"]]
        assert groups.locator("td").first.evaluate(colour) != plain
        tab.click("#reset")
        caught_up(tab)
        assert tab.locator(".two-classes tbody tr").evaluate_all(rows) == begun


def test_one_quantity_has_one_interval(show, evaluation):
    cells = "trs => trs.map(tr => [...tr.querySelectorAll('td')].slice(1).map(td => td.textContent))"
    with show(evaluation.to_html()) as tab:
        negative, positive = tab.locator(".two-classes tbody tr").evaluate_all(cells)
        pairs = [*zip(("precision", "recall", "f1"), positive, strict=True)]
        pairs += zip(("negative_predictive_value", "specificity", "negative_f1"), negative, strict=True)
        for name, words in pairs:
            assert tab.locator(f'[data-metric="{name}"]').evaluate(WITH_INTERVAL) == words, name
    table = Confusion.of_rows(("cat", "dog", "yak"), np.array([[30, 5, 2], [4, 60, 9], [1, 3, 12]]))
    with show(evaluate(table, draws=200).to_html()) as tab:
        places = tab.locator("#class-list tbody tr").evaluate_all("trs => trs.map(tr => Number(tr.dataset.class))")
        shown = [row[:3] for row in tab.locator("#class-list tbody tr").evaluate_all(cells)]
        rows = {table.labels[place]: row for place, row in zip(places, shown, strict=True)}
        for label in ("cat", "yak", "dog"):
            tab.select_option("#class", label)
            tab.evaluate("steelyard.numbers()")
            for name, words in zip(("precision", "recall", "f1"), rows[label], strict=True):
                assert tab.locator(f'[data-class-metric="{name}"]').evaluate(WITH_INTERVAL) == words, (label, name)


def test_what_is_undefined_or_out_of_sight_has_no_mark(show, html):
    with show(html) as tab:
        turn(tab, "curves")
        assert tab.locator("#pr .point").is_visible()
        slide(tab, "threshold", int(tab.get_attribute("#threshold", "max")))
        marks = tab.locator('[data-metric="precision"] .value-mark, [data-metric="precision"] .chance-mark')
        assert marks.count() == 2 and marks.and_(tab.locator("[display=none]")).count() == 2
        assert not tab.locator("#pr .point").is_visible()
        assert tab.locator("#roc .point").is_visible()
        slide(tab, "threshold", 60)
        assert tab.locator("#pr .point").is_visible()


def test_a_decision_curve_below_the_axis_is_broken_off_there(show):
    rng = np.random.default_rng(5)
    y = (np.arange(900) % 30 == 0).astype(int)
    score = np.clip(0.1 + 0.3 * y + 0.2 * rng.random(900), 0, 1)
    score[:40] = 0.95
    evaluation = evaluate(y, y_score=score, draws=50)
    with show(evaluation.to_html()) as tab:
        runs = tab.locator("#decision-curve polyline.curve").evaluate_all("ps => ps.map(p => p.getAttribute('points'))")
        points = [[tuple(map(float, pair.split(","))) for pair in run.split()] for run in runs]
        bottom = max(y for run in points for _, y in run)
        assert not any(a[1] == b[1] == bottom and a[0] != b[0] for run in points for a, b in itertools.pairwise(run))


def test_between_scores_the_page_draws_the_value_of_the_higher_one(show):
    for scores in ([0.2, 0.4, 0.6, 0.9], [0.5] * 4):
        with show(evaluate([0, 1, 0, 1], y_score=scores, metrics=["recall", "precision"], draws=50).to_html()) as tab:
            lines = tab.locator("#over-threshold polyline.curve").evaluate_all(
                "ps => ps.map(p => p.getAttribute('points'))"
            )
            assert len(lines) == 2
            for run in lines:
                points = [tuple(map(float, pair.split(","))) for pair in run.split()]
                assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(points))
                assert points[-1][0] - points[0][0] > 100


def test_classes_are_shown_together_and_each_against_the_rest(show):
    rng = np.random.default_rng(1)
    table = Confusion.of_rows(("cat", "dog", "yak"), rng.integers(1, 90, (3, 3)))
    evaluation = evaluate(table, draws=200)
    with show(evaluation.to_html(source="animals.csv")) as tab:
        together = dict(
            tab.locator("#all tr[data-metric]").evaluate_all(
                "rows => rows.map(r => [r.dataset.metric, r.dataset.value])"
            )
        )
        assert_same(together, {row.name: row.value for row in evaluation.metrics})
        for label in table.labels:
            tab.select_option("#class", label)
            assert_same(read(tab), {name: get_metric(name)(table, pos_label=label) for name in read(tab)})
        assert tab.locator(".matrix-table td").count() == 10
        assert "micro" in tab.locator("main").text_content()
        accuracy = evaluation["accuracy"]
        pooled = (
            tab.locator("section", has_text="Averages over the classes")
            .locator("tbody td:last-child")
            .all_text_contents()
        )
        share = f"{accuracy.text(accuracy.value)} ({accuracy.interval_or_reason().removesuffix(' %')})"
        plain = replace(evaluation["mcc"], value=accuracy.value, low=accuracy.low, high=accuracy.high)
        number = f"{plain.text(plain.value)} ({plain.interval_or_reason()})"
        assert pooled == [unbroken(share), unbroken(share), number]  # precision, recall and F1


def test_a_class_without_rows_in_the_truth_is_undefined_and_stays_so(show):
    table = Confusion.of_rows(("a", "b", "c"), np.array([[5, 1, 2], [2, 9, 0], [0, 0, 0]]))
    with show(evaluate(table, draws=100).to_html()) as tab:
        tab.select_option("#class", "c")
        slide(tab, "prevalence", 9)
        assert read(tab)["recall"] == ""
        assert tab.locator('[data-class-metric="recall"] .between').text_content() == "no positives"


def test_a_metric_names_one_row_of_any_page(show, html, evaluation):
    table = Confusion.of_rows(("cat", "dog", "yak"), np.random.default_rng(1).integers(1, 90, (3, 3)))
    classes, y, score = evaluate(table, draws=100), *scored(600)[:2]
    models = {name: (score > cut) * 1 for name, cut in (("A", 0.3), ("B", 0.5))}
    found = compare(y, models, metrics=["mcc", "recall"], draws=200)
    pages = {html: evaluation.metrics, classes.to_html(): classes.metrics}
    named = [(text, {row.name: row.value for row in rows}) for text, rows in pages.items()]
    named += [(found.to_html(), {row.metric: row.difference for row in found.rows})]
    for text, values in named:
        with show(text) as tab:
            for name, value in values.items():
                row = tab.locator(f'[data-metric="{name}"]')
                assert row.count() == 1, name
                assert row.get_attribute("data-value") == (repr(float(value)) if math.isfinite(value) else "")


def test_each_pair_of_three_models_has_its_own_rows(show):
    y, score, _ = scored(400)
    models = {name: (score > cut) * 1 for name, cut in (("A", 0.3), ('B "2"', 0.5), ("C", 0.7))}
    found = compare(y, models, metrics=["mcc", "recall"], draws=200)
    with show(found.to_html()) as tab:
        shown = tab.locator("tr[data-metric]").evaluate_all(
            "rows => rows.map(r => [r.closest('[data-a]').dataset.a, r.closest('[data-b]').dataset.b, r.dataset.metric])"
        )
        assert sorted(map(tuple, shown)) == sorted((row.a, row.b, row.metric) for row in found.rows)
        assert len(set(map(tuple, shown))) == len(found.rows) == 6


def test_a_comparison_shows_differences_and_the_order_of_metrics(show):
    y, score, _ = scored(600)
    found = compare(y, {"A": (score > 0.3) * 1, "B": (score > 0.5) * 1}, draws=500)
    with show(found.to_html(source="two.csv")) as tab:
        shown = dict(
            tab.locator("tr[data-metric]").evaluate_all("rows => rows.map(r => [r.dataset.metric, r.dataset.value])")
        )
        assert_same(shown, {row.metric: row.difference for row in found.rows})
        assert "The order of the metrics" in tab.locator("main").text_content()
        assert " ".join(tab.locator("#pair-0-1 summary").inner_text().split()) == "1 A minus 2 B"


def test_an_audit_shows_every_decision(show):
    decisions = audit("recall", "accuracy")
    with show(decisions.to_html()) as tab:
        assert tab.locator("[data-property]").count() == len(decisions)
        assert tab.locator('tr[data-metric="recall"] [data-property="prevalence_invariance"]').text_content() == "yes"


def test_an_audit_speaks_of_metrics_and_properties_in_words(show):
    decisions = audit("mcc", "recall")
    asked = {decision.property for decision in decisions}
    with show(decisions.to_html()) as tab:
        head, *titles = tab.locator(".matrix thead th").all_text_contents()
        assert head == "metric" and len(set(titles)) == len(titles) == len(asked)
        assert "Symmetry of the classes" in titles and not asked & {*titles}
        assert tab.locator(".matrix tbody th").all_text_contents() == ["Matthews correlation", "Recall"]
        assert tab.locator("#proofs summary").all_text_contents() == ["Matthews correlation", "Recall"]
        tab.locator("#proofs summary").first.click()
        lines = dict(
            zip(
                *(tab.locator(f"#proofs details >> nth=0 >> {tag}").all_text_contents() for tag in ("dt", "dd")),
                strict=True,
            )
        )
        assert list(lines) == titles
        assert lines["Symmetry of the classes"].startswith(
            "The value does not depend on which of the two classes is called positive."
        )
        named = tab.locator("main :not(code)").evaluate_all(
            "all => all.map(e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join(' ')).join(' ')"
        )
        assert not (asked - {"distance"}) & set(named.split())  # which is a word as well


# ---------------------------------------------------------------- hostile words


@pytest.mark.parametrize(
    "words",
    [HOSTILE, "x" * 10_000, "W" * 10_000, "\U0001f9ea" * 10_000, "\u202e" + "ש" * 300],
    ids=["markup", "long", "wide", "emoji", "rtl"],
)
def test_hostile_words_are_shown_as_text_and_nothing_runs(show, words):
    y, score, _ = scored(300)
    named = np.where(y == 1, words, "other")
    evaluation = evaluate(named, y_score=score, pos_label=words, draws=50)
    several = Confusion.of_rows((words, "b", "c"), np.arange(1, 10).reshape(3, 3))
    pair = compare(y, {words: (score > 0.3) * 1, "B": (score > 0.5) * 1}, draws=100)
    for html in (
        evaluation.to_html(source=words),
        evaluate(several, draws=50).to_html(source=words),
        pair.to_html(source=words),
    ):
        with show(html) as tab:
            assert tab.evaluate("window.hit") is None
            assert tab.locator("img").count() == 0
            assert tab.locator("script").count() <= 2
            assert words.replace("\u202e", "·")[:30] in tab.locator("header").text_content()
            if tab.locator("#prevalence").count():
                slide(tab, "prevalence", 3)
            assert tab.evaluate("window.hit") is None
            for width in (1280, 390):  # in whatever fonts there are
                tab.set_viewport_size({"width": width, "height": 900})
                assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_a_group_is_shown_by_name(show, evaluation):
    with show(grouped(evaluation, (HOSTILE,), (HOSTILE,)).to_html()) as tab:
        assert f"site = {HOSTILE[:9]}" in tab.locator("main").text_content()
        assert tab.evaluate("window.hit") is None


# ---------------------------------------------------------------- for everybody


def pages():
    y, score, _ = scored(400)
    several = Confusion.of_rows(("cat", "dog", "yak"), np.arange(3, 12).reshape(3, 3))
    yield lambda: evaluate(y, y_score=score, draws=50).to_html()
    yield lambda: evaluate(Counts(28, 23, 72, 2680), draws=50).to_html()
    yield lambda: evaluate(several, draws=50).to_html()
    yield lambda: compare(y, {"A": (score > 0.3) * 1, "B": (score > 0.5) * 1}, draws=100).to_html()
    yield lambda: audit("recall", "accuracy").to_html()


@pytest.mark.parametrize("made", pages(), ids=("scores", "labels", "classes", "comparison", "audit"))
def test_an_accessibility_check_finds_nothing(show, made):
    with show(made()) as tab:
        accessible(tab)


def test_paper_has_no_controls_but_the_numbers(show, html):
    with show(html) as tab:
        tab.emulate_media(media="print")
        assert not tab.locator("#threshold").is_visible()
        assert not tab.locator("[data-export=json]").is_visible()
        assert tab.locator("#threshold-shown").is_visible()
        assert tab.locator('[data-metric="recall"]').is_visible()
        assert tab.pdf(format="A4").startswith(b"%PDF")


OUTSIDE = """wide => [...document.querySelectorAll('svg text, th, td')].map(e => [e.textContent, e.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.left < -1 || box.right > wide + 1)).map(([words]) => words)"""


def test_paper_loses_no_column_and_no_letter(show, evaluation):
    y, score, _ = scored(600)
    models = {"first model": (score > 0.3) * 1, "second model": (score > 0.5) * 1}
    for html in (
        grouped(evaluation, ("north",), ("north",)).to_html(),
        evaluate(Confusion.of_rows(("cat", "dog", "yak"), np.arange(3, 12).reshape(3, 3)), draws=50).to_html(),
        compare(y, models, draws=100).to_html(),
    ):
        with show(html) as tab:
            tab.set_viewport_size({"width": 704, "height": 1000})
            tab.emulate_media(media="print")
            tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            assert tab.evaluate("document.documentElement.scrollWidth") <= 704
            assert tab.evaluate(OUTSIDE, 704) == []
            assert tab.locator(".wide").evaluate_all("es => es.every(e => getComputedStyle(e).overflowX === 'visible')")
            assert tab.locator("thead th").evaluate_all(
                "es => es.every(e => parseFloat(getComputedStyle(e).fontSize) <= 11)"
            )
            for words in ("Move a slider", "move the slider", "Open a metric"):
                assert words not in tab.locator("main").inner_text()


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_no_word_runs_off_and_the_page_is_not_wider_than_it(show, width):
    y, score, _ = scored(1500)
    rare = np.append(y, np.zeros(400_000, int)), np.append(score, np.full(400_000, 0.001))
    for html in (
        evaluate(*rare[:1], y_score=rare[1], draws=20).to_html(),
        evaluate(Counts(30, 3, 400_000, 999_999_999)).to_html(),
    ):
        with show(html) as tab:
            tab.set_viewport_size({"width": width, "height": 844})
            tab.wait_for_timeout(100)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            drawn = OUTSIDE.replace("svg text, th, td", "svg text")
            assert tab.evaluate(drawn, width) == []


def test_without_a_script_the_numbers_stand(browser, tmp_path, html, evaluation):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator('[data-metric="jaccard"]').is_visible()
    assert tab.locator('[data-metric="recall"] .value').text_content() == unbroken(
        percent_text(evaluation["recall"].value)
    )
    context.close()


def in_notebook(*outputs, paper="#ffffff", ink="#000000", scheme="light"):
    """Outputs of cells, in a notebook of that theme."""
    style = f"background: {paper}; color: {ink}; color-scheme: {scheme}; font: 13px sans-serif"
    body = "".join(f"<div class='cell'>{html}</div>" for html in outputs)
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>n</title><body style="{style}">{body}</body></html>'


@pytest.mark.parametrize(("paper", "ink", "scheme"), [("#ffffff", "#000000", "light"), ("#111111", "#e0e0e0", "dark")])
def test_an_output_of_a_notebook_takes_its_colours_and_each_has_its_own_slider(show, evaluation, paper, ink, scheme):
    labels = evaluate(Counts(28, 23, 72, 2680))
    html = in_notebook(
        *(part._repr_html_() for part in (evaluation, labels, evaluation)), paper=paper, ink=ink, scheme=scheme
    )
    with show(html) as tab:
        cells = tab.locator(".cell")
        assert tab.locator("input[type=range]").count() == 4 and cells.nth(1).locator("input").count() == 0
        before = cells.nth(0).inner_text()
        slider = cells.nth(2).locator("input").first
        slider.evaluate("s => { s.value = 260; s.dispatchEvent(new Event('input')); }")
        until(tab, "() => !document.querySelectorAll('.sy-metrics')[2].textContent.includes('…')")
        threshold = float(slider.get_attribute("data-threshold"))
        counts = evaluation.scores.at(threshold)
        shown = [int(text.replace(",", "")) for text in cells.nth(2).locator(".sy-matrix td").all_inner_texts()]
        assert shown == [counts.tn, counts.fp, counts.fn, counts.tp]
        recall = cells.nth(2).locator('tr[data-metric="recall"] td').all_inner_texts()
        assert recall[0] == unbroken(percent_text(get_metric("recall")(counts)))
        low, high = recall[2].split(" to ")
        assert float(low) < number(recall[0]) < number(high)
        assert cells.nth(2).locator('tr[data-metric="roc_auc"] td').first.inner_text() == three_digits(
            evaluation["roc_auc"].value
        )
        found, missed, alarms, _ = dot_outcomes(evaluation.scores, threshold)
        words = f"{found} true positives, {missed} false negatives, {alarms} false positives"
        assert words in cells.nth(2).locator(".sy-dots svg").get_attribute("aria-label")
        assert cells.nth(2).locator(".sy-verdict b").first.inner_text() != evaluation.verdict[0]
        cells.nth(2).locator("input").last.evaluate("s => { s.value = 3; s.dispatchEvent(new Event('input')); }")
        share = number(cells.nth(2).locator("output").last.inner_text()) / 100
        assert cells.nth(2).locator('tr[data-metric="precision"] td').first.inner_text() == unbroken(
            percent_text(get_metric("precision")(at_prevalence(counts, share)))
        )
        assert cells.nth(0).inner_text() == before
        cells.nth(2).locator("button").click()
        assert cells.nth(2).inner_text() == before
        colours = "e => [e, ...e.querySelectorAll('*')].map(x => getComputedStyle(x)).flatMap(s => [s.color, s.backgroundColor])"
        own = set(cells.nth(1).evaluate(colours))
        assert own == {tab.evaluate("getComputedStyle(document.body).color"), "rgba(0, 0, 0, 0)"}


def test_an_output_that_is_not_trusted_can_be_read_without_script_and_style(browser, tmp_path, evaluation):
    import re

    html = evaluation._repr_html_()
    assert len(html) < 48_000 and len(evaluate(Counts(28, 23, 72, 2680))._repr_html_()) < 12_000
    bare = re.sub(r"<(script|style)>.*?</\1>|<svg.*?</svg>", "", html, flags=re.DOTALL)
    path = tmp_path / "bare.html"
    path.write_text(in_notebook(bare), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    text = tab.locator("body").inner_text()
    assert evaluation.verdict[0] in text and unbroken(percent_text(evaluation["recall"].value)) in text
    assert tab.locator(".sy-matrix td").count() == 4
    context.close()


def test_averages_and_single_classes_follow_the_sliders_too(show):
    y, score, _ = scored()
    wanted = ["f1", "f1[average=macro]", "f1[average=weighted]", "precision[average=micro]", "recall[class=0]"]
    report = evaluate(y, y_score=score, metrics=wanted, draws=200)
    with show(report.to_html()) as tab:
        slide(tab, "threshold", 40)
        tab.wait_for_timeout(100)
        threshold, prevalence = settings(tab)
        counts = at_prevalence(report.scores.at(threshold), prevalence)
        table = Confusion.of_rows(
            (0, 1), np.array([[counts.tn, counts.fp], [counts.fn, counts.tp]]).round().astype(int)
        )
        expected = {
            row.name: row.spec.metric(table, average=row.spec.average)
            if row.spec.label is None and row.spec.average != "native"
            else row.spec.metric(table, pos_label=1 if row.spec.label is None else row.spec.label)
            for row in report.metrics
        }
        assert threshold != report.threshold
        assert_same(read(tab), expected)
