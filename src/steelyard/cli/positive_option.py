"""The positive class of a command line: as an option names it, or as a convention takes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.cli.option_words import of_shell

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.statistics.tally import Tally


def with_convention(tally: Tally, positive: Label) -> tuple[Tally, tuple[str, ...]]:
    """The tally with the positive class that a convention takes where none is named, and who chose it, in words."""
    from steelyard.statistics.positive_class import choice_sentences, clear_label, conventional_label

    table, label = tally.confusion, None if tally.scores is None else tally.scores.label
    if table is not None:
        label = conventional_label(table.labels) if table.positive is None else table.positive
        if label is not None and clear_label(table.labels) is None:
            tally = replace(tally, confusion=table.with_positive(label))
    return tally, tuple(map(of_shell, choice_sentences(positive, label, tally.labels)))


def with_positive(table: Tally, positive: Label) -> Tally:
    """The tally with the class that the command line calls positive, as its labels write it."""
    if positive is None or table.confusion is None:
        return table
    from steelyard.ingest.label_tables import match_label

    return replace(table, confusion=table.confusion.with_positive(match_label(positive, table.confusion.labels)))
