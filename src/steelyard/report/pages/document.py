"""Documents: self-contained HTML files whose own style and script alone may run, filled by Jinja, which escapes."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from steelyard.report.pages.page_numbers import amount, digits, exact_digits

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTROL_CODES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # which HTML does not allow and a label may hold
_DIRECTIONS = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # which turn the order of what stands beside them
_SHOWN = 80  # characters of a label or a name that a page shows; the middle of longer ones is left out


def clipped(value: object, most: int = _SHOWN) -> str:
    """A label as text of a length that fits a page."""
    whole = str(value)
    return whole if len(whole) <= most else f"{whole[: most // 2]} … {whole[-(most // 2 - 3) :]}"


def label_html(value: object, most: int = _SHOWN) -> Markup:
    """A label, isolated so that right-to-left text does not turn what stands beside it."""
    return Markup("<bdi>{}</bdi>").format(clipped(value, most))


@cache
def _environment() -> Environment:
    loader = PackageLoader("steelyard.report.pages", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "amount": amount,
        "clip": clipped,
        "digits": digits,
        "exact": exact_digits,
        "label": label_html,
    }
    return environment


def rendered_html(template: str, **context: object) -> Markup:
    """A template of this floor; text put into it is escaped, and never looked through for templates again."""
    return Markup(_DIRECTIONS.sub("·", _environment().get_template(template).render(context)))  # noqa: S704 - escaped


@cache
def asset(name: str) -> str:
    """The style or the script of a kind of page, which `make scripts` bundled of the templates."""
    return files("steelyard.report.pages").joinpath("bundles", name).read_text(encoding="utf-8").strip()


def document(
    title: str,
    body: Markup,
    *,
    payload: Mapping[str, object] | None = None,
    script: str = "",
    style: str,
    images: bool = False,
) -> str:
    """The whole file. Its policy allows this style and this script by their hashes, and nothing from anywhere.

    With `images` pictures are allowed as well, where the page holds them itself.
    """
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    if images:
        policy += "; img-src data:"
    if script:
        policy += f"; script-src {digest(script)}"
    data = "" if payload is None else packed(payload)
    html = rendered_html("shell.html", policy=policy, title=title, style=style, body=body, payload=data, script=script)
    whole = html.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written to a file
    return _CONTROL_CODES.sub("\N{REPLACEMENT CHARACTER}", whole)


def digest(inline: str) -> str:
    """The source expression that allows exactly this inline text."""
    return f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'"


def packed(payload: object) -> str:
    """Strict JSON, deflated and in base 64, which takes a third of the room and holds no sign of HTML."""
    return b64encode(zlib.compress(_strict(payload).encode(), 9)).decode()


def embedded(payload: object) -> str:
    """Strict JSON that no parser of HTML or JavaScript can mistake for its own: labels are hostile."""
    plain = _strict(payload)
    for sign in "<>&\u2028\u2029":
        plain = plain.replace(sign, f"\\u{ord(sign):04x}")
    return plain


def _strict(payload: object) -> str:
    plain = json.dumps(payload, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=str)
    return _DIRECTIONS.sub("·", plain.encode("utf-8", "replace").decode("utf-8"))
