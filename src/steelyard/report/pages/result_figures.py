"""Result figures: the pictures of results that have any beside their table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from steelyard.evaluation.drift import Drift
from steelyard.evaluation.unlabelled import Unlabelled
from steelyard.report.pages.interval_panel import IntervalPanel, PanelPoint, PanelTrack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.analysis.results.result import Result

_MOST_PANELS = 24
_RECALLS = tuple((place / 4, f"{25 * place}") for place in range(5))


def result_figures(result: Result[Any]) -> list[Markup]:
    """The pictures of a result, as one grid; none of most."""
    match result:
        case Drift():
            panels = [*_drift_panels(result)]
        case Unlabelled() if result.curve:
            panels = [_curve_panel(result)]
        case _:
            return []
    grid = Markup("").join(panel.html() for panel in panels[:_MOST_PANELS])
    return [Markup('<div class="sy-panels">{}</div>').format(grid)]


def _curve_panel(result: Unlabelled) -> IntervalPanel:
    """Precision over recall in the reference and at the new prevalence; of the former without a band."""
    there = [PanelPoint(p.recall, p.value, p.low, p.high) for p in result.curve]
    here = [PanelPoint(p.recall, p.reference, math.nan, math.nan) for p in result.curve]
    name = "at the new prevalence" if result.fits is not False else "if label shift held"
    tracks = (PanelTrack(name, there, curve=True), PanelTrack("in the reference", here, second=True, curve=True))
    title = "Precision over recall, with the band of the whole curve"
    return IntervalPanel(title, _RECALLS, tracks, 100, " %", shows=(0.0, 1.0), x_title="recall, %")


def _drift_panels(result: Drift) -> Iterator[IntervalPanel]:
    """The prevalence over the periods, then each metric and the parts of its change."""
    names = [str(period.period) for period in result.periods]
    places = {name: i / max(len(names) - 1, 1) for i, name in enumerate(names)}
    ticks = [(place, name) for name, place in places.items()]
    shares = [
        PanelPoint(places[str(p.period)], p.prevalence, p.prevalence_low, p.prevalence_high, not p.labelled)
        for p in result.periods
        if not p.is_refused
    ]
    yield IntervalPanel("Prevalence", ticks, (PanelTrack("prevalence", shares),), 100, " %")
    for metric in dict.fromkeys(change.metric for change in result.changes):
        yield from _metric_panels(result, metric, places, ticks)


def _metric_panels(
    result: Drift, metric: str, places: dict[str, float], ticks: Sequence[tuple[float, str]]
) -> Iterator[IntervalPanel]:
    changes = [change for change in result.changes if change.metric == metric]
    share, unlabelled = changes[0].spec.is_share, {str(p.period) for p in result.periods if not p.labelled}
    first = changes[0]
    values = [PanelPoint(places[str(result.reference)], first.before, first.before_low, first.before_high)]
    values += [
        PanelPoint(places[str(c.period)], c.after, c.after_low, c.after_high, str(c.period) in unlabelled)
        for c in changes
    ]
    times, unit, points = (100, " %", " in points") if share else (1, "", "")
    yield IntervalPanel(metric, ticks, (PanelTrack(metric, values),), times, unit)
    parts = [
        PanelTrack(
            name.replace("_", " "),
            [
                PanelPoint(places[str(c.period)], *(getattr(c, f"{name}{end}") for end in ("", "_low", "_high")))
                for c in changes
            ],
            second=name == "by_classifier",
        )
        for name in ("by_prevalence", "by_classifier")
    ]
    yield IntervalPanel(f"Change of {metric}{points}", ticks, parts, times, shows=(0.0,))
