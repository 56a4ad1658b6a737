"""Frame: a page is a header and sections; each brings its HTML and its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.report.pages.document import asset, document, rendered_html
from steelyard.report.pages.page_numbers import rounding_constants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

# The numbers, which Python deflated and wrote in base 64.
_UNPACKED = """const D = await new Response(
  new Blob([Uint8Array.from(atob(document.getElementById("data").textContent), (sign) => sign.charCodeAt(0))])
    .stream().pipeThrough(new DecompressionStream("deflate")),
).json();"""


@dataclass(frozen=True)
class Section:
    """A part of a page; its numbers join those of the others under keys of their own."""

    html: Markup
    data: Mapping[str, Any] = field(default_factory=dict)
    holds_rows: bool = False  # rows of the data, for which a page has room beside its own


def framed(
    kind: str,
    title: str,
    facts: Sequence[str],
    sections: Sequence[Section],
    *,
    exports: Sequence[str] = (),
    formulas: str = "",
) -> str:
    """The whole file: what it is about and what can be taken along, then the sections.

    `kind` names the script and the style, `exports` the kinds of numbers that the script hands out as text; `formulas`
    are the registry's, which it computes with.

    >>> from markupsafe import Markup
    >>> html = framed("study", "Title", ["4 rows"], [Section(Markup("<p>Nothing more.</p>"))])
    >>> "4 rows" in html, "<p>Nothing more.</p>" in html, "https:" in html
    (True, True, False)
    """
    data: dict[str, Any] = {"version": __version__, "digits": rounding_constants()}
    for section in sections:
        data |= section.data
    body = rendered_html("frame.html", facts=facts, exports=exports, sections=[section.html for section in sections])
    script = f'"use strict";(async () => {{\n{_UNPACKED}\n{formulas}\n{{{asset(f"{kind}.js")}}}\n}})();'
    return document(title, body, payload=data, script=script, style=asset(f"{kind}.css"), images=True)
