"""Published values: what the papers print, each with its place in the paper."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(paper: str) -> dict[str, Any]:
    """The printed numbers and sentences of one paper.

    >>> published("garcia")["table_2"]["signs"]["F1"]
    '+-+++'
    """
    text = files("steelyard.studies").joinpath("papers", f"{paper}.json").read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text)
    return values
