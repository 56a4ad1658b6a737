"""Frame: a page is a header and sections; each brings its HTML, its numbers, its scripts and its styles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.report.document import asset, document, rendered_html
from steelyard.report.page_numbers import rounding_constants

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup

_SCRIPTS = ("numbers.js", "charts.js", "frame.js")
_STYLES = ("page.css",)
_TEXT = 'document.getElementById("data").textContent'


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Its numbers join those of the others under keys of their own; a script or a style that several sections name is put
    in once, where the first one names it.
    """

    html: Markup
    data: Mapping[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()


def framed(
    title: str,
    facts: Sequence[str],
    sections: Sequence[Section],
    *,
    exports: Sequence[str] = (),
    formulas: str = "",
    packed: bool = False,
) -> str:
    """The whole file: what it is about and what can be taken along, then the sections.

    `exports` are the kinds of numbers that the sections' scripts hand out as text; `formulas` the registry's, which
    they compute with. With `packed` the numbers are deflated, for a page that would be too large otherwise.

    >>> from markupsafe import Markup
    >>> html = framed("Title", ["4 rows"], [Section(Markup("<p>Nothing more.</p>"))])
    >>> "4 rows" in html, "<p>Nothing more.</p>" in html, "https:" in html
    (True, True, False)
    """
    data: dict[str, Any] = {"version": __version__, "digits": rounding_constants()}
    for section in sections:
        data |= section.data
    body = rendered_html("frame.html", facts=facts, exports=exports, sections=[section.html for section in sections])
    scripts = _once(_SCRIPTS, *(section.scripts for section in sections))
    styles = _once(_STYLES, *(section.styles for section in sections))
    inflate, text = (asset("inflate.js"), f"inflated({_TEXT})") if packed else ("", _TEXT)
    code = "\n".join([inflate, f"const D = JSON.parse({text});", formulas, *map(asset, scripts), "begin();"])
    script = f'"use strict";(() => {{\n{code}\n}})();'
    return document(title, body, payload=data, script=script, styles=styles, images=True, packed=packed)


def _once(*names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))
