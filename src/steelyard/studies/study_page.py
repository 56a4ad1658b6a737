"""Page: a study as one HTML file with its claims, tables and figures inside. Used by writing."""

from __future__ import annotations

import math
from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import three_digits
from steelyard.report.document import document, filled, scrolled, text

if TYPE_CHECKING:
    from steelyard.studies.study import Claim, Picture, Study, Table

_KINDS = {
    "holds": "holds",
    "holds with qualification": "partly",
    "does not hold": "fails",
    "not tested": "untested",
}
MOST_SHOWN = 20  # rows of a table that are shown unasked


def page(study: Study, drawings: dict[str, bytes] | None = None) -> str:
    """The whole file; its figures are SVG inside it, those handed in or drawn now, and nothing comes from elsewhere."""
    head, *said = study.summary
    svgs = {picture.name: drawn(picture, "svg") for picture in study.pictures} if drawings is None else drawings
    body = filled(
        "study.html",
        study=text(study.name),
        title=text(study.title),
        cite=text(study.cite),
        head=text(head),
        warning="".join(f'<p class="quick">{text(sentence)}</p>' for sentence in study.warning),
        summary="".join(f"<p>{text(sentence)}</p>" for sentence in said),
        tally=text(study.tally),
        claims="".join(map(_claim, study.claims)),
        pictures="".join(_picture(p, svgs[p.name]) for p in study.pictures),
        tables="".join(map(_table, study.tables)),
        choices=_pairs(study.choices),
        environment=_pairs({**study.environment, "computed in": study.took}),
        command=text(command(study)),
    )
    return document(f"{study.title} · Steelyard", body, styles=("page.css", "study.css"), images=True)


def command(study: Study) -> str:
    """The words that run this study again from the shell."""
    flags = "".join(f" --{name}" for name, value in study.choices.items() if value is True)
    return f"steelyard study {study.name}{flags} --seed {study.choices.get('seed', 0)}"


def drawn(picture: Picture, kind: str) -> bytes:
    """The picture in one format, undated, its text as text."""
    file = BytesIO()
    picture.figure().savefig(file, format=kind)
    return file.getvalue()


# ---------------------------------------------------------------- the parts


def _claim(claim: Claim) -> str:
    spread = f'<span class="soft">{text(claim.spread)}</span>' if claim.spread else ""
    return (
        f'<article class="claim {_KINDS[claim.verdict]}"><h3>{text(claim.claim)} <span class="place">'
        f'{text(claim.place)}</span></h3><dl><dt>paper</dt><dd class="paper">{text(claim.paper)}</dd><dt>this run</dt>'
        f'<dd class="ours">{text(claim.ours)} {spread}</dd><dt class="verdict-word">{text(claim.verdict)}</dt>'
        f"<dd>{text(claim.why)}</dd></dl></article>"
    )


def _picture(picture: Picture, svg: bytes) -> str:
    data = b64encode(svg).decode()
    kind = ' class="whole"' if picture.columns > 1 else ""
    return (
        f'<figure{kind} id="{text(picture.name)}"><img alt="{text(picture.words)}" '
        f'src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{text(picture.words)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    names = list(table.rows[0])
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in names)
    body = "".join(_row([_cell(row[name], table.formats.get(name)) for name in names]) for row in table.rows)
    whole = f'<table class="plain"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    note = f'<p class="note">{text(table.note)}</p>' if table.note else ""
    shown = f"{scrolled(whole, table.title)}{note}"
    if len(table.rows) > MOST_SHOWN and not table.unfolded:
        shown = f"<details><summary>{len(table.rows)} rows</summary>{shown}</details>"
    return f'<section id="{text(table.name)}"><h3>{text(table.title)}</h3>{shown}</section>'


def _cell(value: Any, form: str | None) -> str:
    if form is None or not isinstance(value, float) or not math.isfinite(value):
        return three_digits(value)
    return f"{value:{form}}"


def _row(values: list[str]) -> str:
    first, *rest = values
    cells = "".join(f"<td>{text(cell).replace('-', '−', 1) if _numeric(cell) else text(cell)}</td>" for cell in rest)
    return f'<tr><th scope="row">{text(first)}</th>{cells}</tr>'


def _numeric(cell: str) -> bool:
    return cell[:1] == "-" and cell[1:2].isdigit()


def _pairs(known: dict[str, Any]) -> str:
    lines = (f"<dt>{text(key)}</dt><dd>{text(_told(value))}</dd>" for key, value in known.items())
    return f'<dl class="asked">{"".join(lines)}</dl>'


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
