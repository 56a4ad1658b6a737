"""Counting: rows of any kind counted into one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from steelyard.arrays.labels import CONVENTION
from steelyard.frames.source import FrameColumns
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables import array_tables
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.paired_table import Paired
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable


__all__ = [
    "MultilabelTable",
    "Paired",
    "ProbabilityTable",
    "Tally",
    "confusion",
    "multilabel",
    "paired",
    "score_table",
    "tally",
]


@question
def confusion(data: RowsLike = None, predicted: ArrayLike | None = None, /, **rows: Unpack[RowOptions]) -> Confusion:
    r"""Count true and predicted labels into a table; scores at their threshold.

    `labels` declares the whole label set and its order; `pos_label` the class that metrics take as positive.

    >>> confusion([0, 0, 1, 1], [0, 1, 1, 1])
    Confusion of 4 rows
    true \ predicted  0  1
    0                 1  1
    1                 0  2
    """
    options: Any = rows
    if _are_two_columns(data, predicted, rows):
        return array_tables.confusion(data, predicted, **options)  # type: ignore[arg-type]  # two columns
    return _counted("confusion", data, predicted, "y_pred", rows).confusion()


@question
def score_table(data: RowsLike = None, scored: ArrayLike | None = None, /, **rows: Unpack[RowOptions]) -> ScoreTable:
    """Count true labels and scores of the positive class into the ordered scores of each class.

    Other labels than `pos_label` are negative. Scores are ranked as they are given; higher means more positive.

    >>> score_table([0, 1, 1], [0.2, 0.9, 0.4])
    <ScoreTable of 3 rows, 2 of them 1>
    """
    if _are_two_columns(data, scored, rows):
        options: Any = rows if rows.get("pos_label") is not None else {**rows, "pos_label": CONVENTION}
        return array_tables.score_table(data, scored, **options)  # type: ignore[arg-type]  # two columns
    return _counted("score_table", data, scored, "y_score", rows).score_table()


@question
def tally(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    cost: str | Sequence[str] | None = None,
    **rows: Unpack[RowOptions],
) -> Tally:
    """Count rows into the tables of all of them and of each group, where they live; only the tables come back.

    Frames are those of pandas, Polars (lazy ones are streamed), PyArrow, DuckDB, Ibis, Dask, Daft, Ray Data and
    PySpark. Two models give the table of both side by side. `by` counts each group as well. Scores are kept exactly
    where the rows are in memory or at most 10 million (of Spark, Dask, Daft and Ibis 65,536, so that the rows stay
    there); else in about 65,536 bins, fewer for each of many groups, and then every area comes with its bounds. `exact`
    asks for either; `threshold` is one that the bins must keep. `cost` names columns of what errors cost, such as the
    amounts of transactions, whose sums and squares at each score let `best_threshold` do without the rows. The lines
    that a counting query (`sql`) gave are read as the counts that they are. `+` and `sum` merge tallies.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"y": [0, 0, 1, 1], "predicted": [0, 1, 1, 1], "site": ["a", "a", "b", "b"]})
    >>> tally(frame, true="y", pred="predicted", by="site")
    <Tally of 4 rows: confusion, 2 groups by site>
    """
    p = Predictions.of(data, predicted, **rows)
    refuse_unused(p, "tally", *(each for each in ("cluster", "design") if each in p.given.in_call))
    return p.tally(cost)


@question
def paired(
    data: RowsLike = None,
    pred_a: ArrayLike | None = None,
    pred_b: ArrayLike | None = None,
    /,
    **rows: Unpack[RowOptions],
) -> Paired:
    """Count the truth and the labels that two models predicted into one table, truth x A x B.

    `frequency` is the frequency weight, how many rows a row counts for; sample weights are refused.

    >>> paired([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    <Paired table of 4 rows, 2 labels: A alone is right in 1, B alone in 1>
    """
    models = {name: each for name, each in (("A", pred_a), ("B", pred_b)) if each is not None}
    p = Predictions.of(data, models or None, **rows)
    refuse_unused(p, "paired", *(each for each in ("by", "cluster", "design", "columns") if each in p.given.in_call))
    return p.paired()


@question
def multilabel(
    data: RowsLike = None, predicted: ArrayLike | None = None, /, **rows: Unpack[RowOptions]
) -> MultilabelTable:
    """Rows that may have several labels each, or none: with the labels predicted, their scores, or both.

    Labels are a matrix of 0 and 1 with a column for each, dense, sparse or a frame, or a list or set of labels for each
    row. `y_score` is dense, with a column for each label. Tensors on a device stay there. Of a frame name the columns:
    patterns in which * is the label (`true="y_*"`, with `pred=` or `score=`), lists of columns, or a column of lists,
    or of text that `label_sep` divides. A long frame has a line for each row and label, whose columns `long` names:
    with `true=` and `pred=` or `score=`, or two frames that list what is true and what is predicted.

    >>> multilabel([{"war", "trade"}, set()], [{"war"}, {"trade"}])
    <MultilabelTable of 2 rows, 2 labels>
    """
    if predicted is not None and rows.get("long") is not None:
        from steelyard.frames.label_sets import long_table

        return long_table(data, predicted, FrameColumns(), *rows["long"])  # type: ignore[arg-type, misc]  # two frames
    return _counted("multilabel", data, predicted, "y_pred", rows).multilabel_table(to_host=False)


def _counted(who: str, data: Any, second: Any, second_is: Any, rows: RowOptions) -> Predictions:
    """The rows, of which what would not be counted is refused where it is asked for."""
    p = Predictions.of(data, second, second_is=second_is, **rows)
    refuse_unused(p, who, *(each for each in ("by", "cluster", "design", "columns") if each in p.given.in_call))
    return p


def _are_two_columns(data: Any, second: Any, rows: RowOptions) -> bool:
    """Whether these are two columns of values, counted as they are: no more is asked than their counts."""
    is_column = isinstance(data, (list, tuple)) or hasattr(data, "dtype")
    return is_column and second is not None and rows.keys() <= {"labels", "pos_label", "sample_weight", "frequency"}
