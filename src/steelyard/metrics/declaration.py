"""Declaration: how a formula becomes a metric, with the facts that cannot be computed from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.formula import Formula, signature_of
from steelyard.metrics.measure import Metric
from steelyard.metrics.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_UPPER: Any = object()


@names_wrong_arguments
def metric(
    title: str,
    *,
    on: str = "counts",
    family: str = "own",
    range: tuple[float, float] = (-math.inf, math.inf),
    best: float | None = _UPPER,
    direction: str | None = None,
    aliases: tuple[str, ...] = (),
    cite: str | None = None,
    sklearn: str | None = None,
    domain: Mapping[str, str] | None = None,
    bounds: Callable[..., Any] | None = None,
    least_rows: str | None = None,
    is_rank_probability: bool = False,
    is_share: bool = False,
    corrects: str | None = None,
    has_proper_title: bool = False,
) -> Callable[[Formula], Metric]:
    """Declare a metric: the decorated formula joins the registry under the function's name.

    The formula takes one argument with the cells tp, fn, fp, tn and the margins, or the four cells by name, or with
    on="scores" or on="probabilities" a ScoreTable; with on="label sets", or on="label scores" where it reads scores, it
    takes a MultilabelTable and gives the value of each row. Keyword-only arguments are its parameters. Its docstring's
    first sentence is its meaning. `best` is the upper end of the range unless given; None for a description. Where
    range and best depend on the parameters, `bounds` computes both from them. A range that the value leaves on a small
    table is refused. `least_rows` names the parameter that says how many rows it needs,
    `corrects` the metric that it corrects for the class shares; `is_share`
    says that it is a share of rows, which is shown in percent, and `has_proper_title` that its title begins with a
    person's name.

    >>> from steelyard import Counts
    >>> from steelyard.metrics import metric, ratio
    >>> @metric("Share of flags", family="example", range=(0, 1), best=None)
    ... def share_of_flags(c):
    ...     '''Share of the rows that were flagged.'''
    ...     return ratio(c.tp + c.fp, c.total)
    >>> share_of_flags(Counts(1, 2, 3, 4))
    0.4
    """
    if not isinstance(title, str):
        raise InputTypeError("@metric takes a title first: write @metric('My metric') above the function.")
    facts: dict[str, Any] = {
        "family": family,
        "aliases": tuple(aliases),
        "cite": cite,
        "sklearn": sklearn,
        "domain": dict(domain or {}),
        "bounds": bounds,
        "least_rows": least_rows,
        "is_rank_probability": is_rank_probability,
        "is_share": is_share,
        "corrects": corrects,
        "has_proper_title": has_proper_title,
    }

    def declare(function: Formula) -> Metric:
        where = bounds(**signature_of(function)[1]) if bounds else (range, best)
        facts.update(_range_facts(title, *where, direction=direction))
        declared = Metric.from_function(function, title, on=on, **facts)
        _set_address(function, declared)
        return register(declared)

    return declare


def _set_address(function: Formula, declared: Metric) -> None:
    """The Metric takes the function's place in its module; this is where pickle finds the function behind it."""
    form = next(name for name in ("function", "scores", "label_sets") if getattr(declared, name) is not None)
    function.__qualname__ += f".{form}" if getattr(declared, form) is function else f".{form}.function"


def part(function: Formula) -> Metric:
    """A named step of other metrics' formulas, written by its name where they are; not in the registry."""
    return Metric.from_function(function, function.__name__, family="part", is_own=False)


def _range_facts(
    title: str, limits: tuple[float, float], best: float | None, *, direction: str | None
) -> dict[str, Any]:
    """The range, the best value in it, and where better lies."""
    if best is _UPPER:
        best = limits[1] if math.isfinite(limits[1]) else None
    if not limits[0] < limits[1] or not (best is None or limits[0] <= best <= limits[1]):
        raise InputError(f"The range {limits} of {title!r} must rise, and hold its best value {best}.")
    return {"range": limits, "best": best, "direction": direction or _direction(limits, best)}


def _direction(bounds: tuple[float, float], best: float | None) -> str | None:
    """Where better lies: toward the end of the range that is best; nowhere where the best lies inside."""
    return {bounds[0]: "lower", bounds[1]: "higher"}.get(best) if best is not None else None
