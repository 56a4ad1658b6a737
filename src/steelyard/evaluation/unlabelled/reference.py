"""Reference: the labelled rows by which unlabelled scores are read, whatever they are given as."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.results.result_json import parsed
from steelyard.evaluation.class_columns import given_columns
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.given_rows import GivenRows
from steelyard.evaluation.inputs import RowOptions, as_confusion, counted_inputs, thresholded
from steelyard.exceptions import InputError, first_ten
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.tally import TALLY_TABLES, Tally

if TYPE_CHECKING:
    from steelyard._types import Label, Labels
    from steelyard.ingest.frame_columns import FrameColumns
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable

_CLUSTERED = (
    "The rows of the reference are clustered, and these intervals take them as independent: they are too narrow."
)


class LabelledReference(NamedTuple):
    """The tables of the labelled rows: labels at a threshold, scores, and of many classes a column for each."""

    table: Confusion | None
    scores: ScoreTable | None
    columns: ProbabilityTable | None
    positive: Label
    threshold: float | None
    assumed: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The classes; of two the positive one first."""
        if self.table is None:
            return (self.positive, "rest")
        others = tuple(label for label in self.table.labels if label != self.positive)
        return self.table.labels if self.positive is None else (self.positive, *others)

    @property
    def reads_predictions(self) -> bool:
        """Whether there are predicted labels alone, and no threshold at which scores would be predicted positive."""
        return self.scores is None and self.columns is None and self.threshold is None

    @property
    def rows(self) -> int:
        """How many labelled rows there are."""
        if self.table is not None:
            return int(self.table.rows.sum())
        return 0 if self.scores is None else self.scores.n


def read_reference(given: Any, threshold: float | None, rows: RowOptions, columns: FrameColumns) -> LabelledReference:
    """The reference as given: an evaluation, a table, a tally, a file of one of them, rows, or columns of a frame."""
    if isinstance(given, (str, Path)):
        given = _saved(given)
    if isinstance(given, Evaluation):
        return _of_evaluation(given, threshold)
    given, y_score = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    asked = GivenRows(given, None, y_score, rows, columns, None, None).of_class_columns()
    classes = given_columns(asked.data, None, asked.y_score, threshold, asked.rows, brought=True)  # type: ignore[arg-type]  # beside scores: rows
    brought = asked._replace(y_pred=classes.y_pred, y_score=classes.y_score)
    counted = brought.counted(threshold=threshold, exact=None)
    if isinstance(counted, Tally) and counted.scores is None and counted.confusion is not None:
        counted = counted.confusion
    if isinstance(counted, (Counts, Confusion)):
        return _of_table(as_confusion(counted, rows.pos_label), threshold)
    inputs = counted_inputs(counted, brought.y_pred, brought.y_score, threshold, brought.rows)
    if inputs.table is not None and classes.table is not None:
        _check_all_classes(inputs.table)
        return LabelledReference(inputs.table, None, classes.table, None, None, classes.assumed)
    if inputs.table is not None and inputs.scores is None:
        return _of_table(inputs.table, threshold)
    positive, stated = inputs.positive_class(rows.pos_label, given)
    return LabelledReference(inputs.table, inputs.scores, None, positive, inputs.threshold, (*stated, *inputs.assumed))


def _saved(path: str | Path) -> Evaluation | Tally | ScoreTable | Confusion | Counts:
    """What a file holds: a saved tally, a table of scores or labels, or an evaluation."""
    data = parsed(Path(path))
    kind = data.get("kind")
    if kind == "tally":
        return Tally.from_json(data)
    if kind == "counts":
        return Counts.from_json(data)
    if kind in ("scores", "confusion"):
        return TALLY_TABLES[str(kind)].from_json(data)  # type: ignore[return-value]  # one of both
    if kind == "evaluation":
        return Evaluation.from_json(data)
    what = f"a saved {str(kind).replace('_', ' ')}" if kind else "something else"
    raise InputError(f"{str(path)!r} holds {what}; a reference is what `tally` or `report --format json` saved.")


def _of_evaluation(given: Evaluation, threshold: float | None) -> LabelledReference:
    clustered = (_CLUSTERED,) if given.is_clustered else ()
    if given.scores is None:
        if given.confusion is None:
            raise InputError("This evaluation holds no table; evaluate the labelled rows again.")
        table = given.confusion if given.positive is None else given.confusion.with_positive(given.positive)
        return _of_table(table, threshold)._replace(assumed=clustered)
    at = given.threshold if threshold is None else threshold
    if at is None and given.confusion is not None:
        raise InputError(
            "This evaluation has predictions beside its scores, and which scores are predicted positive is not clear; "
            "give threshold=."
        )
    labels = given.labels or ()
    other = next((label for label in labels if label != given.scores.label), None)
    inputs = thresholded(given.scores, at, other)
    return LabelledReference(
        inputs.table, given.scores, None, given.scores.label, inputs.threshold, (*inputs.assumed, *clustered)
    )


def _of_table(table: Confusion, threshold: float | None) -> LabelledReference:
    _check_all_classes(table)
    if len(table.labels) > 2:
        return LabelledReference(table, None, None, None, None)
    at = None if threshold is None else float(threshold)
    return LabelledReference(table, None, None, table.positive_label(), at)


def _check_all_classes(table: Confusion) -> None:
    """Refuse a reference in which a class has no rows."""
    empty = [label for label, rows in zip(table.labels, table.true_rows, strict=True) if not rows]
    if empty:
        raise InputError(f"The reference has no rows of {first_ten(empty)}; it needs scores of every class.")
