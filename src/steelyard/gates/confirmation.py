"""Confirmation: which numbers of a result that was read from JSON its own tables confirm, before a gate trusts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.results.formatting import listed
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
from steelyard.evaluation.saved.saved_evaluation import INTERVAL, VALUE
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.comparison.comparison import Difference


_ROUNDING = 1e-9
_NO_DIGEST = "It carries no digest, so that a change of its groups, its level or its intervals would not be noticed."
_NO_ROWS = {VALUE: "whose rows a file does not hold", INTERVAL: "whose clusters a file does not hold"}


def confirmation_notes(gated: object, metrics: Iterable[str]) -> list[str]:
    """What is taken from JSON as it stands there, in sentences; what its tables contradict is refused.

    `metrics` are those that the rules read: of others nothing is taken.
    """
    if isinstance(gated, Mapping):
        return [note for each in gated.values() for note in confirmation_notes(each, metrics)]
    if not getattr(gated, "was_read", False):
        return []
    notes = [] if getattr(gated, "has_digest", True) else [_NO_DIGEST]
    if isinstance(gated, Comparison):
        return notes + _comparison_notes(gated, set(metrics))
    if isinstance(gated, MultilabelEvaluation):
        return [*notes, _note(VALUE, list(dict.fromkeys(metrics)), "of label sets, whose rows a file does not hold")]
    if not isinstance(gated, Evaluation):
        return notes
    for what, why in _NO_ROWS.items():
        unconfirmed = [key for key, part in gated.unconfirmed.items() if part == what]  # "recall", "recall (north)"
        read = [key for key in unconfirmed if any(key == name or key.startswith(f"{name} (") for name in metrics)]
        notes += [_note(what, read, why)] if read else []
    return notes


def _comparison_notes(comparison: Comparison, metrics: set[str]) -> list[str]:
    """A saved comparison holds the table of each model, which gives the values, but not the pairs of their rows."""
    taken: dict[str, list[str]] = {VALUE: [], INTERVAL: []}
    if any((row.a, row.b) != comparison.models for row in comparison.rows if len(comparison.models) == 2):
        raise InputError("This comparison was changed: its differences are not of its models; compare the rows again.")
    bounds = [(row.metric, row.low, row.difference, row.high) for row in comparison.rows]
    bounds += [(row.metric, row.low, row.value, row.high) for rows in comparison.intervals.values() for row in rows]
    for metric, low, value, high in bounds:
        if low - _ROUNDING > value or high + _ROUNDING < value:
            raise InputError(
                f"This comparison was changed: an interval of {metric} does not hold its value; compare the rows again."
            )
    for row in comparison.rows:
        if row.metric in metrics:
            taken[INTERVAL if _is_confirmed(row, comparison) else VALUE].append(row.metric)
    whys = {VALUE: "whose tables a file does not hold", INTERVAL: "which need the rows that both models share"}
    return [_note(what, names, whys[what]) for what, names in taken.items() if names]


def _is_confirmed(row: Difference, comparison: Comparison) -> bool:
    """Whether the tables give both values; a difference that contradicts them is refused."""
    try:
        recomputed = comparison.tables.difference(row.spec, row.a, row.b)
    except (InputError, KeyError):
        return False
    for name in ("value_a", "value_b", "difference"):
        saved, expected = getattr(row, name), getattr(recomputed, name)
        if abs(saved - expected) > _ROUNDING * max(1.0, abs(expected)):
            raise InputError(
                f"This comparison was changed: it gives {saved:.6g} as {row.metric}'s {name}, and its tables give "
                f"{expected:.6g}; compare the rows again."
            )
    return True


def _note(what: str, metrics: list[str], why: str) -> str:
    return f"Not computed again, but taken as the file has it: the {what} of {listed(metrics)}, {why}."
