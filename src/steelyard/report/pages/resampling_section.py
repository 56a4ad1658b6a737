"""The page of a resampling study: the answer, a figure of the gains, and the numbers behind it."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import cell_text
from steelyard.exceptions import MissingLibraryError
from steelyard.protocol import resampling_result
from steelyard.protocol.resampling_result import VERDICTS
from steelyard.report.figures.resampling import ResamplingDisplay
from steelyard.report.pages.document import clipped, rendered_html
from steelyard.report.pages.frame import Section, framed
from steelyard.report.pages.html_tables import HtmlTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.protocol.resampling_result import ResamplingStudy


def resampling_page(study: ResamplingStudy, source: str = "predictions") -> str:
    """The study as one HTML file."""
    at = study.setting
    facts = [clipped(source), f"{at['rows']:,} rows, {at['positives']:,} positive", f"{at['runs']} runs"]
    return framed(
        "study", f"Was resampling worth it? · {clipped(source)} · Steelyard", facts, [resampling_section(study)]
    )


def resampling_section(study: ResamplingStudy) -> Section:
    """The verdict, the figure, and the tables."""
    display = ResamplingDisplay.from_study(study)
    html = rendered_html(
        "resampling.html",
        headline=study.headline,
        notes=study.notes,
        about=resampling_result.study_head(study),
        kinds=" ".join(f"{kind}: {words}." for kind, words in VERDICTS.items()),
        picture=_picture(display),
        caption=display.caption(),
        tables={
            "Verdicts": _table(study.shown_rows()),
            "Metrics of labels": _table(study.value_rows(scores=False)),
            "Metrics of scores": _table(study.value_rows(scores=True)),
            "Calibration": _table(study.calibration_rows()),
            "Cost of a fit": _table(study.cost_rows()),
        },
        differences=_table([row.row() for row in study.differences]),
    )
    return Section(html)


def _picture(display: ResamplingDisplay) -> str | None:
    """The figure as SVG in base 64; None where matplotlib is not installed."""
    try:
        file = BytesIO()
        display.figure_.savefig(file, format="svg")
    except MissingLibraryError:
        return None
    return b64encode(file.getvalue()).decode()


def _table(rows: Sequence[Mapping[str, Any]]) -> HtmlTable:
    """A table of dictionaries, of all the columns that any row has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return HtmlTable(names, [[clipped(cell_text(name, row.get(name))) for name in names] for row in rows])
