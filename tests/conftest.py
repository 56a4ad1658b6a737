"""Fixtures that every test may use."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
if "STEELYARD_DATA" not in os.environ and DATA.is_dir():
    os.environ["STEELYARD_DATA"] = str(DATA)

collect_ignore = [
    "calls.py",
    "checks.py",
    "command_line.py",
    "drawn_tables.py",
    "engines.py",
    "figure_kinds.py",
    "good_calls.py",
    "input_matrix.py",
    "own_metrics.py",
    "recorded",
    "write_record.py",
    "mutants.py",
    "sklearn_suite.py",
    "tensors.py",
    "typed_script.py",
]

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

# The same examples in every run, however slow the machine: no test depends on chance.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def golden():
    """The expected values of one golden file by its name."""
    return lambda name: json.loads((HERE / "golden" / f"{name}.json").read_text())


@pytest.fixture
def sorts_slowly(monkeypatch):
    """Takes NumPy's sort for slow or quick, as it is by the processor."""
    from steelyard.arrays import sorting

    return lambda slowly: monkeypatch.setattr(sorting, "numpy_sorts_slowly", lambda: slowly)


@pytest.fixture
def taken_for_a_device(monkeypatch):
    """The processor, of JAX and torch, taken for a device that NumPy cannot read; little is brought from it."""
    from tensors import backend

    monkeypatch.setattr(backend, "is_on_host", lambda _: False)
    monkeypatch.setattr(backend, "MOST_BROUGHT", 8)


@pytest.fixture(params=["array_api_strict", "torch"])
def to_device(request, taken_for_a_device):
    """Sends an array to a device; JAX, which compiles each function for each length first, has a test of its own."""
    from tensors import LIBRARIES

    send = LIBRARIES[request.param]
    send(np.zeros(1))
    return send


@pytest.fixture(scope="module")
def browser():
    """Chromium; skipped by name where it cannot be had."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no chromium on PATH")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def show(browser, tmp_path):
    """Opens a page from disk; at the end nothing may have failed, been logged or been asked of any network."""

    @contextmanager
    def opened(html, hash="", width=1280, **options):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        tab, said, asked = context.new_page(), [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri() + hash)
        if 'id="data"' in html:
            tab.wait_for_selector("html[data-ready]", state="attached")
        yield tab
        assert said == []
        assert asked == [path.as_uri()]
        context.close()

    return opened
