"""The page of a monitor: the verdict, each rule over all batches with its confidence sequence, and the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.report.pages.document import clipped, rendered_html
from steelyard.report.pages.frame import Section, framed

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.monitoring.alarms import Monitoring, RuleTrack

_MOST = 400  # batches that a chart shows; of more every so many, the last and those of an alarm
_NAME = 24


def monitor_page(result: Monitoring, source: str = "predictions") -> str:
    """The monitoring as one HTML file."""
    size = f"{int(result.rows.sum()):,} labelled rows in {len(result.batches):,} batches"
    facts = [clipped(source), size, f"{100 * result.level:g} % over all looks"]
    return framed("monitor", f"Monitor · {clipped(source)} · Steelyard", facts, [monitor_section(result)])


def monitor_section(result: Monitoring) -> Section:
    """The verdict, the rules, and a chart of each."""
    lines = [_line(place, track) for place, track in enumerate(result.tracks)]
    html = rendered_html("monitor.html", headline=result.headline, notes=result.notes, lines=lines)
    shown = _shown(result)
    names = [clipped(result.batches[place], _NAME) for place in shown]
    tracks = [_data(track, shown, result.batches) for track in result.tracks]
    data = {"names": names, "numbers": [int(place) + 1 for place in shown], "tracks": tracks}
    return Section(html, {"monitor": data})


def _line(place: int, track: RuleTrack) -> dict[str, Any]:
    state = "no alarm" if track.alarm is None else f"alarm at {clipped(track.alarm, _NAME)}"
    since = "" if track.since is None else f"since about {clipped(track.since, _NAME)}"
    return {
        "id": f"track-{place}",
        "title": clipped(track.title),
        "value": track.text(),
        "limit": track.limit_text(),
        "recent": track.recent_text() + (", not yet certain" if track.is_suspect else ""),
        "state": state,
        "since": since,
        "alarm": track.alarm is not None,
        "p": f"{track.p_value:.2g} of {track.alpha:.2g}",
        "method": track.method,
    }


def _shown(result: Monitoring) -> Array:
    """The places of the batches that the charts show."""
    looks = len(result.batches)
    some = np.arange(looks - 1, -1, -max(-(-looks // _MOST), 1))[::-1]
    marked = [result.batches.index(name) for track in result.tracks for name in (track.alarm, track.since) if name]
    return np.unique(np.concatenate([some, np.array(marked, dtype=int)]))


def _data(track: RuleTrack, shown: Array, batches: tuple[str, ...]) -> dict[str, Any]:
    columns = {name: _numbers(getattr(track, name)[shown]) for name in ("value", "low", "high", "by_batch", "recent")}
    spans = {"recent_batches": track.recent_batches[shown].tolist()}
    marks = {
        name: None if at is None else batches.index(at) + 1
        for name, at in (("alarm", track.alarm), ("since", track.since))
    }
    facts = {"limit": track.limit, "share": track.is_share, "title": clipped(track.title, _NAME)}
    return {**columns, **spans, **marks, **facts}


def _numbers(column: Array) -> list[float | None]:
    return [float(f"{value:.12g}") if np.isfinite(value) else None for value in column.tolist()]
