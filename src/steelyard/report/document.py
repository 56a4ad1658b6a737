"""Document: one self-contained HTML file whose own style and script alone may run. Used by every page."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 80  # characters of a label or a name that a page shows; the middle of longer ones is left out


@cache
def template(name: str) -> str:
    """A file of the templates, without the comments and the blanks that only its reader needs."""
    text = files("steelyard.report").joinpath("templates", name).read_text(encoding="utf-8")
    if name.endswith(".html"):
        return text
    if name.endswith(".css"):
        return "\n".join(filter(None, (line.strip() for line in re.sub(r"/\*.*?\*/", "", text).splitlines())))
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(_closed_up(line) for line in lines if line and not line.startswith("//"))


def _closed_up(line: str) -> str:
    """A line of script without the blanks around signs; text in it, and lines with a pattern, are left as they are."""
    if re.search("['`/\\\\]", line):
        return line
    parts = re.split('("[^"]*")', line)
    signs = r" *(=>|===|!==|<=|>=|&&|\|\||[=<>*?:,;{}()]) *"
    return "".join(part if i % 2 else re.sub(signs, r"\1", part) for i, part in enumerate(parts))


def filled(name: str, **parts: str) -> str:
    """A template with its {{parts}} put in, each of them once: what is put in is not looked through again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template(name))


def document(
    title: str,
    body: str,
    *,
    payload: Any = None,
    script: str = "",
    styles: Sequence[str] = ("page.css",),
    images: bool = False,
) -> str:
    """The whole file. Its policy allows this style and this script by their hashes, and nothing from anywhere.

    With `images` pictures are allowed as well, where the page holds them itself.
    """
    style = "\n".join(map(template, styles))
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    if images:
        policy += "; img-src data:"
    if script:
        policy += f"; script-src {digest(script)}"
    data = "" if payload is None else f'<script type="application/json" id="data">{embedded(payload)}</script>\n'
    code = f"<script>{script}</script>\n" if script else ""
    whole = filled("shell.html", policy=policy, title=text(title), style=style, body=body, data=data, code=code)
    return whole.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written to a file


def digest(inline: str) -> str:
    """The source expression that allows exactly this inline text."""
    return f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'"


def embedded(payload: Any) -> str:
    """Strict JSON that no parser of HTML or JavaScript can mistake for its own: labels are hostile."""
    plain = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=str)
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    for sign in "<>&\u2028\u2029":
        plain = plain.replace(sign, f"\\u{ord(sign):04x}")
    return plain


def scrolled(table: str, title: str) -> str:
    """A table that scrolls by itself where the screen is narrow, by keyboard as well."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{text(title)}">{table}</div>'


def text(value: Any) -> str:
    """Any value as text that stands safely inside an element or an attribute."""
    return escape(str(value), quote=True)


def clipped(value: Any, most: int = _SHOWN) -> str:
    """A label as text of a length that fits a page."""
    whole = str(value)
    return whole if len(whole) <= most else f"{whole[: most // 2]} … {whole[-(most // 2 - 3) :]}"


def name(value: Any, most: int = _SHOWN) -> str:
    """A label, isolated so that right-to-left text does not turn what stands beside it."""
    return f"<bdi>{text(clipped(value, most))}</bdi>"
