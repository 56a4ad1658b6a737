"""Batches of tables: counts, confusion matrices and tallies, which were counted elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.monitoring.batch import Batch
from steelyard.analysis.monitoring.batch_rows import RowDigest
from steelyard.analysis.sequential.anytime_interval import counted_cells
from steelyard.exceptions import InputError
from steelyard.ingest.label_tables import match_label
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label
    from steelyard.statistics.counts import Counts


def table_batch(
    name: str, table: Counts | Confusion | Tally, pos_label: Label, by: str | None
) -> tuple[Batch, Sequence[Label]]:
    """The table as a batch, of a tally its groups as well; and the labels it has."""
    if not isinstance(table, Tally):
        if by is not None:
            raise InputError("A table has no groups; give a tally counted by them, or the rows.")
        cells = _cells(table, pos_label)
        return Batch(name, cells, digests=(RowDigest.of_cells({"": cells}),)), getattr(table, "labels", ())
    if table.confusion is None:
        raise InputError("A monitor follows predicted labels; tally them with pred=, or scores with a threshold.")
    groups = {" / ".join(map(str, key)): group.confusion for key, group in table.groups.items()} if by else {}
    if by is not None and not groups:
        raise InputError(f"This tally has no groups; tally the rows with by={by!r}.")
    parts = {key: _cells(part, pos_label) for key, part in groups.items() if part is not None}
    cells = _cells(table.confusion, pos_label)
    return Batch(name, cells, parts, digests=(RowDigest.of_cells(parts or {"": cells}),)), table.confusion.labels


def _cells(table: Counts | Confusion, pos_label: Label) -> Array:
    if isinstance(table, Confusion) and pos_label is not None:
        table = table.counts(match_label(pos_label, table.labels))
    return counted_cells(table).astype(int)
