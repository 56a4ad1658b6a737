"""Accessibility: what axe finds in a page, on a wide screen and a phone's, in light and in dark."""

from __future__ import annotations

import pytest
from pages_open import widened

PHONE = 390
_CONTRAST = "color-contrast"
_RUN = """([part, options]) => axe.run(part || document, { resultTypes: ["violations"], ...options })
    .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))]))"""


def accessible(tab, part="", narrow=(PHONE,)):
    """No rule is broken in a page, or in a part of it, that is open in light on a wide screen, and nothing is cut.

    Colours do not depend on the width, nor anything else on the colours, so that contrast is looked at on the wide
    screen in light and in dark, and all else on every width in light.
    """
    assert _broken(tab, part, {}) == []
    tab.emulate_media(color_scheme="dark")
    assert _broken(tab, part, {"runOnly": [_CONTRAST]}) == []
    tab.emulate_media(color_scheme="light")
    wide = tab.viewport_size["width"]
    for width in narrow:
        widened(tab, width)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert _broken(tab, part, {"rules": {_CONTRAST: {"enabled": False}}}) == [], width
    widened(tab, wide)


def _broken(tab, part, options):
    """The rules that are broken, each with a few of the elements that break it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(axe.Axe().axe_script)
    return tab.evaluate(_RUN, [part, options])
