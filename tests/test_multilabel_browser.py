"""The page of label sets in a real browser: labels are found and ordered, of very many all are shown on request."""

from __future__ import annotations

import numpy as np
import pytest
from accessible import accessible
from test_multilabel_intervals import drawn

from steelyard import evaluate
from steelyard.tables import multilabel

HOSTILE = ["</script><script>document.title = 'x'</script>", "\u202eright to left", "x" * 5_000, "plain"]


@pytest.fixture(scope="module")
def html():
    table = drawn(300, 6)
    labels = [*HOSTILE, "a", "b"]
    by = np.where(np.arange(300) % 2, "north", "south")
    return evaluate(table.true, table.predicted, labels=labels, by=by).to_html("tags.csv")


def test_labels_are_ordered_and_found_and_nothing_hostile_runs(show, html):
    with show(html) as tab:
        names = tab.locator("#label-list tbody th")
        first = names.first.text_content()
        tab.select_option("#label-order", "given")
        assert names.first.text_content() == HOSTILE[0] and names.first.text_content() != first
        tab.fill("#find-label", "plain")
        assert names.count() == 1 and "1 of 6 labels" in tab.locator("#found-labels").text_content()
        assert tab.title() == "tags.csv · Steelyard" and "find=plain" in tab.url


def test_the_page_is_accessible_on_a_screen_and_a_phone(show, html):
    with show(html) as tab:
        accessible(tab)


def test_of_very_many_labels_the_weakest_stand_first_and_all_on_request(show):
    rng = np.random.default_rng(0)
    many = multilabel(*(rng.random((200, 300)) < 0.2 for _ in range(2)))
    with show(evaluate(many, metrics=["f1[average=micro]"]).to_html()) as tab:
        rows = tab.locator("#label-list tbody tr")
        assert rows.count() == 50
        tab.click("#all-labels")
        assert rows.count() == 300 and tab.locator("#label-list svg").count() >= 290
