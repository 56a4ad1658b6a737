"""Meeting: whether the predicted labels are those of the truth at all; where none is, no row can be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError, did_you_mean, first_ten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.statistics.confusion import Confusion


def check_met(table: Confusion, said: str = "the predictions") -> None:
    """Refuse a whole input in which no predicted label occurs in the truth."""
    for sentence in strangers(table, said):
        raise InputError(sentence)


def strangers(table: Confusion | None, said: str = "the predictions") -> list[str]:
    """That no prediction of this table could be right, in a sentence; nothing where one could."""
    if table is None:
        return []
    true, pred = ([label for label, n in zip(table.labels, table.rows.sum(axis), strict=True) if n] for axis in (1, 0))
    return apart(true, pred, said)


def apart(true: Sequence[Any], pred: Sequence[Any], said: str) -> list[str]:
    """That two lists of labels have none in common, in a sentence; nothing where they have or one is empty."""
    if not true or not pred or not {*true}.isdisjoint(pred):
        return []
    told = f"None of the labels of {said}, {first_ten(pred)}, occurs in the truth, which holds {first_ten(true)}"
    near = next(filter(None, (did_you_mean(str(label), map(str, true)) for label in pred[:10])), "")
    return [f"{told}; name the column of the predicted labels, or write both alike.{near}"]
