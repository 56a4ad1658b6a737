"""The documentation: its code runs, its catalogue is whole, it builds without a warning and asks nothing of a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard
from steelyard import list_metrics

pytest.importorskip("mkdocs", reason="the documentation's tools are not installed: pip install '.[docs]'")
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))

import blocks  # noqa: E402
import catalogue  # noqa: E402
import contours  # noqa: E402
import decided  # noqa: E402
import reference  # noqa: E402

PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name != "kalita.md")  # that one is a doctest of its own
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOURCE = re.compile(r"<(?:script|img|iframe|source|embed|video|audio)\b[^>]*\bsrc=\"([^\"]+)\"")
LINK = re.compile(r"<link\b(?![^>]*canonical)[^>]*\bhref=\"([^\"]+)\"")
STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?([^\"')]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_code_of_a_page_gives_what_the_page_says(page, tmp_path):
    if absent := blocks.missing(page.read_text(encoding="utf-8")):
        pytest.skip(f"{page.name} needs {', '.join(absent)}")
    assert not blocks.run(page, tmp_path).failures


def test_a_page_says_what_it_needs():
    text = "<!-- needs: numpy, nosuch, nosuch.csv -->\n\n# A page\n"
    assert blocks.missing(text) == ["nosuch", "nosuch.csv"]
    assert blocks.missing("# A page\n") == []


def test_most_code_is_run_and_what_is_not_says_why():
    found = [block for page in PAGES for block in blocks.blocks(page.read_text(encoding="utf-8"))]
    left = [block for block in found if block.why is not None]
    assert all(len(block.why.split()) >= 3 for block in left)
    assert len(left) <= len(found) / 8


def test_a_wrong_output_on_a_page_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> 1 + 1\n3\n```\n\n```console\n$ steelyard metrics --family nosuch\n```\n", encoding="utf-8"
    )
    found = blocks.run(page, tmp_path)
    assert len(found.failures) == 2
    assert ">>> 1 + 1\n2\n" in found.text


def _shell_lines():
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## In the shell")[2].partition("## ")[0]
    return re.findall(r"^ {4}(steelyard .+)", section, re.MULTILINE)


@pytest.fixture(scope="module")
def readers_folder(tmp_path_factory):
    """The files that the README's lines name, as a reader might have them."""
    folder = tmp_path_factory.mktemp("reader")
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)
    better, worse = (1 / (1 + np.exp(-(rng.normal(size=600) + shift * y - 2))) for shift in (4, 2))
    frame = pl.DataFrame(
        {"y": y, "p": better, "model_a": better, "model_b": worse, "predicted": (better > 0.5).astype(int)}
    )
    for name in ("preds.parquet", "part-1.parquet"):
        frame.write_parquet(folder / name)
    frame.select("y", "model_a", "model_b").write_csv(folder / "table.csv")
    return folder


def test_the_readme_has_about_ten_lines_for_the_shell():
    assert 8 <= len(_shell_lines()) <= 12


@pytest.mark.parametrize("line", _shell_lines())
def test_a_line_of_the_readme_for_the_shell_works(line, readers_folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-c", f"set -e; {line}"], cwd=readers_folder, env=os.environ | {"PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "not released" not in ran.stdout


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_has_a_page_and_its_example_runs(metric, tmp_path):
    text = catalogue.page(metric, plotted=False)
    for words in (
        metric.title,
        metric.meaning,
        "## Range and no-skill baseline",
        "## When it is undefined",
        "## Source",
    ):
        assert words in text
    page = tmp_path / "metric.md"
    page.write_text(text, encoding="utf-8")
    assert blocks.blocks(text)
    assert not blocks.run(page, tmp_path).failures


def test_a_page_warns_where_a_peers_name_misleads():
    assert "`fowlkes_mallows_score` is for clusterings" in catalogue.page(steelyard.fowlkes_mallows, plotted=False)


def test_every_count_metric_shows_what_is_decided_of_it():
    for metric in list_metrics():
        if metric.expression is not None:
            assert "## Proven properties" in catalogue.page(metric, plotted=False), metric.name


def test_every_property_is_told_with_the_metrics_that_have_it():
    from steelyard.auditing.property_list import PROPERTIES

    text = decided.asked()
    assert all(one.meaning in text for one in PROPERTIES.values())
    assert "*Proved of* none" not in text


def test_a_metric_of_both_rates_is_drawn_and_others_are_not():
    assert contours.picture(steelyard.ac_score).startswith(b"<?xml")
    assert contours.picture(steelyard.roc_auc) is None
    assert contours.picture(steelyard.prevalence) is None


def test_every_public_name_is_in_the_reference():
    text = "\n".join(reference.page(floor) for floor in reference.floors())
    for name in steelyard._HOME:
        assert f"{{ #{name} }}" in text
    from steelyard import sklearn

    assert all(f"{{ #{name} }}" in reference.drop_ins() for name in sklearn.__all__)


def test_every_command_is_told_with_a_function_that_exists():
    from importlib import import_module

    from steelyard.cli.overview import COMMANDS

    for command, facts in COMMANDS.items():
        home, _, function = f"steelyard.{facts.in_python}".replace("steelyard.steelyard", "steelyard").rpartition(".")
        assert callable(getattr(import_module(home), function)), command
        assert f"| [`{command}`](#{command}) | " in reference.commands()


def test_every_command_is_in_the_reference():
    from steelyard.cli.overview import COMMANDS

    assert all(f"Usage: steelyard {name}" in reference.commands() for name in COMMANDS)


# ---------------------------------------------------------------- the site


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
    assert "SurfaceDisplay" in (site / "reference" / "report.html").read_text(encoding="utf-8")
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
    from steelyard.report.figures import FIGURE_KINDS, VIEWS

    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for kind, name in FIGURE_KINDS.items():
        assert f"steelyard.{name}." in page, kind
        assert f'kind="{kind}"' in page or kind not in VIEWS
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", page)
    assert len(pictures) == len(set(pictures)) >= len(FIGURE_KINDS)
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
