"""Terminal letters: what stands for a drawn sign where the encoding of a terminal lacks it."""

from __future__ import annotations

_PLAIN = {
    "━": "=",
    "┃": "#",
    "●": "o",
    "·": ".",
    "─": "-",
    "│": "|",
    **dict.fromkeys("┐┤┘", "+"),
    "–": "-",
    "−": "-",
    "…": "~",
    "±": "+/-",
    "×": "x",
    "→": "->",
    **dict(zip("▁▂▃▄▅▆▇█", ".:-=+*#@", strict=True)),
}


def encodable(text: str, encoding: str) -> str:
    """The text with signs that the encoding has; other letters of the user's own data stay as they are.

    >>> encodable("|···━●━··│ 12 ± 3", "ascii")
    '|...=o=..| 12 +/- 3'
    >>> encodable("|···━●━··│", "utf-8")
    '|···━●━··│'
    """
    lacking: dict[str, str | int | None] = {
        sign: plain for sign, plain in _PLAIN.items() if sign in text and not _has(encoding, sign)
    }
    return text.translate(str.maketrans(lacking)) if lacking else text


def _has(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
