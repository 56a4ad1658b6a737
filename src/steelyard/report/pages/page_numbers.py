"""Numbers of a page: how counts, values and exact digits are written in HTML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.draw_ends import NEAR_KINK, deviance_limit
from steelyard.analysis.intervals.draws import HALF_ROW
from steelyard.analysis.results.formatting import PLACES, ROUNDING, SMALLEST_BOUND, SMALLEST_END, three_digits

if TYPE_CHECKING:
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, MetricRow

_DRAWS = 2_000  # of the tables for an interval at a moved slider: a few milliseconds of a browser


def digits(value: float | None) -> str:
    """A value with three significant digits, a dash where it is undefined."""
    return three_digits(value)


def exact_digits(value: float) -> str:
    """All digits of a value for a machine, nothing where it is undefined."""
    return repr(float(value)) if math.isfinite(value) else ""


def amount(value: float) -> str:
    """A count of rows, or of weight, with thousands apart."""
    shown = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return three_digits(float(value)) if shown in ("0.00", "1.00") else shown


def finite_or_none(value: float | None) -> float | None:
    """The number where it is one, for strict JSON."""
    return float(value) if value is not None and math.isfinite(value) else None


def rounded(value: float, places: int = 11) -> float | None:
    """The digits that matter: a page has no room for those of rounding."""
    return finite_or_none(float(f"{value:.{places}g}"))


def rounded_ends(row: MetricRow | Interval) -> tuple[float | None, float | None]:
    """The ends of an interval by the digits that matter, which hold its value still."""
    low, high = rounded(row.low), rounded(row.high)
    if low is None or high is None or not math.isfinite(row.value):
        return low, high
    return min(low, float(row.value)), max(high, float(row.value))


def interval_constants(evaluation: Evaluation) -> dict[str, Any]:
    """How the script draws its intervals."""
    return {
        "stratified": any(row.method == "stratified" for row in evaluation.metrics),
        "draws": _DRAWS,
        "prior": HALF_ROW,
        "near_kink": NEAR_KINK,
        "limit": deviance_limit(evaluation.level),
    }


def rounding_constants() -> dict[str, float]:
    """How the script rounds its numbers."""
    return {"places": PLACES, "rounding": ROUNDING, "bound": SMALLEST_BOUND, "end": SMALLEST_END}
