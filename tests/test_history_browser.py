"""The page of a history in a real browser: a chart for each metric, and one slider for the evaluation in all of them."""

from __future__ import annotations

import pytest
from accessible import accessible
from pages_open import page_data, press, until

from steelyard import Counts, Ledger, evaluate

HOSTILE = '"><img src=x onerror=alert(1)>\u202e'


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    ledger = Ledger(tmp_path_factory.mktemp("history") / HOSTILE.replace("/", ""))
    for version, tp in (("v1", 20), (HOSTILE, 28), ("v3", 35)):
        evaluation = evaluate(Counts(tp=tp, fn=51 - tp, fp=72, tn=2680), metrics=["recall", "mcc"])
        ledger.log(evaluation, {"model": version})
    ledger.log(evaluate(Counts(tp=20, fn=31, fp=0, tn=9), metrics=["recall"]), {"model": "v4"})
    return ledger.history()


def test_each_metric_is_a_chart_with_its_values_intervals_and_baselines(show, history):
    html = history.to_html()
    charts = page_data(html)["history"]["charts"]
    assert [chart["name"] for chart in charts] == ["recall", "mcc"]
    rows = [row for row in history if row.metric == "recall"]
    for key in ("value", "low", "high", "chance"):
        assert charts[0][key] == pytest.approx([getattr(row, key) for row in rows])
    assert charts[1]["value"][3] is None  # which was not evaluated
    with show(html) as tab:
        assert tab.locator("#trend-0 .dot").count() == 4 and tab.locator("#trend-1 .dot").count() == 3
        assert tab.locator("#trend-0 .whisker").count() == 4 and tab.locator("#trend-0 .chance-line").count() == 1
        assert "39.2 % (" in tab.locator("#trend-0-readout").text_content().replace("\xa0", " ")
        assert tab.locator("#numbers tbody tr").count() == 4
        assert tab.locator("img").count() == 0
        accessible(tab)


def test_the_slider_the_pointer_and_the_address_choose_an_evaluation_in_all_charts(show, history):
    with show(history.to_html()) as tab:
        tab.locator("#evaluation").focus()
        tab.keyboard.press("Home")
        readouts = [tab.locator(f"#trend-{i}-readout").text_content() for i in (0, 1)]
        assert all("model=v1" in words for words in readouts)
        assert rounded(history.rows[0].value) in readouts[0]
        address = tab.evaluate("location.hash")
        assert history.rows[0].id in address
        chart = tab.locator("#trend-0 svg").bounding_box()
        tab.mouse.move(chart["x"] + chart["width"] - 12, chart["y"] + 80)
        until(tab, "() => document.getElementById('trend-0-readout').textContent.includes('model=v4')")
        assert "not evaluated" in tab.locator("#trend-1-readout").text_content()
    with show(history.to_html(), hash=address) as tab:
        assert "model=v1" in tab.locator("#trend-1-readout").text_content()


def rounded(share):
    return f"{100 * share:.1f}"


def test_the_numbers_are_copied_as_csv(show, history):
    with show(history.to_html(), permissions=["clipboard-read", "clipboard-write"]) as tab:
        press(tab, "export", "csv")
        until(tab, "() => document.getElementById('copied').textContent")
        copied = tab.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0] == "evaluation,id,metric,value,low,high,chance" and len(copied) == 9
