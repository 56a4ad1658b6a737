"""Published: the numbers that the papers print, and what was reconstructed from them, each with its place."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(name: str) -> dict[str, Any]:
    """The numbers of one paper.

    >>> published("nguyen")["table_II"]["accuracy"]["Average"]
    [88.35, 93.07, 96.08]
    """
    text = files("steelyard.studies.published").joinpath(f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
