"""Interval panel: values with their intervals along an axis, or curves with their bands, drawn without a script."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from steelyard.report.pages.document import clipped, rendered_html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markupsafe import Markup

    from steelyard.analysis.results.blocks import Figure, Track

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 308.0, 12.0, 150.0
_TICKS, _LETTERS, _ROOM = 6, 12, 48
_MARGIN = 0.06  # of the height, above and below what is shown


def panel_html(figure: Figure) -> Markup:
    """The picture."""
    scale = _Scale.of(figure)
    tracks = [scale.track(track) for track in figure.tracks]
    zero = scale.height(0) if scale.least < 0 < scale.most else None
    ticks = {"x_ticks": _x_ticks(figure), "y_ticks": scale.ticks(figure.times, figure.unit)}
    ends = (_LEFT, _RIGHT, _TOP, _BOTTOM)
    return rendered_html("panel.html", panel=figure, **ticks, tracks=tracks, zero=zero, ends=ends)


def _x_ticks(figure: Figure) -> list[tuple[float, str]]:
    """As many of the ticks as have room, evenly, the last among them."""
    texts = [clipped(text, _LETTERS) for _, text in figure.ticks]
    most = max(_ROOM // (max(map(len, texts), default=1) + 2), 1)
    step = -(-len(texts) // most)
    return [(_across(figure.ticks[i][0]), texts[i]) for i in range((len(texts) - 1) % step, len(texts), step)]


def _across(place: float) -> float:
    return round(_LEFT + 14 + (_RIGHT - _LEFT - 28) * place, 1)


class _Scale(NamedTuple):
    """The least and the greatest value that a panel has room for."""

    least: float
    most: float

    @classmethod
    def of(cls, figure: Figure) -> _Scale:
        seen = [number for track in figure.tracks for point in track.points for number in point[1:4]]
        ends = [number for number in (*seen, *figure.shows) if math.isfinite(number)] or [0.0, 1.0]
        room = max(_MARGIN * (max(ends) - min(ends)), 1e-9)
        return cls(min(ends) - room, max(ends) + room)

    def height(self, value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * (value - self.least) / (self.most - self.least), 1)

    def ticks(self, times: int, unit: str) -> list[tuple[float, str]]:
        """Round numbers along the height."""
        rough = (self.most - self.least) / _TICKS
        power = 10 ** math.floor(math.log10(rough))
        step = next(part * power for part in (1, 2, 5, 10) if part * power >= rough)
        numbers = (i * step for i in range(math.ceil(self.least / step), math.floor(self.most / step) + 1))
        return [(self.height(number), f"{times * round(number, 12):.6g}{unit}") for number in numbers]

    def track(self, track: Track) -> dict[str, object]:
        """The track in the picture's own units."""
        points = [point for point in track.points if math.isfinite(point.value)]
        apart = 5.0 if track.second and not track.curve else 0.0
        dots = [
            {
                "x": _across(point.place) + apart,
                "y": self.height(point.value),
                "low": self.height(point.low) if math.isfinite(point.low) else None,
                "high": self.height(point.high) if math.isfinite(point.high) else None,
                "hollow": point.hollow or track.second,
            }
            for point in points
        ]
        bounded = [dot for dot in dots if dot["low"] is not None]
        band = [(dot["x"], dot["low"]) for dot in bounded] + [(dot["x"], dot["high"]) for dot in reversed(bounded)]
        return {"track": track, "dots": dots, "line": _path((d["x"], d["y"]) for d in dots), "band": _path(band)}


def _path(points: Iterable[tuple[object, object]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)
