"""Frame columns: the names of a frame's columns, and the frame counted by them where it lives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.inference import ClusteredRows, Inference
from steelyard.errors import InputError, InputTypeError
from steelyard.ingest.frame_tally import cluster_columns, tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet
    from steelyard.ingest.source import Source
    from steelyard.statistics.tally import Tally


class FrameColumns(NamedTuple):
    """The columns of a frame: the truth, predictions or scores, weights, groups and clusters."""

    true: str
    pred: str | None
    score: str | None
    weight: str | None
    frequency: str | None
    by: str | Sequence[str] | None
    cluster: str | None

    def counted(
        self,
        frame: Frame | Source,
        pos_label: Label,
        labels: LabelSet | None,
        threshold: float | None,
        exact: bool | None,
    ) -> Tally:
        """The frame counted into tables, where it lives."""
        columns = {key: name for key, name in self._asdict().items() if key != "cluster"}
        return tally(frame, **columns, pos_label=pos_label, labels=labels, threshold=threshold, exact=exact)

    def with_clusters(self, inference: Inference, frame: Frame | Source) -> Inference:
        """The options of the intervals with the rows of each cluster, where a column names them."""
        if self.cluster is None:
            return inference
        if self.pred is None:
            raise InputError(CLUSTERS_NEED_LABELS)
        if any(other is not None for other in (self.score, self.weight, inference.prevalence)):
            raise InputError(
                "cluster= is for metrics of unweighted labels, as they stand: no score, weight or prevalence."
            )
        columns = cluster_columns(frame, self.true, self.pred, self.cluster, self.frequency)
        return replace(inference, clustered=ClusteredRows(*columns))

    @property
    def names(self) -> dict[str, str | tuple[str, ...]]:
        """The columns that were named, by what they are for; those of the groups in a list."""
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by or ())
        named = {use: name for use, name in self._asdict().items() if use != "by" and name is not None}
        return named | ({"by": by} if by else {})

    @property
    def assumed(self) -> tuple[str, ...]:
        """What the columns say of the intervals."""
        clustered = f"Rows of one {self.cluster} are clustered; the intervals resample whole clusters."
        return () if self.cluster is None else (clustered,)


CLUSTERS_NEED_LABELS = "cluster= names a column of a frame of labels; name those of truth and prediction as well."


def refuse_columns(cluster: str | None, **names: object) -> None:
    """Refuse names of columns where no frame was given."""
    if cluster is not None:
        raise InputError(CLUSTERS_NEED_LABELS)
    if any(name is not None for name in names.values()):
        raise InputTypeError(
            "pred=, score=, weight=, by= and exact= are about columns of a frame; name that of the truth with true=."
        )


def refuse_arrays(**columns: object) -> None:
    """Refuse arrays beside the columns of a frame."""
    wrong = [name for name, column in columns.items() if column is not None]
    if wrong:
        raise InputTypeError(
            f"{' and '.join(wrong)} is for arrays; of a frame name the columns: pred=, score=, weight=."
        )


def column_name(frequency: ArrayLike | str | None) -> str | None:
    """The name of the column of frequencies."""
    if frequency is None or isinstance(frequency, str):
        return frequency
    raise InputTypeError("frequency= of a frame is the name of a column.")
