"""Rows that are counted already: a table, a tally, or what an evaluation was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import checks
from steelyard.arrays.backend import taken
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.frames.source import CLUSTERS_NEED_ROWS
from steelyard.predictions.given import Given, Model
from steelyard.predictions.options import NAMES, VALUES
from steelyard.predictions.values import GivenValues
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.paired_table import Paired
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import as_confusion

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABOUT_ROWS = ("labels", "frequency", "filter", "bins", *VALUES, *NAMES)
TABLES = (Counts, Confusion, ScoreTable, ProbabilityTable, MultilabelTable, Paired, Tally)


class GivenTable(Given):
    """Rows that are counted already."""

    is_table = True

    def refuse_options(self, stated: Mapping[str, Any]) -> None:
        """Refuse what is about rows, which are gone, and what the table does not keep."""
        table = self.data
        if any(name in stated for name in ("y_true", "y_pred", "y_score")):
            raise InputTypeError("Give either a table or rows (y_true, y_pred or y_score=), not both.")
        if about_rows := next((name for name in _ABOUT_ROWS if name in stated), None):
            raise InputError(
                f"{about_rows}= is about rows, and this is a table; give it when counting the rows.",
                argument=about_rows,
            )
        if "cluster" in stated and not isinstance(table, (ProbabilityTable, MultilabelTable)):  # which hold their rows
            raise InputTypeError(CLUSTERS_NEED_ROWS, argument="cluster")
        if "by" in stated and not isinstance(table, Tally):
            raise InputTypeError("by= names the group of each row, so give the rows, or their tally, not a table.")
        if "by" in stated:
            names = stated["by"] if isinstance(stated["by"], (list, tuple)) else [stated["by"]]
            if {*map(str, names)} != {*table.by}:
                counted = f"by {first_ten(table.by)}; leave by= out, or" if table.by else "without groups;"
                raise InputError(f"These rows were counted {counted} give the rows.", argument="by")
        if isinstance(table, ScoreTable) and stated.get("pos_label", table.label) != table.label:
            raise InputTypeError(
                f"A ScoreTable holds its rows already, scored for {table.label!r}; another pos_label= needs the rows."
            )

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        table = self.data
        if isinstance(table, Counts):
            return int(np.sum(table.positives + table.negatives))
        if isinstance(table, Confusion):
            return int(table.rows.sum())
        if isinstance(table, MultilabelTable):
            return int(table.true.shape[0])
        return int(table.rows if isinstance(table, Tally) else table.n)

    @property
    def source(self) -> str:
        """A table."""
        return "a table"

    @property
    def engine(self) -> str:
        """Tables are NumPy's."""
        return "numpy"

    @property
    def has_truth(self) -> bool:
        """Rows without it are not counted."""
        return True

    @property
    def has_scores(self) -> bool:
        """Whether scores were counted."""
        table = self.data.scores if isinstance(self.data, (Tally, MultilabelTable)) else self.data
        return isinstance(table, ScoreTable) or (isinstance(self.data, MultilabelTable) and table is not None)

    @property
    def are_sets(self) -> bool:
        """Whether rows of label sets were counted."""
        return isinstance(self.data, MultilabelTable)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Those that were fetched beside label sets."""
        return tuple(self.columns or ())

    @property
    def group_names(self) -> tuple[str, ...]:
        """The columns by which rows were counted."""
        return self.data.by if isinstance(self.data, Tally) else tuple(self.by or ())

    def has_classes(self, model: Model) -> bool:  # noqa: ARG002 - of no table
        """A table of all classes is read as values."""
        return False

    def values(self, columns: tuple[str, ...]) -> GivenTable:  # noqa: ARG002 - of which there are none
        """Itself: its rows are gone."""
        return self

    @property
    def tally(self) -> Tally:
        """The table as a tally."""
        table = self.data
        if isinstance(table, Tally):
            return table
        if isinstance(table, ScoreTable):
            return Tally(scores=table)
        if isinstance(table, Paired):
            return Tally(paired=table)
        if isinstance(table, (Counts, Confusion)):
            counted = as_confusion(table, None)
            return Tally(counted, labels=tuple(counted.labels))
        raise InputTypeError(f"A {type(table).__name__} is no tally: it holds rows; ask for its own table.")


def counted_content(data: Any) -> Any:
    """A table as it is, and that of an evaluation; None of rows."""
    if isinstance(data, TABLES):
        return data
    return data.counted_rows() if is_counted(data) else None


def is_counted(data: Any) -> bool:
    """Whether it is a table, or an evaluation, which is read as one."""
    return isinstance(data, TABLES) or hasattr(type(data), "counted_rows")


def given_table(table: Any, stated: dict[str, Any]) -> Given:
    """Counted rows with the options of reading them; a table of all classes holds its rows, as values."""
    given = GivenTable(data=table, is_stated=_states_positive(table))
    given.refuse_options(stated)
    if isinstance(table, ProbabilityTable):
        truth = taken(checks.column(list(table.labels), "labels"), table.codes)
        weights: dict[str, Any] = {"sample_weight": table.sample_weight, "frequency": table.frequency}
        models = {"": Model(None, table.probabilities)}
        return GivenValues(data=truth, models=models, labels=table.labels, **weights, **stated)
    return given.other(**stated)


def _states_positive(table: Any) -> bool:
    """Whether a table states its positive class, so that no convention is asked."""
    if isinstance(table, Tally):
        return table.confusion is None or _states_positive(table.confusion)
    return table.positive is not None if isinstance(table, Confusion) else isinstance(table, (Counts, ScoreTable))
