"""Probability columns: those of a frame or files that a pattern or a list names, matched to the classes by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import label_codes
from steelyard.ingest.array_tables import declared_labels
from steelyard.ingest.frame_columns import column_name
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.rows import fetch_rows, matched_columns
from steelyard.ingest.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet
    from steelyard.ingest.frame_columns import FrameColumns


class ClassColumnRows(NamedTuple):
    """The rows of a frame with a column of scores for each class, and the positive class as the rows write it."""

    true: Array
    pred: Array | None
    scores: Array
    weight: Array | None
    frequency: Array | None
    cluster: Array | None
    groups: dict[str, Array]
    positive: Label

    @classmethod
    def of(
        cls,
        source: Source,
        columns: str | Sequence[str],
        *,
        true: str,
        pred: str | None = None,
        weight: str | None = None,
        frequency: str | None = None,
        cluster: str | None = None,
        by: Sequence[str] = (),
        pos_label: Label = None,
        labels: LabelSet | None = None,
    ) -> ClassColumnRows:
        """The rows, brought here; a pattern or a list names the columns of the scores."""
        scores = matched_columns(source, columns)
        rows = fetch_rows(
            source,
            true=true,
            pred=() if pred is None else (pred,),
            score=tuple(scores.values()),
            weight=weight,
            frequency=frequency,
            cluster=cluster,
            by=by,
        )
        order = label_codes.encode(rows.labels[0], declared_labels(labels), f"The column {true!r}")[1]
        chosen = columns_by_class(scores, order, columns)
        return cls(
            rows.labels[0],
            None if pred is None else rows.predicted[pred],
            np.column_stack([rows.scores[name].astype(np.float64, copy=False) for name in chosen]),
            rows.weights,
            rows.frequency,
            rows.clusters,
            rows.by,
            match_label(pos_label, label_codes.distinct(rows.labels[0], "y_true")[1]),
        )

    @classmethod
    def of_frame(
        cls,
        data: Frame | Source,
        columns: FrameColumns,
        frequency: ArrayLike | str | None,
        cluster: ArrayLike | str | None = None,
        by: tuple[str, ...] = (),
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
    ) -> ClassColumnRows:
        """Those of the columns that are named."""
        return cls.of(
            Source.of(data),
            columns.score or "",
            true=columns.true or "",
            pred=columns.pred,
            weight=columns.weight,
            frequency=column_name("frequency", frequency),
            cluster=column_name("cluster", cluster),
            by=by,
            pos_label=pos_label,
            labels=labels,
        )


def columns_by_class(columns: dict[str, str], classes: Labels, asked: str | Sequence[str]) -> Sequence[str]:
    """The column of each class; one without a class, or a class without one, is refused."""
    texts = [str(label) for label in classes]
    if {*texts} <= {*columns.values()}:  # a list of the classes themselves, whatever they begin with
        columns = {name: name for name in columns.values()}
    if {*texts} != {*columns}:
        like, such = "of the scores", "such as 'p_" + texts[0] + "'"
        if isinstance(asked, str):
            like, such = f"like {asked!r}", f"such as {asked.replace('*', texts[0])!r}"
        raise InputError(
            f"The columns {like} are of {first_ten(list(columns))} and the truth holds {first_ten(texts)}; "
            f"name a column for each class, {such}, and none besides; a class that has no rows here is declared with "
            "labels=."
        )
    return [columns[text] for text in texts]
