"""The site: the documentation builds without a warning and asks nothing of a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard
from steelyard import list_metrics

pytest.importorskip("mkdocs", reason="the documentation's tools are not installed: pip install '.[docs]'")
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOURCE = re.compile(r"<(?:script|img|iframe|source|embed|video|audio)\b[^>]*\bsrc=\"([^\"]+)\"")
LINK = re.compile(r"<link\b(?![^>]*canonical)[^>]*\bhref=\"([^\"]+)\"")
STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?([^\"')]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    place = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(place)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    # matplotlib 3.10 logs that it calls pyparsing 3.3 by its old names
    assert not [line for line in ran.stderr.splitlines() if not re.search(r"\.mplstyle: '\w+' deprecated", line)]
    return place


def loaded(page, *patterns):
    text = page.read_text(encoding="utf-8")
    return [place for pattern in patterns for place in pattern.findall(text)]


def test_a_page_that_loads_from_elsewhere_would_be_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<link rel="stylesheet" href="https://a.b/c.css"><script src="//d.e/f.js"></script>', encoding="utf-8"
    )
    assert loaded(page, SOURCE, LINK) == ["//d.e/f.js", "https://a.b/c.css"]


def test_the_built_pages_load_nothing_from_elsewhere_and_are_whole(site):
    seen = [(page.name, place) for page in site.rglob("*.html") for place in loaded(page, SOURCE, LINK, STYLE)]
    seen += [(page.name, place) for page in site.rglob("*.css") for place in loaded(page, STYLE)]
    assert len(seen) > 500
    assert not [pair for pair in seen if re.match(r"(https?:)?//", pair[1])]
    for metric in list_metrics():
        assert (site / "catalogue" / f"{metric.name}.html").is_file()
    assert "SurfaceDisplay" in (site / "reference" / "figures.html").read_text(encoding="utf-8")
    assert "<math" in (site / "catalogue" / "ac_score.html").read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: the browser tests are skipped")
def test_a_browser_opens_the_pages_from_disk_and_asks_no_network(site):
    playwright = pytest.importorskip("playwright.sync_api")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # fmt: skip
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=quiet)
        page = browser.new_page()
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in ("index.html", "tutorial.html", "catalogue/ac_score.html", "how/figures.html"):
            page.goto((site / name).as_uri(), wait_until="load")
            broken = "[...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetParent).map(i => i.src)"
            assert page.evaluate(broken) == []
        browser.close()
    assert asked
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    assert not errors


def test_the_home_embeds_three_pages_that_the_build_makes(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    frames = re.findall(r"<iframe[^>]*>", home)
    assert len(frames) == 3
    for frame, name in zip(frames, ("fraud", "tornado", "classes"), strict=True):
        assert f'src="live/{name}.html"' in frame and f'<a href="live/{name}.html">' in home
        assert 'sandbox="allow-scripts"' in frame and 'loading="lazy"' in frame and 'title="' in frame
        page = (site / "live" / f"{name}.html").read_text(encoding="utf-8")
        assert "Of 1" in page and "Content-Security-Policy" in page


def test_the_gallery_draws_every_kind_of_figure_with_its_code(site):
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    displays = [name for name in dir(steelyard.figures) if name.endswith("Display")]
    assert len(displays) > 20 and not [name for name in displays if f"steelyard.figures.{name}." not in page]
    assert 'kind="lift"' in page and 'kind="brier"' in page  # what a gain and a cost curve show too
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", page)
    assert len(pictures) == len(set(pictures)) >= len(displays) + 2
    assert all((site / picture).read_text(encoding="utf-8").count("<text") > 3 for picture in pictures)


def test_every_page_of_the_menu_leads_on(site):
    start, last = ((site / name).read_text(encoding="utf-8") for name in ("start.html", "how/figures.html"))
    for page in (start, last):
        assert "md-footer__link--prev" in page and "md-footer__link--next" in page


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: the browser tests are skipped")
def test_neither_prompts_nor_output_are_copied_with_the_code(site):
    playwright = pytest.importorskip("playwright.sync_api")
    copied = """() => [...document.querySelectorAll("pre > code")].map((code) => {
        code.setAttribute("data-md-copying", "");  // as the theme's button does
        const text = code.innerText.trimEnd();
        code.removeAttribute("data-md-copying");
        return [code.textContent, text];
    })"""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        pairs = []
        for name in ("start.html", "how/shell.html", "gallery.html"):
            tab.goto((site / name).as_uri(), wait_until="load")
            pairs += tab.evaluate(copied)
        browser.close()
    prompted = [(whole, text) for whole, text in pairs if whole.startswith((">>> ", "$ "))]
    assert len(prompted) > 20
    for whole, text in prompted:
        assert text and not re.search(r"^(>>>|\.\.\.|\$) ", text, re.MULTILINE), whole
