"""Frame columns: the names of a frame's columns, and the frame counted by them where it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.arguments import refuse_keywords
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.frame_tally import tally
from steelyard.ingest.rows import check_row_number, count_keys, fetch_rows
from steelyard.ingest.source import Source, named_columns, names_class_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet
    from steelyard.statistics.tally import Tally

CLUSTERS_NEED_ROWS = (
    "cluster= names the cluster of each row, so give the rows: y_true with y_pred or y_score, not a table."
)


class RowArrays(NamedTuple):
    """The columns of a frame as arrays; None of those that are not named."""

    truth: Array
    predicted: Array | None
    scores: Array | None
    weights: Array | None
    frequency: Array | None
    clusters: Array
    groups: dict[str, Array]


class FrameColumns(NamedTuple):
    """The columns of a frame: the truth, predictions or scores, and weights."""

    true: str | None = None
    pred: str | None = None
    score: str | None = None
    weight: str | None = None

    def are_named(self, **arrays: object) -> bool:
        """Whether the columns of a frame are named; names without that of the truth, or beside arrays, are refused."""
        named = [f"{use}=" for use, name in self._asdict().items() if name is not None]
        if self.true is None and named:
            raise InputTypeError(f"{named[0]} names a column of a frame; name that of the truth too, with true=.")
        for use, column in (("pred", self.pred), ("score", self.score)):
            if column is not None and column == self.true:
                raise InputError(f"true= and {use}= both name the column {column!r}; name that of the predictions.")
        given = [name for name, column in arrays.items() if column is not None]
        if named and given:
            raise InputTypeError(
                f"{given[0]} is for arrays, and {named[0]} names a column of a frame; of a frame name the columns with "
                "pred=, score= and weight=."
            )
        return bool(named)

    def names(self, **others: ArrayLike | str | Sequence[str] | None) -> dict[str, str | tuple[str, ...]]:
        """The columns that were named, with others such as that of the frequency, by what they are for."""
        named: dict[str, str | tuple[str, ...]] = {}
        score = {"scores" if names_class_columns(self.score) else "score": self.score}  # one for each class, or one
        for use, name in {"true": self.true, "pred": self.pred, **score, "weight": self.weight, **others}.items():
            if self.true is not None and name is not None:
                named[use] = name if isinstance(name, str) and use != "by" else named_columns(use, name)  # type: ignore[arg-type]  # refused there where it is no name
        return named

    def tally(
        self,
        frame: Frame | Source,
        *,
        pos_label: Label,
        labels: LabelSet | None,
        frequency: ArrayLike | str | None,
        by: ArrayLike | str | Sequence[str] | None = None,
        threshold: float | None = None,
        exact: bool | None = None,
    ) -> Tally:
        """The frame counted into tables, where it lives."""
        return tally(
            frame,
            true=self.true or "",
            pred=self.pred,
            score=self.score,
            weight=self.weight,
            frequency=column_name("frequency", frequency),
            by=by,  # type: ignore[arg-type]  # refused there where it is a column and not its name
            pos_label=pos_label,
            labels=labels,
            threshold=threshold,
            exact=exact,
        )

    def clusters(
        self,
        frame: Frame | Source,
        cluster: ArrayLike | str,
        frequency: ArrayLike | str | None,
        by: ArrayLike | str | Sequence[str] | None = None,
    ) -> tuple[Array, Array, Array, Array, dict[Labels, Array]]:
        """The distinct rows of truth, prediction, cluster and group, how often each occurs, and the rows of groups."""
        counted = count_keys(
            Source.of(frame, counts=True),
            true=self.true,
            pred=(self.pred or "",),
            frequency=column_name("frequency", frequency),
            cluster=column_name("cluster", cluster),
            by=named_columns("by", by),  # type: ignore[arg-type]  # refused there where it is a column
        )
        truth, predicted = counted.labels
        return truth, predicted, counted.clusters, counted.rows, counted.groups()  # type: ignore[return-value]  # clusters are named

    @property
    def need_rows(self) -> bool:
        """Whether clusters need every row: those of labels without weights are counted where they are."""
        return self.true is not None and (self.score is not None or self.weight is not None)

    def rows(
        self,
        frame: Frame | Source,
        cluster: ArrayLike | str,
        frequency: ArrayLike | str | None,
        by: ArrayLike | str | Sequence[str] | None = None,
    ) -> RowArrays:
        """The columns row by row, with the cluster of each."""
        source, why = Source.of(frame), "Scores or weights in clusters need every row in memory"
        check_row_number(source, why, "evaluate predicted labels without weights")
        fetched = fetch_rows(
            source,
            true=self.true,
            pred=() if self.pred is None else (self.pred,),
            score=() if self.score is None else (self.score,),
            weight=self.weight,
            frequency=column_name("frequency", frequency),
            cluster=column_name("cluster", cluster),
            by=named_columns("by", by),  # type: ignore[arg-type]  # refused there where it is a column
        )
        scores, predicted = fetched.scores.get(self.score or ""), fetched.predicted.get(self.pred or "")
        weights = (fetched.weights, fetched.frequency)
        return RowArrays(fetched.labels[0], predicted, scores, *weights, fetched.clusters, fetched.by)  # type: ignore[arg-type]  # clusters are named


def column_name(use: str, name: ArrayLike | str | None) -> str | None:
    """The name of a column of a frame."""
    if name is None or isinstance(name, str):
        return name
    raise InputTypeError(f"{use}= of a frame is the name of a column.")


def refuse_name(use: str, values: object) -> None:
    """Refuse the name of a column where arrays are given, or a table."""
    if isinstance(values, str):
        raise InputTypeError(
            f"{use}={values!r} names a column of a frame; give the frame and true=, or beside arrays one value per row."
        )


def refuse_groups(who: str, **options: object) -> None:
    """Refuse groups and clusters where one result is asked for, and rows are taken as independent."""
    refuse_keywords(who, options, ("by", "cluster"))
