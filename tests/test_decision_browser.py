"""The decision section in a real browser: its thresholds, promises, sentences and commands beside Python's."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from accessible import accessible
from command_line import run_command
from pages_open import caught_up, page_data, slide, until
from scipy import stats
from scipy.special import betainc

from steelyard import Result, SteelyardError, best_threshold, evaluate
from steelyard.evaluation.verdict.decision_sentence import decision_sentence
from steelyard.figures import ThresholdDisplay

BY_RATES = ("precision", "recall", "f1", "mcc", "accuracy", "balanced_accuracy")
FIELDS = ("cost", "alerts", "rows", "recall", "specificity", "precision", "negative_predictive_value")


def rows(n, share, seed=0, digits=2):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, np.round(1 / (1 + np.exp(-(1.2 * rng.normal(size=n) + 2.4 * y - 1.8))), digits)


@pytest.fixture(scope="module")
def rule(browser):
    """The rule of the page in an empty tab, of its own modules."""
    tab, sources = browser.new_page(), files("steelyard.report.pages").joinpath("templates")
    tab.route("http://page.test/*", lambda route: route.fulfill(path=sources / route.request.url.rpartition("/")[2]))
    tab.route("http://page.test/", lambda route: route.fulfill(body="", content_type="text/html"))
    tab.goto("http://page.test/")
    tab.evaluate("async () => { window.decisionRule = await import('/promises.js'); }")
    yield tab
    tab.close()


def put(tab, **entries):
    """Entries as typed: those that are not named are empty, and a miss costs one false alarm."""
    tab.evaluate(
        """entries => {
            const boxes = Object.keys(entries).map(key => document.getElementById(`decision-${key}`)).filter(Boolean);
            for (const box of boxes) box.value = entries[box.id.replace('decision-', '')];
            const read = box => box.dispatchEvent(new Event('input'));  // which reads all but the prevalence
            boxes.filter(box => box.id === 'decision-prevalence').forEach(read);
            read(boxes[0]);
        }""",
        {**dict.fromkeys(FIELDS, ""), "cost": "1", "confidence": "", **entries},
    )


def answer(tab):
    found = tab.get_attribute("#decision-sentence", "data-answer")
    return json.loads(found) if found else None


def sentence(tab):
    return tab.locator("#decision-sentence").text_content().replace("\u00a0", " ")


def limits_of(entries):
    limits = [f"{name}>={entries[name]}%" for name in FIELDS[3:] if entries.get(name)]
    return limits + ([f"alerts<={entries['alerts']} of {entries['rows']}"] if entries.get("alerts") else [])


# ---------------------------------------------------------------- the rule alone


def test_binomial_tails_are_scipys(rule):
    cases = []
    for n in (1, 2, 3, 15, 16, 17, 60, 1_000, 12_345, 10**6):
        for p in (1e-6, 0.01, 0.1, 0.5, 0.8, 0.95, 0.999, 1 - 1e-12):
            spread = max(1.0, (n * p * (1 - p)) ** 0.5)
            near = [round(n * p + z * spread) for z in (-6, -2, -1, 0, 1, 2, 4, 8)]
            cases += [(min(max(k, 0), n), n, p) for k in (0, 1, n // 2, n - 1, n, *near)]
    k, n, p = np.array(cases).T
    found = np.array(rule.evaluate("cases => cases.map(([k, n, p]) => decisionRule.atLeast(k, n, p))", cases))
    expected = np.where(k > 0, betainc(np.maximum(k, 1e-9), n - k + 1, p), 1.0)
    assert np.abs(found - expected).max() < 1e-9
    sure = expected > 1e-200
    assert np.allclose(found[sure], expected[sure], rtol=1e-9, atol=0)


def test_a_day_with_too_many_alerts_is_as_likely_as_in_python(rule):
    cases = [
        (alerts, day, flagged, total)
        for total in (10, 137, 5_000)
        for flagged in {0, 1, total // 40, total // 3, total - 1}
        for day in (1, 10, 1_000, 40_000)
        for alerts in {0, 1, day // 50, day // 4, day - 1}
        if alerts < day
    ]
    found = rule.evaluate("cases => cases.map((each) => decisionRule.exceeded(...each))", cases)
    for (alerts, day, flagged, total), chance in zip(cases, found, strict=True):
        # The share above the next score that is not flagged has a beta distribution.
        exceeded = stats.betabinom.sf(alerts, day, flagged + 1, total - flagged)
        assert chance == pytest.approx(exceeded, abs=1e-9), (alerts, day, flagged, total)


# ---------------------------------------------------------------- beside best_threshold


SETTINGS = [
    {"cost": cost, "prevalence": prevalence, **limits, "confidence": confidence}
    for i, (cost, limits) in enumerate(
        (cost, limits)
        for cost in ("0.3", "1", "12.5", "100")
        for limits in (
            {},
            {"recall": "80"},
            {"recall": "99"},
            {"precision": "55"},
            {"specificity": "97.5", "recall": "30"},
            {"negative_predictive_value": "96"},
            {"alerts": "60", "rows": "1000"},
            {"precision": "40", "recall": "60", "negative_predictive_value": "90"},
            {"alerts": "250", "rows": "1000", "recall": "70"},
        )
    )
    for prevalence in ((None, 0.02) if i % 2 else (None, 0.5))
    for confidence in (("", "0.95", "0.8") if i % 3 else ("", "0.99"))
]


@pytest.fixture(scope="module")
def few():
    """So few scores that the page holds every threshold."""
    y, score = rows(900, 0.15)
    return evaluate(y, y_score=score, threshold=0.015, draws=50)


def asked_of_python(table, entries, prevalence, confidence):
    """The best threshold and its plateau, or the sentence that says why there is none."""
    asked = {"cost": {"cost_fn": float(entries["cost"])}, "where": limits_of(entries) or None, "draws": 0}
    asked |= {"confidence": confidence, "prevalence": prevalence}
    try:
        best = best_threshold(table, **asked)
    except SteelyardError as error:
        return None, None, str(error)
    return best, best.plateau, ""


def is_promised(entries, prevalence):
    """Whether the page promises: at another prevalence only what is a rate of one class."""
    far = prevalence is not None and any(
        entries.get(key) for key in ("precision", "negative_predictive_value", "alerts")
    )
    return bool(entries["confidence"]) and bool(limits_of(entries)) and not far


def test_the_page_chooses_the_threshold_that_python_chooses(show, few):
    table, chosen = few.scores, 0
    with show(few.to_html()) as tab:
        data = page_data(tab.content())
        thresholds, stops = data["thresholds"]["threshold"], data["stops"]
        assert len(thresholds) == data["all_thresholds"]
        for entries in sorted(SETTINGS, key=lambda entries: entries["prevalence"] or 0):
            share = entries["prevalence"]
            stop = data["stop"] if share is None else int(np.abs(np.array(stops) - share).argmin())
            share = None if share is None else stops[stop]
            if stop != tab.evaluate("steelyard.state.stop"):
                slide(tab, "prevalence", stop)
            put(tab, **{key: value for key, value in entries.items() if key != "prevalence"})
            confidence = float(entries["confidence"]) if is_promised(entries, share) else None
            found = answer(tab)
            best, plateau, error = asked_of_python(table, entries, share, confidence)
            assert (found is None) == (best is None), entries
            if best is None:
                assert sentence(tab).split(";")[0].rstrip(".") in error, entries
                continue
            shown = thresholds[found["index"]]
            assert (np.inf if shown is None else shown) == pytest.approx(best.threshold, rel=1e-9, abs=1e-9), entries
            assert found["cost"] == pytest.approx(best.value, rel=1e-9, abs=1e-9), entries
            ends = [np.inf if thresholds[i] is None else thresholds[i] for i in found["plateau"]]
            assert ends == pytest.approx(plateau, rel=1e-9, abs=1e-9), entries
            assert sentence(tab) == decision_sentence(
                best, table, float(entries["cost"]), share, base=few.denominator
            ), entries
            chosen += 1
        assert chosen > 100


def test_with_fewer_thresholds_than_there_are_promises_are_kept_all_the_same(show):
    y, score = rows(20_000, 0.06, digits=9)
    evaluation = evaluate(y, y_score=score, draws=50)
    table = evaluation.scores
    with show(evaluation.to_html()) as tab:
        data = page_data(tab.content())
        thresholds = [np.inf if t is None else t for t in data["thresholds"]["threshold"]]
        assert len(thresholds) < data["all_thresholds"]
        for cost in ("0.5", "4", "33"):  # without limits one of the convex hull is best, and all of it is here
            put(tab, cost=cost)
            best = best_threshold(table, cost={"cost_fn": float(cost)}, draws=0)
            assert thresholds[answer(tab)["index"]] == pytest.approx(best.threshold, rel=1e-9, abs=1e-9)
            assert sentence(tab) == decision_sentence(best, table, float(cost), None)
        for entries in (
            {"recall": "85"},
            {"precision": "45"},
            {"negative_predictive_value": "98.5"},
            {"precision": "30", "recall": "55"},
        ):
            for level in ("0.8", "0.99"):
                put(tab, cost="9", confidence=level, **entries)
                found = answer(tab)
                best = best_threshold(
                    table, cost={"cost_fn": 9}, where=limits_of(entries), confidence=float(level), draws=0
                )
                assert found["cost"] >= best.value - 1e-12
                assert found["cost"] <= best.value * 1.05
                assert "of 20,001 thresholds" in tab.locator("#decision-notes").text_content()


def test_the_threshold_of_the_decision_is_taken_over_by_the_page(show, few):
    with show(few.to_html()) as tab:
        put(tab, cost="8", recall="80", confidence="0.9")
        best = best_threshold(few.scores, cost={"cost_fn": 8}, where="recall>=0.8", confidence=0.9, draws=0)
        button = tab.locator("#decision-use")
        button.click()
        assert button.is_disabled()
        assert float(tab.get_attribute("#threshold", "data-threshold")) == pytest.approx(best.threshold, abs=1e-9)
        caught_up(tab)
        values = {name: tab.get_attribute(f'[data-metric="{name}"]', "data-value") for name in ("recall", "precision")}
        assert float(values["recall"]) == pytest.approx(best.counts.tp / best.counts.positives, abs=1e-9)
        assert float(values["precision"]) == pytest.approx(best.counts.tp / best.counts.predicted_positives, abs=1e-9)


# ---------------------------------------------------------------- entries


def test_an_entry_that_cannot_be_used_is_named_beside_it(show, few):
    with show(few.to_html()) as tab:
        for key, value, words in (
            ("cost", "-3", "A number from"),
            ("cost", "0", "A number from"),
            ("recall", "150", "percentage from 0 to 100"),
            ("negative_predictive_value", "-1", "percentage from 0 to 100"),
            ("alerts", "2.5", "whole number"),
            ("rows", "0", "whole number"),
        ):
            put(tab, rows="100", alerts="10")
            put(tab, **{"rows": "100", "alerts": "10", key: value})
            box = tab.locator(f"#decision-{key}")
            assert box.get_attribute("aria-invalid") == "true", key
            assert words in tab.locator(".entry", has=box).locator("[role=alert]").text_content()
            assert "no answer yet" in sentence(tab) and answer(tab) is None
            assert tab.locator("#decision-use").is_disabled() and tab.locator("#decision-copy-commands").is_disabled()
        put(tab)
        assert tab.locator("[aria-invalid=true]").count() == 0
        assert answer(tab) is not None
        put(tab, alerts="200", rows="100")
        assert "at most the rows" in tab.locator(".entry [role=alert]").nth(1).text_content()


def test_the_prevalence_entered_is_that_of_the_slider(show, few):
    with show(few.to_html(), hash="#open=decision-shell&decision-cost=1") as tab:
        tab.fill("#decision-prevalence", "2")
        assert float(tab.get_attribute("#prevalence", "data-prevalence")) == 0.02
        assert "at a prevalence of 2.00 %" in sentence(tab)
        tab.fill("#decision-prevalence", "2.345")  # between two steps: as it was typed, and in the address
        best = best_threshold(few.scores, cost={"cost_fn": 1}, prevalence=0.02345, draws=0)
        assert sentence(tab) == decision_sentence(best, few.scores, 1.0, 0.02345, base=few.denominator)
        asked = {"threshold": 0.015, "prevalence": 0.02345, "metrics": BY_RATES, "draws": 20}
        there, known = evaluate(few.scores, **asked), "steelyard.numbers().metrics"
        assert tab.evaluate("steelyard.numbers().prevalence") == 0.02345
        for row in tab.evaluate(known):
            if row["name"] in BY_RATES:
                assert row["value"] == pytest.approx(there[row["name"]].value, rel=1e-9, abs=1e-9), row["name"]
        (missing,) = {row["undefined"] for row in tab.evaluate(known) if row["name"] == "average_precision"}
        assert "steps of the slider" in missing
        until(tab, "location.hash.includes('prevalence=0.02345')")
        address = tab.evaluate("location.hash")
        tab.fill("#decision-prevalence", "130")
        assert "below 100" in tab.locator(".entries").text_content()
        slide(tab, "prevalence", 0)
        tab.locator("#decision-cost").focus()
        assert float(tab.input_value("#decision-prevalence")) == 0.01
    with show(few.to_html(), hash=address) as tab:
        assert float(tab.get_attribute("#prevalence", "data-prevalence")) == 0.02345
        assert float(tab.input_value("#decision-prevalence")) == 2.345


def test_what_no_threshold_keeps_is_said_with_the_rows_it_takes(show):
    y, score = rows(120, 0.1, seed=3)
    evaluation = evaluate(y, y_score=score, draws=50)
    positives = int(y.sum())
    with show(evaluation.to_html()) as tab:
        put(tab, recall="90", confidence="0.95")
        notes = tab.locator("#decision-notes").text_content().replace("\u00a0", " ")
        assert f"recall >= 90 % with 95 % confidence needs at least 29 positives; here are {positives}." in notes
        assert sentence(tab).startswith("With everybody flagged")
        put(tab, recall="100", confidence="0.95")
        assert "No number of rows shows recall >= 100" in tab.locator("#decision-notes").text_content()
        put(tab, precision="99", confidence="0.99")
        assert "No threshold keeps precision >= 99 % with 99 % confidence." in sentence(tab)
        assert tab.locator("#decision-use").is_disabled()
        assert (
            "The rows would be enough; the scores meet the limits by too little"
            in tab.locator("#decision-notes").text_content()
        )


def test_the_dot_of_the_decision_curve_lies_on_it(show, few):
    script = """() => {
        const svg = document.querySelector('#decision-curve svg'), dot = svg.querySelector('.point');
        const [x, y] = ['cx', 'cy'].map(key => Number(dot.getAttribute(key)));
        const points = [...svg.querySelectorAll('.curve')].flatMap(line => [...line.points]).sort((a, b) => a.x - b.x);
        const next = points.findIndex(point => point.x >= x), [a, b] = [points[next - 1], points[next]];
        return Math.abs(a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x || 1) - y);
    }"""
    with show(few.to_html(), hash="#part=probabilities") as tab:
        for cost in ("2.7", "11", "33"):  # between two steps
            put(tab, cost=cost)
            assert tab.evaluate(script) < 1  # pixels


@pytest.mark.parametrize("kind", ["weighted", "clustered"])
def test_rows_that_do_not_count_alike_have_limits_without_a_promise(show, kind):
    y, score = rows(700, 0.2, seed=5)
    rng = np.random.default_rng(1)
    how = {"sample_weight": rng.gamma(2, 1, 700)} if kind == "weighted" else {"cluster": rng.integers(0, 60, 700)}
    evaluation = evaluate(y, y_score=score, draws=50, **how)
    with show(evaluation.to_html()) as tab:
        assert tab.locator("#decision-confidence").count() == 0
        assert (
            f"Rows {'have weights' if kind == 'weighted' else 'are clustered'}"
            in tab.locator("#decision-notes").text_content()
        )
        put(tab, cost="6", recall="85", specificity="20")
        best = best_threshold(
            evaluation.scores, cost={"cost_fn": 6}, where=["recall>=85%", "specificity>=20%"], draws=0
        )
        assert answer(tab)["cost"] == pytest.approx(best.value, rel=1e-9)
        if kind == "weighted":
            assert sentence(tab) == decision_sentence(best, evaluation.scores, 6.0, None)


# ---------------------------------------------------------------- the address, the shell, the screen


def test_the_address_holds_every_entry(show, few):
    html = few.to_html()
    with show(html) as tab:
        put(tab, cost="7", recall="75", alerts="30", rows="100", confidence="0.8")
        tab.locator("#decision-shell summary").click()
        told, address = sentence(tab), tab.evaluate("location.hash")
    with show(html, hash=address) as tab:
        assert sentence(tab) == told
        assert tab.input_value("#decision-confidence") == "0.8" and tab.input_value("#decision-rows") == "100"
        assert tab.locator("#decision-commands").is_visible()
        tab.evaluate("location.hash = '#decision-cost=3'")
        tab.wait_for_timeout(50)
        assert "as much as 3 false alarms" in sentence(tab) and tab.input_value("#decision-recall") == ""
    with show(html, hash="#decision-cost=nonsense&decision-confidence=7&decision-recall=300") as tab:
        assert "no answer yet" in sentence(tab) and tab.input_value("#decision-confidence") == "0.95"


def run(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(line)
    assert program == "steelyard"
    return run_command(*arguments)


def test_the_commands_find_the_same_threshold(show, tmp_path, monkeypatch):
    y, score = rows(800, 0.2, seed=8)
    names = {"true": "it's fraud?", "score": "-score $HOME"}
    frame = pl.DataFrame({names["true"]: np.where(y == 1, "yes & no", "no"), names["score"]: score})
    frame.write_csv(tmp_path / "new rows.csv")
    evaluation = evaluate(frame, **names, pos_label="yes & no", draws=50)
    with show(replace(evaluation, source="new rows.csv").to_html()) as tab:
        thresholds = page_data(tab.content())["thresholds"]["threshold"]
        for entries in (
            {"cost": "5"},
            {"cost": "3", "recall": "80", "confidence": "0.95"},
            {"cost": "2.5", "precision": "60", "alerts": "300", "rows": "1000", "confidence": "0.9"},
            {"cost": "40", "specificity": "62.5"},
            {"cost": "", "alerts": "150", "rows": "1000", "confidence": "0.9"},  # as much as they find
            {"cost": "", "recall": "80", "confidence": "0.9"},  # for as few false alarms as they take
        ):
            put(tab, **entries)
            found, lines = answer(tab), tab.locator("#decision-commands").text_content().split("\n")
            assert len(lines) == 2
            (tmp_path / "chosen.json").unlink(missing_ok=True)
            told = run(lines[0], tmp_path, monkeypatch)
            assert told.exit_code == 0, told.output
            if limits_of(entries):
                chosen = Result.from_json((tmp_path / "chosen.json").read_text()).threshold
            else:
                chosen = float(told.output.split("all its digits: ")[1].split(";")[0])
            assert chosen == pytest.approx(thresholds[found["index"]], rel=1e-9, abs=1e-9), entries
            judged = run(lines[1] + " --format json", tmp_path, monkeypatch)
            assert judged.exit_code == 0, judged.output
            (first, *_) = json.loads(judged.stdout)["rules"]
            if not limits_of(entries):
                assert float(re.search(r" is (\S+),", first["text"])[1]) == pytest.approx(found["cost"], rel=1e-3)


def test_the_section_fits_a_phone_and_is_accessible(show, few):
    with show(few.to_html(), hash="#open=decision-shell&decision-recall=180", width=1440) as tab:
        for entries in ({"recall": "180"}, {"cost": "20", "recall": "80", "confidence": "0.95"}):
            put(tab, **entries)
            for part in ("section.controls", "section.answer"):
                accessible(tab, part, narrow=(390, 768, 1024, 1100))


def test_names_in_commands_are_quoted_and_long_ones_left_out():
    y, score = rows(60, 0.4)
    frame = pl.DataFrame({"a b'c": y, "-s": score})
    evaluation = evaluate(frame, true="a b'c", score="-s", threshold=0.5, draws=20)
    for source, expected in {
        "-x; y": ["./-x; y", "--true", "a b'c", "--score=-s", "--pos-label", "1"],
        "n" * 900: None,
    }.items():
        data = page_data(replace(evaluation, source=source).to_html())["decision"]
        assert bool(data["unnamed"]) == (expected is None)
        assert shlex.split(data["file"]) == (expected or ["predictions.csv", "--true", "label", "--score", "score"])


@pytest.mark.parametrize("cost", [0.3, 10])
def test_the_figure_of_a_cost_has_the_baselines_and_the_plateau_of_the_page(few, cost):
    display = ThresholdDisplay.from_evaluation(few, metrics=[f"expected_cost[cost_fn={cost}]"])
    best = best_threshold(few.scores, cost={"cost_fn": cost}, draws=0)
    share = few.scores.positive.n / few.scores.n
    assert (display.costs.nobody, display.costs.everybody) == pytest.approx((cost * share, 1 - share), abs=1e-12)
    assert display.costs.plateau == best.plateau and display.costs.least == best.value
    assert "flagging nobody" in display.caption() and "(within 2 %)" in display.caption()
    display.plot()
    low, high = display.ax_.get_ylim()
    assert low == 0 and best.value < high
    assert ThresholdDisplay.from_evaluation(few, metrics=["f1"]).costs is None


def test_the_sentence_is_copied_with_an_address_that_brings_it_back(show, few):
    html = few.to_html()
    with show(html, permissions=["clipboard-read", "clipboard-write"]) as tab:
        put(tab, cost="7", recall="75", confidence="0.8")
        told = sentence(tab)
        tab.click("#decision-copy")
        until(tab, "document.getElementById('copied').textContent === 'copied'")
        words, _, address = tab.evaluate("navigator.clipboard.readText()").rpartition(" ")
        assert words == told
    with show(html, hash="#" + address.partition("#")[2]) as tab:
        assert sentence(tab) == told
