"""Overlap of labels: whether predicted labels occur in the truth at all; where none does, no row can be right."""

from __future__ import annotations

import warnings
from inspect import currentframe
from traceback import walk_stack
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, did_you_mean, first_ten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label
    from steelyard.statistics.confusion import Confusion


def check_label_overlap(table: Confusion, what: str = "the predictions") -> None:
    """Refuse a whole input in which no predicted label occurs in the truth."""
    for sentence in overlap_problems(table, what):
        raise InputError(sentence)


def overlap_problems(table: Confusion | None, what: str = "the predictions") -> list[str]:
    """That no prediction of this table could be right, in a sentence; nothing where one could."""
    if table is None:
        return []
    true, pred = ([label for label, n in zip(table.labels, table.rows.sum(axis), strict=True) if n] for axis in (1, 0))
    return disjoint_problems(true, pred, what)


def lookalike_hints(labels: Sequence[Label]) -> list[str]:
    """The labels that differ in blanks or in case alone, each pair in a sentence."""
    firsts: dict[str, str] = {}
    texts = [label for label in labels if isinstance(label, str)]
    pairs = ((firsts.setdefault(text.strip().casefold(), text), text) for text in texts)
    sentence = "The labels {!r} and {!r} differ in blanks or case alone; are they one class?"
    return [sentence.format(*pair) for pair in pairs if pair[0] != pair[1]]


def warn_of_lookalikes(table: Confusion) -> None:
    """Warn where a predicted label does not occur in the truth but for blanks or case, as a number alone cannot say."""
    occurs = table.rows.sum(1) > 0
    if occurs.all():
        return
    meant = lookalike_hints([label for label, there in zip(table.labels, occurs, strict=True) if there])
    for sentence in (hint for hint in lookalike_hints(table.labels) if hint not in meant):
        warnings.warn(sentence, UserWarning, stacklevel=_frames_inside())


def _frames_inside() -> int:
    """How many calls there are between the warning and the line of the user that led to it."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(currentframe()))
    outside = (i for i, name in enumerate(names) if name.partition(".")[0] != "steelyard")
    return next(outside, 1)


def disjoint_problems(true: Sequence[Label], pred: Sequence[Label], what: str) -> list[str]:
    """That two lists of labels have none in common, in a sentence; nothing where they have or one is empty."""
    if not true or not pred or not {*true}.isdisjoint(pred):
        return []
    problem = f"None of the labels of {what}, {first_ten(pred)}, occurs in the truth, which holds {first_ten(true)}"
    near = next(filter(None, (did_you_mean(str(label), map(str, true)) for label in pred[:10])), "")
    return [f"{problem}; name the column of the predicted labels, or write both alike.{near}"]
