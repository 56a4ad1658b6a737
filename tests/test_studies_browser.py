"""A study's page in a real browser: from disk, with nothing fetched, on a wide and a narrow screen."""

from __future__ import annotations

import json
import shutil

import pytest
from accessible import accessible
from pages_open import press, until
from study_tools import Claim, Picture, Study, Table

from steelyard.figures import SurfaceDisplay

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: the browser tests are skipped"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: the browser tests are skipped")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HOSTILE = '</script><img src=x onerror="window.hit=1"><script>window.hit=1</script>'


@pytest.fixture(scope="module")
def html():
    claims = [
        Claim(HOSTILE, HOSTILE, HOSTILE, HOSTILE, verdict, HOSTILE, HOSTILE)
        for verdict in ("holds", "holds with qualification", "not shown", "does not hold")
    ]
    wide = [{f"column {i}": HOSTILE if i == 1 else 0.5 for i in range(20)} for _ in range(3)]
    tables = [Table("wide", HOSTILE, wide), Table("long", "Long", [{"a": i, "b": 1.0} for i in range(50)])]
    pictures = [Picture("contour", SurfaceDisplay.of(["ac_score"], shape="contour"), HOSTILE)]
    choices = {"seed": 0, "quick": True}
    return Study("wu", HOSTILE, HOSTILE, [HOSTILE, "More."], tables, pictures, claims, choices).to_html()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_alone_fits_and_shows_its_figures(html, tmp_path, width, scheme):
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        said, asked = [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_function("[...document.images].every(image => image.complete)")
        drawn = tab.evaluate("[...document.images].map(image => image.naturalWidth)")
        asked = [url for url in asked if not url.startswith("data:")]
        assert (said, asked) == ([], [path.as_uri()])
        assert len(drawn) == 1 and drawn[0] > 100
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("window.hit") is None
        assert not tab.locator("#long table").is_visible()
        tab.locator("#long summary").click()
        assert tab.locator("#long tbody tr").count() == 50 and tab.locator("#long table").is_visible()
        assert tab.locator(".claim").count() == 4 and "does not hold" in tab.locator(".claim.fails").inner_text()
        assert not tab.locator(".claim.fails dl").is_visible()
        tab.locator(".claim.fails summary").press("Enter")
        assert tab.locator(".claim.fails dl").is_visible()
        until(tab, "location.hash.includes('claim-4')")
        browser.close()


def test_the_claims_and_the_tables_are_taken_along(show, html):
    with show(html) as tab:
        with tab.expect_download() as saved:
            press(tab, "save")
        verdicts = [row["verdict"] for row in json.loads(saved.value.path().read_text(encoding="utf-8"))]
        assert verdicts == ["holds", "holds with qualification", "not shown", "does not hold"]
        tab.locator("#long summary").click()
        with tab.expect_download() as saved:
            tab.locator("#long .save-table").click()
        rows = saved.value.path().read_text(encoding="utf-8").split()
        assert rows[:3] == ["a,b", "0,1", "1,1"] and len(rows) == 51


def test_an_accessibility_check_of_a_study_finds_nothing(show, html):
    with show(html, width=1440) as tab:
        accessible(tab)


def test_paper_opens_what_is_folded(show, html):
    with show(html, width=704) as tab:
        tab.emulate_media(media="print")
        tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert tab.locator(".claim.fails dl").is_visible() and tab.locator("#long tbody tr").last.is_visible()
        assert not tab.locator(".save-table").first.is_visible()
