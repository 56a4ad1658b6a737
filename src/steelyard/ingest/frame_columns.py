"""Frame columns: the names of the columns of a frame, by what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.exceptions import InputTypeError
from steelyard.ingest.source import named_columns, names_class_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


CLUSTERS_NEED_ROWS = (
    "cluster= names the cluster of each row, so give the rows: y_true with y_pred or y_score, not a table."
)


class FrameColumns(NamedTuple):
    """The columns of a frame: the truth, predictions or scores, and weights."""

    true: str | None = None
    pred: str | None = None
    score: str | None = None
    weight: str | None = None

    def names(self, **others: ArrayLike | str | Sequence[str] | None) -> dict[str, str | tuple[str, ...]]:
        """The columns that were named, with others such as that of the frequency, by what they are for."""
        named: dict[str, str | tuple[str, ...]] = {}
        score = {"scores" if names_class_columns(self.score) else "score": self.score}  # one for each class, or one
        for use, name in {"true": self.true, "pred": self.pred, **score, "weight": self.weight, **others}.items():
            if self.true is not None and name is not None:
                named[use] = name if isinstance(name, str) and use != "by" else named_columns(use, name)  # type: ignore[arg-type]  # refused there where it is no name
        return named


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
