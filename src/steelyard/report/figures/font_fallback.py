"""Font fallback: fonts of this machine for letters that the first one lacks: Chinese, Japanese, Korean, emoji."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from matplotlib import font_manager

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = "DejaVu Sans"  # which comes with matplotlib
# In the order in which they are asked for a letter. Fonts of coloured pictures cannot be drawn by matplotlib.
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans CJK TC",
    "Source Han Sans SC",
    "Source Han Sans",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Noto Sans JP",
    "Noto Sans KR",
    "Noto Sans SC",
    "IPAexGothic",
    "NanumGothic",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
    "Segoe UI Emoji",
    "Symbola",
    "Noto Sans Symbols2",
    "Unifont",
)


def font_families() -> list[str]:
    """The first font and those of the fallbacks that this machine has."""
    return [FIRST, *_present(len(font_manager.fontManager.ttflist))]


@lru_cache(maxsize=4)
def _present(_fonts: int) -> tuple[str, ...]:
    """The fallbacks that are there; looked up anew when fonts were added."""
    names = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in FALLBACKS if name in names)


@contextmanager
def without_font_warnings() -> Iterator[None]:
    """Draw without a word on letters that no font has, which are boxes, and on fallbacks of one weight alone."""
    log = logging.getLogger("matplotlib.font_manager")
    log.addFilter(_is_of_no_weight)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
            yield
    finally:
        log.removeFilter(_is_of_no_weight)


def _is_of_no_weight(record: logging.LogRecord) -> bool:
    return "font weight" not in record.getMessage()
