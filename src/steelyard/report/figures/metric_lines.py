"""Metric lines: metrics over an axis, one line per metric with its name beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric, get_metrics
from steelyard.report.figures import style
from steelyard.report.figures.display import Record, records
from steelyard.report.figures.line_labels import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.uses import Use
    from steelyard.report.figures.figure_types import Metrics

MOST_BANDS = 2  # more bands than this cover each other
_MOST_OF_USE = 4  # lines that a use draws


@dataclass(frozen=True, eq=False)
class Track:
    """One metric over the axis, with the ends of its band where it has one."""

    metric: Metric
    value: Array
    low: Array | None = None
    high: Array | None = None
    method: str = ""


def metrics_of_counts(metrics: Metrics | None, usual: Sequence[str], use: Use | None = None) -> list[Metric]:
    """The metrics of counts that were named, else those of the use in force, else the usual ones of a figure."""
    if metrics is None:
        names = [] if use is None else list(dict.fromkeys(filter(None, (use.of_labels, *use.beside))))
        own = [metric for metric in get_metrics(names) if metric.function is not None][:_MOST_OF_USE]
        return own if len(own) > 1 else get_metrics(usual)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InputTypeError(f"metrics= takes a list of metrics; write [{metrics!r}].")
    chosen = [get_metric(metric) for metric in metrics]
    for metric in chosen:
        if metric.function is None:
            raise InputError(
                f"{metric.name} is a metric of all scores at once; this figure takes metrics at a threshold."
            )
    if not chosen:
        raise InputError("metrics= is empty; name one metric or more.")
    return chosen


def has_bands(band: bool | None, metrics: list[Metric]) -> bool:
    """Whether bands are drawn: where asked for, else with one metric or two."""
    return len(metrics) <= MOST_BANDS if band is None else band


def track_rows(axis: str, x: Array, tracks: tuple[Track, ...]) -> Rows[Record]:
    """One row a point and metric."""
    return Rows(
        row
        for track in tracks
        for row in records(
            **{axis: x},
            metric=track.metric.name,
            value=track.value,
            low=np.full(len(x), np.nan) if track.low is None else track.low,
            high=np.full(len(x), np.nan) if track.high is None else track.high,
        )
    )


def draw_tracks(
    ax: Axes, x: Array, tracks: tuple[Track, ...], step: Literal["pre", "post", "mid"] | None = None
) -> list[Line]:
    """The lines and bands; their names are written when all else is drawn."""
    drawstyle = f"steps-{step}" if step else "default"
    for i, track in enumerate(tracks):
        if track.low is not None and track.high is not None:
            ax.fill_between(x, track.low, track.high, step=step, color=style.colour(i), alpha=0.16, linewidth=0)
        ax.plot(x, track.value, color=style.colour(i), linestyle=style.dash(i), drawstyle=drawstyle)
    return [Line(x, t.value, style.short_title(t.metric.name), style.colour(i)) for i, t in enumerate(tracks)]


def set_limits(ax: Axes, tracks: tuple[Track, ...]) -> None:
    """The y axis over the common range of the metrics, or what is drawn where that is endless."""
    low, high = min(t.metric.range[0] for t in tracks), max(t.metric.range[1] for t in tracks)
    drawn = np.concatenate([np.asarray(t.value)[np.isfinite(t.value)] for t in tracks])
    low = low if low >= 0 else min(0.0, float(drawn.min(initial=0.0)))
    if high > 1:  # a cost or a ratio, whose range is far from what is drawn
        ends = [np.asarray(t.high)[np.isfinite(t.high)] for t in tracks if t.high is not None]
        high = float(np.concatenate([drawn, *ends]).max(initial=0.0)) or 1.0
    low = low if np.isfinite(low) else 0.0
    ax.set_ylim(low - 0.02 * (high - low), high + 0.04 * (high - low))
