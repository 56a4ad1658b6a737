"""Controls: the sliders of a page, where they stand, and the choice of what to optimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import percent_text, three_digits, unbroken
from steelyard.metrics.registry import default_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OWN_THRESHOLD = "No threshold was given, so the page chose the threshold where {} is best on these same rows"

_STEPS = 1_000  # of the threshold's slider, the last of which flags nobody


@dataclass(frozen=True)
class Slider:
    """A slider: how many steps, the one it stands at, and its value there for a machine and for a person."""

    key: str
    last: int
    place: int
    exact: str
    shown: str


@dataclass(frozen=True)
class MenuEntry:
    """An entry of a drop-down list."""

    value: str
    title: str
    chosen: bool


@dataclass(frozen=True)
class Controls:
    """What a reader can move, and the sentence on where it stands before anybody does."""

    sliders: Sequence[Slider]
    choices: Sequence[MenuEntry]
    now: str


def controls(data: Mapping[str, Any]) -> Controls:
    """The sliders, the metrics that have a best threshold, and where they stand."""
    share = data["stops"][data["stop"]]
    prevalence = Slider("prevalence", len(data["stops"]) - 1, data["stop"], repr(share), _percent(share))
    sliders = [_threshold(data), prevalence] if "thresholds" in data else [prevalence]
    choices = [
        MenuEntry(row["name"], row["title"], row["name"] == default_metric().name)
        for row in data["metrics"]
        if row.get("best") is not None
    ]
    return Controls(sliders, choices, _now(data, share))


def _now(data: Mapping[str, Any], share: float) -> str:
    which = "the sample's" if share == data["view"]["share"] else "as asked for"
    start = _OWN_THRESHOLD.format(default_metric().title) if data.get("own_threshold") else "As evaluated"
    return f"{start}: {_flagged(data)}, {_percent(share)} of the rows positive ({which})."


def _flagged(data: Mapping[str, Any]) -> str:
    if "thresholds" not in data:
        return "the predictions as they were made"
    if data["index"] is None:
        return "the predictions as they were made; the slider thresholds the scores instead"
    threshold = data["thresholds"]["threshold"][data["index"]]
    return "nobody flagged" if threshold is None else f"scores of {three_digits(threshold)} and more flagged"


def _threshold(data: Mapping[str, Any]) -> Slider:
    """The slider of the threshold, linear in the score; at its right end nobody is flagged."""
    thresholds, place = data["thresholds"]["threshold"], data["index"]
    if place is None:
        near = thresholds[data["near"]]
        return Slider("threshold", _STEPS, _place(data, near), "", "as predicted")
    value = thresholds[place]
    exact, shown = ("Infinity", "nobody flagged") if value is None else (repr(value), three_digits(value))
    return Slider("threshold", _STEPS, _place(data, value), exact, shown)


def _place(data: Mapping[str, Any], threshold: float | None) -> int:
    if threshold is None:
        return _STEPS
    low, high = map(float, data["histogram"]["ends"])
    return round(min(1.0, max(0.0, (threshold - low) / (high - low))) * (_STEPS - 1))


def _percent(share: float) -> str:
    """A share in percent; the sign does not begin a line."""
    return unbroken(percent_text(share))
