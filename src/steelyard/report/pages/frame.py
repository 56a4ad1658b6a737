"""Frame: a page is a header and sections; each brings its HTML, its numbers, its scripts and its styles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.report.pages.document import asset, document, rendered_html
from steelyard.report.pages.page_numbers import rounding_constants

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup

_SCRIPTS = ("data.js", "numbers.js", "charts.js", "frame.js")
_STYLES = ("page.css",)


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
    holds_rows: bool = False  # rows of the data, for which a page has room beside its own


def framed(
    title: str, facts: Sequence[str], sections: Sequence[Section], *, exports: Sequence[str] = (), formulas: str = ""
) -> str:
    """The whole file: what it is about and what can be taken along, then the sections.

    `exports` are the kinds of numbers that the sections' scripts hand out as text; `formulas` the registry's, which
    they compute with.

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
    code = "\n".join([formulas, *map(asset, scripts), "begin();"])
    return document(
        title, body, payload=data, script=f'"use strict";(async () => {{\n{code}\n}})();', styles=styles, images=True
    )


def _once(*names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))
