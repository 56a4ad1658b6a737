"""Controls: the sliders of a page, where they stand, and the choice of what to optimise. Used by the page."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.rows import percent_text, three_digits
from steelyard.report.document import text

RESET = '<button type="button" id="reset">As evaluated</button>'
JUMP = '<button type="button" id="jump"><span class="roomy">Jump to the </span>best cut</button>'
OWN_CUT = "No threshold was given, so the page chose the cut where informedness is best on these same rows"
_USUAL = "ac_score"  # what the page offers to optimise first


def controls(data: dict[str, Any]) -> str:
    """The sliders, and what to optimise."""
    stop = data["stops"][data["stop"]]
    parts = [_threshold(data)] if "cuts" in data else []
    parts.append(_slider("prevalence", len(data["stops"]) - 1, data["stop"], repr(stop), _percent(stop)))
    parts.append(f'<div class="control choice">{_choice(data)}{RESET}</div>')
    return "".join(parts)


def now(data: dict[str, Any]) -> str:
    """Where the sliders stand before anybody moves them."""
    share = data["stops"][data["stop"]]
    which = "the sample's" if share == data["view"]["share"] else "as asked for"
    told = f"{_flagged(data)}, {_percent(share)} of the rows positive ({which})."
    told = f"{OWN_CUT}: {told}" if data.get("own_cut") else f"As evaluated: {told}"
    return f"{text(told)} {on_screen('Move a slider, and every number follows.')}"


def on_screen(words: str) -> str:
    """Words that are of no use on paper."""
    return f'<span class="screen">{text(words)}</span>'


def _flagged(data: dict[str, Any]) -> str:
    if "cuts" not in data:
        return "the predictions as they were made"
    if data["cut"] is None:
        return "the predictions as they were made; the slider cuts the scores instead"
    cut = data["cuts"]["threshold"][data["cut"]]
    return "nobody flagged" if cut is None else f"scores of {three_digits(cut)} and more flagged"


def _threshold(data: dict[str, Any]) -> str:
    cuts, place = data["cuts"]["threshold"], data["cut"]
    last = len(cuts) - 1
    if place is None:
        return _slider("threshold", last, last - data["near"], "", "as predicted")
    exact, shown = (
        ("Infinity", "nobody flagged") if cuts[place] is None else (repr(cuts[place]), three_digits(cuts[place]))
    )
    # To the right is a higher threshold, and the cuts are listed from the highest down.
    return _slider("threshold", last, last - place, exact, shown)


def _slider(key: str, last: int, place: int, exact: str, shown: str) -> str:
    return (
        f'<div class="control"><label for="{key}">{key}</label>'
        f'<output for="{key}" id="{key}-shown">{text(shown)}</output>'
        f'<input type="range" id="{key}" min="0" max="{last}" step="1" value="{place}" data-{key}="{exact}" '
        f'aria-valuetext="{text(shown)}"></div>'
    )


def _choice(data: dict[str, Any]) -> str:
    """The metrics that have a best cut; nothing where none has."""
    options = "".join(_option(row) for row in data["metrics"] if row.get("best") is not None)
    select = f'<select id="optimise" aria-label="metric to optimise">{options}</select>'
    return f'<label for="optimise">optimise</label>{select}{JUMP}' if options else ""


def _option(row: dict[str, Any]) -> str:
    chosen = " selected" if row["name"] == _USUAL else ""
    return f'<option value="{text(row["name"])}"{chosen}>{text(row["title"])}</option>'


def _percent(share: float) -> str:
    """A share in percent; the sign does not begin a line."""
    return percent_text(share).replace(" %", "\u00a0%")
