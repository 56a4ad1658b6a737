"""Types: what type checkers and editors see of the package is what it is."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))

import stub  # noqa: E402


def test_the_stub_is_what_the_names_and_the_catalogue_say():
    assert stub.STUB.read_text(encoding="utf-8") == stub.text(), "write it anew: make stub"
