"""Source facts: what was read, by which columns, about which class and at which threshold, as a header lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import three_digits

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


def source_facts(evaluation: Evaluation, name: str, *, given: bool | None = None) -> list[str]:
    """The source, its rows, every column by its use, the positive class and whether it was given, and the rest.

    >>> from steelyard import Counts, evaluate
    >>> " · ".join(source_facts(evaluate(Counts(28, 23, 72, 2680)), "finley.csv"))
    'finley.csv · 2,803 rows · positive 1 · 95 % intervals'
    """
    chosen = {True: " (given)", False: " (by convention)", None: ""}[given]
    positive = [] if evaluation.positive is None else [f"positive {evaluation.positive!r}{chosen}"]
    cut = [] if evaluation.threshold is None else [f"threshold {three_digits(evaluation.threshold)}"]
    level = f"{100 * evaluation.level:g} % intervals"
    return [name, f"{evaluation.rows:,} rows", *column_facts(evaluation), *positive, *cut, level]


def column_facts(evaluation: Evaluation) -> list[str]:
    """Every column that was read, after what it was for."""
    columns = getattr(evaluation, "columns", {})  # which label sets have not
    return [
        f"{use} {each}" for use, names in columns.items() for each in ([names] if isinstance(names, str) else names)
    ]
