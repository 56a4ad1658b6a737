"""Diff side: one of two evaluations that are compared, with the name and the rows that its entry gives it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steelyard.ledger.entry import read_report, report_evaluation
from steelyard.ledger.history import tags_text
from steelyard.ledger.kept_rows import read_rows
from steelyard.ledger.ledger_folder import ROWS_ENDING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from steelyard.evaluation.label_sets.multilabel_evaluation import AnyEvaluation


@dataclass(frozen=True)
class DiffSide:
    """An evaluation: what it is called, its tags, and its kept rows with the mark of the key that hashed them."""

    name: str
    evaluation: AnyEvaluation
    tags: Mapping[str, str] = field(default_factory=dict)
    rows: pl.DataFrame | None = None
    key: str | None = None


def entry_side(path: Path) -> DiffSide:
    """The evaluation of an entry's file, and the rows beside it where they were kept."""
    entry, report = read_report(path)
    side = DiffSide(entry.id, report_evaluation(report), entry.tags)
    if entry.rows is None:
        return side
    return replace(side, rows=read_rows(path.with_suffix(ROWS_ENDING), entry.rows), key=entry.rows["key"])


def distinguished(a: DiffSide, b: DiffSide) -> tuple[DiffSide, DiffSide]:
    """Both under names that differ: the tags that only one has, where each has one, else their own."""
    own = [tags_text(dict(sorted(x.tags.items() - y.tags.items()))) for x, y in ((a, b), (b, a))]
    if all(own):
        return replace(a, name=own[0]), replace(b, name=own[1])
    return (replace(a, name=f"{a.name} (1)"), replace(b, name=f"{b.name} (2)")) if a.name == b.name else (a, b)
