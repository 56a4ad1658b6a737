"""The section of rows sent to a person: errors against coverage, with a slider for the share that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.report.pages.document import rendered_html
from steelyard.report.pages.frame import Section

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.decision_rule import RiskCoverage
    from steelyard.evaluation.evaluation import Evaluation

_OPENING = 0.05  # the share that is sent where the page opens
_SHOWN = ("asked", "coverage", "risk", "low", "high", "least_coverage")
_SENTENCES = {
    "all": "With every row decided by its most probable class, {risk} are wrong{ends}.",
    "some": "With {sent} of the rows sent to a person, {risk} of the other {kept} are wrong{ends}; of all {before}.",
    "ends": " ({low} to {high}, {level} interval)",
    "least": "Of class {label} a person gets {share}, more than of any other.",
}


def risk_section(evaluation: Evaluation) -> list[Section]:
    """The curve, where the evaluation has one."""
    curve = evaluation.risk_coverage
    if curve is None:
        return []
    names, place = [str(label) for label in evaluation.labels], int(np.searchsorted(curve.asked, _OPENING))
    html = rendered_html("risk.html", stops=len(curve.asked) - 1, stop=place, **_words(curve))
    data: dict[str, Any] = {name: _rounded(getattr(curve, name)) for name in _SHOWN}
    data |= {"least": [names.index(str(label)) for label in curve.least_kept], "names": _used(curve, names)}
    data |= {"area": curve.area, "whole": curve.whole, "sentences": _SENTENCES, "level": f"{100 * curve.level:g} %"}
    return [Section(html, {"risk": data})]


def _used(curve: RiskCoverage, names: list[str]) -> dict[int, str]:
    """The names of the classes that the sentences may name, by their places."""
    return {names.index(name): name for name in dict.fromkeys(str(label) for label in curve.least_kept)}


def _words(curve: RiskCoverage) -> dict[str, str]:
    """The area in words, and what the section says before a script moves it."""
    area = (
        f"Area under the curve {three_digits(curve.area)}: the mean error over all coverages. In a random order it is "
        f"{three_digits(curve.whole)}, in the best one, all errors sent first, {three_digits(curve.least_area)}."
    )
    at, ends = curve.at(_OPENING), ""
    if not np.isnan(at.low):
        low, high = percent_text(at.low).removesuffix(" %"), percent_text(at.high)
        ends = _SENTENCES["ends"].format(low=low, high=high, level=f"{100 * curve.level:g} %")
    shares = {"sent": 1 - at.coverage, "risk": at.risk, "kept": at.coverage, "before": curve.whole}
    words = {name: percent_text(share) for name, share in shares.items()}
    return {"area": area, "sentence": _SENTENCES["some" if at.coverage < 1 else "all"].format(ends=ends, **words)}


def _rounded(column: Array) -> list[float | None]:
    """The numbers with as many digits as a page compares, 12."""
    return [None if np.isnan(v) else float(f"{v:.12g}") for v in column.tolist()]
