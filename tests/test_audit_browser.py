"""The page of an audit in a real browser: a matrix whose cells open their proof or their smallest table."""

from __future__ import annotations

import json

import pytest
from accessible import accessible
from pages_open import press, until

from steelyard import audit, list_metrics

PROPERTIES = [row.property for row in audit("recall")]


@pytest.fixture(scope="module")
def decisions():
    return audit()


@pytest.fixture(scope="module")
def html(decisions):
    return decisions.to_html()


def of(decisions, metric, name):
    return next(row for row in decisions if (row.metric, row.property) == (metric, name))


def cell(tab, metric, name):
    return tab.locator(f'tr[data-metric="{metric}"] [data-property="{name}"]')


def test_the_headline_counts_what_is_proved_and_refuted(show, decisions, html):
    with show(html) as tab:
        proved, refuted = (sum(row.holds is sign for row in decisions) for sign in (True, False))
        told = f"{proved:,} are proved for all tables, and {refuted:,} are refuted by one"
        assert told in tab.locator("h1").text_content()
        assert tab.locator(".matrix td.yes").count() == proved
    alone = audit("recall")
    assert f">Recall has {sum(row.holds is True for row in alone)} of {len(alone)} properties;" in alone.to_html()


def test_a_cell_opens_its_proof_or_its_table(show, decisions, html):
    refuted = of(decisions, "precision", "class_symmetry")
    with show(html) as tab:
        assert not tab.locator("#decision").is_visible()
        cell(tab, "recall", "prevalence_invariance").click()
        words = tab.locator("#decision").text_content()
        assert "The value stays at any prevalence" in words and "proved" in words
        assert of(decisions, "recall", "prevalence_invariance").how in words
        cell(tab, "precision", "class_symmetry").click()
        tables = tab.locator("#decision .mini").evaluate_all(
            "ts => ts.map(t => [t.caption.textContent, [...t.querySelectorAll('td')].map(td => Number(td.textContent))])"
        )
        assert tables == [[value, list(cells)] for value, cells in refuted.counterexample.tables]
        address = tab.evaluate("location.hash")
    with show(html, hash=address) as tab:
        assert "Precision · Symmetry of the classes" in tab.locator("#decision").text_content()


def test_the_matrix_is_walked_by_keyboard(show, html):
    with show(html) as tab:
        for _ in range(40):
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.tagName") == "TD":
                break
        where = "[document.activeElement.parentNode.dataset.metric, document.activeElement.dataset.property]"
        first, second = PROPERTIES[:2]
        metrics = tab.locator("tr[data-metric]").evaluate_all("trs => trs.map(tr => tr.dataset.metric)")
        assert tab.evaluate(where) == [metrics[0], first]
        for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp"):
            tab.keyboard.press(key)
        assert tab.evaluate(where) == [metrics[1], second]
        tab.keyboard.press("Enter")
        assert "Change of the true negatives alone (García's p2)" in tab.locator("#decision h3").text_content()
        tab.keyboard.press("Escape")
        assert not tab.locator("#decision").is_visible()
        assert tab.locator('#properties td[tabindex="0"]').count() == 1


def test_the_heads_stay_in_view(show, html):
    with show(html, width=768) as tab:
        box = "part => part.getBoundingClientRect().toJSON()"
        places = [tab.locator(f".matrix {part}").first.evaluate(box) for part in ("thead th", "thead th + th")]
        room = tab.locator("#audited .wide")
        room.evaluate("room => room.scrollTo(300, 500)")
        assert room.evaluate("room => [room.scrollLeft, room.scrollTop].every(v => v > 0)")
        moved = [tab.locator(f".matrix {part}").first.evaluate(box) for part in ("thead th", "thead th + th")]
        assert moved[0] == places[0] and moved[1]["top"] == places[1]["top"]


def test_metrics_are_found_by_name_and_by_property(show, decisions, html):
    with show(html) as tab:
        tab.fill("#find-metric", "recall")
        shown = tab.locator("tr[data-metric]:visible").evaluate_all("trs => trs.map(tr => tr.dataset.metric)")
        titles = {metric.name: metric.title for metric in list_metrics()}
        assert shown and all("recall" in f"{name} {titles[name]}".lower() for name in shown)
        tab.fill("#find-metric", "")
        tab.select_option("#with-property", "prevalence_invariance")
        shown = tab.locator("tr[data-metric]:visible").evaluate_all("trs => trs.map(tr => tr.dataset.metric)")
        having = [row.metric for row in decisions if row.property == "prevalence_invariance" and row.holds]
        assert sorted(shown) == sorted(having)
        until(tab, "location.hash.includes('with=prevalence_invariance')")


def test_the_decisions_are_taken_along(show, decisions, html):
    with show(html) as tab:
        with tab.expect_download() as saved:
            press(tab, "save")
        rows = json.loads(saved.value.path().read_text(encoding="utf-8"))
        assert [(row["metric"], row["property"], row["verdict"]) for row in rows] == [
            (row.metric, row.property, row.verdict)
            for metric in dict.fromkeys(row.metric for row in decisions)
            for name in PROPERTIES
            for row in decisions
            if (row.metric, row.property) == (metric, name)
        ]


def test_an_accessibility_check_of_an_audit_finds_nothing(show, html):
    with show(html, width=1440) as tab:
        cell(tab, "precision", "class_symmetry").click()
        accessible(tab)
        for width in (1440, 1024, 768):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_an_audit_on_paper_has_the_whole_matrix(show, html):
    with show(html, width=704) as tab:
        tab.emulate_media(media="print")
        assert not tab.locator("#find-metric").is_visible()
        assert tab.locator("#properties").evaluate("part => part.getBoundingClientRect().right") <= 705
        assert tab.locator("#proofs .on-paper").is_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 704
